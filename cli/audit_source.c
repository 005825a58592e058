/* Finding logs, keys and policies. What can fail: files that are not there or not readable; a key
 * or a policy that is none. */
#include "cli/audit_source.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "broker/audit/log_feed.h"
#include "broker/audit/layout.h"
#include "cli/cli.h"

#define KEY_FILE_BYTES_MAX 16384

void audit_source_clear(struct audit_source *source)
{
	log_dir_close(&source->dir);
	mem_free(source->key_from);
	mem_free(source->key_note);
	if (source->has_policy)
		trust_policy_clear(&source->policy);
	memset(source, 0, sizeof(*source));
}

/* A key of an epoch is named after the log and the epoch. */
static bool is_epoch_key(const struct vkey *key)
{
	const char *slash = strrchr(key->name, '/');

	return slash != NULL && slash[1] == 'e' && slash[2] != '\0' &&
	       strspn(slash + 2, "0123456789") == strlen(slash + 2);
}

static int add_key(struct audit_source *source, const struct vkey *key, struct err *err)
{
	if (is_epoch_key(key)) {
		if (strcmp(strrchr(key->name, '/'), "/e0") == 0) {
			source->has_epoch_key = true;
			source->epoch_key = *key;
		}
		return 0; /* later epochs follow from the first */
	}
	if (source->key_count == AUDIT_KEYS_MAX)
		return err_set(err, ERR_LIMIT, "more than %d keys", AUDIT_KEYS_MAX);
	source->keys[source->key_count++] = *key;
	return 0;
}

/* Each line that is neither empty nor a comment is a key. */
static int add_key_lines(struct audit_source *source, const char *path, const char *text,
			 struct err *err)
{
	size_t found = 0;

	while (*text != '\0') {
		size_t len = strcspn(text, "\r\n");
		struct vkey key;

		if (len > 0 && *text != '#') {
			if (vkey_parse(text, len, &key, err) < 0 || add_key(source, &key, err) < 0)
				return err_wrap(err, "%s", path);
			found++;
		}
		text += len;
		text += strspn(text, "\r\n");
	}
	return found > 0 ? 0 : err_set(err, ERR_INVALID, "%s: holds no key", path);
}

static bool lies_in(const char *path, const char *dir)
{
	CLEANUP(mem_freep) char *real_path = realpath(path, NULL);
	CLEANUP(mem_freep) char *real_dir = dir == NULL ? NULL : realpath(dir, NULL);
	size_t len = real_dir == NULL ? 0 : strlen(real_dir);

	return real_path != NULL && real_dir != NULL && strncmp(real_path, real_dir, len) == 0 &&
	       (real_path[len] == '/' || real_path[len] == '\0');
}

static bool is_beside_log(struct audit_source *source, const char *path)
{
	if (source->dir.is_file || !lies_in(path, source->dir.path))
		return false;
	if (source->key_note == NULL)
		source->key_note = mem_format("%s lies beside the log, so whoever wrote the one "
					      "may have written the other; it does not count",
					      path);
	return true;
}

static void note_key_from(struct audit_source *source, const char *from)
{
	char *before = source->key_from;

	source->key_from = before == NULL ? mem_str(from) : mem_format("%s, %s", before, from);
	mem_free(before);
}

static int take_key_file(struct audit_source *source, const char *path, struct err *err)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;

	if (file_read_at(AT_FDCWD, path, KEY_FILE_BYTES_MAX, &bytes, err) < 0)
		return -1;
	if (is_beside_log(source, path))
		return 0;
	note_key_from(source, path);
	return add_key_lines(source, path, buf_str(&bytes), err);
}

static int take_key(struct audit_source *source, const char *text, struct err *err)
{
	struct vkey key;

	if (vkey_parse(text, strlen(text), &key, err) == 0) {
		note_key_from(source, "the command line");
		return add_key(source, &key, err);
	}
	if (strchr(text, '+') != NULL && access(text, F_OK) < 0)
		return err_wrap(err, "--key");
	return take_key_file(source, text, err);
}

static int take_workspace_key(struct audit_source *source, const char *workspace, struct err *err)
{
	CLEANUP(mem_freep) char *path = mem_format("%s/audit.pub", workspace);

	if (access(path, F_OK) == 0)
		return take_key_file(source, path, err);
	source->key_note = mem_format("%s is not there", path);
	return 0;
}

static int take_policy(struct audit_source *source, const char *path, struct err *err)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;

	if (file_read_at(AT_FDCWD, path, TRUST_POLICY_BYTES_MAX, &bytes, err) < 0)
		return -1;
	if (is_beside_log(source, path))
		return err_set(err, ERR_INVALID, "%s", source->key_note);
	if (trust_policy_parse(buf_str(&bytes), bytes.len, &source->policy, err) < 0)
		return err_wrap(err, "%s", path);
	source->has_policy = true;
	if (source->policy.log_count > 0)
		note_key_from(source, path);
	for (size_t i = 0; i < source->policy.log_count; i++)
		if (add_key(source, &source->policy.logs[i].key, err) < 0)
			return -1;
	return 0;
}

static int find_all(const struct audit_source_options *options, struct audit_source *source,
		    struct err *err)
{
	CLEANUP(mem_freep) char *found = NULL;
	CLEANUP(mem_freep) char *in_workspace = NULL;

	/* With a path and no -C there is no workspace to ask for a key. */
	if (options->path == NULL || options->workspace != NULL) {
		if (cli_workspace_find(options->workspace, &found, err) < 0)
			return -1;
		in_workspace = mem_format("%s/state/audit", found);
	}
	if (log_dir_open(options->path != NULL ? options->path : in_workspace, &source->dir, err) <
	    0)
		return err_wrap(err, "no log");
	for (size_t i = 0; i < options->key_count; i++)
		if (take_key(source, options->keys[i], err) < 0)
			return -1;
	if (options->policy != NULL && take_policy(source, options->policy, err) < 0)
		return -1;
	if (options->key_count == 0 && source->key_count == 0 && found != NULL)
		return take_workspace_key(source, found, err);
	return 0;
}

int audit_source_find(const struct audit_source_options *options, struct audit_source *ret_source,
		      struct err *err)
{
	struct audit_source source = {.key_count = 0};

	if (find_all(options, &source, err) < 0) {
		audit_source_clear(&source);
		return -1;
	}
	*ret_source = source;
	return 0;
}

int audit_source_feed(const struct audit_source *source, struct audit_verify *verify,
		      struct err *err)
{
	struct log_feed feed = {.verify = verify};

	for (size_t i = 0; i < source->dir.count; i++) {
		CLEANUP(fd_closep) int fd = -1;
		struct log_feed_end end;

		if (!source->dir.parts[i].has_lines)
			continue;
		if (log_dir_lines(&source->dir, i, &fd, err) < 0)
			return -1;
		if (log_feed_file(&feed, fd, &end, err) < 0)
			return err_wrap(err, "%s: %s", source->dir.path,
					source->dir.parts[i].name);
	}
	return 0;
}
