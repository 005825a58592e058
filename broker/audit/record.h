/*
 * One record of the log as one line: formatting it, and the strict check of a line that anyone
 * wrote. include/writ/record.h names the fields; docs/audit-format.md has the rules. Pure.
 *
 * The entry is the line without its LF: {"_prev":"<64 hex>","_seq":N,...}, 85 to 65,535 bytes,
 * which is RFC 8785 form, since "_" sorts before every other key.
 */
#ifndef BROKER_AUDIT_RECORD_H
#define BROKER_AUDIT_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/crypto.h"
#include "base/err.h"
#include "base/json.h"
#include "writ/limits.h"

#define RECORD_DEPTH_MAX 8 /* deeper than any record of ours; bounds the checker's stack */
#define RECORD_FORMAT 1	   /* the value of "v" */

/*
 * Appends the entry (no LF) to out. fields is an object with everything but the five members
 * written here; members that are null or false are left out. digests: an array of commitments,
 * sorted here; NULL or empty writes no "cm". The line is checked before it counts: on failure out
 * is as before.
 */
MUST_CHECK int record_format(uint64_t seq, const uint8_t prev[SHA256_LEN], const char *time,
			     const struct json *fields, const struct json *digests, struct buf *out,
			     struct err *err);

struct record_head {
	uint64_t seq;
	uint8_t prev[SHA256_LEN];
	const char
		*event; /* the value of "ev" in the entry's bytes; NULL: none, or not looked for */
	size_t event_len;
};

/* Its first bytes alone: length, _prev, _seq, and something behind. */
MUST_CHECK int record_check_head(const char *entry, size_t len, struct record_head *ret_head,
				 struct err *err);
/* Is this entry exactly in the form of the format? Errors name the byte, counted from 1. */
MUST_CHECK int record_check(const char *entry, size_t len, struct record_head *ret_head,
			    struct err *err);

#endif
