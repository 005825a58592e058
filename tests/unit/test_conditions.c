/*
 * What scope files say beyond agents, users, tools and tables, from YAML to verdict: time, tenants,
 * attributes, environments, arguments, phases, tags, known columns, limits, approvals. Each bound
 * at n - 1, n, n + 1, and each way in which a rule cannot be told.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/clock.h"
#include "policy/compile.h"
#include "tests/unit/workspace_dir.h"

#define LIST(...)                                                                                  \
	{                                                                                          \
		(const char *const[]){__VA_ARGS__},                                                \
			sizeof((const char *[]){__VA_ARGS__}) / sizeof(const char *)               \
	}
#define HEAD                                                                                       \
	"writ: 1\nscope: s\nowner: team:s\ntimezone: Europe/Berlin\n"                              \
	"agents:\n  q: {id: 'urn:q', role: query, token: 5m}\n"
#define DATA "data: {database: db, tables: {t: {columns: [a, b]}}}"
#define ALLOW(rest) "  - {id: allow, effect: allow, agents: [q], users: everyone, " rest "}\n"
#define DENY(rest) "  - {id: deny, effect: deny, agents: all, users: everyone, " rest "}\n"
#define PLAIN ALLOW("tools: [run_query], " DATA)

static const char *const database_words[] = {"db"};
static const struct names databases = {database_words, 1};
static const char *const environment_words[] = {"test", "live"};
static const struct names environments = {environment_words, 2};
static const char catalog_text[] =
	"{\"db\":{\"tables\":[{\"name\":\"t\",\"kind\":\"table\",\"columns\":[{\"name\":\"a\"},"
	"{\"name\":\"b\"},{\"name\":\"mail\"}]},{\"name\":\"v\",\"kind\":\"view\",\"columns\":"
	"[{\"name\":\"a\"}]}]}}";

static void compile_text(const char *text, bool with_catalog, struct buf *ret_bytes,
			 struct buf *ret_problems)
{
	struct workspace_dir dir = workspace_dir_make();
	struct problems problems = PROBLEMS_INIT;
	struct json *catalogs = NULL;
	struct policy_world world = {.databases = &databases, .environments = &environments};
	struct err err = {0};

	if (with_catalog && json_parse_str(catalog_text, &catalogs, &err) < 0)
		fail_msg("%s", err.text);
	world.catalogs = catalogs;
	workspace_dir_put(&dir, "scopes/x.yaml", text);
	if (policy_compile(dir.fd, &world, ret_bytes, &problems, &err) < 0)
		fail_msg("%s", err.text);
	for (size_t i = 0; i < problems.count; i++)
		buf_addf(ret_problems, "%s: %s\n", problems.items[i].code,
			 problems.items[i].message);
	problems_clear(&problems);
	workspace_dir_remove(&dir);
	json_free(catalogs);
}

static struct bundle *compiled(const char *text, bool with_catalog)
{
	struct buf bytes = BUF_INIT;
	struct buf problems = BUF_INIT;
	struct bundle *bundle = NULL;
	struct err err = {0};

	compile_text(text, with_catalog, &bytes, &problems);
	if (problems.len > 0)
		fail_msg("%s", buf_str(&problems));
	if (bundle_read(bytes.bytes, bytes.len, &bundle, &err) < 0)
		fail_msg("%s", err.text);
	buf_clear(&bytes);
	buf_clear(&problems);
	return bundle;
}

static void says(const char *text, const char *problem)
{
	struct buf bytes = BUF_INIT;
	struct buf problems = BUF_INIT;

	compile_text(text, false, &bytes, &problems);
	if (strstr(buf_str(&problems), problem) == NULL)
		fail_msg("said \"%s\", not \"%s\"", buf_str(&problems), problem);
	buf_clear(&bytes);
	buf_clear(&problems);
}

static const struct call_facts query = {
	.agent = "q",
	.subject = {.user = "ann"},
	.tool = "run_query",
	.database = "db",
	.tables = LIST("t"),
	.columns = LIST("t.a"),
};

static const char *code_of(const struct bundle *bundle, const struct call_facts *facts)
{
	static struct verdict verdict;

	policy_decide(bundle, facts, &verdict);
	return verdict.code;
}

static int64_t at(const char *time) /* "2026-12-01T08:00:00.000000Z" */
{
	int64_t us = 0;

	if (timestamp_read(time, &us, NULL) < 0)
		fail_msg("%s", time);
	return us / 1000000;
}

