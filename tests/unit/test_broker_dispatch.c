/* Which channel may call what: the table, and what a channel that oversteps loses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "broker/dispatch.h"
#include "broker_fixture.h"
#include "writ/record.h"

/* The contract, written down a second time. */
static const struct {
	const char *method;
	bool session;
	bool agent;
} contract[] = {
	{"task.reserve", true, false},	 {"task.open", true, false},
	{"task.event", true, false},	 {"task.close", true, false},
	{"agent.start", true, false},	 {"token.list", true, false},
	{"token.revoke", true, false},	 {"status", true, false},
	{"token.issue", false, true},	 {"tool.list", false, true},
	{"tool.call", false, true},	 {"tool.cancel", false, true},
	{"audit.note", true, false},	 {"audit.lines", true, false},
	{"audit.openings", true, false}, {"audit.prove", true, false},
	{"audit.redact", true, false},	 {"audit.hold", true, false},
	{"audit.anchor", true, false},
	{"approval.list", true, false},	 {"approval.give", true, false},
	{"approval.refuse", true, false},
};

static void test_every_method_is_for_exactly_the_channels_of_the_contract(void **state)
{
	size_t count = 0;

	(void)state;
	while (dispatch_method_at(count) != NULL)
		count++;
	assert_int_equal(count, ARRAY_LEN(contract));
	for (size_t i = 0; i < ARRAY_LEN(contract); i++) {
		const char *method = contract[i].method;

		assert_int_equal(dispatch_allows(PEER_SESSION, method), contract[i].session);
		assert_int_equal(dispatch_allows(PEER_AGENT, method), contract[i].agent);
		assert_false(dispatch_allows(PEER_CONNECTOR, method));
		assert_false(dispatch_allows(PEER_SIGNER, method));
	}
}

/* Sends the method where it does not belong: refused, recorded, closed. */
static void check_refused(struct fx *fx, struct fx_end *end, const char *method, const char *code)
{
	size_t before = fx_record_count(fx, EV_CHANNEL_REFUSED);
	struct json *answer = fx_call(fx, end->channel, method, "{}");
	struct json *record;

	assert_string_equal(json_get_str(json_get(answer, "error"), "kind"), "denied");
	json_free(answer);
	fx_until(fx, end->channel == NULL);
	json_free(fx_ok(fx, fx_connect(fx, NULL, 0)->channel, "status", "{}"));
	assert_int_equal(fx_record_count(fx, EV_CHANNEL_REFUSED), before + 1);
	record = fx_record(fx, EV_CHANNEL_REFUSED);
	assert_string_equal(json_get_str(record, REC_CODE), code);
	json_free(record);
}

static void test_a_session_that_oversteps_loses_its_channel(void **state)
{
	struct fx *fx = fx_open(NULL);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(contract); i++) {
		if (contract[i].session || strcmp(contract[i].method, "tool.cancel") == 0)
			continue;
		check_refused(fx, fx_connect(fx, NULL, 0), contract[i].method,
			      "method_of_another_channel");
	}
	check_refused(fx, fx_connect(fx, NULL, 0), "policy.load", "unknown_method");
	fx_close(fx);
}

static void test_an_agent_that_oversteps_loses_its_channel_and_the_session_stays(void **state)
{
	struct fx *fx = fx_open(NULL);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(contract); i++) {
		struct fx_end *session;
		char task[48];

		if (contract[i].agent)
			continue;
		session = fx_connect(fx, NULL, 0);
		fx_task(fx, session->channel, "ask", task);
		check_refused(fx, fx_agent(fx, session->channel, task, "sales-query-01", NULL),
			      contract[i].method, "method_of_another_channel");
		json_free(fx_ok(fx, session->channel, "status", "{}"));
		channel_close(TAKE(session->channel));
		fx_settle(fx);
	}
	fx_close(fx);
}

static void test_a_request_may_not_be_a_notification_nor_the_reverse(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct fx_end *session = fx_connect(fx, NULL, 0);
	struct fx_end *agent;
	char task[48];

	(void)state;
	fx_task(fx, session->channel, "ask", task);
	agent = fx_agent(fx, session->channel, task, "sales-query-01", NULL);
	check_refused(fx, agent, "tool.cancel", "request_or_notification");
	channel_notify(session->channel, "task.open", json_object());
	fx_until(fx, session->channel == NULL);
	fx_close(fx);
}

static void test_a_connector_that_calls_us_loses_its_channel(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct json *answer = fx_call(fx, fx->connector, "token.issue", "{}");

	(void)state;
	assert_string_equal(json_get_str(json_get(answer, "error"), "kind"), "denied");
	json_free(answer);
	fx_until(fx, fx->connector == NULL);
	json_free(fx_ok(fx, fx_connect(fx, NULL, 0)->channel, "status", "{}"));
	assert_int_equal(fx_record_count(fx, EV_CHANNEL_REFUSED), 1);
	fx_close(fx);
}

