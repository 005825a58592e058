/*
 * The report agent: takes a handoff with a verified result and returns words. It asks for its own
 * token (delegated from the query agent's, narrower, without a tool) before it writes, so that a
 * revoked or expired task gets no report.
 *
 *   start fails    => done is never called, the channel is closed
 *   start succeeds => done is called exactly once, later: with text, or NULL and why
 */
#ifndef AGENTS_REPORT_AGENT_H
#define AGENTS_REPORT_AGENT_H

#include <uv.h>

#include "agents/handoff.h"
#include "base/err.h"

struct report_agent;

struct report_agent_options {
	int channel_fd;		       /* the agent channel; taken */
	const struct handoff *handoff; /* lent until start returns; context as answer_facts() */
	trace_fn *trace;	       /* may be NULL */
	void *data;
	/* replaced: the first text failed its check and the built-in report stands in its place;
	 * why_replaced says what was wrong. Both lent. */
	void (*done)(void *data, const char *text, const char *why_replaced, const struct err *err);
};

MUST_CHECK int report_agent_start(uv_loop_t *loop, const struct report_agent_options *options,
				  struct report_agent **ret_agent, struct err *err);
void report_agent_cancel(struct report_agent *agent); /* hastens done with ERR_CANCELED */

#endif
