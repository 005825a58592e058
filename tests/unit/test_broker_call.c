/* Tool calls from request to reply, with every way they may fail. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "broker_fixture.h"
#include "writ/record.h"

#define RUN(sql) "{\"tool\":\"run_query\",\"arguments\":{\"sql\":\"" sql "\"}}"

static struct json *call(struct fx *fx, struct channel *agent, const char *params)
{
	return fx_ok(fx, agent, "tool.call", params);
}

static void check_refusal(const struct json *reply, const char *by, const char *error)
{
	assert_false(json_get_bool(reply, "ok", true));
	assert_string_equal(json_get_str(reply, "rejected_by"), by);
	if (strstr(json_get_str(reply, "error"), error) == NULL)
		fail_msg("\"%s\" lacks \"%s\"", json_get_str(reply, "error"), error);
	assert_non_null(json_get_str(reply, "hint"));
}

/* The first record of the reply. */
static struct json *intent_of(struct fx *fx, const struct json *reply)
{
	struct json *record = fx_record_at(fx, json_int(json_at(json_get(reply, "records"), 0)));

	assert_non_null(record);
	assert_string_equal(json_get_str(record, REC_EVENT), EV_TOOL_INTENT);
	return record;
}

static void check_intent(struct fx *fx, const struct json *reply, const char *decision,
			 const char *code, const char *rule)
{
	CLEANUP(json_freep) struct json *record = intent_of(fx, reply);

	assert_string_equal(json_get_str(record, REC_DECISION), decision);
	assert_string_equal(json_get_str(record, REC_CODE), code);
	assert_string_equal(json_get_str(record, REC_RISK), "none");
	if (rule == NULL)
		assert_null(json_get(record, REC_RULE));
	else
		assert_string_equal(json_get_str(record, REC_RULE), rule);
}

static void test_a_query_is_prepared_decided_recorded_and_answered(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	struct json *reply = call(fx, agent, RUN("SELECT order_id FROM orders"));
	const struct json *records = json_get(reply, "records");
	struct json *intent, *result;

	(void)state;
	assert_true(json_get_bool(reply, "ok", false));
	assert_int_equal(json_get_int(reply, "row_count", 0), 2);
	assert_int_equal(json_get_int(reply, "rows_clamped_to", 0), 5);
	assert_string_equal(json_str(json_at(json_get(reply, "columns_read"), 0)),
			    "orders.order_id");
	assert_null(json_get(reply, "decision"));
	assert_int_equal(json_len(records), 2);
	intent = intent_of(fx, reply);
	result = fx_record_at(fx, json_int(json_at(records, 1)));
	assert_string_equal(json_get_str(intent, REC_DECISION), "allow");
	assert_string_equal(json_get_str(intent, REC_RULE), "read-sales");
	assert_string_equal(json_get_str(intent, REC_RESOURCE), "sales");
	assert_string_equal(json_get_str(intent, REC_AGENT),
			    "spiffe://corp.example/agent/sales-query-01");
	assert_null(json_get(intent, "sql")); /* only as a digest */
	assert_string_equal(json_get_str(result, REC_EVENT), EV_TOOL_RESULT);
	assert_string_equal(json_get_str(result, REC_STATUS), "ok");
	assert_int_equal(json_get_int(result, REC_ROWS, -1), 2);
	assert_int_equal(json_get_int(result, REC_BYTES, -1), 4096);
	assert_int_equal(json_get_int(result, REC_INTENT, -1), json_int(json_at(records, 0)));
	json_free(intent);
	json_free(result);
	json_free(reply);
	fx_close(fx);
}

static void test_the_connector_gets_exactly_what_was_allowed(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	const struct json *prepare, *execute, *limits;
	CLEANUP(buf_clear) struct buf text = BUF_INIT;

	(void)state;
	json_free(call(fx, agent,
		       "{\"tool\":\"run_query\",\"arguments\":{\"sql\":\"SELECT 1\",\"rows\":3}}"));
	assert_int_equal(fx->asked_count, 2);
	prepare = fx->asked[0].params;
	execute = fx->asked[1].params;
	assert_string_equal(json_get_str(prepare, "sql"), "SELECT 1");
	assert_string_equal(json_get_str(json_get(json_get(prepare, "view"), "tables"), "orders"),
			    "all");
	assert_string_equal(json_get_str(execute, "mode"), "run");
	assert_string_equal(json_get_str(execute, "statement"), "s1");
	assert_string_equal(json_get_str(execute, "call"), json_get_str(prepare, "call"));
	json_write(json_get(execute, "allow"), &text);
	assert_string_equal(buf_str(&text), "{\"tables\":[\"orders\"],\"columns\":[\"orders.order_"
					    "id\"],\"functions\":[]}");
	limits = json_get(execute, "limits");
	assert_int_equal(json_get_int(limits, "rows", 0), 3);
	assert_int_equal(json_get_int(limits, "bytes", 0), 1 << 20);
	assert_int_equal(json_get_int(limits, "scan_bytes", 0), 64 << 20);
	assert_int_equal(json_get_int(limits, "time_ms", 0), 5000);
	fx_close(fx);
}

