/* The built-in report, word for word; handoffs as JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "agents/handoff.h"
#include "report_sample.h"

static void assert_report(const char *sample_text, const char *wanted)
{
	struct sample sample;
	struct buf text = BUF_INIT;
	struct err err = {0};

	sample_init(&sample, "?", sample_text);
	report_builtin(&sample.input, &text);
	assert_string_equal(buf_str(&text), wanted);
	if (report_check(&sample.input, buf_str(&text), &err) < 0)
		fail_msg("the report fails its own check: %s", err.text);
	buf_clear(&text);
	sample_clear(&sample);
}

#define SCALAR_COLUMNS                                                                             \
	"\"columns\":[{\"name\":\"net_sales\",\"label\":\"net sales\",\"role\":\"metric\","        \
	"\"unit\":\"USD\",\"decimals\":2}]," SAMPLE_SALES_WORDS

static void few_rows_are_told_with_metric_filters_period_unit_and_rules(void **state)
{
	(void)state;
	assert_report(SAMPLE_SALES,
		      "Net sales by region, completed orders, 2026-07-01 to before 2026-10-01, "
		      "USD, missing discount 0, missing region Unknown: East 420.00 USD, West "
		      "300.00 USD, South 90.00 USD, Unknown 40.00 USD.");
}

static void a_single_value_is_one_sentence(void **state)
{
	(void)state;
	assert_report("{\"result\":{\"columns\":[\"net_sales\"],\"types\":[\"real\"],\"rows\":"
		      "[[850.0]],\"row_count\":1,\"truncated\":false}," SCALAR_COLUMNS "}",
		      "Net sales, completed orders, 2026-07-01 to before 2026-10-01, USD, missing "
		      "discount 0, missing region Unknown: 850.00 USD.");
}

static void several_values_are_named_with_their_units(void **state)
{
	(void)state;
	assert_report(
		SAMPLE_SHARES,
		"Net sales, orders by region, completed orders, 2026-07-01 to before "
		"2026-10-01, USD, missing discount 0, missing region Unknown: East: net sales "
		"420.00 USD, share of net sales 49.4 %, orders 2; North East: net sales 300.00 "
		"USD, share of net sales 35.3 %, orders 1; (missing): net sales 130.50 USD, "
		"share of net sales 15.3 %, orders 2.");
}

static void a_comparison_reads_as_words(void **state)
{
	(void)state;
	assert_report(
		"{\"result\":{\"columns\":[\"region\",\"n\",\"p\",\"c\",\"q\"],\"types\":[\"text\","
		"\"real\",\"real\",\"real\",\"real\"],\"rows\":[[\"East\",420.0,700.0,-280.0,-40.0]"
		"],"
		"\"row_count\":1},\"columns\":[{\"name\":\"region\",\"label\":\"region\",\"role\":"
		"\"dimension\"},{\"name\":\"n\",\"label\":\"net "
		"sales\",\"role\":\"metric\",\"unit\":"
		"\"USD\",\"decimals\":2},{\"name\":\"p\",\"label\":\"net sales, the quarter "
		"before\","
		"\"role\":\"previous\",\"unit\":\"USD\",\"decimals\":2},{\"name\":\"c\",\"label\":"
		"\"change of net "
		"sales\",\"role\":\"change\",\"unit\":\"USD\",\"decimals\":2},{\"name\":"
		"\"q\",\"label\":\"change of net sales in "
		"percent\",\"role\":\"change_percent\",\"unit\":"
		"\"%\",\"decimals\":1}]," SAMPLE_SALES_WORDS "}",
		"Net sales by region, completed orders, 2026-07-01 to before 2026-10-01, USD, "
		"missing "
		"discount 0, missing region Unknown: East: net sales 420.00 USD, net sales, the "
		"quarter before 700.00 USD, change of net sales -280.00 USD, change of net sales "
		"in "
		"percent -40.0 %.");
}

static void no_rows_are_said_plainly_with_the_period(void **state)
{
	(void)state;
	assert_report("{\"result\":{\"columns\":[\"net_sales\"],\"types\":[\"null\"],\"rows\":[],"
		      "\"row_count\":0,\"truncated\":false}," SCALAR_COLUMNS "}",
		      "Net sales, completed orders, 2026-07-01 to before 2026-10-01, USD, missing "
		      "discount 0, missing region Unknown: no rows matched.");
}

static void a_missing_value_is_no_zero(void **state)
{
	(void)state;
	assert_report("{\"result\":{\"columns\":[\"net_sales\"],\"types\":[\"null\"],\"rows\":"
		      "[[null]],\"row_count\":1,\"truncated\":false}," SCALAR_COLUMNS "}",
		      "Net sales, completed orders, 2026-07-01 to before 2026-10-01, USD, missing "
		      "discount 0, missing region Unknown: no value.");
}

static void a_statement_without_definitions_is_told_by_its_columns(void **state)
{
	(void)state;
	assert_report("{\"result\":{\"columns\":[\"revenue\"],\"types\":[\"real\"],\"rows\":"
		      "[[2300.0]],\"row_count\":1,\"truncated\":false}}",
		      "The statement returned 1 row: revenue 2300.0.");
	assert_report("{\"result\":{\"columns\":[\"id\",\"SUM(x)/100.0\"],\"types\":[\"integer\","
		      "\"real\"],\"rows\":[[7,1.5],[8,7.0]],\"row_count\":2,\"truncated\":false}}",
		      "The statement returned 2 rows: id 7: `SUM(x)/100.0` 1.5; id 8: "
		      "`SUM(x)/100.0` 7.0.");
	assert_report(
		"{\"result\":{\"columns\":[\"name\"],\"types\":[\"text\"],\"rows\":[[\"Ada\"],"
		"[\"Bo, Cy\"]],\"row_count\":2,\"truncated\":false}}",
		"The statement returned 2 rows: name Ada; name \"Bo, Cy\".");
	assert_report("{\"result\":{\"columns\":[\"name\"],\"types\":[\"null\"],\"rows\":[],"
		      "\"row_count\":0,\"truncated\":false}}",
		      "The statement returned no rows.");
}

/* n rows named R1x.. with their number as value. */
static char *many(int count, bool truncated)
{
	struct buf text = BUF_INIT;

	buf_add_str(&text, "{\"result\":{\"columns\":[\"k\",\"v\"],\"types\":[\"text\","
			   "\"integer\"],\"rows\":[");
	for (int i = 0; i < count; i++)
		buf_addf(&text, "%s[\"R%dx\",%d]", i ? "," : "", i, i);
	buf_addf(&text, "],\"row_count\":%d,\"truncated\":%s}}", count,
		 truncated ? "true" : "false");
	return buf_take(&text);
}