static void test_a_signer_that_calls_us_loses_its_channel(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct json *answer;

	(void)state;
	fx_record_count(fx, EV_SERVICE_START); /* nothing is being signed just now */
	answer = fx_call(fx, fx->signer_end, "task.open", "{}");
	assert_string_equal(json_get_str(json_get(answer, "error"), "kind"), "denied");
	json_free(answer);
	fx_until(fx, fx->signer_end == NULL);
	assert_false(signer_client_up(fx->broker.signer));
	fx->signer.resumed = false;
	fx_attach_signer(fx); /* and another one is taken */
	fx_until(fx, signer_client_up(fx->broker.signer));
	assert_int_equal(fx_record_count(fx, EV_CHANNEL_REFUSED), 1);
	fx_close(fx);
}

static void test_wrong_parameters_are_an_error_and_the_channel_stays(void **state)
{
	static const struct {
		const char *method;
		const char *params;
		const char *kind;
		const char *text;
	} cases[] = {
		{"task.open", "{}", "invalid", "kind"},
		{"task.open", "{\"kind\":\"play\"}", "invalid",
		 "\"kind\" must be ask, trial or mcp"},
		{"task.open", "{\"kind\":\"ask\",\"user\":\"bob\"}", "invalid", "user"},
		{"task.open", "{\"kind\":\"ask\",\"question\":7}", "invalid", "question"},
		{"task.open", "{\"kind\":\"ask\",\"workflow\":\"x\"}", "invalid", "workflow"},
		{"task.open", "{\"kind\":\"ask\",\"seeded\":1}", "invalid", "seeded"},
		{"task.open", "{\"kind\":\"trial\"}", "denied", "owner"},
		{"task.close", "{\"task\":\"t-none\",\"status\":\"completed\"}", "not_found",
		 "no such task"},
		{"task.event", "{}", "invalid", "task"},
		{"agent.start", "{\"task\":\"t-none\",\"agent\":\"x\"}", "not_found",
		 "no such task"},
		{"token.list", "{\"user\":\"bob\"}", "invalid", "user"},
		{"token.revoke", "{}", "invalid", "name one of token, task, agent, user"},
		{"token.revoke", "{\"task\":\"a\",\"token\":\"b\"}", "invalid", "name one of"},
		{"token.revoke", "{\"agent\":\"sales-query-01\"}", "denied", "owner"},
		{"token.revoke", "{\"user\":\"bob\"}", "denied", "owner"},
		{"token.revoke", "{\"token\":\"b\"}", "not_found", "there is no such token"},
		{"status", "{\"x\":1}", "invalid", "x"},
	};
	struct fx *fx = fx_open(NULL);
	struct fx_end *session = fx_connect(fx, NULL, 0);

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct json *answer =
			fx_call(fx, session->channel, cases[i].method, cases[i].params);
		const struct json *error = json_get(answer, "error");

		if (error == NULL || strcmp(json_get_str(error, "kind"), cases[i].kind) != 0 ||
		    strstr(json_get_str(error, "text"), cases[i].text) == NULL)
			fail_msg("case %zu: %s", i,
				 error == NULL ? "no error" : json_get_str(error, "text"));
		json_free(answer);
	}
	assert_non_null(session->channel);
	fx_close(fx);
}

static void test_a_malformed_line_costs_the_channel_and_nobody_else(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct fx_end *other = fx_connect(fx, NULL, 0);
	struct fx_end *session = fx_connect(fx, NULL, 0);
	struct json *slot;
	struct json *big = json_object();
	char *text = mem_alloc((3u << 20) + 1);

	(void)state;
	memset(text, 'x', 3u << 20); /* over the bound of our peers, under the channel's own */
	json_set_str(big, "question", text);
	mem_free(text);
	channel_notify(session->channel, "task.open", big);
	fx_until(fx, session->channel == NULL);
	fx_send(fx, other->channel, "status", "{}", &slot);
	fx_until(fx, slot != NULL);
	assert_int_equal(json_get_int(json_get(slot, "result"), "sessions", -1), 1);
	json_free(slot);
	fx_close(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_method_is_for_exactly_the_channels_of_the_contract),
		cmocka_unit_test(test_a_session_that_oversteps_loses_its_channel),
		cmocka_unit_test(
			test_an_agent_that_oversteps_loses_its_channel_and_the_session_stays),
		cmocka_unit_test(test_a_request_may_not_be_a_notification_nor_the_reverse),
		cmocka_unit_test(test_a_connector_that_calls_us_loses_its_channel),
		cmocka_unit_test(test_a_signer_that_calls_us_loses_its_channel),
		cmocka_unit_test(test_wrong_parameters_are_an_error_and_the_channel_stays),
		cmocka_unit_test(test_a_malformed_line_costs_the_channel_and_nobody_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
