/* Civil dates, timestamps and time zones; the C library is the oracle for zones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/timezone.h"

static struct date date(int year, int month, int day)
{
	return (struct date){year, month, day};
}

static void same_date(struct date got, const char *wanted)
{
	char text[DATE_LEN + 1];

	date_write(got, text);
	assert_string_equal(text, wanted);
}

static void test_clock_days_of_known_dates(void **state)
{
	(void)state;
	assert_int_equal(date_to_days(date(1970, 1, 1)), 0);
	assert_int_equal(date_to_days(date(1969, 12, 31)), -1);
	assert_int_equal(date_to_days(date(2000, 2, 29)), 11016);
	assert_int_equal(date_to_days(date(2026, 10, 15)), 20741);
	assert_int_equal(date_to_days(date(1, 1, 1)), -719162);
	assert_int_equal(date_to_days(date(0, 3, 1)), -719468);
	assert_int_equal(date_to_days(date(9999, 12, 31)), 2932896);
}

static void test_clock_every_day_follows_the_one_before(void **state)
{
	struct date day = date(-401, 1, 1);
	int64_t number = date_to_days(day);
	int weekday = date_weekday(day);

	(void)state;
	while (day.year < 2402) {
		struct date again = date_from_days(number);

		assert_int_equal(date_compare(day, again), 0);
		assert_int_equal(day.day, again.day);
		assert_int_equal(date_to_days(day), number);
		assert_int_equal(date_weekday(day), weekday);
		if (++day.day > date_month_days(day.year, day.month)) {
			day.day = 1;
			day.month = day.month % 12 + 1;
			day.year += day.month == 1;
		}
		number++;
		weekday = (weekday + 1) % 7;
	}
}

static void test_clock_leap_years(void **state)
{
	(void)state;
	assert_int_equal(date_month_days(2024, 2), 29);
	assert_int_equal(date_month_days(2025, 2), 28);
	assert_int_equal(date_month_days(1900, 2), 28);
	assert_int_equal(date_month_days(2000, 2), 29);
	assert_int_equal(date_month_days(2100, 2), 28);
	assert_int_equal(date_month_days(0, 2), 29);
	assert_int_equal(date_month_days(2026, 4), 30);
	assert_int_equal(date_month_days(2026, 12), 31);
	assert_int_equal(date_month_days(2026, 0), 0);
	assert_int_equal(date_month_days(2026, 13), 0);
}

static void test_clock_weekdays_begin_on_monday(void **state)
{
	(void)state;
	assert_int_equal(date_weekday(date(1970, 1, 1)), 3);   /* Thursday */
	assert_int_equal(date_weekday(date(2026, 10, 15)), 3); /* Thursday */
	assert_int_equal(date_weekday(date(2026, 10, 12)), 0);
	assert_int_equal(date_weekday(date(2026, 10, 18)), 6);
	assert_int_equal(date_weekday(date(1969, 12, 28)), 6);
}

static void test_clock_month_arithmetic_clamps_to_the_last_day(void **state)
{
	(void)state;
	same_date(date_add_months(date(2026, 1, 31), 1), "2026-02-28");
	same_date(date_add_months(date(2024, 1, 31), 1), "2024-02-29");
	same_date(date_add_months(date(2026, 3, 31), -1), "2026-02-28");
	same_date(date_add_months(date(2026, 1, 15), -1), "2025-12-15");
	same_date(date_add_months(date(2026, 12, 31), 1), "2027-01-31");
	same_date(date_add_months(date(2024, 2, 29), 12), "2025-02-28");
	same_date(date_add_months(date(2026, 10, 15), -36), "2023-10-15");
	same_date(date_add_months(date(2026, 10, 15), 0), "2026-10-15");
	same_date(date_add_months(date(2026, 8, 31), -18), "2025-02-28");
}

static void test_clock_day_arithmetic(void **state)
{
	(void)state;
	same_date(date_add_days(date(2024, 2, 28), 1), "2024-02-29");
	same_date(date_add_days(date(2026, 1, 1), -1), "2025-12-31");
	same_date(date_add_days(date(2026, 10, 15), 0), "2026-10-15");
	same_date(date_add_days(date(2026, 10, 15), -30), "2026-09-15");
	same_date(date_add_days(date(2026, 1, 1), INT64_MAX), "9999-12-31");
	same_date(date_add_days(date(1, 1, 1), INT64_MIN), "0000-01-01");
	assert_true(date_from_days(INT64_MAX).year > 1900000000); /* the last that an int holds */
	assert_true(date_from_days(INT64_MIN).year < -1900000000);
}

