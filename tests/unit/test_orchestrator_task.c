/* A task led through its agents, with every order of events: what the person gets, what the broker
 * is told, what the store keeps. */
#include "scripted_broker.h"

#include "base/clock.h"
#include "orchestrator/task.h"

#define ASK "{\"question\":\"What was net sales?\"}"
#define LANE_A1 "{\"kind\":\"agent\",\"channel\":\"a-1\",\"session\":\"s-1\"}"
#define LANE_A2 "{\"kind\":\"agent\",\"channel\":\"a-2\",\"session\":\"s-1\"}"

enum step { NAME, OPEN, QUERY_START, QUERY_DESCRIPTOR, QUERY, REPORT_START, REPORT, CLOSE };

/* Leads the next task to where that step waits; returns what waits at the broker, or NULL. */
static struct sb_request *lead_to(struct sb *sb, enum step step)
{
	struct sb_request *request = sb_expect(sb, sb->broker, "task.reserve");

	if (step == NAME)
		return request;
	sb_reply(request, "{\"task\":\"t-1\"}");
	request = sb_expect(sb, sb->broker, "task.open");
	if (step == OPEN)
		return request;
	sb_reply(request, "{\"task\":\"t-1\",\"record\":1}");
	request = sb_expect(sb, sb->broker, "agent.start");
	if (step == QUERY_START)
		return request;
	sb_reply(request, "{\"channel\":\"a-1\",\"tools\":[\"run_query\"],\"data\":[\"sales\"],"
			  "\"limits\":{\"attempts_left\":3}}");
	sb_settle(sb);
	if (step == QUERY_DESCRIPTOR)
		return NULL;
	sb_lane(sb, LANE_A1);
	sb_reply(sb_expect(sb, sb->broker, "task.event"), "{\"record\":2}");
	assert_true(sb->query.running);
	if (step == QUERY)
		return NULL;
	sb_query_ends(sb, "completed");
	request = sb_expect(sb, sb->broker, "agent.start");
	assert_string_equal(json_get_str(request->params, "agent"), "r-1");
	assert_string_equal(json_get_str(request->params, "parent"), "j-1");
	if (step == REPORT_START)
		return request;
	sb_reply(request, "{\"channel\":\"a-2\"}");
	sb_lane(sb, LANE_A2);
	sb_reply(sb_expect(sb, sb->broker, "task.event"), "{\"record\":3}");
	assert_true(sb->report.running);
	if (step == REPORT)
		return NULL;
	sb_report_ends(sb, "Net sales was 850.00 USD.", NULL);
	sb_reply(sb_expect(sb, sb->broker, "task.event"), "{\"record\":4}");
	return sb_expect(sb, sb->broker, "task.close");
}

#define CLOSED "{\"records\":[1,2,3,4,5],\"checkpoint\":\"c\",\"disclosures\":[\"d\"]}"

static struct json *shown(struct sb *sb, const char *task)
{
	struct json *json = NULL;
	struct err err = {0};

	if (store_show(sb->orchestrator.store, task, "alice", clock_now_us(), &json, &err) < 0)
		fail_msg("%s", err.text);
	return json;
}

static void check_stored(struct sb *sb, const char *task, const char *status, const char *reason)
{
	CLEANUP(json_freep) struct json *kept = shown(sb, task);

	assert_string_equal(json_get_str(json_get(kept, "task"), "status"), status);
	if (reason != NULL)
		assert_string_equal(json_get_str(json_get(kept, "answer"), "reason"), reason);
}