static const char *code_at(const struct bundle *bundle, const char *time)
{
	struct call_facts facts = query;

	facts.setting.now_s = at(time);
	return code_of(bundle, &facts);
}

static void test_hours_are_from_the_first_to_before_the_last_minute_of_the_zone(void **state)
{
	struct bundle *bundle = compiled(HEAD "rules:\n" ALLOW("tools: [run_query], " DATA
							       ", time: {hours: ['08:00-18:00']}"),
					 false);

	(void)state;
	/* Berlin is an hour ahead in winter and two in summer. */
	assert_string_equal(code_at(bundle, "2026-12-01T06:59:59.000000Z"), "no_rule");
	assert_string_equal(code_at(bundle, "2026-12-01T07:00:00.000000Z"), "allowed");
	assert_string_equal(code_at(bundle, "2026-12-01T16:59:59.000000Z"), "allowed");
	assert_string_equal(code_at(bundle, "2026-12-01T17:00:00.000000Z"), "no_rule");
	assert_string_equal(code_at(bundle, "2026-07-01T05:59:59.000000Z"), "no_rule");
	assert_string_equal(code_at(bundle, "2026-07-01T06:00:00.000000Z"), "allowed");
	/* The day the clocks go back, 2026-10-25 03:00 becomes 02:00 at 01:00 UTC. */
	assert_string_equal(code_at(bundle, "2026-10-25T06:59:59.000000Z"), "no_rule");
	assert_string_equal(code_at(bundle, "2026-10-25T07:00:00.000000Z"), "allowed");
	bundle_free(bundle);
}

static void test_days_and_dates_are_those_of_the_zone(void **state)
{
	struct bundle *bundle = compiled(
		HEAD "rules:\n" ALLOW("tools: [run_query], " DATA
				      ", time: {zone: America/New_York, days: [tue, wed], from: "
				      "2026-12-01, until: 2026-12-09}"),
		false);

	(void)state;
	assert_string_equal(code_at(bundle, "2026-12-01T04:59:59.000000Z"), "no_rule"); /* Monday */
	assert_string_equal(code_at(bundle, "2026-12-01T05:00:00.000000Z"), "allowed");
	assert_string_equal(code_at(bundle, "2026-12-03T04:59:59.000000Z"), "allowed");
	assert_string_equal(code_at(bundle, "2026-12-03T05:00:00.000000Z"), "no_rule"); /* Thu */
	assert_string_equal(code_at(bundle, "2026-12-10T04:59:59.000000Z"), "allowed");
	assert_string_equal(code_at(bundle, "2026-12-10T05:00:00.000000Z"), "no_rule");
	assert_string_equal(code_at(bundle, "2026-11-25T12:00:00.000000Z"), "no_rule");
	bundle_free(bundle);
}

static void test_a_time_nobody_knows_allows_nothing_and_denies(void **state)
{
	struct bundle *allow = compiled(
		HEAD "rules:\n" ALLOW("tools: [run_query], " DATA ", time: {from: 2000-01-01}"),
		false);
	struct bundle *deny = compiled(
		HEAD "rules:\n" PLAIN DENY("tools: all, data: all, time: {until: 2000-01-01}"),
		false);

	(void)state;
	assert_string_equal(code_at(allow, "2024-01-01T00:00:00.000000Z"), "allowed");
	assert_string_equal(code_at(allow, "2023-12-31T23:59:59.000000Z"), "no_rule");
	assert_string_equal(code_at(allow, "2074-12-31T23:59:59.000000Z"), "allowed");
	assert_string_equal(code_at(allow, "2075-01-01T00:00:00.000000Z"), "no_rule");
	assert_string_equal(code_at(deny, "2024-01-01T00:00:00.000000Z"), "allowed");
	assert_string_equal(code_at(deny, "2023-12-31T23:59:59.000000Z"), "rule_unclear");
	bundle_free(allow);
	bundle_free(deny);
}

