/* Suites, their comparison and their reports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cli/eval/compare.h"
#include "cli/eval/csv.h"
#include "cli/eval/measures.h"
#include "cli/eval/report.h"
#include "cli/eval/run.h"

static struct json *parse(const char *text)
{
	struct json *json = NULL;
	struct err err;

	if (json_parse_str(text, &json, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	return json;
}

static void compares(const char *right, const char *got, const struct compare_rules *rules,
		     bool wanted)
{
	CLEANUP(json_freep) struct json *a = parse(right);
	CLEANUP(json_freep) struct json *b = parse(got);

	if (compare_rows(a, b, rules) != wanted)
		fail_msg("%s and %s are %s", right, got, wanted ? "not equal" : "equal");
}

static const struct compare_rules plain = {.tolerance = 1e-6};

static void test_rows_are_a_multiset_unless_an_order_is_asked_for(void **state)
{
	const struct compare_rules ordered = {.ordered = true};

	(void)state;
	compares("[[1],[2],[2]]", "[[2],[1],[2]]", &plain, true);
	compares("[[1],[2],[2]]", "[[2],[1],[1]]", &plain, false);
	compares("[[1],[2]]", "[[2],[1]]", &ordered, false);
	compares("[[1],[2]]", "[[1],[2]]", &ordered, true);
	compares("[[1]]", "[[1],[1]]", &plain, false);
	compares("[[1],[1]]", "[[1]]", &plain, false);
	compares("[]", "[]", &plain, true);
}

static void test_columns_may_stand_in_any_order_and_be_more_only_if_allowed(void **state)
{
	const struct compare_rules extra = {.extra = true};

	(void)state;
	compares("[[\"East\",420]]", "[[420,\"East\"]]", &plain, true);
	compares("[[\"East\",420]]", "[[\"East\",420,7]]", &plain, false);
	compares("[[\"East\",420]]", "[[\"East\",7,420]]", &extra, true);
	compares("[[\"East\",420,7]]", "[[\"East\",420]]", &extra, false);
	compares("[[420,420]]", "[[420,7]]", &extra, false);
}

static void test_values_are_equal_within_the_tolerance_and_their_kind(void **state)
{
	const struct compare_rules cent = {.tolerance = 0.005};

	(void)state;
	compares("[[420.0]]", "[[420]]", &plain, true);
	compares("[[420.004]]", "[[420]]", &cent, true);
	compares("[[420.006]]", "[[420]]", &cent, false);
	compares("[[\"420\"]]", "[[420]]", &plain, false);
	compares("[[null]]", "[[null]]", &plain, true);
	compares("[[null]]", "[[0]]", &plain, false);
	compares("[[\"a\"]]", "[[\"A\"]]", &plain, false);
}

static void test_a_pairing_is_found_where_the_first_fit_fails(void **state)
{
	const struct compare_rules one = {.tolerance = 1};

	(void)state;
	compares("[[1],[2]]", "[[2],[0]]", &one, true); /* 1 fits both, 2 only 2 */
	compares("[[1],[3]]", "[[2],[2]]", &one, true);
	compares("[[1],[3]]", "[[2],[0]]", &one, true);
	compares("[[1],[3]]", "[[0],[0]]", &one, false);
}

/* ---- suites ---- */

static struct json *suite_of(const char *text, const char *ending, char **ret_mistakes)
{
	char path[64];
	struct buf mistakes = BUF_INIT;
	struct json *suite = NULL;
	struct err err;
	int fd;

	snprintf(path, sizeof(path), "/tmp/writ-test-XXXXXX%s", ending);
	fd = mkstemps(path, (int)strlen(ending));
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
	if (suite_read(path, &suite, &mistakes, &err) < 0 && mistakes.len == 0)
		buf_add_str(&mistakes, err.text);
	unlink(path);
	*ret_mistakes = buf_take(&mistakes);
	return suite;
}

static void test_a_suite_is_read_with_its_places(void **state)
{
	CLEANUP(mem_freep) char *mistakes = NULL;
	CLEANUP(json_freep)
	struct json *suite = suite_of("suite: sales\n"
				      "columns: extra\n"
				      "tolerance: \"0.5\"\n"
				      "cases:\n"
				      "  - question: By region?\n"
				      "    rows: [[East, 420], [\"7\", ~]]\n"
				      "  - id: profit\n"
				      "    question: Profit?\n"
				      "    expect: refused\n"
				      "  - question: Count?\n"
				      "    sql: SELECT 1\n"
				      "    ordered: true\n",
				      ".yaml", &mistakes);
	const struct json *cases = json_get(suite, "cases");

	(void)state;
	assert_string_equal(mistakes, "");
	assert_string_equal(json_get_str(suite, "columns"), "extra");
	assert_true(json_real(json_get(suite, "tolerance")) == 0.5);
	assert_int_equal(json_len(cases), 3);
	assert_string_equal(json_get_str(json_at(cases, 0), "id"), "1");
	assert_string_equal(json_get_str(json_at(cases, 0), "expect"), "completed");
	assert_string_equal(json_get_str(json_at(cases, 1), "expect"), "refused");
	assert_true(json_get_bool(json_at(cases, 2), "ordered", false));
	assert_non_null(strstr(json_get_str(json_at(cases, 2), "at"), ":10"));
	{
		CLEANUP(json_freep) struct json *rows = parse("[[\"East\",420.0],[\"7\",null]]");

		assert_true(json_equal(json_get(json_at(cases, 0), "rows"), rows));
	}
}

