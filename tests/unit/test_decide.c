/* policy/decide.c, facts.c, scope.c, view.c, grant.c on bundles written by hand.
 * test_decide_random.c compares the same code with a second, deliberately naive evaluator. */
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

/* Rules in short form; the sample's agents and functions around them. */
static struct bundle *bundle_of(const char *rules)
{
	CLEANUP(mem_freep) char *text = mem_format("%s%s%s", SAMPLE_HEAD, rules, SAMPLE_TAIL);
	struct bundle *bundle = NULL;
	struct err err = {0};

	if (bundle_read(text, strlen(text), &bundle, &err) < 0)
		fail_msg("%s", err.text);
	return bundle;
}

static char *rule(const char *id, const char *effect, const char *users, const char *data)
{
	bool allow = strcmp(effect, "allow") == 0;

	return mem_format("{\"agents\":\"all\",\"at\":\"scopes/x.yaml:%s\",\"data\":%s,\"effect\":"
			  "\"%s\",\"id\":\"%s\",%s%s\"tools\":\"all\",\"users\":%s}",
			  id, data, effect, id, allow ? SAMPLE_LIMITS : "", allow ? "," : "",
			  users);
}

static struct bundle *bundle_of_two(char *first, char *second)
{
	CLEANUP(mem_freep) char *one = first;
	CLEANUP(mem_freep) char *two = second;
	CLEANUP(mem_freep) char *rules = two == NULL ? mem_str(one) : mem_format("%s,%s", one, two);

	return bundle_of(rules);
}

static const struct call_facts orders_query = {
	.agent = "sales-query-01",
	.subject = {.user = "alice", .groups = LIST("sales")},
	.tool = "run_query",
	.database = "sales",
	.tables = LIST("orders"),
	.columns = LIST("orders.status"),
};

static struct verdict decide(const struct bundle *bundle, const struct call_facts *facts)
{
	struct verdict verdict;

	memset(&verdict, 0xA5, sizeof(verdict));
	policy_decide(bundle, facts, &verdict);
	assert_true(verdict.reason[0] != '\0');
	assert_non_null(verdict.code);
	return verdict;
}

static void denies(const struct bundle *bundle, const struct call_facts *facts, const char *code,
		   const char *reason)
{
	struct verdict verdict = decide(bundle, facts);

	assert_int_equal(verdict.effect, EFFECT_DENY);
	assert_string_equal(verdict.code, code);
	assert_string_equal(verdict.reason, reason);
	if (strcmp(code, "rule_denies") != 0) {
		assert_null(verdict.rule);
		assert_null(verdict.at);
	}
}

static void allows(const struct bundle *bundle, const struct call_facts *facts)
{
	struct verdict verdict = decide(bundle, facts);

	if (verdict.effect != EFFECT_ALLOW)
		fail_msg("%s: %s", verdict.code, verdict.reason);
	assert_string_equal(verdict.code, "allowed");
	assert_non_null(verdict.rule);
}

static void test_decide_allows_what_one_rule_covers(void **state)
{
	CLEANUP(bundle_freep) struct bundle *bundle = bundle_of(SAMPLE_READ_SALES);
	struct call_facts facts = orders_query;
	struct verdict verdict = decide(bundle, &facts);

	(void)state;
	assert_int_equal(verdict.effect, EFFECT_ALLOW);
	assert_string_equal(verdict.rule, "read-sales");
	assert_string_equal(verdict.at, "scopes/sales.yaml:21");
	assert_string_equal(verdict.code, "allowed");
	assert_string_equal(verdict.reason, "allowed by rule read-sales (scopes/sales.yaml:21)");
	assert_int_equal(verdict.limits.rows, 500);
	assert_int_equal(verdict.limits.bytes, 1048576);
	assert_int_equal(verdict.limits.scan_bytes, 67108864);
	assert_int_equal(verdict.limits.time_ms, 5000);
	facts.functions = (struct names)LIST("count", "sum");
	facts.tables = (struct names)LIST("customers", "orders");
	facts.columns = (struct names)LIST("customers.region", "orders.x", "customers.");
	allows(bundle, &facts);
	facts.database = NULL; /* a tool that touches nothing */
	facts.tables = facts.columns = facts.functions = (struct names){0};
	allows(bundle, &facts);
}

