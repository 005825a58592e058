/*
 * SHA-256 (FIPS 180-4): libsodium's, or by the processor's own instructions once crypto_init() has
 * found them and seen them give the known answers. Both keep libsodium's state, so that a hash
 * begun before crypto_init() can be ended after it.
 */
#include <sodium.h>
#include <string.h>

#include "base/crypto.h"
#include "base/sha256.h"
#include "base/sha256_ni.h"

_Static_assert(sizeof(struct sha256) >= sizeof(crypto_hash_sha256_state), "room for the state");
_Static_assert(SHA256_LEN == crypto_hash_sha256_BYTES, "SHA-256");

static sha256_blocks *fast_blocks; /* set once by sha256_choose() */

static crypto_hash_sha256_state *state_of(struct sha256 *hash)
{
	return (crypto_hash_sha256_state *)(void *)hash;
}

void sha256_init(struct sha256 *hash)
{
	crypto_hash_sha256_init(state_of(hash));
}

/* count is in bits; buf holds what lies behind the last whole block. */
static void add_fast(crypto_hash_sha256_state *state, const uint8_t *bytes, size_t len)
{
	size_t held = (state->count / 8) % SHA256_BLOCK_LEN;
	size_t missing = SHA256_BLOCK_LEN - held;

	state->count += (uint64_t)len * 8;
	if (len < missing) {
		memcpy(state->buf + held, bytes, len);
		return;
	}
	if (held > 0) {
		memcpy(state->buf + held, bytes, missing);
		fast_blocks(state->state, state->buf, 1);
		bytes += missing;
		len -= missing;
	}
	fast_blocks(state->state, bytes, len / SHA256_BLOCK_LEN);
	memcpy(state->buf, bytes + len / SHA256_BLOCK_LEN * SHA256_BLOCK_LEN,
	       len % SHA256_BLOCK_LEN);
}

static void end_fast(crypto_hash_sha256_state *state, uint8_t out[SHA256_LEN])
{
	static const uint8_t padding[SHA256_BLOCK_LEN] = {0x80};
	uint64_t bits = state->count;
	size_t held = (bits / 8) % SHA256_BLOCK_LEN;
	uint8_t length[8];

	for (int i = 0; i < 8; i++)
		length[i] = (uint8_t)(bits >> (56 - 8 * i));
	add_fast(state, padding, (held < 56 ? 56 : 120) - held);
	add_fast(state, length, sizeof(length));
	for (int i = 0; i < SHA256_LEN; i++)
		out[i] = (uint8_t)(state->state[i / 4] >> (24 - 8 * (i % 4)));
	sodium_memzero(state, sizeof(*state));
}

void sha256_add(struct sha256 *hash, const void *bytes, size_t len)
{
	if (len == 0)
		return;
	if (fast_blocks != NULL)
		add_fast(state_of(hash), bytes, len);
	else
		crypto_hash_sha256_update(state_of(hash), bytes, len);
}

void sha256_end(struct sha256 *hash, uint8_t out[SHA256_LEN])
{
	if (fast_blocks != NULL)
		end_fast(state_of(hash), out);
	else
		crypto_hash_sha256_final(state_of(hash), out);
}

void sha256_save(const struct sha256 *hash, uint8_t out[SHA256_LEN])
{
	const crypto_hash_sha256_state *state = (const void *)hash;

	for (int i = 0; i < SHA256_LEN; i++)
		out[i] = (uint8_t)(state->state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_resume(struct sha256 *hash, const uint8_t saved[SHA256_LEN], uint64_t len,
		   const uint8_t *rest)
{
	crypto_hash_sha256_state *state = state_of(hash);

	memset(state, 0, sizeof(*state));
	for (int i = 0; i < SHA256_LEN; i++)
		state->state[i / 4] |= (uint32_t)saved[i] << (24 - 8 * (i % 4));
	state->count = len * 8;
	if (len % SHA256_BLOCK > 0)
		memcpy(state->buf, rest, len % SHA256_BLOCK);
}

void sha256_once(const void *bytes, size_t len, uint8_t out[SHA256_LEN])
{
	struct sha256 hash;

	sha256_init(&hash);
	sha256_add(&hash, bytes, len);
	sha256_end(&hash, out);
}

void sha256_hex(const void *bytes, size_t len, char out[SHA256_HEX_LEN + 1])
{
	uint8_t hash[SHA256_LEN];

	sha256_once(bytes, len, hash);
	hex_write(hash, sizeof(hash), out);
}

/* Lengths that end in, before and behind a block's border, against libsodium. */
static bool answers_agree(void)
{
	static const size_t lengths[] = {0, 3, 55, 56, 63, 64, 65, 200};
	uint8_t bytes[200], fast[SHA256_LEN], portable[SHA256_LEN];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 31 + 7);
	for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
		sha256_once(bytes, lengths[i], fast);
		crypto_hash_sha256(portable, bytes, lengths[i]);
		if (memcmp(fast, portable, SHA256_LEN) != 0)
			return false;
	}
	return true;
}

/* FIPS 180-4's "abc": right for whichever code is in use. */
static bool known_answer(void)
{
	char hex[SHA256_HEX_LEN + 1];

	sha256_hex("abc", 3, hex);
	return strcmp(hex, "ba7816bf8f01cfea414140de5dae2223"
			   "b00361a396177a9cb410ff61f20015ad") == 0;
}

bool sha256_choose(void)
{
	if (fast_blocks == NULL) {
		fast_blocks = sha256_ni();
		if (fast_blocks != NULL && !answers_agree())
			fast_blocks = NULL;
	}
	return known_answer() && sha256_many_choose();
}

bool sha256_is_fast(void)
{
	return fast_blocks != NULL;
}
