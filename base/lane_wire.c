/* sendmsg and recvmsg with SCM_RIGHTS (unix(7)), and the blocking sender built on them. */
#include "base/lane_wire.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/lane.h"
#include "base/mem.h"

#define FDS_SEEN_MAX 4 /* of more, the kernel drops the rest and says so */

int lane_wire_line(const struct json *message, struct buf *out, struct err *err)
{
	json_write(message, out);
	buf_add_char(out, '\n');
	if (out->len > LANE_MESSAGE_MAX)
		return err_set(err, ERR_LIMIT, "message of %zu bytes, over %u", out->len,
			       LANE_MESSAGE_MAX);
	return 0;
}

ssize_t lane_wire_send(int lane_fd, const char *bytes, size_t len, int fd, struct err *err)
{
	char copy[LANE_MESSAGE_MAX]; /* sendmsg does not promise to leave the bytes alone */
	struct iovec part = {.iov_base = copy, .iov_len = len};
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.bytes = {0}};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	ssize_t sent;

	memcpy(copy, bytes, len);
	if (fd >= 0) {
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.head), &fd, sizeof(int));
	}
	do
		sent = sendmsg(lane_fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (sent < 0 && errno == EINTR);
	if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return 0;
	return sent < 0 ? err_errno(err, "send") : sent;
}

/* Collects the descriptors of a received message; returns how many came, ret holds the first. */
static size_t received_fds(struct msghdr *message, int fds[FDS_SEEN_MAX])
{
	size_t count = 0;

	for (struct cmsghdr *head = CMSG_FIRSTHDR(message); head != NULL;
	     head = CMSG_NXTHDR(message, head)) {
		size_t bytes = head->cmsg_len - CMSG_LEN(0);

		if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
			continue;
		for (size_t at = 0; at + sizeof(int) <= bytes && count < FDS_SEEN_MAX;
		     at += sizeof(int))
			memcpy(&fds[count++], CMSG_DATA(head) + at, sizeof(int));
	}
	return count;
}

ssize_t lane_wire_receive(int lane_fd, char *bytes, size_t size, int *ret_fd, struct err *err)
{
	struct iovec part = {.iov_base = bytes, .iov_len = size};
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(FDS_SEEN_MAX * sizeof(int))];
	} control = {.bytes = {0}};
	struct msghdr message = {.msg_iov = &part,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = sizeof(control.bytes)};
	int fds[FDS_SEEN_MAX];
	size_t count;
	ssize_t len;

	do
		len = recvmsg(lane_fd, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (len < 0 && errno == EINTR);
	if (len < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return LANE_WIRE_AGAIN;
	if (len < 0)
		return err_errno(err, "receive");
	count = received_fds(&message, fds);
	if (count > 1 || (message.msg_flags & MSG_CTRUNC)) {
		for (size_t i = 0; i < count; i++)
			close(fds[i]);
		return err_set(err, ERR_INVALID, "more than one descriptor with a message");
	}
	*ret_fd = count == 1 ? fds[0] : -1;
	return len;
}

static int64_t mono_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

struct patience {
	int64_t wait_ms;
	int64_t deadline_ms;
};

static int wait_for(int lane_fd, short events, const struct patience *patience, struct err *err)
{
	struct pollfd wanted = {.fd = lane_fd, .events = events};
	int64_t left = patience->deadline_ms - mono_ms();
	int ready;

	ready = poll(&wanted, 1, left > 0 ? (int)left : 0);
	if (ready == 0)
		return err_set(err, ERR_TIMEOUT, "the peer did not deal with it in %lld ms",
			       (long long)patience->wait_ms);
	if (ready < 0 && errno != EINTR)
		return err_errno(err, "poll");
	return 0;
}

static int await_ack(int lane_fd, const struct patience *patience, struct err *err)
{
	char bytes[2];
	int fd = -1;
	ssize_t len;

	while ((len = lane_wire_receive(lane_fd, bytes, sizeof(bytes), &fd, err)) ==
	       LANE_WIRE_AGAIN)
		if (wait_for(lane_fd, POLLIN, patience, err) < 0)
			return -1;
	fd_closep(&fd);
	if (len < 0)
		return -1;
	if (len == 0)
		return err_set(err, ERR_UNAVAILABLE, "the peer left before it dealt with it");
	if (len != 1 || fd >= 0 || bytes[0] != LANE_ACK[0])
		return err_set(err, ERR_INVALID, "the peer answered something else than an ACK");
	return 0;
}

static int send_and_wait(int lane_fd, const struct buf *line, int fd,
			 const struct patience *patience, struct err *err)
{
	size_t done = 0;

	while (done < line->len) {
		ssize_t sent = lane_wire_send(lane_fd, line->bytes + done, line->len - done,
					      done == 0 ? fd : -1, err);

		if (sent < 0)
			return -1;
		if (sent == 0 && wait_for(lane_fd, POLLOUT, patience, err) < 0)
			return -1;
		done += (size_t)sent;
	}
	return await_ack(lane_fd, patience, err);
}

int lane_send_blocking(int lane_fd, const struct json *message, int fd, struct err *err)
{
	return lane_send_within(lane_fd, message, fd, LANE_ACK_MS, err);
}

int lane_send_within(int lane_fd, const struct json *message, int fd, int64_t wait_ms,
		     struct err *err)
{
	struct patience patience = {wait_ms, mono_ms() + wait_ms};
	struct buf line = BUF_INIT;
	int result = lane_wire_line(message, &line, err);

	if (result == 0)
		result = send_and_wait(lane_fd, &line, fd, &patience, err);
	buf_clear(&line);
	return result < 0 ? err_wrap(err, "lane") : 0;
}