static void mistaken(const char *text, const char *ending, const char *wanted)
{
	CLEANUP(mem_freep) char *mistakes = NULL;
	CLEANUP(json_freep) struct json *suite = suite_of(text, ending, &mistakes);

	assert_null(suite);
	if (strstr(mistakes, wanted) == NULL)
		fail_msg("wanted %s\ngot %s", wanted, mistakes);
}

static void test_a_case_has_what_is_asked_before_it_and_its_flags(void **state)
{
	CLEANUP(mem_freep) char *mistakes = NULL;
	CLEANUP(json_freep)
	struct json *suite = suite_of("cases:\n"
				      "  - question: and by month?\n"
				      "    after: Net sales?\n"
				      "    flags: []\n"
				      "    rows: [[1]]\n"
				      "  - question: only East\n"
				      "    after: [Net sales?, by region]\n"
				      "    flags: [join.rows_lost]\n"
				      "    rows: [[1]]\n",
				      ".yaml", &mistakes);
	const struct json *cases = json_get(suite, "cases");
	CLEANUP(json_freep) struct json *two = parse("[\"Net sales?\",\"by region\"]");

	(void)state;
	assert_string_equal(mistakes, "");
	assert_string_equal(json_str(json_at(json_get(json_at(cases, 0), "after"), 0)),
			    "Net sales?");
	assert_int_equal(json_len(json_get(json_at(cases, 0), "flags")), 0);
	assert_true(json_equal(json_get(json_at(cases, 1), "after"), two));
	assert_string_equal(json_str(json_at(json_get(json_at(cases, 1), "flags"), 0)),
			    "join.rows_lost");
}

static void test_mistakes_in_suites_are_told(void **state)
{
	(void)state;
	mistaken("cases: []\ncaes: 1\n", ".yaml", ":2:1: no key caes here; did you mean cases?");
	mistaken("suite: a\n", ".yaml", "a suite needs cases, a list");
	mistaken("cases:\n  - rows: [[1]]\n", ".yaml", ":2:5: a case needs question");
	mistaken("cases:\n  - question: a\n", ".yaml",
		 "a case says its rows, its sql, or what it expects");
	mistaken("cases:\n  - {question: a, rows: [[1]], sql: b}\n", ".yaml",
		 "a case has rows or sql, not both");
	mistaken("cases:\n  - {question: a, expect: maybe}\n", ".yaml", "no outcome maybe");
	mistaken("cases:\n  - {question: a, expect: completed}\n", ".yaml",
		 "completed needs the right rows");
	mistaken("cases:\n  - {question: a, rows: [1]}\n", ".yaml", "a row is a list");
	mistaken("cases:\n  - {question: a, rows: 1}\n", ".yaml", "rows is a list of rows");
	mistaken("cases:\n  - {question: a, rows: [[1]], after: {a: b}}\n", ".yaml",
		 "after is a text, or a list of texts");
	mistaken("cases:\n  - {question: a, rows: [[1]], flags: join.types}\n", ".yaml",
		 "flags is a list");
	mistaken("cases:\n  - {question: a, rows: [[1]], after: [[a]]}\n", ".yaml",
		 "a text is wanted here");
	mistaken("columns: some\ncases: []\n", ".yaml", "columns is exact or extra");
	mistaken("tolerance: little\ncases: []\n", ".yaml", "tolerance is a number");
	mistaken("cases:\n  - {id: x, question: a, expect: refused}\n"
		 "  - {id: x, question: b, expect: refused}\n",
		 ".yaml", "the id x stands twice");
	mistaken("question,answer\na,b\n", ".csv", "no heading answer");
	mistaken("question,value\na,\"b\n", ".csv", "line 2: a quote does not end");
	mistaken("question,value\na,\n", ".csv", "a case says its rows");
}

