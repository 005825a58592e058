/*
 * The orchestrator: read this first.
 *
 *   lane from the broker --> session (broker channel + the person's connection)
 *   client request ------> api.c, a table --> run.c leads a task through its agents to its answer
 *
 * It holds tasks, the agents' loops and the channels the broker hands it; no key, no policy, no way
 * to open a connection or a source by itself. Who a session belongs to is the broker's word.
 */
#ifndef ORCHESTRATOR_ORCHESTRATOR_H
#define ORCHESTRATOR_ORCHESTRATOR_H

#include <stdbool.h>
#include <uv.h>

#include "base/channel.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/json.h"
#include "base/lane.h"
#include "base/sandbox.h"

struct store;
struct task;

#define SESSION_ID_MAX 64
#define CHANNEL_ID_MAX 64

/* One person's connection and the broker's view of it. */
struct session {
	struct session *next;
	struct orchestrator *orchestrator;
	char id[SESSION_ID_MAX];
	char *user;		/* the broker's word; for the task list and messages */
	bool owner;		/* owns the workspace */
	struct channel *broker; /* NULL once lost */
	struct channel *client; /* NULL before it arrives and once it is gone */
};

/* A started agent whose descriptor and id have not both arrived yet. */
struct agent_wait;
/* One tool call of a person. */
struct call;

struct orchestrator {
	uv_loop_t *loop;
	const struct json *config; /* service.json */
	struct store *store;
	struct lane *lane;
	struct session *sessions;
	struct task *tasks; /* live ones */
	struct call *calls; /* live ones */
	struct agent_wait *agent_waits;
	uv_timer_t agent_timer;
	int64_t agent_start_ms; /* how long an agent may take to start */
	uv_timer_t queue_timer;
	uv_timer_t retention_timer;
	enum sandbox_level sandbox;
	bool stopping;
};

/* sessions.c: what arrives on the lane. */
struct session *session_find(const struct orchestrator *orchestrator,
			     const char *id); /* NULL: has ended */
void orchestrator_open_lane(struct orchestrator *orchestrator, int lane_fd);
/* Ends the session: its tasks are cancelled, its channels closed. */
void session_end(struct session *session, const char *why);

/* api.c: the methods of a person's connection. */
extern const struct channel_handlers client_handlers;

#endif
