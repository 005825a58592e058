/*
 * I1 to I6 as one list of checks in the order of the rules; each lettered clause is one refusal.
 * Pure. The first rule that fails ends it.
 */
#include "broker/token/delegation.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "policy/constraint.h"

static bool same(const char *a, const char *b)
{
	return a != NULL && b != NULL && strcmp(a, b) == 0;
}

static int refuse(struct err *err, const char *rule, const char *why)
{
	return err_set(err, ERR_DENIED, "%s: %s", rule, why);
}

static const char *iss_of(const struct token_claims *child, const struct delegation_facts *facts)
{
	return child->iss != NULL ? child->iss : facts->iss;
}

static const char *aud_of(const struct token_claims *child, const struct delegation_facts *facts)
{
	return child->aud != NULL ? child->aud : facts->aud;
}

static int check_authority(const struct token_claims *parent, const struct token_claims *child,
			   const struct delegation_facts *facts, struct err *err)
{
	if (!facts->parent_held || facts->now >= parent->exp)
		return refuse(err, "I1(a)", "the caller does not hold a valid parent");
	if (facts->parent_revoked)
		return refuse(err, "I1(b)", "the parent or an ancestor is revoked");
	if (!facts->policy_permits)
		return refuse(err, "I1(c)", "the policy does not let this agent hand over to that");
	if (!same(facts->child_kid, facts->current_kid))
		return refuse(err, "I1(d)", "the child is not signed by the key in force");
	if (!same(parent->iss, iss_of(child, facts)) || !same(parent->aud, aud_of(child, facts)))
		return refuse(err, "I1(e)", "issuer or audience changes");
	if (!same(parent->sub, child->sub))
		return refuse(err, "I1(e)", "the user changes");
	if (!same(parent->txn, child->txn))
		return refuse(err, "I1(e)", "the task changes");
	if (!same(facts->child_agent_id, child->agent_id))
		return refuse(err, "I1(f)", "act is not the agent registered for client_id");
	if (!json_equal(json_get(child->act, "act"), parent->act))
		return refuse(err, "I1(f)", "the parent's act is not nested in the child's");
	return 0;
}

static int check_depth(const struct token_claims *parent, const struct token_claims *child,
		       struct err *err)
{
	if (parent->del_depth < 0 || child->del_depth < 0 || parent->del_max_depth < 0 ||
	    child->del_max_depth < 0)
		return refuse(err, "I2(d)", "a depth is negative");
	if (child->del_depth != parent->del_depth + 1)
		return refuse(err, "I2(a)", "the depth is not the parent's plus one");
	if (child->del_depth > parent->del_max_depth || child->del_depth > child->del_max_depth ||
	    child->del_depth > WRIT_DELEGATION_DEPTH_MAX)
		return refuse(err, "I2(b)", "the chain would be deeper than it may");
	if (child->del_max_depth > parent->del_max_depth)
		return refuse(err, "I2(c)", "the greatest depth grows");
	return 0;
}

static int check_times(const struct token_claims *parent, const struct token_claims *child,
		       const struct delegation_facts *facts, struct err *err)
{
	if (facts->now >= child->exp || child->exp > parent->exp)
		return refuse(err, "I3(a)", "the child would outlive the parent, or is over");
	if (child->exp <= child->iat)
		return refuse(err, "I3(b)", "the child ends before it begins");
	if (child->iat < parent->iat || child->iat > facts->now + WRIT_CLOCK_SKEW_SECONDS)
		return refuse(err, "I3(c)",
			      "the child is issued before the parent or in the future");
	if (child->nbf < parent->nbf)
		return refuse(err, "I3(d)", "the child begins before the parent");
	if (child->exp - child->iat > WRIT_TOKEN_SECONDS_MAX)
		return refuse(err, "I3(e)", "the child lives longer than any token may");
	return 0;
}

static int check_tool(const struct json *parent, const struct json *child, const char *tool,
		      struct err *err)
{
	if (json_len(parent) != json_len(child))
		return err_set(err, ERR_DENIED, "I4(b): tool %.64s: the arguments differ", tool);
	json_each(constraint, child)
	{
		const struct json *wider = json_get(parent, json_key(constraint));

		if (wider == NULL)
			return err_set(err, ERR_DENIED, "I4(b): tool %.64s: the arguments differ",
				       tool);
		if (!constraint_subsumes(wider, constraint))
			return err_set(err, ERR_DENIED,
				       "I4(c): tool %.64s: argument %.64s is not narrower", tool,
				       json_key(constraint));
	}
	return 0;
}

/* Is every blank-separated word of these also one of those? */
static bool words_within(const char *words, const char *among)
{
	while (*words != '\0') {
		size_t len = strcspn(words, " ");
		bool found = len == 0;

		for (const char *at = among; !found && *at != '\0';) {
			size_t other = strcspn(at, " ");

			found = other == len && memcmp(at, words, len) == 0;
			at += other + (at[other] != '\0');
		}
		if (!found)
			return false;
		words += len + (words[len] != '\0');
	}
	return true;
}

static int check_capability(const struct token_claims *parent, const struct token_claims *child,
			    struct err *err)
{
	json_each(tool, child->tools)
	{
		const struct json *wider = json_get(parent->tools, json_key(tool));

		if (wider == NULL)
			return err_set(err, ERR_DENIED, "I4(a): tool %.64s is not the parent's",
				       json_key(tool));
		if (check_tool(wider, tool, json_key(tool), err) < 0)
			return -1;
	}
	if (child->scope != NULL &&
	    !words_within(child->scope, parent->scope == NULL ? "" : parent->scope))
		return refuse(err, "I4(d)", "the scope label grows");
	return 0;
}

static int check_linkage(const struct token_claims *parent, const struct token_claims *child,
			 const struct delegation_facts *facts, struct err *err)
{
	if (parent->input_hash[0] == '\0' || !same(child->par_hash, parent->input_hash))
		return refuse(err, "I5(a)", "par_hash is not the parent's");
	if (!same(facts->child_row_parent, parent->jti))
		return refuse(err, "I5(b)", "the child's row names another parent");
	return 0;
}

static int check_possession(const struct token_claims *parent, const struct token_claims *child,
			    const struct delegation_facts *facts, struct err *err)
{
	if (!facts->child_external)
		return 0;
	if (child->jkt == NULL)
		return refuse(err, parent->jkt != NULL ? "I6(c)" : "I6(a)",
			      "an external agent's token must be bound to its key");
	if (!same(child->jkt, facts->child_jkt))
		return refuse(err, "I6(a)", "bound to a key that is not the agent's own");
	return 0;
}

int delegation_check(const struct token_claims *parent, const struct token_claims *child,
		     const struct delegation_facts *facts, struct err *err)
{
	if (check_authority(parent, child, facts, err) < 0 || check_depth(parent, child, err) < 0 ||
	    check_times(parent, child, facts, err) < 0 ||
	    check_capability(parent, child, err) < 0 ||
	    check_linkage(parent, child, facts, err) < 0 ||
	    check_possession(parent, child, facts, err) < 0)
		return -1;
	return 0;
}

int delegation_check_root(const struct token_claims *root, const char *row_parent, struct err *err)
{
	if (root->par_hash != NULL || root->del_depth != 0)
		return refuse(err, "I5(c)", "a root token names a parent");
	if (row_parent != NULL)
		return refuse(err, "I5(c)", "the root token's row names a parent");
	return 0;
}
