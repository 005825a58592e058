/*
 * What a channel reads: bytes gather in `in`; every complete line is checked (base/json.h,
 * base/rpc.h) and then taken as an answer, delivered, or, while there is no room, held as text.
 * What can fail: the peer, and then refuse() tells it so and ends the channel.
 */
#include <inttypes.h>
#include <string.h>

#include "base/channel_state.h"
#include "base/mem.h"

#define READ_ROOM 65536u      /* one read; what libuv itself suggests */
#define METHOD_BYTES_MAX 128u /* in our own error texts */

/* Every loop runs in one thread and libuv fills and hands back this room within one call. */
static _Thread_local char read_room[READ_ROOM];

/* Tells a peer that broke the protocol so, and ends the channel. */
static void refuse(struct channel *channel, int code, struct err *why)
{
	struct buf line = BUF_INIT;

	rpc_write_refusal(&line, code, why->text);
	channel_put_line(channel, &line);
	buf_clear(&line);
	err_wrap(why, "channel %s: line %" PRIu64 " of the peer", channel->name,
		 channel->lines_read);
	channel_end(channel, why);
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
		channel_end(channel, &err);
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
	channel_send_calls(channel);
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
void channel_release_held(struct channel *channel)
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

void channel_take_lines(struct channel *channel)
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
	channel_give_back(&channel->in);
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
	channel_end(channel, &why);
}

static void on_read(uv_stream_t *stream, ssize_t len, const uv_buf_t *room);

void channel_read_or_not(struct channel *channel)
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
		channel_break_writing(channel, status);
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
	channel_take_lines(channel);
	channel_read_or_not(channel);
}
