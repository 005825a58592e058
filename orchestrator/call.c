/*
 * OPEN (task.open) -> START (agent.start) -> TOKEN -> CALL or LIST -> CHECK (run_query) -> CLOSE.
 * Callbacks store and step; the call counts who holds it, like a task.
 *
 * A cancelled call has its failure from then on, whatever still comes, and skips to CLOSE: at once
 * while it starts or runs (its channel is closed, which cancels it at the broker too), and with the
 * broker's answer while it opens, since only that names the task to close.
 */
#include "orchestrator/call.h"

#include <string.h>

#include "agents/client.h"
#include "agents/query/check/sanity.h"
#include "orchestrator/agent_wait.h"

#define BROKER_MS 15000

struct call {
	struct call *next;
	struct orchestrator *orchestrator;
	struct session *session; /* NULL once it has ended */
	int64_t reply_to;
	unsigned pending;
	bool answered;
	char *kind;
	char *agent;
	char *tool; /* NULL: list */
	struct json *arguments;
	char *label;
	char *task;
	struct channel *channel; /* the agent channel */
	struct json *result;	 /* what the person gets */
	struct err failure;	 /* kind ERR_NONE: none; the first one counts */
	bool closing;		 /* too late to cancel */
	bool cancelled;
};

static void call_free(struct call *call)
{
	struct call **link = &call->orchestrator->calls;

	while (*link != call)
		link = &(*link)->next;
	*link = call->next;
	channel_close(call->channel);
	mem_free(call->kind);
	mem_free(call->agent);
	mem_free(call->tool);
	mem_free(call->label);
	mem_free(call->task);
	json_free(call->arguments);
	json_free(call->result);
	mem_free(call);
}

static void call_hold(struct call *call)
{
	call->pending++;
}

static void call_release(struct call *call)
{
	call->pending--;
	if (call->pending == 0 && call->answered)
		call_free(call);
}

static void answer(struct call *call)
{
	struct channel *client = call->session != NULL ? call->session->client : NULL;

	call->answered = true;
	if (client == NULL)
		return;
	if (call->failure.kind != ERR_NONE) {
		channel_fail(client, call->reply_to, &call->failure, NULL);
		return;
	}
	if (call->task != NULL)
		json_set_str(call->result, "task", call->task);
	channel_reply(client, call->reply_to, TAKE(call->result));
}

static void on_closed(void *data, const struct json *result, const struct err *err)
{
	struct call *call = data;

	if (err != NULL && call->failure.kind == ERR_NONE)
		call->failure = *err; /* a result without its record is not given */
	else if (json_get(result, "checkpoint") != NULL && call->result != NULL)
		json_set(call->result, "checkpoint", json_copy(json_get(result, "checkpoint")));
	answer(call);
	call_release(call);
}

static const char *closing_status(const struct call *call)
{
	if (call->cancelled)
		return "cancelled";
	return call->failure.kind == ERR_NONE && json_get_bool(call->result, "ok", true)
		       ? "completed"
		       : "failed";
}

/* Whatever happened, an opened task is closed. */
static void close_call(struct call *call)
{
	struct json *params;

	call->closing = true;
	if (call->session == NULL || call->task == NULL) {
		answer(call);
		return;
	}
	params = json_object();
	json_set_str(params, "task", call->task);
	json_set_str(params, "status", closing_status(call));
	if (call->failure.kind != ERR_NONE)
		json_set_str(params, "reason", call->failure.text);
	call_hold(call);
	if (channel_call(call->session->broker, "task.close", params, BROKER_MS, on_closed, call) ==
	    0) {
		struct err why = {0};

		channel_why_not(call->session->broker, "the broker", &why);
		on_closed(call, NULL, &why);
	}
}

static void fail(struct call *call, const struct err *why)
{
	if (call->failure.kind == ERR_NONE)
		call->failure = *why;
	close_call(call);
}

/* True if the call is to stop here; it is then already closing. */
static bool stop_if_ended(struct call *call)
{
	if (call->failure.kind == ERR_NONE && call->session != NULL)
		return false;
	fail(call, &(struct err){.kind = ERR_CANCELED, .text = "the session has ended"});
	return true;
}

static void fail_unsent(struct call *call, const struct channel *channel)
{
	struct err why = {0};

	channel_why_not(channel, "the broker", &why);
	fail(call, &why);
}

static void on_checked(void *data, struct json *flags, const struct sanity_spent *spent)
{
	struct call *call = data;

	json_set(call->result, "flags", flags);
	if (json_len(spent->verdicts) > 0)
		json_set(call->result, "verdicts", json_copy(spent->verdicts));
	close_call(call);
	call_release(call);
}

/* The words of the source that was asked; with one source nobody names it. */
static const char *dialect_of(const struct call *call)
{
	const struct json *sources =
		call->session ? json_get(call->session->orchestrator->config, "sources") : NULL;
	const char *name = json_get_str(call->arguments, "database");
	const struct json *source = name != NULL ? json_get(sources, name) : json_first(sources);

	return json_get_str(source, "kind");
}