static void test_a_name_out_of_sight_reads_as_absent_and_the_record_has_the_rule(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	struct json *reply;

	(void)state;
	fx->prepared = "{\"ok\":false,\"error\":\"no such table: payroll\",\"rejected_by\":"
		       "\"database\",\"hint\":\"call search_schema\",\"hidden\":{\"tables\":"
		       "[\"payroll\"],\"columns\":[\"payroll.amount\"],\"functions\":[]}}";
	reply = call(fx, agent, RUN("SELECT amount FROM payroll"));
	check_refusal(reply, "database", "no such table: payroll");
	assert_null(json_get(reply, "hidden"));
	assert_null(json_get(reply, "decision"));
	check_intent(fx, reply, "deny", "rule_denies", "never-payroll");
	json_free(reply);
	fx->prepared = "{\"ok\":false,\"error\":\"no such column: x\",\"rejected_by\":"
		       "\"database\",\"hint\":\"call describe_table\"}";
	reply = call(fx, agent, RUN("SELECT x FROM orders"));
	check_refusal(reply, "database", "no such column: x");
	check_intent(fx, reply, "deny", "database", NULL);
	json_free(reply);
	fx_close(fx);
}

static void test_describing_hidden_and_absent_tables_is_the_same(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	static const struct {
		const char *table;
		const char *rule;
		const char *code;
	} cases[] = {{"payroll", "never-payroll", "rule_denies"}, {"nowhere", NULL, "no_rule"}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(mem_freep)
		char *params =
			mem_format("{\"tool\":\"describe_table\",\"arguments\":{\"table\":\"%s\"}}",
				   cases[i].table);
		CLEANUP(mem_freep)
		char *error = mem_format("no such table: %s", cases[i].table);
		struct json *reply = call(fx, agent, params);

		check_refusal(reply, "database", error);
		assert_string_equal(json_get_str(reply, "hint"), "call search_schema");
		check_intent(fx, reply, "deny", cases[i].code, cases[i].rule);
		json_free(reply);
	}
	assert_int_equal(fx->asked_count, 0); /* neither reached the source */
	fx_close(fx);
}

static void test_a_view_tool_goes_out_with_its_view(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	struct json *reply;

	(void)state;
	fx->tool_result = "{\"ok\":true,\"table\":\"orders\",\"columns\":[],\"secret\":1}";
	reply = call(fx, agent,
		     "{\"tool\":\"describe_table\",\"arguments\":{\"table\":\"ORDERS\"}}");
	assert_true(json_get_bool(reply, "ok", false));
	assert_string_equal(json_get_str(reply, "table"), "orders");
	assert_null(json_get(reply, "secret")); /* no member of the connector's own */
	assert_int_equal(json_len(json_get(reply, "records")), 2);
	assert_string_equal(fx->asked[0].method, "tool");
	assert_string_equal(json_get_str(fx->asked[0].params, "tool"), "describe_table");
	json_free(reply);
	fx_close(fx);
}

static void test_list_metrics_is_answered_here_less_what_is_hidden(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	struct json *reply = call(fx, agent, "{\"tool\":\"list_metrics\"}");
	CLEANUP(buf_clear) struct buf text = BUF_INIT;

	(void)state;
	json_write(json_get(reply, "model"), &text);
	assert_string_equal(buf_str(&text), "{\"name\":\"sales\",\"metrics\":[{\"name\":\"orders\","
					    "\"reads\":[\"orders.order_id\"]}]}");
	assert_int_equal(fx->asked_count, 0);
	json_free(reply);
	fx_close(fx);
}

