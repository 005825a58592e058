/* What a person's connection may ask, member by member, and what becomes of a question back. */
#include "scripted_broker.h"

#include "base/clock.h"

static void check_refused(struct sb *sb, const char *method, const char *params, const char *text)
{
	const struct err *err = sb_error(sb, sb_ask(sb, method, params));

	assert_string_equal(err->text, text);
	assert_int_equal(err->kind, ERR_INVALID);
	assert_true(sb_quiet(sb, sb->broker));
}

static void test_a_member_of_a_wrong_type_is_refused_by_its_name(void **state)
{
	static const struct {
		const char *method, *params, *text;
	} cases[] = {
		{"ask", "{}", "ask: member \"question\" is missing (string)"},
		{"ask", "{\"question\":1}",
		 "ask: member \"question\" must be of type string, not integer"},
		{"ask", "{\"question\":\"Q\",\"first_sql\":[]}",
		 "ask: member \"first_sql\" must be of type string, not array"},
		{"ask", "{\"question\":\"Q\",\"workflow\":true}",
		 "ask: member \"workflow\" must be of type string, not boolean"},
		{"ask", "{\"question\":\"Q\",\"workflow\":\"other\"}",
		 "workflow is \"agent\" or \"fixed\", not \"other\""},
		{"ask", "{\"question\":\"Q\",\"trace\":\"yes\"}",
		 "ask: member \"trace\" must be of type boolean, not string"},
		{"ask", "{\"question\":\"Q\",\"trace\":null}",
		 "ask: member \"trace\" must be of type boolean, not null"},
		{"ask", "{\"question\":\"Q\",\"unknown\":\"t-1\"}",
		 "ask: unknown member \"unknown\""},
		{"ask", "{\"question\":\" \\t\\n\"}", "the question is empty"},
		{"task.list", "{\"all\":1}",
		 "task.list: member \"all\" must be of type boolean, not integer"},
		{"task.list", "{\"limit\":\"5\"}",
		 "task.list: member \"limit\" must be of type integer, not string"},
		{"task.list", "{\"limit\":0}", "limit is a number from 1 to 500"},
		{"task.list", "{\"limit\":501}", "limit is a number from 1 to 500"},
		{"task.show", "{}", "task.show: member \"task\" is missing (string)"},
		{"task.answer", "{\"task\":\"t-1\"}",
		 "task.answer: member \"choices\" is missing (object)"},
		{"task.answer", "{\"task\":\"t-1\",\"choices\":{},\"trace\":0}",
		 "task.answer: member \"trace\" must be of type boolean, not integer"},
		{"token.revoke", "{\"cause\":7}",
		 "token.revoke: member \"cause\" must be of type string, not integer"},
		{"call", "{\"agent\":\"a\",\"tool\":\"t\",\"arguments\":[]}",
		 "call: member \"arguments\" must be of type object, not array"},
		{"mcp.call", "{\"agent\":\"a\",\"tool\":\"t\",\"arguments\":{},\"label\":7}",
		 "mcp.call: member \"label\" must be of type string, not integer"},
		{"mcp.cancel", "{\"label\":7}",
		 "mcp.cancel: member \"label\" must be of type string, not integer"},
		{"status", "{\"verbose\":true}", "status: unknown member \"verbose\""},
		{"tea", "{}", "no method \"tea\""},
	};
	struct sb *sb = sb_open();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		check_refused(sb, cases[i].method, cases[i].params, cases[i].text);
	sb_close(sb);
}

static void test_questions_and_statements_have_a_longest_length(void **state)
{
	struct sb *sb = sb_open();
	CLEANUP(buf_clear) struct buf params = BUF_INIT;
	const struct err *err;

	(void)state;
	buf_add_str(&params, "{\"question\":\"");
	for (int i = 0; i < 4097; i++)
		buf_add_char(&params, 'q');
	buf_add_str(&params, "\"}");
	err = sb_error(sb, sb_ask(sb, "ask", buf_str(&params)));
	assert_int_equal(err->kind, ERR_LIMIT);
	assert_string_equal(err->text, "the question is over 4096 bytes");
	sb_close(sb);
}

