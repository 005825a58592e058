/* Every phrase of time, on the days where calendars go wrong, with its bounds written out. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "agents/query/period.h"

/* "2026-07-01..2026-10-01", open sides empty, "all", "mistake: ...", or "none"; and the words used.
 */
static void read(const char *phrase, const char *today, bool ranges, char out[256],
		 size_t *ret_used)
{
	struct sentence sentence;
	struct period period = {0};
	struct period_rules rules = {.ranges = ranges};
	char from[DATE_LEN + 1] = "";
	char to[DATE_LEN + 1] = "";
	struct err err = {0};

	assert_int_equal(date_read(today, &rules.today, &err), 0);
	assert_int_equal(sentence_read(phrase, &sentence, &err), 0);
	*ret_used = period_read(&sentence, 0, &rules, &period);
	if (period.has_from)
		date_write(period.from, from);
	if (period.has_to)
		date_write(period.to, to);
	if (*ret_used == 0)
		snprintf(out, 256, "none");
	else if (period.mistake[0] != '\0')
		snprintf(out, 256, "mistake: %s", period.mistake);
	else if (period.all)
		snprintf(out, 256, "all");
	else
		snprintf(out, 256, "%s..%s", from, to);
	if (*ret_used > 0 && *ret_used != sentence.count)
		snprintf(out + strlen(out), 256 - strlen(out), " (%zu of %zu words)", *ret_used,
			 sentence.count);
	sentence_clear(&sentence);
}

static void check(const char *phrase, const char *today, const char *want)
{
	char got[256];
	size_t used = 0;

	read(phrase, today, true, got, &used);
	if (strcmp(got, want) != 0)
		fail_msg("\"%s\" on %s: %s, not %s", phrase, today, got, want);
}

struct row {
	const char *phrase;
	const char *jan1;  /* 2025-01-01, a Wednesday */
	const char *feb29; /* 2024-02-29, a Thursday */
	const char *mar31; /* 2025-03-31, a Monday */
	const char *dec31; /* 2025-12-31, a Wednesday */
};

