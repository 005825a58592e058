/*
 * Comparing random pairs of bundles against brute force: no sampled call may show a difference that
 * the comparison does not know, and every difference it names is there. Counts how often a pair is
 * not proven. WRIT_SEED repeats a run, WRIT_PAIRS changes how many.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "policy/call_spec.h"
#include "policy/compare.h"

#define PAIRS 12
#define CALLS_PER_PAIR 3000

static uint64_t random_state;

static uint64_t random_next(void) /* xorshift64* */
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * 0x2545F4914F6CDD1Dull;
}

static size_t below(size_t bound)
{
	return (size_t)((random_next() >> 33) % bound);
}

static bool chance(size_t percent)
{
	return below(100) < percent;
}

static const char *const agents[] = {"q1", "q2"};
static const char *const who[] = {"user:ann", "user:bob",    "group:sales",
				  "group:hr", "tenant:emea", "tenant:apac"};
static const char *const tools[] = {"run_query", "list_tables"};
static const char *const databases[] = {"sales", "hr"};
static const char *const tables[] = {"orders", "Orders", "pay", "items"};
static const char *const columns[] = {"a", "A", "b", "c"};
static const char *const sets[] = {"few", "text"};
#define PICK(words) words[below(ARRAY_LEN(words))]

/* ---- bundles ---- */

static void add_list(struct buf *out, const char *const *words, size_t count, size_t most)
{
	size_t start = below(count);
	size_t take = 1 + below(most < count ? most : count);

	buf_add_char(out, '[');
	for (size_t i = 0; i < take; i++)
		buf_addf(out, "%s\"%s\"", i > 0 ? "," : "", words[(start + i) % count]);
	buf_add_char(out, ']');
}

static void add_tables(struct buf *out, bool takes)
{
	size_t start = below(ARRAY_LEN(tables));
	size_t take = 1 + below(2);

	if (takes && chance(10)) {
		buf_add_str(out, "\"all\"");
		return;
	}
	buf_add_char(out, '{');
	for (size_t i = 0; i < take; i++) {
		buf_addf(out, "%s\"%s\":", i > 0 ? "," : "",
			 tables[(start + 2 * i) % ARRAY_LEN(tables)]);
		if (chance(40))
			buf_add_str(out, "\"all\"");
		else
			add_list(out, takes ? columns + 1 : columns, takes ? 3 : 4, 3);
	}
	buf_add_char(out, '}');
}

static void add_data(struct buf *out, bool takes)
{
	if (chance(8)) {
		buf_addf(out, "\"%s\"", takes ? "all" : "none");
		return;
	}
	buf_addf(out, "{\"database\":\"%s\",\"functions\":", chance(75) ? "sales" : "hr");
	if (chance(takes ? 15 : 60))
		add_list(out, sets, 2, 2);
	else
		buf_add_str(out, "[]");
	buf_add_str(out, ",\"tables\":");
	add_tables(out, takes);
	buf_add_char(out, '}');
}

static void add_constraint(struct buf *out, size_t depth)
{
	switch (below(depth > 0 ? 8 : 6)) {
	case 0:
		buf_addf(out, "{\"constraint_type\":\"exact\",\"value\":%zu}", below(6));
		return;
	case 1:
		buf_addf(out, "{\"constraint_type\":\"range\",\"min\":%zu,\"max\":%zu}", below(3),
			 3 + below(4));
		return;
	case 2:
		buf_addf(out, "{\"constraint_type\":\"one_of\",\"values\":[%zu,\"x\"]}", below(5));
		return;
	case 3:
		buf_addf(out, "{\"constraint_type\":\"not_one_of\",\"excluded\":[%zu,\"y\"]}",
			 below(5));
		return;
	case 4:
		buf_addf(out, "{\"constraint_type\":\"subset\",\"allowed\":[\"x\",%zu]}", below(3));
		return;
	case 5:
		buf_add_str(out, chance(50) ? "{\"constraint_type\":\"wildcard\"}"
					    : "{\"constraint_type\":\"contains\",\"required\":["
					      "\"x\"]}");
		return;
	default:
		buf_addf(out, "{\"constraint_type\":\"%s\",\"constraints\":[",
			 chance(50) ? "any" : "all");
		add_constraint(out, depth - 1);
		buf_add_char(out, ',');
		add_constraint(out, depth - 1);
		buf_add_str(out, "]}");
	}
}

