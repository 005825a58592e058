/*
 * SHA-256 of many messages, each behind one prefix byte, as the leaves and nodes of Merkle trees
 * are hashed. Two at a time where the processor has the instructions, which takes some two thirds
 * of the time of one after the other; the results are the same everywhere.
 */
#ifndef BASE_SHA256_MANY_H
#define BASE_SHA256_MANY_H

#include "base/crypto.h"

struct sha256_job {
	const void *bytes;
	size_t len;
	uint8_t *out; /* SHA256_LEN bytes; may lie in the message of this job, of no other */
};

void sha256_many(uint8_t prefix, const struct sha256_job *jobs, size_t count);

#endif
