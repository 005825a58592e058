/*
 * Bundles under arbitrary bytes. What is accepted is accepted again in canonical form with the same
 * decisions; no call is allowed that some rule does not allow in its trace; and no decision, view,
 * list or grant of an accepted bundle may fail in any way.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "policy/bundle_model.h"
#include "tests/fuzz/fuzz.h"

static void demand(bool kept, const char *promise)
{
	if (kept)
		return;
	fprintf(stderr, "broken: %s\n", promise);
	abort();
}

static const char *const groups[] = {"sales", "x"};
static const char *const tables[] = {"orders"};
static const char *const columns[] = {"orders.status", "orders."};
static const char *const functions[] = {"count"};

static bool some_rule_allows(const struct bundle *bundle, const struct call_facts *facts)
{
	struct policy_trace trace;
	struct verdict verdict;
	bool found = false;

	policy_decide_traced(bundle, facts, &verdict, &trace);
	for (size_t i = 0; i < trace.rule_count; i++)
		found = found ||
			(trace.rules[i].effect == EFFECT_ALLOW && trace.rules[i].selected &&
			 trace.rules[i].outcome == OUTCOME_HOLDS);
	policy_trace_clear(&trace);
	return found;
}

static void ask_everything(const struct bundle *bundle, const struct bundle *again,
			   const char *agent)
{
	CLEANUP(json_freep) struct json *arguments = NULL;
	struct call_facts facts = {
		.agent = agent,
		.subject = {.user = "ann", .groups = {groups, 2}, .tenant = "emea"},
		.tool = "run_query",
		.database = "sales",
		.tables = {tables, 1},
		.columns = {columns, 2},
		.functions = {functions, 1},
		.setting = {.now_s = 1796083300, .environment = "test"},
	};
	struct verdict first, second;

	if (json_parse_str("{\"sql\":\"x\",\"rows\":5,\"f\":{\"y\":[1]}}", &arguments, NULL) < 0)
		abort();
	facts.arguments = arguments;
	policy_decide(bundle, &facts, &first);
	policy_decide(again, &facts, &second);
	demand(first.effect == second.effect && strcmp(first.code, second.code) == 0,
	       "the same bundle decides the same");
	demand(first.effect != EFFECT_ALLOW || some_rule_allows(bundle, &facts),
	       "what is allowed some rule allows");
	json_free(policy_view(bundle, agent, &facts.subject, &facts.setting, "describe_table",
			      arguments, "sales"));
	json_free(policy_grant(bundle, agent, &facts.subject, &facts.setting));
	policy_tool_visible(bundle, agent, &facts.subject, &facts.setting, "run_query", true);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	CLEANUP(bundle_freep) struct bundle *bundle = NULL;
	CLEANUP(bundle_freep) struct bundle *again = NULL;
	CLEANUP(buf_clear) struct buf canonical = BUF_INIT;
	struct err err;

	if (bundle_read((const char *)bytes, len, &bundle, &err) < 0) {
		demand(err.text[0] != '\0', "a refusal says why");
		return 0;
	}
	json_write_canonical(bundle->source, &canonical);
	demand(bundle_read(canonical.bytes, canonical.len, &again, &err) == 0,
	       "an accepted bundle is accepted in canonical form");
	demand(bundle_rule_count(again) == bundle_rule_count(bundle), "no rule gets lost");
	for (size_t i = 0; i < bundle_agent_count(bundle); i++)
		ask_everything(bundle, again, bundle_agent_at(bundle, i)->name);
	return 0;
}