static void test_clock_compares_dates(void **state)
{
	(void)state;
	assert_int_equal(date_compare(date(2026, 1, 2), date(2026, 1, 2)), 0);
	assert_int_equal(date_compare(date(2025, 12, 31), date(2026, 1, 1)), -1);
	assert_int_equal(date_compare(date(2026, 2, 1), date(2026, 1, 31)), 1);
}

static void test_clock_reads_dates_and_refuses_others(void **state)
{
	static const char *const forms[] = {
		"",	      "2026-1-15",  "2026-10-15 ", "26-10-15",	       "2026/10/15",
		"2026-10-1x", "-026-10-15", "+2026-10-15", "2026-10-15T00:00", "20261-0-15"};
	static const char *const days[] = {"2026-02-29", "1900-02-29", "2026-13-01", "2026-00-10",
					   "2026-04-31", "2026-01-00", "2026-01-32"};
	struct date got = date(1, 1, 1);
	struct err err = {0};

	(void)state;
	assert_int_equal(date_read("2024-02-29", &got, &err), 0);
	same_date(got, "2024-02-29");
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		assert_int_equal(date_read(forms[i], &got, &err), -1);
		assert_string_equal(err.text, "not a date: write it as 2026-10-15");
	}
	for (size_t i = 0; i < ARRAY_LEN(days); i++) {
		assert_int_equal(date_read(days[i], &got, &err), -1);
		assert_non_null(strstr(err.text, " is not in the calendar"));
		assert_int_equal(err.kind, ERR_INVALID);
	}
	same_date(got, "2024-02-29"); /* untouched */
}

static void stamps(int64_t time_us, const char *text)
{
	char out[TIMESTAMP_LEN + 1];
	int64_t back;
	struct err err = {0};

	timestamp_write(time_us, out);
	assert_string_equal(out, text);
	assert_int_equal(timestamp_read(text, &back, &err), 0);
	assert_true(back == time_us);
}

static void test_clock_timestamps_read_back(void **state)
{
	char out[TIMESTAMP_LEN + 1];

	(void)state;
	stamps(0, "1970-01-01T00:00:00.000000Z");
	stamps(-1, "1969-12-31T23:59:59.999999Z");
	stamps(1787392801000001, "2026-08-22T10:00:01.000001Z");
	stamps(951827696123456, "2000-02-29T12:34:56.123456Z");
	stamps(253402300799999999, "9999-12-31T23:59:59.999999Z");
	stamps(-62167219200000000, "0000-01-01T00:00:00.000000Z");
	timestamp_write(INT64_MAX, out);
	assert_string_equal(out, "9999-12-31T23:59:59.999999Z");
	timestamp_write(INT64_MIN, out);
	assert_string_equal(out, "0000-01-01T00:00:00.000000Z");
}

static void test_clock_refuses_other_timestamps(void **state)
{
	static const char *const forms[] = {
		"",
		"2026-08-22T10:00:01Z",
		"2026-08-22T10:00:01.001Z",
		"2026-08-22T10:00:01.000001",
		"2026-08-22T10:00:01.000001z",
		"2026-08-22t10:00:01.000001Z",
		"2026-08-22 10:00:01.000001Z",
		"2026-08-22T10:00:01.000001+00:00",
		"2026-08-22T10:00:01.000001Z ",
	};
	static const char *const times[] = {
		"2026-08-22T24:00:00.000000Z", "2026-08-22T23:60:00.000000Z",
		"2026-08-22T23:59:60.000000Z", "2026-02-29T00:00:00.000000Z"};
	struct err err = {0};
	int64_t time_us = 7;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		assert_int_equal(timestamp_read(forms[i], &time_us, &err), -1);
		assert_string_equal(err.text,
				    "not a time: write it as 2026-08-22T10:00:01.000001Z");
	}
	for (size_t i = 0; i < ARRAY_LEN(times); i++) {
		assert_int_equal(timestamp_read(times[i], &time_us, &err), -1);
		assert_non_null(strstr(err.text, " is not in the calendar"));
	}
	assert_int_equal(time_us, 7);
}

