/*
 * The metric compiler: from one stretch of time to the next. Each group is set beside the one of
 * the calendar's stretch before, found by its name, so that a month without rows is a month of
 * nothing and not skipped. The first stretch shown has none before it.
 */
#include "agents/query/metrics/compile_internal.h"

const struct compiled_dimension *compiler_step(const struct compiler *compiler)
{
	const struct compiled_dimension *found = NULL;

	for (size_t i = 0; i < compiler->dimension_count; i++) {
		enum time_bucket bucket = compiler->dimensions[i].bucket;

		if (bucket == BUCKET_NONE || bucket >= BUCKET_WEEKDAY)
			continue;
		if (found)
			return NULL;
		found = &compiler->dimensions[i];
	}
	return found;
}

/* The name of the stretch before the one that column names. */
static void write_before(enum time_bucket bucket, const char *column, struct buf *out)
{
	switch (bucket) {
	case BUCKET_DAY:
		buf_addf(out, "DATE(%s, '-1 day')", column);
		return;
	case BUCKET_WEEK:
		buf_addf(out, "DATE(%s, '-7 days')", column);
		return;
	case BUCKET_MONTH:
		buf_addf(out, "SUBSTR(DATE(%s || '-01', '-1 month'), 1, 7)", column);
		return;
	case BUCKET_QUARTER: /* 2026-Q1 */
		buf_addf(out,
			 "CASE SUBSTR(%s, 7, 1) WHEN '1' THEN (CAST(SUBSTR(%s, 1, 4) AS INTEGER) - "
			 "1) || '-Q4' ELSE SUBSTR(%s, 1, 6) || (CAST(SUBSTR(%s, 7, 1) AS INTEGER) "
			 "- 1) END",
			 column, column, column, column);
		return;
	case BUCKET_YEAR:
		buf_addf(out, "CAST(CAST(%s AS INTEGER) - 1 AS TEXT)", column);
		return;
	case BUCKET_NONE:
	case BUCKET_WEEKDAY:
	case BUCKET_FISCAL_QUARTER:
	case BUCKET_FISCAL_YEAR:
		return;
	}
}

static void of_table(const char *table, const char *name, struct buf *out)
{
	buf_addf(out, "\"%s\".", table);
	sql_name(name, out);
}

/* Keys tell rows of one name apart here as well. */
static void write_same_group(const struct compiler *compiler, const struct compiled_dimension *step,
			     struct buf *out)
{
	for (size_t i = 0; i < compiler->dimension_count; i++) {
		const struct compiled_dimension *dimension = &compiler->dimensions[i];
		size_t keys = dimension->field && dimension->field->names_row &&
					      dimension->bucket == BUCKET_NONE
				      ? dimension->field->dataset->primary_key.count
				      : 0;

		if (dimension == step)
			continue;
		buf_add_str(out, "\n  AND ");
		of_table("before", dimension->name, out);
		buf_add_str(out, " IS NOT DISTINCT FROM ");
		of_table("grouped", dimension->name, out);
		for (size_t j = 0; j < keys; j++)
			buf_addf(out,
				 "\n  AND \"before\".\"key_%zu_%zu\" IS NOT DISTINCT FROM "
				 "\"grouped\".\"key_%zu_%zu\"",
				 i + 1, j + 1, i + 1, j + 1);
	}
}

static void write_atom(const struct compiled_dimension *step, const struct model_metric *atom,
		       struct buf *out)
{
	of_table("grouped", atom->name, out);
	buf_add_str(out, " AS ");
	sql_name(atom->name, out);
	buf_add_str(out, ",\n  ");
	if (atom->additivity == ADDITIVE) {
		buf_add_str(out, "CASE WHEN ");
		of_table("grouped", step->name, out);
		buf_add_str(out, " > (SELECT MIN(");
		sql_name(step->name, out);
		buf_add_str(out, ") FROM \"grouped\") THEN COALESCE(");
	}
	of_table("before", atom->name, out);
	if (atom->additivity == ADDITIVE)
		buf_add_str(out, ", 0) END");
	buf_add_str(out, " AS ");
	compiler_suffixed(atom->name, "_previous", out);
}

void compiler_stepped(const struct compiler *compiler, struct buf *out)
{
	const struct compiled_dimension *step = compiler_step(compiler);
	CLEANUP(buf_clear) struct buf column = BUF_INIT;
	size_t count = 0;

	buf_add_str(out, ",\n\"stepped\" AS (\nSELECT");
	for (size_t i = 0; i < compiler->dimension_count; i++) {
		compiler_separator(&count, out);
		of_table("grouped", compiler->dimensions[i].name, out);
		buf_add_str(out, " AS ");
		sql_name(compiler->dimensions[i].name, out);
	}
	compiler_keys(compiler, ",\n  \"grouped\".", KEY_ALIAS, out);
	for (size_t i = 0; i < compiler->atom_count; i++) {
		compiler_separator(&count, out);
		write_atom(step, compiler->atoms[i], out);
	}
	of_table("grouped", step->name, &column);
	buf_add_str(out, "\nFROM \"grouped\"\nLEFT JOIN \"grouped\" AS \"before\" ON ");
	of_table("before", step->name, out);
	buf_add_str(out, " = ");
	write_before(step->bucket, buf_str(&column), out);
	write_same_group(compiler, step, out);
	buf_add_str(out, "\n)");
}
