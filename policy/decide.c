/*
 * The decision on one call. The call's names become symbols once; then the rules that the index has
 * for this agent and tool are tried. Deny beats ask beats allow, no match denies, and what is
 * malformed never reaches a rule. Pure: the answer depends on bundle and facts alone.
 */
#include <string.h>

#include "policy/condition.h"

/* A short text without printf, cut at the end of a character. */
static void reason_add(struct verdict *verdict, const char *text)
{
	size_t len = strlen(verdict->reason);
	size_t room = sizeof(verdict->reason) - 1 - len;
	size_t take = strlen(text);

	if (take > room) {
		take = room;
		while (take > 0 && ((unsigned char)text[take] & 0xC0) == 0x80)
			take--;
	}
	for (size_t i = 0; i < take; i++) {
		unsigned char c = (unsigned char)text[i];

		verdict->reason[len + i] = c < 0x20 || c == 0x7F ? '?' : text[i];
	}
	verdict->reason[len + take] = '\0';
}

static void reason_rule(struct verdict *verdict, const char *what, const struct rule *rule)
{
	reason_add(verdict, what);
	reason_add(verdict, rule->id);
	reason_add(verdict, " (");
	reason_add(verdict, rule->at);
	reason_add(verdict, ")");
}

static void trace_condition(const struct rule *rule, const struct condition *condition,
			    const struct fact_ids *ids, enum outcome outcome, size_t part,
			    struct condition_trace *trace)
{
	struct buf at = BUF_INIT;
	struct buf want = BUF_INIT;
	struct buf saw = BUF_INIT;

	condition_at(rule, condition, &at);
	condition_want(condition, &want);
	condition_types[condition->kind].saw(rule, condition, ids, outcome, part, &saw);
	*trace = (struct condition_trace){condition_types[condition->kind].name, buf_take(&at),
					  buf_take(&want), buf_take(&saw), outcome};
}

struct rule_result rule_try(const struct rule *rule, const struct fact_ids *ids, size_t from,
			    struct rule_trace *trace)
{
	struct rule_result result = {OUTCOME_HOLDS, rule->condition_count, 0};

	for (size_t i = from; i < rule->condition_count; i++) {
		const struct condition *condition = &rule->conditions[i];
		size_t part = 0;
		enum outcome outcome =
			condition_types[condition->kind].test(rule, condition, ids, &part);

		if (trace != NULL)
			trace_condition(rule, condition, ids, outcome, part, &trace->conditions[i]);
		if (outcome >= result.outcome)
			continue;
		result = (struct rule_result){outcome, i, part};
		if (outcome == OUTCOME_FAILS && trace == NULL)
			break;
	}
	return result;
}

struct miss {
	const struct rule *rule; /* NULL when no allow rule was tried */
	struct rule_result result;
};

struct outcomes {
	const struct rule *first[3];   /* by effect */
	const struct rule *unclear;    /* the first that takes away and cannot be told */
	struct rule_result unclear_at; /* where */
	struct call_limits limits;
	const struct rule_limit *rates[POLICY_RATES_MAX];
	size_t rate_count; /* over POLICY_RATES_MAX: more than can be held, so none is */
	struct miss miss;
};

static void note_first(const struct rule **first, const struct rule *rule)
{
	if (*first == NULL || rule < *first)
		*first = rule;
}

static void smaller(int64_t *limit, int64_t other)
{
	if (other < *limit)
		*limit = other;
}

static void note_allow(struct outcomes *outcomes, const struct rule *rule)
{
	if (outcomes->first[EFFECT_ALLOW] == NULL)
		outcomes->limits = rule->limits;
	smaller(&outcomes->limits.rows, rule->limits.rows);
	smaller(&outcomes->limits.bytes, rule->limits.bytes);
	smaller(&outcomes->limits.scan_bytes, rule->limits.scan_bytes);
	smaller(&outcomes->limits.time_ms, rule->limits.time_ms);
	for (size_t i = 0; i < rule->rate_count; i++) {
		if (outcomes->rate_count < POLICY_RATES_MAX)
			outcomes->rates[outcomes->rate_count] = &rule->rates[i];
		outcomes->rate_count++;
	}
	note_first(&outcomes->first[EFFECT_ALLOW], rule);
}

