/* One agent of one task: a channel bound to one identity when it is made, and never again. */
#ifndef BROKER_AGENT_H
#define BROKER_AGENT_H

#include "broker/broker.h"

/* parent_jti NULL for a root. Makes the channel and sends its other end to the orchestrator. */
MUST_CHECK int agent_start(struct task *task, const struct agent_def *def, const char *parent_jti,
			   struct agent **ret_agent, struct err *err);
/* Its calls are cancelled and answered to nobody; frees. */
void agent_close(struct agent *agent);

/* The agent's definition in the bundle in force; NULL when it was taken out. */
const struct agent_def *agent_def_now(const struct agent *agent);
struct subject agent_subject(const struct agent *agent);

#endif
