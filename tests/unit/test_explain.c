/* policy/explain*.c: why, and the change that would allow it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "policy/call_spec.h"
#include "policy/explain.h"
#include "tests/unit/policy_sample.h"

struct world {
	struct bundle *bundle;
	struct json *json;
	struct call_spec *spec;
	struct json *explained;
};

static void world_clear(struct world *world)
{
	json_free(world->explained);
	call_spec_free(world->spec);
	json_free(world->json);
	bundle_free(world->bundle);
}

static void explain_under(const char *text, const char *call, int flags, struct world *world)
{
	CLEANUP(json_freep) struct json *json = NULL;
	struct err err = {0};

	*world = (struct world){0};
	if (bundle_read(text, strlen(text), &world->bundle, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(json_parse_str(text, &world->json, &err), 0);
	assert_int_equal(json_parse_str(call, &json, &err), 0);
	assert_int_equal(call_spec_read(json, &world->spec, &err), 0);
	world->explained =
		policy_explain(world->bundle, world->json, call_spec_facts(world->spec), flags);
}

static void explain(const char *call, int flags, struct world *world)
{
	explain_under(SAMPLE_BUNDLE, call, flags, world);
}

/* By hand, without explain's own trial: the changed rules allow the call. */
static void edits_do(const struct world *world, const struct json *edits)
{
	CLEANUP(json_freep) struct json *edited = policy_edit(world->json, edits);
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	CLEANUP(bundle_freep) struct bundle *bundle = NULL;
	struct verdict verdict;
	struct err err = {0};

	assert_true(json_len(edits) > 0);
	json_write_canonical(edited, &bytes);
	assert_int_equal(bundle_read(bytes.bytes, bytes.len, &bundle, &err), 0);
	policy_decide(world->bundle, call_spec_facts(world->spec), &verdict);
	assert_int_equal(verdict.effect, EFFECT_DENY);
	policy_decide(bundle, call_spec_facts(world->spec), &verdict);
	assert_string_equal(verdict.code, "allowed");
}

static const struct json *first_miss(const struct world *world)
{
	return json_at(json_get(world->explained, "nearest"), 0);
}

static void changes_to(const char *call, const char *want)
{
	CLEANUP(world_clear) struct world world;
	CLEANUP(buf_clear) struct buf changes = BUF_INIT;

	explain(call, 0, &world);
	json_each(change, json_get(first_miss(&world), "changes"))
		buf_addf(&changes, "%s\n", json_str(change));
	assert_string_equal(buf_str(&changes), want);
	edits_do(&world, json_get(first_miss(&world), "edits"));
}

#define CALL(agent, who, tool, rest)                                                               \
	"{\"agent\":\"" agent "\"," who ",\"tool\":\"" tool "\",\"database\":\"sales\"," rest "}"
#define SELLER "\"user\":\"u\",\"groups\":[\"sales\"]"

static void test_each_condition_that_fails_gets_the_entry_it_lacks(void **state)
{
	(void)state;
	changes_to(CALL("sales-report-01", SELLER, "run_query", "\"columns\":[\"orders.x\"]"),
		   "add sales-report-01 to agents (scopes/sales.yaml:21)\n");
	changes_to(CALL("sales-query-01", "\"user\":\"eve\"", "run_query",
			"\"columns\":[\"orders.x\"]"),
		   "add user:eve to users (scopes/sales.yaml:21)\n");
	changes_to(CALL("sales-query-01", SELLER, "explain_query", "\"columns\":[\"orders.x\"]"),
		   "add explain_query to tools (scopes/sales.yaml:21)\n");
	changes_to(CALL("sales-query-01", SELLER, "run_query", "\"columns\":[\"customers.name\"]"),
		   "add column name to table customers in data.tables (scopes/sales.yaml:21)\n");
	changes_to(CALL("sales-query-01", SELLER, "run_query",
			"\"columns\":[\"items.a\",\"items.b\"],\"tables\":[\"more\"]"),
		   "add table more with columns: all to data.tables (scopes/sales.yaml:21)\n"
		   "add table items with columns [a, b] to data.tables (scopes/sales.yaml:21)\n");
	changes_to(CALL("sales-query-01", SELLER, "run_query", "\"functions\":[\"upper\",\"avg\"]"),
		   "add standard to data.functions (scopes/sales.yaml:21)\n"
		   "add aggregates to data.functions (scopes/sales.yaml:21)\n");
}

