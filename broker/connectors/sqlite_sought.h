/*
 * How much of a b-tree a statement looks up, where its program (https://www.sqlite.org/opcode.html)
 * says: a row or a range of an index that is sought once, with constants, outside of any loop. The
 * rows of a range are counted in the index, which is quick. Everything else is not known.
 */
#ifndef BROKER_CONNECTORS_SQLITE_SOUGHT_H
#define BROKER_CONNECTORS_SQLITE_SOUGHT_H

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

#include "base/err.h"
#include "broker/connectors/sqlite_catalog.h"

#define SOUGHT_ROWS_MAX 1000000 /* counted no further: then the whole b-tree is as good a bound */

struct sought; /* the program of one statement */

struct sought_rows {
	int64_t rows;	/* at most SOUGHT_ROWS_MAX */
	bool scattered; /* each row may lie on a page of its own: reached through an index */
};

/* The caller has set the guard's mode and has compiled sql alone before. */
MUST_CHECK int sought_read(sqlite3 *sqlite, const char *sql, struct sought **ret_sought,
			   struct err *err);
void sought_free(struct sought *sought); /* NULL is fine */
void sought_freep(struct sought **sought);
/* false: not known, so the whole b-tree. Runs statements of its own. */
bool sought_in(const struct sought *sought, sqlite3 *sqlite, const struct catalog *catalog,
	       int64_t page, struct sought_rows *ret_rows);

#endif
