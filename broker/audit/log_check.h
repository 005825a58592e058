/*
 * Verifying what lies in a folder: the core of verify.h, fed from the files of log_dir.h. The
 * command line, the service and whoever else asks all come through here, so they say the same of
 * the same bytes. Blocking.
 */
#ifndef BROKER_AUDIT_LOG_CHECK_H
#define BROKER_AUDIT_LOG_CHECK_H

#include "broker/audit/log_dir.h"
#include "broker/audit/openings_check.h"
#include "broker/audit/verify.h"

struct log_kept { /* a head that was kept outside the log */
	const char *where;
	const char *note;
	size_t len;
};

struct log_check_options {
	struct audit_verify_options verify; /* on_tile is taken */
	const struct log_kept *kept;
	size_t kept_count;
	unsigned int threads; /* 0: one for each processor */
	bool chain_only;      /* chain and root: not the form of each line, not the tiles */
	bool hash_files;      /* the SHA-256 of each file against the chain's own word */
	/* Only lines of records from to to - 1 are read, as far as whole segments allow; the hashes
	 * of the others come from the tiles. 0, 0: all. */
	uint64_t from, to;
	bool openings; /* also openings.db, if it is there */
	void (*progress)(void *data, uint64_t done, uint64_t total); /* may be NULL */
	void *data;						     /* of progress */
};

struct log_check_report {
	struct audit_report verdict;
	uint64_t heads;		/* compared */
	uint64_t tiles;		/* compared with the records */
	uint64_t tiles_missing; /* below the head */
	uint64_t anchors;	/* heads in anchors.log */
	struct openings_report openings;
};

/* What is wrong with the log is in the report; only the disk fails here, ERR_IO, or ERR_LIMIT when
 * there are more heads than the verifier takes. */
MUST_CHECK int log_check(const struct log_dir *dir, const struct log_check_options *options,
			 struct log_check_report *ret_report, struct err *err);

#endif
