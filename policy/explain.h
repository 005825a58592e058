/*
 * Why a call is decided as it is: the verdict by the evaluator itself, every rule with the first
 * condition that failed and the value it saw; and when nothing allows it, the nearest misses, each
 * with the change to the rules that would. A change is only told after the evaluator has allowed
 * the call under the changed rules. Pure.
 */
#ifndef POLICY_EXPLAIN_H
#define POLICY_EXPLAIN_H

#include "base/buf.h"
#include "policy/policy.h"

enum explain_flags {
	EXPLAIN_ALL = 1, /* every condition of every rule, and every miss */
};

#define EXPLAIN_MISSES 3 /* told without EXPLAIN_ALL */

/*
 * {"policy","call","verdict":{"effect","code","rule","at","reason","limits"},
 *  "rules":[{"rule","at","effect","outcome":"applies"|"fails"|"unclear","selected",
 *            "failed":{"kind","at","want","saw"},"conditions":[...]}],
 *  "nearest":[{"rule","at","failing":[{"kind","at","want","saw"}],
 *              "changes":["add user:eve to users (scopes/sales.yaml:24:12)"],"edits":[...]}
 *             or with "impossible" in place of changes and edits],
 *  "own_rule":{"text","edits"}}
 * nearest and own_rule stand there when no rule matches; own_rule when the call can be granted by a
 * rule of its own. json: the bundle's. The caller owns the result.
 */
struct json *policy_explain(const struct bundle *bundle, const struct json *json,
			    const struct call_facts *facts, int flags);

/* The same for people. */
void explain_write(const struct json *explained, int flags, struct buf *out);

/* The bundle's JSON with the edits made. The caller owns the result. */
struct json *policy_edit(const struct json *bundle, const struct json *edits);

#endif
