/* What allow rules keep back: from the scope file into the view that a connector enforces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "policy/compile.h"
#include "tests/unit/workspace_dir.h"

static const char *const database_words[] = {"sales"};
static const struct names databases = {database_words, 1};

#define HEAD                                                                                       \
	"writ: 1\nscope: s\nowner: team:s\n"                                                       \
	"agents:\n  a: {id: 'urn:a', role: query, token: 5m}\n"                                    \
	"rules:\n"
#define ALLOW(id, tables)                                                                          \
	"  - id: " id "\n    effect: allow\n    agents: [a]\n    users: everyone\n"                \
	"    tools: [run_query, describe_table]\n    data:\n      database: sales\n"               \
	"      functions: [standard]\n      tables:\n" tables

static struct bundle *compiled(const char *text, char **ret_problems)
{
	struct workspace_dir dir = workspace_dir_make();
	struct problems problems = PROBLEMS_INIT;
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	struct bundle *bundle = NULL;
	size_t len;
	FILE *out = open_memstream(ret_problems, &len);
	struct err err;

	workspace_dir_put(&dir, "scopes/x.yaml", text);
	assert_int_equal(policy_compile(dir.fd, &(struct policy_world){.databases = &databases},
					&bytes, &problems, &err),
			 0);
	problems_print(&problems, out);
	fclose(out);
	workspace_dir_remove(&dir);
	problems_clear(&problems);
	if (bytes.len > 0 && bundle_read(bytes.bytes, bytes.len, &bundle, &err) < 0)
		fail_msg("%s", err.text);
	return bundle;
}

static const char no_attributes[] = "{}";

/* The member of the view, as JSON; "null" when it is absent. */
static void view_is(const char *text, const char *attributes, const char *member,
		    const char *wanted)
{
	CLEANUP(mem_freep) char *problems = NULL;
	CLEANUP(bundle_freep) struct bundle *bundle = compiled(text, &problems);
	CLEANUP(json_freep) struct json *known = NULL;
	CLEANUP(json_freep) struct json *view = NULL;
	CLEANUP(buf_clear) struct buf got = BUF_INIT;
	const struct setting setting = {.now_s = 1796083200};
	struct subject subject = {.user = "user:ada", .tenant = "emea"};
	struct err err;

	assert_string_equal(problems, "");
	assert_int_equal(json_parse_str(attributes, &known, &err), 0);
	subject.attributes = known;
	view = policy_view(bundle, "a", &subject, &setting, "run_query", NULL, "sales");
	json_write(json_get(view, member), &got);
	assert_string_equal(buf_str(&got), wanted);
}

static void test_without_restrictions_a_view_says_nothing_of_them(void **state)
{
	static const char text[] = HEAD ALLOW("r", "        orders: {columns: all}\n");

	(void)state;
	view_is(text, no_attributes, "rows", "null");
	view_is(text, no_attributes, "masks", "null");
	view_is(text, no_attributes, "require", "null");
}

static void test_conditions_on_rows_come_as_they_were_written(void **state)
{
	(void)state;
	view_is(HEAD ALLOW("r",
			   "        orders:\n"
			   "          columns: all\n"
			   "          rows:\n"
			   "            state: {not_one_of: [draft, 'x']}\n"
			   "            kind: {exact: 3}\n"
			   "            placed: {range: {min: '2026-01-01', max: '2027-01-01', "
			   "max_inclusive: false}}\n"),
		no_attributes, "rows",
		"{\"orders\":[{\"column\":\"state\",\"constraint_type\":\"not_one_of\","
		"\"excluded\":[\"draft\",\"x\"]},"
		"{\"column\":\"kind\",\"constraint_type\":\"exact\",\"value\":3},"
		"{\"column\":\"placed\",\"constraint_type\":\"range\",\"max\":\"2027-01-01\","
		"\"max_inclusive\":false,\"min\":\"2026-01-01\"}]}");
}

#define OWN(condition)                                                                             \
	HEAD ALLOW("r", "        orders: {columns: all, rows: {region: " condition "}}\n")
#define REGION "{\"orders\":[{\"column\":\"region\",\"constraint_type\":"
#define NEVER REGION "\"one_of\",\"values\":[]}]}"

