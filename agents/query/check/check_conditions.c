/*
 * Conditions that silently leave rows out or let none pass: a missing value is neither equal nor
 * unequal to anything, NOT IN over one lets nothing pass, a text that no row has finds nothing, a
 * number is never equal to a word. Conditions are those of WHERE, ON, HAVING and CASE.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "agents/query/check/check_ask.h"
#include "agents/query/check/check_doubt.h"

struct conditions {
	struct scan *scan;
	const struct sql_select *select;
	const struct sql_expr *around[64]; /* AND, OR, CASE it stands in, outer first */
	size_t depth;
};

static void check_condition(struct conditions *conditions, const struct sql_expr *expr);

static enum sql_dialect dialect_of(const struct conditions *conditions)
{
	return check_postgres(conditions->scan->context) ? SQL_DIALECT_POSTGRES
							 : SQL_DIALECT_SQLITE;
}

/* ---- missing values ---- */

/* Does something beside the condition speak of the column's missing values? */
static bool speaks_of_null(const struct sql_expr *expr, const struct sql_expr *column)
{
	if (expr->kind == SQL_EXPR_IS_NULL && expr->arg_count == 1)
		return check_same_expr(expr->args[0], column);
	for (size_t i = 0; i < expr->arg_count; i++) {
		if (speaks_of_null(expr->args[i], column))
			return true;
	}
	return false;
}

static bool null_is_settled(const struct conditions *conditions, const struct sql_expr *column)
{
	for (size_t i = 0; i < conditions->depth; i++) {
		if (speaks_of_null(conditions->around[i], column))
			return true;
	}
	return false;
}

static void check_nulls(struct conditions *conditions, const struct sql_expr *column)
{
	const struct scan *scan = conditions->scan;
	struct doubt *doubt;
	struct base base;

	if (!check_base_of(scan->context, conditions->select, column, &base) ||
	    !check_nullable(&base) || null_is_settled(conditions, column))
		return;
	doubt = doubt_add(scan->doubts, DOUBT_NULLS_DROPPED);
	doubt->table = mem_str(base.table);
	doubt->name = mem_str(base.column);
	doubt->sql = ask_nulls(base.table, base.column);
}

static bool all_constant(const struct sql_expr *expr, size_t from)
{
	for (size_t i = from; i < expr->arg_count; i++) {
		if (!check_is_constant(expr->args[i]))
			return false;
	}
	return expr->arg_count > from;
}

static void flag_null_compared(const struct conditions *conditions, const char *how)
{
	flag_add(conditions->scan->flags, "null.compared", "error", "use IS NULL or IS NOT NULL",
		 "%s NULL is true for no row: a missing value is neither equal nor unequal", how);
}

static bool has_null(const struct sql_expr *expr, size_t from)
{
	for (size_t i = from; i < expr->arg_count; i++) {
		if (expr->args[i]->kind == SQL_EXPR_NULL)
			return true;
	}
	return false;
}

/* Does the condition, as a whole, let no row pass in which the column is missing? */
static bool rejects_null(const struct sql_expr *condition, const struct sql_expr *column)
{
	if (!condition)
		return false;
	if (condition->kind == SQL_EXPR_AND) {
		for (size_t i = 0; i < condition->arg_count; i++) {
			if (rejects_null(condition->args[i], column))
				return true;
		}
		return false;
	}
	if (condition->kind == SQL_EXPR_IS_NULL)
		return condition->negated && condition->arg_count == 1 &&
		       check_same_expr(condition->args[0], column);
	if (condition->kind != SQL_EXPR_COMPARE && condition->kind != SQL_EXPR_BETWEEN &&
	    condition->kind != SQL_EXPR_LIKE && condition->kind != SQL_EXPR_IN)
		return false;
	for (size_t i = 0; i < condition->arg_count && i < 2; i++) {
		if (check_same_expr(condition->args[i], column))
			return true;
	}
	return false;
}

/* May the query show NULL in this column of a table? Fills in which column that is. */
static bool may_show_null(struct check_context *context, const struct sql_select *query,
			  const struct sql_expr *shown, struct base *ret_base)
{
	struct place place;
	const struct sql_source *source;

	if (!shown || shown->kind != SQL_EXPR_COLUMN || rejects_null(query->where, shown) ||
	    !check_step(context))
		return false;
	place = check_place(context, query, &shown->column, UINT64_MAX);
	if (place.reach != REACH_SOURCE)
		return false;
	source = &query->sources[place.source];
	if (source->kind == SQL_TABLE)
		return check_base_of(context, query, shown, ret_base) && check_nullable(ret_base);
	for (size_t i = 0; source->query && i < source->query->output_count; i++) {
		const struct sql_output *output = &source->query->outputs[i];

		if (source->query->arm_count == 0 && !output->star &&
		    check_same(output->name, shown->column.name))
			return may_show_null(context, source->query, output->expr, ret_base);
	}
	return false;
}

