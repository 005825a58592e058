/*
 * The SHA extensions of x86-64: two instructions do two rounds each, two more the message schedule.
 * libsodium's portable C takes some seven times as long. The working words live in two registers as
 * the instructions want them, ABEF and CDGH. On other processors there is only the answer "none".
 */
#include "base/sha256_ni.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

#define WITH_SHA __attribute__((target("sha,sse4.1,ssse3")))

const uint32_t sha256_constants[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2};

WITH_SHA static __m128i load(const void *at)
{
	return _mm_loadu_si128((const __m128i *)at);
}

/* Four message words, which lie there with the highest byte first. */
WITH_SHA static __m128i load_message(const uint8_t *at)
{
	return _mm_shuffle_epi8(load(at), _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203));
}

/* The next four words from the sixteen before them; w1 are the oldest. */
WITH_SHA static __m128i schedule(__m128i w1, __m128i w2, __m128i w3, __m128i w4)
{
	__m128i sum = _mm_add_epi32(_mm_sha256msg1_epu32(w1, w2), _mm_alignr_epi8(w4, w3, 4));

	return _mm_sha256msg2_epu32(sum, w4);
}

WITH_SHA static void one_block(__m128i *abef, __m128i *cdgh, const uint8_t *bytes)
{
	__m128i words[4], sum, first = *abef, second = *cdgh;

	for (size_t i = 0; i < 4; i++)
		words[i] = load_message(bytes + 16 * i);
#pragma GCC unroll 16
	for (size_t i = 0; i < 16; i++) {
		if (i >= 4)
			words[i % 4] = schedule(words[i % 4], words[(i + 1) % 4],
						words[(i + 2) % 4], words[(i + 3) % 4]);
		sum = _mm_add_epi32(words[i % 4], load(sha256_constants + 4 * i));
		second = _mm_sha256rnds2_epu32(second, first, sum);
		sum = _mm_shuffle_epi32(sum, 0x0E);
		first = _mm_sha256rnds2_epu32(first, second, sum);
	}
	*abef = _mm_add_epi32(*abef, first);
	*cdgh = _mm_add_epi32(*cdgh, second);
}

struct words {
	__m128i abef;
	__m128i cdgh;
};

WITH_SHA static struct words words_load(const uint32_t words[8])
{
	__m128i badc = _mm_shuffle_epi32(load(words), 0xB1);
	__m128i hgfe = _mm_shuffle_epi32(load(words + 4), 0x1B);

	return (struct words){_mm_alignr_epi8(badc, hgfe, 8), _mm_blend_epi16(hgfe, badc, 0xF0)};
}

WITH_SHA static void words_store(struct words from, uint32_t words[8])
{
	__m128i low = _mm_shuffle_epi32(from.abef, 0x1B);
	__m128i high = _mm_shuffle_epi32(from.cdgh, 0xB1);

	_mm_storeu_si128((__m128i *)(void *)words, _mm_blend_epi16(low, high, 0xF0));
	_mm_storeu_si128((__m128i *)(void *)(words + 4), _mm_alignr_epi8(high, low, 8));
}

WITH_SHA static void blocks(uint32_t words[8], const uint8_t *bytes, size_t count)
{
	struct words at = words_load(words);

	for (; count > 0; count--, bytes += SHA256_BLOCK_LEN)
		one_block(&at.abef, &at.cdgh, bytes);
	words_store(at, words);
}

WITH_SHA static void two_blocks(struct words *a, const uint8_t *bytes_a, struct words *b,
				const uint8_t *bytes_b)
{
	__m128i of_a[4], of_b[4], sum_a, sum_b, key;
	struct words x = *a, y = *b;

	for (size_t i = 0; i < 4; i++) {
		of_a[i] = load_message(bytes_a + 16 * i);
		of_b[i] = load_message(bytes_b + 16 * i);
	}
#pragma GCC unroll 16
	for (size_t i = 0; i < 16; i++) {
		if (i >= 4) {
			of_a[i % 4] = schedule(of_a[i % 4], of_a[(i + 1) % 4], of_a[(i + 2) % 4],
					       of_a[(i + 3) % 4]);
			of_b[i % 4] = schedule(of_b[i % 4], of_b[(i + 1) % 4], of_b[(i + 2) % 4],
					       of_b[(i + 3) % 4]);
		}
		key = load(sha256_constants + 4 * i);
		sum_a = _mm_add_epi32(of_a[i % 4], key);
		sum_b = _mm_add_epi32(of_b[i % 4], key);
		x.cdgh = _mm_sha256rnds2_epu32(x.cdgh, x.abef, sum_a);
		y.cdgh = _mm_sha256rnds2_epu32(y.cdgh, y.abef, sum_b);
		sum_a = _mm_shuffle_epi32(sum_a, 0x0E);
		sum_b = _mm_shuffle_epi32(sum_b, 0x0E);
		x.abef = _mm_sha256rnds2_epu32(x.abef, x.cdgh, sum_a);
		y.abef = _mm_sha256rnds2_epu32(y.abef, y.cdgh, sum_b);
	}
	a->abef = _mm_add_epi32(a->abef, x.abef);
	a->cdgh = _mm_add_epi32(a->cdgh, x.cdgh);
	b->abef = _mm_add_epi32(b->abef, y.abef);
	b->cdgh = _mm_add_epi32(b->cdgh, y.cdgh);
}

WITH_SHA static void pair_blocks(uint32_t words_a[8], const uint8_t *a, uint32_t words_b[8],
				 const uint8_t *b, size_t count)
{
	struct words at_a = words_load(words_a);
	struct words at_b = words_load(words_b);

	for (; count > 0; count--, a += SHA256_BLOCK_LEN, b += SHA256_BLOCK_LEN)
		two_blocks(&at_a, a, &at_b, b);
	words_store(at_a, words_a);
	words_store(at_b, words_b);
}

sha256_blocks *sha256_ni(void)
{
	unsigned a, b, c, d;

	if (!__get_cpuid(1, &a, &b, &c, &d) || (c & bit_SSSE3) == 0 || (c & bit_SSE4_1) == 0)
		return NULL;
	if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (b & 1u << 29) == 0)
		return NULL;
	return blocks;
}

sha256_pair_blocks *sha256_ni_pair(void)
{
	return sha256_ni() == NULL ? NULL : pair_blocks;
}

#else

sha256_pair_blocks *sha256_ni_pair(void)
{
	return NULL;
}

sha256_blocks *sha256_ni(void)
{
	return NULL;
}

#endif
