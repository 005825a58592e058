/* Blocking lines of JSON over a socket pair. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/line.h"

struct pair {
	int ours, peers;
	struct line_reader reader;
};

static void pair_open(struct pair *pair, size_t line_bytes_max)
{
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	pair->ours = fds[0];
	pair->peers = fds[1];
	line_reader_init(&pair->reader, pair->ours, line_bytes_max);
}

static void pair_close(struct pair *pair)
{
	line_reader_clear(&pair->reader);
	close(pair->ours);
	if (pair->peers >= 0)
		close(pair->peers);
}

static void peer_says(const struct pair *pair, const char *text)
{
	assert_int_equal(write(pair->peers, text, strlen(text)), (ssize_t)strlen(text));
}

static void peer_leaves(struct pair *pair)
{
	close(pair->peers);
	pair->peers = -1;
}

static void reads(struct pair *pair, int64_t wanted)
{
	struct json *json = NULL;
	struct err err = {0};

	if (line_read(&pair->reader, 1000, &json, &err) != 1)
		fail_msg("%s", err.text);
	assert_int_equal(json_int(json), wanted);
	json_free(json);
}

static void fails(struct pair *pair, int deadline_ms, enum err_kind kind, const char *text)
{
	struct json *json = NULL;
	struct err err = {0};

	assert_int_equal(line_read(&pair->reader, deadline_ms, &json, &err), -1);
	assert_string_equal(err.text, text);
	assert_int_equal(err.kind, kind);
	assert_null(json);
}

static void test_line_reads_lines_however_they_arrive(void **state)
{
	struct pair pair;

	(void)state;
	pair_open(&pair, 100);
	peer_says(&pair, "1\n2\n3");
	reads(&pair, 1);
	reads(&pair, 2);
	peer_says(&pair, "4\n");
	reads(&pair, 34);
	peer_says(&pair, "5\r\n"); /* a blank to JSON */
	reads(&pair, 5);
	pair_close(&pair);
}

static void test_line_end_of_stream_is_clean_only_between_lines(void **state)
{
	struct pair pair;
	struct json *json = NULL;
	struct err err = {0};

	(void)state;
	pair_open(&pair, 100);
	peer_says(&pair, "1\n");
	peer_leaves(&pair);
	reads(&pair, 1);
	assert_int_equal(line_read(&pair.reader, -1, &json, &err), 0);
	assert_int_equal(line_read(&pair.reader, 10, &json, &err), 0);
	pair_close(&pair);

	pair_open(&pair, 100);
	peer_says(&pair, "1\n2");
	peer_leaves(&pair);
	reads(&pair, 1);
	fails(&pair, 1000, ERR_UNAVAILABLE, "the stream ended within a line");
	pair_close(&pair);
}

static void test_line_length_is_bounded(void **state)
{
	struct pair pair;

	(void)state;
	pair_open(&pair, 4);
	peer_says(&pair, "123\n1234\n12345\n");
	reads(&pair, 123);
	reads(&pair, 1234);
	fails(&pair, 1000, ERR_LIMIT, "the line is longer than 4 bytes");
	fails(&pair, 1000, ERR_LIMIT, "the line is longer than 4 bytes"); /* and stays so */
	pair_close(&pair);

	pair_open(&pair, 4);
	peer_says(&pair, "12345"); /* refused before its end has come */
	fails(&pair, 1000, ERR_LIMIT, "the line is longer than 4 bytes");
	pair_close(&pair);
}

static void test_line_after_a_bad_line_the_next_is_read(void **state)
{
	struct pair pair;

	(void)state;
	pair_open(&pair, 100);
	peer_says(&pair, "{\"a\":1,\"a\":2}\n\n7\n");
	fails(&pair, 1000, ERR_INVALID, "line 1, column 8: duplicate member \"a\"");
	fails(&pair, 1000, ERR_INVALID,
	      "line 1, column 1: the text ends where a value is expected");
	reads(&pair, 7);
	pair_close(&pair);
}

static void test_line_waits_no_longer_than_told(void **state)
{
	struct pair pair;
	int64_t start;

	(void)state;
	pair_open(&pair, 100);
	start = clock_mono_us();
	fails(&pair, 30, ERR_TIMEOUT, "no line within the time given");
	assert_in_range(clock_mono_us() - start, 29000, 2000000);
	peer_says(&pair, "4"); /* half a line does not count, and is not lost */
	fails(&pair, 0, ERR_TIMEOUT, "no line within the time given");
	fails(&pair, 30, ERR_TIMEOUT, "no line within the time given");
	peer_says(&pair, "2\n");
	reads(&pair, 42);
	pair_close(&pair);
}

