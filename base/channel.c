/*
 * Channels on libuv: a pipe handle, a timer and an idle handle each.
 *
 * in:   bytes gather in `in`; every complete line is checked (base/json.h, base/rpc.h) and then
 *       answered, delivered or, while there is no room, held as text in `held`.
 * out:  lines gather in `out`; the idle handle, active only when there is work, writes them once
 *       per turn of the loop. An active idle handle also keeps the loop from sleeping on them.
 * end:  OPEN -> FLUSHING (no callback any more, output still leaves) -> CLOSED (handles closing);
 *       the memory is freed by the last close callback, so every frame above may still look at it.
 *
 * What can fail: the peer. Each failure ends the channel through fail(), with one reason.
 */
#include "base/channel.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/channel_calls.h"
#include "base/mem.h"
#include "base/rpc.h"

#define READ_ROOM 65536u	 /* one read; what libuv itself suggests */
#define WRITE_PIECE (256u << 10) /* so that progress of a long queue is noticed */
#define KEEP_ROOM 65536u	 /* larger buffers are given back once empty */
#define FLUSH_MS 2000u		 /* a peer that does not read the last lines gets no longer */
#define BROKEN_MS 1000u	      /* after a failed write: time for the peer's last lines to arrive */
#define METHOD_BYTES_MAX 128u /* in our own error texts */

enum channel_state { CHANNEL_OPEN, CHANNEL_FLUSHING, CHANNEL_CLOSED };

/* A line of the peer that waits for room. */
struct held_line {
	STAILQ_ENTRY(held_line) next;
	enum rpc_type type;
	size_t len;
	char bytes[];
};

struct channel {
	enum channel_state state;
	bool quiet;    /* no handler runs any more */
	bool paused;   /* by channel_pause() */
	bool unopened; /* the descriptor was no stream: there is nothing to read */
	bool reading;
	bool writing;
	bool broken; /* a write failed: broken_by says why; nothing more is written */
	int handles_open;
	uv_loop_t *loop;
	uv_pipe_t pipe;
	uv_timer_t timer;
	uv_idle_t idle;
	uv_write_t write;
	char *name;
	const struct channel_handlers *handlers;
	void *owner;
	size_t line_bytes_max;
	uint64_t lines_read;
	struct buf in;
	size_t in_scanned; /* no newline before this */
	STAILQ_HEAD(, held_line) held;
	size_t held_count;
	size_t held_bytes;
	struct buf out;
	struct buf out_writing; /* lent to libuv while writing */
	size_t out_written;	/* of it, by earlier pieces */
	struct channel_calls calls;
	int64_t requests[CHANNEL_INFLIGHT_MAX]; /* ids of the peer's open requests */
	size_t request_count;
	uint64_t timer_due_ms; /* when the timer fires; 0: not running */
	uint64_t end_due_ms;   /* FLUSHING or broken: when patience ends; 0: neither */
	struct err broken_by;
};

/* Every loop runs in one thread and libuv fills and hands back this room within one call. */
static _Thread_local char read_room[READ_ROOM];

static void on_idle(uv_idle_t *idle);
static void on_timer(uv_timer_t *timer);
static void on_written(uv_write_t *write, int status);
static void fail(struct channel *channel, const struct err *why);

/* ---- end ---- */

static void on_handle_closed(uv_handle_t *handle)
{
	struct channel *channel = handle->data;
	struct held_line *held;

	if (--channel->handles_open > 0)
		return;
	while ((held = STAILQ_FIRST(&channel->held)) != NULL) {
		STAILQ_REMOVE_HEAD(&channel->held, next);
		mem_free(held);
	}
	channel_calls_clear(&channel->calls);
	buf_clear(&channel->in);
	buf_clear(&channel->out);
	buf_clear(&channel->out_writing);
	mem_free(channel->name);
	mem_free(channel);
}

static void close_handles(struct channel *channel)
{
	if (channel->state == CHANNEL_CLOSED)
		return;
	channel->state = CHANNEL_CLOSED;
	uv_close((uv_handle_t *)&channel->pipe, on_handle_closed);
	uv_close((uv_handle_t *)&channel->timer, on_handle_closed);
	uv_close((uv_handle_t *)&channel->idle, on_handle_closed);
}

/* ---- time ---- */

