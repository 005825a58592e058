/* The rules I1 to I6: each lettered clause refuses on its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "broker/token/delegation.h"
#include "tests/unit/token_vectors.h"

#define PARENT_JTI "01a22ee6-b000-7a10-8b52-3f6c1d2e4a01"

static struct err err;

static struct delegation_facts good_facts(void)
{
	return (struct delegation_facts){
		.now = NOW,
		.parent_held = true,
		.policy_permits = true,
		.child_agent_id = REPORT_AGENT,
		.current_kid = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
		.child_kid = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
		.child_row_parent = PARENT_JTI,
		.child_external = true,
		.child_jkt = REPORT_JKT,
		.iss = ISS,
		.aud = AUD,
	};
}

static void assert_outcome(struct token_claims parent, struct token_claims child,
			   const struct delegation_facts *facts, const char *text)
{
	int result = delegation_check(&parent, &child, facts, &err);

	token_claims_clear(&parent);
	token_claims_clear(&child);
	if (text == NULL && result < 0)
		fail_msg("%s", err.text);
	if (text == NULL)
		return;
	assert_int_equal(result, -1);
	assert_int_equal(err.kind, ERR_DENIED);
	assert_string_equal(err.text, text);
}

/* The child of the example with one claim replaced. Its claims are read without verifying times,
 * as a child is that is only about to be signed. */
static struct token_claims child_with(const char *claim, const char *json_text)
{
	char *token = claim == NULL ? vector_token("child") : token_with("child", claim, json_text);
	char *text = token_payload_text(token);
	struct json *payload = NULL;
	struct token_claims claims;

	assert_int_equal(json_parse_str(text, &payload, &err), 0);
	if (token_claims_read(payload, true, &claims, &err) < 0)
		fail_msg("%s", err.text);
	mem_free(text);
	mem_free(token);
	return claims;
}

static void refuse_child(const char *claim, const char *json_text, const char *text)
{
	struct delegation_facts facts = good_facts();

	assert_outcome(verified(vector_token("parent")), child_with(claim, json_text), &facts,
		       text);
}

static void refuse_facts(const struct delegation_facts *facts, const char *text)
{
	assert_outcome(verified(vector_token("parent")), child_with(NULL, NULL), facts, text);
}

static void test_the_example_child_follows_from_its_parent(void **state)
{
	struct delegation_facts facts = good_facts();

	(void)state;
	refuse_facts(&facts, NULL);
}

static void test_i1_authority(void **state)
{
	struct delegation_facts facts = good_facts();

	(void)state;
	facts.parent_held = false;
	refuse_facts(&facts, "I1(a): the caller does not hold a valid parent");
	facts = good_facts();
	facts.now = 1796083500;
	refuse_facts(&facts, "I1(a): the caller does not hold a valid parent");
	facts = good_facts();
	facts.parent_revoked = true;
	refuse_facts(&facts, "I1(b): the parent or an ancestor is revoked");
	facts = good_facts();
	facts.policy_permits = false;
	refuse_facts(&facts, "I1(c): the policy does not let this agent hand over to that");
	facts = good_facts();
	facts.current_kid = "other";
	refuse_facts(&facts, "I1(d): the child is not signed by the key in force");
	facts.child_kid = NULL;
	refuse_facts(&facts, "I1(d): the child is not signed by the key in force");
	refuse_child("iss", "\"https://other.example\"", "I1(e): issuer or audience changes");
	refuse_child("aud", "\"https://other.example\"", "I1(e): issuer or audience changes");
	refuse_child("sub", "\"user:other\"", "I1(e): the user changes");
	refuse_child("txn", "\"task-other\"", "I1(e): the task changes");
	facts = good_facts();
	facts.child_agent_id = QUERY_AGENT;
	refuse_facts(&facts, "I1(f): act is not the agent registered for client_id");
	refuse_child("act", "{\"sub\":\"" REPORT_AGENT "\"}",
		     "I1(f): the parent's act is not nested in the child's");
	refuse_child("act", "{\"sub\":\"" REPORT_AGENT "\",\"act\":{\"sub\":\"other\"}}",
		     "I1(f): the parent's act is not nested in the child's");
}

static void test_i1_a_child_not_signed_yet_takes_issuer_from_the_facts(void **state)
{
	struct delegation_facts facts = good_facts();
	struct token_claims child = child_with(NULL, NULL);

	(void)state;
	child.iss = NULL;
	child.aud = NULL;
	assert_outcome(verified(vector_token("parent")), child, &facts, NULL);
	child = child_with(NULL, NULL);
	child.iss = NULL;
	facts.iss = "https://other.example";
	assert_outcome(verified(vector_token("parent")), child, &facts,
		       "I1(e): issuer or audience changes");
}

