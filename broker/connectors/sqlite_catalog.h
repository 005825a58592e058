/*
 * What a source holds: its tables and views with columns, keys and root pages, as SQLite's own
 * pragmas tell. Internal tables (sqlite_...), virtual tables and what belongs to them are left out:
 * for everybody behind this connector they do not exist.
 */
#ifndef BROKER_CONNECTORS_SQLITE_CATALOG_H
#define BROKER_CONNECTORS_SQLITE_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

#include "base/err.h"
#include "base/json.h"

#define CATALOG_NONE SIZE_MAX

struct catalog_column {
	char *name;
	char *type; /* as declared, "" when not */
	bool not_null;
	int pk; /* place in the primary key, from 1; 0 when not in it */
};

struct catalog_key { /* a unique index without a condition */
	size_t *columns;
	size_t count;
};

struct catalog_foreign {
	char *table;
	size_t *columns; /* of this table */
	char **to;	 /* names in the other table */
	size_t count;
};

struct catalog_table {
	char *name;
	bool is_view;
	char *sql; /* of a view; NULL for tables */
	struct catalog_column *columns;
	size_t column_count;
	struct catalog_key *unique;
	size_t unique_count;
	struct catalog_foreign *foreign;
	size_t foreign_count;
};

struct catalog_root { /* a b-tree: of a table or of one of its indexes */
	int64_t page;
	size_t table;
	char *name;
};

struct catalog {
	int64_t version;	      /* PRAGMA schema_version */
	struct catalog_table *tables; /* ascending by name, ASCII case ignored */
	size_t table_count;
	struct catalog_root *roots; /* ascending by page */
	size_t root_count;
};

/* Reads the whole schema. Fails when the database does; views that SQLite cannot expand are left
 * out. */
MUST_CHECK int catalog_load(sqlite3 *sqlite, struct catalog **ret_catalog, struct err *err);
void catalog_free(struct catalog *catalog); /* NULL is fine */
void catalog_freep(struct catalog **catalog);

/* Names are compared as SQLite does. CATALOG_NONE when there is none. */
size_t catalog_table_find(const struct catalog *catalog, const char *name);
size_t catalog_column_find(const struct catalog_table *table, const char *name);
const struct catalog_root *catalog_root_find(const struct catalog *catalog, int64_t page);

struct json *catalog_json(const struct catalog *catalog); /* as docs/protocol.md, "catalog" */

#endif
