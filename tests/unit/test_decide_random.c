/*
 * Two evaluators must agree: policy_decide() and the naive one below, which keeps rules as the text
 * they were made of and scans all of them for each call. 1,000,000 decisions over random bundles;
 * the seed is printed and can be given as WRIT_SEED. Beside it, two laws: what is allowed lies
 * within view and grant, and a further deny rule never turns a denial into anything else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "policy/policy.h"

#define BUNDLES 2500
#define CALLS_PER_BUNDLE 400
#define LIST_MAX 4

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

#include "tests/unit/naive_conditions.h"

/* Small worlds, so that rules and calls meet often; letters of both cases on purpose. */
static const char *const agents[] = {"q1", "q2", "r1"};
static const char *const users[] = {"ann", "bob", "cy"};
static const char *const groups[] = {"sales", "hr", "ann"};
static const char *const tenants[] = {"emea", "apac"};
static const char *const tools[] = {"run_query", "list_tables", "search_values", "nonesuch"};
static const char *const databases[] = {"sales", "hr"};
static const char *const tables[] = {"orders", "Orders", "pay", "PAY", "items"};
static const char *const columns[] = {"a", "A", "b", "c"};
static const char *const function_sets[] = {"few", "text"};
static const char *const functions[2][3] = {{"count", "sum", NULL}, {"lower", "count", NULL}};
static const char *const call_functions[] = {"count", "sum", "lower", "load_extension"};
#define PICK(words) words[below(ARRAY_LEN(words))]

struct list {
	const char *items[LIST_MAX * 4];
	size_t count;
};

struct naive_table {
	const char *name;
	bool all;
	bool all_but; /* but its columns */
	struct list columns;
};

struct naive_rule {
	char id[16];
	enum effect effect;
	bool agents_all, tools_all, everyone;
	struct list agents, tools, users, groups, tenants;
	bool any_data, no_data, tables_all;
	const char *database;
	struct naive_table tables[LIST_MAX];
	size_t table_count;
	struct list sets;
	int64_t rows;
	struct naive_when when;
};

#define RULES_MAX 12
struct naive_bundle {
	struct naive_rule rules[RULES_MAX];
	size_t count;
};

/* ---- the naive evaluator ---- */

static bool in_list(const struct list *list, const char *word, bool any_case)
{
	for (size_t i = 0; i < list->count; i++)
		if ((any_case ? strcasecmp : strcmp)(list->items[i], word) == 0)
			return true;
	return false;
}

static bool naive_function(const struct naive_rule *rule, const char *function)
{
	for (size_t s = 0; s < ARRAY_LEN(function_sets); s++)
		for (size_t f = 0; functions[s][f] != NULL; f++)
			if (in_list(&rule->sets, function_sets[s], false) &&
			    strcmp(functions[s][f], function) == 0)
				return true;
	return false;
}

static bool naive_meant(const struct naive_rule *rule, const struct call_facts *facts)
{
	bool user = rule->everyone || in_list(&rule->users, facts->subject.user, false) ||
		    (facts->subject.tenant != NULL &&
		     in_list(&rule->tenants, facts->subject.tenant, false));

	for (size_t i = 0; i < facts->subject.groups.count; i++)
		user = user || in_list(&rule->groups, facts->subject.groups.items[i], false);
	return user && (rule->agents_all || in_list(&rule->agents, facts->agent, false)) &&
	       (rule->tools_all || in_list(&rule->tools, facts->tool, false));
}

/* Of hr it is known what there was when the bundle was made: columns a, b of every table but PAY.
 */
static bool naive_is_known(const char *table, const char *column)
{
	return strcmp(table, "PAY") != 0 && (strcmp(column, "a") == 0 || strcmp(column, "b") == 0);
}