static void test_clock_clocks_run(void **state)
{
	int64_t first = clock_mono_us();

	(void)state;
	assert_true(clock_now_us() > 1700000000000000);
	assert_true(clock_mono_us() >= first);
}

static void today(const char *zone, const char *moment, const char *wanted)
{
	struct date got;
	int64_t now;
	struct err err = {0};

	assert_int_equal(timestamp_read(moment, &now, &err), 0);
	if (date_today(zone, now, &got, &err) < 0)
		fail_msg("%s", err.text);
	same_date(got, wanted);
}

static void test_clock_today_changes_at_local_midnight(void **state)
{
	(void)state;
	today("UTC", "2026-10-14T23:59:59.999999Z", "2026-10-14");
	today("UTC", "2026-10-15T00:00:00.000000Z", "2026-10-15");
	today("UTC", "1969-12-31T23:59:59.999999Z", "1969-12-31");
	/* summer: two hours ahead; winter: one */
	today("Europe/Berlin", "2026-10-14T21:59:59.999999Z", "2026-10-14");
	today("Europe/Berlin", "2026-10-14T22:00:00.000000Z", "2026-10-15");
	today("Europe/Berlin", "2026-12-14T22:59:59.999999Z", "2026-12-14");
	today("Europe/Berlin", "2026-12-14T23:00:00.000000Z", "2026-12-15");
	today("America/New_York", "2026-07-01T03:59:59.999999Z", "2026-06-30");
	today("America/New_York", "2026-07-01T04:00:00.000000Z", "2026-07-01");
	today("America/New_York", "2026-01-01T04:59:59.999999Z", "2025-12-31");
	today("America/New_York", "2026-01-01T05:00:00.000000Z", "2026-01-01");
}

