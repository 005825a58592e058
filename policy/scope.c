/*
 * Which rules speak of an agent, a user and a tool, and whether a tool is to be seen at all. Pure;
 * an unknown agent or a malformed subject finds no rule.
 */
#include <stdlib.h>
#include <string.h>

#include "policy/scope.h"

static int compare_rules(const void *left, const void *right)
{
	const struct rule *a = *(const struct rule *const *)left;
	const struct rule *b = *(const struct rule *const *)right;

	return a < b ? -1 : a > b;
}

void scope_rules_find(const struct bundle *bundle, const char *agent, const struct subject *subject,
		      const char *tool, struct scope_rules *ret_rules)
{
	const struct bundle_agent *known = bundle_agent_find(bundle, agent);
	symbol_t groups[SUBJECT_GROUPS_MAX];
	struct subject_ids ids;
	struct candidates candidates;
	size_t most = 0;

	memset(ret_rules, 0, sizeof(*ret_rules));
	if (known == NULL || tool == NULL || !subject_read(bundle, subject, groups, &ids))
		return;
	candidates = bundle_candidates(bundle, known->name,
				       symbols_find(&bundle->symbols, tool, strlen(tool)));
	for (size_t s = 0; s < candidates.count; s++)
		most += candidates.spans[s]->count;
	ret_rules->items = mem_array(most, sizeof(*ret_rules->items));
	for (size_t s = 0; s < candidates.count; s++)
		for (size_t i = 0; i < candidates.spans[s]->count; i++) {
			size_t at = bundle->index.rules[candidates.spans[s]->start + i];
			const struct rule *rule = &bundle->rules[at];

			if (rule_has_subject(rule, &ids))
				ret_rules->items[ret_rules->count++] = rule;
		}
	if (ret_rules->count > 0)
		qsort(ret_rules->items, ret_rules->count, sizeof(*ret_rules->items), compare_rules);
}

void scope_rules_clear(struct scope_rules *rules)
{
	mem_free(rules->items);
}

bool scope_is_closed(const struct scope_rules *rules)
{
	for (size_t i = 0; i < rules->count; i++)
		if (rules->items[i]->effect == EFFECT_DENY &&
		    rules->items[i]->data.kind == DATA_ALL)
			return true;
	return false;
}

bool policy_tool_visible(const struct bundle *bundle, const char *agent,
			 const struct subject *subject, const char *tool)
{
	CLEANUP(scope_rules_clear) struct scope_rules rules;
	bool granted = false;

	scope_rules_find(bundle, agent, subject, tool, &rules);
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
