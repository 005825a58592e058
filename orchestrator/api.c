/*
 * What a person's connection may ask. One row per method: its members, who may call it, its
 * handler. Anything else is refused. "Own" means that a user reaches their own tasks and tokens
 * alone; the broker checks again whatever it is asked on the session.
 */
#include <string.h>

#include "orchestrator/call.h"
#include "orchestrator/orchestrator.h"
#include "orchestrator/store.h"
#include "orchestrator/task.h"
#include "writ/limits.h"

#define BROKER_MS 15000

enum who { WHO_USER, WHO_OWNER };

struct method {
	const char *name;
	enum who who;
	const char *const *members; /* all that may appear in params */
	int (*handle)(struct session *session, int64_t id, const struct json *params,
		      struct err *err);
};

/* ---- ask ---- */

static int read_workflow(const struct json *params, bool *ret_fixed, struct err *err)
{
	const char *workflow = json_get_str(params, "workflow");

	*ret_fixed = workflow != NULL && strcmp(workflow, "fixed") == 0;
	if (workflow != NULL && !*ret_fixed && strcmp(workflow, "agent") != 0)
		return err_set(err, ERR_INVALID, "workflow is \"agent\" or \"fixed\", not \"%s\"",
			       workflow);
	return 0;
}

static int check_length(const char *what, const char *text, size_t max, struct err *err)
{
	if (text != NULL && strlen(text) > max)
		return err_set(err, ERR_LIMIT, "the %s is over %zu bytes", what, max);
	return 0;
}

static int handle_ask(struct session *session, int64_t id, const struct json *params,
		      struct err *err)
{
	struct task_request request = {.first_sql = json_get_str(params, "first_sql"),
				       .trace = json_get_bool(params, "trace", false)};

	if (json_want_str(params, "question", &request.question, err) < 0 ||
	    read_workflow(params, &request.fixed, err) < 0 ||
	    check_length("question", request.question, WRIT_QUESTION_BYTES_MAX, err) < 0 ||
	    check_length("first SQL", request.first_sql, WRIT_SQL_BYTES_MAX, err) < 0)
		return -1;
	if (request.question[strspn(request.question, " \t\r\n")] == '\0')
		return err_set(err, ERR_INVALID, "the question is empty");
	task_start(session, id, &request);
	return 0;
}

/* ---- tasks ---- */

static const char *whose(const struct session *session, bool all)
{
	return session->owner && all ? NULL : session->user;
}

static int handle_task_list(struct session *session, int64_t id, const struct json *params,
			    struct err *err)
{
	struct json *list, *result;

	if (store_list(session->orchestrator->store,
		       whose(session, json_get_bool(params, "all", false)), clock_now_us(), &list,
		       err) < 0)
		return -1;
	result = json_object();
	json_set(result, "tasks", list);
	channel_reply(session->client, id, result);
	return 0;
}

static int show_own(struct session *session, const struct json *params, const char **ret_task,
		    struct json **ret_shown, struct err *err)
{
	if (json_want_str(params, "task", ret_task, err) < 0)
		return -1;
	return store_show(session->orchestrator->store, *ret_task, whose(session, true),
			  clock_now_us(), ret_shown, err);
}

static int handle_task_show(struct session *session, int64_t id, const struct json *params,
			    struct err *err)
{
	const char *task;
	struct json *shown;

	if (show_own(session, params, &task, &shown, err) < 0)
		return -1;
	channel_reply(session->client, id, shown);
	return 0;
}

static int handle_task_cancel(struct session *session, int64_t id, const struct json *params,
			      struct err *err)
{
	CLEANUP(json_freep) struct json *shown = NULL;
	const char *name;
	struct task *task;

	if (show_own(session, params, &name, &shown, err) < 0)
		return -1;
	task = task_find(session->orchestrator, name);
	if (task == NULL)
		return err_set(err, ERR_INVALID, "task %s has already ended: %s", name,
			       json_get_str(json_get(shown, "task"), "status"));
	task_cancel(task);
	channel_reply(session->client, id, json_object());
	return 0;
}

