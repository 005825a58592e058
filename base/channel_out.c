/*
 * What a channel writes: lines gather in `out` and leave together once per turn of the loop, at
 * first directly, then by libuv in pieces, so that progress of a long queue is noticed. What can
 * fail: the peer is gone.
 */
#include <string.h>

#include "base/channel_state.h"
#include "base/mem.h"

#define WRITE_PIECE (256u << 10)
#define KEEP_ROOM 65536u /* larger buffers are given back once empty */
#define BROKEN_MS 1000u	 /* after a failed write: time for the peer's last lines to arrive */

static void on_written(uv_write_t *write, int status);

void channel_wake(struct channel *channel)
{
	if (channel->state != CHANNEL_CLOSED && !uv_is_active((uv_handle_t *)&channel->idle))
		uv_idle_start(&channel->idle, channel_on_idle);
}

void channel_break_writing(struct channel *channel, int status)
{
	if (channel->broken)
		return;
	channel->broken = true;
	buf_clear(&channel->out);
	err_set(&channel->broken_by, ERR_UNAVAILABLE, "channel %s: write: %s", channel->name,
		uv_strerror(status));
	if (channel->state == CHANNEL_FLUSHING) {
		channel_close_handles(channel);
		return;
	}
	channel->end_due_ms = channel_now_ms(channel) + BROKEN_MS;
	channel_arm_timer(channel, channel->end_due_ms);
}

void channel_give_back(struct buf *buf)
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
		channel_break_writing(channel, status);
}

void channel_write_out(struct channel *channel)
{
	uv_buf_t bytes;
	int sent;

	if (channel->writing || channel->broken || channel->out.len == 0 ||
	    channel->state == CHANNEL_CLOSED)
		return;
	bytes = uv_buf_init(channel->out.bytes, (unsigned)channel->out.len);
	sent = uv_try_write((uv_stream_t *)&channel->pipe, &bytes, 1);
	if (sent < 0 && sent != UV_EAGAIN) {
		channel_break_writing(channel, sent);
		return;
	}
	if (sent > 0 && (size_t)sent == channel->out.len) {
		buf_reset(&channel->out);
		channel_give_back(&channel->out);
		return;
	}
	channel->out_written = sent > 0 ? (size_t)sent : 0;
	channel->out_writing = channel->out;
	buf_init(&channel->out);
	write_piece(channel);
}

void channel_end_flush(struct channel *channel)
{
	if (channel->state != CHANNEL_FLUSHING)
		return;
	channel_write_out(channel);
	if (!channel->writing && channel->out.len == 0)
		channel_close_handles(channel);
}

static void on_written(uv_write_t *write, int status)
{
	struct channel *channel = write->handle->data;

	channel->writing = false;
	if (channel->state == CHANNEL_CLOSED)
		return;
	if (status < 0) {
		channel_break_writing(channel, status);
		return;
	}
	if (channel->out_written < channel->out_writing.len)
		write_piece(channel);
	else
		buf_clear(&channel->out_writing);
	if (channel->state == CHANNEL_FLUSHING)
		channel_end_flush(channel);
	else
		channel_wake(channel);
}

void channel_put_line(struct channel *channel, const struct buf *line)
{
	if (channel->broken)
		return;
	buf_add(&channel->out, line->bytes, line->len);
	channel_wake(channel);
}

void channel_send_calls(struct channel *channel)
{
	struct channel_call *call;

	while ((call = channel_calls_next_to_send(&channel->calls)) != NULL) {
		channel_put_line(channel, &call->line);
		channel_calls_mark_sent(&channel->calls, call);
	}
}

size_t channel_queued_bytes(const struct channel *channel)
{
	size_t later = channel->writing ? channel->out_writing.len - channel->out_written : 0;

	return channel->out.len + later +
	       uv_stream_get_write_queue_size((const uv_stream_t *)&channel->pipe);
}