static void test_decide_denies_each_part_that_no_rule_grants(void **state)
{
	CLEANUP(bundle_freep) struct bundle *bundle = bundle_of(SAMPLE_READ_SALES);
	struct call_facts facts = orders_query;

	(void)state;
	facts.tables = (struct names)LIST("orders", "payroll");
	denies(bundle, &facts, "no_rule",
	       "no rule allows this; nearest: read-sales (scopes/sales.yaml:21) does not grant "
	       "table payroll");
	facts.tables = (struct names)LIST("orders", "customers");
	facts.columns = (struct names)LIST("orders.status", "customers.name");
	denies(bundle, &facts, "no_rule",
	       "no rule allows this; nearest: read-sales (scopes/sales.yaml:21) does not grant "
	       "column customers.name");
	facts = orders_query;
	facts.functions = (struct names)LIST("sum", "lower");
	denies(bundle, &facts, "no_rule",
	       "no rule allows this; nearest: read-sales (scopes/sales.yaml:21) does not grant "
	       "function lower");
	facts = orders_query;
	facts.database = "hr";
	denies(bundle, &facts, "no_rule",
	       "no rule allows this; nearest: read-sales (scopes/sales.yaml:21) does not grant "
	       "database hr");
	facts = orders_query;
	facts.subject.groups = (struct names)LIST("hr");
	denies(bundle, &facts, "no_rule",
	       "no rule allows this; nearest: read-sales (scopes/sales.yaml:21) is not for this "
	       "user");
	facts = orders_query;
	facts.tool = "explain_query";
	denies(bundle, &facts, "no_rule", "no rule lets agent sales-query-01 use explain_query");
	facts = orders_query;
	facts.agent = "sales-report-01";
	denies(bundle, &facts, "no_rule", "no rule lets agent sales-report-01 use run_query");
}

static void test_decide_denies_an_unknown_agent(void **state)
{
	CLEANUP(bundle_freep)
	struct bundle *bundle = bundle_of_two(rule("1", "allow", "\"everyone\"", "\"none\""), NULL);
	struct call_facts facts = {
		.agent = "sales-query-02", .subject = {.user = "alice"}, .tool = "list_metrics"};

	(void)state;
	denies(bundle, &facts, "unknown_agent", "no scope file defines agent sales-query-02");
	facts.agent = "SALES-QUERY-01";
	denies(bundle, &facts, "unknown_agent", "no scope file defines agent SALES-QUERY-01");
	facts.agent = "";
	denies(bundle, &facts, "unknown_agent", "no scope file defines agent ");
	facts.agent = "sales-query-01";
	allows(bundle, &facts);
}

static void test_decide_none_grants_only_calls_without_data(void **state)
{
	CLEANUP(bundle_freep)
	struct bundle *bundle = bundle_of_two(rule("1", "allow", "\"everyone\"", "\"none\""), NULL);
	struct call_facts facts = orders_query;

	(void)state;
	denies(bundle, &facts, "no_rule",
	       "no rule allows this; nearest: 1 (scopes/x.yaml:1) does not grant database sales");
	facts.tables = facts.columns = (struct names){0};
	denies(bundle, &facts, "no_rule",
	       "no rule allows this; nearest: 1 (scopes/x.yaml:1) does not grant database sales");
}

static void malformed(const struct bundle *bundle, struct call_facts facts)
{
	denies(bundle, &facts, "malformed", "the description of the call is malformed");
}

static void test_decide_denies_malformed_facts(void **state)
{
	CLEANUP(bundle_freep) struct bundle *bundle = bundle_of(SAMPLE_READ_SALES);
	const struct names bad[] = {{NULL, 1}, LIST(NULL), LIST(""), LIST("orders", NULL)};
	struct call_facts facts;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		facts = orders_query;
		facts.tables = bad[i];
		malformed(bundle, facts);
		facts = orders_query;
		facts.columns = bad[i];
		malformed(bundle, facts);
		facts = orders_query;
		facts.functions = bad[i];
		malformed(bundle, facts);
		facts = orders_query;
		facts.subject.groups = bad[i];
		malformed(bundle, facts);
	}
	facts = orders_query;
	facts.agent = NULL;
	malformed(bundle, facts);
	facts = orders_query;
	facts.tool = NULL;
	malformed(bundle, facts);
	facts.tool = "";
	malformed(bundle, facts);
	facts = orders_query;
	facts.subject.user = NULL;
	malformed(bundle, facts);
	facts.subject.user = "";
	malformed(bundle, facts);
	facts = orders_query;
	facts.database = "";
	malformed(bundle, facts);
}

static void test_decide_denies_data_without_its_place(void **state)
{
	static const char *const columns[] = {"status",	   ".status",	     "orders.a.b",
					      "payroll.x", "orders .status", "Orders.status",
					      "order.x",   "orderss.x"};
	CLEANUP(bundle_freep) struct bundle *bundle = bundle_of(SAMPLE_READ_SALES);
	struct call_facts facts;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
		facts = orders_query;
		facts.columns = (struct names){&columns[i], 1};
		malformed(bundle, facts);
	}
	facts = orders_query;
	facts.database = NULL;
	malformed(bundle, facts);
	facts.tables = (struct names){0};
	malformed(bundle, facts);
	facts.columns = (struct names){0};
	facts.functions = (struct names)LIST("sum");
	malformed(bundle, facts);
	facts.functions = (struct names){0};
	allows(bundle, &facts);
}