static void test_a_question_becomes_an_answer_with_its_proof(void **state)
{
	struct sb *sb = sb_open();
	size_t ask = sb_ask(sb, "ask", ASK);
	struct sb_request *close = lead_to(sb, CLOSE);
	const struct json *evidence = json_get(close->params, "answer");
	const struct json *answer;

	(void)state;
	assert_string_equal(json_get_str(close->params, "status"), "completed");
	assert_null(json_get(close->params, "reason"));
	assert_string_equal(json_get_str(evidence, "question"), "What was net sales?");
	assert_string_equal(json_get_str(evidence, "sql"), "SELECT 850.0 AS net_sales");
	assert_string_equal(json_get_str(evidence, "text"), "Net sales was 850.00 USD.");
	assert_int_equal(json_len(json_get(evidence, "result")), 5);
	check_stored(sb, "t-1", "running", NULL);
	assert_false(sb_answered(sb, ask));
	sb_reply(close, CLOSED);
	answer = sb_result(sb, ask);
	assert_string_equal(json_get_str(answer, "task"), "t-1");
	assert_string_equal(json_get_str(answer, "status"), "completed");
	assert_string_equal(json_get_str(answer, "answer"), "Net sales was 850.00 USD.");
	assert_string_equal(json_get_str(answer, "workflow"), "agent");
	assert_int_equal(json_len(json_get(json_get(answer, "audit"), "records")), 5);
	assert_string_equal(json_get_str(json_get(answer, "audit"), "checkpoint"), "c");
	check_stored(sb, "t-1", "completed", NULL);
	sb_close(sb);
}

static void test_the_query_agent_gets_its_handoff_and_no_more(void **state)
{
	struct sb *sb = sb_open();
	const struct json *handoff, *context, *constraints;

	(void)state;
	sb_ask(sb, "ask",
	       "{\"question\":\"Q?\",\"workflow\":\"fixed\",\"first_sql\":\"SELECT 2\"}");
	lead_to(sb, QUERY);
	handoff = sb->query.handoff;
	context = json_get(handoff, "context");
	constraints = json_get(handoff, "constraints");
	assert_true(sb->query.fixed);
	assert_string_equal(sb->query.first_sql, "SELECT 2");
	assert_string_equal(json_get_str(handoff, "task"), "t-1");
	assert_string_equal(json_get_str(handoff, "to"), "q-1");
	assert_string_equal(json_get_str(context, "question"), "Q?");
	assert_string_equal(json_get_str(context, "today"), "2026-10-15");
	assert_null(json_get(context, "choices"));
	assert_true(json_get_bool(constraints, "read_only", false));
	assert_string_equal(json_str(json_at(json_get(constraints, "tools"), 0)), "run_query");
	assert_int_equal(json_get_int(json_get(constraints, "limits"), "attempts_left", 0), 3);
	sb_close(sb);
}

static void test_the_report_agent_gets_facts_and_no_tool(void **state)
{
	struct sb *sb = sb_open();
	const struct json *context, *constraints;

	(void)state;
	sb_ask(sb, "ask", ASK);
	lead_to(sb, REPORT);
	context = json_get(sb->report.handoff, "context");
	constraints = json_get(sb->report.handoff, "constraints");
	assert_int_equal(json_get_int(json_get(context, "result"), "row_count", 0), 1);
	assert_string_equal(json_get_str(context, "question"), "What was net sales?");
	assert_int_equal(json_len(json_get(constraints, "tools")), 0);
	assert_true(json_is_null(json_get(constraints, "data")));
	sb_close(sb);
}

/* ---- endings without rows ---- */

static void check_ending(const char *status)
{
	struct sb *sb = sb_open();
	size_t ask = sb_ask(sb, "ask", ASK);
	struct sb_request *close;

	lead_to(sb, QUERY);
	sb_query_ends(sb, status);
	close = sb_expect(sb, sb->broker, "task.close");
	assert_string_equal(json_get_str(close->params, "status"), status);
	assert_string_equal(json_get_str(close->params, "reason"), "because");
	assert_null(json_get(json_get(close->params, "answer"), "result"));
	sb_reply(close, CLOSED);
	assert_string_equal(json_get_str(sb_result(sb, ask), "status"), status);
	assert_string_equal(json_get_str(sb_result(sb, ask), "hint"), "do that");
	assert_int_equal(sb->report.starts, 0);
	check_stored(sb, "t-1", status, "because");
	sb_close(sb);
}