static void many_rows_are_told_by_the_first_and_their_count(void **state)
{
	const int counts[] = {11, 12, 13};
	const bool cut[] = {false, false, true};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
		CLEANUP(mem_freep) char *json = many(counts[i], false);
		struct buf text = BUF_INIT;
		struct sample sample;

		sample_init(&sample, "?", json);
		report_builtin(&sample.input, &text);
		assert_int_equal(strstr(buf_str(&text), "the first 12 of 13 rows") != NULL, cut[i]);
		assert_int_equal(strstr(buf_str(&text), "R12x") != NULL, false);
		assert_int_equal(report_check(&sample.input, buf_str(&text), NULL), 0);
		buf_clear(&text);
		sample_clear(&sample);
	}
}

static void a_cut_list_is_said_to_be_cut(void **state)
{
	CLEANUP(mem_freep) char *json = many(2, true);

	(void)state;
	assert_report(json, "The statement returned 2 rows (2 rows; the limit cut off further "
			    "rows): k R0x: v 0; k R1x: v 1.");
}

static void warnings_and_errors_stand_behind_the_values_and_notes_do_not(void **state)
{
	(void)state;
	assert_report("{\"result\":{\"columns\":[\"revenue\"],\"types\":[\"real\"],\"rows\":"
		      "[[2300.0]],\"row_count\":1,\"truncated\":false},\"flags\":[{\"code\":"
		      "\"fan_out.inflated\",\"severity\":\"error\",\"message\":\"2300.00 shown, "
		      "1000.00 without the repetition\"},{\"code\":\"x\",\"severity\":\"note\","
		      "\"message\":\"never 5\"}]}",
		      "The statement returned 1 row: revenue 2300.0. Error: 2300.00 shown, 1000.00 "
		      "without the repetition.");
}

