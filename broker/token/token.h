/*
 * Scope tokens: read this first. docs/tokens.md has the claims one by one.
 *
 *   token_claims_new()  -> the typed fields of token.sign -> the signer adds iss, aud and the
 * header token_verify()      -> length, three parts, strict base64url, header, signature, then
 * payload token_allows()      -> one call against the constraints of the grant (constraint.h)
 *   delegation_check()  -> may this child follow from that parent? (delegation.h)
 *
 * JWT with RFC 9068 claims and type, EdDSA over Ed25519 (RFC 8037). Everything here is pure: no
 * I/O, no clock, no loop. Revocation, policy and the user's rights are the broker's to add.
 */
#ifndef BROKER_TOKEN_TOKEN_H
#define BROKER_TOKEN_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/crypto.h"
#include "base/err.h"
#include "base/json.h"
#include "writ/limits.h"

#define TOKEN_DETAILS_TYPE "writ_tools_v1" /* the one entry type of authorization_details */
#define TOKEN_KID_LEN 43		   /* RFC 7638 thumbprint, base64url */
#define TOKEN_JSON_DEPTH_MAX 32		   /* of header and payload */
#define TOKEN_STRING_BYTES_MAX 4096	   /* of one value */

/* One key that may have signed tokens. The algorithm belongs to the key, not to the token. */
struct token_key {
	char kid[TOKEN_KID_LEN + 1];
	const char *alg; /* "EdDSA" or "Ed25519" */
	uint8_t public_key[ED25519_PUBLIC_LEN];
};

/* Fills kid with the RFC 7638 thumbprint of an Ed25519 public key. */
void token_kid(const uint8_t public_key[ED25519_PUBLIC_LEN], char out[TOKEN_KID_LEN + 1]);
void token_key_init(struct token_key *key, const uint8_t public_key[ED25519_PUBLIC_LEN]);

/* iss and aud of every token of one service, from the origin of its log. */
struct token_place {
	char iss[288]; /* "https://" and an origin of at most 255 bytes */
	char aud[296]; /* iss and "/tools" */
};

void token_place_init(struct token_place *place, const char *origin);

/* The claims of one token. Every pointer lives in payload, which the claims own. */
struct token_claims {
	struct json *payload;
	const char *iss; /* NULL in claims that are not signed yet; aud too */
	const char *aud;
	const char *sub;
	const char *client_id;
	const char *agent_id; /* act.sub: the agent's URI */
	const struct json *act;
	int64_t iat; /* seconds since 1970; nbf and exp too */
	int64_t nbf;
	int64_t exp;
	const char *jti;
	const char *txn;
	const char *scope;	    /* NULL when absent */
	const struct json *details; /* authorization_details */
	const struct json *tools;   /* tool -> argument -> constraint */
	const char *jkt;	    /* cnf.jkt, NULL when absent */
	int64_t del_depth;
	int64_t del_max_depth;
	const char *par_hash; /* NULL for a root token */
	const char *owner;
	const char *policy_digest;
	int64_t policy_epoch;
	/* Of a verified token only; empty otherwise. */
	char kid[TOKEN_KID_LEN + 1];
	char input_hash[TOKEN_KID_LEN +
			1]; /* base64url SHA-256 of header.payload: a child's par_hash */
};

void token_claims_clear(struct token_claims *claims); /* frees; zeroed claims are fine */

/* What the broker knows when it wants a token. Strings are copied. */
struct token_fields {
	const char *sub; /* ignored with a parent: the parent's; txn too */
	const char *client_id;
	const char *agent_id;
	const char *txn;
	int64_t now;	 /* seconds since 1970: iat and nbf */
	int64_t seconds; /* lifetime wanted; cut to WRIT_TOKEN_SECONDS_MAX and the parent's exp */
	const struct json
		*details;      /* the result of policy_grant(): authorization_details, copied */
	const char *scope;     /* NULL for none */
	const char *jkt;       /* NULL unless bound to a key */
	int64_t del_max_depth; /* cut to the parent's */
	const char *owner;
	const char *policy_digest; /* "sha256:" and 64 hex */
	int64_t policy_epoch;
	const struct token_claims *parent; /* NULL for a root; else a verified token */
};

/* Makes the params of token.sign, with a new jti (UUIDv7). The caller owns them. */
struct json *token_claims_new(const struct token_fields *fields);

/* Reads and checks claims: presence, types, limits, the form of every constraint. Takes payload,
 * also on failure. need_issuer: iss and aud must be there (a whole token) or must not (token.sign).
 */
MUST_CHECK int token_claims_read(struct json *payload, bool need_issuer,
				 struct token_claims *ret_claims, struct err *err);
/* The payload in its one order of members, iss and aud put in front. */
void token_payload_write(const struct token_claims *claims, const char *iss, const char *aud,
			 struct buf *out);
/* base64url(header).base64url(payload): what is signed. */
void token_input_write(const struct token_key *key, const char *payload, size_t payload_len,
		       struct buf *out);

struct token_rules { /* what a token is checked against */
	const struct token_key *keys;
	size_t key_count;
	const char *iss;
	const char *aud;
	int64_t now; /* seconds since 1970 */
};

/* ERR_INVALID: not a token of ours; ERR_DENIED: wrong issuer or audience, or not in its time. */
MUST_CHECK int token_verify(const char *token, size_t len, const struct token_rules *rules,
			    struct token_claims *ret_claims, struct err *err);

/*
 * Does the grant cover this call? arguments is an object of all arguments, derived ones included.
 * Closed world: an argument the grant does not name is refused, and so is a named one that is
 * absent. Fails with ERR_DENIED, naming tool or argument.
 */
MUST_CHECK int token_allows(const struct token_claims *claims, const char *tool,
			    const struct json *arguments, struct err *err);

/* The holder's proof, already verified, was made with the key of this thumbprint (NULL: no proof).
 * A token without cnf needs none. Fails with ERR_DENIED. */
MUST_CHECK int token_possession(const struct token_claims *claims, const char *proof_jkt,
				struct err *err);

#endif