static void on_alarm(int number)
{
	(void)number;
}

/* SIGALRM every 2 ms for as long as the test runs. */
static void alarms(bool on)
{
	struct sigaction action = {.sa_handler = on ? on_alarm : SIG_DFL};
	struct itimerval timer = {{0, on ? 2000 : 0}, {0, on ? 2000 : 0}};

	if (on)
		sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
	if (!on)
		sigaction(SIGALRM, &action, NULL);
}

static void test_line_goes_on_after_signals(void **state)
{
	struct pair pair;
	struct json *json = NULL;
	struct err err = {0};
	pid_t child;

	(void)state;
	pair_open(&pair, 100);
	child = fork();
	if (child == 0) {
		usleep(50000);
		_exit(write(pair.peers, "42\n", 3) != 3);
	}
	alarms(true);
	assert_int_equal(line_read(&pair.reader, -1, &json, &err), 1);
	alarms(false);
	assert_int_equal(json_int(json), 42);
	json_free(json);
	while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
		;
	alarms(true);
	fails(&pair, 50, ERR_TIMEOUT, "no line within the time given");
	alarms(false);
	pair_close(&pair);
}

static struct json *large(void)
{
	struct json *json = json_array();

	for (int i = 0; i < 50000; i++)
		json_push_str(json, "some text, many times");
	return json;
}

/* More than a socket holds, both ends non-blocking, in two processes. */
static void test_line_passes_more_than_a_socket_holds(void **state)
{
	CLEANUP(json_freep) struct json *json = large();
	struct json *got = NULL;
	struct pair pair;
	struct err err = {0};
	int status;
	pid_t child;

	(void)state;
	pair_open(&pair, 4 << 20);
	assert_int_equal(fcntl(pair.ours, F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(fcntl(pair.peers, F_SETFL, O_NONBLOCK), 0);
	child = fork();
	if (child == 0)
		_exit(line_write(pair.peers, json, &err) != 0);
	assert_int_equal(line_read(&pair.reader, -1, &got, &err), 1);
	assert_true(json_equal(json, got));
	json_free(got);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	pair_close(&pair);
}

static void test_line_says_that_the_peer_has_gone(void **state)
{
	CLEANUP(json_freep) struct json *json = json_new_int(1);
	struct pair pair;
	struct err err = {0};

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	pair_open(&pair, 100);
	assert_int_equal(line_write(pair.peers, json, &err), 0);
	reads(&pair, 1);
	peer_leaves(&pair);
	assert_int_equal(line_write(pair.ours, json, &err), -1);
	assert_int_equal(err.kind, ERR_UNAVAILABLE);
	assert_string_equal(err.text, "the peer has gone");
	pair_close(&pair);
}

/* A peer that closes with bytes of ours unread resets the stream. */
static void test_line_reset_is_a_gone_peer(void **state)
{
	CLEANUP(json_freep) struct json *json = json_new_int(1);
	struct pair pair;
	struct err err = {0};

	(void)state;
	pair_open(&pair, 100);
	assert_int_equal(line_write(pair.ours, json, &err), 0);
	peer_leaves(&pair);
	fails(&pair, 1000, ERR_UNAVAILABLE, "the peer has gone");
	pair_close(&pair);
}

static void test_line_reports_what_the_system_says(void **state)
{
	CLEANUP(json_freep) struct json *json = json_new_int(1), *got = NULL;
	struct line_reader reader;
	struct err err = {0};

	(void)state;
	line_reader_init(&reader, -1, 10);
	assert_int_equal(line_read(&reader, -1, &got, &err), -1);
	assert_string_equal(err.text, "read: Bad file descriptor");
	assert_int_equal(err.kind, ERR_IO);
	line_reader_clear(&reader);
	assert_int_equal(line_write(-1, json, &err), -1);
	assert_string_equal(err.text, "write: Bad file descriptor");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_line_reads_lines_however_they_arrive),
		cmocka_unit_test(test_line_end_of_stream_is_clean_only_between_lines),
		cmocka_unit_test(test_line_length_is_bounded),
		cmocka_unit_test(test_line_after_a_bad_line_the_next_is_read),
		cmocka_unit_test(test_line_waits_no_longer_than_told),
		cmocka_unit_test(test_line_goes_on_after_signals),
		cmocka_unit_test(test_line_passes_more_than_a_socket_holds),
		cmocka_unit_test(test_line_says_that_the_peer_has_gone),
		cmocka_unit_test(test_line_reset_is_a_gone_peer),
		cmocka_unit_test(test_line_reports_what_the_system_says),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