static uint64_t now_ms(struct channel *channel)
{
	uv_update_time(channel->loop);
	return uv_now(channel->loop);
}

/* The timer may fire early, which is harmless; it must never fire late. */
static void arm_timer(struct channel *channel, uint64_t due_ms)
{
	uint64_t now = now_ms(channel);

	if (channel->timer_due_ms > 0 && channel->timer_due_ms <= due_ms)
		return;
	channel->timer_due_ms = due_ms;
	uv_timer_start(&channel->timer, on_timer, due_ms > now ? due_ms - now : 0, 0);
}

static void expire_calls(struct channel *channel, uint64_t now)
{
	struct channel_call *call;
	channel_done *done;
	struct err err;
	void *data;

	while (channel->state == CHANNEL_OPEN &&
	       (call = channel_calls_first_deadline(&channel->calls)) != NULL &&
	       call->deadline_ms <= now) {
		err_set(&err, ERR_TIMEOUT, "channel %s: no answer to call %" PRId64 " in time",
			channel->name, call->id);
		channel_calls_give_up(&channel->calls, call, &done, &data);
		done(data, NULL, &err);
	}
}

static void on_timer(uv_timer_t *timer)
{
	struct channel *channel = timer->data;
	struct channel_call *call;
	uint64_t now = uv_now(channel->loop);

	channel->timer_due_ms = 0;
	if (channel->end_due_ms > 0 && channel->end_due_ms <= now) {
		if (channel->state == CHANNEL_OPEN)
			fail(channel, &channel->broken_by);
		close_handles(channel);
		return;
	}
	expire_calls(channel, now);
	call = channel_calls_first_deadline(&channel->calls);
	if (channel->state == CHANNEL_OPEN && call != NULL)
		arm_timer(channel, call->deadline_ms);
	if (channel->state != CHANNEL_CLOSED && channel->end_due_ms > 0)
		arm_timer(channel, channel->end_due_ms);
}

/* ---- out ---- */

/* There is something to do before the loop waits again. */
static void wake(struct channel *channel)
{
	if (channel->state != CHANNEL_CLOSED && !uv_is_active((uv_handle_t *)&channel->idle))
		uv_idle_start(&channel->idle, on_idle);
}

/* The peer may have said why before it went, so what it sent is still read for a while. */
static void break_writing(struct channel *channel, int status)
{
	if (channel->broken)
		return;
	channel->broken = true;
	buf_clear(&channel->out);
	err_set(&channel->broken_by, ERR_UNAVAILABLE, "channel %s: write: %s", channel->name,
		uv_strerror(status));
	if (channel->state == CHANNEL_FLUSHING) {
		close_handles(channel);
		return;
	}
	channel->end_due_ms = now_ms(channel) + BROKEN_MS;
	arm_timer(channel, channel->end_due_ms);
}

static void give_back(struct buf *buf)
{
	if (buf->len == 0 && buf->cap > KEEP_ROOM)
		buf_clear(buf);
}

static void write_piece(struct channel *channel)
{
	size_t left = channel->out_writing.len - channel->out_written;
	uv_buf_t bytes = uv_buf_init(channel->out_writing.bytes + channel->out_written,
				     (unsigned)(left < WRITE_PIECE ? left : WRITE_PIECE));
	int status =
		uv_write(&channel->write, (uv_stream_t *)&channel->pipe, &bytes, 1, on_written);

	channel->writing = status == 0;
	channel->out_written += bytes.len;
	if (status < 0)
		break_writing(channel, status);
}

static void write_out(struct channel *channel)
{
	uv_buf_t bytes;
	int sent;

	if (channel->writing || channel->broken || channel->out.len == 0 ||
	    channel->state == CHANNEL_CLOSED)
		return;
	bytes = uv_buf_init(channel->out.bytes, (unsigned)channel->out.len);
	sent = uv_try_write((uv_stream_t *)&channel->pipe, &bytes, 1);
	if (sent < 0 && sent != UV_EAGAIN) {
		break_writing(channel, sent);
		return;
	}
	if (sent > 0 && (size_t)sent == channel->out.len) {
		buf_reset(&channel->out);
		give_back(&channel->out);
		return;
	}
	channel->out_written = sent > 0 ? (size_t)sent : 0;
	channel->out_writing = channel->out;
	buf_init(&channel->out);
	write_piece(channel);
}

