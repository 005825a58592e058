/*
 * Starting an agent: the broker answers agent.start with a channel id on the session, and sends the
 * descriptor under that id on the lane. Either may come first; this brings them together.
 *
 *   done is called exactly once, later: with a descriptor (taken by the callee) and the broker's
 *   answer (lent), or with fd -1 and why.
 */
#ifndef ORCHESTRATOR_AGENT_WAIT_H
#define ORCHESTRATOR_AGENT_WAIT_H

#include "orchestrator/orchestrator.h"

typedef void agent_started(void *data, int fd, const struct json *answer, const struct err *err);

/* parent: the token the new agent's is delegated from, or NULL. */
void agent_start(struct session *session, const char *task, const char *agent, const char *parent,
		 agent_started *done, void *data);
/* The lane's half; takes fd. */
void agent_wait_arrived(struct orchestrator *orchestrator, const char *channel, int fd);
/* The session has ended: everyone who waits on it is told. */
void agent_wait_session_ended(struct session *session);
/* Nobody wants the result of this waiter any more (its task is gone). */
void agent_wait_forget(struct orchestrator *orchestrator, const void *data);

#endif