static void test_a_denied_function_is_named_and_a_denied_whole_is_not(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	struct json *reply;

	(void)state;
	fx->prepared = "{\"ok\":true,\"statement\":\"s7\",\"tables\":[\"orders\"],\"columns\":"
		       "[\"orders.order_id\"],\"functions\":[\"randomblob\"]}";
	reply = call(fx, agent, RUN("SELECT randomblob(order_id) FROM orders"));
	check_refusal(reply, "policy", "the function randomblob is not granted");
	check_intent(fx, reply, "deny", "no_rule", NULL);
	json_free(reply);
	fx_until(fx, fx->asked_count == 2);
	assert_string_equal(fx->asked[1].method, "drop"); /* prepared, never executed */
	assert_string_equal(json_get_str(fx->asked[1].params, "statement"), "s7");
	fx->prepared = "{\"ok\":true,\"statement\":\"s8\",\"tables\":[\"payroll\"],\"columns\":"
		       "[\"payroll.amount\"],\"functions\":[]}";
	reply = call(fx, agent, RUN("SELECT amount FROM payroll"));
	check_refusal(reply, "policy", "what this call touches is not granted together");
	assert_null(strstr(json_get_str(reply, "error"), "payroll"));
	check_intent(fx, reply, "deny", "rule_denies", "never-payroll");
	json_free(reply);
	fx_close(fx);
}

static void test_what_needs_approval_is_asked_for(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	struct json *reply;

	(void)state;
	fx->prepared = "{\"ok\":true,\"statement\":\"s1\",\"tables\":[\"refunds\"],\"columns\":"
		       "[\"refunds.id\"],\"functions\":[]}";
	reply = call(fx, agent, RUN("SELECT id FROM refunds"));
	check_refusal(reply, "policy", "needs approval");
	check_intent(fx, reply, "ask", "rule_asks", "ask-refunds");
	json_free(reply);
	fx_close(fx);
}

static void test_what_cannot_be_shown_whole_cannot_be_approved(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");

	(void)state;
	fx->prepared = "{\"ok\":true,\"statement\":\"s1\",\"tables\":[\"refunds\"],\"columns\":"
		       "[\"refunds.id\"],\"functions\":[]}";
	for (int over = 0; over < 2;
	     over++) { /* {"sql":"..."} and ,"rows":100 take 21 bytes more */
		int blanks = 4096 - 21 - (int)strlen("SELECT id FROM refunds") + over;
		CLEANUP(mem_freep)
		char *params = mem_format("{\"tool\":\"run_query\",\"arguments\":{\"sql\":"
					  "\"SELECT id%*s FROM refunds\"}}",
					  blanks, "");
		struct json *reply = call(fx, agent, params);

		check_refusal(reply, "policy",
			      over ? "longer than the 4096 bytes" : "needs approval: ap-");
		assert_int_equal(json_is_null(json_get(reply, "approval")), over);
		check_intent(fx, reply, "ask", "rule_asks", "ask-refunds");
		json_free(reply);
	}
	fx_close(fx);
}

static void test_a_trial_shows_the_decision_and_belongs_to_the_owner(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent;
	const struct json *decision;
	struct json *reply;

	(void)state;
	fx_set_user(fx, "olga", "[\"sales\"]", true);
	agent = fx_ready(fx, "trial", "sales-query-01");
	reply = call(fx, agent, RUN("SELECT order_id FROM orders"));
	decision = json_get(reply, "decision");
	assert_string_equal(json_get_str(decision, "effect"), "allow");
	assert_string_equal(json_get_str(decision, "rule"), "read-sales");
	assert_non_null(strstr(json_get_str(decision, "at"), "scopes/sales.yaml:"));
	json_free(reply);
	fx->prepared = "{\"ok\":false,\"error\":\"no such table: payroll\",\"rejected_by\":"
		       "\"database\",\"hint\":\"call search_schema\",\"hidden\":{\"tables\":"
		       "[\"payroll\"],\"columns\":[],\"functions\":[]}}";
	reply = call(fx, agent, RUN("SELECT 1 FROM payroll"));
	decision = json_get(reply, "decision");
	assert_string_equal(json_get_str(decision, "effect"), "deny");
	assert_string_equal(json_get_str(decision, "rule"), "never-payroll");
	assert_non_null(strstr(json_get_str(decision, "reason"), "never-payroll"));
	json_free(reply);
	fx_close(fx);
}

static void test_arguments_are_refused_by_name_and_recorded(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	struct json *reply = call(fx, agent, "{\"tool\":\"drop_table\",\"arguments\":{}}");

	(void)state;
	check_refusal(reply, "arguments", "there is no tool \"drop_table\"");
	check_intent(fx, reply, "deny", "unknown_tool", NULL);
	json_free(reply);
	reply = call(fx, agent, "{\"tool\":\"run_query\",\"arguments\":{\"row\":1}}");
	check_refusal(reply, "arguments", "did you mean \"rows\"?");
	check_intent(fx, reply, "deny", "arguments", NULL);
	json_free(reply);
	reply = call(fx, agent, "{\"tool\":\"run_query\",\"arguments\":[]}");
	check_refusal(reply, "arguments", "\"arguments\" must be an object");
	json_free(reply);
	assert_int_equal(fx->asked_count, 0);
	fx_close(fx);
}

