/* SHA-256 blocks by the processor's own instructions; only base/sha256.c includes this. */
#ifndef BASE_SHA256_NI_H
#define BASE_SHA256_NI_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_BLOCK_LEN 64

/* Adds count blocks of 64 bytes to the eight working words (FIPS 180-4, 6.2.2). */
typedef void sha256_blocks(uint32_t words[8], const uint8_t *bytes, size_t count);

/* The same for two hashes at once, block by block: while the instructions of one wait for each
 * other, those of the other run. */
typedef void sha256_pair_blocks(uint32_t words_a[8], const uint8_t *a, uint32_t words_b[8],
				const uint8_t *b, size_t count);

/* NULL when this processor has no such instructions. */
sha256_blocks *sha256_ni(void);
sha256_pair_blocks *sha256_ni_pair(void);

extern const uint32_t sha256_constants[64]; /* FIPS 180-4, 4.2.2; on x86-64 alone */

#endif
