/*
 * A connector that was taken over, or is broken, against the real writ-broker and writ-signer: what
 * it answers is not believed beyond what can be checked, and it takes nobody else down with it.
 */
#include "hostile.h"

static struct fx *open_with_double(void)
{
	struct fx *fx = fx_open_broker(NULL, PROGRAM_FOLDER, NULL);

	fx_start_signer(fx, PROGRAM_FOLDER);
	fx_attach_connector(fx, "sales");
	return fx;
}

static void check_unavailable(struct fx *fx, const char *answer)
{
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	struct json *reply = call_refused(fx, agent, RUN_QUERY("SELECT 1"), "unavailable");
	const struct json *records = json_get(reply, "records");

	if (strstr(json_get_str(reply, "error"), "malformed") == NULL)
		fail_msg("%s: %s", answer, json_get_str(reply, "error"));
	assert_true(json_len(records) > 0);
	json_free(reply);
}

static void close_sessions(struct fx *fx)
{
	for (size_t i = 0; i < fx->end_count; i++)
		channel_close(TAKE(fx->ends[i].channel));
	fx_settle(fx);
}

#define OK_ROWS(columns, types, rows, count)                                                       \
	"{\"ok\":true,\"columns\":" columns ",\"types\":" types ",\"rows\":" rows                  \
	",\"row_count\":" count ",\"truncated\":false,\"bytes_scanned\":1,\"latency_ms\":0.1}"

static void test_results_that_do_not_fit_are_not_passed_on(void **state)
{
	static const char *const answers[] = {
		"[]",
		"7",
		"null",
		"{}",
		"{\"ok\":\"yes\"}",
		"{\"ok\":true}",
		"{\"ok\":false}",
		"{\"ok\":false,\"error\":7,\"rejected_by\":\"database\"}",
		"{\"ok\":false,\"error\":\"x\",\"rejected_by\":\"the broker\"}",
		/* one row more than was granted */
		OK_ROWS("[\"a\"]", "[\"integer\"]", "[[1],[2],[3],[4],[5],[6]]", "6"),
		/* a count that is not theirs */
		OK_ROWS("[\"a\"]", "[\"integer\"]", "[[1]]", "2"),
		OK_ROWS("[\"a\"]", "[\"integer\"]", "[[1]]", "-1"),
		OK_ROWS("[\"a\"]", "[\"integer\"]", "[[1]]", "\"1\""),
		/* more or fewer cells than columns, or types */
		OK_ROWS("[\"a\"]", "[\"integer\"]", "[[1,2]]", "1"),
		OK_ROWS("[\"a\",\"b\"]", "[\"integer\",\"integer\"]", "[[1]]", "1"),
		OK_ROWS("[\"a\"]", "[]", "[[1]]", "1"),
		/* wrong types */
		OK_ROWS("[7]", "[\"integer\"]", "[[1]]", "1"),
		OK_ROWS("{\"a\":1}", "[\"integer\"]", "[[1]]", "1"),
		OK_ROWS("\"a\"", "[\"integer\"]", "[[1]]", "1"),
		OK_ROWS("[\"a\"]", "[{}]", "[[1]]", "1"),
		OK_ROWS("[\"a\"]", "[\"secret\"]", "[[1]]", "1"),
		OK_ROWS("[\"a\"]", "[\"integer\"]", "{\"a\":[1]}", "1"),
		OK_ROWS("[\"a\"]", "[\"integer\"]", "[7]", "1"),
		OK_ROWS("[\"a\"]", "[\"integer\"]", "[[{\"sql\":\"x\"}]]", "1"),
		OK_ROWS("[\"a\"]", "[\"integer\"]", "[[[1]]]", "1"),
		OK_ROWS("[\"a\"]", "[\"integer\"]", "[[true]]", "1"),
		OK_ROWS("[\"a\"]", "[\"blob\"]", "[[{\"base64\":7}]]", "1"),
		OK_ROWS("[\"a\"]", "[\"blob\"]", "[[{\"base64\":\"\",\"x\":1}]]", "1"),
		"{\"ok\":true,\"columns\":[],\"types\":[],\"rows\":[],\"row_count\":0,"
		"\"bytes_scanned\":-1}",
		"{\"ok\":true,\"columns\":[],\"types\":[],\"rows\":[],\"row_count\":0,"
		"\"bytes_scanned\":\"9\"}",
	};
	struct fx *fx = open_with_double();
	const char *good = fx->executed;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		fx->executed = answers[i];
		check_unavailable(fx, answers[i]);
		close_sessions(fx);
	}
	fx->executed = good;
	check_others_work(fx);
	close_and_verify(fx);
}

