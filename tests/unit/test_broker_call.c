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

static void test_a_query_is_prepared_decided_recorded_and_answered(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	struct json *reply =
		fx_ok(fx, agent, "tool.call",
		      "{\"tool\":\"run_query\",\"arguments\":{\"sql\":\"SELECT order_id"
		      " FROM orders\"}}");
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
	intent = fx_record_at(fx, json_int(json_at(records, 0)));
	result = fx_record_at(fx, json_int(json_at(records, 1)));
	assert_string_equal(json_get_str(intent, REC_EVENT), EV_TOOL_INTENT);
	assert_string_equal(json_get_str(intent, REC_DECISION), "allow");
	assert_string_equal(json_get_str(intent, REC_RULE), "read-sales");
	assert_string_equal(json_get_str(intent, REC_RISK), "none");
	assert_string_equal(json_get_str(intent, REC_RESOURCE), "sales");
	assert_string_equal(json_get_str(intent, REC_AGENT),
			    "spiffe://corp.example/agent/sales-query-01");
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_query_is_prepared_decided_recorded_and_answered),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