static void awkward_labels_are_quoted(void **state)
{
	(void)state;
	assert_report(
		"{\"result\":{\"columns\":[\"region\",\"net_sales\"],\"types\":[\"text\","
		"\"real\"],\"rows\":[[\"\",1.0],[null,2.0],[\"(missing)\",-3.0],[\"420\",4.0]"
		",[\"USD\",5.0],[\"a \\\"b\\\"\",6.0],[\"Route 66\",7.0],[\"Route\",8.0]],"
		"\"row_count\":8,\"truncated\":false},\"columns\":[{\"name\":\"region\","
		"\"label\":\"region\",\"role\":\"dimension\"},{\"name\":\"net_sales\","
		"\"label\":\"net sales\",\"role\":\"metric\",\"unit\":\"USD\",\"decimals\":2}]"
		"}",
		"Net sales by region: \"\" 1.00 USD, (missing) 2.00 USD, \"(missing)\" -3.00 "
		"USD, region 420: 4.00 USD, \"USD\" 5.00 USD, \"a \\\"b\\\"\" 6.00 USD, Route "
		"66 7.00 USD, \"Route\" 8.00 USD.");
}

static void a_handoff_becomes_json_and_keeps_its_own_copy(void **state)
{
	struct handoff handoff = {
		.task = "t-1", .to = "q", .objective = "find", .expected_output = "rows"};
	struct json *json;

	(void)state;
	handoff.context = json_object();
	json_set_str(handoff.context, "question", "How many?");
	handoff.constraints = json_object();
	json_set_bool(handoff.constraints, "read_only", true);
	json = handoff_to_json(&handoff);
	handoff_clear(&handoff);
	assert_null(handoff.context);
	assert_string_equal(json_get_str(json, "task"), "t-1");
	assert_string_equal(json_get_str(json, "to"), "q");
	assert_string_equal(json_get_str(json, "objective"), "find");
	assert_string_equal(json_get_str(json, "expected_output"), "rows");
	assert_string_equal(json_get_str(json_get(json, "context"), "question"), "How many?");
	assert_true(json_get_bool(json_get(json, "constraints"), "read_only", false));
	json_free(json);
	json = handoff_to_json(&handoff);
	assert_int_equal(json_type(json_get(json, "context")), JSON_OBJECT);
	assert_true(json_is_null(json_get(json, "task")));
	json_free(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_rows_are_told_with_metric_filters_period_unit_and_rules),
		cmocka_unit_test(a_single_value_is_one_sentence),
		cmocka_unit_test(several_values_are_named_with_their_units),
		cmocka_unit_test(a_comparison_reads_as_words),
		cmocka_unit_test(no_rows_are_said_plainly_with_the_period),
		cmocka_unit_test(a_missing_value_is_no_zero),
		cmocka_unit_test(a_statement_without_definitions_is_told_by_its_columns),
		cmocka_unit_test(many_rows_are_told_by_the_first_and_their_count),
		cmocka_unit_test(a_cut_list_is_said_to_be_cut),
		cmocka_unit_test(warnings_and_errors_stand_behind_the_values_and_notes_do_not),
		cmocka_unit_test(awkward_labels_are_quoted),
		cmocka_unit_test(a_handoff_becomes_json_and_keeps_its_own_copy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
