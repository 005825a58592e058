/*
 * A channel: newline-delimited JSON-RPC 2.0 over one stream descriptor, on a libuv loop.
 *
 * Each line goes through base/json.h before anything looks at it. A peer that sends a line that is
 * too long, not JSON, or not JSON-RPC loses the channel, never the process (on_close says why).
 *
 *   start fails    => done is never called, nothing is held
 *   start succeeds => done is called exactly once, later, from the loop: with the result, the
 *                     peer's error, ERR_TIMEOUT, or ERR_CANCELED when the channel closes
 *   memory         => params are taken; result is lent for the time of done
 *
 * Back-pressure: at most CHANNEL_INFLIGHT_MAX requests of the peer are open at once, and none is
 * read while more than CHANNEL_QUEUE_MAX bytes wait to be written.
 */
#ifndef BASE_CHANNEL_H
#define BASE_CHANNEL_H

#include <stdint.h>
#include <uv.h>

#include "base/err.h"
#include "base/json.h"

#define CHANNEL_LINE_MAX (4u << 20)  /* a 1 MiB result in its worst escaped form */
#define CHANNEL_INFLIGHT_MAX 256u
#define CHANNEL_QUEUE_MAX (8u << 20)

struct channel;

struct channel_handlers {
	/* id > 0: answer it with channel_reply() or channel_fail(), now or later.
	 * id == 0: a notification. params is lent for the time of the call; NULL when absent. */
	void (*on_request)(struct channel *channel, void *owner, int64_t id, const char *method,
			   const struct json *params);
	/* The last call on this channel: why->kind is ERR_NONE at a clean end of stream.
	 * Pending calls of ours were already answered with ERR_CANCELED. The channel frees itself
	 * after this returns: drop every pointer to it. Not called after channel_close(). */
	void (*on_close)(struct channel *channel, void *owner, const struct err *why);
};

typedef void channel_done(void *data, const struct json *result, const struct err *err);

/* Takes fd (a stream socket or pipe, both ways) and starts reading. name is for messages, copied. */
struct channel *channel_open(uv_loop_t *loop, int fd, const char *name,
			     const struct channel_handlers *handlers, void *owner);
void channel_set_owner(struct channel *channel, void *owner);
void *channel_owner(const struct channel *channel);
/* Tighter bound for lines of a less trusted peer. */
void channel_set_line_max(struct channel *channel, size_t line_bytes_max);
/* While stopped, nothing more is read; already parsed lines were delivered. */
void channel_pause(struct channel *channel, bool paused);

/* timeout_ms 0 means no deadline of ours. Returns the call's id (> 0), or 0 if not started. */
int64_t channel_call(struct channel *channel, const char *method, struct json *params,
		     int64_t timeout_ms, channel_done *done, void *data);
/* Forgets a pending call: its done is called with ERR_CANCELED at once. The peer is not told. */
void channel_forget(struct channel *channel, int64_t call_id);
void channel_notify(struct channel *channel, const char *method, struct json *params);
void channel_reply(struct channel *channel, int64_t id, struct json *result);
/* code on the wire: err kind name in error.data.kind, text in error.message; data may be NULL. */
void channel_fail(struct channel *channel, int64_t id, const struct err *why, struct json *data);

/* Flushes what is queued, then closes. NULL is fine. No handler runs afterwards. */
void channel_close(struct channel *channel);
size_t channel_queued_bytes(const struct channel *channel);

#endif