/* Granted is 1 MiB, and a line may be four times as long. */
static void test_more_bytes_than_granted_are_not_passed_on(void **state)
{
	struct fx *fx = open_with_double();
	struct buf answer = BUF_INIT;

	(void)state;
	for (int rest = 3; rest <= 4; rest++) {
		struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
		struct json *reply;
		size_t start;

		buf_reset(&answer);
		buf_add_str(&answer, "{\"ok\":true,\"columns\":[\"a\"],\"types\":[\"text\"],"
				     "\"row_count\":1,\"truncated\":false,\"bytes_scanned\":1,"
				     "\"rows\":");
		start = answer.len;
		buf_add_str(&answer, "[[\"");
		while (answer.len - start < (1u << 20) + 2 - 6 + (size_t)rest)
			buf_add_char(&answer, 'x');
		buf_add_str(&answer, "\"]]}");
		fx->executed = buf_str(&answer);
		reply = fx_ok(fx, agent, "tool.call", RUN_QUERY("SELECT 1"));
		if (rest == 3)
			assert_true(json_get_bool(reply, "ok", false));
		else
			assert_string_equal(json_get_str(reply, "rejected_by"), "unavailable");
		json_free(reply);
		close_sessions(fx);
	}
	buf_clear(&answer);
	close_and_verify(fx);
}

static void test_what_an_agent_sees_has_no_member_of_the_connectors_invention(void **state)
{
	struct fx *fx = open_with_double();
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	struct json *reply;

	(void)state;
	fx->executed =
		"{\"ok\":true,\"columns\":[\"a\"],\"types\":[\"integer\"],\"rows\":[[1]],"
		"\"row_count\":1,\"truncated\":false,\"bytes_scanned\":1,\"latency_ms\":1,"
		"\"records\":[0],\"tables\":[\"payroll\"],\"decision\":{\"effect\":\"allow\"},"
		"\"token\":\"x\",\"hidden\":{\"tables\":[\"payroll\"]}}";
	reply = fx_ok(fx, agent, "tool.call", RUN_QUERY("SELECT 1"));
	assert_true(json_get_bool(reply, "ok", false));
	assert_null(json_get(reply, "decision"));
	assert_null(json_get(reply, "token"));
	assert_null(json_get(reply, "hidden"));
	assert_int_equal(json_len(json_get(reply, "records")), 2);
	assert_string_equal(json_str(json_at(json_get(reply, "tables"), 0)), "orders");
	json_free(reply);
	check_others_work(fx);
	close_and_verify(fx);
}

static void test_facts_that_cannot_be_read_are_a_denial(void **state)
{
	static const char *const answers[] = {
		"[]",
		"{\"ok\":true}",
		"{\"ok\":true,\"statement\":\"\",\"tables\":[],\"columns\":[],\"functions\":[]}",
		"{\"ok\":true,\"statement\":7,\"tables\":[],\"columns\":[],\"functions\":[]}",
		"{\"ok\":true,\"statement\":\"s\",\"tables\":\"orders\",\"columns\":[],"
		"\"functions\":[]}",
		"{\"ok\":true,\"statement\":\"s\",\"tables\":[],\"columns\":[null],"
		"\"functions\":[]}",
		"{\"ok\":true,\"statement\":\"s\",\"tables\":[],\"columns\":[\"\"],"
		"\"functions\":[]}",
		"{\"ok\":true,\"statement\":\"s\",\"tables\":[],\"columns\":[]}",
		"{\"ok\":true,\"statement\":\"s\",\"tables\":{},\"columns\":[],\"functions\":[]}",
	};
	struct fx *fx = open_with_double();
	const char *good = fx->prepared;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		fx->prepared = answers[i];
		check_unavailable(fx, answers[i]);
		close_sessions(fx);
	}
	fx->prepared = good;
	check_others_work(fx);
	close_and_verify(fx);
}