static enum condition_kind failed_kind(const struct rule *rule, struct rule_result result)
{
	return rule->conditions[result.failed].kind;
}

/* A rule that comes further with the call is the nearer miss; of equals the first. */
static void note_miss(struct miss *miss, const struct rule *rule, struct rule_result result)
{
	if (miss->rule != NULL) {
		enum condition_kind known = failed_kind(miss->rule, miss->result);
		enum condition_kind kind = failed_kind(rule, result);

		if (kind < known || (kind == known && rule > miss->rule))
			return;
	}
	*miss = (struct miss){rule, result};
}

static void note_unclear(struct outcomes *outcomes, const struct rule *rule,
			 struct rule_result result)
{
	if (outcomes->unclear != NULL && outcomes->unclear < rule)
		return;
	outcomes->unclear = rule;
	outcomes->unclear_at = result;
}

static bool is_approved(const struct rule *rule, const struct names *approved)
{
	for (size_t i = 0; i < approved->count; i++)
		if (strcmp(approved->items[i], rule->id) == 0)
			return rule->effect == EFFECT_ASK;
	return false;
}

static void try_rule(const struct rule *rule, const struct fact_ids *ids, struct outcomes *outcomes)
{
	struct rule_result result = rule_try(rule, ids, CONDITION_FIRST_TESTED, NULL);

	if (rule->effect == EFFECT_ALLOW) {
		if (result.outcome == OUTCOME_HOLDS)
			note_allow(outcomes, rule);
		else
			note_miss(&outcomes->miss, rule, result);
	} else if (result.outcome == OUTCOME_UNCLEAR) {
		note_unclear(outcomes, rule, result);
	} else if (result.outcome == OUTCOME_HOLDS && !is_approved(rule, &ids->facts->approved)) {
		note_first(&outcomes->first[rule->effect], rule);
	}
}

static void reason_saw(struct verdict *verdict, const struct rule *rule, struct rule_result result,
		       const struct fact_ids *ids)
{
	const struct condition *condition = &rule->conditions[result.failed];
	CLEANUP(buf_clear) struct buf saw = BUF_INIT;

	condition_types[condition->kind].saw(rule, condition, ids, result.outcome, result.part,
					     &saw);
	reason_add(verdict, buf_str(&saw));
}

static void explain_miss(const struct miss *miss, const struct fact_ids *ids,
			 struct verdict *verdict)
{
	const struct condition_type *type;

	if (miss->rule == NULL) {
		reason_add(verdict, "no rule lets agent ");
		reason_add(verdict, ids->facts->agent);
		reason_add(verdict, " use ");
		reason_add(verdict, ids->facts->tool);
		return;
	}
	type = &condition_types[failed_kind(miss->rule, miss->result)];
	reason_rule(verdict, "no rule allows this; nearest: ", miss->rule);
	reason_add(verdict, type->miss);
	if (type->miss_saw)
		reason_saw(verdict, miss->rule, miss->result, ids);
}

static void name_rule(struct verdict *verdict, enum effect effect, const char *code,
		      const char *words, const struct rule *rule)
{
	verdict->effect = effect;
	verdict->rule = rule->id;
	verdict->at = rule->at;
	verdict->code = code;
	reason_rule(verdict, words, rule);
}

static void conclude_allow(const struct outcomes *outcomes, struct verdict *verdict)
{
	if (outcomes->rate_count > POLICY_RATES_MAX) {
		name_rule(verdict, EFFECT_DENY, "too_many_limits",
			  "more limits apply than can be held; one of them is of rule ",
			  outcomes->first[EFFECT_ALLOW]);
		return;
	}
	name_rule(verdict, EFFECT_ALLOW, "allowed", "allowed by rule ",
		  outcomes->first[EFFECT_ALLOW]);
	verdict->limits = outcomes->limits;
	memcpy(verdict->rates, outcomes->rates, outcomes->rate_count * sizeof(verdict->rates[0]));
	verdict->rate_count = outcomes->rate_count;
}

