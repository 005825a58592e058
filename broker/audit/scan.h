/*
 * A strict reading of a stretch of the log, from a record whose predecessor is known: form, number
 * and chain of each line. The writer's start uses it; auditors have verify.h, which says more. Pure
 * and streaming.
 */
#ifndef BROKER_AUDIT_SCAN_H
#define BROKER_AUDIT_SCAN_H

#include <stdbool.h>

#include "base/buf.h"
#include "broker/audit/record.h"

struct scan {
	uint64_t next;		  /* the number of the record that comes next */
	uint8_t last[SHA256_LEN]; /* leaf hash of the one before it; zeros before the first */
	/* Runs for each good record; before it, last and next are those of the record before. */
	void (*on_record)(void *data, uint64_t seq, const uint8_t leaf[SHA256_LEN],
			  const char *entry, size_t len);
	void *data;

	struct buf line; /* behind the last line feed; private */
	uint64_t torn;	 /* how many bytes that is */
};

/* -1 at the first line that is not what it should be; nothing behind it was looked at. */
MUST_CHECK int scan_feed(struct scan *scan, const char *bytes, size_t len, struct err *err);
void scan_clear(struct scan *scan);

#endif
