/*
 * Which rules speak of an agent, a user and a tool, and whether a tool is to be seen at all. Pure;
 * an unknown agent or a malformed subject finds no rule.
 */
#include <stdlib.h>
#include <string.h>

#include "policy/condition.h"
#include "policy/scope.h"

static int compare_rules(const void *left, const void *right)
{
	const struct rule *a = *(const struct rule *const *)left;
	const struct rule *b = *(const struct rule *const *)right;

	return a < b ? -1 : a > b;
}

/* What is known before there is a call; the rest may come out either way. A rule that takes away
 * and cannot be told counts as one that does. */
static bool speaks_of(const struct rule *rule, const struct fact_ids *ids)
{
	for (size_t i = CONDITION_FIRST_TESTED; i < rule->condition_count; i++) {
		const struct condition *condition = &rule->conditions[i];
		const struct condition_type *type = &condition_types[condition->kind];
		enum outcome outcome;
		size_t part;

		if (!type->listing)
			continue;
		outcome = type->test(rule, condition, ids, &part);
		if (outcome == OUTCOME_FAILS ||
		    (outcome == OUTCOME_UNCLEAR && rule->effect == EFFECT_ALLOW))
			return false;
	}
	return true;
}

static void take_candidates(const struct bundle *bundle, const struct fact_ids *ids,
			    struct scope_rules *rules)
{
	struct candidates candidates = bundle_candidates(bundle, ids->agent, ids->tool);
	size_t most = 0;

	for (size_t s = 0; s < candidates.count; s++)
		most += candidates.spans[s]->count;
	rules->items = mem_array(most, sizeof(*rules->items));
	for (size_t s = 0; s < candidates.count; s++)
		for (size_t i = 0; i < candidates.spans[s]->count; i++) {
			size_t at = bundle->index.rules[candidates.spans[s]->start + i];

			if (speaks_of(&bundle->rules[at], ids))
				rules->items[rules->count++] = &bundle->rules[at];
		}
	if (rules->count > 0)
		qsort(rules->items, rules->count, sizeof(*rules->items), compare_rules);
}

void scope_rules_find(const struct bundle *bundle, const char *agent, const struct subject *subject,
		      const struct setting *setting, const char *tool, enum scope_want want,
		      struct scope_rules *ret_rules)
{
	const struct call_facts facts = {
		.agent = agent, .subject = *subject, .tool = tool, .setting = *setting};
	CLEANUP(facts_clear) struct fact_ids ids;

	memset(ret_rules, 0, sizeof(*ret_rules));
	if (!facts_read(bundle, &facts, &ids) || bundle_agent_find(bundle, agent) == NULL)
		return;
	ids.listing = want == SCOPE_LIST;
	ids.any_time = want == SCOPE_UPPER_BOUND;
	take_candidates(bundle, &ids, ret_rules);
}

void scope_rules_clear(struct scope_rules *rules)
{
	mem_free(rules->items);
}

bool scope_is_closed(const struct scope_rules *rules)
{
	for (size_t i = 0; i < rules->count; i++)
		if (rules->items[i]->effect == EFFECT_DENY &&
		    rules->items[i]->data.kind == DATA_ALL && rules->items[i]->argument_count == 0)
			return true;
	return false;
}

bool policy_tool_visible(const struct bundle *bundle, const char *agent,
			 const struct subject *subject, const struct setting *setting,
			 const char *tool, bool listing)
{
	CLEANUP(scope_rules_clear) struct scope_rules rules;
	bool granted = false;

	scope_rules_find(bundle, agent, subject, setting, tool, listing ? SCOPE_LIST : SCOPE_CALL,
			 &rules);
	for (size_t i = 0; i < rules.count; i++)
		granted = granted || rules.items[i]->effect == EFFECT_ALLOW;
	return granted && !scope_is_closed(&rules);
}

static int compare_texts(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

struct json *names_sorted(const struct json *names)
{
	size_t count = 0;
	CLEANUP(mem_freep) const char **texts = mem_array(json_len(names), sizeof(*texts));
	struct json *sorted = json_array();

	json_each(name, names) texts[count++] = json_str(name);
	if (count > 0)
		qsort(texts, count, sizeof(*texts), compare_texts);
	for (size_t i = 0; i < count; i++)
		if (i == 0 || strcmp(texts[i], texts[i - 1]) != 0)
			json_push_str(sorted, texts[i]);
	return sorted;
}
