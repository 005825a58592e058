/* The rules that speak of one agent, user and tool, for the files of the evaluator only. */
#ifndef POLICY_SCOPE_H
#define POLICY_SCOPE_H

#include "policy/bundle_model.h"

struct scope_rules { /* in the order of the bundle */
	const struct rule **items;
	size_t count;
};

/* None for an unknown agent or a malformed subject. */
void scope_rules_find(const struct bundle *bundle, const char *agent, const struct subject *subject,
		      const char *tool, struct scope_rules *ret_rules);
void scope_rules_clear(struct scope_rules *rules);
/* Is anything left of this allow rule once deny rules had their say? Errs towards yes. */
bool scope_rule_stands(const struct scope_rules *rules, const struct rule *grant);

#endif
