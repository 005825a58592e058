/*
 * Making and reading the key file. What can fail: the disk; a file that others could have read or
 * changed; a file that is not in the one form. A damaged file is never replaced: that would forget
 * the key that auditors pinned.
 */
#include "broker/signer/keys.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

#define KEYS_NAME "keys"
#define KEYS_BYTES_MAX 512
#define NAME_MAX_IN_ORIGIN 64
#define FINGERPRINT_HEX 16
#define FIRST_LINE "writ-signer-keys 1\n"

void signer_keys_clear(struct signer_keys *keys)
{
	sign_key_free(keys->token);
	sign_key_free(keys->log);
	memset(keys, 0, sizeof(*keys));
}

struct secrets { /* the file's bytes and seeds, wiped by whoever made it */
	char text[KEYS_BYTES_MAX + 1];
	size_t len;
	uint8_t token[ED25519_SEED_LEN];
	uint8_t log[ED25519_SEED_LEN];
};

static void secrets_wipe(struct secrets *secrets)
{
	bytes_wipe(secrets, sizeof(*secrets));
}

static void write_origin(const char *name, const uint8_t public_key[ED25519_PUBLIC_LEN],
			 char out[NOTE_NAME_MAX + 1])
{
	char fingerprint[SHA256_HEX_LEN + 1];
	char safe[NAME_MAX_IN_ORIGIN + 1] = "workspace";

	for (size_t i = 0; i < NAME_MAX_IN_ORIGIN && name[i] != '\0'; i++) {
		bool fits = (name[i] >= 'a' && name[i] <= 'z') ||
			    (name[i] >= 'A' && name[i] <= 'Z') ||
			    (name[i] >= '0' && name[i] <= '9') || name[i] == '.' || name[i] == '_';

		safe[i] = fits ? name[i] : '-';
		safe[i + 1] = '\0';
	}
	sha256_hex(public_key, ED25519_PUBLIC_LEN, fingerprint);
	snprintf(out, NOTE_NAME_MAX + 1, "writ.local/%s/%.*s", safe, FINGERPRINT_HEX, fingerprint);
}

static void add_seed(struct secrets *secrets, const char *label,
		     const uint8_t seed[ED25519_SEED_LEN])
{
	struct buf code = BUF_INIT;

	base64url_write(seed, ED25519_SEED_LEN, &code);
	secrets->len +=
		(size_t)snprintf(secrets->text + secrets->len, sizeof(secrets->text) - secrets->len,
				 "%s %s\n", label, code.bytes);
	bytes_wipe(code.bytes, code.len);
	buf_clear(&code);
}

static int make(int dir_fd, const char *name, struct err *err)
{
	CLEANUP(secrets_wipe) struct secrets secrets = {.len = 0};
	uint8_t public_key[ED25519_PUBLIC_LEN];
	char origin[NOTE_NAME_MAX + 1];
	struct sign_key *log;

	random_bytes(secrets.token, sizeof(secrets.token));
	random_bytes(secrets.log, sizeof(secrets.log));
	log = sign_key_from_seed(secrets.log);
	sign_key_public(log, public_key);
	sign_key_free(log);
	write_origin(name, public_key, origin);
	secrets.len = (size_t)snprintf(secrets.text, sizeof(secrets.text), FIRST_LINE "origin %s\n",
				       origin);
	add_seed(&secrets, "token", secrets.token);
	add_seed(&secrets, "log", secrets.log);
	return file_replace_at(dir_fd, KEYS_NAME, 0600, secrets.text, secrets.len, true, err);
}

static int check_owner(int fd, struct err *err)
{
	struct stat stat;

	if (fstat(fd, &stat) < 0)
		return err_errno(err, KEYS_NAME ": stat");
	if (!S_ISREG(stat.st_mode) || stat.st_nlink != 1)
		return err_set(err, ERR_DENIED, KEYS_NAME ": is not one regular file of one name");
	if (stat.st_uid != geteuid())
		return err_set(err, ERR_DENIED, KEYS_NAME ": belongs to user %u, not to user %u",
			       (unsigned)stat.st_uid, (unsigned)geteuid());
	if ((stat.st_mode & 077) != 0)
		return err_set(err, ERR_DENIED,
			       KEYS_NAME
			       ": others may read or write it (mode %04o). If nobody did, "
			       "run: chmod 600 on it",
			       (unsigned)(stat.st_mode & 07777));
	return 0;
}

