/* One tool call for a person, stopped or failing at every step: what the person gets, and what the
 * broker is told the task ended as. */
#include "scripted_broker.h"

#define LANE_A1 "{\"kind\":\"agent\",\"channel\":\"a-1\",\"session\":\"s-1\"}"
#define CALL                                                                                       \
	"{\"agent\":\"q-1\",\"tool\":\"run_query\",\"arguments\":{\"sql\":\"SELECT 1\"},"          \
	"\"label\":\"7\"}"
#define ROWS "{\"ok\":true,\"rows\":[[1]],\"records\":[2,3]}"

enum step { OPEN, START, DESCRIPTOR, TOKEN, RUN, CHECK, CLOSE };

/* Leads a call to where that step waits for the broker; returns what waits there. */
static struct sb_request *lead_to(struct sb *sb, enum step step)
{
	struct channel *agent;
	struct sb_request *request = sb_expect(sb, sb->broker, "task.open");

	if (step == OPEN)
		return request;
	assert_string_equal(json_get_str(request->params, "kind"), "mcp");
	sb_reply(request, "{\"task\":\"t-1\",\"record\":1}");
	request = sb_expect(sb, sb->broker, "agent.start");
	if (step == START)
		return request;
	sb_reply(request, "{\"channel\":\"a-1\"}");
	sb_settle(sb);
	if (step == DESCRIPTOR)
		return NULL;
	agent = sb_lane(sb, LANE_A1);
	request = sb_expect(sb, agent, "token.issue");
	if (step == TOKEN)
		return request;
	sb_reply(request, "{\"jti\":\"j-1\"}");
	request = sb_expect(sb, agent, "tool.call");
	if (step == RUN)
		return request;
	sb_reply(request, ROWS);
	sb_settle(sb);
	assert_int_equal(sb->checks.runs, 1);
	if (step == CHECK)
		return NULL;
	sb_checks_end(sb, "[{\"code\":\"zero_rows\"}]");
	return sb_expect(sb, sb->broker, "task.close");
}

static void check_closed_as(struct sb *sb, struct sb_request *close, const char *status)
{
	(void)sb;
	assert_string_equal(json_get_str(close->params, "task"), "t-1");
	assert_string_equal(json_get_str(close->params, "status"), status);
}

static void test_a_call_is_answered_with_its_flags_once_it_is_recorded(void **state)
{
	struct sb *sb = sb_open();
	size_t call = sb_ask(sb, "mcp.call", CALL);
	struct sb_request *close = lead_to(sb, CLOSE);
	const struct json *result;

	(void)state;
	check_closed_as(sb, close, "completed");
	assert_null(json_get(close->params, "reason"));
	assert_false(sb_answered(sb, call));
	sb_reply(close, "{\"records\":[1,4],\"checkpoint\":\"c\"}");
	result = sb_result(sb, call);
	assert_string_equal(json_get_str(result, "task"), "t-1");
	assert_string_equal(json_get_str(result, "checkpoint"), "c");
	assert_string_equal(json_get_str(json_at(json_get(result, "flags"), 0), "code"),
			    "zero_rows");
	sb_close(sb);
}

/* Cancelled while the broker is at that step; the person is told once the end is recorded. */
static void check_cancelled_at(enum step step)
{
	struct sb *sb = sb_open();
	size_t call = sb_ask(sb, "mcp.call", CALL);
	struct sb_request *waiting = lead_to(sb, step);
	size_t cancel = sb_ask(sb, "mcp.cancel", "{\"label\":\"7\"}");
	struct sb_request *close;

	assert_int_equal(json_len(sb_result(sb, cancel)), 0);
	if (step == OPEN) {
		assert_true(sb_quiet(sb, sb->broker));
		sb_reply(waiting, "{\"task\":\"t-1\",\"record\":1}");
	}
	if (step == CHECK)
		sb_checks_end(sb, "[]");
	close = sb_expect(sb, sb->broker, "task.close");
	check_closed_as(sb, close, "cancelled");
	assert_string_equal(json_get_str(close->params, "reason"), "cancelled on request");
	sb_reply(close, "{\"records\":[1,2],\"checkpoint\":\"c\"}");
	assert_int_equal(sb_error(sb, call)->kind, ERR_CANCELED);
	assert_string_equal(sb_error(sb, call)->text, "cancelled on request");
	if (step == START) /* what it had asked for comes after all */
		sb_reply(waiting, "{\"channel\":\"a-1\"}");
	if (step == START || step == DESCRIPTOR)
		sb_lane(sb, LANE_A1);
	sb_close(sb);
}

static void test_a_cancel_reaches_a_call_at_every_step(void **state)
{
	(void)state;
	for (enum step step = OPEN; step < CLOSE; step++)
		check_cancelled_at(step);
}

static void test_a_cancel_that_comes_too_late_changes_nothing(void **state)
{
	struct sb *sb = sb_open();
	size_t call = sb_ask(sb, "mcp.call", CALL);
	struct sb_request *close = lead_to(sb, CLOSE);

	(void)state;
	sb_result(sb, sb_ask(sb, "mcp.cancel", "{\"label\":\"7\"}"));
	sb_result(sb, sb_ask(sb, "mcp.cancel", "{\"label\":\"8\"}"));
	sb_reply(close, "{\"records\":[1],\"checkpoint\":\"c\"}");
	assert_true(json_get_bool(sb_result(sb, call), "ok", false));
	sb_close(sb);
}

