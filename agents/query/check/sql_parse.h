/*
 * The one door to libpg_query: a SELECT as the checks need to see it.
 *
 * The statement is read as SQLite's SQL (sql_scan.h), parsed by PostgreSQL's grammar, and laid out
 * as SELECT levels: the statement itself, common table expressions, sub-queries of FROM,
 * sub-queries in expressions, arms of UNION. Names are not resolved here: check_names.c does that
 * with the schema. Names compare without case.
 *
 * Everything is owned by the statement and read only. Ranges are token numbers of
 * statement->tokens, the first and the one behind the last.
 */
#ifndef AGENTS_QUERY_SQL_PARSE_H
#define AGENTS_QUERY_SQL_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agents/query/check/sql_scan.h"
#include "base/json.h"

#define SQL_SOURCES_MAX 64 /* tables of one FROM; SQLite joins no more either */

struct sql_column {
	const char *table; /* as qualified; NULL when not */
	const char *name;  /* NULL for "*" */
};

struct sql_columns {
	struct sql_column *items;
	size_t count;
};

enum sql_call { SQL_SUM, SQL_TOTAL, SQL_COUNT, SQL_AVG, SQL_MIN, SQL_MAX, SQL_CONCAT };

/* An additive part of what is aggregated: SUM(a - b) has two. */
struct sql_term {
	struct sql_columns values;     /* what the number is made of; none for a constant */
	struct sql_columns conditions; /* what decides whether it counts (CASE) */
	bool opaque;		       /* a sub-query is part of it */
};

struct sql_range {
	size_t first;
	size_t end;
};

struct sql_select;

/* An expression, without the parser's own shapes. NOT of a test is the test negated. */
enum sql_expr_kind {
	SQL_EXPR_COLUMN,   /* column */
	SQL_EXPR_INTEGER,  /* name: as written */
	SQL_EXPR_REAL,	   /* name: as written */
	SQL_EXPR_TEXT,	   /* name: the text itself */
	SQL_EXPR_BOOL,	   /* name: true, false */
	SQL_EXPR_NULL,	   /* the constant */
	SQL_EXPR_OPERATOR, /* name: + - * / % ||, one or two arguments */
	SQL_EXPR_COMPARE,  /* name: = <> < <= > >=, two arguments */
	SQL_EXPR_SAME,	   /* IS [NOT] DISTINCT FROM; negated: DISTINCT */
	SQL_EXPR_LIKE,	   /* two arguments */
	SQL_EXPR_BETWEEN,  /* value, low, high */
	SQL_EXPR_IN,	   /* value, then the list; or query */
	SQL_EXPR_IS_NULL,  /* one argument; negated: IS NOT NULL */
	SQL_EXPR_AND,
	SQL_EXPR_OR,
	SQL_EXPR_NOT,
	SQL_EXPR_CALL,	   /* name in lower case */
	SQL_EXPR_CASE,	   /* condition, result, ..., and the ELSE (a NULL constant when absent) */
	SQL_EXPR_COALESCE, /* also ifnull */
	SQL_EXPR_CAST,	   /* name: the type in lower case */
	SQL_EXPR_EXISTS,   /* query */
	SQL_EXPR_QUERY,	   /* a scalar sub-query: query */
	SQL_EXPR_OTHER,	   /* anything else; arguments are what stands inside */
};

struct sql_expr {
	enum sql_expr_kind kind;
	const char *name;
	struct sql_column column;
	const struct sql_expr *const *args;
	size_t arg_count;
	const struct sql_select *query;
	bool negated;
	bool distinct;	/* COUNT(DISTINCT x) */
	bool star;	/* COUNT(*) */
	bool window;	/* has OVER */
	bool aggregate; /* a call that aggregates, over rows or a window */
	bool filtered;	/* has FILTER: its condition is the last argument */
	size_t token;	/* where it begins; for operators where the sign stands */
};

struct sql_aggregate {
	enum sql_call call;
	bool star;     /* COUNT(*) */
	bool distinct; /* SUM(DISTINCT x) */
	bool window;   /* has OVER */
	bool filtered; /* has FILTER */
	struct sql_term *terms;
	size_t term_count;
	size_t column_count;	   /* columns written in all of it */
	struct sql_range text;	   /* SUM(o.amount) */
	struct sql_range argument; /* o.amount; empty for COUNT(*) */
};

