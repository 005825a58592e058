/*
 * Starting an agent: the broker answers agent.start with a channel id on the session, and sends the
 * descriptor under that id and the session's on the lane. Either may come first; this brings them
 * together, within the orchestrator's agent_start_ms.
 *
 *   done is called exactly once, later: with a descriptor (taken by the callee) and the broker's
 *   answer (lent), or with fd -1 and why.
 *
 * A descriptor that nobody waits for (its starter gave up) is closed with its session, or when that
 * time is over; one of a session that has ended, at once.
 */
#ifndef ORCHESTRATOR_AGENT_WAIT_H
#define ORCHESTRATOR_AGENT_WAIT_H

#include "orchestrator/orchestrator.h"

#define AGENT_START_MS 10000 /* signing and one durable record take milliseconds */

typedef void agent_started(void *data, int fd, const struct json *answer, const struct err *err);

void agent_wait_init(struct orchestrator *orchestrator);
void agent_wait_close(struct orchestrator *orchestrator); /* after its sessions */

/* parent: the token the new agent's is delegated from, or NULL. */
void agent_start(struct session *session, const char *task, const char *agent, const char *parent,
		 agent_started *done, void *data);
/* done is called with ERR_CANCELED before this returns; nothing happens when data does not wait. */
void agent_wait_cancel(struct orchestrator *orchestrator, const void *data);
/* The lane's half; takes fd. */
void agent_wait_arrived(struct session *session, const char *channel, int fd);
/* The session has ended: everyone who waits on it is told. */
void agent_wait_session_ended(struct session *session);

#endif
