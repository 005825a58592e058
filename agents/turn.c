/*
 * One channel, one timer. The timer belongs to libuv until its close callback ran, so a closed turn
 * lives on until then. What can fail: the broker goes away or refuses the token, and the time or
 * the calls of the task run out; all of it arrives at on_end.
 */
#include "agents/turn.h"

#include <inttypes.h>
#include <string.h>

#include "agents/client.h"
#include "writ/limits.h"

#define TOKEN_MS 10000 /* signing takes microseconds; a broker that needs longer is stuck */

struct turn {
	struct channel *channel; /* NULL once closed */
	uv_timer_t deadline;
	const struct turn_handlers *handlers;
	trace_fn *trace;
	void *trace_data;
	void *owner;
	struct json *token; /* owned; NULL before it is issued */
	turn_done *done;    /* of the running call; NULL when none runs */
	int64_t call_id;
	int64_t calls_left;
	int64_t calls_made;
	int64_t scanned; /* bytes */
	bool cancelled;
};

static void on_timer_closed(uv_handle_t *handle)
{
	struct turn *turn = handle->data;

	json_free(turn->token);
	mem_free(turn);
}

void turn_close(struct turn *turn)
{
	struct channel *channel = NULL;

	if (turn == NULL || uv_is_closing((uv_handle_t *)&turn->deadline))
		return;
	channel = TAKE(turn->channel);
	turn->done = NULL;
	uv_close((uv_handle_t *)&turn->deadline, on_timer_closed);
	channel_close(channel);
}

static bool closed(const struct turn *turn)
{
	return uv_is_closing((const uv_handle_t *)&turn->deadline) != 0;
}

static void end(struct turn *turn, enum err_kind kind, const char *text)
{
	struct err why = {0};

	if (closed(turn))
		return;
	IGNORE(err_set(&why, kind, "%s", text), "the error is what is wanted");
	turn->done = NULL;
	turn->handlers->on_end(turn->owner, &why);
}

static void on_close(struct channel *channel, void *owner, const struct err *why)
{
	struct turn *turn = owner;

	(void)channel;
	turn->channel = NULL;
	end(turn, ERR_UNAVAILABLE,
	    why->kind == ERR_NONE ? "the broker closed the agent's channel" : why->text);
}

static void on_request(struct channel *channel, void *owner, int64_t id, const char *method,
		       const struct json *params)
{
	struct err refused = {0};

	(void)owner;
	(void)params;
	IGNORE(err_set(&refused, ERR_INVALID, "an agent answers no %s", method), "sent below");
	if (id > 0)
		channel_fail(channel, id, &refused, NULL);
}

static const struct channel_handlers channel_handlers = {.on_request = on_request,
							 .on_close = on_close};

static void cancel_call(struct turn *turn)
{
	if (turn->channel != NULL && turn->done != NULL && turn->call_id > 0)
		client_tool_cancel(turn->channel, turn->call_id);
}

static void on_deadline(uv_timer_t *timer)
{
	struct turn *turn = timer->data;

	cancel_call(turn);
	if (turn->cancelled)
		end(turn, ERR_CANCELED, "cancelled on request");
	else
		end(turn, ERR_TIMEOUT, "the time of this task is used up");
}

static const struct json *limits(const struct turn *turn)
{
	return json_get(turn->token, "limits");
}

static void start_deadline(struct turn *turn)
{
	int64_t left = json_get_int(limits(turn), "time_left_ms", WRIT_TASK_MS_DEFAULT);

	uv_timer_start(&turn->deadline, on_deadline, left > 0 ? (uint64_t)left : 0, 0);
}

/* The channel ended under the call: on_close follows, or turn_close() was called. An answer of the
 * peer always has data. */
static bool cut_off(const struct json *result, const struct err *err)
{
	return err->kind == ERR_CANCELED && result == NULL;
}

static void on_token(void *data, const struct json *result, const struct err *err)
{
	struct turn *turn = data;
	CLEANUP(mem_freep) char *text = NULL;

	if (turn->channel == NULL || (err != NULL && cut_off(result, err)))
		return;
	if (err != NULL) {
		end(turn, ERR_DENIED, err->text);
		return;
	}
	turn->token = json_copy(result);
	turn->calls_left = json_get_int(limits(turn), "tool_calls_left", WRIT_TOOL_CALLS_DEFAULT);
	if (!turn->cancelled)
		start_deadline(turn);
	text = mem_format("token %s: %zu tools, %" PRId64 " calls left", turn_jti(turn),
			  json_len(json_get(result, "tools")), turn->calls_left);
	turn_trace(turn, "token", text, result);
	turn->handlers->on_token(turn->owner, turn->token);
}

int turn_start(uv_loop_t *loop, int fd, const char *name, const struct turn_handlers *handlers,
	       trace_fn *trace, void *trace_data, void *owner, struct turn **ret_turn,
	       struct err *err)
{
	struct turn *turn = mem_alloc(sizeof(*turn));