static void offset(const char *zone, const char *moment, int wanted)
{
	int64_t time_us;
	int got = 99;
	struct err err = {0};

	assert_int_equal(timestamp_read(moment, &time_us, &err), 0);
	if (timezone_offset(zone, time_us / 1000000, &got, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(got, wanted);
}

static void test_clock_offsets_around_both_changes(void **state)
{
	(void)state;
	offset("Europe/Berlin", "2026-03-29T00:59:59.000000Z", 3600);
	offset("Europe/Berlin", "2026-03-29T01:00:00.000000Z", 7200);
	offset("Europe/Berlin", "2026-10-25T00:59:59.000000Z", 7200);
	offset("Europe/Berlin", "2026-10-25T01:00:00.000000Z", 3600);
	offset("America/New_York", "2026-03-08T06:59:59.000000Z", -18000);
	offset("America/New_York", "2026-03-08T07:00:00.000000Z", -14400);
	offset("America/New_York", "2026-11-01T05:59:59.000000Z", -14400);
	offset("America/New_York", "2026-11-01T06:00:00.000000Z", -18000);
	/* far behind the file's last transition: the rule */
	offset("Europe/Berlin", "2100-03-28T00:59:59.000000Z", 3600);
	offset("Europe/Berlin", "2100-03-28T01:00:00.000000Z", 7200);
	/* before its first: local mean time */
	offset("Europe/Berlin", "1800-01-01T00:00:00.000000Z", 3208);
}

static void test_clock_zones_agree_with_the_c_library(void **state)
{
	static const char *const zones[] = {
		"Europe/Berlin",	"America/New_York",  "Europe/Dublin",	 "Australia/Sydney",
		"Australia/Lord_Howe",	"Africa/Casablanca", "Asia/Gaza",	 "America/Nuuk",
		"Antarctica/Troll",	"Pacific/Apia",	     "Asia/Kathmandu",	 "Asia/Tehran",
		"America/Scoresbysund", "Pacific/Easter",    "America/St_Johns", "Etc/GMT+5"};
	struct err err = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(zones); i++) {
		setenv("TZ", zones[i], 1);
		tzset();
		for (time_t at = -3000000000; at < 6000000000; at += 3000017) {
			struct tm local;
			int got = 0;

			localtime_r(&at, &local);
			if (timezone_offset(zones[i], at, &got, &err) < 0)
				fail_msg("%s", err.text);
			if (got != local.tm_gmtoff)
				fail_msg("%s at %lld: %d, not %ld", zones[i], (long long)at, got,
					 local.tm_gmtoff);
		}
	}
	unsetenv("TZ");
	tzset();
}

static void no_zone(const char *name, enum err_kind kind, const char *text)
{
	struct date got;
	struct err err = {0};

	assert_int_equal(date_today(name, 0, &got, &err), -1);
	assert_string_equal(err.text, text);
	assert_int_equal(err.kind, kind);
}

static void test_clock_refuses_names_that_are_no_zone(void **state)
{
	static const char *const names[] = {
		"",
		"/etc/passwd",
		"../../../etc/passwd",
		"Europe/../UTC",
		"Europe//Berlin",
		"Europe/Berlin/",
		"Europe/Ber lin",
		"zone1970.tab",
		"Europe/Berl\xC3\xADn",
		"A/name_with_more_than_sixty-four_characters/in_all/its_parts/xyzabc"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		no_zone(names[i], ERR_INVALID,
			"time zone: write a name like Europe/Berlin, or UTC");
	no_zone("A/name_with_sixty-four_characters/in_all/its_parts/abcdefghijklm", ERR_NOT_FOUND,
		"time zone A/name_with_sixty-four_characters/in_all/its_parts/abcdefghijklm: there "
		"is no such zone in /usr/share/zoneinfo");
	no_zone("A/name_with_sixty-four_characters/in_all/its_parts/abcdefghijklmn", ERR_INVALID,
		"time zone: write a name like Europe/Berlin, or UTC");
	no_zone("Europe/Nowhere", ERR_NOT_FOUND,
		"time zone Europe/Nowhere: there is no such zone in /usr/share/zoneinfo");
	no_zone("Europe/Berlin/x", ERR_NOT_FOUND,
		"time zone Europe/Berlin/x: there is no such zone in /usr/share/zoneinfo");
	no_zone("Europe", ERR_NOT_FOUND, "time zone Europe: this is a group of zones, not one");
	no_zone("tzdata/zi", ERR_NOT_FOUND,
		"time zone tzdata/zi: there is no such zone in /usr/share/zoneinfo");
}

static size_t read_zone(const char *path, char *out, size_t size)
{
	FILE *file = fopen(path, "rb");
	size_t len;

	assert_non_null(file);
	len = fread(out, 1, size, file);
	fclose(file);
	return len;
}

static void test_clock_survives_damaged_zone_files(void **state)
{
	static char file[65536];
	size_t len = read_zone(TIMEZONE_FOLDER "/Europe/Berlin", file, sizeof(file));
	uint32_t seed = 1;
	int got;
	struct err err = {0};

	(void)state;
	assert_int_equal(tzif_offset(file, len, 1787392801, &got, &err), 0);
	assert_int_equal(got, 7200);
	for (size_t cut = 0; cut < len; cut++) {
		CLEANUP(mem_freep) char *exact = mem_copy(file, cut);

		assert_int_equal(tzif_offset(exact, cut, 1787392801, &got, &err), -1);
		assert_string_equal(err.text, "the time zone file is damaged");
	}
	for (int i = 0; i < 20000; i++) { /* any answer will do, but no step outside */
		CLEANUP(mem_freep) char *exact = mem_copy(file, len);

		seed = seed * 1664525 + 1013904223;
		exact[seed % len] ^= (char)(1 << (seed >> 28) % 8);
		IGNORE(tzif_offset(exact, len, (int64_t)seed * 3, &got, &err) < 0, "see above");
	}
	file[4] = '\0';
	assert_int_equal(tzif_offset(file, len, 0, &got, &err), -1);
	assert_string_equal(err.text, "the time zone file has no 64-bit times");
}

static void rule(const char *text, int64_t utc_s, int wanted)
{
	int got = 99;
	struct err err = {0};

	if (tz_rule_offset(text, utc_s, &got, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	assert_int_equal(got, wanted);
}

static int64_t noon(int year, int month, int day)
{
	return date_to_days(date(year, month, day)) * 86400 + 43200;
}

static void test_clock_rules_of_every_form(void **state)
{
	(void)state;
	rule("UTC0", 0, 0);
	rule("<+0545>-5:45", 0, 20700);
	rule("<-03>3", 0, -10800);
	rule("XXX-1:02:03", 0, 3723);
	rule("XXX+167", 0, -601200);
	rule("EST5EDT,M3.2.0,M11.1.0", noon(2026, 7, 1), -14400);
	rule("EST5EDT,M3.2.0,M11.1.0", noon(2026, 1, 1), -18000);
	rule("EST5EDT4:30,M3.2.0/3,M11.1.0", noon(2026, 7, 1), -16200);
	/* J60 is 1 March, leap year or not; 59 counts the leap day */
	rule("AAA0BBB,J60/0,J70/0", noon(2024, 2, 29), 0);
	rule("AAA0BBB,J60/0,J70/0", noon(2024, 3, 1), 3600);
	rule("AAA0BBB,J60/0,J70/0", noon(2025, 3, 1), 3600);
	rule("AAA0BBB,J59/0,J70/0", noon(2024, 2, 28), 3600);
	rule("AAA0BBB,59/0,70/0", noon(2024, 2, 29), 3600);
	rule("AAA0BBB,59/0,70/0", noon(2025, 2, 28), 0);
	rule("AAA0BBB,0/0,J365/25", noon(2026, 6, 1), 3600); /* all the year */
	rule("AAA0BBB,M3.4.1/-24,M10.5.0", noon(2026, 3, 22), 3600);
	rule("AAA0BBB,M3.4.1/-24,M10.5.0", noon(2026, 3, 21), 0);
	rule("AEST-10AEDT,M10.1.0,M4.1.0/3", noon(2026, 1, 1), 39600);
	rule("AEST-10AEDT,M10.1.0,M4.1.0/3", noon(2026, 7, 1), 36000);
}

static void test_clock_refuses_rules_that_are_none(void **state)
{
	static const char *const rules[] = {
		"",
		"A1",
		"AAA",
		"AAA168",
		"AAA1:60",
		"AAA1:00:60",
		"<AAA1",
		"AAA1B",
		"AAA1BBB",
		"AAA1BBB,M3.2.0",
		"AAA1BBB,M13.1.0,M1.1.0",
		"AAA1BBB,M3.6.0,M1.1.0",
		"AAA1BBB,M3.2.7,M1.1.0",
		"AAA1BBB,M3.0.0,M1.1.0",
		"AAA1BBB,J0,J1",
		"AAA1BBB,J366,J1",
		"AAA1BBB,366,1",
		"AAA1BBB,M3.2,M1.1.0",
		"AAA1BBB,M3,M1.1.0",
		"AAA1BBB,M3.2.0,M1.1.0x",
		"AAA1BBB,M3.2.0/,M1.1.0",
		"AAA1BBB,M00003.2.0,M1.1.0",
		"AAA1BBB,M,M1.1.0",
		"AAA1BBB1:,J1,J2",
	};
	struct err err = {0};
	int got;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
		if (tz_rule_offset(rules[i], 0, &got, &err) == 0)
			fail_msg("accepted: %s", rules[i]);
		assert_string_equal(err.text, "the time zone file ends in a rule that is none");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clock_days_of_known_dates),
		cmocka_unit_test(test_clock_every_day_follows_the_one_before),
		cmocka_unit_test(test_clock_leap_years),
		cmocka_unit_test(test_clock_weekdays_begin_on_monday),
		cmocka_unit_test(test_clock_month_arithmetic_clamps_to_the_last_day),
		cmocka_unit_test(test_clock_day_arithmetic),
		cmocka_unit_test(test_clock_compares_dates),
		cmocka_unit_test(test_clock_reads_dates_and_refuses_others),
		cmocka_unit_test(test_clock_timestamps_read_back),
		cmocka_unit_test(test_clock_refuses_other_timestamps),
		cmocka_unit_test(test_clock_clocks_run),
		cmocka_unit_test(test_clock_today_changes_at_local_midnight),
		cmocka_unit_test(test_clock_offsets_around_both_changes),
		cmocka_unit_test(test_clock_zones_agree_with_the_c_library),
		cmocka_unit_test(test_clock_refuses_names_that_are_no_zone),
		cmocka_unit_test(test_clock_survives_damaged_zone_files),
		cmocka_unit_test(test_clock_rules_of_every_form),
		cmocka_unit_test(test_clock_refuses_rules_that_are_none),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