static void test_a_call_without_a_token_is_refused_by_token(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *session = fx_connect(fx, NULL, 0)->channel;
	struct channel *agent;
	struct json *reply;
	char task[48];

	(void)state;
	fx_task(fx, session, "ask", task);
	agent = fx_agent(fx, session, task, "sales-query-01", NULL)->channel;
	reply = call(fx, agent, RUN("SELECT 1"));
	check_refusal(reply, "token", "call token.issue");
	check_intent(fx, reply, "deny", "token_denied", NULL);
	json_free(reply);
	json_free(fx_ok(fx, agent, "token.issue", "{}"));
	reply = call(fx, agent, RUN("SELECT 1"));
	assert_true(json_get_bool(reply, "ok", false));
	json_free(reply);
	fx_clock_us = 59LL * 1000000; /* its task gave it 60 s */
	reply = call(fx, agent, RUN("SELECT 1"));
	assert_true(json_get_bool(reply, "ok", false));
	json_free(reply);
	fx_clock_us = 61LL * 1000000;
	reply = call(fx, agent, RUN("SELECT 1"));
	check_refusal(reply, "token", "expired");
	check_intent(fx, reply, "deny", "token_expired", NULL);
	json_free(reply);
	fx_close(fx);
}

static void test_a_report_agent_has_no_tool(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *session = fx_connect(fx, NULL, 0)->channel;
	struct channel *agent;
	struct json *reply;
	char task[48];

	(void)state;
	fx_task(fx, session, "ask", task);
	agent = fx_agent(fx, session, task, "sales-report-01", NULL)->channel;
	reply = fx_ok(fx, agent, "token.issue", "{}");
	assert_int_equal(json_len(json_get(reply, "tools")), 0);
	json_free(reply);
	reply = fx_ok(fx, agent, "tool.list", "{}");
	assert_int_equal(json_len(json_get(reply, "tools")), 0);
	json_free(reply);
	reply = call(fx, agent, RUN("SELECT 1"));
	check_refusal(reply, "policy", "this agent may not use run_query");
	json_free(reply);
	assert_int_equal(fx->asked_count, 0);
	fx_close(fx);
}

static void test_the_budgets_hold_at_their_edges(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	struct json *reply;

	(void)state;
	for (int i = 0; i < 3; i++) {
		reply = call(fx, agent, RUN("SELECT 1"));
		assert_true(json_get_bool(reply, "ok", false));
		json_free(reply);
	}
	reply = call(fx, agent, RUN("SELECT 1")); /* the fourth attempt of three */
	check_refusal(reply, "budget", "attempts");
	check_intent(fx, reply, "deny", "budget_attempts", NULL);
	json_free(reply);
	for (int i = 0; i < 3; i++) { /* calls four to six of six */
		reply = call(fx, agent, "{\"tool\":\"list_tables\"}");
		assert_true(json_get_bool(reply, "ok", false));
		json_free(reply);
	}
	reply = call(fx, agent, "{\"tool\":\"list_tables\"}");
	check_refusal(reply, "budget", "all tool calls");
	check_intent(fx, reply, "deny", "budget_tool_calls", NULL);
	json_free(reply);
	reply = fx_ok(fx, agent, "token.issue", "{}");
	assert_int_equal(json_get_int(json_get(reply, "limits"), "tool_calls_left", -1), 0);
	assert_int_equal(json_get_int(json_get(reply, "limits"), "attempts_left", -1), 0);
	assert_int_equal(json_get_int(json_get(reply, "limits"), "scan_left", -1),
			 (256 << 20) - 3 * 4096);
	json_free(reply);
	fx_close(fx);
}

static void test_starting_the_agent_again_does_not_refill_its_budget(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *session = fx_connect(fx, NULL, 0)->channel;
	struct channel *agent;
	struct json *reply;
	char task[48];

	(void)state;
	fx_task(fx, session, "ask", task);
	for (int i = 0; i < 4; i++) {
		agent = fx_agent(fx, session, task, "sales-query-01", NULL)->channel;
		json_free(fx_ok(fx, agent, "token.issue", "{}"));
		reply = call(fx, agent, RUN("SELECT 1"));
		assert_int_equal(json_get_bool(reply, "ok", false), i < 3);
		json_free(reply);
	}
	fx_close(fx);
}

