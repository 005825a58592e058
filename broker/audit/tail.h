/*
 * The tail state: what the log looked like at its last clean stop, signed, so that the next start
 * need not read it all again. Pure.
 *
 *   writ.tail/v2 LF origin LF size LF first record of the open segment LF bytes of its file LF
 *   base64(leaf hash of the last record) LF base64(SHA-256 over its whole blocks so far) LF
 *   then one base64 line per peak, largest first
 *
 * Its first line is no origin of any log, so a tail can never pass as a checkpoint or the other way
 * round, though one key signs both.
 */
#ifndef BROKER_AUDIT_TAIL_H
#define BROKER_AUDIT_TAIL_H

#include "broker/audit/note.h"
#include "broker/audit/tree.h"

struct tail {
	char origin[NOTE_NAME_MAX + 1];
	uint64_t segment;	   /* the open one: its first record */
	uint64_t bytes;		   /* of its file */
	uint8_t state[SHA256_LEN]; /* sha256_save() over it */
	uint8_t last[SHA256_LEN];  /* zeros when the log is empty */
	struct tree tree;
};

void tail_write(const struct tail *tail, struct buf *out);
MUST_CHECK int tail_parse(const char *text, size_t len, struct tail *ret_tail, struct err *err);

#endif
