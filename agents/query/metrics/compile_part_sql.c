/*
 * The SELECT of one part: dimensions, then the raw value of each atom, grouped.
 *
 *   plain      SELECT dimensions, aggregates FROM base LEFT JOIN ... WHERE ... GROUP BY ...
 *   linked     ... FROM (SELECT DISTINCT key, dimensions FROM base, far joins WHERE ...) AS
 *              "linked" JOIN base ... GROUP BY ...: a row counts once in each of its groups
 *   stock      ... JOIN (SELECT stretch, MAX(moment) ... GROUP BY stretch) AS "latest" ...
 *   ranked     a median and the like: compile_ranked.c
 *   per        SELECT dimensions, AVG(value) FROM (SELECT ... GROUP BY dimensions, per) GROUP BY
 * ...
 *
 * Fails only for a filter that does not go with its field.
 */
#include "agents/query/metrics/compile_internal.h"

#include <string.h>

/* An aggregate under conditions: the metric's own filter, one of two periods. */
struct conditional {
	struct expr_writer writer; /* first: callbacks get a pointer to it */
	const struct part *part;
	const struct model_metric *metric;
	const struct query_period *period; /* NULL when WHERE has it */
};

static void write_condition(const struct expr_writer *writer, struct buf *out)
{
	const struct conditional *conditional = (const struct conditional *)writer;
	const struct part *part = conditional->part;
	bool filter = !part->one_filter && conditional->metric->filter;

	if (filter) {
		struct expr_writer plain = {compiler_column, NULL, part->compiler};

		expr_write_operand(conditional->metric->filter, &plain, out);
	}
	if (filter && conditional->period)
		buf_add_str(out, " AND ");
	if (conditional->period)
		part_period(part, conditional->period, out);
}

void part_raw(const struct part *part, const struct model_metric *atom,
	      const struct query_period *period, struct buf *out)
{
	bool conditions = period || (!part->one_filter && atom->filter);
	struct conditional conditional = {
		{compiler_column, conditions ? write_condition : NULL, part->compiler},
		part,
		atom,
		period};
	/* nothing sold in a period is a sum of 0, an average of nothing is none */
	bool zero = period && atom->additivity == ADDITIVE;

	if (zero)
		buf_add_str(out, "COALESCE(");
	expr_write(atom->expression, &conditional.writer, out);
	if (zero)
		buf_add_str(out, ", 0)");
}

void part_argument(const struct part *part, const struct model_metric *atom,
		   const struct query_period *period, struct buf *out)
{
	bool conditions = period || (!part->one_filter && atom->filter);
	struct conditional conditional = {
		{compiler_column, conditions ? write_condition : NULL, part->compiler},
		part,
		atom,
		period};

	expr_write_argument(atom->expression, &conditional.writer, out);
}

void compiler_scaled(const struct model_metric *metric, const char *operand, bool exact,
		     int decimals, struct buf *out)
{
	if (!exact)
		buf_add_str(out, "ROUND(");
	buf_add_str(out, operand);
	if (metric->scale != 1)
		buf_addf(out, " / %d.0", metric->scale);
	if (!exact)
		buf_addf(out, ", %d)", decimals);
}

void compiler_separator(size_t *count, struct buf *out)
{
	buf_add_str(out, (*count)++ == 0 ? "\n  " : ",\n  ");
}

void compiler_suffixed(const char *name, const char *suffix, struct buf *out)
{
	CLEANUP(mem_freep) char *whole = mem_format("%s%s", name, suffix);

	sql_name(whole, out);
}

void compiler_positions(const struct compiler *compiler, struct buf *out)
{
	for (size_t i = 0; i < compiler->dimension_count; i++)
		buf_addf(out, i == 0 ? "\nGROUP BY %zu" : ", %zu", i + 1);
}

