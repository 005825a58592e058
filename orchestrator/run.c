/*
 * Leading a task: get its name, open it at the broker, hand it to the query agent, hand the
 * verified result to the report agent, close it with evidence, answer. The diagram is in task.h;
 * each arrow is a callback here that stores what came and steps. What can fail: any of them, and
 * then the task is closed with that reason; only a lost session ends without closing, since the
 * broker has then closed the task by itself.
 */
#include "orchestrator/run.h"

#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "orchestrator/agent_wait.h"
#include "orchestrator/answer.h"
#include "orchestrator/queue.h"
#include "orchestrator/store.h"

#define BROKER_MS 15000 /* each of these is at most one flush and one signature */

static bool has_rows_to_report(const struct task *task)
{
	const char *status = json_get_str(task->answer, "status");

	return json_get(task->answer, "rows") != NULL &&
	       (strcmp(status, "completed") == 0 || strcmp(status, "limit_reached") == 0);
}

static void on_queried(void *data, const struct query_outcome *outcome)
{
	struct task *task = data;

	task->query = NULL;
	task->answer = answer_from_outcome(outcome);
	task->facts = answer_facts(outcome);
	task->jti = mem_str(outcome->jti);
	if (!run_stop_if_cancelled(task)) {
		if (has_rows_to_report(task))
			run_start_report(task);
		else
			run_close(task);
	}
	task_release(task);
}

static struct json *query_context(const struct task *task)
{
	struct json *context = json_object();

	json_set_str(context, "question", task->question);
	json_set_str(context, "today", json_get_str(task->orchestrator->config, "today"));
	json_set_str(context, "timezone", json_get_str(task->orchestrator->config, "timezone"));
	if (task->choices != NULL)
		json_set(context, "choices", json_copy(task->choices));
	if (task->previous != NULL)
		json_set(context, "previous", json_copy(task->previous));
	return context;
}

/* started is the broker's answer to agent.start: what this agent may use, and how much. */
static struct json *query_constraints(const struct json *started)
{
	struct json *constraints = json_object();

	if (json_get(started, "tools") != NULL)
		json_set(constraints, "tools", json_copy(json_get(started, "tools")));
	if (json_get(started, "data") != NULL)
		json_set(constraints, "data", json_copy(json_get(started, "data")));
	if (json_get(started, "limits") != NULL)
		json_set(constraints, "limits", json_copy(json_get(started, "limits")));
	json_set_bool(constraints, "read_only", true);
	return constraints;
}

static int today_for(const struct task *task, struct date *ret_today, struct err *err)
{
	const char *fixed = json_get_str(task->orchestrator->config, "today");
	const char *zone = json_get_str(task->orchestrator->config, "timezone");

	if (fixed != NULL)
		return date_read(fixed, ret_today, err);
	return date_today(zone != NULL ? zone : "UTC", clock_now_us(), ret_today, err);
}

static int hand_to_query(struct task *task, int fd, const struct json *started, struct err *err)
{
	struct handoff handoff = {
		.task = task->id,
		.to = run_agent_name(task, "query"),
		.objective = task->question,
		.expected_output =
			"Rows that answer the question, the exact SQL, the definitions used; or "
			"one question back; or why not.",
		.context = query_context(task),
		.constraints = query_constraints(started),
	};
	struct query_agent_options options = {.channel_fd = fd,
					      .handoff = &handoff,
					      .fixed = task->fixed,
					      .unverified = task->unverified,
					      .first_sql = task->first_sql,
					      .choices = task->choices,
					      .trace = run_trace,
					      .data = task,
					      .done = on_queried};
	int result = today_for(task, &options.today, err);

	if (result < 0) {
		close(fd);
	} else {
		run_record_handoff(task, &handoff);
		task->state = TASK_QUERYING;
		task_hold(task);
		result = query_agent_start(task->orchestrator->loop, &options, &task->query, err);
		if (result < 0)
			task_release(task);
	}
	handoff_clear(&handoff);
	return result;
}

static void on_query_started(void *data, int fd, const struct json *answer, const struct err *err)
{
	struct task *task = data;
	struct err failed = {0};

	if (run_stop_if_cancelled(task)) {
		if (fd >= 0)
			close(fd);
	} else if (err != NULL) {
		run_end_with(task, err->kind == ERR_DENIED ? "refused" : "failed", err->text,
			     err->kind == ERR_DENIED || err->kind == ERR_NOT_FOUND
				     ? "see writ policy show for what this agent may do"
				     : "try again; see writ status");
	} else if (hand_to_query(task, fd, answer, &failed) < 0) {
		run_end_with(task, "failed", failed.text, "see writ status");
	}
	task_release(task);
}