static void test_two_errors_are_borne_and_the_third_ends_it(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	struct json *reply;

	(void)state;
	for (int i = 0; i < 4; i++) {
		reply = call(fx, agent, "{\"tool\":\"run_query\",\"arguments\":{}}");
		check_refusal(reply, i < 3 ? "arguments" : "budget",
			      i < 3 ? "needs the argument" : "too many tool errors");
		json_free(reply);
	}
	reply = call(fx, agent, "{\"tool\":\"list_tables\"}");
	check_refusal(reply, "budget", "too many tool errors");
	json_free(reply);
	fx_close(fx);
}

static void test_an_agent_that_never_stops_loses_its_channel(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *session = fx_connect(fx, NULL, 0)->channel;
	struct fx_end *agent;
	char task[48];

	(void)state;
	fx_task(fx, session, "ask", task);
	agent = fx_agent(fx, session, task, "sales-query-01", NULL);
	json_free(fx_ok(fx, agent->channel, "token.issue", "{}"));
	for (int i = 0; i < 6 + AGENT_REFUSALS_MAX; i++)
		json_free(call(fx, agent->channel, "{\"tool\":\"list_tables\"}"));
	fx_until(fx, agent->channel == NULL);
	fx_close(fx);
}

static void test_a_scan_is_set_aside_and_the_rest_given_back(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	struct json *slots[3];
	struct json *reply;

	(void)state;
	fx->connector_by_hand = true;
	for (int i = 0; i < 3; i++) {
		fx_send(fx, agent, "tool.call", RUN("SELECT 1"), &slots[i]);
	}
	fx_until(fx, fx->asked_count == 3);
	assert_int_equal(fx->broker.calls.live, 3);
	fx->connector_by_hand = false;
	channel_close(TAKE(fx->connector)); /* all three fail together */
	for (int i = 0; i < 3; i++) {
		fx_until(fx, slots[i] != NULL);
		check_refusal(json_get(slots[i], "result"), "unavailable", "the source sales");
		json_free(slots[i]);
	}
	reply = fx_ok(fx, agent, "token.issue", "{}");
	assert_int_equal(json_get_int(json_get(reply, "limits"), "scan_left", -1), 256 << 20);
	assert_int_equal(json_get_int(json_get(reply, "limits"), "tool_errors_left", -1), 2);
	json_free(reply);
	fx_close(fx);
}

static void test_a_dead_connector_is_unavailable_until_another_comes(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	struct json *reply;

	(void)state;
	channel_close(TAKE(fx->connector));
	fx_until(fx, connectors_find(&fx->broker.connectors, "sales")->channel == NULL);
	reply = call(fx, agent, RUN("SELECT 1"));
	check_refusal(reply, "unavailable", "the connector is not running");
	check_intent(fx, reply, "deny", "connector", NULL);
	json_free(reply);
	fx_attach_connector(fx, "sales");
	fx_until(fx, connectors_find(&fx->broker.connectors, "sales")->channel != NULL);
	reply = call(fx, agent, RUN("SELECT 1"));
	assert_true(json_get_bool(reply, "ok", false));
	json_free(reply);
	fx_close(fx);
}

static void test_a_connector_that_dies_while_executing_leaves_an_error_record(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	struct json *slot;
	struct json *record;
	const struct json *records;

	(void)state;
	fx->executed = NULL;
	fx->connector_by_hand = true;
	fx_send(fx, agent, "tool.call", RUN("SELECT 1"), &slot);
	fx_until(fx, fx->asked_count == 1);
	{
		struct json *prepared = NULL;
		struct err err = {0};

		assert_int_equal(json_parse_str(fx->prepared, &prepared, &err), 0);
		channel_reply(fx->connector, fx->asked[0].id, prepared);
	}
	fx_until(fx, fx->asked_count == 2);
	channel_close(TAKE(fx->connector));
	fx_until(fx, slot != NULL);
	check_refusal(json_get(slot, "result"), "unavailable", "the source sales");
	records = json_get(json_get(slot, "result"), "records");
	assert_int_equal(json_len(records), 2);
	record = fx_record_at(fx, json_int(json_at(records, 1)));
	assert_string_equal(json_get_str(record, REC_STATUS), "error");
	assert_string_equal(json_get_str(record, REC_CODE), "connector");
	json_free(record);
	json_free(slot);
	fx_close(fx);
}

