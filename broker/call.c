/*
 * The life of a tool call. Callbacks look the call up by its handle, store what came, and move it;
 * call_step() alone decides what happens in a state. Nothing fails upward: every failure becomes
 * the call's own answer, with its record.
 */
#include "broker/call_model.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "broker/agent.h"
#include "broker/grant.h"
#include "broker/peer.h"
#include "broker/task.h"
#include "broker/trail.h"
#include "writ/limits.h"

static void call_free(struct call *call)
{
	struct broker *broker = call->broker;

	handle_drop(&broker->calls, call->handle);
	fact_names_clear(&call->tables);
	fact_names_clear(&call->columns);
	fact_names_clear(&call->functions);
	fact_names_clear(&call->approved);
	fact_names_clear(&call->approval_ids);
	limiter_let_go(call->hold);
	json_free(call->arguments);
	json_free(call->decided_on);
	json_free(call->who);
	json_free(call->result);
	mem_free(call->tool_name);
	mem_free(call->database);
	mem_free(call->statement);
	mem_free(call->rule);
	mem_free(call->at);
	mem_free(call->error);
	mem_free(call->hint);
	mem_free(call->restrictions);
	mem_free(call);
	service_step(broker);
}

struct call *call_find(struct broker *broker, uint64_t handle)
{
	return handle_find(&broker->calls, handle);
}

struct task *call_task(const struct call *call)
{
	return handle_find(&call->broker->tasks, call->task);
}

