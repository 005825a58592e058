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
void sign_bytes(const struct sign_key *key, const void *bytes, size_t len,
		uint8_t signature[ED25519_SIGNATURE_LEN]);

#endif
