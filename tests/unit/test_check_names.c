/* policy/check_names.c: names in rules that lie outside of the scope files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "policy/check_names.h"
#include "tests/unit/workspace_dir.h"

#define CATALOG                                                                                    \
	"{\"sales\":{\"tables\":[{\"name\":\"orders\",\"columns\":[{\"name\":\"order_id\"},"       \
	"{\"name\":\"Status\"}]},{\"name\":\"payroll\",\"columns\":[{\"name\":\"pay\"}]}]}}"
#define USERS                                                                                      \
	"{\"owner_uid\":0,\"users\":[{\"uid\":1,\"name\":\"alice\",\"groups\":[\"sales\","         \
	"\"leads\"],\"tenant\":\"emea\"}]}"

/* One rule; effect, users and data are the test's. */
static char *scope(const char *effect, const char *users, const char *data)
{
	return mem_format("writ: 1\nscope: s\nowner: team:s\nrules:\n  - id: r\n    effect: %s\n"
			  "    agents: all\n    users: %s\n    tools: all\n    data: %s\n",
			  effect, users, data);
}

static void check(const char *effect, const char *users, const char *data, const char *catalogs,
		  const char *people, struct problems *problems)
{
	struct workspace_dir dir = workspace_dir_make();
	CLEANUP(mem_freep) char *text = scope(effect, users, data);
	CLEANUP(json_freep) struct json *catalog = NULL, *user = NULL;
	struct known_names known = {0};
	struct err err = {0};

	if (catalogs != NULL)
		assert_int_equal(json_parse_str(catalogs, &catalog, &err), 0);
	if (people != NULL)
		assert_int_equal(json_parse_str(people, &user, &err), 0);
	known.catalogs = catalog;
	known.users = user;
	workspace_dir_put(&dir, "scopes/s.yaml", text);
	assert_int_equal(policy_check_names(dir.fd, &known, problems, &err), 0);
	workspace_dir_remove(&dir);
}

static void one_problem(const char *effect, const char *users, const char *data, const char *code,
			int column, const char *message)
{
	CLEANUP(problems_clear) struct problems problems = PROBLEMS_INIT;

	check(effect, users, data, CATALOG, USERS, &problems);
	assert_int_equal(problems.count, 1);
	assert_int_equal(problems.error_count, 1);
	assert_string_equal(problems.items[0].code, code);
	assert_int_equal(problems.items[0].column, column);
	assert_string_equal(problems.items[0].message, message);
}

static void no_problem(const char *effect, const char *users, const char *data,
		       const char *catalogs, const char *people)
{
	CLEANUP(problems_clear) struct problems problems = PROBLEMS_INIT;

	check(effect, users, data, catalogs, people, &problems);
	assert_int_equal(problems.count, 0);
}

#define ORDERS "{database: sales, tables: {orders: {columns: [order_id, Status]}}}"

static void test_a_table_that_the_data_has_not_is_named_with_what_was_meant(void **state)
{
	(void)state;
	one_problem("deny", "everyone", "{database: sales, tables: {payrol: {columns: all}}}",
		    "unknown_table", 38,
		    "unknown table of sales \"payrol\": did you mean \"payroll\"?");
	one_problem("allow", "everyone", "{database: sales, tables: {xyzzy: {columns: all}}}",
		    "unknown_table", 38,
		    "unknown table of sales \"xyzzy\": there are orders, payroll");
}

static void test_a_column_that_the_table_has_not_is_named_with_what_was_meant(void **state)
{
	(void)state;
	one_problem("allow", "everyone",
		    "{database: sales, tables: {orders: {columns: [order_di]}}}", "unknown_column",
		    57, "unknown column of table orders \"order_di\": did you mean \"order_id\"?");
}

static void test_rules_that_grant_spell_names_as_the_data_does(void **state)
{
	(void)state;
	one_problem("allow", "everyone", "{database: sales, tables: {ORDERS: {columns: all}}}",
		    "unknown_table", 38,
		    "unknown table of sales \"ORDERS\": the data spells it \"orders\", and rules "
		    "that grant compare exactly");
	one_problem("allow", "everyone", "{database: sales, tables: {orders: {columns: [status]}}}",
		    "unknown_column", 57,
		    "unknown column of table orders \"status\": the data spells it \"Status\", and "
		    "rules that grant compare exactly");
	no_problem("deny", "everyone", "{database: sales, tables: {ORDERS: {columns: [STATUS]}}}",
		   CATALOG, USERS);
}

static void test_groups_tenants_and_users_must_be_given_to_somebody(void **state)
{
	(void)state;
	one_problem("deny", "[group:sale]", "all", "unknown_group", 13,
		    "unknown group \"sale\": users in writ.yaml gives nobody that group; did you "
		    "mean \"sales\"?");
	one_problem("deny", "[tenant:emaa]", "all", "unknown_tenant", 13,
		    "unknown tenant \"emaa\": users in writ.yaml gives nobody that tenant; did you "
		    "mean \"emea\"?");
	one_problem("deny", "[group:leads, user:bob]", "all", "unknown_user", 26,
		    "unknown user \"bob\": users in writ.yaml gives nobody that user");
	no_problem("deny", "[group:sales, group:leads, user:alice, tenant:emea]", "all", CATALOG,
		   USERS);
}

static void test_where_anyone_is_let_in_every_user_may_exist(void **state)
{
	(void)state;
	no_problem("deny", "[user:bob, group:guests]", "all", CATALOG,
		   "{\"owner_uid\":0,\"users\":[],\"anyone\":{\"groups\":[\"guests\"]}}");
}

static void test_what_is_not_known_is_not_checked(void **state)
{
	(void)state;
	no_problem("allow", "[group:x]", "{database: sales, tables: {x: {columns: all}}}", NULL,
		   NULL);
	no_problem("allow", "[group:sales]", "{database: other, tables: {x: {columns: all}}}",
		   CATALOG, USERS);
}

static void test_what_has_a_wrong_shape_is_left_to_the_compiler(void **state)
{
	(void)state;
	no_problem("deny", "nobody", "[x]", CATALOG, USERS);
	no_problem("deny", "[[a], nobody, \"user:\"]", "{database: sales, tables: [orders]}",
		   CATALOG, USERS);
	no_problem("deny", "everyone", "{database: [sales], tables: {x: {columns: all}}}", CATALOG,
		   USERS);
	no_problem("deny", "everyone", "{database: sales, tables: {orders: [x]}}", CATALOG, USERS);
	no_problem("deny", "everyone", "{database: sales, tables: {orders: {columns: [[x]]}}}",
		   CATALOG, USERS);
	no_problem("allow", "everyone", ORDERS, CATALOG, USERS);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_table_that_the_data_has_not_is_named_with_what_was_meant),
		cmocka_unit_test(test_a_column_that_the_table_has_not_is_named_with_what_was_meant),
		cmocka_unit_test(test_rules_that_grant_spell_names_as_the_data_does),
		cmocka_unit_test(test_groups_tenants_and_users_must_be_given_to_somebody),
		cmocka_unit_test(test_where_anyone_is_let_in_every_user_may_exist),
		cmocka_unit_test(test_what_is_not_known_is_not_checked),
		cmocka_unit_test(test_what_has_a_wrong_shape_is_left_to_the_compiler),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
