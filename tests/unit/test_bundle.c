/* policy/bundle*.c: what a bundle must look like, and that nothing else is obeyed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "policy/policy.h"
#include "tests/unit/policy_sample.h"

static struct bundle *must_read(const char *text)
{
	struct bundle *bundle = NULL;
	struct err err = {0};

	if (bundle_read(text, strlen(text), &bundle, &err) < 0)
		fail_msg("%s", err.text);
	return bundle;
}

static void refuses(const char *text, const char *because)
{
	struct bundle *bundle = NULL;
	struct err err = {0};

	assert_int_equal(bundle_read(text, strlen(text), &bundle, &err), -1);
	assert_null(bundle);
	if (strstr(err.text, because) == NULL)
		fail_msg("said \"%s\", not \"%s\"", err.text, because);
}

/* Replaces the first find in the sample bundle. */
static char *changed(const char *find, const char *put)
{
	const char *at = strstr(SAMPLE_BUNDLE, find);
	struct buf text = BUF_INIT;

	if (at == NULL)
		fail_msg("the sample has no %s", find);
	buf_add(&text, SAMPLE_BUNDLE, (size_t)(at - SAMPLE_BUNDLE));
	buf_add_str(&text, put);
	buf_add_str(&text, at + strlen(find));
	return buf_take(&text);
}

static void changed_refuses(const char *find, const char *put, const char *because)
{
	CLEANUP(mem_freep) char *text = changed(find, put);

	refuses(text, because);
}

static void test_bundle_gives_its_agents_in_order(void **state)
{
	CLEANUP(bundle_freep) struct bundle *bundle = must_read(SAMPLE_BUNDLE);
	const struct agent_def *agent = bundle_agent(bundle, "sales-query-01");

	(void)state;
	assert_int_equal(bundle_agent_count(bundle), 2);
	assert_string_equal(bundle_agent_at(bundle, 0)->name, "sales-query-01");
	assert_string_equal(bundle_agent_at(bundle, 1)->name, "sales-report-01");
	assert_null(bundle_agent_at(bundle, 2));
	assert_string_equal(agent->id, "spiffe://corp.example/agent/sales-query-01");
	assert_string_equal(agent->role, "query");
	assert_string_equal(agent->owner, "team:sales-data");
	assert_string_equal(agent->scope, "sales");
	assert_string_equal(agent->at, "scopes/sales.yaml:6");
	assert_int_equal(agent->token_seconds, 300);
	assert_int_equal(agent->budget.tool_calls, 6);
	assert_int_equal(agent->budget.tool_errors, 2);
	assert_int_equal(agent->budget.model_calls, 7);
	assert_int_equal(agent->budget.attempts, 3);
	assert_int_equal(agent->budget.time_ms, 60000);
	assert_int_equal(agent->budget.scan_bytes, 268435456);
	assert_string_equal(agent->hands_to[0], "sales-report-01");
	assert_null(agent->hands_to[1]);
	assert_null(bundle_agent(bundle, "sales-query-1"));
	assert_null(bundle_agent(bundle, NULL));
}

static void test_bundle_is_named_by_its_bytes(void **state)
{
	CLEANUP(bundle_freep) struct bundle *bundle = must_read(SAMPLE_BUNDLE);
	char expected[SHA256_HEX_LEN + 1];

	(void)state;
	sha256_hex(SAMPLE_BUNDLE, strlen(SAMPLE_BUNDLE), expected);
	assert_string_equal(bundle_digest(bundle), expected);
}

static void test_bundle_may_hold_nothing(void **state)
{
	CLEANUP(bundle_freep)
	struct bundle *bundle = must_read("{\"writ_bundle\":1,\"scopes\":{},\"agents\":{},"
					  "\"functions\":{},\"rules\":[]}");

	(void)state;
	assert_int_equal(bundle_agent_count(bundle), 0);
	assert_null(bundle_agent(bundle, "anyone"));
}

