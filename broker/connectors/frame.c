/*
 * Checks each request's shape, then hands it to the pool. A wrong shape is the broker's mistake and
 * an RPC error; whatever the agent or the source did wrong is a result with "ok" false.
 */
#include "broker/connectors/frame.h"

#include <string.h>

#include "base/channel.h"
#include "base/log.h"
#include "base/mem.h"
#include "broker/connectors/refusal.h"
#include "writ/limits.h"

#define TIME_MS_MAX 86400000 /* a day: above any limit a policy can set */

struct prepared {
	uint64_t number;
	char *grant;
	char *sql;
	struct json *view;
	struct prepared *next;
};

struct frame {
	struct channel *channel; /* NULL once the broker has gone */
	struct pool *pool;
	struct prepared *prepared; /* oldest first */
	size_t prepared_count;
	uint64_t numbers;
};

struct request { /* one that the pool works on */
	struct frame *frame;
	int64_t id;
	struct prepared *prepared; /* of prepare: kept if it succeeds */
};

static void prepared_free(struct prepared *prepared)
{
	if (!prepared)
		return;
	json_free(prepared->view);
	mem_free(prepared->grant);
	mem_free(prepared->sql);
	mem_free(prepared);
}

static void prepared_keep(struct frame *frame, struct prepared *prepared)
{
	struct prepared **end = &frame->prepared;

	if (frame->prepared_count == FRAME_STATEMENTS_MAX) {
		struct prepared *oldest = frame->prepared;

		frame->prepared = oldest->next;
		prepared_free(oldest);
		frame->prepared_count--;
	}
	while (*end)
		end = &(*end)->next;
	*end = prepared;
	frame->prepared_count++;
}

/* Taken out of the list; NULL when there is none of that name. */
static struct prepared *prepared_take(struct frame *frame, const char *name)
{
	for (struct prepared **place = &frame->prepared; *place; place = &(*place)->next) {
		struct prepared *prepared = *place;
		CLEANUP(mem_freep)
		char *own = mem_format("s-%llu", (unsigned long long)prepared->number);

		if (strcmp(own, name) != 0)
			continue;
		*place = prepared->next;
		frame->prepared_count--;
		return prepared;
	}
	return NULL;
}

static void on_done(void *data, struct json *result)
{
	struct request *request = data;
	struct frame *frame = request->frame;
	struct prepared *prepared = request->prepared;

	if (prepared && json_get_bool(result, "ok", false)) {
		CLEANUP(mem_freep)
		char *name = mem_format("s-%llu", (unsigned long long)prepared->number);

		json_set_str(result, "statement", name);
		prepared_keep(frame, prepared);
	} else {
		prepared_free(prepared);
	}
	if (frame->channel)
		channel_reply(frame->channel, request->id, result);
	else
		json_free(result);
	mem_free(request);
}

static void submit(struct frame *frame, int64_t id, struct prepared *prepared,
		   const struct pool_call *call)
{
	struct request *request = mem_alloc(sizeof(*request));

	*request = (struct request){frame, id, prepared};
	pool_submit(frame->pool, call, on_done, request);
}

static int want_id(const struct json *params, const char *key, const char **ret, struct err *err)
{
	if (json_want_str(params, key, ret, err) < 0)
		return -1;
	if (**ret == '\0')
		return err_set(err, ERR_INVALID, "%s: empty", key);
	if (strlen(*ret) > FRAME_ID_MAX)
		return err_set(err, ERR_INVALID, "%s: longer than %d bytes", key, FRAME_ID_MAX);
	return 0;
}

static int req_catalog(struct frame *frame, int64_t id, const struct json *params, struct err *err)
{
	static const char *const keys[] = {NULL};

	if (params && json_only(params, keys, err) < 0)
		return -1;
	submit(frame, id, NULL,
	       &(struct pool_call){"", POOL_ANY_GRANT, "catalog", json_object(),
				   WRIT_STATEMENT_MS_DEFAULT});
	return 0;
}

static int req_prepare(struct frame *frame, int64_t id, const struct json *params, struct err *err)
{
	static const char *const keys[] = {"call", "grant", "view", "sql", "time_ms", NULL};
	const char *call, *grant, *sql;
	const struct json *view;
	struct prepared *prepared;
	struct json *work;
	int64_t time_ms;

	if (json_only(params, keys, err) < 0 || want_id(params, "call", &call, err) < 0 ||
	    want_id(params, "grant", &grant, err) < 0 ||
	    json_want_object(params, "view", &view, err) < 0 ||
	    json_want_str(params, "sql", &sql, err) < 0 ||
	    json_want_int(params, "time_ms", 1, TIME_MS_MAX, &time_ms, err) < 0)
		return -1;
	work = json_object();
	json_set(work, "view", json_copy(view));
	json_set_str(work, "sql", sql);
	prepared = mem_alloc(sizeof(*prepared));
	*prepared = (struct prepared){++frame->numbers, mem_str(grant), mem_str(sql),
				      json_copy(view), NULL};
	submit(frame, id, prepared, &(struct pool_call){call, grant, "prepare", work, time_ms});
	return 0;
}

static int want_time(const struct json *params, int64_t *ret_time_ms, struct err *err)
{
	const struct json *limits;

	if (json_want_object(params, "limits", &limits, err) < 0)
		return -1;
	return json_want_int(limits, "time_ms", 1, TIME_MS_MAX, ret_time_ms, err);
}