/* any_case: does the rule name this column (or, without a column, the table at all)? */
static bool naive_column(const struct naive_rule *rule, const char *column, bool any_case)
{
	CLEANUP(mem_freep) char *table = mem_str(column);
	char *name = strchr(table, '.') + 1;

	name[-1] = '\0';
	for (size_t i = 0; i < rule->table_count; i++) {
		const struct naive_table *t = &rule->tables[i];

		if ((any_case ? strcasecmp : strcmp)(t->name, table) != 0)
			continue;
		if (*name == '\0')
			return !any_case || t->all;
		if (t->all_but)
			return naive_is_known(table, name) && !in_list(&t->columns, name, false);
		if (t->all)
			return any_case || strcmp(rule->database, "hr") != 0 ||
			       naive_is_known(table, name);
		if (in_list(&t->columns, name, any_case))
			return true;
	}
	return false;
}

static bool naive_touches(const struct naive_rule *rule, const struct call_facts *facts)
{
	if (rule->any_data)
		return true;
	if (facts->database == NULL || strcmp(rule->database, facts->database) != 0)
		return false;
	if (rule->tables_all)
		return true;
	for (size_t i = 0; i < facts->tables.count; i++)
		for (size_t t = 0; t < rule->table_count; t++)
			if (rule->tables[t].all &&
			    strcasecmp(rule->tables[t].name, facts->tables.items[i]) == 0)
				return true;
	for (size_t i = 0; i < facts->columns.count; i++)
		if (naive_column(rule, facts->columns.items[i], true))
			return true;
	for (size_t i = 0; i < facts->functions.count; i++)
		if (naive_function(rule, facts->functions.items[i]))
			return true;
	return false;
}

static bool naive_covers(const struct naive_rule *rule, const struct call_facts *facts)
{
	bool covered = true;

	if (facts->database == NULL)
		return true;
	if (rule->no_data || strcmp(rule->database, facts->database) != 0)
		return false;
	for (size_t i = 0; i < facts->tables.count; i++) {
		bool named = false;

		for (size_t t = 0; t < rule->table_count; t++)
			named = named || strcmp(rule->tables[t].name, facts->tables.items[i]) == 0;
		covered = covered && named;
	}
	for (size_t i = 0; i < facts->columns.count; i++)
		covered = covered && naive_column(rule, facts->columns.items[i], false);
	for (size_t i = 0; i < facts->functions.count; i++)
		covered = covered && naive_function(rule, facts->functions.items[i]);
	return covered;
}

static enum outcome naive_test(const struct naive_rule *rule, const struct call_facts *facts)
{
	bool allow = rule->effect == EFFECT_ALLOW;

	if (!naive_meant(rule, facts) ||
	    !(allow ? naive_covers(rule, facts) : naive_touches(rule, facts)))
		return OUTCOME_FAILS;
	return naive_test_when(&rule->when, facts, allow);
}

static bool naive_matches(const struct naive_rule *rule, const struct call_facts *facts)
{
	if (rule->effect == EFFECT_ASK)
		for (size_t i = 0; i < facts->approved.count; i++)
			if (strcmp(facts->approved.items[i], rule->id) == 0)
				return false;
	return naive_test(rule, facts) == OUTCOME_HOLDS;
}

static const struct naive_rule *naive_unclear(const struct naive_bundle *bundle,
					      const struct call_facts *facts)
{
	for (size_t i = 0; i < bundle->count; i++)
		if (bundle->rules[i].effect != EFFECT_ALLOW &&
		    naive_test(&bundle->rules[i], facts) == OUTCOME_UNCLEAR)
			return &bundle->rules[i];
	return NULL;
}

