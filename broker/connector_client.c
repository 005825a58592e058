/*
 * Thin on purpose: what a connector answers is judged by the call that asked
 * (broker/call_result.c). A connector that sends a request of its own loses its channel.
 */
#include "broker/connector_client.h"

#include <stdio.h>
#include <string.h>

#include "broker/probe.h"

static void close_channel(struct connector *connector, const struct err *why)
{
	struct channel *channel = TAKE(connector->channel);

	channel_close(channel);
	connector->list->on_down(connector->list->self, connector, why);
}

static void on_request(struct channel *channel, void *owner, int64_t id, const char *method,
		       const struct json *params)
{
	struct connector *connector = owner;
	struct err err;

	(void)params;
	if (id == 0 && strcmp(method, "pong") == 0 && probe_answer(&connector->probe_fd))
		return;
	err_set(&err, ERR_DENIED, "a connector may not call anything");
	if (id > 0)
		channel_fail(channel, id, &err, NULL);
	connector->list->on_request(connector->list->self, connector, method);
	close_channel(connector, &err);
}

static void on_closed(struct channel *channel, void *owner, const struct err *why)
{
	struct connector *connector = owner;

	(void)channel;
	connector->channel = NULL; /* it frees itself */
	connector->list->on_down(connector->list->self, connector, why);
}

static const struct channel_handlers handlers = {on_request, on_closed};

void connectors_clear(struct connectors *connectors)
{
	/* Closing answers pending calls, and those look connectors up: out of the list first. */
	while (connectors->count > 0) {
		struct connector *connector = connectors->items[--connectors->count];

		channel_close(TAKE(connector->channel));
		fd_closep(&connector->probe_fd);
		mem_free(connector);
	}
}

struct connector *connectors_find(const struct connectors *connectors, const char *name)
{
	for (size_t i = 0; i < connectors->count; i++) {
		if (strcmp(connectors->items[i]->name, name) == 0)
			return connectors->items[i];
	}
	return NULL;
}

static struct connector *connector_new(struct connectors *connectors, const char *name)
{
	struct connector *connector = mem_alloc(sizeof(*connector));

	snprintf(connector->name, sizeof(connector->name), "%s", name);
	connector->list = connectors;
	connector->probe_fd = PROBE_NONE;
	connectors->items[connectors->count++] = connector;
	return connector;
}

int connectors_attach(struct connectors *connectors, const char *name, const char *kind, int fd,
		      struct err *err)
{
	CLEANUP(fd_closep) int owned = fd;
	struct connector *connector = connectors_find(connectors, name);

	if (name[0] == '\0' || strlen(name) > CONNECTOR_NAME_MAX ||
	    strlen(kind) > CONNECTOR_NAME_MAX)
		return err_set(err, ERR_INVALID, "a source's name has 1 to %d bytes",
			       CONNECTOR_NAME_MAX);
	if (connector == NULL) {
		if (connectors->count == CONNECTORS_MAX)
			return err_set(err, ERR_LIMIT, "more than %d sources", CONNECTORS_MAX);
		connector = connector_new(connectors, name);
	}
	channel_close(TAKE(connector->channel));
	snprintf(connector->kind, sizeof(connector->kind), "%s", kind);
	owned = -1;
	connector->channel = channel_open(connectors->loop, fd, name, &handlers, connector);
	return 0;
}

struct asked {
	channel_done *done;
	void *data;
};

static void on_answer(void *data, const struct json *result, const struct err *err)
{
	struct asked *asked = data;
	struct err why;

	if (err != NULL && err->kind == ERR_CANCELED) {
		err_set(&why, ERR_UNAVAILABLE, "the connector ended");
		err = &why;
	}
	asked->done(asked->data, result, err);
	mem_free(asked);
}

int connector_call(struct connector *connector, const char *method, struct json *params,
		   int64_t timeout_ms, channel_done *done, void *data, struct err *err)
{
	struct asked *asked;

	if (connector->channel == NULL) {
		json_free(params);
		return err_set(err, ERR_UNAVAILABLE, "the connector is not running");
	}
	asked = mem_alloc(sizeof(*asked));
	asked->done = done;
	asked->data = data;
	if (channel_call(connector->channel, method, params, timeout_ms, on_answer, asked) == 0) {
		mem_free(asked);
		return channel_why_not(connector->channel, "the connector", err);
	}
	return 0;
}

static void on_told(void *data, const struct json *result, const struct err *err)
{
	(void)data;
	(void)result;
	(void)err;
}

void connector_tell(struct connector *connector, const char *method, struct json *params)
{
	if (connector->channel == NULL) {
		json_free(params);
		return;
	}
	if (channel_call(connector->channel, method, params, CONNECTOR_GRACE_MS, on_told, NULL) ==
	    0)
		return; /* it is ending: nothing is left to tell */
}

void connector_probe(struct connector *connector, int fd)
{
	probe_keep(&connector->probe_fd, fd);
	if (connector->channel != NULL)
		channel_notify(connector->channel, "ping", NULL);
	else
		probe_keep(&connector->probe_fd, PROBE_NONE);
}
