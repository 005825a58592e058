/* The worked example of two tokens, and new ones signed with the same published test key. */
#ifndef TESTS_UNIT_TOKEN_VECTORS_H
#define TESTS_UNIT_TOKEN_VECTORS_H

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/sign.h"
#include "broker/token/token.h"

#define ISS "https://broker.example"
#define AUD "https://broker.example/tools"
#define NOW 1796083300
#define QUERY_AGENT "spiffe://corp.example/agent/sales-query-01"
#define REPORT_AGENT "spiffe://corp.example/agent/sales-report-01"
#define REPORT_JKT "FtIu-VbGrfe_KB6CH7GNwODB72MNxj_ml11dEvO-7kk"

/* RFC 8037 Appendix A.1, "d". */
static const uint8_t test_seed[ED25519_SEED_LEN] = {
	0x9d, 0x61, 0xb1, 0x9d, 0xef, 0xfd, 0x5a, 0x60, 0xba, 0x84, 0x4a,
	0xf4, 0x92, 0xec, 0x2c, 0xc4, 0x44, 0x49, 0xc5, 0x69, 0x7b, 0x32,
	0x69, 0x19, 0x70, 0x3b, 0xac, 0x03, 0x1c, 0xae, 0x7f, 0x60,
};

static inline struct token_key test_key(void)
{
	struct sign_key *secret = sign_key_from_seed(test_seed);
	uint8_t public_key[ED25519_PUBLIC_LEN];
	struct token_key key;

	sign_key_public(secret, public_key);
	sign_key_free(secret);
	token_key_init(&key, public_key);
	return key;
}

/* The token in tests/vectors/tokens, without its line feed. The caller frees. */
static inline char *vector_token(const char *name)
{
	const char *source = getenv("WRIT_SOURCE");
	struct buf bytes = BUF_INIT;
	char path[64];
	int dir_fd = open(source == NULL ? "." : source, O_RDONLY | O_DIRECTORY);

	snprintf(path, sizeof(path), "tests/vectors/tokens/%s.jwt", name);
	if (file_read_at(dir_fd, path, WRIT_TOKEN_BYTES_MAX, &bytes, NULL) < 0)
		abort();
	close(dir_fd);
	bytes.bytes[strcspn(bytes.bytes, "\n")] = '\0';
	return buf_take(&bytes);
}

/* header.payload with a good signature over exactly these bytes. The caller frees. */
static inline char *sign_raw(const char *header, const char *payload, size_t payload_len)
{
	struct sign_key *secret = sign_key_from_seed(test_seed);
	uint8_t signature[ED25519_SIGNATURE_LEN];
	struct buf out = BUF_INIT;

	base64url_write(header, strlen(header), &out);
	buf_add_char(&out, '.');
	base64url_write(payload, payload_len, &out);
	sign_bytes(secret, out.bytes, out.len, signature);
	sign_key_free(secret);
	buf_add_char(&out, '.');
	base64url_write(signature, sizeof(signature), &out);
	return buf_take(&out);
}

#define HEADER                                                                                     \
	"{\"typ\":\"at+jwt\",\"alg\":\"EdDSA\",\"kid\":"                                           \
	"\"kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k\"}"

static inline char *token_payload_text(const char *token)
{
	const char *start = strchr(token, '.') + 1;
	struct buf out = BUF_INIT;

	if (base64url_read(start, strcspn(start, "."), &out, NULL) < 0)
		abort();
	return buf_take(&out);
}

/* The named token with one claim replaced (NULL: removed), signed anew. */
static inline char *token_with(const char *name, const char *claim, const char *json_text)
{
	char *token = vector_token(name);
	char *text = token_payload_text(token);
	struct json *payload = NULL;
	struct json *value = NULL;
	struct buf out = BUF_INIT;
	char *made;

	if (json_parse_str(text, &payload, NULL) < 0 ||
	    (json_text != NULL && json_parse_str(json_text, &value, NULL) < 0))
		abort();
	if (value == NULL)
		json_remove(payload, claim);
	else
		json_set(payload, claim, value);
	json_write(payload, &out);
	made = sign_raw(HEADER, out.bytes, out.len);
	buf_clear(&out);
	json_free(payload);
	mem_free(text);
	mem_free(token);
	return made;
}

static inline int verify_at(const char *token, int64_t now, struct token_claims *ret,
			    struct err *err)
{
	struct token_key key = test_key();
	struct token_rules rules = {&key, 1, ISS, AUD, now};

	return token_verify(token, strlen(token), &rules, ret, err);
}

/* Takes the token. */
static inline struct token_claims verified(char *token)
{
	struct token_claims claims;
	struct err err;

	if (verify_at(token, NOW, &claims, &err) < 0)
		fail_msg("%s", err.text);
	mem_free(token);
	return claims;
}

#endif
