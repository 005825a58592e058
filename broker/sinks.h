/*
 * The broker's half of the sinks' channels (docs/protocol.md, "sink"): one per configured sink, by
 * name. A sink only tells how it is and, asked, that it is there; a change is recorded, and
 * nothing ever waits for one.
 */
#ifndef BROKER_SINKS_H
#define BROKER_SINKS_H

#include <stdint.h>

#include "base/channel.h"
#include "base/err.h"
#include "base/json.h"

#define SINKS_MAX 16
#define SINK_NAME_MAX 64

struct broker;
struct sink_link {
	struct broker *broker;
	char name[SINK_NAME_MAX + 1];
	struct channel *channel; /* NULL: not running */
	int probe_fd;		 /* broker/probe.h */
	bool known;		 /* it told how it is, in this life of the broker */
	bool down;
	int64_t next; /* the record it sends next */
	char error[256];
};

struct sinks {
	struct sink_link *items[SINKS_MAX]; /* owned */
	size_t count;
};

/* Takes fd. Replaces one of the same name. */
MUST_CHECK int sinks_attach(struct broker *broker, const char *name, int fd, struct err *err);
void sinks_clear(struct sinks *sinks); /* closes the channels */
/* Asks one for a sign of life; takes fd. */
void sinks_probe(struct sinks *sinks, const char *name, int fd);
struct json *sinks_status(const struct sinks *sinks); /* for status */

#endif
