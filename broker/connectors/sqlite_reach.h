/*
 * A reach: a set of tables, columns and functions over one catalog. The same shape serves for what
 * may be seen (a view of the policy), what may be touched (an "allow" of the broker) and what a
 * statement does touch (facts).
 */
#ifndef BROKER_CONNECTORS_SQLITE_REACH_H
#define BROKER_CONNECTORS_SQLITE_REACH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/json.h"
#include "broker/connectors/sqlite_catalog.h"
#include "broker/connectors/sqlite_restrict.h"

struct reach_table {
	bool in;     /* the table itself, COUNT(*) included */
	bool rowid;  /* its hidden row number; in a view only when every column is in it */
	bool listed; /* in a view: columns are named, so SELECT * is not granted */
	char *name;  /* spelling of the policy when it differs from the database; NULL otherwise */
	bool *columns; /* one per column of the catalog; NULL when none is in */
	char **names;  /* likewise spellings; NULL when all are the database's */
};

struct reach {
	const struct catalog *catalog; /* borrowed: outlives the reach */
	struct reach_table *tables;    /* one per table of the catalog */
	char **functions;	       /* lower case, ascending */
	size_t function_count;
	struct restriction **restrictions; /* of a view, one per table; NULL when none */
	struct bound_values bound;	   /* what they compare with */
};

struct reach *reach_new(const struct catalog *catalog);
struct reach *reach_everything(const struct catalog *catalog); /* but no function */
void reach_free(struct reach *reach);			       /* NULL is fine */
void reach_freep(struct reach **reach);

/* From a policy view: {"tables":{"t":"all"|["c"]}|"all", "functions":[...], "except":{...}} and the
 * members of sqlite_restrict.h. Names that the catalog does not know are skipped. Fails on any
 * other shape. */
MUST_CHECK int reach_from_view(const struct json *view, const struct catalog *catalog,
			       struct reach **ret_reach, struct err *err);
/* From {"tables":["t"],"columns":["t.c","t."],"functions":["f"]}. */
MUST_CHECK int reach_from_allow(const struct json *allow, const struct catalog *catalog,
				struct reach **ret_reach, struct err *err);

void reach_add_table(struct reach *reach, size_t table);
void reach_add_column(struct reach *reach, size_t table, size_t column); /* and its table */
void reach_add_rowid(struct reach *reach, size_t table);
void reach_add_function(struct reach *reach, const char *name);
bool reach_has_column(const struct reach *reach, size_t table, size_t column);
bool reach_has_function(const struct reach *reach, const char *name);

/* Adds to facts everything that more holds. Both are over one catalog. */
void reach_join(struct reach *facts, const struct reach *more);
/* Is every table and column of facts in allowed? Functions too unless tables_only. */
bool reach_within(const struct reach *facts, const struct reach *allowed, bool tables_only);

/* Sets "tables", "columns" ("t.c", and "t." for a table without a column) and "functions" of
 * object, in the spelling of view. */
void reach_write(const struct reach *facts, const struct reach *view, struct json *object);
const char *reach_table_name(const struct reach *view, size_t table);
const char *reach_column_name(const struct reach *view, size_t table, size_t column);
size_t reach_column_count(const struct reach *reach, size_t table);
const struct restriction *reach_restriction(const struct reach *view, size_t table); /* or NULL */
enum mask reach_mask(const struct reach *view, size_t table, size_t column);
/* Is the table read through a temporary view (sqlite_narrow.h)? */
bool reach_is_fronted(const struct reach *view, size_t table);

#endif
