/*
 * The records of a call: one tool.intent with the decision, and for a call that ran one
 * tool.result. A refused call has only its intent. A result that was withheld at the last moment
 * gets a second tool.result that says so.
 */
#include "broker/call_model.h"

#include <string.h>

#include "broker/agent.h"
#include "broker/task.h"
#include "broker/trail.h"

static uint64_t append(struct call *call, const char *event, struct json *fields,
		       struct json *secrets)
{
	struct task *task = call_task(call);
	uint64_t seq = trail_append(call->broker, event, fields, secrets);

	if (task != NULL)
		task_note_record(task, seq);
	return seq;
}

static const char *effect_name(enum effect effect)
{
	switch (effect) {
	case EFFECT_ALLOW:
		return "allow";
	case EFFECT_ASK:
		return "ask";
	case EFFECT_DENY:
		break;
	}
	return "deny";
}

static struct json *facts_json(const struct call *call)
{
	struct json *facts = json_object();
	struct json *groups = json_array();
	struct setting setting = broker_setting(call->broker);

	if (call->agent != NULL) {
		struct subject subject = agent_subject(call->agent);

		for (size_t i = 0; i < subject.groups.count; i++)
			json_push_str(groups, subject.groups.items[i]);
	}
	json_set(facts, "tables", fact_names_json(&call->tables));
	json_set(facts, "columns", fact_names_json(&call->columns));
	json_set(facts, "functions", fact_names_json(&call->functions));
	json_set(facts, "groups", groups);
	json_set_int(facts, "rows", call->rows_asked);
	if (call->decided_s != 0)
		json_set_int(facts, "now", call->decided_s);
	if (setting.environment != NULL)
		json_set_str(facts, "environment", setting.environment);
	if (call->approved.count > 0)
		json_set(facts, "approved", fact_names_json(&call->approved));
	return facts;
}

static struct json *intent_fields(const struct call *call)
{
	struct json *fields = json_copy(call->who);
	bool allowed = call->by == NULL;
	enum effect effect = call->effect;

	if (!allowed && effect == EFFECT_ALLOW)
		effect = EFFECT_DENY; /* the rules allowed it; a budget or the token did not */
	json_set_str(fields, REC_DECISION, effect_name(effect));
	json_set_str(fields, REC_CODE, call->code);
	json_set_str(fields, REC_RISK, "none");
	if (call->approval_ids.count > 0)
		json_set_str(fields, REC_APPROVAL, call->approval_ids.items[0]);
	json_set_str(fields, REC_POLICY, bundle_digest(call->broker->config->bundle));
	json_set_int(fields, REC_EPOCH, call->epoch);
	json_set_str(fields, REC_ACTION,
		     call->tool == NULL || call->tool->way == TOOL_BROKER ? "none" : "read");
	if (call->database != NULL)
		json_set_str(fields, REC_RESOURCE, call->database);
	if (call->candidate != NULL && call->broker->config->candidate != NULL) {
		json_set_str(fields, REC_CANDIDATE, bundle_digest(call->broker->config->candidate));
		json_set_str(fields, REC_CANDIDATE_DECISION, call->candidate);
	}
	if (call->rule != NULL)
		json_set_str(fields, REC_RULE, call->rule);
	if (call->at != NULL)
		json_set_str(fields, REC_RULE_AT, call->at);
	return fields;
}

static struct json *intent_secrets(const struct call *call)
{
	struct json *secrets = json_object();
	struct json *arguments = json_copy(call->arguments);
	const char *sql = json_get_str(arguments, "sql");

	if (sql != NULL) {
		json_set_str(secrets, CM_SQL, sql);
		json_remove(arguments, "sql");
	}
	if (json_len(arguments) > 0)
		json_set(secrets, CM_ARGUMENTS, arguments);
	else
		json_free(arguments);
	if (call->error != NULL)
		json_set_str(secrets, CM_ERROR, call->error);
	return secrets;
}

