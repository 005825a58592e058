/*
 * Expressions, from the parse tree into the shapes of sql_parse.h. What has no shape of its own
 * becomes SQL_EXPR_OTHER with everything inside it as arguments, so that a walk over arguments
 * meets every column. Cannot fail; its depth is bounded by that of the JSON tree.
 */
#include <ctype.h>
#include <string.h>

#include "agents/query/check/sql_internal.h"

#define ARGS_MAX 4096 /* of one IN list; what is beyond is left out, and the list marked OTHER */

struct args { /* being collected */
	const struct sql_expr **items;
	size_t count;
};

static void add_arg(struct sql_parsed *parsed, struct args *args, const struct sql_expr *arg)
{
	if (!arg || args->count >= ARGS_MAX)
		return;
	args->items = sql_more(parsed, (void *)args->items, args->count, sizeof(*args->items));
	args->items[args->count++] = arg;
}

static struct sql_expr *new_expr(struct sql_parsed *parsed, enum sql_expr_kind kind,
				 const struct json *body)
{
	struct sql_expr *expr = sql_keep(parsed, sizeof(*expr));

	expr->kind = kind;
	expr->token =
		sql_token_at(&parsed->statement.tokens, (size_t)json_get_int(body, "location", 0));
	return expr;
}

static void set_args(struct sql_expr *expr, const struct args *args)
{
	expr->args = args->items;
	expr->arg_count = args->count;
}

static const struct sql_expr *with_args(struct sql_parsed *parsed, struct sql_expr *expr,
					const struct json *first, const struct json *second)
{
	struct args args = {0};

	add_arg(parsed, &args, sql_build_expr(parsed, first));
	add_arg(parsed, &args, sql_build_expr(parsed, second));
	set_args(expr, &args);
	return expr;
}

static const char *text_of(const struct json *names, size_t index)
{
	return json_get_str(json_get(json_at(names, index), "String"), "sval");
}

static const char *last_of(const struct json *names)
{
	return json_len(names) ? text_of(names, json_len(names) - 1) : NULL;
}

static const char *lower(struct sql_parsed *parsed, const char *text)
{
	size_t len = text ? strlen(text) : 0;
	char *copy = sql_keep(parsed, len + 1);

	for (size_t i = 0; i < len; i++)
		copy[i] = (char)tolower((unsigned char)text[i]);
	return copy;
}

static void collect_any(struct sql_parsed *parsed, const struct json *node, struct args *args);

/* ---- leaves ---- */

static const struct sql_expr *constant(struct sql_parsed *parsed, const struct json *body)
{
	struct sql_expr *expr = new_expr(parsed, SQL_EXPR_NULL, body);
	const struct json *integer = json_get(body, "ival");

	if (integer) {
		CLEANUP(mem_freep)
		char *digits = mem_format("%lld", (long long)json_get_int(integer, "ival", 0));

		expr->kind = SQL_EXPR_INTEGER;
		expr->name = lower(parsed, digits);
	} else if (json_get(body, "fval")) {
		expr->name = json_get_str(json_get(body, "fval"), "fval");
		/* a whole number beyond 32 bits comes as text too */
		expr->kind = expr->name && expr->name[strspn(expr->name, "0123456789")] == '\0'
				     ? SQL_EXPR_INTEGER
				     : SQL_EXPR_REAL;
	} else if (json_get(body, "sval")) {
		expr->kind = SQL_EXPR_TEXT;
		expr->name = json_get_str(json_get(body, "sval"), "sval");
	} else if (json_get(body, "boolval")) {
		expr->kind = SQL_EXPR_BOOL;
		expr->name = json_get_bool(json_get(body, "boolval"), "boolval", false) ? "true"
											: "false";
	}
	if (!expr->name && expr->kind != SQL_EXPR_NULL)
		expr->name = "";
	return expr;
}

static const struct sql_expr *column(struct sql_parsed *parsed, const struct json *node,
				     const struct json *body)
{
	struct sql_expr *expr = new_expr(parsed, SQL_EXPR_COLUMN, body);

	sql_read_column(node, &expr->column);
	return expr;
}

/* ---- operators and tests ---- */

static bool is_comparison(const char *sign)
{
	static const char *const signs[] = {"=", "<>", "<", "<=", ">", ">="};

	for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
		if (strcmp(sign, signs[i]) == 0)
			return true;
	}
	return false;
}

