/* Lanes over a socketpair: descriptors arrive with their message, and a peer that breaks the rules
 * loses the lane without leaving a descriptor behind. Every test ends with uv_loop_close() == 0. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/lane.h"
#include "base/lane_wire.h"
#include "base/mem.h"

struct side {
	struct lane *lane;
	int messages;
	int fds[8];
	int64_t ns[8];
	int closed;
	struct err why;
	bool close_in_message;
	bool answer;
};

static uv_loop_t loop;
static int fds_at_start;

static int count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;

	while (readdir(dir) != NULL)
		count++;
	closedir(dir);
	return count;
}

static struct json *number(int64_t n)
{
	struct json *object = json_object();

	json_set_int(object, "n", n);
	return object;
}

static void on_message(struct lane *lane, void *owner, const struct json *message, int fd)
{
	struct side *side = owner;

	side->ns[side->messages] = json_get_int(message, "n", -1);
	side->fds[side->messages++] = fd;
	if (side->answer)
		lane_send(lane, number(100), -1);
	if (side->close_in_message) {
		lane_close(lane);
		side->lane = NULL;
	}
}

static void on_close(struct lane *lane, void *owner, const struct err *why)
{
	struct side *side = owner;

	(void)lane;
	side->closed++;
	side->why = *why;
	side->lane = NULL;
}

static int open_bare(struct side *side)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	side->lane = lane_open(&loop, ends[0], on_message, on_close, side);
	return ends[1];
}

static void open_pair(struct side *near, struct side *far)
{
	int fd = open_bare(near);

	far->lane = lane_open(&loop, fd, on_message, on_close, far);
}

static void turn(void)
{
	for (int i = 0; i < 20; i++)
		uv_run(&loop, UV_RUN_NOWAIT);
}

static void close_all(struct side *near, struct side *far)
{
	if (near != NULL)
		lane_close(near->lane);
	if (far != NULL)
		lane_close(far->lane);
	assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0);
}

static int set_up(void **state)
{
	(void)state;
	if (uv_loop_init(&loop) != 0)
		return -1;
	fds_at_start = count_fds();
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	if (count_fds() != fds_at_start)
		return -1;
	return uv_loop_close(&loop);
}

/* A pipe whose reading end is sent; what is written into the other must come out at the peer. */
static void assert_same_pipe(int reader, int writer, char mark)
{
	char got = 0;

	assert_true(reader >= 0);
	assert_int_equal(write(writer, &mark, 1), 1);
	assert_int_equal(read(reader, &got, 1), 1);
	assert_int_equal(got, mark);
	assert_true(fcntl(reader, F_GETFD) & FD_CLOEXEC);
	close(reader);
	close(writer);
}

static void test_two_messages_arrive_each_with_its_own_descriptor(void **state)
{
	struct side near = {0}, far = {0};
	int first[2], second[2];

	(void)state;
	open_pair(&near, &far);
	assert_int_equal(pipe(first), 0);
	assert_int_equal(pipe(second), 0);
	lane_send(near.lane, number(1), first[0]);
	lane_send(near.lane, number(2), second[0]);
	lane_send(near.lane, number(3), -1);
	assert_int_equal(lane_waiting(near.lane), 3);
	turn();
	assert_int_equal(lane_waiting(near.lane), 0);
	assert_int_equal(far.messages, 3);
	assert_int_equal(far.ns[0], 1);
	assert_int_equal(far.ns[1], 2);
	assert_int_equal(far.fds[2], -1);
	assert_same_pipe(far.fds[0], first[1], 'a');
	assert_same_pipe(far.fds[1], second[1], 'b');
	close_all(&near, &far);
}

static void test_both_ends_may_send_at_once(void **state)
{
	struct side near = {.answer = false}, far = {.answer = true};

	(void)state;
	open_pair(&near, &far);
	lane_send(near.lane, number(1), -1);
	lane_send(near.lane, number(2), -1);
	lane_send(far.lane, number(9), -1);
	turn();
	assert_int_equal(far.messages, 2);
	assert_int_equal(near.messages, 3);
	assert_int_equal(near.ns[0], 9);
	assert_int_equal(near.ns[2], 100);
	close_all(&near, &far);
	assert_int_equal(near.closed + far.closed, 0);
}

static void test_the_second_message_waits_for_the_acknowledgement(void **state)
{
	struct side near = {0};
	int fd = open_bare(&near);
	char bytes[256];

	(void)state;
	lane_send(near.lane, number(1), -1);
	lane_send(near.lane, number(2), -1);
	turn();
	assert_int_equal(recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT), 8);
	assert_memory_equal(bytes, "{\"n\":1}\n", 8);
	turn();
	assert_int_equal(recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT), -1);
	assert_int_equal(write(fd, LANE_ACK, 1), 1);
	turn();
	assert_int_equal(recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT), 8);
	assert_memory_equal(bytes, "{\"n\":2}\n", 8);
	close(fd);
	close_all(&near, NULL);
}

