/* How it is, and a pong that was asked for, is all a sink may send; anything else costs it its
 * channel. */
#include "broker/sinks.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "broker/broker.h"
#include "broker/probe.h"
#include "broker/trail.h"

static void record_change(struct sink_link *sink)
{
	struct json *fields = json_object();
	struct json *secrets = NULL;

	json_set_str(fields, REC_SINK, sink->name);
	json_set_str(fields, REC_STATUS, sink->down ? "down" : "up");
	if (sink->down) {
		secrets = json_object();
		json_set_str(secrets, CM_ERROR, sink->error);
	}
	trail_append(sink->broker, EV_SINK_FAIL, fields, secrets);
}

/* Up at its first word is no change. */
static int take_state(struct sink_link *sink, const struct json *params, struct err *err)
{
	static const char *const members[] = {"state", "next", "error", NULL};
	const char *state;
	bool down;

	if (json_only(params, members, err) < 0 ||
	    json_want_str(params, "state", &state, err) < 0 ||
	    json_want_int(params, "next", 0, JSON_INT_MAX, &sink->next, err) < 0)
		return -1;
	down = strcmp(state, "down") == 0;
	if (!down && strcmp(state, "up") != 0)
		return err_set(err, ERR_INVALID, "state: up or down");
	snprintf(sink->error, sizeof(sink->error), "%s",
		 json_get_str(params, "error") == NULL ? "" : json_get_str(params, "error"));
	if (down != sink->down) {
		sink->down = down;
		record_change(sink);
	}
	sink->known = true;
	return 0;
}

static void on_request(struct channel *channel, void *owner, int64_t id, const char *method,
		       const struct json *params)
{
	struct sink_link *sink = owner;
	struct err err = {0};

	(void)channel;
	if (id == 0 && strcmp(method, "pong") == 0 && probe_answer(&sink->probe_fd))
		return;
	if (id != 0 || strcmp(method, "sink.state") != 0)
		err_set(&err, ERR_DENIED, "it called %.64s", method);
	else if (take_state(sink, params, &err) == 0)
		return;
	log_error("sink %s lost its channel: %s", sink->name, err.text);
	channel_close(TAKE(sink->channel));
}

static void on_closed(struct channel *channel, void *owner, const struct err *why)
{
	struct sink_link *sink = owner;

	(void)channel;
	(void)why;
	sink->channel = NULL; /* it frees itself */
}

static const struct channel_handlers handlers = {on_request, on_closed};

static struct sink_link *find(const struct sinks *sinks, const char *name)
{
	for (size_t i = 0; i < sinks->count; i++)
		if (strcmp(sinks->items[i]->name, name) == 0)
			return sinks->items[i];
	return NULL;
}

int sinks_attach(struct broker *broker, const char *name, int fd, struct err *err)
{
	struct sinks *sinks = &broker->sinks;
	CLEANUP(fd_closep) int owned = fd;
	struct sink_link *sink = find(sinks, name);

	if (name[0] == '\0' || strlen(name) > SINK_NAME_MAX)
		return err_set(err, ERR_INVALID, "a sink has a name of 1 to %d bytes",
			       SINK_NAME_MAX);
	if (sink == NULL && sinks->count == SINKS_MAX)
		return err_set(err, ERR_LIMIT, "more than %d sinks", SINKS_MAX);
	if (sink == NULL) {
		sink = mem_alloc(sizeof(*sink));
		sink->broker = broker;
		sink->probe_fd = PROBE_NONE;
		snprintf(sink->name, sizeof(sink->name), "%s", name);
		sinks->items[sinks->count++] = sink;
	}
	channel_close(TAKE(sink->channel));
	owned = -1;
	sink->channel = channel_open(broker->loop, fd, sink->name, &handlers, sink);
	return 0;
}

void sinks_clear(struct sinks *sinks)
{
	while (sinks->count > 0) {
		struct sink_link *sink = sinks->items[--sinks->count];

		channel_close(TAKE(sink->channel));
		fd_closep(&sink->probe_fd);
		mem_free(sink);
	}
}

void sinks_probe(struct sinks *sinks, const char *name, int fd)
{
	struct sink_link *sink = find(sinks, name);

	if (sink == NULL || sink->channel == NULL) {
		close(fd);
		return;
	}
	probe_keep(&sink->probe_fd, fd);
	channel_notify(sink->channel, "ping", NULL);
}

struct json *sinks_status(const struct sinks *sinks)
{
	struct json *list = json_array();

	for (size_t i = 0; i < sinks->count; i++) {
		const struct sink_link *sink = sinks->items[i];
		struct json *item = json_object();

		json_set_str(item, "name", sink->name);
		json_set_str(item, "state",
			     sink->down		     ? "down"
			     : sink->channel == NULL ? "starting"
						     : "up");
		json_set_int(item, "next", sink->next);
		if (sink->down)
			json_set_str(item, "error", sink->error);
		json_push(list, item);
	}
	return list;
}