/* Facts that lie may only lead to less: the decision is made on them. */
static void test_facts_beyond_the_scope_are_denied(void **state)
{
	static const char *const answers[] = {
		"{\"ok\":true,\"statement\":\"s\",\"tables\":[\"payroll\"],"
		"\"columns\":[\"payroll.salary\"],\"functions\":[]}",
		"{\"ok\":true,\"statement\":\"s\",\"tables\":[\"orders\",\"payroll\"],"
		"\"columns\":[\"orders.order_id\"],\"functions\":[]}",
		"{\"ok\":true,\"statement\":\"s\",\"tables\":[\"orders\"],"
		"\"columns\":[\"customers.name\"],\"functions\":[]}",
		"{\"ok\":true,\"statement\":\"s\",\"tables\":[\"orders\"],"
		"\"columns\":[\"orders.order_id\"],\"functions\":[\"load_extension\"]}",
		"{\"ok\":true,\"statement\":\"s\",\"tables\":[\"PAYROLL\"],"
		"\"columns\":[],\"functions\":[]}",
		"{\"ok\":true,\"statement\":\"s\",\"tables\":[\"nowhere\"],"
		"\"columns\":[\"nowhere.x\"],\"functions\":[]}",
	};
	struct fx *fx = open_with_double();
	const char *good = fx->prepared;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
		size_t asked = fx->asked_count;

		fx->prepared = answers[i];
		json_free(call_refused(fx, agent, RUN_QUERY("SELECT 1"), NULL));
		for (; asked < fx->asked_count; asked++)
			assert_string_not_equal(fx->asked[asked].method, "execute");
		close_sessions(fx);
	}
	fx->prepared = good;
	check_others_work(fx);
	close_and_verify(fx);
}

static void test_one_that_never_answers_is_given_up(void **state)
{
	CLEANUP(mem_freep) char *scope = mem_str(fx_scope);
	struct json *slot, *record;
	struct channel *agent;
	struct fx *fx;
	time_t before;

	(void)state;
	strstr(scope, "time: 5s}")[6] = '1'; /* of a call */
	fx = fx_open_broker(scope, PROGRAM_FOLDER, NULL);
	fx_start_signer(fx, PROGRAM_FOLDER);
	fx_attach_connector(fx, "sales");
	agent = fx_ready(fx, "ask", "sales-query-01");
	fx->connector_mute = "execute";
	before = time(NULL);
	fx_send(fx, agent, "tool.call", RUN_QUERY("SELECT 1"), &slot);
	fx_settle(fx);
	/* Others need no connector for this, and are answered meanwhile. */
	json_free(fx_ok(fx, fx_connect(fx, NULL, 0)->channel, "status", "{}"));
	assert_null(slot);
	while (slot == NULL && time(NULL) - before < 10)
		fx_settle(fx);
	assert_non_null(slot);
	assert_string_equal(json_get_str(json_get(slot, "result"), "rejected_by"), "unavailable");
	assert_string_equal(json_get_str(json_get(slot, "result"), "error"),
			    "the connector of sales does not answer");
	json_free(slot);
	record = fx_record(fx, EV_TOOL_RESULT);
	assert_string_equal(json_get_str(record, REC_STATUS), "error");
	assert_string_equal(json_get_str(record, REC_CODE), "connector_silent");
	json_free(record);
	fx->connector_mute = NULL;
	check_others_work(fx);
	close_and_verify(fx);
}

/* ---- bytes instead of answers ---- */

