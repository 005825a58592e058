/* Between the files of explain only. */
#ifndef POLICY_EXPLAIN_PARTS_H
#define POLICY_EXPLAIN_PARTS_H

#include "policy/condition.h"
#include "policy/explain.h"

struct change {
	struct json *texts; /* what to do, for people */
	struct json *edits; /* the same for policy_edit() */
	char *impossible;   /* why no change of this rule can allow the call; NULL */
};

/* What would make every failing condition of an allow rule hold. Owned by the caller. */
void change_find(const struct rule *rule, const struct rule_trace *trace,
		 const struct call_facts *facts, struct change *ret_change);
void change_clear(struct change *change);

/* An allow rule for exactly this call: its JSON, and the lines to write. NULL when none can be. */
struct json *own_rule(const struct bundle *bundle, const struct call_facts *facts, char **ret_text);

/* Does the evaluator allow the call after the edits? */
bool edits_allow(const struct json *bundle, const struct json *edits,
		 const struct call_facts *facts);

#endif