static void with_many(const struct bundle *bundle, size_t count, bool sound)
{
	CLEANUP(mem_freep) const char **tables = mem_array(count, sizeof(*tables));
	CLEANUP(mem_freep) const char **columns = mem_array(count, sizeof(*columns));
	CLEANUP(mem_freep) const char **functions = mem_array(count, sizeof(*functions));
	struct call_facts facts = orders_query;

	for (size_t i = 0; i < count; i++) {
		tables[i] = "orders";
		columns[i] = "orders.status";
		functions[i] = "sum";
	}
	facts.tables = (struct names){tables, count};
	facts.columns = (struct names){columns, sound ? count : 1};
	facts.functions = (struct names){functions, sound ? count : 1};
	if (sound)
		allows(bundle, &facts);
	else
		malformed(bundle, facts);
}

static void test_decide_bounds_the_names_of_a_call(void **state)
{
	CLEANUP(bundle_freep) struct bundle *bundle = bundle_of(SAMPLE_READ_SALES);
	const char *groups[257];
	struct call_facts facts = orders_query;

	(void)state;
	with_many(bundle, 63, true);
	with_many(bundle, 64, true); /* the last that need no heap */
	with_many(bundle, 65, true);
	with_many(bundle, FACT_NAMES_MAX - 1, true);
	with_many(bundle, FACT_NAMES_MAX, true);
	with_many(bundle, FACT_NAMES_MAX + 1, false);
	for (size_t i = 0; i < ARRAY_LEN(groups); i++)
		groups[i] = "sales";
	facts.subject.groups = (struct names){groups, 256};
	allows(bundle, &facts);
	facts.subject.groups = (struct names){groups, 257};
	malformed(bundle, facts);
}

static void test_decide_two_allow_rules_never_combine(void **state)
{
	CLEANUP(bundle_freep)
	struct bundle *bundle = bundle_of_two(
		rule("1", "allow", "\"everyone\"",
		     "{\"database\":\"sales\",\"functions\":[\"few\"],\"tables\":{\"a\":[\"x\"]}}"),
		rule("2", "allow", "\"everyone\"",
		     "{\"database\":\"sales\",\"functions\":[\"text\"],"
		     "\"tables\":{\"a\":[\"y\"],\"b\":\"all\"}}"));
	struct call_facts facts = orders_query;

	(void)state;
	facts.tables = (struct names)LIST("a");
	facts.columns = (struct names)LIST("a.x");
	allows(bundle, &facts);
	facts.columns = (struct names)LIST("a.y");
	allows(bundle, &facts);
	facts.columns = (struct names)LIST("a.x", "a.y");
	denies(bundle, &facts, "no_rule",
	       "no rule allows this; nearest: 1 (scopes/x.yaml:1) does not grant column a.y");
	facts.columns = (struct names)LIST("a.x");
	facts.tables = (struct names)LIST("a", "b");
	denies(bundle, &facts, "no_rule",
	       "no rule allows this; nearest: 2 (scopes/x.yaml:2) does not grant column a.x");
	facts.tables = (struct names)LIST("a");
	facts.functions = (struct names)LIST("lower");
	denies(bundle, &facts, "no_rule",
	       "no rule allows this; nearest: 1 (scopes/x.yaml:1) does not grant function lower");
}

#define ALL_OF_ORDERS                                                                              \
	"{\"database\":\"sales\",\"functions\":[\"few\"],\"tables\":{\"orders\":\"all\"}}"

static void test_decide_deny_beats_ask_beats_allow_in_any_order(void **state)
{
	CLEANUP(bundle_freep)
	struct bundle *ask_first = bundle_of_two(rule("1", "ask", "\"everyone\"", "\"all\""),
						 rule("2", "allow", "\"everyone\"", ALL_OF_ORDERS));
	CLEANUP(bundle_freep)
	struct bundle *deny_last = bundle_of_two(rule("1", "ask", "\"everyone\"", "\"all\""),
						 rule("2", "deny", "\"everyone\"", ALL_OF_ORDERS));
	struct verdict verdict = decide(ask_first, &orders_query);

	(void)state;
	assert_int_equal(verdict.effect, EFFECT_ASK);
	assert_string_equal(verdict.code, "rule_asks");
	assert_string_equal(verdict.rule, "1");
	assert_string_equal(verdict.reason, "approval wanted by rule 1 (scopes/x.yaml:1)");
	assert_int_equal(verdict.limits.rows, 0);
	verdict = decide(deny_last, &orders_query);
	assert_int_equal(verdict.effect, EFFECT_DENY);
	assert_string_equal(verdict.code, "rule_denies");
	assert_string_equal(verdict.rule, "2");
	assert_string_equal(verdict.at, "scopes/x.yaml:2");
	assert_string_equal(verdict.reason, "denied by rule 2 (scopes/x.yaml:2)");
}

static void test_decide_ask_alone_allows_nothing_without_approval(void **state)
{
	CLEANUP(bundle_freep)
	struct bundle *bundle = bundle_of_two(rule("1", "ask", "[\"user:bob\"]", "\"all\""), NULL);
	struct call_facts facts = orders_query;

	(void)state;
	denies(bundle, &facts, "no_rule", "no rule lets agent sales-query-01 use run_query");
	facts.subject.user = "bob";
	assert_int_equal(decide(bundle, &facts).effect, EFFECT_ASK);
}

