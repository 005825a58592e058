/*
 * Narrow views: for every table whose columns a view lists, a temporary view of that name with just
 * those columns stands in front of it. So a statement's names mean in the source what they meant in
 * the shadow: a hidden column cannot make a name ambiguous, take an alias's place or be compared by
 * a NATURAL JOIN, and nobody learns of it that way.
 *
 * They are not what protects the hidden columns: that is what sqlite_statement.c compares.
 */
#ifndef BROKER_CONNECTORS_SQLITE_NARROW_H
#define BROKER_CONNECTORS_SQLITE_NARROW_H

#include "broker/connectors/sqlite_open.h"
#include "broker/connectors/sqlite_reach.h"

/* Replaces the narrow views of the connection; every statement compiled before has to go first.
 * stand_in: the column of a table of which none is shown. */
MUST_CHECK int narrow_install(struct database *database, const struct reach *view,
			      const char *stand_in, struct refusal *refusal);

#endif