static const struct naive_rule *naive_decide(const struct naive_bundle *bundle,
					     const struct call_facts *facts, int64_t *ret_rows)
{
	for (enum effect effect = EFFECT_DENY; effect <= EFFECT_ALLOW; effect++) {
		const struct naive_rule *first = NULL;

		for (size_t i = 0; i < bundle->count; i++) {
			const struct naive_rule *rule = &bundle->rules[i];

			if (rule->effect != effect || !naive_matches(rule, facts))
				continue;
			if (first == NULL)
				*ret_rows = rule->rows;
			if (rule->rows < *ret_rows)
				*ret_rows = rule->rows;
			if (first == NULL)
				first = rule;
		}
		if (first != NULL)
			return first;
		if (effect == EFFECT_DENY && naive_unclear(bundle, facts) != NULL)
			return naive_unclear(bundle, facts);
	}
	return NULL;
}

/* ---- random rules and their text ---- */

static void pick_some(struct list *list, const char *const *words, size_t count, bool any_case)
{
	size_t wanted = 1 + below(LIST_MAX);

	for (size_t i = 0; i < wanted; i++) {
		const char *word = words[below(count)];

		if (!in_list(list, word, any_case))
			list->items[list->count++] = word;
	}
}
#define PICK_SOME(list, words, any_case) pick_some(list, words, ARRAY_LEN(words), any_case)

static void random_tables(struct naive_rule *rule)
{
	struct list names = {0};
	bool takes_away = rule->effect != EFFECT_ALLOW;

	PICK_SOME(&names, tables, takes_away);
	for (size_t i = 0; i < names.count; i++) {
		struct naive_table *table = &rule->tables[rule->table_count++];

		table->name = names.items[i];
		table->all = chance(50);
		/* Only where columns are known can some be left out. */
		table->all_but = table->all && !takes_away && chance(40) &&
				 strcmp(rule->database, "hr") == 0;
		if (!table->all || table->all_but)
			PICK_SOME(&table->columns, columns, takes_away);
	}
}

static void random_rule(struct naive_rule *rule, size_t number)
{
	static const enum effect effects[] = {EFFECT_ALLOW, EFFECT_ALLOW, EFFECT_ALLOW, EFFECT_DENY,
					      EFFECT_ASK};

	memset(rule, 0, sizeof(*rule));
	snprintf(rule->id, sizeof(rule->id), "rule-%zu", number);
	rule->effect = PICK(effects);
	rule->agents_all = chance(40);
	rule->tools_all = chance(40);
	rule->everyone = chance(40);
	PICK_SOME(&rule->agents, agents, false);
	PICK_SOME(&rule->tools, tools, false);
	PICK_SOME(&rule->users, users, false);
	PICK_SOME(&rule->groups, groups, false);
	PICK_SOME(&rule->tenants, tenants, false);
	rule->database = PICK(databases);
	rule->rows = 1 + (int64_t)below(500);
	if (chance(10))
		rule->any_data = rule->no_data = true;
	else if (rule->effect != EFFECT_ALLOW && chance(20))
		rule->tables_all = true;
	else
		random_tables(rule);
	if (rule->effect == EFFECT_ALLOW ? chance(70) : chance(15))
		PICK_SOME(&rule->sets, function_sets, false);
	naive_random_when(&rule->when, rule->effect, !rule->tools_all);
	if (rule->when.phase == RULE_LISTING && rule->effect == EFFECT_DENY)
		rule->any_data = true;
}

static void write_list(struct buf *out, const struct list *list, const char *prefix, bool *some)
{
	for (size_t i = 0; i < list->count; i++) {
		buf_addf(out, "%s\"%s%s\"", *some ? "," : "", prefix, list->items[i]);
		*some = true;
	}
}

static void write_names(struct buf *out, const char *key, bool all, const struct list *list)
{
	bool some = false;

	buf_addf(out, "\"%s\":%s", key, all ? "\"all\"" : "[");
	if (all)
		return;
	write_list(out, list, "", &some);
	buf_add_char(out, ']');
}

