/* Requests of the agent channel, written out. What can fail is the channel, and its calls say so.
 */
#include "agents/client.h"

int64_t client_token_issue(struct channel *channel, int64_t timeout_ms, channel_done *done,
			   void *data)
{
	return channel_call(channel, "token.issue", json_object(), timeout_ms, done, data);
}

int64_t client_tool_list(struct channel *channel, int64_t timeout_ms, channel_done *done,
			 void *data)
{
	return channel_call(channel, "tool.list", json_object(), timeout_ms, done, data);
}

int64_t client_tool_call(struct channel *channel, const char *tool, struct json *arguments,
			 int64_t timeout_ms, channel_done *done, void *data)
{
	struct json *params = json_object();

	json_set_str(params, "tool", tool);
	json_set(params, "arguments", arguments);
	return channel_call(channel, "tool.call", params, timeout_ms, done, data);
}

void client_tool_cancel(struct channel *channel, int64_t call_id)
{
	struct json *params = json_object();

	json_set_int(params, "id", call_id);
	channel_notify(channel, "tool.cancel", params);
}