static void test_several_at_once_are_mended_together(void **state)
{
	(void)state;
	changes_to(CALL("sales-report-01", "\"user\":\"eve\"", "explain_query",
			"\"columns\":[\"customers.name\"],\"functions\":[\"avg\"]"),
		   "add sales-report-01 to agents (scopes/sales.yaml:21)\n"
		   "add explain_query to tools (scopes/sales.yaml:21)\n"
		   "add user:eve to users (scopes/sales.yaml:21)\n"
		   "add column name to table customers in data.tables (scopes/sales.yaml:21)\n"
		   "add aggregates to data.functions (scopes/sales.yaml:21)\n");
}

static void test_what_no_change_of_the_rule_can_do_is_said(void **state)
{
	CLEANUP(world_clear) struct world world;

	(void)state;
	explain(CALL("sales-query-01", SELLER, "run_query", "\"functions\":[\"printf\"]"), 0,
		&world);
	assert_string_equal(json_get_str(first_miss(&world), "impossible"),
			    "no list of functions holds printf");
	assert_null(json_get(world.explained, "own_rule"));
}

static void test_a_rule_of_its_own_allows_exactly_the_call(void **state)
{
	CLEANUP(world_clear) struct world world;
	const struct json *own;

	(void)state;
	explain("{\"agent\":\"sales-query-01\",\"user\":\"eve\",\"tool\":\"run_query\","
		"\"database\":\"hr\",\"columns\":[\"staff.name\"],\"functions\":[\"count\"]}",
		0, &world);
	assert_non_null(strstr(json_get_str(first_miss(&world), "impossible"), "data.database"));
	own = json_get(world.explained, "own_rule");
	assert_string_equal(json_get_str(own, "text"),
			    "- id: sales-query-01-run_query\n"
			    "  effect: allow\n"
			    "  agents: [sales-query-01]\n"
			    "  users: [user:eve]\n"
			    "  tools: [run_query]\n"
			    "  data: {database: hr, tables: {staff: {columns: [name]}}, functions: "
			    "[aggregates]}\n");
	edits_do(&world, json_get(own, "edits"));
}

#define GATED                                                                                      \
	SAMPLE_HEAD                                                                                \
	"{\"agents\":\"all\",\"at\":\"scopes/"                                                     \
	"sales.yaml:21\",\"data\":\"none\",\"effect\":\"allow\","                                  \
	"\"id\":\"gated\"," SAMPLE_LIMITS ",\"tools\":[\"list_metrics\"],\"users\":\"everyone\","  \
	"\"tenants\":[\"emea\"],\"environments\":[\"test\"],\"time\":{\"zone\":\"UTC\",\"from\":"  \
	"\"2026-01-01\",\"until\":\"2026-06-30\",\"days\":[0],\"hours\":[[480,1080]]},"            \
	"\"attributes\":{\"level\":{\"constraint_type\":\"range\",\"min\":5}},"                    \
	"\"arguments\":{\"n\":{\"constraint_type\":\"exact\",\"value\":1}}}"                       \
	"],\"zones\":{\"UTC\":[[1704067200,0]]}}"

