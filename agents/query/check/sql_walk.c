/*
 * Walking the expressions of one level. Its depth is bounded by that of the JSON tree.
 */
#include "agents/query/check/sql_internal.h"

#include <string.h>

static void add_column(struct sql_parsed *parsed, struct sql_columns *columns,
		       struct sql_column column)
{
	columns->items = sql_more(parsed, columns->items, columns->count, sizeof(*columns->items));
	columns->items[columns->count++] = column;
}

void sql_add_columns(struct sql_parsed *parsed, struct sql_columns *columns,
		     const struct sql_columns *more)
{
	for (size_t i = 0; i < more->count; i++)
		add_column(parsed, columns, more->items[i]);
}

static const char *field(const struct json *fields, size_t index)
{
	return json_get_str(json_get(json_at(fields, index), "String"), "sval");
}

/* [schema.][table.]name, or with a star for the name */
static struct sql_column column_of(const struct json *reference)
{
	const struct json *fields = json_get(reference, "fields");
	size_t count = json_len(fields);

	return (struct sql_column){count > 1 ? field(fields, count - 2) : NULL,
				   field(fields, count - 1)};
}

bool sql_read_column(const struct json *node, struct sql_column *ret_column)
{
	const struct json *reference = json_get(node, "ColumnRef");

	if (!reference)
		return false;
	*ret_column = column_of(reference);
	return true;
}

void sql_collect(struct sql_parsed *parsed, const struct json *node, struct sql_columns *columns,
		 bool *ret_opaque)
{
	if (json_type(node) != JSON_OBJECT && json_type(node) != JSON_ARRAY)
		return;
	json_each(child, node)
	{
		const char *key = json_key(child);

		if (key && strcmp(key, "ColumnRef") == 0)
			add_column(parsed, columns, column_of(child));
		else if (key && strcmp(key, "SubLink") == 0)
			*(ret_opaque ? ret_opaque : &(bool){false}) = true;
		else
			sql_collect(parsed, child, columns, ret_opaque);
	}
}

static bool has_any(const struct json *node, const char *const *keys)
{
	if (json_type(node) != JSON_OBJECT && json_type(node) != JSON_ARRAY)
		return false;
	json_each(child, node)
	{
		for (size_t i = 0; keys[i]; i++) {
			if (json_key(child) && strcmp(json_key(child), keys[i]) == 0)
				return true;
		}
		if (has_any(child, keys))
			return true;
	}
	return false;
}

bool sql_is_constant(const struct json *node)
{
	static const char *const keys[] = {"ColumnRef", "SubLink", "isnull", NULL};

	return node && !has_any(node, keys);
}

/* ---- aggregates ---- */

static const char *call_name(const struct json *call)
{
	const struct json *names = json_get(call, "funcname");

	return field(names, json_len(names) - 1);
}

bool sql_call_aggregates(const struct json *call, enum sql_call *ret_call)
{
	static const struct {
		const char *name;
		enum sql_call call;
	} known[] = {{"sum", SQL_SUM},
		     {"total", SQL_TOTAL},
		     {"count", SQL_COUNT},
		     {"avg", SQL_AVG},
		     {"min", SQL_MIN},
		     {"max", SQL_MAX},
		     {"group_concat", SQL_CONCAT},
		     {"string_agg", SQL_CONCAT}};
	const char *name = call_name(call);

	for (size_t i = 0; name && i < ARRAY_LEN(known); i++) {
		if (strcasecmp(name, known[i].name) != 0)
			continue;
		*ret_call = known[i].call;
		/* with two arguments these compare them */
		return (known[i].call != SQL_MIN && known[i].call != SQL_MAX) ||
		       json_len(json_get(call, "args")) == 1;
	}
	return false;
}

bool sql_has_aggregate(const struct json *node)
{
	enum sql_call ignored;

	if (json_type(node) != JSON_OBJECT && json_type(node) != JSON_ARRAY)
		return false;
	json_each(child, node)
	{
		const char *key = json_key(child);

		if (key && strcmp(key, "SubLink") == 0)
			continue;
		if (key && strcmp(key, "FuncCall") == 0 && sql_call_aggregates(child, &ignored))
			return true;
		if (sql_has_aggregate(child))
			return true;
	}
	return false;
}

