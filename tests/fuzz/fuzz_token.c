/*
 * Scope tokens under arbitrary bytes: as a compact token, which no key of ours signed, and as the
 * claims of token.sign. Claims that are accepted must be accepted again as the payload made of
 * them.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "broker/token/token.h"
#include "tests/fuzz/fuzz.h"

static void demand(bool kept, const char *promise)
{
	if (kept)
		return;
	fprintf(stderr, "broken: %s\n", promise);
	abort();
}

static void try_token(const char *bytes, size_t len)
{
	struct token_key key = {.alg = "EdDSA", .kid = "k"};
	struct token_rules rules = {&key, 1, "i", "a", 1796083300};
	struct token_claims claims = {.payload = NULL};
	struct err err = {0};

	demand(token_verify(bytes, len, &rules, &claims, &err) < 0, "nobody signed this");
	demand(claims.payload == NULL, "a failure leaves the output untouched");
}

static void try_claims(const char *bytes, size_t len)
{
	CLEANUP(token_claims_clear) struct token_claims claims = {.payload = NULL};
	CLEANUP(token_claims_clear) struct token_claims again = {.payload = NULL};
	CLEANUP(buf_clear) struct buf payload = BUF_INIT;
	struct json *json = NULL;
	struct err err = {0};

	if (json_parse(bytes, len, WRIT_TOKEN_BYTES_MAX, &json, &err) < 0)
		return;
	if (token_claims_read(json, false, &claims, &err) < 0)
		return;
	token_payload_write(&claims, "i", "a", &payload);
	demand(json_parse(payload.bytes, payload.len, 2 * WRIT_TOKEN_BYTES_MAX, &json, &err) == 0,
	       "a payload is JSON");
	demand(token_claims_read(json, true, &again, &err) == 0, "a payload is read as claims");
	demand(json_equal(claims.details, again.details) && claims.exp == again.exp,
	       "a payload says what the claims said");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	try_token((const char *)bytes, len);
	try_claims((const char *)bytes, len);
	return 0;
}
