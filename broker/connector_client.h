/*
 * The broker's half of the connectors' channels (docs/protocol.md, "connector"): one per configured
 * source, by name. A dead one keeps its name until a new one is attached.
 */
#ifndef BROKER_CONNECTOR_CLIENT_H
#define BROKER_CONNECTOR_CLIENT_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/channel.h"
#include "base/err.h"
#include "base/json.h"

#define CONNECTOR_NAME_MAX 64
#define CONNECTORS_MAX 64
/* What a connector may need beyond a statement's own time: to notice, kill a worker and answer. */
#define CONNECTOR_GRACE_MS 2000

struct connector {
	char name[CONNECTOR_NAME_MAX + 1];
	char kind[CONNECTOR_NAME_MAX + 1];
	struct channel *channel; /* NULL: dead */
	int probe_fd;		 /* broker/probe.h; PROBE_NONE: nobody asked */
	struct connectors *list;
};

struct connectors {
	uv_loop_t *loop;
	void *self; /* of the handlers */
	/* It sent a request, which it may not; its channel is closed. */
	void (*on_request)(void *self, const struct connector *connector, const char *method);
	void (*on_down)(void *self, const struct connector *connector, const struct err *why);
	struct connector *items[CONNECTORS_MAX]; /* owned */
	size_t count;
};

void connectors_clear(struct connectors *connectors); /* closes the channels */
/* Takes fd. Replaces one of the same name. */
MUST_CHECK int connectors_attach(struct connectors *connectors, const char *name, const char *kind,
				 int fd, struct err *err);
struct connector *connectors_find(const struct connectors *connectors, const char *name);

/*
 * done once, later, unless this fails. A connector that died meanwhile is ERR_UNAVAILABLE;
 * ERR_TIMEOUT after timeout_ms. params are taken in any case.
 */
MUST_CHECK int connector_call(struct connector *connector, const char *method, struct json *params,
			      int64_t timeout_ms, channel_done *done, void *data, struct err *err);
/* A request whose answer nobody needs: cancel, drop. Nothing happens when it is dead. */
void connector_tell(struct connector *connector, const char *method, struct json *params);
/* Asks it for a sign of life (ping, pong: notifications, so that no call is waited for); takes fd.
 */
void connector_probe(struct connector *connector, int fd);

#endif
