/*
 * The decision on one call. The call's names become symbols once; then the rules that the index has
 * for this agent and tool are tried. Deny beats ask beats allow, no match denies, and what is
 * malformed never reaches a rule. Pure: the answer depends on bundle and facts alone.
 */
#include <string.h>

#include "policy/facts.h"

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

bool rule_has_subject(const struct rule *rule, const struct subject_ids *subject)
{
	if (rule->everyone || symbol_set_has(&rule->users, subject->user) ||
	    symbol_set_has(&rule->tenants, subject->tenant))
		return true;
	for (size_t i = 0; i < subject->group_count; i++)
		if (symbol_set_has(&rule->groups, subject->groups[i]))
			return true;
	return false;
}

static const struct rule_table *rule_table_find(const struct rule_data *data, symbol_t table)
{
	size_t low = 0;
	size_t high = data->table_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (data->tables[middle].table == table)
			return &data->tables[middle];
		if (data->tables[middle].table < table)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

static bool lists_function(const struct rule_data *data, symbol_t function)
{
	for (size_t i = 0; i < data->function_list_count; i++)
		if (symbol_set_has(data->functions[i], function))
			return true;
	return false;
}

/* Does a rule that takes away match any part of the call? */
static bool rule_touches(const struct rule *rule, const struct fact_ids *ids)
{
	const struct rule_data *data = &rule->data;
	const struct call_facts *facts = ids->facts;

	if (data->kind == DATA_ALL)
		return true;
	if (data->database != ids->database || ids->database == SYMBOL_NONE)
		return false;
	if (data->tables_all)
		return true;
	for (size_t i = 0; i < facts->tables.count; i++) {
		const struct rule_table *table = rule_table_find(data, ids->tables[i].folded);

		if (table != NULL && table->all)
			return true;
	}
	for (size_t i = 0; i < facts->columns.count; i++) {
		const struct fact_column *column = &ids->columns[i];
		const struct rule_table *table =
			rule_table_find(data, ids->tables[column->table].folded);

		if (table != NULL && symbol_set_has(&table->columns, column->folded))
			return true;
	}
	for (size_t i = 0; i < facts->functions.count; i++)
		if (lists_function(data, ids->functions[i]))
			return true;
	return false;
}

/* How far an allow rule goes with a call; further is a nearer miss. */
enum reach { REACH_USER, REACH_DATABASE, REACH_TABLE, REACH_COLUMN, REACH_FUNCTION, REACH_ALL };

struct miss {
	enum reach reach;
	const struct rule *rule; /* NULL when no allow rule was tried */
	size_t at;		 /* which table, column or function */
};

static enum reach rule_reach(const struct rule *rule, const struct fact_ids *ids, size_t *ret_at)
{
	const struct rule_data *data = &rule->data;
	const struct call_facts *facts = ids->facts;

	if (facts->database == NULL)
		return REACH_ALL; /* touches nothing */
	if (data->kind != DATA_SOME || data->database != ids->database)
		return REACH_DATABASE;
	for (*ret_at = 0; *ret_at < facts->tables.count; ++*ret_at)
		if (rule_table_find(data, ids->tables[*ret_at].exact) == NULL)
			return REACH_TABLE;
	for (*ret_at = 0; *ret_at < facts->columns.count; ++*ret_at) {
		const struct fact_column *column = &ids->columns[*ret_at];
		const struct rule_table *table =
			rule_table_find(data, ids->tables[column->table].exact);

		if (!column->any && !table->all && !symbol_set_has(&table->columns, column->exact))
			return REACH_COLUMN;
	}
	for (*ret_at = 0; *ret_at < facts->functions.count; ++*ret_at)
		if (!lists_function(data, ids->functions[*ret_at]))
			return REACH_FUNCTION;
	return REACH_ALL;
}

struct outcome {
	const struct rule *first[3]; /* by effect */
	struct call_limits limits;
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

static void note_allow(struct outcome *outcome, const struct rule *rule)
{
	if (outcome->first[EFFECT_ALLOW] == NULL)
		outcome->limits = rule->limits;
	smaller(&outcome->limits.rows, rule->limits.rows);
	smaller(&outcome->limits.bytes, rule->limits.bytes);
	smaller(&outcome->limits.scan_bytes, rule->limits.scan_bytes);
	smaller(&outcome->limits.time_ms, rule->limits.time_ms);
	note_first(&outcome->first[EFFECT_ALLOW], rule);
}

static void note_miss(struct miss *miss, enum reach reach, const struct rule *rule, size_t at)
{
	if (miss->rule != NULL &&
	    (reach < miss->reach || (reach == miss->reach && rule > miss->rule)))
		return;
	*miss = (struct miss){reach, rule, at};
}

static void try_rule(const struct rule *rule, const struct fact_ids *ids, struct outcome *outcome)
{
	enum reach reach = REACH_USER;
	size_t at = 0;
	bool meant = rule_has_subject(rule, &ids->subject);

	if (rule->effect != EFFECT_ALLOW) {
		if (meant && rule_touches(rule, ids))
			note_first(&outcome->first[rule->effect], rule);
		return;
	}
	if (meant)
		reach = rule_reach(rule, ids, &at);
	if (reach == REACH_ALL)
		note_allow(outcome, rule);
	else
		note_miss(&outcome->miss, reach, rule, at);
}

static void explain_miss(const struct miss *miss, const struct call_facts *facts,
			 struct verdict *verdict)
{
	if (miss->rule == NULL) {
		reason_add(verdict, "no rule lets agent ");
		reason_add(verdict, facts->agent);
		reason_add(verdict, " use ");
		reason_add(verdict, facts->tool);
		return;
	}
	reason_rule(verdict, "no rule allows this; nearest: ", miss->rule);
	switch (miss->reach) {
	case REACH_USER:
		reason_add(verdict, " is not for this user");
		return;
	case REACH_DATABASE:
		reason_add(verdict, " does not grant database ");
		reason_add(verdict, facts->database);
		return;
	case REACH_TABLE:
		reason_add(verdict, " does not grant table ");
		reason_add(verdict, facts->tables.items[miss->at]);
		return;
	case REACH_COLUMN:
		reason_add(verdict, " does not grant column ");
		reason_add(verdict, facts->columns.items[miss->at]);
		return;
	case REACH_FUNCTION:
	case REACH_ALL: /* never a miss */
		reason_add(verdict, " does not grant function ");
		reason_add(verdict, facts->functions.items[miss->at]);
		return;
	}
}

static void conclude(const struct outcome *outcome, const struct call_facts *facts,
		     struct verdict *verdict)
{
	static const char *const codes[] = {[EFFECT_DENY] = "rule_denies",
					    [EFFECT_ASK] = "rule_asks",
					    [EFFECT_ALLOW] = "allowed"};
	static const char *const words[] = {[EFFECT_DENY] = "denied by rule ",
					    [EFFECT_ASK] = "approval wanted by rule ",
					    [EFFECT_ALLOW] = "allowed by rule "};

	for (enum effect effect = EFFECT_DENY; effect <= EFFECT_ALLOW; effect++) {
		const struct rule *rule = outcome->first[effect];

		if (rule == NULL)
			continue;
		verdict->effect = effect;
		verdict->rule = rule->id;
		verdict->at = rule->at;
		verdict->code = codes[effect];
		if (effect == EFFECT_ALLOW)
			verdict->limits = outcome->limits;
		reason_rule(verdict, words[effect], rule);
		return;
	}
	verdict->code = "no_rule";
	explain_miss(&outcome->miss, facts, verdict);
}

static void decide_ids(const struct bundle *bundle, symbol_t agent, const struct fact_ids *ids,
		       struct verdict *verdict)
{
	struct candidates candidates = bundle_candidates(bundle, agent, ids->tool);
	struct outcome outcome = {0};

	for (size_t s = 0; s < candidates.count; s++) {
		const struct index_span *span = candidates.spans[s];
		const uint32_t *rules = bundle->index.rules + span->start;

		for (size_t i = 0; i < span->count; i++)
			try_rule(&bundle->rules[rules[i]], ids, &outcome);
	}
	conclude(&outcome, ids->facts, verdict);
}

void policy_decide(const struct bundle *bundle, const struct call_facts *facts,
		   struct verdict *ret_verdict)
{
	const struct bundle_agent *agent = bundle_agent_find(bundle, facts->agent);
	CLEANUP(facts_clear) struct fact_ids ids;

	memset(ret_verdict, 0, sizeof(*ret_verdict));
	ret_verdict->effect = EFFECT_DENY;
	if (!facts_read(bundle, facts, &ids) || facts->agent == NULL) {
		ret_verdict->code = "malformed";
		reason_add(ret_verdict, "the description of the call is malformed");
		return;
	}
	if (agent == NULL) {
		ret_verdict->code = "unknown_agent";
		reason_add(ret_verdict, "no scope file defines agent ");
		reason_add(ret_verdict, facts->agent);
		return;
	}
	decide_ids(bundle, agent->name, &ids, ret_verdict);
}
