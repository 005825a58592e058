/* policy/replay.c: records decided again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "policy/replay.h"
#include "tests/unit/policy_sample.h"

#define RULE(effect, users, tables)                                                                \
	"{\"agents\":\"all\",\"at\":\"s.yaml:9\",\"data\":{\"database\":\"sales\",\"functions\":[" \
	"],"                                                                                       \
	"\"tables\":" tables "},\"effect\":\"" effect "\",\"id\":\"" effect                        \
	"-it\",\"tools\":\"all\","                                                                 \
	"\"users\":" users "}"
#define ALLOW(users)                                                                               \
	"{\"agents\":\"all\",\"at\":\"s.yaml:8\",\"data\":{\"database\":\"sales\",\"functions\":[" \
	"],"                                                                                       \
	"\"tables\":{\"orders\":\"all\"}},\"effect\":\"allow\",\"id\":\"allow-it\"," SAMPLE_LIMITS \
	",\"tools\":\"all\",\"users\":" users "}"
#define BUNDLE(rules) SAMPLE_HEAD rules SAMPLE_TAIL
#define EVERYONE "\"everyone\""
#define ORDERS "{\"orders\":\"all\"}"

static struct bundle *bundle_of(const char *text)
{
	struct bundle *bundle = NULL;
	struct err err = {0};

	if (bundle_read(text, strlen(text), &bundle, &err) < 0)
		fail_msg("%s", err.text);
	return bundle;
}

static const struct bundle *find(void *data, const char *digest)
{
	const struct bundle *known = data;

	return known != NULL && strcmp(bundle_digest(known), digest) == 0 ? known : NULL;
}

/* A call of somebody with the group sales that read orders.x. */
static struct json *record_of(const struct bundle *recorded, const char *decision, const char *code,
			      const char *rule)
{
	CLEANUP(mem_freep)
	char *text = mem_format(
		"{\"ev\":\"tool.intent\",\"cl\":\"sales-query-01\",\"su\":\"user:"
		"00112233445566aa\","
		"\"tl\":\"run_query\",\"rs\":\"sales\",\"ts\":\"2026-10-15T10:00:00.000000Z\","
		"\"pol\":\"%s\",\"dec\":\"%s\",\"co\":\"%s\",%s%s%s\"fa\":{\"columns\":[\"orders."
		"x\"],\"tables\":[\"orders\"],\"functions\":[],\"groups\":[\"sales\"],\"rows\":5}}",
		recorded == NULL ? "00" : bundle_digest(recorded), decision, code,
		rule == NULL ? "" : "\"ru\":\"", rule == NULL ? "" : rule,
		rule == NULL ? "" : "\",");
	struct json *json = NULL;
	struct err err = {0};

	if (json_parse_str(text, &json, &err) < 0)
		fail_msg("%s", err.text);
	return json;
}

static void replays(const char *candidate, const char *recorded, const char *decision,
		    const char *code, const char *rule, const char *want_class,
		    const char *want_reason)
{
	CLEANUP(bundle_freep) struct bundle *b = bundle_of(candidate);
	CLEANUP(bundle_freep)
	struct bundle *a = recorded == NULL ? NULL : bundle_of(recorded);
	CLEANUP(json_freep) struct json *record = record_of(a, decision, code, rule);
	struct replay_line line;

	replay_record(b, record, find, a, &line);
	assert_string_equal(replay_class_name(line.class), want_class);
	if (want_reason == NULL)
		assert_null(line.reason);
	else
		assert_string_equal(line.reason, want_reason);
	replay_line_clear(&line);
}

