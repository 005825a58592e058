/*
 * Tool calls: broker/call_state.h draws their states. call.c moves them, call_way.c asks the
 * connector, call_decide.c decides, call_record.c writes the records, call_reply.c answers.
 */
#ifndef BROKER_CALL_H
#define BROKER_CALL_H

#include "broker/broker.h"

enum call_cancel {
	CANCEL_NONE,
	CANCEL_ASKED,	/* tool.cancel */
	CANCEL_GONE,	/* the agent's channel closed */
	CANCEL_TIME,	/* the task's time is up */
	CANCEL_REVOKED, /* its authority was taken away */
};

/* Starts a call for request id of the agent's channel; arguments may be NULL, and are lent. */
void call_start(struct agent *agent, int64_t id, const char *tool, const struct json *arguments);
void calls_cancel(struct agent *agent, enum call_cancel why);
void call_cancel_request(struct agent *agent, int64_t id);
/* The agent is going: its calls are cancelled and will be recorded, but answered to nobody. */
void calls_orphan(struct agent *agent);

/* Sets "tools", "data" and "limits" of result: what the agent may use and how much is left, for the
 * constraints of its handoff. */
void call_reach(struct agent *agent, struct json *result);
/* {"tools":[...]}: what the agent may use now. */
struct json *call_tool_list(struct agent *agent);

#endif