void call_record_intent(struct call *call)
{
	struct json *fields = intent_fields(call);
	struct err err;

	json_set(fields, REC_FACTS, facts_json(call));
	call->intent = append(call, EV_TOOL_INTENT, fields, intent_secrets(call));
	if (call->intent != TRAIL_NONE)
		return;
	if (!broker_log_works(call->broker, &err)) {
		call_note_failure(call, "unavailable", "log", "tell the operator", "%s", err.text);
		return;
	}
	/* The facts do not fit one record: refused, with a record that has none. */
	call->effect = EFFECT_DENY;
	call_note_failure(call, "statement", "facts_too_many", "touch fewer tables and columns",
			  "the statement touches too much for one record");
	call->intent = append(call, EV_TOOL_INTENT, intent_fields(call), NULL);
}

/* What the budgets hear of: errors of the agent's own doing, and bytes. */
static bool counts_as_error(const char *by)
{
	return by != NULL && strcmp(by, "unavailable") != 0 && strcmp(by, "canceled") != 0 &&
	       strcmp(by, "budget") != 0 && strcmp(by, "token") != 0;
}

static void settle(struct call *call)
{
	struct task *task = call_task(call);
	struct agent_use *use;
	int64_t scanned = json_get_int(call->result, "bytes_scanned", -1);

	if (call->settled || task == NULL)
		return;
	call->settled = true;
	use = task_use(task, json_get_str(call->who, REC_CLIENT));
	if (counts_as_error(call->by))
		budget_count_error(&use->use);
	if (call->state != CALL_EXECUTING || call->scan_taken == 0)
		scanned = 0; /* it never ran */
	else if (scanned < 0)
		/* Only what reads rows tells; a failure that does not may have come any far. */
		scanned = call->by == NULL ? 0 : call->scan_taken;
	budget_settle_scan(&use->use, call->scan_taken, scanned);
}

/* {columns, rows, row_count, truncated, types} of rows; the whole answer of other tools. */
static struct json *result_secret(const struct call *call)
{
	static const char *const members[] = {"columns", "rows", "row_count", "truncated", "types"};
	struct json *secret;

	if (json_get(call->result, "rows") == NULL) {
		secret = json_copy(call->result);
		json_remove(secret, "ok");
		return secret;
	}
	secret = json_object();
	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		const struct json *value = json_get(call->result, members[i]);

		if (value != NULL)
			json_set(secret, members[i], json_copy(value));
	}
	return secret;
}

void call_record_outcome(struct call *call)
{
	struct json *fields;
	struct json *secrets;

	if (call->state != CALL_EXECUTING) { /* refused: the intent was its outcome */
		settle(call);
		return;
	}
	fields = json_copy(call->who);
	secrets = json_object();
	json_set_int(fields, REC_INTENT, (int64_t)call->intent);
	json_set_str(fields, REC_STATUS, call->by == NULL ? "ok" : "error");
	if (json_get(call->result, "bytes_scanned") != NULL)
		json_set_int(fields, REC_BYTES, json_get_int(call->result, "bytes_scanned", 0));
	if (call->by == NULL) {
		if (json_get(call->result, "row_count") != NULL)
			json_set_int(fields, REC_ROWS, json_get_int(call->result, "row_count", 0));
		json_set(secrets, CM_RESULT, result_secret(call));
	} else {
		json_set_str(fields, REC_CODE, call->code);
		json_set_str(secrets, CM_ERROR, call->error);
	}
	call->outcome = append(call, EV_TOOL_RESULT, fields, secrets);
	settle(call);
	if (call->outcome == TRAIL_NONE && call->by == NULL)
		call_note_failure(call, "unavailable", "log", "tell the operator",
				  "the record of the result could not be written");
}

void call_record_withheld(struct call *call)
{
	struct json *fields = json_copy(call->who);
	struct json *secrets = json_object();

	json_set_int(fields, REC_INTENT, (int64_t)call->intent);
	json_set_str(fields, REC_STATUS, "error");
	json_set_str(fields, REC_CODE, "withheld");
	json_set_str(fields, REC_CAUSE, call->code);
	json_set_str(secrets, CM_ERROR, call->error);
	call->withheld = append(call, EV_TOOL_RESULT, fields, secrets);
}