static void test_a_decision_is_unchanged_or_changes_one_way(void **state)
{
	(void)state;
	replays(BUNDLE(ALLOW(EVERYONE)), NULL, "allow", "allowed", "allow-it", "unchanged", NULL);
	replays(BUNDLE(ALLOW(EVERYONE)), NULL, "deny", "no_rule", NULL, "would_allow", NULL);
	replays(BUNDLE(RULE("deny", EVERYONE, ORDERS)), NULL, "allow", "allowed", "allow-it",
		"would_deny", NULL);
	replays(BUNDLE(RULE("ask", EVERYONE, ORDERS)), NULL, "allow", "allowed", "allow-it",
		"would_deny", NULL);
	replays(BUNDLE(RULE("ask", EVERYONE, ORDERS)), NULL, "deny", "rule_denies", "x",
		"would_allow", NULL);
	replays(BUNDLE(ALLOW("[\"group:sales\"]")), NULL, "allow", "allowed", "x", "unchanged",
		NULL);
	replays(BUNDLE(ALLOW("[\"group:hr\"]")), NULL, "allow", "allowed", "x", "would_deny", NULL);
}

static void test_a_name_that_matters_is_not_guessed(void **state)
{
	(void)state;
	replays(BUNDLE(ALLOW("[\"user:ann\"]")), NULL, "allow", "allowed", "x", "not_replayable",
		"user");
	/* granted by the group whatever the name */
	replays(BUNDLE(ALLOW("[\"user:ann\",\"group:sales\"]")), NULL, "allow", "allowed", "x",
		"unchanged", NULL);
}

static void test_what_the_recorded_bundle_decided_tells_who_it_was_not(void **state)
{
	static const char ann[] = BUNDLE(ALLOW("[\"user:ann\"]"));
	static const char ann_denied[] = BUNDLE(
		RULE("deny", "[\"user:ann\"]", ORDERS) "," ALLOW("[\"user:ann\",\"group:sales\"]"));

	(void)state;
	replays(ann, ann, "allow", "allowed", "allow-it", "unchanged", NULL);
	replays(ann, ann, "deny", "no_rule", NULL, "unchanged", NULL);
	/* It was ann: the new rule denies her. */
	replays(ann_denied, ann, "allow", "allowed", "allow-it", "would_deny", NULL);
	/* It was not: the group grants. */
	replays(ann_denied, ann, "deny", "no_rule", NULL, "would_allow", NULL);
}

static void test_records_that_contradict_their_bundle_are_not_replayable(void **state)
{
	static const char nobody[] = BUNDLE(RULE("deny", EVERYONE, ORDERS));

	(void)state;
	replays(nobody, nobody, "allow", "allowed", "allow-it", "not_replayable", "user");
}

static void test_what_rules_did_not_decide_is_told_apart(void **state)
{
	(void)state;
	replays(BUNDLE(ALLOW(EVERYONE)), NULL, "deny", "token_denied", NULL, "not_replayable",
		"decided_elsewhere");
	replays(BUNDLE(ALLOW(EVERYONE)), NULL, "deny", "budget_scan", NULL, "not_replayable",
		"decided_elsewhere");
}

static void test_other_records_hold_no_decision(void **state)
{
	CLEANUP(bundle_freep) struct bundle *bundle = bundle_of(BUNDLE(ALLOW(EVERYONE)));
	CLEANUP(json_freep) struct json *record = json_object();
	struct replay_line line;

	(void)state;
	json_set_str(record, "ev", "tool.result");
	replay_record(bundle, record, find, NULL, &line);
	assert_int_equal(line.class, REPLAY_NO_DECISION);
	json_set_str(record, "ev", "tool.intent");
	json_set_str(record, "co", "allowed");
	replay_record(bundle, record, find, NULL, &line);
	assert_int_equal(line.class, REPLAY_NOT_REPLAYABLE);
	assert_string_equal(line.reason, "no_facts");
	replay_line_clear(&line);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_decision_is_unchanged_or_changes_one_way),
		cmocka_unit_test(test_a_name_that_matters_is_not_guessed),
		cmocka_unit_test(test_what_the_recorded_bundle_decided_tells_who_it_was_not),
		cmocka_unit_test(test_records_that_contradict_their_bundle_are_not_replayable),
		cmocka_unit_test(test_what_rules_did_not_decide_is_told_apart),
		cmocka_unit_test(test_other_records_hold_no_decision),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
