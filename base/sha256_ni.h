/* SHA-256 blocks by the processor's own instructions; only base/sha256.c includes this. */
#ifndef BASE_SHA256_NI_H
#define BASE_SHA256_NI_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_BLOCK_LEN 64

/* Adds count blocks of 64 bytes to the eight working words (FIPS 180-4, 6.2.2). */
typedef void sha256_blocks(uint32_t words[8], const uint8_t *bytes, size_t count);

/* NULL when this processor has no such instructions. */
sha256_blocks *sha256_ni(void);

#endif
