/*
 * The calls one channel waits for: found by id, kept in the order they were made, and by deadline.
 * Used by base/channel.c alone. No I/O, no clock.
 *
 * At most CHANNEL_INFLIGHT_MAX calls of together CHANNEL_QUEUE_MAX bytes are on the wire, which is
 * what a peer without room can hold without ceasing to read; later ones wait here with their line.
 * A call that was given up (deadline, channel_forget) stays on the wire without its done until the
 * peer answers, so that its late answer is known for what it is.
 */
#ifndef BASE_CHANNEL_CALLS_H
#define BASE_CHANNEL_CALLS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/buf.h"
#include "base/channel.h"

struct channel_call {
	int64_t id;
	channel_done *done; /* NULL: given up */
	void *data;
	uint64_t deadline_ms; /* of the loop's clock; 0: none */
	struct buf line;      /* empty once it is on the wire */
	size_t bytes_on_wire; /* 0 until then */
	bool sent;
	struct channel_call *next_in_bucket;
	TAILQ_ENTRY(channel_call) in_order;
	TAILQ_ENTRY(channel_call) by_deadline;
};

TAILQ_HEAD(channel_call_list, channel_call);

struct channel_calls {
	struct channel_call **buckets; /* by id; a power of two of them */
	size_t bucket_count;
	size_t count;
	size_t on_wire;
	size_t bytes_on_wire;
	int64_t last_id;
	struct channel_call_list in_order;
	struct channel_call_list by_deadline;
	struct channel_call *first_unsent; /* the unsent ones are the tail of in_order */
};

void channel_calls_init(struct channel_calls *calls);
void channel_calls_clear(struct channel_calls *calls); /* frees; must be empty of waiting dones */

/* Adds a call with the next id and an empty line, which the caller fills. */
struct channel_call *channel_calls_add(struct channel_calls *calls, channel_done *done, void *data,
				       uint64_t deadline_ms);
struct channel_call *channel_calls_find(const struct channel_calls *calls, int64_t id);
/* The next call whose line may go out now, or NULL. */
struct channel_call *channel_calls_next_to_send(const struct channel_calls *calls);
void channel_calls_mark_sent(struct channel_calls *calls, struct channel_call *call);
/* Hands out the call's done and data; the call stays only if the peer still owes an answer. */
void channel_calls_give_up(struct channel_calls *calls, struct channel_call *call,
			   channel_done **ret_done, void **ret_data);
/* The peer answered, or the call is to vanish: unlinks and frees. */
void channel_calls_remove(struct channel_calls *calls, struct channel_call *call);
struct channel_call *channel_calls_first_deadline(const struct channel_calls *calls);

#endif
