/* status: what an operator looks at first. Names and numbers only, no one's data. */
#include "base/clock.h"
#include "broker/dispatch.h"
#include "broker/peer.h"

static struct json *reloads_status(const struct policy_reloads *reloads)
{
	struct json *json = json_object();
	char at[TIMESTAMP_LEN + 1];

	json_set_int(json, "applied", reloads->applied);
	json_set_int(json, "refused", reloads->refused);
	if (reloads->last_us == 0)
		return json;
	timestamp_write(reloads->last_us, at);
	json_set_str(json, "at", at);
	json_set_str(json, "last", reloads->last_refused ? "refused" : "applied");
	if (reloads->last_refused)
		json_set_str(json, "reason", reloads->reason);
	return json;
}

static struct json *candidate_status(const struct broker *broker)
{
	struct json *json = json_object();

	json_set_str(json, "digest", bundle_digest(broker->config->candidate));
	json_set_int(json, "decisions", broker->shadow.decisions);
	json_set_int(json, "differences", broker->shadow.differences);
	return json;
}

static struct json *policy_status(const struct broker *broker)
{
	const struct bundle *bundle = broker->config->bundle;
	struct json *policy = json_object();

	json_set_str(policy, "digest", bundle_digest(bundle));
	json_set_int(policy, "epoch", token_store_epoch(broker->store));
	json_set_int(policy, "agents", (int64_t)bundle_agent_count(bundle));
	json_set_int(policy, "rules", (int64_t)bundle_rule_count(bundle));
	json_set(policy, "reloads", reloads_status(&broker->reloads));
	if (broker->config->candidate != NULL)
		json_set(policy, "candidate", candidate_status(broker));
	return policy;
}

static struct json *audit_status(const struct broker *broker)
{
	struct json *audit = json_object();
	struct err why;

	if (broker->audit != NULL) {
		json_set_int(audit, "size", (int64_t)audit_size(broker->audit));
		json_set_str(audit, "checkpoint", audit_checkpoint(broker->audit));
	}
	if (broker_log_works(broker, &why)) {
		json_set_str(audit, "state", "open");
	} else {
		bool waits = broker->audit != NULL && !audit_stopped(broker->audit, NULL);

		json_set_str(audit, "state", waits ? "waiting" : "stopped");
		json_set_str(audit, "reason", why.text);
	}
	return audit;
}

static struct json *connector_status(const struct broker *broker)
{
	struct json *list = json_array();

	for (size_t i = 0; i < broker->connectors.count; i++) {
		const struct connector *connector = broker->connectors.items[i];
		struct json *item = json_object();

		json_set_str(item, "name", connector->name);
		json_set_str(item, "kind", connector->kind);
		json_set_str(item, "state", connector->channel == NULL ? "down" : "up");
		json_push(list, item);
	}
	return list;
}

void req_status(struct peer *peer, int64_t id, const struct json *params)
{
	static const char *const none[] = {NULL};
	const struct broker *broker = peer->broker;
	struct json *sandbox, *result;
	struct err err;

	if (json_only(params, none, &err) < 0) {
		peer_fail(peer, id, err.kind, "status: %s", err.text);
		return;
	}
	sandbox = json_object();
	json_set_str(sandbox, "level",
		     broker->options.sandbox == SANDBOX_FULL ? "full" : "reduced");
	json_set_str(sandbox, "profile", sandbox_profile_name());
	result = json_object();
	json_set(result, "policy", policy_status(broker));
	json_set(result, "audit", audit_status(broker));
	json_set(result, "connectors", connector_status(broker));
	if (broker->sinks.count > 0)
		json_set(result, "sinks", sinks_status(&broker->sinks));
	json_set_str(result, "signer", signer_client_up(broker->signer) ? "up" : "down");
	if (broker->restarts.count > 0)
		json_set(result, "restarts", restarts_status(&broker->restarts));
	json_set_int(result, "sessions", (int64_t)broker->session_count);
	json_set_int(result, "calls", (int64_t)broker->calls.live);
	json_set(result, "sandbox", sandbox);
	channel_reply(peer->channel, id, result);
}
