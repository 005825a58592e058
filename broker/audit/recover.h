/*
 * What a start finds in state/audit, and what it makes of it. Blocking, before the loop runs.
 *
 *   the signed tail of a clean stop fits        -> believed, nothing else is read
 *   else the newest seal whose tiles give its root, at or below the head
 *                                               -> every line behind it is read and checked
 *
 * A log that contradicts its head is refused, and nothing is changed; a torn last line, which
 * nobody was ever answered for, is copied aside and cut. After an unclean stop the open segment is
 * written anew, since the page cache may show what the disk never got.
 */
#ifndef BROKER_AUDIT_RECOVER_H
#define BROKER_AUDIT_RECOVER_H

#include "broker/audit/log_file.h"
#include "broker/audit/note.h"
#include "broker/audit/tiles.h"

/* One segment, as its file is known. */
struct segment {
	uint64_t first;
	uint64_t next;	    /* the number behind its last record, once it is closed */
	uint64_t number;    /* of its key epoch */
	bool has_key;	    /* false for the first segment of a log of layout 1 */
	struct sha256 hash; /* over its lines so far */
	uint64_t bytes;
	int64_t opened_us; /* time stamp of its first record */
};

struct recovered {
	struct log_file file; /* of the last segment with a record; owned */
	struct segment segment;
	bool closed;		/* it ends in segment.close */
	bool unsealed;		/* a closed segment has no seal: */
	struct segment sealing; /* this one */
	bool from_tail;
	uint64_t size;		       /* whole records */
	uint8_t last_leaf[SHA256_LEN]; /* zeros when there is none */
	int64_t last_us;	       /* time stamp of the last record; 0 when not read */
	struct tiles *tiles;	       /* at the size of the checkpoint; owned */
	uint8_t (*leaves)[SHA256_LEN]; /* of the records behind it; owned */
	size_t leaf_count;
	char *checkpoint;    /* the note; NULL when there is none; owned */
	uint64_t torn_bytes; /* cut away */
	char torn_name[64];  /* the file they were copied to */
	char torn_sha256[SHA256_HEX_LEN + 1];
};

/* seg_fd: the folder of the segments, which may be empty. */
MUST_CHECK int recover(int dir_fd, int seg_fd, const struct vkey *key,
		       struct recovered *ret_recovered, struct err *err);
void recovered_clear(struct recovered *recovered);

#endif
