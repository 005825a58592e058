/*
 * What passes between a log and a witness (C2SP tlog-witness v1.0.0), and the witness's judgement
 * of it. Pure: whoever stores the latest checkpoint must judge and store in one step, and store
 * before answering.
 *
 *   body: "old " size LF, at most 63 hashes in base64 each with LF, LF, checkpoint
 */
#ifndef BROKER_AUDIT_WITNESS_H
#define BROKER_AUDIT_WITNESS_H

#include "broker/audit/note.h"
#include "broker/audit/proof.h"

#define WITNESS_PROOF_MAX 63
#define WITNESS_BODY_MAX (NOTE_BYTES_MAX + 8192)

struct witness_request {
	uint64_t old_size;
	struct proof proof;
	const char *note; /* in the body */
	size_t note_len;
};

void witness_request_write(uint64_t old_size, const struct proof *proof, const char *note,
			   size_t note_len, struct buf *out);
MUST_CHECK int witness_request_parse(const char *body, size_t len,
				     struct witness_request *ret_request, struct err *err);

enum witness_status {
	WITNESS_OK = 200,	   /* cosign it, after storing it */
	WITNESS_BAD_REQUEST = 400, /* another form, or an old size above the checkpoint's */
	WITNESS_FORBIDDEN = 403,   /* not signed by a key trusted for this log */
	WITNESS_UNKNOWN_LOG = 404,
	WITNESS_CONFLICT = 409, /* the old size is not that of the latest checkpoint */
	WITNESS_UNPROVEN = 422, /* the proof fails, or one size with two roots: a fork */
};

/*
 * keys: those trusted, for any log; the key of a log is named after it. latest: the last cosigned
 * checkpoint of this origin, NULL when none. err says why when it is not WITNESS_OK; ret_checkpoint
 * is set unless the status is 400, 403 or 404.
 */
enum witness_status witness_judge(const struct witness_request *request, const struct vkey *keys,
				  size_t key_count, const struct checkpoint *latest,
				  struct checkpoint *ret_checkpoint, struct err *err);
/* The origin a request names, before anything else is known of it; "" when it has none. */
void witness_origin(const struct witness_request *request, char out[NOTE_NAME_MAX + 1]);

#endif
