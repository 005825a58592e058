/*
 * A lane passes descriptors between two of our processes: each message is one JSON object with at
 * most one descriptor (SCM_RIGHTS), and the next is sent only after the peer acknowledged the last,
 * so a message and its descriptor can never be mixed up. Both ends may send. A peer that breaks
 * these rules, or does not acknowledge within LANE_ACK_MS (base/lane_wire.h), loses the lane.
 */
#ifndef BASE_LANE_H
#define BASE_LANE_H

#include <uv.h>

#include "base/err.h"
#include "base/json.h"

#define LANE_MESSAGE_MAX 4096u

struct lane;

/* fd is yours now (close-on-exec); message is lent. -1 when the message carried none. The message
 * is acknowledged once this returns. */
typedef void lane_on_message(struct lane *lane, void *owner, const struct json *message, int fd);
/* The last call, from the loop; why->kind is ERR_NONE at a clean end. The lane frees itself.
 * Messages that were not acknowledged are lost, their descriptors closed. Not called after
 * lane_close(). */
typedef void lane_on_close(struct lane *lane, void *owner, const struct err *why);

/* Takes fd. Never NULL: a descriptor that cannot be watched is reported through on_close. */
struct lane *lane_open(uv_loop_t *loop, int fd, lane_on_message *on_message,
		       lane_on_close *on_close, void *owner);
/* Queues; takes message and fd (closed here once sent). fd -1 sends none. */
void lane_send(struct lane *lane, struct json *message, int fd);
/* How many of our messages the peer has not acknowledged, so not dealt with, yet. */
size_t lane_waiting(const struct lane *lane);
void lane_close(struct lane *lane); /* NULL is fine; no callback afterwards */

/* The same message, blocking until acknowledged, from a process without a loop (the supervisor only
 * ever sends). message and fd are lent. After an error the lane is out of step: close it. */
MUST_CHECK int lane_send_blocking(int lane_fd, const struct json *message, int fd, struct err *err);
/* The same for at most wait_ms. */
MUST_CHECK int lane_send_within(int lane_fd, const struct json *message, int fd, int64_t wait_ms,
				struct err *err);

#endif
