/*
 * The statement of a metric query.
 *
 * One level where that will do:
 *   SELECT dimensions, aggregates FROM ... WHERE ... GROUP BY ... ORDER BY ... LIMIT n
 * A comparison, a share or an average over groups takes the aggregates first, unscaled:
 *   WITH "grouped" AS (SELECT ... GROUP BY ...) SELECT ..., scaled values FROM "grouped" ...
 * and a share of which only some groups are wanted is taken over all of them before the pick:
 *   WITH "grouped" AS (...), "shared" AS (SELECT ... FROM "grouped") SELECT ... WHERE ...
 *
 * Fails only for an order or a filter that does not go with the query.
 */
#include "agents/query/metrics/compile_internal.h"

#include <string.h>

/* An aggregate under conditions: the metric's own filter, one of two periods. */
struct conditional {
	struct expr_writer writer; /* first: callbacks get a pointer to it */
	const struct compiler *compiler;
	const struct model_metric *metric;
	const struct query_period *period; /* NULL when WHERE has it */
};

static void write_condition(const struct expr_writer *writer, struct buf *out)
{
	const struct conditional *conditional = (const struct conditional *)writer;
	const struct compiler *compiler = conditional->compiler;
	bool filter = !compiler->one_filter && conditional->metric->filter;

	if (filter) {
		struct expr_writer plain = {compiler_column, NULL, compiler};

		expr_write_operand(conditional->metric->filter, &plain, out);
	}
	if (filter && conditional->period)
		buf_add_str(out, " AND ");
	if (conditional->period)
		compiler_period(compiler, conditional->period, out);
}

/* The metric's value before scaling. */
static void write_raw(const struct compiler *compiler, const struct model_metric *metric,
		      const struct query_period *period, struct buf *out)
{
	bool conditions = period || (!compiler->one_filter && metric->filter);
	struct conditional conditional = {
		{compiler_column, conditions ? write_condition : NULL, compiler},
		compiler,
		metric,
		period};
	/* nothing sold in a period is a sum of 0, an average of nothing is none */
	bool zero = period && metric->additivity == ADDITIVE;

	if (zero)
		buf_add_str(out, "COALESCE(");
	expr_write(metric->expression, &conditional.writer, out);
	if (zero)
		buf_add_str(out, ", 0)");
}

bool compiler_two_levels(const struct compiler *compiler)
{
	return compiler->query->compare.set || compiler->query->share || compiler->per;
}

bool compiler_output(const struct compiler *compiler, size_t index, struct output_column *ret)
{
	static const enum column_role plain[] = {COLUMN_METRIC};
	static const enum column_role compared[] = {COLUMN_METRIC, COLUMN_PREVIOUS, COLUMN_CHANGE,
						    COLUMN_CHANGE_PERCENT};
	static const enum column_role shared[] = {COLUMN_METRIC, COLUMN_SHARE};
	const enum column_role *roles = plain;
	size_t count = ARRAY_LEN(plain);

	if (compiler->query->compare.set) {
		roles = compared;
		count = ARRAY_LEN(compared);
	} else if (compiler->query->share) {
		roles = shared;
		count = ARRAY_LEN(shared);
	}
	if (index / count >= compiler->metric_count)
		return false;
	*ret = (struct output_column){compiler->metrics[index / count], roles[index % count]};
	return true;
}

char *compiler_output_name(const struct compiler *compiler, const struct output_column *column)
{
	if (column->role == COLUMN_METRIC)
		return mem_format("%s%s", column->metric->name, compiler->per ? "_average" : "");
	return mem_format("%s_%s", column->metric->name, column_role_name(column->role));
}

int compiler_decimals(const struct compiler *compiler, const struct output_column *column)
{
	if (column->role == COLUMN_CHANGE_PERCENT || column->role == COLUMN_SHARE)
		return 2;
	if (compiler->per && column->metric->decimals < 2)
		return 2;
	return column->metric->decimals;
}

