/* The expression language: what is read, how it is written, what is refused and where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "agents/query/metrics/expression.h"

static void write_column(const struct expr_writer *writer, const struct expr *column,
			 struct buf *out)
{
	(void)writer;
	if (column->dataset) {
		sql_name(column->dataset, out);
		buf_add_char(out, '.');
	}
	sql_name(column->text, out);
}

static void write_condition(const struct expr_writer *writer, struct buf *out)
{
	buf_add_str(out, writer->data);
}

static void check(const char *source, const char *condition, const char *wanted)
{
	struct expr_writer writer = {write_column, condition ? write_condition : NULL, condition};
	struct buf out = BUF_INIT;
	struct expr *expr;
	struct err err;

	if (expr_parse(source, &expr, NULL, &err) < 0)
		fail_msg("%s: %s", source, err.text);
	expr_write(expr, &writer, &out);
	assert_string_equal(buf_str(&out), wanted);
	buf_clear(&out);
	expr_free(expr);
}

static void writes(const char *source, const char *wanted)
{
	check(source, NULL, wanted);
}

static void refuses(const char *source, size_t offset, const char *text)
{
	struct expr *expr = NULL;
	struct err err;
	size_t at = 9999;

	if (expr_parse(source, &expr, &at, &err) == 0)
		fail_msg("accepted: %s", source);
	assert_null(expr);
	assert_string_equal(err.text, text);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_int_equal(at, offset);
}

static void test_names_and_literals_are_quoted_again(void **state)
{
	(void)state;
	writes("region", "\"region\"");
	writes(" orders . status ", "\"orders\".\"status\"");
	writes("\"odd \"\"name\".\"x\"", "\"odd \"\"name\".\"x\"");
	writes("'it''s'", "'it''s'");
	writes("''", "''");
	writes("null", "NULL");
	writes("true", "TRUE");
	writes("12.50", "12.50");
	writes("größe", "\"größe\"");
}

static void test_parentheses_stand_only_where_needed(void **state)
{
	(void)state;
	writes("a * (b + c)", "\"a\" * (\"b\" + \"c\")");
	writes("(a * b) + c", "\"a\" * \"b\" + \"c\"");
	writes("a - (b - c)", "\"a\" - (\"b\" - \"c\")");
	writes("a - b - c", "\"a\" - \"b\" - \"c\"");
	writes("NOT (a = 1 OR b = 2) AND c", "NOT (\"a\" = 1 OR \"b\" = 2) AND \"c\"");
	writes("(a = b) = c", "(\"a\" = \"b\") = \"c\"");
	writes("-(-a)", "-(-\"a\")");
	writes("- - 1", "-(-1)");
	writes("a || b || 'x'", "\"a\" || \"b\" || 'x'");
}

static void test_division_is_never_of_integers(void **state)
{
	(void)state;
	writes("a / b", "1.0 * \"a\" / \"b\"");
	writes("a * b / c", "1.0 * (\"a\" * \"b\") / \"c\"");
	writes("a / b / c", "1.0 * (1.0 * \"a\" / \"b\") / \"c\"");
	writes("x - a / b", "\"x\" - 1.0 * \"a\" / \"b\"");
}

static void test_tests_and_cases(void **state)
{
	(void)state;
	writes("a != 1", "\"a\" <> 1");
	writes("a is not null", "\"a\" IS NOT NULL");
	writes("a IS NULL", "\"a\" IS NULL");
	writes("a not in ('x', 2)", "\"a\" NOT IN ('x', 2)");
	writes("a BETWEEN 1 AND 2 AND b", "\"a\" BETWEEN 1 AND 2 AND \"b\"");
	writes("a NOT BETWEEN 1 AND 2", "\"a\" NOT BETWEEN 1 AND 2");
	writes("a NOT LIKE 'x%'", "\"a\" NOT LIKE 'x%'");
	writes("CASE WHEN a = 1 THEN 'x' WHEN b THEN 'y' ELSE 'z' END",
	       "CASE WHEN \"a\" = 1 THEN 'x' WHEN \"b\" THEN 'y' ELSE 'z' END");
	writes("case a when 1 then 2 end", "CASE \"a\" WHEN 1 THEN 2 END");
}

static void test_aggregates(void **state)
{
	(void)state;
	writes("SUM(o.q * o.p - COALESCE(o.d, 0))",
	       "SUM(\"o\".\"q\" * \"o\".\"p\" - COALESCE(\"o\".\"d\", 0))");
	writes("count(*)", "COUNT(*)");
	writes("COUNT( * ) + 1", "COUNT(*) + 1");
	writes("COUNT(DISTINCT o.id)", "COUNT(DISTINCT \"o\".\"id\")");
	writes("sum(a) / count(distinct b)", "1.0 * SUM(\"a\") / COUNT(DISTINCT \"b\")");
	writes("substring(a, 1, 4)", "SUBSTR(\"a\", 1, 4)");
}

static void test_days_between_dates(void **state)
{
	(void)state;
	writes("DATEDIFF(day, a, b)",
	       "CAST(JULIANDAY(SUBSTR(\"b\", 1, 10)) - JULIANDAY(SUBSTR(\"a\", 1, 10)) AS "
	       "INTEGER)");
	writes("IFNULL(DateDiff('DAY', a, b), 0)",
	       "COALESCE(CAST(JULIANDAY(SUBSTR(\"b\", 1, 10)) - JULIANDAY(SUBSTR(\"a\", 1, 10)) AS "
	       "INTEGER), 0)");
	refuses("DATEDIFF(month, a, b)", 9,
		"datediff counts days: write DATEDIFF(day, start, end)");
	refuses("DATEDIFF(x.day, a, b)", 9,
		"datediff counts days: write DATEDIFF(day, start, end)");
	refuses("DATEDIFF(a, b)", 0, "datediff takes 3 arguments, not 2");
}

static void test_a_condition_goes_into_each_aggregate(void **state)
{
	(void)state;
	check("SUM(a) - COUNT(*)", "c = 1",
	      "SUM(CASE WHEN c = 1 THEN \"a\" END) - COUNT(CASE WHEN c = 1 THEN 1 END)");
	check("COUNT(DISTINCT a)", "c", "COUNT(DISTINCT CASE WHEN c THEN \"a\" END)");
}

static void test_mistakes_say_what_and_where(void **state)
{
	(void)state;
	refuses("", 0, "the expression is empty");
	refuses("  ", 0, "the expression is empty");
	refuses("SUM(a", 5, ") is missing at the end");
	refuses("a +", 3, "a value is missing at the end");
	refuses("a b", 2, "an operator or the end is expected here, not b");
	refuses("smu(a)", 0, "no function smu; did you mean sum?");
	refuses("a + pragma_x(1)", 4,
		"no function pragma_x; there are abs, avg, coalesce, count, datediff, length, "
		"lower, max, median, min, nullif, percentile_cont, percentile_disc, replace, "
		"round, stddev, stddev_pop, substr, sum, trim, upper, var_pop and variance");
	refuses("SUM(COUNT(a))", 4,
		"an aggregate inside an aggregate has no meaning of its own: say per what the "
		"inner one is taken with WRIT \"per\" and \"then\"");
	refuses("SUM(DISTINCT a)", 4,
		"sum(DISTINCT ...) drops equal values that are not the same thing; only COUNT "
		"takes DISTINCT");
	refuses("COUNT()", 0, "count takes 1 argument, not 0");
	refuses("SUM(a, b)", 0, "sum takes 1 argument, not 2");
	refuses("COALESCE(a)", 0, "coalesce takes 2 or more arguments, not 1");
	refuses("SUM(*)", 4, "a value is expected here, not *");
	refuses("a = 'x", 4, "this quote is never closed");
	refuses("\"\"", 0, "a name is empty");
	refuses("1.", 0, "this is no number; write digits, or digits.digits");
	refuses("12abc", 0, "this is no number; write digits, or digits.digits");
	refuses("a; DROP TABLE b", 1, "';' is not part of an expression");
	refuses("a -- b", 2, "comments are not part of an expression");
	refuses("a /* b */", 2, "comments are not part of an expression");
	refuses("(SELECT 1)", 1,
		"SELECT cannot stand here; a column of that name is written in double quotes");
	refuses("a.b.c", 0, "write dataset.field: two parts, not three");
	refuses("a.", 2, "a name is missing at the end");
	refuses("a = b = c", 6, "comparisons do not chain; join them with AND");
	refuses("a NOT 1", 6, "IN, BETWEEN or LIKE is expected here, not 1");
	refuses("CASE a END", 7, "WHEN is expected here, not END");
	refuses("ABS(a) OVER ()", 7, "an operator or the end is expected here, not OVER");
}