static void write_data(struct buf *out, const struct naive_rule *rule)
{
	if (rule->any_data) {
		buf_add_str(out, rule->effect == EFFECT_ALLOW ? "\"data\":\"none\""
							      : "\"data\":\"all\"");
		return;
	}
	buf_addf(out, "\"data\":{\"database\":\"%s\",", rule->database);
	write_names(out, "functions", false, &rule->sets);
	if (rule->tables_all) {
		buf_add_str(out, ",\"tables\":\"all\"}");
		return;
	}
	buf_add_str(out, ",\"tables\":{");
	for (size_t i = 0; i < rule->table_count; i++) {
		buf_add_str(out, i > 0 ? "," : "");
		if (rule->tables[i].all_but) {
			buf_addf(out, "\"%s\":{", rule->tables[i].name);
			write_names(out, "all_but", false, &rule->tables[i].columns);
			buf_add_char(out, '}');
			continue;
		}
		write_names(out, rule->tables[i].name, rule->tables[i].all,
			    &rule->tables[i].columns);
	}
	buf_add_str(out, "}}");
}

static void write_rule(struct buf *out, const struct naive_rule *rule)
{
	static const char *const words[] = {
		[EFFECT_DENY] = "deny", [EFFECT_ASK] = "ask", [EFFECT_ALLOW] = "allow"};
	bool some = false;

	buf_addf(out, "{\"id\":\"%s\",\"at\":\"x.yaml:%s\",\"effect\":\"%s\",", rule->id, rule->id,
		 words[rule->effect]);
	write_names(out, "agents", rule->agents_all, &rule->agents);
	buf_add_char(out, ',');
	write_names(out, "tools", rule->tools_all, &rule->tools);
	buf_add_str(out, rule->everyone ? ",\"users\":\"everyone\"," : ",\"users\":[");
	if (!rule->everyone) {
		write_list(out, &rule->users, "user:", &some);
		write_list(out, &rule->groups, "group:", &some);
		write_list(out, &rule->tenants, "tenant:", &some);
		buf_add_str(out, "],");
	}
	write_data(out, rule);
	naive_write_when(out, &rule->when);
	if (rule->effect == EFFECT_ALLOW)
		buf_addf(out,
			 ",\"per_call\":{\"rows\":%lld,\"bytes\":1000,\"scan_bytes\":1000,"
			 "\"time_ms\":1000}",
			 (long long)rule->rows);
	buf_add_char(out, '}');
}

static struct bundle *write_and_read(const struct naive_bundle *naive)
{
	struct buf text = BUF_INIT;
	struct bundle *bundle = NULL;
	struct err err = {0};

	buf_add_str(&text, "{\"writ_bundle\":1,\"scopes\":{\"s\":{\"at\":\"x:1\",\"owner\":\"o\","
			   "\"timezone\":\"UTC\"}},\"agents\":{");
	for (size_t i = 0; i < ARRAY_LEN(agents); i++)
		buf_addf(&text,
			 "%s\"%s\":{\"at\":\"x:1\",\"id\":\"urn:%s\",\"hands_to\":[],\"role\":"
			 "\"query\",\"scope\":\"s\",\"token_seconds\":60,\"per_task\":{"
			 "\"attempts\":1,\"model_calls\":1,\"scan_bytes\":1,\"time_ms\":1,"
			 "\"tool_calls\":1,\"tool_errors\":1}}",
			 i > 0 ? "," : "", agents[i], agents[i]);
	buf_add_str(&text, "},\"functions\":{\"few\":[\"count\",\"sum\"],"
			   "\"text\":[\"count\",\"lower\"]}," NAIVE_ZONES
			   ",\"known\":{\"hr\":{\"orders\":[\"a\",\"b\"],\"Orders\":"
			   "[\"a\",\"b\"],\"pay\":[\"a\",\"b\"],\"items\":[\"a\",\"b\"]}}"
			   ",\"rules\":[");
	for (size_t i = 0; i < naive->count; i++) {
		buf_add_str(&text, i > 0 ? "," : "");
		write_rule(&text, &naive->rules[i]);
	}
	buf_add_str(&text, "]}");
	if (bundle_read(buf_str(&text), text.len, &bundle, &err) < 0)
		fail_msg("%s\n%s", err.text, buf_str(&text));
	buf_clear(&text);
	return bundle;
}

