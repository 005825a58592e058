/* policy/prove.c: invariants hold for all calls, or a call shows that they do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "policy/call_spec.h"
#include "policy/prove.h"
#include "tests/unit/policy_sample.h"

#define INVARIANT(effect, agents, tools, data)                                                     \
	"{\"agents\":" agents ",\"at\":\"scopes/invariants.yaml:5\",\"data\":" data                \
	",\"effect\":\"" effect "\",\"id\":\"inv\",\"tools\":" tools ",\"users\":\"everyone\"}"
#define TABLE(name, columns)                                                                       \
	"{\"database\":\"sales\",\"functions\":[],\"tables\":{\"" name "\":" columns "}}"
#define ALL "\"all\""

static struct bundle *bundle_of(const char *text)
{
	struct bundle *bundle = NULL;
	struct err err = {0};

	if (bundle_read(text, strlen(text), &bundle, &err) < 0)
		fail_msg("%s", err.text);
	return bundle;
}

static struct json *json_of(const char *text)
{
	struct json *json = NULL;
	struct err err = {0};

	if (json_parse_str(text, &json, &err) < 0)
		fail_msg("%s", err.text);
	return json;
}

static void proves(const char *invariant, const char *want_state, const char *want_text)
{
	CLEANUP(bundle_freep) struct bundle *bundle = bundle_of(SAMPLE_BUNDLE);
	CLEANUP(json_freep) struct json *json = json_of(SAMPLE_BUNDLE);
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	struct policy_proof proof;
	struct err err = {0};

	json_push(json_get_mut(json, "rules"), json_of(invariant));
	assert_int_equal(policy_prove(bundle, json, &proof, &err), 0);
	assert_string_equal(json_get_str(json_at(proof.invariants, 0), "state"), want_state);
	policy_proof_write(&proof, true, &text);
	assert_string_equal(buf_str(&text), want_text);
	assert_int_equal(proof.proven + proof.broken + proof.not_proven, 1);
	policy_proof_clear(&proof);
}

static void test_what_no_rule_grants_is_proven(void **state)
{
	static const char proven[] = "proven      inv (scopes/invariants.yaml:5)\n";

	(void)state;
	proves(INVARIANT("deny", ALL, ALL, TABLE("payroll", ALL)), "proven", proven);
	proves(INVARIANT("deny", ALL, ALL, TABLE("customers", "[\"name\"]")), "proven", proven);
	proves(INVARIANT("deny", "[\"sales-report-01\"]", ALL, ALL), "proven", proven);
	proves(INVARIANT("ask", ALL, "[\"update_orders\"]", ALL), "proven", proven);
}

static void test_what_a_rule_grants_is_shown_by_a_call(void **state)
{
	(void)state;
	proves(INVARIANT("deny", ALL, ALL, TABLE("customers", "[\"region\"]")), "broken",
	       "broken      inv (scopes/invariants.yaml:5)\n"
	       "            sales-query-01 for someone (groups sales): describe_table on sales, "
	       "columns customers.region\n"
	       "            allowed by rule read-sales (scopes/sales.yaml:21)\n");
	/* in whatever case a column of a table granted whole is written */
	proves(INVARIANT("deny", ALL, "[\"run_query\"]", TABLE("ORDERS", "[\"Secret\"]")), "broken",
	       "broken      inv (scopes/invariants.yaml:5)\n"
	       "            sales-query-01 for someone (groups sales): run_query on sales, "
	       "columns orders.Secret, orders.secret\n"
	       "            allowed by rule read-sales (scopes/sales.yaml:21)\n");
	proves(INVARIANT("ask", ALL, "[\"list_tables\"]", ALL), "broken",
	       "broken      inv (scopes/invariants.yaml:5)\n"
	       "            sales-query-01 for someone (groups sales): list_tables\n"
	       "            allowed by rule read-sales (scopes/sales.yaml:21)\n");
}

static void test_an_invariant_that_allows_is_none(void **state)
{
	CLEANUP(bundle_freep) struct bundle *bundle = bundle_of(SAMPLE_BUNDLE);
	CLEANUP(json_freep) struct json *json = json_of(SAMPLE_BUNDLE);
	struct policy_proof proof;
	struct err err = {0};

	(void)state;
	json_push(json_get_mut(json, "rules"),
		  json_of("{\"id\":\"inv\",\"effect\":\"allow\",\"at\":"
			  "\"scopes/invariants.yaml:5\"}"));
	assert_int_equal(policy_prove(bundle, json, &proof, &err), -1);
	assert_string_equal(err.text, "scopes/invariants.yaml:5: invariant inv must deny or ask: "
				      "it says what no other rule may allow");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_no_rule_grants_is_proven),
		cmocka_unit_test(test_what_a_rule_grants_is_shown_by_a_call),
		cmocka_unit_test(test_an_invariant_that_allows_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
