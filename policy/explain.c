/* See explain.h. Everything told is read from the trace of the decision. */
#include "policy/explain.h"

#include <stdlib.h>
#include <string.h>

#include "policy/call_spec.h"
#include "policy/explain_parts.h"
#include "policy/vocabulary.h"

static const char *const effects[] = {"deny", "ask", "allow"};
static const char *const outcomes[] = {"fails", "unclear", "applies"};

/* ---- edits ---- */

static struct json *find_rule(struct json *bundle, const char *id)
{
	json_each(rule, json_get(bundle, "rules")) if (json_get_str(rule, "id") != NULL &&
						       strcmp(json_get_str(rule, "id"), id) == 0)
	{
		/* The tree is ours; only the walk over it hands out borrowed children. */
		return (struct json *)(uintptr_t)rule;
	}
	return NULL;
}

/* A list of functions that a rule names stands in the bundle too. */
static void define_functions(struct json *bundle, const char *name)
{
	const struct function_list *list = function_list_find(name);
	struct json *names;

	if (list == NULL || json_get(json_get(bundle, "functions"), name) != NULL)
		return;
	names = json_array();
	for (size_t i = 0; list->functions[i] != NULL; i++)
		json_push_str(names, list->functions[i]);
	json_set(json_get_mut(bundle, "functions"), name, names);
}

static bool has_text(const struct json *list, const char *text)
{
	json_each(item, list) if (json_str(item) != NULL &&
				  strcmp(json_str(item), text) == 0) return true;
	return false;
}

static void edit_rule(struct json *bundle, const struct json *edit)
{
	struct json *at = find_rule(bundle, json_get_str(edit, "rule"));
	const struct json *path = json_get(edit, "path");
	const char *last = json_str(json_at(path, json_len(path) - 1));
	const char *word = json_get_str(edit, "add");

	for (size_t i = 0; at != NULL && i + 1 < json_len(path); i++)
		at = json_get_mut(at, json_str(json_at(path, i)));
	if (at == NULL || last == NULL)
		return;
	if (json_get_bool(edit, "drop", false)) {
		json_remove(at, last);
	} else if (json_get(edit, "set") != NULL) {
		json_set(at, last, json_copy(json_get(edit, "set")));
	} else if (word != NULL && json_type(json_get(at, last)) == JSON_ARRAY) {
		if (!has_text(json_get(at, last), word))
			json_push_str(json_get_mut(at, last), word);
		if (strcmp(last, "functions") == 0)
			define_functions(bundle, word);
	}
}

struct json *policy_edit(const struct json *bundle, const struct json *edits)
{
	struct json *edited = json_copy(bundle);

	json_each(edit, edits)
	{
		const struct json *rule = json_get(edit, "new_rule");

		if (rule == NULL) {
			edit_rule(edited, edit);
			continue;
		}
		json_each(list, json_get(json_get(rule, "data"), "functions"))
			define_functions(edited, json_str(list));
		json_push(json_get_mut(edited, "rules"), json_copy(rule));
	}
	return edited;
}

/* ---- what happened ---- */

static struct json *verdict_json(const struct verdict *verdict)
{
	struct json *json = json_object();
	struct json *limits;

	json_set_str(json, "effect", effects[verdict->effect]);
	json_set_str(json, "code", verdict->code);
	json_set_str(json, "rule", verdict->rule);
	json_set_str(json, "at", verdict->at);
	json_set_str(json, "reason", verdict->reason);
	if (verdict->effect != EFFECT_ALLOW)
		return json;
	limits = json_object();
	json_set_int(limits, "rows", verdict->limits.rows);
	json_set_int(limits, "bytes", verdict->limits.bytes);
	json_set_int(limits, "scan_bytes", verdict->limits.scan_bytes);
	json_set_int(limits, "time_ms", verdict->limits.time_ms);
	json_set(json, "limits", limits);
	return json;
}

static struct json *condition_json(const struct condition_trace *trace)
{
	struct json *json = json_object();

	json_set_str(json, "kind", trace->kind);
	json_set_str(json, "at", trace->at);
	json_set_str(json, "want", trace->want);
	json_set_str(json, "saw", trace->saw);
	json_set_str(json, "outcome",
		     trace->outcome == OUTCOME_HOLDS ? "holds" : outcomes[trace->outcome]);
	return json;
}

static struct json *rule_json(const struct rule_trace *trace, int flags)
{
	struct json *json = json_object();
	struct json *conditions;

	json_set_str(json, "rule", trace->rule);
	json_set_str(json, "at", trace->at);
	json_set_str(json, "effect", effects[trace->effect]);
	json_set_str(json, "outcome", outcomes[trace->outcome]);
	json_set_bool(json, "selected", trace->selected);
	if (trace->failed < trace->condition_count)
		json_set(json, "failed", condition_json(&trace->conditions[trace->failed]));
	if (!(flags & EXPLAIN_ALL))
		return json;
	conditions = json_array();
	for (size_t i = 0; i < trace->condition_count; i++)
		json_push(conditions, condition_json(&trace->conditions[i]));
	json_set(json, "conditions", conditions);
	return json;
}