static void test_tenants_and_environments_that_are_missing_cannot_be_told(void **state)
{
	struct bundle *allow = compiled(HEAD "rules:\n" ALLOW("tools: [run_query], " DATA
							      ", tenants: [emea], environments: "
							      "[test]"),
					false);
	struct bundle *deny = compiled(
		HEAD "rules:\n" PLAIN DENY("tools: all, data: all, tenants: [apac]"), false);
	struct call_facts facts = query;

	(void)state;
	facts.subject.tenant = "emea";
	facts.setting.environment = "test";
	assert_string_equal(code_of(allow, &facts), "allowed");
	assert_string_equal(code_of(deny, &facts), "allowed");
	facts.setting.environment = "live";
	assert_string_equal(code_of(allow, &facts), "no_rule");
	facts.setting.environment = NULL;
	assert_string_equal(code_of(allow, &facts), "no_rule");
	facts.setting.environment = "test";
	facts.subject.tenant = "apac";
	assert_string_equal(code_of(allow, &facts), "no_rule");
	assert_string_equal(code_of(deny, &facts), "rule_denies");
	facts.subject.tenant = NULL;
	assert_string_equal(code_of(allow, &facts), "no_rule");
	assert_string_equal(code_of(deny, &facts), "rule_unclear");
	bundle_free(allow);
	bundle_free(deny);
}

static const char *code_with(const struct bundle *bundle, const char *attributes,
			     const char *arguments)
{
	CLEANUP(json_freep) struct json *of_user = NULL;
	CLEANUP(json_freep) struct json *of_call = NULL;
	struct call_facts facts = query;

	if ((attributes != NULL && json_parse_str(attributes, &of_user, NULL) < 0) ||
	    (arguments != NULL && json_parse_str(arguments, &of_call, NULL) < 0))
		fail_msg("%s %s", attributes, arguments);
	facts.subject.attributes = of_user;
	facts.arguments = of_call;
	return code_of(bundle, &facts);
}

static void test_attributes_meet_their_constraints_or_cannot_be_told(void **state)
{
	struct bundle *allow = compiled(HEAD "rules:\n" ALLOW("tools: [run_query], " DATA
							      ", attributes: {level: {range: {min: "
							      "3}}, dept: {one_of: [hr, it]}}"),
					false);
	struct bundle *deny =
		compiled(HEAD "rules:\n" PLAIN DENY(
				 "tools: all, data: all, attributes: {level: {range: {max: 2}}}"),
			 false);

	(void)state;
	assert_string_equal(code_with(allow, "{\"level\":2,\"dept\":\"hr\"}", NULL), "no_rule");
	assert_string_equal(code_with(allow, "{\"level\":3,\"dept\":\"hr\"}", NULL), "allowed");
	assert_string_equal(code_with(allow, "{\"level\":4,\"dept\":\"ops\"}", NULL), "no_rule");
	assert_string_equal(code_with(allow, "{\"level\":\"4\",\"dept\":\"hr\"}", NULL), "no_rule");
	assert_string_equal(code_with(allow, NULL, NULL), "no_rule");
	assert_string_equal(code_with(deny, "{\"level\":2}", NULL), "rule_denies");
	assert_string_equal(code_with(deny, "{\"level\":3}", NULL), "allowed");
	assert_string_equal(code_with(deny, "{\"level\":\"high\"}", NULL), "rule_unclear");
	assert_string_equal(code_with(deny, "{}", NULL), "rule_unclear");
	bundle_free(allow);
	bundle_free(deny);
}

