/* An agent's channel id and its descriptor, in every order, and what is left when one is missing.
 * sb_close() fails each test that leaves a descriptor open. */
#include "scripted_broker.h"

#include <poll.h>

#include "orchestrator/agent_wait.h"

struct start {
	int dones;
	bool opened;
	struct err err;
};

static void on_done(void *data, int fd, const struct json *answer, const struct err *err)
{
	struct start *start = data;

	start->dones++;
	start->opened = fd >= 0;
	if (fd >= 0) {
		assert_string_equal(json_get_str(answer, "channel"), "a-1");
		close(fd);
	} else {
		start->err = *err;
	}
}

#define LANE_A1 "{\"kind\":\"agent\",\"channel\":\"a-1\",\"session\":\"s-1\"}"
#define ANSWER_A1 "{\"channel\":\"a-1\"}"

static struct sb_request *begin(struct sb *sb, struct start *start)
{
	agent_start(sb->orchestrator.sessions, "t-1", "q-1", NULL, on_done, start);
	return sb_expect(sb, sb->broker, "agent.start");
}

static void test_the_answer_may_come_first(void **state)
{
	struct sb *sb = sb_open();
	struct start start = {0};

	(void)state;
	sb_reply(begin(sb, &start), ANSWER_A1);
	sb_settle(sb);
	assert_int_equal(start.dones, 0);
	sb_lane(sb, LANE_A1);
	assert_int_equal(start.dones, 1);
	assert_true(start.opened);
	sb_close(sb);
}

static void test_the_descriptor_may_come_first(void **state)
{
	struct sb *sb = sb_open();
	struct start start = {0};
	struct sb_request *request = begin(sb, &start);

	(void)state;
	assert_string_equal(json_get_str(request->params, "task"), "t-1");
	assert_string_equal(json_get_str(request->params, "agent"), "q-1");
	assert_null(json_get(request->params, "parent"));
	sb_lane(sb, LANE_A1);
	assert_int_equal(start.dones, 0);
	sb_reply(request, ANSWER_A1);
	sb_settle(sb);
	assert_int_equal(start.dones, 1);
	assert_true(start.opened);
	sb_close(sb);
}

static void test_a_refusal_and_an_answer_without_a_channel_are_told(void **state)
{
	struct sb *sb = sb_open();
	struct start refused = {0}, odd = {0};

	(void)state;
	sb_fail(begin(sb, &refused), ERR_DENIED, "not this one");
	sb_settle(sb);
	assert_int_equal(refused.err.kind, ERR_DENIED);
	assert_string_equal(refused.err.text, "not this one");
	sb_reply(begin(sb, &odd), "{}");
	sb_settle(sb);
	assert_int_equal(odd.err.kind, ERR_INTERNAL);
	assert_string_equal(odd.err.text, "agent.start was answered without a channel");
	sb_close(sb);
}

/* Is the descriptor that went over the lane closed at the orchestrator? Its other end is gone. */
static bool closed(struct sb *sb, size_t agent)
{
	for (int turns = 0; sb->agents[agent] != NULL && turns < 20000; turns++) {
		uv_run(&sb->loop, UV_RUN_NOWAIT);
		usleep(100);
	}
	return sb->agents[agent] == NULL;
}

static void test_a_descriptor_of_a_session_that_left_is_closed(void **state)
{
	struct sb *sb = sb_open();
	struct start start = {0};

	(void)state;
	begin(sb, &start);
	sb_leave(sb);
	assert_int_equal(start.dones, 1);
	assert_false(start.opened);
	sb_lane(sb, LANE_A1);
	assert_true(closed(sb, 0));
	assert_null(sb->orchestrator.agent_waits);
	sb_close(sb);
}

static void test_a_descriptor_that_waits_is_closed_with_its_session(void **state)
{
	struct sb *sb = sb_open();

	(void)state;
	sb_lane(sb, LANE_A1);
	assert_non_null(sb->orchestrator.agent_waits);
	assert_non_null(sb->agents[0]);
	sb_leave(sb);
	assert_true(closed(sb, 0));
	sb_close(sb);
}

static void test_the_session_ends_between_answer_and_descriptor(void **state)
{
	struct sb *sb = sb_open();
	struct start start = {0};

	(void)state;
	sb_reply(begin(sb, &start), ANSWER_A1);
	sb_settle(sb);
	sb_drop(sb);
	assert_int_equal(start.dones, 1);
	assert_string_equal(start.err.text, "the session has ended");
	sb_lane(sb, LANE_A1);
	assert_true(closed(sb, 0));
	sb_close(sb);
}

static void test_a_channel_of_another_session_is_not_taken(void **state)
{
	struct sb *sb = sb_open();
	struct start start = {0};
	struct channel *client;
	struct channel *broker = sb_session(sb, "s-2", "bob", false, &client);

	(void)state;
	agent_start(session_find(&sb->orchestrator, "s-1"), "t-1", "q-1", NULL, on_done, &start);
	sb_reply(sb_expect(sb, sb->broker, "agent.start"), ANSWER_A1);
	sb_lane(sb, "{\"kind\":\"agent\",\"channel\":\"a-1\",\"session\":\"s-2\"}");
	assert_int_equal(start.dones, 0);
	sb_lane(sb, LANE_A1);
	assert_int_equal(start.dones, 1);
	assert_true(start.opened);
	sb_close(sb);
	(void)broker;
	(void)client;
}

