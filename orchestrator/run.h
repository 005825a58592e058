/* What task.c and run.c share: the memory of a task. */
#ifndef ORCHESTRATOR_RUN_H
#define ORCHESTRATOR_RUN_H

#include "orchestrator/task.h"

struct task *task_new(struct session *session, int64_t reply_to,
		      const struct task_request *request);
/* A callback that keeps the task holds it first and releases it last. */
void task_hold(struct task *task);
void task_release(struct task *task);

#endif
