/*
 * Verifying a compact JWT, in the order that lets no unsigned byte be parsed but the header:
 * length, parts, base64url, header (exactly three members), key by kid, signature, payload, issuer,
 * audience, times. Then what a verified token allows.
 *
 * The kid is only ever compared with the table; the algorithm is the key's.
 */
#include "broker/token/token.h"

#include <stdio.h>
#include <string.h>

#include "policy/constraint.h"

#define HEADER_TYPE "at+jwt"

void token_kid(const uint8_t public_key[ED25519_PUBLIC_LEN], char out[TOKEN_KID_LEN + 1])
{
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	uint8_t hash[SHA256_LEN];

	/* RFC 7638: the required members of the key in their order, without white space. */
	buf_add_str(&text, "{\"crv\":\"Ed25519\",\"kty\":\"OKP\",\"x\":\"");
	base64url_write(public_key, ED25519_PUBLIC_LEN, &text);
	buf_add_str(&text, "\"}");
	sha256_once(text.bytes, text.len, hash);
	buf_reset(&text);
	base64url_write(hash, sizeof(hash), &text);
	memcpy(out, text.bytes, TOKEN_KID_LEN + 1);
}

void token_key_init(struct token_key *key, const uint8_t public_key[ED25519_PUBLIC_LEN])
{
	memset(key, 0, sizeof(*key));
	key->alg = "EdDSA";
	memcpy(key->public_key, public_key, ED25519_PUBLIC_LEN);
	token_kid(public_key, key->kid);
}

void token_place_init(struct token_place *place, const char *origin)
{
	snprintf(place->iss, sizeof(place->iss), "https://%.255s", origin);
	snprintf(place->aud, sizeof(place->aud), "https://%.255s/tools", origin);
}

void token_input_write(const struct token_key *key, const char *payload, size_t payload_len,
		       struct buf *out)
{
	CLEANUP(buf_clear) struct buf header = BUF_INIT;

	buf_addf(&header, "{\"typ\":\"" HEADER_TYPE "\",\"alg\":\"%s\",\"kid\":\"%s\"}", key->alg,
		 key->kid);
	base64url_write(header.bytes, header.len, out);
	buf_add_char(out, '.');
	base64url_write(payload, payload_len, out);
}

struct part {
	const char *text;
	size_t len;
};

static int split(const char *token, size_t len, struct part parts[3], struct err *err)
{
	const char *end = token + len;

	if (len > WRIT_TOKEN_BYTES_MAX)
		return err_set(err, ERR_LIMIT, "longer than %d bytes", WRIT_TOKEN_BYTES_MAX);
	for (size_t i = 0; i < 3; i++) {
		const char *dot = memchr(token, '.', (size_t)(end - token));

		if ((dot == NULL) != (i == 2))
			return err_set(err, ERR_INVALID, "not of three parts");
		parts[i].text = token;
		parts[i].len = (size_t)((dot == NULL ? end : dot) - token);
		if (parts[i].len == 0)
			return err_set(err, ERR_INVALID, "part %zu is empty", i + 1);
		token = dot == NULL ? end : dot + 1;
	}
	return 0;
}

static int decode_json(struct part part, struct json **ret_json, struct err *err)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;

	if (base64url_read(part.text, part.len, &bytes, err) < 0)
		return -1;
	return json_parse(bytes.bytes, bytes.len, WRIT_TOKEN_BYTES_MAX, ret_json, err);
}

static bool member_is(const struct json *object, const char *key, const char *want)
{
	const char *text = json_get_str(object, key);

	return text != NULL && strcmp(text, want) == 0;
}

static int read_header(struct part part, const struct token_rules *rules,
		       const struct token_key **ret_key, struct err *err)
{
	static const char *const keys[] = {"typ", "alg", "kid", NULL};
	CLEANUP(json_freep) struct json *header = NULL;
	const char *kid = NULL;

	if (decode_json(part, &header, err) < 0 || json_only(header, keys, err) < 0 ||
	    json_want_str(header, "kid", &kid, err) < 0)
		return err_wrap(err, "header");
	if (!member_is(header, "typ", HEADER_TYPE))
		return err_set(err, ERR_INVALID, "header: typ is not " HEADER_TYPE);
	for (size_t i = 0; i < rules->key_count; i++) {
		const struct token_key *key = &rules->keys[i];

		if (strcmp(key->kid, kid) != 0)
			continue;
		if (!member_is(header, "alg", key->alg))
			return err_set(err, ERR_INVALID, "header: alg is not that of the key");
		*ret_key = key;
		return 0;
	}
	return err_set(err, ERR_INVALID, "header: no key of this kid");
}

