/* Writing, reading and judging add-checkpoint requests. What can fail: everything a peer sends. */
#include "broker/audit/witness.h"

#include <string.h>

#include "broker/audit/lines.h"
#include "broker/audit/proof_check.h"

void witness_request_write(uint64_t old_size, const struct proof *proof, const char *note,
			   size_t note_len, struct buf *out)
{
	buf_addf(out, "old %llu\n", (unsigned long long)old_size);
	for (size_t i = 0; i < proof->count; i++) {
		base64_write(proof->hashes[i], SHA256_LEN, out);
		buf_add_char(out, '\n');
	}
	buf_add_char(out, '\n');
	buf_add(out, note, note_len);
}

int witness_request_parse(const char *body, size_t len, struct witness_request *ret_request,
			  struct err *err)
{
	struct witness_request request = {.old_size = 0};
	struct lines lines = {body, len};

	if (len > WITNESS_BODY_MAX)
		return err_set(err, ERR_LIMIT, "the body is over %u bytes", WITNESS_BODY_MAX);
	if (len < 4 || memcmp(body, "old ", 4) != 0)
		return err_set(err, ERR_INVALID, "the body does not begin with \"old \"");
	lines.at += 4;
	lines.left -= 4;
	if (lines_number(&lines, &request.old_size) < 0)
		return err_set(err, ERR_INVALID, "the old size is no number");
	while (lines.left > 0 && lines.at[0] != '\n') {
		if (request.proof.count == WITNESS_PROOF_MAX)
			return err_set(err, ERR_LIMIT, "more than %d hashes", WITNESS_PROOF_MAX);
		if (lines_hash(&lines, request.proof.hashes[request.proof.count++]) < 0)
			return err_set(err, ERR_INVALID, "hash %zu is none of 32 bytes",
				       request.proof.count);
	}
	if (lines.left < 2)
		return err_set(err, ERR_INVALID, "there is no checkpoint");
	request.note = lines.at + 1;
	request.note_len = lines.left - 1;
	*ret_request = request;
	return 0;
}

void witness_origin(const struct witness_request *request, char out[NOTE_NAME_MAX + 1])
{
	const char *feed = memchr(request->note, '\n', request->note_len);
	size_t len = feed == NULL ? 0 : (size_t)(feed - request->note);

	if (len > NOTE_NAME_MAX)
		len = 0;
	memcpy(out, request->note, len);
	out[len] = '\0';
}

/* Of the text alone: signature lines out of form are signatures that do not verify. */
static size_t text_len(const struct witness_request *request)
{
	const char *gap = memmem(request->note, request->note_len, "\n\n", 2);

	return gap == NULL ? request->note_len : (size_t)(gap - request->note) + 1;
}

static enum witness_status fail(struct err *err, enum witness_status status, const char *why)
{
	err_fill(err, ERR_INVALID, "%s", why);
	return status;
}

static bool knows(const struct vkey *keys, size_t count, const char *origin)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(keys[i].name, origin) == 0)
			return true;
	return false;
}

/* Only the keys of the log itself count: another log's key must not vouch for it. */
static bool is_signed(struct note *note, const struct vkey *keys, size_t count, const char *origin,
		      struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		struct err why;

		if (strcmp(keys[i].name, origin) != 0)
			continue;
		if (note_verify(note, &keys[i], 1, &why) == 0)
			return true;
		if (why.kind == ERR_INVALID) {
			*err = why;
			return false;
		}
	}
	err_fill(err, ERR_INVALID, "no signature of a key trusted for %s", origin);
	return false;
}

static enum witness_status judge_proof(const struct witness_request *request,
				       const struct checkpoint *latest,
				       const struct checkpoint *checkpoint, struct err *err)
{
	if (request->old_size == 0) {
		if (request->proof.count > 0)
			return fail(err, WITNESS_UNPROVEN, "a proof from size 0 must be empty");
		return WITNESS_OK;
	}
	return proof_joins(&request->proof, latest->size, latest->root, checkpoint->size,
			   checkpoint->root, err) < 0
		       ? WITNESS_UNPROVEN
		       : WITNESS_OK;
}

enum witness_status witness_judge(const struct witness_request *request, const struct vkey *keys,
				  size_t key_count, const struct checkpoint *latest,
				  struct checkpoint *ret_checkpoint, struct err *err)
{
	CLEANUP(mem_freep) struct note *note = mem_alloc(sizeof(*note));
	struct checkpoint checkpoint;

	if (checkpoint_parse(request->note, text_len(request), &checkpoint, err) < 0)
		return WITNESS_BAD_REQUEST;
	if (!knows(keys, key_count, checkpoint.origin))
		return fail(err, WITNESS_UNKNOWN_LOG, "this log is not known here");
	if (note_parse(request->note, request->note_len, note, err) < 0 ||
	    !is_signed(note, keys, key_count, checkpoint.origin, err))
		return WITNESS_FORBIDDEN;
	if (request->old_size > checkpoint.size)
		return fail(err, WITNESS_BAD_REQUEST, "the old size is above the checkpoint's");
	*ret_checkpoint = checkpoint;
	if (request->old_size != (latest == NULL ? 0 : latest->size))
		return fail(err, WITNESS_CONFLICT, "the latest checkpoint has another size");
	return judge_proof(request, latest, &checkpoint, err);
}