/* operand / scale, rounded unless it is a whole number of stored units. */
static void write_scaled(const struct model_metric *metric, const char *operand, bool exact,
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

/* A metric's value at the first level, scaled. */
static void write_value(const struct compiler *compiler, const struct model_metric *metric,
			struct buf *out)
{
	CLEANUP(buf_clear) struct buf raw = BUF_INIT;
	bool wrap = metric->scale != 1 && !expr_is_atom(metric->expression);

	if (wrap)
		buf_add_char(&raw, '(');
	write_raw(compiler, metric, NULL, &raw);
	if (wrap)
		buf_add_char(&raw, ')');
	write_scaled(metric, buf_str(&raw), metric->exact, metric->decimals, out);
}

static void quoted(const char *name, const char *suffix, struct buf *out)
{
	CLEANUP(mem_freep) char *whole = mem_format("%s%s", name, suffix);

	sql_name(whole, out);
}

/* A value of the second level, from the columns of "grouped". */
static void write_output(const struct compiler *compiler, const struct output_column *column,
			 struct buf *out)
{
	const struct model_metric *metric = column->metric;
	int decimals = compiler_decimals(compiler, column);
	CLEANUP(buf_clear) struct buf now = BUF_INIT;
	CLEANUP(buf_clear) struct buf before = BUF_INIT;
	CLEANUP(buf_clear) struct buf operand = BUF_INIT;

	quoted(metric->name, "", &now);
	quoted(metric->name, "_previous", &before);
	switch (column->role) {
	case COLUMN_DIMENSION:
		return;
	case COLUMN_METRIC:
		buf_addf(&operand, compiler->per ? "AVG(%s)" : "%s", buf_str(&now));
		write_scaled(metric, buf_str(&operand), metric->exact && !compiler->per, decimals,
			     out);
		return;
	case COLUMN_PREVIOUS:
		write_scaled(metric, buf_str(&before), metric->exact, decimals, out);
		return;
	case COLUMN_CHANGE:
		buf_addf(&operand, "(%s - %s)", buf_str(&now), buf_str(&before));
		write_scaled(metric, buf_str(&operand), metric->exact, decimals, out);
		return;
	case COLUMN_CHANGE_PERCENT: /* of nothing, or of a loss, there is no percentage */
		buf_addf(out, "CASE WHEN %s > 0 THEN ROUND(100.0 * (%s - %s) / %s, %d) END",
			 buf_str(&before), buf_str(&now), buf_str(&before), buf_str(&before),
			 decimals);
		return;
	case COLUMN_SHARE:
		buf_addf(out,
			 "CASE WHEN SUM(%s) OVER () > 0 THEN ROUND(100.0 * %s / SUM(%s) OVER (), "
			 "%d) END",
			 buf_str(&now), buf_str(&now), buf_str(&now), decimals);
		return;
	}
}

/* Keys that keep apart rows of one name: two people called alike. */
static bool key_of(const struct model_field *field, enum time_bucket bucket, size_t index,
		   const char **ret_column)
{
	if (!field->names_row || bucket != BUCKET_NONE ||
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

void compiler_keys(const struct compiler *compiler, const char *before, bool define, bool alias,
		   struct buf *out)
{
	for (size_t i = 0; i < compiler->dimension_count; i++) {
		const struct compiled_dimension *dimension = &compiler->dimensions[i];
		const char *column;

		for (size_t j = 0; key_of(dimension->field, dimension->bucket, j, &column); j++) {
			buf_add_str(out, before);
			if (!alias)
				write_key(dimension->field, column, out);
			if (define)
				buf_add_str(out, " AS ");
			if (define || alias)
				buf_addf(out, "\"key_%zu_%zu\"", i + 1, j + 1);
		}
	}
}

static void write_separator(size_t *count, struct buf *out)
{
	buf_add_str(out, (*count)++ == 0 ? "\n  " : ",\n  ");
}

static void write_dimensions(const struct compiler *compiler, size_t *count, struct buf *out)
{
	for (size_t i = 0; i < compiler->dimension_count; i++) {
		write_separator(count, out);
		compiler_dimension(compiler, &compiler->dimensions[i], out);
		buf_add_str(out, " AS ");
		sql_name(compiler->dimensions[i].name, out);
	}
}

static void write_positions(const struct compiler *compiler, struct buf *out)
{
	for (size_t i = 0; i < compiler->dimension_count; i++)
		buf_addf(out, i == 0 ? "\nGROUP BY %zu" : ", %zu", i + 1);
}

static void write_group_by(const struct compiler *compiler, struct buf *out)
{
	const char *column;

	write_positions(compiler, out);
	compiler_keys(compiler, ", ", false, false, out);
	if (!compiler->per)
		return;
	buf_add_str(out, compiler->dimension_count ? ", " : "\nGROUP BY ");
	compiler_field(compiler, compiler->per, out);
	for (size_t i = 0; key_of(compiler->per, BUCKET_NONE, i, &column); i++) {
		buf_add_str(out, ", ");
		write_key(compiler->per, column, out);
	}
}

static int write_one_level(const struct compiler *compiler, struct buf *out, struct err *err)
{
	size_t count = 0;

	buf_add_str(out, "SELECT");
	write_dimensions(compiler, &count, out);
	for (size_t i = 0; i < compiler->metric_count; i++) {
		write_separator(&count, out);
		write_value(compiler, compiler->metrics[i], out);
		buf_add_str(out, " AS ");
		sql_name(compiler->metrics[i]->name, out);
	}
	buf_add_char(out, '\n');
	compiler_from(compiler, out);
	if (compiler_where(compiler, out, err) < 0)
		return -1;
	write_group_by(compiler, out);
	return 0;
}

static int write_grouped(const struct compiler *compiler, struct buf *out, struct err *err)
{
	const struct metric_query *query = compiler->query;
	size_t count = 0;

	buf_add_str(out, "WITH \"grouped\" AS (\nSELECT");
	write_dimensions(compiler, &count, out);
	compiler_keys(compiler, ",\n  ", true, false, out);
	for (size_t i = 0; i < compiler->metric_count; i++) {
		const struct model_metric *metric = compiler->metrics[i];

		write_separator(&count, out);
		write_raw(compiler, metric, query->compare.set ? &query->period : NULL, out);
		buf_add_str(out, " AS ");
		sql_name(metric->name, out);
		if (!query->compare.set)
			continue;
		write_separator(&count, out);
		write_raw(compiler, metric, &query->compare, out);
		buf_add_str(out, " AS ");
		quoted(metric->name, "_previous", out);
	}
	buf_add_char(out, '\n');
	compiler_from(compiler, out);
	if (compiler_where(compiler, out, err) < 0)
		return -1;
	write_group_by(compiler, out);
	buf_add_str(out, "\n)");
	return 0;
}

/* The names of the result's columns, and the keys to order by. */
static void write_names(const struct compiler *compiler, struct buf *out)
{
	struct output_column column;
	size_t count = 0;

	for (size_t i = 0; i < compiler->dimension_count; i++) {
		write_separator(&count, out);
		sql_name(compiler->dimensions[i].name, out);
	}
	for (size_t i = 0; compiler_output(compiler, i, &column); i++) {
		CLEANUP(mem_freep) char *name = compiler_output_name(compiler, &column);

		write_separator(&count, out);
		sql_name(name, out);
	}
}

static void write_second_level(const struct compiler *compiler, bool keys, struct buf *out)
{
	struct output_column column;
	size_t count = 0;

	buf_add_str(out, "SELECT");
	for (size_t i = 0; i < compiler->dimension_count; i++) {
		write_separator(&count, out);
		sql_name(compiler->dimensions[i].name, out);
	}
	if (keys)
		compiler_keys(compiler, ",\n  ", false, true, out);
	for (size_t i = 0; compiler_output(compiler, i, &column); i++) {
		CLEANUP(mem_freep) char *name = compiler_output_name(compiler, &column);

		write_separator(&count, out);
		write_output(compiler, &column, out);
		buf_add_str(out, " AS ");
		sql_name(name, out);
	}
	buf_add_str(out, "\nFROM \"grouped\"");
	if (compiler->per) {
		write_positions(compiler, out);
		compiler_keys(compiler, ", ", false, true, out);
	}
}

static bool has_late(const struct compiler *compiler)
{
	for (size_t i = 0; i < compiler->query->filter_count; i++) {
		if (compiler_late(compiler, i))
			return true;
	}
	return false;
}

static int write_picked(const struct compiler *compiler, struct buf *out, struct err *err)
{
	size_t count = 0;

	buf_add_str(out, ",\n\"shared\" AS (\n");
	write_second_level(compiler, true, out);
	buf_add_str(out, "\n)\nSELECT");
	write_names(compiler, out);
	buf_add_str(out, "\nFROM \"shared\"");
	for (size_t i = 0; i < compiler->query->filter_count; i++) {
		const struct compiled_dimension *dimension = compiler_late(compiler, i);

		if (!dimension)
			continue;
		buf_add_str(out, count++ == 0 ? "\nWHERE " : "\n  AND ");
		if (compiler_filter(compiler, &compiler->query->filters[i], dimension->field,
				    dimension->name, out, err) < 0)
			return err_wrap(err, "filter");
	}
	return 0;
}

static int write_two_levels(const struct compiler *compiler, struct buf *out, struct err *err)
{
	if (write_grouped(compiler, out, err) < 0)
		return -1;
	if (has_late(compiler))
		return write_picked(compiler, out, err);
	buf_add_char(out, '\n');
	write_second_level(compiler, false, out);
	return 0;
}

int compiler_sql(const struct compiler *compiler, struct buf *out, struct err *err)
{
	int result = compiler_two_levels(compiler) ? write_two_levels(compiler, out, err)
						   : write_one_level(compiler, out, err);

	if (result < 0 || compiler_order(compiler, out, err) < 0)
		return -1;
	if (compiler->query->limit > 0)
		buf_addf(out, "\nLIMIT %lld", (long long)compiler->query->limit);
	return 0;
}
