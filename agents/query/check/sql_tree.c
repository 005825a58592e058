/*
 * From the parse tree to SELECT levels. What fails: data-changing common table expressions, SELECT
 * INTO, locking clauses, and forms that sql_from.c does not know.
 */
#include "agents/query/check/sql_internal.h"

#include <stdio.h>
#include <string.h>

static struct sql_select *new_select(struct sql_builder *builder, const struct json *node,
				     enum sql_role role, const struct sql_select *parent)
{
	struct sql_parsed *parsed = builder->parsed;
	struct sql_select *select = sql_keep(parsed, sizeof(*select));
	size_t count = parsed->statement.select_count;

	select->role = role;
	select->parent = parent;
	parsed->selects =
		sql_more(parsed, (void *)parsed->selects, count, sizeof(*parsed->selects));
	parsed->nodes = sql_more(parsed, (void *)parsed->nodes, count, sizeof(*parsed->nodes));
	parsed->selects[count] = select;
	parsed->nodes[count] = node;
	parsed->statement.select_count++;
	return select;
}

/* WITH x(a, b) AS ..., FROM (...) AS x(a, b) */
static void rename_outputs(struct sql_select *select, const struct json *names)
{
	size_t at = 0;

	json_each(name, names)
	{
		if (at < select->output_count)
			select->outputs[at].name = json_get_str(json_get(name, "String"), "sval");
		at++;
	}
}

static int build_ctes(struct sql_builder *builder, const struct json *with,
		      const struct sql_select *parent)
{
	bool recursive = json_get_bool(with, "recursive", false);

	json_each(item, json_get(with, "ctes"))
	{
		const struct json *expr = json_get(item, "CommonTableExpr");
		const struct json *query = json_get(json_get(expr, "ctequery"), "SelectStmt");
		struct sql_cte *cte = sql_keep(builder->parsed, sizeof(*cte));
		struct sql_select *select;

		if (!query)
			return err_set(builder->err, ERR_INVALID, "WITH holds no SELECT");
		cte->name = json_get_str(expr, "ctename");
		cte->outer = builder->ctes;
		if (recursive) /* it may name itself */
			builder->ctes = cte;
		select = sql_build(builder, query, SQL_CTE, parent);
		if (!select)
			return -1;
		select->name = cte->name;
		rename_outputs(select, json_get(expr, "aliascolnames"));
		cte->select = select;
		builder->ctes = cte;
	}
	return 0;
}

static int build_output(struct sql_builder *builder, struct sql_select *select,
			const struct json *target, const struct sql_clauses *clauses)
{
	const struct json *value = json_get(target, "val");
	struct sql_output output = {.name = json_get_str(target, "name"),
				    .aggregated = sql_has_aggregate(value)};
	struct sql_column column;

	if (sql_walk(builder, select, value, &output.columns) < 0)
		return -1;
	if (sql_read_column(value, &column)) {
		output.star = column.name == NULL;
		output.plain = column.name != NULL;
		output.name = output.name ? output.name : column.name;
	}
	output.text = sql_output_range(&builder->parsed->statement.tokens, target, clauses);
	select->outputs = sql_more(builder->parsed, select->outputs, select->output_count,
				   sizeof(*select->outputs));
	select->outputs[select->output_count++] = output;
	return 0;
}

static int build_group(struct sql_builder *builder, struct sql_select *select,
		       const struct json *node, const struct sql_clauses *clauses)
{
	const struct json *position = json_get(json_get(node, "A_Const"), "ival");
	struct sql_group group = {.output = -1};

	if (json_get(node, "GroupingSet"))
		select->wild_group = true;
	if (position)
		group.output = (int)json_get_int(position, "ival", 0) - 1;
	if (group.output >= (int)select->output_count)
		group.output = -1;
	group.plain = sql_read_column(node, &group.column) && group.column.name;
	group.text =
		sql_group_range(&builder->parsed->statement.tokens, clauses, select->group_count);
	select->groups = sql_more(builder->parsed, select->groups, select->group_count,
				  sizeof(*select->groups));
	select->groups[select->group_count++] = group;
	return sql_walk(builder, select, node, NULL);
}

/* SELECT DISTINCT is an array with one empty object. DISTINCT ON keeps one row of several, and
 * which rows those are is not laid out here. */
static void read_modifiers(struct sql_select *select, const struct json *node)
{
	const struct json *distinct = json_get(node, "distinctClause");
	bool on = json_len(json_first(distinct)) > 0;

	select->distinct = distinct != NULL && !on;
	select->wild_group = select->wild_group || on;
	select->limited = json_get(node, "limitCount") != NULL;
}

