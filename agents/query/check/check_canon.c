/*
 * Expressions in one canonical spelling, so that two statements that compute the same are seen to:
 * columns as those of their tables (a foreign key's as the key it points to), queries inside each
 * other written out, sums and products in order, constants that scale pulled out as one factor,
 * rounding and casts left away, SUM(CASE WHEN c THEN x END) as SUM(x) under the condition c.
 *
 * Two texts that differ need not differ in value; two that are the same do not.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agents/query/check/check_canon.h"

#define DEPTH_MAX 64

struct term {
	char *text; /* owned */
	double factor;
};

struct terms {
	struct term *items;
	size_t count;
};

static char *write_expr(struct canon *canon, const struct sql_select *select,
			const struct sql_expr *expr, double *factor);

void canon_clear(struct canon *canon)
{
	json_free(canon->conditions);
	*canon = (struct canon){0};
}

/* ---- columns ---- */

/* The key that a declared foreign key of one column points to. */
static bool points_to(const struct base *base, const char **ret_table, const char **ret_column)
{
	json_each(foreign, json_get(base->described, "foreign_keys"))
	{
		const struct json *columns = json_get(foreign, "columns");

		if (json_len(columns) != 1 || json_len(json_get(foreign, "to")) != 1 ||
		    !check_same(json_str(json_first(columns)), base->column))
			continue;
		*ret_table = json_get_str(foreign, "table");
		*ret_column = json_str(json_first(json_get(foreign, "to")));
		return *ret_table && *ret_column;
	}
	return false;
}

static char *column_text(const char *table, const char *column)
{
	char *text = mem_format("%s.%s", table, column);

	for (char *at = text; *at; at++)
		*at = (char)tolower((unsigned char)*at);
	return text;
}

static char *write_column(struct canon *canon, const struct sql_select *select,
			  const struct sql_expr *expr, double *factor)
{
	const struct sql_select *level = NULL;
	const struct sql_output *output;
	const char *table, *column;
	struct base base;

	if (check_base(canon->context, select, &expr->column, &base)) {
		if (points_to(&base, &table, &column))
			return column_text(table, column);
		return column_text(base.table, base.column);
	}
	output = check_output_of(canon->context, select, &expr->column, &level);
	if (output && output->expr)
		return write_expr(canon, level, output->expr, factor);
	return column_text("?", expr->column.name ? expr->column.name : "*");
}

/* ---- sums and products ---- */

static int by_text(const void *a, const void *b)
{
	return strcmp(((const struct term *)a)->text, ((const struct term *)b)->text);
}

static void add_term(struct terms *terms, char *text, double factor)
{
	terms->items = mem_grow(terms->items, (terms->count + 1) * sizeof(*terms->items));
	terms->items[terms->count++] = (struct term){text, factor};
}

static void terms_clear(struct terms *terms)
{
	for (size_t i = 0; i < terms->count; i++)
		mem_free(terms->items[i].text);
	mem_free(terms->items);
}

static bool is_sign(const struct sql_expr *expr, const char *sign)
{
	return expr->kind == SQL_EXPR_OPERATOR && strcmp(expr->name, sign) == 0;
}

static void collect_sum(struct canon *canon, const struct sql_select *select,
			const struct sql_expr *expr, double sign, struct terms *terms)
{
	double factor = sign;
	char *text;

	if ((is_sign(expr, "+") || is_sign(expr, "-")) && expr->arg_count == 2) {
		collect_sum(canon, select, expr->args[0], sign, terms);
		collect_sum(canon, select, expr->args[1], is_sign(expr, "-") ? -sign : sign, terms);
		return;
	}
	text = write_expr(canon, select, expr, &factor);
	add_term(terms, text, factor);
}

