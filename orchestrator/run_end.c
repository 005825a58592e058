/*
 * How a task ends, and what it tells on the way: traces for the person, reported events for the
 * log, the closing evidence. An answer leaves only after the broker has recorded it.
 */
#include "orchestrator/run.h"

#include <string.h>

#include "base/log.h"
#include "orchestrator/answer.h"
#include "orchestrator/cost.h"
#include "orchestrator/store.h"

#define BROKER_MS 15000 /* each of these is at most one flush and one signature */

const char *run_agent_name(const struct task *task, const char *role)
{
	return json_get_str(json_get(task->orchestrator->config, "agents"), role);
}

void run_trace(void *data, const char *event, const char *text, const struct json *detail)
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

void run_tell(struct task *task, struct json *params)
{
	struct err why = {0};

	if (channel_call(task->session->broker, "task.event", params, BROKER_MS, on_event_recorded,
			 NULL) > 0)
		return;
	channel_why_not(task->session->broker, "the broker", &why);
	log_error("task %s: an event was not recorded: %s", task->id, why.text);
}

void run_record_handoff(struct task *task, const struct handoff *handoff)
{
	struct json *contents = handoff_to_json(handoff);
	struct json *params = json_object();
	char *line = mem_format("to %s: %s", handoff->to, handoff->objective);

	run_trace(task, "handoff", line, contents);
	mem_free(line);
	json_set_str(params, "task", task->id);
	json_set_str(params, "event", "handoff");
	json_set_str(params, "agent", handoff->to);
	json_set_str(params, "status", "given");
	json_set(params, "contents", contents);
	run_tell(task, params);
}

static void complete_answer(struct task *task)
{
	double latency_ms = (double)(clock_mono_us() - task->started_us) / 1000.0;

	if (task->id != NULL)
		json_set_str(task->answer, "task", task->id);
	if (task->follows != NULL)
		json_set_str(task->answer, "follows", task->follows);
	if (task->after != NULL)
		json_set_str(task->answer, "after", task->after);
	if (task->choices != NULL)
		json_set(task->answer, "choices", json_copy(task->choices));
	json_set_str(task->answer, "question_text", task->question);
	json_set_str(task->answer, "workflow", task->fixed ? "fixed" : "agent");
	json_set_real(task->answer, "latency_ms", latency_ms);
	json_set(task->answer, "cost",
		 cost_of(json_get(task->orchestrator->config, "prices"),
			 json_get(task->answer, "usage")));
}

static void keep_answer(struct task *task)
{
	struct err err = {0};

	if (!task->stored)
		return;
	if (store_finish(task->orchestrator->store, task->id, task->answer, clock_now_us(), &err) <
	    0)
		log_error("task %s: keep its answer: %s", task->id, err.text);
}

/* The last step of every task; it may be freed in here. */
void run_finish(struct task *task)
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
	run_finish(task);
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

void run_close(struct task *task)
{
	struct json *params = json_object();

	task->state = TASK_CLOSING;
	if (task->session == NULL) {
		json_free(params);
		json_set(task->answer, "audit", json_object());
		run_finish(task);
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
		struct err why = {0};

		channel_why_not(task->session->broker, "the broker", &why);
		on_closed(task, NULL, &why);
	}
}

void run_end_with(struct task *task, const char *status, const char *reason, const char *hint)
{
	json_free(task->answer);
	task->answer = answer_from_failure(status, reason, hint);
	run_close(task);
}

/* True if the task is to stop here; it is then already closed. */
bool run_stop_if_cancelled(struct task *task)
{
	if (!task->cancel_wanted && task->session != NULL)
		return false;
	run_end_with(task, "cancelled",
		     task->session == NULL ? "the session that asked has ended"
					   : "cancelled on request",
		     "ask again");
	return true;
}