static void test_without_rows_no_report_is_written(void **state)
{
	static const char *const endings[] = {"needs_input", "refused", "too_expensive", "failed",
					      "cancelled"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(endings); i++)
		check_ending(endings[i]);
}

static void test_a_cut_list_is_reported_too(void **state)
{
	struct sb *sb = sb_open();

	(void)state;
	sb_ask(sb, "ask", ASK);
	lead_to(sb, QUERY);
	sb_query_ends(sb, "limit_reached");
	assert_string_equal(json_get_str(sb_expect(sb, sb->broker, "agent.start")->params, "agent"),
			    "r-1");
	sb_close(sb);
}

static void test_a_replaced_report_is_recorded_as_such(void **state)
{
	struct sb *sb = sb_open();
	struct sb_request *event;

	(void)state;
	sb_ask(sb, "ask", ASK);
	lead_to(sb, REPORT);
	sb_report_ends(sb, "The plain report.", "420 has no label");
	event = sb_expect(sb, sb->broker, "task.event");
	assert_string_equal(json_get_str(event->params, "event"), "report.check");
	assert_string_equal(json_get_str(event->params, "status"), "replaced");
	assert_string_equal(json_get_str(json_get(event->params, "contents"), "why"),
			    "420 has no label");
	/* An event that cannot be recorded changes nothing else. */
	sb_fail(event, ERR_UNAVAILABLE, "the disk is full");
	assert_string_equal(json_get_str(sb_expect(sb, sb->broker, "task.close")->params, "status"),
			    "completed");
	sb_close(sb);
}

static void test_a_report_agent_that_fails_fails_the_task(void **state)
{
	struct sb *sb = sb_open();
	size_t ask = sb_ask(sb, "ask", ASK);

	(void)state;
	lead_to(sb, REPORT);
	sb_report_ends(sb, NULL, "too slow");
	sb_reply(sb_expect(sb, sb->broker, "task.close"), CLOSED);
	assert_string_equal(json_get_str(sb_result(sb, ask), "status"), "failed");
	assert_string_equal(json_get_str(sb_result(sb, ask), "reason"), "too slow");
	assert_null(json_get(sb_result(sb, ask), "rows"));
	sb_close(sb);
}

static void test_agents_that_cannot_begin_fail_the_task(void **state)
{
	(void)state;
	for (int report = 0; report < 2; report++) {
		struct sb *sb = sb_open();
		size_t ask = sb_ask(sb, "ask", ASK);

		lead_to(sb, report ? REPORT_START : QUERY_DESCRIPTOR);
		(report ? &sb->report : &sb->query)->refuse = "no socket";
		if (report)
			sb_reply(&sb->requests[sb->request_count - 1], "{\"channel\":\"a-2\"}");
		sb_lane(sb, report ? LANE_A2 : LANE_A1);
		sb_expect(sb, sb->broker, "task.event");
		sb_reply(sb_expect(sb, sb->broker, "task.close"), CLOSED);
		assert_string_equal(json_get_str(sb_result(sb, ask), "status"), "failed");
		assert_string_equal(json_get_str(sb_result(sb, ask), "reason"), "no socket");
		sb_close(sb);
	}
}

/* ---- cancelling ---- */

