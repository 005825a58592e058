/*
 * Leading a task: open it at the broker, hand it to the query agent, hand the verified result to
 * the report agent, close it with evidence, answer. The diagram is in task.h; each arrow is a
 * callback here that stores what came and steps. What can fail: any of them, and then the task is
 * closed with that reason; only a lost session ends without closing, since the broker has then
 * closed the task by itself.
 */
#include "orchestrator/run.h"

#include <string.h>
#include <unistd.h>

#include "agents/report/agent.h"
#include "base/log.h"
#include "orchestrator/agent_wait.h"
#include "orchestrator/answer.h"
#include "orchestrator/queue.h"
#include "orchestrator/store.h"

#define BROKER_MS 15000 /* each of these is at most one flush and one signature */

static const char *agent_for(const struct task *task, const char *role)
{
	return json_get_str(json_get(task->orchestrator->config, "agents"), role);
}

static void on_trace(void *data, const char *event, const char *text, const struct json *detail)
{
	struct task *task = data;
	struct json *params;

	if (!task->trace || task->session == NULL || task->session->client == NULL)
		return;
	params = json_object();
	json_set_str(params, "event", event);
	json_set_str(params, "text", text);
	if (detail != NULL)
		json_set(params, "detail", json_copy(detail));
	channel_notify(task->session->client, "trace", params);
}

/* A reported event is evidence beside the task: losing one is logged, and changes nothing else. */
static void on_event_recorded(void *data, const struct json *result, const struct err *err)
{
	(void)data;
	(void)result;
	if (err != NULL && err->kind != ERR_CANCELED)
		log_error("an event was not recorded: %s", err->text);
}

static void tell_event(struct task *task, struct json *params)
{
	if (channel_call(task->session->broker, "task.event", params, BROKER_MS, on_event_recorded,
			 NULL) == 0)
		log_error("task %s: an event was not recorded: the broker is gone", task->id);
}

/* ---- the end ---- */

static void complete_answer(struct task *task)
{
	double latency_ms = (double)(clock_mono_us() - task->started_us) / 1000.0;

	if (task->id != NULL)
		json_set_str(task->answer, "task", task->id);
	if (task->follows != NULL)
		json_set_str(task->answer, "follows", task->follows);
	if (task->choices != NULL)
		json_set(task->answer, "choices", json_copy(task->choices));
	json_set_str(task->answer, "question_text", task->question);
	json_set_str(task->answer, "workflow", task->fixed ? "fixed" : "agent");
	json_set_real(task->answer, "latency_ms", latency_ms);
}

static void keep_answer(struct task *task)
{
	struct err err = {0};

	if (task->id == NULL)
		return;
	if (store_finish(task->orchestrator->store, task->id, task->answer, clock_now_us(), &err) <
	    0)
		log_error("task %s: keep its answer: %s", task->id, err.text);
}

/* The last step of every task; it may be freed in here. */
static void finish(struct task *task)
{
	complete_answer(task);
	keep_answer(task);
	task->state = TASK_DONE;
	if (task->session != NULL && task->session->client != NULL)
		channel_reply(task->session->client, task->reply_to, json_copy(task->answer));
}

static void on_closed(void *data, const struct json *result, const struct err *err)
{
	struct task *task = data;
	static const char *const members[] = {"records", "checkpoint", "disclosures"};
	struct json *audit = json_object();

	if (err != NULL) {
		/* Without its record an answer is not evidence, and is not given. */
		json_free(task->answer);
		task->answer = answer_from_failure(
			task->session == NULL ? "cancelled" : "failed", err->text,
			"the answer could not be recorded and is withheld; see writ status");
	}
	for (size_t i = 0; err == NULL && i < ARRAY_LEN(members); i++)
		if (json_get(result, members[i]) != NULL)
			json_set(audit, members[i], json_copy(json_get(result, members[i])));
	json_set(task->answer, "audit", audit);
	finish(task);
	task_release(task);
}

static struct json *closing_evidence(const struct task *task)
{
	struct json *evidence = json_object();

	json_set_str(evidence, "question", task->question);
	if (json_get_str(task->answer, "sql") != NULL)
		json_set_str(evidence, "sql", json_get_str(task->answer, "sql"));
	if (json_get(task->answer, "rows") != NULL)
		json_set(evidence, "result", answer_result(task->answer));
	if (json_get_str(task->answer, "answer") != NULL)
		json_set_str(evidence, "text", json_get_str(task->answer, "answer"));
	return evidence;
}

