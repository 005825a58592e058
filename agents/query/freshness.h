/* How far the data reach, said when a period shows nothing or is not over. */
#ifndef AGENTS_QUERY_FRESHNESS_H
#define AGENTS_QUERY_FRESHNESS_H

#include <stdbool.h>

struct query_agent;

/* After a sound result. True when the agent goes on by itself, to end as completed: then it is the
 * last thing its caller does. */
bool freshness_begin(struct query_agent *agent);

#endif
