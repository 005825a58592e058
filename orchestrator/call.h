/*
 * One tool call of one agent for a person: `writ call` (a trial, owner only) and the MCP server
 * (any mapped user, each call a task of its own). The same path as an agent's: token, policy,
 * records, and for run_query the same checks of the result.
 */
#ifndef ORCHESTRATOR_CALL_H
#define ORCHESTRATOR_CALL_H

#include "orchestrator/orchestrator.h"

struct call_request {
	const char *kind; /* trial or mcp: the broker decides who may */
	const char *agent;
	const char *tool; /* NULL: list the agent's tools instead */
	const struct json *arguments;
	const char *label; /* the person's own name for it, to cancel it by; NULL */
	const char *approval; /* given to an earlier call like this one; NULL */
};

/* Answers reply_to on the session's connection once, later: the tool's result with "flags" and
 * "task", or {"tools":[...]}. */
void call_start(struct session *session, int64_t reply_to, const struct call_request *request);
/* Hastens the answer of the session's call of that label; nothing happens if there is none. */
void call_cancel(struct session *session, const char *label);
void calls_session_ended(struct session *session);

#endif
