/*
 * Sixteen messages side by side: register i holds word i of all of them, so each step of FIPS 180-4
 * is one instruction for all sixteen. Rotations and three-way logic are single instructions of
 * AVX-512, which makes this twice as fast as the SHA extensions, if there are enough messages.
 * Nothing here can fail; on other processors there is only the answer "none".
 */
#include "base/sha256_avx512.h"

#include <stddef.h>

#include "base/sha256_ni.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define WITH_AVX512 __attribute__((target("avx512f,avx512bw")))

#define ROTATE(x, n) _mm512_ror_epi32(x, n)
#define XOR3(a, b, c) _mm512_ternarylogic_epi32(a, b, c, 0x96)
#define CHOOSE(e, f, g) _mm512_ternarylogic_epi32(e, f, g, 0xCA)
#define MAJORITY(a, b, c) _mm512_ternarylogic_epi32(a, b, c, 0xE8)
#define ADD(a, b) _mm512_add_epi32(a, b)

WITH_AVX512 static inline __m512i big_0(__m512i x)
{
	return XOR3(ROTATE(x, 2), ROTATE(x, 13), ROTATE(x, 22));
}

WITH_AVX512 static inline __m512i big_1(__m512i x)
{
	return XOR3(ROTATE(x, 6), ROTATE(x, 11), ROTATE(x, 25));
}

WITH_AVX512 static inline __m512i small_0(__m512i x)
{
	return XOR3(ROTATE(x, 7), ROTATE(x, 18), _mm512_srli_epi32(x, 3));
}

WITH_AVX512 static inline __m512i small_1(__m512i x)
{
	return XOR3(ROTATE(x, 17), ROTATE(x, 19), _mm512_srli_epi32(x, 10));
}

/* Rows of one message each become rows of one word each: words, then pairs, then quarters. */
WITH_AVX512 static inline void transpose(__m512i row[16])
{
	__m512i t[16];

	for (size_t i = 0; i < 16; i += 2) {
		t[i] = _mm512_unpacklo_epi32(row[i], row[i + 1]);
		t[i + 1] = _mm512_unpackhi_epi32(row[i], row[i + 1]);
	}
	for (size_t i = 0; i < 16; i += 4) {
		row[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
		row[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
		row[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
		row[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
	}
	for (size_t i = 0; i < 4; i++) {
		t[i] = _mm512_shuffle_i32x4(row[i], row[i + 4], 0x88);
		t[i + 4] = _mm512_shuffle_i32x4(row[i], row[i + 4], 0xDD);
		t[i + 8] = _mm512_shuffle_i32x4(row[i + 8], row[i + 12], 0x88);
		t[i + 12] = _mm512_shuffle_i32x4(row[i + 8], row[i + 12], 0xDD);
	}
	for (size_t i = 0; i < 4; i++) {
		row[i] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0x88);
		row[i + 8] = _mm512_shuffle_i32x4(t[i], t[i + 8], 0xDD);
		row[i + 4] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0x88);
		row[i + 12] = _mm512_shuffle_i32x4(t[i + 4], t[i + 12], 0xDD);
	}
}

WITH_AVX512 static inline void load_messages(const uint8_t *const at[SHA256_LANES],
					     __m512i words[16])
{
	const __m512i swap = _mm512_set4_epi32(0x0c0d0e0f, 0x08090a0b, 0x04050607, 0x00010203);

	for (size_t i = 0; i < 16; i++)
		words[i] = _mm512_shuffle_epi8(_mm512_loadu_si512(at[i]), swap);
	transpose(words);
}

/* s[(i + k) % 8] is the k-th working word in round 8 - i: the words stand, their names move on. */
WITH_AVX512 static inline void one_round(__m512i s[8], size_t round, __m512i word)
{
	__m512i *a = &s[(64 - round) % 8], *b = &s[(65 - round) % 8], *c = &s[(66 - round) % 8];
	__m512i *d = &s[(67 - round) % 8], *e = &s[(68 - round) % 8], *f = &s[(69 - round) % 8];
	__m512i *g = &s[(70 - round) % 8], *h = &s[(71 - round) % 8];
	__m512i key = _mm512_set1_epi32((int)sha256_constants[round]);
	__m512i sum = ADD(ADD(*h, big_1(*e)), ADD(CHOOSE(*e, *f, *g), ADD(key, word)));

	*d = ADD(*d, sum);
	*h = ADD(sum, ADD(big_0(*a), MAJORITY(*a, *b, *c)));
}

WITH_AVX512 static void lanes_block(uint32_t words[8][SHA256_LANES],
				    const uint8_t *const at[SHA256_LANES])
{
	__m512i message[16], s[8];

	load_messages(at, message);
	for (size_t i = 0; i < 8; i++)
		s[i] = _mm512_loadu_si512(words[i]);
#pragma GCC unroll 64
	for (size_t round = 0; round < 64; round++) {
		__m512i *word = &message[round % 16];

		if (round >= 16)
			*word = ADD(ADD(*word, small_0(message[(round + 1) % 16])),
				    ADD(message[(round + 9) % 16],
					small_1(message[(round + 14) % 16])));
		one_round(s, round, *word);
	}
	for (size_t i = 0; i < 8; i++)
		_mm512_storeu_si512(words[i], ADD(s[i], _mm512_loadu_si512(words[i])));
}

sha256_lanes_block *sha256_avx512(void)
{
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") ? lanes_block
										       : NULL;
}

#else

sha256_lanes_block *sha256_avx512(void)
{
	return NULL;
}

#endif
