/* policy/trace.c and condition*.c: what a decision looked at, told by the evaluator itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "policy/policy.h"
#include "tests/unit/policy_sample.h"

#define LIST(...)                                                                                  \
	{                                                                                          \
		(const char *const[]){__VA_ARGS__},                                                \
			sizeof((const char *[]){__VA_ARGS__}) / sizeof(const char *)               \
	}

#define DENY_SALARY                                                                                \
	"{\"agents\":\"all\",\"at\":\"scopes/hr.yaml:9\",\"data\":{\"database\":\"sales\","        \
	"\"functions\":[],\"tables\":{\"people\":[\"salary\"]}},\"effect\":\"deny\",\"id\":"       \
	"\"no-salary\",\"places\":\"10:13 11:12 9:5 12:21 "                                        \
	"12:11\",\"tools\":[\"describe_table\"],\"users\":[\"tenant:emea\"]}"

static struct bundle *bundle_of(const char *rules)
{
	CLEANUP(mem_freep) char *text = mem_format("%s%s%s", SAMPLE_HEAD, rules, SAMPLE_TAIL);
	struct bundle *bundle = NULL;
	struct err err = {0};

	if (bundle_read(text, strlen(text), &bundle, &err) < 0)
		fail_msg("%s", err.text);
	return bundle;
}

static const struct call_facts query = {
	.agent = "sales-query-01",
	.subject = {.user = "alice", .groups = LIST("sales")},
	.tool = "run_query",
	.database = "sales",
	.tables = LIST("customers", "orders"),
	.columns = LIST("customers.email", "orders.total"),
	.functions = LIST("lower"),
};

static void condition_is(const struct rule_trace *rule, size_t at, const char *kind,
			 enum outcome outcome, const char *saw)
{
	assert_true(at < rule->condition_count);
	assert_string_equal(rule->conditions[at].kind, kind);
	assert_int_equal(rule->conditions[at].outcome, outcome);
	assert_string_equal(rule->conditions[at].saw, saw);
}

static void test_every_condition_of_every_rule_is_told_with_what_it_saw(void **state)
{
	CLEANUP(bundle_freep)
	struct bundle *bundle = bundle_of(SAMPLE_READ_SALES "," SAMPLE_NEVER_PAYROLL);
	struct policy_trace trace;
	struct verdict verdict;

	(void)state;
	policy_decide_traced(bundle, &query, &verdict, &trace);
	assert_string_equal(verdict.code, "no_rule");
	assert_int_equal(trace.rule_count, 2);
	assert_string_equal(trace.rules[0].rule, "read-sales");
	assert_string_equal(trace.rules[0].at, "scopes/sales.yaml:21");
	assert_true(trace.rules[0].selected);
	assert_int_equal(trace.rules[0].outcome, OUTCOME_FAILS);
	assert_int_equal(trace.rules[0].condition_count, 7);
	assert_int_equal(trace.rules[0].failed, 5);
	condition_is(&trace.rules[0], 0, "agents", OUTCOME_HOLDS, "sales-query-01");
	condition_is(&trace.rules[0], 1, "tools", OUTCOME_HOLDS, "run_query");
	condition_is(&trace.rules[0], 2, "users", OUTCOME_HOLDS, "user:alice, group:sales");
	condition_is(&trace.rules[0], 3, "data.database", OUTCOME_HOLDS, "sales");
	condition_is(&trace.rules[0], 4, "data.tables", OUTCOME_HOLDS, "customers, orders");
	condition_is(&trace.rules[0], 5, "data.columns", OUTCOME_FAILS, "customers.email");
	condition_is(&trace.rules[0], 6, "data.functions", OUTCOME_FAILS, "lower");
	assert_string_equal(trace.rules[0].conditions[2].want,
			    "users: [group:sales, user:user_42]");
	assert_string_equal(trace.rules[0].conditions[5].want,
			    "data.tables: {customers: [customer_id, region], orders: all}");
	assert_string_equal(trace.rules[0].conditions[5].at, "scopes/sales.yaml:21");
	assert_int_equal(trace.rules[1].effect, EFFECT_DENY);
	assert_int_equal(trace.rules[1].outcome, OUTCOME_FAILS);
	condition_is(&trace.rules[1], 4, "data.touches", OUTCOME_FAILS,
		     "customers, orders; customers.email, orders.total; lower");
	policy_trace_clear(&trace);
	assert_null(trace.rules);
}

static void test_a_rule_of_another_tool_is_told_as_not_selected(void **state)
{
	CLEANUP(bundle_freep)
	struct bundle *bundle = bundle_of(SAMPLE_READ_SALES "," DENY_SALARY);
	struct policy_trace trace;
	struct verdict verdict;

	(void)state;
	policy_decide_traced(bundle, &query, &verdict, &trace);
	assert_false(trace.rules[1].selected);
	assert_int_equal(trace.rules[1].outcome, OUTCOME_FAILS);
	assert_int_equal(trace.rules[1].failed, 1);
	condition_is(&trace.rules[1], 1, "tools", OUTCOME_FAILS, "run_query");
	condition_is(&trace.rules[1], 2, "users", OUTCOME_FAILS, "user:alice, group:sales");
	assert_string_equal(trace.rules[1].conditions[0].at, "scopes/hr.yaml:10:13");
	assert_string_equal(trace.rules[1].conditions[2].at, "scopes/hr.yaml:9:5");
	assert_string_equal(trace.rules[1].conditions[3].at, "scopes/hr.yaml:12:21");
	assert_string_equal(trace.rules[1].conditions[4].at, "scopes/hr.yaml:12:11");
	policy_trace_clear(&trace);
}

static void test_a_rule_that_decides_holds_in_all_its_conditions(void **state)
{
	CLEANUP(bundle_freep)
	struct bundle *bundle = bundle_of(SAMPLE_READ_SALES "," SAMPLE_NEVER_PAYROLL);
	struct call_facts facts = query;
	struct policy_trace trace;
	struct verdict verdict;

	(void)state;
	facts.tables = (struct names)LIST("PAYROLL");
	facts.columns = (struct names)LIST("PAYROLL.");
	facts.functions = (struct names){0};
	policy_decide_traced(bundle, &facts, &verdict, &trace);
	assert_string_equal(verdict.rule, "never-payroll");
	assert_int_equal(trace.rules[1].outcome, OUTCOME_HOLDS);
	assert_int_equal(trace.rules[1].failed, trace.rules[1].condition_count);
	condition_is(&trace.rules[1], 4, "data.touches", OUTCOME_HOLDS, "PAYROLL; PAYROLL.");
	policy_trace_clear(&trace);
	facts.database = NULL;
	facts.tables = facts.columns = (struct names){0};
	policy_decide_traced(bundle, &facts, &verdict, &trace);
	assert_string_equal(verdict.rule, "read-sales");
	condition_is(&trace.rules[0], 3, "data.database", OUTCOME_HOLDS, "no database");
	condition_is(&trace.rules[0], 4, "data.tables", OUTCOME_HOLDS, "no table");
	condition_is(&trace.rules[1], 3, "data.database", OUTCOME_FAILS, "no database");
	policy_trace_clear(&trace);
}

static void test_a_rule_whose_file_is_unknown_keeps_its_words(void **state)
{
	CLEANUP(bundle_freep)
	struct bundle *bundle = bundle_of(
		"{\"agents\":\"all\",\"at\":\"somewhere\",\"data\":\"all\",\"effect\":\"deny\","
		"\"id\":"
		"\"x\",\"places\":\"1:1 2:2 3:3\",\"tools\":\"all\",\"users\":\"everyone\"}");
	struct policy_trace trace;
	struct verdict verdict;

	(void)state;
	policy_decide_traced(bundle, &query, &verdict, &trace);
	assert_string_equal(trace.rules[0].conditions[0].at, "somewhere");
	policy_trace_clear(&trace);
}

static void test_a_long_list_is_cut_where_it_is_shown(void **state)
{
	CLEANUP(bundle_freep) struct bundle *bundle = bundle_of(SAMPLE_READ_SALES);
	struct call_facts facts = query;
	struct policy_trace trace;
	struct verdict verdict;

	(void)state;
	facts.subject.tenant = "emea";
	facts.subject.groups =
		(struct names)LIST("a", "b", "c", "d", "e", "f", "g", "h", "i", "sales");
	facts.functions =
		(struct names)LIST("sum", "sum", "sum", "sum", "sum", "sum", "sum", "sum", "count");
	policy_decide_traced(bundle, &facts, &verdict, &trace);
	condition_is(&trace.rules[0], 2, "users", OUTCOME_HOLDS,
		     "user:alice, group:a, group:b, group:c, group:d, group:e, group:f, group:g, "
		     "group:h and 2 more groups, tenant:emea");
	condition_is(&trace.rules[0], 6, "data.functions", OUTCOME_HOLDS,
		     "sum, sum, sum, sum, sum, sum, sum, sum and 1 more");
	policy_trace_clear(&trace);
}

static void test_malformed_facts_have_no_rules_and_an_unknown_agent_selects_none(void **state)
{
	CLEANUP(bundle_freep) struct bundle *bundle = bundle_of(SAMPLE_NEVER_PAYROLL);
	struct call_facts facts = query;
	struct policy_trace trace;
	struct verdict verdict;

	(void)state;
	facts.agent = "nobody";
	policy_decide_traced(bundle, &facts, &verdict, &trace);
	assert_string_equal(verdict.code, "unknown_agent");
	assert_int_equal(trace.rule_count, 1);
	assert_false(trace.rules[0].selected);
	condition_is(&trace.rules[0], 0, "agents", OUTCOME_HOLDS, "nobody");
	policy_trace_clear(&trace);
	facts.tool = NULL;
	policy_decide_traced(bundle, &facts, &verdict, &trace);
	assert_string_equal(verdict.code, "malformed");
	assert_int_equal(trace.rule_count, 0);
	policy_trace_clear(&trace);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_condition_of_every_rule_is_told_with_what_it_saw),
		cmocka_unit_test(test_a_rule_of_another_tool_is_told_as_not_selected),
		cmocka_unit_test(test_a_rule_that_decides_holds_in_all_its_conditions),
		cmocka_unit_test(test_a_rule_whose_file_is_unknown_keeps_its_words),
		cmocka_unit_test(test_a_long_list_is_cut_where_it_is_shown),
		cmocka_unit_test(
			test_malformed_facts_have_no_rules_and_an_unknown_agent_selects_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
