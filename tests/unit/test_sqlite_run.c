/* Results, their types and their limits. */
#include "tests/lib/sqlite_fixture.h"

static int setup(void **state)
{
	struct fixture *fixture = mem_alloc(sizeof(*fixture));

	fixture_open(
		fixture,
		"CREATE TABLE big(id INTEGER PRIMARY KEY, body TEXT);"
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)"
		" INSERT INTO big SELECT i, hex(zeroblob(500)) FROM n;"
		"CREATE TABLE v(x); INSERT INTO v VALUES (1),('a'),(NULL);"
		"CREATE TABLE empty(x);");
	fixture->view = "{\"tables\":{\"big\":\"all\",\"v\":\"all\",\"empty\":\"all\"},"
			"\"functions\":[]}";
	*state = fixture;
	return 0;
}

static int teardown(void **state)
{
	fixture_close(*state);
	mem_free(*state);
	return 0;
}

static struct json *run_within(void **state, const char *sql, int64_t rows, int64_t bytes,
			       int64_t scan_bytes, int64_t time_ms)
{
	CLEANUP(mem_freep)
	char *limits = mem_format("{\"rows\":%lld,\"bytes\":%lld,\"scan_bytes\":%lld,"
				  "\"time_ms\":%lld}",
				  (long long)rows, (long long)bytes, (long long)scan_bytes,
				  (long long)time_ms);

	return fixture_execute(*state, sql, "run", limits);
}

#define PLENTY (1LL << 30)

static void result_is(void **state, const char *sql, const char *types, const char *rows)
{
	struct json *result = fixture_run(*state, sql);

	assert_member(result, "types", types);
	assert_member(result, "rows", rows);
	json_free(result);
}

static void test_every_type_has_its_form(void **state)
{
	result_is(state, "SELECT 1, 1.5, 'x', x'00ff10', NULL",
		  "[\"integer\",\"real\",\"text\",\"blob\",\"null\"]",
		  "[[1,1.5,\"x\",{\"base64\":\"AP8Q\"},null]]");
	result_is(state, "SELECT x'', x'01', x'0102', x'01020304'",
		  "[\"blob\",\"blob\",\"blob\",\"blob\"]",
		  "[[{\"base64\":\"\"},{\"base64\":\"AQ==\"},{\"base64\":\"AQI=\"},"
		  "{\"base64\":\"AQIDBA==\"}]]");
	result_is(state, "SELECT 1e999, -1e999", "[\"text\",\"text\"]",
		  "[[\"Infinity\",\"-Infinity\"]]");
	result_is(state, "SELECT CAST(x'c328' AS TEXT), 'a' || char(0) || 'b'",
		  "[\"blob\",\"blob\"]", "[[{\"base64\":\"wyg=\"},{\"base64\":\"YQBi\"}]]");
}

static void test_integers_json_cannot_hold_are_strings(void **state)
{
	result_is(state, "SELECT 9007199254740991, -9007199254740991", "[\"integer\",\"integer\"]",
		  "[[9007199254740991,-9007199254740991]]");
	result_is(state, "SELECT 9007199254740992", "[\"bigint\"]", "[[\"9007199254740992\"]]");
	result_is(state, "VALUES (1), (-9223372036854775807 - 1)", "[\"bigint\"]",
		  "[[1],[\"-9223372036854775808\"]]");
}

static void test_a_column_of_several_types_is_any(void **state)
{
	result_is(state, "SELECT x FROM v", "[\"any\"]", "[[1],[\"a\"],[null]]");
	result_is(state, "VALUES (NULL), (2), (NULL)", "[\"integer\"]", "[[null],[2],[null]]");
	result_is(state, "VALUES (1), (1.5)", "[\"any\"]", "[[1],[1.5]]");
	result_is(state, "SELECT x FROM empty", "[\"null\"]", "[]");
}

static void test_rows_are_cut_at_the_limit_and_it_is_said(void **state)
{
	static const struct {
		int64_t rows;
		const char *count, *truncated;
	} cases[] = {{2, "2", "true"}, {3, "3", "false"}, {4, "3", "false"}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct json *result =
			run_within(state, "SELECT x FROM v", cases[i].rows, 1000, PLENTY, 5000);

		assert_member(result, "row_count", cases[i].count);
		assert_member(result, "truncated", cases[i].truncated);
		json_free(result);
	}
}

static void test_the_statements_own_limit_is_no_cut(void **state)
{
	struct json *result = run_within(state, "SELECT x FROM v LIMIT 2", 2, 1000, PLENTY, 5000);

	assert_member(result, "truncated", "false");
	json_free(result);
}

static void test_bytes_are_counted_as_json(void **state)
{
	/* [["abc"]]: one row of 7 bytes, and one for what joins it */
	struct json *result = run_within(state, "SELECT 'abc'", 10, 8, PLENTY, 5000);

	assert_member(result, "ok", "true");
	json_free(result);
	assert_refused(run_within(state, "SELECT 'abc'", 10, 7, PLENTY, 5000), "limit",
		       "result over 7 bytes; ask for fewer columns or rows");
	assert_refused(run_within(state, "SELECT a.body, b.body FROM big a, big b LIMIT 900", 1000,
				  1 << 20, PLENTY, 5000),
		       "limit", "result over 1 MiB; ask for fewer columns or rows");
}

