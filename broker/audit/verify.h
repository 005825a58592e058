/*
 * The verifier of a log: the one core behind `writ audit verify` and the writer's own start. Pure
 * and streaming: it is fed bytes, so it needs no more memory for a large log than for a small one.
 *
 *   audit_verify_new -> audit_verify_head() per checkpoint -> audit_verify_feed()... ->
 *   audit_verify_end() -> a report with every verdict that holds, in words, and one exit code
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
#include "broker/audit/verify_lines.h"

#define AUDIT_HEADS_MAX 4096 /* a seal each for a quarter of a tebibyte, and those kept elsewhere  \
			      */

enum audit_verdict {
	AUDIT_SIGNED,	     /* a head signed by a pinned key fits the records below it */
	AUDIT_UNSIGNED_TAIL, /* records or a torn line follow the last signed head */
	AUDIT_UNSIGNED,	     /* no head is signed by a pinned key */
	AUDIT_INCONCLUSIVE,  /* nothing in the log, nothing to compare with */
	AUDIT_TRUNCATED,     /* fewer records than a head says */
	AUDIT_TAMPERED,	     /* chain, form, root or signature fails */
	AUDIT_FORKED,	     /* two signed heads that no log can both have */
	AUDIT_VERDICTS,
};

#define AUDIT_TEXT_MAX 600

struct audit_report {
	uint64_t records;     /* whole lines */
	uint64_t bytes;	      /* all bytes fed */
	uint64_t torn_bytes;  /* behind the last line feed */
	uint64_t signed_size; /* records below the largest fitting head of a pinned key */
	bool holds[AUDIT_VERDICTS];
	char text[AUDIT_VERDICTS][AUDIT_TEXT_MAX]; /* why, for those that hold */
	bool has_bad;
	uint64_t bad_record; /* the first one */
	int exit_code;	     /* include/writ/exit_codes.h */
};

struct audit_verify_options {
	const struct vkey *keys; /* pinned; borrowed until the end */
	size_t key_count;
	bool live; /* the log is being written: a tail behind the head is no finding */
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

/* A checkpoint to compare with, before the first byte. Whatever is wrong with it is a finding, not
 * an error. where is for messages, copied. At most AUDIT_HEADS_MAX, then ERR_LIMIT. */
MUST_CHECK int audit_verify_head(struct audit_verify *verify, const char *where, const char *note,
				 size_t len, struct err *err);
void audit_verify_feed(struct audit_verify *verify, const char *bytes, size_t len);
/* The same for a block that verify_block_read() has read, perhaps on another thread. Not behind an
 * unfinished line that was fed. */
void audit_verify_block(struct audit_verify *verify, const struct verify_block *block);
void audit_verify_end(struct audit_verify *verify, struct audit_report *ret_report);

const char *audit_verdict_name(enum audit_verdict verdict); /* "SIGNED", "TAMPERED", ... */

#endif
