/*
 * FROM: the tables of one level, how they are joined, and which columns are made equal.
 */
#include "agents/query/check/sql_internal.h"

#include <string.h>

static int build_item(struct sql_builder *builder, struct sql_select *select,
		      const struct json *node, uint64_t *ret_mask);

static struct sql_source *add_source(struct sql_builder *builder, struct sql_select *select,
				     uint64_t *ret_mask)
{
	if (select->source_count == SQL_SOURCES_MAX) {
		err_set(builder->err, ERR_LIMIT, "more than %d tables in one FROM",
			SQL_SOURCES_MAX);
		return NULL;
	}
	select->sources = sql_more(builder->parsed, select->sources, select->source_count,
				   sizeof(*select->sources));
	*ret_mask = 1ull << select->source_count;
	return &select->sources[select->source_count++];
}

static const struct sql_cte *find_cte(const struct sql_builder *builder, const char *name)
{
	for (const struct sql_cte *cte = builder->ctes; cte; cte = cte->outer) {
		if (strcasecmp(cte->name, name) == 0)
			return cte;
	}
	return NULL;
}

static int build_table(struct sql_builder *builder, struct sql_select *select,
		       const struct json *range, uint64_t *ret_mask)
{
	const char *name = json_get_str(range, "relname");
	const char *alias = json_get_str(json_get(range, "alias"), "aliasname");
	const struct sql_cte *cte =
		json_get_str(range, "schemaname") ? NULL : find_cte(builder, name);
	struct sql_source *source = add_source(builder, select, ret_mask);

	if (!source)
		return -1;
	*source = (struct sql_source){
		.kind = SQL_TABLE, .table = name, .alias = alias ? alias : name};
	if (!cte)
		return 0;
	source->is_cte = true;
	source->kind = cte->select ? SQL_QUERY : SQL_OPAQUE;
	source->query = cte->select;
	return 0;
}

static int build_derived(struct sql_builder *builder, struct sql_select *select,
			 const struct json *range, uint64_t *ret_mask)
{
	const struct json *query = json_get(json_get(range, "subquery"), "SelectStmt");
	const char *alias = json_get_str(json_get(range, "alias"), "aliasname");
	struct sql_source *source = add_source(builder, select, ret_mask);
	size_t number = select->source_count - 1;
	const struct sql_select *inner;

	if (!source)
		return -1;
	*source = (struct sql_source){.kind = SQL_OPAQUE, .alias = alias ? alias : ""};
	inner = query ? sql_build(builder, query, SQL_DERIVED, select->parent) : NULL;
	if (!inner)
		return query ? -1 : err_set(builder->err, ERR_INVALID, "no SELECT in FROM");
	select->sources[number].kind = SQL_QUERY;
	select->sources[number].query = inner;
	return 0;
}

static int build_function(struct sql_builder *builder, struct sql_select *select,
			  const struct json *range, uint64_t *ret_mask)
{
	const char *alias = json_get_str(json_get(range, "alias"), "aliasname");
	struct sql_source *source = add_source(builder, select, ret_mask);

	if (!source)
		return -1;
	*source = (struct sql_source){.kind = SQL_OPAQUE, .alias = alias ? alias : ""};
	return sql_walk(builder, select, json_get(range, "functions"), NULL);
}

static void add_equality(struct sql_builder *builder, struct sql_select *select,
			 const struct sql_equality *equality)
{
	select->equalities = sql_more(builder->parsed, select->equalities, select->equality_count,
				      sizeof(*select->equalities));
	select->equalities[select->equality_count++] = *equality;
}

static void build_using(struct sql_builder *builder, struct sql_select *select,
			const struct json *names, int number)
{
	const struct sql_join *join = &select->joins[number];

	json_each(item, names)
	{
		const char *name = json_get_str(json_get(item, "String"), "sval");
		struct sql_equality equality = {.left = {NULL, name},
						.right = {NULL, name},
						.left_in = join->left,
						.right_in = join->right,
						.join = number};

		add_equality(builder, select, &equality);
	}
}

static enum sql_join_kind join_kind(const struct json *join)
{
	static const char *const names[] = {"JOIN_INNER", "JOIN_LEFT", "JOIN_RIGHT", "JOIN_FULL"};
	const char *name = json_get_str(join, "jointype");

	for (size_t i = 0; name && i < ARRAY_LEN(names); i++) {
		if (strcmp(name, names[i]) == 0)
			return (enum sql_join_kind)i;
	}
	return SQL_FULL; /* from which the least follows */
}

static int build_join(struct sql_builder *builder, struct sql_select *select,
		      const struct json *node, uint64_t *ret_mask)
{
	struct sql_join join = {.kind = join_kind(node),
				.natural = json_get_bool(node, "isNatural", false)};
	int number;

	if (json_get(node, "alias"))
		return err_set(builder->err, ERR_INVALID, "a join with a name of its own");
	if (build_item(builder, select, json_get(node, "larg"), &join.left) < 0 ||
	    build_item(builder, select, json_get(node, "rarg"), &join.right) < 0)
		return -1;
	select->joins = sql_more(builder->parsed, select->joins, select->join_count,
				 sizeof(*select->joins));
	number = (int)select->join_count;
	select->joins[select->join_count++] = join;
	*ret_mask = join.left | join.right;
	build_using(builder, select, json_get(node, "usingClause"), number);
	sql_build_equalities(builder, select, json_get(node, "quals"), number, *ret_mask);
	if (sql_walk(builder, select, json_get(node, "quals"), NULL) < 0)
		return -1;
	select->joins[number].on = sql_build_expr(builder->parsed, json_get(node, "quals"));
	return 0;
}