static int read_file(int fd, struct secrets *secrets, struct err *err)
{
	for (;;) {
		ssize_t got =
			read(fd, secrets->text + secrets->len, KEYS_BYTES_MAX + 1 - secrets->len);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_errno(err, KEYS_NAME ": read");
		secrets->len += (size_t)got;
		if (secrets->len > KEYS_BYTES_MAX)
			return err_set(err, ERR_INVALID, KEYS_NAME ": longer than %d bytes",
				       KEYS_BYTES_MAX);
		if (got == 0)
			break;
	}
	secrets->text[secrets->len] = '\0';
	return 0;
}

/* "label value LF": moves *at behind it. */
static int take(const char **at, const char *label, const char **ret_value, size_t *ret_len)
{
	size_t label_len = strlen(label);
	const char *feed = strchr(*at, '\n');

	if (feed == NULL || strncmp(*at, label, label_len) != 0 || (*at)[label_len] != ' ')
		return -1;
	*ret_value = *at + label_len + 1;
	*ret_len = (size_t)(feed - *ret_value);
	*at = feed + 1;
	return 0;
}

static int take_seed(const char **at, const char *label, uint8_t out[ED25519_SEED_LEN])
{
	struct buf bytes = BUF_INIT;
	const char *code = NULL;
	size_t len = 0;
	int result = -1;

	if (take(at, label, &code, &len) == 0 && base64url_read(code, len, &bytes, NULL) == 0 &&
	    bytes.len == ED25519_SEED_LEN) {
		memcpy(out, bytes.bytes, ED25519_SEED_LEN);
		result = 0;
	}
	if (bytes.len > 0)
		bytes_wipe(bytes.bytes, bytes.len);
	buf_clear(&bytes);
	return result;
}

static int parse(struct secrets *secrets, struct signer_keys *ret_keys, struct err *err)
{
	const char *at = secrets->text;
	const char *origin = NULL;
	size_t len = 0;

	if (strncmp(at, FIRST_LINE, strlen(FIRST_LINE)) != 0)
		return err_set(err, ERR_INVALID, KEYS_NAME ": line 1 is not writ-signer-keys 1");
	at += strlen(FIRST_LINE);
	if (take(&at, "origin", &origin, &len) < 0 || len == 0 || len > NOTE_NAME_MAX)
		return err_set(err, ERR_INVALID, KEYS_NAME ": line 2 is no origin");
	if (take_seed(&at, "token", secrets->token) < 0 ||
	    take_seed(&at, "log", secrets->log) < 0 || at != secrets->text + secrets->len)
		return err_set(err, ERR_INVALID,
			       KEYS_NAME ": lines 3 and 4 are not the two keys, or more follows");
	memset(ret_keys, 0, sizeof(*ret_keys));
	memcpy(ret_keys->origin, origin, len);
	ret_keys->token = sign_key_from_seed(secrets->token);
	ret_keys->log = sign_key_from_seed(secrets->log);
	return 0;
}

static int load(int dir_fd, struct signer_keys *ret_keys, struct err *err)
{
	CLEANUP(secrets_wipe) struct secrets secrets = {.len = 0};
	CLEANUP(fd_closep)
	int fd = openat(dir_fd, KEYS_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0 && errno == ENOENT)
		return err_set(err, ERR_NOT_FOUND, KEYS_NAME ": no such file");
	if (fd < 0 && errno == ELOOP)
		return err_set(err, ERR_DENIED, KEYS_NAME ": is a link");
	if (fd < 0)
		return err_errno(err, KEYS_NAME ": open");
	if (check_owner(fd, err) < 0 || read_file(fd, &secrets, err) < 0)
		return -1;
	return parse(&secrets, ret_keys, err);
}

int signer_keys_load(int dir_fd, const char *name, struct signer_keys *ret_keys, struct err *err)
{
	struct err why;

	if (load(dir_fd, ret_keys, &why) == 0)
		return 0;
	if (why.kind != ERR_NOT_FOUND)
		return err_set(err, why.kind, "%s", why.text);
	if (make(dir_fd, name, err) < 0)
		return -1;
	return load(dir_fd, ret_keys, err);
}