static bool key_of(const struct model_field *field, enum time_bucket bucket, size_t index,
		   const char **ret_column)
{
	if (!field || !field->names_row || bucket != BUCKET_NONE ||
	    index >= field->dataset->primary_key.count)
		return false;
	*ret_column = field->dataset->primary_key.items[index];
	return true;
}

static void write_key(const struct model_field *field, const char *column, struct buf *out)
{
	sql_name(field->dataset->name, out);
	buf_add_char(out, '.');
	sql_name(column, out);
}

void compiler_keys(const struct compiler *compiler, const char *before, enum key_form form,
		   struct buf *out)
{
	for (size_t i = 0; i < compiler->dimension_count; i++) {
		const struct compiled_dimension *dimension = &compiler->dimensions[i];
		const char *column;

		for (size_t j = 0; key_of(dimension->field, dimension->bucket, j, &column); j++) {
			buf_add_str(out, before);
			if (form != KEY_ALIAS)
				write_key(dimension->field, column, out);
			if (form == KEY_DEFINE)
				buf_add_str(out, " AS ");
			if (form != KEY_COLUMN)
				buf_addf(out, "\"key_%zu_%zu\"", i + 1, j + 1);
		}
	}
}

static void write_names(const struct compiler *compiler, size_t *count, struct buf *out)
{
	for (size_t i = 0; i < compiler->dimension_count; i++) {
		compiler_separator(count, out);
		sql_name(compiler->dimensions[i].name, out);
	}
}

static void write_dimensions(const struct part *part, size_t *count, struct buf *out)
{
	const struct compiler *compiler = part->compiler;

	for (size_t i = 0; i < compiler->dimension_count; i++) {
		compiler_separator(count, out);
		part_dimension(part, i, out);
		buf_add_str(out, " AS ");
		sql_name(compiler->dimensions[i].name, out);
	}
}

/* ---- a stock: only the last moment of each stretch of time ---- */

static bool is_stretch(const struct part *part, size_t dimension)
{
	return part_dimension_field(part, dimension) == part->atoms[0]->snapshot;
}

