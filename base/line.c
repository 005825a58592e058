/*
 * Blocking lines of JSON. Without a deadline only read() and write() are called and a line's room
 * is taken at the start, so that a process confined to these two can use it. The end of the stream
 * within a line, a line over the bound and a passed deadline are errors; a line that is not JSON
 * is consumed, so the next one can be read. Processes must ignore SIGPIPE.
 */
#include "base/line.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

#define READ_CHUNK 4096u

void line_reader_init(struct line_reader *reader, int fd, size_t line_bytes_max)
{
	reader->fd = fd;
	reader->line_bytes_max = line_bytes_max;
	buf_init(&reader->pending);
	buf_reserve(&reader->pending, line_bytes_max + READ_CHUNK);
}

void line_reader_clear(struct line_reader *reader)
{
	buf_clear(&reader->pending);
}

/* Milliseconds left until the deadline, rounded up; -1 without one. */
static int left_ms(int64_t deadline_us)
{
	int64_t left;

	if (deadline_us < 0)
		return -1;
	left = (deadline_us - clock_mono_us() + 999) / 1000;
	if (left < 0)
		return 0;
	return left > INT_MAX ? INT_MAX : (int)left;
}

static int wait_for(int fd, short events, int64_t deadline_us, struct err *err)
{
	struct pollfd poll_fd = {.fd = fd, .events = events};
	int ready;

	do
		ready = poll(&poll_fd, 1, left_ms(deadline_us));
	while (ready < 0 && errno == EINTR);
	if (ready < 0)
		return err_errno(err, "poll");
	if (ready == 0)
		return err_set(err, ERR_TIMEOUT, "no line within the time given");
	return 0;
}

/* 1: bytes were added; 0: end of stream. */
static int fill(struct line_reader *reader, int64_t deadline_us, struct err *err)
{
	char chunk[READ_CHUNK];
	ssize_t got;

	for (;;) {
		if (deadline_us >= 0 && wait_for(reader->fd, POLLIN, deadline_us, err) < 0)
			return -1;
		got = read(reader->fd, chunk, sizeof(chunk));
		if (got >= 0)
			break;
		if (errno == EAGAIN && deadline_us < 0 &&
		    wait_for(reader->fd, POLLIN, deadline_us, err) < 0)
			return -1;
		if (errno == ECONNRESET)
			return err_set(err, ERR_UNAVAILABLE, "the peer has gone");
		if (errno != EINTR && errno != EAGAIN)
			return err_errno(err, "read");
	}
	buf_add(&reader->pending, chunk, (size_t)got);
	return got > 0;
}

static int too_long(const struct line_reader *reader, struct err *err)
{
	return err_set(err, ERR_LIMIT, "the line is longer than %zu bytes", reader->line_bytes_max);
}

/* 1: pending holds a whole line of *ret_len bytes before its LF. */
static int find_line(struct line_reader *reader, int64_t deadline_us, size_t *ret_len,
		     struct err *err)
{
	struct buf *pending = &reader->pending;
	size_t searched = 0;

	for (;;) {
		const char *lf = pending->len > searched ? memchr(pending->bytes + searched, '\n',
								  pending->len - searched)
							 : NULL;
		int got;

		if (lf != NULL) {
			*ret_len = (size_t)(lf - pending->bytes);
			return *ret_len > reader->line_bytes_max ? too_long(reader, err) : 1;
		}
		searched = pending->len;
		if (searched > reader->line_bytes_max)
			return too_long(reader, err);
		got = fill(reader, deadline_us, err);
		if (got < 0)
			return -1;
		if (got == 0 && pending->len > 0)
			return err_set(err, ERR_UNAVAILABLE, "the stream ended within a line");
		if (got == 0)
			return 0;
	}
}

int line_read(struct line_reader *reader, int deadline_ms, struct json **ret_json, struct err *err)
{
	int64_t deadline_us = deadline_ms < 0 ? -1 : clock_mono_us() + deadline_ms * 1000LL;
	size_t len = 0;
	int found = find_line(reader, deadline_us, &len, err);
	int parsed;

	if (found <= 0)
		return found;
	parsed = json_parse(reader->pending.bytes, len, reader->line_bytes_max, ret_json, err);
	buf_drop(&reader->pending, len + 1);
	return parsed < 0 ? -1 : 1;
}

static int write_all(int fd, const char *bytes, size_t len, struct err *err)
{
	while (len > 0) {
		ssize_t done = write(fd, bytes, len);

		if (done >= 0) {
			bytes += done;
			len -= (size_t)done;
		} else if (errno == EAGAIN) {
			if (wait_for(fd, POLLOUT, -1, err) < 0)
				return -1;
		} else if (errno == EPIPE || errno == ECONNRESET) {
			return err_set(err, ERR_UNAVAILABLE, "the peer has gone");
		} else if (errno != EINTR) {
			return err_errno(err, "write");
		}
	}
	return 0;
}

int line_write(int fd, const struct json *json, struct err *err)
{
	CLEANUP(buf_clear) struct buf line = BUF_INIT;

	json_write(json, &line);
	buf_add_char(&line, '\n');
	return write_all(fd, line.bytes, line.len, err);
}