static int check_open_question(const struct json *shown, const char *task, struct err *err)
{
	const char *status = json_get_str(json_get(shown, "task"), "status");

	if (status == NULL || strcmp(status, "needs_input") != 0)
		return err_set(err, ERR_INVALID, "task %s asks nothing: it is %s", task, status);
	return 0;
}

static int check_choices(const struct json *choices, struct err *err)
{
	json_each(choice, choices)
	{
		if (json_type(choice) != JSON_STRING)
			return err_set(err, ERR_INVALID, "choice \"%s\" must be a string",
				       json_key(choice));
	}
	return 0;
}

/* The answer to a question back is a new task that follows the old one. */
static int handle_task_answer(struct session *session, int64_t id, const struct json *params,
			      struct err *err)
{
	CLEANUP(json_freep) struct json *shown = NULL;
	struct task_request request = {.trace = json_get_bool(params, "trace", false)};
	CLEANUP(json_freep) struct json *choices = NULL;
	const struct json *given, *before;
	const char *task;

	if (show_own(session, params, &task, &shown, err) < 0 ||
	    check_open_question(shown, task, err) < 0 ||
	    json_want_object(params, "choices", &given, err) < 0 || check_choices(given, err) < 0)
		return -1;
	before = json_get(json_get(shown, "answer"), "choices");
	choices = before != NULL ? json_copy(before) : json_object();
	json_each(choice, given) json_set(choices, json_key(choice), json_copy(choice));
	request.question = json_get_str(json_get(shown, "task"), "question");
	request.choices = choices;
	request.follows = task;
	if (store_answered(session->orchestrator->store, task, session->user, err) < 0)
		return -1;
	task_start(session, id, &request);
	return 0;
}

/* ---- what the broker answers ---- */

struct forward {
	struct orchestrator *orchestrator;
	char session[SESSION_ID_MAX]; /* the id crosses the gap, the pointer does not */
	int64_t reply_to;
	bool status;
};

static void add_own_status(const struct orchestrator *orchestrator, struct json *status)
{
	struct json *own = json_object();
	int64_t running = 0;

	for (const struct task *task = orchestrator->tasks; task != NULL; task = task->next)
		running++;
	json_set_int(own, "tasks_running", running);
	json_set_str(own, "sandbox", orchestrator->sandbox == SANDBOX_FULL ? "full" : "reduced");
	json_set_str(own, "sandbox_profile", sandbox_profile_name());
	json_set(status, "orchestrator", own);
}

static void on_forwarded(void *data, const struct json *result, const struct err *err)
{
	struct forward *forward = data;
	struct session *session = session_find(forward->orchestrator, forward->session);

	if (session != NULL && session->client != NULL) {
		if (err != NULL) {
			channel_fail(session->client, forward->reply_to, err, NULL);
		} else {
			struct json *copy = json_copy(result);

			if (forward->status)
				add_own_status(forward->orchestrator, copy);
			channel_reply(session->client, forward->reply_to, copy);
		}
	}
	mem_free(forward);
}

static int forward(struct session *session, int64_t id, const char *method,
		   const struct json *params, struct err *err)
{
	struct forward *forward = mem_alloc(sizeof(*forward));

	forward->orchestrator = session->orchestrator;
	memcpy(forward->session, session->id, sizeof(forward->session));
	forward->reply_to = id;
	forward->status = strcmp(method, "status") == 0;
	if (channel_call(session->broker, method,
			 params != NULL ? json_copy(params) : json_object(), BROKER_MS,
			 on_forwarded, forward) > 0)
		return 0;
	mem_free(forward);
	return channel_why_not(session->broker, "the broker", err);
}

static int handle_token_list(struct session *session, int64_t id, const struct json *params,
			     struct err *err)
{
	return forward(session, id, "token.list", params, err);
}

static int handle_token_revoke(struct session *session, int64_t id, const struct json *params,
			       struct err *err)
{
	return forward(session, id, "token.revoke", params, err);
}

static int handle_status(struct session *session, int64_t id, const struct json *params,
			 struct err *err)
{
	return forward(session, id, "status", params, err);
}

