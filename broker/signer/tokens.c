/*
 * token.sign: the claims are read as strictly as a verifier reads them, and written anew in their
 * one order with the signer's own issuer and audience. What can fail: anything that no verifier of
 * ours would accept, a lifetime over the limit, a token over its length.
 */
#include "broker/signer/signer.h"

int signer_token_sign(struct signer *signer, const struct json *params, struct json **ret_result,
		      struct err *err)
{
	CLEANUP(token_claims_clear) struct token_claims claims = {.payload = NULL};
	CLEANUP(buf_clear) struct buf payload = BUF_INIT;
	CLEANUP(buf_clear) struct buf token = BUF_INIT;
	uint8_t signature[ED25519_SIGNATURE_LEN];

	if (token_claims_read(json_copy(params), false, &claims, err) < 0)
		return -1;
	token_payload_write(&claims, signer->place.iss, signer->place.aud, &payload);
	token_input_write(&signer->token_key, payload.bytes, payload.len, &token);
	sign_bytes(signer->keys.token, token.bytes, token.len, signature);
	buf_add_char(&token, '.');
	base64url_write(signature, sizeof(signature), &token);
	if (token.len > WRIT_TOKEN_BYTES_MAX)
		return err_set(err, ERR_LIMIT, "the token would have %zu bytes; at most %d",
			       token.len, WRIT_TOKEN_BYTES_MAX);
	*ret_result = json_object();
	json_set_str(*ret_result, "token", token.bytes);
	return 0;
}
