/* Metric queries as JSON: what is read comes back the same, what is wrong is named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "agents/query/metrics/metric_query.h"

static struct metric_query *read(const char *text, struct err *err)
{
	struct metric_query *query = NULL;
	struct json *json;

	if (json_parse_str(text, &json, err) < 0)
		fail_msg("%s", err->text);
	IGNORE(metric_query_from_json(json, &query, err) < 0, "the caller looks at query");
	json_free(json);
	return query;
}

static void test_a_query_comes_back_as_it_was(void **state)
{
	static const char text[] =
		"{\"metrics\":[\"a\",\"b\"],\"dimensions\":[{\"field\":\"x.y\"},{\"field\":\"x.d\","
		"\"bucket\":\"week\"}],\"filters\":[{\"field\":\"x.y\",\"op\":\"=\",\"values\":["
		"\"1\","
		"2,3.5,true]},{\"field\":\"x.z\",\"op\":\"missing\"}],\"period\":{\"field\":\"x."
		"d\","
		"\"from\":\"2026-01-01\",\"to\":\"2026-02-01\",\"label\":\"January\"},\"compare\":{"
		"\"from\":\"2025-01-01\",\"to\":\"2025-02-01\"},\"order\":[{\"by\":\"a\",\"desc\":"
		"true}],\"limit\":5,\"share\":true,\"average_per\":\"x.y\",\"dataset\":\"x\"}";
	struct metric_query *query, *copy;
	struct buf out = BUF_INIT;
	struct json *json;
	struct err err;

	(void)state;
	query = read(text, &err);
	assert_non_null(query);
	copy = metric_query_copy(query);
	metric_query_free(query);
	json = metric_query_to_json(copy);
	json_write(json, &out);
	assert_string_equal(buf_str(&out), text);
	assert_int_equal(copy->dimensions[1].bucket, BUCKET_WEEK);
	assert_int_equal(copy->filters[1].op, OP_MISSING);
	assert_string_equal(copy->period.from, "2026-01-01");
	assert_true(copy->compare.set);
	buf_clear(&out);
	json_free(json);
	metric_query_free(copy);
	metric_query_free(NULL);
}

static void test_what_askers_write_comes_back_too(void **state)
{
	static const char *const texts[] = {
		"{\"metrics\":[\"a\"],\"measures\":[{\"expression\":\"SUM(x.n)\",\"as\":\"n\"},{"
		"\"expression\":\"COUNT(*)\"}],\"where\":[\"x.n > 1\",\"x.m = 2\"],\"having\":["
		"\"SUM(x.n) > 3\"],\"via\":[\"sold_by\"],\"several_groups\":true}",
		"{\"metrics\":[\"a\"],\"dimensions\":[{\"field\":\"x.y\"},{\"field\":\"time\","
		"\"bucket\":\"weekday\"}],\"order\":[{\"by\":\"a\",\"desc\":true,\"nulls\":"
		"\"first\"}],\"conditions\":[{\"metric\":\"a\",\"op\":\">\",\"value\":\"-300.5\"},"
		"{\"metric\":\"a\",\"op\":\"not\",\"value\":\"0\"}],\"top\":{\"count\":1,"
		"\"within\":[\"x.y\"]}}",
		"{\"metrics\":[\"a\"],\"dimensions\":[{\"field\":\"time\",\"bucket\":"
		"\"fiscal_quarter\"}],\"stepwise\":true}",
		"{\"metrics\":[\"a\"],\"dimensions\":[{\"field\":\"time\",\"bucket\":\"day\"}],"
		"\"running\":true}",
		"{\"metrics\":[],\"fields\":[{\"expression\":\"x.id\"},{\"expression\":\"RANK() "
		"OVER "
		"(ORDER BY x.n)\",\"as\":\"r\"}]}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct buf out = BUF_INIT;
		struct metric_query *query, *copy;
		struct json *json;
		struct err err;

		query = read(texts[i], &err);
		if (!query)
			fail_msg("%s: %s", texts[i], err.text);
		copy = metric_query_copy(query);
		metric_query_free(query);
		json = metric_query_to_json(copy);
		json_write(json, &out);
		assert_string_equal(buf_str(&out), texts[i]);
		buf_clear(&out);
		json_free(json);
		metric_query_free(copy);
	}
}

static void test_a_built_query_is_a_written_one(void **state)
{
	struct metric_query *query = metric_query_new();
	struct buf out = BUF_INIT;
	struct json *json;
	struct err err;

	(void)state;
	metric_query_add_metric(query, "a");
	metric_query_add_dimension(query, "x.y", BUCKET_NONE);
	metric_query_add_filter_str(query, "x.y", OP_NOT, "v");
	metric_query_add_filter(query, "x.z", OP_PRESENT, NULL);
	metric_query_add_order(query, "a", false);
	assert_int_equal(query_period_set(&query->period, NULL, "2026-01-01", "", NULL, &err), 0);
	json = metric_query_to_json(query);
	json_write(json, &out);
	assert_string_equal(
		buf_str(&out),
		"{\"metrics\":[\"a\"],\"dimensions\":[{\"field\":\"x.y\"}],\"filters\":"
		"[{\"field\":\"x.y\",\"op\":\"not\",\"values\":[\"v\"]},{\"field\":\"x.z\","
		"\"op\":\"present\"}],\"period\":{\"from\":\"2026-01-01\"},\"order\":["
		"{\"by\":\"a\",\"desc\":false}]}");
	buf_clear(&out);
	json_free(json);
	metric_query_free(query);
}

static void test_periods_end_behind_their_beginning(void **state)
{
	struct query_period period = {.set = false};
	struct err err;

	(void)state;
	assert_int_equal(query_period_set(&period, NULL, "2026-01-01", "2026-01-01", NULL, &err),
			 -1);
	assert_string_equal(err.text, "period: it ends (before 2026-01-01) where it begins "
				      "(2026-01-01) or earlier");
	assert_int_equal(query_period_set(&period, NULL, "", "", NULL, &err), -1);
	assert_string_equal(err.text, "period: neither a first nor a last day");
	assert_int_equal(query_period_set(&period, NULL, "2026-02-30", "", NULL, &err), -1);
	assert_false(period.set);
	assert_int_equal(query_period_set(&period, NULL, "2026-01-01", "2026-01-02", NULL, &err),
			 0);
	assert_true(period.set);
}

static void test_mistakes_are_named(void **state)
{
	static const struct {
		const char *text;
		const char *message;
	} cases[] = {
		{"[]", "metric query: an object is expected, not array"},
		{"{\"metric\":[]}", "metric query: unknown member \"metric\""},
		{"{\"metrics\":3}", "metric query: metrics: a list is wanted, not integer"},
		{"{\"metrics\":[3]}", "metric query: metrics: names are wanted"},
		{"{\"dimensions\":[{\"field\":\"a\",\"bucket\":\"hour\"}]}",
		 "metric query: dimensions: unknown bucket \"hour\"; there are day, week, month, "
		 "quarter, year"},
		{"{\"filters\":[{\"field\":\"a\",\"op\":\"like\",\"values\":[1]}]}",
		 "metric query: filters: unknown op \"like\"; there are =, not, >=, <=, >, <, "
		 "missing, present"},
		{"{\"filters\":[{\"field\":\"a\",\"op\":\"=\"}]}",
		 "metric query: filters: a: = needs a value"},
		{"{\"filters\":[{\"field\":\"a\",\"op\":\">\",\"values\":[1,2]}]}",
		 "metric query: filters: a: > takes one value, not 2"},
		{"{\"filters\":[{\"field\":\"a\",\"op\":\"missing\",\"values\":[1]}]}",
		 "metric query: filters: a: missing takes no values"},
		{"{\"filters\":[{\"field\":\"a\",\"op\":\"=\",\"values\":[null]}]}",
		 "metric query: filters: a: a value is text, a number, true or false, not null"},
		{"{\"conditions\":[{\"metric\":\"a\",\"op\":\">\",\"value\":\"3e2\"}]}",
		 "metric query: conditions: a: a number as text is wanted, like \"300\""},
		{"{\"conditions\":[{\"metric\":\"a\",\"op\":\">\",\"value\":\"1 OR 1\"}]}",
		 "metric query: conditions: a: a number as text is wanted, like \"300\""},
		{"{\"conditions\":[{\"metric\":\"a\",\"op\":\"missing\",\"value\":\"1\"}]}",
		 "metric query: conditions: unknown op \"missing\"; there are =, not, >=, <=, >, "
		 "<"},
		{"{\"top\":{\"count\":0,\"within\":[\"a\"]}}", "metric query: top: "},
		{"{\"measures\":[{\"expression\":\"a\",\"as\":\"\"}]}",
		 "metric query: measures: as: a name of at most 128 bytes is wanted"},
		{"{\"where\":[1]}", "metric query: where: texts are wanted"},
		{"{\"order\":[{\"by\":\"a\",\"nulls\":\"low\"}]}",
		 "metric query: order: unknown place of nulls \"low\"; there are first, last"},
		{"{\"running\":\"yes\"}", "metric query: running: true or false is wanted"},
		{"{\"share\":1}", "metric query: share: true or false is wanted"},
		{"{\"period\":{\"until\":\"x\"}}",
		 "metric query: period: unknown member \"until\""},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err err;

		assert_null(read(cases[i].text, &err));
		if (strncmp(err.text, cases[i].message, strlen(cases[i].message)) != 0)
			fail_msg("%s\nsays   %s\nwanted %s", cases[i].text, err.text,
				 cases[i].message);
	}
}

static void test_lists_have_bounds(void **state)
{
	static const size_t counts[] = {31, 32, 33};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
		struct json *json = json_object(), *list = json_array();
		struct metric_query *query = NULL;
		struct err err;

		for (size_t j = 0; j < counts[i]; j++)
			json_push_str(list, "m");
		json_set(json, "metrics", list);
		assert_int_equal(metric_query_from_json(json, &query, &err),
				 counts[i] <= 32 ? 0 : -1);
		if (counts[i] > 32)
			assert_string_equal(err.text, "metric query: metrics: more than 32");
		metric_query_free(query);
		json_free(json);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_query_comes_back_as_it_was),
		cmocka_unit_test(test_what_askers_write_comes_back_too),
		cmocka_unit_test(test_a_built_query_is_a_written_one),
		cmocka_unit_test(test_periods_end_behind_their_beginning),
		cmocka_unit_test(test_mistakes_are_named),
		cmocka_unit_test(test_lists_have_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