/* a - b and c * a - c * b: what all terms are multiplied with comes out. */
static char *write_sum(struct canon *canon, const struct sql_select *select,
		       const struct sql_expr *expr, double *factor)
{
	struct terms terms = {0};
	struct buf out = BUF_INIT;
	double common;

	collect_sum(canon, select, expr, 1, &terms);
	if (terms.count > 1)
		qsort(terms.items, terms.count, sizeof(*terms.items), by_text);
	common = fabs(terms.items[0].factor);
	for (size_t i = 0; i < terms.count; i++) {
		if (fabs(terms.items[i].factor) != common)
			common = 1;
	}
	buf_add_char(&out, '(');
	for (size_t i = 0; i < terms.count; i++)
		buf_addf(&out, "%s%.12g*%s", i > 0 ? " + " : "", terms.items[i].factor / common,
			 terms.items[i].text);
	buf_add_char(&out, ')');
	terms_clear(&terms);
	*factor *= common;
	return buf_take(&out);
}

static void collect_product(struct canon *canon, const struct sql_select *select,
			    const struct sql_expr *expr, struct terms *terms, double *factor)
{
	if (is_sign(expr, "*") && expr->arg_count == 2) {
		collect_product(canon, select, expr->args[0], terms, factor);
		collect_product(canon, select, expr->args[1], terms, factor);
		return;
	}
	if (expr->kind == SQL_EXPR_INTEGER || expr->kind == SQL_EXPR_REAL)
		*factor *= strtod(expr->name, NULL);
	else
		add_term(terms, write_expr(canon, select, expr, factor), 1);
}

static char *write_product(struct canon *canon, const struct sql_select *select,
			   const struct sql_expr *expr, double *factor)
{
	struct terms terms = {0};
	struct buf out = BUF_INIT;

	collect_product(canon, select, expr, &terms, factor);
	if (terms.count > 1)
		qsort(terms.items, terms.count, sizeof(*terms.items), by_text);
	for (size_t i = 0; i < terms.count; i++)
		buf_addf(&out, "%s%s", i > 0 ? "*" : "", terms.items[i].text);
	if (terms.count == 0)
		buf_add_char(&out, '1');
	terms_clear(&terms);
	return buf_take(&out);
}

static char *write_quotient(struct canon *canon, const struct sql_select *select,
			    const struct sql_expr *expr, double *factor)
{
	double below = 1;
	CLEANUP(mem_freep) char *top = write_expr(canon, select, expr->args[0], factor);
	CLEANUP(mem_freep) char *bottom = NULL;

	if (expr->args[1]->kind == SQL_EXPR_INTEGER || expr->args[1]->kind == SQL_EXPR_REAL)
		below = strtod(expr->args[1]->name, NULL);
	else
		bottom = write_expr(canon, select, expr->args[1], &below);
	if (below != 0)
		*factor /= below;
	return bottom ? mem_format("(%s / %s)", top, bottom) : mem_str(top);
}

/* ---- aggregates ---- */

static bool is_nothing(const struct sql_expr *expr)
{
	return expr->kind == SQL_EXPR_NULL ||
	       (expr->kind == SQL_EXPR_INTEGER && strcmp(expr->name, "0") == 0);
}

void canon_conditions(struct canon *canon, const struct sql_select *select,
		      const struct sql_expr *condition)
{
	double ignored = 1;
	char *text;

	if (!condition)
		return;
	if (condition->kind == SQL_EXPR_AND) {
		for (size_t i = 0; i < condition->arg_count; i++)
			canon_conditions(canon, select, condition->args[i]);
		return;
	}
	text = write_expr(canon, select, condition, &ignored);
	json_push_str(canon->conditions, text);
	mem_free(text);
}

/* CASE WHEN c THEN x [ELSE 0] END counts x under the condition c. */
static const struct sql_expr *under_condition(struct canon *canon, const struct sql_select *select,
					      const struct sql_expr *expr)
{
	if (expr->kind != SQL_EXPR_CASE || expr->arg_count != 3 || !is_nothing(expr->args[2]))
		return expr;
	canon_conditions(canon, select, expr->args[0]);
	return expr->args[1];
}

/* The key of the source whose rows a level counts; NULL when not one column. */
static char *counted_key(struct canon *canon, const struct sql_select *select)
{
	for (size_t i = 0; i < select->source_count; i++) {
		const struct sql_source *source = &select->sources[i];
		struct check_keys keys;
		char *text = NULL;

		if (source->kind != SQL_TABLE ||
		    check_closure(canon->context, select, check_bit(i), false) != check_all(select))
			continue;
		check_keys_of(canon->context, source, &keys);
		if (keys.count > 0 && keys.items[0].count == 1)
			text = column_text(check_source_name(canon->context->input, source),
					   keys.items[0].columns[0]);
		check_keys_clear(&keys);
		return text;
	}
	return NULL;
}

