/*
 * What the shape of a statement shows by itself: a column beside an aggregate that has no one
 * value, a LIMIT that cuts in no order, averages of averages, sums of ratios, whole numbers
 * divided.
 */
#include <stdlib.h>
#include <string.h>

#include "agents/query/check/check_internal.h"

struct shape {
	struct scan *scan;
	const struct sql_select *select;
};

typedef void visit_expr(const struct shape *shape, const struct sql_expr *expr,
			const struct sql_expr *parent);

static void visit(const struct shape *shape, const struct sql_expr *expr,
		  const struct sql_expr *parent, visit_expr *each)
{
	if (!expr || !check_step(shape->scan->context))
		return;
	each(shape, expr, parent);
	for (size_t i = 0; i < expr->arg_count; i++)
		visit(shape, expr->args[i], expr, each);
}

static void visit_outputs(const struct shape *shape, visit_expr *each)
{
	const struct sql_select *select = shape->select;

	for (size_t i = 0; i < select->output_count && select->arm_count == 0; i++)
		visit(shape, select->outputs[i].expr, NULL, each);
	visit(shape, select->having, NULL, each);
	for (size_t i = 0; i < select->order_count; i++)
		visit(shape, select->order[i], NULL, each);
}

static bool aggregates(const struct sql_select *select)
{
	for (size_t i = 0; i < select->aggregate_count; i++) {
		if (!select->aggregates[i].window)
			return true;
	}
	return false;
}

static bool one_row_in_all(const struct sql_select *select)
{
	return select->arm_count == 0 && select->group_count == 0 && aggregates(select);
}

/* ---- columns beside aggregates ---- */

static bool is_grouped(const struct sql_select *select, const struct sql_expr *expr)
{
	for (size_t i = 0; i < select->group_count; i++) {
		if (check_same_expr(select->groups[i].expr, expr))
			return true;
	}
	return false;
}

/* The first column that is neither grouped by, nor determined by what is, nor inside an aggregate.
 */
static const struct sql_expr *bare_column(const struct shape *shape, const struct sql_expr *expr)
{
	const struct sql_select *select = shape->select;

	if (!expr || is_grouped(select, expr) || (expr->aggregate && !expr->window))
		return NULL;
	if (expr->kind == SQL_EXPR_COLUMN) {
		struct place place =
			check_place(shape->scan->context, select, &expr->column, UINT64_MAX);

		if (place.reach != REACH_SOURCE ||
		    check_column_fixed(shape->scan->context, select, true, &expr->column))
			return NULL;
		return expr;
	}
	for (size_t i = 0; i < expr->arg_count; i++) {
		const struct sql_expr *bare = bare_column(shape, expr->args[i]);

		if (bare)
			return bare;
	}
	return NULL;
}

/* SQLite promises the row of a lone MIN or MAX: https://www.sqlite.org/lang_select.html */
static bool takes_row_of_extreme(const struct sql_select *select)
{
	size_t extremes = 0;

	for (size_t i = 0; i < select->aggregate_count; i++)
		extremes += select->aggregates[i].call == SQL_MIN ||
			    select->aggregates[i].call == SQL_MAX;
	return extremes == 1 && select->aggregate_count == 1;
}

static bool grouped_by_output(const struct sql_select *select, size_t output)
{
	for (size_t i = 0; i < select->group_count; i++) {
		const struct sql_group *group = &select->groups[i];

		if (group->output == (int)output ||
		    (group->plain && !group->column.table &&
		     check_same(group->column.name, select->outputs[output].name)))
			return true;
	}
	return false;
}

static void check_bare_columns(const struct shape *shape)
{
	const struct sql_select *select = shape->select;

	if (select->arm_count > 0 || select->wild_group ||
	    (!aggregates(select) && select->group_count == 0) || takes_row_of_extreme(select))
		return;
	for (size_t i = 0; i < select->output_count; i++) {
		const struct sql_expr *bare =
			select->outputs[i].star || grouped_by_output(select, i)
				? NULL
				: bare_column(shape, select->outputs[i].expr);

		if (!bare)
			continue;
		flag_add(shape->scan->flags, "group.bare_column", "warning",
			 "group by it, or aggregate it",
			 "%s has many values %s, and any one of them is shown", bare->column.name,
			 select->group_count ? "in a group" : "beside the aggregate");
		return;
	}
}

/* ---- LIMIT ---- */

static bool is_zero(const struct sql_expr *expr)
{
	return expr && expr->kind == SQL_EXPR_INTEGER && strcmp(expr->name, "0") == 0;
}

/* ORDER BY 'fee' orders by a text that is the same for every row. */
static bool is_ordered(const struct sql_select *select)
{
	for (size_t i = 0; i < select->order_count; i++) {
		if (select->order[i]->kind != SQL_EXPR_TEXT &&
		    select->order[i]->kind != SQL_EXPR_NULL)
			return true;
	}
	return false;
}

