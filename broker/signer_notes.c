/*
 * How the audit log reaches the signer: heads and the tail. A head of many leaves is sent as
 * several head.sign, in order, and its note is the last. An error of one part is the error of the
 * whole.
 */
#include "broker/signer_client.h"

#include "base/crypto.h"

struct note_job {
	void (*done)(void *data, const char *note, const struct err *err);
	void *data;
	size_t parts; /* still out */
	char *note;   /* of the last part */
	struct err err;
};

static void on_note(void *data, const struct json *result, const struct err *err)
{
	struct note_job *job = data;
	const char *note = json_get_str(result, "note");

	if (err != NULL && job->err.kind == ERR_NONE)
		job->err = *err;
	else if (err == NULL && note == NULL && job->err.kind == ERR_NONE)
		err_set(&job->err, ERR_INTERNAL, "the signer answered without a note");
	mem_free(job->note);
	job->note = mem_str(note);
	if (--job->parts > 0)
		return;
	if (job->err.kind != ERR_NONE)
		job->done(job->data, NULL, &job->err);
	else
		job->done(job->data, job->note, NULL);
	mem_free(job->note);
	mem_free(job);
}

static struct json *leaves_params(const uint8_t (*leaves)[SHA256_LEN], size_t count)
{
	struct json *params = json_object();
	struct json *list = json_array();
	char hex[SHA256_HEX_LEN + 1];

	for (size_t i = 0; i < count; i++) {
		hex_write(leaves[i], SHA256_LEN, hex);
		json_push_str(list, hex);
	}
	json_set(params, "leaves", list);
	return params;
}

static void sign_head(void *self, const uint8_t (*leaves)[SHA256_LEN], size_t count,
		      void (*done)(void *data, const char *note, const struct err *err), void *data)
{
	struct note_job *job = mem_alloc(sizeof(*job));

	job->done = done;
	job->data = data;
	job->parts = (count + SIGN_LEAVES_MAX - 1) / SIGN_LEAVES_MAX;
	for (size_t at = 0; at < count; at += SIGN_LEAVES_MAX) {
		size_t part = count - at < SIGN_LEAVES_MAX ? count - at : SIGN_LEAVES_MAX;

		signer_client_call(self, "head.sign", leaves_params(leaves + at, part), on_note,
				   job);
	}
}

static void sign_tail(void *self, const struct json *tail,
		      void (*done)(void *data, const char *note, const struct err *err), void *data)
{
	struct note_job *job = mem_alloc(sizeof(*job));

	job->done = done;
	job->data = data;
	job->parts = 1;
	signer_client_call(self, "tail.sign", json_copy(tail), on_note, job);
}

struct audit_signer signer_client_for_audit(struct signer_client *client)
{
	return (struct audit_signer){client, sign_head, sign_tail};
}