static void test_bundle_refuses_what_is_no_bundle(void **state)
{
	(void)state;
	refuses("", "bundle");
	refuses("[]", "not an object");
	refuses("{}", "writ_bundle");
	refuses("{\"writ_bundle\":1", "bundle");
	changed_refuses("\"writ_bundle\":1", "\"writ_bundle\":2", "writ_bundle");
	changed_refuses("\"writ_bundle\":1", "\"writ_bundle\":\"1\"", "writ_bundle");
	changed_refuses("\"writ_bundle\":1", "\"writ_bundle\":1,\"more\":1", "more");
	changed_refuses("\"rules\":[", "\"rulez\":[", "rulez");
	changed_refuses("\"scopes\":{", "\"scopes\":1,\"x\":{", "x");
	changed_refuses("\"timezone\":\"UTC\"", "\"timezone\":1", "timezone");
	changed_refuses("\"timezone\":\"UTC\"", "\"timezone\":\"UTC\",\"zone\":\"\"",
			"scope sales");
}

static void test_bundle_refuses_agents_it_does_not_understand(void **state)
{
	(void)state;
	changed_refuses("\"role\":\"query\",", "", "agent sales-query-01: ");
	changed_refuses("\"role\":\"query\",", "\"role\":\"query\",\"rôle\":1,", "sales-query-01");
	changed_refuses("\"scope\":\"sales\"", "\"scope\":\"other\"", "scope \"other\"");
	changed_refuses("\"token_seconds\":300", "\"token_seconds\":301", "token_seconds");
	changed_refuses("\"token_seconds\":300", "\"token_seconds\":0", "token_seconds");
	changed_refuses("\"tool_calls\":6", "\"tool_calls\":-1", "per_task");
	changed_refuses("\"tool_calls\":6", "\"tool_calls\":6.5", "per_task");
	changed_refuses("\"tool_calls\":6", "\"tool_calls\":6,\"calls\":1", "per_task");
	changed_refuses("\"time_ms\":60000", "\"time_ms\":0", "time_ms");
	changed_refuses("[\"sales-report-01\"]", "[\"sales-report-02\"]",
			"hands to the unknown agent sales-report-02");
	changed_refuses("[\"sales-report-01\"]", "[1]", "hands_to");
	changed_refuses("agent/sales-report-01", "agent/sales-query-01", "two agents have one id");
}

static void test_bundle_names_the_rule_it_refuses(void **state)
{
	(void)state;
	changed_refuses("\"effect\":\"allow\"", "\"effect\":\"permit\"",
			"bundle: rule 1 (scopes/sales.yaml:21): unknown effect \"permit\"");
	changed_refuses("\"effect\":\"deny\"", "\"effect\":\"forbid\"",
			"bundle: rule 2 (scopes/sales.yaml:34): unknown effect \"forbid\"");
	changed_refuses("\"id\":\"read-sales\",", "", "id");
	changed_refuses("\"id\":\"read-sales\",", "\"id\":\"read-sales\",\"when\":1,", "when");
}

static void test_bundle_refuses_rules_without_their_parts(void **state)
{
	(void)state;
	changed_refuses("\"agents\":[\"sales-query-01\"]", "\"agents\":[]",
			"agents: an empty list");
	changed_refuses("\"agents\":[\"sales-query-01\"]", "\"agents\":\"sales-query-01\"",
			"agents");
	changed_refuses("\"agents\":[\"sales-query-01\"]", "\"agents\":[\"sales-query-02\"]",
			"unknown agent sales-query-02");
	changed_refuses("\"agents\":[\"sales-query-01\"]",
			"\"agents\":[\"sales-query-01\",\"sales-query-01\"]", "twice");
	changed_refuses("\"tools\":\"all\"", "\"tools\":\"any\"", "tools");
	changed_refuses("\"tools\":\"all\",", "", "tools");
	changed_refuses("\"tools\":\"all\"", "\"tools\":[\"\"]", "tools");
	changed_refuses("\"users\":\"everyone\"", "\"users\":\"all\"", "users");
	changed_refuses("\"users\":\"everyone\"", "\"users\":[]", "users");
	changed_refuses("\"group:sales\"", "\"sales\"", "user:NAME");
	changed_refuses("\"group:sales\"", "\"group:\"", "user:NAME");
	changed_refuses("\"group:sales\"", "7", "user:NAME");
	changed_refuses("\"group:sales\"", "\"user:user_42\"", "twice");
}