static const struct row rows[] = {
	{"today", "2025-01-01..2025-01-02", "2024-02-29..2024-03-01", "2025-03-31..2025-04-01",
	 "2025-12-31..2026-01-01"},
	{"yesterday", "2024-12-31..2025-01-01", "2024-02-28..2024-02-29", "2025-03-30..2025-03-31",
	 "2025-12-30..2025-12-31"},
	{"this week", "2024-12-30..2025-01-06", "2024-02-26..2024-03-04", "2025-03-31..2025-04-07",
	 "2025-12-29..2026-01-05"},
	{"last week", "2024-12-23..2024-12-30", "2024-02-19..2024-02-26", "2025-03-24..2025-03-31",
	 "2025-12-22..2025-12-29"},
	{"this month", "2025-01-01..2025-02-01", "2024-02-01..2024-03-01", "2025-03-01..2025-04-01",
	 "2025-12-01..2026-01-01"},
	{"last month", "2024-12-01..2025-01-01", "2024-01-01..2024-02-01", "2025-02-01..2025-03-01",
	 "2025-11-01..2025-12-01"},
	{"the previous month", "2024-12-01..2025-01-01", "2024-01-01..2024-02-01",
	 "2025-02-01..2025-03-01", "2025-11-01..2025-12-01"},
	{"this quarter", "2025-01-01..2025-04-01", "2024-01-01..2024-04-01",
	 "2025-01-01..2025-04-01", "2025-10-01..2026-01-01"},
	{"last quarter", "2024-10-01..2025-01-01", "2023-10-01..2024-01-01",
	 "2024-10-01..2025-01-01", "2025-07-01..2025-10-01"},
	{"this year", "2025-01-01..2026-01-01", "2024-01-01..2025-01-01", "2025-01-01..2026-01-01",
	 "2025-01-01..2026-01-01"},
	{"last year", "2024-01-01..2025-01-01", "2023-01-01..2024-01-01", "2024-01-01..2025-01-01",
	 "2024-01-01..2025-01-01"},
	{"last 7 days", "2024-12-25..2025-01-01", "2024-02-22..2024-02-29",
	 "2025-03-24..2025-03-31", "2025-12-24..2025-12-31"},
	{"last 30 days", "2024-12-02..2025-01-01", "2024-01-30..2024-02-29",
	 "2025-03-01..2025-03-31", "2025-12-01..2025-12-31"},
	{"past two weeks", "2024-12-16..2024-12-30", "2024-02-12..2024-02-26",
	 "2025-03-17..2025-03-31", "2025-12-15..2025-12-29"},
	{"last 3 months", "2024-10-01..2025-01-01", "2023-11-01..2024-02-01",
	 "2024-12-01..2025-03-01", "2025-09-01..2025-12-01"},
	{"last 12 months", "2024-01-01..2025-01-01", "2023-02-01..2024-02-01",
	 "2024-03-01..2025-03-01", "2024-12-01..2025-12-01"},
	{"last two quarters", "2024-07-01..2025-01-01", "2023-07-01..2024-01-01",
	 "2024-07-01..2025-01-01", "2025-04-01..2025-10-01"},
	{"last 2 years", "2023-01-01..2025-01-01", "2022-01-01..2024-01-01",
	 "2023-01-01..2025-01-01", "2023-01-01..2025-01-01"},
	{"year to date", "2025-01-01..2025-01-02", "2024-01-01..2024-03-01",
	 "2025-01-01..2025-04-01", "2025-01-01..2026-01-01"},
	{"so far this month", "2025-01-01..2025-01-02", "2024-02-01..2024-03-01",
	 "2025-03-01..2025-04-01", "2025-12-01..2026-01-01"},
	{"in march", "2024-03-01..2024-04-01", "2023-03-01..2023-04-01", "2025-03-01..2025-04-01",
	 "2025-03-01..2025-04-01"},
	{"in may", "2024-05-01..2024-06-01", "2023-05-01..2023-06-01", "2024-05-01..2024-06-01",
	 "2025-05-01..2025-06-01"},
	{"last march", "2024-03-01..2024-04-01", "2023-03-01..2023-04-01", "2024-03-01..2024-04-01",
	 "2025-03-01..2025-04-01"},
	{"in december", "2024-12-01..2025-01-01", "2023-12-01..2024-01-01",
	 "2024-12-01..2025-01-01", "2025-12-01..2026-01-01"},
	{"in Q4", "2024-10-01..2025-01-01", "2023-10-01..2024-01-01", "2024-10-01..2025-01-01",
	 "2025-10-01..2026-01-01"},
	{"the first quarter", "2025-01-01..2025-04-01", "2024-01-01..2024-04-01",
	 "2025-01-01..2025-04-01", "2025-01-01..2025-04-01"},
	{"since 2024-02-01", "2024-02-01..2025-01-02", "2024-02-01..2024-03-01",
	 "2024-02-01..2025-04-01", "2024-02-01..2026-01-01"},
	{"since last month", "2024-12-01..2025-01-02", "2024-01-01..2024-03-01",
	 "2025-02-01..2025-04-01", "2025-11-01..2026-01-01"},
	{"a month ago", "2024-12-01..2025-01-01", "2024-01-01..2024-02-01",
	 "2025-02-01..2025-03-01", "2025-11-01..2025-12-01"},
	{"3 days ago", "2024-12-29..2024-12-30", "2024-02-26..2024-02-27", "2025-03-28..2025-03-29",
	 "2025-12-28..2025-12-29"},
	{"since the beginning of the year", "2025-01-01..2025-01-02", "2024-01-01..2024-03-01",
	 "2025-01-01..2025-04-01", "2025-01-01..2026-01-01"},
	{"the last quarter of last year", "2024-10-01..2025-01-01", "2023-10-01..2024-01-01",
	 "2024-10-01..2025-01-01", "2024-10-01..2025-01-01"},
};

static void test_relative_phrases_have_calendar_bounds(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		check(rows[i].phrase, "2025-01-01", rows[i].jan1);
		check(rows[i].phrase, "2024-02-29", rows[i].feb29);
		check(rows[i].phrase, "2025-03-31", rows[i].mar31);
		check(rows[i].phrase, "2025-12-31", rows[i].dec31);
	}
}

