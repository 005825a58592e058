/*
 * Invariants: what must hold of every call, whatever the rules say. They are written as rules that
 * take away (scopes/invariants.yaml, in the language of scope files), and each must already be
 * true: a rule of an invariant would take nothing away. That is decided for all calls by comparing
 * the bundle with itself and that one rule (compare.h), so a broken one has a concrete call. Pure.
 */
#ifndef POLICY_PROVE_H
#define POLICY_PROVE_H

#include "base/buf.h"
#include "policy/policy.h"

struct policy_proof {
	size_t proven;
	size_t broken;
	size_t not_proven;
	/* [{"id","at","state":"proven"|"broken"|"not_proven","why",
	 *   "call","verdict":{"rule","at","reason"}}]; owned */
	struct json *invariants;
};

/* extended: the bundle's JSON with the rules of SCOPE_INVARIANTS, as policy_compile() makes it.
 * ERR_INVALID when one of them is no rule that takes away. */
MUST_CHECK int policy_prove(const struct bundle *bundle, const struct json *extended,
			    struct policy_proof *ret_proof, struct err *err);
void policy_proof_clear(struct policy_proof *proof);

/* For people; without all only what is not proven. */
void policy_proof_write(const struct policy_proof *proof, bool all, struct buf *out);

#endif