/* The broker fails that step. */
static void check_failed_at(enum step step)
{
	struct sb *sb = sb_open();
	size_t call = sb_ask(sb, "mcp.call", CALL);
	struct sb_request *waiting = lead_to(sb, step);

	sb_fail(waiting, ERR_DENIED, "no");
	if (step != OPEN && step != CLOSE) {
		struct sb_request *close = sb_expect(sb, sb->broker, "task.close");

		check_closed_as(sb, close, "failed");
		assert_string_equal(json_get_str(close->params, "reason"), "no");
		sb_reply(close, "{\"records\":[1],\"checkpoint\":\"c\"}");
	}
	assert_int_equal(sb_error(sb, call)->kind, ERR_DENIED);
	assert_string_equal(sb_error(sb, call)->text, "no");
	sb_close(sb);
}

static void test_a_failure_of_any_step_is_the_answer(void **state)
{
	static const enum step steps[] = {OPEN, START, TOKEN, RUN, CLOSE};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(steps); i++)
		check_failed_at(steps[i]);
}

static void test_a_session_may_end_at_every_step(void **state)
{
	(void)state;
	for (enum step step = OPEN; step <= CLOSE; step++) {
		for (int by_broker = 0; by_broker < 2; by_broker++) {
			struct sb *sb = sb_open();

			sb_ask(sb, "mcp.call", CALL);
			lead_to(sb, step);
			if (by_broker)
				sb_drop(sb);
			else
				sb_leave(sb);
			if (step == CHECK)
				sb_checks_end(sb, "[]");
			assert_null(sb->orchestrator.calls);
			sb_close(sb);
		}
	}
}

static void test_a_refused_result_is_no_completed_task_and_not_checked(void **state)
{
	struct sb *sb = sb_open();
	size_t call = sb_ask(sb, "mcp.call", CALL);
	struct sb_request *close;

	(void)state;
	sb_reply(lead_to(sb, RUN), "{\"ok\":false,\"error\":\"no\",\"rejected_by\":\"policy\"}");
	close = sb_expect(sb, sb->broker, "task.close");
	check_closed_as(sb, close, "failed");
	assert_int_equal(sb->checks.runs, 0);
	sb_reply(close, "{\"records\":[1]}");
	assert_string_equal(json_get_str(sb_result(sb, call), "error"), "no");
	assert_null(json_get(sb_result(sb, call), "checkpoint"));
	sb_close(sb);
}

static void test_an_agent_channel_that_ends_fails_the_call(void **state)
{
	struct sb *sb = sb_open();
	size_t call = sb_ask(sb, "mcp.call", CALL);
	struct sb_request *close;

	(void)state;
	lead_to(sb, RUN);
	channel_close(TAKE(sb->agents[0]));
	close = sb_expect(sb, sb->broker, "task.close");
	check_closed_as(sb, close, "failed");
	sb_reply(close, "{\"records\":[1]}");
	assert_int_equal(sb_error(sb, call)->kind, ERR_CANCELED);
	sb_close(sb);
}

static void test_a_task_without_an_id_is_an_error(void **state)
{
	struct sb *sb = sb_open();
	size_t call = sb_ask(sb, "mcp.call", CALL);

	(void)state;
	sb_reply(lead_to(sb, OPEN), "{}");
	assert_string_equal(sb_error(sb, call)->text, "the broker opened no task");
	sb_close(sb);
}

static void test_tools_are_listed_without_a_token(void **state)
{
	struct sb *sb = sb_open();
	size_t list = sb_ask(sb, "mcp.open", "{\"agent\":\"q-1\"}");
	struct channel *agent;

	(void)state;
	sb_reply(sb_expect(sb, sb->broker, "task.open"), "{\"task\":\"t-1\",\"record\":1}");
	sb_reply(sb_expect(sb, sb->broker, "agent.start"), "{\"channel\":\"a-1\"}");
	agent = sb_lane(sb, LANE_A1);
	sb_reply(sb_expect(sb, agent, "tool.list"), "{\"tools\":[{\"name\":\"run_query\"}]}");
	sb_reply(sb_expect(sb, sb->broker, "task.close"), "{\"records\":[1]}");
	assert_int_equal(json_len(json_get(sb_result(sb, list), "tools")), 1);
	sb_close(sb);
}

static void test_an_agent_channel_answers_nothing(void **state)
{
	struct sb *sb = sb_open();
	size_t asked;

	(void)state;
	sb_ask(sb, "mcp.call", CALL);
	lead_to(sb, RUN);
	asked = sb_ask_on(sb, sb->agents[0], "tool.call", "{}");
	assert_string_equal(sb_error(sb, asked)->text, "an agent answers nothing");
	sb_close(sb);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_call_is_answered_with_its_flags_once_it_is_recorded),
		cmocka_unit_test(test_a_cancel_reaches_a_call_at_every_step),
		cmocka_unit_test(test_a_cancel_that_comes_too_late_changes_nothing),
		cmocka_unit_test(test_a_failure_of_any_step_is_the_answer),
		cmocka_unit_test(test_a_session_may_end_at_every_step),
		cmocka_unit_test(test_a_refused_result_is_no_completed_task_and_not_checked),
		cmocka_unit_test(test_an_agent_channel_that_ends_fails_the_call),
		cmocka_unit_test(test_a_task_without_an_id_is_an_error),
		cmocka_unit_test(test_tools_are_listed_without_a_token),
		cmocka_unit_test(test_an_agent_channel_answers_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
