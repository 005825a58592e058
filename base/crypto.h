/*
 * Hashing, verifying and encodings: the door to libsodium for everyone. Signing with a secret key
 * is base/sign.h, which only the signer links.
 */
#ifndef BASE_CRYPTO_H
#define BASE_CRYPTO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define SHA256_LEN 32
#define SHA256_HEX_LEN 64
#define ED25519_PUBLIC_LEN 32
#define ED25519_SIGNATURE_LEN 64

/* Call once in main, before threads; aborts when libsodium cannot start or a hash is wrong. */
void crypto_init(void);

struct sha256 {
	uint64_t opaque[16];
};
void sha256_init(struct sha256 *state);
void sha256_add(struct sha256 *state, const void *bytes, size_t len);
void sha256_end(struct sha256 *state, uint8_t out[SHA256_LEN]);
/* The chaining value after whole blocks alone, and going on from it: len bytes were added before,
 * and rest is the last len % 64 of them. */
#define SHA256_BLOCK 64
void sha256_save(const struct sha256 *state, uint8_t out[SHA256_LEN]);
void sha256_resume(struct sha256 *state, const uint8_t saved[SHA256_LEN], uint64_t len,
		   const uint8_t *rest);
void sha256_once(const void *bytes, size_t len, uint8_t out[SHA256_LEN]);
void sha256_hex(const void *bytes, size_t len, char out[SHA256_HEX_LEN + 1]);

void blake2b_256(const void *bytes, size_t len, const uint8_t *key, size_t key_len,
		 uint8_t out[32]); /* RFC 7693; key may be NULL */

bool ed25519_verify(const uint8_t signature[ED25519_SIGNATURE_LEN], const void *bytes, size_t len,
		    const uint8_t public_key[ED25519_PUBLIC_LEN]); /* RFC 8032 */

bool bytes_equal(const void *a, const void *b, size_t len); /* constant time */
void bytes_wipe(void *bytes, size_t len);
void random_bytes(void *out, size_t len);

void hex_write(const uint8_t *bytes, size_t len, char *out); /* 2*len characters and NUL */
MUST_CHECK int hex_read(const char *text, size_t text_len, uint8_t *out, size_t out_len,
			struct err *err); /* lowercase, exactly 2*out_len characters */

/* RFC 4648: base64url without padding (tokens, disclosures), base64 with padding (notes). */
void base64url_write(const void *bytes, size_t len, struct buf *out);
MUST_CHECK int base64url_read(const char *text, size_t len, struct buf *out, struct err *err);
void base64_write(const void *bytes, size_t len, struct buf *out);
MUST_CHECK int base64_read(const char *text, size_t len, struct buf *out, struct err *err);

/* RFC 9562 version 7, 36 characters and NUL. */
#define UUID_LEN 36
void uuid7(char out[UUID_LEN + 1]);

#endif
