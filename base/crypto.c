/*
 * The door to libsodium for everyone: verifying, encodings, randomness (SHA-256: sha256.c). Nothing
 * here needs a secret key, so nothing here can sign. What can fail are the readers of foreign text.
 */
#include "base/crypto.h"

#include <endian.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sha256.h"

_Static_assert(ED25519_PUBLIC_LEN == crypto_sign_PUBLICKEYBYTES, "Ed25519 public key");
_Static_assert(ED25519_SIGNATURE_LEN == crypto_sign_BYTES, "Ed25519 signature");

void crypto_init(void)
{
	if (sodium_init() < 0) {
		fputs("libsodium could not start\n", stderr);
		abort();
	}
	if (!sha256_choose()) {
		fputs("SHA-256 gives wrong answers on this machine\n", stderr);
		abort();
	}
}

void blake2b_256(const void *bytes, size_t len, const uint8_t *key, size_t key_len, uint8_t out[32])
{
	if (crypto_generichash(out, 32, bytes, len, key, key_len) != 0)
		abort(); /* only a key over 64 bytes can fail */
}

bool ed25519_verify(const uint8_t signature[ED25519_SIGNATURE_LEN], const void *bytes, size_t len,
		    const uint8_t public_key[ED25519_PUBLIC_LEN])
{
	return crypto_sign_verify_detached(signature, bytes, len, public_key) == 0;
}

bool bytes_equal(const void *a, const void *b, size_t len)
{
	return sodium_memcmp(a, b, len) == 0;
}

void bytes_wipe(void *bytes, size_t len)
{
	sodium_memzero(bytes, len);
}

void random_bytes(void *out, size_t len)
{
	randombytes_buf(out, len);
}

void hex_write(const uint8_t *bytes, size_t len, char *out)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		*out++ = digits[bytes[i] >> 4];
		*out++ = digits[bytes[i] & 0xF];
	}
	*out = '\0';
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/*
 * Eight digits at once, since each record of a log has a hash to read: in each byte of the sums the
 * highest bit says "at least" or "above". False when one of them is no lowercase digit.
 */
static bool hex_eight(const char *text, uint8_t out[4])
{
	const uint64_t ones = 0x0101010101010101, high = 0x8080808080808080;
	uint64_t c, digit, letter, nibbles;

	memcpy(&c, text, 8);
	c = le64toh(c);
	if ((c & high) != 0)
		return false;
	digit = (c + ones * (0x80 - '0')) & ~(c + ones * (0x7F - '9'));
	letter = (c + ones * (0x80 - 'a')) & ~(c + ones * (0x7F - 'f'));
	if (((digit | letter) & high) != high)
		return false;
	nibbles = (c & ones * 0x0F) + (letter & high) / 0x80 * 9;
	nibbles = (nibbles << 4 | nibbles >> 8) & 0x00FF00FF00FF00FF;
	nibbles = (nibbles | nibbles >> 8) & 0x0000FFFF0000FFFF;
	nibbles |= nibbles >> 16;
	for (int i = 0; i < 4; i++)
		out[i] = (uint8_t)(nibbles >> (8 * i));
	return true;
}

static int hex_fail(const char *text, struct err *err)
{
	size_t at = 0;

	while (hex_value(text[at]) >= 0)
		at++;
	return err_set(err, ERR_INVALID, "character %zu is not a lowercase hexadecimal digit",
		       at + 1);
}

static bool hex_decode(const char *text, uint8_t *out, size_t out_len)
{
	size_t at = 0;

	for (; out_len - at >= 4; at += 4)
		if (!hex_eight(text + 2 * at, out + at))
			return false;
	for (; at < out_len; at++) {
		int first = hex_value(text[2 * at]);
		int second = hex_value(text[2 * at + 1]);

		if (first < 0 || second < 0)
			return false;
		out[at] = (uint8_t)(first << 4 | second);
	}
	return true;
}

int hex_read(const char *text, size_t text_len, uint8_t *out, size_t out_len, struct err *err)
{
	uint8_t bytes[64]; /* out stays as it was when a later digit is none */

	if (text_len != 2 * out_len)
		return err_set(err, ERR_INVALID, "%zu hexadecimal digits are expected, not %zu",
			       2 * out_len, text_len);
	for (size_t at = 0; at < out_len; at += sizeof(bytes))
		if (!hex_decode(text + 2 * at, bytes,
				out_len - at < sizeof(bytes) ? out_len - at : sizeof(bytes)))
			return hex_fail(text, err);
	if (out_len <= sizeof(bytes))
		memcpy(out, bytes, out_len);
	else
		IGNORE(!hex_decode(text, out, out_len), "looked at above");
	return 0;
}

static void encode(const void *bytes, size_t len, int variant, struct buf *out)
{
	size_t room = sodium_base64_encoded_len(len, variant); /* with NUL */
	CLEANUP(mem_freep) char *text = mem_alloc(room);

	buf_add_str(out, sodium_bin2base64(text, room, bytes, len, variant));
}

/*
 * libsodium refuses the other alphabet, blanks, wrong padding and non-zero bits left over; but its
 * decoder takes a char for a number, and where char is signed some bytes above 0x7F pass as
 * letters.
 */
static bool is_ascii(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] > 0x7F)
			return false;
	return true;
}

static int decode(const char *text, size_t len, int variant, const char *name, struct buf *out,
		  struct err *err)
{
	size_t room = len / 4 * 3 + 3, got;
	CLEANUP(mem_freep) uint8_t *bytes = mem_alloc(room);

	if (!is_ascii(text, len) ||
	    sodium_base642bin(bytes, room, text, len, NULL, &got, NULL, variant) != 0)
		return err_set(err, ERR_INVALID, "not %s", name);
	buf_add(out, bytes, got);
	return 0;
}

void base64url_write(const void *bytes, size_t len, struct buf *out)
{
	encode(bytes, len, sodium_base64_VARIANT_URLSAFE_NO_PADDING, out);
}

int base64url_read(const char *text, size_t len, struct buf *out, struct err *err)
{
	return decode(text, len, sodium_base64_VARIANT_URLSAFE_NO_PADDING,
		      "base64url without padding", out, err);
}

void base64_write(const void *bytes, size_t len, struct buf *out)
{
	encode(bytes, len, sodium_base64_VARIANT_ORIGINAL, out);
}

int base64_read(const char *text, size_t len, struct buf *out, struct err *err)
{
	return decode(text, len, sodium_base64_VARIANT_ORIGINAL, "base64 with padding", out, err);
}

/* Milliseconds, version, 1/4096 of a millisecond (RFC 9562, 6.2, method 3), variant, 62 random
 * bits: ids of one process sort by the time they were made. */
void uuid7(char out[UUID_LEN + 1])
{
	uint64_t now = (uint64_t)clock_now_us();
	uint64_t head = (now / 1000) << 16 | 0x7000 | (now % 1000 * 4096 / 1000);
	uint8_t bytes[16];
	char hex[33];

	random_bytes(bytes + 8, 8);
	bytes[8] = (uint8_t)((bytes[8] & 0x3F) | 0x80);
	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(head >> (56 - 8 * i));
	hex_write(bytes, sizeof(bytes), hex);
	snprintf(out, UUID_LEN + 1, "%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8, hex + 12, hex + 16,
		 hex + 20);
}
