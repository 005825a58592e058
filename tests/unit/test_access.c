/* policy/access.c: the access review. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "policy/access.h"
#include "tests/unit/policy_sample.h"

static struct bundle *sample(void)
{
	struct bundle *bundle = NULL;
	struct err err = {0};

	assert_int_equal(bundle_read(SAMPLE_BUNDLE, strlen(SAMPLE_BUNDLE), &bundle, &err), 0);
	return bundle;
}

static struct json *users(void)
{
	struct json *json = NULL;
	struct err err = {0};

	assert_int_equal(json_parse_str("{\"users\":[{\"name\":\"alice\",\"groups\":[\"sales\"],"
					"\"tenant\":\"emea\"},{\"name\":\"bob\",\"groups\":[]}],"
					"\"anyone\":{\"groups\":[]}}",
					&json, &err),
			 0);
	return json;
}

static void is_json(const struct json *json, const char *want)
{
	CLEANUP(buf_clear) struct buf out = BUF_INIT;

	json_write(json, &out);
	assert_string_equal(buf_str(&out), want);
}

static void test_people_are_those_of_the_workspace_and_of_the_rules(void **state)
{
	CLEANUP(bundle_freep) struct bundle *bundle = sample();
	CLEANUP(json_freep) struct json *known = users();
	CLEANUP(people_clear) struct people people;

	(void)state;
	people_find(known, bundle, &people);
	assert_int_equal(people.count, 5);
	assert_string_equal(people.items[2].label, "anyone");
	assert_string_equal(people.items[3].label, "whoever has group:sales");
	assert_string_equal(people.items[4].label, "whoever has user:user_42");
	assert_string_equal(people_named(&people, "alice")->subject.tenant, "emea");
	assert_non_null(people_named(&people, "user_42"));
	assert_null(people_named(&people, "carol"));
}

static void test_each_cell_is_what_the_tool_may_show(void **state)
{
	CLEANUP(bundle_freep) struct bundle *bundle = sample();
	CLEANUP(json_freep) struct json *known = users();
	CLEANUP(people_clear) struct people people;
	CLEANUP(json_freep) struct json *alice = NULL;
	CLEANUP(json_freep) struct json *bob = NULL;
	struct setting setting = {0};

	(void)state;
	people_find(known, bundle, &people);
	alice = policy_access(bundle, "sales-query-01", people_named(&people, "alice"), &setting);
	is_json(json_get(alice, "tools"), "[\"describe_table\",\"list_tables\",\"run_query\"]");
	is_json(json_at(json_get(alice, "tables"), 0),
		"{\"database\":\"sales\",\"table\":\"customers\",\"access\":{\"describe_table\":["
		"\"customer_id\",\"region\"],\"list_tables\":[\"customer_id\",\"region\"],"
		"\"run_query\":[\"customer_id\",\"region\"]}}");
	assert_string_equal(json_get_str(alice, "owner"), "team:sales-data");
	bob = policy_access(bundle, "sales-query-01", people_named(&people, "bob"), &setting);
	is_json(json_get(bob, "tools"), "[]");
	is_json(json_get(bob, "tables"), "[]");
}

static void test_who_reaches_a_column_is_listed_by_rule(void **state)
{
	CLEANUP(bundle_freep) struct bundle *bundle = sample();
	CLEANUP(json_freep) struct json *known = users();
	CLEANUP(people_clear) struct people people;
	CLEANUP(json_freep) struct json *region = NULL;
	CLEANUP(json_freep) struct json *payroll = NULL;
	CLEANUP(json_freep) struct json *touched = NULL;
	struct setting setting = {0};

	(void)state;
	people_find(known, bundle, &people);
	region = policy_who(bundle, &people, &setting, "sales", "customers", "region");
	assert_int_equal(json_len(region), 3);
	is_json(json_at(region, 0),
		"{\"agent\":\"sales-query-01\",\"person\":\"alice\",\"effect\":\"allow\",\"rule\":"
		"\"read-sales\",\"at\":\"scopes/sales.yaml:21\",\"tools\":[\"describe_table\","
		"\"list_tables\",\"run_query\"]}");
	payroll = policy_who(bundle, &people, &setting, "sales", "payroll", NULL);
	assert_int_equal(json_len(payroll), 0);
	touched = policy_who(bundle, &people, &setting, "sales", "orders", NULL);
	assert_int_equal(json_len(touched), 3);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_people_are_those_of_the_workspace_and_of_the_rules),
		cmocka_unit_test(test_each_cell_is_what_the_tool_may_show),
		cmocka_unit_test(test_who_reaches_a_column_is_listed_by_rule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
