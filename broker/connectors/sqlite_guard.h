/*
 * The authorizer of a connection: what SQLite asks before it compiles anything.
 * https://www.sqlite.org/c3ref/set_authorizer.html
 *
 * It is set once per connection, because setting it again would expire every prepared statement.
 * What it answers depends on the mode; the default is to refuse everything.
 *
 *   CLOSED    nothing at all; a statement that SQLite compiles anew while it runs fails
 *   INTERNAL  everything: only around fixed SQL of our own
 *   COLLECT   reading, and what is read is written down
 *
 * Some tables are read through temporary views of the same name (sqlite_narrow.h): in the database
 * "temp" what the statement reads, in "main" what the view does. For a restricted table there are
 * two: SQLite names a common table expression as the reader too, so a reader's name proves nothing
 * unless nobody can guess it. Only the inner view, whose name begins with the connection's random
 * prefix, reads the table itself and calls the functions of sqlite_mask.h; anyone else's reading of
 * it is refused, by whatever way: main.t, a view of the database, a common table expression.
 *
 * So what is enforced is the comparison of what was collected with what is allowed; a statement
 * then runs with the guard closed, and cannot turn into another one.
 *
 * Joins by NATURAL and USING do not ask for the columns they compare, and COUNT(*) names a table
 * as the statement spells it, be it a table or a common table expression. So COLLECT alone is not
 * proof: sqlite_statement.c adds what the compiled program opens.
 */
#ifndef BROKER_CONNECTORS_SQLITE_GUARD_H
#define BROKER_CONNECTORS_SQLITE_GUARD_H

#include <stdbool.h>

#include <sqlite3.h>

#include "broker/connectors/sqlite_reach.h"

enum guard_mode { GUARD_CLOSED, GUARD_INTERNAL, GUARD_COLLECT };

/* What the last refusal was about. */
enum guard_refusal {
	GUARD_NOTHING,
	GUARD_ACTION,	/* not reading: writing, PRAGMA, ATTACH, transactions ... */
	GUARD_NAME,	/* a name that does not exist for anybody: sqlite_schema, pragma_... */
	GUARD_FUNCTION, /* a function that never runs here */
	GUARD_AROUND,	/* a restricted table, not through its view */
};

#define GUARD_NAME_MAX 128
#define GUARD_PREFIX_LEN 34 /* "w_" and 128 random bits in hex */

struct guard {
	enum guard_mode mode;
	const struct reach *view; /* COLLECT: which names COUNT(*) may mean */
	struct reach *facts;	  /* COLLECT: filled */
	const char *marker;	  /* COLLECT in a shadow: the column that only SELECT * reads */
	size_t star_table;	  /* the table whose marker was read, or CATALOG_NONE */
	enum guard_refusal refusal;
	char name[GUARD_NAME_MAX];	   /* what it was about */
	char prefix[GUARD_PREFIX_LEN + 1]; /* of inner views; "" in a shadow */
};

void guard_init(struct guard *guard);
void guard_choose_prefix(struct guard *guard); /* once per connection to a source */
/* The names of a table's inner view and of the column that tells its units apart. The caller frees.
 */
char *guard_inner_view(const struct guard *guard, size_t table);
char *guard_unit_column(const struct guard *guard, size_t table);
void guard_install(struct guard *guard, sqlite3 *sqlite); /* guard outlives the connection */
void guard_close(struct guard *guard);
void guard_internal(struct guard *guard);
void guard_collect(struct guard *guard, const struct reach *view, struct reach *facts);

#endif
