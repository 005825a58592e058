/*
 * The bounded work order that the orchestrator gives an agent. Everything an agent knows about its
 * task is in here or comes back from a tool; a handoff never holds a credential.
 *
 *   {"task","to","objective","expected_output",
 *    "context":{"question","today","timezone","choices":{},"definitions":[],"result":{...},
 *               "previous":{"question","query":METRIC QUERY},...},
 *    "constraints":{"tools":[],"data":"sales","read_only":true,
 *                   "limits":{"tool_calls_left","tool_errors_left","attempts_left","time_left_ms"}}}
 */
#ifndef AGENTS_HANDOFF_H
#define AGENTS_HANDOFF_H

#include "base/json.h"

struct handoff {
	const char *task;
	const char *to;		     /* the agent's name */
	const char *objective;	     /* what to find out or to write */
	const char *expected_output; /* what shape the result has */
	struct json *context;	     /* owned: schema, definitions, prior results it needs */
	struct json *constraints;    /* owned: tools, data, read_only, limits */
};

/* A copy of everything, for the record, the trace and the agent. */
struct json *handoff_to_json(const struct handoff *handoff);
void handoff_clear(struct handoff *handoff);

/* What --trace shows: event is handoff, token, call, result, plan, repair or check; text is one line
 * for people; detail (may be NULL) is lent. */
typedef void trace_fn(void *data, const char *event, const char *text, const struct json *detail);

#endif
