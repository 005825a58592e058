/*
 * The broker client: what an agent may say on its channel, one function per method of the section
 * "agent" of docs/protocol.md. Who the agent is, is not said here: it is the channel's.
 *
 * Each call: not started => returns 0 and done is never called; started => done is called exactly
 * once, later, or with ERR_CANCELED when the channel is closed.
 */
#ifndef AGENTS_CLIENT_H
#define AGENTS_CLIENT_H

#include "base/channel.h"

/* result: {"jti","expires","tools":[],"limits":{...}} */
int64_t client_token_issue(struct channel *channel, int64_t timeout_ms, channel_done *done,
			   void *data);
/* result: {"tools":[{"name","description","inputSchema"}]} */
int64_t client_tool_list(struct channel *channel, int64_t timeout_ms, channel_done *done,
			 void *data);
/* arguments are taken. result: the tool's, with "ok" and "records". */
int64_t client_tool_call(struct channel *channel, const char *tool, struct json *arguments,
			 int64_t timeout_ms, channel_done *done, void *data);
/* The call's own reply then says rejected_by "canceled". */
void client_tool_cancel(struct channel *channel, int64_t call_id);

#endif