void call_note_failure(struct call *call, const char *by, const char *code, const char *hint,
		       const char *format, ...)
{
	char text[ERR_TEXT_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	mem_free(call->error);
	mem_free(call->hint);
	call->by = by;
	call->error = mem_str(text);
	call->hint = mem_str(hint);
	if (code != call->code) /* a decision that was made keeps its code */
		snprintf(call->code, sizeof(call->code), "%s", code);
}

void call_refuse(struct call *call, const char *by, const char *code, const char *hint,
		 const char *format, ...)
{
	char text[ERR_TEXT_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	call_note_failure(call, by, code, hint, "%s", text);
	call->epoch = token_store_epoch(call->broker->store);
	call_go(call, CALL_DECIDED);
}

/* RECEIVED */
static void check_token(struct call *call)
{
	const struct token_claims *claims;
	const char *code;
	struct err err;

	if (!broker_log_works(call->broker, &err)) {
		call->log_waits = true;
		call_refuse(call, "unavailable", "log", "tell the operator", "%s", err.text);
		return;
	}
	if (grant_check(call->agent, &claims, &err) == 0) {
		json_set_str(call->who, REC_AGENT, claims->agent_id);
		json_set_str(call->who, REC_JTI, claims->jti);
		call_go(call, CALL_TOKEN);
		return;
	}
	if (err.kind == ERR_TIMEOUT)
		code = "token_expired";
	else
		code = err.kind == ERR_DENIED ? "token_denied" : "token_unknown";
	call_refuse(call, "token", code, "call token.issue", "%s", err.text);
}

/* False after refusing. Whatever an agent with a token asks, it costs a call; a token that ran out
 * is not its fault, and costs none. */
static bool take_budget(struct call *call)
{
	const struct agent *agent = call->agent;
	const struct agent_def *def = agent_def_now(agent);
	enum budget_part part;

	if (def == NULL) {
		call_refuse(call, "policy", "unknown_agent", "tell the operator",
			    "this agent is not defined any more");
		return false;
	}
	part = budget_take_call(&agent->use->use, &def->budget,
				call->tool != NULL && call->tool->attempt);
	if (part != BUDGET_FINE) {
		call_refuse(call, "budget", budget_part_code(part),
			    "answer with what is known, or give up", "%s",
			    budget_part_sentence(part));
		return false;
	}
	if (task_time_left(agent->task, agent->use, &def->budget) <= 0) {
		call_refuse(call, "budget", "budget_time", "give up",
			    "the time of this task is up");
		return false;
	}
	return true;
}

static bool check_arguments(struct call *call)
{
	struct err err;

	if (call->tool == NULL) {
		call_refuse(call, "arguments", "unknown_tool", "call tool.list",
			    "there is no tool \"%.64s\"", call->tool_name);
		return false;
	}
	if (!call_pick_database(call))
		return false;
	if (!call->arguments_fit) {
		call_refuse(call, "arguments", "arguments", "correct the arguments",
			    "\"arguments\" must be an object");
		return false;
	}
	if (tool_check_arguments(call->tool, call->arguments, &err) < 0) {
		if (err.kind == ERR_LIMIT)
			call_refuse(call, "statement", "statement_too_long",
				    "write a shorter statement", "%s", err.text);
		else
			call_refuse(call, "arguments", "arguments", "correct the arguments", "%s",
				    err.text);
		return false;
	}
	call->decided_on = tool_fill_defaults(call->tool, call->arguments);
	call->rows_asked = json_get_int(call->arguments, "rows", WRIT_ROWS_DEFAULT);
	return true;
}

/* TOKEN */
static void check_request(struct call *call)
{
	if (take_budget(call) && check_arguments(call))
		call_prepare(call);
}

struct awaited {
	struct broker *broker;
	uint64_t call;
};

static void on_durable(void *data, const struct err *err)
{
	struct awaited *awaited = data;
	struct call *call = call_find(awaited->broker, awaited->call);

	mem_free(awaited);
	if (call == NULL)
		return;
	if (err == NULL) {
		call_go(call, CALL_DURABLE);
		return;
	}
	call_note_failure(call, "unavailable", "log", "tell the operator",
			  "the audit log has stopped: %s", err->text);
	call_go(call, CALL_REPLIED);
}

/* RECORDED */
static void await_durable(struct call *call)
{
	uint64_t last = call->withheld;
	struct awaited *awaited;

	if (last == TRAIL_NONE)
		last = call->outcome;
	if (last == TRAIL_NONE)
		last = call->intent;
	if (call->log_waits) /* it may take long, and nothing is told but the refusal */
		last = call->intent = call->outcome = TRAIL_NONE;
	if (last == TRAIL_NONE) { /* there is no record to wait for, and call->by says why */
		call_go(call, CALL_REPLIED);
		return;
	}
	awaited = mem_alloc(sizeof(*awaited));
	awaited->broker = call->broker;
	awaited->call = call->handle;
	audit_when_durable(call->broker->audit, last, on_durable, awaited);
}

/* DURABLE */
static void check_again(struct call *call)
{
	if (call->agent == NULL || call->by != NULL || call_still_allowed(call)) {
		call_go(call, CALL_REPLIED);
		return;
	}
	call_record_withheld(call);
	call_go(call, CALL_RECORDED);
}

static void unlink_call(struct call *call)
{
	struct call **link;

	if (call->agent == NULL)
		return;
	link = &call->agent->calls;
	while (*link != call)
		link = &(*link)->next;
	*link = call->next;
}

/* REPLIED */
static void finish(struct call *call)
{
	struct agent *agent = call->agent;
	bool flood = false;

	if (agent != NULL) {
		call_reply(call);
		unlink_call(call);
		if (call->by != NULL && call->outcome == TRAIL_NONE)
			flood = ++agent->refusals >= AGENT_REFUSALS_MAX;
	}
	call_free(call);
	if (flood) { /* it goes on calling with nothing left: no honest agent does */
		trail_channel_refused(&agent->peer, "too_many_refusals");
		agent_close(agent);
	}
}

static void call_step(struct call *call)
{
	switch (call->state) {
	case CALL_RECEIVED:
		check_token(call);
		return;
	case CALL_TOKEN:
		check_request(call);
		return;
	case CALL_PREPARED:
		call_decide(call);
		return;
	case CALL_DECIDED:
		call_record_intent(call);
		call_go(call, CALL_INTENT);
		return;
	case CALL_INTENT:
		call_dispatch(call);
		return;
	case CALL_EXECUTING:
		return; /* resumed by the connector's answer */
	case CALL_RECORDED:
		await_durable(call);
		return;
	case CALL_DURABLE:
		check_again(call);
		return;
	case CALL_REPLIED:
	case CALL_STATE_COUNT:
		finish(call);
		return;
	}
}

void call_go(struct call *call, enum call_state state)
{
	if (!call_state_may_follow(call->state, state)) {
		log_error("call c-%llu: %s may not become %s", (unsigned long long)call->handle,
			  call_state_name(call->state), call_state_name(state));
		abort(); /* our own mistake, and every rule of the records hangs on these moves */
	}
	log_debug("call c-%llu: %s -> %s", (unsigned long long)call->handle,
		  call_state_name(call->state), call_state_name(state));
	call->state = state;
	call_step(call);
}

static struct json *identity(const struct agent *agent, const struct tool *tool)
{
	const struct session *session = agent->peer.session;
	struct json *who = json_object();

	json_set_str(who, REC_CLIENT, agent->name);
	json_set_str(who, REC_SUBJECT, session->su);
	json_set_str(who, REC_SESSION, session->id);
	json_set_str(who, REC_TASK, agent->task->id);
	if (session->user.tenant != NULL)
		json_set_str(who, REC_TENANT, session->user.tenant);
	if (tool != NULL)
		json_set_str(who, REC_TOOL, tool->name);
	return who;
}

static struct call *call_new(struct agent *agent, int64_t id, const char *tool,
			     const struct json *arguments)
{
	struct call *call = mem_alloc(sizeof(*call));

	call->broker = agent->peer.broker;
	call->handle = handle_add(&call->broker->calls, call);
	call->agent = agent;
	call->task = agent->task->handle;
	call->id = id;
	call->state = CALL_RECEIVED;
	call->trial = agent->task->trial;
	call->tool = tool_find(tool);
	call->tool_name = mem_str(tool);
	call->arguments_fit = arguments == NULL || json_type(arguments) == JSON_OBJECT;
	call->arguments =
		json_type(arguments) == JSON_OBJECT ? json_copy(arguments) : json_object();
	call->who = identity(agent, call->tool);
	call->effect = EFFECT_DENY;
	call->intent = call->outcome = call->withheld = TRAIL_NONE;
	call->next = agent->calls;
	agent->calls = call;
	return call;
}

void call_start(struct agent *agent, int64_t id, const char *tool, const struct json *arguments)
{
	call_step(call_new(agent, id, tool, arguments));
}

static void cancel(struct call *call, enum call_cancel why)
{
	if (call->cancel != CANCEL_NONE && why != CANCEL_GONE)
		return;
	if (call->cancel == CANCEL_NONE)
		call_tell_cancel(call);
	call->cancel = why;
}

void calls_cancel(struct agent *agent, enum call_cancel why)
{
	for (struct call *call = agent->calls; call != NULL; call = call->next)
		cancel(call, why);
}

void call_cancel_request(struct agent *agent, int64_t id)
{
	for (struct call *call = agent->calls; call != NULL; call = call->next) {
		if (call->id == id)
			cancel(call, CANCEL_ASKED);
	}
}

void calls_orphan(struct agent *agent)
{
	while (agent->calls != NULL) {
		struct call *call = agent->calls;

		agent->calls = call->next;
		cancel(call, CANCEL_GONE);
		call->agent = NULL;
	}
}
