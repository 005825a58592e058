/*
 * Reading the files of a log into the verifier, on all cores: one block is read while others are
 * checked and hashed and an earlier one goes into chain and tree. Blocking. What is in the files is
 * the verifier's to judge; only the disk can fail here.
 *
 * At most 2 * threads + 2 blocks are in memory, whatever the size of the log.
 */
#ifndef BROKER_AUDIT_LOG_FEED_H
#define BROKER_AUDIT_LOG_FEED_H

#include "broker/audit/verify.h"

#define LOG_FEED_THREADS_MAX 64

struct log_feed {
	struct audit_verify *verify;
	unsigned int threads; /* 0: one for each processor */
	bool lax;	      /* verify_block_read() */
	bool hash_file;	      /* also the SHA-256 of the whole file */
	/* Now and then, with the bytes fed so far of this file; may be NULL. */
	void (*progress)(void *data, uint64_t done);
	void *data;
};

struct log_feed_end {
	uint64_t bytes;
	uint8_t sha256[SHA256_LEN]; /* with hash_file */
};

/* From where fd stands to its end. A file that grows is read up to where its end was met. */
MUST_CHECK int log_feed_file(const struct log_feed *feed, int fd, struct log_feed_end *ret_end,
			     struct err *err);

#endif
