/*
 * The key epochs of the log (docs/audit-format.md, "Key epochs"): each segment's own key, whose
 * seed is the hash of the one before, and is gone once its segment is sealed.
 *
 * The signer has no file to keep a seed in. It hands out each seed sealed, that is, encrypted with
 * a key made from its log key, and the broker keeps that in state/audit/epoch: who has one of the
 * two files knows nothing, and who takes both later finds the present seed and none before it.
 *
 *   writ.epoch/v1 LF  number LF  base64(sealed seed) LF
 */
#ifndef BROKER_SIGNER_EPOCH_H
#define BROKER_SIGNER_EPOCH_H

#include "base/buf.h"
#include "base/sign.h"
#include "broker/audit/note.h"

#define EPOCH_FILE_MAX 512

struct epoch {
	uint64_t number;
	struct sign_key *key;  /* owned; of this epoch */
	struct sign_key *next; /* owned; of the next */
	struct vkey vkey;
	struct vkey next_vkey;
	uint8_t box_key[SEAL_KEY_LEN];
	char origin[NOTE_NAME_MAX + 1];
};

/*
 * Makes the keys, with all the memory they will need. sealed: the file, or NULL to begin with a
 * random seed at number. older_log: NULL, or the log key before a rotation, under which the file
 * may still be sealed. ERR_INVALID: the file is not one of ours.
 */
MUST_CHECK int epoch_init(struct epoch *epoch, const char *origin, const struct sign_key *log,
			  const struct sign_key *older_log, const char *sealed, size_t sealed_len,
			  uint64_t number, struct err *err);
void epoch_clear(struct epoch *epoch);

/* Appends the file of this epoch, or of the next. */
void epoch_seal(const struct epoch *epoch, bool next, struct buf *out);
/* This epoch's seed is overwritten; the next begins. No system call, no allocation. */
MUST_CHECK int epoch_roll(struct epoch *epoch, struct err *err);

#endif
