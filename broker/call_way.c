/*
 * How a call reaches its data: a statement is prepared, and executed once it was decided on; a view
 * tool goes to the connector with its view; list_metrics is answered here. A connector that does
 * not answer in time is told to cancel; the call fails either way.
 */
#include "broker/call_model.h"

#include <stdio.h>
#include <string.h>

#include "broker/agent.h"
#include "broker/grant.h"
#include "broker/task.h"
#include "broker/view.h"
#include "writ/limits.h"

#define STATEMENT_ID_MAX 256 /* ours are a few digits */

struct asked {
	struct broker *broker;
	uint64_t call;
};

static struct asked *asked_new(const struct call *call)
{
	struct asked *asked = mem_alloc(sizeof(*asked));

	asked->broker = call->broker;
	asked->call = call->handle;
	return asked;
}

static void set_call_id(struct json *params, const struct call *call)
{
	char id[32];

	snprintf(id, sizeof(id), "c-%llu", (unsigned long long)call->handle);
	json_set_str(params, "call", id);
}

static struct connector *connector_of(const struct call *call)
{
	return call->database == NULL ? NULL
				      : connectors_find(&call->broker->connectors, call->database);
}

void call_tell_cancel(struct call *call)
{
	struct connector *connector = connector_of(call);
	struct json *params;

	if (!call->asked || connector == NULL)
		return;
	params = json_object();
	set_call_id(params, call);
	connector_tell(connector, "cancel", params);
}

void call_drop_statement(struct call *call)
{
	struct connector *connector = connector_of(call);
	struct json *params;

	if (call->statement == NULL)
		return;
	if (connector != NULL) {
		params = json_object();
		json_set_str(params, "statement", call->statement);
		connector_tell(connector, "drop", params);
	}
	mem_free(TAKE(call->statement));
}

/* Sends one request of the call; done gets a struct asked. */
static int ask(struct call *call, const char *method, struct json *params, int64_t time_ms,
	       channel_done *done, struct err *err)
{
	struct connector *connector = connector_of(call);
	struct asked *asked;

	if (connector == NULL) {
		json_free(params);
		return err_set(err, ERR_UNAVAILABLE, "the connector is not running");
	}
	set_call_id(params, call);
	asked = asked_new(call);
	call->asked = true;
	if (connector_call(connector, method, params, time_ms + CONNECTOR_GRACE_MS, done, asked,
			   err) < 0) {
		call->asked = false;
		mem_free(asked);
		return -1;
	}
	return 0;
}

static struct call *answered(void *data, const struct err *err)
{
	struct asked *asked = data;
	struct call *call = call_find(asked->broker, asked->call);

	mem_free(asked);
	if (call == NULL)
		return NULL;
	if (err != NULL && err->kind == ERR_TIMEOUT)
		call_tell_cancel(call);
	call->asked = false;
	return call;
}

/* The connector's own words for what only the view stopped, kept for the record. */
static void judge_hidden(struct call *call, const struct json *hidden)
{
	struct call_facts facts;
	struct verdict verdict;

	if (fact_names_read(&call->tables, json_get(hidden, "tables"), NULL) < 0 ||
	    fact_names_read(&call->columns, json_get(hidden, "columns"), NULL) < 0 ||
	    fact_names_read(&call->functions, json_get(hidden, "functions"), NULL) < 0)
		return;
	call_facts(call, &facts);
	policy_decide(call->broker->config->bundle, &facts, &verdict);
	if (verdict.effect == EFFECT_ALLOW)
		return; /* hidden, whatever the rules say about it: the view was older */
	call->effect = verdict.effect;
	call->rule = mem_str(verdict.rule);
	call->at = mem_str(verdict.at);
	snprintf(call->code, sizeof(call->code), "%s", verdict.code);
	snprintf(call->reason, sizeof(call->reason), "%s", verdict.reason);
}

