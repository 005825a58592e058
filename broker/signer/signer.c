/* The signer's start and its table of methods. What can fail: a checkpoint that its own key did not
 * sign; a method or params that are not of the protocol. */
#include "broker/signer/signer.h"

#include <string.h>

#include "broker/audit/layout.h"

static bool has_epoch_line(const struct note *note, const char *origin)
{
	size_t len = strlen(origin);

	for (size_t i = 0; i < note->line_count; i++) {
		const struct note_line *line = &note->lines[i];

		if (line->name_len > len + 2 && memcmp(line->name, origin, len) == 0 &&
		    memcmp(line->name + len, "/e", 2) == 0)
			return true;
	}
	return false;
}

static int read_last(struct signer *signer, const char *bytes, size_t len, struct err *err)
{
	CLEANUP(mem_freep) struct note *note = mem_alloc(sizeof(*note));

	if (note_parse(bytes, len, note, err) < 0 ||
	    note_verify(note, &signer->log_vkey, 1, err) < 0 ||
	    checkpoint_parse(note->text, note->text_len, &signer->last, err) < 0)
		return -1;
	if (strcmp(signer->last.origin, signer->keys.origin) != 0)
		return err_set(err, ERR_INVALID, "it is a head of %s", signer->last.origin);
	signer->last_has_epoch = has_epoch_line(note, signer->keys.origin);
	return 0;
}

int signer_init(struct signer *signer, struct signer_keys *keys, const char *note, size_t note_len,
		struct err *err)
{
	uint8_t public_key[ED25519_PUBLIC_LEN];

	memset(signer, 0, sizeof(*signer));
	signer->keys = *keys;
	memset(keys, 0, sizeof(*keys));
	sign_key_public(signer->keys.log, public_key);
	if (vkey_init(&signer->log_vkey, signer->keys.origin, public_key, err) < 0)
		return err_wrap(err, "origin");
	sign_key_public(signer->keys.token, public_key);
	token_key_init(&signer->token_key, public_key);
	token_place_init(&signer->place, signer->keys.origin);
	tree_init(&signer->tree);
	tree_root(&signer->tree, signer->last.root);
	if (note != NULL && read_last(signer, note, note_len, err) < 0)
		return err_wrap(err, "checkpoint: not a head that this signer made");
	return epoch_init(&signer->epoch, signer->keys.origin, signer->keys.log, NULL, NULL, 0,
			  note == NULL ? 0 : 1, err);
}

int signer_take_epoch(struct signer *signer, const char *sealed, size_t len, struct err *err)
{
	uint64_t number = signer->epoch.number;

	if (sealed == NULL && signer->last_has_epoch)
		return err_set(err, ERR_INVALID,
			       AUDIT_EPOCH
			       " is missing, and no segment can be sealed without it; "
			       "put it back from a copy of the folder (an older one will "
			       "do)");
	if (sealed == NULL)
		return 0;
	epoch_clear(&signer->epoch);
	return epoch_init(&signer->epoch, signer->keys.origin, signer->keys.log, NULL, sealed, len,
			  number, err);
}

void signer_clear(struct signer *signer)
{
	signer_keys_clear(&signer->keys);
	epoch_clear(&signer->epoch);
}

static struct json *one_epoch_json(const struct epoch *epoch, bool next)
{
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	struct json *out = json_object();

	vkey_write(next ? &epoch->next_vkey : &epoch->vkey, &text);
	json_set_str(out, "vkey", buf_str(&text));
	buf_reset(&text);
	epoch_seal(epoch, next, &text);
	json_set_str(out, "sealed", buf_str(&text));
	return out;
}

static struct json *epoch_json(const struct epoch *epoch)
{
	struct json *out = one_epoch_json(epoch, false);

	json_set_int(out, "number", (int64_t)epoch->number);
	json_set(out, "next", one_epoch_json(epoch, true));
	return out;
}

int signer_epoch_roll(struct signer *signer, const struct json *params, struct json **ret_result,
		      struct err *err)
{
	static const char *const keys[] = {"number", NULL};
	int64_t number = 0;

	if (json_only(params, keys, err) < 0 ||
	    json_want_int(params, "number", 1, JSON_INT_MAX, &number, err) < 0)
		return -1;
	if ((uint64_t)number != signer->epoch.number + 1)
		return err_set(err, ERR_DENIED,
			       "epoch %llu is in force; the next is %llu, not %lld",
			       (unsigned long long)signer->epoch.number,
			       (unsigned long long)signer->epoch.number + 1, (long long)number);
	if (epoch_roll(&signer->epoch, err) < 0)
		return -1;
	*ret_result = epoch_json(&signer->epoch);
	return 0;
}

static int signer_keys_tell(struct signer *signer, const struct json *params,
			    struct json **ret_result, struct err *err)
{
	static const char *const none[] = {NULL};
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	struct json *token;
	struct json *log;

	if (json_only(params, none, err) < 0)
		return -1;
	token = json_object();
	json_set_str(token, "kid", signer->token_key.kid);
	base64url_write(signer->token_key.public_key, ED25519_PUBLIC_LEN, &text);
	json_set_str(token, "x", buf_str(&text));
	log = json_object();
	json_set_str(log, "origin", signer->keys.origin);
	buf_reset(&text);
	vkey_write(&signer->log_vkey, &text);
	json_set_str(log, "vkey", buf_str(&text));
	*ret_result = json_object();
	json_set(*ret_result, "token", token);
	json_set(*ret_result, "log", log);
	json_set_int(*ret_result, "last", (int64_t)signer->last.size);
	json_set(*ret_result, "epoch", epoch_json(&signer->epoch));
	return 0;
}

static const struct {
	const char *name;
	int (*handle)(struct signer *signer, const struct json *params, struct json **ret_result,
		      struct err *err);
} methods[] = {
	{"keys", signer_keys_tell},	     {"token.sign", signer_token_sign},
	{"head.resume", signer_head_resume}, {"head.sign", signer_head_sign},
	{"tail.sign", signer_tail_sign},     {"epoch.roll", signer_epoch_roll},
};

int signer_handle(struct signer *signer, const char *method, const struct json *params,
		  struct json **ret_result, struct err *err)
{
	if (json_type(params) != JSON_OBJECT)
		return err_set(err, ERR_INVALID, "params must be an object");
	for (size_t i = 0; i < ARRAY_LEN(methods); i++)
		if (strcmp(method, methods[i].name) == 0)
			return methods[i].handle(signer, params, ret_result, err) < 0
				       ? err_wrap(err, "%s", methods[i].name)
				       : 0;
	return err_set(err, ERR_NOT_FOUND, "no method %.40s", method);
}