static void conclude(const struct outcomes *outcomes, const struct fact_ids *ids,
		     struct verdict *verdict)
{
	if (outcomes->first[EFFECT_DENY] != NULL) {
		name_rule(verdict, EFFECT_DENY, "rule_denies", "denied by rule ",
			  outcomes->first[EFFECT_DENY]);
	} else if (outcomes->unclear != NULL) {
		name_rule(verdict, EFFECT_DENY, "rule_unclear", "it cannot be told whether rule ",
			  outcomes->unclear);
		reason_add(verdict, " applies, so it denies: ");
		reason_add(verdict, outcomes->unclear->conditions[outcomes->unclear_at.failed].key);
		reason_add(verdict, " saw ");
		reason_saw(verdict, outcomes->unclear, outcomes->unclear_at, ids);
	} else if (outcomes->first[EFFECT_ASK] != NULL) {
		name_rule(verdict, EFFECT_ASK, "rule_asks", "approval wanted by rule ",
			  outcomes->first[EFFECT_ASK]);
		verdict->approval = &outcomes->first[EFFECT_ASK]->approval;
	} else if (outcomes->first[EFFECT_ALLOW] != NULL) {
		conclude_allow(outcomes, verdict);
	} else {
		verdict->code = "no_rule";
		explain_miss(&outcomes->miss, ids, verdict);
	}
}

/* others: those rules of the span that are for other users, which the index can tell. */
static void try_span(const struct bundle *bundle, const struct index_span *span,
		     const struct fact_ids *ids, bool others, struct outcomes *outcomes)
{
	const uint32_t *rules = bundle->index.rules + span->start;
	const uint64_t *who = bundle->index.who + span->start;

	for (size_t i = 0; i < span->count; i++)
		if (((who[i] & ids->subject.who) == 0) == others)
			try_rule(&bundle->rules[rules[i]], ids, outcomes);
}

static bool is_decided(const struct outcomes *outcomes)
{
	for (size_t i = 0; i < ARRAY_LEN(outcomes->first); i++)
		if (outcomes->first[i] != NULL)
			return true;
	return outcomes->unclear != NULL;
}

void policy_decide_ids(const struct bundle *bundle, const struct fact_ids *ids,
		       struct verdict *ret_verdict)
{
	struct candidates candidates = bundle_candidates(bundle, ids->agent, ids->tool);
	struct outcomes outcomes = {0};

	memset(ret_verdict, 0, sizeof(*ret_verdict));
	ret_verdict->effect = EFFECT_DENY;
	for (size_t s = 0; s < candidates.count; s++)
		try_span(bundle, candidates.spans[s], ids, false, &outcomes);
	/* Rules for others decide nothing, but one of them may be the nearest miss. */
	for (size_t s = 0; s < candidates.count && !is_decided(&outcomes); s++)
		try_span(bundle, candidates.spans[s], ids, true, &outcomes);
	conclude(&outcomes, ids, ret_verdict);
}

void policy_decide(const struct bundle *bundle, const struct call_facts *facts,
		   struct verdict *ret_verdict)
{
	CLEANUP(facts_clear) struct fact_ids ids;

	if (!facts_read(bundle, facts, &ids)) {
		memset(ret_verdict, 0, sizeof(*ret_verdict));
		ret_verdict->effect = EFFECT_DENY;
		ret_verdict->code = "malformed";
		reason_add(ret_verdict, "the description of the call is malformed");
		return;
	}
	if (!bundle_is_agent(bundle, ids.agent)) {
		memset(ret_verdict, 0, sizeof(*ret_verdict));
		ret_verdict->effect = EFFECT_DENY;
		ret_verdict->code = "unknown_agent";
		reason_add(ret_verdict, "no scope file defines agent ");
		reason_add(ret_verdict, facts->agent);
		return;
	}
	policy_decide_ids(bundle, &ids, ret_verdict);
}
