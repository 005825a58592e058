/*
 * A channel: newline-delimited JSON-RPC 2.0 (base/rpc.h) over one stream descriptor, on a libuv
 * loop. The program ignores SIGPIPE.
 *
 * Each line goes through base/json.h before anything looks at it. A peer that sends a line that is
 * too long, not JSON, or not JSON-RPC loses the channel, never the process (on_close says why; the
 * peer is told in an error without an id).
 *
 *   start fails    => done is never called, nothing is held
 *   start succeeds => done is called exactly once, later: with the result, the peer's error,
 *                     ERR_TIMEOUT, or ERR_CANCELED when the channel ends
 *   memory         => params are taken, also when the start fails; result is lent for the time of
 *                     done
 *
 * Back-pressure: a channel has at most CHANNEL_INFLIGHT_MAX calls of together CHANNEL_QUEUE_MAX
 * bytes on the wire; later ones wait for an answer to come. At most so many requests of the peer
 * are open at once, and none is delivered while more than CHANNEL_QUEUE_MAX bytes wait to be
 * written: such requests are held here, in order, and once these are too many as well nothing more
 * is read. Answers are never held, so two peers that are both busy cannot wait for each other.
 *
 * Handlers and dones may call anything here, channel_close() included.
 */
#ifndef BASE_CHANNEL_H
#define BASE_CHANNEL_H

#include <stdint.h>
#include <uv.h>

#include "base/err.h"
#include "base/json.h"

#define CHANNEL_LINE_MAX (4u << 20) /* a 1 MiB result in its worst escaped form */
#define CHANNEL_INFLIGHT_MAX 256u
#define CHANNEL_QUEUE_MAX (8u << 20)

struct channel;

struct channel_handlers {
	/* id > 0: answer it exactly once with channel_reply() or channel_fail(), now or later.
	 * id == 0: a notification. params is lent for the time of the call; NULL when absent.
	 * Without this handler every request is answered with ERR_NOT_FOUND. */
	void (*on_request)(struct channel *channel, void *owner, int64_t id, const char *method,
			   const struct json *params);
	/* The last call on this channel: why->kind is ERR_NONE at a clean end of stream.
	 * Pending calls of ours were already answered with ERR_CANCELED. The channel frees itself
	 * after this returns: drop every pointer to it. Not called after channel_close(). */
	void (*on_close)(struct channel *channel, void *owner, const struct err *why);
};

/* err is NULL with a result. With an error of the peer, result is its error.data, or NULL. */
typedef void channel_done(void *data, const struct json *result, const struct err *err);

/* Takes fd (a stream socket or pipe, both ways) and starts reading. name is for messages, copied.
 * Never NULL: if fd is no stream, on_close says so, from the loop. handlers are borrowed. */
struct channel *channel_open(uv_loop_t *loop, int fd, const char *name,
			     const struct channel_handlers *handlers, void *owner);
void channel_set_owner(struct channel *channel, void *owner);
void *channel_owner(const struct channel *channel);
/* Tighter bound for lines of a less trusted peer. */
void channel_set_line_max(struct channel *channel, size_t line_bytes_max);
/* While stopped, nothing more is read; already parsed lines were delivered. */
void channel_pause(struct channel *channel, bool paused);

/* timeout_ms 0 means no deadline of ours. Returns the call's id (> 0), or 0 if not started: the
 * channel has ended, or the line would be over CHANNEL_LINE_MAX. */
int64_t channel_call(struct channel *channel, const char *method, struct json *params,
		     int64_t timeout_ms, channel_done *done, void *data);
/* Why channel_call() has just returned 0, for a person: the peer (as messages call it) is gone, or
 * ERR_LIMIT: the message was too long. channel may be NULL: gone. Returns -1. */
int channel_why_not(const struct channel *channel, const char *peer, struct err *err);
/* Forgets a pending call: its done is called with ERR_CANCELED at once. The peer is not told. */
void channel_forget(struct channel *channel, int64_t call_id);
void channel_notify(struct channel *channel, const char *method, struct json *params);
/* result is taken; a line over CHANNEL_LINE_MAX becomes an ERR_LIMIT for the peer. After the end of
 * the channel an answer is dropped. */
void channel_reply(struct channel *channel, int64_t id, struct json *result);
/* why's kind goes into error.data.kind, its text into error.message. data is taken: NULL, or an
 * object whose members stand beside kind. */
void channel_fail(struct channel *channel, int64_t id, const struct err *why, struct json *data);

/* Flushes what is queued (for at most 2 s), then closes. Pending calls get ERR_CANCELED before this
 * returns; no handler and no done runs afterwards. NULL is fine, a second time in a handler too. */
void channel_close(struct channel *channel);
size_t channel_queued_bytes(const struct channel *channel);

#endif
