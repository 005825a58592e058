/* What task.c and run.c share: the memory of a task. */
#ifndef ORCHESTRATOR_RUN_H
#define ORCHESTRATOR_RUN_H

#include "orchestrator/task.h"

struct task *task_new(struct session *session, int64_t reply_to,
		      const struct task_request *request);
/* A callback that keeps the task holds it first and releases it last. */
void task_hold(struct task *task);
void task_release(struct task *task);

/* Asks the broker to open the task; called again for one that was queued. */
void run_open(struct task *task);
/* A queued task whose session has gone. */
void run_end_queued(struct task *task);

#endif
