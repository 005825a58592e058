/* Verified queries: which questions are the same, what binds, what evicts, and their files. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "agents/query/verified/verified.h"
#include "agents/query/verified/verified_source.h"
#include "base/mem.h"

static struct json *parse(const char *text)
{
	struct json *json = NULL;
	struct err err;

	if (json_parse_str(text, &json, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	return json;
}

#define QUERIES                                                                                    \
	"[{\"name\":\"a\",\"question\":\"Net sales by region last quarter\"},"                     \
	"{\"name\":\"b\",\"question\":\"How many orders were placed yesterday?\"},"                \
	"{\"name\":\"c\",\"question\":\"Net sales by product\"},"                                  \
	"{\"name\":\"d\",\"question\":\"Employees by department\"}]"

static void matches(const char *question, const char *name)
{
	CLEANUP(json_freep) struct json *queries = parse(QUERIES);
	const struct json *found = verified_match(queries, question);

	if (name == NULL)
		assert_null(found);
	else
		assert_string_equal(json_get_str(found, "name"), name);
}

static void test_case_marks_and_blanks_do_not_make_another_question(void **state)
{
	(void)state;
	matches("net sales by region last quarter", "a");
	matches("  NET SALES, by region:  last-quarter?? ", "a");
	matches("How many orders were placed yesterday", "b");
}

static void test_marks_that_mean_something_make_another_question(void **state)
{
	static const char *const different[][2] = {
		{"orders with amount > 100", "orders with amount < 100"},
		{"orders with amount >= 100", "orders with amount > 100"},
		{"orders with amount 100", "orders with amount > 100"},
		{"orders with state = open", "orders with state != open"},
		{"products with margin over -5", "products with margin over 5"},
		{"-5 degrees", "5 degrees"},
		{"discounts over 50%", "discounts over 50"},
		{"customers of 18+", "customers of 18"},
	};
	static const char *const same[][2] = {
		{"orders with amount > 100!", "Orders, with amount > 100"},
		{"year-to-date sales", "year to date sales"},
		{"sales 2026-07 by region", "Sales (2026-07), by region"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(different); i++) {
		CLEANUP(mem_freep) char *one = verified_normal(different[i][0]);
		CLEANUP(mem_freep) char *other = verified_normal(different[i][1]);

		assert_string_not_equal(one, other);
	}
	for (size_t i = 0; i < ARRAY_LEN(same); i++) {
		CLEANUP(mem_freep) char *one = verified_normal(same[i][0]);
		CLEANUP(mem_freep) char *other = verified_normal(same[i][1]);

		assert_string_equal(one, other);
	}
}

static void test_every_word_counts(void **state)
{
	(void)state;
	matches("Net sales by region", NULL);
	matches("Net sales by region this quarter", NULL);
	matches("Net sales by regions last quarter", NULL);
	matches("Net sales by region last quarter in East", NULL);
	matches("", NULL);
	matches("???", NULL);
	matches("\xff\xfe", NULL);
}

static void test_the_most_alike_come_first_and_none_without_a_word_in_common(void **state)
{
	CLEANUP(json_freep) struct json *queries = parse(QUERIES);
	CLEANUP(json_freep) struct json *except = parse("[\"net sales by region last quarter\"]");
	const struct json *similar[VERIFIED_EXAMPLES_MAX];

	(void)state;
	assert_int_equal(verified_similar(queries, "net sales by region this year", NULL, similar),
			 2);
	assert_string_equal(json_get_str(similar[0], "name"), "a");
	assert_string_equal(json_get_str(similar[1], "name"), "c");
	assert_int_equal(
		verified_similar(queries, "net sales by region this year", except, similar), 1);
	assert_string_equal(json_get_str(similar[0], "name"), "c");
	assert_int_equal(verified_similar(queries, "weather", NULL, similar), 0);
}

static void binds(const char *sql, const char *question, const char *today, const char *bound)
{
	struct date day;
	struct period period;
	bool set = false;
	struct err err;
	CLEANUP(mem_freep) char *text = NULL;

	assert_int_equal(date_read(today, &day, &err), 0);
	if (verified_period(question, day, &set, &period, &err) < 0)
		fail_msg("%s", err.text);
	assert_true(set);
	text = verified_bind(sql, &period);
	assert_string_equal(text, bound);
}

static void test_a_relative_period_is_bound_to_the_day_it_is_asked_on(void **state)
{
	static const char sql[] = "SELECT 1 WHERE d >= :period_start AND d < :period_end";

	(void)state;
	binds(sql, "Net sales last quarter", "2026-10-15",
	      "SELECT 1 WHERE d >= '2026-07-01' AND d < '2026-10-01'");
	binds(sql, "Net sales last quarter", "2027-01-15",
	      "SELECT 1 WHERE d >= '2026-10-01' AND d < '2027-01-01'");
	binds("SELECT ':period_start', \":period_end\", [:period_start] /* :period_end */ "
	      "-- :period_start\n, :period_end:period_start",
	      "sales yesterday", "2026-03-01",
	      "SELECT ':period_start', \":period_end\", [:period_start] /* :period_end */ "
	      "-- :period_start\n, '2026-03-01''2026-02-28'");
}