static void test_an_allow_rule_with_arguments_closes_the_world(void **state)
{
	struct bundle *allow = compiled(
		HEAD "rules:\n" ALLOW("tools: [run_query], " DATA
				      ", arguments: {sql: wildcard, rows: {range: {max: 50}}}"),
		false);
	struct bundle *deny = compiled(
		HEAD "rules:\n" PLAIN DENY("tools: [run_query], data: all, arguments: {rows: "
					   "{range: {min: 100}}}"),
		false);

	(void)state;
	assert_string_equal(code_with(allow, NULL, "{\"sql\":\"x\",\"rows\":50}"), "allowed");
	assert_string_equal(code_with(allow, NULL, "{\"sql\":\"x\",\"rows\":51}"), "no_rule");
	assert_string_equal(code_with(allow, NULL, "{\"sql\":\"x\"}"), "no_rule");
	assert_string_equal(code_with(allow, NULL, "{\"sql\":\"x\",\"rows\":1,\"timeout\":1}"),
			    "no_rule");
	assert_string_equal(code_with(allow, NULL, NULL), "no_rule");
	assert_string_equal(code_with(deny, NULL, "{\"rows\":99,\"x\":1}"), "allowed");
	assert_string_equal(code_with(deny, NULL, "{\"rows\":100}"), "rule_denies");
	assert_string_equal(code_with(deny, NULL, "{\"rows\":\"100\"}"), "rule_unclear");
	assert_string_equal(code_with(deny, NULL, "{\"sql\":\"x\"}"), "rule_unclear");
	assert_string_equal(code_with(deny, NULL, NULL), "rule_unclear");
	bundle_free(allow);
	bundle_free(deny);
}

static void test_the_reason_tells_what_could_not_be_told(void **state)
{
	struct bundle *bundle = compiled(
		HEAD "rules:\n" PLAIN DENY("tools: [run_query], data: all, arguments: {rows: "
					   "{range: {min: 100}}}"),
		false);
	struct call_facts facts = query;
	struct json *arguments = NULL;
	struct verdict verdict;

	(void)state;
	if (json_parse_str("{\"rows\":\"many\"}", &arguments, NULL) < 0)
		fail();
	facts.arguments = arguments;
	policy_decide(bundle, &facts, &verdict);
	assert_int_equal(verdict.effect, EFFECT_DENY);
	assert_string_equal(verdict.rule, "deny");
	assert_string_equal(verdict.reason,
			    "it cannot be told whether rule deny (scopes/x.yaml:9) applies, so it "
			    "denies: arguments.rows saw rows = \"many\"");
	json_free(arguments);
	bundle_free(bundle);
}

static bool listed(const struct bundle *bundle, const char *tool, bool listing)
{
	return policy_tool_visible(bundle, "q", &query.subject, &query.setting, tool, listing);
}

static void test_lists_of_tools_have_rules_of_their_own(void **state)
{
	struct bundle *hidden = compiled(
		HEAD "rules:\n" PLAIN DENY("phase: list, tools: [run_query], data: all"), false);
	struct bundle *shown = compiled(
		HEAD "rules:\n" ALLOW("phase: list, tools: [list_tables], data: none"), false);
	struct bundle *calls =
		compiled(HEAD "rules:\n" ALLOW("phase: call, tools: [run_query], " DATA), false);

	(void)state;
	assert_false(listed(hidden, "run_query", true));
	assert_true(listed(hidden, "run_query", false));
	assert_string_equal(code_of(hidden, &query), "allowed");
	assert_true(listed(shown, "list_tables", true));
	assert_false(listed(shown, "list_tables", false));
	assert_false(listed(calls, "run_query", true));
	assert_string_equal(code_of(calls, &query), "allowed");
	bundle_free(hidden);
	bundle_free(shown);
	bundle_free(calls);
}

