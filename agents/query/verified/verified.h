/*
 * Verified queries: questions whose SQL an analyst has approved. Asked again, the approved SQL runs
 * with the period of the question bound to today's dates, under the asking user's own grant and
 * through every check; nothing else is planned. Read this first.
 *
 *   queries/ of a workspace --(verified_compile(), in `writ`)--> "queries" of a model in model.json
 *     --(the broker, less what the scope hides)--> list_metrics --(verified_match(), in the agent)
 *
 * A query as the model holds it:
 *   {"name","question","sql","verified_by","verified_at","when","at":"queries/sales.yaml:4",
 *    "approved":"<64 hex>","reads":["orders.amount",...],"shape":"<64 hex>","timezone":"UTC","metrics":{"net_sales":
 *    "<64 hex>"}}
 * approved, reads, shape, timezone and metrics were noted when it was approved: what the SQL reads, the form
 * of those tables (explain_query tells it), and what the metrics of the question meant. A query
 * without them, or whose tables, metrics or time zone have changed since, is not served; only that
 * query is affected.
 *
 * SQL for a question with a period holds the parameters :period_start and :period_end, half-open
 * [start, end). Pure; no clock.
 */
#ifndef AGENTS_QUERY_VERIFIED_H
#define AGENTS_QUERY_VERIFIED_H

#include "agents/query/period.h"
#include "base/json.h"

#define VERIFIED_EXAMPLES_MAX 3

/* The words of a question, folded, with one blank between, and the marks that change what is meant
 * ("> 100", "50%", "-5"): what makes two questions the same. The caller frees. NULL for a text that
 * is no question (too long, not UTF-8). */
char *verified_normal(const char *question);

/* The query for this very question, lent; NULL when there is none. */
const struct json *verified_match(const struct json *queries, const char *question);

/* Those with the most words in common, best first, at most VERIFIED_EXAMPLES_MAX, lent by queries;
 * returns how many. except: names or questions to leave out (an array of normal forms), or NULL. */
size_t verified_similar(const struct json *queries, const char *question, const struct json *except,
			const struct json *ret_similar[VERIFIED_EXAMPLES_MAX]);

/* Why the query cannot be served: not approved yet, a metric or the time zone changed. NULL when
 * none of that; tables are compared later, by shape. model: the model of list_metrics. The caller
 * frees. */
char *verified_stale(const struct json *query, const struct json *model, const char *timezone);
/* What was approved, as 64 hex digits: question and SQL, to the letter. */
void verified_approval(const struct json *query, char ret_hex[65]);
/* What a metric means, as 64 hex digits: its definition with everything it stands on. */
void verified_definition(const struct json *model, const struct json *metric, char ret_hex[65]);

/* Does the SQL have the parameters? Both or neither; ERR_INVALID for one alone and for others. */
MUST_CHECK int verified_wants_period(const char *sql, bool *ret_wants, struct err *err);
/* The one period of a question. 0: *ret_set says whether there is one. ERR_INVALID for several, for
 * one that cannot be meant, and for one that is open on a side. */
MUST_CHECK int verified_period(const char *question, struct date today, bool *ret_set,
			       struct period *ret_period, struct err *err);
/* The SQL with the dates in place of its parameters; the caller frees. */
char *verified_bind(const char *sql, const struct period *period);

#endif