static bool is_checked(const struct call *call)
{
	return call->tool != NULL && strcmp(call->tool, "run_query") == 0 &&
	       json_get_bool(call->result, "ok", false) && call->channel != NULL;
}

static void on_called(void *data, const struct json *result, const struct err *err)
{
	struct call *call = data;

	if (err != NULL) {
		fail(call, err);
		call_release(call);
		return;
	}
	call->result = json_copy(result);
	if (is_checked(call)) {
		struct checks_input input = {.sql = json_get_str(call->arguments, "sql"),
					     .dialect = dialect_of(call),
					     .database = json_get_str(call->arguments, "database")};

		call_hold(call);
		sanity_start(call->channel, &input, call->result, on_checked, call);
	} else {
		close_call(call);
	}
	call_release(call);
}

static void on_token(void *data, const struct json *result, const struct err *err)
{
	struct call *call = data;

	(void)result;
	if (err != NULL) {
		fail(call, err);
		call_release(call);
	} else if (client_tool_call(call->channel, call->tool, json_copy(call->arguments), 0,
				    on_called, call) == 0) {
		fail_unsent(call, call->channel);
		call_release(call);
	}
}

static void on_request(struct channel *channel, void *owner, int64_t id, const char *method,
		       const struct json *params)
{
	(void)owner;
	(void)method;
	(void)params;
	if (id > 0)
		channel_fail(channel, id,
			     &(struct err){.kind = ERR_INVALID, .text = "an agent answers nothing"},
			     NULL);
}

static void on_channel_close(struct channel *channel, void *owner, const struct err *why)
{
	struct call *call = owner;

	(void)channel;
	(void)why;
	call->channel = NULL;
}

static const struct channel_handlers agent_handlers = {
	.on_request = on_request,
	.on_close = on_channel_close,
};

static void on_started(void *data, int fd, const struct json *started, const struct err *err)
{
	struct call *call = data;

	(void)started;
	if (err != NULL) {
		fail(call, err);
		call_release(call);
		return;
	}
	call->channel = channel_open(call->session->orchestrator->loop, fd, call->agent,
				     &agent_handlers, call);
	if ((call->tool != NULL
		     ? client_token_issue(call->channel, BROKER_MS, on_token, call)
		     : client_tool_list(call->channel, BROKER_MS, on_called, call)) == 0) {
		fail_unsent(call, call->channel);
		call_release(call);
	}
}

static void on_opened(void *data, const struct json *result, const struct err *err)
{
	struct call *call = data;
	const char *task = json_get_str(result, "task");

	if (err != NULL || task == NULL) {
		fail(call, err != NULL ? err
				       : &(struct err){.kind = ERR_INTERNAL,
						       .text = "the broker opened no task"});
		call_release(call);
		return;
	}
	call->task = mem_str(task);
	if (stop_if_ended(call))
		call_release(call);
	else
		agent_start(call->session, call->task, call->agent, NULL, on_started, call);
}

void call_start(struct session *session, int64_t reply_to, const struct call_request *request)
{
	struct call *call = mem_alloc(sizeof(*call));
	struct json *params = json_object();

	call->session = session;
	call->reply_to = reply_to;
	call->kind = mem_str(request->kind);
	call->agent = mem_str(request->agent);
	call->tool = mem_str(request->tool);
	call->label = mem_str(request->label);
	call->arguments =
		request->arguments != NULL ? json_copy(request->arguments) : json_object();
	call->orchestrator = session->orchestrator;
	call->next = call->orchestrator->calls;
	call->orchestrator->calls = call;
	json_set_str(params, "kind", call->kind);
	if (request->approval != NULL)
		json_set_str(params, "approval", request->approval);
	call_hold(call);
	if (channel_call(session->broker, "task.open", params, BROKER_MS, on_opened, call) == 0) {
		struct err why = {0};

		channel_why_not(session->broker, "the broker", &why);
		on_opened(call, NULL, &why);
	}
}

/* Hastens its end; see the top of this file. It may be freed in here. */
static void stop(struct call *call, const char *why)
{
	struct channel *channel = TAKE(call->channel);

	if (call->closing) {
		channel_close(channel);
		return;
	}
	call_hold(call);
	call->cancelled = true;
	err_set(&call->failure, ERR_CANCELED, "%s", why);
	agent_wait_cancel(call->orchestrator, call);
	channel_close(channel);
	call_release(call);
}

void call_cancel(struct session *session, const char *label)
{
	for (struct call *call = session->orchestrator->calls; call != NULL; call = call->next) {
		if (call->session != session || call->label == NULL ||
		    strcmp(call->label, label) != 0)
			continue;
		stop(call, "cancelled on request");
		return;
	}
}

/* The broker closes the session's tasks by itself. */
void calls_session_ended(struct session *session)
{
	struct call *call = session->orchestrator->calls;

	while (call != NULL) {
		struct call *next = call->next;

		if (call->session == session) {
			call->session = NULL;
			stop(call, "the session has ended");
		}
		call = next;
	}
}