static void test_the_condition_of_a_star_needs_its_star_first(void **state)
{
	(void)state;
	refuses("COUNT(DISTINCT *)", 15, "a value is expected here, not *");
	refuses("abs(*)", 4, "a value is expected here, not *");
	refuses("COUNT(* 1)", 8, ") is expected here, not 1");
}

static void test_windows_say_where_nothing_stands(void **state)
{
	(void)state;
	writes("SUM(a) OVER (PARTITION BY b, o.c ORDER BY d)",
	       "SUM(\"a\") OVER (PARTITION BY \"b\", \"o\".\"c\" ORDER BY \"d\" ASC NULLS LAST)");
	writes("rank() over (order by a desc)", "RANK() OVER (ORDER BY \"a\" DESC NULLS FIRST)");
	writes("RANK() OVER (ORDER BY a DESC NULLS LAST, b NULLS FIRST)",
	       "RANK() OVER (ORDER BY \"a\" DESC NULLS LAST, \"b\" ASC NULLS FIRST)");
	writes("SUM(a) OVER (ORDER BY b ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) / 2",
	       "1.0 * SUM(\"a\") OVER (ORDER BY \"b\" ASC NULLS LAST ROWS BETWEEN 2 PRECEDING AND "
	       "CURRENT ROW) / 2");
	writes("COUNT(*) OVER ()", "COUNT(*) OVER ()");
	writes("SUM(a) OVER (ROWS UNBOUNDED PRECEDING)",
	       "SUM(\"a\") OVER (ROWS UNBOUNDED PRECEDING)");
	writes("SUM(SUM(a)) OVER (ORDER BY b)",
	       "SUM(SUM(\"a\")) OVER (ORDER BY \"b\" ASC NULLS LAST)");
}

