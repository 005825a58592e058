/*
 * The metric compiler: which groups are shown, once they are added up. Conditions on what is
 * measured stand in HAVING where one level will do, else they pick from the second; the first
 * within each group are ranked there, ties together.
 */
#include "agents/query/metrics/compile_internal.h"

#include <string.h>

static const struct model_metric *asked(const struct compiler *compiler, const char *name)
{
	for (size_t i = 0; i < compiler->metric_count; i++) {
		if (strcmp(compiler->metrics[i]->name, name) == 0)
			return compiler->metrics[i];
	}
	return NULL;
}

static int check_within(const struct compiler *compiler, const char *id, struct err *err)
{
	for (size_t i = 0; i < compiler->dimension_count; i++) {
		const struct model_field *field = compiler->dimensions[i].field;

		if (strcmp(field ? field->id : QUERY_TIME, id) == 0)
			return 0;
	}
	return err_set(err, ERR_INVALID, "top within %s, which is no dimension of the query", id);
}

int compiler_check_picks(const struct compiler *compiler, struct err *err)
{
	const struct metric_query *query = compiler->query;

	for (size_t i = 0; i < query->condition_count; i++) {
		if (!asked(compiler, query->conditions[i].metric))
			return err_coded(err, ERR_NOT_FOUND, "E_NAME_NOT_FOUND",
					 "a condition on %s, which is not among the metrics asked "
					 "for",
					 query->conditions[i].metric);
	}
	if (query->having.count > 0 && compiler_two_levels(compiler))
		return err_set(err, ERR_INVALID,
			       "conditions written as expressions go with plain measures of one "
			       "fact; use \"conditions\" by the names of metrics");
	if (query->top.count == 0)
		return 0;
	if (compiler->metric_count == 0 || query->top.within_count == 0 ||
	    query->top.within_count >= compiler->dimension_count)
		return err_set(err, ERR_INVALID,
			       "the first within each group need a metric, the group and "
			       "something else to tell apart");
	if (query->condition_count > 0 || query->limit > 0)
		return err_set(err, ERR_INVALID,
			       "the first within each group do not go with conditions or a limit");
	for (size_t i = 0; i < query->top.within_count; i++) {
		if (check_within(compiler, query->top.within[i], err) < 0)
			return -1;
	}
	return 0;
}

static void write_test(enum filter_op op, const char *value, struct buf *out)
{
	static const char *const signs[] = {" = ", " <> ", " >= ", " <= ", " > ", " < "};

	buf_addf(out, "%s%s", signs[op], value);
}

/* In HAVING a metric is its aggregate, a field the dimension that shows it. */
struct having {
	struct expr_writer writer; /* first */
	const struct part *part;
};

static void having_column(const struct expr_writer *writer, const struct expr *column,
			  struct buf *out)
{
	const struct part *part = ((const struct having *)writer)->part;
	const struct model_metric *metric = NULL;
	CLEANUP(buf_clear) struct buf raw = BUF_INIT;

	if (!column->dataset)
		metric = asked(part->compiler, column->text);
	if (!metric) {
		struct expr_writer plain = {compiler_column, NULL, part->compiler};

		compiler_column(&plain, column, out);
		return;
	}
	buf_add_char(&raw, '(');
	part_raw(part, metric, NULL, &raw);
	buf_add_char(&raw, ')');
	compiler_scaled(metric, buf_str(&raw), true, 0, out);
}

static int having_name(const struct expr *node, void *data)
{
	const struct having *having = data;

	return node->kind == EXPR_COLUMN && !node->dataset &&
	       !asked(having->part->compiler, node->text);
}

