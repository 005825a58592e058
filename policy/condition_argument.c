/*
 * Conditions on the arguments of a call. A rule that grants names every argument (closed world):
 * one that it does not name, and one that it names and the call has not, are not granted. A rule
 * that takes away matches on the arguments it names; one that is missing, or of a type the rule
 * does not speak of, leaves it unclear, so it denies. "[*]" means each element for a rule that
 * grants and any element for one that takes away. Pure; depth is bounded by JSON and paths.
 */
#include <string.h>

#include "policy/condition.h"

static enum outcome match_from(const struct rule *rule, const struct rule_argument *argument,
			       size_t step, const struct json *value);

/* Allow: the worst of all elements. Otherwise the best. */
static enum outcome match_each(const struct rule *rule, const struct rule_argument *argument,
			       size_t step, const struct json *list)
{
	bool allow = rule->effect == EFFECT_ALLOW;
	enum outcome result = allow ? OUTCOME_HOLDS : OUTCOME_FAILS;

	json_each(item, list)
	{
		enum outcome one = match_from(rule, argument, step + 1, item);

		if (allow ? one < result : one > result)
			result = one;
	}
	return result;
}

static enum outcome match_from(const struct rule *rule, const struct rule_argument *argument,
			       size_t step, const struct json *value)
{
	const struct json_step *at = &argument->path.steps[step];

	if (step == argument->path.count)
		return condition_match(rule, argument->matcher, value);
	if (at->kind == STEP_EACH && json_type(value) == JSON_ARRAY)
		return match_each(rule, argument, step, value);
	if (at->kind == STEP_NAME && json_type(value) == JSON_OBJECT)
		value = json_get(value, at->name);
	else if (at->kind == STEP_INDEX && json_type(value) == JSON_ARRAY)
		value = json_at(value, at->index);
	else
		value = NULL;
	if (value == NULL)
		return condition_match(rule, argument->matcher, NULL);
	return match_from(rule, argument, step + 1, value);
}

CONDITION_TEST(argument)
{
	const struct rule_argument *argument = &rule->arguments[condition->item];

	(void)ret_part;
	return match_from(rule, argument, 0, ids->facts->arguments);
}

static bool step_takes(const struct json_step *step, const struct json *child, size_t index)
{
	switch (step->kind) {
	case STEP_NAME:
		return json_key(child) != NULL && strcmp(step->name, json_key(child)) == 0;
	case STEP_INDEX:
		return json_key(child) == NULL && step->index == index;
	default: /* each */
		return json_key(child) == NULL;
	}
}

/* The first value below this one that no path leads to. paths: a bit for each argument whose path
 * came here in as many steps. */
static const struct json *find_unnamed(const struct rule *rule, uint64_t paths, size_t steps,
				       const struct json *value)
{
	size_t index = 0;

	for (size_t i = 0; i < rule->argument_count; i++)
		if (((paths >> i) & 1) && rule->arguments[i].path.count == steps)
			return NULL; /* a constraint speaks of this value whole */
	json_each(child, value)
	{
		uint64_t further = 0;
		const struct json *unnamed;

		for (size_t i = 0; i < rule->argument_count; i++)
			if (((paths >> i) & 1) &&
			    step_takes(&rule->arguments[i].path.steps[steps], child, index))
				further |= 1ull << i;
		index++;
		if (further == 0)
			return child;
		unnamed = find_unnamed(rule, further, steps + 1, child);
		if (unnamed != NULL)
			return unnamed;
	}
	return NULL;
}

const struct json *condition_unnamed(const struct rule *rule, const struct fact_ids *ids)
{
	return find_unnamed(rule, UINT64_MAX, 0, ids->facts->arguments);
}

CONDITION_TEST(closed)
{
	(void)condition;
	(void)ret_part;
	return condition_unnamed(rule, ids) == NULL ? OUTCOME_HOLDS : OUTCOME_FAILS;
}
