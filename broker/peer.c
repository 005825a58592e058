/*
 * A peer may be gone when its answer is ready: the handle then finds nothing and the answer is
 * dropped. Its records stay.
 */
#include "broker/peer.h"

#include <stdarg.h>
#include <stdio.h>

#include "broker/agent.h"
#include "broker/dispatch.h"
#include "broker/session.h"
#include "broker/trail.h"

#define PEER_LINE_MAX (2u << 20) /* an answer with its result is the largest thing sent to us */

static void on_request(struct channel *channel, void *owner, int64_t id, const char *method,
		       const struct json *params)
{
	(void)channel;
	dispatch(owner, id, method, params);
}

static void on_closed(struct channel *channel, void *owner, const struct err *why)
{
	struct peer *peer = owner;

	(void)channel;
	peer->channel = NULL; /* it frees itself */
	if (why->kind != ERR_NONE && why->kind != ERR_IO)
		trail_channel_refused(peer, err_kind_name(why->kind));
	if (peer->kind == PEER_AGENT)
		agent_close(peer->agent);
	else
		session_close(peer->session, "disconnected");
}

static const struct channel_handlers handlers = {on_request, on_closed};

void peer_open(struct peer *peer, int fd, const char *name)
{
	peer->handle = handle_add(&peer->broker->peers, peer);
	peer->channel = channel_open(peer->broker->loop, fd, name, &handlers, peer);
	channel_set_line_max(peer->channel, PEER_LINE_MAX);
}

void peer_close(struct peer *peer)
{
	handle_drop(&peer->broker->peers, peer->handle);
	channel_close(TAKE(peer->channel));
}

struct peer *peer_find(const struct broker *broker, uint64_t handle)
{
	return handle_find(&broker->peers, handle);
}

void peer_fail(struct peer *peer, int64_t id, enum err_kind kind, const char *format, ...)
{
	struct err err;
	char text[ERR_TEXT_MAX];
	va_list args;

	if (id <= 0 || peer->channel == NULL)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	err_set(&err, kind, "%s", text);
	channel_fail(peer->channel, id, &err, NULL);
}

struct waiting_reply {
	struct broker *broker;
	uint64_t peer;
	int64_t id;
	struct json *result; /* owned */
	unsigned int flags;
};

static void on_durable(void *data, const struct err *err)
{
	struct waiting_reply *reply = data;
	struct peer *peer = peer_find(reply->broker, reply->peer);

	if (peer == NULL || peer->channel == NULL) {
		json_free(reply->result);
	} else if (err != NULL && (reply->flags & REPLY_EVEN_UNRECORDED)) {
		json_set_null(reply->result, "record");
		channel_reply(peer->channel, reply->id, reply->result);
	} else if (err != NULL) {
		json_free(reply->result);
		peer_fail(peer, reply->id, ERR_UNAVAILABLE, "the audit log has stopped: %s",
			  err->text);
	} else {
		if (reply->flags & REPLY_CHECKPOINT)
			json_set_str(reply->result, "checkpoint",
				     audit_checkpoint(reply->broker->audit));
		channel_reply(peer->channel, reply->id, reply->result);
	}
	mem_free(reply);
}

void peer_reply_when_durable(struct peer *peer, int64_t id, uint64_t seq, struct json *result,
			     unsigned int flags)
{
	struct waiting_reply *reply = mem_alloc(sizeof(*reply));

	*reply = (struct waiting_reply){peer->broker, peer->handle, id, result, flags};
	audit_when_durable(peer->broker->audit, seq, on_durable, reply);
}
