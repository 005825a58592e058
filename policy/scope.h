/* The rules that speak of one agent, user and tool, for the files of the evaluator only. */
#ifndef POLICY_SCOPE_H
#define POLICY_SCOPE_H

#include "policy/bundle_model.h"

struct scope_rules { /* in the order of the bundle */
	const struct rule **items;
	size_t count;
};

enum scope_want {
	SCOPE_LIST,	   /* tools are listed */
	SCOPE_CALL,	   /* a call is made now */
	SCOPE_UPPER_BOUND, /* calls will be made for some time, whatever the clock says then */
};

/* None for an unknown agent or a malformed subject. */
void scope_rules_find(const struct bundle *bundle, const char *agent, const struct subject *subject,
		      const struct setting *setting, const char *tool, enum scope_want want,
		      struct scope_rules *ret_rules);
void scope_rules_clear(struct scope_rules *rules);
/* Does a deny rule take away every call? A rule against a whole database does not: calls that touch
 * no database remain. */
bool scope_is_closed(const struct scope_rules *rules);

/* A copy, ascending, each name once: whoever gathers names need not look for doubles. */
struct json *names_sorted(const struct json *names);

#endif