/* Attaches a connector of bytes and waits until it was asked. */
static int asked_in_bytes(struct fx *fx, struct json **slot)
{
	struct channel *agent;
	char request[65536];
	int fd;

	channel_close(TAKE(fx->connector));
	fd = fx_attach_raw(fx, "{\"attach\":\"connector\",\"name\":\"sales\",\"kind\":\"sqlite\"}");
	fx_settle(fx);
	agent = fx_ready(fx, "ask", "sales-query-01");
	fx_send(fx, agent, "tool.call", RUN_QUERY("SELECT 1"), slot);
	fx_until(fx, recv(fd, request, sizeof(request), MSG_DONTWAIT) > 0);
	return fd;
}

static void check_answered_unavailable(struct fx *fx, const char *name, struct json **slot)
{
	const struct json *result;

	fx_until(fx, *slot != NULL);
	result = json_get(*slot, "result");
	if (json_get_bool(result, "ok", true) ||
	    strcmp(json_get_str(result, "rejected_by"), "unavailable") != 0)
		fail_msg("%s: %s", name, json_get_str(result, "error"));
	json_free(*slot);
	if (!broker_lives(fx))
		fail_msg("%s: the broker died", name);
}

static void test_garbage_costs_the_connector_its_channel(void **state)
{
	struct fx *fx = open_with_double();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(garbage); i++) {
		struct buf rest = BUF_INIT;
		struct json *slot;
		int fd = asked_in_bytes(fx, &slot);

		raw_write(fx, fd, garbage[i].bytes, garbage[i].len);
		raw_read_to_end(fx, fd, &rest);
		buf_clear(&rest);
		close(fd);
		check_answered_unavailable(fx, garbage[i].name, &slot);
		close_sessions(fx);
	}
	fx_attach_connector(fx, "sales"); /* as the supervisor does it */
	fx_settle(fx);
	check_others_work(fx);
	close_and_verify(fx);
}

static void test_a_line_without_end_costs_the_connector_its_channel(void **state)
{
	struct fx *fx = open_with_double();
	struct buf text = BUF_INIT, rest = BUF_INIT;
	struct json *slot;
	int fd = asked_in_bytes(fx, &slot);

	(void)state;
	buf_add_str(&text, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"ok\":true,\"rows\":\"");
	while (text.len < 10u << 20)
		buf_add_str(&text, "all of the payroll ");
	raw_write(fx, fd, text.bytes, text.len);
	raw_read_to_end(fx, fd, &rest);
	close(fd);
	check_answered_unavailable(fx, "10 MiB", &slot);
	buf_clear(&text);
	buf_clear(&rest);
	fx_attach_connector(fx, "sales");
	fx_settle(fx);
	check_others_work(fx);
	close_and_verify(fx);
}

static void test_one_that_leaves_inside_a_call_leaves_a_reason(void **state)
{
	struct fx *fx = open_with_double();
	struct json *slot;
	int fd = asked_in_bytes(fx, &slot);

	(void)state;
	raw_write(fx, fd, "{\"jsonrpc\":", 11);
	close(fd);
	check_answered_unavailable(fx, "gone", &slot);
	fx_attach_connector(fx, "sales");
	fx_settle(fx);
	check_others_work(fx);
	close_and_verify(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_results_that_do_not_fit_are_not_passed_on),
		cmocka_unit_test(test_more_bytes_than_granted_are_not_passed_on),
		cmocka_unit_test(test_what_an_agent_sees_has_no_member_of_the_connectors_invention),
		cmocka_unit_test(test_facts_that_cannot_be_read_are_a_denial),
		cmocka_unit_test(test_facts_beyond_the_scope_are_denied),
		cmocka_unit_test(test_one_that_never_answers_is_given_up),
		cmocka_unit_test(test_garbage_costs_the_connector_its_channel),
		cmocka_unit_test(test_a_line_without_end_costs_the_connector_its_channel),
		cmocka_unit_test(test_one_that_leaves_inside_a_call_leaves_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