	turn->handlers = handlers;
	turn->trace = trace;
	turn->trace_data = trace_data;
	turn->owner = owner;
	uv_timer_init(loop, &turn->deadline);
	turn->deadline.data = turn;
	turn->channel = channel_open(loop, fd, name, &channel_handlers, turn);
	if (client_token_issue(turn->channel, TOKEN_MS, on_token, turn) == 0) {
		turn_close(turn);
		return err_set(err, ERR_UNAVAILABLE, "the broker is gone");
	}
	*ret_turn = turn;
	return 0;
}

static void trace_result(const struct turn *turn, const struct json *result)
{
	CLEANUP(mem_freep) char *text = NULL;

	if (!json_get_bool(result, "ok", false))
		text = mem_format("error: %s", json_get_str(result, "error") != NULL
						       ? json_get_str(result, "error")
						       : "no reason given");
	else if (json_get(result, "row_count") != NULL)
		text = mem_format("%" PRId64 " rows, %" PRId64 " bytes scanned",
				  json_get_int(result, "row_count", 0),
				  json_get_int(result, "bytes_scanned", 0));
	else
		text = mem_str("ok");
	turn_trace(turn, "result", text, result);
}

static const char *text_or(const struct json *json, const char *key, const char *fallback)
{
	return json_get_str(json, key) != NULL ? json_get_str(json, key) : fallback;
}

static void on_called(void *data, const struct json *result, const struct err *err)
{
	struct turn *turn = data;
	turn_done *done = turn->done;
	struct tool_error error = {.by = "unavailable", .hint = "try again later"};

	if (turn->channel == NULL || done == NULL || (err != NULL && cut_off(result, err)))
		return;
	turn->done = NULL;
	turn->call_id = 0;
	if (err != NULL) {
		error.text = err->text;
		if (err->kind == ERR_LIMIT)
			error.by = "limit";
		turn_trace(turn, "result", err->text, NULL);
		done(turn->owner, NULL, &error);
		return;
	}
	trace_result(turn, result);
	turn->scanned += json_get_int(result, "bytes_scanned", 0);
	if (json_get_bool(result, "ok", false)) {
		done(turn->owner, result, NULL);
		return;
	}
	error.text = text_or(result, "error", "the tool gave no reason");
	error.by = text_or(result, "rejected_by", "unavailable");
	error.hint = text_or(result, "hint", "");
	error.approval = json_get_str(result, "approval");
	done(turn->owner, NULL, &error);
}

void turn_call(struct turn *turn, const char *tool, struct json *arguments, const char *shown,
	       turn_done *done)
{
	CLEANUP(mem_freep) char *line = mem_format("%s %s", tool, shown);

	if (turn->calls_left <= 0) {
		json_free(arguments);
		end(turn, ERR_LIMIT, "all tool calls of this task are used up");
		return;
	}
	turn_trace(turn, "call", line, arguments);
	turn->done = done;
	turn->calls_left--;
	turn->calls_made++;
	turn->call_id = client_tool_call(turn->channel, tool, arguments, 0, on_called, turn);
	if (turn->call_id == 0) {
		struct err why = {0};

		channel_why_not(turn->channel, "the broker", &why);
		end(turn, why.kind, why.text);
	}
}

void turn_cancel(struct turn *turn)
{
	turn->cancelled = true;
	uv_timer_start(&turn->deadline, on_deadline, 0, 0);
}

bool turn_may(const struct turn *turn, const char *tool)
{
	json_each(name, json_get(turn->token, "tools")) if (json_str(name) != NULL &&
							    strcmp(json_str(name), tool) ==
								    0) return true;
	return false;
}

const char *turn_jti(const struct turn *turn)
{
	return json_get_str(turn->token, "jti");
}

int64_t turn_calls_left(const struct turn *turn)
{
	return turn->calls_left;
}

int64_t turn_calls_made(const struct turn *turn)
{
	return turn->calls_made;
}

int64_t turn_attempts_left(const struct turn *turn)
{
	return json_get_int(limits(turn), "attempts_left", WRIT_ATTEMPTS_DEFAULT);
}

int64_t turn_scan_left(const struct turn *turn)
{
	return json_get_int(limits(turn), "scan_left", INT64_MAX);
}

struct channel *turn_channel(struct turn *turn)
{
	return turn->channel;
}

int64_t turn_scanned(const struct turn *turn)
{
	return turn->scanned;
}

void turn_count_calls(struct turn *turn, int64_t calls, int64_t bytes_scanned)
{
	turn->scanned += bytes_scanned;
	turn->calls_made += calls;
	turn->calls_left -= calls;
}

void turn_trace(const struct turn *turn, const char *event, const char *text,
		const struct json *detail)
{
	if (turn->trace != NULL)
		turn->trace(turn->trace_data, event, text, detail);
}