static void test_trials_are_for_the_owner(void **state)
{
	struct sb *sb = sb_open();
	struct channel *client;
	size_t call;

	(void)state;
	sb_session(sb, "s-2", "bob", false, &client);
	call = sb_ask_on(sb, client, "call", "{\"agent\":\"a\",\"tool\":\"t\",\"arguments\":{}}");
	assert_int_equal(sb_error(sb, call)->kind, ERR_DENIED);
	assert_string_equal(sb_error(sb, call)->text, "call is for the workspace's owner");
	channel_close(client);
	sb_close(sb);
}

/* ---- the list ---- */

static void add(struct sb *sb, const char *task, const char *user, const char *status)
{
	CLEANUP(json_freep) struct json *answer = json_object();
	struct err err = {0};

	assert_int_equal(
		store_add(sb->orchestrator.store, task, user, "Who is best?", clock_now_us(), &err),
		0);
	json_set_str(answer, "status", status);
	assert_int_equal(store_finish(sb->orchestrator.store, task, answer, clock_now_us(), &err),
			 0);
}

static void test_the_list_says_where_it_goes_on(void **state)
{
	struct sb *sb = sb_open();
	const struct json *first, *last;

	(void)state;
	add(sb, "t-1", "alice", "completed");
	add(sb, "t-2", "bob", "completed");
	add(sb, "t-3", "alice", "completed");
	first = sb_result(sb, sb_ask(sb, "task.list", "{\"limit\":1}"));
	assert_int_equal(json_len(json_get(first, "tasks")), 1);
	assert_string_equal(json_get_str(first, "next"), "t-3");
	last = sb_result(sb, sb_ask(sb, "task.list", "{\"limit\":1,\"before\":\"t-3\"}"));
	assert_string_equal(json_get_str(json_at(json_get(last, "tasks"), 0), "task"), "t-1");
	assert_null(json_get(last, "next"));
	last = sb_result(sb, sb_ask(sb, "task.list", "{\"all\":true}"));
	assert_int_equal(json_len(json_get(last, "tasks")), 3);
	assert_string_equal(sb_error(sb, sb_ask(sb, "task.list", "{\"before\":\"t-2\"}"))->text,
			    "no task t-2");
	sb_close(sb);
}

/* ---- a question back ---- */

#define ANSWER "{\"task\":\"t-1\",\"choices\":{\"metric\":\"net_sales\"}}"

static void test_an_answer_is_a_task_that_follows(void **state)
{
	struct sb *sb = sb_open();
	const struct json *asked;
	struct sb_request *open;
	size_t answer;

	(void)state;
	add(sb, "t-1", "alice", "needs_input");
	answer = sb_ask(sb, "task.answer", ANSWER);
	sb_reply(sb_expect(sb, sb->broker, "task.reserve"), "{\"task\":\"t-2\"}");
	open = sb_expect(sb, sb->broker, "task.open");
	assert_string_equal(json_get_str(open->params, "question"), "Who is best?");
	check_refused(sb, "task.answer", ANSWER, "task t-1 is being answered already");
	sb_reply(open, "{\"task\":\"t-2\",\"record\":1}");
	sb_expect(sb, sb->broker, "agent.start");
	asked = json_get(sb_result(sb, sb_ask(sb, "task.show", "{\"task\":\"t-1\"}")), "task");
	assert_string_equal(json_get_str(asked, "answered_by"), "t-2");
	assert_false(sb_answered(sb, answer));
	sb_leave(sb);
	sb_close(sb);
}

static void test_an_answer_that_was_never_opened_leaves_the_question_open(void **state)
{
	struct sb *sb = sb_open();
	const struct json *asked;
	size_t answer;

	(void)state;
	add(sb, "t-1", "alice", "needs_input");
	answer = sb_ask(sb, "task.answer", ANSWER);
	sb_reply(sb_expect(sb, sb->broker, "task.reserve"), "{\"task\":\"t-2\"}");
	sb_fail(sb_expect(sb, sb->broker, "task.open"), ERR_UNAVAILABLE, "the log has stopped");
	assert_string_equal(json_get_str(sb_result(sb, answer), "status"), "failed");
	assert_string_equal(json_get_str(sb_result(sb, answer), "follows"), "t-1");
	asked = json_get(sb_result(sb, sb_ask(sb, "task.show", "{\"task\":\"t-1\"}")), "task");
	assert_string_equal(json_get_str(asked, "status"), "needs_input");
	assert_null(json_get(asked, "answered_by"));
	sb_ask(sb, "task.answer", ANSWER);
	sb_expect(sb, sb->broker, "task.reserve");
	sb_close(sb);
}