static void test_i2_depth(void **state)
{
	struct delegation_facts facts = good_facts();
	struct token_claims parent = verified(vector_token("parent"));
	struct token_claims child = child_with(NULL, NULL);

	(void)state;
	child.del_depth = 2;
	assert_int_equal(delegation_check(&parent, &child, &facts, &err), -1);
	assert_string_equal(err.text, "I2(a): the depth is not the parent's plus one");
	child.del_depth = 1;
	parent.del_max_depth = 0;
	assert_int_equal(delegation_check(&parent, &child, &facts, &err), -1);
	assert_string_equal(err.text, "I2(b): the chain would be deeper than it may");
	parent.del_max_depth = 1;
	child.del_max_depth = 0;
	assert_int_equal(delegation_check(&parent, &child, &facts, &err), -1);
	assert_string_equal(err.text, "I2(b): the chain would be deeper than it may");
	child.del_max_depth = 2;
	assert_int_equal(delegation_check(&parent, &child, &facts, &err), -1);
	assert_string_equal(err.text, "I2(c): the greatest depth grows");
	child.del_max_depth = -1;
	assert_int_equal(delegation_check(&parent, &child, &facts, &err), -1);
	assert_string_equal(err.text, "I2(d): a depth is negative");
	parent.del_depth = 7;
	parent.del_max_depth = child.del_max_depth = 9;
	child.del_depth = 8;
	assert_int_equal(delegation_check(&parent, &child, &facts, &err), 0);
	parent.del_depth = 8;
	child.del_depth = 9;
	assert_int_equal(delegation_check(&parent, &child, &facts, &err), -1);
	assert_string_equal(err.text, "I2(b): the chain would be deeper than it may");
	token_claims_clear(&parent);
	token_claims_clear(&child);
}

static void test_i2_no_child_of_the_example_child(void **state)
{
	struct token_claims parent = verified(vector_token("child"));
	struct delegation_facts facts = good_facts();
	struct token_fields fields = {
		.client_id = "sales-report-01",
		.agent_id = REPORT_AGENT,
		.now = NOW,
		.seconds = 60,
		.details = parent.details,
		.del_max_depth = 1,
		.owner = "team:x",
		.policy_digest = "sha256:00",
		.parent = &parent,
	};
	struct token_claims child;

	(void)state;
	/* The signer would refuse it too: its depth is above its own ceiling. */
	assert_int_equal(token_claims_read(token_claims_new(&fields), false, &child, &err), -1);
	assert_string_equal(err.text, "claims: del_depth is above del_max_depth");
	parent.del_max_depth = 2; /* read one as if it could be made */
	fields.del_max_depth = 2;
	assert_int_equal(token_claims_read(token_claims_new(&fields), false, &child, &err), 0);
	parent.del_max_depth = 1;
	assert_int_equal(delegation_check(&parent, &child, &facts, &err), -1);
	assert_string_equal(err.text, "I2(b): the chain would be deeper than it may");
	token_claims_clear(&child);
	token_claims_clear(&parent);
}

static void test_i3_time(void **state)
{
	struct delegation_facts facts = good_facts();
	struct token_claims parent = verified(vector_token("parent"));
	struct token_claims child = child_with(NULL, NULL);

	(void)state;
	refuse_child("exp", "1796083500", NULL);
	refuse_child("exp", "1796083501", "I3(a): the child would outlive the parent, or is over");
	facts.now = 1796083380;
	refuse_facts(&facts, "I3(a): the child would outlive the parent, or is over");
	facts = good_facts();
	child.exp = NOW + 1;
	child.iat = NOW + 1;
	assert_int_equal(delegation_check(&parent, &child, &facts, &err), -1);
	assert_string_equal(err.text, "I3(b): the child ends before it begins");
	child.iat = parent.iat - 1;
	assert_int_equal(delegation_check(&parent, &child, &facts, &err), -1);
	assert_string_equal(err.text,
			    "I3(c): the child is issued before the parent or in the future");
	child.exp = parent.exp;
	child.iat = NOW + 30;
	assert_int_equal(delegation_check(&parent, &child, &facts, &err), 0);
	child.iat = NOW + 31;
	assert_int_equal(delegation_check(&parent, &child, &facts, &err), -1);
	assert_string_equal(err.text,
			    "I3(c): the child is issued before the parent or in the future");
	child.iat = parent.iat;
	child.nbf = parent.nbf - 1;
	assert_int_equal(delegation_check(&parent, &child, &facts, &err), -1);
	assert_string_equal(err.text, "I3(d): the child begins before the parent");
	child.nbf = parent.nbf;
	parent.exp = child.exp = child.iat + 301;
	assert_int_equal(delegation_check(&parent, &child, &facts, &err), -1);
	assert_string_equal(err.text, "I3(e): the child lives longer than any token may");
	token_claims_clear(&parent);
	token_claims_clear(&child);
}

