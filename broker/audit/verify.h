/*
 * The verifier of a log: the one core behind `writ audit verify` and the writer's own start. Pure
 * and streaming: it is fed bytes, so it needs no more memory for a large log than for a small one.
 *
 *   audit_verify_new -> audit_verify_head() per checkpoint and seal ->
 *     per file: audit_verify_segment() -> audit_verify_feed()... -> audit_verify_segment_end() ->
 *   audit_verify_end() -> a report with every verdict that holds, in words, and one exit code
 *
 * Records that are not there, because their segment was dropped or only a range is looked at, are
 * stood in for by their leaf hashes: audit_verify_hashes().
 *
 * A signature counts only if its key was pinned, that is, came from outside the log. What no
 * verifier can see stays: a record written after the last head that left the machine, an event that
 * was never recorded, and a false record by an honest signer.
 */
#ifndef BROKER_AUDIT_VERIFY_H
#define BROKER_AUDIT_VERIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "broker/audit/note.h"
#include "broker/audit/tiles.h"
#include "broker/audit/trust_policy.h"
#include "broker/audit/verify_lines.h"

#define AUDIT_HEADS_MAX                                                                            \
	4096 /* a seal each for a quarter of a tebibyte, and those kept elsewhere                  \
	      */

enum audit_verdict {
	AUDIT_SIGNED,	     /* a head signed by a pinned key fits the records below it */
	AUDIT_ANCHORED,	     /* so does one that was kept outside the log's folder */
	AUDIT_WITNESSED,     /* enough witnesses cosigned such a head */
	AUDIT_UNSIGNED_TAIL, /* records or a torn line follow the last signed head */
	AUDIT_POLICY,	     /* too old an anchor, too few witnesses */
	AUDIT_UNSIGNED,	     /* no head is signed by a pinned key */
	AUDIT_INCONCLUSIVE,  /* nothing in the log, nothing to compare with */
	AUDIT_TRUNCATED,     /* fewer records than a head says */
	AUDIT_TAMPERED,	     /* chain, form, root or signature fails */
	AUDIT_FORKED,	     /* two signed heads that no log can both have */
	AUDIT_VERDICTS,
};

#define AUDIT_TEXT_MAX 600

struct audit_report {
	uint64_t records;	/* whole lines, and those of which only the hash is there */
	uint64_t hash_only;	/* the latter */
	uint64_t segments;	/* files with lines */
	uint64_t bytes;		/* all bytes fed */
	uint64_t torn_bytes;	/* behind the last line feed */
	uint64_t signed_size;	/* records below the largest fitting head of a pinned key */
	uint64_t anchored_size; /* and below that of a kept one */
	uint64_t witnessed_size;
	bool holds[AUDIT_VERDICTS];
	char text[AUDIT_VERDICTS][AUDIT_TEXT_MAX]; /* why, for those that hold */
	bool has_rotated;
	uint64_t rotated_at;	 /* the last record that names a newer key */
	struct vkey rotated_key; /* and that key */
	bool has_bad;
	uint64_t bad_record; /* the first one */
	int exit_code;	     /* include/writ/exit_codes.h */
};

struct audit_verify_options {
	const struct vkey *keys; /* pinned; borrowed until the end, as the other pointers here */
	size_t key_count;
	const struct vkey *epoch_key;	   /* of epoch 0, pinned; or NULL */
	const struct trust_policy *policy; /* which witnesses must have cosigned; or NULL */
	bool needs_anchor;		   /* a kept head must fit */
	int64_t anchor_age_max_us;	   /* and its last record be no older than that; 0: any */
	int64_t now_us;			   /* only for that age */
	bool range;   /* only a range is looked at: lines may be missing without a segment.drop */
	bool partial; /* a range or an export: it need not begin at record 0 */
	bool live;    /* the log is being written: a tail behind the head is no finding */
	/* Called for each record that is well formed, in its place and chained to the one before;
	 * whether it itself was changed shows only later. May be NULL. */
	void (*on_record)(void *data, uint64_t seq, const uint8_t leaf[SHA256_LEN],
			  const char *entry, size_t len);
	/* Called for each hash tile that the records fill, lowest level first. May be NULL. */
	void (*on_tile)(void *data, unsigned int level, uint64_t index, const struct tile *tile);
	void *data;
};

struct audit_verify; /* opaque */

struct audit_verify *audit_verify_new(const struct audit_verify_options *options);
void audit_verify_free(struct audit_verify *verify);
void audit_verify_freep(struct audit_verify **verify);

enum audit_head_kind {
	AUDIT_HEAD_OWN,	 /* lies with the log */
	AUDIT_HEAD_SEAL, /* seals a segment */
	AUDIT_HEAD_KEPT, /* was kept elsewhere: an anchor */
};

/* A checkpoint to compare with, before the first byte. Whatever is wrong with it is a finding, not
 * an error. where is for messages, copied. At most AUDIT_HEADS_MAX, then ERR_LIMIT. */
MUST_CHECK int audit_verify_head(struct audit_verify *verify, const char *where, const char *note,
				 size_t len, struct err *err);
MUST_CHECK int audit_verify_head_of(struct audit_verify *verify, enum audit_head_kind kind,
				    uint64_t segment, const char *where, const char *note,
				    size_t len, struct err *err);

/*
 * Borders of files, for a log in segments: name is that of the file, first the number it promises.
 * sha256 of the end: NULL when the file was not hashed. Without these calls the bytes are one file.
 */
void audit_verify_segment(struct audit_verify *verify, const char *name, uint64_t first);
void audit_verify_segment_end(struct audit_verify *verify, const uint8_t *sha256);
/* The line segment.close of a segment whose other lines are gone, after its hashes. */
void audit_verify_close_line(struct audit_verify *verify, const char *entry, size_t len);
/*
 * Records of which only hashes are there: level 0 takes leaf hashes, after which the chain goes on;
 * a level above takes the roots of 256^level records each, at a multiple of that number, after
 * which the next record's _prev has nothing to be compared with.
 */
void audit_verify_hashes(struct audit_verify *verify, unsigned int level,
			 const uint8_t (*hashes)[SHA256_LEN], size_t count);
uint64_t audit_verify_records(const struct audit_verify *verify); /* so far */
/* No more records will come: the last one goes into the tree. Then what needs the whole log. */
void audit_verify_done(struct audit_verify *verify);
const struct tiles *audit_verify_tiles(const struct audit_verify *verify);
/* The SHA-256 that the chain itself gives for a segment; false when it does not. After the end. */
bool audit_verify_sum(const struct audit_verify *verify, uint64_t first, uint8_t out[SHA256_LEN]);
/* Something beside the log that does not fit it, found by the caller: TAMPERED. */
void audit_verify_found(struct audit_verify *verify, const char *what);
void audit_verify_feed(struct audit_verify *verify, const char *bytes, size_t len);
/* The same for a block that verify_block_read() has read, perhaps on another thread. Not behind an
 * unfinished line that was fed. */
void audit_verify_block(struct audit_verify *verify, const struct verify_block *block);
void audit_verify_end(struct audit_verify *verify, struct audit_report *ret_report);

const char *audit_verdict_name(enum audit_verdict verdict); /* "SIGNED", "TAMPERED", ... */

#endif