static void test_all_means_the_columns_there_were(void **state)
{
	static const char text[] = HEAD
		"tags: {pii: {db: {t: [mail]}}}\nrules:\n"
		"  - {id: w, effect: allow, agents: [q], users: ['user:ann'], tools: [run_query], "
		"data: {database: db, tables: {t: {columns: all}}}}\n"
		"  - {id: e, effect: allow, agents: [q], users: ['user:bob'], tools: [run_query], "
		"data: {database: db, tables: {t: {columns: all, except: ['tag:pii', b]}}}}\n";
	struct bundle *known = compiled(text, true);
	struct call_facts facts = query;
	struct verdict verdict;

	(void)state;
	facts.columns = (struct names)LIST("t.a", "t.mail", "t.rowid", "t.");
	assert_string_equal(code_of(known, &facts), "allowed");
	facts.columns = (struct names)LIST("t.later");
	policy_decide(known, &facts, &verdict);
	assert_string_equal(verdict.code, "no_rule");
	assert_non_null(strstr(verdict.reason, "does not grant column t.later (not there when the "
					       "policy was compiled)"));
	facts.subject.user = "bob";
	facts.columns = (struct names)LIST("t.a");
	assert_string_equal(code_of(known, &facts), "allowed");
	facts.columns = (struct names)LIST("t.mail");
	assert_string_equal(code_of(known, &facts), "no_rule");
	facts.columns = (struct names)LIST("t.b");
	assert_string_equal(code_of(known, &facts), "no_rule");
	facts.columns = (struct names)LIST("t.later");
	assert_string_equal(code_of(known, &facts), "no_rule");
	bundle_free(known);
}

static void test_a_tag_takes_its_columns_away_in_any_case(void **state)
{
	struct bundle *bundle = compiled(
		HEAD
		"tags: {pii: {db: {t: [mail], V: [a]}}, other: {db: {t: [b]}}}\nrules:\n"
		"  - {id: allow, effect: allow, agents: [q], users: everyone, tools: "
		"[run_query], data: {database: db, tables: {t: {columns: all}, v: {columns: "
		"all}}}}\n" DENY("tools: all, data: {database: db, tables: {x: {columns: [c]}}, "
				 "tags: [pii]}"),
		false);
	struct call_facts facts = query;

	(void)state;
	assert_string_equal(code_of(bundle, &facts), "allowed");
	facts.columns = (struct names)LIST("t.b");
	assert_string_equal(code_of(bundle, &facts), "allowed");
	facts.columns = (struct names)LIST("t.MAIL");
	assert_string_equal(code_of(bundle, &facts), "rule_denies");
	facts.tables = (struct names)LIST("v");
	facts.columns = (struct names)LIST("v.a");
	assert_string_equal(code_of(bundle, &facts), "rule_denies");
	bundle_free(bundle);
}

static void test_named_lists_stand_for_their_items(void **state)
{
	struct bundle *bundle = compiled(
		HEAD
		"lists: {people: ['user:ann', 'group:x'], cols: [a, b], tools: [run_query]}\n"
		"rules:\n  - {id: r, effect: allow, agents: [q], users: ['list:people'], tools: "
		"['list:tools', list_tables], data: {database: db, tables: {t: {columns: "
		"['list:cols', mail]}}}}\n",
		false);
	struct call_facts facts = query;

	(void)state;
	facts.columns = (struct names)LIST("t.a", "t.b", "t.mail");
	assert_string_equal(code_of(bundle, &facts), "allowed");
	facts.subject.user = "eve";
	assert_string_equal(code_of(bundle, &facts), "no_rule");
	bundle_free(bundle);
}

