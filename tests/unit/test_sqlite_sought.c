/*
 * Estimates of what a statement reads against what it then reads: never below, and not far above
 * where rows or a range of an index are sought once.
 */
#include "tests/lib/sqlite_fixture.h"

/* 3000 orders of ten months, three lines each; pages of 1 KiB make differences show. */
#define TRADE_SQL                                                                                  \
	"PRAGMA page_size = 1024;"                                                                 \
	"CREATE TABLE orders(id INTEGER PRIMARY KEY, day TEXT, region TEXT, note TEXT);"           \
	"CREATE TABLE lines(id INTEGER PRIMARY KEY, order_id INTEGER, cents INTEGER, note TEXT);"  \
	"WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 2999)"           \
	" INSERT INTO orders SELECT i, date('2026-01-01', (i * 7 % 300) || ' days'),"              \
	" substr('ABCD', i % 4 + 1, 1), hex(zeroblob(40)) FROM n;"                                 \
	"WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 8999)"           \
	" INSERT INTO lines SELECT i, i % 3000, i, hex(zeroblob(40)) FROM n;"                      \
	"CREATE INDEX by_day ON orders(day);"                                                      \
	"CREATE INDEX by_region_day ON orders(region, day);"                                       \
	"CREATE INDEX by_order ON lines(order_id);"                                                \
	"CREATE UNIQUE INDEX by_cents ON lines(cents);"                                            \
	"CREATE INDEX downwards ON lines(note DESC, cents);"

#define ALL                                                                                        \
	"{\"tables\":{\"orders\":\"all\",\"lines\":\"all\"},\"functions\":[\"count\",\"sum\","     \
	"\"max\",\"length\",\"min\"]}"

static struct fixture fixture;

static int setup(void **state)
{
	fixture_open(&fixture, TRADE_SQL);
	fixture.view = ALL;
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	fixture_close(*state);
	return 0;
}

static int64_t estimated(const char *sql)
{
	struct json *result = fixture_execute(&fixture, sql, "explain", LIMITS);
	int64_t bytes = json_get_int(result, "bytes_estimated", -1);

	if (!json_get_bool(result, "ok", false))
		fail_msg("%s: %s", sql, json_get_str(result, "error"));
	json_free(result);
	return bytes;
}

/* On a fresh connection, so that nothing is in its cache. */
static int64_t scanned(const char *sql)
{
	struct json *result;
	int64_t bytes;

	session_clear(&fixture.session);
	session_init(&fixture.session, fixture.path);
	result = fixture_run(&fixture, sql);
	bytes = json_get_int(result, "bytes_scanned", -1);
	json_free(result);
	return bytes;
}

static void assert_estimate(const char *sql, double factor_max)
{
	int64_t guess = estimated(sql), real = scanned(sql);

	if (guess < real || (double)guess > factor_max * (double)real)
		fail_msg("%s\nestimated %lld, read %lld: %.2f times", sql, (long long)guess,
			 (long long)real, (double)guess / (double)real);
}

static void scans_are_exact(void **state)
{
	(void)state;
	assert_estimate("SELECT SUM(length(note)) FROM orders", 1.0);
	assert_estimate("SELECT COUNT(*) FROM lines WHERE length(note) = 3", 1.01);
}

static void one_row_is_a_few_pages(void **state)
{
	(void)state;
	assert_estimate("SELECT note FROM orders WHERE id = 77", 3);
	assert_estimate("SELECT note FROM lines WHERE cents = 77", 3);
	assert_estimate("SELECT o.note FROM orders o WHERE o.id = 5 AND o.day > ''", 3);
}

static void a_range_of_an_index_is_rows_times_pages(void **state)
{
	(void)state;
	/* a day, a month, and an end that is open */
	assert_estimate("SELECT SUM(length(note)) FROM orders WHERE day = '2026-03-05'", 2);
	assert_estimate("SELECT SUM(length(note)) FROM orders WHERE day >= '2026-03-01' AND day < "
			"'2026-03-04'",
			2.5);
	assert_estimate("SELECT SUM(length(note)) FROM orders WHERE day > '2026-10-25'", 2.5);
	assert_estimate("SELECT note FROM orders WHERE day <= '2026-01-03' ORDER BY day DESC", 2.5);
	assert_estimate("SELECT COUNT(*) FROM orders WHERE day BETWEEN '2026-03-01' AND "
			"'2026-03-31'",
			2.5); /* the index alone */
}

static void equal_columns_before_a_range_count(void **state)
{
	(void)state;
	assert_estimate("SELECT SUM(length(note)) FROM orders WHERE region = 'B' AND day >= "
			"'2026-03-01' AND day < '2026-03-08'",
			2.5);
	assert_estimate("SELECT SUM(length(note)) FROM orders WHERE region = 'B' AND day < "
			"'2026-01-08'",
			2.5);
}

/* What is sought per row of another table is bounded by the whole table, as before. */
static void look_ups_in_a_loop_stay_an_upper_bound(void **state)
{
	static const char *const all[] = {
		"SELECT SUM(l.cents) FROM orders o JOIN lines l ON l.order_id = o.id WHERE o.day "
		">= "
		"'2026-03-01' AND o.day < '2026-03-08'",
		"SELECT COUNT(*) FROM orders WHERE day IN ('2026-03-01', '2026-04-01')",
		"SELECT COUNT(*) FROM orders WHERE day = '2026-03-01' OR region = 'A'",
		"SELECT MAX(day) FROM orders",
		"SELECT note FROM lines WHERE note > 'x'",
		"SELECT (SELECT SUM(l.cents) FROM lines l WHERE l.order_id = o.id) FROM orders o "
		"WHERE o.day = '2026-03-01'",
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50) "
		"SELECT "
		"COUNT(*) FROM n JOIN lines l ON l.order_id = n.i",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		int64_t guess = estimated(all[i]), real = scanned(all[i]);

		if (guess < real)
			fail_msg("%s\nestimated %lld, read %lld", all[i], (long long)guess,
				 (long long)real);
	}
}

static void a_value_that_is_not_there_is_cheap(void **state)
{
	(void)state;
	assert_true(estimated("SELECT note FROM orders WHERE day = '1999-01-01'") <= 16 * 1024);
	assert_true(estimated("SELECT note FROM orders WHERE day >= '2027-01-01'") <= 16 * 1024);
}

/* Where rows are hidden, the number of rows in a range is not for the asker. */
static void hidden_rows_are_not_counted(void **state)
{
	static const char here[] = "SELECT COUNT(*) FROM orders WHERE day = '2026-03-05'";
	static const char nowhere[] = "SELECT COUNT(*) FROM orders WHERE day = '1999-01-01'";

	(void)state;
	fixture.view =
		"{\"tables\":{\"orders\":\"all\",\"lines\":\"all\"},\"functions\":[\"count\"],"
		"\"rows\":{\"orders\":[{\"column\":\"region\",\"constraint_type\":\"exact\","
		"\"value\":\"A\"}]}}";
	assert_int_equal(estimated(here), estimated(nowhere));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
		T(scans_are_exact),
		T(one_row_is_a_few_pages),
		T(a_range_of_an_index_is_rows_times_pages),
		T(equal_columns_before_a_range_count),
		T(look_ups_in_a_loop_stay_an_upper_bound),
		T(a_value_that_is_not_there_is_cheap),
		T(hidden_rows_are_not_counted),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