static void test_mistakes_in_windows(void **state)
{
	(void)state;
	refuses("RANK()", 6, "OVER is missing at the end");
	refuses("SUM(a) OVER (PARTITION b)", 23, "BY is expected here, not b");
	refuses("SUM(a) OVER (ORDER BY b NULLS c)", 30, "FIRST or LAST is expected here, not c");
	refuses("SUM(a) OVER (ORDER BY b ROWS 2 c)", 31,
		"PRECEDING or FOLLOWING is expected here, not c");
	refuses("SUM(a) OVER (ORDER BY b GROUPS 1 PRECEDING)", 24,
		"GROUPS frames are put off (\xc2\xa7"
		"10 of the specification): use ROWS or RANGE");
	refuses("SUM(a) OVER (ORDER BY b ROWS n PRECEDING)", 29,
		"a bound of a frame is a literal integer, UNBOUNDED or CURRENT ROW; a parameter is "
		"put off (\xc2\xa7"
		"10 of the specification)");
	refuses("SUM(a) OVER (ORDER BY b ROWS 1.5 PRECEDING)", 29,
		"a bound of a frame is a literal integer, UNBOUNDED or CURRENT ROW; a parameter is "
		"put off (\xc2\xa7"
		"10 of the specification)");
	refuses("SUM(RANK() OVER (ORDER BY a)) OVER ()", 4,
		"a nested window: only a single window is possible; make the inner one a field (a "
		"derived field) and use that");
}

