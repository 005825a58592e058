/*
 * Policy: read this first.
 *
 *   scope files --(policy/source.c, check.c, compile.c; in `writ`)--> bundle bytes, named by
 * SHA-256 bundle bytes --(policy/bundle.c; in the broker)--> struct bundle --(policy/decide.c)-->
 * verdict
 *
 * bundle.c and decide.c are pure: no I/O, no clock, no loop. Deny beats ask beats allow; no match
 * denies; deny and ask match when any part of a call does; an allow must cover the whole call
 * alone.
 */
#ifndef POLICY_POLICY_H
#define POLICY_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/crypto.h"
#include "base/err.h"
#include "base/json.h"

/*
 * To decide:   policy_decide(bundle, &facts, &verdict)
 * To explain:  policy_decide_traced(bundle, &facts, &verdict, &trace): the same evaluator, which
 *              then tests every condition of every rule and writes down each outcome
 * One idea in one place: what a rule can ask of a call is the table of conditions in
 * policy/condition.h; checker, evaluator, trace, schema and comparison read that table.
 */

struct bundle; /* immutable once read */

struct task_budget { /* per_task of an agent */
	int64_t tool_calls;
	int64_t tool_errors;
	int64_t model_calls;
	int64_t attempts;
	int64_t time_ms;
	int64_t scan_bytes;
};

struct call_limits { /* per_call of a rule; the smallest of all that apply counts */
	int64_t rows;
	int64_t bytes;
	int64_t scan_bytes;
	int64_t time_ms;
};

struct agent_def { /* owned by the bundle */
	const char *name;
	const char *id;	   /* URI */
	const char *role;  /* query, report */
	const char *owner; /* team:... */
	const char *scope;
	const char *at; /* scopes/sales.yaml:8 */
	int64_t token_seconds;
	struct task_budget budget;
	const char *const *hands_to; /* NULL-terminated */
};

MUST_CHECK int bundle_read(const char *bytes, size_t len, struct bundle **ret_bundle,
			   struct err *err);
void bundle_free(struct bundle *bundle);
void bundle_freep(struct bundle **bundle);
const char *bundle_digest(const struct bundle *bundle); /* SHA-256 of its bytes, 64 hex */
const struct agent_def *bundle_agent(const struct bundle *bundle, const char *name);
size_t bundle_agent_count(const struct bundle *bundle);
size_t bundle_rule_count(const struct bundle *bundle);
const char *bundle_rule_id(const struct bundle *bundle, size_t index);
const char *bundle_rule_at(const struct bundle *bundle, size_t index); /* file:line */
const struct agent_def *bundle_agent_at(const struct bundle *bundle, size_t index);

struct names { /* a borrowed list of names */
	const char *const *items;
	size_t count;
};

struct subject { /* from the verified session, never from a request */
	const char *user;
	struct names groups;
	const char *tenant;	       /* NULL when none */
	const struct json *attributes; /* an object, name -> text, integer, boolean or a list of
					  these; NULL when none */
};

/* Where and when: facts like all others, so that a decision can be made again later. */
struct setting {
	int64_t now_s;		 /* seconds since 1970 UTC */
	const char *environment; /* as writ.yaml names it; NULL when it names none */
};

/*
 * One call as it is decided on: what it touches, found out by the connector, never the agent's
 * word. Malformed facts deny: an empty name, a column without exactly one dot or of a table that is
 * not among the tables, data without a database, more than FACT_NAMES_MAX names in one list.
 */
struct call_facts {
	const char *agent;
	struct subject subject;
	const char *tool;
	const char *database; /* NULL for tools that touch none */
	struct names tables;
	struct names
		columns; /* "table.column"; "table." when a table is touched without a column */
	struct names functions;	      /* lower case */
	const struct json *arguments; /* as the tool gets them, defaults filled in: an object;
					 NULL for none */
	struct setting setting;
	struct names approved; /* ids of ask rules this call has an approval for: they are
				  satisfied, and ask no more */
};
#define FACT_NAMES_MAX 4096u

enum effect { EFFECT_DENY, EFFECT_ASK, EFFECT_ALLOW };

/* Of a condition, and of a rule: its conditions' worst. UNCLEAR: cannot be told (an argument of
 * another type than the rule speaks of). A rule that takes away and is unclear denies; a rule that
 * grants and is unclear does not grant. */
enum outcome { OUTCOME_FAILS, OUTCOME_UNCLEAR, OUTCOME_HOLDS };

/* How often, and how many at once: counted by the broker, which holds all that a verdict names. */
enum rate_each { RATE_EACH_AGENT = 1, RATE_EACH_USER = 2, RATE_EACH_TOOL = 4 };

struct rule_limit { /* owned by the bundle */
	const char *rule;
	int64_t calls; /* in per_ms; 0: not limited */
	int64_t per_ms;
	int64_t running; /* at once; 0: not limited */
	unsigned each;	 /* bits: counted for each agent, user, tool by itself; 0: all together */
	size_t index;	 /* of its rule's limits */
};
#define POLICY_RATES_MAX 16u

struct approval_terms {	 /* of an ask rule; owned by the bundle */
	struct names by; /* "owner", "user:NAME", "group:NAME", "tenant:NAME": any of them */
	int64_t for_ms;	 /* from asking to the repeated call */
	bool own;	 /* the asking user may be one of them */
};

