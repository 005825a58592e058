/*
 * Following the log for a sink: every published record from a cursor on, in order, each checked
 * before it is handed out: form, number, chain, and once the published head is reached its root.
 * Blocking; reads only.
 */
#ifndef BROKER_SINK_FOLLOW_H
#define BROKER_SINK_FOLLOW_H

#include "broker/audit/note.h"
#include "broker/audit/scan.h"

struct follow; /* opaque */

struct followed { /* one record */
	uint64_t seq;
	uint8_t leaf[SHA256_LEN];
	const char *line; /* without its LF */
	size_t len;
};

/* dir_fd: state/audit, borrowed. key: heads must carry its line. next: the cursor. */
struct follow *follow_new(int dir_fd, const struct vkey *key, uint64_t next);
void follow_free(struct follow *follow);

/*
 * Hands out what is published and was not yet, at most max records: take returns 0, or -1 (with
 * err), which ends the round before that record counts. Returns how many were taken, -1 on failure:
 * ERR_INVALID when the log does not fit itself or its head, what take said otherwise.
 */
MUST_CHECK int follow_round(struct follow *follow, int max,
			    int (*take)(void *data, const struct followed *record, struct err *err),
			    void *data, struct err *err);
uint64_t follow_next(const struct follow *follow);	/* the cursor */
uint64_t follow_published(const struct follow *follow); /* as last read */

#endif