static void test_refusals_carry_the_codes_of_the_specification(void **state)
{
	static const struct {
		const char *source;
		const char *code;
	} cases[] = {
		{"SUM(COUNT(a))", "E_NESTED_AGGREGATION_DEFERRED"},
		{"SUM(SUM(a) OVER ()) OVER ()", "E_NESTED_WINDOW"},
		{"SUM(a) OVER (ORDER BY b GROUPS 1 PRECEDING)", "E_DEFERRED_FRAME_MODE"},
		{"a +", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct expr *expr;
		struct err err;

		assert_int_equal(expr_parse(cases[i].source, &expr, NULL, &err), -1);
		if (!cases[i].code)
			assert_null(err.code);
		else
			assert_string_equal(err.code, cases[i].code);
	}
}

static void test_a_window_is_no_aggregate(void **state)
{
	static const struct {
		const char *source;
		bool aggregate;
		bool window;
	} cases[] = {
		{"SUM(a)", true, false},
		{"SUM(a) OVER ()", false, true},
		{"SUM(SUM(a)) OVER ()", true, true},
		{"a + RANK() OVER (ORDER BY b)", false, true},
		{"a", false, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct expr *expr;
		struct err err;

		assert_int_equal(expr_parse(cases[i].source, &expr, NULL, &err), 0);
		assert_int_equal(expr_has_aggregate(expr), cases[i].aggregate);
		assert_int_equal(expr_has_window(expr), cases[i].window);
		expr_free(expr);
	}
}

static void test_depth_and_length_have_bounds(void **state)
{
	char source[EXPR_BYTES_MAX + 2];
	struct expr *expr;
	struct err err;

	(void)state;
	memset(source, '(', EXPR_DEPTH_MAX - 1);
	source[EXPR_DEPTH_MAX - 1] = 'a';
	memset(source + EXPR_DEPTH_MAX, ')', EXPR_DEPTH_MAX - 1);
	source[2 * EXPR_DEPTH_MAX - 1] = '\0';
	writes(source, "\"a\"");
	memset(source, '(', EXPR_DEPTH_MAX + 1);
	source[EXPR_DEPTH_MAX + 1] = '\0';
	refuses(source, EXPR_DEPTH_MAX, "nested more than 32 deep");
	memset(source, '-', sizeof(source));
	for (size_t i = 1; i < 80; i += 2)
		source[i] = ' ';
	source[80] = '\0';
	refuses(source, 62, "nested more than 32 deep");
	memset(source, 'a', EXPR_BYTES_MAX);
	source[EXPR_BYTES_MAX] = '\0';
	assert_int_equal(expr_parse(source, &expr, NULL, &err), 0);
	expr_free(expr);
	source[EXPR_BYTES_MAX] = 'a';
	source[EXPR_BYTES_MAX + 1] = '\0';
	refuses(source, 0, "the expression is longer than 4096 bytes");
}

static int count_columns(const struct expr *node, void *data)
{
	int *count = data;

	*count += node->kind == EXPR_COLUMN;
	return *count == 3 ? 7 : 0;
}

static void test_walking_visits_all_and_stops_on_demand(void **state)
{
	struct expr *expr;
	struct err err;
	int count = 0;

	(void)state;
	assert_int_equal(expr_parse("a + SUM(b)", &expr, NULL, &err), 0);
	assert_int_equal(expr_walk(expr, count_columns, &count), 0);
	assert_int_equal(count, 2);
	assert_true(expr_has_aggregate(expr));
	expr_free(expr);
	count = 0;
	assert_int_equal(expr_parse("a + b + c + d", &expr, NULL, &err), 0);
	assert_int_equal(expr_walk(expr, count_columns, &count), 7);
	assert_int_equal(count, 3);
	assert_false(expr_has_aggregate(expr));
	expr_free(expr);
	expr_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_and_literals_are_quoted_again),
		cmocka_unit_test(test_parentheses_stand_only_where_needed),
		cmocka_unit_test(test_division_is_never_of_integers),
		cmocka_unit_test(test_tests_and_cases),
		cmocka_unit_test(test_aggregates),
		cmocka_unit_test(test_days_between_dates),
		cmocka_unit_test(test_a_condition_goes_into_each_aggregate),
		cmocka_unit_test(test_mistakes_say_what_and_where),
		cmocka_unit_test(test_the_condition_of_a_star_needs_its_star_first),
		cmocka_unit_test(test_windows_say_where_nothing_stands),
		cmocka_unit_test(test_mistakes_in_windows),
		cmocka_unit_test(test_refusals_carry_the_codes_of_the_specification),
		cmocka_unit_test(test_a_window_is_no_aggregate),
		cmocka_unit_test(test_depth_and_length_have_bounds),
		cmocka_unit_test(test_walking_visits_all_and_stops_on_demand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