static bool is_key_text(const struct canon *canon, const char *text)
{
	json_each(table, canon->context->input->tables)
	{
		const struct json *key = json_get(table, "primary_key");
		const char *name = json_get_str(table, "table");
		CLEANUP(mem_freep) char *own = NULL;

		if (json_len(key) != 1 || !name || !*name)
			continue;
		own = column_text(name, json_str(json_first(key)));
		if (strcmp(own, text) == 0)
			return true;
	}
	return false;
}

static char *write_count(struct canon *canon, const struct sql_select *select,
			 const struct sql_expr *expr)
{
	const struct sql_expr *argument = expr->star || expr->arg_count == 0
						  ? NULL
						  : under_condition(canon, select, expr->args[0]);
	CLEANUP(mem_freep) char *text = NULL;
	double ignored = 1;

	if (argument && !check_is_constant(argument))
		text = write_expr(canon, select, argument, &ignored);
	else
		text = counted_key(canon, select);
	if (!text)
		return mem_str("count(*)");
	return mem_format(expr->distinct || is_key_text(canon, text) ? "count(distinct %s)"
								     : "count(%s)",
			  text);
}

static char *write_total(struct canon *canon, const struct sql_select *select,
			 const struct sql_expr *expr, double *factor)
{
	const struct sql_expr *argument = under_condition(canon, select, expr->args[0]);
	char *text = write_expr(canon, select, argument, factor), *whole;

	/* a sum of sums of the groups of a sub-query */
	if (strncmp(text, "sum(", 4) == 0)
		return text;
	whole = mem_format(expr->distinct ? "sum(distinct %s)" : "sum(%s)", text);
	mem_free(text);
	return whole;
}

/* ---- everything else ---- */

static char *write_plain(struct canon *canon, const struct sql_select *select,
			 const struct sql_expr *expr, const char *name)
{
	struct buf out = BUF_INIT;

	buf_addf(&out, "%s%s%s(", expr->negated ? "not " : "", name, expr->window ? " over" : "");
	for (size_t i = 0; i < expr->arg_count; i++) {
		double factor = 1;
		CLEANUP(mem_freep)
		char *text = write_expr(canon, select, expr->args[i], &factor);

		buf_addf(&out, i > 0 ? ", " : "");
		if (factor != 1)
			buf_addf(&out, "%.12g*", factor);
		buf_add_str(&out, text);
	}
	buf_add_char(&out, ')');
	return buf_take(&out);
}

static char *write_compare(struct canon *canon, const struct sql_select *select,
			   const struct sql_expr *expr)
{
	static const char *const turned[][2] = {{"<", ">"}, {"<=", ">="}, {">", "<"}, {">=", "<="}};
	const char *sign = expr->name;
	double ignored = 1;
	CLEANUP(mem_freep) char *left = write_expr(canon, select, expr->args[0], &ignored);
	CLEANUP(mem_freep) char *right = write_expr(canon, select, expr->args[1], &ignored);

	if (!check_is_constant(expr->args[0]) || check_is_constant(expr->args[1]))
		return mem_format("%s %s %s", left, sign, right);
	for (size_t i = 0; i < ARRAY_LEN(turned); i++) {
		if (strcmp(sign, turned[i][0]) == 0)
			return mem_format("%s %s %s", right, turned[i][1], left);
	}
	return mem_format("%s %s %s", right, sign, left);
}

static char *write_call(struct canon *canon, const struct sql_select *select,
			const struct sql_expr *expr, double *factor)
{
	static const char *const sums[] = {"sum", "total", NULL};
	static const char *const around[] = {"round", "nullif", NULL};

	if (expr->window)
		return write_plain(canon, select, expr, expr->name);
	if (expr->aggregate && strcmp(expr->name, "count") == 0)
		return write_count(canon, select, expr);
	if (expr->aggregate && check_is_call(expr, sums) && expr->arg_count > 0)
		return write_total(canon, select, expr, factor);
	if (check_is_call(expr, around) && expr->arg_count > 0)
		return write_expr(canon, select, expr->args[0], factor);
	return write_plain(canon, select, expr, expr->name);
}

