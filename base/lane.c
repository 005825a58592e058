/*
 * Descriptors between two of our processes, over a stream socket of their own, on libuv.
 *
 * A message leaves as one parcel (base/lane_wire.h) and the next waits for the ACK. Both ends may
 * send; an ACK is never written inside a message that left only in part.
 *
 * What can fail: the peer (more than one descriptor, a descriptor where none belongs, a second
 * message before the ACK, a line too long, no ACK in time). Each ends the lane through fail(), with
 * one reason and no descriptor left open.
 */
#include "base/lane.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/lane_wire.h"
#include "base/mem.h"

struct parcel {
	STAILQ_ENTRY(parcel) next;
	struct buf line;
	size_t sent;
	int fd; /* owned; -1 once it left with the first byte */
};

struct lane {
	uv_poll_t poll;
	uv_timer_t timer; /* runs while an ACK is awaited, and to report an end from the loop */
	int handles_open;
	int fd;
	bool polled; /* poll was opened on fd */
	bool ended;
	bool ack_awaited; /* the first parcel left whole */
	bool ack_due;	  /* a message of the peer was dealt with */
	STAILQ_HEAD(, parcel) parcels;
	struct buf in;
	int in_fd;	     /* came with the message that is being read */
	struct err end_with; /* kind is not ERR_NONE: the timer ends the lane with this */
	lane_on_message *on_message;
	lane_on_close *on_close;
	void *owner;
};

static void on_poll(uv_poll_t *poll, int status, int events);
static void on_timer(uv_timer_t *timer);

/* ---- end ---- */

static void parcel_free(struct parcel *parcel)
{
	fd_closep(&parcel->fd);
	buf_clear(&parcel->line);
	mem_free(parcel);
}

static void on_handle_closed(uv_handle_t *handle)
{
	struct lane *lane = handle->data;

	if (--lane->handles_open > 0)
		return;
	fd_closep(&lane->fd);
	mem_free(lane);
}

static void end(struct lane *lane)
{
	struct parcel *parcel;

	lane->ended = true;
	while ((parcel = STAILQ_FIRST(&lane->parcels)) != NULL) {
		STAILQ_REMOVE_HEAD(&lane->parcels, next);
		parcel_free(parcel);
	}
	fd_closep(&lane->in_fd);
	lane->in_fd = -1;
	buf_clear(&lane->in);
	if (lane->polled)
		uv_close((uv_handle_t *)&lane->poll, on_handle_closed);
	uv_close((uv_handle_t *)&lane->timer, on_handle_closed);
}

static void fail(struct lane *lane, const struct err *why)
{
	struct err reason = *why;

	if (lane->ended)
		return;
	end(lane);
	if (lane->on_close != NULL)
		lane->on_close(lane, lane->owner, &reason);
}

void lane_close(struct lane *lane)
{
	if (lane != NULL && !lane->ended)
		end(lane);
}

/* ---- out ---- */

size_t lane_waiting(const struct lane *lane)
{
	const struct parcel *parcel;
	size_t count = 0;

	STAILQ_FOREACH(parcel, &lane->parcels, next)
	count++;
	return count;
}

static void watch(struct lane *lane)
{
	const struct parcel *first = STAILQ_FIRST(&lane->parcels);
	int events = UV_READABLE;

	if (lane->ended || !lane->polled)
		return;
	if (lane->ack_due || (first != NULL && !lane->ack_awaited))
		events |= UV_WRITABLE;
	uv_poll_start(&lane->poll, events, on_poll);
}

static int write_ack(struct lane *lane, struct err *err)
{
	const struct parcel *first = STAILQ_FIRST(&lane->parcels);
	bool inside = first != NULL && first->sent > 0 && !lane->ack_awaited;
	int result;

	if (!lane->ack_due || inside)
		return 0;
	result = lane_wire_send(lane->fd, LANE_ACK, 1, -1, err) < 0 ? -1 : 0;
	if (result == 0)
		lane->ack_due = false;
	return result;
}

static int write_parcel(struct lane *lane, struct err *err)
{
	struct parcel *first = STAILQ_FIRST(&lane->parcels);
	ssize_t sent;

	if (first == NULL || lane->ack_awaited)
		return 0;
	sent = lane_wire_send(lane->fd, first->line.bytes + first->sent,
			      first->line.len - first->sent, first->fd, err);
	if (sent < 0)
		return -1;
	if (sent > 0) {
		fd_closep(&first->fd);
		first->fd = -1;
	}
	first->sent += (size_t)sent;
	if (first->sent < first->line.len)
		return 0;
	lane->ack_awaited = true;
	uv_timer_start(&lane->timer, on_timer, LANE_ACK_MS, 0);
	return 0;
}

void lane_send(struct lane *lane, struct json *message, int fd)
{
	CLEANUP(json_freep) struct json *owned = message;
	struct parcel *parcel;
	struct err err;

	if (lane->ended) {
		fd_closep(&fd);
		return;
	}
	parcel = mem_alloc(sizeof(*parcel));
	parcel->fd = fd;
	STAILQ_INSERT_TAIL(&lane->parcels, parcel, next);
	if (lane_wire_line(owned, &parcel->line, &err) < 0 && lane->end_with.kind == ERR_NONE) {
		lane->end_with = err;
		uv_timer_start(&lane->timer, on_timer, 0, 0);
	}
	watch(lane);
}

/* ---- in ---- */