/* ---- random calls ---- */

struct random_call {
	struct call_facts facts;
	const char *groups[2];
	const char *tables[3];
	char columns[6][32];
	const char *column_list[6];
	const char *functions[3];
	char approved_id[16];
	const char *approved[1];
};

/* Made once for many calls, because parsing would take longer than deciding. */
#define POOL 64
static struct json *pool_arguments[POOL];
static struct json *pool_attributes[POOL];

static void pool_drop(void)
{
	for (size_t i = 0; i < POOL; i++) {
		json_free(pool_arguments[i]);
		json_free(pool_attributes[i]);
	}
}

static void pool_fill(void)
{
	pool_drop();
	for (size_t i = 0; i < POOL; i++) {
		pool_arguments[i] = naive_random_arguments();
		pool_attributes[i] = naive_random_attributes();
	}
}

static void random_names(struct random_call *call)
{
	struct call_facts *facts = &call->facts;

	facts->tables = (struct names){call->tables, 1 + below(2)};
	for (size_t i = 0; i < facts->tables.count; i++)
		call->tables[i] = PICK(tables);
	facts->columns = (struct names){call->column_list, below(4)};
	for (size_t i = 0; i < facts->columns.count; i++) {
		snprintf(call->columns[i], sizeof(call->columns[i]), "%s.%s",
			 call->tables[below(facts->tables.count)], chance(15) ? "" : PICK(columns));
		call->column_list[i] = call->columns[i];
	}
	facts->functions = (struct names){call->functions, chance(60) ? 0 : 1 + below(2)};
	for (size_t i = 0; i < facts->functions.count; i++)
		call->functions[i] = PICK(call_functions);
}

static void random_call(struct random_call *call)
{
	struct call_facts *facts = &call->facts;

	memset(call, 0, sizeof(*call));
	facts->arguments = pool_arguments[below(POOL)];
	facts->subject.attributes = pool_attributes[below(POOL)];
	facts->agent = PICK(agents);
	facts->tool = PICK(tools);
	facts->subject.user = PICK(users);
	facts->subject.tenant = chance(50) ? NULL : PICK(tenants);
	facts->subject.groups = (struct names){call->groups, below(3)};
	for (size_t i = 0; i < facts->subject.groups.count; i++)
		call->groups[i] = PICK(groups);
	facts->setting.now_s = naive_random_now();
	facts->setting.environment = chance(30) ? NULL : chance(50) ? "test" : "live";
	snprintf(call->approved_id, sizeof(call->approved_id), "rule-%zu", below(RULES_MAX));
	call->approved[0] = call->approved_id;
	facts->approved = (struct names){call->approved, below(2)};
	if (chance(10))
		return;
	facts->database = PICK(databases);
	if (chance(90))
		random_names(call);
}

/* ---- what must hold ---- */

static void differ(const struct naive_bundle *naive, const struct verdict *verdict,
		   const struct call_facts *facts, const struct naive_rule *expected)
{
	struct buf text = BUF_INIT;

	for (size_t i = 0; i < naive->count; i++) {
		buf_addf(&text, "%d ", naive_test(&naive->rules[i], facts));
		write_rule(&text, &naive->rules[i]);
		buf_add_char(&text, '\n');
	}
	json_write(facts->arguments, &text);
	json_write(facts->subject.attributes, &text);
	fail_msg("%s, not %s: %s\n%s %s at %lld in %s\n%s", verdict->reason,
		 expected == NULL ? "no rule" : expected->id, verdict->code, facts->agent,
		 facts->tool, (long long)facts->setting.now_s, facts->setting.environment,
		 buf_str(&text));
}

