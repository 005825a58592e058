/* Verifying tokens, reading and making claims, allowing calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/unit/token_vectors.h"

static struct err err;

static void assert_refused(char *token, enum err_kind kind, const char *text)
{
	struct token_claims claims;

	assert_int_equal(verify_at(token, NOW, &claims, &err), -1);
	assert_string_equal(err.text, text);
	assert_int_equal(err.kind, kind);
	mem_free(token);
}

static void assert_claim_refused(const char *claim, const char *json_text, const char *text)
{
	assert_refused(token_with("parent", claim, json_text), ERR_INVALID, text);
}

static int allows(struct token_claims *claims, const char *tool, const char *arguments_text)
{
	struct json *arguments = NULL;
	int result;

	assert_int_equal(json_parse_str(arguments_text, &arguments, &err), 0);
	result = token_allows(claims, tool, arguments, &err);
	json_free(arguments);
	return result;
}

static void test_the_example_tokens_verify_and_give_their_claims(void **state)
{
	struct token_claims parent = verified(vector_token("parent"));
	struct token_claims child = verified(vector_token("child"));

	(void)state;
	assert_string_equal(parent.sub, "user:7f3a");
	assert_string_equal(parent.client_id, "sales-query-01");
	assert_string_equal(parent.agent_id, QUERY_AGENT);
	assert_int_equal(parent.exp - parent.iat, 300);
	assert_string_equal(parent.jti, "01a22ee6-b000-7a10-8b52-3f6c1d2e4a01");
	assert_string_equal(parent.txn, "task-2026-12-01-0007");
	assert_string_equal(parent.scope, "sales.read");
	assert_int_equal(parent.del_depth, 0);
	assert_int_equal(parent.del_max_depth, 1);
	assert_null(parent.par_hash);
	assert_null(parent.jkt);
	assert_string_equal(parent.owner, "team:sales-data");
	assert_int_equal(parent.policy_epoch, 41);
	assert_string_equal(parent.kid, "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
	assert_string_equal(parent.input_hash, "38TMhlk6Xno0vbWevF6JsesNA8LnjVBHLHoPCitfO-8");
	assert_string_equal(child.par_hash, parent.input_hash);
	assert_string_equal(child.jkt, REPORT_JKT);
	assert_null(child.scope);
	token_claims_clear(&parent);
	token_claims_clear(&child);
}

static void test_the_example_payload_and_input_are_written_byte_for_byte(void **state)
{
	static const char *const names[] = {"parent", "child"};
	struct token_key key = test_key();

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		char *token = vector_token(names[i]);
		char *payload = token_payload_text(token);
		struct token_claims claims = verified(vector_token(names[i]));
		struct buf out = BUF_INIT;
		struct buf input = BUF_INIT;

		token_payload_write(&claims, ISS, AUD, &out);
		assert_string_equal(buf_str(&out), payload);
		token_input_write(&key, out.bytes, out.len, &input);
		assert_int_equal(strncmp(token, input.bytes, input.len), 0);
		assert_int_equal(token[input.len], '.');
		buf_clear(&out);
		buf_clear(&input);
		token_claims_clear(&claims);
		mem_free(payload);
		mem_free(token);
	}
}

static void test_kid_is_the_rfc_7638_thumbprint(void **state)
{
	struct token_key key = test_key();

	(void)state;
	assert_string_equal(key.kid, "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
	assert_string_equal(key.alg, "EdDSA");
}

static void test_issuer_and_audience_come_from_the_origin_of_the_log(void **state)
{
	struct token_place place;

	(void)state;
	token_place_init(&place, "writ.local/sales/0011223344556677");
	assert_string_equal(place.iss, "https://writ.local/sales/0011223344556677");
	assert_string_equal(place.aud, "https://writ.local/sales/0011223344556677/tools");
}

static void test_example_calls_are_decided_as_written(void **state)
{
	struct token_claims parent = verified(vector_token("parent"));
	struct token_claims child = verified(vector_token("child"));

	(void)state;
	assert_int_equal(allows(&parent, "sql.select",
				"{\"database\":\"sales\",\"tables\":[\"orders\"],\"columns\":"
				"[\"orders.id\"],\"row_limit\":500,\"statement\":\"SELECT 1\"}"),
			 0);
	assert_int_equal(
		allows(&parent, "sql.select",
		       "{\"database\":\"sales\",\"tables\":[\"orders\",\"payroll\"],"
		       "\"columns\":[\"orders.id\"],\"row_limit\":500,\"statement\":\"\"}"),
		-1);
	assert_int_equal(err.kind, ERR_DENIED);
	assert_string_equal(err.text, "token: tool sql.select: argument tables is outside what the "
				      "token grants");
	assert_int_equal(allows(&parent, "sql.select",
				"{\"database\":\"sales\",\"tables\":[\"orders\"],\"columns\":[],"
				"\"statement\":\"\"}"),
			 -1);
	assert_string_equal(err.text, "token: tool sql.select: argument row_limit is missing");
	assert_int_equal(allows(&parent, "sql.select",
				"{\"database\":\"sales\",\"tables\":[\"orders\"],\"columns\":[],"
				"\"row_limit\":1,\"statement\":\"\",\"timeout\":1}"),
			 -1);
	assert_string_equal(err.text, "token: tool sql.select: argument timeout is not in the "
				      "grant");
	assert_int_equal(allows(&child, "sql.select", "{}"), -1);
	assert_string_equal(err.text, "token: tool sql.select is not granted");
	assert_int_equal(allows(&child, "result.read",
				"{\"txn\":\"task-2026-12-01-0007\","
				"\"result_id\":\"res-000412\"}"),
			 0);
	assert_int_equal(allows(&child, "result.read",
				"{\"txn\":\"task-2026-12-01-0007\","
				"\"result_id\":\"res-000413\"}"),
			 -1);
	assert_string_equal(err.text, "token: tool result.read: argument result_id is outside what "
				      "the token grants");
	assert_int_equal(allows(&child, "result.read", "[]"), -1);
	assert_string_equal(err.text, "token: arguments must be an object");
	assert_int_equal(token_possession(&child, REPORT_JKT, &err), 0);
	assert_int_equal(token_possession(&child, NULL, &err), -1);
	assert_string_equal(err.text,
			    "I6(b): the token is bound to a key and comes without a proof");
	assert_int_equal(token_possession(&child, parent.kid, &err), -1);
	assert_string_equal(err.text, "I6(b): the proof was made with another key");
	assert_int_equal(token_possession(&parent, NULL, &err), 0);
	token_claims_clear(&parent);
	token_claims_clear(&child);
}

static void test_tool_names_compare_byte_for_byte(void **state)
{
	struct token_claims parent = verified(vector_token("parent"));

	(void)state;
	assert_int_equal(allows(&parent, "SQL.select", "{}"), -1);
	assert_string_equal(err.text, "token: tool SQL.select is not granted");
	token_claims_clear(&parent);
}

static void test_a_token_is_valid_in_its_time_only(void **state)
{
	char *token = vector_token("parent");
	struct token_claims claims;

	(void)state;
	assert_int_equal(verify_at(token, 1796083499, &claims, &err), 0);
	token_claims_clear(&claims);
	assert_int_equal(verify_at(token, 1796083500, &claims, &err), -1);
	assert_string_equal(err.text, "token: expired 0 s ago");
	assert_int_equal(err.kind, ERR_DENIED);
	assert_int_equal(verify_at(token, 1796083170, &claims, &err), 0);
	token_claims_clear(&claims);
	assert_int_equal(verify_at(token, 1796083169, &claims, &err), -1);
	assert_string_equal(err.text, "token: not valid yet");
	mem_free(token);
	assert_refused(token_with("parent", "iat", "1796083331"), ERR_DENIED,
		       "token: issued in the future");
}

static void test_issuer_and_audience_are_byte_equal(void **state)
{
	(void)state;
	assert_refused(token_with("parent", "iss", "\"https://broker.example/\""), ERR_DENIED,
		       "token: iss: another issuer");
	assert_refused(token_with("parent", "aud", "\"https://broker.example/Tools\""), ERR_DENIED,
		       "token: aud: for another audience");
	assert_claim_refused("aud", "[\"https://broker.example/tools\"]",
			     "token: claims: member \"aud\" must be of type string, not array");
}

static void test_a_token_has_three_parts_and_a_bounded_length(void **state)
{
	char *long_token = mem_alloc(WRIT_TOKEN_BYTES_MAX + 2);

	(void)state;
	assert_refused(mem_str(""), ERR_INVALID, "token: not of three parts");
	assert_refused(mem_str("a.b"), ERR_INVALID, "token: not of three parts");
	assert_refused(mem_str("a.b.c.d"), ERR_INVALID, "token: not of three parts");
	assert_refused(mem_str(".b.c"), ERR_INVALID, "token: part 1 is empty");
	assert_refused(mem_str("a..c"), ERR_INVALID, "token: part 2 is empty");
	assert_refused(mem_str("a.b."), ERR_INVALID, "token: part 3 is empty");
	memset(long_token, 'a', WRIT_TOKEN_BYTES_MAX);
	assert_refused(mem_str(long_token), ERR_INVALID, "token: not of three parts");
	long_token[WRIT_TOKEN_BYTES_MAX] = 'a';
	assert_refused(long_token, ERR_LIMIT, "token: longer than 8192 bytes");
}

static void test_the_header_has_exactly_its_three_members(void **state)
{
	static const struct {
		const char *header;
		const char *text;
	} cases[] = {
		{"{\"typ\":\"JWT\",\"alg\":\"EdDSA\",\"kid\":"
		 "\"kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k\"}",
		 "token: header: typ is not at+jwt"},
		{"{\"typ\":\"at+jwt\",\"alg\":\"none\",\"kid\":"
		 "\"kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k\"}",
		 "token: header: alg is not that of the key"},
		{"{\"typ\":\"at+jwt\",\"alg\":\"EdDSA\",\"kid\":\"../../etc/passwd\"}",
		 "token: header: no key of this kid"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_refused(sign_raw(cases[i].header, "{}", 2), ERR_INVALID, cases[i].text);
}

static void test_further_header_members_are_refused(void **state)
{
	static const char *const members[] = {"crit", "jwk", "jku", "x5u", "b64"};
	struct token_claims claims;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		char header[256];
		char *token;

		snprintf(header, sizeof(header), "%.*s,\"%s\":\"x\"}", (int)sizeof(HEADER) - 2,
			 HEADER, members[i]);
		token = sign_raw(header, "{}", 2);
		assert_int_equal(verify_at(token, NOW, &claims, &err), -1);
		assert_non_null(strstr(err.text, "token: header: "));
		assert_non_null(strstr(err.text, members[i]));
		mem_free(token);
	}
}

static void test_any_changed_character_is_refused(void **state)
{
	char *token = vector_token("parent");
	struct token_claims claims;

	(void)state;
	for (size_t i = 0; token[i] != '\0'; i++) {
		char before = token[i];

		token[i] = before == 'A' ? 'B' : 'A';
		assert_int_equal(verify_at(token, NOW, &claims, &err), -1);
		token[i] = '=';
		assert_int_equal(verify_at(token, NOW, &claims, &err), -1);
		token[i] = before;
	}
	mem_free(token);
}

static void test_the_payload_is_parsed_only_after_the_signature(void **state)
{
	char *token = sign_raw(HEADER, "{\"a\":1,\"a\":2}", 13);
	struct token_claims claims;

	(void)state;
	assert_int_equal(verify_at(token, NOW, &claims, &err), -1);
	assert_non_null(strstr(err.text, "token: payload: "));
	token[strlen(token) - 3] ^= 1;
	assert_int_equal(verify_at(token, NOW, &claims, &err), -1);
	assert_non_null(strstr(err.text, "token: signature: "));
	mem_free(token);
}

static void test_a_signature_has_64_bytes(void **state)
{
	char *token = vector_token("parent");

	(void)state;
	strcpy(strrchr(token, '.') + 1, "AAAA");
	assert_refused(token, ERR_INVALID, "token: signature: not 64 bytes");
}

static void test_a_nul_in_a_claim_is_refused(void **state)
{
	char *token = vector_token("parent");
	char *payload = token_payload_text(token);
	char *at = strstr(payload, "sales-query-01\"");
	struct buf changed = BUF_INIT;
	struct token_claims claims;
	char *made;

	(void)state;
	buf_add(&changed, payload, (size_t)(at - payload) + 14);
	buf_add_str(&changed, "\\u0000x");
	buf_add_str(&changed, at + 14);
	made = sign_raw(HEADER, changed.bytes, changed.len);
	assert_int_equal(verify_at(made, NOW, &claims, &err), -1);
	assert_non_null(strstr(err.text, "token: payload: "));
	mem_free(made);
	mem_free(payload);
	mem_free(token);
	buf_clear(&changed);
}

static void test_every_required_claim_is_required(void **state)
{
	static const char *const claims[] = {"iss",
					     "aud",
					     "sub",
					     "client_id",
					     "act",
					     "iat",
					     "nbf",
					     "exp",
					     "jti",
					     "txn",
					     "authorization_details",
					     "del_depth",
					     "del_max_depth",
					     "writ_owner",
					     "writ_policy_digest",
					     "writ_policy_epoch"};
	struct token_claims out;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(claims); i++) {
		char *token = token_with("parent", claims[i], NULL);

		assert_int_equal(verify_at(token, NOW, &out, &err), -1);
		assert_int_equal(err.kind, ERR_INVALID);
		assert_non_null(strstr(err.text, claims[i]));
		mem_free(token);
	}
}

static void test_claims_of_a_wrong_form_are_refused(void **state)
{
	(void)state;
	assert_claim_refused("sub", "\"\"", "token: claims: sub must have 1 to 4096 bytes");
	assert_claim_refused("exp", "1796083200", "token: claims: exp is not after iat");
	assert_refused(token_with("parent", "exp", "1796083501"), ERR_LIMIT,
		       "token: claims: a lifetime of 301 s; at most 300 s");
	assert_claim_refused("par_hash", "\"38TMhlk6Xno0vbWevF6JsesNA8LnjVBHLHoPCitfO-8\"",
			     "token: claims: par_hash goes with a del_depth above 0");
	assert_claim_refused("cnf", "{\"jkt\":\"short\"}",
			     "token: claims: cnf: jkt is no key thumbprint");
	assert_claim_refused("amr", "[1]", "token: claims: amr must be an array of strings");
	assert_claim_refused("authorization_details", "[]",
			     "token: claims: authorization_details: not exactly one entry of type "
			     "writ_tools_v1");
	assert_claim_refused("authorization_details", "[{\"type\":\"other\",\"tools\":{}}]",
			     "token: claims: authorization_details: not exactly one entry of type "
			     "writ_tools_v1");
	assert_claim_refused(
		"authorization_details", "[{\"type\":\"writ_tools_v1\",\"tools\":{\"t\":{}}}]",
		"token: claims: authorization_details: tool t: must be an object that names each "
		"argument; an open one is never granted");
	assert_claim_refused("authorization_details",
			     "[{\"type\":\"writ_tools_v1\",\"tools\":{\"t\":{\"a\":"
			     "{\"constraint_type\":\"regex\"}}}}]",
			     "token: claims: authorization_details: tool t: a: unknown "
			     "constraint_type regex");
}

static void test_unknown_claims_are_ignored_when_reading(void **state)
{
	struct token_claims claims = verified(token_with("parent", "later_claim", "{\"a\":[1.5]}"));

	(void)state;
	assert_string_equal(claims.sub, "user:7f3a");
	token_claims_clear(&claims);
}

static void test_an_empty_tool_map_grants_nothing(void **state)
{
	struct token_claims claims = verified(token_with(
		"parent", "authorization_details", "[{\"type\":\"writ_tools_v1\",\"tools\":{}}]"));

	(void)state;
	assert_int_equal(allows(&claims, "sql.select", "{}"), -1);
	token_claims_clear(&claims);
}

static void test_depth_of_the_payload_is_bounded(void **state)
{
	char text[128] = "";
	struct token_claims claims;

	(void)state;
	for (int i = 0; i < 31; i++)
		strcat(text, "[");
	for (int i = 0; i < 31; i++)
		strcat(text, "]");
	claims = verified(token_with("parent", "x", text));
	token_claims_clear(&claims);
	memmove(text + 1, text, strlen(text) + 1);
	strcat(text, "]");
	assert_refused(token_with("parent", "x", text), ERR_LIMIT,
		       "token: claims: nested deeper than 32");
}

static struct token_fields fields_for(const struct token_claims *like)
{
	return (struct token_fields){
		.sub = "user:1",
		.client_id = "sales-query-01",
		.agent_id = QUERY_AGENT,
		.txn = "t-1",
		.now = NOW,
		.seconds = 300,
		.details = like->details,
		.del_max_depth = 1,
		.owner = "team:x",
		.policy_digest = "sha256:00",
		.policy_epoch = 3,
	};
}

static void test_new_claims_of_a_root_can_be_read_back(void **state)
{
	struct token_claims like = verified(vector_token("parent"));
	struct token_fields fields = fields_for(&like);
	struct token_claims claims;

	(void)state;
	fields.seconds = 900;
	assert_int_equal(token_claims_read(token_claims_new(&fields), false, &claims, &err), 0);
	assert_null(claims.iss);
	assert_string_equal(claims.sub, "user:1");
	assert_int_equal(claims.iat, NOW);
	assert_int_equal(claims.exp, NOW + 300);
	assert_int_equal(claims.del_depth, 0);
	assert_null(claims.par_hash);
	assert_int_equal(strlen(claims.jti), 36);
	assert_int_equal(claims.jti[14], '7');
	token_claims_clear(&claims);
	token_claims_clear(&like);
}

static void test_new_claims_of_a_child_follow_the_parent(void **state)
{
	struct token_claims parent = verified(vector_token("parent"));
	struct token_fields fields = fields_for(&parent);
	struct token_claims claims;

	(void)state;
	fields.parent = &parent;
	fields.agent_id = REPORT_AGENT;
	fields.jkt = REPORT_JKT;
	fields.del_max_depth = 5;
	assert_int_equal(token_claims_read(token_claims_new(&fields), false, &claims, &err), 0);
	assert_string_equal(claims.sub, parent.sub);
	assert_string_equal(claims.txn, parent.txn);
	assert_int_equal(claims.exp, parent.exp);
	assert_int_equal(claims.del_depth, 1);
	assert_int_equal(claims.del_max_depth, 1);
	assert_string_equal(claims.par_hash, parent.input_hash);
	assert_string_equal(claims.jkt, REPORT_JKT);
	assert_string_equal(claims.agent_id, REPORT_AGENT);
	assert_true(json_equal(json_get(claims.act, "act"), parent.act));
	token_claims_clear(&claims);
	token_claims_clear(&parent);
}

static void test_what_is_to_be_signed_is_a_closed_set_without_issuer(void **state)
{
	struct token_claims like = verified(vector_token("parent"));
	struct token_fields fields = fields_for(&like);
	struct json *claims = token_claims_new(&fields);
	struct token_claims out;

	(void)state;
	json_set_str(claims, "iss", ISS);
	assert_int_equal(token_claims_read(claims, false, &out, &err), -1);
	assert_string_equal(err.text, "claims: iss and aud are the signer's to set");
	claims = token_claims_new(&fields);
	json_set_str(claims, "admin", "yes");
	assert_int_equal(token_claims_read(claims, false, &out, &err), -1);
	assert_non_null(strstr(err.text, "admin"));
	token_claims_clear(&like);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_example_tokens_verify_and_give_their_claims),
		cmocka_unit_test(test_the_example_payload_and_input_are_written_byte_for_byte),
		cmocka_unit_test(test_kid_is_the_rfc_7638_thumbprint),
		cmocka_unit_test(test_issuer_and_audience_come_from_the_origin_of_the_log),
		cmocka_unit_test(test_example_calls_are_decided_as_written),
		cmocka_unit_test(test_tool_names_compare_byte_for_byte),
		cmocka_unit_test(test_a_token_is_valid_in_its_time_only),
		cmocka_unit_test(test_issuer_and_audience_are_byte_equal),
		cmocka_unit_test(test_a_token_has_three_parts_and_a_bounded_length),
		cmocka_unit_test(test_the_header_has_exactly_its_three_members),
		cmocka_unit_test(test_further_header_members_are_refused),
		cmocka_unit_test(test_any_changed_character_is_refused),
		cmocka_unit_test(test_the_payload_is_parsed_only_after_the_signature),
		cmocka_unit_test(test_a_signature_has_64_bytes),
		cmocka_unit_test(test_a_nul_in_a_claim_is_refused),
		cmocka_unit_test(test_every_required_claim_is_required),
		cmocka_unit_test(test_claims_of_a_wrong_form_are_refused),
		cmocka_unit_test(test_unknown_claims_are_ignored_when_reading),
		cmocka_unit_test(test_an_empty_tool_map_grants_nothing),
		cmocka_unit_test(test_depth_of_the_payload_is_bounded),
		cmocka_unit_test(test_new_claims_of_a_root_can_be_read_back),
		cmocka_unit_test(test_new_claims_of_a_child_follow_the_parent),
		cmocka_unit_test(test_what_is_to_be_signed_is_a_closed_set_without_issuer),
	};

	crypto_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
