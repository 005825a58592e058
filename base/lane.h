/*
 * A lane passes descriptors between two of our processes: each message is one JSON object with one
 * descriptor (SCM_RIGHTS), and the next is sent only after the peer acknowledged the last, so a
 * message and its descriptor can never be mixed up.
 */
#ifndef BASE_LANE_H
#define BASE_LANE_H

#include <uv.h>

#include "base/err.h"
#include "base/json.h"

#define LANE_MESSAGE_MAX 4096u

struct lane;

/* fd is yours now; message is lent. -1 when the message carried none. */
typedef void lane_on_message(struct lane *lane, void *owner, const struct json *message, int fd);
typedef void lane_on_close(struct lane *lane, void *owner, const struct err *why);

struct lane *lane_open(uv_loop_t *loop, int fd, lane_on_message *on_message,
		       lane_on_close *on_close, void *owner);
/* Queues; takes message and fd (closed here once sent). fd -1 sends none. */
void lane_send(struct lane *lane, struct json *message, int fd);
void lane_close(struct lane *lane); /* NULL is fine; no callback afterwards */

/* The same message, blocking, from a process without a loop (the supervisor only ever sends). */
MUST_CHECK int lane_send_blocking(int lane_fd, const struct json *message, int fd,
				  struct err *err);

#endif
