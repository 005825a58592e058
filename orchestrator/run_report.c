/* The report agent's part of a task: the verified result is handed over, words come back. */
#include <string.h>
#include <unistd.h>

#include "agents/report/agent.h"
#include "orchestrator/agent_wait.h"
#include "orchestrator/answer.h"
#include "orchestrator/run.h"

static void add_report_event(struct task *task, const char *status, const char *why)
{
	struct json *params = json_object();
	struct json *contents = json_object();

	json_set_str(contents, "text", json_get_str(task->answer, "answer"));
	if (why != NULL)
		json_set_str(contents, "why", why);
	json_set_str(params, "task", task->id);
	json_set_str(params, "event", "report.check");
	json_set_str(params, "agent", run_agent_name(task, "report"));
	json_set_str(params, "status", status);
	json_set(params, "contents", contents);
	run_tell(task, params);
}

static void on_reported(void *data, const char *text, const char *why_replaced,
			const struct err *err)
{
	struct task *task = data;

	task->report = NULL;
	if (!run_stop_if_cancelled(task)) {
		if (err != NULL) {
			run_end_with(task, "failed", err->text,
				     "ask again; see writ status if it persists");
		} else {
			json_set_str(task->answer, "answer", text);
			run_trace(task, "check",
				  why_replaced == NULL
					  ? "every number of the report is backed by the result"
					  : why_replaced,
				  NULL);
			add_report_event(task, why_replaced == NULL ? "ok" : "replaced",
					 why_replaced);
			run_close(task);
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

static void hand_to_report(struct task *task, int fd)
{
	struct handoff handoff = {
		.task = task->id,
		.to = run_agent_name(task, "report"),
		.objective = "Say in words what the verified result answers.",
		.expected_output =
			"Text in which each number stands with its row label, metric, unit and "
			"period; no claim beyond the result.",
		.context = report_context(task),
		.constraints = report_constraints(),
	};
	struct report_agent_options options = {.channel_fd = fd,
					       .handoff = &handoff,
					       .trace = run_trace,
					       .data = task,
					       .done = on_reported};
	struct err err = {0};

	run_record_handoff(task, &handoff);
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
	if (run_stop_if_cancelled(task)) {
		if (fd >= 0)
			close(fd);
	} else if (err != NULL) {
		run_end_with(task, "failed", err->text,
			     "check that the query agent may hand over to the "
			     "report agent (hands_to in the scope file)");
	} else {
		hand_to_report(task, fd);
	}
	task_release(task);
}

void run_start_report(struct task *task)
{
	task->state = TASK_STARTING_REPORT;
	task_hold(task);
	agent_start(task->session, task->id, run_agent_name(task, "report"), task->jti,
		    on_report_started, task);
}
