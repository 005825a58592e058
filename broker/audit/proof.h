/*
 * Making proofs: inclusion and consistency (RFC 6962 sections 2.1.1 and 2.1.2), and the file that
 * carries one (C2SP tlog-proof). Checking them is in tree.h. Pure: the hashes of full subtrees come
 * from a reader, out of tiles or lines.
 */
#ifndef BROKER_AUDIT_PROOF_H
#define BROKER_AUDIT_PROOF_H

#include "base/buf.h"
#include "broker/audit/tree.h"

#define PROOF_HASHES_MAX 64 /* both kinds; the tree is less than 2^63 wide */

struct proof {
	size_t count;
	uint8_t hashes[PROOF_HASHES_MAX][SHA256_LEN];
};

struct node_reader {
	void *self;
	/* The root of the full subtree of 2^height records that begins at index * 2^height. */
	int (*read)(void *self, unsigned int height, uint64_t index, uint8_t out[SHA256_LEN],
		    struct err *err);
};

/* The root of the first size records; size 0 reads nothing. */
MUST_CHECK int proof_root(const struct node_reader *reader, uint64_t size, uint8_t out[SHA256_LEN],
			  struct err *err);
/* index < size. */
MUST_CHECK int proof_inclusion(const struct node_reader *reader, uint64_t index, uint64_t size,
			       struct proof *ret_proof, struct err *err);
/* 0 < size1 <= size2; empty when they are equal. */
MUST_CHECK int proof_consistency(const struct node_reader *reader, uint64_t size1, uint64_t size2,
				 struct proof *ret_proof, struct err *err);

#define PROOF_FIRST_LINE "c2sp.org/tlog-proof@v1"
void proof_write(const struct proof *proof, uint64_t index, const char *checkpoint,
		 struct buf *out);
/* Reads one; ret_checkpoint points into text. The extra line is skipped. */
MUST_CHECK int proof_read(const char *text, size_t len, struct proof *ret_proof,
			  uint64_t *ret_index, const char **ret_checkpoint,
			  size_t *ret_checkpoint_len, struct err *err);

#endif