int compiler_having(const struct compiler *compiler, struct buf *out, struct err *err)
{
	const struct metric_query *query = compiler->query;
	const struct part *part = &compiler->parts[0];
	struct having having = {{having_column, NULL, compiler}, part};
	size_t count = 0;

	for (size_t i = 0; i < query->condition_count; i++) {
		const struct query_condition *condition = &query->conditions[i];
		struct expr name = {.kind = EXPR_COLUMN, .text = condition->metric};

		buf_add_str(out, count++ == 0 ? "\nHAVING " : "\n  AND ");
		having_column(&having.writer, &name, out);
		write_test(condition->op, condition->value, out);
	}
	for (size_t i = 0; i < query->having.count; i++) {
		if (expr_walk(compiler->having[i], having_name, &having) != 0)
			return err_coded(err, ERR_NOT_FOUND, "E_NAME_NOT_FOUND",
					 "having: \"%.200s\" names a measure that is not asked for",
					 query->having.items[i]);
		buf_add_str(out, count++ == 0 ? "\nHAVING " : "\n  AND ");
		expr_write_operand(compiler->having[i], &having.writer, out);
	}
	return 0;
}

static bool has_late(const struct compiler *compiler)
{
	for (size_t i = 0; i < compiler->query->filter_count; i++) {
		if (compiler_late(compiler, i))
			return true;
	}
	return false;
}

bool compiler_picks(const struct compiler *compiler)
{
	return has_late(compiler) || compiler->query->condition_count > 0 ||
	       compiler->query->top.count > 0;
}

static void pick_conditions(const struct compiler *compiler, size_t *count, struct buf *out)
{
	const struct metric_query *query = compiler->query;

	for (size_t i = 0; i < query->condition_count; i++) {
		const struct query_condition *condition = &query->conditions[i];
		struct output_column column = {asked(compiler, condition->metric), COLUMN_METRIC};
		CLEANUP(mem_freep) char *name = compiler_output_name(compiler, &column);

		buf_add_str(out, (*count)++ == 0 ? "\nWHERE " : "\n  AND ");
		sql_name(name, out);
		write_test(condition->op, condition->value, out);
	}
}

int compiler_pick(const struct compiler *compiler, struct buf *out, struct err *err)
{
	const struct metric_query *query = compiler->query;
	size_t count = 0;

	for (size_t i = 0; i < query->filter_count; i++) {
		const struct compiled_dimension *dimension = compiler_late(compiler, i);

		if (!dimension)
			continue;
		buf_add_str(out, count++ == 0 ? "\nWHERE " : "\n  AND ");
		if (compiler_filter(&query->filters[i], dimension->field, dimension->name, out,
				    err) < 0)
			return err_wrap(err, "filter");
	}
	pick_conditions(compiler, &count, out);
	if (query->top.count > 0)
		buf_addf(out, "%s\"place\" <= %lld", count++ == 0 ? "\nWHERE " : "\n  AND ",
			 (long long)query->top.count);
	return 0;
}

void compiler_place(const struct compiler *compiler, struct buf *out)
{
	const struct query_top *top = &compiler->query->top;
	const struct model_metric *metric = compiler->metrics[0];
	bool desc = true;
	size_t count = 0;

	if (top->count == 0)
		return;
	for (size_t i = 0; i < compiler->query->order_count; i++) {
		const struct query_order *order = &compiler->query->order[i];

		if (asked(compiler, order->by)) {
			metric = asked(compiler, order->by);
			desc = order->desc;
			break;
		}
	}
	buf_add_str(out, ",\n  RANK() OVER (PARTITION BY ");
	for (size_t i = 0; i < compiler->dimension_count; i++) {
		const struct model_field *field = compiler->dimensions[i].field;
		bool within = false;

		for (size_t j = 0; j < top->within_count; j++)
			within = within ||
				 strcmp(field ? field->id : QUERY_TIME, top->within[j]) == 0;
		if (!within)
			continue;
		buf_add_str(out, count++ == 0 ? "" : ", ");
		sql_name(compiler->dimensions[i].name, out);
	}
	buf_add_str(out, " ORDER BY ");
	compiler_value(compiler, metric, "", out);
	buf_addf(out, " %s NULLS LAST) AS \"place\"", desc ? "DESC" : "ASC");
}