static int take_ack(struct lane *lane, struct err *err)
{
	struct parcel *first = STAILQ_FIRST(&lane->parcels);

	if (!lane->ack_awaited)
		return err_set(err, ERR_INVALID, "the peer acknowledged what was not sent");
	uv_timer_stop(&lane->timer);
	lane->ack_awaited = false;
	STAILQ_REMOVE_HEAD(&lane->parcels, next);
	parcel_free(first);
	return 0;
}

static int take_message(struct lane *lane, size_t len, struct err *err)
{
	CLEANUP(json_freep) struct json *message = NULL;
	int fd;

	if (lane->ack_due)
		return err_set(err, ERR_INVALID,
			       "a second message before the first was dealt with");
	if (json_parse(lane->in.bytes, len, LANE_MESSAGE_MAX, &message, err) < 0)
		return err_wrap(err, "message of the peer");
	if (json_type(message) != JSON_OBJECT)
		return err_set(err, ERR_INVALID, "message of the peer: wanted an object");
	buf_drop(&lane->in, len + 1);
	fd = lane->in_fd;
	lane->in_fd = -1;
	lane->ack_due = true;
	lane->on_message(lane, lane->owner, message, fd);
	return 0;
}

/* Takes ACKs and whole messages from the front of what was read. */
static int take_all(struct lane *lane, struct err *err)
{
	while (!lane->ended && lane->in.len > 0) {
		const char *newline;

		if (lane->in.bytes[0] == LANE_ACK[0]) {
			buf_drop(&lane->in, 1);
			if (take_ack(lane, err) < 0)
				return -1;
			continue;
		}
		newline = memchr(lane->in.bytes, '\n', lane->in.len);
		if (newline == NULL && lane->in.len < LANE_MESSAGE_MAX)
			return 0;
		if (newline == NULL || newline - lane->in.bytes >= (ptrdiff_t)LANE_MESSAGE_MAX)
			return err_set(err, ERR_LIMIT, "message of the peer over %u bytes",
				       LANE_MESSAGE_MAX);
		if (take_message(lane, (size_t)(newline - lane->in.bytes), err) < 0)
			return -1;
	}
	return 0;
}

static int take_fd(struct lane *lane, bool at_start, const char *bytes, int fd, struct err *err)
{
	if (fd < 0)
		return 0;
	if (!at_start || bytes[0] == LANE_ACK[0]) {
		close(fd);
		return err_set(err, ERR_INVALID, "a descriptor that belongs to no message");
	}
	lane->in_fd = fd;
	return 0;
}

/* 1: something was read, 0: nothing is there, -1: failed, with ERR_NONE at a clean end. */
static int read_some(struct lane *lane, struct err *err)
{
	char bytes[LANE_MESSAGE_MAX];
	bool at_start = lane->in.len == 0;
	ssize_t len;
	int fd = -1;

	len = lane_wire_receive(lane->fd, bytes, sizeof(bytes), &fd, err);
	if (len == LANE_WIRE_AGAIN)
		return 0;
	if (len < 0 || take_fd(lane, at_start, bytes, fd, err) < 0)
		return -1;
	if (len > 0) {
		buf_add(&lane->in, bytes, (size_t)len);
		return take_all(lane, err) < 0 ? -1 : 1;
	}
	if (!at_start)
		return err_set(err, ERR_INVALID, "the peer left inside a message");
	if (!STAILQ_EMPTY(&lane->parcels))
		return err_set(err, ERR_UNAVAILABLE,
			       "the peer left before it dealt with a message");
	return err_set(err, ERR_NONE, "the peer closed the lane");
}

/* ---- loop ---- */

static void on_poll(uv_poll_t *poll, int status, int events)
{
	struct lane *lane = poll->data;
	struct err err = {0};
	int result = 0;

	if (status < 0)
		result = err_set(&err, ERR_IO, "poll: %s", uv_strerror(status));
	/* Reading first: a peer that left may have acknowledged before. */
	if (result == 0 && (events & UV_READABLE))
		result = read_some(lane, &err);
	if (result >= 0 && !lane->ended)
		result = write_ack(lane, &err);
	if (result >= 0 && !lane->ended)
		result = write_parcel(lane, &err);
	if (result < 0) {
		if (err.kind != ERR_NONE)
			err_wrap(&err, "lane");
		fail(lane, &err);
	}
	watch(lane);
}

static void on_timer(uv_timer_t *timer)
{
	struct lane *lane = timer->data;
	struct err err = lane->end_with;

	if (err.kind == ERR_NONE)
		err_set(&err, ERR_TIMEOUT, "the peer did not deal with a message in %u ms",
			LANE_ACK_MS);
	err_wrap(&err, "lane");
	fail(lane, &err);
}

struct lane *lane_open(uv_loop_t *loop, int fd, lane_on_message *on_message,
		       lane_on_close *on_close, void *owner)
{
	struct lane *lane = mem_alloc(sizeof(*lane));
	int status;

	lane->fd = fd;
	lane->in_fd = -1;
	lane->on_message = on_message;
	lane->on_close = on_close;
	lane->owner = owner;
	STAILQ_INIT(&lane->parcels);
	uv_timer_init(loop, &lane->timer);
	lane->timer.data = lane->poll.data = lane;
	status = uv_poll_init(loop, &lane->poll, fd);
	lane->polled = status == 0;
	lane->handles_open = lane->polled ? 2 : 1;
	if (!lane->polled) {
		err_set(&lane->end_with, ERR_IO, "open: %s", uv_strerror(status));
		uv_timer_start(&lane->timer, on_timer, 0, 0);
	}
	watch(lane);
	return lane;
}