/* Sends bytes with count copies of descriptor 2, as a peer that does not keep to the rules. */
static void send_raw(int fd, const char *text, size_t count)
{
	char copy[2 * LANE_MESSAGE_MAX];
	struct iovec part = {.iov_base = copy, .iov_len = strlen(text)};
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(16 * sizeof(int))] = {0};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	memcpy(copy, text, strlen(text));
	if (count > 0) {
		struct cmsghdr *head;
		int two = 2;

		message.msg_control = control;
		message.msg_controllen = CMSG_SPACE(count * sizeof(int));
		head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(count * sizeof(int));
		for (size_t i = 0; i < count; i++)
			memcpy(CMSG_DATA(head) + i * sizeof(int), &two, sizeof(int));
	}
	assert_int_equal(sendmsg(fd, &message, 0), (ssize_t)strlen(text));
}

static void test_a_peer_that_breaks_the_rules_loses_the_lane(void **state)
{
	static const struct {
		const char *first;
		size_t first_fds;
		const char *second;
		size_t second_fds;
		const char *why;
	} cases[] = {
		{"{}\n", 2, NULL, 0, "lane: more than one descriptor with a message"},
		{"{}\n", 5, NULL, 0, "lane: more than one descriptor with a message"},
		{"{\"n\":", 0, "1}\n", 1, "lane: a descriptor that belongs to no message"},
		{"{\"n\":", 1, "1}\n", 1, "lane: a descriptor that belongs to no message"},
		{LANE_ACK, 1, NULL, 0, "lane: a descriptor that belongs to no message"},
		{LANE_ACK, 0, NULL, 0, "lane: the peer acknowledged what was not sent"},
		{"{}\n{}\n", 0, NULL, 0, "lane: a second message before the first was dealt with"},
		{"[]\n", 1, NULL, 0, "lane: message of the peer: wanted an object"},
		{"\n", 0, NULL, 0, "lane: message of the peer: "},
		{"{\"n\":1,\"n\":2}\n", 1, NULL, 0, "lane: message of the peer: "},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct side near = {0};
		int fd = open_bare(&near);

		send_raw(fd, cases[i].first, cases[i].first_fds);
		if (cases[i].second != NULL) {
			turn();
			assert_int_equal(near.closed, 0);
			send_raw(fd, cases[i].second, cases[i].second_fds);
		}
		turn();
		assert_int_equal(near.closed, 1);
		assert_int_equal(near.why.kind, ERR_INVALID);
		assert_memory_equal(near.why.text, cases[i].why, strlen(cases[i].why));
		close(fd);
		close_all(NULL, NULL);
		assert_int_equal(count_fds(), fds_at_start);
	}
}

static void test_the_message_cap_holds_at_its_edge(void **state)
{
	(void)state;
	for (size_t len = LANE_MESSAGE_MAX - 1; len <= LANE_MESSAGE_MAX + 1; len++) {
		struct side near = {0};
		int fd = open_bare(&near);
		char text[LANE_MESSAGE_MAX + 2];

		memset(text, ' ', sizeof(text));
		memcpy(text, "{\"n\":5}", 7);
		text[len - 1] = '\n';
		text[len] = '\0';
		send_raw(fd, text, 0);
		turn();
		assert_int_equal(near.messages, len <= LANE_MESSAGE_MAX ? 1 : 0);
		if (len > LANE_MESSAGE_MAX) {
			assert_int_equal(near.why.kind, ERR_LIMIT);
			assert_string_equal(near.why.text,
					    "lane: message of the peer over 4096 bytes");
		}
		close(fd);
		close_all(&near, NULL);
	}
}

static void test_a_message_of_ours_that_is_too_long_ends_the_lane(void **state)
{
	struct side near = {0}, far = {0};
	struct json *big = json_object();
	char text[LANE_MESSAGE_MAX + 1];

	(void)state;
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	json_set_str(big, "x", text);
	open_pair(&near, &far);
	lane_send(near.lane, big, dup(2));
	turn();
	assert_int_equal(near.closed, 1);
	assert_int_equal(near.why.kind, ERR_LIMIT);
	assert_int_equal(far.messages, 0);
	close_all(NULL, &far);
}