static void test_a_result_always_fits_a_channel(void **state)
{
	assert_refused(run_within(state, "SELECT a.body FROM big a, big b LIMIT 9000", 100000,
				  PLENTY, PLENTY, 20000),
		       "limit", "result over 3 MiB; ask for fewer columns or rows");
}

static int64_t scanned(void **state, const char *sql)
{
	struct json *result = fixture_run(*state, sql);
	int64_t bytes = json_get_int(result, "bytes_scanned", -1);

	json_free(result);
	return bytes;
}

static int64_t file_bytes(void **state)
{
	struct fixture *fixture = *state;
	FILE *file = fopen(fixture->path, "rb");
	long len;

	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	len = ftell(file);
	fclose(file);
	return len;
}

static void test_bytes_scanned_stay_true_when_repeated(void **state)
{
	int64_t first = scanned(state, "SELECT sum(length(body)) FROM big");

	/* all of the file but the roots of the two small tables */
	assert_int_equal(first, file_bytes(state) - 2 * 4096);
	assert_int_equal(scanned(state, "SELECT sum(length(body)) FROM big"), first);
	assert_int_equal(scanned(state, "SELECT sum(length(body)) FROM big"), first);
	/* touching a page again is not scanning it again */
	assert_int_equal(scanned(state, "SELECT (SELECT sum(length(body)) FROM big) + "
					"(SELECT max(length(body)) FROM big)"),
			 first);
	assert_int_equal(scanned(state, "SELECT x FROM empty"), 2 * 4096);
	assert_int_equal(scanned(state, "SELECT 1"), 0);
}

static void test_the_scan_limit_stops_a_statement(void **state)
{
	int64_t all = scanned(state, "SELECT sum(length(body)) FROM big");
	struct json *result;

	result = run_within(state, "SELECT sum(length(body)) FROM big", 10, 1000, all, 5000);
	assert_member(result, "ok", "true");
	json_free(result);
	result = run_within(state, "SELECT sum(length(body)) FROM big", 10, 1000, all - 1, 5000);
	assert_int_equal(json_get_int(result, "bytes_scanned", 0), all);
	assert_member(result, "rejected_by", "\"limit\"");
	json_free(result);
	assert_refused(run_within(state, "SELECT sum(length(body)) FROM big", 10, 1000, 8192, 5000),
		       "limit", "the statement reads more than 8192 bytes");
}

static void test_the_deadline_stops_a_statement(void **state)
{
	assert_refused(run_within(state,
				  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
				  "SELECT count(*) FROM n",
				  10, 1000, PLENTY, 20),
		       "limit", "the statement ran longer than its time");
	result_is(state, "SELECT 1", "[\"integer\"]", "[[1]]");
}

static void test_a_cancel_stops_a_statement(void **state)
{
	struct fixture *fixture = *state;
	static const _Atomic uint64_t canceled = 7;

	fixture->session.database.watch.cancel = &canceled;
	fixture->session.database.watch.run = 7;
	assert_refused(run_within(state,
				  "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
				  "SELECT count(*) FROM n",
				  10, 1000, PLENTY, 60000),
		       "canceled", "the call was canceled");
	fixture->session.database.watch.run = 8;
	result_is(state, "SELECT 1", "[\"integer\"]", "[[1]]");
}

static void test_errors_while_running_are_the_databases_own(void **state)
{
	assert_refused(fixture_run(*state, "SELECT abs(-9223372036854775807 - 1)"), "database",
		       "integer overflow");
	assert_refused(fixture_run(*state, "SELECT json_extract('{', '$')"), "database",
		       "malformed JSON");
	assert_refused(fixture_run(*state, "SELECT zeroblob(8388609)"), "database",
		       "string or blob too big");
}

static void test_limits_have_a_strict_shape(void **state)
{
	static const struct {
		const char *limits, *error;
	} cases[] = {
		{"{\"rows\":0,\"bytes\":1,\"scan_bytes\":1,\"time_ms\":1}", "rows"},
		{"{\"rows\":1,\"bytes\":0,\"scan_bytes\":1,\"time_ms\":1}", "bytes"},
		{"{\"rows\":1,\"bytes\":1,\"scan_bytes\":0,\"time_ms\":1}", "scan_bytes"},
		{"{\"rows\":1,\"bytes\":1,\"scan_bytes\":1,\"time_ms\":0}", "time_ms"},
		{"{\"rows\":1,\"bytes\":1,\"scan_bytes\":1}", "time_ms"},
		{"{\"rows\":1,\"bytes\":1,\"scan_bytes\":1,\"time_ms\":1,\"x\":1}", "x"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct json *result = fixture_execute(*state, "SELECT 1", "run", cases[i].limits);

		assert_member(result, "rejected_by", "\"arguments\"");
		assert_non_null(strstr(json_get_str(result, "error"), cases[i].error));
		json_free(result);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(test_every_type_has_its_form),
		T(test_integers_json_cannot_hold_are_strings),
		T(test_a_column_of_several_types_is_any),
		T(test_rows_are_cut_at_the_limit_and_it_is_said),
		T(test_the_statements_own_limit_is_no_cut),
		T(test_bytes_are_counted_as_json),
		T(test_a_result_always_fits_a_channel),
		T(test_bytes_scanned_stay_true_when_repeated),
		T(test_the_scan_limit_stops_a_statement),
		T(test_the_deadline_stops_a_statement),
		T(test_a_cancel_stops_a_statement),
		T(test_errors_while_running_are_the_databases_own),
		T(test_limits_have_a_strict_shape),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