static int check_signature(const char *token, const struct part *signature,
			   const struct token_key *key, struct err *err)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	size_t input_len = (size_t)(signature->text - token) - 1;

	if (base64url_read(signature->text, signature->len, &bytes, err) < 0)
		return err_wrap(err, "signature");
	if (bytes.len != ED25519_SIGNATURE_LEN)
		return err_set(err, ERR_INVALID, "signature: not %d bytes", ED25519_SIGNATURE_LEN);
	if (!ed25519_verify((const uint8_t *)bytes.bytes, token, input_len, key->public_key))
		return err_set(err, ERR_INVALID, "signature: does not fit");
	return 0;
}

static int check_place_and_time(const struct token_claims *claims, const struct token_rules *rules,
				struct err *err)
{
	if (strcmp(claims->iss, rules->iss) != 0)
		return err_set(err, ERR_DENIED, "iss: another issuer");
	if (strcmp(claims->aud, rules->aud) != 0)
		return err_set(err, ERR_DENIED, "aud: for another audience");
	if (rules->now >= claims->exp)
		return err_set(err, ERR_DENIED, "expired %lld s ago",
			       (long long)(rules->now - claims->exp));
	if (rules->now + WRIT_CLOCK_SKEW_SECONDS < claims->nbf)
		return err_set(err, ERR_DENIED, "not valid yet");
	if (rules->now + WRIT_CLOCK_SKEW_SECONDS < claims->iat)
		return err_set(err, ERR_DENIED, "issued in the future");
	return 0;
}

static void hash_input(const char *token, const struct part *signature, struct token_claims *claims)
{
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	uint8_t hash[SHA256_LEN];

	sha256_once(token, (size_t)(signature->text - token) - 1, hash);
	base64url_write(hash, sizeof(hash), &text);
	memcpy(claims->input_hash, text.bytes, sizeof(claims->input_hash));
}

static int verify(const char *token, size_t len, const struct token_rules *rules,
		  struct token_claims *claims, struct err *err)
{
	const struct token_key *key = NULL;
	struct json *payload = NULL;
	struct part parts[3];

	if (split(token, len, parts, err) < 0 || read_header(parts[0], rules, &key, err) < 0 ||
	    check_signature(token, &parts[2], key, err) < 0)
		return -1;
	if (decode_json(parts[1], &payload, err) < 0)
		return err_wrap(err, "payload");
	if (token_claims_read(payload, true, claims, err) < 0)
		return -1;
	if (check_place_and_time(claims, rules, err) < 0) {
		token_claims_clear(claims);
		return -1;
	}
	memcpy(claims->kid, key->kid, sizeof(claims->kid));
	hash_input(token, &parts[2], claims);
	return 0;
}

int token_verify(const char *token, size_t len, const struct token_rules *rules,
		 struct token_claims *ret_claims, struct err *err)
{
	struct token_claims claims = {0};

	if (verify(token, len, rules, &claims, err) < 0)
		return err_wrap(err, "token");
	*ret_claims = claims;
	return 0;
}

static int check_arguments(const struct json *constraints, const struct json *arguments,
			   struct err *err)
{
	json_each(argument,
		  arguments) if (json_get(constraints, json_key(argument)) ==
				 NULL) return err_set(err, ERR_DENIED,
						      "argument %.64s is not in the grant",
						      json_key(argument));
	json_each(constraint, constraints)
	{
		const struct json *value = json_get(arguments, json_key(constraint));

		if (value == NULL)
			return err_set(err, ERR_DENIED, "argument %.64s is missing",
				       json_key(constraint));
		if (!constraint_check(constraint, value))
			return err_set(err, ERR_DENIED,
				       "argument %.64s is outside what the token grants",
				       json_key(constraint));
	}
	return 0;
}

int token_allows(const struct token_claims *claims, const char *tool, const struct json *arguments,
		 struct err *err)
{
	const struct json *constraints = json_get(claims->tools, tool);

	if (constraints == NULL)
		return err_set(err, ERR_DENIED, "token: tool %.64s is not granted", tool);
	if (json_type(arguments) != JSON_OBJECT)
		return err_set(err, ERR_DENIED, "token: arguments must be an object");
	if (check_arguments(constraints, arguments, err) < 0)
		return err_wrap(err, "token: tool %.64s", tool);
	return 0;
}

int token_possession(const struct token_claims *claims, const char *proof_jkt, struct err *err)
{
	if (claims->jkt == NULL)
		return 0;
	if (proof_jkt == NULL)
		return err_set(err, ERR_DENIED,
			       "I6(b): the token is bound to a key and comes "
			       "without a proof");
	if (strcmp(claims->jkt, proof_jkt) != 0)
		return err_set(err, ERR_DENIED, "I6(b): the proof was made with another key");
	return 0;
}