static void test_bundle_refuses_data_it_does_not_understand(void **state)
{
	(void)state;
	changed_refuses("{\"payroll\":\"all\"}", "{}", "names nothing");
	changed_refuses("{\"payroll\":\"all\"}", "{\"payroll\":\"every\"}", "columns of payroll");
	changed_refuses("{\"payroll\":\"all\"}", "{\"payroll\":\"all\",\"Payroll\":\"all\"}",
			"stands twice");
	changed_refuses("{\"payroll\":\"all\"}", "{\"payroll\":[\"pay\",\"PAY\"]}", "twice");
	changed_refuses("{\"payroll\":\"all\"}", "\"some\"", "tables must be an object");
	changed_refuses("[\"few\"]", "[\"many\"]", "unknown list of functions many");
	changed_refuses("[\"few\"]", "[3]", "data");
	changed_refuses("[\"few\"]", "\"few\"", "functions");
	changed_refuses("\"data\":{\"database\":\"sales\",\"functions\":[\"few\"]",
			"\"data\":{\"database\":\"sales\",\"rows\":1,\"functions\":[\"few\"]",
			"rows");
	/* Only what takes away may speak of everything; only what grants may speak of nothing. */
	changed_refuses("{\"customers\":[\"customer_id\",\"region\"],\"orders\":\"all\"}",
			"\"all\"", "tables must be an object");
	changed_refuses(
		"{\"database\":\"sales\",\"functions\":[],\"tables\":{\"payroll\":\"all\"}}",
		"\"none\"", "data must be an object or \"all\"");
	changed_refuses("\"functions\":[\"few\"],\"tables\":{\"customers\":[\"customer_id\","
			"\"region\"],\"orders\":\"all\"}",
			"\"functions\":[\"few\"],\"tables\":{}", "names nothing");
}

static void test_bundle_bounds_the_limits_of_a_call(void **state)
{
	CLEANUP(mem_freep) char *least = changed("\"rows\":500", "\"rows\":1");

	(void)state;
	bundle_free(must_read(least));
	changed_refuses("\"rows\":500", "\"rows\":501", "rows");
	changed_refuses("\"rows\":500", "\"rows\":0", "rows");
	changed_refuses("\"bytes\":1048576", "\"bytes\":1048577", "bytes");
	changed_refuses("\"time_ms\":5000", "\"time_ms\":300001", "time_ms");
	changed_refuses("\"time_ms\":5000", "\"time_ms\":0", "time_ms");
	changed_refuses("\"scan_bytes\":67108864", "\"scan_bytes\":0", "scan_bytes");
	changed_refuses("," SAMPLE_LIMITS, "", "per_call");
	changed_refuses("\"effect\":\"deny\"", "\"effect\":\"deny\"," SAMPLE_LIMITS,
			"only an allow rule");
}

static void test_bundle_refuses_two_values_for_one_name(void **state)
{
	(void)state;
	changed_refuses("\"effect\":\"deny\"", "\"effect\":\"deny\",\"effect\":\"allow\"",
			"effect");
}

/* Changes the nth member, counted through all depths; false when there are fewer. */
enum change { CHANGE_REMOVE, CHANGE_TO_NULL, CHANGE_ADD };

static bool change_member(struct json *json, enum change change, size_t *left, const char **ret_key)
{
	for (size_t i = 0; json_type(json) == JSON_ARRAY && i < json_len(json); i++) {
		/* Elements are reached through copies of the path only; the tree is ours to change.
		 */
		if (change_member((struct json *)(uintptr_t)json_at(json, i), change, left,
				  ret_key))
			return true;
	}
	if (json_type(json) != JSON_OBJECT)
		return false;
	json_each(member, json)
	{
		const char *key = json_key(member);

		if ((*left)-- == 0) {
			*ret_key = key;
			if (change == CHANGE_REMOVE)
				json_remove(json, key);
			else if (change == CHANGE_TO_NULL)
				json_set_null(json, key);
			else
				json_set_int(json, "unheard-of", 1);
			return true;
		}
		if (change_member(json_get_mut(json, key), change, left, ret_key))
			return true;
	}
	return false;
}

/* Names that authors choose: one of several may be absent. */
static bool may_be_absent(const char *name)
{
	return strcmp(name, "customers") == 0 || strcmp(name, "orders") == 0 ||
	       strcmp(name, "text") == 0;
}

