/*
 * Tables that are shown in groups only: a statement over one must add up, and each of its rows must
 * stand for at least so many different units (people, say). Smaller groups are left out and
 * counted.
 *
 * How many units a row stands for is counted by the database itself: a COUNT(DISTINCT unit) per
 * such table is put behind the statement's last column and taken off the result again. That proves
 * something only about statements of a plain shape, so everything else is refused, with the reason:
 *
 *   one SELECT, no sub-query, no WITH, UNION, DISTINCT, HAVING, window, FILTER
 *   each column: something of GROUP BY (as written there, its alias, or its number), or arithmetic
 *   over COUNT, SUM, AVG and TOTAL of one column each
 *   ORDER BY: columns of the result, by alias, number or the same words
 *   LIMIT and OFFSET: plain numbers; they count the rows that are shown, since a place taken by a
 *   small group would tell how it compares with the others
 *   each such table once in FROM, the others joined to it by their keys (sqlite_group_from.h)
 *
 * MIN, MAX, GROUP_CONCAT and aggregates over expressions would show single rows of a large group.
 * What the database says about a value while the statement runs is not passed on. What remains, as
 * with every such threshold: two large groups that differ by one unit tell that unit's value, and
 * so does whether groups were left out or a statement failed, when its WHERE is about one unit.
 */
#ifndef BROKER_CONNECTORS_SQLITE_GROUP_H
#define BROKER_CONNECTORS_SQLITE_GROUP_H

#include <stdint.h>

#include "broker/connectors/refusal.h"
#include "broker/connectors/sqlite_guard.h"
#include "broker/connectors/sqlite_reach.h"

struct groups {
	size_t count;	 /* so many columns at the end of a row count units; 0: nothing to do */
	int64_t *least;	 /* how many each must reach */
	int64_t largest; /* of least */
	int64_t limit;	 /* rows to show, -1: all */
	int64_t offset;	 /* rows to pass over first */
};

void groups_clear(struct groups *groups);

/* Does view show any table in groups only? */
bool groups_any(const struct reach *view);
/* Is any table of facts shown in groups only? */
bool groups_wanted(const struct reach *view, const struct reach *facts);

/* The statement with its counting columns; *ret_sql is the caller's to free. */
MUST_CHECK int groups_prepare(const struct guard *guard, const struct reach *view,
			      const struct reach *facts, const char *sql, char **ret_sql,
			      struct groups *ret_groups, struct refusal *refusal);

#endif