static void payroll_denied(const struct bundle *bundle, struct names tables, struct names columns,
			   bool denied)
{
	struct call_facts facts = orders_query;
	struct verdict verdict;

	facts.tables = tables;
	facts.columns = columns;
	verdict = decide(bundle, &facts);
	assert_int_equal(verdict.effect, EFFECT_DENY); /* payroll is granted by nobody */
	assert_string_equal(verdict.code, denied ? "rule_denies" : "no_rule");
}

static void test_decide_deny_matches_any_touch_of_a_whole_table(void **state)
{
	CLEANUP(bundle_freep)
	struct bundle *bundle = bundle_of(SAMPLE_READ_SALES "," SAMPLE_NEVER_PAYROLL);
	const struct names one = LIST("payroll");
	const struct names two = LIST("orders", "payroll");

	(void)state;
	payroll_denied(bundle, one, (struct names)LIST("payroll."), true); /* COUNT(*) */
	payroll_denied(bundle, one, (struct names)LIST("payroll.salary_cents"), true);
	payroll_denied(bundle, one, (struct names){0}, true);
	payroll_denied(bundle, two, (struct names)LIST("orders.status", "payroll."), true);
	payroll_denied(bundle, (struct names)LIST("PayRoll"), (struct names){0}, true);
	payroll_denied(bundle, (struct names)LIST("payrolls"), (struct names){0}, false);
	payroll_denied(bundle, (struct names)LIST("payrol"), (struct names){0}, false);
}

static void test_decide_deny_of_a_column_leaves_the_others(void **state)
{
	CLEANUP(bundle_freep)
	struct bundle *bundle = bundle_of_two(rule("1", "allow", "\"everyone\"", ALL_OF_ORDERS),
					      rule("2", "deny", "\"everyone\"",
						   "{\"database\":\"sales\",\"functions\":[],"
						   "\"tables\":{\"ORDERS\":[\"Note\"]}}"));
	struct call_facts facts = orders_query;

	(void)state;
	allows(bundle, &facts);
	facts.columns = (struct names)LIST("orders.");
	allows(bundle, &facts);
	facts.columns = (struct names)LIST("orders.status", "orders.nOTE");
	denies(bundle, &facts, "rule_denies", "denied by rule 2 (scopes/x.yaml:2)");
}

static void test_decide_deny_matches_functions_tables_and_databases(void **state)
{
	CLEANUP(bundle_freep)
	struct bundle *functions = bundle_of_two(
		rule("1", "allow", "\"everyone\"", ALL_OF_ORDERS),
		rule("2", "deny", "\"everyone\"",
		     "{\"database\":\"sales\",\"functions\":[\"few\"],\"tables\":{}}"));
	CLEANUP(bundle_freep)
	struct bundle *whole =
		bundle_of_two(rule("1", "allow", "\"everyone\"", ALL_OF_ORDERS),
			      rule("2", "deny", "[\"tenant:emea\"]",
				   "{\"database\":\"sales\",\"functions\":[],\"tables\":\"all\"}"));
	struct call_facts facts = orders_query;

	(void)state;
	allows(functions, &facts);
	facts.functions = (struct names)LIST("sum");
	denies(functions, &facts, "rule_denies", "denied by rule 2 (scopes/x.yaml:2)");
	allows(whole, &facts);
	facts.subject.tenant = "apac";
	allows(whole, &facts);
	facts.subject.tenant = "emea";
	denies(whole, &facts, "rule_denies", "denied by rule 2 (scopes/x.yaml:2)");
	facts.tables = facts.columns = facts.functions = (struct names){0};
	denies(whole, &facts, "rule_denies", "denied by rule 2 (scopes/x.yaml:2)");
	facts.database = NULL;
	allows(whole, &facts);
}

static void test_decide_allow_compares_letters_exactly(void **state)
{
	CLEANUP(bundle_freep) struct bundle *bundle = bundle_of(SAMPLE_READ_SALES);
	struct call_facts facts = orders_query;

	(void)state;
	facts.tables = (struct names)LIST("Orders");
	facts.columns = (struct names){0};
	assert_int_equal(decide(bundle, &facts).effect, EFFECT_DENY);
	facts.tables = (struct names)LIST("customers");
	facts.columns = (struct names)LIST("customers.Region");
	assert_int_equal(decide(bundle, &facts).effect, EFFECT_DENY);
}