static const struct sql_expr *list_test(struct sql_parsed *parsed, enum sql_expr_kind kind,
					const struct json *body, bool negated)
{
	struct sql_expr *expr = new_expr(parsed, kind, body);
	const struct json *right = json_get(body, "rexpr");
	struct args args = {0};

	expr->negated = negated;
	add_arg(parsed, &args, sql_build_expr(parsed, json_get(body, "lexpr")));
	json_each(item, json_get(json_get(right, "List"), "items"))
		add_arg(parsed, &args, sql_build_expr(parsed, item));
	if (args.count >= ARGS_MAX)
		expr->kind = SQL_EXPR_OTHER;
	set_args(expr, &args);
	return expr;
}

static const struct sql_expr *two_sided(struct sql_parsed *parsed, enum sql_expr_kind kind,
					const struct json *body, bool negated)
{
	struct sql_expr *expr = new_expr(parsed, kind, body);

	expr->negated = negated;
	return with_args(parsed, expr, json_get(body, "lexpr"), json_get(body, "rexpr"));
}

static const struct sql_expr *sign_of(struct sql_parsed *parsed, const struct json *body,
				      const char *sign)
{
	struct sql_expr *expr =
		new_expr(parsed, is_comparison(sign) ? SQL_EXPR_COMPARE : SQL_EXPR_OPERATOR, body);

	expr->name = sign;
	return with_args(parsed, expr, json_get(body, "lexpr"), json_get(body, "rexpr"));
}

static const struct sql_expr *operator_of(struct sql_parsed *parsed, const struct json *body)
{
	const char *kind = json_get_str(body, "kind");
	const char *sign = last_of(json_get(body, "name"));

	kind = kind ? kind : "";
	sign = sign ? sign : "";
	if (strcmp(kind, "AEXPR_OP") == 0)
		return sign_of(parsed, body, sign);
	if (strcmp(kind, "AEXPR_IN") == 0)
		return list_test(parsed, SQL_EXPR_IN, body, strcmp(sign, "<>") == 0);
	if (strcmp(kind, "AEXPR_BETWEEN") == 0 || strcmp(kind, "AEXPR_NOT_BETWEEN") == 0)
		return list_test(parsed, SQL_EXPR_BETWEEN, body, kind[6] == 'N');
	if (strcmp(kind, "AEXPR_LIKE") == 0 || strcmp(kind, "AEXPR_ILIKE") == 0 ||
	    strcmp(kind, "AEXPR_SIMILAR") == 0)
		return two_sided(parsed, SQL_EXPR_LIKE, body, sign[0] == '!');
	if (strcmp(kind, "AEXPR_DISTINCT") == 0 || strcmp(kind, "AEXPR_NOT_DISTINCT") == 0)
		return two_sided(parsed, SQL_EXPR_SAME, body, kind[6] == 'D');
	if (strcmp(kind, "AEXPR_NULLIF") == 0) {
		struct sql_expr *expr = new_expr(parsed, SQL_EXPR_CALL, body);

		expr->name = "nullif";
		return with_args(parsed, expr, json_get(body, "lexpr"), json_get(body, "rexpr"));
	}
	return two_sided(parsed, SQL_EXPR_OTHER, body, false);
}

/* NOT of a test is that test negated; NOT of NOT goes away. */
static const struct sql_expr *negation(struct sql_parsed *parsed, const struct json *body)
{
	const struct sql_expr *inner = sql_build_expr(parsed, json_first(json_get(body, "args")));
	struct sql_expr *expr = new_expr(parsed, SQL_EXPR_NOT, body);
	struct args args = {0};

	if (inner && inner->kind == SQL_EXPR_NOT && inner->arg_count == 1)
		return inner->args[0];
	if (inner && (inner->kind == SQL_EXPR_IN || inner->kind == SQL_EXPR_BETWEEN ||
		      inner->kind == SQL_EXPR_LIKE || inner->kind == SQL_EXPR_IS_NULL ||
		      inner->kind == SQL_EXPR_EXISTS || inner->kind == SQL_EXPR_SAME)) {
		*expr = *inner;
		expr->negated = !inner->negated;
		return expr;
	}
	add_arg(parsed, &args, inner);
	set_args(expr, &args);
	return expr;
}

static const struct sql_expr *logic(struct sql_parsed *parsed, const struct json *body)
{
	const char *op = json_get_str(body, "boolop");
	struct sql_expr *expr;
	struct args args = {0};

	if (op && strcmp(op, "NOT_EXPR") == 0)
		return negation(parsed, body);
	expr = new_expr(parsed, op && strcmp(op, "OR_EXPR") == 0 ? SQL_EXPR_OR : SQL_EXPR_AND,
			body);
	json_each(arg, json_get(body, "args")) add_arg(parsed, &args, sql_build_expr(parsed, arg));
	set_args(expr, &args);
	return expr;
}

