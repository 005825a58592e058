/* Steps of time that a list by time leaves out. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "agents/query/metrics/gaps.h"

struct gap {
	enum time_bucket bucket;
	const char *from, *to, *rows, *said;
};

static const struct gap gaps[] = {
	{BUCKET_MONTH, "", "", "[[\"2026-01\",1],[\"2026-02\",1]]", NULL},
	{BUCKET_MONTH, "", "", "[[\"2025-11\",1],[\"2026-02\",1]]", "2 of 4 months"},
	{BUCKET_MONTH, "", "", "[[null,1],[\"2025-12\",1],[\"2026-01\",1]]", NULL},
	{BUCKET_MONTH, "", "", "[]", NULL},
	{BUCKET_MONTH, "", "", "[[\"all\",1],[\"2026-13\",1],[7,1]]", NULL},
	{BUCKET_MONTH, "2026-07-01", "2026-10-01", "[[\"2026-08\",1]]", "2 of 3 months"},
	/* months to come are not missing, the one of today may be */
	{BUCKET_MONTH, "2026-01-01", "2027-01-01", "[[\"2026-01\",1]]", "9 of 10 months"},
	{BUCKET_MONTH, "2026-09-01", "", "[[\"2026-09\",1],[\"2026-10\",1]]", NULL},
	{BUCKET_QUARTER, "", "", "[[\"2025-Q4\",1],[\"2026-Q1\",1]]", NULL},
	{BUCKET_QUARTER, "", "", "[[\"2025-Q4\",1],[\"2026-Q3\",1]]", "2 of 4 quarters"},
	{BUCKET_YEAR, "", "", "[[\"2020\",1],[\"2022\",1]]", "1 of 3 years"},
	{BUCKET_WEEK, "", "", "[[\"2026-09-28\",1],[\"2026-10-05\",1]]", NULL},
	/* September 2026 lies in five weeks, 2026-08-31 to 2026-10-04 */
	{BUCKET_WEEK, "2026-09-01", "2026-10-01", "[[\"2026-09-28\",1]]", "4 of 5 weeks"},
	{BUCKET_DAY, "", "", "[[\"2026-02-28\",1],[\"2026-03-01\",1]]", NULL},
	{BUCKET_DAY, "2026-10-14", "2026-10-20", "[[\"2026-10-14\",1]]", "1 of 2 days"},
	{BUCKET_NONE, "", "", "[[\"2026-02-28\",1],[\"2026-03-02\",1]]", NULL},
};

static struct metric_query *query_of(const struct gap *gap)
{
	struct metric_query *query = metric_query_new();
	struct err err = {0};

	metric_query_add_metric(query, "orders");
	metric_query_add_dimension(query, "orders.day", gap->bucket);
	if (gap->from[0] != '\0' || gap->to[0] != '\0')
		assert_int_equal(
			query_period_set(&query->period, NULL, gap->from, gap->to, NULL, &err), 0);
	return query;
}

static char *said(const struct gap *gap, const struct metric_query *query)
{
	struct json *rows = NULL;
	struct err err = {0};
	char *text = NULL;

	assert_int_equal(json_parse_str(gap->rows, &rows, &err), 0);
	text = query_gaps(query, rows, (struct date){.year = 2026, .month = 10, .day = 15});
	json_free(rows);
	return text;
}

static void test_steps_without_rows_are_counted(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(gaps); i++) {
		CLEANUP(metric_query_freep) struct metric_query *query = query_of(&gaps[i]);
		CLEANUP(mem_freep) char *text = said(&gaps[i], query);
		CLEANUP(mem_freep)
		char *want = gaps[i].said ? mem_format("%s have no rows and are not listed.",
						       gaps[i].said)
					  : NULL;

		if ((text == NULL) != (want == NULL) || (text && strcmp(text, want) != 0))
			fail_msg("%zu: %s, want %s", i, text ? text : "nothing",
				 want ? want : "nothing");
	}
}

static void test_a_cut_or_compared_list_says_nothing_of_gaps(void **state)
{
	const struct gap *gap = &gaps[1];
	CLEANUP(metric_query_freep) struct metric_query *cut = query_of(gap);
	CLEANUP(metric_query_freep) struct metric_query *average = query_of(gap);
	CLEANUP(metric_query_freep) struct metric_query *two = query_of(gap);

	(void)state;
	cut->limit = 3;
	assert_null(said(gap, cut));
	average->average_per = mem_str("customers.id");
	assert_null(said(gap, average));
	metric_query_add_dimension(two, "customers.region", BUCKET_NONE);
	assert_null(said(gap, two));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps_without_rows_are_counted),
		cmocka_unit_test(test_a_cut_or_compared_list_says_nothing_of_gaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