static void check_cancelled_at(enum step step)
{
	struct sb *sb = sb_open();
	size_t ask = sb_ask(sb, "ask", ASK);
	struct sb_request *waiting = lead_to(sb, step);

	sb_result(sb, sb_ask(sb, "task.cancel", "{\"task\":\"t-1\"}"));
	if (step == OPEN)
		sb_reply(waiting, "{\"task\":\"t-1\",\"record\":1}");
	if (step == QUERY) {
		assert_int_equal(sb->query.cancels, 1);
		sb_query_ends(sb, "cancelled");
	}
	if (step == REPORT) {
		assert_int_equal(sb->report.cancels, 1);
		sb_report_ends(sb, NULL, "cancelled");
	}
	waiting = sb_expect(sb, sb->broker, "task.close");
	assert_string_equal(json_get_str(waiting->params, "status"), "cancelled");
	sb_reply(waiting, CLOSED);
	assert_string_equal(json_get_str(sb_result(sb, ask), "status"), "cancelled");
	assert_string_equal(json_get_str(sb_result(sb, ask), "reason"), "cancelled on request");
	check_stored(sb, "t-1", "cancelled", "cancelled on request");
	sb_close(sb);
}

static void test_a_task_is_cancelled_at_every_step(void **state)
{
	(void)state;
	for (enum step step = OPEN; step < CLOSE; step++)
		check_cancelled_at(step);
}

static void test_a_task_that_is_ending_or_ended_cannot_be_cancelled(void **state)
{
	struct sb *sb = sb_open();
	size_t ask = sb_ask(sb, "ask", ASK);
	struct sb_request *close = lead_to(sb, CLOSE);

	(void)state;
	assert_string_equal(sb_error(sb, sb_ask(sb, "task.cancel", "{\"task\":\"t-1\"}"))->text,
			    "task t-1 has come to its end, which is being recorded");
	sb_reply(close, CLOSED);
	assert_string_equal(json_get_str(sb_result(sb, ask), "status"), "completed");
	assert_string_equal(sb_error(sb, sb_ask(sb, "task.cancel", "{\"task\":\"t-1\"}"))->text,
			    "task t-1 has already ended: completed");
	sb_close(sb);
}

/* A task whose call the broker leaves unanswered has failed; others are cancelled. */
static bool asks_broker(enum step step)
{
	return step == OPEN || step == QUERY_START || step == REPORT_START || step == CLOSE;
}

static void check_left_at(enum step step, bool by_broker)
{
	struct sb *sb = sb_open();

	sb_ask(sb, "ask", ASK);
	lead_to(sb, step);
	if (by_broker)
		sb_drop(sb);
	else
		sb_leave(sb);
	if (step == QUERY)
		sb_query_ends(sb, "completed");
	if (step == REPORT)
		sb_report_ends(sb, "Late words.", NULL);
	assert_null(sb->orchestrator.tasks);
	if (step > NAME && (step == CLOSE || (by_broker && asks_broker(step))))
		check_stored(sb, "t-1", by_broker ? "failed" : "cancelled", NULL);
	else if (step > NAME)
		check_stored(sb, "t-1", "cancelled", "the session that asked has ended");
	sb_close(sb);
}

static void test_a_session_may_end_at_every_step_and_its_task_is_kept(void **state)
{
	(void)state;
	for (enum step step = NAME; step <= CLOSE; step++) {
		check_left_at(step, false);
		check_left_at(step, true);
	}
}

/* ---- failures of the broker ---- */

static void check_failed_at(enum step step, enum err_kind kind, const char *status)
{
	struct sb *sb = sb_open();
	size_t ask = sb_ask(sb, "ask", ASK);
	struct sb_request *waiting = lead_to(sb, step);

	sb_fail(waiting, kind, "no");
	if (step == QUERY_START || step == REPORT_START) {
		waiting = sb_expect(sb, sb->broker, "task.close");
		assert_string_equal(json_get_str(waiting->params, "status"), status);
		sb_reply(waiting, CLOSED);
	}
	assert_string_equal(json_get_str(sb_result(sb, ask), "status"), status);
	assert_string_equal(json_get_str(sb_result(sb, ask), "reason"), "no");
	assert_non_null(json_get_str(sb_result(sb, ask), "hint"));
	if (step > NAME)
		check_stored(sb, "t-1", status, "no");
	sb_close(sb);
}

