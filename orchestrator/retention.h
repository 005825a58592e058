/*
 * How long tasks are kept: retention.tasks_s of service.json, RETENTION_TASKS_S without it. Old
 * ones are removed at the start and every hour, a bounded number at a time. The audit log is
 * another matter: it keeps digests, and what it proved it still proves.
 */
#ifndef ORCHESTRATOR_RETENTION_H
#define ORCHESTRATOR_RETENTION_H

#include "orchestrator/orchestrator.h"

#define RETENTION_TASKS_S (90 * 24 * 3600) /* a quarter: last quarter's questions can be read */

void retention_init(struct orchestrator *orchestrator); /* with its configuration and store */
void retention_close(struct orchestrator *orchestrator);

#endif