static bool has_one_row(const struct shape *shape)
{
	const struct sql_select *select = shape->select;

	if (one_row_in_all(select))
		return true;
	return select->arm_count == 0 && select->source_count > 0 && select->group_count == 0 &&
	       check_closure(shape->scan->context, select, 0, false) == check_all(select);
}

static bool is_under_exists(const struct shape *shape)
{
	const struct sql_select *select = shape->select;

	/* SELECT 1 FROM ... LIMIT 1: any row will do */
	return select->role == SQL_SUBQUERY && select->output_count == 1 &&
	       check_is_constant(select->outputs[0].expr);
}

static void check_limit(const struct shape *shape)
{
	const struct sql_select *select = shape->select;

	if (!select->limited || is_zero(select->limit) || is_ordered(select) ||
	    has_one_row(shape) || is_under_exists(shape))
		return;
	flag_add(shape->scan->flags, "limit.unordered", "warning",
		 "order by what makes a row one of the first",
		 "LIMIT cuts %s in no order: which rows are left is chance",
		 select == shape->scan->statement->top ? "the rows" : "the rows of a sub-query");
}

/* ---- averages and ratios ---- */

static bool is_ratio(const struct sql_expr *expr)
{
	return expr && expr->kind == SQL_EXPR_OPERATOR && expr->arg_count == 2 &&
	       strcmp(expr->name, "/") == 0;
}

static bool holds_aggregate(const struct sql_expr *expr)
{
	if (!expr || (expr->aggregate && !expr->window))
		return expr != NULL;
	for (size_t i = 0; i < expr->arg_count; i++) {
		if (holds_aggregate(expr->args[i]))
			return true;
	}
	return false;
}

/* AVG(x), SUM(a) / COUNT(*), with whatever rounds or scales them */
static bool is_average(const struct sql_expr *expr)
{
	static const char *const averages[] = {"avg", NULL};

	expr = check_bare(expr);
	if (!expr)
		return false;
	if (check_is_call(expr, averages))
		return expr->aggregate;
	if (is_ratio(expr) && holds_aggregate(expr->args[0]) && holds_aggregate(expr->args[1]))
		return true;
	if (expr->kind != SQL_EXPR_OPERATOR || expr->arg_count != 2)
		return false;
	return (check_is_constant(expr->args[1]) && is_average(expr->args[0])) ||
	       (check_is_constant(expr->args[0]) && is_average(expr->args[1]));
}

static bool is_rate_name(const char *name)
{
	static const char *const words[] = {"rate",	  "ratio", "pct", "percent",
					    "percentage", "share", "avg", "average"};

	for (size_t i = 0; name && i < ARRAY_LEN(words); i++) {
		if (check_has_word(name, words[i]))
			return true;
	}
	return name && (check_has_word(name, "unit_price") || check_has_word(name, "unit_cost") ||
			check_has_word(name, "price_per") || check_has_word(name, "per"));
}

/* An amount divided by a rate of exchange is an amount. */
static bool converts(const struct sql_expr *divisor)
{
	divisor = check_bare(divisor);
	return divisor && divisor->kind == SQL_EXPR_COLUMN && divisor->column.name &&
	       (check_has_word(divisor->column.name, "rate") ||
		check_has_word(divisor->column.name, "fx") ||
		check_has_word(divisor->column.name, "factor"));
}

static void flag_average(const struct shape *shape, bool sum, const char *name)
{
	if (sum)
		flag_add(shape->scan->flags, "sum.of_ratio", "warning",
			 "add up both parts and divide the sums",
			 "%s is a ratio, and ratios do not add up", name);
	else
		flag_add(shape->scan->flags, "average.of_averages", "warning",
			 "take the average over the rows themselves, or weigh by their number",
			 "%s is an average already: its groups count alike, however many rows they "
			 "have",
			 name);
}

/* Of a column that shows an average of its sub-query. */
static bool shows_average(const struct shape *shape, const struct sql_expr *argument)
{
	const struct sql_select *level = NULL;
	const struct sql_output *output;

	if (is_average(argument))
		return true;
	if (!argument || argument->kind != SQL_EXPR_COLUMN)
		return false;
	output = check_output_of(shape->scan->context, shape->select, &argument->column, &level);
	return output && is_average(output->expr);
}

/* Of two values of a row, and no conversion. */
static bool is_row_ratio(const struct sql_expr *expr)
{
	expr = check_bare(expr);
	return is_ratio(expr) && !check_is_constant(expr->args[1]) && !holds_aggregate(expr) &&
	       !converts(expr->args[1]);
}