static void test_the_deadline_covers_the_wait_for_the_descriptor(void **state)
{
	struct sb *sb = sb_open();
	struct start start = {0};

	(void)state;
	sb->orchestrator.agent_start_ms = 30;
	sb_reply(begin(sb, &start), ANSWER_A1);
	for (int turns = 0; start.dones == 0 && turns < 20000; turns++) {
		uv_run(&sb->loop, UV_RUN_NOWAIT);
		usleep(100);
	}
	assert_int_equal(start.dones, 1);
	assert_int_equal(start.err.kind, ERR_TIMEOUT);
	assert_string_equal(start.err.text, "the agent's channel did not arrive within 30 ms");
	sb_lane(sb, LANE_A1); /* too late: nobody takes it, and it is not kept */
	assert_true(closed(sb, 0));
	assert_int_equal(start.dones, 1);
	sb_close(sb);
}

static void test_a_descriptor_after_the_answer_timed_out_is_closed(void **state)
{
	struct sb *sb = sb_open();
	struct start start = {0};

	(void)state;
	sb->orchestrator.agent_start_ms = 30;
	begin(sb, &start);
	for (int turns = 0; start.dones == 0 && turns < 20000; turns++) {
		uv_run(&sb->loop, UV_RUN_NOWAIT);
		usleep(100);
	}
	assert_int_equal(start.err.kind, ERR_TIMEOUT);
	sb_lane(sb, LANE_A1);
	assert_true(closed(sb, 0));
	sb_close(sb);
}

static void test_whoever_gives_up_is_told_at_once(void **state)
{
	struct sb *sb = sb_open();
	struct start asked = {0}, answered = {0}, other = {0};
	struct sb_request *request;

	(void)state;
	begin(sb, &asked);
	agent_wait_cancel(&sb->orchestrator, &other); /* does not wait */
	assert_int_equal(asked.dones, 0);
	agent_wait_cancel(&sb->orchestrator, &asked);
	assert_int_equal(asked.dones, 1);
	assert_int_equal(asked.err.kind, ERR_CANCELED);
	request = begin(sb, &answered);
	sb_reply(request, ANSWER_A1);
	sb_settle(sb);
	agent_wait_cancel(&sb->orchestrator, &answered);
	assert_int_equal(answered.dones, 1);
	assert_string_equal(answered.err.text, "the start of the agent was given up");
	sb_close(sb);
}

static void test_a_second_descriptor_of_a_channel_is_closed(void **state)
{
	struct sb *sb = sb_open();

	(void)state;
	sb_lane(sb, LANE_A1);
	sb_lane(sb, LANE_A1);
	assert_true(closed(sb, 1));
	assert_non_null(sb->agents[0]);
	sb_close(sb);
}

static void test_a_lost_broker_is_told_before_a_call_goes_out(void **state)
{
	struct sb *sb = sb_open();
	struct start start = {0};
	struct session *session = sb->orchestrator.sessions;

	(void)state;
	channel_close(session->broker);
	agent_start(session, "t-1", "q-1", "j-1", on_done, &start);
	assert_int_equal(start.err.kind, ERR_UNAVAILABLE);
	assert_string_equal(start.err.text, "the broker is gone");
	session->broker = NULL;
	sb_close(sb);
}

static void test_lane_messages_without_their_parts_are_closed(void **state)
{
	struct sb *sb = sb_open();

	(void)state;
	sb_lane(sb, "{\"kind\":\"agent\",\"session\":\"s-1\"}");
	sb_lane(sb, "{\"kind\":\"agent\",\"channel\":\"a-1\"}");
	sb_lane(sb, "{\"kind\":\"agent\",\"channel\":\"a-1\",\"session\":\"s-9\"}");
	sb_lane(sb, "{\"kind\":\"other \\\"agent\\\"\"}");
	for (size_t i = 0; i < 3; i++)
		assert_true(closed(sb, i));
	assert_null(sb->orchestrator.agent_waits);
	sb_close(sb);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_answer_may_come_first),
		cmocka_unit_test(test_the_descriptor_may_come_first),
		cmocka_unit_test(test_a_refusal_and_an_answer_without_a_channel_are_told),
		cmocka_unit_test(test_a_descriptor_of_a_session_that_left_is_closed),
		cmocka_unit_test(test_a_descriptor_that_waits_is_closed_with_its_session),
		cmocka_unit_test(test_the_session_ends_between_answer_and_descriptor),
		cmocka_unit_test(test_a_channel_of_another_session_is_not_taken),
		cmocka_unit_test(test_the_deadline_covers_the_wait_for_the_descriptor),
		cmocka_unit_test(test_a_descriptor_after_the_answer_timed_out_is_closed),
		cmocka_unit_test(test_whoever_gives_up_is_told_at_once),
		cmocka_unit_test(test_a_second_descriptor_of_a_channel_is_closed),
		cmocka_unit_test(test_a_lost_broker_is_told_before_a_call_goes_out),
		cmocka_unit_test(test_lane_messages_without_their_parts_are_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