static void test_the_users_own_values_take_their_place(void **state)
{
	(void)state;
	view_is(OWN("{exact: {user: tenant}}"), no_attributes, "rows",
		REGION "\"exact\",\"value\":\"emea\"}]}");
	view_is(OWN("{exact: {user: name}}"), no_attributes, "rows",
		REGION "\"exact\",\"value\":\"user:ada\"}]}");
	view_is(OWN("{one_of: {user: regions}}"), "{\"regions\":[\"east\",7]}", "rows",
		REGION "\"one_of\",\"values\":[\"east\",7]}]}");
	view_is(OWN("{one_of: {user: regions}}"), "{\"regions\":\"east\"}", "rows",
		REGION "\"one_of\",\"values\":[\"east\"]}]}");
	view_is(OWN("{range: {max: {user: level}}}"), "{\"level\":3}", "rows",
		REGION "\"range\",\"max\":3}]}");
	view_is(OWN("{exact: {user: flag}}"), "{\"flag\":true}", "rows",
		REGION "\"exact\",\"value\":1}]}");
}

static void test_a_value_that_the_session_has_not_leaves_no_row(void **state)
{
	(void)state;
	view_is(OWN("{exact: {user: cost_center}}"), no_attributes, "rows", NEVER);
	view_is(OWN("{one_of: {user: regions}}"), "{\"regions\":[]}", "rows", NEVER);
	view_is(OWN("{not_one_of: {user: regions}}"), no_attributes, "rows", NEVER);
	view_is(OWN("{range: {min: 1, max: {user: level}}}"), no_attributes, "rows", NEVER);
	view_is(OWN("{exact: {user: regions}}"), "{\"regions\":[\"a\",\"b\"]}", "rows", NEVER);
	view_is(OWN("{exact: {user: it}}"), "{\"it\":{\"a\":1}}", "rows", NEVER);
}

static void test_several_rules_add_up(void **state)
{
	static const char text[] = HEAD ALLOW(
		"one",
		"        orders: {columns: all, rows: {a: {exact: 1}}, masks: {email: last4, "
		"name: redact}, require: {aggregate: true, min_group: 5, of: id}}\n")
		ALLOW("two", "        orders: {columns: [a], rows: {b: {exact: 2}}, masks: {email: "
			     "hash, name: last4}, require: {aggregate: true, min_group: 9, of: "
			     "id}}\n");

	(void)state;
	view_is(text, no_attributes, "rows",
		"{\"orders\":[{\"column\":\"a\",\"constraint_type\":\"exact\",\"value\":1},"
		"{\"column\":\"b\",\"constraint_type\":\"exact\",\"value\":2}]}");
	view_is(text, no_attributes, "masks",
		"{\"orders\":{\"email\":\"hash\",\"name\":\"redact\"}}");
	view_is(text, no_attributes, "require", "{\"orders\":{\"min_group\":9,\"of\":\"id\"}}");
}

static void test_rules_that_count_different_things_leave_nothing(void **state)
{
	(void)state;
	view_is(HEAD ALLOW("one", "        staff: {columns: all, require: {aggregate: true, "
				  "min_group: 5, of: id}}\n")
			ALLOW("two", "        staff: {columns: all, require: {aggregate: true, "
				     "min_group: 3, of: team}}\n"),
		no_attributes, "rows",
		"{\"staff\":[{\"column\":\"id\",\"constraint_type\":\"one_of\",\"values\":[]}]}");
}

static void is_mistaken(const char *table, const char *wanted)
{
	CLEANUP(mem_freep) char *text = mem_format("%s%s", HEAD, "");
	CLEANUP(mem_freep)
	char *whole = mem_format(
		"%s  - id: r\n    effect: allow\n    agents: [a]\n    users: everyone\n    tools: "
		"[run_query]\n    data:\n      database: sales\n      functions: [standard]\n      "
		"tables:\n        orders: {columns: all, %s}\n",
		text, table);
	CLEANUP(mem_freep) char *problems = NULL;
	CLEANUP(bundle_freep) struct bundle *bundle = compiled(whole, &problems);

	assert_null(bundle);
	if (strstr(problems, wanted) == NULL)
		fail_msg("wanted %s\ngot %s", wanted, problems);
}

static void test_mistakes_are_told_and_grant_nothing(void **state)
{
	(void)state;
	is_mistaken("row: {a: {exact: 1}}", "rows");
	is_mistaken("rows: {}", "rows must be a map");
	is_mistaken("rows: {a: 1}", "a condition on rows");
	is_mistaken("rows: {a: {exact: 1, one_of: [2]}}", "one condition a column");
	is_mistaken("rows: {a: {contains: [1]}}", "contains");
	is_mistaken("rows: {a: {range: {}}}", "range");
	is_mistaken("rows: {a: {one_of: [{user: x}]}}", "a list of the user's stands alone");
	is_mistaken("rows: {a: {exact: {usr: x}}}", "user");
	is_mistaken("masks: {a: md5}", "mask");
	is_mistaken("masks: [a]", "masks must be a map");
	is_mistaken("require: {aggregate: false, min_group: 5, of: a}", "only aggregate: true");
	is_mistaken("require: {aggregate: true, min_group: 1, of: a}",
		    "min_group must be a whole number from 2 to 1000000");
	is_mistaken("require: {aggregate: true, of: a}", "min_group");
	is_mistaken("require: {aggregate: true, min_group: 5}", "of");
}

