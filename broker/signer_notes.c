/*
 * How the audit log reaches the signer: heads, the tail, key epochs. A head of many leaves is sent
 * as several head.sign, in order, and its note is the last. An error of one part is the error of
 * the whole.
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

static struct json *leaves_params(const uint8_t (*leaves)[SHA256_LEN], size_t count, bool publish)
{
	struct json *params = json_object();
	struct json *list = json_array();
	char hex[SHA256_HEX_LEN + 1];

	for (size_t i = 0; i < count; i++) {
		hex_write(leaves[i], SHA256_LEN, hex);
		json_push_str(list, hex);
	}
	json_set(params, "leaves", list);
	if (publish)
		json_set_bool(params, "publish", true);
	return params;
}

static void sign_head(void *self, const uint8_t (*leaves)[SHA256_LEN], size_t count, bool publish,
		      void (*done)(void *data, const char *note, const struct err *err), void *data)
{
	struct note_job *job = mem_alloc(sizeof(*job));

	job->done = done;
	job->data = data;
	job->parts = count == 0 ? 1 : (count + SIGN_LEAVES_MAX - 1) / SIGN_LEAVES_MAX;
	for (size_t at = 0, parts = job->parts; parts > 0; parts--, at += SIGN_LEAVES_MAX) {
		size_t part = count - at < SIGN_LEAVES_MAX ? count - at : SIGN_LEAVES_MAX;

		signer_client_call(self, "head.sign",
				   leaves_params(leaves + at, part, publish && parts == 1), on_note,
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

static int read_half(const struct json *json, char **vkey, char **sealed, struct err *err)
{
	const char *key;
	const char *seed;

	if (json_want_str(json, "vkey", &key, err) < 0 ||
	    json_want_str(json, "sealed", &seed, err) < 0)
		return -1;
	*vkey = mem_str(key);
	*sealed = mem_str(seed);
	return 0;
}

int signer_read_epoch(const struct json *json, struct audit_epoch *ret_epoch, struct err *err)
{
	struct audit_epoch epoch = {0};
	const struct json *next;
	int64_t number;

	if (json_want_int(json, "number", 0, JSON_INT_MAX, &number, err) < 0 ||
	    json_want_object(json, "next", &next, err) < 0 ||
	    read_half(json, &epoch.vkey, &epoch.sealed, err) < 0 ||
	    read_half(next, &epoch.next_vkey, &epoch.next_sealed, err) < 0) {
		audit_epoch_clear(&epoch);
		return err_wrap(err, "epoch");
	}
	epoch.number = (uint64_t)number;
	audit_epoch_clear(ret_epoch);
	*ret_epoch = epoch;
	return 0;
}

struct roll_job {
	void (*done)(void *data, const struct audit_epoch *epoch, const struct err *err);
	void *data;
};

static void on_rolled(void *data, const struct json *result, const struct err *err)
{
	struct roll_job *job = data;
	struct audit_epoch epoch = {0};
	struct err why;

	if (err == NULL && signer_read_epoch(result, &epoch, &why) < 0)
		err = &why;
	job->done(job->data, err == NULL ? &epoch : NULL, err);
	audit_epoch_clear(&epoch);
	mem_free(job);
}

static void roll_epoch(void *self, uint64_t number,
		       void (*done)(void *data, const struct audit_epoch *epoch,
				    const struct err *err),
		       void *data)
{
	struct roll_job *job = mem_alloc(sizeof(*job));
	struct json *params = json_object();

	*job = (struct roll_job){done, data};
	json_set_int(params, "number", (int64_t)number);
	signer_client_call(self, "epoch.roll", params, on_rolled, job);
}

struct audit_signer signer_client_for_audit(struct signer_client *client)
{
	return (struct audit_signer){client, sign_head, sign_tail, roll_epoch};
}
