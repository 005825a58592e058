/*
 * Sessions as the broker hands them over. For each accepted person two messages come on the lane:
 * the session's channel to the broker, then the person's own connection. A malformed or lost
 * connection ends its session and nothing else.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "orchestrator/agent_wait.h"
#include "orchestrator/orchestrator.h"
#include "orchestrator/call.h"
#include "orchestrator/task.h"

/* A question and a few options; no person's program needs more. */
#define CLIENT_LINE_MAX (1u << 20)

struct session *session_find(const struct orchestrator *orchestrator, const char *id)
{
	struct session *session = orchestrator->sessions;

	while (session != NULL && (id == NULL || strcmp(session->id, id) != 0))
		session = session->next;
	return session;
}

static void session_unlink(struct session *session)
{
	struct session **link = &session->orchestrator->sessions;

	while (*link != session)
		link = &(*link)->next;
	*link = session->next;
}

void session_end(struct session *session, const char *why)
{
	log_debug("session %s of %s ends: %s", session->id, session->user, why);
	session_unlink(session);
	tasks_session_ended(session);
	calls_session_ended(session);
	agent_wait_session_ended(session);
	channel_close(session->client);
	channel_close(session->broker);
	mem_free(session->user);
	mem_free(session);
}

static void on_broker_request(struct channel *channel, void *owner, int64_t id, const char *method,
			      const struct json *params)
{
	struct err refused = {0};

	(void)owner;
	(void)params;
	err_set(&refused, ERR_INVALID, "the orchestrator answers no %s on a session", method);
	if (id > 0)
		channel_fail(channel, id, &refused, NULL);
}

static void on_broker_close(struct channel *channel, void *owner, const struct err *why)
{
	struct session *session = owner;

	(void)channel;
	session->broker = NULL;
	session_end(session, why->kind == ERR_NONE ? "closed by the broker" : why->text);
}

static const struct channel_handlers broker_handlers = {
	.on_request = on_broker_request,
	.on_close = on_broker_close,
};

static void session_arrived(struct orchestrator *orchestrator, const struct json *message, int fd)
{
	const char *id = json_get_str(message, "session");
	const char *user = json_get_str(message, "user");
	struct session *session;

	if (fd < 0 || id == NULL || user == NULL || strlen(id) >= SESSION_ID_MAX ||
	    session_find(orchestrator, id) != NULL) {
		log_error("the broker sent an unusable session");
		if (fd >= 0)
			close(fd);
		return;
	}
	session = mem_alloc(sizeof(*session));
	session->orchestrator = orchestrator;
	snprintf(session->id, sizeof(session->id), "%s", id);
	session->user = mem_str(user);
	session->owner = json_get_bool(message, "owner", false);
	session->next = orchestrator->sessions;
	orchestrator->sessions = session;
	session->broker =
		channel_open(orchestrator->loop, fd, session->id, &broker_handlers, session);
}

static void client_arrived(struct orchestrator *orchestrator, const struct json *message, int fd)
{
	struct session *session = session_find(orchestrator, json_get_str(message, "session"));

	if (fd < 0 || session == NULL || session->client != NULL) {
		if (fd >= 0)
			close(fd); /* its session has already ended */
		return;
	}
	session->client =
		channel_open(orchestrator->loop, fd, session->user, &client_handlers, session);
	channel_set_line_max(session->client, CLIENT_LINE_MAX);
}

static void agent_arrived(struct orchestrator *orchestrator, const struct json *message, int fd)
{
	struct session *session = session_find(orchestrator, json_get_str(message, "session"));
	const char *channel = json_get_str(message, "channel");

	if (fd >= 0 && session != NULL && channel != NULL && strlen(channel) < CHANNEL_ID_MAX)
		agent_wait_arrived(session, channel, fd);
	else if (fd >= 0)
		close(fd); /* its session has already ended */
}

/* Whoever holds the other end waits for a byte, to see that this loop still runs. */
static void answer_probe(int fd)
{
	if (fd < 0)
		return;
	IGNORE(write(fd, "+", 1) < 0, "it is asked again");
	close(fd);
}

static void on_lane_message(struct lane *lane, void *owner, const struct json *message, int fd)
{
	struct orchestrator *orchestrator = owner;
	const char *kind = json_get_str(message, "kind");

	(void)lane;
	if (kind != NULL && strcmp(kind, "session") == 0) {
		session_arrived(orchestrator, message, fd);
	} else if (kind != NULL && strcmp(kind, "client") == 0) {
		client_arrived(orchestrator, message, fd);
	} else if (kind != NULL && strcmp(kind, "agent") == 0) {
		agent_arrived(orchestrator, message, fd);
	} else if (kind != NULL && strcmp(kind, "probe") == 0) {
		answer_probe(fd);
	} else {
		log_error("the broker sent an unknown message on the lane");
		if (fd >= 0)
			close(fd);
	}
}

/* Without the broker there is nothing left to do: end, cleanly, and be started again. */
static void on_lane_close(struct lane *lane, void *owner, const struct err *why)
{
	struct orchestrator *orchestrator = owner;

	(void)lane;
	orchestrator->lane = NULL;
	orchestrator->stopping = true;
	log_debug("the lane has ended: %s", why->text);
	while (orchestrator->sessions != NULL)
		session_end(orchestrator->sessions, "the broker is gone");
	uv_stop(orchestrator->loop);
}

void orchestrator_open_lane(struct orchestrator *orchestrator, int lane_fd)
{
	orchestrator->lane = lane_open(orchestrator->loop, lane_fd, on_lane_message, on_lane_close,
				       orchestrator);
}
