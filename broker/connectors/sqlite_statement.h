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

#include "broker/connectors/sqlite_group.h"
#include "broker/connectors/sqlite_open.h"
#include "broker/connectors/sqlite_shadow.h"

struct statement {
	char *sql;	/* as it came */
	char *counting; /* with the columns of groups behind; NULL when there are none */
	sqlite3_stmt *compiled;
	struct groups groups;
	struct reach *facts;
};

/* view and shadow belong together and to the database's present catalog, and the narrow views of
 * view are installed. The guard is closed when this returns. ret_beyond (or NULL) receives the
 * facts of a statement that was refused for them; the caller frees. */
MUST_CHECK int statement_prepare(struct database *database, const struct reach *view,
				 struct shadow *shadow, const char *sql,
				 struct statement **ret_statement, struct reach **ret_beyond,
				 struct refusal *refusal);
/* What a statement would touch if everything were in view, by a shadow of everything: for whoever
 * decides and records, never for the agent. NULL when it would not compile then either. */
struct reach *statement_unbound(const struct reach *everything, struct shadow *shadow,
				const char *sql);
const char *statement_source(const struct statement *statement); /* what was compiled */
void statement_free(struct statement *statement);		 /* NULL is fine */
void statement_freep(struct statement **statement);

#endif
