/*
 * A decision and all it looked at. The verdict is policy_decide()'s; the outcomes come from
 * rule_try(), the very function that decides. Pure; the texts are copies, owned by the trace.
 */
#include <string.h>

#include "policy/condition.h"

static void selected_mark(const struct bundle *bundle, const struct fact_ids *ids,
			  struct policy_trace *trace)
{
	struct candidates candidates = bundle_candidates(bundle, ids->agent, ids->tool);

	for (size_t s = 0; s < candidates.count; s++)
		for (size_t i = 0; i < candidates.spans[s]->count; i++)
			trace->rules[bundle->index.rules[candidates.spans[s]->start + i]].selected =
				true;
}

static void trace_rule(const struct rule *rule, const struct fact_ids *ids,
		       struct rule_trace *trace)
{
	struct rule_result result;

	trace->rule = rule->id;
	trace->at = rule->at;
	trace->effect = rule->effect;
	trace->conditions = mem_array(rule->condition_count, sizeof(*trace->conditions));
	trace->condition_count = rule->condition_count;
	result = rule_try(rule, ids, 0, trace);
	trace->outcome = result.outcome;
	trace->failed = result.failed;
}

void policy_decide_traced(const struct bundle *bundle, const struct call_facts *facts,
			  struct verdict *ret_verdict, struct policy_trace *ret_trace)
{
	CLEANUP(facts_clear) struct fact_ids ids;

	policy_decide(bundle, facts, ret_verdict);
	memset(ret_trace, 0, sizeof(*ret_trace));
	if (!facts_read(bundle, facts, &ids))
		return;
	ret_trace->rules = mem_array(bundle->rule_count, sizeof(*ret_trace->rules));
	ret_trace->rule_count = bundle->rule_count;
	for (size_t i = 0; i < bundle->rule_count; i++)
		trace_rule(&bundle->rules[i], &ids, &ret_trace->rules[i]);
	if (bundle_agent_find(bundle, facts->agent) != NULL)
		selected_mark(bundle, &ids, ret_trace);
}

void policy_trace_clear(struct policy_trace *trace)
{
	for (size_t r = 0; r < trace->rule_count; r++) {
		for (size_t c = 0; c < trace->rules[r].condition_count; c++) {
			mem_free(trace->rules[r].conditions[c].at);
			mem_free(trace->rules[r].conditions[c].want);
			mem_free(trace->rules[r].conditions[c].saw);
		}
		mem_free(trace->rules[r].conditions);
	}
	mem_free(trace->rules);
	*trace = (struct policy_trace){0};
}
