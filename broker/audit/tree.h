/*
 * The Merkle tree over the records of the log, after RFC 6962 section 2.1 (hashes, root) and RFC
 * 9162 section 2.1.3 and 2.1.4 (verifying proofs). Pure.
 *
 * Only the frontier is kept: the roots of the full subtrees the size breaks up into, largest first,
 * one per set bit of the size. That is all it takes to append and to know the root.
 */
#ifndef BROKER_AUDIT_TREE_H
#define BROKER_AUDIT_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "base/crypto.h"
#include "base/err.h"

#define TREE_PEAKS_MAX 64

struct tree {
	uint64_t size;
	size_t count; /* peaks in use */
	uint8_t peaks[TREE_PEAKS_MAX][SHA256_LEN];
};

void leaf_hash(const void *entry, size_t len, uint8_t out[SHA256_LEN]); /* SHA-256(00, entry) */
void node_hash(const uint8_t left[SHA256_LEN], const uint8_t right[SHA256_LEN],
	       uint8_t out[SHA256_LEN]); /* SHA-256(01, left, right); out may be an input */

void tree_init(struct tree *tree);
void tree_add(struct tree *tree, const uint8_t leaf[SHA256_LEN]);
void tree_root(const struct tree *tree, uint8_t out[SHA256_LEN]); /* of nothing: SHA-256("") */
/* Fails unless count is the number of set bits of size. */
MUST_CHECK int tree_restore(struct tree *tree, uint64_t size, const uint8_t (*peaks)[SHA256_LEN],
			    size_t count, struct err *err);

struct proof_hash { /* one element of a proof: 32 bytes, or it proves nothing */
	const uint8_t *bytes;
	size_t len;
};

MUST_CHECK int inclusion_verify(struct proof_hash leaf, uint64_t index, uint64_t size,
				const struct proof_hash *proof, size_t count,
				struct proof_hash root, struct err *err);
/* From size1 to size2, both above 0. Equal sizes need equal roots and an empty proof. */
MUST_CHECK int consistency_verify(uint64_t size1, struct proof_hash root1, uint64_t size2,
				  struct proof_hash root2, const struct proof_hash *proof,
				  size_t count, struct err *err);

#endif
