/*
 * "The top 3" where the third and the fourth are equal: a cut between equals is no finding. The
 * same query is asked for a few rows more, and what is equal to the last one shown is told.
 */
#ifndef AGENTS_QUERY_TIES_H
#define AGENTS_QUERY_TIES_H

#include <stdbool.h>

#include "agents/query/metrics/compile.h"

struct query_agent;

#define TIES_MORE                                                                                  \
	20 /* rows asked beyond the cut: enough to name some and to say that there are more */

/* True when it was begun; then the agent ends, or goes on to freshness, by itself. */
bool ties_begin(struct query_agent *agent);

/* What is said of rows (those shown and some more) that are cut behind `shown`; NULL when the next
 * one differs. column: the one they are ordered by. Pure; the caller's. */
char *ties_text(const struct json *rows, size_t shown, const struct compiled_query *compiled,
		size_t column);

#endif