static void test_decide_knows_user_group_and_tenant_apart(void **state)
{
	CLEANUP(bundle_freep)
	struct bundle *bundle = bundle_of_two(
		rule("1", "allow", "[\"user:u\",\"group:g\",\"tenant:t\"]", "\"none\""), NULL);
	struct call_facts facts = {.agent = "sales-query-01", .tool = "list_metrics"};
	const char *none = NULL;

	(void)state;
	facts.subject = (struct subject){.user = "u"};
	allows(bundle, &facts);
	facts.subject = (struct subject){.user = "x", .groups = LIST("y", "g")};
	allows(bundle, &facts);
	facts.subject = (struct subject){.user = "x", .tenant = "t"};
	allows(bundle, &facts);
	facts.subject = (struct subject){.user = "g", .groups = LIST("t", "u"), .tenant = "g"};
	assert_int_equal(decide(bundle, &facts).effect, EFFECT_DENY);
	facts.subject = (struct subject){.user = "x", .groups = {&none, 0}, .tenant = ""};
	assert_int_equal(decide(bundle, &facts).effect, EFFECT_DENY);
}

static void test_decide_takes_the_smallest_limit_and_the_first_rule(void **state)
{
	char *small = rule("2", "allow", "\"everyone\"", ALL_OF_ORDERS);
	CLEANUP(bundle_freep) struct bundle *bundle = NULL;
	struct verdict verdict;

	(void)state;
	strstr(small, "\"rows\":500")[7] = '2';
	strstr(small, "\"time_ms\":5000")[10] = '4';
	bundle = bundle_of_two(rule("1", "allow", "\"everyone\"", ALL_OF_ORDERS), small);
	verdict = decide(bundle, &orders_query);
	assert_string_equal(verdict.rule, "1");
	assert_int_equal(verdict.limits.rows, 200);
	assert_int_equal(verdict.limits.time_ms, 4000);
	assert_int_equal(verdict.limits.bytes, 1048576);
}

static void test_decide_reason_is_cut_between_characters_and_printable(void **state)
{
	CLEANUP(bundle_freep) struct bundle *bundle = bundle_of(SAMPLE_READ_SALES);
	char name[400];
	const char *names[] = {name};
	struct call_facts facts = orders_query;
	struct verdict verdict;

	(void)state;
	for (size_t i = 0; i + 1 < sizeof(name); i += 2)
		memcpy(name + i, "\xC3\xA9", 2); /* é */
	name[sizeof(name) - 2] = '\0';
	facts.tables = (struct names){names, 1};
	facts.columns = (struct names){0};
	for (size_t shift = 0; shift < 2; shift++) {
		size_t len;

		verdict = decide(bundle, &facts);
		len = strlen(verdict.reason);
		assert_in_range(len, sizeof(verdict.reason) - 2, sizeof(verdict.reason) - 1);
		assert_int_equal((unsigned char)verdict.reason[len - 1], 0xA9);
		memmove(name + 1, name, strlen(name) - 3);
		name[0] = '\n';
	}
	assert_non_null(strstr(verdict.reason, "table ?\xC3\xA9"));
	names[0] = "a\x7F\x80";
	assert_non_null(strstr(decide(bundle, &facts).reason, "table a?\x80"));
	names[0] = memset(name, 0x80, sizeof(name) - 1); /* no character begins anywhere */
	name[sizeof(name) - 1] = '\0';
	assert_non_null(strstr(decide(bundle, &facts).reason, "does not grant table "));
}

/* ---- views, visibility, grants ---- */

static const struct setting now = {.now_s = 1796083300};
static const struct subject alice = {.user = "alice", .groups = LIST("sales")};
static const struct subject stranger = {.user = "mallory"};

static void view_is(const struct bundle *bundle, const struct subject *subject, const char *tool,
		    const char *expected)
{
	struct json *view = policy_view(bundle, "sales-query-01", subject, &now, tool, NULL, "sales");
	struct buf text = BUF_INIT;

	json_write(view, &text);
	assert_string_equal(buf_str(&text), expected);
	buf_clear(&text);
	json_free(view);
}

static void test_view_is_what_the_rules_grant(void **state)
{
	CLEANUP(bundle_freep)
	struct bundle *bundle = bundle_of(SAMPLE_READ_SALES "," SAMPLE_NEVER_PAYROLL);

	(void)state;
	view_is(bundle, &alice, "run_query",
		"{\"database\":\"sales\",\"tables\":{\"customers\":[\"customer_id\",\"region\"],"
		"\"orders\":\"all\"},\"functions\":[\"count\",\"sum\"],"
		"\"except\":{\"payroll\":\"all\"}}");
	view_is(bundle, &stranger, "run_query",
		"{\"database\":\"sales\",\"tables\":{},\"functions\":[],"
		"\"except\":{\"payroll\":\"all\"}}");
	view_is(bundle, &alice, "explain_query",
		"{\"database\":\"sales\",\"tables\":{},\"functions\":[],"
		"\"except\":{\"payroll\":\"all\"}}");
	view_is(bundle, &(struct subject){.user = ""}, "run_query",
		"{\"database\":\"sales\",\"tables\":{},\"functions\":[],\"except\":{}}");
	view_is(bundle, &alice, NULL,
		"{\"database\":\"sales\",\"tables\":{},\"functions\":[],\"except\":{}}");
}