static void test_what_the_broker_refuses_is_the_answer(void **state)
{
	(void)state;
	check_failed_at(NAME, ERR_UNAVAILABLE, "failed");
	check_failed_at(OPEN, ERR_UNAVAILABLE, "failed");
	check_failed_at(OPEN, ERR_DENIED, "refused");
	check_failed_at(QUERY_START, ERR_DENIED, "refused");
	check_failed_at(QUERY_START, ERR_NOT_FOUND, "failed");
	check_failed_at(QUERY_START, ERR_TIMEOUT, "failed");
	check_failed_at(REPORT_START, ERR_DENIED, "failed");
	/* Without its record no answer is given: not even the rows. */
	check_failed_at(CLOSE, ERR_UNAVAILABLE, "failed");
}

static void test_a_withheld_answer_has_no_rows(void **state)
{
	struct sb *sb = sb_open();
	size_t ask = sb_ask(sb, "ask", ASK);

	(void)state;
	sb_fail(lead_to(sb, CLOSE), ERR_UNAVAILABLE, "the log has stopped");
	assert_null(json_get(sb_result(sb, ask), "rows"));
	assert_null(json_get(sb_result(sb, ask), "answer"));
	assert_int_equal(json_len(json_get(sb_result(sb, ask), "audit")), 0);
	sb_close(sb);
}

static void test_a_broker_that_names_no_task_fails_the_question(void **state)
{
	struct sb *sb = sb_open();
	size_t ask = sb_ask(sb, "ask", ASK);

	(void)state;
	sb_reply(lead_to(sb, NAME), "{}");
	assert_string_equal(json_get_str(sb_result(sb, ask), "reason"), "the broker named no task");
	assert_null(json_get(sb_result(sb, ask), "task"));
	sb_close(sb);
}

static void test_a_name_that_is_taken_fails_the_question(void **state)
{
	struct sb *sb = sb_open();
	struct err err = {0};
	size_t ask;

	(void)state;
	assert_int_equal(store_add(sb->orchestrator.store, "t-1", "bob", "Mine?", 1, &err), 0);
	ask = sb_ask(sb, "ask", ASK);
	sb_reply(lead_to(sb, NAME), "{\"task\":\"t-1\"}");
	assert_string_equal(json_get_str(sb_result(sb, ask), "status"), "failed");
	assert_null(sb->orchestrator.tasks);
	sb_close(sb);
}

/* ---- waiting for one's turn ---- */

static size_t ask_queued(struct sb *sb)
{
	size_t ask = sb_ask(sb, "ask", ASK);

	sb_fail(lead_to(sb, OPEN), ERR_LIMIT, "4 tasks of this user are running; wait for one");
	return ask;
}

static void test_a_queued_task_is_listed_and_shown_and_tried_again(void **state)
{
	struct sb *sb = sb_open();
	size_t ask = ask_queued(sb);
	struct sb_request *again = sb_expect(sb, sb->broker, "task.open");
	const struct json *tasks;

	(void)state;
	assert_string_equal(json_get_str(again->params, "task"), "t-1");
	tasks = json_get(sb_result(sb, sb_ask(sb, "task.list", "{}")), "tasks");
	assert_string_equal(json_get_str(json_at(tasks, 0), "task"), "t-1");
	assert_string_equal(json_get_str(json_at(tasks, 0), "status"), "queued");
	check_stored(sb, "t-1", "queued", NULL);
	sb_reply(again, "{\"task\":\"t-1\",\"record\":9}");
	sb_expect(sb, sb->broker, "agent.start");
	check_stored(sb, "t-1", "running", NULL);
	assert_false(sb_answered(sb, ask));
	sb_close(sb);
}