static void add_aggregate(struct sql_builder *builder, struct sql_select *select,
			  const struct json *call, enum sql_call kind)
{
	struct sql_parsed *parsed = builder->parsed;
	struct sql_aggregate *aggregate;
	struct sql_columns columns = {0};

	/* SUM(SUM(x)) OVER (): the rows of the outer one are groups */
	if (sql_has_aggregate(json_get(call, "args")))
		return;
	select->aggregates = sql_more(parsed, select->aggregates, select->aggregate_count,
				      sizeof(*select->aggregates));
	aggregate = &select->aggregates[select->aggregate_count++];
	*aggregate = (struct sql_aggregate){
		.call = kind,
		.star = json_get_bool(call, "agg_star", false) ||
			json_len(json_get(call, "args")) == 0,
		.distinct = json_get_bool(call, "agg_distinct", false),
		.window = json_get(call, "over") != NULL,
		.filtered = json_get(call, "agg_filter") != NULL,
	};
	sql_collect(parsed, call, &columns, NULL);
	aggregate->column_count = columns.count;
	sql_aggregate_ranges(&parsed->statement.tokens, call, aggregate);
	sql_build_terms(parsed, aggregate, json_first(json_get(call, "args")));
}

/* ---- comparisons ---- */

static bool compares(const struct json *expr)
{
	static const char *const kinds[] = {"AEXPR_IN",	      "AEXPR_LIKE",
					    "AEXPR_BETWEEN",  "AEXPR_NOT_BETWEEN",
					    "AEXPR_DISTINCT", "AEXPR_NOT_DISTINCT"};
	static const char *const signs[] = {"=", "<", ">", "<=", ">=", "<>", "!="};
	const char *kind = json_get_str(expr, "kind");
	const char *name = field(json_get(expr, "name"), 0);

	for (size_t i = 0; kind && i < ARRAY_LEN(kinds); i++) {
		if (strcmp(kind, kinds[i]) == 0)
			return true;
	}
	for (size_t i = 0; name && i < ARRAY_LEN(signs); i++) {
		if (strcmp(name, signs[i]) == 0)
			return true;
	}
	return false;
}

static int walk_operator(struct sql_builder *builder, struct sql_select *select,
			 const struct json *expr, struct sql_columns *columns)
{
	struct sql_columns left = {0}, right = {0};

	if (sql_walk(builder, select, json_get(expr, "lexpr"), &left) < 0 ||
	    sql_walk(builder, select, json_get(expr, "rexpr"), &right) < 0)
		return -1;
	if (compares(expr) && (left.count == 0 || right.count == 0))
		sql_add_columns(builder->parsed, &select->compared, left.count ? &left : &right);
	if (columns) {
		sql_add_columns(builder->parsed, columns, &left);
		sql_add_columns(builder->parsed, columns, &right);
	}
	return 0;
}

static int walk_call(struct sql_builder *builder, struct sql_select *select,
		     const struct json *call, struct sql_columns *columns)
{
	enum sql_call kind;

	if (sql_call_aggregates(call, &kind))
		add_aggregate(builder, select, call, kind);
	return sql_walk(builder, select, call, columns);
}

static int walk_sub_query(struct sql_builder *builder, struct sql_select *select,
			  const struct json *link, struct sql_columns *columns)
{
	const struct json *query = json_get(json_get(link, "subselect"), "SelectStmt");

	if (sql_walk(builder, select, json_get(link, "testexpr"), columns) < 0)
		return -1;
	if (!query)
		return err_set(builder->err, ERR_INVALID, "a sub-query is no SELECT");
	return sql_build(builder, query, SQL_SUBQUERY, select) ? 0 : -1;
}

int sql_walk(struct sql_builder *builder, struct sql_select *select, const struct json *node,
	     struct sql_columns *columns)
{
	if (json_type(node) != JSON_OBJECT && json_type(node) != JSON_ARRAY)
		return 0;
	json_each(child, node)
	{
		const char *key = json_key(child);
		int result;

		if (!key) {
			result = sql_walk(builder, select, child, columns);
		} else if (strcmp(key, "ColumnRef") == 0) {
			if (columns)
				add_column(builder->parsed, columns, column_of(child));
			continue;
		} else if (strcmp(key, "A_Expr") == 0) {
			result = walk_operator(builder, select, child, columns);
		} else if (strcmp(key, "FuncCall") == 0) {
			result = walk_call(builder, select, child, columns);
		} else if (strcmp(key, "SubLink") == 0) {
			result = walk_sub_query(builder, select, child, columns);
		} else {
			result = sql_walk(builder, select, child, columns);
		}
		if (result < 0)
			return -1;
	}
	return 0;
}
