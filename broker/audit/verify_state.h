/* What the parts of the verifier share: verify.c reads the log, verify_segments.c looks at the
 * borders of its files, verify_witness.c at cosignatures and anchors, verify_judge.c concludes. */
#ifndef BROKER_AUDIT_VERIFY_STATE_H
#define BROKER_AUDIT_VERIFY_STATE_H

#include "base/clock.h"
#include "broker/audit/layout.h"
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

	enum audit_head_kind kind;
	uint64_t segment; /* of a seal: first record of the segment it seals */
	char *note;	  /* owned; as given, for signatures that are looked at in the end */
	size_t note_len;
	char time[TIMESTAMP_LEN + 1]; /* of its last record; empty when that was not read */
};

struct verify_rotation {
	uint64_t seq; /* of its record */
	struct vkey key;
};

struct verify_segment {
	char name[AUDIT_NAME_MAX];
	uint64_t first;
	uint64_t count;
	uint64_t bytes;
	bool has_hash;
	uint8_t sha256[SHA256_LEN];
	bool has_key; /* of its epoch: known from the records */
	uint64_t epoch;
	struct vkey key;
	bool ended;	   /* read to its end, so count and bytes hold */
	bool dropped;	   /* a segment.drop names it */
	bool only_hashes;  /* its lines are gone or were not read */
	bool closed;	   /* its last record is segment.close */
	bool next_has_key; /* from segment.close */
	uint64_t next_epoch;
	struct vkey next_key;
};

struct audit_verify {
	struct audit_verify_options options;
	struct verify_head *heads; /* owned */
	size_t head_count, head_room;
	uint64_t next_head; /* the smallest size of a head above the tree's */

	struct buf line;     /* the unfinished last line */
	uint64_t long_bytes; /* of a line beyond every bound, which is not kept */
	uint64_t records;
	uint64_t hash_only; /* of them, those taken from tiles alone */
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
	bool has_last; /* of the record before; it is not in the tree yet */
	bool settled;  /* bad_record is certain to be right */

	struct verify_rotation *rotations; /* owned */
	size_t rotation_count;
	struct verify_segment *segments; /* owned */
	size_t segment_count, segment_room;
	uint64_t segment_bytes;		  /* of this file, so far */
	struct buf last_entry;		  /* the last record of this file so far */
	char border_text[AUDIT_TEXT_MAX]; /* the first thing wrong at a border; empty when nothing
					   */

	bool has_gap; /* of some segment there are only hashes */

	bool broken; /* a line is out of form or place: nothing behind it can be hashed in place */
	bool has_bad;
	uint64_t bad_record;
	char bad_text[AUDIT_TEXT_MAX];
};

/* The first record of a file, when it has been chained. */
void verify_border_open(struct audit_verify *verify, const char *entry, size_t len);
/* A record, if lines of a segment are gone: is it the one that says why? */
void verify_note_drop(struct audit_verify *verify, const char *entry, size_t len);
/* A key.rotate. */
void verify_note_rotation(struct audit_verify *verify, uint64_t seq, const char *entry, size_t len);
/* Heads that only a newer key signed become signed ones, where the change of keys is covered. */
void verify_follow_rotations(struct audit_verify *verify);
/* Seals and epochs of all segments, once everything was read: into border_text. */
void verify_judge_segments(struct audit_verify *verify);
/* Cosignatures and anchors: into the report. */
void verify_judge_witnesses(const struct audit_verify *verify, struct audit_report *report);
void verify_hold(struct audit_report *report, enum audit_verdict verdict, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
