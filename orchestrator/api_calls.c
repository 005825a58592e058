/* Single tool calls: `writ call` (trials) and the MCP server. */
#include "orchestrator/api.h"
#include "orchestrator/call.h"

static void start_call(struct session *session, int64_t id, const struct json *params,
		       const char *kind)
{
	const struct call_request request = {
		.kind = kind,
		.agent = json_get_str(params, "agent"),
		.tool = json_get_str(params, "tool"), /* absent: list them */
		.arguments = json_get(params, "arguments"),
		.label = json_get_str(params, "label"),
		.approval = json_get_str(params, "approval"),
	};

	call_start(session, id, &request);
}

int api_call(struct session *session, int64_t id, const struct json *params, struct err *err)
{
	(void)err;
	start_call(session, id, params, "trial");
	return 0;
}

int api_mcp_open(struct session *session, int64_t id, const struct json *params, struct err *err)
{
	(void)err;
	start_call(session, id, params, "mcp");
	return 0;
}

int api_mcp_call(struct session *session, int64_t id, const struct json *params, struct err *err)
{
	(void)err;
	start_call(session, id, params, "mcp");
	return 0;
}

int api_mcp_cancel(struct session *session, int64_t id, const struct json *params, struct err *err)
{
	(void)err;
	call_cancel(session, json_get_str(params, "label"));
	channel_reply(session->client, id, json_object());
	return 0;
}