#define DETAILS(tools) "[{\"type\":\"writ_tools_v1\",\"tools\":{" tools "}}]"
#define TXN "\"txn\":{\"constraint_type\":\"exact\",\"value\":\"task-2026-12-01-0007\"}"
#define WILD "{\"constraint_type\":\"wildcard\"}"

static void test_i4_capability(void **state)
{
	(void)state;
	refuse_child("authorization_details", DETAILS(""), NULL);
	refuse_child("authorization_details", DETAILS("\"sql.update\":{\"a\":" WILD "}"),
		     "I4(a): tool sql.update is not the parent's");
	refuse_child("authorization_details", DETAILS("\"result.read\":{" TXN "}"),
		     "I4(b): tool result.read: the arguments differ");
	refuse_child("authorization_details",
		     DETAILS("\"result.read\":{" TXN ",\"result_id\":" WILD ",\"x\":" WILD "}"),
		     "I4(b): tool result.read: the arguments differ");
	refuse_child("authorization_details", DETAILS("\"result.read\":{" TXN ",\"x\":" WILD "}"),
		     "I4(b): tool result.read: the arguments differ");
	refuse_child("authorization_details",
		     DETAILS("\"result.read\":{\"txn\":" WILD ",\"result_id\":" WILD "}"),
		     "I4(c): tool result.read: argument txn is not narrower");
	refuse_child("scope", "\"sales.read\"", NULL);
	refuse_child("scope", "\"sales.read  sales.read\"", NULL);
	refuse_child("scope", "\"sales.read sales.write\"", "I4(d): the scope label grows");
	refuse_child("scope", "\"sales.rea\"", "I4(d): the scope label grows");
}

static void test_i4_a_parent_without_scope_gives_none(void **state)
{
	struct delegation_facts facts = good_facts();
	struct token_claims parent = verified(vector_token("parent"));

	(void)state;
	parent.scope = NULL;
	assert_outcome(parent, child_with("scope", "\"sales.read\""), &facts,
		       "I4(d): the scope label grows");
}

static void test_i5_linkage(void **state)
{
	struct delegation_facts facts = good_facts();
	struct token_claims parent = verified(vector_token("parent"));
	struct token_claims child = child_with(NULL, NULL);

	(void)state;
	refuse_child("par_hash", "\"38TMhlk6Xno0vbWevF6JsesNA8LnjVBHLHoPCitfO-9\"",
		     "I5(a): par_hash is not the parent's");
	facts.child_row_parent = "other";
	refuse_facts(&facts, "I5(b): the child's row names another parent");
	facts.child_row_parent = NULL;
	refuse_facts(&facts, "I5(b): the child's row names another parent");
	assert_int_equal(delegation_check_root(&parent, NULL, &err), 0);
	assert_int_equal(delegation_check_root(&parent, PARENT_JTI, &err), -1);
	assert_string_equal(err.text, "I5(c): the root token's row names a parent");
	assert_int_equal(delegation_check_root(&child, NULL, &err), -1);
	assert_string_equal(err.text, "I5(c): a root token names a parent");
	token_claims_clear(&parent);
	token_claims_clear(&child);
}

static void test_i5_a_parent_that_was_not_verified_links_nothing(void **state)
{
	struct delegation_facts facts = good_facts();
	struct token_claims parent = verified(vector_token("parent"));

	(void)state;
	parent.input_hash[0] = '\0';
	assert_outcome(parent, child_with(NULL, NULL), &facts,
		       "I5(a): par_hash is not the parent's");
}

static void test_i6_possession(void **state)
{
	struct delegation_facts facts = good_facts();
	struct token_claims parent = verified(vector_token("parent"));

	(void)state;
	refuse_child("cnf", NULL, "I6(a): an external agent's token must be bound to its key");
	facts.child_jkt = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k";
	refuse_facts(&facts, "I6(a): bound to a key that is not the agent's own");
	facts = good_facts();
	parent.jkt = REPORT_JKT;
	assert_outcome(parent, child_with("cnf", NULL), &facts,
		       "I6(c): an external agent's token must be bound to its key");
	facts.child_external = false;
	assert_outcome(verified(vector_token("parent")), child_with("cnf", NULL), &facts, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_example_child_follows_from_its_parent),
		cmocka_unit_test(test_i1_authority),
		cmocka_unit_test(test_i1_a_child_not_signed_yet_takes_issuer_from_the_facts),
		cmocka_unit_test(test_i2_depth),
		cmocka_unit_test(test_i2_no_child_of_the_example_child),
		cmocka_unit_test(test_i3_time),
		cmocka_unit_test(test_i4_capability),
		cmocka_unit_test(test_i4_a_parent_without_scope_gives_none),
		cmocka_unit_test(test_i5_linkage),
		cmocka_unit_test(test_i5_a_parent_that_was_not_verified_links_nothing),
		cmocka_unit_test(test_i6_possession),
	};

	crypto_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