static void compare(const struct naive_bundle *naive, const struct verdict *verdict,
		    const struct call_facts *facts)
{
	int64_t rows = 0;
	const struct naive_rule *expected = naive_decide(naive, facts, &rows);
	bool unclear = expected != NULL && naive_test(expected, facts) == OUTCOME_UNCLEAR;

	if (expected == NULL
		    ? verdict->effect != EFFECT_DENY || strcmp(verdict->code, "no_rule") != 0 ||
			      verdict->rule != NULL
		    : verdict->rule == NULL || strcmp(verdict->rule, expected->id) != 0 ||
			      verdict->effect != (unclear ? EFFECT_DENY : expected->effect) ||
			      unclear != (strcmp(verdict->code, "rule_unclear") == 0))
		differ(naive, verdict, facts, expected);
	if (verdict->effect == EFFECT_ALLOW)
		assert_int_equal(verdict->limits.rows, rows);
}

static bool json_lists(const struct json *array, const char *word)
{
	json_each(item, array) if (strcmp(json_str(item), word) == 0) return true;
	return false;
}

static void within_view(const struct bundle *bundle, const struct call_facts *facts)
{
	bool statement = strcmp(facts->tool, "run_query") == 0;
	struct json *view =
		policy_view(bundle, facts->agent, &facts->subject, &facts->setting, facts->tool,
			    statement ? NULL : facts->arguments, facts->database);

	for (size_t i = 0; i < facts->tables.count; i++)
		assert_non_null(json_get(json_get(view, "tables"), facts->tables.items[i]));
	for (size_t i = 0; i < facts->columns.count; i++) {
		CLEANUP(mem_freep) char *table = mem_str(facts->columns.items[i]);
		char *column = strchr(table, '.') + 1;
		const struct json *shown;

		column[-1] = '\0';
		shown = json_get(json_get(view, "tables"), table);
		if (*column != '\0' && json_type(shown) == JSON_ARRAY)
			assert_true(json_lists(shown, column));
	}
	for (size_t i = 0; i < facts->functions.count; i++)
		assert_true(json_lists(json_get(view, "functions"), facts->functions.items[i]));
	json_free(view);
}

static void subset(const struct json *constraint, const struct json *values)
{
	if (strcmp(json_get_str(constraint, "constraint_type"), "wildcard") == 0)
		return;
	assert_string_equal(json_get_str(constraint, "constraint_type"), "subset");
	json_each(value, values)
		assert_true(json_lists(json_get(constraint, "allowed"), json_str(value)));
}

static void within_grant(const struct bundle *bundle, const struct call_facts *facts)
{
	struct json *grant = policy_grant(bundle, facts->agent, &facts->subject, &facts->setting);
	struct json *arguments = policy_call_arguments(facts, 1);
	const struct json *tool = json_get(json_get(json_at(grant, 0), "tools"), facts->tool);

	if (strcmp(facts->tool, "nonesuch") != 0) { /* a tool the program has not */
		assert_non_null(tool);
		assert_int_equal(json_len(tool), json_len(arguments));
		assert_true(json_lists(json_get(json_get(tool, "database"), "values"),
				       json_get_str(arguments, "database")));
		subset(json_get(tool, "tables"), json_get(arguments, "tables"));
		subset(json_get(tool, "columns"), json_get(arguments, "columns"));
	}
	json_free(grant);
	json_free(arguments);
}

/* The trace tells the same verdict, and of each rule what the naive evaluator finds; a rule that
 * was not selected fails in what the index goes by. */
static void traced(const struct bundle *bundle, const struct naive_bundle *naive,
		   const struct call_facts *facts, const struct verdict *decided)
{
	struct policy_trace trace;
	struct verdict verdict;

	policy_decide_traced(bundle, facts, &verdict, &trace);
	assert_string_equal(verdict.code, decided->code);
	assert_string_equal(verdict.reason, decided->reason);
	assert_int_equal(trace.rule_count, naive->count);
	for (size_t i = 0; i < naive->count; i++) {
		const struct rule_trace *rule = &trace.rules[i];

		assert_int_equal(rule->outcome, naive_test(&naive->rules[i], facts));
		assert_true(rule->selected || (rule->outcome == OUTCOME_FAILS && rule->failed < 2));
		assert_true(rule->failed == rule->condition_count ||
			    rule->conditions[rule->failed].outcome == rule->outcome);
	}
	policy_trace_clear(&trace);
}

