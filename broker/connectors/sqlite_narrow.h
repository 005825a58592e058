/*
 * The views in front of tables: what a statement's names mean in the source.
 *
 * For every table of which a policy view lists columns, a temporary view of that name with just
 * those columns. So a hidden column cannot make a name ambiguous, take an alias's place or be
 * compared by a NATURAL JOIN, and nobody learns of it that way. They are not what protects hidden
 * columns: that is what sqlite_statement.c compares.
 *
 * For every restricted table two: an inner one, with a name that nobody can guess, which keeps the
 * rows, masks the columns and (for tables shown in groups) names the unit; and in front of it one
 * of the table's name, which reads the inner one and nothing else. These protect: sqlite_guard.h.
 * An inner view with conditions is a barrier: it is read to the end before a condition of the
 * statement sees a row, so neither an error nor the bytes read tell of rows that are kept back. The
 * price: no index serves the statement on such a table, only the view's own conditions.
 */
#ifndef BROKER_CONNECTORS_SQLITE_NARROW_H
#define BROKER_CONNECTORS_SQLITE_NARROW_H

#include "broker/connectors/sqlite_open.h"
#include "broker/connectors/sqlite_reach.h"

/* Replaces the views of the connection; every statement compiled before has to go first. view is
 * borrowed until the next call or until database->fronts is cleared. stand_in: the column of a
 * table of which none is shown. */
MUST_CHECK int narrow_install(struct database *database, const struct reach *view,
			      const char *stand_in, struct refusal *refusal);

#endif
