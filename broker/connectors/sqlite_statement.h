/*
 * One statement of an agent: compiled, and everything known that it reads.
 *
 *   text --> exactly one SELECT --> shadow of the view (names) --> the source itself (facts)
 *
 * Facts are the union of what the authorizer was asked for, what the compiled program opens and
 * what NATURAL and USING compare. Facts outside of the view refuse the statement here, in words
 * that tell nothing about what is hidden; whether facts inside the view are granted to this call
 * is the broker's decision.
 */
#ifndef BROKER_CONNECTORS_SQLITE_STATEMENT_H
#define BROKER_CONNECTORS_SQLITE_STATEMENT_H

#include "broker/connectors/sqlite_open.h"
#include "broker/connectors/sqlite_shadow.h"

struct statement {
	char *sql;
	sqlite3_stmt *compiled;
	struct reach *facts;
};

/* view and shadow belong together and to the database's present catalog, and the narrow views of
 * view are installed. The guard is closed when this returns. */
MUST_CHECK int statement_prepare(struct database *database, const struct reach *view,
				 struct shadow *shadow, const char *sql,
				 struct statement **ret_statement, struct refusal *refusal);
/*
 * What the statement would read if nothing were hidden; NULL if it does not compile even so. For
 * the broker's record of a refusal, never for the agent. Narrow views must not be installed. The
 * guard is closed when this returns.
 */
struct reach *statement_unhidden(struct database *database, const struct reach *everything,
				 const char *sql);
void statement_free(struct statement *statement); /* NULL is fine */
void statement_freep(struct statement **statement);

#endif