static const struct {
	const char *phrase;
	const char *want;
} fixed[] = {
	/* with today = 2026-10-15 */
	{"last quarter", "2026-07-01..2026-10-01"},
	{"2026-07-01", "2026-07-01..2026-07-02"},
	{"on 2026-07-31", "2026-07-31..2026-08-01"},
	{"in 2026-02", "2026-02-01..2026-03-01"},
	{"March 3, 2026", "2026-03-03..2026-03-04"},
	{"on March 3rd", "2026-03-03..2026-03-04"},
	{"3 March 2025", "2025-03-03..2025-03-04"},
	{"the 3rd of March", "2026-03-03..2026-03-04"},
	{"on October 16", "2025-10-16..2025-10-17"},
	{"on October 15", "2026-10-15..2026-10-16"},
	{"in March 2024", "2024-03-01..2024-04-01"},
	{"in March of last year", "2025-03-01..2025-04-01"},
	{"march last year", "2025-03-01..2025-04-01"},
	{"may 2024", "2024-05-01..2024-06-01"},
	{"may", "none"},
	{"in November", "2025-11-01..2025-12-01"},
	{"this november", "2026-11-01..2026-12-01"},
	{"Q1 2026", "2026-01-01..2026-04-01"},
	{"Q3", "2026-07-01..2026-10-01"},
	{"in the first quarter of 2026", "2026-01-01..2026-04-01"},
	{"the third quarter of last year", "2025-07-01..2025-10-01"},
	{"1st quarter 2024", "2024-01-01..2024-04-01"},
	{"2026 Q2", "2026-04-01..2026-07-01"},
	{"2026Q2", "2026-04-01..2026-07-01"},
	{"Q4", "2026-10-01..2027-01-01"},
	{"H1 2026", "2026-01-01..2026-07-01"},
	{"the second half of 2025", "2025-07-01..2026-01-01"},
	{"in 2025", "2025-01-01..2026-01-01"},
	{"2025", "2025-01-01..2026-01-01"},
	{"over 2000", "none"},
	{"between 2026-01-15 and 2026-03-31", "2026-01-15..2026-04-01"},
	{"from 2026-01-15 to 2026-03-31", "2026-01-15..2026-04-01"},
	{"from January to March 2026", "2026-01-01..2026-04-01"},
	{"from November 2025 to February", "2025-11-01..2026-03-01"},
	{"between November and February 2026", "2025-11-01..2026-03-01"},
	{"january through march", "2026-01-01..2026-04-01"},
	{"November to February", "2025-11-01..2026-03-01"},
	{"Jan-Mar 2026", "2026-01-01..2026-04-01"},
	{"2026-01-01 - 2026-01-31", "2026-01-01..2026-02-01"},
	{"between Q1 and Q2 2026", "2026-01-01..2026-07-01"},
	{"from 2024 to 2025", "2024-01-01..2026-01-01"},
	{"since 2026-09-01", "2026-09-01..2026-10-16"},
	{"since March", "2026-03-01..2026-10-16"},
	{"since Q1 2026", "2026-01-01..2026-10-16"},
	{"since 2025", "2025-01-01..2026-10-16"},
	{"after 2026-07-01", "2026-07-02.."},
	{"after July", "2026-08-01.."},
	{"before 2026-07-01", "..2026-07-01"},
	{"before July 2026", "..2026-07-01"},
	{"until 2026-06-30", "..2026-07-01"},
	{"up to June 2026", "..2026-07-01"},
	{"on or after 2026-07-01", "2026-07-01.."},
	{"from March 2026 onwards", "2026-03-01.."},
	{"from March 2026", "2026-03-01..2026-04-01"},
	{"week of 2026-10-14", "2026-10-12..2026-10-19"},
	{"last quarter of 2025", "2025-10-01..2026-01-01"},
	{"the first month of 2026", "2026-01-01..2026-02-01"},
	{"the last day of February 2024", "2024-02-29..2024-03-01"},
	{"the last week of March", "mistake: cannot tell which week of that is meant"},
	{"for the month of August", "2026-08-01..2026-09-01"},
	{"in the year 2025", "2025-01-01..2026-01-01"},
	{"month last month", "none"},
	{"of all time", "all"},
	{"ever", "all"},
	{"this year so far", "2026-01-01..2026-10-16"},
	{"last 4 complete weeks", "2026-09-14..2026-10-12"},
	{"2025-02-30", "mistake: there is no date 2025-02-30"},
	{"since 2025-02-30", "mistake: there is no date 2025-02-30"},
	{"between 2025-02-30 and 2025-03-01", "mistake: there is no date 2025-02-30"},
	{"June 31", "mistake: there is no day 2026-06-31"},
	{"from 2026-03-01 to 2026-01-01", "mistake: the period ends before it begins"},
	{"since 2027-01-01", "mistake: the period ends before it begins"},
	{"last fiscal quarter", "mistake: no fiscal year is defined in this workspace"},
	{"last 24 hours", "none"},
	{"next month", "2026-11-01..2026-12-01"},
	{"next week", "2026-10-19..2026-10-26"},
	{"the coming quarter", "2027-01-01..2027-04-01"},
	{"next fiscal year", "mistake: no fiscal year is defined in this workspace"},
	{"tomorrow", "2026-10-16..2026-10-17"},
	{"next 3 months", "none"},
	{"next weekday", "none"},
	{"last 0 days", "none"},
	{"last 1001 days", "none"},
	{"last 1000 days", "2024-01-19..2026-10-15"},
	{"last 2.5 months", "none"},
	{"region", "none"},
	{"", "none"},
	{"last quarter by region", "2026-07-01..2026-10-01 (2 of 4 words)"},
	{"in March 2026 by month", "2026-03-01..2026-04-01 (3 of 5 words)"},
};