static void test_limits_and_approvals_come_with_the_verdict(void **state)
{
	struct bundle *bundle = compiled(
		HEAD "rules:\n" ALLOW(
			"tools: [run_query], " DATA
			", limits: [{calls: 30, per: 1m, each: [user, tool]}, {running: "
			"2, each: together}]") "  - {id: ask, effect: ask, agents: all, users: "
					       "everyone, tools: all, data: "
					       "{database: db, tables: {t: {columns: [b]}}}, "
					       "approval: {by: [owner, 'group:l'], "
					       "for: 90s, own: true}}\n",
		false);
	static const char *const approved[] = {"other", "ask"};
	struct call_facts facts = query;
	struct verdict verdict;

	(void)state;
	policy_decide(bundle, &facts, &verdict);
	assert_int_equal(verdict.effect, EFFECT_ALLOW);
	assert_int_equal(verdict.rate_count, 2);
	assert_string_equal(verdict.rates[0]->rule, "allow");
	assert_int_equal(verdict.rates[0]->calls, 30);
	assert_int_equal(verdict.rates[0]->per_ms, 60000);
	assert_int_equal(verdict.rates[0]->each, RATE_EACH_USER | RATE_EACH_TOOL);
	assert_int_equal(verdict.rates[1]->running, 2);
	assert_int_equal(verdict.rates[1]->each, 0);
	assert_int_equal(verdict.rates[1]->index, 1);
	assert_null(verdict.approval);
	facts.columns = (struct names)LIST("t.b");
	policy_decide(bundle, &facts, &verdict);
	assert_int_equal(verdict.effect, EFFECT_ASK);
	assert_int_equal(verdict.approval->by.count, 2);
	assert_string_equal(verdict.approval->by.items[1], "group:l");
	assert_int_equal(verdict.approval->for_ms, 90000);
	assert_true(verdict.approval->own);
	assert_ptr_equal(policy_approval(bundle, "ask"), verdict.approval);
	assert_null(policy_approval(bundle, "allow"));
	facts.approved = (struct names){approved, 1};
	assert_string_equal(code_of(bundle, &facts), "rule_asks");
	facts.approved = (struct names){approved, 2};
	assert_string_equal(code_of(bundle, &facts), "allowed");
	bundle_free(bundle);
}

static void test_more_limits_than_can_be_held_deny(void **state)
{
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	struct bundle *bundle;
	struct verdict verdict;

	(void)state;
	for (int rules = 4; rules <= 5; rules++) {
		buf_reset(&text);
		buf_add_str(&text, HEAD "rules:\n");
		for (int i = 0; i < rules; i++)
			buf_addf(
				&text,
				"  - {id: r%d, effect: allow, agents: [q], users: everyone, tools: "
				"[run_query], " DATA
				", limits: [{running: 1, each: [user]}, {running: "
				"2, each: [agent]}, {running: 3, each: [tool]}, {running: 4, each: "
				"together}]}\n",
				i);
		bundle = compiled(buf_str(&text), false);
		policy_decide(bundle, &query, &verdict);
		assert_string_equal(verdict.code, rules == 4 ? "allowed" : "too_many_limits");
		assert_int_equal(verdict.effect, rules == 4 ? EFFECT_ALLOW : EFFECT_DENY);
		assert_int_equal(verdict.rate_count, rules == 4 ? 16 : 0);
		bundle_free(bundle);
	}
}

static void test_a_trace_tells_numbers_and_rules_without_a_line(void **state)
{
	struct bundle *bundle = compiled(
		HEAD "rules:\n" ALLOW("tools: [run_query], " DATA ", time: {days: [mon, sun]}"),
		false);
	struct call_facts facts = query;
	struct policy_trace trace;
	struct verdict verdict;

	(void)state;
	facts.setting.now_s = at("2026-12-01T08:12:00.000000Z");
	policy_decide_traced(bundle, &facts, &verdict, &trace);
	assert_string_equal(trace.rules[0].conditions[3].want, "time.days: [0, 6]");
	assert_string_equal(trace.rules[0].conditions[3].saw, "Tue 2026-12-01 09:12 Europe/Berlin");
	assert_string_equal(trace.rules[0].conditions[3].at, "scopes/x.yaml:8:149");
	policy_trace_clear(&trace);
	bundle_free(bundle);
}

static void test_an_approval_satisfies_nothing_but_ask_rules(void **state)
{
	struct bundle *bundle =
		compiled(HEAD "rules:\n" PLAIN DENY("tools: all, data: all"), false);
	static const char *const approved[] = {"deny", "allow"};
	struct call_facts facts = query;

	(void)state;
	facts.approved = (struct names){approved, 2};
	assert_string_equal(code_of(bundle, &facts), "rule_denies");
	bundle_free(bundle);
}