static void close_task(struct task *task)
{
	struct json *params = json_object();

	task->state = TASK_CLOSING;
	if (task->session == NULL) {
		json_free(params);
		json_set(task->answer, "audit", json_object());
		finish(task);
		return;
	}
	json_set_str(params, "task", task->id);
	json_set_str(params, "status", json_get_str(task->answer, "status"));
	if (json_get_str(task->answer, "reason") != NULL)
		json_set_str(params, "reason", json_get_str(task->answer, "reason"));
	json_set(params, "answer", closing_evidence(task));
	task_hold(task);
	if (channel_call(task->session->broker, "task.close", params, BROKER_MS, on_closed, task) ==
	    0) {
		struct err gone = {0};

		err_set(&gone, ERR_UNAVAILABLE, "the broker is gone");
		on_closed(task, NULL, &gone);
	}
}

static void end_with(struct task *task, const char *status, const char *reason, const char *hint)
{
	json_free(task->answer);
	task->answer = answer_from_failure(status, reason, hint);
	close_task(task);
}

/* True if the task is to stop here; it is then already closed. */
static bool stop_if_cancelled(struct task *task)
{
	if (!task->cancel_wanted && task->session != NULL)
		return false;
	end_with(task, "cancelled",
		 task->session == NULL ? "the session that asked has ended"
				       : "cancelled on request",
		 "ask again");
	return true;
}

/* ---- the report agent ---- */

static void add_report_event(struct task *task, const char *status, const char *why)
{
	struct json *params = json_object();
	struct json *contents = json_object();

	json_set_str(contents, "text", json_get_str(task->answer, "answer"));
	if (why != NULL)
		json_set_str(contents, "why", why);
	json_set_str(params, "task", task->id);
	json_set_str(params, "event", "report.check");
	json_set_str(params, "agent", agent_for(task, "report"));
	json_set_str(params, "status", status);
	json_set(params, "contents", contents);
	tell_event(task, params);
}

static void on_reported(void *data, const char *text, const char *why_replaced,
			const struct err *err)
{
	struct task *task = data;

	task->report = NULL;
	if (!stop_if_cancelled(task)) {
		if (err != NULL) {
			end_with(task, "failed", err->text,
				 "ask again; see writ status if it persists");
		} else {
			json_set_str(task->answer, "answer", text);
			on_trace(task, "check",
				 why_replaced == NULL
					 ? "every number of the report is backed by the result"
					 : why_replaced,
				 NULL);
			add_report_event(task, why_replaced == NULL ? "ok" : "replaced",
					 why_replaced);
			close_task(task);
		}
	}
	task_release(task);
}

static struct json *report_context(const struct task *task)
{
	struct json *context = json_copy(task->facts);

	json_set_str(context, "question", task->question);
	return context;
}

static struct json *report_constraints(void)
{
	struct json *constraints = json_object();

	json_set(constraints, "tools", json_array());
	json_set(constraints, "data", json_new_null());
	json_set_bool(constraints, "read_only", true);
	return constraints;
}

static void record_handoff(struct task *task, const struct handoff *handoff)
{
	struct json *contents = handoff_to_json(handoff);
	struct json *params = json_object();
	char *line = mem_format("to %s: %s", handoff->to, handoff->objective);

	on_trace(task, "handoff", line, contents);
	mem_free(line);
	json_set_str(params, "task", task->id);
	json_set_str(params, "event", "handoff");
	json_set_str(params, "agent", handoff->to);
	json_set_str(params, "status", "given");
	json_set(params, "contents", contents);
	tell_event(task, params);
}

static void hand_to_report(struct task *task, int fd)
{
	struct handoff handoff = {
		.task = task->id,
		.to = agent_for(task, "report"),
		.objective = "Say in words what the verified result answers.",
		.expected_output =
			"Text in which each number stands with its row label, metric, unit and "
			"period; no claim beyond the result.",
		.context = report_context(task),
		.constraints = report_constraints(),
	};
	struct report_agent_options options = {.channel_fd = fd,
					       .handoff = &handoff,
					       .trace = on_trace,
					       .data = task,
					       .done = on_reported};
	struct err err = {0};

	record_handoff(task, &handoff);
	task->state = TASK_REPORTING;
	task_hold(task);
	if (report_agent_start(task->orchestrator->loop, &options, &task->report, &err) < 0)
		on_reported(task, NULL, NULL, &err);
	handoff_clear(&handoff);
}