static void test_csv_suites_have_one_value_a_case(void **state)
{
	CLEANUP(mem_freep) char *mistakes = NULL;
	CLEANUP(json_freep)
	struct json *suite = suite_of("question,value,expect\r\n"
				      "\"Net sales, \"\"last\"\" quarter\",850.00,\r\n"
				      "\r\n"
				      "Profit?,,refused\r\n",
				      ".csv", &mistakes);
	const struct json *cases = json_get(suite, "cases");

	(void)state;
	assert_string_equal(mistakes, "");
	assert_int_equal(json_len(cases), 2);
	assert_string_equal(json_get_str(json_at(cases, 0), "question"),
			    "Net sales, \"last\" quarter");
	assert_true(json_real(json_at(json_at(json_get(json_at(cases, 0), "rows"), 0), 0)) ==
		    850.0);
	assert_string_equal(json_get_str(json_at(cases, 1), "expect"), "refused");
}

/* ---- judging ---- */

static void judges(const char *item_text, const char *gold_text, const char *answer_text,
		   enum eval_outcome wanted)
{
	CLEANUP(json_freep)
	struct json *suite = parse("{\"columns\":\"exact\",\"tolerance\":0.001}");
	CLEANUP(json_freep) struct json *item = parse(item_text);
	CLEANUP(json_freep) struct json *gold = parse(gold_text);
	CLEANUP(json_freep) struct json *answer = parse(answer_text);

	assert_int_equal(eval_judge(suite, item, gold, answer), wanted);
}

static void test_an_answer_is_judged_by_outcome_first_and_then_by_rows(void **state)
{
	static const char completed[] = "{\"expect\":\"completed\",\"ordered\":false}";
	static const char refused[] = "{\"expect\":\"refused\"}";

	(void)state;
	judges(completed, "[[1]]", "{\"status\":\"completed\",\"rows\":[[1]]}", EVAL_RIGHT);
	judges(completed, "[[1]]", "{\"status\":\"completed\",\"rows\":[[2]]}", EVAL_WRONG);
	judges(completed, "[[1]]", "{\"status\":\"needs_input\"}", EVAL_ASKED);
	judges(completed, "[[1]]", "{\"status\":\"refused\"}", EVAL_REFUSED);
	judges(completed, "[[1]]", "{\"status\":\"failed\"}", EVAL_OTHER);
	judges(refused, "null", "{\"status\":\"refused\"}", EVAL_RIGHT);
	judges(refused, "null", "{\"status\":\"completed\",\"rows\":[[2]]}", EVAL_WRONG);
	judges(refused, "null", "{\"status\":\"needs_input\"}", EVAL_ASKED);
	judges(refused, "null", "{}", EVAL_OTHER);
}

static void test_of_two_states_the_worse_one_counts(void **state)
{
	static const enum eval_outcome worst_first[] = {EVAL_WRONG, EVAL_OTHER, EVAL_REFUSED,
							EVAL_ASKED, EVAL_RIGHT};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(worst_first); i++)
		for (size_t k = i; k < ARRAY_LEN(worst_first); k++) {
			assert_int_equal(eval_worse(worst_first[i], worst_first[k]),
					 worst_first[i]);
			assert_int_equal(eval_worse(worst_first[k], worst_first[i]),
					 worst_first[i]);
		}
	assert_int_equal(eval_worse(EVAL_EXCLUDED, EVAL_WRONG), EVAL_WRONG);
	assert_int_equal(eval_worse(EVAL_RIGHT, EVAL_EXCLUDED), EVAL_RIGHT);
	assert_int_equal(eval_worse(EVAL_EXCLUDED, EVAL_EXCLUDED), EVAL_EXCLUDED);
}

/* ---- reports ---- */

#define RUN                                                                                        \
	"{\"suite\":\"s<1>\",\"workflow\":\"agent\",\"runs\":1,\"columns\":\"exact\","             \
	"\"tolerance\":0.001,\"counts\":{\"right\":1,\"wrong\":1,\"excluded\":1},\"cases\":["      \
	"{\"id\":\"a\",\"question\":\"A & B?\",\"at\":\"s.yaml:2\",\"expect\":\"completed\","      \
	"\"outcome\":\"right\",\"latency_ms\":10.0,\"tool_calls\":3},"                             \
	"{\"id\":\"b\",\"question\":\"C?\",\"at\":\"s.yaml:5\",\"expect\":\"completed\","          \
	"\"outcome\":\"wrong\",\"right\":[[1]],\"rows\":[[2]],\"latency_ms\":30.0,"                \
	"\"tool_calls\":4},"                                                                       \
	"{\"id\":\"c\",\"question\":\"D?\",\"at\":\"s.yaml:8\",\"expect\":\"completed\","          \
	"\"outcome\":\"excluded\"}]}"

static char *reported(void report(const struct json *run, FILE *out), const struct json *run)
{
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	report(run, out);
	fclose(out);
	return text;
}

static void as_text(const struct json *run, FILE *out)
{
	report_text(run, NULL, out);
}