static const struct sql_expr *null_test(struct sql_parsed *parsed, const struct json *body)
{
	struct sql_expr *expr = new_expr(parsed, SQL_EXPR_IS_NULL, body);
	const char *kind = json_get_str(body, "nulltesttype");

	expr->negated = kind && strcmp(kind, "IS_NOT_NULL") == 0;
	return with_args(parsed, expr, json_get(body, "arg"), NULL);
}

/* ---- calls, CASE, casts, sub-queries ---- */

static const struct sql_expr *call(struct sql_parsed *parsed, const struct json *body)
{
	struct sql_expr *expr = new_expr(parsed, SQL_EXPR_CALL, body);
	struct args args = {0};
	enum sql_call ignored;

	expr->name = lower(parsed, last_of(json_get(body, "funcname")));
	if (strcmp(expr->name, "ifnull") == 0 || strcmp(expr->name, "nvl") == 0)
		expr->kind = SQL_EXPR_COALESCE;
	expr->distinct = json_get_bool(body, "agg_distinct", false);
	expr->star = json_get_bool(body, "agg_star", false);
	expr->window = json_get(body, "over") != NULL;
	expr->filtered = json_get(body, "agg_filter") != NULL;
	expr->aggregate = sql_call_aggregates(body, &ignored);
	json_each(arg, json_get(body, "args")) add_arg(parsed, &args, sql_build_expr(parsed, arg));
	if (expr->filtered)
		add_arg(parsed, &args, sql_build_expr(parsed, json_get(body, "agg_filter")));
	set_args(expr, &args);
	return expr;
}

static const struct sql_expr *condition_of(struct sql_parsed *parsed, const struct json *body,
					   const struct json *when)
{
	const struct json *subject = json_get(body, "arg");
	struct sql_expr *expr;

	if (!subject)
		return sql_build_expr(parsed, json_get(when, "expr"));
	expr = new_expr(parsed, SQL_EXPR_COMPARE, when);
	expr->name = "=";
	return with_args(parsed, expr, subject, json_get(when, "expr"));
}

static const struct sql_expr *choice(struct sql_parsed *parsed, const struct json *body)
{
	struct sql_expr *expr = new_expr(parsed, SQL_EXPR_CASE, body);
	const struct sql_expr *other = sql_build_expr(parsed, json_get(body, "defresult"));
	struct args args = {0};

	json_each(arm, json_get(body, "args"))
	{
		const struct json *when = json_get(arm, "CaseWhen");

		add_arg(parsed, &args, condition_of(parsed, body, when));
		add_arg(parsed, &args, sql_build_expr(parsed, json_get(when, "result")));
	}
	add_arg(parsed, &args, other ? other : new_expr(parsed, SQL_EXPR_NULL, body));
	set_args(expr, &args);
	return expr;
}

static const struct sql_expr *cast(struct sql_parsed *parsed, const struct json *body)
{
	struct sql_expr *expr = new_expr(parsed, SQL_EXPR_CAST, body);

	expr->name = lower(parsed, last_of(json_get(json_get(body, "typeName"), "names")));
	return with_args(parsed, expr, json_get(body, "arg"), NULL);
}

static const struct sql_select *select_of(const struct sql_parsed *parsed, const struct json *node)
{
	for (size_t i = 0; i < parsed->statement.select_count; i++) {
		if (parsed->nodes[i] == node)
			return parsed->selects[i];
	}
	return NULL;
}

static const struct sql_expr *sub_query(struct sql_parsed *parsed, const struct json *body)
{
	const char *kind = json_get_str(body, "subLinkType");
	struct sql_expr *expr = new_expr(parsed, SQL_EXPR_OTHER, body);

	kind = kind ? kind : "";
	expr->query = select_of(parsed, json_get(json_get(body, "subselect"), "SelectStmt"));
	if (strcmp(kind, "EXISTS_SUBLINK") == 0)
		expr->kind = SQL_EXPR_EXISTS;
	else if (strcmp(kind, "EXPR_SUBLINK") == 0)
		expr->kind = SQL_EXPR_QUERY;
	else if (strcmp(kind, "ANY_SUBLINK") == 0 && !json_get(body, "operName"))
		expr->kind = SQL_EXPR_IN;
	return with_args(parsed, expr, json_get(body, "testexpr"), NULL);
}