/* ---- single tool calls ---- */

static int start_call(struct session *session, int64_t id, const struct json *params,
		      const char *kind, bool list, struct err *err)
{
	struct call_request request = {.kind = kind, .label = json_get_str(params, "label")};

	if (json_want_str(params, "agent", &request.agent, err) < 0)
		return -1;
	if (!list && (json_want_str(params, "tool", &request.tool, err) < 0 ||
		      json_want_object(params, "arguments", &request.arguments, err) < 0))
		return -1;
	call_start(session, id, &request);
	return 0;
}

static int handle_call(struct session *session, int64_t id, const struct json *params,
		       struct err *err)
{
	return start_call(session, id, params, "trial", false, err);
}

static int handle_mcp_open(struct session *session, int64_t id, const struct json *params,
			   struct err *err)
{
	return start_call(session, id, params, "mcp", true, err);
}

static int handle_mcp_call(struct session *session, int64_t id, const struct json *params,
			   struct err *err)
{
	return start_call(session, id, params, "mcp", false, err);
}

static int handle_mcp_cancel(struct session *session, int64_t id, const struct json *params,
			     struct err *err)
{
	const char *label;

	if (json_want_str(params, "label", &label, err) < 0)
		return -1;
	call_cancel(session, label);
	channel_reply(session->client, id, json_object());
	return 0;
}

/* ---- the table ---- */

#define MEMBERS(...) ((const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL})

static const struct method methods[] = {
	{"ask", WHO_USER, MEMBERS("question", "workflow", "first_sql", "trace"), handle_ask},
	{"task.list", WHO_USER, MEMBERS("all"), handle_task_list},
	{"task.show", WHO_USER, MEMBERS("task"), handle_task_show},
	{"task.answer", WHO_USER, MEMBERS("task", "choices", "trace"), handle_task_answer},
	{"task.cancel", WHO_USER, MEMBERS("task"), handle_task_cancel},
	{"token.list", WHO_USER, MEMBERS(), handle_token_list},
	{"token.revoke", WHO_USER, MEMBERS("token", "task", "agent", "user", "cause"),
	 handle_token_revoke},
	{"status", WHO_USER, MEMBERS(), handle_status},
	{"call", WHO_OWNER, MEMBERS("agent", "tool", "arguments"), handle_call},
	{"mcp.open", WHO_USER, MEMBERS("agent"), handle_mcp_open},
	{"mcp.call", WHO_USER, MEMBERS("agent", "tool", "arguments", "label"), handle_mcp_call},
	{"mcp.cancel", WHO_USER, MEMBERS("label"), handle_mcp_cancel},
};

static const struct method *method_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(methods); i++)
		if (strcmp(methods[i].name, name) == 0)
			return &methods[i];
	return NULL;
}

static int answer_request(struct session *session, int64_t id, const char *name,
			  const struct json *params, struct err *err)
{
	const struct method *method = method_find(name);

	if (method == NULL)
		return err_set(err, ERR_INVALID, "no method \"%s\"", name);
	if (method->who == WHO_OWNER && !session->owner)
		return err_set(err, ERR_DENIED, "%s is for the workspace's owner", name);
	if (session->broker == NULL)
		return err_set(err, ERR_UNAVAILABLE, "the broker is gone");
	if (params != NULL && json_only(params, method->members, err) < 0)
		return err_wrap(err, "%s", name);
	return method->handle(session, id, params, err);
}

static void on_request(struct channel *channel, void *owner, int64_t id, const char *name,
		       const struct json *params)
{
	struct err err = {0};

	if (id > 0 && answer_request(owner, id, name, params, &err) < 0)
		channel_fail(channel, id, &err, NULL);
}

static void on_close(struct channel *channel, void *owner, const struct err *why)
{
	struct session *session = owner;

	(void)channel;
	session->client = NULL;
	session_end(session, why->kind == ERR_NONE ? "closed by the person" : why->text);
}

const struct channel_handlers client_handlers = {.on_request = on_request, .on_close = on_close};
