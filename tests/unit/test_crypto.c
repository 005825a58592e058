/* Published answers for hashes and signatures, and what the readers of foreign text refuse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/crypto.h"
#include "base/sha256.h"
#include "base/sha256_ni.h"
#include "base/sign.h"

static void hashes_to(const void *bytes, size_t len, const char *wanted)
{
	char hex[SHA256_HEX_LEN + 1];

	sha256_hex(bytes, len, hex);
	assert_string_equal(hex, wanted);
}

/* FIPS 180-4, examples of NIST. */
static void test_crypto_sha256_known_answers(void **state)
{
	CLEANUP(mem_freep) char *many = mem_alloc(1000000);

	(void)state;
	hashes_to(NULL, 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
	hashes_to("abc", 3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
	hashes_to("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56,
		  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
	memset(many, 'a', 1000000);
	hashes_to(many, 1000000,
		  "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* Every length around the block's borders, in pieces of every size. */
static void test_crypto_sha256_does_not_mind_pieces(void **state)
{
	uint8_t bytes[300], whole[SHA256_LEN], pieces[SHA256_LEN];
	struct sha256 hash;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7 + 1);
	for (size_t len = 0; len <= sizeof(bytes); len++)
		for (size_t piece = 1; piece <= 130; piece += piece < 60 ? 13 : 1) {
			sha256_once(bytes, len, whole);
			sha256_init(&hash);
			for (size_t at = 0; at < len; at += piece)
				sha256_add(&hash, bytes + at, len - at < piece ? len - at : piece);
			sha256_add(&hash, NULL, 0);
			sha256_end(&hash, pieces);
			assert_memory_equal(whole, pieces, SHA256_LEN);
		}
}

/* Hashes of 1000 lengths made before crypto_init(), so by libsodium's portable code. */
static uint8_t portable[1000][SHA256_LEN];
static uint8_t sample[1000];
static struct sha256 begun_early;

static void hash_portably(void)
{
	for (size_t i = 0; i < sizeof(sample); i++)
		sample[i] = (uint8_t)(i * i * 13 + i);
	for (size_t len = 0; len < ARRAY_LEN(portable); len++)
		sha256_once(sample, len, portable[len]);
	sha256_init(&begun_early);
	sha256_add(&begun_early, sample, 77);
}

static void test_crypto_sha256_by_the_processor_equals_the_portable(void **state)
{
	uint8_t out[SHA256_LEN];

	(void)state;
	for (size_t len = 0; len < ARRAY_LEN(portable); len++) {
		sha256_once(sample, len, out);
		assert_memory_equal(out, portable[len], SHA256_LEN);
	}
	sha256_add(&begun_early, sample + 77, 523);
	sha256_end(&begun_early, out);
	assert_memory_equal(out, portable[600], SHA256_LEN);
	assert_int_equal(sha256_is_fast(), sha256_ni() != NULL);
}

/* RFC 7693, appendix A uses 64 bytes; these two are of libb2's and Python's
 * blake2b(digest_size=32). */
static void test_crypto_blake2b_known_answers(void **state)
{
	uint8_t out[32];
	char hex[65];

	(void)state;
	blake2b_256("abc", 3, NULL, 0, out);
	hex_write(out, 32, hex);
	assert_string_equal(hex,
			    "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
	blake2b_256("abc", 3, (const uint8_t *)"key", 3, out);
	hex_write(out, 32, hex);
	assert_string_equal(hex,
			    "0330531d097355a3f72e80d55c1245ccf79f1704431c6e3887938320442c23c0");
}

struct rfc8032 {
	const char *seed, *public_key, *message, *signature;
};

/* RFC 8032, 7.1: tests 1, 2, 3 and SHA(abc). */
static const struct rfc8032 vectors[] = {
	{"9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
	 "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
	 "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701"
	 "c"
	 "f9b46bd25bf5f0595bbe24655141438e7a100b"},
	{"4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
	 "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
	 "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d"
	 "0"
	 "f11d8c387b2eaeb4302aeeb00d291612bb0c00"},
	{"c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
	 "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
	 "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f7609"
	 "8"
	 "4dc6594a7c15e9716ed28dc027beceea1ec40a"},
	{"833fe62409237b9d62ec77587520911e9a759cec1d19755b7da901b96dca3d42",
	 "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
	 "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a"
	 "3"
	 "feebbd454d4423643ce80e2a9ac94fa54ca49f",
	 "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66"
	 "4"
	 "31e0303dca179c138ac17ad9bef1177331a704"},
};

static size_t unhex(const char *hex, uint8_t *out)
{
	struct err err = {0};

	assert_int_equal(hex_read(hex, strlen(hex), out, strlen(hex) / 2, &err), 0);
	return strlen(hex) / 2;
}

static void test_crypto_ed25519_known_answers(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(vectors); i++) {
		uint8_t seed[32], wanted_public[32], message[64], wanted[64], got[64],
			public_key[32];
		size_t len = unhex(vectors[i].message, message);
		struct sign_key *key;

		unhex(vectors[i].seed, seed);
		unhex(vectors[i].public_key, wanted_public);
		unhex(vectors[i].signature, wanted);
		key = sign_key_from_seed(seed);
		sign_key_public(key, public_key);
		assert_memory_equal(public_key, wanted_public, 32);
		sign_bytes(key, message, len, got);
		assert_memory_equal(got, wanted, 64);
		assert_true(ed25519_verify(got, message, len, public_key));
		sign_key_free(key);
	}
	sign_key_free(NULL);
}

static void test_crypto_ed25519_refuses_any_changed_bit(void **state)
{
	uint8_t public_key[32], signature[64], message[2];

	(void)state;
	unhex(vectors[2].public_key, public_key);
	unhex(vectors[2].signature, signature);
	unhex(vectors[2].message, message);
	for (size_t bit = 0; bit < 512; bit++) {
		signature[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_false(ed25519_verify(signature, message, 2, public_key));
		signature[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	for (size_t bit = 0; bit < 256; bit++) {
		public_key[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_false(ed25519_verify(signature, message, 2, public_key));
		public_key[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	assert_false(ed25519_verify(signature, message, 1, public_key));
	message[0] ^= 1;
	assert_false(ed25519_verify(signature, message, 2, public_key));
}

/* S + L is the same point; RFC 8032, 5.1.7 demands S < L. The identity key signs everything. */
static void test_crypto_ed25519_refuses_malleable_and_weak(void **state)
{
	static const uint8_t order[32] = {0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58,
					  0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
					  0,	0,    0,    0,	  0,	0,    0,    0,
					  0,	0,    0,    0,	  0,	0,    0,    0x10};
	uint8_t public_key[32], signature[64], message[2], identity[32] = {1}, forged[64] = {1};
	unsigned carry = 0;

	(void)state;
	unhex(vectors[2].public_key, public_key);
	unhex(vectors[2].signature, signature);
	unhex(vectors[2].message, message);
	for (size_t i = 0; i < 32; i++) {
		carry += (unsigned)signature[32 + i] + order[i];
		signature[32 + i] = (uint8_t)carry;
		carry >>= 8;
	}
	assert_false(ed25519_verify(signature, message, 2, public_key));
	assert_false(ed25519_verify(forged, message, 2, identity));
}

static void encodes(const char *bytes, size_t len, const char *url, const char *padded)
{
	struct buf out = BUF_INIT;
	struct err err = {0};

	base64url_write(bytes, len, &out);
	assert_string_equal(buf_str(&out), url);
	buf_reset(&out);
	base64_write(bytes, len, &out);
	assert_string_equal(buf_str(&out), padded);
	buf_reset(&out);
	buf_add_str(&out, "x"); /* reading appends */
	assert_int_equal(base64url_read(url, strlen(url), &out, &err), 0);
	assert_int_equal(base64_read(padded, strlen(padded), &out, &err), 0);
	assert_int_equal(out.len, 1 + 2 * len);
	assert_memory_equal(out.bytes + 1, bytes, len);
	assert_memory_equal(out.bytes + 1 + len, bytes, len);
	buf_clear(&out);
}

/* RFC 4648, section 10, and the two characters in which the alphabets differ. */
static void test_crypto_base64_known_answers(void **state)
{
	(void)state;
	encodes("", 0, "", "");
	encodes("f", 1, "Zg", "Zg==");
	encodes("fo", 2, "Zm8", "Zm8=");
	encodes("foo", 3, "Zm9v", "Zm9v");
	encodes("foob", 4, "Zm9vYg", "Zm9vYg==");
	encodes("fooba", 5, "Zm9vYmE", "Zm9vYmE=");
	encodes("foobar", 6, "Zm9vYmFy", "Zm9vYmFy");
	encodes("\xFB\xEF\xFF\0", 4, "--__AA", "++//AA==");
}

static void test_crypto_base64_takes_64_of_all_256_bytes(void **state)
{
	size_t url = 0;
	size_t padded = 0;

	(void)state;
	for (int byte = 0; byte < 256; byte++) {
		char text[4] = {'A', (char)byte, 'A', 'A'};
		struct buf out = BUF_INIT;

		url += base64url_read(text, sizeof(text), &out, NULL) == 0;
		padded += base64_read(text, sizeof(text), &out, NULL) == 0;
		buf_clear(&out);
	}
	assert_int_equal(url, 64);
	assert_int_equal(padded, 64);
}

static void test_crypto_base64_refuses_what_is_not_exact(void **state)
{
	static const char *const url[] = {"Zg==",  "Zg=",  "Zg\n", " Zg", "Z",
					  "Zm9vY", "Zh",   "Zm9",  "+_8", "/_8",
					  "Zm9v.", "Zg\t", "Z g",  "=",	  "Zm9vYgA=A"};
	static const char *const padded[] = {"Zg",   "Zg=",   "Zg===", "Zg==\n", "Zh==", "Zm9=",
					     "-_8=", "Zg== ", "====",  "=",	 "Zm8",	 "Zm9v="};
	struct buf out = BUF_INIT;
	struct err err = {0};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(url); i++) {
		if (base64url_read(url[i], strlen(url[i]), &out, &err) == 0)
			fail_msg("accepted: %s", url[i]);
		assert_string_equal(err.text, "not base64url without padding");
		assert_int_equal(err.kind, ERR_INVALID);
	}
	for (size_t i = 0; i < ARRAY_LEN(padded); i++) {
		if (base64_read(padded[i], strlen(padded[i]), &out, &err) == 0)
			fail_msg("accepted: %s", padded[i]);
		assert_string_equal(err.text, "not base64 with padding");
	}
	assert_int_equal(base64url_read("Zg\0A", 4, &out, &err), -1);
	assert_int_equal(out.len, 0);
	buf_clear(&out);
}

static void test_crypto_hex_reads_back_and_refuses_others(void **state)
{
	uint8_t bytes[3] = {0x00, 0xAf, 0xFF}, back[3] = {9, 9, 9};
	char text[7];
	struct err err = {0};

	(void)state;
	hex_write(bytes, 3, text);
	assert_string_equal(text, "00afff");
	assert_int_equal(hex_read("00afF0", 6, back, 3, &err), -1);
	assert_string_equal(err.text, "character 5 is not a lowercase hexadecimal digit");
	assert_int_equal(hex_read("00afg0", 6, back, 3, &err), -1);
	assert_int_equal(hex_read("00af`0", 6, back, 3, &err), -1);
	assert_int_equal(hex_read("00af:0", 6, back, 3, &err), -1);
	assert_int_equal(hex_read("00af/0", 6, back, 3, &err), -1);
	assert_int_equal(hex_read("00aff", 5, back, 3, &err), -1);
	assert_string_equal(err.text, "6 hexadecimal digits are expected, not 5");
	assert_int_equal(hex_read("00afff0", 7, back, 3, &err), -1);
	assert_int_equal(back[0], 9); /* untouched */
	assert_int_equal(hex_read(text, 6, back, 3, &err), 0);
	assert_memory_equal(bytes, back, 3);
}

static void test_crypto_compares_and_wipes(void **state)
{
	char bytes[4] = "abc";

	(void)state;
	assert_true(bytes_equal("abc", bytes, 4));
	assert_false(bytes_equal("abd", bytes, 4));
	assert_true(bytes_equal("abd", bytes, 2));
	bytes_wipe(bytes, 3);
	assert_memory_equal(bytes, "\0\0\0", 4);
}

static void test_crypto_uuid7_has_version_variant_and_time(void **state)
{
	uint64_t before = (uint64_t)clock_now_us() / 1000, after, stamp;
	char id[UUID_LEN + 1], next[UUID_LEN + 1], high[13];

	(void)state;
	uuid7(id);
	after = (uint64_t)clock_now_us() / 1000;
	assert_int_equal(strlen(id), 36);
	assert_int_equal(strspn(id, "0123456789abcdef-"), 36);
	for (size_t i = 0; i < 36; i++)
		assert_int_equal(id[i] == '-', i == 8 || i == 13 || i == 18 || i == 23);
	assert_int_equal(id[14], '7');
	assert_non_null(strchr("89ab", id[19]));
	memcpy(high, id, 8);
	memcpy(high + 8, id + 9, 5);
	high[12] = '\0';
	stamp = strtoull(high, NULL, 16);
	assert_in_range(stamp, before, after);
	for (int i = 0; i < 1000; i++) {
		uuid7(next);
		assert_string_not_equal(next, id);
		assert_true(strncmp(id, next, 18) <= 0); /* sorted by the time of making */
		memcpy(id, next, sizeof(id));
	}
}

static int start(void **state)
{
	(void)state;
	hash_portably();
	crypto_init();
	crypto_init(); /* twice is harmless */
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_crypto_sha256_known_answers),
		cmocka_unit_test(test_crypto_sha256_does_not_mind_pieces),
		cmocka_unit_test(test_crypto_sha256_by_the_processor_equals_the_portable),
		cmocka_unit_test(test_crypto_blake2b_known_answers),
		cmocka_unit_test(test_crypto_ed25519_known_answers),
		cmocka_unit_test(test_crypto_ed25519_refuses_any_changed_bit),
		cmocka_unit_test(test_crypto_ed25519_refuses_malleable_and_weak),
		cmocka_unit_test(test_crypto_base64_known_answers),
		cmocka_unit_test(test_crypto_base64_takes_64_of_all_256_bytes),
		cmocka_unit_test(test_crypto_base64_refuses_what_is_not_exact),
		cmocka_unit_test(test_crypto_hex_reads_back_and_refuses_others),
		cmocka_unit_test(test_crypto_compares_and_wipes),
		cmocka_unit_test(test_crypto_uuid7_has_version_variant_and_time),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start, NULL);
}
