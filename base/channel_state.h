/*
 * The inside of a channel, for base/channel*.c only: channel.c is its life (start, calls,
 * deadlines, end), channel_in.c what comes in, channel_out.c what goes out, channel_calls.c what is
 * awaited.
 */
#ifndef BASE_CHANNEL_STATE_H
#define BASE_CHANNEL_STATE_H

#include <stdbool.h>
#include <sys/queue.h>

#include "base/buf.h"
#include "base/channel.h"
#include "base/channel_calls.h"
#include "base/rpc.h"

enum channel_state { CHANNEL_OPEN, CHANNEL_FLUSHING, CHANNEL_CLOSED };

/* A line of the peer that waits for room. */
struct held_line {
	STAILQ_ENTRY(held_line) next;
	enum rpc_type type;
	size_t len;
	char bytes[];
};

struct channel {
	enum channel_state state;
	bool quiet;    /* no handler runs any more */
	bool paused;   /* by channel_pause() */
	bool unopened; /* the descriptor was no stream: there is nothing to read */
	bool reading;
	bool writing;
	bool broken; /* a write failed: broken_by says why; nothing more is written */
	int handles_open;
	uv_loop_t *loop;
	uv_pipe_t pipe;
	uv_timer_t timer;
	uv_idle_t idle;
	uv_write_t write;
	char *name;
	const struct channel_handlers *handlers;
	void *owner;
	size_t line_bytes_max;
	uint64_t lines_read;
	struct buf in;
	size_t in_scanned; /* no newline before this */
	STAILQ_HEAD(, held_line) held;
	size_t held_count;
	size_t held_bytes;
	struct buf out;
	struct buf out_writing; /* lent to libuv while writing */
	size_t out_written;	/* of it, by earlier pieces */
	struct channel_calls calls;
	int64_t requests[CHANNEL_INFLIGHT_MAX]; /* ids of the peer's open requests */
	size_t request_count;
	uint64_t timer_due_ms; /* when the timer fires; 0: not running */
	uint64_t end_due_ms;   /* FLUSHING or broken: when patience ends; 0: neither */
	struct err broken_by;
};

/* channel.c */
uint64_t channel_now_ms(struct channel *channel);
void channel_arm_timer(struct channel *channel, uint64_t due_ms);
void channel_on_idle(uv_idle_t *idle);
void channel_close_handles(struct channel *channel);
void channel_end_flush(struct channel *channel); /* closes once everything is written */
/* The one way a channel ends by itself: cancels calls, tells the owner, flushes, closes. */
void channel_end(struct channel *channel, const struct err *why);

/* channel_out.c */
void channel_wake(struct channel *channel); /* there is work before the loop waits again */
void channel_put_line(struct channel *channel, const struct buf *line); /* line is lent */
void channel_send_calls(struct channel *channel); /* as many as may be on the wire */
void channel_write_out(struct channel *channel);
/* Nothing can be written any more. What the peer sent is still read for a while: it may say why. */
void channel_break_writing(struct channel *channel, int status);
void channel_give_back(struct buf *buf); /* the room of a large buffer that is empty */

/* channel_in.c */
void channel_take_lines(struct channel *channel);
void channel_release_held(struct channel *channel); /* as far as there is room */
void channel_read_or_not(struct channel *channel);  /* reads exactly while there is room */

#endif