/* ---- the start ---- */

/* The broker knows nothing of it yet. */
static void end_unopened(struct task *task, const char *status, const char *reason,
			 const char *hint)
{
	task->answer = answer_from_failure(status, reason, hint);
	json_set(task->answer, "audit", json_object());
	run_finish(task);
}

static bool end_if_cancelled(struct task *task)
{
	if (task->session != NULL && !task->cancel_wanted)
		return false;
	end_unopened(task, "cancelled",
		     task->session == NULL ? "the session that asked has ended"
					   : "cancelled on request",
		     "ask again");
	return true;
}

/* It is open at the broker: now it runs here too, and has answered what it answers. */
static int mark_running(struct task *task, struct err *err)
{
	struct store *store = task->orchestrator->store;

	if (store_start(store, task->id, err) < 0)
		return -1;
	return task->follows == NULL ? 0 : store_answered(store, task->follows, task->id, err);
}

static void start_query(struct task *task)
{
	struct err err = {0};

	if (run_stop_if_cancelled(task))
		return;
	if (mark_running(task, &err) < 0) {
		run_end_with(task, "failed", err.text, "see writ task list");
		return;
	}
	task->state = TASK_STARTING_QUERY;
	task_hold(task);
	agent_start(task->session, task->id, run_agent_name(task, "query"), NULL, on_query_started,
		    task);
}

static void open_failed(struct task *task, const struct err *err)
{
	if (end_if_cancelled(task))
		return;
	if (err->kind == ERR_DENIED) /* with the lines to add */
		end_unopened(task, "refused", err->text, "what is missing stands in the reason");
	else if (err->kind != ERR_LIMIT)
		end_unopened(task, "failed", err->text, "try again; see writ status");
	else if (!queue_add(task))
		end_unopened(task, "limit_reached", err->text, "try again later");
}

static void on_opened(void *data, const struct json *result, const struct err *err)
{
	struct task *task = data;

	(void)result;
	if (err == NULL)
		start_query(task);
	else
		open_failed(task, err);
	task_release(task);
}

void run_open(struct task *task)
{
	struct json *params = json_object();

	task->state = TASK_OPENING;
	json_set_str(params, "kind", "ask");
	json_set_str(params, "question", task->question);
	json_set_str(params, "workflow", task->fixed ? "fixed" : "agent");
	json_set_str(params, "task", task->id);
	if (task->first_sql != NULL)
		json_set_bool(params, "seeded", true);
	if (task->approval != NULL)
		json_set_str(params, "approval", task->approval);
	task_hold(task);
	if (channel_call(task->session->broker, "task.open", params, BROKER_MS, on_opened, task) ==
	    0) {
		struct err why = {0};

		channel_why_not(task->session->broker, "the broker", &why);
		on_opened(task, NULL, &why);
	}
}

void run_end_queued(struct task *task)
{
	end_if_cancelled(task);
}

static int keep_named(struct task *task, const char *id, struct err *err)
{
	if (id == NULL)
		return err_set(err, ERR_INTERNAL, "the broker named no task");
	task->id = mem_str(id);
	if (store_add(task->orchestrator->store, id, task->session->user, task->question,
		      clock_now_us(), err) < 0)
		return -1;
	task->stored = true;
	return 0;
}

static void on_named(void *data, const struct json *result, const struct err *err)
{
	struct task *task = data;
	struct err failed = {0};

	if (err != NULL) {
		if (!end_if_cancelled(task))
			end_unopened(task, "failed", err->text, "try again; see writ status");
	} else if (keep_named(task, json_get_str(result, "task"), &failed) < 0) {
		end_unopened(task, "failed", failed.text, "see the disk of the task store");
	} else if (!end_if_cancelled(task)) {
		run_open(task);
	}
	task_release(task);
}

void task_start(struct session *session, int64_t reply_to, const struct task_request *request)
{
	struct task *task = task_new(session, reply_to, request);
	struct err gone = {0};

	task_hold(task);
	if (channel_call(session->broker, "task.reserve", json_object(), BROKER_MS, on_named,
			 task) == 0) {
		channel_why_not(session->broker, "the broker", &gone);
		on_named(task, NULL, &gone);
	}
}
