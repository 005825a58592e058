/* Answering the ends of channels that may call us, now or once records are durable. */
#ifndef BROKER_PEER_H
#define BROKER_PEER_H

#include "broker/broker.h"

/* Opens the channel on fd (taken) and gives the peer its handle. name is for messages. */
void peer_open(struct peer *peer, int fd, const char *name);
/* Closes the channel without any callback; the handle finds nothing from now on. */
void peer_close(struct peer *peer);
struct peer *peer_find(const struct broker *broker, uint64_t handle); /* NULL when it went */

void peer_fail(struct peer *peer, int64_t id, enum err_kind kind, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
enum reply_flags {
	REPLY_CHECKPOINT = 1,	   /* adds the newest signed head under that name */
	REPLY_EVEN_UNRECORDED = 2, /* what was done stands without its record, which becomes null */
};

/* Answers with result (taken) once all records up to seq are durable; with ERR_UNAVAILABLE when the
 * log stops before, unless the flags say otherwise. */
void peer_reply_when_durable(struct peer *peer, int64_t id, uint64_t seq, struct json *result,
			     unsigned int flags);

#endif
