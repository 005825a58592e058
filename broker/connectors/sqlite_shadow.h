/*
 * A shadow: an empty database in memory that holds only what a view shows, under the names the view
 * shows. SQL is compiled against it first, so a name out of scope gets SQLite's own answer for a
 * name that does not exist, in SQLite's own words.
 *
 * A table whose columns are listed has one more column with a name nobody can guess: only SELECT *
 * reads it, so SELECT * is noticed whether or not something is hidden. That column is the key of a
 * table WITHOUT ROWID, so the hidden row number is out of reach too. As in the source, where a
 * temporary view stands in front of it (sqlite_narrow.h), such a table is in "temp", not in "main".
 */
#ifndef BROKER_CONNECTORS_SQLITE_SHADOW_H
#define BROKER_CONNECTORS_SQLITE_SHADOW_H

#include <sqlite3.h>

#include "base/err.h"
#include "broker/connectors/sqlite_guard.h"
#include "broker/connectors/sqlite_reach.h"

struct shadow {
	sqlite3 *sqlite;
	struct guard guard;
	char marker[40];
};

MUST_CHECK int shadow_open(struct shadow *shadow, const struct reach *view, struct err *err);
void shadow_close(struct shadow *shadow);

/* The tables whose pages the compiled statement opens; needed where joins compare columns unasked.
 * Adds to facts. */
MUST_CHECK int shadow_opened(struct shadow *shadow, const char *sql, struct reach *facts,
			     struct err *err);

#endif
