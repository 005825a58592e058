/* One SHA-256 block of sixteen messages at once, with AVX-512; base/sha256_many.c includes this. */
#ifndef BASE_SHA256_AVX512_H
#define BASE_SHA256_AVX512_H

#include <stdint.h>

#define SHA256_LANES 16

/* words[i][lane]: working word i (FIPS 180-4, 6.2.2) of each; at[lane]: its next 64 bytes. */
typedef void sha256_lanes_block(uint32_t words[8][SHA256_LANES],
				const uint8_t *const at[SHA256_LANES]);

/* NULL when this processor has no such instructions. */
sha256_lanes_block *sha256_avx512(void);

#endif