static void add_matchers(struct buf *out, const char *key, const char *const *names, size_t count)
{
	size_t start = below(count), take = 1 + below(2);

	buf_addf(out, ",\"%s\":{", key);
	for (size_t i = 0; i < take; i++) {
		buf_addf(out, "%s\"%s\":", i > 0 ? "," : "", names[(start + i) % count]);
		add_constraint(out, 1);
	}
	buf_add_char(out, '}');
}

static void add_time(struct buf *out)
{
	buf_addf(out, ",\"time\":{\"zone\":\"%s\"", chance(50) ? "UTC" : "Z");
	if (chance(40))
		buf_addf(out, ",\"from\":\"2024-%02zu-%02zu\"", 1 + below(5), 1 + below(28));
	if (chance(40))
		buf_addf(out, ",\"until\":\"2024-%02zu-%02zu\"", 6 + below(6), 1 + below(28));
	if (chance(50))
		buf_addf(out, ",\"days\":[%zu,%zu]", below(3), 3 + below(4));
	if (chance(50))
		buf_addf(out, ",\"hours\":[[%zu,%zu]]", below(10) * 60, 600 + below(841));
	buf_add_char(out, '}');
}

static void add_when(struct buf *out, bool named_tools)
{
	static const char *const tenants[] = {"emea", "apac"};
	static const char *const environments[] = {"prod", "test"};
	static const char *const attributes[] = {"level", "site"};
	static const char *const arguments[] = {"n", "f.s", "l[*]"};

	if (chance(10)) {
		buf_add_str(out, ",\"tenants\":");
		add_list(out, tenants, 2, 2);
	}
	if (chance(10)) {
		buf_add_str(out, ",\"environments\":");
		add_list(out, environments, 2, 2);
	}
	if (chance(10))
		add_time(out);
	if (chance(8))
		add_matchers(out, "attributes", attributes, 2);
	if (named_tools && chance(12))
		add_matchers(out, "arguments", arguments, 3);
}

static void add_rule(struct buf *out, size_t number)
{
	size_t kind = below(10);
	bool takes = kind >= 6;
	bool all_tools = chance(40);

	buf_addf(out,
		 "{\"id\":\"r%zu\",\"at\":\"s.yaml:%zu\",\"effect\":\"%s\",\"agents\":", number,
		 number + 10,
		 !takes	     ? "allow"
		 : kind >= 8 ? "deny"
			     : "ask");
	if (chance(30))
		buf_add_str(out, "\"all\"");
	else
		add_list(out, agents, 2, 2);
	buf_add_str(out, ",\"tools\":");
	if (all_tools)
		buf_add_str(out, "\"all\"");
	else
		add_list(out, tools, 2, 2);
	buf_add_str(out, ",\"users\":");
	if (chance(35))
		buf_add_str(out, "\"everyone\"");
	else
		add_list(out, who, ARRAY_LEN(who), 3);
	buf_add_str(out, ",\"data\":");
	add_data(out, takes);
	add_when(out, !all_tools);
	if (!takes)
		buf_addf(out,
			 ",\"per_call\":{\"bytes\":1000,\"rows\":%zu,\"scan_bytes\":1000,"
			 "\"time_ms\":1000}",
			 1 + below(3));
	buf_add_char(out, '}');
}

static char *rule_text(size_t number)
{
	struct buf out = BUF_INIT;

	add_rule(&out, number);
	return buf_take(&out);
}

#define AGENT(name)                                                                                \
	"\"" name "\":{\"at\":\"s.yaml:6\",\"hands_to\":[],\"id\":\"spiffe://x/" name              \
	"\",\"per_task\":{\"attempts\":3,\"model_calls\":7,\"scan_bytes\":1,\"time_ms\":60000,"    \
	"\"tool_calls\":6,\"tool_errors\":2},\"role\":\"query\",\"scope\":\"s\","                  \
	"\"token_seconds\":300}"

