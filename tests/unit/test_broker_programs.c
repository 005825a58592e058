/* The real writ-broker, writ-signer and writ-sqlite, confined, through one question. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/file.h"
#include "broker_fixture.h"
#include "source_database.h"
#include "writ/exit_codes.h"
#include "writ/record.h"

static struct json *query(struct fx *fx, struct channel *agent, const char *sql)
{
	CLEANUP(mem_freep)
	char *params = mem_format("{\"tool\":\"run_query\",\"arguments\":{\"sql\":\"%s\"}}", sql);

	return fx_ok(fx, agent, "tool.call", params);
}

static void check_cell(const struct json *reply, size_t row, const char *text, int64_t number)
{
	const struct json *cells = json_at(json_get(reply, "rows"), row);

	assert_string_equal(json_str(json_at(cells, 0)), text);
	assert_int_equal(json_int(json_at(cells, 1)), number);
}

static void test_a_question_runs_through_the_real_programs(void **state)
{
	struct fx *fx = fx_open_programs(NULL, PROGRAM_FOLDER, database, NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	struct json *reply = query(fx, agent,
				   "SELECT c.region, count(*) FROM orders o JOIN customers c ON"
				   " c.customer_id = o.customer_id GROUP BY c.region ORDER BY 1");

	(void)state;
	if (!json_get_bool(reply, "ok", false))
		fail_msg("%s", json_get_str(reply, "error"));
	check_cell(reply, 0, "East", 4);
	check_cell(reply, 1, "West", 3);
	assert_int_equal(json_len(json_get(reply, "records")), 2);
	json_free(reply);

	reply = query(fx, agent, "SELECT order_id FROM orders");
	assert_int_equal(json_get_int(reply, "row_count", 0), 5);
	assert_true(json_get_bool(reply, "truncated", false));
	assert_int_equal(json_get_int(reply, "rows_clamped_to", 0), 5);
	json_free(reply);

	reply = fx_ok(fx, agent, "tool.call",
		      "{\"tool\":\"describe_table\",\"arguments\":{\"table\":\"customers\"}}");
	assert_true(json_get_bool(reply, "ok", false));
	assert_int_equal(json_len(json_get(reply, "columns")), 2);
	json_free(reply);

	fx_control(fx, "{\"stop\":true}");
	assert_int_equal(fx_wait_broker(fx), EXIT_FINE);
	fx_close_programs(fx);
}

static void test_what_is_hidden_is_answered_like_what_does_not_exist(void **state)
{
	struct fx *fx = fx_open_programs(NULL, PROGRAM_FOLDER, database, NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	struct json *hidden = query(fx, agent, "SELECT salary FROM payroll");
	struct json *absent = query(fx, agent, "SELECT salary FROM nowhere");
	struct json *record;

	(void)state;
	assert_false(json_get_bool(hidden, "ok", true));
	assert_string_equal(json_get_str(hidden, "error"), "no such table: payroll");
	assert_string_equal(json_get_str(hidden, "rejected_by"), "database");
	assert_string_equal(json_get_str(absent, "error"), "no such table: nowhere");
	assert_string_equal(json_get_str(absent, "hint"), json_get_str(hidden, "hint"));
	record = fx_record_at(fx, json_int(json_at(json_get(hidden, "records"), 0)));
	assert_string_equal(json_get_str(record, REC_DECISION), "deny");
	assert_string_equal(json_get_str(record, REC_RULE), "never-payroll");
	assert_non_null(strstr(json_get_str(record, REC_RULE_AT), "scopes/sales.yaml:"));
	json_free(record);
	json_free(hidden);
	json_free(absent);
	hidden = query(fx, agent, "SELECT name FROM customers");
	assert_string_equal(json_get_str(hidden, "error"), "no such column: name");
	record = fx_record_at(fx, json_int(json_at(json_get(hidden, "records"), 0)));
	assert_string_equal(json_get_str(record, REC_CODE), "no_rule");
	assert_string_equal(json_str(json_at(json_get(json_get(record, REC_FACTS), "columns"), 0)),
			    "customers.name");
	json_free(record);
	json_free(hidden);
	fx_control(fx, "{\"stop\":true}");
	assert_int_equal(fx_wait_broker(fx), EXIT_FINE);
	fx_close_programs(fx);
}

static void test_until_idle_ends_once_the_last_session_closed(void **state)
{
	struct fx *fx = fx_open_programs(NULL, PROGRAM_FOLDER, database, "--until-idle");
	struct fx_end *first = fx_connect(fx, NULL, 0);
	struct fx_end *second = fx_connect(fx, NULL, 0);

	(void)state;
	channel_close(TAKE(first->channel));
	fx_settle(fx);
	json_free(fx_ok(fx, second->channel, "status", "{}"));
	channel_close(TAKE(second->channel));
	assert_int_equal(fx_wait_broker(fx), EXIT_FINE);
	fx_close_programs(fx);
}

static void test_a_signal_stops_it_and_the_tail_is_signed(void **state)
{
	struct fx *fx = fx_open_programs(NULL, PROGRAM_FOLDER, database, NULL);
	CLEANUP(mem_freep) char *tail = mem_format("%s/state/audit/tail", fx->path);
	struct stat info;

	(void)state;
	fx_ready(fx, "ask", "sales-query-01");
	kill(fx->pids[0], SIGTERM);
	assert_int_equal(fx_wait_broker(fx), EXIT_FINE);
	assert_int_equal(stat(tail, &info), 0);
	fx_close_programs(fx);
}

static void test_a_killed_connector_is_replaced_by_the_next(void **state)
{
	struct fx *fx = fx_open_programs(NULL, PROGRAM_FOLDER, database, NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	struct json *reply;

	(void)state;
	kill(fx->pids[2], SIGKILL);
	fx_settle(fx);
	reply = query(fx, agent, "SELECT order_id FROM orders");
	assert_string_equal(json_get_str(reply, "rejected_by"), "unavailable");
	json_free(reply);
	fx_start_connector(fx, PROGRAM_FOLDER, database);
	fx_settle(fx);
	reply = query(fx, agent, "SELECT count(*) FROM orders");
	assert_true(json_get_bool(reply, "ok", false));
	json_free(reply);
	fx_control(fx, "{\"stop\":true}");
	assert_int_equal(fx_wait_broker(fx), EXIT_FINE);
	fx_close_programs(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_question_runs_through_the_real_programs),
		cmocka_unit_test(test_what_is_hidden_is_answered_like_what_does_not_exist),
		cmocka_unit_test(test_until_idle_ends_once_the_last_session_closed),
		cmocka_unit_test(test_a_signal_stops_it_and_the_tail_is_signed),
		cmocka_unit_test(test_a_killed_connector_is_replaced_by_the_next),
	};

	return cmocka_run_group_tests(tests, make_database, remove_database);
}