/* The statement does not compile within the view: the agent gets the database's own words. */
static void refuse_unprepared(struct call *call, const struct json *result)
{
	snprintf(call->code, sizeof(call->code), "%s", "not_prepared");
	if (json_type(json_get(result, "hidden")) == JSON_OBJECT)
		judge_hidden(call, json_get(result, "hidden"));
	call_take_result(call, result, NULL);
	call->epoch = token_store_epoch(call->broker->store);
	call_go(call, CALL_DECIDED);
}

static int want_statement(const struct json *result, const char **ret_statement, struct err *err)
{
	if (json_want_str(result, "statement", ret_statement, err) < 0)
		return -1;
	if ((*ret_statement)[0] == '\0' || strlen(*ret_statement) > STATEMENT_ID_MAX)
		return err_set(err, ERR_INVALID, "\"statement\" must be an id of 1 to %d bytes",
			       STATEMENT_ID_MAX);
	return 0;
}

static void take_prepared(struct call *call, const struct json *result)
{
	const char *statement;
	struct err err;

	if (want_statement(result, &statement, &err) < 0 ||
	    fact_names_read(&call->tables, json_get(result, "tables"), &err) < 0 ||
	    fact_names_read(&call->columns, json_get(result, "columns"), &err) < 0 ||
	    fact_names_read(&call->functions, json_get(result, "functions"), &err) < 0) {
		call_refuse(call, "unavailable", "connector", "tell the operator",
			    "the connector's answer is malformed: %s", err.text);
		return;
	}
	call->statement = mem_str(statement);
	call_go(call, CALL_PREPARED);
}

static void on_prepared(void *data, const struct json *result, const struct err *err)
{
	struct call *call = answered(data, err);

	if (call == NULL)
		return;
	if (call->agent == NULL || call->cancel != CANCEL_NONE) {
		if (json_get_str(result, "statement") != NULL)
			call->statement = mem_str(json_get_str(result, "statement"));
		call_drop_statement(call);
		call_note_canceled(call);
		call->epoch = token_store_epoch(call->broker->store);
		call_go(call, CALL_DECIDED);
	} else if (err != NULL && err->kind == ERR_TIMEOUT) {
		call_refuse(call, "unavailable", "connector_silent", "try again later",
			    "the connector of %s does not answer", call->database);
	} else if (err != NULL) {
		call_refuse(call, "unavailable", "connector", "try again later",
			    "the source %s cannot be asked: %s", call->database, err->text);
	} else if (json_get_bool(result, "ok", false)) {
		take_prepared(call, result);
	} else {
		refuse_unprepared(call, result);
	}
}

static int64_t prepare_ms(const struct call *call)
{
	const struct agent_def *def = agent_def_now(call->agent);
	int64_t left;

	if (def == NULL)
		return 1;
	left = task_time_left(call->agent->task, call->agent->use, &def->budget);
	if (left > WRIT_STATEMENT_MS_DEFAULT)
		left = WRIT_STATEMENT_MS_DEFAULT;
	return left < 1 ? 1 : left;
}

static void ask_prepare(struct call *call)
{
	const struct token_claims *claims;
	struct json *params;
	struct err err;

	if (grant_check(call->agent, &claims, &err) < 0) {
		call_refuse(call, "token", "token_denied", "call token.issue", "%s", err.text);
		return;
	}
	params = json_object();
	json_set_str(params, "grant", call_pool_key(call->agent, claims));
	json_set(params, "view", call_connector_view(call));
	json_set_str(params, "sql", json_get_str(call->arguments, "sql"));
	json_set_int(params, "time_ms", prepare_ms(call));
	if (ask(call, "prepare", params, prepare_ms(call), on_prepared, &err) < 0)
		call_refuse(call, "unavailable", "connector", "try again later",
			    "the source %s cannot be asked: %s", call->database, err.text);
}

