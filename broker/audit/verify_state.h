/* What the two halves of the verifier share: verify.c reads the log, verify_judge.c concludes. */
#ifndef BROKER_AUDIT_VERIFY_STATE_H
#define BROKER_AUDIT_VERIFY_STATE_H

#include "broker/audit/tiles.h"
#include "broker/audit/verify.h"

enum head_fit {
	HEAD_UNREACHED, /* the log has fewer records */
	HEAD_FITS,
	HEAD_FITS_CLAIMS, /* only with the hash the next record holds for a changed one */
	HEAD_DIFFERS,
};

struct verify_head {
	char where[128];
	bool readable;
	bool is_signed; /* by a pinned key */
	bool is_forged; /* a pinned key's line does not verify */
	struct checkpoint checkpoint;
	enum head_fit fit;
	struct err why; /* of what is wrong with it */
};

struct audit_verify {
	struct audit_verify_options options;
	struct verify_head *heads; /* owned */
	size_t head_count, head_room;
	uint64_t next_head; /* the smallest size of a head above the tree's */

	struct buf line;     /* the unfinished last line */
	uint64_t long_bytes; /* of a line beyond every bound, which is not kept */
	uint64_t records;
	uint64_t bytes;
	char origin[NOTE_NAME_MAX + 1]; /* as record 0 names it; empty when it does not */

	/*
	 * The tree (tiles) lags one record behind, because only the next record says what the last
	 * one was when that was written. claims is the tree of what the records say of each other:
	 * it is the same until the first break, and afterwards shows which of two neighbours was
	 * changed.
	 */
	struct tiles tiles;
	struct tiles *claims; /* once they differ; owned */
	uint8_t last_leaf[SHA256_LEN];
	bool settled; /* bad_record is certain to be right */

	bool broken; /* a line is out of form or place: nothing behind it can be hashed in place */
	bool has_bad;
	uint64_t bad_record;
	char bad_text[AUDIT_TEXT_MAX];
};

/* The last record into the tree, at the end of the log. */
void verify_finish(struct audit_verify *verify);

#endif