static void test_slips_are_mistakes_with_a_word_of_help(void **state)
{
	(void)state;
#define RULE(rest) HEAD "rules:\n" ALLOW("tools: [run_query], " DATA ", " rest)
	says(RULE("arguments: {sqll: wildcard}"), "unknown argument of run_query \"sqll\": did you "
						  "mean \"sql\"?");
	says(RULE("arguments: {sql: wildcard}"),
	     "argument rows of run_query is not named, so every call would be refused; add rows: "
	     "wildcard");
	says(RULE("arguments: {sql: wildcard, rows: {exact: ten}}"),
	     "this argument is a whole number: \"ten\" can never be met");
	says(RULE("arguments: {sql: {range: {min: 1}}, rows: wildcard}"),
	     "this argument is a text, and a range is for whole numbers");
	says(RULE("arguments: {sql: {exact: 5}, rows: wildcard}"),
	     "this argument is a text: quote \"5\"");
	says(RULE("arguments: {sql: {subset: [a]}, rows: wildcard}"),
	     "subset is for lists, and this argument is none");
	says(RULE("arguments: {'sql.x': wildcard, rows: wildcard}"),
	     "argument sql of run_query is a text and has no parts");
	says(RULE("arguments: {'rows[x]': wildcard}"), "in a path, brackets hold * or a number");
	says(RULE("arguments: {sql: {exact: a, one_of: [b]}, rows: wildcard}"),
	     "a constraint has one key");
	says(RULE("arguments: {sql: {exactly: a}, rows: wildcard}"), "did you mean \"exact\"?");
	says(RULE("arguments: {sql: {one_of: [a, a]}, rows: wildcard}"), "this value stands twice");
	says(RULE("arguments: {sql: wildcard, rows: {range: {min: 2, max: 1}}}"),
	     "min is above max: nothing could meet this");
	says(RULE("arguments: {sql: orders, rows: wildcard}"), "write wildcard, or what is wanted");
	says(RULE("time: {hours: ['22:00-06:00']}"),
	     "over midnight write two: 22:00-24:00 and 00:00-06:00");
	says(RULE("time: {hours: ['8-18']}"), "hours are spans like 08:00-18:00");
	says(RULE("time: {hours: ['08:00-24:01']}"), "hours are spans like 08:00-18:00");
	says(RULE("time: {days: [monday]}"), "unknown day \"monday\"");
	says(RULE("time: {from: 2026-13-01}"), "from must be a date");
	says(RULE("time: {from: 2026-02-01, until: 2026-01-01}"), "until lies before from");
	says(RULE("time: {zone: Europe/Berln, days: [mon]}"), "unknown timezone");
	says(RULE("time: {zone: UTC}"), "time says nothing");
	says(RULE("environments: [tset]"), "unknown environment \"tset\": did you mean \"test\"?");
	says(RULE("limits: [{calls: 3, each: [user]}]"), "has no \"per\"");
	says(RULE("limits: [{calls: 3, per: 1m, running: 2, each: [user]}]"),
	     "a limit says either calls and per");
	says(RULE("limits: [{running: 0, each: [user]}]"), "running must be a whole number from 1");
	says(RULE("limits: [{running: 1, each: [usr]}]"), "did you mean \"user\"?");
	says(RULE("limits: [{running: 1}]"), "has no \"each\"");
	says(RULE("approval: {by: [owner], for: 1h}"),
	     "approval belongs to rules whose effect is ask");
	says(RULE("phase: list"), "data is not known when tools are listed: write data: none");
	says(HEAD "rules:\n" DENY("tools: all, data: all, limits: [{running: 1, each: together}]"),
	     "limits belong to rules that allow");
	says(HEAD "rules:\n" DENY("tools: all, data: all, arguments: {rows: wildcard}"),
	     "arguments need tools that are named");
	says(HEAD "rules:\n" DENY("tools: [run_query], phase: list, data: all, arguments: {rows: "
				  "wildcard}"),
	     "arguments is not known when tools are listed");
	says(HEAD
	     "rules:\n  - {id: r, effect: ask, agents: all, users: everyone, tools: all, data: "
	     "all, approval: {by: [boss], for: 1h}}\n",
	     "\"boss\" says neither user:NAME, group:NAME nor tenant:NAME");
	says(HEAD "rules:\n  - {id: r, effect: ask, phase: list, agents: all, users: everyone, "
		  "tools: all, data: all, approval: {by: [owner], for: 1h}}\n",
	     "an ask rule asks about calls, not about lists of tools");
	says(HEAD "lists: {a: [q]}\nrules:\n" PLAIN, "unused_list: list a is used by no rule");
	says(HEAD "lists: {a: ['list:b']}\nrules:\n" PLAIN, "a list holds no other list");
	says(HEAD
	     "rules:\n  - {id: r, effect: deny, agents: ['list:agnts'], users: everyone, tools: "
	     "all, data: all}\nlists: {agents: [q]}\n",
	     "unknown list \"agnts\": did you mean \"agents\"?");
	says(HEAD "tags: {pii: {db: {t: [mail]}}}\nrules:\n" DENY(
		     "tools: all, data: {database: db, tags: [pi]}"),
	     "unknown tag \"pi\": did you mean \"pii\"?");
	says(HEAD "tags: {pii: {db: {t: [mail]}}}\nrules:\n"
		  "  - {id: r, effect: allow, agents: [q], users: everyone, tools: [run_query], "
		  "data: {database: db, tables: {t: {columns: all, except: ['tag:pii']}}}}\n",
	     "except needs the columns there are");
	says(HEAD "tags: {pii: {db: {t: [mail]}}}\nrules:\n"
		  "  - {id: r, effect: allow, agents: [q], users: everyone, tools: [run_query], "
		  "data: {database: db, tables: {t: {columns: [a]}}, tags: [pii]}}\n",
	     "tags beside tables are for deny and ask");
}

