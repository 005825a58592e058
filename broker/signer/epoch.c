/* Seeds, their names and their sealed form. What can fail: a file that this signer did not seal; an
 * origin too long for the name of an epoch. */
#include "broker/signer/epoch.h"

#include <string.h>

#include "broker/audit/layout.h"
#include "broker/audit/lines.h"

#define FIRST_LINE "writ.epoch/v1"
#define SEALED_LEN (ED25519_SEED_LEN + SEAL_EXTRA_LEN)

static void hash_labelled(const char *label, const void *bytes, size_t len, uint8_t out[SHA256_LEN])
{
	struct sha256 state;

	sha256_init(&state);
	sha256_add(&state, label, strlen(label));
	sha256_add(&state, "\n", 1);
	sha256_add(&state, bytes, len);
	sha256_end(&state, out);
}

static void box_key_of(const struct sign_key *log, uint8_t out[SEAL_KEY_LEN])
{
	uint8_t seed[ED25519_SEED_LEN];

	sign_key_seed(log, seed);
	hash_labelled("writ/epoch-box/v1", seed, sizeof(seed), out);
	bytes_wipe(seed, sizeof(seed));
}

/* One seed for each number, so the number may be the nonce. */
static void nonce_of(uint64_t number, uint8_t out[SEAL_NONCE_LEN])
{
	uint8_t hash[SHA256_LEN];
	uint8_t bytes[8];

	for (int i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(number >> (56 - 8 * i));
	hash_labelled("writ/epoch-nonce/v1", bytes, sizeof(bytes), hash);
	memcpy(out, hash, SEAL_NONCE_LEN);
}

static void set_next(struct epoch *epoch)
{
	uint8_t seed[ED25519_SEED_LEN];
	uint8_t next[SHA256_LEN];

	sign_key_seed(epoch->key, seed);
	hash_labelled("writ/epoch/v1", seed, sizeof(seed), next);
	sign_key_set(epoch->next, next);
	bytes_wipe(seed, sizeof(seed));
	bytes_wipe(next, sizeof(next));
}

static int name_key(const char *origin, uint64_t number, const struct sign_key *key,
		    struct vkey *ret_vkey, struct err *err)
{
	char name[EPOCH_NAME_MAX + 1];
	uint8_t public_key[ED25519_PUBLIC_LEN];

	sign_key_public(key, public_key);
	if (epoch_key_name(origin, number, name, err) < 0)
		return -1;
	return vkey_init(ret_vkey, name, public_key, err);
}

static int name_keys(struct epoch *epoch, struct err *err)
{
	if (name_key(epoch->origin, epoch->number, epoch->key, &epoch->vkey, err) < 0)
		return -1;
	return name_key(epoch->origin, epoch->number + 1, epoch->next, &epoch->next_vkey, err);
}

static int read_file(const char *text, size_t len, uint64_t *ret_number,
		     uint8_t ret_sealed[SEALED_LEN], struct err *err)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	struct lines lines = {text, len};
	char word[EPOCH_FILE_MAX];

	if (lines_text(&lines, word, sizeof(word)) < 0 || strcmp(word, FIRST_LINE) != 0)
		return err_set(err, ERR_INVALID, AUDIT_EPOCH ": line 1 is not " FIRST_LINE);
	if (lines_number(&lines, ret_number) < 0)
		return err_set(err, ERR_INVALID, AUDIT_EPOCH ": line 2 is no number");
	if (lines_text(&lines, word, sizeof(word)) < 0 || lines.left != 0 ||
	    base64_read(word, strlen(word), &bytes, NULL) < 0 || bytes.len != SEALED_LEN)
		return err_set(err, ERR_INVALID, AUDIT_EPOCH ": line 3 is no sealed seed");
	memcpy(ret_sealed, bytes.bytes, SEALED_LEN);
	return 0;
}

static int unseal(struct epoch *epoch, const struct sign_key *older_log, const char *text,
		  size_t len, struct err *err)
{
	uint8_t sealed[SEALED_LEN];
	uint8_t nonce[SEAL_NONCE_LEN];
	uint8_t older_key[SEAL_KEY_LEN];
	uint8_t seed[ED25519_SEED_LEN];
	int result;

	if (read_file(text, len, &epoch->number, sealed, err) < 0)
		return -1;
	nonce_of(epoch->number, nonce);
	result = secret_unseal(epoch->box_key, nonce, sealed, sizeof(sealed), seed);
	if (result < 0 && older_log != NULL) {
		box_key_of(older_log, older_key);
		result = secret_unseal(older_key, nonce, sealed, sizeof(sealed), seed);
		bytes_wipe(older_key, sizeof(older_key));
	}
	if (result < 0)
		return err_set(err, ERR_INVALID,
			       AUDIT_EPOCH ": it was not made by this signer, or was changed");
	sign_key_set(epoch->key, seed);
	bytes_wipe(seed, sizeof(seed));
	return 0;
}

int epoch_init(struct epoch *epoch, const char *origin, const struct sign_key *log,
	       const struct sign_key *older_log, const char *sealed, size_t sealed_len,
	       uint64_t number, struct err *err)
{
	uint8_t seed[ED25519_SEED_LEN];

	memset(epoch, 0, sizeof(*epoch));
	strncpy(epoch->origin, origin, NOTE_NAME_MAX);
	epoch->number = number;
	epoch->key = sign_key_blank();
	epoch->next = sign_key_blank();
	box_key_of(log, epoch->box_key);
	if (sealed != NULL) {
		if (unseal(epoch, older_log, sealed, sealed_len, err) < 0)
			return -1;
	} else {
		random_bytes(seed, sizeof(seed));
		sign_key_set(epoch->key, seed);
		bytes_wipe(seed, sizeof(seed));
	}
	set_next(epoch);
	return name_keys(epoch, err);
}

void epoch_clear(struct epoch *epoch)
{
	sign_key_free(epoch->key);
	sign_key_free(epoch->next);
	bytes_wipe(epoch, sizeof(*epoch));
}

void epoch_seal(const struct epoch *epoch, bool next, struct buf *out)
{
	uint64_t number = epoch->number + (next ? 1 : 0);
	uint8_t nonce[SEAL_NONCE_LEN];
	uint8_t seed[ED25519_SEED_LEN];
	uint8_t sealed[SEALED_LEN];

	nonce_of(number, nonce);
	sign_key_seed(next ? epoch->next : epoch->key, seed);
	secret_seal(epoch->box_key, nonce, seed, sizeof(seed), sealed);
	bytes_wipe(seed, sizeof(seed));
	buf_addf(out, FIRST_LINE "\n%llu\n", (unsigned long long)number);
	base64_write(sealed, sizeof(sealed), out);
	buf_add_char(out, '\n');
}

int epoch_roll(struct epoch *epoch, struct err *err)
{
	uint8_t seed[ED25519_SEED_LEN];

	sign_key_seed(epoch->next, seed);
	sign_key_set(epoch->key, seed);
	bytes_wipe(seed, sizeof(seed));
	epoch->number++;
	set_next(epoch);
	return name_keys(epoch, err);
}