struct verdict {
	enum effect effect;
	const char *rule; /* owned by the bundle; NULL when no rule matched */
	const char *at;	  /* file:line of that rule; NULL likewise */
	/* stable: allowed, rule_denies, rule_asks, rule_unclear, too_many_limits,
	 * no_rule, unknown_agent, malformed */
	const char *code;
	char reason[256];	   /* for the record and the policy author, never for the agent */
	struct call_limits limits; /* valid for allow */
	const struct rule_limit *rates[POLICY_RATES_MAX]; /* for allow: all must hold */
	size_t rate_count;
	const struct approval_terms *approval; /* for ask; NULL otherwise */
};

/*
 * Never fails: any doubt is a denial. Rules that take away (deny, ask) compare tables and columns
 * without regard to ASCII case, rules that grant compare byte for byte. Of several matching rules
 * of the deciding effect the first in the bundle is named; the limits are the smallest of all allow
 * rules that cover the call. "t." (COUNT(*)) is covered by any allow rule that names t, and matched
 * by a deny rule for all columns of t.
 */
void policy_decide(const struct bundle *bundle, const struct call_facts *facts,
		   struct verdict *ret_verdict);

struct condition_trace {
	const char *kind; /* a name of the table of conditions: "users", "data.columns" */
	char *at;	  /* "scopes/sales.yaml:24:12" */
	char *want;	  /* "users: [group:sales]" */
	char *saw;	  /* "user:alice, group:hr"; of one that fails the part it fails on */
	enum outcome outcome;
};

struct rule_trace {
	const char *rule; /* the bundle's, as at */
	const char *at;
	enum effect effect;
	bool selected; /* false: not looked at by the decision, its index key is another */
	/* HOLDS: it allows, asks or denies; for ask also when it is satisfied by an approval */
	enum outcome outcome;
	size_t failed; /* the condition that decided so; condition_count when all hold */
	struct condition_trace *conditions;
	size_t condition_count;
};

struct policy_trace { /* every rule of the bundle, in its order; none for malformed facts */
	struct rule_trace *rules;
	size_t rule_count;
};

/*
 * policy_decide(), and what it looked at: for explain, coverage and replay. A rule that is not
 * selected has an outcome of FAILS in "agents" or "tools", and its further conditions are tested
 * all the same, so that a nearest miss can be told. Much slower than deciding; clear the trace.
 */
void policy_decide_traced(const struct bundle *bundle, const struct call_facts *facts,
			  struct verdict *ret_verdict, struct policy_trace *ret_trace);
void policy_trace_clear(struct policy_trace *trace);

/* The terms of an ask rule in force; NULL when there is no such ask rule. */
const struct approval_terms *policy_approval(const struct bundle *bundle, const char *rule);
/* The id of the rule at index (below bundle_rule_count()) and its terms, if it asks; else NULL. */
const char *policy_asking(const struct bundle *bundle, size_t index,
			  const struct approval_terms **ret_terms);

/* Can this agent, for this user, use the tool at all? listing: shall it be shown when tools are
 * listed; otherwise: could some call of it be allowed now. */
bool policy_tool_visible(const struct bundle *bundle, const char *agent,
			 const struct subject *subject, const struct setting *setting,
			 const char *tool, bool listing);

/*
 * What a tool may show: every table (and column, function) that some allow rule would let this
 * agent, for this user, reach with this tool, less what deny rules take away, and for tools that
 * run no statement of the agent's also less what ask rules take away:
 *   {"database":"sales","tables":{"orders":"all","customers":["customer_id","region"]},
 *    "functions":["sum",...],"except":{"payroll":"all"}}
 * "all" means every column but those under "except". Compare names under "except" without regard to
 * ASCII case. For describe_table, which shows rows, a table's columns come from the one rule that
 * grants most of them, since two rules never combine. arguments: of the call; NULL before there is
 * one, and then a rule that looks at arguments grants, and does not take away. Names are sorted; an
 * agent, tool or database that nothing grants gives an empty view. The caller owns the result.
 */
struct json *policy_view(const struct bundle *bundle, const char *agent,
			 const struct subject *subject, const struct setting *setting,
			 const char *tool, const struct json *arguments, const char *database);

/* Whether a view, or a list of tools, can change by itself as time goes by; and whether a view can
 * differ from call to call. */
bool bundle_uses_time(const struct bundle *bundle);
bool bundle_uses_arguments(const struct bundle *bundle);

/*
 * The claims "authorization_details" of a token for this agent and user: an upper bound of what
 * policy_decide() may allow, in the constraint vocabulary of draft-niyikiza-oauth-attenuating-
 * agent-tokens-01. Each tool has the arguments that policy_call_arguments() makes. A grant over
 * POLICY_GRANT_BYTES_MAX is coarsened (columns, then tables become wildcards), so that a token of
 * WRIT_TOKEN_BYTES_MAX can hold it; the bundle decides each call all the same. The caller owns the
 * result.
 */
#define POLICY_GRANT_BYTES_MAX 4096u
struct json *policy_grant(const struct bundle *bundle, const char *agent,
			  const struct subject *subject, const struct setting *setting);

/* The arguments that a grant constrains, for token_allows():
 *   {"database":"sales","tables":["orders"],"columns":["orders.status"]}, and for run_query
 * "row_limit". Touching a table without a column adds nothing to columns; a call without a database
 * has "". The caller owns the result. */
struct json *policy_call_arguments(const struct call_facts *facts, int64_t rows);

#endif
