/*
 * The order of a metric query's rows: as asked; else times ascending, then the first metric
 * descending. Ties fall to the remaining dimensions and their keys, so that the order is total.
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

static void order_dimension(const struct compiler *compiler, struct ordering *ordering, size_t i,
			    bool desc)
{
	if (ordering->used[i])
		return;
	ordering->used[i] = true;
	order_next(ordering);
	sql_name(compiler->dimensions[i].name, ordering->out);
	if (desc)
		buf_add_str(ordering->out, " DESC");
}

/* Missing values come last both ways. */
static void order_output(const struct compiler *compiler, struct ordering *ordering,
			 const struct output_column *column, bool desc)
{
	CLEANUP(mem_freep) char *name = compiler_output_name(compiler, column);

	order_next(ordering);
	sql_name(name, ordering->out);
	buf_add_str(ordering->out, desc ? " DESC" : " NULLS LAST");
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
			order_output(compiler, ordering, &column, asked->desc);
			return 0;
		}
	}
	for (size_t i = 0; i < compiler->dimension_count; i++) {
		if (strcmp(compiler->dimensions[i].field->id, asked->by) == 0 ||
		    strcmp(compiler->dimensions[i].name, asked->by) == 0) {
			order_dimension(compiler, ordering, i, asked->desc);
			return 0;
		}
	}
	return err_set(err, ERR_NOT_FOUND, "order: %s is no column of the result", asked->by);
}

int compiler_order(const struct compiler *compiler, struct buf *out, struct err *err)
{
	const struct metric_query *query = compiler->query;
	struct ordering ordering = {.out = out};
	struct output_column first;

	for (size_t i = 0; i < query->order_count; i++) {
		if (order_asked(compiler, &ordering, &query->order[i], err) < 0)
			return -1;
	}
	if (compiler->dimension_count == 0)
		return 0;
	for (size_t i = 0; query->order_count == 0 && i < compiler->dimension_count; i++) {
		if (compiler->dimensions[i].field->is_time)
			order_dimension(compiler, &ordering, i, false);
	}
	if (query->order_count == 0 && compiler_output(compiler, 0, &first))
		order_output(compiler, &ordering, &first, true);
	for (size_t i = 0; i < compiler->dimension_count; i++)
		order_dimension(compiler, &ordering, i, false);
	compiler_keys(compiler, ", ", false, compiler_two_levels(compiler), out);
	return 0;
}
