/*
 * The query agent: from a question to rows, through tools alone.
 *
 *   GROUND -> VALUES -> PLAN -+-> (LOOKUP -> PLAN) -> CHECK -> RUN -> SANITY -> done: completed
 *                             |                               ^        |
 *                             |                               +-REPAIR-+  verbatim error, next
 * attempt
 *                             +-> done: needs_input, refused
 *
 *   start fails    => done is never called, the channel is closed
 *   start succeeds => done is called exactly once, later, from the loop
 *   cancel         => hastens done with status cancelled
 *   memory         => the agent frees itself after done returns; outcome is lent
 */
#ifndef AGENTS_QUERY_AGENT_H
#define AGENTS_QUERY_AGENT_H

#include <uv.h>

#include "agents/handoff.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/json.h"

struct query_agent;

/* Every text is lent; NULL where there is none. JSON members are owned by the outcome. */
struct query_outcome {
	const char *status;    /* completed, needs_input, needs_approval, refused, too_expensive, limit_reached,
				  failed,    cancelled */
	const char *reason;    /* what happened, for every status but completed */
	const char *hint;      /* what to do about it */
	const char *approval;  /* needs_approval: its id */
	struct json *question; /* needs_input:
				  {"text","parts":[{"name","choices":[{"value","label"}]}]} */

	const char *sql;      /* exactly what ran last */
	struct json *result;  /* RESULT of docs/protocol.md of the last successful run_query */
	struct json *columns; /* compiled_query_columns_json(): name, label, unit, decimals, role */
	struct json *words;   /* compiled_query.words */
	struct json *definitions; /* [{"metric","definition","source"}] */
	struct json *period;	  /* {"from","to","timezone"} or NULL */
	struct json *query;	  /* the metric query that ran; NULL for SQL of another */
	struct json *plan;	  /* what was declared before the SQL */
	struct json *attempts;	  /* earlier tries: [{"sql","error"}] */
	struct json *flags;	  /* [{"code","severity","message"}] */
	bool seeded;
	int64_t tool_calls;
	int64_t bytes_scanned; /* by all of them */
	const char *jti; /* the token it worked under: parent of a delegation */
};

struct query_agent_options {
	int channel_fd;		       /* the agent channel; taken */
	const struct handoff *handoff; /* lent until start returns */
	struct date today;
	bool fixed;	       /* workflow fixed: one query attempt, no discovery after an error */
	bool unverified;       /* plan, even where a verified query answers the question */
	const char *first_sql; /* injected first attempt, labelled seeded; NULL for none */
	const struct json *choices; /* answers to an earlier needs_input: {"metric":"net_sales"} */
	trace_fn *trace;	    /* may be NULL */
	void *data;		    /* for trace and done */
	void (*done)(void *data, const struct query_outcome *outcome);
};

MUST_CHECK int query_agent_start(uv_loop_t *loop, const struct query_agent_options *options,
				 struct query_agent **ret_agent, struct err *err);
void query_agent_cancel(struct query_agent *agent);

#endif
