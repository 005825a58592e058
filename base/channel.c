/*
 * Channels on libuv: a pipe handle, a timer and an idle handle each.
 *
 * The idle handle is active only when there is work; it then runs once per turn of the loop, and
 * keeps the loop from sleeping on that work.
 *
 * OPEN -> FLUSHING (no callback any more, output still leaves) -> CLOSED (handles closing); the
 * memory is freed by the last close callback, so every frame above may still look at it.
 *
 * What can fail: the peer. Each failure ends the channel through channel_end(), with one reason.
 */
#include "base/channel.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/channel_state.h"
#include "base/mem.h"

#define FLUSH_MS 2000u /* a peer that does not read the last lines gets no longer */

static void on_timer(uv_timer_t *timer);

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

void channel_close_handles(struct channel *channel)
{
	if (channel->state == CHANNEL_CLOSED)
		return;
	channel->state = CHANNEL_CLOSED;
	uv_close((uv_handle_t *)&channel->pipe, on_handle_closed);
	uv_close((uv_handle_t *)&channel->timer, on_handle_closed);
	uv_close((uv_handle_t *)&channel->idle, on_handle_closed);
}

/* ---- time ---- */

uint64_t channel_now_ms(struct channel *channel)
{
	uv_update_time(channel->loop);
	return uv_now(channel->loop);
}

/* The timer may fire early, which is harmless; it must never fire late. */
void channel_arm_timer(struct channel *channel, uint64_t due_ms)
{
	uint64_t now = channel_now_ms(channel);

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
			channel_end(channel, &channel->broken_by);
		channel_close_handles(channel);
		return;
	}
	expire_calls(channel, now);
	call = channel_calls_first_deadline(&channel->calls);
	if (channel->state == CHANNEL_OPEN && call != NULL)
		channel_arm_timer(channel, call->deadline_ms);
	if (channel->state != CHANNEL_CLOSED && channel->end_due_ms > 0)
		channel_arm_timer(channel, channel->end_due_ms);
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
	channel->end_due_ms = channel_now_ms(channel) + FLUSH_MS;
	channel_arm_timer(channel, channel->end_due_ms);
}

void channel_end(struct channel *channel, const struct err *why)
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
		channel_close_handles(channel);
	else
		channel_end_flush(channel);
}

void channel_close(struct channel *channel)
{
	if (channel == NULL || channel->quiet)
		return;
	channel->quiet = true;
	if (channel->state != CHANNEL_OPEN)
		return; /* inside channel_end(), which goes on */
	start_flush(channel);
	cancel_calls(channel, "by this side");
	if (channel->broken)
		channel_close_handles(channel);
	else
		channel_end_flush(channel);
}

/* ---- turns ---- */

/* One turn of work outside the read callback: write, then use the room that made. */
void channel_on_idle(uv_idle_t *idle)
{
	struct channel *channel = idle->data;

	uv_idle_stop(idle);
	if (channel->state == CHANNEL_FLUSHING)
		channel_end_flush(channel);
	if (channel->state != CHANNEL_OPEN)
		return;
	channel_write_out(channel);
	channel_release_held(channel);
	channel_take_lines(channel);
	channel_read_or_not(channel);
}

void channel_pause(struct channel *channel, bool paused)
{
	channel->paused = paused;
	if (channel->state != CHANNEL_OPEN)
		return;
	if (paused)
		channel_read_or_not(channel);
	else
		channel_wake(channel); /* from the loop: we may be inside channel_take_lines() */
}

/* ---- calls and answers ---- */

static uint64_t deadline_after(struct channel *channel, int64_t timeout_ms)
{
	if (timeout_ms <= 0)
		return 0;
	return channel_now_ms(channel) + (uint64_t)timeout_ms;
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
		channel_arm_timer(channel, deadline_ms);
	channel_send_calls(channel);
	return call->id;
}

int channel_why_not(const struct channel *channel, const char *peer, struct err *err)
{
	if (channel == NULL || channel->state != CHANNEL_OPEN)
		return err_set(err, ERR_UNAVAILABLE, "%s is gone", peer);
	return err_set(err, ERR_LIMIT, "the message to %s would be over %u bytes", peer,
		       CHANNEL_LINE_MAX);
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
		channel_put_line(channel, &line);
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
	channel_put_line(channel, &line);
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
	channel_put_line(channel, &line);
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
		channel_read_or_not(channel);
		return channel;
	}
	channel->unopened = true;
	channel_break_writing(channel, status);
	channel->end_due_ms = channel_now_ms(channel); /* on_close will say so, from the loop */
	channel_arm_timer(channel, channel->end_due_ms);
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
