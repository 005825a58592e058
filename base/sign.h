/*
 * Secret keys: a type that cannot be printed or copied by accident. Only the signer links this.
 * The bytes live in locked memory (sodium_malloc) and are wiped when freed.
 */
#ifndef BASE_SIGN_H
#define BASE_SIGN_H

#include <stdint.h>

#include "base/crypto.h"

#define ED25519_SEED_LEN 32

struct sign_key; /* opaque */

/* Making and freeing ask the kernel for memory: outside a tight sandbox only. Aborts without it. */
struct sign_key *sign_key_from_seed(const uint8_t seed[ED25519_SEED_LEN]);
void sign_key_free(struct sign_key *key); /* NULL is fine */
void sign_key_public(const struct sign_key *key, uint8_t out[ED25519_PUBLIC_LEN]);
/* A key that changes within a tight sandbox: made before it, set at any time (what was there is
 * overwritten). It signs nothing before it was set. */
struct sign_key *sign_key_blank(void);
void sign_key_set(struct sign_key *key, const uint8_t seed[ED25519_SEED_LEN]);
void sign_key_seed(const struct sign_key *key, uint8_t out[ED25519_SEED_LEN]); /* wipe it */
void sign_bytes(const struct sign_key *key, const void *bytes, size_t len,
		uint8_t signature[ED25519_SIGNATURE_LEN]);

/* Secret-key encryption with a tag (XSalsa20-Poly1305). No two texts under one key and nonce. */
#define SEAL_KEY_LEN 32
#define SEAL_NONCE_LEN 24
#define SEAL_EXTRA_LEN 16
void secret_seal(const uint8_t key[SEAL_KEY_LEN], const uint8_t nonce[SEAL_NONCE_LEN],
		 const uint8_t *text, size_t len, uint8_t *out); /* len + SEAL_EXTRA_LEN bytes */
/* -1: it was not sealed with that key and nonce. len is that of the sealed bytes. */
MUST_CHECK int secret_unseal(const uint8_t key[SEAL_KEY_LEN], const uint8_t nonce[SEAL_NONCE_LEN],
			     const uint8_t *sealed, size_t len, uint8_t *out);

#endif