static void test_a_peer_that_leaves_is_told_apart(void **state)
{
	struct side near = {0};
	char bytes[64];
	int fd;

	(void)state;
	fd = open_bare(&near);
	close(fd);
	turn();
	assert_int_equal(near.why.kind, ERR_NONE);
	close_all(NULL, NULL);

	near = (struct side){0};
	fd = open_bare(&near);
	send_raw(fd, "{\"n\"", 1);
	turn();
	close(fd);
	turn();
	assert_string_equal(near.why.text, "lane: the peer left inside a message");
	close_all(NULL, NULL);

	near = (struct side){0};
	fd = open_bare(&near);
	lane_send(near.lane, number(1), dup(2));
	lane_send(near.lane, number(2), dup(2));
	turn();
	assert_int_equal(recv(fd, bytes, sizeof(bytes), 0), 8);
	close(fd);
	turn();
	assert_int_equal(near.why.kind, ERR_UNAVAILABLE);
	assert_string_equal(near.why.text, "lane: the peer left before it dealt with a message");
	close_all(NULL, NULL);
}

static void test_a_handler_may_close_the_lane(void **state)
{
	struct side near = {0}, far = {.close_in_message = true};

	(void)state;
	open_pair(&near, &far);
	lane_send(near.lane, number(1), -1);
	lane_send(near.lane, number(2), dup(2));
	turn();
	assert_int_equal(far.messages, 1);
	assert_int_equal(far.closed, 0);
	assert_int_equal(near.closed, 1);
	close_all(NULL, NULL);
}

static void test_a_descriptor_that_cannot_be_watched_is_reported(void **state)
{
	struct side near = {0};
	FILE *file = tmpfile();

	(void)state;
	near.lane = lane_open(&loop, dup(fileno(file)), on_message, on_close, &near);
	lane_send(near.lane, number(1), dup(2));
	close_all(NULL, NULL);
	assert_int_equal(near.closed, 1);
	assert_int_equal(near.why.kind, ERR_IO);
	fclose(file);
}

/* ---- the blocking sender ---- */

struct blocking {
	int fd;
	int passed;
	int result;
	struct err err;
};

static void *send_twice(void *data)
{
	struct blocking *blocking = data;
	struct json *message = number(1);

	blocking->result =
		lane_send_blocking(blocking->fd, message, blocking->passed, &blocking->err);
	if (blocking->result == 0)
		blocking->result = lane_send_blocking(blocking->fd, message, -1, &blocking->err);
	json_free(message);
	close(blocking->fd);
	return NULL;
}

static void test_the_blocking_sender_waits_for_each_acknowledgement(void **state)
{
	struct side far = {0};
	struct blocking blocking = {.fd = open_bare(&far)};
	pthread_t thread;
	int ends[2];

	(void)state;
	assert_int_equal(pipe(ends), 0);
	blocking.passed = ends[0];
	assert_int_equal(pthread_create(&thread, NULL, send_twice, &blocking), 0);
	uv_run(&loop, UV_RUN_DEFAULT); /* until the sender closes its end */
	pthread_join(thread, NULL);
	assert_int_equal(blocking.result, 0);
	assert_int_equal(far.messages, 2);
	assert_int_equal(far.closed, 1);
	assert_int_equal(far.why.kind, ERR_NONE);
	close(ends[0]);
	assert_same_pipe(far.fds[0], ends[1], 'c');
}

static void test_the_blocking_sender_reports_what_the_peer_does(void **state)
{
	struct json *message = number(1);
	struct err err = {0};
	int ends[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	send_raw(ends[1], "no", 0);
	assert_int_equal(lane_send_blocking(ends[0], message, -1, &err), -1);
	assert_string_equal(err.text, "lane: the peer answered something else than an ACK");
	close(ends[0]);
	close(ends[1]);

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	shutdown(ends[1], SHUT_WR);
	assert_int_equal(lane_send_blocking(ends[0], message, 2, &err), -1);
	assert_string_equal(err.text, "lane: the peer left before it dealt with it");
	assert_int_equal(err.kind, ERR_UNAVAILABLE);
	close(ends[1]);
	assert_int_equal(lane_send_blocking(ends[0], message, 2, &err), -1);
	assert_string_equal(err.text, "lane: send: Broken pipe");
	close(ends[0]);
	json_free(message);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		T(test_two_messages_arrive_each_with_its_own_descriptor),
		T(test_both_ends_may_send_at_once),
		T(test_the_second_message_waits_for_the_acknowledgement),
		T(test_a_peer_that_breaks_the_rules_loses_the_lane),
		T(test_the_message_cap_holds_at_its_edge),
		T(test_a_message_of_ours_that_is_too_long_ends_the_lane),
		T(test_a_peer_that_leaves_is_told_apart),
		T(test_a_handler_may_close_the_lane),
		T(test_a_descriptor_that_cannot_be_watched_is_reported),
		T(test_the_blocking_sender_waits_for_each_acknowledgement),
		T(test_the_blocking_sender_reports_what_the_peer_does),
#undef T
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