static void period_fails(const char *question, const char *error)
{
	const struct date today = {2026, 10, 15};
	struct period period;
	bool set = false;
	struct err err;

	assert_int_equal(verified_period(question, today, &set, &period, &err), -1);
	assert_string_equal(err.text, error);
}

static void test_periods_that_have_no_two_bounds_are_not_served(void **state)
{
	(void)state;
	period_fails("sales last quarter against this quarter", "the question has several periods");
	period_fails("sales before 2026-01-01", "the period is open on one side");
}

static void wants(const char *sql, int result, bool wanted, const char *error)
{
	bool got = false;
	struct err err = {0};

	assert_int_equal(verified_wants_period(sql, &got, &err), result);
	assert_int_equal(got, wanted);
	if (error)
		assert_string_equal(err.text, error);
}

static void test_only_the_two_bounds_can_be_parameters(void **state)
{
	static const char unknown[] =
		"the parameter %s is not known; there are :period_start and :period_end";
	char text[160];

	(void)state;
	wants("SELECT 1", 0, false, NULL);
	wants("SELECT :period_end, :period_start", 0, true, NULL);
	wants("SELECT ':x', \"@y\" -- ?", 0, false, NULL);
	wants("SELECT :period_start", -1, false,
	      "a period has two bounds: use both :period_start and :period_end");
	snprintf(text, sizeof(text), unknown, ":region");
	wants("SELECT :region", -1, false, text);
	snprintf(text, sizeof(text), unknown, "?1");
	wants("SELECT ?1", -1, false, text);
	snprintf(text, sizeof(text), unknown, ":period_start2");
	wants("SELECT :period_start2", -1, false, text);
}

#define METRIC(sum)                                                                                \
	"{\"name\":\"net_sales\",\"description\":\"d\",\"definition\":\"" sum "\","                \
	"\"reads\":[\"orders.amount\"],\"at\":\"m.yaml:1\",\"column\":3}"
#define MODEL(sum, key)                                                                            \
	"{\"metrics\":[" METRIC(sum) "],\"datasets\":[{\"name\":\"orders\",\"table\":\"orders\","  \
				     "\"primary_key\":[\"" key                                     \
				     "\"],\"fields\":[{\"name\":\"a\"}]},"                         \
				     "{\"name\":\"other\",\"table\":\"other\"}]}"

static void stale(const char *query_text, const char *model_text, const char *zone,
		  const char *wanted)
{
	CLEANUP(json_freep) struct json *query = parse(query_text);
	CLEANUP(json_freep) struct json *model = parse(model_text);
	CLEANUP(mem_freep) char *why = verified_stale(query, model, zone);

	if (wanted == NULL)
		assert_null(why);
	else
		assert_string_equal(why, wanted);
}

