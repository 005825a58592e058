/* Coverage of rules and conditions, counted from traces of decisions. Pure. */
#include <string.h>

#include "policy/condition.h"
#include "policy/tests.h"

/* "all", "everyone", or for columns nothing but whole tables: the condition holds of every call (or
 * fails only where the one on tables does). */
static bool can_fail(const struct condition *condition)
{
	const char *word = json_str(condition->want);

	if (condition->kind == CONDITION_COLUMNS) {
		json_each(columns,
			  condition->want) if (json_type(columns) == JSON_ARRAY) return true;
		return false;
	}
	return word == NULL || (strcmp(word, "all") != 0 && strcmp(word, "everyone") != 0);
}

static void begin_rule(const struct rule *rule, struct rule_cover *cover)
{
	cover->rule = rule->id;
	cover->at = rule->at;
	cover->conditions = mem_array(rule->condition_count, sizeof(*cover->conditions));
	for (size_t i = 0; i < rule->condition_count; i++) {
		struct condition_cover *made = &cover->conditions[cover->condition_count];
		struct buf at = BUF_INIT, want = BUF_INIT;

		if (!can_fail(&rule->conditions[i]))
			continue;
		condition_at(rule, &rule->conditions[i], &at);
		condition_want(&rule->conditions[i], &want);
		*made = (struct condition_cover){condition_types[rule->conditions[i].kind].name,
						 buf_take(&at), buf_take(&want), 0};
		cover->condition_count++;
	}
}

void tests_cover_begin(const struct bundle *bundle, struct tests_cover *cover)
{
	*cover = (struct tests_cover){.rule_count = bundle->rule_count};
	cover->rules = mem_array(bundle->rule_count + 1, sizeof(*cover->rules));
	for (size_t i = 0; i < bundle->rule_count; i++)
		begin_rule(&bundle->rules[i], &cover->rules[i]);
}

/* Does this condition alone stop the rule? A table that is not granted takes its columns along, so
 * those two count as one where the table fails. */
static bool fails_alone(const struct rule *rule, const struct rule_trace *trace, size_t at)
{
	if (trace->conditions[at].outcome == OUTCOME_HOLDS)
		return false;
	for (size_t i = 0; i < trace->condition_count; i++)
		if (i != at && trace->conditions[i].outcome != OUTCOME_HOLDS &&
		    !(rule->conditions[at].kind == CONDITION_TABLES &&
		      rule->conditions[i].kind == CONDITION_COLUMNS))
			return false;
	return true;
}

void tests_cover_add(struct tests_cover *cover, const struct bundle *bundle,
		     const struct policy_trace *trace)
{
	for (size_t r = 0; r < trace->rule_count; r++) {
		const struct rule *rule = &bundle->rules[r];
		struct rule_cover *rule_cover = &cover->rules[r];
		size_t at = 0;

		rule_cover->applies += trace->rules[r].outcome == OUTCOME_HOLDS;
		for (size_t i = 0; i < rule->condition_count; i++) {
			if (!can_fail(&rule->conditions[i]))
				continue;
			rule_cover->conditions[at++].alone +=
				fails_alone(rule, &trace->rules[r], i);
		}
	}
}

void tests_cover_end(struct tests_cover *cover)
{
	for (size_t r = 0; r < cover->rule_count; r++) {
		const struct rule_cover *rule = &cover->rules[r];

		cover->total += 1 + rule->condition_count;
		cover->shown += rule->applies > 0;
		for (size_t i = 0; i < rule->condition_count; i++)
			cover->shown += rule->conditions[i].alone > 0;
	}
}

void tests_cover_clear(struct tests_cover *cover)
{
	for (size_t r = 0; r < cover->rule_count; r++) {
		for (size_t i = 0; i < cover->rules[r].condition_count; i++) {
			mem_free(cover->rules[r].conditions[i].at);
			mem_free(cover->rules[r].conditions[i].want);
		}
		mem_free(cover->rules[r].conditions);
	}
	mem_free(cover->rules);
	*cover = (struct tests_cover){0};
}

unsigned tests_cover_percent(const struct tests_cover *cover)
{
	return cover->total == 0 ? 100u : (unsigned)(cover->shown * 100 / cover->total);
}

static struct json *rule_json(const struct rule_cover *rule)
{
	struct json *json = json_object();
	struct json *conditions = json_array();

	json_set_str(json, "rule", rule->rule);
	json_set_str(json, "at", rule->at);
	json_set_int(json, "applies", (int64_t)rule->applies);
	for (size_t i = 0; i < rule->condition_count; i++) {
		struct json *one = json_object();

		json_set_str(one, "kind", rule->conditions[i].kind);
		json_set_str(one, "at", rule->conditions[i].at);
		json_set_str(one, "want", rule->conditions[i].want);
		json_set_int(one, "fails_alone", (int64_t)rule->conditions[i].alone);
		json_push(conditions, one);
	}
	json_set(json, "conditions", conditions);
	return json;
}

struct json *tests_cover_json(const struct tests_cover *cover)
{
	struct json *json = json_object();
	struct json *rules = json_array();

	for (size_t i = 0; i < cover->rule_count; i++)
		json_push(rules, rule_json(&cover->rules[i]));
	json_set_int(json, "percent", tests_cover_percent(cover));
	json_set_int(json, "shown", (int64_t)cover->shown);
	json_set_int(json, "total", (int64_t)cover->total);
	json_set(json, "rules", rules);
	return json;
}

void tests_cover_write(const struct tests_cover *cover, struct buf *out)
{
	for (size_t r = 0; r < cover->rule_count; r++) {
		const struct rule_cover *rule = &cover->rules[r];

		if (rule->applies == 0)
			buf_addf(out, "  %s: rule %s never applies\n", rule->at, rule->rule);
		for (size_t i = 0; i < rule->condition_count; i++)
			if (rule->conditions[i].alone == 0)
				buf_addf(out,
					 "  %s: rule %s: in no case does this alone fail: %s\n",
					 rule->conditions[i].at, rule->rule,
					 rule->conditions[i].want);
	}
}
