/*
 * search_values: which values of text columns in a view occur in a text.
 *
 * The index holds the distinct values of every text column that has not too many; it is made under
 * the limits of the call that needs it and good until another program writes to the database.
 */
#ifndef BROKER_CONNECTORS_SQLITE_VALUES_H
#define BROKER_CONNECTORS_SQLITE_VALUES_H

#include "broker/connectors/sqlite_open.h"
#include "broker/connectors/sqlite_run.h"

#define VALUES_PER_COLUMN_MAX 10000
#define VALUES_MAX 200000   /* of one index: about 20 MiB */
#define VALUE_BYTES_MAX 100 /* longer text is prose, not a value one would name */
#define VALUE_WORDS_MAX 8
#define PHRASE_WORDS_MAX 64 /* of the text; the rest is ignored */

struct session;
struct view;
struct value_index;

/* Brings view->values up to date. */
MUST_CHECK int value_index_refresh(struct session *session, struct view *view,
				   const struct run_limits *limits, struct refusal *refusal);
void value_index_free(struct value_index *index); /* NULL is fine */

/* {"ok":true,"matches":[{"table","column","value","phrase","exact"}],"skipped":["t.c"]}: longest
 * phrase first. Near values (one letter off, two in words of eight or more) only when no value
 * occurs as it is. skipped: columns with too many values, or left out because a limit came. */
MUST_CHECK int value_index_search(const struct value_index *index, struct database *database,
				  const char *text, int64_t limit, struct json **ret_result,
				  struct refusal *refusal);

#endif