/* The sub-query of NOT IN: may its one column hold NULL? */
static void check_not_in(struct conditions *conditions, const struct sql_select *query)
{
	struct scan *scan = conditions->scan;
	const struct sql_expr *shown =
		query->output_count == 1 && query->arm_count == 0 ? query->outputs[0].expr : NULL;
	struct doubt *doubt;
	struct base base;

	if (!may_show_null(scan->context, query, shown, &base))
		return;
	doubt = doubt_add(scan->doubts, DOUBT_NULLS_IN);
	doubt->table = mem_str(base.table);
	doubt->name = mem_str(base.column);
	doubt->sql = ask_nulls(base.table, base.column);
	/* only part of the rows: which, is not measured */
	doubt->mild =
		query->where || query->source_count != 1 || query->sources[0].kind != SQL_TABLE;
}

/* ---- values ---- */

static void check_text(struct conditions *conditions, const struct sql_expr *column,
		       const char *text, bool like)
{
	struct scan *scan = conditions->scan;
	struct doubt *doubt;
	enum value_type type;
	struct base base;

	if (!check_base_of(scan->context, conditions->select, column, &base))
		return;
	type = check_declared_type(scan->context, &base);
	if (type == VALUE_INTEGER || type == VALUE_REAL) {
		if (text[strspn(text, "0123456789.-+eE ")] != '\0' || !*text)
			flag_add(scan->flags, "compare.types", "warning",
				 "compare with a value of the column's own kind",
				 "%s.%s holds numbers, '%s' is none: they are never equal",
				 base.table, base.column, text);
		return;
	}
	if (type == VALUE_TIME || type == VALUE_BOOL)
		return;
	doubt = doubt_add(scan->doubts, DOUBT_VALUE);
	doubt->table = mem_str(base.table);
	doubt->name = mem_str(base.column);
	doubt->value = mem_str(text);
	doubt->mild = like;
	doubt->sql = ask_value(dialect_of(conditions), base.table, base.column, like, text);
}

/* 2025-03-01: what is compared with a time is looked at by check_times.c */
static bool is_date(const char *text)
{
	return isdigit((unsigned char)text[0]) && strcspn(text, "-/.") < strlen(text) &&
	       strspn(text, "0123456789-/.: TZ+") == strlen(text);
}

/* lower(state) = 'Delivered' is true for no row, whatever it holds. */
static void check_folded(struct conditions *conditions, const struct sql_expr *folded,
			 const char *text)
{
	static const char *const lower[] = {"lower", NULL};
	static const char *const upper[] = {"upper", NULL};
	bool low = check_is_call(folded, lower), high = check_is_call(folded, upper);

	for (const char *at = text; *at && (low || high); at++) {
		if (!(low ? isupper((unsigned char)*at) : islower((unsigned char)*at)))
			continue;
		flag_add(conditions->scan->flags, "filter.unknown_value", "warning",
			 "write the text in the same letters",
			 "%s() never gives '%s': its letters are others", folded->name, text);
		return;
	}
}

static void check_against(struct conditions *conditions, const struct sql_expr *left,
			  const struct sql_expr *right, bool like)
{
	if (right->kind != SQL_EXPR_TEXT || is_date(right->name))
		return;
	if (left->kind == SQL_EXPR_COLUMN)
		check_text(conditions, left, right->name, like);
	else if (!like)
		check_folded(conditions, left, right->name);
}

/* A text column against a number: as texts, 9 is greater than 10. */
static void check_order(struct conditions *conditions, const struct sql_expr *expr)
{
	for (size_t i = 0; i < 2; i++) {
		const struct sql_expr *column = expr->args[i], *number = expr->args[1 - i];
		struct base base;

		if ((number->kind != SQL_EXPR_INTEGER && number->kind != SQL_EXPR_REAL) ||
		    !check_base_of(conditions->scan->context, conditions->select, column, &base) ||
		    check_declared_type(conditions->scan->context, &base) != VALUE_TEXT)
			continue;
		flag_add(conditions->scan->flags, "compare.types", "warning",
			 "cast the column to a number first",
			 "%s.%s holds texts and is compared with the number %s: letter by letter, "
			 "'9' is greater than '10'",
			 base.table, base.column, number->name);
	}
}