static void end_flush(struct channel *channel)
{
	if (channel->state != CHANNEL_FLUSHING)
		return;
	write_out(channel);
	if (!channel->writing && channel->out.len == 0)
		close_handles(channel);
}

static void on_written(uv_write_t *write, int status)
{
	struct channel *channel = write->handle->data;

	channel->writing = false;
	if (channel->state == CHANNEL_CLOSED)
		return;
	if (status < 0) {
		break_writing(channel, status);
		return;
	}
	if (channel->out_written < channel->out_writing.len)
		write_piece(channel);
	else
		buf_clear(&channel->out_writing);
	if (channel->state == CHANNEL_FLUSHING)
		end_flush(channel);
	else
		wake(channel);
}

/* Hands one line over to the output. */
static void put_line(struct channel *channel, const struct buf *line)
{
	if (channel->broken)
		return;
	buf_add(&channel->out, line->bytes, line->len);
	wake(channel);
}

static void send_calls(struct channel *channel)
{
	struct channel_call *call;

	while ((call = channel_calls_next_to_send(&channel->calls)) != NULL) {
		put_line(channel, &call->line);
		channel_calls_mark_sent(&channel->calls, call);
	}
}

size_t channel_queued_bytes(const struct channel *channel)
{
	size_t later = channel->writing ? channel->out_writing.len - channel->out_written : 0;

	return channel->out.len + later +
	       uv_stream_get_write_queue_size((const uv_stream_t *)&channel->pipe);
}

/* ---- closing ---- */

static void cancel_calls(struct channel *channel, const char *why)
{
	struct channel_call *call;
	struct err err;

	err_set(&err, ERR_CANCELED, "channel %s closed: %s", channel->name, why);
	while ((call = TAILQ_FIRST(&channel->calls.in_order)) != NULL) {
		channel_done *done = call->done;
		void *data = call->data;

		channel_calls_remove(&channel->calls, call);
		if (done != NULL)
			done(data, NULL, &err);
	}
}

static void start_flush(struct channel *channel)
{
	channel->state = CHANNEL_FLUSHING;
	uv_read_stop((uv_stream_t *)&channel->pipe);
	channel->reading = false;
	channel->end_due_ms = now_ms(channel) + FLUSH_MS;
	arm_timer(channel, channel->end_due_ms);
}

/* The one way a channel ends by itself. */
static void fail(struct channel *channel, const struct err *why)
{
	struct err reason = *why; /* it may lie in the channel, whose handlers now run */

	if (channel->state != CHANNEL_OPEN)
		return;
	start_flush(channel);
	cancel_calls(channel, reason.text);
	if (!channel->quiet && channel->handlers->on_close != NULL) {
		channel->quiet = true;
		channel->handlers->on_close(channel, channel->owner, &reason);
	}
	channel->quiet = true;
	if (channel->broken)
		close_handles(channel);
	else
		end_flush(channel);
}

void channel_close(struct channel *channel)
{
	if (channel == NULL || channel->quiet)
		return;
	channel->quiet = true;
	if (channel->state != CHANNEL_OPEN)
		return; /* inside fail(), which goes on */
	start_flush(channel);
	cancel_calls(channel, "by this side");
	if (channel->broken)
		close_handles(channel);
	else
		end_flush(channel);
}

/* ---- in ---- */

/* Tells a peer that broke the protocol so, and ends the channel. */
static void refuse(struct channel *channel, int code, struct err *why)
{
	struct buf line = BUF_INIT;

	rpc_write_refusal(&line, code, why->text);
	put_line(channel, &line);
	buf_clear(&line);
	err_wrap(why, "channel %s: line %" PRIu64 " of the peer", channel->name,
		 channel->lines_read);
	fail(channel, why);
}

static bool request_is_open(const struct channel *channel, int64_t id)
{
	for (size_t i = 0; i < channel->request_count; i++)
		if (channel->requests[i] == id)
			return true;
	return false;
}