static void test_a_connector_that_answers_nonsense_is_not_believed(void **state)
{
	static const char *const answers[] = {
		"{}",
		"{\"ok\":false}",
		"{\"ok\":false,\"error\":\"x\",\"rejected_by\":\"whim\"}",
		"{\"ok\":true,\"columns\":[\"a\"],\"types\":[\"integer\"],\"rows\":[[1],[2],[3],[4]"
		","
		"[5],[6]],\"row_count\":6,\"truncated\":true,\"bytes_scanned\":1}",
		"{\"ok\":true,\"columns\":[\"a\"],\"types\":[\"integer\"],\"rows\":[[1,2]],"
		"\"row_count\":1,\"bytes_scanned\":1}",
		"{\"ok\":true,\"columns\":[\"a\"],\"types\":[\"integer\"],\"rows\":[[1]],"
		"\"row_count\":2,\"bytes_scanned\":1}",
		"{\"ok\":true,\"columns\":[\"a\"],\"types\":[],\"rows\":[],\"row_count\":0,"
		"\"bytes_scanned\":1}",
		"{\"ok\":true,\"columns\":[],\"types\":[],\"rows\":[],\"row_count\":0}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		struct fx *fx = fx_open(NULL);
		struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
		struct json *reply;

		fx->executed = answers[i];
		reply = call(fx, agent, RUN("SELECT 1"));
		check_refusal(reply, "unavailable", "malformed");
		assert_int_equal(json_len(json_get(reply, "records")), 2);
		json_free(reply);
		fx_close(fx);
	}
}

static void test_nonsense_from_prepare_is_not_believed_either(void **state)
{
	static const char *const answers[] = {
		"{\"ok\":true}",
		"{\"ok\":true,\"statement\":\"s\",\"tables\":[1],\"columns\":[],\"functions\":[]}",
		"{\"ok\":true,\"statement\":\"s\",\"tables\":[],\"columns\":7,\"functions\":[]}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		struct fx *fx = fx_open(NULL);
		struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
		struct json *reply;

		fx->prepared = answers[i];
		reply = call(fx, agent, RUN("SELECT 1"));
		check_refusal(reply, "unavailable", "malformed");
		check_intent(fx, reply, "deny", "connector", NULL);
		json_free(reply);
		fx_close(fx);
	}
}

static void test_a_database_error_goes_back_verbatim(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	struct json *reply;

	(void)state;
	fx->executed = "{\"ok\":false,\"error\":\"integer overflow\",\"rejected_by\":\"database\","
		       "\"hint\":\"correct the statement\",\"bytes_scanned\":8192}";
	reply = call(fx, agent, RUN("SELECT 1"));
	check_refusal(reply, "database", "integer overflow");
	assert_string_equal(json_get_str(reply, "hint"), "correct the statement");
	assert_int_equal(json_len(json_get(reply, "records")), 2);
	check_intent(fx, reply, "allow", "allowed", "read-sales");
	json_free(reply);
	reply = fx_ok(fx, agent, "token.issue", "{}");
	assert_int_equal(json_get_int(json_get(reply, "limits"), "tool_errors_left", -1), 1);
	assert_int_equal(json_get_int(json_get(reply, "limits"), "scan_left", -1),
			 (256 << 20) - 8192);
	json_free(reply);
	fx_close(fx);
}

static const struct fx_asked *asked_for(struct fx *fx, const char *method)
{
	for (size_t i = 0; i < fx->asked_count; i++) {
		if (strcmp(fx->asked[i].method, method) == 0)
			return &fx->asked[i];
	}
	return NULL;
}

static void answer(struct fx *fx, const struct fx_asked *asked, const char *text)
{
	struct json *result = NULL;
	struct err err = {0};

	assert_int_equal(json_parse_str(text, &result, &err), 0);
	channel_reply(fx->connector, asked->id, result);
}

/* A query that hangs at the connector while it executes. */
static int64_t hang(struct fx *fx, struct channel *agent, struct json **slot)
{
	int64_t id;

	fx->connector_by_hand = true;
	id = fx_send(fx, agent, "tool.call", RUN("SELECT 1"), slot);
	fx_until(fx, asked_for(fx, "prepare") != NULL);
	answer(fx, asked_for(fx, "prepare"), fx->prepared);
	fx_until(fx, asked_for(fx, "execute") != NULL);
	return id;
}