static char *approved(const char *model_text)
{
	CLEANUP(json_freep) struct json *model = parse(model_text);
	CLEANUP(json_freep) struct json *query = parse("{\"question\":\"q\",\"sql\":\"s\"}");
	char definition[65], approval[65];

	verified_definition(model, json_at(json_get(model, "metrics"), 0), definition);
	verified_approval(query, approval);
	return mem_format(
		"{\"question\":\"q\",\"sql\":\"s\",\"approved\":\"%s\",\"shape\":\"%064d\","
		"\"reads\":[],\"timezone\":\"UTC\",\"metrics\":{\"net_sales\":\"%s\"}}",
		approval, 0, definition);
}

static void test_an_edit_after_the_approval_evicts(void **state)
{
	CLEANUP(mem_freep) char *query = approved(MODEL("SUM(a)", "id"));
	char *sql = strstr(query, "\"sql\":\"s\"");

	(void)state;
	sql[7] = 't';
	stale(query, MODEL("SUM(a)", "id"), "UTC",
	      "its question or SQL was edited since it was approved");
}

static void test_a_changed_metric_key_or_time_zone_evicts(void **state)
{
	CLEANUP(mem_freep) char *query = approved(MODEL("SUM(a)", "id"));

	(void)state;
	stale(query, MODEL("SUM(a)", "id"), "UTC", NULL);
	stale(query, MODEL("SUM(b)", "id"), "UTC",
	      "its metric net_sales is defined in another way now");
	stale(query, MODEL("SUM(a)", "nr"), "UTC",
	      "its metric net_sales is defined in another way now");
	stale(query, "{\"metrics\":[],\"datasets\":[]}", "UTC", "its metric net_sales is gone");
	stale(query, MODEL("SUM(a)", "id"), "Europe/Berlin",
	      "it was approved for the time zone UTC, not Europe/Berlin");
	stale("{\"question\":\"q\"}", MODEL("SUM(a)", "id"), "UTC",
	      "it is not approved yet: run writ query approve");
}

static void test_words_about_a_metric_do_not_evict(void **state)
{
	CLEANUP(mem_freep) char *query = approved(MODEL("SUM(a)", "id"));

	(void)state;
	stale(query,
	      "{\"metrics\":[{\"name\":\"net_sales\",\"description\":\"other words\",\"synonyms\":"
	      "[\"x\"],\"definition\":\"SUM(a)\",\"reads\":[\"orders.amount\"],\"at\":\"n:9\","
	      "\"column\":1}],\"datasets\":[{\"name\":\"orders\",\"table\":\"orders\","
	      "\"primary_key\":[\"id\"],\"fields\":[]},{\"name\":\"new\",\"table\":\"new\"}]}",
	      "UTC", NULL);
}

/* ---- files ---- */

static struct json *compile(const char *text, char **ret_mistakes)
{
	static const char *const sources[] = {"sales"};
	char folder[] = "/tmp/writ-test-XXXXXX";
	struct json *models = parse("{\"sales\":{\"source\":\"sales\",\"metrics\":[]}}");
	struct buf mistakes = BUF_INIT;
	struct err err;
	int fd, file;

	assert_non_null(mkdtemp(folder));
	fd = open(folder, O_RDONLY | O_DIRECTORY);
	assert_int_equal(mkdirat(fd, "queries", 0700), 0);
	file = openat(fd, "queries/sales.yaml", O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(file, text, strlen(text)), (ssize_t)strlen(text));
	close(file);
	if (verified_compile(fd, sources, 1, models, &mistakes, &err) < 0)
		assert_non_null(strstr(err.text, "queries: "));
	unlinkat(fd, "queries/sales.yaml", 0);
	unlinkat(fd, "queries", AT_REMOVEDIR);
	close(fd);
	rmdir(folder);
	*ret_mistakes = buf_take(&mistakes);
	return models;
}

