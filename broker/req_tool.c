/* tool.list, tool.call and tool.cancel of an agent's channel. */
#include "broker/call.h"
#include "broker/dispatch.h"
#include "broker/peer.h"
#include "broker/task.h"

void req_tool_list(struct peer *peer, int64_t id, const struct json *params)
{
	static const char *const none[] = {NULL};
	struct err err;

	if (json_only(params, none, &err) < 0) {
		peer_fail(peer, id, err.kind, "tool.list: %s", err.text);
		return;
	}
	channel_reply(peer->channel, id, call_tool_list(peer->agent));
}

void req_tool_call(struct peer *peer, int64_t id, const struct json *params)
{
	static const char *const members[] = {"tool", "arguments", NULL};
	const char *tool;
	struct err err;

	if (json_only(params, members, &err) < 0 ||
	    json_want_str(params, "tool", &tool, &err) < 0) {
		peer_fail(peer, id, err.kind, "tool.call: %s", err.text);
		return;
	}
	if (task_is_full(peer->agent->task, &err)) {
		peer_fail(peer, id, err.kind, "%s", err.text);
		return;
	}
	call_start(peer->agent, id, tool, json_get(params, "arguments"));
}

void req_tool_cancel(struct peer *peer, int64_t id, const struct json *params)
{
	int64_t call;

	(void)id;
	/* A notification has no answer; one that names no call cancels nothing. */
	if (json_want_int(params, "id", 1, JSON_INT_MAX, &call, NULL) == 0)
		call_cancel_request(peer->agent, call);
}