static void test_named_periods_and_ranges(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
		check(fixed[i].phrase, "2026-10-15", fixed[i].want);
}

static void test_ends_of_a_comparison_stay_apart(void **state)
{
	char got[256];
	size_t used = 0;

	(void)state;
	read("from Q1 to Q2", "2026-10-15", false, got, &used);
	assert_string_equal(got, "2026-01-01..2026-04-01 (2 of 4 words)");
	read("between 2024 and 2025", "2026-10-15", false, got, &used);
	assert_string_equal(got, "2024-01-01..2025-01-01 (2 of 4 words)");
}

static void read_period(const char *phrase, const char *today, int fiscal, struct period *period)
{
	struct sentence sentence;
	struct period_rules rules = {.ranges = true, .fiscal_start = fiscal};
	struct err err = {0};

	assert_int_equal(date_read(today, &rules.today, &err), 0);
	assert_int_equal(sentence_read(phrase, &sentence, &err), 0);
	assert_true(period_read(&sentence, 0, &rules, period) > 0);
	sentence_clear(&sentence);
}

static void check_bounds(const struct period *period, const char *want_from, const char *want_to)
{
	char from[DATE_LEN + 1];
	char to[DATE_LEN + 1];

	date_write(period->from, from);
	date_write(period->to, to);
	assert_string_equal(from, want_from);
	assert_string_equal(to, want_to);
}

static void test_the_period_before(void **state)
{
	struct period period = {0};
	struct period before = {0};

	(void)state;
	read_period("last quarter", "2026-10-15", 0, &period);
	assert_string_equal(period.label, "last quarter");
	assert_true(period_before(&period, &before));
	check_bounds(&before, "2026-04-01", "2026-07-01");
	assert_string_equal(before.label, "the quarter before");
	assert_true(period_year_before(&period, &before));
	check_bounds(&before, "2025-07-01", "2025-10-01");
	read_period("in February 2024", "2026-10-15", 0, &period);
	assert_string_equal(period.label, "february 2024");
	assert_true(period_before(&period, &before));
	check_bounds(&before, "2024-01-01", "2024-02-01");
	assert_true(period_year_before(&period, &before));
	check_bounds(&before, "2023-02-01", "2023-03-01");
	read_period("last 3 months", "2025-03-31", 0, &period);
	assert_true(period_before(&period, &before));
	check_bounds(&before, "2024-09-01", "2024-12-01");
	read_period("between 2026-01-01 and 2026-01-10", "2026-10-15", 0, &period);
	assert_string_equal(period.label, "between 2026-01-01 and 2026-01-10");
	assert_true(period_before(&period, &before));
	check_bounds(&before, "2025-12-22", "2026-01-01");
	read_period("2024-02-29", "2026-10-15", 0, &period);
	assert_true(period_year_before(&period, &before));
	check_bounds(&before, "2023-02-28", "2023-03-01");
	read_period("before 2026", "2026-10-15", 0, &period);
	assert_false(period_before(&period, &before));
	assert_false(period_year_before(&period, &before));
	read_period("last week", "2026-10-15", 0, &period);
	assert_false(period_year_before(&period, &before));
}

static void test_fiscal_years_begin_where_they_are_said_to(void **state)
{
	struct period period = {0};

	(void)state;
	read_period("last fiscal quarter", "2025-03-31", 2, &period);
	check_bounds(&period, "2024-11-01", "2025-02-01");
	read_period("this fiscal year", "2025-03-31", 4, &period);
	check_bounds(&period, "2024-04-01", "2025-04-01");
	read_period("last quarter", "2025-03-31", 2, &period);
	check_bounds(&period, "2024-10-01", "2025-01-01");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_relative_phrases_have_calendar_bounds),
		cmocka_unit_test(test_named_periods_and_ranges),
		cmocka_unit_test(test_ends_of_a_comparison_stay_apart),
		cmocka_unit_test(test_the_period_before),
		cmocka_unit_test(test_fiscal_years_begin_where_they_are_said_to),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