static void test_a_cancelled_call_is_cancelled_at_the_connector(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	struct json *params = json_object();
	struct json *slot;

	(void)state;
	json_set_int(params, "id", hang(fx, agent, &slot));
	channel_notify(agent, "tool.cancel", params);
	fx_until(fx, asked_for(fx, "cancel") != NULL);
	assert_string_equal(json_get_str(asked_for(fx, "cancel")->params, "call"),
			    json_get_str(asked_for(fx, "execute")->params, "call"));
	answer(fx, asked_for(fx, "execute"),
	       "{\"ok\":false,\"error\":\"canceled\",\"rejected_by\":\"canceled\",\"hint\":\"-\"}");
	fx_until(fx, slot != NULL);
	check_refusal(json_get(slot, "result"), "canceled", "the call was cancelled");
	json_free(slot);
	fx_close(fx);
}

static void test_a_lost_agent_cancels_and_its_records_are_written(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	struct json *record;
	struct json *slot;

	(void)state;
	hang(fx, agent, &slot);
	for (size_t i = 0; i < fx->end_count; i++) {
		if (fx->ends[i].channel == agent)
			fx->ends[i].channel = NULL;
	}
	channel_close(agent);
	json_free(slot);
	fx_until(fx, asked_for(fx, "cancel") != NULL);
	assert_int_equal(fx->broker.calls.live, 1);
	answer(fx, asked_for(fx, "execute"), fx->executed);
	fx_until(fx, fx->broker.calls.live == 0);
	record = fx_record(fx, EV_TOOL_RESULT);
	assert_string_equal(json_get_str(record, REC_STATUS), "ok"); /* it ran, nobody got it */
	json_free(record);
	fx_close(fx);
}

static void test_a_lost_agent_while_preparing_never_executes(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	struct json *slot;

	(void)state;
	fx->connector_by_hand = true;
	fx_send(fx, agent, "tool.call", RUN("SELECT 1"), &slot);
	fx_until(fx, fx->asked_count == 1);
	for (size_t i = 0; i < fx->end_count; i++) {
		if (fx->ends[i].channel == agent)
			fx->ends[i].channel = NULL;
	}
	channel_close(agent);
	json_free(slot);
	fx_until(fx, asked_for(fx, "cancel") != NULL);
	answer(fx, asked_for(fx, "prepare"), fx->prepared);
	fx_until(fx, fx->broker.calls.live == 0);
	fx_until(fx, asked_for(fx, "drop") != NULL);
	assert_null(asked_for(fx, "execute"));
	fx_close(fx);
}

static void test_a_revocation_while_it_runs_withholds_the_result(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	struct channel *session = fx->ends[0].channel;
	CLEANUP(mem_freep)
	char *params =
		mem_format("{\"task\":\"%s\",\"cause\":\"leak\"}", fx->broker.sessions->tasks->id);
	const struct json *records;
	struct json *record;
	struct json *slot;

	(void)state;
	hang(fx, agent, &slot);
	json_free(fx_ok(fx, session, "token.revoke", params));
	fx_until(fx, asked_for(fx, "cancel") != NULL);
	answer(fx, asked_for(fx, "execute"), fx->executed); /* it finished all the same */
	fx_until(fx, slot != NULL);
	check_refusal(json_get(slot, "result"), "token", "withdrawn while it ran");
	assert_null(json_get(json_get(slot, "result"), "rows"));
	records = json_get(json_get(slot, "result"), "records");
	assert_int_equal(json_len(records), 3);
	record = fx_record_at(fx, json_int(json_at(records, 2)));
	assert_string_equal(json_get_str(record, REC_CODE), "withheld");
	json_free(record);
	json_free(slot);
	fx_close(fx);
}

static void test_a_policy_that_changes_while_it_runs_withholds_the_result(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	CLEANUP(mem_freep) char *scope = mem_str(fx_scope);
	struct json *slot;
	int64_t epoch = token_store_epoch(fx->broker.store);

	(void)state;
	hang(fx, agent, &slot);
	memcpy(strstr(scope, "        orders:"), "        ordrrs:", 15);
	fx_put_scope(fx, scope);
	fx_control(fx, "{\"reload\":true}");
	fx_until(fx, token_store_epoch(fx->broker.store) > epoch);
	answer(fx, asked_for(fx, "execute"), fx->executed);
	fx_until(fx, slot != NULL);
	check_refusal(json_get(slot, "result"), "policy", "no longer allows it");
	json_free(slot);
	fx_close(fx);
}

