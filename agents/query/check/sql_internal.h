/* What the files of the SQL reader share. Read sql_parse.c first. */
#ifndef AGENTS_QUERY_SQL_INTERNAL_H
#define AGENTS_QUERY_SQL_INTERNAL_H

#include "agents/query/check/sql_parse.h"

struct sql_block; /* memory of one statement, freed as a whole */

struct sql_parsed {
	struct sql_statement statement; /* first: it is what callers hold */
	struct json *tree;		/* texts are lent from here */
	struct sql_block *blocks;
	const struct sql_select **selects;
	const struct json **nodes; /* of the selects, by the same numbers */
};

struct sql_cte { /* on the stack of the level that defines it */
	const char *name;
	const struct sql_select *select; /* NULL while it is read: a recursive one */
	const struct sql_cte *outer;
};

struct sql_builder {
	struct sql_parsed *parsed;
	const struct sql_cte *ctes;
	struct err *err;
};

void *sql_keep(struct sql_parsed *parsed, size_t size); /* zeroed */
/* Room for one more item behind *count; returns the new array. */
void *sql_more(struct sql_parsed *parsed, void *items, size_t count, size_t size);

/* sql_tree.c */
struct sql_select *sql_build(struct sql_builder *builder, const struct json *node,
			     enum sql_role role, const struct sql_select *parent);

/* sql_from.c: FROM and the conditions under AND. */
MUST_CHECK int sql_build_from(struct sql_builder *builder, struct sql_select *select,
			      const struct json *items);
void sql_build_equalities(struct sql_builder *builder, struct sql_select *select,
			  const struct json *condition, int join, uint64_t sources);

/* sql_walk.c: expressions. sql_walk() notes the aggregates, comparisons and sub-queries of an
 * expression, once; columns (may be NULL) gets its columns, those of sub-queries left out. */
MUST_CHECK int sql_walk(struct sql_builder *builder, struct sql_select *select,
			const struct json *node, struct sql_columns *columns);
/* Columns alone; *ret_opaque (may be NULL) tells of a sub-query. */
void sql_collect(struct sql_parsed *parsed, const struct json *node, struct sql_columns *columns,
		 bool *ret_opaque);
bool sql_read_column(const struct json *node,
		     struct sql_column *ret_column); /* a ColumnRef alone */
void sql_add_columns(struct sql_parsed *parsed, struct sql_columns *columns,
		     const struct sql_columns *more);
bool sql_has_aggregate(const struct json *node);
bool sql_is_constant(const struct json *node); /* no column, no sub-query, not NULL */

bool sql_call_aggregates(const struct json *call, enum sql_call *ret_call); /* of a FuncCall */

/* sql_expr.c: NULL for NULL. Sub-queries must have been walked before. */
const struct sql_expr *sql_build_expr(struct sql_parsed *parsed, const struct json *node);
/* The expressions of a level that has been built. */
void sql_build_exprs(struct sql_parsed *parsed, struct sql_select *select, const struct json *node);

/* sql_terms.c: what an aggregate adds up. */
void sql_build_terms(struct sql_parsed *parsed, struct sql_aggregate *aggregate,
		     const struct json *argument);

/* sql_range.c: places in the text. */
struct sql_clauses {
	size_t select; /* the SELECT itself; count of tokens when not found */
	size_t from;   /* end when there is none */
	size_t group;
	size_t rest; /* GROUP BY, HAVING, WINDOW, ORDER BY, LIMIT, whichever is first; or end */
	size_t end;  /* of this SELECT */
};
struct sql_clauses sql_find_clauses(const struct sql_tokens *tokens, const struct json *targets);
struct sql_range sql_output_range(const struct sql_tokens *tokens, const struct json *target,
				  const struct sql_clauses *clauses);
struct sql_range sql_group_range(const struct sql_tokens *tokens, const struct sql_clauses *clauses,
				 size_t index);
void sql_aggregate_ranges(const struct sql_tokens *tokens, const struct json *call,
			  struct sql_aggregate *aggregate);

#endif