static void deliver(struct channel *channel, const struct rpc_message *message)
{
	struct err err;

	if (channel->broken)
		return; /* nobody is left to answer */
	if (message->type == RPC_REQUEST && request_is_open(channel, message->id)) {
		err_set(&err, ERR_INVALID, "id: %" PRId64 " is still open", message->id);
		refuse(channel, RPC_CODE_NOT_RPC, &err);
		return;
	}
	if (message->type == RPC_REQUEST)
		channel->requests[channel->request_count++] = message->id;
	if (channel->handlers->on_request != NULL) {
		channel->handlers->on_request(channel, channel->owner, message->id, message->method,
					      message->params);
	} else if (message->type == RPC_REQUEST) {
		err_set(&err, ERR_NOT_FOUND, "no method %.*s here", (int)METHOD_BYTES_MAX,
			message->method);
		channel_fail(channel, message->id, &err, NULL);
	}
}

static void take_answer(struct channel *channel, const struct rpc_message *message)
{
	struct channel_call *call = channel_calls_find(&channel->calls, message->id);
	channel_done *done;
	struct err err;
	void *data;

	if (message->type == RPC_ERROR)
		rpc_error_read(message->error, &err);
	if (message->id == 0) {
		fail(channel, &err);
		return;
	}
	if (call == NULL || !call->sent) {
		err_set(&err, ERR_INVALID, "id: %" PRId64 " is no open call", message->id);
		refuse(channel, RPC_CODE_NOT_RPC, &err);
		return;
	}
	done = call->done;
	data = call->data;
	channel_calls_remove(&channel->calls, call);
	send_calls(channel);
	if (done == NULL)
		return;
	if (message->type == RPC_ERROR)
		done(data, json_get(message->error, "data"), &err);
	else
		done(data, message->result, NULL);
}

/* Notifications need no answer, so open requests do not hold them up: a cancel must get through. */
static bool has_room(const struct channel *channel, enum rpc_type type)
{
	if (channel_queued_bytes(channel) > CHANNEL_QUEUE_MAX)
		return false;
	return type != RPC_REQUEST || channel->request_count < CHANNEL_INFLIGHT_MAX;
}

static void hold(struct channel *channel, enum rpc_type type, const char *bytes, size_t len)
{
	struct held_line *held = mem_alloc(sizeof(*held) + len);

	held->type = type;
	held->len = len;
	memcpy(held->bytes, bytes, len);
	STAILQ_INSERT_TAIL(&channel->held, held, next);
	channel->held_count++;
	channel->held_bytes += len;
}

static void take_line(struct channel *channel, const char *bytes, size_t len)
{
	CLEANUP(json_freep) struct json *json = NULL;
	struct rpc_message message;
	struct err err;

	channel->lines_read++;
	if (json_parse(bytes, len, channel->line_bytes_max, &json, &err) < 0) {
		refuse(channel, RPC_CODE_NOT_JSON, &err);
		return;
	}
	if (rpc_read(json, &message, &err) < 0) {
		refuse(channel, RPC_CODE_NOT_RPC, &err);
		return;
	}
	if (message.type == RPC_RESULT || message.type == RPC_ERROR)
		take_answer(channel, &message);
	else if (STAILQ_EMPTY(&channel->held) && has_room(channel, message.type))
		deliver(channel, &message);
	else
		hold(channel, message.type, bytes, len);
}

/* Delivers what was held, in order, as far as there is room. The text was checked when it came. */
static void release_held(struct channel *channel)
{
	struct held_line *held;

	while (channel->state == CHANNEL_OPEN && !channel->paused &&
	       (held = STAILQ_FIRST(&channel->held)) != NULL && has_room(channel, held->type)) {
		CLEANUP(json_freep) struct json *json = NULL;
		struct rpc_message message;
		struct err err;

		if (json_parse(held->bytes, held->len, held->len, &json, &err) < 0 ||
		    rpc_read(json, &message, &err) < 0) {
			refuse(channel, RPC_CODE_NOT_RPC, &err);
			return;
		}
		STAILQ_REMOVE_HEAD(&channel->held, next);
		channel->held_count--;
		channel->held_bytes -= held->len;
		mem_free(held);
		deliver(channel, &message);
	}
}

static bool may_take_more(const struct channel *channel)
{
	return channel->state == CHANNEL_OPEN && !channel->paused && !channel->unopened &&
	       channel->held_count < CHANNEL_INFLIGHT_MAX &&
	       channel->held_bytes <= CHANNEL_QUEUE_MAX;
}

static void refuse_long_line(struct channel *channel)
{
	struct err err;

	channel->lines_read++;
	err_set(&err, ERR_LIMIT, "over %zu bytes", channel->line_bytes_max);
	refuse(channel, RPC_CODE_NOT_RPC, &err);
}