static void as_html(const struct json *run, FILE *out)
{
	report_html(run, run, out);
}

static void test_reports_show_what_is_not_right_and_the_sums(void **state)
{
	CLEANUP(json_freep) struct json *run = parse(RUN);
	char *text = reported(as_text, run);
	char *junit = reported(report_junit, run);
	char *html = reported(as_html, run);

	(void)state;
	assert_true(report_accuracy(run) == 0.5); /* the excluded one does not count */
	assert_non_null(strstr(text, "s.yaml:5: wrong: C?\n    right [[1]]\n    got   [[2]]\n"));
	assert_null(strstr(text, "s.yaml:2"));
	assert_non_null(strstr(text, "50.0 % right"));
	assert_non_null(strstr(text, "tool calls 7"));
	assert_non_null(strstr(junit, "tests=\"3\" failures=\"1\" skipped=\"1\""));
	assert_non_null(strstr(junit, "A &amp; B?"));
	assert_non_null(strstr(html, "<h1>s&lt;1&gt;</h1>"));
	assert_null(strstr(html, "http"));
	free(text);
	free(junit);
	free(html);
}

static void test_flags_attempts_and_cost_are_measured(void **state)
{
	CLEANUP(json_freep)
	struct json *run =
		parse("{\"suite\":\"s\",\"workflow\":\"agent\",\"counts\":{},\"cases\":["
		      "{\"outcome\":\"right\",\"status\":\"completed\",\"failed_attempts\":0,"
		      "\"wanted_flags\":[\"a\",\"b\"],\"flags\":[\"a\",\"n\",\"x\"],"
		      "\"warnings\":[\"a\",\"x\"],\"cost\":0.25,\"currency\":\"USD\"},"
		      "{\"outcome\":\"right\",\"status\":\"completed\",\"failed_attempts\":1,"
		      "\"wanted_flags\":[],\"flags\":[\"n\"],\"warnings\":[],\"cost\":0.5,"
		      "\"currency\":\"USD\"},"
		      "{\"outcome\":\"other\",\"status\":\"failed\",\"failed_attempts\":2,"
		      "\"flags\":[\"x\"],\"warnings\":[\"x\"]}]}");
	const struct measures measures = measures_of(run);
	char *text = reported(as_text, run);

	(void)state;
	assert_int_equal(measures.labelled, 2);
	assert_int_equal(measures.flags_hit, 1);
	assert_int_equal(measures.flags_given, 2);
	assert_int_equal(measures.flags_wanted, 2);
	assert_int_equal(measures.attempts, 2);
	assert_int_equal(measures.tried[0], 3);
	assert_int_equal(measures.ended_well[0], 1);
	assert_int_equal(measures.tried[1], 2);
	assert_int_equal(measures.ended_well[1], 1);
	assert_non_null(strstr(text, "precision 50.0 % (1 of 2), recall 50.0 % (1 of 2)"));
	assert_non_null(strstr(text, "results by attempt: 1 of 3, then 1 of 2"));
	assert_non_null(strstr(text, "cost 0.750000 USD"));
	free(text);
}

static void test_changes_since_an_earlier_run_are_told(void **state)
{
	CLEANUP(json_freep) struct json *run = parse(RUN);
	CLEANUP(json_freep)
	struct json *before = parse("{\"cases\":[{\"id\":\"a\",\"outcome\":\"refused\"},{\"id\":"
				    "\"b\",\"outcome\":\"right\"}]}");
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	assert_int_equal(report_changes(before, run, out), 1);
	fclose(out);
	assert_string_equal(text, "s.yaml:2: refused -> right: A & B?\n"
				  "s.yaml:5: right -> wrong: C?\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows_are_a_multiset_unless_an_order_is_asked_for),
		cmocka_unit_test(test_columns_may_stand_in_any_order_and_be_more_only_if_allowed),
		cmocka_unit_test(test_values_are_equal_within_the_tolerance_and_their_kind),
		cmocka_unit_test(test_a_pairing_is_found_where_the_first_fit_fails),
		cmocka_unit_test(test_a_suite_is_read_with_its_places),
		cmocka_unit_test(test_a_case_has_what_is_asked_before_it_and_its_flags),
		cmocka_unit_test(test_flags_attempts_and_cost_are_measured),
		cmocka_unit_test(test_mistakes_in_suites_are_told),
		cmocka_unit_test(test_csv_suites_have_one_value_a_case),
		cmocka_unit_test(test_an_answer_is_judged_by_outcome_first_and_then_by_rows),
		cmocka_unit_test(test_of_two_states_the_worse_one_counts),
		cmocka_unit_test(test_reports_show_what_is_not_right_and_the_sums),
		cmocka_unit_test(test_changes_since_an_earlier_run_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
