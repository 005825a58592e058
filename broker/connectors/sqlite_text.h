/* Finding joins by equal column names in the text of a statement. */
#ifndef BROKER_CONNECTORS_SQLITE_TEXT_H
#define BROKER_CONNECTORS_SQLITE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/sql.h"

/*
 * Columns compared by NATURAL JOIN and USING never reach an authorizer (SQLite 3.40.1), so they
 * are read from the text. Some names may be too many, none is missing.
 */
struct sql_joins {
	bool natural;
	char **using_columns; /* owned */
	size_t using_count;
};
void sql_joins_add(struct sql_joins *joins, const char *sql);
void sql_joins_clear(struct sql_joins *joins);

#endif