static int build_plain(struct sql_builder *builder, struct sql_select *select,
		       const struct json *node)
{
	const struct sql_tokens *tokens = &builder->parsed->statement.tokens;
	const struct json *targets = json_get(node, "targetList");
	const struct json *where = json_get(node, "whereClause");
	struct sql_clauses clauses = sql_find_clauses(tokens, targets);

	if (sql_build_from(builder, select, json_get(node, "fromClause")) < 0)
		return -1;
	sql_build_equalities(builder, select, where, SQL_IN_WHERE, UINT64_MAX);
	if (sql_walk(builder, select, where, NULL) < 0)
		return -1;
	json_each(target, targets)
	{
		if (build_output(builder, select, json_get(target, "ResTarget"), &clauses) < 0)
			return -1;
	}
	json_each(group, json_get(node, "groupClause"))
	{
		if (build_group(builder, select, group, &clauses) < 0)
			return -1;
	}
	if (clauses.select < tokens->count) {
		select->from = (struct sql_range){clauses.from, clauses.rest};
		if (select->role == SQL_TOP && json_get(node, "withClause"))
			select->with = (struct sql_range){0, clauses.select};
	}
	read_modifiers(select, node);
	if (sql_walk(builder, select, json_get(node, "havingClause"), NULL) < 0 ||
	    sql_walk(builder, select, json_get(node, "sortClause"), NULL) < 0 ||
	    sql_walk(builder, select, json_get(node, "windowClause"), NULL) < 0)
		return -1;
	if (sql_walk(builder, select, json_get(node, "limitCount"), NULL) < 0)
		return -1;
	sql_build_exprs(builder->parsed, select, node);
	return 0;
}

/* a UNION b UNION c is a tree of pairs; its leaves are the arms. */
static int build_arms(struct sql_builder *builder, struct sql_select *select,
		      const struct json *node)
{
	static const char *const sides[] = {"larg", "rarg"};
	const char *op = json_get_str(node, "op");

	select->distinct = select->distinct || !json_get_bool(node, "all", false) ||
			   (op && strcmp(op, "SETOP_UNION") != 0);
	for (size_t i = 0; i < ARRAY_LEN(sides); i++) {
		const struct sql_select *arm =
			sql_build(builder, json_get(node, sides[i]), SQL_ARM, select->parent);

		if (!arm)
			return -1;
		select->arms = sql_more(builder->parsed, (void *)select->arms, select->arm_count,
					sizeof(*select->arms));
		select->arms[select->arm_count++] = arm;
	}
	select->outputs = select->arms[0]->outputs;
	select->output_count = select->arms[0]->output_count;
	return 0;
}

/* VALUES (...), (...): rows without a source. */
static int build_values(struct sql_builder *builder, struct sql_select *select,
			const struct json *lists)
{
	const struct json *items = json_get(json_get(json_first(lists), "List"), "items");

	for (size_t i = 0; i < json_len(items); i++) {
		char *name = sql_keep(builder->parsed, 32);

		snprintf(name, 32, "column%zu", i + 1);
		select->outputs =
			sql_more(builder->parsed, select->outputs, i, sizeof(*select->outputs));
		select->outputs[select->output_count++] = (struct sql_output){.name = name};
	}
	return sql_walk(builder, select, lists, NULL);
}

static int build_body(struct sql_builder *builder, struct sql_select *select,
		      const struct json *node)
{
	if (json_get(node, "intoClause") || json_get(node, "lockingClause"))
		return err_set(builder->err, ERR_INVALID, "not a plain SELECT");
	if (json_get(node, "larg") && json_get(node, "rarg")) {
		select->limited = json_get(node, "limitCount") != NULL;
		if (build_arms(builder, select, node) < 0)
			return -1;
		sql_build_exprs(builder->parsed, select, node);
		return 0;
	}
	if (json_get(node, "valuesLists"))
		return build_values(builder, select, json_get(node, "valuesLists"));
	return build_plain(builder, select, node);
}

struct sql_select *sql_build(struct sql_builder *builder, const struct json *node,
			     enum sql_role role, const struct sql_select *parent)
{
	const struct sql_cte *outside = builder->ctes;
	struct sql_select *select = new_select(builder, node, role, parent);
	int result = build_ctes(builder, json_get(node, "withClause"), parent);

	if (result == 0)
		result = build_body(builder, select, node);
	builder->ctes = outside;
	return result == 0 ? select : NULL;
}