void call_prepare(struct call *call)
{
	struct subject subject = agent_subject(call->agent);
	struct setting setting = broker_setting(call->broker);
	const char *table = json_get_str(call->arguments, "table");
	const char *spelled;
	char *column;

	if (call->tool->way == TOOL_STATEMENT &&
	    policy_tool_visible(call->broker->config->bundle, call->agent->name, &subject, &setting,
				call->tool->name, false)) {
		ask_prepare(call);
		return;
	}
	if (call->tool->way == TOOL_VIEW && table != NULL) {
		spelled = view_table(call_own_view(call, call->database), table);
		fact_names_add(&call->tables, spelled == NULL ? table : spelled);
		column = mem_format("%s.", spelled == NULL ? table : spelled);
		fact_names_add(&call->columns, column);
		mem_free(column);
	}
	call_go(call, CALL_PREPARED); /* a tool out of sight is decided on as it is: denied */
}

static void on_executed(void *data, const struct json *result, const struct err *err)
{
	struct call *call = answered(data, err);

	if (call == NULL)
		return;
	call_take_result(call, result, err);
	call_record_outcome(call);
	call_go(call, CALL_RECORDED);
}

static struct json *limits_json(const struct call *call)
{
	struct json *limits = json_object();

	json_set_int(limits, "rows", call->limits.rows);
	json_set_int(limits, "bytes", call->limits.bytes);
	json_set_int(limits, "scan_bytes", call->limits.scan_bytes);
	json_set_int(limits, "time_ms", call->limits.time_ms);
	return limits;
}

static int ask_execute(struct call *call, struct err *err)
{
	struct json *params = json_object();
	struct json *allow = json_object();

	json_set(allow, "tables", fact_names_json(&call->tables));
	json_set(allow, "columns", fact_names_json(&call->columns));
	json_set(allow, "functions", fact_names_json(&call->functions));
	json_set_str(params, "statement", call->statement);
	json_set_str(params, "mode", call->tool->explain ? "explain" : "run");
	json_set(params, "allow", allow);
	json_set(params, "limits", limits_json(call));
	mem_free(TAKE(call->statement)); /* executing uses it up */
	return ask(call, "execute", params, call->limits.time_ms, on_executed, err);
}

static int ask_tool(struct call *call, struct err *err)
{
	const struct token_claims *claims;
	struct json *params;

	if (grant_check(call->agent, &claims, err) < 0)
		return -1;
	params = json_object();
	json_set_str(params, "grant", call_pool_key(call->agent, claims));
	json_set_str(params, "tool", call->tool->name);
	json_set(params, "arguments", json_copy(call->arguments));
	json_set(params, "view", call_connector_view(call));
	json_set(params, "limits", limits_json(call));
	return ask(call, "tool", params, call->limits.time_ms, on_executed, err);
}

/* list_metrics: the model of the source, less what the view hides. */
static void answer_here(struct call *call)
{
	const struct json *model = json_get(call->broker->config->models, call->database);
	const struct json *view = call_own_view(call, call->database);

	call->result = json_object();
	json_set_bool(call->result, "ok", true);
	json_set(call->result, "model",
		 model == NULL ? json_object() : view_filter_model(view, model));
	call_go(call, CALL_EXECUTING);
	call_record_outcome(call);
	call_go(call, CALL_RECORDED);
}

void call_dispatch(struct call *call)
{
	struct err err;
	int failed;

	if (call->by != NULL) { /* refused, and the intent record says why */
		call_drop_statement(call);
		call_record_outcome(call);
		call_go(call, CALL_RECORDED);
		return;
	}
	if (call->tool->way == TOOL_BROKER) {
		answer_here(call);
		return;
	}
	call_go(call, CALL_EXECUTING);
	failed = call->tool->way == TOOL_STATEMENT ? ask_execute(call, &err) : ask_tool(call, &err);
	if (failed == 0)
		return;
	call_take_result(call, NULL, &err);
	call_record_outcome(call);
	call_go(call, CALL_RECORDED);
}