static void take_lines(struct channel *channel)
{
	const char *bytes = channel->in.bytes;
	size_t start = 0;

	while (may_take_more(channel) && channel->in_scanned < channel->in.len) {
		const char *newline = memchr(bytes + channel->in_scanned, '\n',
					     channel->in.len - channel->in_scanned);
		size_t end = newline != NULL ? (size_t)(newline - bytes) : channel->in.len;

		channel->in_scanned = end;
		if (end - start > channel->line_bytes_max) {
			refuse_long_line(channel);
			break;
		}
		if (newline == NULL)
			break;
		channel->in_scanned = end + 1;
		take_line(channel, bytes + start, end - start);
		start = end + 1;
	}
	buf_drop(&channel->in, start);
	channel->in_scanned -= start;
	give_back(&channel->in);
}

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *ret_room)
{
	(void)handle;
	(void)suggested;
	*ret_room = uv_buf_init(read_room, READ_ROOM);
}

static void end_of_stream(struct channel *channel, ssize_t status)
{
	struct err why;

	if (channel->broken)
		why = channel->broken_by;
	else if (status == UV_EOF && channel->in.len == 0)
		err_set(&why, ERR_NONE, "the peer closed the channel");
	else if (status == UV_EOF)
		err_set(&why, ERR_INVALID, "channel %s: the stream ended inside a line",
			channel->name);
	else
		err_set(&why, ERR_UNAVAILABLE, "channel %s: read: %s", channel->name,
			uv_strerror((int)status));
	fail(channel, &why);
}

static void on_read(uv_stream_t *stream, ssize_t len, const uv_buf_t *room);

static void read_or_not(struct channel *channel)
{
	bool wanted = may_take_more(channel);
	int status = 0;

	if (wanted == channel->reading || channel->state != CHANNEL_OPEN)
		return;
	if (wanted)
		status = uv_read_start((uv_stream_t *)&channel->pipe, on_room, on_read);
	else
		uv_read_stop((uv_stream_t *)&channel->pipe);
	channel->reading = wanted;
	if (status < 0)
		break_writing(channel, status);
}

static void on_read(uv_stream_t *stream, ssize_t len, const uv_buf_t *room)
{
	struct channel *channel = stream->data;

	if (len < 0) {
		end_of_stream(channel, len);
		return;
	}
	if (len == 0 || channel->state != CHANNEL_OPEN)
		return;
	buf_add(&channel->in, room->base, (size_t)len);
	take_lines(channel);
	read_or_not(channel);
}

/* One turn of work outside the read callback: write, then use the room that made. */
static void on_idle(uv_idle_t *idle)
{
	struct channel *channel = idle->data;

	uv_idle_stop(idle);
	if (channel->state == CHANNEL_FLUSHING)
		end_flush(channel);
	if (channel->state != CHANNEL_OPEN)
		return;
	write_out(channel);
	release_held(channel);
	take_lines(channel);
	read_or_not(channel);
}

void channel_pause(struct channel *channel, bool paused)
{
	channel->paused = paused;
	if (channel->state != CHANNEL_OPEN)
		return;
	if (paused)
		read_or_not(channel);
	else
		wake(channel); /* from the loop: we may be inside take_lines() */
}

/* ---- calls and answers ---- */

static uint64_t deadline_after(struct channel *channel, int64_t timeout_ms)
{
	if (timeout_ms <= 0)
		return 0;
	return now_ms(channel) + (uint64_t)timeout_ms;
}

int64_t channel_call(struct channel *channel, const char *method, struct json *params,
		     int64_t timeout_ms, channel_done *done, void *data)
{
	CLEANUP(json_freep) struct json *owned = params;
	struct channel_call *call;
	struct buf line = BUF_INIT;
	uint64_t deadline_ms;

	if (channel->state != CHANNEL_OPEN)
		return 0;
	rpc_write_request(&line, channel->calls.last_id + 1, method, owned);
	if (line.len - 1 > CHANNEL_LINE_MAX) {
		buf_clear(&line);
		return 0;
	}
	deadline_ms = deadline_after(channel, timeout_ms);
	call = channel_calls_add(&channel->calls, done, data, deadline_ms);
	call->line = line;
	if (deadline_ms > 0)
		arm_timer(channel, deadline_ms);
	send_calls(channel);
	return call->id;
}

