/* What a view is made of, for those who may see all of it. */
#ifndef BROKER_CONNECTORS_SQLITE_DEFINITION_H
#define BROKER_CONNECTORS_SQLITE_DEFINITION_H

#include "broker/connectors/sqlite_reach.h"

#define DEFINITION_BYTES_MAX                                                                       \
	16384 /* far above what a person writes; it travels with each description */

/*
 * The text of the view (CREATE VIEW ...), owned by the caller; NULL for a table, and when the text
 * would tell of what is out of view: it is withheld when any name in it, read in whatever way, is
 * that of a table out of view, or of a column out of view of a table that it names.
 */
char *definition_in_view(const struct reach *view, size_t table);

#endif