#define A_XY "{\"database\":\"sales\",\"functions\":[],\"tables\":{\"a\":[\"y\",\"x\"]}}"

static void test_view_joins_rules_but_never_their_rows(void **state)
{
	CLEANUP(bundle_freep)
	struct bundle *bundle = bundle_of_two(rule("1", "allow", "\"everyone\"", A_XY),
					      rule("2", "allow", "\"everyone\"",
						   "{\"database\":\"sales\",\"functions\":[],"
						   "\"tables\":{\"a\":[\"z\"],\"b\":\"all\"}}"));

	(void)state;
	view_is(bundle, &alice, "search_schema",
		"{\"database\":\"sales\",\"tables\":{\"a\":[\"x\",\"y\",\"z\"],\"b\":\"all\"},"
		"\"functions\":[],\"except\":{}}");
	view_is(bundle, &alice, "describe_table",
		"{\"database\":\"sales\",\"tables\":{\"a\":[\"x\",\"y\"],\"b\":\"all\"},"
		"\"functions\":[],\"except\":{}}");
}

static void test_view_of_rows_takes_the_widest_grant_in_any_order(void **state)
{
	CLEANUP(bundle_freep)
	struct bundle *bundle = bundle_of_two(
		rule("1", "allow", "\"everyone\"",
		     "{\"database\":\"sales\",\"functions\":[],\"tables\":{\"a\":[\"z\"],"
		     "\"b\":\"all\",\"c\":[\"x\"]}}"),
		rule("2", "allow", "\"everyone\"",
		     "{\"database\":\"sales\",\"functions\":[],\"tables\":{\"a\":[\"x\",\"y\"],"
		     "\"b\":[\"x\"],\"c\":\"all\"}}"));

	(void)state;
	view_is(bundle, &alice, "describe_table",
		"{\"database\":\"sales\",\"tables\":{\"a\":[\"x\",\"y\"],\"b\":\"all\","
		"\"c\":\"all\"},\"functions\":[],\"except\":{}}");
}

static void test_view_takes_away_what_is_denied_in_any_case(void **state)
{
	CLEANUP(bundle_freep)
	struct bundle *bundle =
		bundle_of_two(rule("1", "allow", "\"everyone\"",
				   "{\"database\":\"sales\",\"functions\":[\"few\",\"text\"],"
				   "\"tables\":{\"a\":[\"x\",\"y\"],\"b\":\"all\",\"c\":\"all\"}}"),
			      rule("2", "deny", "\"everyone\"",
				   "{\"database\":\"sales\",\"functions\":[\"few\"],"
				   "\"tables\":{\"A\":[\"X\"],\"B\":[\"Secret\"],\"C\":\"all\"}}"));

	(void)state;
	view_is(bundle, &alice, "run_query",
		"{\"database\":\"sales\",\"tables\":{\"a\":[\"y\"],\"b\":\"all\"},"
		"\"functions\":[\"lower\"],"
		"\"except\":{\"A\":[\"X\"],\"B\":[\"Secret\"],\"C\":\"all\"}}");
}

static void test_view_of_everything_denied_is_empty(void **state)
{
	CLEANUP(bundle_freep)
	struct bundle *all = bundle_of_two(rule("1", "allow", "\"everyone\"", ALL_OF_ORDERS),
					   rule("2", "deny", "[\"user:alice\"]", "\"all\""));
	CLEANUP(bundle_freep)
	struct bundle *whole =
		bundle_of_two(rule("1", "allow", "\"everyone\"", ALL_OF_ORDERS),
			      rule("2", "deny", "[\"user:alice\"]",
				   "{\"database\":\"sales\",\"functions\":[],\"tables\":\"all\"}"));
	CLEANUP(bundle_freep)
	struct bundle *other =
		bundle_of_two(rule("1", "allow", "\"everyone\"", ALL_OF_ORDERS),
			      rule("2", "deny", "[\"user:alice\"]",
				   "{\"database\":\"hr\",\"functions\":[],\"tables\":\"all\"}"));
	static const char empty[] =
		"{\"database\":\"sales\",\"tables\":{},\"functions\":[],\"except\":{}}";

	(void)state;
	view_is(all, &alice, "run_query", empty);
	view_is(whole, &alice, "run_query", empty);
	view_is(other, &alice, "run_query",
		"{\"database\":\"sales\",\"tables\":{\"orders\":\"all\"},"
		"\"functions\":[\"count\",\"sum\"],\"except\":{}}");
	assert_false(policy_tool_visible(all, "sales-query-01", &alice, &now, "run_query", false));
	assert_true(policy_tool_visible(whole, "sales-query-01", &alice, &now, "run_query", false));
	assert_true(policy_tool_visible(other, "sales-query-01", &alice, &now, "run_query", false));
	assert_true(policy_tool_visible(all, "sales-query-01", &stranger, &now, "run_query", false));
}

