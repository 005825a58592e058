/* The answer to tool.call, for whoever still waits. What a trial shows beside it is for the owner
 * who tries rules out; an agent never hears of rules. */
#include "broker/grant.h"
#include "broker/call_model.h"

#include "broker/agent.h"
#include "broker/peer.h"
#include "broker/trail.h"

static struct json *failure(const struct call *call)
{
	struct json *reply = json_object();

	json_set_bool(reply, "ok", false);
	json_set_str(reply, "error", call->error);
	json_set_str(reply, "rejected_by", call->by);
	json_set_str(reply, "hint", call->hint);
	if (call->effect == EFFECT_ASK && call->approval_ids.count > 0)
		json_set_str(reply, "approval", call->approval_ids.items[0]);
	if (call->retry_ms > 0)
		json_set_int(reply, "retry_ms", call->retry_ms);
	return reply;
}

static struct json *records(const struct call *call)
{
	const uint64_t seqs[] = {call->intent, call->outcome, call->withheld};
	struct json *list = json_array();

	for (size_t i = 0; i < ARRAY_LEN(seqs); i++) {
		if (seqs[i] != TRAIL_NONE)
			json_push_int(list, (int64_t)seqs[i]);
	}
	return list;
}

static struct json *decision(const struct call *call)
{
	static const char *const names[] = {
		[EFFECT_DENY] = "deny", [EFFECT_ASK] = "ask", [EFFECT_ALLOW] = "allow"};
	struct json *decision = json_object();

	json_set_str(decision, "effect", names[call->effect]);
	json_set_str(decision, "rule", call->rule);
	json_set_str(decision, "at", call->at);
	json_set_str(decision, "reason",
		     call->reason[0] != '\0' || call->error == NULL ? call->reason : call->error);
	return decision;
}

void call_reply(struct call *call)
{
	struct peer *peer = &call->agent->peer;
	struct json *reply;

	if (peer->channel == NULL)
		return;
	reply = call->by == NULL ? TAKE(call->result) : failure(call);
	json_set(reply, "records", records(call));
	if (call->trial)
		json_set(reply, "decision", decision(call));
	channel_reply(peer->channel, call->id, reply);
}

void call_reach(struct agent *agent, struct json *result)
{
	const struct connectors *connectors = &agent->peer.broker->connectors;
	const struct bundle *bundle = agent->peer.broker->config->bundle;
	struct subject subject = agent_subject(agent);
	struct setting setting = broker_setting(agent->peer.broker);
	struct json *tools = json_array();
	struct json *data = json_array();

	for (size_t i = 0; i < tool_count(); i++)
		if (policy_tool_visible(bundle, agent->name, &subject, &setting, tool_at(i)->name,
					true))
			json_push_str(tools, tool_at(i)->name);
	for (size_t c = 0; c < connectors->count; c++) {
		const char *name = connectors->items[c]->name;

		if (json_len(json_get(call_view(agent, "run_query", NULL, name), "tables")) > 0)
			json_push_str(data, name);
	}
	json_set(result, "tools", tools);
	json_set(result, "data", data);
	json_set(result, "limits", grant_limits_left(agent));
}

struct json *call_tool_list(struct agent *agent)
{
	const struct connectors *connectors = &agent->peer.broker->connectors;
	const struct bundle *bundle = agent->peer.broker->config->bundle;
	struct subject subject = agent_subject(agent);
	struct setting setting = broker_setting(agent->peer.broker);
	const char *databases[CONNECTORS_MAX];
	struct json *result = json_object();
	struct json *tools = json_array();

	for (size_t i = 0; i < tool_count(); i++) {
		const struct tool *tool = tool_at(i);
		size_t visible = 0;

		if (!policy_tool_visible(bundle, agent->name, &subject, &setting, tool->name, true))
			continue;
		for (size_t c = 0; connectors->count > 1 && c < connectors->count; c++) {
			const char *name = connectors->items[c]->name;

			if (json_len(json_get(call_view(agent, tool->name, NULL, name), "tables")) >
			    0)
				databases[visible++] = name;
		}
		json_push(tools, tool_describe(tool, databases, visible));
	}
	json_set(result, "tools", tools);
	return result;
}