static void test_a_queued_task_is_cancelled_on_request(void **state)
{
	struct sb *sb = sb_open();
	size_t ask = ask_queued(sb);

	(void)state;
	sb_settle(sb);
	sb_result(sb, sb_ask(sb, "task.cancel", "{\"task\":\"t-1\"}"));
	assert_string_equal(json_get_str(sb_result(sb, ask), "status"), "cancelled");
	assert_string_equal(json_get_str(sb_result(sb, ask), "reason"), "cancelled on request");
	assert_string_equal(json_get_str(sb_result(sb, ask), "task"), "t-1");
	check_stored(sb, "t-1", "cancelled", "cancelled on request");
	sb_close(sb);
}

static void test_a_cancel_while_it_is_tried_again_is_not_lost(void **state)
{
	struct sb *sb = sb_open();
	size_t ask = ask_queued(sb);
	struct sb_request *again = sb_expect(sb, sb->broker, "task.open");

	(void)state;
	sb_result(sb, sb_ask(sb, "task.cancel", "{\"task\":\"t-1\"}"));
	sb_fail(again, ERR_LIMIT, "4 tasks of this user are running; wait for one");
	assert_string_equal(json_get_str(sb_result(sb, ask), "status"), "cancelled");
	assert_true(sb_quiet(sb, sb->broker));
	sb_close(sb);
}

static void test_a_queued_task_ends_with_its_session(void **state)
{
	struct sb *sb = sb_open();

	(void)state;
	ask_queued(sb);
	sb_settle(sb);
	sb_leave(sb);
	check_stored(sb, "t-1", "cancelled", "the session that asked has ended");
	sb_close(sb);
}

static void test_nobody_waits_for_ever(void **state)
{
	struct sb *sb = sb_open();
	size_t ask = ask_queued(sb);
	struct sb_request *again = sb_expect(sb, sb->broker, "task.open");

	(void)state;
	sb->orchestrator.tasks->started_us -= 121 * 1000000LL;
	sb_fail(again, ERR_LIMIT, "4 tasks of this user are running; wait for one");
	assert_string_equal(json_get_str(sb_result(sb, ask), "status"), "limit_reached");
	assert_string_equal(json_get_str(sb_result(sb, ask), "reason"),
			    "4 tasks of this user are running; wait for one");
	check_stored(sb, "t-1", "limit_reached", NULL);
	sb_close(sb);
}

/* ---- a broker that is gone when something is to be sent ---- */

/* The orchestrator's own end is closed, and nobody has told it yet. */
static struct session *lose_broker(struct sb *sb)
{
	struct session *session = sb->orchestrator.sessions;

	channel_close(session->broker);
	return session;
}

static void test_what_cannot_be_recorded_any_more_is_withheld(void **state)
{
	static const char *const endings[] = {"completed", "refused"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
		struct sb *sb = sb_open();
		size_t ask = sb_ask(sb, "ask", ASK);
		struct session *session;

		lead_to(sb, QUERY);
		session = lose_broker(sb);
		sb_query_ends(sb, endings[i]);
		assert_string_equal(json_get_str(sb_result(sb, ask), "status"), "failed");
		assert_null(json_get(sb_result(sb, ask), "rows"));
		session->broker = NULL;
		sb_close(sb);
	}
}

/* ---- what the store and the clock say ---- */

static void test_a_task_that_the_store_has_ended_does_not_start(void **state)
{
	struct sb *sb = sb_open();
	size_t ask = sb_ask(sb, "ask", ASK);
	struct sb_request *open = lead_to(sb, OPEN);
	CLEANUP(json_freep) struct json *answer = json_object();
	struct err err = {0};

	(void)state;
	json_set_str(answer, "status", "failed");
	assert_int_equal(store_finish(sb->orchestrator.store, "t-1", answer, clock_now_us(), &err),
			 0);
	sb_reply(open, "{\"task\":\"t-1\",\"record\":1}");
	sb_reply(sb_expect(sb, sb->broker, "task.close"), CLOSED);
	assert_string_equal(json_get_str(sb_result(sb, ask), "reason"),
			    "task t-1 does not wait to start");
	sb_close(sb);
}