static struct bundle *bundle_of(char *const *rules, size_t count)
{
	CLEANUP(buf_clear) struct buf out = BUF_INIT;
	struct bundle *bundle = NULL;
	struct err err = {0};

	buf_add_str(
		&out,
		"{\"writ_bundle\":1,\"scopes\":{\"s\":{\"at\":\"s.yaml:2\",\"owner\":"
		"\"team:s\",\"timezone\":\"UTC\"}},\"agents\":{" AGENT("q1") "," AGENT(
			"q2") "},\"functions\":{\"few\":[\"count\",\"sum\"],\"text\":"
			      "[\"count\",\"lower\"]},\"zones\":{\"UTC\":[[1704067200,0]],\"Z\":[["
			      "1704067200,3600],[1711846800,7200],[1729990800,3600]]},\"rules\":[");
	for (size_t i = 0; i < count; i++)
		buf_addf(&out, "%s%s", i > 0 ? "," : "", rules[i]);
	buf_add_str(&out, "]}");
	if (bundle_read(out.bytes, out.len, &bundle, &err) < 0)
		fail_msg("%s\n%s", err.text, buf_str(&out));
	return bundle;
}

#define RULES_MAX 7
struct pair {
	char *rules[2][RULES_MAX];
	size_t counts[2];
	struct bundle *bundles[2];
};

/* The second is the first with some rules changed, so that they often agree. */
static void pair_make(struct pair *pair)
{
	*pair = (struct pair){.counts = {1 + below(RULES_MAX - 2)}};
	for (size_t i = 0; i < pair->counts[0]; i++)
		pair->rules[0][i] = rule_text(i);
	for (size_t i = 0; i < pair->counts[0]; i++) {
		if (chance(12))
			continue;
		pair->rules[1][pair->counts[1]++] =
			chance(20) ? rule_text(i) : mem_str(pair->rules[0][i]);
	}
	if (chance(40))
		pair->rules[1][pair->counts[1]++] = rule_text(RULES_MAX);
	for (size_t s = 0; s < 2; s++)
		pair->bundles[s] = bundle_of(pair->rules[s], pair->counts[s]);
}

static void pair_clear(struct pair *pair)
{
	for (size_t s = 0; s < 2; s++) {
		for (size_t i = 0; i < pair->counts[s]; i++)
			mem_free(pair->rules[s][i]);
		bundle_free(pair->bundles[s]);
	}
}

static void pair_print(const struct pair *pair)
{
	for (size_t s = 0; s < 2; s++)
		for (size_t i = 0; i < pair->counts[s]; i++)
			fprintf(stderr, "%c: %s\n", (char)('A' + s), pair->rules[s][i]);
}

/* ---- calls ---- */

static void add_word(struct json *list, const char *word)
{
	json_each(known, list) if (strcmp(json_str(known), word) == 0) return;
	json_push_str(list, word);
}

static struct json *random_value(void)
{
	switch (below(8)) {
	case 0:
		return json_new_str("x");
	case 1:
		return json_new_str(chance(50) ? "y" : "z");
	case 2:
		return json_new_bool(true);
	case 3: {
		struct json *list = json_array();

		if (chance(60))
			json_push_str(list, "x");
		if (chance(40))
			json_push_int(list, (int64_t)below(3));
		return list;
	}
	default:
		return json_new_int((int64_t)below(9) - 1);
	}
}

