/*
 * The rules I1 to I6 that tie a delegated token to its parent (docs/tokens.md, "Delegation").
 *
 * The broker signs both, so there is no chain of the holders' signatures: the rules are checked
 * before the child is signed, and again by whoever holds both tokens.
 */
#ifndef BROKER_TOKEN_DELEGATION_H
#define BROKER_TOKEN_DELEGATION_H

#include <stdbool.h>

#include "broker/token/token.h"

/* What the two tokens do not say themselves; the broker's word. */
struct delegation_facts {
	int64_t now;
	bool parent_held;    /* the caller holds the parent: its channel's, or a fresh proof */
	bool parent_revoked; /* the parent or an ancestor of it */
	bool policy_permits; /* hands_to names the child's agent */
	const char *child_agent_id;   /* URI registered for the child's client_id */
	const char *current_kid;      /* the signing key in force */
	const char *child_kid;	      /* key that signs or signed the child */
	const char *child_row_parent; /* parent jti in the broker's row for the child */
	bool child_external;	      /* an agent that is not ours */
	const char *child_jkt;	      /* its registered key, for external ones */
	const char *iss;	      /* of both, when the child is not signed yet */
	const char *aud;
};

/* Fails with ERR_DENIED; the text begins with the rule: "I3(a): ...". */
MUST_CHECK int delegation_check(const struct token_claims *parent, const struct token_claims *child,
				const struct delegation_facts *facts, struct err *err);

/* A token without a parent carries no depth, no parent hash, and has no parent in its row: I5(c).
 */
MUST_CHECK int delegation_check_root(const struct token_claims *root, const char *row_parent,
				     struct err *err);

#endif
