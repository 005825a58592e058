/*
 * The statement of a metric query.
 *
 * One level where that will do:
 *   SELECT dimensions, aggregates FROM ... WHERE ... GROUP BY ... ORDER BY ... LIMIT n
 * What works on aggregates takes them first, unscaled:
 *   WITH "grouped" AS (SELECT ... GROUP BY ...) SELECT ..., scaled values FROM "grouped" ...
 * and of what only some groups are wanted, they are picked when all have been worked out:
 *   WITH "grouped" AS (...), "shared" AS (SELECT ... FROM "grouped") SELECT ... WHERE ...
 *
 * Fails only for an order or a filter that does not go with the query.
 */
#include "agents/query/metrics/compile_internal.h"

#include <string.h>

bool compiler_two_levels(const struct compiler *compiler)
{
	const struct metric_query *query = compiler->query;

	for (size_t i = 0; i < compiler->metric_count; i++) {
		if (compiler->metrics[i]->input_count > 0 || compiler->metrics[i]->per ||
		    expr_is_ranked(compiler->metrics[i]->expression))
			return true;
	}
	return query->compare.set || query->stepwise || query->share || compiler->per ||
	       query->running || query->top.count > 0 || compiler->part_count > 1 ||
	       compiler->parts[0].linked;
}

bool compiler_output(const struct compiler *compiler, size_t index, struct output_column *ret)
{
	static const enum column_role plain[] = {COLUMN_METRIC};
	static const enum column_role compared[] = {COLUMN_METRIC, COLUMN_PREVIOUS, COLUMN_CHANGE,
						    COLUMN_CHANGE_PERCENT};
	static const enum column_role shared[] = {COLUMN_METRIC, COLUMN_SHARE};
	static const enum column_role running[] = {COLUMN_METRIC, COLUMN_RUNNING};
	const enum column_role *roles = plain;
	size_t count = ARRAY_LEN(plain);

	if (compiler->query->compare.set || compiler->query->stepwise) {
		roles = compared;
		count = ARRAY_LEN(compared);
	} else if (compiler->query->share) {
		roles = shared;
		count = ARRAY_LEN(shared);
	} else if (compiler->query->running) {
		roles = running;
		count = ARRAY_LEN(running);
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

/* A metric made of others, written over the columns of "grouped". */
struct made {
	struct expr_writer writer; /* its data is this */
	const struct compiler *compiler;
	const struct model_metric *metric;
	const char *suffix;
};

const struct model_metric *compiler_input(const struct model_metric *metric,
					  const struct expr *column)
{
	for (size_t i = 0; !column->dataset && i < metric->input_count; i++) {
		if (strcmp(metric->inputs[i]->name, column->text) == 0)
			return metric->inputs[i];
	}
	return NULL;
}

const struct compiled_dimension *compiler_named_dimension(const struct compiler *compiler,
							  const struct expr *column)
{
	for (size_t i = 0; i < compiler->dimension_count; i++) {
		const struct compiled_dimension *dimension = &compiler->dimensions[i];
		bool named = !dimension->field
				     ? !column->dataset && strcmp(column->text, QUERY_TIME) == 0
				     : column->dataset &&
					       strcmp(column->dataset,
						      dimension->field->dataset->name) == 0 &&
					       strcmp(column->text, dimension->field->name) == 0;

		if (named)
			return dimension;
	}
	return NULL;
}

static void made_column(const struct expr_writer *writer, const struct expr *column,
			struct buf *out)
{
	const struct made *made = writer->data; /* below an aggregate the writer is a copy */
	const struct model_metric *input = compiler_input(made->metric, column);
	const struct compiled_dimension *dimension =
		compiler_named_dimension(made->compiler, column);

	if (!input) {
		if (dimension)
			sql_name(dimension->name, out);
		return;
	}
	if (input->scale != 1)
		buf_add_char(out, '(');
	compiler_value(made->compiler, input, made->suffix, out);
	if (input->scale != 1)
		buf_addf(out, " / %d.0)", input->scale);
}

void compiler_value(const struct compiler *compiler, const struct model_metric *metric,
		    const char *suffix, struct buf *out)
{
	struct made made = {{made_column, NULL, NULL}, compiler, metric, suffix};
	bool wrap = metric->input_count > 0 && !expr_is_atom(metric->expression);

	made.writer.data = &made;
	if (metric->input_count == 0) {
		compiler_suffixed(metric->name, suffix, out);
		return;
	}
	if (wrap)
		buf_add_char(out, '(');
	expr_write(metric->expression, &made.writer, out);
	if (wrap)
		buf_add_char(out, ')');
}

/* SUM(value) OVER (PARTITION BY all but times ORDER BY times ...) */
static void write_running(const struct compiler *compiler, const char *value, struct buf *out)
{
	size_t count = 0;

	buf_addf(out, "SUM(%s) OVER (", value);
	for (size_t i = 0; i < compiler->dimension_count; i++) {
		if (compiler->dimensions[i].bucket != BUCKET_NONE)
			continue;
		buf_add_str(out, count++ == 0 ? "PARTITION BY " : ", ");
		sql_name(compiler->dimensions[i].name, out);
	}
	if (count > 0)
		compiler_keys(compiler, ", ", KEY_ALIAS, out);
	for (size_t i = 0, times = 0; i < compiler->dimension_count; i++) {
		if (compiler->dimensions[i].bucket == BUCKET_NONE)
			continue;
		buf_add_str(out, times++ == 0 ? (count ? " ORDER BY " : "ORDER BY ") : ", ");
		sql_name(compiler->dimensions[i].name, out);
	}
	buf_add_str(out, " ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)");
}

static void write_share(const char *now, int decimals, struct buf *out)
{
	buf_addf(out,
		 "CASE WHEN SUM(%s) OVER () > 0 THEN ROUND(100.0 * %s / SUM(%s) OVER (), %d) END",
		 now, now, now, decimals);
}

/* Of nothing, or of a loss, there is no percentage. */
static void write_percent(const char *now, const char *before, int decimals, struct buf *out)
{
	buf_addf(out, "CASE WHEN %s > 0 THEN ROUND(100.0 * (%s - %s) / %s, %d) END", before, now,
		 before, before, decimals);
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

	compiler_value(compiler, metric, "", &now);
	compiler_value(compiler, metric, "_previous", &before);
	switch (column->role) {
	case COLUMN_DIMENSION:
		return;
	case COLUMN_METRIC:
		buf_addf(&operand, compiler->per ? "AVG(%s)" : "%s", buf_str(&now));
		compiler_scaled(metric, buf_str(&operand), metric->exact && !compiler->per,
				decimals, out);
		return;
	case COLUMN_PREVIOUS:
		compiler_scaled(metric, buf_str(&before), metric->exact, decimals, out);
		return;
	case COLUMN_CHANGE:
		buf_addf(&operand, "(%s - %s)", buf_str(&now), buf_str(&before));
		compiler_scaled(metric, buf_str(&operand), metric->exact, decimals, out);
		return;
	case COLUMN_CHANGE_PERCENT:
		write_percent(buf_str(&now), buf_str(&before), decimals, out);
		return;
	case COLUMN_SHARE:
		write_share(buf_str(&now), decimals, out);
		return;
	case COLUMN_RUNNING:
		write_running(compiler, buf_str(&now), &operand);
		compiler_scaled(metric, buf_str(&operand), metric->exact, decimals, out);
		return;
	}
}

/* The names of the result's columns, and the keys to order by. */
static void write_names(const struct compiler *compiler, struct buf *out)
{
	struct output_column column;
	size_t count = 0;

	for (size_t i = 0; i < compiler->dimension_count; i++) {
		compiler_separator(&count, out);
		sql_name(compiler->dimensions[i].name, out);
	}
	for (size_t i = 0; compiler_output(compiler, i, &column); i++) {
		CLEANUP(mem_freep) char *name = compiler_output_name(compiler, &column);

		compiler_separator(&count, out);
		sql_name(name, out);
	}
}

static void write_second_level(const struct compiler *compiler, bool keys, struct buf *out)
{
	struct output_column column;
	size_t count = 0;

	buf_add_str(out, "SELECT");
	for (size_t i = 0; i < compiler->dimension_count; i++) {
		compiler_separator(&count, out);
		sql_name(compiler->dimensions[i].name, out);
	}
	if (keys)
		compiler_keys(compiler, ",\n  ", KEY_ALIAS, out);
	for (size_t i = 0; compiler_output(compiler, i, &column); i++) {
		CLEANUP(mem_freep) char *name = compiler_output_name(compiler, &column);

		compiler_separator(&count, out);
		write_output(compiler, &column, out);
		buf_add_str(out, " AS ");
		sql_name(name, out);
	}
	compiler_place(compiler, out);
	buf_add_str(out, compiler->query->stepwise ? "\nFROM \"stepped\"" : "\nFROM \"grouped\"");
	if (compiler->per) {
		compiler_positions(compiler, out);
		compiler_keys(compiler, ", ", KEY_ALIAS, out);
	}
}

static int write_two_levels(const struct compiler *compiler, struct buf *out, struct err *err)
{
	if (compiler_grouped(compiler, out, err) < 0)
		return -1;
	if (compiler->query->stepwise)
		compiler_stepped(compiler, out);
	if (!compiler_picks(compiler)) {
		buf_add_char(out, '\n');
		write_second_level(compiler, false, out);
		return 0;
	}
	buf_add_str(out, ",\n\"shared\" AS (\n");
	write_second_level(compiler, true, out);
	buf_add_str(out, "\n)\nSELECT");
	write_names(compiler, out);
	buf_add_str(out, "\nFROM \"shared\"");
	return compiler_pick(compiler, out, err);
}

int compiler_sql(const struct compiler *compiler, struct buf *out, struct err *err)
{
	int result;

	if (compiler_two_levels(compiler))
		result = write_two_levels(compiler, out, err);
	else if (part_select(&compiler->parts[0], false, true, out, err) < 0)
		result = -1;
	else
		result = compiler_having(compiler, out, err);
	if (result < 0 || compiler_order(compiler, out, err) < 0)
		return -1;
	if (compiler->query->limit > 0)
		buf_addf(out, "\nLIMIT %lld", (long long)compiler->query->limit);
	return 0;
}
