/*
 * Questions to the data: queries of one value each, over one or two tables, that settle a doubt.
 * Names are quoted and texts written by the one pair of functions for it. The caller frees.
 */
#ifndef AGENTS_QUERY_CHECK_CHECK_ASK_H
#define AGENTS_QUERY_CHECK_CHECK_ASK_H

#include <stdbool.h>

#include "agents/query/check/sql_scan.h"

#define ASK_VALUES_MAX 40 /* values offered from; more than a person reads */

/* How many rows have no value there. */
char *ask_nulls(const char *table, const char *column);
/* NULL when a row has the value (LIKE it), else values of the column, one a line. */
char *ask_value(enum sql_dialect dialect, const char *table, const char *column, bool like,
		const char *value);
/* "least|greatest|least separator|greatest separator|longest|rows not at midnight"; the separator
 * is the 11th character. NULL for no rows. */
char *ask_times(const char *table, const char *column);
/* "rows with a value|rows". A flag counts as a value when it is not 0. */
char *ask_marked(const char *table, const char *column, bool is_flag);
/* "newest build|newest row of the other table". */
char *ask_built(const char *table, const char *built, const char *other, const char *time);
/* "rows without a value|rows whose value has no partner|rows". */
char *ask_lost(const char *table, const char *column, const char *parent, const char *key);
/* How many different values. */
char *ask_kinds(const char *table, const char *column);
/* How many values (of the columns together) more than one row has. */
char *ask_repeated(const char *table, const char *const *columns, size_t count);

#endif
