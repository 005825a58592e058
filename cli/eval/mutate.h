/*
 * The second state of a database: what an answer that is right only by luck does not survive. A
 * copy is changed so that everything its schema promises still holds, and nothing that is merely
 * true of the shipped rows. Per table, on rows that the seed picks:
 *
 *   children   a third of the rows that refer to another table are there twice, under new keys
 *   references a fifth refer to another row of the other table
 *   a group    all rows that refer to one row of another table go, where others remain
 *   numbers    a third grow by a quarter; 0 and 1 are exchanged; years and codes change places
 *   times      move to the first day of their month, to the last second of it, to New Year
 *   words      a fifth take the next word of their column
 *   missing    a sixth of what may be missing is
 *
 * Kept: primary, unique and foreign keys, NOT NULL, CHECK, values that are all different (names),
 * every word of a column at least once, so that a question which names it still finds it. Not
 * touched: views, virtual tables, tables WITHOUT ROWID. Triggers do not run.
 */
#ifndef CLI_EVAL_MUTATE_H
#define CLI_EVAL_MUTATE_H

#include "base/db.h"
#include "base/json.h"

#define MUTATE_TABLES_MAX 1000

/* In one transaction; the same copy and seed give the same rows. ret_changes:
 * {"orders":{"added","removed","changed","missing"}}, tables that stayed as they were left out. */
MUST_CHECK int mutate(struct db *copy, int64_t seed, struct json **ret_changes, struct err *err);

#endif
