/* Steps of time without a row. A group that no row falls into is no row of the result, so a list by
 * month leaves out the months in which nothing happened; whoever reads it as a series must know. */
#ifndef AGENTS_QUERY_METRICS_GAPS_H
#define AGENTS_QUERY_METRICS_GAPS_H

#include "agents/query/metrics/metric_query.h"
#include "base/clock.h"

/* "2 of 5 months have no rows and are not listed", from the query's first to its last step (a
 * period counts up to today; without one, the first and last row do). NULL when none is missing, or
 * when the rows are not one for each step. The caller frees. rows: arrays, the time first. */
char *query_gaps(const struct metric_query *query, const struct json *rows, struct date today);

#endif