static void test_a_question_is_answered_once(void **state)
{
	struct sb *sb = sb_open();

	(void)state;
	add(sb, "t-1", "alice", "needs_input");
	add(sb, "t-3", "alice", "completed");
	sb_ask(sb, "task.answer", ANSWER);
	sb_reply(sb_expect(sb, sb->broker, "task.reserve"), "{\"task\":\"t-2\"}");
	sb_reply(sb_expect(sb, sb->broker, "task.open"), "{\"task\":\"t-2\",\"record\":1}");
	sb_reply(sb_expect(sb, sb->broker, "agent.start"), "{\"channel\":\"a-1\"}");
	sb_result(sb, sb_ask(sb, "task.cancel", "{\"task\":\"t-2\"}"));
	sb_reply(sb_expect(sb, sb->broker, "task.close"), "{\"records\":[1]}");
	check_refused(sb, "task.answer", ANSWER, "task t-1 was already answered, by task t-2");
	check_refused(sb, "task.answer", "{\"task\":\"t-3\",\"choices\":{}}",
		      "task t-3 asks nothing: it is completed");
	sb_close(sb);
}

/* ---- a question after another ---- */

static void add_answer(struct sb *sb, const char *task, const char *user, const char *text)
{
	struct json *answer = NULL;
	struct err err = {0};

	assert_int_equal(json_parse_str(text, &answer, &err), 0);
	assert_int_equal(
		store_add(sb->orchestrator.store, task, user, "Net sales?", clock_now_us(), &err),
		0);
	assert_int_equal(store_finish(sb->orchestrator.store, task, answer, clock_now_us(), &err),
			 0);
	json_free(answer);
}

/* Leads the next task, of that name, to its query agent; what that was given of the one before. */
static const struct json *given_previous(struct sb *sb, const char *task, const char *channel)
{
	CLEANUP(mem_freep) char *opened = mem_format("{\"task\":\"%s\",\"record\":1}", task);
	CLEANUP(mem_freep) char *started = mem_format("{\"channel\":\"%s\"}", channel);
	CLEANUP(mem_freep)
	char *lane =
		mem_format("{\"kind\":\"agent\",\"channel\":\"%s\",\"session\":\"s-1\"}", channel);

	sb_reply(sb_expect(sb, sb->broker, "task.reserve"), opened);
	sb_reply(sb_expect(sb, sb->broker, "task.open"), opened);
	sb_reply(sb_expect(sb, sb->broker, "agent.start"), started);
	sb_lane(sb, lane);
	sb_reply(sb_expect(sb, sb->broker, "task.event"), "{\"record\":2}");
	return json_get(json_get(sb->query.handoff, "context"), "previous");
}

#define QUERY "{\"metrics\":[\"net_sales\"]}"

static void test_a_follow_up_is_handed_the_query_before(void **state)
{
	struct sb *sb = sb_open();
	const struct json *previous;
	size_t ask, answer;

	(void)state;
	add_answer(sb, "t-1", "alice", "{\"status\":\"completed\",\"query\":" QUERY "}");
	ask = sb_ask(sb, "ask", "{\"question\":\"as a share\",\"after\":\"t-1\"}");
	previous = given_previous(sb, "t-2", "a-2");
	assert_string_equal(json_get_str(previous, "question"), "Net sales?");
	assert_string_equal(json_str(json_at(json_get(json_get(previous, "query"), "metrics"), 0)),
			    "net_sales");
	sb_query_ends(sb, "needs_input");
	sb_reply(sb_expect(sb, sb->broker, "task.close"), "{\"records\":[1]}");
	assert_string_equal(json_get_str(sb_result(sb, ask), "after"), "t-1");
	/* Its question back is answered: still after the same one. */
	answer = sb_ask(sb, "task.answer",
			"{\"task\":\"t-2\",\"choices\":{\"dimension\":\"region\"}}");
	previous = given_previous(sb, "t-3", "a-3");
	assert_string_equal(json_get_str(previous, "question"), "Net sales?");
	sb_query_ends(sb, "refused");
	sb_reply(sb_expect(sb, sb->broker, "task.close"), "{\"records\":[1]}");
	assert_string_equal(json_get_str(sb_result(sb, answer), "after"), "t-1");
	assert_string_equal(json_get_str(sb_result(sb, answer), "follows"), "t-2");
	sb_close(sb);
}