static bool shows_ratio(const struct shape *shape, const struct sql_expr *argument)
{
	const struct sql_select *level = NULL;
	const struct sql_output *output =
		check_output_of(shape->scan->context, shape->select, &argument->column, &level);

	return output && is_row_ratio(output->expr);
}

static void check_ratio_column(const struct shape *shape, const struct sql_expr *argument, bool sum)
{
	const char *unit = NULL;
	struct base base;

	if (!check_base_of(shape->scan->context, shape->select, argument, &base))
		return;
	unit = json_get_str(base.definition, "unit");
	if (sum && (is_rate_name(base.column) || (unit && strcmp(unit, "%") == 0)))
		flag_average(shape, true, base.column);
}

static void check_aggregate(const struct shape *shape, const struct sql_expr *expr,
			    const struct sql_expr *parent)
{
	static const char *const calls[] = {"sum", "total", "avg", NULL};
	bool sum = expr->kind == SQL_EXPR_CALL && strcmp(expr->name, "avg") != 0;
	const struct sql_expr *argument;

	(void)parent;
	if (!check_is_call(expr, calls) || !expr->aggregate || expr->arg_count == 0)
		return;
	argument = check_bare(expr->args[0]);
	if (sum && argument && argument->kind == SQL_EXPR_COLUMN && shows_ratio(shape, argument)) {
		flag_average(shape, true, argument->column.name);
		return;
	}
	if (shows_average(shape, argument)) {
		/* SUM(average) / COUNT(*) is an average of averages as well */
		bool divided = parent && is_ratio(parent) && holds_aggregate(parent->args[1]);

		flag_average(shape, sum && !divided,
			     argument->kind == SQL_EXPR_COLUMN ? argument->column.name
							       : "what is aggregated");
	} else if (sum && is_row_ratio(argument)) {
		flag_average(shape, true, "what is added up");
	} else if (argument && argument->kind == SQL_EXPR_COLUMN) {
		check_ratio_column(shape, argument, sum);
	}
}

/* ---- whole numbers divided ---- */

/* Quarters and ages are made by cutting on purpose. */
static bool is_calendar(const struct sql_expr *expr)
{
	static const char *const calls[] = {"strftime",	 "extract", "date_part", "julianday",
					    "unixepoch", "ntile",   NULL};

	if (check_is_call(expr, calls))
		return true;
	for (size_t i = 0; expr && i < expr->arg_count; i++) {
		if (is_calendar(expr->args[i]))
			return true;
	}
	return false;
}

static bool is_sign(const struct sql_expr *expr, const char *sign)
{
	return expr && expr->kind == SQL_EXPR_OPERATOR && strcmp(expr->name, sign) == 0;
}

static bool divides_evenly(const struct sql_expr *expr)
{
	long long a, b;

	if (expr->args[0]->kind != SQL_EXPR_INTEGER || expr->args[1]->kind != SQL_EXPR_INTEGER)
		return false;
	a = strtoll(expr->args[0]->name, NULL, 10);
	b = strtoll(expr->args[1]->name, NULL, 10);
	return b != 0 && a % b == 0;
}

static void check_division(const struct shape *shape, const struct sql_expr *expr,
			   const struct sql_expr *parent)
{
	struct check_context *context = shape->scan->context;

	if (!is_ratio(expr) || is_calendar(expr) || divides_evenly(expr) ||
	    is_grouped(shape->select, expr) ||
	    /* x / 10 * 10 is the ten that x lies in */
	    (is_sign(parent, "*") && parent->args[0] == expr && parent->arg_count == 2 &&
	     check_same_expr(parent->args[1], expr->args[1])) ||
	    check_type(context, shape->select, expr->args[0]) != VALUE_INTEGER ||
	    check_type(context, shape->select, expr->args[1]) != VALUE_INTEGER)
		return;
	flag_add(shape->scan->flags, "division.integer", "warning",
		 "multiply by 1.0 before dividing",
		 "a whole number is divided by a whole number, which cuts the fraction off");
}

static void check_divisions(const struct shape *shape)
{
	const struct sql_select *select = shape->select;

	for (size_t i = 0; i < select->output_count && select->arm_count == 0; i++) {
		if (!grouped_by_output(select, i))
			visit(shape, select->outputs[i].expr, NULL, check_division);
	}
	visit(shape, select->having, NULL, check_division);
	visit(shape, select->where, NULL, check_division);
	for (size_t i = 0; i < select->order_count; i++)
		visit(shape, select->order[i], NULL, check_division);
}

void check_shape(struct scan *scan)
{
	for (size_t i = 0; i < scan->statement->select_count; i++) {
		struct shape shape = {scan, scan->statement->selects[i]};

		check_bare_columns(&shape);
		check_limit(&shape);
		visit_outputs(&shape, check_aggregate);
		check_divisions(&shape);
	}
}
