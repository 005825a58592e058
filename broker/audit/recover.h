/*
 * What a start finds in state/audit, and what it makes of it. Blocking, before the loop runs.
 *
 * A clean stop left a signed tail state, which is believed if file, checkpoint and last record fit
 * it. Otherwise the whole log is verified against its checkpoint. A log that contradicts its head
 * is refused, and nothing is changed; a torn last line, which nobody was ever answered for, is
 * copied aside and cut.
 */
#ifndef BROKER_AUDIT_RECOVER_H
#define BROKER_AUDIT_RECOVER_H

#include "broker/audit/log_file.h"
#include "broker/audit/note.h"
#include "broker/audit/tree.h"

#define CHECKPOINT_NAME "checkpoint"
#define TAIL_NAME "tail"

struct recovered {
	struct log_file file; /* owned */
	bool from_tail;
	uint64_t size;		       /* whole records */
	uint8_t last_leaf[SHA256_LEN]; /* zeros when there is none */
	struct tree signed_tree;       /* at the size of the checkpoint */
	uint8_t (*leaves)[SHA256_LEN]; /* of the records behind it; owned */
	size_t leaf_count;
	char *checkpoint;    /* the note; NULL when there is none; owned */
	uint64_t torn_bytes; /* cut away */
	char torn_name[64];  /* the file they were copied to */
	char torn_sha256[SHA256_HEX_LEN + 1];
};

MUST_CHECK int recover(int dir_fd, const struct vkey *key, struct recovered *ret_recovered,
		       struct err *err);
void recovered_clear(struct recovered *recovered);

#endif
