/* Small questions about expressions, which need no schema. */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "agents/query/check/check_internal.h"

bool check_is_call(const struct sql_expr *expr, const char *const *names)
{
	if (!expr || expr->kind != SQL_EXPR_CALL)
		return false;
	for (; *names; names++) {
		if (strcmp(expr->name, *names) == 0)
			return true;
	}
	return false;
}

const struct sql_expr *check_bare(const struct sql_expr *expr)
{
	static const char *const around[] = {"round", "abs", "trunc", "printf", "format", NULL};

	while (expr && expr->arg_count > 0) {
		if (expr->kind == SQL_EXPR_CAST || expr->kind == SQL_EXPR_COALESCE ||
		    check_is_call(expr, around))
			expr = expr->args[0];
		else
			break;
	}
	return expr;
}

bool check_is_constant(const struct sql_expr *expr)
{
	if (!expr || expr->query || expr->kind == SQL_EXPR_COLUMN)
		return false;
	for (size_t i = 0; i < expr->arg_count; i++) {
		if (!check_is_constant(expr->args[i]))
			return false;
	}
	return true;
}

static bool same_column(const struct sql_column *a, const struct sql_column *b)
{
	return check_same(a->name, b->name) &&
	       (!a->table || !b->table || check_same(a->table, b->table));
}

bool check_same_expr(const struct sql_expr *a, const struct sql_expr *b)
{
	if (!a || !b || a->kind != b->kind || a->arg_count != b->arg_count || a->query ||
	    b->query || a->negated != b->negated)
		return false;
	if (a->kind == SQL_EXPR_COLUMN)
		return same_column(&a->column, &b->column);
	if ((a->name || b->name) && (!a->name || !b->name || strcmp(a->name, b->name) != 0))
		return false;
	for (size_t i = 0; i < a->arg_count; i++) {
		if (!check_same_expr(a->args[i], b->args[i]))
			return false;
	}
	return true;
}

bool check_has_word(const char *name, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = name; (at = strcasestr(at, word)) != NULL; at++) {
		bool begins = at == name || !isalpha((unsigned char)at[-1]);

		if (begins && !isalpha((unsigned char)at[len]))
			return true;
	}
	return false;
}
