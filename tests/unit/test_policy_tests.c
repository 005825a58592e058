/* policy/tests_*.c: cases are read, run and reported. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "policy/tests.h"
#include "tests/unit/policy_sample.h"
#include "tests/unit/workspace_dir.h"

struct world {
	struct workspace_dir dir;
	struct bundle *bundle;
	struct policy_tests tests;
	struct problems problems;
};

static void world_clear(struct world *world)
{
	policy_tests_clear(&world->tests);
	problems_clear(&world->problems);
	bundle_free(world->bundle);
	workspace_dir_remove(&world->dir);
}

static void read_cases(const char *text, struct world *world)
{
	struct err err = {0};

	*world = (struct world){.dir = workspace_dir_make()};
	assert_int_equal(bundle_read(SAMPLE_BUNDLE, strlen(SAMPLE_BUNDLE), &world->bundle, &err),
			 0);
	if (text != NULL)
		workspace_dir_put(&world->dir, "scopes/tests/t.yaml", text);
	assert_int_equal(policy_tests_read(world->dir.fd, world->bundle, &world->tests,
					   &world->problems, &err),
			 0);
}

#define HEAD                                                                                       \
	"writ_tests: 1\n"                                                                          \
	"users: {anna: {user: anna, groups: [sales]}}\n"                                           \
	"calls: {read: {tool: run_query, database: sales, columns: [orders.x]}}\n"                 \
	"cases:\n"
#define GIVEN "    given: {agents: [sales-query-01], users: [anna], calls: [read]}\n"

static void one_problem(const char *text, const char *code, int line, const char *message)
{
	CLEANUP(world_clear) struct world world;

	read_cases(text, &world);
	assert_int_equal(world.problems.error_count, 1);
	assert_string_equal(world.problems.items[0].code, code);
	assert_int_equal(world.problems.items[0].line, line);
	assert_string_equal(world.problems.items[0].message, message);
}

static void test_a_case_is_the_product_of_what_is_given(void **state)
{
	CLEANUP(world_clear) struct world world;

	(void)state;
	read_cases(HEAD "  - name: matrix\n"
			"    given:\n"
			"      agents: [sales-query-01, sales-report-01]\n"
			"      users: [anna, {user: bob}]\n"
			"      calls: [read, {tool: list_tables}]\n"
			"    expect: {effect: deny}\n",
		   &world);
	assert_int_equal(world.problems.count, 0);
	assert_int_equal(world.tests.count, 8);
	assert_string_equal(world.tests.cases[0].name, "matrix [sales-query-01, anna, read]");
	assert_string_equal(world.tests.cases[7].name, "matrix [sales-report-01, user 2, call 2]");
	assert_string_equal(world.tests.cases[7].at, "scopes/tests/t.yaml:5");
	assert_string_equal(call_spec_facts(world.tests.cases[7].spec)->subject.user, "bob");
}

static void test_a_workspace_without_tests_has_none(void **state)
{
	CLEANUP(world_clear) struct world world;

	(void)state;
	read_cases(NULL, &world);
	assert_int_equal(world.problems.count, 0);
	assert_int_equal(world.tests.count, 0);
}

static void test_every_mistake_stands_at_its_word(void **state)
{
	(void)state;
	one_problem("writ_tests: 2\ncases: [{name: a, given: {agents: [sales-query-01], users: "
		    "[{user: u}], calls: [{tool: list_tables}]}, expect: {effect: deny}}]\n",
		    "bad_value", 1, "writ_tests is the version of the format: write writ_tests: 1");
	one_problem(HEAD "  - name: a\n" GIVEN "    expct: {effect: deny}\n"
			 "    expect: {effect: deny}\n",
		    "unknown_key", 7, "unknown key of a case \"expct\": did you mean \"expect\"?");
	one_problem(HEAD "  - name: a\n" GIVEN "    expect: {effect: alow}\n", "unknown_word", 7,
		    "unknown effect \"alow\": did you mean \"allow\"?");
	one_problem(HEAD "  - name: a\n" GIVEN "    expect: {effect: deny, rule: never-payrol}\n",
		    "unknown_word", 7,
		    "unknown rule \"never-payrol\": did you mean \"never-payroll\"?");
	one_problem(HEAD "  - name: a\n"
			 "    given: {agents: [sales-qery-01], users: [anna], calls: [read]}\n"
			 "    expect: {effect: deny}\n",
		    "unknown_word", 6,
		    "unknown agent \"sales-qery-01\": did you mean \"sales-query-01\"?");
	one_problem(HEAD "  - name: a\n"
			 "    given: {agents: [sales-query-01], users: [ana], calls: [read]}\n"
			 "    expect: {effect: deny}\n",
		    "unknown_word", 6, "unknown user \"ana\": did you mean \"anna\"?");
	one_problem(HEAD "  - name: a\n"
			 "    given: {agents: [sales-query-01], users: [anna], calls: [{tool: "
			 "run_qery}]}\n"
			 "    expect: {effect: deny}\n",
		    "unknown_word", 6, "unknown tool \"run_qery\": did you mean \"run_query\"?");
	one_problem(HEAD "  - name: a\n"
			 "    given: {agents: [sales-query-01], users: [anna], calls: [{tool: "
			 "run_query, columns: [x]}]}\n"
			 "    expect: {effect: deny}\n",
		    "bad_value", 5, "anna, call 1: columns: \"x\" is not written as table.column");
	one_problem("writ_tests: 1\ncases: []\n", "wrong_type", 2, "cases must name at least one");
	one_problem("cases: &a [x]\n", "yaml", 1, "anchors (&name) are not allowed: write it out");
}

static void run_cases(const char *text, struct world *world, struct tests_result *result)
{
	read_cases(text, world);
	assert_int_equal(world->problems.count, 0);
	policy_tests_run(world->bundle, &world->tests, result);
}

#define FAILING                                                                                    \
	HEAD "  - name: \"right & <good> # one\"\n" GIVEN                                          \
	     "    expect: {effect: allow, rule: read-sales, code: allowed, rows: 500, time: 5s}\n" \
	     "  - name: wrong\n" GIVEN                                                             \
	     "    expect: {effect: deny, rule: none, code: no_rule, rows: 5}\n"

static const char wrong_text[] =
	"wanted deny, got allow; wanted no rule, got rule read-sales; wanted code no_rule, got "
	"allowed; rows: wanted 5, got 500 (allowed by rule read-sales (scopes/sales.yaml:21))";

static void test_a_failing_case_says_all_that_differs(void **state)
{
	CLEANUP(world_clear) struct world world;
	CLEANUP(tests_result_clear) struct tests_result result = {0};

	(void)state;
	run_cases(FAILING, &world, &result);
	assert_int_equal(result.count, 2);
	assert_int_equal(result.failed, 1);
	assert_true(result.cases[0].passed);
	assert_false(result.cases[1].passed);
	assert_string_equal(result.cases[1].wrong, wrong_text);
}

static void test_tap_names_each_case(void **state)
{
	CLEANUP(world_clear) struct world world;
	CLEANUP(tests_result_clear) struct tests_result result = {0};
	CLEANUP(buf_clear) struct buf out = BUF_INIT;
	CLEANUP(mem_freep) char *want = NULL;

	(void)state;
	run_cases(FAILING, &world, &result);
	tests_write_tap(&world.tests, &result, &out);
	want = mem_format("TAP version 14\n1..2\n"
			  "ok 1 - right & <good> \\# one [sales-query-01, anna, read]\n"
			  "not ok 2 - wrong [sales-query-01, anna, read]\n"
			  "  ---\n  message: \"%s\"\n  at: \"scopes/tests/t.yaml:8\"\n  ...\n",
			  wrong_text);
	assert_string_equal(buf_str(&out), want);
}

static void test_junit_escapes_what_xml_would_read(void **state)
{
	CLEANUP(world_clear) struct world world;
	CLEANUP(tests_result_clear) struct tests_result result = {0};
	CLEANUP(buf_clear) struct buf out = BUF_INIT;

	(void)state;
	run_cases(FAILING, &world, &result);
	tests_write_junit(&world.tests, &result, &out);
	assert_non_null(strstr(buf_str(&out), "tests=\"2\" failures=\"1\""));
	assert_non_null(strstr(buf_str(&out), "classname=\"scopes/tests/t.yaml\" name=\"right "
					      "&amp; &lt;good&gt; # one "));
	assert_non_null(strstr(buf_str(&out), "<failure message=\"wanted deny, got allow;"));
}

static void test_coverage_names_the_conditions_that_no_case_shows(void **state)
{
	CLEANUP(world_clear) struct world world;
	CLEANUP(tests_result_clear) struct tests_result result = {0};
	CLEANUP(buf_clear) struct buf out = BUF_INIT;
	CLEANUP(json_freep) struct json *json = NULL;

	(void)state;
	run_cases(HEAD "  - name: reads\n" GIVEN "    expect: {effect: allow}\n"
		       "  - name: no function list\n"
		       "    given: {agents: [sales-query-01], users: [anna], calls: [{tool: "
		       "run_query, database: sales, columns: [orders.x], functions: [lower]}]}\n"
		       "    expect: {effect: deny}\n",
		  &world, &result);
	assert_int_equal(result.failed, 0);
	/* read-sales: applies, and agents, tools, users, database, tables, columns, functions;
	 * never-payroll: applies, and database, touches. Shown: applies, functions, touches. */
	assert_int_equal(result.cover.total, 11);
	assert_int_equal(result.cover.shown, 3);
	assert_int_equal(tests_cover_percent(&result.cover), 27);
	tests_cover_write(&result.cover, &out);
	assert_non_null(strstr(buf_str(&out),
			       "rule read-sales: in no case does this alone fail: users: "
			       "[group:sales, user:user_42]\n"));
	assert_non_null(strstr(buf_str(&out), "scopes/sales.yaml:34: rule never-payroll never "
					      "applies\n"));
	assert_null(strstr(buf_str(&out), "data.functions"));
	json = tests_cover_json(&result.cover);
	assert_int_equal(json_get_int(json, "percent", -1), 27);
	assert_int_equal(json_len(json_get(json, "rules")), 2);
}

static void
test_a_table_that_is_not_granted_is_shown_although_its_column_is_not_either(void **state)
{
	CLEANUP(world_clear) struct world world;
	CLEANUP(tests_result_clear) struct tests_result result = {0};

	(void)state;
	run_cases(HEAD "  - name: another table\n"
		       "    given: {agents: [sales-query-01], users: [anna], calls: [{tool: "
		       "run_query, database: sales, columns: [other.x]}]}\n"
		       "    expect: {effect: deny}\n",
		  &world, &result);
	assert_int_equal(result.cover.shown, 2); /* and that never-payroll does not touch it */
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_case_is_the_product_of_what_is_given),
		cmocka_unit_test(test_a_workspace_without_tests_has_none),
		cmocka_unit_test(test_every_mistake_stands_at_its_word),
		cmocka_unit_test(test_a_failing_case_says_all_that_differs),
		cmocka_unit_test(test_tap_names_each_case),
		cmocka_unit_test(test_coverage_names_the_conditions_that_no_case_shows),
		cmocka_unit_test(
			test_a_table_that_is_not_granted_is_shown_although_its_column_is_not_either),
		cmocka_unit_test(test_junit_escapes_what_xml_would_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
