/*
 * What one bundle allows that another does not, decided for every call there can be and never by
 * comparing text.
 *
 * Calls are infinitely many, but bundles tell them apart only by the names they mention. For each
 * agent and tool the space of calls falls into finitely many frames (who asks, which database, what
 * was approved, when, with which arguments), and within a frame what a call touches is a set. Two
 * facts make that set easy:
 *
 *   what B allows through one rule is every part of the largest such call (less what B takes away);
 *   if A allows a call, A allows every part of it.
 *
 * So B is wider than A within a frame exactly if A does not allow one of these largest calls, one
 * per rule of B that grants. Every "wider" has a concrete call, cut to the least that still shows
 * it, on which the evaluator itself confirms both verdicts. Where the frames are too many, or a
 * rule asks something that is not cut into finitely many cases, the pair is not proven.
 */
#ifndef POLICY_COMPARE_H
#define POLICY_COMPARE_H

#include "policy/policy.h"

enum difference_kind {
	DIFFERENCE_ALLOWS, /* allowed by one, not by the other */
	DIFFERENCE_LIMIT,  /* allowed by both, with a larger limit */
};

struct difference {
	enum difference_kind kind;
	struct json *call;   /* call_spec.h; owned */
	struct verdict more; /* of the bundle that is wider here; texts are that bundle's */
	struct verdict less;
	const char *limit; /* rows, bytes, scan, time, rate; NULL unless DIFFERENCE_LIMIT */
};

struct differences {
	struct difference *items;
	size_t count;
	/* Every call was covered: when count is 0, there is none. Otherwise not_proven says why. */
	bool complete;
	const char *not_proven; /* a constant */
};

enum relation {
	RELATION_SAME,
	RELATION_NARROWER,
	RELATION_WIDER,
	RELATION_MIXED,
	RELATION_UNKNOWN
};

struct pair_comparison {   /* one agent with one tool */
	const char *agent; /* borrowed from a bundle */
	const char *tool;  /* borrowed; a tool that no rule names stands for all others */
	struct differences wider;
	struct differences narrower;
};

struct comparison {
	struct pair_comparison *pairs; /* by agent, then tool */
	size_t count;
};

#define COMPARE_FRAMES_MAX 20000u   /* per agent, tool and direction */
#define COMPARE_DIFFERENCES_MAX 16u /* kept per agent, tool and direction */

/* Both bundles must outlive the result. */
void policy_compare(const struct bundle *a, const struct bundle *b, struct comparison *ret_result);
void comparison_clear(struct comparison *comparison);

/* Calls of this agent with this tool that b allows (or allows more of) and a does not. */
void policy_wider(const struct bundle *a, const struct bundle *b, const char *agent,
		  const char *tool, struct differences *ret_differences);
void differences_clear(struct differences *differences);

enum relation pair_relation(const struct pair_comparison *pair);
const char *relation_name(enum relation relation); /* same, narrower, wider, mixed, not proven */

/* Every tool that a rule of either bundle names or that is built in, and one that none names. The
 * caller frees the array, not the names. */
const char **compare_tools(const struct bundle *a, const struct bundle *b, size_t *ret_count);

#endif