static int write_latest(const struct part *part, struct buf *out, struct err *err)
{
	const struct compiler *compiler = part->compiler;
	const struct model_metric *atom = part->atoms[0];
	size_t count = 0;

	buf_add_str(out, "\nJOIN (SELECT ");
	for (size_t i = 0; i < compiler->dimension_count; i++) {
		if (!is_stretch(part, i))
			continue;
		part_dimension(part, i, out);
		buf_addf(out, " AS \"stretch_%zu\", ", ++count);
	}
	for (size_t i = 0; i < atom->snapshot_per_count; i++) {
		compiler_field(atom->snapshot_per[i], out);
		buf_addf(out, " AS \"stretch_%zu\", ", ++count);
	}
	if (compiler->query->compare.set) {
		buf_add_str(out, "CASE WHEN ");
		part_period(part, &compiler->query->period, out);
		buf_addf(out, " THEN 1 ELSE 0 END AS \"stretch_%zu\", ", ++count);
	}
	buf_add_str(out, atom->snapshot_first ? "MIN(" : "MAX(");
	compiler_field(atom->snapshot, out);
	buf_add_str(out, ") AS \"moment\"\n");
	part_from(part, false, out);
	if (part_where(part, out, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		buf_addf(out, i == 0 ? "\nGROUP BY %zu" : ", %zu", i + 1);
	buf_add_str(out, ") AS \"latest\" ON \"latest\".\"moment\" = ");
	compiler_field(atom->snapshot, out);
	return 0;
}

static void write_same_stretch(const struct part *part, struct buf *out)
{
	const struct compiler *compiler = part->compiler;
	const struct model_metric *atom = part->atoms[0];
	size_t count = 0;

	for (size_t i = 0; i < compiler->dimension_count; i++) {
		if (!is_stretch(part, i))
			continue;
		buf_addf(out, "\n  AND \"latest\".\"stretch_%zu\" IS NOT DISTINCT FROM ", ++count);
		part_dimension(part, i, out);
	}
	for (size_t i = 0; i < atom->snapshot_per_count; i++) {
		buf_addf(out, "\n  AND \"latest\".\"stretch_%zu\" IS NOT DISTINCT FROM ", ++count);
		compiler_field(atom->snapshot_per[i], out);
	}
	if (compiler->query->compare.set) {
		buf_addf(out, "\n  AND \"latest\".\"stretch_%zu\" = CASE WHEN ", ++count);
		part_period(part, &compiler->query->period, out);
		buf_add_str(out, " THEN 1 ELSE 0 END");
	}
}

/* ---- the body: FROM, WHERE ---- */

/* Each row of the base once for each of its groups. */
static int write_linked(const struct part *part, struct buf *out, struct err *err)
{
	const struct words *key = &part->base->primary_key;
	size_t count = 0;

	buf_add_str(out, "FROM (SELECT DISTINCT");
	for (size_t i = 0; i < key->count; i++) {
		compiler_separator(&count, out);
		sql_name(part->base->name, out);
		buf_add_char(out, '.');
		sql_name(key->items[i], out);
		buf_addf(out, " AS \"row_%zu\"", i + 1);
	}
	write_dimensions(part, &count, out);
	compiler_keys(part->compiler, ",\n  ", KEY_DEFINE, out);
	buf_add_char(out, '\n');
	part_from(part, true, out);
	if (part_where(part, out, err) < 0)
		return -1;
	buf_add_str(out, ") AS \"linked\"\nJOIN ");
	sql_name(part->base->table, out);
	if (strcmp(part->base->table, part->base->name) != 0) {
		buf_add_str(out, " AS ");
		sql_name(part->base->name, out);
	}
	for (size_t i = 0; i < key->count; i++) {
		buf_add_str(out, i == 0 ? " ON " : " AND ");
		sql_name(part->base->name, out);
		buf_add_char(out, '.');
		sql_name(key->items[i], out);
		buf_addf(out, " = \"linked\".\"row_%zu\"", i + 1);
	}
	return 0;
}

static int write_body(const struct part *part, struct buf *out, struct err *err)
{
	bool stock = part->atom_count > 0 && part->atoms[0]->snapshot;

	buf_add_char(out, '\n');
	part_from(part, false, out);
	if (stock && write_latest(part, out, err) < 0)
		return -1;
	if (stock)
		write_same_stretch(part, out);
	return part_where(part, out, err);
}

static void write_atoms(const struct part *part, bool scaled, size_t *count, struct buf *out)
{
	const struct metric_query *query = part->compiler->query;

	for (size_t i = 0; i < part->atom_count; i++) {
		const struct model_metric *atom = part->atoms[i];
		CLEANUP(buf_clear) struct buf raw = BUF_INIT;
		bool wrap = scaled && atom->scale != 1 && !expr_is_atom(atom->expression);

		if (wrap)
			buf_add_char(&raw, '(');
		part_raw(part, atom, query->compare.set ? &query->period : NULL, &raw);
		if (wrap)
			buf_add_char(&raw, ')');
		compiler_separator(count, out);
		if (scaled)
			compiler_scaled(atom, buf_str(&raw), atom->exact, atom->decimals, out);
		else
			buf_add_str(out, buf_str(&raw));
		buf_add_str(out, " AS ");
		sql_name(atom->name, out);
		if (!query->compare.set)
			continue;
		compiler_separator(count, out);
		part_raw(part, atom, &query->compare, out);
		buf_add_str(out, " AS ");
		compiler_suffixed(atom->name, "_previous", out);
	}
}

static void write_group_by(const struct part *part, const struct model_field *per, struct buf *out)
{
	const char *column;

	compiler_positions(part->compiler, out);
	compiler_keys(part->compiler, ", ", KEY_COLUMN, out);
	if (!per)
		return;
	buf_add_str(out, part->compiler->dimension_count ? ", " : "\nGROUP BY ");
	compiler_field(per, out);
	for (size_t i = 0; key_of(per, BUCKET_NONE, i, &column); i++) {
		buf_add_str(out, ", ");
		write_key(per, column, out);
	}
}

/* Over "linked" or the like, dimensions and keys go by their names. */
void part_group_by_names(const struct compiler *compiler, struct buf *out)
{
	compiler_positions(compiler, out);
	compiler_keys(compiler, ", ", KEY_ALIAS, out);
}

int part_rows(const struct part *part, part_columns *columns, struct buf *out, struct err *err)
{
	size_t count = 0;

	buf_add_str(out, "SELECT");
	if (!part->linked) {
		write_dimensions(part, &count, out);
		compiler_keys(part->compiler, ",\n  ", KEY_DEFINE, out);
		columns(part, out);
		return write_body(part, out, err);
	}
	write_names(part->compiler, &count, out);
	compiler_keys(part->compiler, ",\n  ", KEY_ALIAS, out);
	columns(part, out);
	buf_add_char(out, '\n');
	if (write_linked(part, out, err) < 0)
		return -1;
	for (size_t i = 1; i < part->joined.count; i++) {
		if (!part->joins[i].far)
			part_join_one(part, i, out);
	}
	return 0;
}

static int plain_select(const struct part *part, bool keys, bool scaled,
			const struct model_field *per, struct buf *out, struct err *err)
{
	size_t count = 0;

	buf_add_str(out, "SELECT");
	write_dimensions(part, &count, out);
	if (keys)
		compiler_keys(part->compiler, ",\n  ", KEY_DEFINE, out);
	write_atoms(part, scaled, &count, out);
	if (write_body(part, out, err) < 0)
		return -1;
	write_group_by(part, per, out);
	return 0;
}

static int linked_select(const struct part *part, struct buf *out, struct err *err)
{
	size_t count = 0;

	buf_add_str(out, "SELECT");
	write_names(part->compiler, &count, out);
	compiler_keys(part->compiler, ",\n  ", KEY_ALIAS, out);
	write_atoms(part, false, &count, out);
	buf_add_char(out, '\n');
	if (write_linked(part, out, err) < 0)
		return -1;
	for (size_t i = 1; i < part->joined.count; i++) {
		if (!part->joins[i].far)
			part_join_one(part, i, out);
	}
	part_group_by_names(part->compiler, out);
	return 0;
}

/* Taken per something first, then put together. */
static int per_select(const struct part *part, struct buf *out, struct err *err)
{
	const struct compiler *compiler = part->compiler;
	static const char *const suffixes[] = {"", "_previous"};
	size_t count = 0;

	buf_add_str(out, "SELECT");
	write_names(compiler, &count, out);
	compiler_keys(compiler, ",\n  ", KEY_ALIAS, out);
	for (size_t i = 0; i < part->atom_count; i++) {
		for (size_t j = 0; j < (compiler->query->compare.set ? 2 : 1); j++) {
			compiler_separator(&count, out);
			buf_addf(out, "%s(", part->atoms[i]->then);
			compiler_suffixed(part->atoms[i]->name, suffixes[j], out);
			buf_add_str(out, ") AS ");
			compiler_suffixed(part->atoms[i]->name, suffixes[j], out);
		}
	}
	buf_add_str(out, "\nFROM (");
	if (plain_select(part, true, false, part->atoms[0]->per, out, err) < 0)
		return -1;
	buf_add_str(out, ") AS \"each\"");
	part_group_by_names(compiler, out);
	return 0;
}

int part_select(const struct part *part, bool keys, bool scaled, struct buf *out, struct err *err)
{
	if (part->atom_count > 0 && expr_is_ranked(part->atoms[0]->expression))
		return part_ranked(part, out, err);
	if (part->atom_count > 0 && part->atoms[0]->per)
		return per_select(part, out, err);
	if (part->linked)
		return linked_select(part, out, err);
	return plain_select(part, keys, scaled, part->compiler->per, out, err);
}
