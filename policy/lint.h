/*
 * Rules that change nothing: that no call can match, that other rules take away whole, or that only
 * repeat what others do. Decided over all calls by the machinery of compare.h, never by text.
 */
#ifndef POLICY_LINT_H
#define POLICY_LINT_H

#include "base/problems.h"
#include "policy/policy.h"

#define LINT_RULES_MAX 400u /* comparing each rule with all others takes its time */

/*
 * Adds warnings at their words in the scope files: never_matches (naming the condition), shadowed
 * (naming the rule that takes away, for a whole rule or one of its tables), redundant (naming a
 * rule that does the same). json: the bundle's. A policy of more than LINT_RULES_MAX rules is not
 * looked at; returns 1 then. Negative only for what the operating system refused.
 */
MUST_CHECK int policy_lint(int workspace_fd, const struct bundle *bundle, const struct json *json,
			   struct problems *problems, struct err *err);

#endif
