/* Questions and the tasks they become. A user reaches their own, the owner everyone's. */
#include <string.h>

#include "orchestrator/api.h"
#include "orchestrator/store.h"
#include "orchestrator/task.h"
#include "writ/limits.h"

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

static const char *whose(const struct session *session, bool all)
{
	return session->owner && all ? NULL : session->user;
}

int api_task_list(struct session *session, int64_t id, const struct json *params, struct err *err)
{
	const struct store_page page = {
		.user = whose(session, json_get_bool(params, "all", false)),
		.before = json_get_str(params, "before"),
		.limit = json_get_int(params, "limit", STORE_LIST_DEFAULT),
	};
	struct json *list, *result;
	bool more;

	if (page.limit < 1 || page.limit > STORE_LIST_MAX)
		return err_set(err, ERR_INVALID, "limit is a number from 1 to %d", STORE_LIST_MAX);
	if (store_list(session->orchestrator->store, &page, clock_now_us(), &list, &more, err) < 0)
		return -1;
	result = json_object();
	if (more)
		json_set_str(result, "next",
			     json_get_str(json_at(list, json_len(list) - 1), "task"));
	json_set(result, "tasks", list);
	channel_reply(session->client, id, result);
	return 0;
}

static int show_own(struct session *session, const struct json *params, const char **ret_task,
		    struct json **ret_shown, struct err *err)
{
	*ret_task = json_get_str(params, "task");
	return store_show(session->orchestrator->store, *ret_task, whose(session, true),
			  clock_now_us(), ret_shown, err);
}

/* What a follow-up is read together with: the question and the metric query of that task. */
static int read_after(struct session *session, const char *after, struct json **ret_previous,
		      struct err *err)
{
	CLEANUP(json_freep) struct json *shown = NULL;
	const struct json *query;

	if (after == NULL)
		return 0;
	if (store_show(session->orchestrator->store, after, whose(session, true), clock_now_us(),
		       &shown, err) < 0)
		return err_wrap(err, "the question before");
	query = json_get(json_get(shown, "answer"), "query");
	if (json_type(query) != JSON_OBJECT)
		return err_set(err, ERR_INVALID,
			       "task %s has no metric query that a follow-up could change", after);
	*ret_previous = json_object();
	json_set_str(*ret_previous, "question", json_get_str(json_get(shown, "task"), "question"));
	json_set(*ret_previous, "query", json_copy(query));
	return 0;
}

int api_ask(struct session *session, int64_t id, const struct json *params, struct err *err)
{
	CLEANUP(json_freep) struct json *previous = NULL;
	struct task_request request = {.question = json_get_str(params, "question"),
				       .first_sql = json_get_str(params, "first_sql"),
				       .trace = json_get_bool(params, "trace", false)};

	if (read_workflow(params, &request.fixed, err) < 0 ||
	    check_length("question", request.question, WRIT_QUESTION_BYTES_MAX, err) < 0 ||
	    check_length("first SQL", request.first_sql, WRIT_SQL_BYTES_MAX, err) < 0)
		return -1;
	if (request.question[strspn(request.question, " \t\r\n")] == '\0')
		return err_set(err, ERR_INVALID, "the question is empty");
	if (read_after(session, json_get_str(params, "after"), &previous, err) < 0)
		return -1;
	request.unverified = json_get_bool(params, "unverified", false);
	request.after = json_get_str(params, "after");
	request.previous = previous;
	task_start(session, id, &request);
	return 0;
}

int api_task_show(struct session *session, int64_t id, const struct json *params, struct err *err)
{
	const char *task;
	struct json *shown;

	if (show_own(session, params, &task, &shown, err) < 0)
		return -1;
	channel_reply(session->client, id, shown);
	return 0;
}

int api_task_cancel(struct session *session, int64_t id, const struct json *params, struct err *err)
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
	if (!task_can_cancel(task))
		return err_set(err, ERR_INVALID,
			       "task %s has come to its end, which is being recorded", name);
	task_cancel(task);
	channel_reply(session->client, id, json_object());
	return 0;
}

/* The question is open, and nobody is answering it right now. It is used up once the task that
 * answers it is open. */
static int check_open_question(struct orchestrator *orchestrator, const struct json *shown,
			       struct err *err)
{
	const struct json *asking = json_get(shown, "task");
	const char *task = json_get_str(asking, "task");
	const char *by = json_get_str(asking, "answered_by");
	const struct task *answering = task_that_follows(orchestrator, task);

	if (strcmp(json_get_str(asking, "status"), "needs_input") != 0 &&
	    strcmp(json_get_str(asking, "status"), "needs_approval") != 0)
		return err_set(err, ERR_INVALID, "task %s asks nothing: it is %s", task,
			       json_get_str(asking, "status"));
	if (by != NULL)
		return err_set(err, ERR_INVALID, "task %s was already answered, by task %s", task,
			       by);
	if (answering != NULL)
		return err_set(err, ERR_INVALID, "task %s is being answered already", task);
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
int api_task_answer(struct session *session, int64_t id, const struct json *params, struct err *err)
{
	CLEANUP(json_freep) struct json *shown = NULL;
	struct task_request request = {.trace = json_get_bool(params, "trace", false)};
	CLEANUP(json_freep) struct json *choices = NULL;
	CLEANUP(json_freep) struct json *previous = NULL;
	const struct json *given = json_get(params, "choices");
	const struct json *before;
	const char *task;

	if (show_own(session, params, &task, &shown, err) < 0 ||
	    check_open_question(session->orchestrator, shown, err) < 0 ||
	    check_choices(given, err) < 0)
		return -1;
	before = json_get(json_get(shown, "answer"), "choices");
	choices = before != NULL ? json_copy(before) : json_object();
	json_each(choice, given) json_set(choices, json_key(choice), json_copy(choice));
	request.question = json_get_str(json_get(shown, "task"), "question");
	request.choices = choices;
	request.approval = json_get_str(json_get(shown, "answer"), "approval");
	request.follows = task;
	request.after = json_get_str(json_get(shown, "answer"), "after");
	if (read_after(session, request.after, &previous, err) < 0)
		return -1;
	request.previous = previous;
	task_start(session, id, &request);
	return 0;
}