static void on_report_started(void *data, int fd, const struct json *answer, const struct err *err)
{
	struct task *task = data;

	(void)answer;
	if (stop_if_cancelled(task)) {
		if (fd >= 0)
			close(fd);
	} else if (err != NULL) {
		end_with(task, "failed", err->text,
			 "check that the query agent may hand over to the "
			 "report agent (hands_to in the scope file)");
	} else {
		hand_to_report(task, fd);
	}
	task_release(task);
}

static void start_report(struct task *task)
{
	task->state = TASK_STARTING_REPORT;
	task_hold(task);
	agent_start(task->session, task->id, agent_for(task, "report"), task->jti,
		    on_report_started, task);
}

/* ---- the query agent ---- */

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
	if (!stop_if_cancelled(task)) {
		if (has_rows_to_report(task))
			start_report(task);
		else
			close_task(task);
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
		.to = agent_for(task, "query"),
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
					      .first_sql = task->first_sql,
					      .choices = task->choices,
					      .trace = on_trace,
					      .data = task,
					      .done = on_queried};
	int result = today_for(task, &options.today, err);

	if (result < 0) {
		close(fd);
	} else {
		record_handoff(task, &handoff);
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

	if (stop_if_cancelled(task)) {
		if (fd >= 0)
			close(fd);
	} else if (err != NULL) {
		end_with(task, err->kind == ERR_DENIED ? "refused" : "failed", err->text,
			 "see writ policy show for what this agent may do");
	} else if (hand_to_query(task, fd, answer, &failed) < 0) {
		end_with(task, "failed", failed.text, "see writ status");
	}
	task_release(task);
}

/* ---- the start ---- */

static void end_unopened(struct task *task, const char *status, const char *reason)
{
	task->answer = answer_from_failure(status, reason, "try again later");
	json_set(task->answer, "audit", json_object());
	finish(task);
}

static void start_query(struct task *task)
{
	struct err err = {0};

	if (task->session != NULL &&
	    store_add(task->orchestrator->store, task->id, task->session->user, task->question,
		      clock_now_us(), &err) < 0) {
		end_with(task, "failed", err.text,
			 "the task store cannot be written; see its disk");
	} else if (!stop_if_cancelled(task)) {
		task->state = TASK_STARTING_QUERY;
		task_hold(task);
		agent_start(task->session, task->id, agent_for(task, "query"), NULL,
			    on_query_started, task);
	}
}

static void on_opened(void *data, const struct json *result, const struct err *err)
{
	struct task *task = data;

	if (err != NULL && task->session == NULL) {
		end_unopened(task, "cancelled", "the session that asked has ended");
	} else if (err != NULL && err->kind == ERR_LIMIT) {
		if (!queue_add(task))
			end_unopened(task, "limit_reached", err->text);
	} else if (err != NULL || json_get_str(result, "task") == NULL) {
		end_unopened(task, "failed", err != NULL ? err->text : "the broker opened no task");
	} else {
		task->id = mem_str(json_get_str(result, "task"));
		start_query(task);
	}
	task_release(task);
}

void run_open(struct task *task)
{
	struct json *params = json_object();

	task->state = TASK_OPENING;
	json_set_str(params, "kind", "ask");
	json_set_str(params, "question", task->question);
	json_set_str(params, "workflow", task->fixed ? "fixed" : "agent");
	if (task->first_sql != NULL)
		json_set_bool(params, "seeded", true);
	task_hold(task);
	if (channel_call(task->session->broker, "task.open", params, BROKER_MS, on_opened, task) ==
	    0) {
		struct err gone = {0};

		err_set(&gone, ERR_UNAVAILABLE, "the broker is gone");
		on_opened(task, NULL, &gone);
	}
}

void run_end_queued(struct task *task)
{
	end_unopened(task, "cancelled", "the session that asked has ended");
}

void task_start(struct session *session, int64_t reply_to, const struct task_request *request)
{
	run_open(task_new(session, reply_to, request));
}

const char *task_state_name(const struct task *task)
{
	return task->state == TASK_OPENING || task->state == TASK_QUEUED ? "queued" : "running";
}