void channel_forget(struct channel *channel, int64_t call_id)
{
	struct channel_call *call = channel_calls_find(&channel->calls, call_id);
	channel_done *done;
	struct err err;
	void *data;

	if (call == NULL || call->done == NULL)
		return;
	err_set(&err, ERR_CANCELED, "channel %s: call %" PRId64 " was given up", channel->name,
		call_id);
	channel_calls_give_up(&channel->calls, call, &done, &data);
	done(data, NULL, &err);
}

void channel_notify(struct channel *channel, const char *method, struct json *params)
{
	CLEANUP(json_freep) struct json *owned = params;
	struct buf line = BUF_INIT;

	if (channel->state != CHANNEL_OPEN)
		return;
	rpc_write_request(&line, 0, method, owned);
	assert(line.len - 1 <= CHANNEL_LINE_MAX);
	if (line.len - 1 <= CHANNEL_LINE_MAX)
		put_line(channel, &line);
	buf_clear(&line);
}

/* True if id was open and its answer may be written; it is not open any more. */
static bool take_request(struct channel *channel, int64_t id)
{
	if (channel->state != CHANNEL_OPEN)
		return false;
	for (size_t i = 0; i < channel->request_count; i++) {
		if (channel->requests[i] != id)
			continue;
		channel->requests[i] = channel->requests[--channel->request_count];
		return true;
	}
	assert(false && "an answer to a request that is not open");
	return false;
}

void channel_reply(struct channel *channel, int64_t id, struct json *result)
{
	CLEANUP(json_freep) struct json *owned = result;
	struct buf line = BUF_INIT;
	struct err err;

	if (!take_request(channel, id))
		return;
	rpc_write_result(&line, id, owned);
	if (line.len - 1 > CHANNEL_LINE_MAX) {
		err_set(&err, ERR_LIMIT, "the result has %zu bytes, over %u on a channel", line.len,
			CHANNEL_LINE_MAX);
		buf_reset(&line);
		rpc_write_error(&line, id, &err, NULL);
	}
	put_line(channel, &line);
	buf_clear(&line);
}

void channel_fail(struct channel *channel, int64_t id, const struct err *why, struct json *data)
{
	CLEANUP(json_freep) struct json *owned = data;
	struct buf line = BUF_INIT;

	if (!take_request(channel, id))
		return;
	rpc_write_error(&line, id, why, owned);
	if (line.len - 1 > CHANNEL_LINE_MAX) {
		buf_reset(&line);
		rpc_write_error(&line, id, why, NULL);
	}
	put_line(channel, &line);
	buf_clear(&line);
}

/* ---- start ---- */

static int open_pipe(struct channel *channel, int fd)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return UV_EBADF;
	if (!S_ISSOCK(status.st_mode) && !S_ISFIFO(status.st_mode)) {
		close(fd);
		return UV_ENOTSOCK;
	}
	return uv_pipe_open(&channel->pipe, fd);
}

struct channel *channel_open(uv_loop_t *loop, int fd, const char *name,
			     const struct channel_handlers *handlers, void *owner)
{
	struct channel *channel = mem_alloc(sizeof(*channel));
	int status;

	channel->loop = loop;
	channel->name = mem_str(name);
	channel->handlers = handlers;
	channel->owner = owner;
	channel->line_bytes_max = CHANNEL_LINE_MAX;
	channel->handles_open = 3;
	STAILQ_INIT(&channel->held);
	channel_calls_init(&channel->calls);
	uv_pipe_init(loop, &channel->pipe, 0);
	uv_timer_init(loop, &channel->timer);
	uv_idle_init(loop, &channel->idle);
	channel->pipe.data = channel->timer.data = channel->idle.data = channel;
	status = open_pipe(channel, fd);
	if (status == 0) {
		read_or_not(channel);
		return channel;
	}
	channel->unopened = true;
	break_writing(channel, status);
	channel->end_due_ms = now_ms(channel); /* on_close will say so, from the loop */
	arm_timer(channel, channel->end_due_ms);
	return channel;
}

void channel_set_owner(struct channel *channel, void *owner)
{
	channel->owner = owner;
}

void *channel_owner(const struct channel *channel)
{
	return channel->owner;
}

void channel_set_line_max(struct channel *channel, size_t line_bytes_max)
{
	channel->line_bytes_max = line_bytes_max;
}