static void test_known_columns_make_slips_in_tags_mistakes(void **state)
{
	struct buf bytes = BUF_INIT;
	struct buf problems = BUF_INIT;

	(void)state;
	compile_text(HEAD "tags: {pii: {db: {t: [mial], x: [a]}}}\nrules:\n" PLAIN, true, &bytes,
		     &problems);
	assert_non_null(strstr(buf_str(&problems),
			       "unknown_column: unknown column \"mial\": did you mean \"mail\"?"));
	assert_non_null(strstr(buf_str(&problems), "unknown_table: unknown table \"x\""));
	buf_clear(&bytes);
	buf_clear(&problems);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_hours_are_from_the_first_to_before_the_last_minute_of_the_zone),
		cmocka_unit_test(test_days_and_dates_are_those_of_the_zone),
		cmocka_unit_test(test_a_time_nobody_knows_allows_nothing_and_denies),
		cmocka_unit_test(test_tenants_and_environments_that_are_missing_cannot_be_told),
		cmocka_unit_test(test_attributes_meet_their_constraints_or_cannot_be_told),
		cmocka_unit_test(test_an_allow_rule_with_arguments_closes_the_world),
		cmocka_unit_test(test_the_reason_tells_what_could_not_be_told),
		cmocka_unit_test(test_lists_of_tools_have_rules_of_their_own),
		cmocka_unit_test(test_all_means_the_columns_there_were),
		cmocka_unit_test(test_a_tag_takes_its_columns_away_in_any_case),
		cmocka_unit_test(test_named_lists_stand_for_their_items),
		cmocka_unit_test(test_limits_and_approvals_come_with_the_verdict),
		cmocka_unit_test(test_more_limits_than_can_be_held_deny),
		cmocka_unit_test(test_a_trace_tells_numbers_and_rules_without_a_line),
		cmocka_unit_test(test_an_approval_satisfies_nothing_but_ask_rules),
		cmocka_unit_test(test_slips_are_mistakes_with_a_word_of_help),
		cmocka_unit_test(test_known_columns_make_slips_in_tags_mistakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