static void test_without_a_set_day_the_clock_counts(void **state)
{
	static const struct {
		const char *zone, *reason;
	} cases[] = {{"Europe/Berlin", NULL}, {"Mars/Olympus", "Mars/Olympus"}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct sb *sb = sb_open();
		size_t ask = sb_ask(sb, "ask", ASK);

		json_remove(sb->config, "today");
		json_set_str(sb->config, "timezone", cases[i].zone);
		lead_to(sb, QUERY_DESCRIPTOR);
		sb_lane(sb, LANE_A1);
		if (cases[i].reason == NULL) {
			assert_true(sb->query.running);
		} else {
			sb_reply(sb_expect(sb, sb->broker, "task.close"), CLOSED);
			assert_string_equal(json_get_str(sb_result(sb, ask), "status"), "failed");
			assert_non_null(strstr(json_get_str(sb_result(sb, ask), "reason"),
					       cases[i].reason));
		}
		sb_close(sb);
	}
}

/* ---- traces ---- */

static void test_traces_go_to_whoever_asked_for_them(void **state)
{
	struct sb *sb = sb_open();
	struct sb_request *trace;

	(void)state;
	sb_ask(sb, "ask", "{\"question\":\"Q?\",\"trace\":true}");
	lead_to(sb, QUERY);
	trace = sb_expect(sb, sb->client, "trace");
	assert_string_equal(json_get_str(trace->params, "event"), "handoff");
	assert_string_equal(json_get_str(trace->params, "text"), "to q-1: Q?");
	sb->query.trace(sb->query.data, "plan", "a plan", NULL);
	trace = sb_expect(sb, sb->client, "trace");
	assert_string_equal(json_get_str(trace->params, "text"), "a plan");
	assert_null(json_get(trace->params, "detail"));
	sb_leave(sb);
	sb->query.trace(sb->query.data, "plan", "nobody listens", NULL);
	sb_close(sb);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_question_becomes_an_answer_with_its_proof),
		cmocka_unit_test(test_the_query_agent_gets_its_handoff_and_no_more),
		cmocka_unit_test(test_the_report_agent_gets_facts_and_no_tool),
		cmocka_unit_test(test_without_rows_no_report_is_written),
		cmocka_unit_test(test_a_cut_list_is_reported_too),
		cmocka_unit_test(test_a_replaced_report_is_recorded_as_such),
		cmocka_unit_test(test_a_report_agent_that_fails_fails_the_task),
		cmocka_unit_test(test_agents_that_cannot_begin_fail_the_task),
		cmocka_unit_test(test_a_task_is_cancelled_at_every_step),
		cmocka_unit_test(test_a_task_that_is_ending_or_ended_cannot_be_cancelled),
		cmocka_unit_test(test_a_session_may_end_at_every_step_and_its_task_is_kept),
		cmocka_unit_test(test_what_the_broker_refuses_is_the_answer),
		cmocka_unit_test(test_a_withheld_answer_has_no_rows),
		cmocka_unit_test(test_a_broker_that_names_no_task_fails_the_question),
		cmocka_unit_test(test_a_name_that_is_taken_fails_the_question),
		cmocka_unit_test(test_a_queued_task_is_listed_and_shown_and_tried_again),
		cmocka_unit_test(test_a_queued_task_is_cancelled_on_request),
		cmocka_unit_test(test_a_cancel_while_it_is_tried_again_is_not_lost),
		cmocka_unit_test(test_a_queued_task_ends_with_its_session),
		cmocka_unit_test(test_nobody_waits_for_ever),
		cmocka_unit_test(test_what_cannot_be_recorded_any_more_is_withheld),
		cmocka_unit_test(test_a_task_that_the_store_has_ended_does_not_start),
		cmocka_unit_test(test_without_a_set_day_the_clock_counts),
		cmocka_unit_test(test_traces_go_to_whoever_asked_for_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
