/*
 * The lines of a log in their order, unverified, and single lines by their place. Blocking.
 */
#ifndef BROKER_AUDIT_LOG_WALK_H
#define BROKER_AUDIT_LOG_WALK_H

#include "broker/audit/log_dir.h"

struct log_line {
	const char *entry; /* valid during the call */
	size_t len;
	size_t part;	 /* of the folder's list */
	uint64_t offset; /* in its file */
};

/* on_line: 0 to go on, 1 to stop, -1 with err set. Lines over the largest record are left out. */
typedef int log_on_line(void *data, const struct log_line *line, struct err *err);

/* One file from offset to its last line feed; *ret_end is where it stopped. */
MUST_CHECK int log_walk_part(const struct log_dir *dir, size_t part, uint64_t offset,
			     log_on_line *on_line, void *data, uint64_t *ret_end, struct err *err);
/* All files. 1 when on_line stopped it. */
MUST_CHECK int log_walk(const struct log_dir *dir, log_on_line *on_line, void *data,
			struct err *err);
/* The line that begins at an offset, without its line feed. ERR_INVALID when none ends there. */
MUST_CHECK int log_line_at(int fd, uint64_t offset, struct buf *out, struct err *err);

#endif
