/* What the files that lead a task share: run.c (start, query agent), run_report.c, run_end.c, and
 * task.c (its memory). */
#ifndef ORCHESTRATOR_RUN_H
#define ORCHESTRATOR_RUN_H

#include "agents/handoff.h"
#include "orchestrator/task.h"

struct task *task_new(struct session *session, int64_t reply_to,
		      const struct task_request *request);
/* A callback that keeps the task holds it first and releases it last. */
void task_hold(struct task *task);
void task_release(struct task *task);

/* ---- run_end.c ---- */

/* The name of the agent that writ.yaml gives this role (query, report). */
const char *run_agent_name(const struct task *task, const char *role);
void run_trace(void *task, const char *event, const char *text, const struct json *detail);
/* A reported event; params are taken. */
void run_tell(struct task *task, struct json *params);
void run_record_handoff(struct task *task, const struct handoff *handoff);
/* Closes at the broker with what the answer holds, then answers. */
void run_close(struct task *task);
void run_end_with(struct task *task, const char *status, const char *reason, const char *hint);
/* True if the task is to stop here; it is then already closed. */
bool run_stop_if_cancelled(struct task *task);
/* The last step of every task; it may be freed by the release that follows. */
void run_finish(struct task *task);

/* ---- run_report.c ---- */

/* The query agent's result goes to the report agent; the task is closed with its words. */
void run_start_report(struct task *task);

/* ---- run.c ---- */

/* Asks the broker to open the task, which has its name; called again for one that was queued. */
void run_open(struct task *task);
/* A queued task that was cancelled, or whose session has gone. */
void run_end_queued(struct task *task);

#endif
