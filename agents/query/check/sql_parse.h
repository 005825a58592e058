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
	const char *name;	    /* alias or column's name; NULL when SQLite makes one up */
	bool plain;		    /* one column and nothing else */
	bool star;		    /* * or t.* */
	bool aggregated;	    /* holds an aggregate */
	struct sql_columns columns; /* all columns in it, sub-queries left out */
	struct sql_range text;	    /* without its alias */
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
};

#define SQL_IN_WHERE (-1)

/* left = right in WHERE or ON, under AND alone. Unqualified names are sought within the masks. */
struct sql_equality {
	struct sql_column left;
	struct sql_column right; /* unused when constant */
	bool constant;
	uint64_t left_in;
	uint64_t right_in;
	int join; /* number of the join, or SQL_IN_WHERE */
};

struct sql_group {
	int output; /* GROUP BY 1; -1 when not by position */
	bool plain; /* one column: column */
	struct sql_column column;
	struct sql_range text;
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
void sql_statement_free(struct sql_statement *statement); /* NULL is fine */
void sql_statement_freep(struct sql_statement **statement);

const char *sql_call_name(enum sql_call call); /* "SUM" */

#endif