static void test_a_change_that_does_not_touch_the_call_lets_it_pass(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	int64_t epoch = token_store_epoch(fx->broker.store);
	struct json *slot;

	(void)state;
	hang(fx, agent, &slot);
	fx_control(fx, "{\"reload\":true}");
	fx_until(fx, token_store_epoch(fx->broker.store) > epoch);
	answer(fx, asked_for(fx, "execute"), fx->executed);
	fx_until(fx, slot != NULL);
	assert_true(json_get_bool(json_get(slot, "result"), "ok", false));
	json_free(slot);
	fx_close(fx);
}

static void test_no_reply_leaves_when_the_log_cannot_be_signed(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	struct json *reply;
	struct err why = {0};

	(void)state;
	fx_settle(fx);
	fx->signer_fail = "head.sign";
	reply = call(fx, agent, RUN("SELECT 1"));
	check_refusal(reply, "unavailable", "the audit log has stopped");
	assert_null(json_get(reply, "rows"));
	json_free(reply);
	assert_true(audit_stopped(fx->broker.audit, &why));
	reply = call(fx, agent, RUN("SELECT 1"));
	check_refusal(reply, "unavailable", "the audit log has stopped");
	assert_int_equal(json_len(json_get(reply, "records")), 0);
	json_free(reply);
	fx_close(fx);
}

static void test_facts_too_many_for_a_record_are_refused_with_one(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	struct json *reply;

	(void)state;
	buf_add_str(&text, "{\"ok\":true,\"statement\":\"s1\",\"tables\":[\"orders\"],"
			   "\"functions\":[],\"columns\":[");
	for (int i = 0; i < 3000; i++)
		buf_addf(&text, "%s\"orders.a_rather_long_column_name_%d\"", i == 0 ? "" : ",", i);
	buf_add_str(&text, "]}");
	fx->prepared = buf_str(&text);
	reply = call(fx, agent, RUN("SELECT 1"));
	check_refusal(reply, "statement", "touches too much for one record");
	check_intent(fx, reply, "deny", "facts_too_many", "read-sales");
	json_free(reply);
	fx_close(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_query_is_prepared_decided_recorded_and_answered),
		cmocka_unit_test(test_the_connector_gets_exactly_what_was_allowed),
		cmocka_unit_test(
			test_a_name_out_of_sight_reads_as_absent_and_the_record_has_the_rule),
		cmocka_unit_test(test_describing_hidden_and_absent_tables_is_the_same),
		cmocka_unit_test(test_a_view_tool_goes_out_with_its_view),
		cmocka_unit_test(test_list_metrics_is_answered_here_less_what_is_hidden),
		cmocka_unit_test(test_a_denied_function_is_named_and_a_denied_whole_is_not),
		cmocka_unit_test(test_what_needs_approval_is_asked_for),
		cmocka_unit_test(test_what_cannot_be_shown_whole_cannot_be_approved),
		cmocka_unit_test(test_a_trial_shows_the_decision_and_belongs_to_the_owner),
		cmocka_unit_test(test_arguments_are_refused_by_name_and_recorded),
		cmocka_unit_test(test_a_call_without_a_token_is_refused_by_token),
		cmocka_unit_test(test_a_report_agent_has_no_tool),
		cmocka_unit_test(test_the_budgets_hold_at_their_edges),
		cmocka_unit_test(test_starting_the_agent_again_does_not_refill_its_budget),
		cmocka_unit_test(test_two_errors_are_borne_and_the_third_ends_it),
		cmocka_unit_test(test_an_agent_that_never_stops_loses_its_channel),
		cmocka_unit_test(test_a_scan_is_set_aside_and_the_rest_given_back),
		cmocka_unit_test(test_a_dead_connector_is_unavailable_until_another_comes),
		cmocka_unit_test(test_a_connector_that_dies_while_executing_leaves_an_error_record),
		cmocka_unit_test(test_a_connector_that_answers_nonsense_is_not_believed),
		cmocka_unit_test(test_nonsense_from_prepare_is_not_believed_either),
		cmocka_unit_test(test_a_database_error_goes_back_verbatim),
		cmocka_unit_test(test_a_cancelled_call_is_cancelled_at_the_connector),
		cmocka_unit_test(test_a_lost_agent_cancels_and_its_records_are_written),
		cmocka_unit_test(test_a_lost_agent_while_preparing_never_executes),
		cmocka_unit_test(test_a_revocation_while_it_runs_withholds_the_result),
		cmocka_unit_test(test_a_policy_that_changes_while_it_runs_withholds_the_result),
		cmocka_unit_test(test_a_change_that_does_not_touch_the_call_lets_it_pass),
		cmocka_unit_test(test_no_reply_leaves_when_the_log_cannot_be_signed),
		cmocka_unit_test(test_facts_too_many_for_a_record_are_refused_with_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