struct sql_output {
	const char *name;	     /* alias or column's name; NULL when SQLite makes one up */
	bool plain;		     /* one column and nothing else */
	bool star;		     /* * or t.* */
	bool aggregated;	     /* holds an aggregate */
	struct sql_columns columns;  /* all columns in it, sub-queries left out */
	struct sql_range text;	     /* without its alias */
	const struct sql_expr *expr; /* NULL for a star and for VALUES */
};

enum sql_source_kind {
	SQL_TABLE,
	SQL_QUERY,  /* a sub-query or common table expression: query */
	SQL_OPAQUE, /* a function, a recursive query */
};

struct sql_source {
	enum sql_source_kind kind;
	const char *table; /* NULL for sub-queries */
	const char *alias; /* what columns are qualified with; never NULL */
	const struct sql_select *query;
	bool is_cte;
};

enum sql_join_kind { SQL_INNER, SQL_LEFT, SQL_RIGHT, SQL_FULL };

/* Masks have one bit per source, by its number. */
struct sql_join {
	enum sql_join_kind kind;
	bool natural;
	uint64_t left;
	uint64_t right;
	const struct sql_expr *on; /* NULL without ON */
};

#define SQL_IN_WHERE (-1)

/* left = right in WHERE or ON, under AND alone. Unqualified names are sought within the masks. */
struct sql_equality {
	struct sql_column left;
	struct sql_column right; /* unused when constant, and when from has columns */
	bool constant;
	struct sql_columns from; /* left = an expression of these columns; else none */
	uint64_t left_in;
	uint64_t right_in;
	int join; /* number of the join, or SQL_IN_WHERE */
};

struct sql_group {
	int output; /* GROUP BY 1; -1 when not by position */
	bool plain; /* one column: column */
	struct sql_column column;
	struct sql_range text;
	const struct sql_expr *expr; /* NULL for a grouping set */
};

enum sql_role { SQL_TOP, SQL_CTE, SQL_DERIVED, SQL_SUBQUERY, SQL_ARM };

struct sql_select {
	enum sql_role role;
	const char *name;		 /* of a common table expression; NULL otherwise */
	const struct sql_select *parent; /* whose columns it may use; NULL at the top */
	struct sql_output *outputs;
	size_t output_count;
	struct sql_source *sources;
	size_t source_count;
	struct sql_join *joins;
	size_t join_count;
	struct sql_equality *equalities;
	size_t equality_count;
	struct sql_group *groups;
	size_t group_count;
	struct sql_aggregate *aggregates; /* of this level, also of HAVING and ORDER BY */
	size_t aggregate_count;
	const struct sql_select **arms; /* of UNION and the like; then nothing else but outputs */
	size_t arm_count;
	bool distinct; /* SELECT DISTINCT, or a set operation without ALL */
	bool limited;
	const struct sql_expr *where;  /* NULL without */
	const struct sql_expr *having; /* likewise */
	const struct sql_expr *limit;  /* likewise */
	const struct sql_expr *const *order;
	size_t order_count;
	bool wild_group;       /* grouped by something that is not laid out here */
	struct sql_range with; /* the WITH before the statement's own SELECT; empty when none */
	struct sql_range from; /* FROM ... WHERE ...; empty without FROM */
	/* Columns compared with something that has no column: o.date >= '2026-07-01'. */
	struct sql_columns compared;
};

struct sql_statement {
	struct sql_tokens tokens;
	const struct sql_select *top;
	const struct sql_select *const *selects; /* every level, outer before inner */
	size_t select_count;
};

/* ERR_INVALID: not one SELECT, or not understood; ERR_LIMIT: too deep or too large to analyse. */
MUST_CHECK int sql_parse(const char *sql, struct sql_statement **ret_statement, struct err *err);
MUST_CHECK int sql_parse_as(enum sql_dialect dialect, const char *sql,
			    struct sql_statement **ret_statement, struct err *err);
void sql_statement_free(struct sql_statement *statement); /* NULL is fine */
void sql_statement_freep(struct sql_statement **statement);

const char *sql_call_name(enum sql_call call); /* "SUM" */

#endif