static void test_view_hides_what_wants_approval_unless_a_statement_can_ask(void **state)
{
	CLEANUP(bundle_freep)
	struct bundle *bundle = bundle_of_two(
		rule("1", "allow", "\"everyone\"", ALL_OF_ORDERS),
		rule("2", "ask", "\"everyone\"",
		     "{\"database\":\"sales\",\"functions\":[],\"tables\":{\"orders\":\"all\"}}"));

	(void)state;
	view_is(bundle, &alice, "search_values",
		"{\"database\":\"sales\",\"tables\":{},\"functions\":[\"count\",\"sum\"],"
		"\"except\":{\"orders\":\"all\"}}");
	view_is(bundle, &alice, "run_query",
		"{\"database\":\"sales\",\"tables\":{\"orders\":\"all\"},"
		"\"functions\":[\"count\",\"sum\"],\"except\":{}}");
	assert_true(policy_tool_visible(bundle, "sales-query-01", &alice, &now, "search_values", false));
}

static void test_tool_is_visible_only_to_whom_a_rule_grants_it(void **state)
{
	CLEANUP(bundle_freep)
	struct bundle *bundle = bundle_of(SAMPLE_READ_SALES "," SAMPLE_NEVER_PAYROLL);

	(void)state;
	assert_true(policy_tool_visible(bundle, "sales-query-01", &alice, &now, "run_query", false));
	assert_false(policy_tool_visible(bundle, "sales-query-01", &alice, &now, "explain_query", false));
	assert_false(policy_tool_visible(bundle, "sales-query-01", &stranger, &now, "run_query", false));
	assert_false(policy_tool_visible(bundle, "sales-report-01", &alice, &now, "run_query", false));
	assert_false(policy_tool_visible(bundle, "nobody", &alice, &now, "run_query", false));
	assert_false(policy_tool_visible(bundle, "sales-query-01", &alice, &now, NULL, false));
}

static char *grant_text(const struct bundle *bundle, const char *agent,
			const struct subject *subject)
{
	struct json *grant = policy_grant(bundle, agent, subject, &now);
	struct buf text = BUF_INIT;

	json_write(grant, &text);
	json_free(grant);
	return buf_take(&text);
}

static void test_grant_is_the_upper_bound_of_the_rules(void **state)
{
	CLEANUP(bundle_freep)
	struct bundle *bundle = bundle_of_two(rule("1", "allow", "[\"user:alice\"]", A_XY), NULL);
	CLEANUP(bundle_freep) struct bundle *sample = bundle_of(SAMPLE_READ_SALES);
	CLEANUP(mem_freep) char *text = grant_text(bundle, "sales-query-01", &alice);
	CLEANUP(mem_freep) char *wide = grant_text(sample, "sales-query-01", &alice);
	CLEANUP(mem_freep) char *report = grant_text(sample, "sales-report-01", &alice);
	CLEANUP(mem_freep) char *other = grant_text(sample, "sales-query-01", &stranger);

	(void)state;
	assert_non_null(strstr(
		text, "\"run_query\":{\"database\":{\"constraint_type\":\"one_of\",\"values\":"
		      "[\"\",\"sales\"]},\"tables\":{\"constraint_type\":\"subset\",\"allowed\":"
		      "[\"a\"]},\"columns\":{\"constraint_type\":\"subset\",\"allowed\":"
		      "[\"a.x\",\"a.y\"]},\"row_limit\":{\"constraint_type\":\"range\",\"min\":1,"
		      "\"max\":500}}"));
	assert_non_null(strstr(wide, "\"columns\":{\"constraint_type\":\"wildcard\"}"));
	assert_null(strstr(wide, "explain_query"));
	assert_string_equal(report, "[{\"type\":\"writ_tools_v1\",\"tools\":{}}]");
	assert_string_equal(other, "[{\"type\":\"writ_tools_v1\",\"tools\":{}}]");
}

static size_t grant_len_of_columns(size_t count, size_t name_len, bool *ret_columns,
				   bool *ret_tables)
{
	struct buf data = BUF_INIT;
	CLEANUP(bundle_freep) struct bundle *bundle = NULL;
	CLEANUP(mem_freep) char *text = NULL;

	buf_add_str(&data, "{\"database\":\"sales\",\"functions\":[],\"tables\":{");
	for (size_t i = 0; i < count; i++)
		buf_addf(&data, "%s\"%0*zu\":[\"c\"]", i > 0 ? "," : "", (int)name_len, i);
	buf_add_str(&data, "}}");
	bundle = bundle_of_two(rule("1", "allow", "\"everyone\"", buf_str(&data)), NULL);
	buf_clear(&data);
	text = grant_text(bundle, "sales-query-01", &alice);
	*ret_columns = strstr(text, "\"columns\":{\"constraint_type\":\"subset\"") != NULL;
	*ret_tables = strstr(text, "\"tables\":{\"constraint_type\":\"subset\"") != NULL;
	return strlen(text);
}