static void test_decisions_agree_with_a_naive_evaluator(void **state)
{
	size_t seen[3] = {0};
	size_t unclear = 0;

	(void)state;
	for (size_t b = 0; b < BUNDLES; b++) {
		static struct naive_bundle naive;
		CLEANUP(bundle_freep) struct bundle *bundle = NULL;

		naive.count = 1 + below(RULES_MAX);
		for (size_t i = 0; i < naive.count; i++)
			random_rule(&naive.rules[i], i);
		pool_fill();
		bundle = write_and_read(&naive);
		for (size_t c = 0; c < CALLS_PER_BUNDLE; c++) {
			struct random_call call;
			struct verdict verdict;

			random_call(&call);
			policy_decide(bundle, &call.facts, &verdict);
			compare(&naive, &verdict, &call.facts);
			seen[verdict.effect]++;
			unclear += strcmp(verdict.code, "rule_unclear") == 0;
			if (c % 64 == 0)
				traced(bundle, &naive, &call.facts, &verdict);
			if (verdict.effect != EFFECT_ALLOW)
				continue;
			assert_true(policy_tool_visible(bundle, call.facts.agent,
							&call.facts.subject, &call.facts.setting,
							call.facts.tool, false));
			/* Tools that cannot ask do not show what needs an approval. */
			if (c % 8 == 0 && call.facts.approved.count == 0) {
				within_view(bundle, &call.facts);
				within_grant(bundle, &call.facts);
			}
		}
	}
	print_message("allow %zu, ask %zu, deny %zu, of these unclear %zu\n", seen[EFFECT_ALLOW],
		      seen[EFFECT_ASK], seen[EFFECT_DENY], unclear);
	assert_true(unclear > BUNDLES * CALLS_PER_BUNDLE / 200);
	for (size_t i = 0; i < ARRAY_LEN(seen); i++)
		assert_true(seen[i] > BUNDLES * CALLS_PER_BUNDLE / 100); /* not one-sided */
}

static void test_a_further_deny_rule_never_widens(void **state)
{
	(void)state;
	for (size_t b = 0; b < 200; b++) {
		static struct naive_bundle naive;
		CLEANUP(bundle_freep) struct bundle *before = NULL;
		CLEANUP(bundle_freep) struct bundle *after = NULL;

		naive.count = 1 + below(RULES_MAX - 1);
		for (size_t i = 0; i < naive.count; i++)
			random_rule(&naive.rules[i], i);
		before = write_and_read(&naive);
		do
			random_rule(&naive.rules[naive.count], naive.count);
		while (naive.rules[naive.count].effect != EFFECT_DENY);
		naive.count++;
		after = write_and_read(&naive);
		for (size_t c = 0; c < 100; c++) {
			struct random_call call;
			struct verdict first;
			struct verdict second;

			random_call(&call);
			policy_decide(before, &call.facts, &first);
			policy_decide(after, &call.facts, &second);
			assert_true(second.effect == first.effect || second.effect == EFFECT_DENY);
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decisions_agree_with_a_naive_evaluator),
		cmocka_unit_test(test_a_further_deny_rule_never_widens),
	};
	const char *given = getenv("WRIT_SEED");
	int failed;

	crypto_init();
	random_bytes(&random_state, sizeof(random_state));
	if (given != NULL)
		random_state = strtoull(given, NULL, 0);
	random_state |= 1;
	print_message("WRIT_SEED=%llu\n", (unsigned long long)random_state);
	naive_begin();
	pool_fill();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	pool_drop();
	naive_end();
	return failed;
}