/* ---- the nearest misses ---- */

struct miss {
	size_t rule;
	size_t failing;
};

/* A table that is not granted takes its columns along: that is one thing to mend. */
static size_t count_failing(const struct rule *rule, const struct rule_trace *trace)
{
	size_t failing = 0;
	bool tables = false;

	for (size_t i = 0; i < trace->condition_count; i++) {
		if (trace->conditions[i].outcome == OUTCOME_HOLDS ||
		    (tables && rule->conditions[i].kind == CONDITION_COLUMNS))
			continue;
		tables = tables || rule->conditions[i].kind == CONDITION_TABLES;
		failing++;
	}
	return failing;
}

static int compare_misses(const void *left, const void *right)
{
	const struct miss *a = left;
	const struct miss *b = right;

	if (a->failing != b->failing)
		return a->failing < b->failing ? -1 : 1;
	return a->rule < b->rule ? -1 : a->rule > b->rule;
}

static struct miss *find_misses(const struct bundle *bundle, const struct policy_trace *trace,
				size_t *ret_count)
{
	struct miss *misses = mem_array(trace->rule_count + 1, sizeof(*misses));
	size_t count = 0;

	for (size_t i = 0; i < trace->rule_count; i++)
		if (trace->rules[i].effect == EFFECT_ALLOW)
			misses[count++] = (struct miss){
				i, count_failing(&bundle->rules[i], &trace->rules[i])};
	if (count > 0)
		qsort(misses, count, sizeof(*misses), compare_misses);
	*ret_count = count;
	return misses;
}

static struct json *miss_json(const struct bundle *bundle, const struct json *json,
			      const struct rule_trace *trace, size_t rule,
			      const struct call_facts *facts)
{
	CLEANUP(change_clear) struct change change = {0};
	struct json *miss = json_object();
	struct json *failing = json_array();

	json_set_str(miss, "rule", trace->rule);
	json_set_str(miss, "at", trace->at);
	for (size_t i = 0; i < trace->condition_count; i++)
		if (trace->conditions[i].outcome != OUTCOME_HOLDS)
			json_push(failing, condition_json(&trace->conditions[i]));
	json_set(miss, "failing", failing);
	change_find(&bundle->rules[rule], trace, facts, &change);
	if (change.impossible != NULL) {
		json_set_str(miss, "impossible", change.impossible);
	} else if (!edits_allow(json, change.edits, facts)) {
		json_set_str(miss, "impossible",
			     "another rule or the agent itself stands against it");
	} else {
		json_set(miss, "changes", TAKE(change.texts));
		json_set(miss, "edits", TAKE(change.edits));
	}
	return miss;
}

static void add_own_rule(const struct bundle *bundle, const struct json *json,
			 const struct call_facts *facts, struct json *result)
{
	CLEANUP(mem_freep) char *text = NULL;
	struct json *rule = own_rule(bundle, facts, &text);
	CLEANUP(json_freep) struct json *edits = json_array();
	struct json *edit, *own;

	if (rule == NULL)
		return;
	edit = json_object();
	json_set(edit, "new_rule", rule);
	json_push(edits, edit);
	if (!edits_allow(json, edits, facts))
		return;
	own = json_object();
	json_set_str(own, "text", text);
	json_set(own, "edits", TAKE(edits));
	json_set(result, "own_rule", own);
}

static void add_nearest(const struct bundle *bundle, const struct json *json,
			const struct policy_trace *trace, const struct call_facts *facts, int flags,
			struct json *result)
{
	size_t count;
	CLEANUP(mem_freep) struct miss *misses = find_misses(bundle, trace, &count);
	struct json *nearest = json_array();

	for (size_t i = 0; i < count && ((flags & EXPLAIN_ALL) || i < EXPLAIN_MISSES); i++)
		json_push(nearest, miss_json(bundle, json, &trace->rules[misses[i].rule],
					     misses[i].rule, facts));
	json_set(result, "nearest", nearest);
	add_own_rule(bundle, json, facts, result);
}

struct json *policy_explain(const struct bundle *bundle, const struct json *json,
			    const struct call_facts *facts, int flags)
{
	CLEANUP(policy_trace_clear) struct policy_trace trace;
	struct verdict verdict;
	struct json *result = json_object();
	struct json *rules = json_array();

	policy_decide_traced(bundle, facts, &verdict, &trace);
	json_set_str(result, "policy", bundle_digest(bundle));
	json_set(result, "call", call_spec_json(facts));
	json_set(result, "verdict", verdict_json(&verdict));
	for (size_t i = 0; i < trace.rule_count; i++)
		json_push(rules, rule_json(&trace.rules[i], flags));
	json_set(result, "rules", rules);
	if (strcmp(verdict.code, "no_rule") == 0)
		add_nearest(bundle, json, &trace, facts, flags, result);
	return result;
}
