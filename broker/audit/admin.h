/*
 * Work with the files of a log other than appending: what auditors ask the broker for. Each is an
 * audit_work for audit_run(), with its own struct as data; all of them block.
 */
#ifndef BROKER_AUDIT_ADMIN_H
#define BROKER_AUDIT_ADMIN_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"

struct audit_files;

/* Where a reader stands, so that going on need not search; all zero is fine. */
struct audit_cursor {
	uint64_t next;	/* the record that begins at offset */
	uint64_t first; /* of its segment */
	uint64_t offset;
};

struct audit_lines_work {
	uint64_t from;
	size_t bytes_max; /* of lines with their LF; the first line comes whatever its length */
	struct audit_cursor cursor; /* in and out */
	struct json *lines;	    /* owned by the caller: an array, appended to */
	uint64_t next;
};
/* ERR_NOT_FOUND: that record was dropped, or is not there yet (from == size gives no lines). */
int audit_lines_work(const struct audit_files *files, void *data, struct err *err);

struct audit_openings_work {
	uint64_t seq;
	struct json *disclosures; /* as above */
};
int audit_openings_work(const struct audit_files *files, void *data, struct err *err);

struct audit_erase_work {
	uint64_t seq;
	char name[64];
	int64_t erased; /* 0 or 1 */
};
int audit_erase_work(const struct audit_files *files, void *data, struct err *err);

struct audit_hold_work {
	char name[64];
	char reason[256];
	uint64_t first, past;
	bool lift;
};
int audit_hold_work(const struct audit_files *files, void *data, struct err *err);

struct audit_anchor_work {
	struct json *line; /* owned by the caller */
};
int audit_anchor_work(const struct audit_files *files, void *data, struct err *err);

/* ---- retention (drop.c) ---- */

struct audit_drop {
	bool found;
	uint64_t first, next;
	int64_t bytes;
	char sha256[65];
};
struct audit_find_work {
	int64_t before_us;	/* closed before this time */
	struct audit_drop drop; /* out: the oldest segment, if it is to go */
};
/*
 * Finds the oldest segment, if it is sealed, old enough and not held, and proves that it can be
 * done without: its lines give its tiles, its tiles the root of its seal, and they are synced.
 */
int audit_find_work(const struct audit_files *files, void *data, struct err *err);
/* Keeps the last line, removes the file, writes SHA256SUMS anew. data: struct audit_drop. */
int audit_drop_work(const struct audit_files *files, void *data, struct err *err);

#endif