static const struct sql_expr *clock_value(struct sql_parsed *parsed, const struct json *body)
{
	static const struct {
		const char *op;
		const char *name;
	} known[] = {{"SVFOP_CURRENT_DATE", "current_date"},
		     {"SVFOP_CURRENT_TIMESTAMP", "current_timestamp"},
		     {"SVFOP_CURRENT_TIME", "current_time"}};
	const char *op = json_get_str(body, "op");
	struct sql_expr *expr = new_expr(parsed, SQL_EXPR_CALL, body);

	expr->name = "";
	for (size_t i = 0; op && i < ARRAY_LEN(known); i++) {
		if (strcmp(op, known[i].op) == 0)
			expr->name = known[i].name;
	}
	return expr;
}

static const struct sql_expr *other(struct sql_parsed *parsed, const struct json *node)
{
	struct sql_expr *expr = new_expr(parsed, SQL_EXPR_OTHER, json_first(node));
	struct args args = {0};

	collect_any(parsed, json_first(node), &args);
	set_args(expr, &args);
	return expr;
}

static const struct sql_expr *coalesce(struct sql_parsed *parsed, const struct json *body)
{
	struct sql_expr *expr = new_expr(parsed, SQL_EXPR_COALESCE, body);
	struct args args = {0};

	json_each(arg, json_get(body, "args")) add_arg(parsed, &args, sql_build_expr(parsed, arg));
	set_args(expr, &args);
	return expr;
}

typedef const struct sql_expr *build_body(struct sql_parsed *parsed, const struct json *body);

static build_body *builder_of(const char *key)
{
	static const struct {
		const char *key;
		build_body *build;
	} known[] = {{"A_Const", constant},	 {"A_Expr", operator_of},
		     {"BoolExpr", logic},	 {"NullTest", null_test},
		     {"FuncCall", call},	 {"CaseExpr", choice},
		     {"TypeCast", cast},	 {"SubLink", sub_query},
		     {"CoalesceExpr", coalesce}, {"SQLValueFunction", clock_value}};

	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		if (strcmp(key, known[i].key) == 0)
			return known[i].build;
	}
	return NULL;
}

/* Whatever expressions lie inside something that has no shape here. */
static void collect_any(struct sql_parsed *parsed, const struct json *node, struct args *args)
{
	if (json_type(node) != JSON_OBJECT && json_type(node) != JSON_ARRAY)
		return;
	json_each(child, node)
	{
		const char *key = json_key(child);

		if (key && (builder_of(key) || strcmp(key, "ColumnRef") == 0)) {
			add_arg(parsed, args, sql_build_expr(parsed, node));
			return;
		}
		collect_any(parsed, child, args);
	}
}

const struct sql_expr *sql_build_expr(struct sql_parsed *parsed, const struct json *node)
{
	const struct json *body = json_first(node);
	const char *key = json_type(node) == JSON_OBJECT ? json_key(body) : NULL;
	build_body *build = key ? builder_of(key) : NULL;

	if (!key)
		return NULL;
	if (strcmp(key, "ColumnRef") == 0)
		return column(parsed, node, body);
	if (strcmp(key, "CollateClause") == 0)
		return sql_build_expr(parsed, json_get(body, "arg"));
	return build ? build(parsed, body) : other(parsed, node);
}

/* ---- one level ---- */

static void build_order(struct sql_parsed *parsed, struct sql_select *select,
			const struct json *clause)
{
	struct args args = {0};

	json_each(item, clause) add_arg(
		parsed, &args, sql_build_expr(parsed, json_get(json_get(item, "SortBy"), "node")));
	select->order = args.items;
	select->order_count = args.count;
}

void sql_build_exprs(struct sql_parsed *parsed, struct sql_select *select, const struct json *node)
{
	const struct json *targets = json_get(node, "targetList");
	const struct json *groups = json_get(node, "groupClause");

	for (size_t i = 0; i < select->output_count && i < json_len(targets); i++) {
		if (!select->outputs[i].star)
			select->outputs[i].expr = sql_build_expr(
				parsed,
				json_get(json_get(json_at(targets, i), "ResTarget"), "val"));
	}
	for (size_t i = 0; i < select->group_count; i++) {
		if (!json_get(json_at(groups, i), "GroupingSet"))
			select->groups[i].expr = sql_build_expr(parsed, json_at(groups, i));
	}
	select->where = sql_build_expr(parsed, json_get(node, "whereClause"));
	select->having = sql_build_expr(parsed, json_get(node, "havingClause"));
	select->limit = sql_build_expr(parsed, json_get(node, "limitCount"));
	build_order(parsed, select, json_get(node, "sortClause"));
}