static void test_a_file_becomes_queries_of_its_source(void **state)
{
	CLEANUP(mem_freep) char *mistakes = NULL;
	CLEANUP(json_freep)
	struct json *models =
		compile("verified_queries:\n"
			"  - question: Net sales last quarter\n"
			"    sql: SELECT 1 WHERE d >= :period_start AND d < :period_end\n"
			"    verified_by: analyst@example.com\n"
			"    verified_at: 2026-10-16\n"
			"  - name: orders\n"
			"    question: How many orders?\n"
			"    sql: SELECT COUNT(*) FROM orders\n"
			"    verified_at: 1760572800\n"
			"    use_as_onboarding_question: true\n",
			&mistakes);
	const struct json *queries = json_get(json_get(models, "sales"), "queries");

	(void)state;
	assert_string_equal(mistakes, "");
	assert_int_equal(json_len(queries), 2);
	assert_string_equal(json_get_str(json_at(queries, 0), "name"), "sales-1");
	assert_string_equal(json_get_str(json_at(queries, 0), "at"), "queries/sales.yaml:2");
	assert_string_equal(json_get_str(json_at(queries, 1), "verified_at"), "2025-10-16");
}

static void mistaken(const char *text, const char *wanted)
{
	CLEANUP(mem_freep) char *mistakes = NULL;
	CLEANUP(json_freep) struct json *models = compile(text, &mistakes);

	if (strstr(mistakes, wanted) == NULL)
		fail_msg("wanted %s\ngot %s", wanted, mistakes);
	assert_int_equal(json_len(json_get(json_get(models, "sales"), "queries")) > 1, false);
}

#define ONE "verified_queries:\n  - question: How many orders?\n    sql: SELECT 1\n"

static void test_mistakes_are_told_with_their_place(void **state)
{
	(void)state;
	mistaken("queries: []\n", "queries/sales.yaml:1:1: the file has no key queries");
	mistaken("verified_queries:\n  - sql: SELECT 1\n", ":2:5: a verified query needs question");
	mistaken(ONE "    verified_bye: x\n", ":4:5: a verified query has no key verified_bye; did "
					      "you mean verified_by?");
	mistaken(ONE "    verified_at: soon\n", ":4:18: verified_at is a date: 2026-10-16");
	mistaken(ONE "    shape: abc\n", ":4:12: shape is written by writ query approve");
	mistaken(ONE "    metrics: {a: b}\n", "metrics is written by writ query approve");
	mistaken(ONE "    source: other\n", "there is no source other");
	mistaken(ONE "  - question: how many ORDERS\n    sql: SELECT 2\n",
		 ":4:15: this question stands twice, first at queries/sales.yaml:2");
	mistaken("verified_queries:\n  - question: orders last week\n    sql: SELECT 1\n",
		 ":3:10: the question asks for a period (last week): compare the time with "
		 ":period_start and :period_end");
	mistaken("verified_queries:\n  - question: orders\n    sql: 'SELECT :period_start, "
		 ":period_end'\n",
		 ":2:15: the SQL wants a period and the question names none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_case_marks_and_blanks_do_not_make_another_question),
		cmocka_unit_test(test_marks_that_mean_something_make_another_question),
		cmocka_unit_test(test_every_word_counts),
		cmocka_unit_test(test_the_most_alike_come_first_and_none_without_a_word_in_common),
		cmocka_unit_test(test_a_relative_period_is_bound_to_the_day_it_is_asked_on),
		cmocka_unit_test(test_periods_that_have_no_two_bounds_are_not_served),
		cmocka_unit_test(test_only_the_two_bounds_can_be_parameters),
		cmocka_unit_test(test_a_changed_metric_key_or_time_zone_evicts),
		cmocka_unit_test(test_words_about_a_metric_do_not_evict),
		cmocka_unit_test(test_an_edit_after_the_approval_evicts),
		cmocka_unit_test(test_a_file_becomes_queries_of_its_source),
		cmocka_unit_test(test_mistakes_are_told_with_their_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