static void add_setting(struct json *call)
{
	struct json *attributes = json_object(), *arguments = json_object();
	struct json *inner = json_object(), *list = json_array();
	char time[32];

	if (chance(60))
		json_set_str(call, "environment",
			     chance(50)	  ? "prod"
			     : chance(50) ? "test"
					  : "dev");
	if (chance(80)) {
		snprintf(time, sizeof(time), "2024-%02zu-%02zuT%02zu:%02zu:00Z", 1 + below(12),
			 1 + below(28), below(24), below(60));
		json_set_str(call, "time", time);
	}
	if (chance(50))
		json_set(attributes, "level", random_value());
	if (chance(50))
		json_set(attributes, "site", random_value());
	json_set(call, "attributes", attributes);
	if (chance(50))
		json_set(arguments, "n", random_value());
	if (chance(40)) {
		json_set(inner, "s", random_value());
		json_set(arguments, "f", TAKE(inner));
	}
	if (chance(40)) {
		for (size_t i = below(3); i > 0; i--)
			json_push(list, random_value());
		json_set(arguments, "l", TAKE(list));
	}
	json_free(inner);
	json_free(list);
	json_set(call, "arguments", arguments);
}

static struct call_spec *random_call(void)
{
	static const char *const more_columns[] = {"a", "A", "b", "B", "c", "C", "d"};
	static const char *const functions[] = {"count", "sum", "lower", "printf"};
	static const char *const more_tables[] = {"orders", "Orders", "pay", "PAY", "items"};
	static const char *const asks[] = {"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7"};
	CLEANUP(json_freep) struct json *json = json_object();
	struct json *list = json_array();
	struct call_spec *spec;
	struct err err = {0};

	json_set_str(json, "agent", PICK(agents));
	json_set_str(json, "tool", PICK(tools));
	json_set_str(json, "user", chance(30) ? "ann" : chance(30) ? "bob" : "eve");
	for (size_t i = below(3); i > 0; i--)
		add_word(list, chance(50) ? "sales" : chance(70) ? "hr" : "x");
	json_set(json, "groups", list);
	if (chance(50))
		json_set_str(json, "tenant", chance(50) ? "emea" : "apac");
	if (chance(40)) {
		list = json_array();
		for (size_t i = 0; i < ARRAY_LEN(asks); i++)
			json_push_str(list, asks[i]);
		json_set(json, "approved", list);
	}
	if (chance(92)) {
		const char *table = PICK(more_tables);

		json_set_str(json, "database", PICK(databases));
		list = json_array();
		for (size_t i = below(4); i > 0; i--) {
			CLEANUP(mem_freep)
			char *name = mem_format("%s.%s", table, PICK(more_columns));

			add_word(list, name);
			if (chance(20))
				table = PICK(more_tables);
		}
		json_set(json, "columns", list);
		if (chance(20)) {
			list = json_array();
			json_push_str(list, table);
			json_set(json, "tables", list);
		}
		list = json_array();
		if (chance(30))
			add_word(list, PICK(functions));
		json_set(json, "functions", list);
	}
	add_setting(json);
	if (call_spec_read(json, &spec, &err) < 0)
		fail_msg("%s", err.text);
	return spec;
}

static bool is_more(const struct verdict *one, const struct verdict *other)
{
	if (one->effect != EFFECT_ALLOW)
		return false;
	return other->effect != EFFECT_ALLOW || one->limits.rows > other->limits.rows;
}

static const struct pair_comparison *find_pair(const struct comparison *comparison,
					       const struct call_facts *facts)
{
	for (size_t i = 0; i < comparison->count; i++)
		if (strcmp(comparison->pairs[i].agent, facts->agent) == 0 &&
		    strcmp(comparison->pairs[i].tool, facts->tool) == 0)
			return &comparison->pairs[i];
	return NULL;
}

static void known_or_fail(const struct pair *pair, const struct comparison *comparison,
			  const struct call_spec *spec, bool wider)
{
	const struct call_facts *facts = call_spec_facts(spec);
	const struct pair_comparison *found = find_pair(comparison, facts);
	const struct differences *differences = wider ? &found->wider : &found->narrower;
	CLEANUP(buf_clear) struct buf said = BUF_INIT;

	if (differences->count > 0 || !differences->complete)
		return;
	call_spec_say(facts, &said);
	pair_print(pair);
	fail_msg("%s, but no difference is known: %s", wider ? "wider" : "narrower",
		 buf_str(&said));
}

