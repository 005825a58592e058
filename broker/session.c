/*
 * A session's user comes from the kernel and the user map, and from nowhere else. What can fail:
 * the peer's credentials cannot be read (the connection is dropped), too many sessions (it is told
 * so).
 */
#include "broker/session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/crypto.h"
#include "broker/passwd.h"
#include "broker/peer.h"
#include "broker/task.h"
#include "broker/trail.h"

#define ACCEPTS_PER_TURN 64 /* so that a flood of connections cannot keep the loop to itself */

struct listener {
	uv_poll_t poll;
	struct broker *broker;
	int fd;
};

static void on_listener_closed(uv_handle_t *handle)
{
	mem_free(handle->data);
}

int listener_accept(struct listener *listener)
{
	struct broker *broker = listener->broker;
	int taken = 0;

	while (broker->phase == PHASE_OPEN && broker->orchestrator != NULL &&
	       taken < ACCEPTS_PER_TURN) {
		int fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd < 0 && (errno == EINTR || errno == ECONNABORTED))
			continue;
		if (fd < 0)
			break;
		taken++;
		session_accept(broker, fd);
	}
	return taken;
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
	(void)events;
	if (status >= 0)
		listener_accept(poll->data);
}

struct listener *listener_open(struct broker *broker, int fd)
{
	struct listener *listener = mem_alloc(sizeof(*listener));

	listener->broker = broker;
	listener->fd = fd;
	listener->poll.data = listener;
	if (uv_poll_init(broker->loop, &listener->poll, fd) < 0 ||
	    uv_poll_start(&listener->poll, UV_READABLE, on_readable) < 0) {
		close(fd);
		mem_free(listener);
		return NULL;
	}
	return listener;
}

void listener_close(struct listener *listener)
{
	if (listener == NULL)
		return;
	uv_poll_stop(&listener->poll);
	close(listener->fd);
	uv_close((uv_handle_t *)&listener->poll, on_listener_closed);
}

/* Best effort: someone who is not let in cannot make us wait. */
static void refuse(int fd, enum err_kind kind, const char *text)
{
	CLEANUP(json_freep) struct json *message = json_object();
	CLEANUP(buf_clear) struct buf line = BUF_INIT;
	struct json *error = json_object();
	struct json *data = json_object();

	json_set_str(data, "kind", err_kind_name(kind));
	json_set_int(error, "code", -32001);
	json_set_str(error, "message", text);
	json_set(error, "data", data);
	json_set_str(message, "jsonrpc", "2.0");
	json_set_null(message, "id");
	json_set(message, "error", error);
	json_write(message, &line);
	buf_add_char(&line, '\n');
	IGNORE(send(fd, line.bytes, line.len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0,
	       "the connection is closed in any case");
}

static size_t sessions_of(const struct broker *broker, const char *name)
{
	size_t count = 0;

	for (const struct session *at = broker->sessions; at != NULL; at = at->next)
		count += strcmp(at->user.name, name) == 0;
	return count;
}

static struct session *session_new(struct broker *broker, int64_t uid, struct user *user)
{
	struct session *session = mem_alloc(sizeof(*session));
	char uuid[UUID_LEN + 1];

	uuid7(uuid);
	snprintf(session->id, sizeof(session->id), "s-%s", uuid);
	session->uid = uid;
	session->user = *user;
	*user = (struct user){0};
	token_store_pseudonym(broker->store, session->user.name, session->su);
	session->peer.kind = PEER_SESSION;
	session->peer.broker = broker;
	session->peer.session = session;
	session->next = broker->sessions;
	broker->sessions = session;
	broker->session_count++;
	broker->had_session = true;
	return session;
}

/* The session channel first, so that the orchestrator knows whose connection follows. */
static void hand_over(struct session *session, int session_fd, int connection_fd)
{
	struct broker *broker = session->peer.broker;
	struct json *first = json_object();
	struct json *second = json_object();

	json_set_str(first, "kind", "session");
	json_set_str(first, "session", session->id);
	json_set_str(first, "user", session->user.name);
	json_set_bool(first, "owner", session->user.owner);
	lane_send(broker->orchestrator, first, session_fd);
	json_set_str(second, "kind", "client");
	json_set_str(second, "session", session->id);
	lane_send(broker->orchestrator, second, connection_fd);
}

static void session_open(struct broker *broker, int64_t uid, struct user *user, int connection_fd)
{
	struct session *session;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) < 0) {
		refuse(connection_fd, ERR_UNAVAILABLE, "the service has no descriptor left");
		close(connection_fd);
		user_clear(user);
		return;
	}
	session = session_new(broker, uid, user);
	peer_open(&session->peer, ends[0], session->id);
	trail_session_open(session);
	hand_over(session, ends[1], connection_fd);
}

