/* policy/lint.c: rules that change nothing are named, with what stands in their way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "policy/compile.h"
#include "policy/lint.h"
#include "tests/unit/workspace_dir.h"

#define HEAD                                                                                       \
	"writ: 1\nscope: s\nowner: team:s\nagents:\n"                                              \
	"  q: {id: \"urn:q\", role: query, token: 5m}\nrules:\n"
#define RULE(id, effect, users, data)                                                              \
	"  - id: " id "\n    effect: " effect "\n    agents: [q]\n    users: " users               \
	"\n    tools: [run_query]\n    data: " data "\n"
#define DATA(tables) "{database: d, tables: " tables "}"
#define ORDERS DATA("{orders: {columns: [a, b]}}")

static void lint(const char *text, struct problems *problems)
{
	struct workspace_dir dir = workspace_dir_make();
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	CLEANUP(bundle_freep) struct bundle *bundle = NULL;
	CLEANUP(json_freep) struct json *json = NULL;
	struct err err = {0};

	workspace_dir_put(&dir, "scopes/s.yaml", text);
	assert_int_equal(policy_compile(dir.fd, NULL, &bytes, problems, &err), 0);
	problems_print(problems, stderr);
	assert_int_equal(problems->error_count, 0);
	assert_int_equal(bundle_read(bytes.bytes, bytes.len, &bundle, &err), 0);
	assert_int_equal(json_parse(bytes.bytes, bytes.len, bytes.len, &json, &err), 0);
	assert_int_equal(policy_lint(dir.fd, bundle, json, problems, &err), 0);
	problems_sort(problems);
	workspace_dir_remove(&dir);
}

static void finds(const char *text, const char *code, int line, const char *message)
{
	CLEANUP(problems_clear) struct problems problems = PROBLEMS_INIT;

	lint(text, &problems);
	assert_int_equal(problems.count, 1);
	assert_int_equal(problems.error_count, 0);
	assert_string_equal(problems.items[0].code, code);
	assert_int_equal(problems.items[0].line, line);
	assert_string_equal(problems.items[0].message, message);
}

static void finds_nothing(const char *text)
{
	CLEANUP(problems_clear) struct problems problems = PROBLEMS_INIT;

	lint(text, &problems);
	problems_print(&problems, stderr);
	assert_int_equal(problems.count, 0);
}

static void test_rules_that_matter_are_left_alone(void **state)
{
	(void)state;
	finds_nothing(HEAD RULE("one", "allow", "[group:x]", ORDERS)
			      RULE("two", "allow", "[group:y]", ORDERS));
	/* A guard against what nobody grants is no mistake. */
	finds_nothing(HEAD RULE("one", "allow", "everyone", ORDERS)
			      RULE("guard", "deny", "everyone", DATA("{pay: {columns: all}}")));
	finds_nothing(HEAD RULE("one", "allow", "everyone", ORDERS)
			      RULE("guard", "deny", "[group:x]", DATA("all")));
}

static void test_a_rule_that_is_taken_away_whole_is_named_with_who_does_it(void **state)
{
	(void)state;
	finds(HEAD RULE("one", "allow", "everyone", ORDERS)
		      RULE("guard", "deny", "everyone", "all"),
	      "shadowed", 8,
	      "rule one allows nothing: rule guard (scopes/s.yaml:13) takes every such call away");
}

static void test_a_table_that_is_taken_away_is_named(void **state)
{
	(void)state;
	finds(HEAD RULE("one", "allow", "everyone",
			DATA("{orders: {columns: [a]}, pay: {columns: [b]}}"))
		      RULE("guard", "deny", "everyone", DATA("{PAY: {columns: all}}")),
	      "shadowed", 12,
	      "table pay of rule one can never be read: rule guard (scopes/s.yaml:13) takes it "
	      "away");
}

static void test_a_rule_that_others_repeat_is_named(void **state)
{
	(void)state;
	finds(HEAD RULE("small", "allow", "[group:x]", DATA("{orders: {columns: [a]}}"))
		      RULE("large", "allow", "everyone", ORDERS),
	      "redundant", 8,
	      "rule small changes nothing: other rules allow all that it allows, with the same "
	      "limits");
	finds(HEAD RULE("one", "allow", "everyone", ORDERS)
		      RULE("g1", "deny", "[group:x]", DATA("{pay: {columns: [p]}}"))
			      RULE("g2", "deny", "everyone", DATA("{pay: {columns: all}}")),
	      "redundant", 14,
	      "rule g1 changes nothing: rule g2 (scopes/s.yaml:19) takes all of it away already");
}

static void test_of_two_equal_guards_one_is_named(void **state)
{
	(void)state;
	finds(HEAD RULE("one", "allow", "everyone", ORDERS)
		      RULE("g1", "deny", "everyone", DATA("{pay: {columns: all}}"))
			      RULE("g2", "deny", "everyone", DATA("{pay: {columns: all}}")),
	      "redundant", 20,
	      "rule g2 changes nothing: rule g1 (scopes/s.yaml:13) takes all of it away already");
}

static void test_conditions_that_exclude_each_other_are_named(void **state)
{
	(void)state;
	finds(HEAD "  - {id: one, effect: allow, agents: [q], users: [tenant:a], tenants: [b],\n"
		   "     tools: [run_query], data: " ORDERS "}\n",
	      "never_matches", 7,
	      "rule one can never match: no call meets its tenants beside the "
	      "others");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules_that_matter_are_left_alone),
		cmocka_unit_test(test_a_rule_that_is_taken_away_whole_is_named_with_who_does_it),
		cmocka_unit_test(test_a_table_that_is_taken_away_is_named),
		cmocka_unit_test(test_a_rule_that_others_repeat_is_named),
		cmocka_unit_test(test_conditions_that_exclude_each_other_are_named),
		cmocka_unit_test(test_of_two_equal_guards_one_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
