/*
 * What an aggregate adds up: its argument cut at + and -, at the results of CASE and the arguments
 * of COALESCE. A product stays whole: quantity times price is one number, whose row is that of the
 * finer table. Constants are dropped unless nothing else is left.
 */
#include "agents/query/check/sql_internal.h"

#include <string.h>

struct cutter {
	struct sql_parsed *parsed;
	struct sql_aggregate *aggregate;
};

static void cut(struct cutter *cutter, const struct json *node,
		const struct sql_columns *conditions);

static void add_term(struct cutter *cutter, const struct json *node,
		     const struct sql_columns *conditions)
{
	struct sql_aggregate *aggregate = cutter->aggregate;
	struct sql_term term = {0};

	sql_collect(cutter->parsed, node, &term.values, &term.opaque);
	sql_add_columns(cutter->parsed, &term.conditions, conditions);
	aggregate->terms = sql_more(cutter->parsed, aggregate->terms, aggregate->term_count,
				    sizeof(*aggregate->terms));
	aggregate->terms[aggregate->term_count++] = term;
}

static void cut_case(struct cutter *cutter, const struct json *expr,
		     const struct sql_columns *outer)
{
	struct sql_columns conditions = {0};

	sql_add_columns(cutter->parsed, &conditions, outer);
	sql_collect(cutter->parsed, json_get(expr, "arg"), &conditions, NULL);
	json_each(arm, json_get(expr, "args")) sql_collect(
		cutter->parsed, json_get(json_get(arm, "CaseWhen"), "expr"), &conditions, NULL);
	json_each(arm, json_get(expr, "args"))
		cut(cutter, json_get(json_get(arm, "CaseWhen"), "result"), &conditions);
	if (json_get(expr, "defresult"))
		cut(cutter, json_get(expr, "defresult"), &conditions);
}

static const char *operator_of(const struct json *expr)
{
	const struct json *name = json_first(json_get(expr, "name"));
	const char *kind = json_get_str(expr, "kind");
	const char *text = json_get_str(json_get(name, "String"), "sval");

	return kind && strcmp(kind, "AEXPR_OP") == 0 && text ? text : "";
}

static void cut_operator(struct cutter *cutter, const struct json *node,
			 const struct sql_columns *conditions)
{
	const struct json *expr = json_get(node, "A_Expr");
	const struct json *left = json_get(expr, "lexpr"), *right = json_get(expr, "rexpr");
	const char *sign = operator_of(expr);

	if (strcmp(sign, "+") == 0 || strcmp(sign, "-") == 0) {
		if (left)
			cut(cutter, left, conditions);
		cut(cutter, right, conditions);
	} else if ((strcmp(sign, "*") == 0 || strcmp(sign, "/") == 0) && sql_is_constant(right)) {
		cut(cutter, left, conditions);
	} else if (strcmp(sign, "*") == 0 && sql_is_constant(left)) {
		cut(cutter, right, conditions);
	} else {
		add_term(cutter, node, conditions);
	}
}

static void cut_call(struct cutter *cutter, const struct json *node,
		     const struct sql_columns *conditions)
{
	const struct json *call = json_get(node, "FuncCall");
	const struct json *args = json_get(call, "args");
	const struct json *name = json_first(json_get(call, "funcname"));
	const char *text = json_get_str(json_get(name, "String"), "sval");

	if (text && strcmp(text, "ifnull") == 0) {
		json_each(arg, args) cut(cutter, arg, conditions);
	} else if (text && (strcmp(text, "round") == 0 || strcmp(text, "abs") == 0)) {
		cut(cutter, json_first(args), conditions);
	} else if (text && strcmp(text, "iif") == 0) {
		struct sql_columns more = {0};

		sql_add_columns(cutter->parsed, &more, conditions);
		sql_collect(cutter->parsed, json_first(args), &more, NULL);
		for (size_t i = 1; i < json_len(args); i++)
			cut(cutter, json_at(args, i), &more);
	} else {
		add_term(cutter, node, conditions);
	}
}

static void cut(struct cutter *cutter, const struct json *node,
		const struct sql_columns *conditions)
{
	const char *key = json_key(json_first(node));

	if (key && strcmp(key, "A_Expr") == 0)
		cut_operator(cutter, node, conditions);
	else if (key && strcmp(key, "CaseExpr") == 0)
		cut_case(cutter, json_get(node, "CaseExpr"), conditions);
	else if (key && strcmp(key, "TypeCast") == 0)
		cut(cutter, json_get(json_get(node, "TypeCast"), "arg"), conditions);
	else if (key && strcmp(key, "FuncCall") == 0)
		cut_call(cutter, node, conditions);
	else if (key && strcmp(key, "CoalesceExpr") == 0)
		json_each(arg, json_get(json_get(node, "CoalesceExpr"), "args"))
			cut(cutter, arg, conditions);
	else
		add_term(cutter, node, conditions);
}

/* Constants count rows only where nothing else does: SUM(1), COUNT(CASE WHEN ... THEN 1 END). */
static void drop_constants(struct sql_aggregate *aggregate)
{
	size_t kept = 0;

	for (size_t i = 0; i < aggregate->term_count; i++) {
		if (aggregate->terms[i].values.count > 0 || aggregate->terms[i].opaque)
			aggregate->terms[kept++] = aggregate->terms[i];
	}
	aggregate->term_count = kept > 0 ? kept : aggregate->term_count > 0;
}

void sql_build_terms(struct sql_parsed *parsed, struct sql_aggregate *aggregate,
		     const struct json *argument)
{
	struct cutter cutter = {parsed, aggregate};
	struct sql_columns none = {0};

	if (aggregate->star)
		return;
	if (aggregate->call == SQL_COUNT && !json_get(argument, "CaseExpr"))
		add_term(&cutter, argument, &none); /* counted once, whatever is added inside */
	else
		cut(&cutter, argument, &none);
	drop_constants(aggregate);
}
