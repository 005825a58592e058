/*
 * Does a FROM clause keep each row of one table single? A join that repeats a row weighs it in
 * sums, and so tells its value apart from all others of a large group.
 */
#ifndef BROKER_CONNECTORS_SQLITE_GROUP_FROM_H
#define BROKER_CONNECTORS_SQLITE_GROUP_FROM_H

#include "broker/connectors/sqlite_reach.h"
#include "broker/connectors/sqlite_tokens.h"

/*
 * from: the place of the word FROM. True when the clause is read to its end as
 *   t [AS a] {[INNER | LEFT [OUTER]] JOIN t [AS a] {ON a.x = b.y {AND a.x = b.y} | USING (x,...)}}
 * with table in it once, and every other table is reached from it by equalities with a whole key
 * (primary key or unique index, not masked by view) of that table. False for everything else.
 */
bool group_from_keeps(const struct tokens *tokens, size_t from, const struct reach *view,
		      size_t table);

#endif