static void test_setting_attributes_and_arguments_are_mended_too(void **state)
{
	static const char call[] =
		"{\"agent\":\"sales-query-01\",\"user\":\"u\",\"tenant\":\"apac\",\"tool\":"
		"\"list_metrics\",\"environment\":\"live\",\"time\":\"2026-10-15T23:00:00Z\","
		"\"attributes\":{\"level\":2},\"arguments\":{\"n\":7}}";
	CLEANUP(world_clear) struct world world;
	CLEANUP(buf_clear) struct buf changes = BUF_INIT;

	(void)state;
	explain_under(GATED, call, 0, &world);
	json_each(change, json_get(first_miss(&world), "changes"))
		buf_addf(&changes, "%s\n", json_str(change));
	assert_string_equal(buf_str(&changes),
			    "add apac to tenants (scopes/sales.yaml:21)\n"
			    "add live to environments (scopes/sales.yaml:21)\n"
			    "drop until of time (scopes/sales.yaml:21)\n"
			    "drop days of time (scopes/sales.yaml:21)\n"
			    "drop hours of time (scopes/sales.yaml:21)\n"
			    "let attributes.level be 2 as well (scopes/sales.yaml:21)\n"
			    "let arguments.n be 7 as well (scopes/sales.yaml:21)\n");
	edits_do(&world, json_get(first_miss(&world), "edits"));
}

static void test_the_verdict_and_every_rule_are_told(void **state)
{
	CLEANUP(world_clear) struct world world;
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	const struct json *rules;

	(void)state;
	explain(CALL("sales-query-01", SELLER, "run_query", "\"columns\":[\"payroll.pay\"]"),
		EXPLAIN_ALL, &world);
	assert_string_equal(json_get_str(json_get(world.explained, "verdict"), "code"),
			    "rule_denies");
	assert_null(json_get(world.explained, "nearest"));
	rules = json_get(world.explained, "rules");
	assert_int_equal(json_len(rules), 2);
	assert_string_equal(json_get_str(json_at(rules, 0), "outcome"), "fails");
	assert_string_equal(json_get_str(json_get(json_at(rules, 0), "failed"), "saw"), "payroll");
	assert_string_equal(json_get_str(json_at(rules, 1), "outcome"), "applies");
	assert_int_equal(json_len(json_get(json_at(rules, 0), "conditions")), 7);
	explain_write(world.explained, EXPLAIN_ALL, &text);
	assert_non_null(strstr(buf_str(&text), "denied by rule never-payroll"));
	assert_non_null(strstr(buf_str(&text), "deny  never-payroll (scopes/sales.yaml:34): "
					       "applies"));
}

static void test_an_allowed_call_shows_its_limits(void **state)
{
	CLEANUP(world_clear) struct world world;
	CLEANUP(buf_clear) struct buf text = BUF_INIT;

	(void)state;
	explain(CALL("sales-query-01", SELLER, "run_query", "\"columns\":[\"orders.x\"]"), 0,
		&world);
	explain_write(world.explained, 0, &text);
	assert_non_null(strstr(buf_str(&text), "allow\n  allowed by rule read-sales"));
	assert_non_null(strstr(buf_str(&text), "at most 500 rows, 1048576 bytes"));
}

static void test_rules_of_other_agents_are_counted_unless_all_is_asked_for(void **state)
{
	CLEANUP(world_clear) struct world world;
	CLEANUP(buf_clear) struct buf text = BUF_INIT;

	(void)state;
	explain(CALL("sales-report-01", SELLER, "run_query", "\"columns\":[\"orders.x\"]"), 0,
		&world);
	explain_write(world.explained, 0, &text);
	assert_non_null(strstr(buf_str(&text), "1 more speak of other agents or tools"));
	assert_non_null(strstr(buf_str(&text), "change add sales-report-01 to agents"));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_condition_that_fails_gets_the_entry_it_lacks),
		cmocka_unit_test(test_several_at_once_are_mended_together),
		cmocka_unit_test(test_what_no_change_of_the_rule_can_do_is_said),
		cmocka_unit_test(test_a_rule_of_its_own_allows_exactly_the_call),
		cmocka_unit_test(test_setting_attributes_and_arguments_are_mended_too),
		cmocka_unit_test(test_the_verdict_and_every_rule_are_told),
		cmocka_unit_test(test_an_allowed_call_shows_its_limits),
		cmocka_unit_test(test_rules_of_other_agents_are_counted_unless_all_is_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