static int req_execute(struct frame *frame, int64_t id, const struct json *params, struct err *err)
{
	static const char *const keys[] = {"call", "statement", "mode", "allow", "limits", NULL};
	const char *call, *name, *mode;
	const struct json *allow;
	struct prepared *prepared;
	struct json *work;
	int64_t time_ms;

	if (json_only(params, keys, err) < 0 || want_id(params, "call", &call, err) < 0 ||
	    want_id(params, "statement", &name, err) < 0 ||
	    json_want_str(params, "mode", &mode, err) < 0 ||
	    json_want_object(params, "allow", &allow, err) < 0 ||
	    want_time(params, &time_ms, err) < 0)
		return -1;
	if (strcmp(mode, "run") != 0 && strcmp(mode, "explain") != 0)
		return err_set(err, ERR_INVALID, "mode: \"run\" or \"explain\"");
	prepared = prepared_take(frame, name);
	if (!prepared) {
		struct refusal refusal;

		refusal_set(&refusal, BY_STATEMENT, "prepare it again",
			    "no such statement: it was executed, dropped or is too old");
		channel_reply(frame->channel, id, refusal_json(&refusal));
		return 0;
	}
	work = json_object();
	json_set(work, "view", TAKE(prepared->view));
	json_set_str(work, "sql", prepared->sql);
	json_set_str(work, "mode", mode);
	json_set(work, "allow", json_copy(allow));
	json_set(work, "limits", json_copy(json_get(params, "limits")));
	submit(frame, id, NULL,
	       &(struct pool_call){call, prepared->grant, "execute", work, time_ms});
	prepared_free(prepared);
	return 0;
}

static int req_drop(struct frame *frame, int64_t id, const struct json *params, struct err *err)
{
	static const char *const keys[] = {"statement", NULL};
	const char *name;

	if (json_only(params, keys, err) < 0 || want_id(params, "statement", &name, err) < 0)
		return -1;
	prepared_free(prepared_take(frame, name));
	channel_reply(frame->channel, id, json_object());
	return 0;
}

static int req_tool(struct frame *frame, int64_t id, const struct json *params, struct err *err)
{
	static const char *const keys[] = {"call", "grant",  "tool", "arguments",
					   "view", "limits", NULL};
	const char *call, *grant, *tool;
	const struct json *arguments, *view;
	struct json *work;
	int64_t time_ms;

	if (json_only(params, keys, err) < 0 || want_id(params, "call", &call, err) < 0 ||
	    want_id(params, "grant", &grant, err) < 0 ||
	    json_want_str(params, "tool", &tool, err) < 0 ||
	    json_want_object(params, "arguments", &arguments, err) < 0 ||
	    json_want_object(params, "view", &view, err) < 0 ||
	    want_time(params, &time_ms, err) < 0)
		return -1;
	work = json_object();
	json_set_str(work, "tool", tool);
	json_set(work, "arguments", json_copy(arguments));
	json_set(work, "view", json_copy(view));
	json_set(work, "limits", json_copy(json_get(params, "limits")));
	submit(frame, id, NULL, &(struct pool_call){call, grant, "tool", work, time_ms});
	return 0;
}

static int req_cancel(struct frame *frame, int64_t id, const struct json *params, struct err *err)
{
	static const char *const keys[] = {"call", NULL};
	const char *call;

	if (json_only(params, keys, err) < 0 || want_id(params, "call", &call, err) < 0)
		return -1;
	pool_cancel(frame->pool, call);
	if (id > 0)
		channel_reply(frame->channel, id, json_object());
	return 0;
}

/* Notifications both ways: calls may all be waiting for workers, and this must not. */
static int on_ping(struct frame *frame, int64_t id, const struct json *params, struct err *err)
{
	(void)params;
	(void)err;
	if (id > 0)
		channel_reply(frame->channel, id, json_object());
	else
		channel_notify(frame->channel, "pong", NULL);
	return 0;
}

static const struct method {
	const char *name;
	int (*handle)(struct frame *frame, int64_t id, const struct json *params, struct err *err);
	bool notification; /* may come without an id */
} methods[] = {
	{"catalog", req_catalog, false}, {"prepare", req_prepare, false},
	{"execute", req_execute, false}, {"drop", req_drop, false},
	{"tool", req_tool, false},	 {"cancel", req_cancel, true},
	{"ping", on_ping, true},
};

static void on_request(struct channel *channel, void *owner, int64_t id, const char *method,
		       const struct json *params)
{
	struct err err;

	err_set(&err, ERR_NOT_FOUND, "no method %s", method);
	for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
		if (strcmp(methods[i].name, method) != 0)
			continue;
		if (id == 0 && !methods[i].notification)
			return; /* nobody waits for an answer */
		if (methods[i].handle(owner, id, params, &err) == 0)
			return;
		err_wrap(&err, "%s", method);
		break;
	}
	if (id > 0)
		channel_fail(channel, id, &err, NULL);
}

static void on_close(struct channel *channel, void *owner, const struct err *why)
{
	struct frame *frame = owner;

	(void)channel;
	if (why->kind != ERR_NONE)
		log_error("the broker's channel ended: %s", why->text);
	frame->channel = NULL;
	pool_close(TAKE(frame->pool));
}

static const struct channel_handlers frame_handlers = {on_request, on_close};

struct frame *frame_open(uv_loop_t *loop, int fd, const struct source *source)
{
	struct frame *frame = mem_alloc(sizeof(*frame));

	frame->pool = pool_open(loop, source);
	frame->channel = channel_open(loop, fd, source->name, &frame_handlers, frame);
	return frame;
}

void frame_free(struct frame *frame)
{
	while (frame->prepared) {
		struct prepared *next = frame->prepared->next;

		prepared_free(frame->prepared);
		frame->prepared = next;
	}
	mem_free(frame);
}
