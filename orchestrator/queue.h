/*
 * Tasks that wait because their user has as many running as one may have at once. The broker
 * counts; here they are only asked for again, in the order they came, until one of the others has
 * ended, the session has gone or QUEUE_WAIT_MS is over.
 */
#ifndef ORCHESTRATOR_QUEUE_H
#define ORCHESTRATOR_QUEUE_H

#include "orchestrator/task.h"

#define QUEUE_WAIT_MS 120000 /* a task's own time at most */

void queue_init(struct orchestrator *orchestrator);
void queue_close(struct orchestrator *orchestrator);
/* The task becomes TASK_QUEUED. False when it has waited long enough. */
bool queue_add(struct task *task);

#endif