static int build_item(struct sql_builder *builder, struct sql_select *select,
		      const struct json *node, uint64_t *ret_mask)
{
	if (json_get(node, "RangeVar"))
		return build_table(builder, select, json_get(node, "RangeVar"), ret_mask);
	if (json_get(node, "JoinExpr"))
		return build_join(builder, select, json_get(node, "JoinExpr"), ret_mask);
	if (json_get(node, "RangeSubselect"))
		return build_derived(builder, select, json_get(node, "RangeSubselect"), ret_mask);
	if (json_get(node, "RangeFunction"))
		return build_function(builder, select, json_get(node, "RangeFunction"), ret_mask);
	return err_set(builder->err, ERR_INVALID, "FROM holds something that is no table");
}

int sql_build_from(struct sql_builder *builder, struct sql_select *select, const struct json *items)
{
	json_each(item, items)
	{
		uint64_t mask;

		if (build_item(builder, select, item, &mask) < 0)
			return -1;
	}
	return 0;
}

/* x = 5, x IN (5), x IS 5 */
static const struct json *equal_to(const struct json *expr)
{
	const char *kind = json_get_str(expr, "kind");
	const struct json *name = json_first(json_get(expr, "name"));
	const char *sign = json_get_str(json_get(name, "String"), "sval");
	const struct json *right = json_get(expr, "rexpr");
	const struct json *items = json_get(json_get(right, "List"), "items");

	if (!kind || !sign || strcmp(sign, "=") != 0)
		return NULL;
	if (strcmp(kind, "AEXPR_OP") == 0 || strcmp(kind, "AEXPR_NOT_DISTINCT") == 0)
		return right;
	if (strcmp(kind, "AEXPR_IN") == 0 && json_len(items) == 1)
		return json_first(items);
	return NULL;
}

/* CAST(s.id AS TEXT) = v.ref: a text stands for one number, so v.ref fixes s.id as well. */
static void build_turned(struct sql_builder *builder, struct sql_select *select,
			 const struct json *side, const struct sql_equality *equality)
{
	const struct json *cast = json_get(side, "TypeCast");
	const struct json *names = json_get(json_get(cast, "typeName"), "names");
	const char *type = json_get_str(
		json_get(json_at(names, json_len(names) ? json_len(names) - 1 : 0), "String"),
		"sval");
	struct sql_equality turned = {.left_in = equality->right_in,
				      .right_in = equality->left_in,
				      .join = equality->join};
	struct sql_columns one = {0};

	if (!type || (strcmp(type, "text") != 0 && strcmp(type, "varchar") != 0) ||
	    !sql_read_column(json_get(cast, "arg"), &turned.left))
		return;
	one.items = (struct sql_column *)sql_keep(builder->parsed, sizeof(*one.items));
	one.items[one.count++] = equality->left;
	turned.from = one;
	add_equality(builder, select, &turned);
}

static void build_equality(struct sql_builder *builder, struct sql_select *select,
			   const struct json *expr, int join, uint64_t sources)
{
	const struct json *left = json_get(expr, "lexpr"), *right = equal_to(expr);
	struct sql_equality equality = {.left_in = sources, .right_in = sources, .join = join};
	const char *kind = json_get_str(expr, "kind");
	bool sides[2];

	if (!right)
		return;
	sides[0] = sql_read_column(left, &equality.left);
	sides[1] = sql_read_column(right, &equality.right);
	if (sides[0] && sides[1]) {
		/* two missing values are the same to IS, and no key tells them apart */
		if (kind && strcmp(kind, "AEXPR_NOT_DISTINCT") != 0)
			add_equality(builder, select, &equality);
		return;
	}
	if (sides[1])
		equality.left = equality.right;
	equality.constant =
		(sides[0] && sql_is_constant(right)) || (sides[1] && sql_is_constant(left));
	if (!equality.constant && sides[0] != sides[1]) {
		bool opaque = kind && strcmp(kind, "AEXPR_NOT_DISTINCT") == 0;

		sql_collect(builder->parsed, sides[0] ? right : left, &equality.from, &opaque);
		if (opaque)
			return;
	}
	if (equality.constant || equality.from.count > 0)
		add_equality(builder, select, &equality);
	if (equality.from.count > 0)
		build_turned(builder, select, sides[0] ? right : left, &equality);
}

void sql_build_equalities(struct sql_builder *builder, struct sql_select *select,
			  const struct json *condition, int join, uint64_t sources)
{
	const struct json *both = json_get(condition, "BoolExpr");
	const char *op = json_get_str(both, "boolop");

	if (op && strcmp(op, "AND_EXPR") == 0) {
		json_each(part, json_get(both, "args"))
			sql_build_equalities(builder, select, part, join, sources);
		return;
	}
	if (json_get(condition, "A_Expr"))
		build_equality(builder, select, json_get(condition, "A_Expr"), join, sources);
}
