/*
 * The door to libsodium's secret keys. sodium_malloc() locks the pages, keeps them out of core
 * dumps and surrounds them with guard pages; the key is read-only once made.
 */
#include "base/sign.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sign_key {
	uint8_t secret[crypto_sign_SECRETKEYBYTES]; /* seed, then public key */
};

_Static_assert(ED25519_SEED_LEN == crypto_sign_SEEDBYTES, "Ed25519 seed");

struct sign_key *sign_key_blank(void)
{
	struct sign_key *key = sodium_malloc(sizeof(*key));

	if (key == NULL) {
		fputs("out of locked memory for a key\n", stderr);
		abort();
	}
	sodium_memzero(key, sizeof(*key));
	return key;
}

void sign_key_set(struct sign_key *key, const uint8_t seed[ED25519_SEED_LEN])
{
	uint8_t public_key[ED25519_PUBLIC_LEN];

	crypto_sign_seed_keypair(public_key, key->secret, seed);
}

struct sign_key *sign_key_from_seed(const uint8_t seed[ED25519_SEED_LEN])
{
	struct sign_key *key = sign_key_blank();

	sign_key_set(key, seed);
	IGNORE(sodium_mprotect_readonly(key) < 0, "a second fence; the first is that none writes");
	return key;
}

void sign_key_free(struct sign_key *key)
{
	sodium_free(key); /* wipes; NULL is fine */
}

void sign_key_public(const struct sign_key *key, uint8_t out[ED25519_PUBLIC_LEN])
{
	memcpy(out, key->secret + ED25519_SEED_LEN, ED25519_PUBLIC_LEN);
}

void sign_key_seed(const struct sign_key *key, uint8_t out[ED25519_SEED_LEN])
{
	memcpy(out, key->secret, ED25519_SEED_LEN);
}

void sign_bytes(const struct sign_key *key, const void *bytes, size_t len,
		uint8_t signature[ED25519_SIGNATURE_LEN])
{
	crypto_sign_detached(signature, NULL, bytes, len, key->secret);
}

_Static_assert(SEAL_KEY_LEN == crypto_secretbox_KEYBYTES, "secretbox key");
_Static_assert(SEAL_NONCE_LEN == crypto_secretbox_NONCEBYTES, "secretbox nonce");
_Static_assert(SEAL_EXTRA_LEN == crypto_secretbox_MACBYTES, "secretbox tag");

void secret_seal(const uint8_t key[SEAL_KEY_LEN], const uint8_t nonce[SEAL_NONCE_LEN],
		 const uint8_t *text, size_t len, uint8_t *out)
{
	crypto_secretbox_easy(out, text, len, nonce, key);
}

int secret_unseal(const uint8_t key[SEAL_KEY_LEN], const uint8_t nonce[SEAL_NONCE_LEN],
		  const uint8_t *sealed, size_t len, uint8_t *out)
{
	if (len < SEAL_EXTRA_LEN)
		return -1;
	return crypto_secretbox_open_easy(out, sealed, len, nonce, key);
}