static void test_a_deny_rule_keeps_nothing_back(void **state)
{
	CLEANUP(mem_freep) char *problems = NULL;
	CLEANUP(bundle_freep)
	struct bundle *bundle =
		compiled(HEAD "  - id: d\n    effect: deny\n    agents: all\n    users: everyone\n"
			      "    tools: all\n    data: {database: sales, tables: {orders: "
			      "{columns: all, rows: {a: {exact: 1}}}}}\n",
			 &problems);

	(void)state;
	assert_null(bundle);
	assert_non_null(strstr(problems, "rows is for allow rules"));
}

/* ---- bundles made by hand ---- */

static void bundle_fails(const char *member)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	CLEANUP(json_freep) struct json *json = NULL;
	struct workspace_dir dir = workspace_dir_make();
	struct problems found = PROBLEMS_INIT;
	struct bundle *bundle = NULL;
	struct json *rule, *data, *more = NULL;
	struct err err;

	workspace_dir_put(&dir, "scopes/x.yaml", HEAD ALLOW("r", "        t: {columns: all}\n"));
	assert_int_equal(policy_compile(dir.fd, &(struct policy_world){.databases = &databases},
					&bytes, &found, &err),
			 0);
	workspace_dir_remove(&dir);
	problems_clear(&found);
	assert_int_equal(json_parse(bytes.bytes, bytes.len, bytes.len, &json, &err), 0);
	assert_int_equal(json_parse_str(member, &more, &err), 0);
	rule = json_copy(json_at(json_get(json, "rules"), 0));
	data = json_get_mut(rule, "data");
	json_set(data, json_key(json_first(more)), json_copy(json_first(more)));
	json_set(json, "rules", json_array());
	json_push(json_get_mut(json, "rules"), rule);
	json_free(more);
	buf_reset(&bytes);
	json_write_canonical(json, &bytes);
	assert_int_equal(bundle_read(bytes.bytes, bytes.len, &bundle, &err), -1);
}

static void test_a_bundle_with_a_malformed_restriction_is_refused_whole(void **state)
{
	static const char *const members[] = {
		"{\"rows\":[]}",
		"{\"rows\":{\"t\":[]}}",
		"{\"rows\":{\"t\":{}}}",
		"{\"rows\":{\"t\":[{\"column\":\"a\"}]}}",
		"{\"rows\":{\"t\":[{\"column\":\"a\",\"constraint_type\":\"exact\"}]}}",
		"{\"rows\":{\"t\":[{\"column\":\"a\",\"constraint_type\":\"exact\",\"value\":1.5}]}"
		"}",
		"{\"rows\":{\"t\":[{\"column\":\"a\",\"constraint_type\":\"exact\",\"value\":1,"
		"\"more\":1}]}}",
		"{\"rows\":{\"t\":[{\"column\":\"a\",\"constraint_type\":\"one_of\",\"values\":"
		"[{\"user\":\"x\"}]}]}}",
		"{\"rows\":{\"t\":[{\"column\":\"a\",\"constraint_type\":\"not_one_of\","
		"\"excluded\":1}]}}",
		"{\"rows\":{\"t\":[{\"column\":\"a\",\"constraint_type\":\"range\"}]}}",
		"{\"rows\":{\"t\":[{\"column\":\"a\",\"constraint_type\":\"range\",\"min\":1,"
		"\"min_inclusive\":1}]}}",
		"{\"masks\":{\"t\":{\"a\":\"none\"}}}",
		"{\"masks\":{\"t\":[\"a\"]}}",
		"{\"require\":{\"t\":{\"min_group\":1,\"of\":\"a\"}}}",
		"{\"require\":{\"t\":{\"min_group\":5}}}",
		"{\"require\":{\"t\":{\"min_group\":5,\"of\":\"a\",\"more\":1}}}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		bundle_fails(members[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_restrictions_a_view_says_nothing_of_them),
		cmocka_unit_test(test_conditions_on_rows_come_as_they_were_written),
		cmocka_unit_test(test_the_users_own_values_take_their_place),
		cmocka_unit_test(test_a_value_that_the_session_has_not_leaves_no_row),
		cmocka_unit_test(test_several_rules_add_up),
		cmocka_unit_test(test_rules_that_count_different_things_leave_nothing),
		cmocka_unit_test(test_mistakes_are_told_and_grant_nothing),
		cmocka_unit_test(test_a_deny_rule_keeps_nothing_back),
		cmocka_unit_test(test_a_bundle_with_a_malformed_restriction_is_refused_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