static void refuse_unmapped(struct broker *broker, int fd, int64_t uid, const char *login)
{
	CLEANUP(buf_clear) struct buf text = BUF_INIT;

	user_map_write_refusal(uid, login, &text);
	refuse(fd, ERR_DENIED, buf_str(&text));
	trail_session_refused(broker, uid, "not_mapped");
	close(fd);
}

static bool has_room(struct broker *broker, const struct user *user, struct err *ret_why)
{
	const struct capacity *capacity = &broker->capacity;
	char su[PSEUDONYM_LEN + 1];

	if (sessions_of(broker, user->name) >= capacity->sessions_per_user) {
		err_set(ret_why, ERR_LIMIT,
			"too many sessions: this user has %zu, the most for one; close one (each "
			"running writ ask, conversation and writ mcp has one) or wait",
			capacity->sessions_per_user);
		return false;
	}
	if (broker->session_count >= capacity->sessions) {
		err_set(ret_why, ERR_LIMIT,
			"too many sessions: all %zu of this service are taken by its users; try "
			"again in a moment, or ask who runs it (writ status counts them)",
			capacity->sessions);
		return false;
	}
	token_store_pseudonym(broker->store, user->name, su);
	if (!allowance_take(&broker->allowances, su, OPENING_CONNECTION, broker->now_us())) {
		err_set(ret_why, ERR_LIMIT,
			"too many sessions: this user opened %d within a short time, and may open "
			"%d a second from now on; wait a moment, or ask more than one question in "
			"one session",
			CONNECTIONS_BURST_MAX, CONNECTIONS_PER_SECOND_MAX);
		return false;
	}
	return true;
}

void session_accept(struct broker *broker, int connection_fd)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);
	char room[LOGIN_MAX + 1];
	const char *login;
	struct user user;
	struct err err;

	if (getsockopt(connection_fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0) {
		close(connection_fd);
		return;
	}
	login = passwd_login(broker->options.passwd_fd, peer.uid, room);
	if (user_map_find(broker->config->users, peer.uid, login, &user, &err) < 0) {
		refuse_unmapped(broker, connection_fd, peer.uid, login);
		return;
	}
	if (!has_room(broker, &user, &err)) {
		refuse(connection_fd, err.kind, err.text);
		trail_session_refused(broker, peer.uid, "too_many_sessions");
		close(connection_fd);
		user_clear(&user);
		return;
	}
	session_open(broker, peer.uid, &user, connection_fd);
}

void session_close(struct session *session, const char *cause)
{
	struct broker *broker = session->peer.broker;
	struct session **link = &broker->sessions;

	while (session->tasks != NULL)
		task_abandon(session->tasks, cause);
	while (*link != session)
		link = &(*link)->next;
	*link = session->next;
	broker->session_count--;
	peer_close(&session->peer);
	task_names_free(session);
	user_clear(&session->user);
	mem_free(session);
	service_step(broker);
}

void sessions_close_all(struct broker *broker, const char *cause)
{
	while (broker->sessions != NULL)
		session_close(broker->sessions, cause);
}

static bool map_again(struct broker *broker, struct session *session)
{
	char room[LOGIN_MAX + 1];
	const char *login = passwd_login(broker->options.passwd_fd, session->uid, room);
	struct user user;

	if (user_map_find(broker->config->users, session->uid, login, &user, NULL) < 0)
		return false;
	if (strcmp(user.name, session->user.name) != 0) {
		user_clear(&user); /* someone else now: records and tokens name the old one */
		return false;
	}
	user_clear(&session->user);
	session->user = user;
	return true;
}

void sessions_map_again(struct broker *broker)
{
	struct session *next;

	for (struct session *at = broker->sessions; at != NULL; at = next) {
		next = at->next;
		if (!map_again(broker, at))
			session_close(at, "not_mapped");
	}
}

size_t session_running_tasks(const struct broker *broker, const char *su)
{
	size_t count = 0;

	for (const struct session *at = broker->sessions; at != NULL; at = at->next) {
		if (strcmp(at->su, su) != 0)
			continue;
		for (const struct task *task = at->tasks; task != NULL; task = task->next)
			count++;
	}
	return count;
}