static size_t sample(const struct pair *pair, const struct comparison *comparison)
{
	size_t differ = 0;

	for (size_t i = 0; i < CALLS_PER_PAIR; i++) {
		CLEANUP(call_spec_freep) struct call_spec *spec = random_call();
		struct verdict a, b;

		policy_decide(pair->bundles[0], call_spec_facts(spec), &a);
		policy_decide(pair->bundles[1], call_spec_facts(spec), &b);
		if (is_more(&b, &a))
			known_or_fail(pair, comparison, spec, true);
		if (is_more(&a, &b))
			known_or_fail(pair, comparison, spec, false);
		differ += is_more(&b, &a) || is_more(&a, &b);
	}
	return differ;
}

/* Each difference is a call on which the evaluator says so. */
static void confirm(const struct bundle *less, const struct bundle *more,
		    const struct differences *differences)
{
	for (size_t i = 0; i < differences->count; i++) {
		CLEANUP(call_spec_freep) struct call_spec *spec = NULL;
		const struct difference *difference = &differences->items[i];
		struct verdict a, b;
		struct err err = {0};

		assert_int_equal(call_spec_read(difference->call, &spec, &err), 0);
		policy_decide(less, call_spec_facts(spec), &a);
		policy_decide(more, call_spec_facts(spec), &b);
		assert_int_equal(b.effect, EFFECT_ALLOW);
		assert_int_equal(a.effect == EFFECT_ALLOW, difference->kind == DIFFERENCE_LIMIT);
		assert_true(is_more(&b, &a));
		assert_string_equal(difference->more.code, "allowed");
	}
}

static size_t env_or(const char *name, size_t fallback)
{
	const char *text = getenv(name);

	return text == NULL ? fallback : (size_t)strtoull(text, NULL, 10);
}

static void test_no_sampled_call_knows_better_than_the_comparison(void **state)
{
	size_t pairs = env_or("WRIT_PAIRS", PAIRS), differ = 0, unproven = 0, same = 0, all = 0;

	(void)state;
	for (size_t i = 0; i < pairs; i++) {
		struct comparison comparison;
		struct pair pair;

		pair_make(&pair);
		policy_compare(pair.bundles[0], pair.bundles[1], &comparison);
		differ += sample(&pair, &comparison);
		for (size_t p = 0; p < comparison.count; p++) {
			confirm(pair.bundles[0], pair.bundles[1], &comparison.pairs[p].wider);
			confirm(pair.bundles[1], pair.bundles[0], &comparison.pairs[p].narrower);
			if (getenv("WRIT_WHY") != NULL && !comparison.pairs[p].wider.complete)
				printf("# %s\n", comparison.pairs[p].wider.not_proven);
			unproven += !comparison.pairs[p].wider.complete ||
				    !comparison.pairs[p].narrower.complete;
			same += pair_relation(&comparison.pairs[p]) == RELATION_SAME;
			all++;
		}
		comparison_clear(&comparison);
		pair_clear(&pair);
	}
	printf("# %zu pairs of bundles, %zu agents with tools: %zu the same, %zu not proven; %zu "
	       "of "
	       "%zu sampled calls differ\n",
	       pairs, all, same, unproven, differ, pairs * CALLS_PER_PAIR);
	assert_true(unproven * 5 < all); /* the counts above say how often */
	assert_true(differ > pairs);	 /* the samples do look where something differs */
	assert_true(same > 0 && same < all);
}

static void test_a_bundle_is_the_same_as_itself(void **state)
{
	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct comparison comparison;
		struct pair pair;

		pair_make(&pair);
		policy_compare(pair.bundles[0], pair.bundles[0], &comparison);
		for (size_t p = 0; p < comparison.count; p++)
			assert_true(pair_relation(&comparison.pairs[p]) == RELATION_SAME ||
				    !comparison.pairs[p].wider.complete);
		comparison_clear(&comparison);
		pair_clear(&pair);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_sampled_call_knows_better_than_the_comparison),
		cmocka_unit_test(test_a_bundle_is_the_same_as_itself),
	};

	random_state = env_or("WRIT_SEED", 20261201);
	printf("# seed %llu\n", (unsigned long long)random_state);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
