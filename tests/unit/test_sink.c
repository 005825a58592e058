/* Following the log for a sink, and the two kinds of place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sys/socket.h>
#include <sys/un.h>

#include "broker/sink/target.h"
#include "tests/unit/audit_place.h"

static struct err err;
static char got[1 << 20]; /* lines that were taken */
static int refuse_from = -1;

static int setup(void **state)
{
	struct place *place = place_new(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");

	place->limits.segment_bytes = 2000;
	got[0] = '\0';
	refuse_from = -1;
	*state = place;
	return 0;
}

static int teardown(void **state)
{
	place_free(*state);
	return 0;
}

static int take(void *data, const struct followed *record, struct err *why)
{
	(void)data;
	if (refuse_from >= 0 && record->seq >= (uint64_t)refuse_from)
		return err_set(why, ERR_IO, "the place is down");
	strncat(got, record->line, record->len);
	strcat(got, "\n");
	return 0;
}

static void append_each(struct place *place, int count)
{
	for (int i = 0; i < count; i++) {
		place_append(place, "task-1");
		place_run(place);
	}
}

static void test_every_published_record_comes_once_in_order(void **state)
{
	struct place *place = *state;
	struct follow *follow;
	struct buf log;
	int dir_fd;
	int total = 0;

	assert_int_equal(place_open(place), 0);
	append_each(place, 40);
	dir_fd = open(place->dir, O_RDONLY | O_DIRECTORY);
	follow = follow_new(dir_fd, &place->vkey, 0);
	for (int taken; (taken = follow_round(follow, 7, take, NULL, &err)) > 0; total += taken)
		assert_true(taken <= 7);
	assert_true(total >= 40);
	assert_int_equal(follow_round(follow, 7, take, NULL, &err), 0);
	append_each(place, 5);
	while (follow_round(follow, 1000, take, NULL, &err) > 0)
		;
	log = place_read_log(place);
	assert_string_equal(got, buf_str(&log));
	assert_int_equal(follow_next(follow), follow_published(follow));
	buf_clear(&log);
	follow_free(follow);
	/* From a cursor in the middle. */
	got[0] = '\0';
	follow = follow_new(dir_fd, &place->vkey, 17);
	assert_true(follow_round(follow, 1, take, NULL, &err) == 1);
	assert_non_null(strstr(got, "\"_seq\":17,"));
	assert_int_equal(follow_next(follow), 18);
	follow_free(follow);
	close(dir_fd);
	place_close(place);
}

static void test_what_was_refused_comes_again(void **state)
{
	struct place *place = *state;
	struct follow *follow;
	struct buf log;
	int dir_fd;

	assert_int_equal(place_open(place), 0);
	append_each(place, 30);
	dir_fd = open(place->dir, O_RDONLY | O_DIRECTORY);
	follow = follow_new(dir_fd, &place->vkey, 0);
	for (refuse_from = 3; refuse_from < 30; refuse_from += 4) {
		assert_int_equal(follow_round(follow, 1000, take, NULL, &err), -1);
		assert_string_equal(err.text, "the place is down");
		assert_int_equal(follow_next(follow), refuse_from);
	}
	refuse_from = -1;
	while (follow_round(follow, 1000, take, NULL, &err) > 0)
		;
	log = place_read_log(place);
	assert_string_equal(got, buf_str(&log));
	buf_clear(&log);
	follow_free(follow);
	close(dir_fd);
	place_close(place);
}

static void test_a_log_that_does_not_fit_is_not_handed_on(void **state)
{
	struct place *place = *state;
	struct follow *follow;
	struct buf log;
	int dir_fd;

	place->limits.segment_bytes = 0;
	assert_int_equal(place_open(place), 0);
	append_each(place, 5);
	place_close(place);
	dir_fd = open(place->dir, O_RDONLY | O_DIRECTORY);
	log = place_read(place, PLACE_LOG);
	*strrchr(log.bytes, '-') = '+'; /* the last record: only the root tells */
	place_write(place, PLACE_LOG, log.bytes, log.len);
	follow = follow_new(dir_fd, &place->vkey, 0);
	assert_int_equal(follow_round(follow, 1000, take, NULL, &err), -1);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_string_equal(err.text, "the records do not give the root of checkpoint at 6");
	assert_int_equal(follow_next(follow), 5);
	follow_free(follow);
	buf_clear(&log);
	close(dir_fd);
}

static struct followed a_record(void)
{
	static const char line[] = "{\"_prev\":\"00\",\"_seq\":3,\"ev\":\"task.open\",\"ts\":"
				   "\"2026-08-22T10:00:01.000001Z\",\"v\":1}";
	struct followed record = {.seq = 3, .line = line, .len = sizeof(line) - 1};

	memset(record.leaf, 0xAB, sizeof(record.leaf));
	return record;
}

static void test_a_syslog_message_keeps_number_leaf_and_predecessor(void **state)
{
	struct followed record = a_record();
	struct buf out = BUF_INIT;

	(void)state;
	syslog_message(&record, "host", &out);
	assert_string_equal(
		buf_str(&out),
		"<110>1 2026-08-22T10:00:01.000001Z host writ - task.open [audit@32473 seq=\"3\" "
		"leaf=\"abababababababababababababababababababababababababababababababab\" "
		"prev=\"00\"] {\"_prev\":\"00\",\"_seq\":3,\"ev\":\"task.open\",\"ts\":"
		"\"2026-08-22T10:00:01.000001Z\",\"v\":1}");
	buf_clear(&out);
}

static void test_a_socket_gets_one_datagram_a_record(void **state)
{
	struct place *place = *state;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct followed record = a_record();
	struct target target = {.kind = TARGET_SYSLOG, .fd = -1};
	char bytes[2048];
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
	ssize_t len;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/sock", place->root);
	target.path = address.sun_path;
	assert_int_equal(target_send(&target, &record, &err), -1);
	assert_non_null(strstr(err.text, "No such file"));
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(target_send(&target, &record, &err), 0);
	len = recv(fd, bytes, sizeof(bytes), 0);
	assert_true(len > 0);
	assert_memory_equal(bytes, "<110>1 ", 7);
	assert_memory_equal(bytes + len - record.len, record.line, record.len);
	close(fd);
	assert_int_equal(target_send(&target, &record, &err), -1);
	assert_int_equal(err.kind, ERR_IO);
	target_close(&target);
}

static void test_a_torn_line_of_a_file_is_ended_before_the_next(void **state)
{
	struct place *place = *state;
	struct followed record = a_record();
	struct target target = {.kind = TARGET_FILE, .fd = -1};
	struct buf bytes = BUF_INIT;
	char path[128];

	snprintf(path, sizeof(path), "%s/copy", place->root);
	target.path = path;
	assert_int_equal(file_replace_at(place->root_fd, "copy", 0600, "torn", 4, false, &err), 0);
	assert_int_equal(target_send(&target, &record, &err), 0);
	assert_int_equal(target_send(&target, &record, &err), 0);
	assert_int_equal(target_sync(&target, &err), 0);
	target_close(&target);
	assert_int_equal(file_read_at(place->root_fd, "copy", 4096, &bytes, &err), 0);
	assert_int_equal(bytes.len, 5 + 2 * (record.len + 1));
	assert_memory_equal(bytes.bytes, "torn\n{", 6);
	buf_clear(&bytes);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_every_published_record_comes_once_in_order),
		CASE(test_what_was_refused_comes_again),
		CASE(test_a_log_that_does_not_fit_is_not_handed_on),
		cmocka_unit_test(test_a_syslog_message_keeps_number_leaf_and_predecessor),
		CASE(test_a_socket_gets_one_datagram_a_record),
		CASE(test_a_torn_line_of_a_file_is_ended_before_the_next),
	};

	crypto_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
