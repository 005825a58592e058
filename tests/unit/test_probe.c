/* Whether a program still runs its loop: the supervisor's question through the broker, its answer
 * in a pipe, and what ended meanwhile in status. */
#include "broker/probe.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "broker_fixture.h"

/* 1: answered; 0: the end of file without; -1: neither yet. */
static int answer(int fd)
{
	struct pollfd waits = {.fd = fd, .events = POLLIN};
	char byte;

	if (poll(&waits, 1, 0) != 1)
		return -1;
	return read(fd, &byte, 1) == 1 ? 1 : 0;
}

static int ask(struct fx *fx, const char *message)
{
	int fd = fx_attach_raw(fx, message);

	fx_settle(fx);
	return fd;
}

static void assert_answer(struct fx *fx, const char *message, int wanted)
{
	int fd = ask(fx, message);
	int got = answer(fd);

	if (got != wanted)
		fail_msg("%s: got %d, want %d", message, got, wanted);
	if (got == 1)
		assert_int_equal(answer(fd), 0); /* one byte, and no more */
	close(fd);
}

static void test_every_program_that_is_there_answers(void **state)
{
	struct fx *fx = fx_open(NULL);

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_answer(fx, "{\"probe\":\"signer\"}", 1);
		assert_answer(fx, "{\"probe\":\"connector\",\"name\":\"sales\"}", 1);
		assert_answer(fx, "{\"probe\":\"orchestrator\"}", 1);
	}
	fx_close(fx);
}

static void test_one_that_is_not_there_gives_the_end_of_file(void **state)
{
	struct fx *fx = fx_open_bare(NULL);

	(void)state;
	assert_answer(fx, "{\"probe\":\"signer\"}", 0);
	assert_answer(fx, "{\"probe\":\"connector\",\"name\":\"sales\"}", 0);
	assert_answer(fx, "{\"probe\":\"sink\",\"name\":\"copy\"}", 0);
	assert_answer(fx, "{\"probe\":\"orchestrator\"}", 0);
	assert_answer(fx, "{\"probe\":\"nothing\"}", 0);
	assert_answer(fx, "{\"probe\":\"connector\"}", 0);
	fx_close(fx);
}

static void test_one_that_hangs_gives_nothing_until_it_goes_on(void **state)
{
	struct fx *fx = fx_open(NULL);
	int first, second;

	(void)state;
	fx->connector_mute = "ping";
	first = ask(fx, "{\"probe\":\"connector\",\"name\":\"sales\"}");
	assert_int_equal(answer(first), -1);
	second = ask(fx, "{\"probe\":\"connector\",\"name\":\"sales\"}");
	assert_int_equal(answer(first), 0); /* the later question takes its place */
	assert_int_equal(answer(second), -1);
	channel_notify(fx->connector, "pong", NULL);
	fx_settle(fx);
	assert_int_equal(answer(second), 1);
	close(first);
	close(second);
	fx_close(fx);
}

static void test_a_connector_that_answers_unasked_loses_its_channel(void **state)
{
	struct fx *fx = fx_open(NULL);

	(void)state;
	channel_notify(fx->connector, "pong", NULL);
	fx_until(fx, fx->connector == NULL);
	assert_answer(fx, "{\"probe\":\"connector\",\"name\":\"sales\"}", 0);
	fx_close(fx);
}

static void test_a_signer_that_does_not_answer_is_not_there(void **state)
{
	struct fx *fx = fx_open(NULL);
	int fd;

	(void)state;
	fx->signer_mute = "keys";
	fd = ask(fx, "{\"probe\":\"signer\"}");
	assert_int_equal(answer(fd), -1);
	fx->signer_mute = NULL;
	fx_attach_signer(fx); /* another one: the question of the last dies with it */
	fx_settle(fx);
	assert_int_equal(answer(fd), 0);
	assert_answer(fx, "{\"probe\":\"signer\"}", 1);
	close(fd);
	fx_close(fx);
}

static const struct json *restart_at(const struct json *status, size_t index)
{
	return json_at(json_get(status, "restarts"), index);
}

static void test_status_says_what_ended(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *session = fx_connect(fx, NULL, 0)->channel;
	struct json *status = fx_ok(fx, session, "status", "{}");

	(void)state;
	assert_null(json_get(status, "restarts"));
	json_free(status);
	fx_control(fx, "{\"ended\":\"sales\",\"why\":\"was ended by signal 9 (Killed)\"}");
	fx_settle(fx);
	status = fx_ok(fx, session, "status", "{}");
	assert_int_equal(json_len(json_get(status, "restarts")), 1);
	assert_string_equal(json_get_str(restart_at(status, 0), "program"), "sales");
	assert_string_equal(json_get_str(restart_at(status, 0), "why"),
			    "was ended by signal 9 (Killed)");
	assert_int_equal(strlen(json_get_str(restart_at(status, 0), "at")), TIMESTAMP_LEN);
	json_free(status);
	fx_close(fx);
}

static void test_the_newest_ends_are_kept(void **state)
{
	struct restarts restarts = {.count = 0};
	struct json *list;

	(void)state;
	for (int i = 1; i <= RESTARTS_MAX + 1; i++) {
		CLEANUP(json_freep) struct json *message = json_object();
		CLEANUP(mem_freep) char *name = mem_format("p%d", i);

		json_set_str(message, "ended", name);
		restarts_add(&restarts, i, message);
	}
	list = restarts_status(&restarts);
	assert_int_equal(json_len(list), RESTARTS_MAX);
	assert_string_equal(json_get_str(json_at(list, 0), "program"), "p2");
	assert_string_equal(json_get_str(json_at(list, RESTARTS_MAX - 1), "program"), "p17");
	assert_string_equal(json_get_str(json_at(list, 0), "why"), "");
	json_free(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_program_that_is_there_answers),
		cmocka_unit_test(test_one_that_is_not_there_gives_the_end_of_file),
		cmocka_unit_test(test_one_that_hangs_gives_nothing_until_it_goes_on),
		cmocka_unit_test(test_a_connector_that_answers_unasked_loses_its_channel),
		cmocka_unit_test(test_a_signer_that_does_not_answer_is_not_there),
		cmocka_unit_test(test_status_says_what_ended),
		cmocka_unit_test(test_the_newest_ends_are_kept),
	};

	crypto_init();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("probe", tests, NULL, NULL);
}
