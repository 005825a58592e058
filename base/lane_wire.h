/*
 * One message of a lane on the wire: a JSON object and a newline, at most LANE_MESSAGE_MAX bytes
 * together, with at most one descriptor beside the first byte. Whoever received and dealt with it
 * answers one LANE_ACK byte, which cannot be mistaken for a message ('{'). Used by base/lane*.c.
 */
#ifndef BASE_LANE_WIRE_H
#define BASE_LANE_WIRE_H

#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

#define LANE_ACK "\x06"	     /* ASCII's own acknowledge */
#define LANE_ACK_MS 10000u   /* a peer on its loop needs microseconds */
#define LANE_WIRE_AGAIN (-2) /* nothing to receive now */

/* Writes the line into the empty buf; ERR_LIMIT when it is too long. */
MUST_CHECK int lane_wire_line(const struct json *message, struct buf *out, struct err *err);
/* Bytes sent, 0 when the socket is full (the descriptor then did not leave either), -1. */
MUST_CHECK ssize_t lane_wire_send(int lane_fd, const char *bytes, size_t len, int fd,
				  struct err *err);
/* Bytes received, 0 at the end of the stream, LANE_WIRE_AGAIN, -1. *ret_fd is -1 without one; with
 * two or more all are closed and it is an error. */
MUST_CHECK ssize_t lane_wire_receive(int lane_fd, char *bytes, size_t size, int *ret_fd,
				     struct err *err);

#endif