static char *write_operator(struct canon *canon, const struct sql_select *select,
			    const struct sql_expr *expr, double *factor)
{
	if (expr->arg_count == 1 && is_sign(expr, "-")) {
		*factor = -*factor;
		return write_expr(canon, select, expr->args[0], factor);
	}
	if (expr->arg_count == 2 && (is_sign(expr, "+") || is_sign(expr, "-")))
		return write_sum(canon, select, expr, factor);
	if (expr->arg_count == 2 && is_sign(expr, "*"))
		return write_product(canon, select, expr, factor);
	if (expr->arg_count == 2 && is_sign(expr, "/"))
		return write_quotient(canon, select, expr, factor);
	return write_plain(canon, select, expr, expr->name);
}

static char *write_scalar_query(struct canon *canon, const struct sql_expr *expr, double *factor)
{
	const struct sql_select *query = expr->query;

	while (query && query->arm_count > 0)
		query = query->arms[0];
	if (!query || query->output_count == 0 || !query->outputs[0].expr)
		return mem_str("query");
	return write_expr(canon, query, query->outputs[0].expr, factor);
}

/* Of those that are their arguments under a name. */
static const char *const plain_names[] = {
	[SQL_EXPR_SAME] = "same",	  [SQL_EXPR_LIKE] = "like",  [SQL_EXPR_BETWEEN] = "between",
	[SQL_EXPR_IS_NULL] = "missing",	  [SQL_EXPR_AND] = "and",    [SQL_EXPR_OR] = "or",
	[SQL_EXPR_NOT] = "not",		  [SQL_EXPR_CASE] = "case",  [SQL_EXPR_EXISTS] = "exists",
	[SQL_EXPR_COALESCE] = "coalesce", [SQL_EXPR_OTHER] = "other"};

static char *write_kind(struct canon *canon, const struct sql_select *select,
			const struct sql_expr *expr, double *factor)
{
	switch (expr->kind) {
	case SQL_EXPR_COLUMN:
		return write_column(canon, select, expr, factor);
	case SQL_EXPR_INTEGER:
	case SQL_EXPR_REAL:
		return mem_format("%.12g", strtod(expr->name, NULL));
	case SQL_EXPR_TEXT:
		return mem_format("'%s'", expr->name);
	case SQL_EXPR_BOOL:
		return mem_str(expr->name);
	case SQL_EXPR_NULL:
		return mem_str("null");
	case SQL_EXPR_OPERATOR:
		return write_operator(canon, select, expr, factor);
	case SQL_EXPR_CALL:
		return write_call(canon, select, expr, factor);
	case SQL_EXPR_CAST:
		if (expr->arg_count == 1)
			return write_expr(canon, select, expr->args[0], factor);
		return mem_str("cast");
	case SQL_EXPR_COMPARE:
		if (expr->arg_count == 2)
			return write_compare(canon, select, expr);
		return mem_str("compare");
	case SQL_EXPR_QUERY:
		return write_scalar_query(canon, expr, factor);
	case SQL_EXPR_IN:
		if (!expr->query && expr->arg_count == 2) /* IN ('x') is = 'x' */
			return write_compare(canon, select,
					     &(struct sql_expr){.kind = SQL_EXPR_COMPARE,
								.name = expr->negated ? "<>" : "=",
								.args = expr->args,
								.arg_count = 2});
		return write_plain(canon, select, expr, "in");
	default:
		return write_plain(canon, select, expr, plain_names[expr->kind]);
	}
}

static char *write_expr(struct canon *canon, const struct sql_select *select,
			const struct sql_expr *expr, double *factor)
{
	char *text;

	if (canon->depth == DEPTH_MAX || !check_step(canon->context))
		return mem_str("too deep");
	canon->depth++;
	text = write_kind(canon, select, expr, factor);
	canon->depth--;
	return text;
}

char *canon_write(struct canon *canon, const struct sql_select *select, const struct sql_expr *expr,
		  double *ret_factor)
{
	double factor = 1;
	char *text = write_expr(canon, select, expr, &factor);

	*ret_factor = factor;
	return text;
}