/* ---- the kinds of conditions ---- */

static void check_compare(struct conditions *conditions, const struct sql_expr *expr)
{
	bool unequal = strcmp(expr->name, "<>") == 0, equal = strcmp(expr->name, "=") == 0;

	if (expr->arg_count != 2)
		return;
	if (has_null(expr, 0)) {
		CLEANUP(mem_freep) char *how = mem_format("comparing (%s) with", expr->name);

		flag_null_compared(conditions, how);
		return;
	}
	if (equal || unequal) {
		check_against(conditions, expr->args[0], expr->args[1], false);
		check_against(conditions, expr->args[1], expr->args[0], false);
	} else {
		check_order(conditions, expr);
	}
	if (unequal) {
		if (check_is_constant(expr->args[1]))
			check_nulls(conditions, expr->args[0]);
		else if (check_is_constant(expr->args[0]))
			check_nulls(conditions, expr->args[1]);
	}
}

static void check_in(struct conditions *conditions, const struct sql_expr *expr)
{
	if (expr->arg_count == 0)
		return;
	if (expr->query) {
		if (expr->negated)
			check_not_in(conditions, expr->query);
		return;
	}
	if (expr->negated && has_null(expr, 1)) {
		flag_null_compared(conditions, "NOT IN over a list with");
		return;
	}
	for (size_t i = 1; i < expr->arg_count; i++)
		check_against(conditions, expr->args[0], expr->args[i], false);
	if (expr->negated && all_constant(expr, 1))
		check_nulls(conditions, expr->args[0]);
}

static void check_negated(struct conditions *conditions, const struct sql_expr *expr)
{
	if (expr->kind == SQL_EXPR_LIKE && expr->arg_count == 2)
		check_against(conditions, expr->args[0], expr->args[1], true);
	if (expr->negated && all_constant(expr, 1))
		check_nulls(conditions, expr->args[0]);
}

/* NOT (state = 'L') */
static void check_not(struct conditions *conditions, const struct sql_expr *expr)
{
	const struct sql_expr *inner = expr->arg_count == 1 ? expr->args[0] : NULL;

	if (inner && inner->kind == SQL_EXPR_COMPARE && inner->arg_count == 2 &&
	    check_is_constant(inner->args[1]))
		check_nulls(conditions, inner->args[0]);
}

static void check_parts(struct conditions *conditions, const struct sql_expr *expr)
{
	bool frame = (expr->kind == SQL_EXPR_AND || expr->kind == SQL_EXPR_OR ||
		      expr->kind == SQL_EXPR_CASE) &&
		     conditions->depth < ARRAY_LEN(conditions->around);

	if (frame)
		conditions->around[conditions->depth++] = expr;
	for (size_t i = 0; i < expr->arg_count; i++)
		check_condition(conditions, expr->args[i]);
	conditions->depth -= frame;
}

static void check_condition(struct conditions *conditions, const struct sql_expr *expr)
{
	if (!expr || !check_step(conditions->scan->context))
		return;
	switch (expr->kind) {
	case SQL_EXPR_COMPARE:
		check_compare(conditions, expr);
		break;
	case SQL_EXPR_IN:
		check_in(conditions, expr);
		break;
	case SQL_EXPR_LIKE:
	case SQL_EXPR_BETWEEN:
		check_negated(conditions, expr);
		break;
	case SQL_EXPR_NOT:
		check_not(conditions, expr);
		break;
	default:
		break;
	}
	check_parts(conditions, expr);
}

static void check_level(struct scan *scan, const struct sql_select *select)
{
	struct conditions conditions = {.scan = scan, .select = select};

	check_condition(&conditions, select->where);
	for (size_t i = 0; i < select->join_count; i++)
		check_condition(&conditions, select->joins[i].on);
	check_condition(&conditions, select->having);
	for (size_t i = 0; i < select->output_count && select->arm_count == 0; i++)
		check_condition(&conditions, select->outputs[i].expr);
}

void check_conditions(struct scan *scan)
{
	for (size_t i = 0; i < scan->statement->select_count; i++)
		check_level(scan, scan->statement->selects[i]);
}
