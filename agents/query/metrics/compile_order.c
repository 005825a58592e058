/*
 * The order of a metric query's rows: as asked; else times ascending, then the first metric
 * descending. Missing values come last both ways unless the query says otherwise. Ties fall to the
 * remaining dimensions and their keys, so that the order is total.
 *
 * Fails when something is asked for that is not in the result.
 */
#include "agents/query/metrics/compile_internal.h"

#include <string.h>

struct ordering {
	struct buf *out;
	bool used[COMPILE_DIMENSIONS_MAX];
	size_t count;
};

static void order_next(struct ordering *ordering)
{
	buf_add_str(ordering->out, ordering->count++ == 0 ? "\nORDER BY " : ", ");
}

static void order_end(bool desc, enum query_nulls nulls, struct buf *out)
{
	buf_addf(out, "%s NULLS %s", desc ? " DESC" : "", nulls == NULLS_FIRST ? "FIRST" : "LAST");
}

/* Days of the week in their order, not by their letters. */
static void order_weekday(const char *name, struct buf *out)
{
	static const char *const days[] = {"Monday", "Tuesday",	 "Wednesday", "Thursday",
					   "Friday", "Saturday", "Sunday"};

	buf_add_str(out, "CASE ");
	sql_name(name, out);
	for (size_t i = 0; i < ARRAY_LEN(days); i++)
		buf_addf(out, " WHEN '%s' THEN %zu", days[i], i + 1);
	buf_add_str(out, " END");
}

static void order_dimension(const struct compiler *compiler, struct ordering *ordering, size_t i,
			    bool desc, enum query_nulls nulls)
{
	const struct compiled_dimension *dimension = &compiler->dimensions[i];

	if (ordering->used[i])
		return;
	ordering->used[i] = true;
	order_next(ordering);
	if (dimension->bucket == BUCKET_WEEKDAY)
		order_weekday(dimension->name, ordering->out);
	else
		sql_name(dimension->name, ordering->out);
	order_end(desc, nulls, ordering->out);
}

static void order_output(const struct compiler *compiler, struct ordering *ordering,
			 const struct output_column *column, bool desc, enum query_nulls nulls)
{
	CLEANUP(mem_freep) char *name = compiler_output_name(compiler, column);

	order_next(ordering);
	sql_name(name, ordering->out);
	order_end(desc, nulls, ordering->out);
}

static bool order_matches(const struct compiler *compiler, const struct output_column *column,
			  const char *by)
{
	CLEANUP(mem_freep) char *name = compiler_output_name(compiler, column);

	if (strcmp(name, by) == 0)
		return true;
	if (column->role == COLUMN_METRIC)
		return strcmp(column->metric->name, by) == 0;
	return strcmp(column_role_name(column->role), by) == 0;
}

static int order_asked(const struct compiler *compiler, struct ordering *ordering,
		       const struct query_order *asked, struct err *err)
{
	struct output_column column;

	for (size_t i = 0; compiler_output(compiler, i, &column); i++) {
		if (order_matches(compiler, &column, asked->by)) {
			order_output(compiler, ordering, &column, asked->desc, asked->nulls);
			return 0;
		}
	}
	for (size_t i = 0; i < compiler->dimension_count; i++) {
		const struct model_field *field = compiler->dimensions[i].field;

		if (strcmp(field ? field->id : QUERY_TIME, asked->by) == 0 ||
		    strcmp(compiler->dimensions[i].name, asked->by) == 0) {
			order_dimension(compiler, ordering, i, asked->desc, asked->nulls);
			return 0;
		}
	}
	return err_set(err, ERR_NOT_FOUND, "order: %s is no column of the result", asked->by);
}

/* Groups first, so that each shows its first ones together. */
static void order_within(const struct compiler *compiler, struct ordering *ordering)
{
	const struct query_top *top = &compiler->query->top;

	for (size_t i = 0; i < compiler->dimension_count; i++) {
		const struct model_field *field = compiler->dimensions[i].field;

		for (size_t j = 0; j < top->within_count; j++) {
			if (strcmp(field ? field->id : QUERY_TIME, top->within[j]) == 0)
				order_dimension(compiler, ordering, i, false, NULLS_AS_USUAL);
		}
	}
}

int compiler_order(const struct compiler *compiler, struct buf *out, struct err *err)
{
	const struct metric_query *query = compiler->query;
	struct ordering ordering = {.out = out};
	struct output_column first;

	if (query->top.count > 0)
		order_within(compiler, &ordering);
	for (size_t i = 0; i < query->order_count; i++) {
		if (order_asked(compiler, &ordering, &query->order[i], err) < 0)
			return -1;
	}
	if (compiler->dimension_count == 0)
		return 0;
	for (size_t i = 0; query->order_count == 0 && i < compiler->dimension_count; i++) {
		if (!compiler->dimensions[i].field || compiler->dimensions[i].field->is_time)
			order_dimension(compiler, &ordering, i, false, NULLS_AS_USUAL);
	}
	if (query->order_count == 0 && compiler_output(compiler, 0, &first))
		order_output(compiler, &ordering, &first, true, NULLS_AS_USUAL);
	for (size_t i = 0; i < compiler->dimension_count; i++)
		order_dimension(compiler, &ordering, i, false, NULLS_AS_USUAL);
	compiler_keys(compiler, ", ", compiler_two_levels(compiler) ? KEY_ALIAS : KEY_COLUMN, out);
	return 0;
}
