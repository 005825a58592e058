/*
 * The signer: the only program that holds signing keys. Read this first.
 *
 * It makes its two keys itself (keys.h), one for tokens, one for the log, and signs nothing that it
 * was merely given: a token is rebuilt from typed fields, a head is the root of its own tree, which
 * it extends by leaf hashes, so that every head it signs contains the one before. Heads that are
 * published also carry the line of the segment's own key (epoch.h). What it refuses is an error to
 * the caller and changes nothing.
 *
 * signer_handle() is one request of docs/protocol.md, "signer": no I/O, so tests call it directly.
 */
#ifndef BROKER_SIGNER_SIGNER_H
#define BROKER_SIGNER_SIGNER_H

#include "base/json.h"
#include "broker/audit/note.h"
#include "broker/audit/tree.h"
#include "broker/signer/epoch.h"
#include "broker/signer/keys.h"
#include "broker/token/token.h"

#define SIGNER_LEAVES_MAX 4096
/* A head.sign of that many leaves: 67 bytes each, and its envelope. */
#define SIGNER_LINE_MAX (SIGNER_LEAVES_MAX * 67u + 4096u)

struct signer {
	struct signer_keys keys; /* owned */
	struct vkey log_vkey;
	struct epoch epoch;
	bool last_has_epoch; /* the head found at the start carries the line of an epoch */
	struct token_key token_key;
	struct token_place place;
	struct checkpoint last; /* the last head signed; of size 0 before the first */
	bool resumed;
	struct tree tree; /* valid once resumed */
	bool has_leaf;
	uint8_t last_leaf[SHA256_LEN]; /* the newest leaf, once one was signed in this life */
};

/* Takes the keys. note: the published checkpoint; NULL when there is none. Fails when it is not a
 * head of this log signed by this key. */
MUST_CHECK int signer_init(struct signer *signer, struct signer_keys *keys, const char *note,
			   size_t note_len, struct err *err);
/*
 * What state/audit/epoch holds; NULL when there is none, which is right only before the first head
 * of an epoch. Without a call the signer is in a new epoch: 0, or 1 behind a head of before epochs.
 */
MUST_CHECK int signer_take_epoch(struct signer *signer, const char *sealed, size_t len,
				 struct err *err);
void signer_clear(struct signer *signer);

MUST_CHECK int signer_handle(struct signer *signer, const char *method, const struct json *params,
			     struct json **ret_result, struct err *err);

/* The methods, one function each: heads.c and tokens.c. */
MUST_CHECK int signer_head_resume(struct signer *signer, const struct json *params,
				  struct json **ret_result, struct err *err);
MUST_CHECK int signer_head_sign(struct signer *signer, const struct json *params,
				struct json **ret_result, struct err *err);
MUST_CHECK int signer_epoch_roll(struct signer *signer, const struct json *params,
				 struct json **ret_result, struct err *err);
MUST_CHECK int signer_tail_sign(struct signer *signer, const struct json *params,
				struct json **ret_result, struct err *err);
MUST_CHECK int signer_token_sign(struct signer *signer, const struct json *params,
				 struct json **ret_result, struct err *err);

#endif
