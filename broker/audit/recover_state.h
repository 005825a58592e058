/* What the files of the start share: recover.c leads, recover_base.c finds where to read from,
 * recover_tail.c takes the short way. */
#ifndef BROKER_AUDIT_RECOVER_STATE_H
#define BROKER_AUDIT_RECOVER_STATE_H

#include "broker/audit/recover.h"

#define WHAT_TO_DO                                                                                 \
	"; nothing was changed. Keep the folder as evidence, look at it with `writ audit "         \
	"verify`, "                                                                                \
	"and put back a good copy or move the folder away to begin a new log"

struct recovery {
	int dir_fd;
	int seg_fd;
	const struct vkey *key;
	uint64_t *firsts; /* of the segments that are there, ascending; owned */
	size_t count;
	bool is_legacy; /* the one segment is log.jsonl, still in its old place */
	struct checkpoint head;
	struct recovered *out;
};

/* The text of a note that the key signed. bytes must outlive it. */
MUST_CHECK int recovery_open_note(const struct buf *bytes, const struct vkey *key,
				  const char **ret_text, size_t *ret_len, struct err *err);
/* The seal of a segment. ERR_NOT_FOUND when there is none. */
MUST_CHECK int recovery_read_seal(const struct recovery *recovery, uint64_t first,
				  struct checkpoint *ret_seal, struct buf *ret_note,
				  struct err *err);
MUST_CHECK int recovery_list(struct recovery *recovery, struct err *err);
/* The index of the segment to read from, and the tiles in front of it. */
MUST_CHECK int recovery_find_base(const struct recovery *recovery, size_t *ret_index,
				  struct tiles *ret_tiles, uint8_t ret_last[SHA256_LEN],
				  struct err *err);
MUST_CHECK int recovery_open_segment(const struct recovery *recovery, size_t index,
				     struct log_file *ret_file, struct err *err);
/* Taken: everything of out is set. Not: the log has to be read. */
bool recovery_use_tail(struct recovery *recovery);

#endif
