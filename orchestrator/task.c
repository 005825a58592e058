/* The life of a task's memory and its ending; how it is led is run.c. */
#include "orchestrator/task.h"

#include <string.h>

#include "agents/report/agent.h"
#include "orchestrator/agent_wait.h"
#include "orchestrator/run.h"

struct task *task_new(struct session *session, int64_t reply_to, const struct task_request *request)
{
	struct task *task = mem_alloc(sizeof(*task));

	task->orchestrator = session->orchestrator;
	task->session = session;
	task->reply_to = reply_to;
	task->question = mem_str(request->question);
	task->first_sql = mem_str(request->first_sql);
	task->approval = mem_str(request->approval);
	task->follows = mem_str(request->follows);
	task->after = mem_str(request->after);
	task->previous = request->previous != NULL ? json_copy(request->previous) : NULL;
	task->choices = request->choices != NULL ? json_copy(request->choices) : NULL;
	task->fixed = request->fixed;
	task->unverified = request->unverified;
	task->trace = request->trace;
	task->started_us = clock_mono_us();
	task->next = task->orchestrator->tasks;
	task->orchestrator->tasks = task;
	return task;
}

static void task_free(struct task *task)
{
	struct task **link = &task->orchestrator->tasks;

	while (*link != task)
		link = &(*link)->next;
	*link = task->next;
	mem_free(task->id);
	mem_free(task->question);
	mem_free(task->first_sql);
	mem_free(task->approval);
	mem_free(task->follows);
	mem_free(task->after);
	mem_free(task->jti);
	json_free(task->previous);
	json_free(task->choices);
	json_free(task->facts);
	json_free(task->answer);
	mem_free(task);
}

void task_hold(struct task *task)
{
	task->pending++;
}

void task_release(struct task *task)
{
	task->pending--;
	if (task->pending == 0 && task->state == TASK_DONE)
		task_free(task);
}

struct task *task_find(struct orchestrator *orchestrator, const char *id)
{
	struct task *task = orchestrator->tasks;

	while (task != NULL && (task->id == NULL || id == NULL || strcmp(task->id, id) != 0))
		task = task->next;
	return task;
}

struct task *task_that_follows(struct orchestrator *orchestrator, const char *id)
{
	struct task *task = orchestrator->tasks;

	while (task != NULL && (task->follows == NULL || strcmp(task->follows, id) != 0))
		task = task->next;
	return task;
}

bool task_can_cancel(const struct task *task)
{
	return task->state != TASK_CLOSING && task->state != TASK_DONE;
}

/* Hastens the end: whoever works on the task reports back with cancelled, and run.c closes it. */
void task_cancel(struct task *task)
{
	task_hold(task);
	task->cancel_wanted = true;
	if (task->query != NULL)
		query_agent_cancel(task->query);
	else if (task->report != NULL)
		report_agent_cancel(task->report);
	else if (task->state == TASK_QUEUED)
		run_end_queued(task);
	else
		agent_wait_cancel(task->orchestrator, task);
	task_release(task);
}

/* The broker has closed the session's tasks by itself; here they only have to stop. */
void tasks_session_ended(struct session *session)
{
	struct task *task = session->orchestrator->tasks;

	while (task != NULL) {
		struct task *next = task->next;

		if (task->session == session) {
			task->session = NULL;
			task_cancel(task);
		}
		task = next;
	}
}