static void test_grant_too_large_for_a_token_is_coarsened(void **state)
{
	bool columns;
	bool tables;

	(void)state;
	assert_in_range(grant_len_of_columns(2, 4, &columns, &tables), 1, POLICY_GRANT_BYTES_MAX);
	assert_true(columns && tables);
	assert_in_range(grant_len_of_columns(30, 8, &columns, &tables), 1, POLICY_GRANT_BYTES_MAX);
	assert_true(!columns && tables);
	assert_in_range(grant_len_of_columns(400, 8, &columns, &tables), 1, POLICY_GRANT_BYTES_MAX);
	assert_true(!columns && !tables);
}

static void test_grant_of_very_many_databases_stays_exact_in_them(void **state)
{
	struct buf rules = BUF_INIT;
	CLEANUP(bundle_freep) struct bundle *bundle = NULL;
	CLEANUP(mem_freep) char *text = NULL;

	(void)state;
	for (int i = 0; i < 400; i++) {
		CLEANUP(mem_freep) char *id = mem_format("%d", i);
		CLEANUP(mem_freep)
		char *data = mem_format("{\"database\":\"db%d\",\"functions\":[],"
					"\"tables\":{\"t\":\"all\"}}",
					i);
		CLEANUP(mem_freep) char *one = rule(id, "allow", "\"everyone\"", data);

		buf_addf(&rules, "%s%s", i > 0 ? "," : "", one);
	}
	bundle = bundle_of(buf_str(&rules));
	buf_clear(&rules);
	text = grant_text(bundle, "sales-query-01", &alice);
	assert_true(strlen(text) > POLICY_GRANT_BYTES_MAX);
	assert_non_null(strstr(text, "\"db399\""));
	assert_non_null(strstr(text, "\"tables\":{\"constraint_type\":\"wildcard\"}"));
}

static void arguments_are(const struct call_facts *facts, const char *expected)
{
	struct json *arguments = policy_call_arguments(facts, 7);
	struct buf text = BUF_INIT;

	json_write(arguments, &text);
	assert_string_equal(buf_str(&text), expected);
	buf_clear(&text);
	json_free(arguments);
}

static void test_call_arguments_are_what_a_grant_constrains(void **state)
{
	struct call_facts facts = orders_query;

	(void)state;
	facts.columns = (struct names)LIST("orders.status", "orders.");
	arguments_are(&facts, "{\"database\":\"sales\",\"tables\":[\"orders\"],"
			      "\"columns\":[\"orders.status\"],\"row_limit\":7}");
	facts.tool = "list_metrics";
	facts.database = NULL;
	facts.tables = facts.columns = (struct names){0};
	arguments_are(&facts, "{\"database\":\"\",\"tables\":[],\"columns\":[]}");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decide_allows_what_one_rule_covers),
		cmocka_unit_test(test_decide_denies_each_part_that_no_rule_grants),
		cmocka_unit_test(test_decide_denies_an_unknown_agent),
		cmocka_unit_test(test_decide_none_grants_only_calls_without_data),
		cmocka_unit_test(test_decide_denies_malformed_facts),
		cmocka_unit_test(test_decide_denies_data_without_its_place),
		cmocka_unit_test(test_decide_bounds_the_names_of_a_call),
		cmocka_unit_test(test_decide_two_allow_rules_never_combine),
		cmocka_unit_test(test_decide_deny_beats_ask_beats_allow_in_any_order),
		cmocka_unit_test(test_decide_ask_alone_allows_nothing_without_approval),
		cmocka_unit_test(test_decide_deny_matches_any_touch_of_a_whole_table),
		cmocka_unit_test(test_decide_deny_of_a_column_leaves_the_others),
		cmocka_unit_test(test_decide_deny_matches_functions_tables_and_databases),
		cmocka_unit_test(test_decide_allow_compares_letters_exactly),
		cmocka_unit_test(test_decide_knows_user_group_and_tenant_apart),
		cmocka_unit_test(test_decide_takes_the_smallest_limit_and_the_first_rule),
		cmocka_unit_test(test_decide_reason_is_cut_between_characters_and_printable),
		cmocka_unit_test(test_view_is_what_the_rules_grant),
		cmocka_unit_test(test_view_joins_rules_but_never_their_rows),
		cmocka_unit_test(test_view_of_rows_takes_the_widest_grant_in_any_order),
		cmocka_unit_test(test_view_takes_away_what_is_denied_in_any_case),
		cmocka_unit_test(test_view_of_everything_denied_is_empty),
		cmocka_unit_test(test_view_hides_what_wants_approval_unless_a_statement_can_ask),
		cmocka_unit_test(test_tool_is_visible_only_to_whom_a_rule_grants_it),
		cmocka_unit_test(test_grant_is_the_upper_bound_of_the_rules),
		cmocka_unit_test(test_grant_too_large_for_a_token_is_coarsened),
		cmocka_unit_test(test_grant_of_very_many_databases_stays_exact_in_them),
		cmocka_unit_test(test_call_arguments_are_what_a_grant_constrains),
	};

	crypto_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