static void test_what_a_question_comes_after_must_be_a_query_of_ones_own(void **state)
{
	struct sb *sb = sb_open();
	struct channel *client;
	size_t ask;

	(void)state;
	add_answer(sb, "t-1", "alice", "{\"status\":\"completed\",\"query\":" QUERY "}");
	add_answer(sb, "t-2", "alice", "{\"status\":\"refused\"}");
	check_refused(sb, "ask", "{\"question\":\"Q\",\"after\":\"t-2\"}",
		      "task t-2 has no metric query that a follow-up could change");
	check_refused(sb, "ask", "{\"question\":\"Q\",\"after\":2}",
		      "ask: member \"after\" must be of type string, not integer");
	sb_session(sb, "s-2", "bob", false, &client);
	ask = sb_ask_on(sb, client, "ask", "{\"question\":\"Q\",\"after\":\"t-1\"}");
	assert_int_equal(sb_error(sb, ask)->kind, ERR_NOT_FOUND);
	assert_string_equal(sb_error(sb, ask)->text, "the question before: no task t-1");
	channel_close(client);
	sb_close(sb);
}

static void test_a_choice_is_a_text(void **state)
{
	struct sb *sb = sb_open();

	(void)state;
	add(sb, "t-1", "alice", "needs_input");
	check_refused(sb, "task.answer", "{\"task\":\"t-1\",\"choices\":{\"metric\":1}}",
		      "choice \"metric\" must be a string");
	sb_close(sb);
}

/* ---- passed on ---- */

static void test_the_brokers_answers_are_passed_on(void **state)
{
	struct sb *sb = sb_open();
	size_t status = sb_ask(sb, "status", "{}");
	size_t list = sb_ask(sb, "token.list", "{}");
	size_t revoke;
	const struct json *own;

	(void)state;
	sb_ask(sb, "ask", "{\"question\":\"Q\"}");
	sb_reply(sb_expect(sb, sb->broker, "status"), "{\"sessions\":1}");
	own = json_get(sb_result(sb, status), "orchestrator");
	assert_int_equal(json_get_int(own, "tasks_running", -1), 1);
	assert_int_equal(json_get_int(own, "tasks_queued", -1), 0);
	sb_reply(sb_expect(sb, sb->broker, "token.list"), "{\"tokens\":[]}");
	assert_null(json_get(sb_result(sb, list), "orchestrator"));
	sb_expect(sb, sb->broker, "task.reserve");
	revoke = sb_ask(sb, "token.revoke", "{\"token\":\"j-1\"}");
	sb_fail(sb_expect(sb, sb->broker, "token.revoke"), ERR_DENIED, "not yours");
	assert_string_equal(sb_error(sb, revoke)->text, "not yours");
	sb_ask(sb, "status", "{}");
	sb_leave(sb); /* and nobody is there for the answer */
	sb_close(sb);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_member_of_a_wrong_type_is_refused_by_its_name),
		cmocka_unit_test(test_questions_and_statements_have_a_longest_length),
		cmocka_unit_test(test_trials_are_for_the_owner),
		cmocka_unit_test(test_the_list_says_where_it_goes_on),
		cmocka_unit_test(test_an_answer_is_a_task_that_follows),
		cmocka_unit_test(test_an_answer_that_was_never_opened_leaves_the_question_open),
		cmocka_unit_test(test_a_question_is_answered_once),
		cmocka_unit_test(test_a_follow_up_is_handed_the_query_before),
		cmocka_unit_test(test_what_a_question_comes_after_must_be_a_query_of_ones_own),
		cmocka_unit_test(test_a_choice_is_a_text),
		cmocka_unit_test(test_the_brokers_answers_are_passed_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