static void test_bundle_needs_each_member_and_no_other(void **state)
{
	size_t changes = 0;

	(void)state;
	for (enum change change = CHANGE_REMOVE; change <= CHANGE_ADD; change++)
		for (size_t n = 0;; n++) {
			CLEANUP(json_freep) struct json *json = NULL;
			CLEANUP(mem_freep) char *name = NULL;
			struct buf text = BUF_INIT;
			struct bundle *bundle = NULL;
			const char *key = NULL;
			struct err err = {0};
			size_t left = n;

			assert_int_equal(json_parse_str(SAMPLE_BUNDLE, &json, &err), 0);
			if (change == CHANGE_REMOVE) {
				/* The key dies with its member: look it up in another copy. */
				CLEANUP(json_freep) struct json *twin = json_copy(json);
				size_t again = n;

				if (change_member(twin, CHANGE_ADD, &again, &key))
					name = mem_str(key);
			}
			if (!change_member(json, change, &left, &key))
				break;
			json_write(json, &text);
			if (bundle_read(text.bytes, text.len, &bundle, &err) == 0 &&
			    !(change == CHANGE_REMOVE && may_be_absent(name)))
				fail_msg("obeyed: %s", text.bytes);
			bundle_free(bundle);
			buf_clear(&text);
			changes++;
		}
	assert_true(changes > 150);
}

static void test_bundle_bounds_what_its_index_would_take(void **state)
{
	struct buf text = BUF_INIT;

	(void)state;
	buf_add_str(&text, "{\"writ_bundle\":1,\"scopes\":{\"s\":{\"at\":\"x:1\",\"owner\":\"o\","
			   "\"timezone\":\"UTC\"}},\"functions\":{},\"agents\":{");
	for (size_t i = 0; i < 2049; i++)
		buf_addf(&text,
			 "%s\"a%zu\":{\"at\":\"x:1\",\"hands_to\":[],\"id\":\"urn:%zu\",\"role\":"
			 "\"query\",\"scope\":\"s\",\"token_seconds\":1,\"per_task\":{\"attempts\":"
			 "0,"
			 "\"model_calls\":0,\"scan_bytes\":0,\"time_ms\":1,\"tool_calls\":0,"
			 "\"tool_errors\":0}}",
			 i > 0 ? "," : "", i, i);
	buf_add_str(&text,
		    "},\"rules\":[{\"id\":\"r\",\"at\":\"x:1\",\"effect\":\"deny\",\"users\":"
		    "\"everyone\",\"data\":\"all\",\"agents\":[");
	for (size_t i = 0; i < 2049; i++)
		buf_addf(&text, "%s\"a%zu\"", i > 0 ? "," : "", i);
	buf_add_str(&text, "],\"tools\":[");
	for (size_t i = 0; i < 2048; i++)
		buf_addf(&text, "%s\"t%zu\"", i > 0 ? "," : "", i);
	buf_add_str(&text, "]}]}");
	refuses(buf_str(&text), "pairs of agent and tool");
	buf_clear(&text);
}

static void test_bundle_cut_anywhere_is_refused(void **state)
{
	(void)state;
	for (size_t len = 0; len < strlen(SAMPLE_BUNDLE); len++) {
		struct bundle *bundle = NULL;
		struct err err = {0};

		assert_int_equal(bundle_read(SAMPLE_BUNDLE, len, &bundle, &err), -1);
		assert_null(bundle);
		assert_true(err.text[0] != '\0');
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bundle_gives_its_agents_in_order),
		cmocka_unit_test(test_bundle_is_named_by_its_bytes),
		cmocka_unit_test(test_bundle_may_hold_nothing),
		cmocka_unit_test(test_bundle_refuses_what_is_no_bundle),
		cmocka_unit_test(test_bundle_refuses_agents_it_does_not_understand),
		cmocka_unit_test(test_bundle_names_the_rule_it_refuses),
		cmocka_unit_test(test_bundle_refuses_rules_without_their_parts),
		cmocka_unit_test(test_bundle_refuses_data_it_does_not_understand),
		cmocka_unit_test(test_bundle_bounds_the_limits_of_a_call),
		cmocka_unit_test(test_bundle_refuses_two_values_for_one_name),
		cmocka_unit_test(test_bundle_needs_each_member_and_no_other),
		cmocka_unit_test(test_bundle_bounds_what_its_index_would_take),
		cmocka_unit_test(test_bundle_cut_anywhere_is_refused),
	};

	crypto_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
