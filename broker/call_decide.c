/*
 * The decision: effective right = token ∩ bundle now ∩ the user's rights ∩ not revoked, and the
 * smallest of all limits. What the agent hears of a denial names nothing it did not write itself.
 */
#include "broker/call_model.h"

#include <stdio.h>
#include <string.h>

#include "broker/agent.h"
#include "broker/grant.h"
#include "broker/task.h"
#include "broker/view.h"
#include "writ/limits.h"

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static void keep_verdict(struct call *call, const struct verdict *verdict)
{
	mem_free(call->rule);
	mem_free(call->at);
	call->effect = verdict->effect;
	call->rule = mem_str(verdict->rule);
	call->at = mem_str(verdict->at);
	snprintf(call->code, sizeof(call->code), "%s", verdict->code);
	snprintf(call->reason, sizeof(call->reason), "%s", verdict->reason);
	call->limits = verdict->limits;
	call->epoch = token_store_epoch(call->broker->store);
}

static bool function_granted(const struct json *view, const char *function)
{
	json_each(granted, json_get(view, "functions"))
	{
		if (json_str(granted) != NULL && strcmp(json_str(granted), function) == 0)
			return true;
	}
	return false;
}

/* The agent's own words may be repeated to it; nothing else is named. */
static void refuse_denied(struct call *call)
{
	const struct json *view = call_own_view(call, call->database);

	for (size_t i = 0; i < call->functions.count; i++) {
		if (!function_granted(view, call->functions.items[i])) {
			call_refuse(call, "policy", call->code, "use another function",
				    "the function %.64s is not granted", call->functions.items[i]);
			return;
		}
	}
	if (call->tables.count == 0)
		call_refuse(call, "policy", call->code, "call tool.list",
			    "this agent may not use %s for this user", call->tool->name);
	else
		call_refuse(call, "policy", call->code, "ask for fewer tables and columns at once",
			    "what this call touches is not granted together");
}

/* A name out of sight is answered as if it did not exist; the record has the true decision. */
static bool refuse_hidden_table(struct call *call)
{
	const char *table = json_get_str(call->arguments, "table");
	const struct json *view;

	if (call->tool->way != TOOL_VIEW || table == NULL)
		return false;
	view = call_own_view(call, call->database);
	if (view_table(view, table) != NULL)
		return false;
	if (call->effect == EFFECT_ALLOW) { /* granted, but not to this kind of tool */
		call->effect = EFFECT_DENY;
		snprintf(call->code, sizeof(call->code), "not_in_view");
	}
	call_refuse(call, "database", call->code, "call search_schema", "no such table: %s", table);
	return true;
}

static bool take_limits(struct call *call)
{
	const struct agent_def *def = agent_def_now(call->agent);
	struct agent_use *use = call->agent->use;
	struct call_limits *limits = &call->limits;
	int64_t left;

	if (def == NULL)
		return false;
	left = task_time_left(call->agent->task, use, &def->budget);
	limits->rows = least(least(limits->rows, WRIT_ROWS_MAX), call->rows_asked);
	limits->bytes = least(limits->bytes, WRIT_RESULT_BYTES_DEFAULT);
	limits->time_ms = least(least(limits->time_ms, WRIT_STATEMENT_MS_DEFAULT), left);
	limits->scan_bytes = least(limits->scan_bytes, WRIT_SCAN_BYTES_DEFAULT);
	if (limits->time_ms <= 0) {
		call_refuse(call, "budget", "budget_time", "give up",
			    "the time of this task is up");
		return false;
	}
	if (call->tool->way == TOOL_BROKER || call->tool->explain)
		return true;
	limits->scan_bytes = call->scan_taken =
		budget_take_scan(&use->use, &def->budget, limits->scan_bytes);
	if (limits->scan_bytes > 0)
		return true;
	call_refuse(call, "budget", budget_part_code(BUDGET_SCAN), "ask something narrower", "%s",
		    budget_part_sentence(BUDGET_SCAN));
	return false;
}

static bool token_covers(struct call *call, const struct token_claims *claims,
			 const struct call_facts *facts)
{
	CLEANUP(json_freep)
	struct json *arguments = policy_call_arguments(
		facts, least(least(call->limits.rows, WRIT_ROWS_MAX), call->rows_asked));
	struct err err;

	if (token_allows(claims, call->tool->name, arguments, &err) == 0)
		return true;
	snprintf(call->reason, sizeof(call->reason), "%.255s", err.text);
	call->effect = EFFECT_DENY;
	call_refuse(call, "token", "token_grant", "call token.issue",
		    "the agent's token does not cover this call");
	return false;
}

/* Beside the decision, never instead of it. */
static void try_candidate(struct call *call, enum effect effect)
{
	static const char *const words[] = {"deny", "ask", "allow"};
	const struct bundle *candidate = call->broker->config->candidate;
	struct call_facts facts;
	struct verdict verdict;

	if (candidate == NULL)
		return;
	call_facts(call, &facts);
	policy_decide(candidate, &facts, &verdict);
	call->broker->shadow.decisions++;
	if (verdict.effect == effect)
		return;
	call->broker->shadow.differences++;
	call->candidate = words[verdict.effect];
}

void call_decide(struct call *call)
{
	const struct token_claims *claims;
	struct call_facts facts;
	struct verdict verdict;
	struct err err;

	if (grant_check(call->agent, &claims, &err) < 0) {
		call_refuse(call, "token", "token_denied", "call token.issue", "%s", err.text);
		return;
	}
	call_facts(call, &facts);
	call->decided_s = facts.setting.now_s;
	policy_decide(call->broker->config->bundle, &facts, &verdict);
	call_seek_approvals(call, &verdict);
	keep_verdict(call, &verdict);
	try_candidate(call, verdict.effect);
	if (refuse_hidden_table(call))
		return;
	if (verdict.effect == EFFECT_ASK) {
		call_ask_approval(call, &verdict);
		return;
	}
	if (verdict.effect == EFFECT_DENY) {
		refuse_denied(call);
		return;
	}
	if (!call_restrictions_hold(call)) {
		call->effect = EFFECT_DENY;
		call_refuse(call, "policy", "restrictions_changed", "send the call again",
			    "what is kept back of these tables changed while the call was prepared");
		return;
	}
	if (token_covers(call, claims, &facts) && take_limits(call) &&
	    call_take_terms(call, &verdict))
		call_go(call, CALL_DECIDED);
}

bool call_still_allowed(struct call *call)
{
	const struct token_claims *claims;
	struct call_facts facts;
	struct verdict verdict;
	struct err err;

	if (call->epoch == token_store_epoch(call->broker->store))
		return true;
	if (grant_check(call->agent, &claims, &err) < 0 && err.kind != ERR_TIMEOUT) {
		call_note_failure(call, "token", "token_denied", "give up",
				  "the authority for this call was withdrawn while it ran");
		return false;
	}
	call_facts(call, &facts);
	policy_decide(call->broker->config->bundle, &facts, &verdict);
	if (verdict.effect == EFFECT_ALLOW && call_restrictions_hold(call))
		return true;
	keep_verdict(call, &verdict);
	call_note_failure(call, "policy",
			  verdict.effect == EFFECT_ALLOW ? "restrictions_changed" : verdict.code,
			  "send the call again",
			  "the policy changed while this call ran and no longer allows it");
	return false;
}
