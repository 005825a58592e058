/* Finding and reading logs and keys. What can fail: files that are not there or not readable; a key
 * that is none. */
#include "cli/audit_source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "broker/audit/layout.h"
#include "cli/cli.h"

#define KEY_FILE_BYTES_MAX 16384
#define READ_BYTES (256u << 10)
#define PROGRESS_BYTES (16u << 20)

void audit_source_clear(struct audit_source *source)
{
	mem_free(source->dir);
	mem_free(source->file);
	mem_free(source->key_from);
	mem_free(source->key_note);
	memset(source, 0, sizeof(*source));
}

/* The first line that is neither empty nor a comment. */
static void key_line(const char *text, const char **ret_line, size_t *ret_len)
{
	while (*text == '#' || *text == '\n') {
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	*ret_line = text;
	*ret_len = strcspn(text, "\r\n");
}

static int read_key_file(const char *path, struct vkey *ret_key, struct err *err)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	const char *line;
	size_t len;

	if (file_read_at(AT_FDCWD, path, KEY_FILE_BYTES_MAX, &bytes, err) < 0)
		return -1;
	key_line(buf_str(&bytes), &line, &len);
	if (vkey_parse(line, len, ret_key, err) < 0)
		return err_wrap(err, "%s", path);
	return 0;
}

static bool lies_in(const char *path, const char *dir)
{
	CLEANUP(mem_freep) char *real_path = realpath(path, NULL);
	CLEANUP(mem_freep) char *real_dir = dir == NULL ? NULL : realpath(dir, NULL);
	size_t len = real_dir == NULL ? 0 : strlen(real_dir);

	return real_path != NULL && real_dir != NULL && strncmp(real_path, real_dir, len) == 0 &&
	       (real_path[len] == '/' || real_path[len] == '\0');
}

static int take_key_file(struct audit_source *source, const char *path, struct err *err)
{
	if (read_key_file(path, &source->key, err) < 0)
		return -1;
	if (lies_in(path, source->dir)) {
		source->key_note = mem_format("%s lies beside the log, so whoever wrote the one "
					      "may have written the other; it does not count",
					      path);
		return 0;
	}
	source->has_key = true;
	source->key_from = mem_str(path);
	return 0;
}

static int take_key(struct audit_source *source, const char *text, struct err *err)
{
	if (vkey_parse(text, strlen(text), &source->key, err) == 0) {
		source->has_key = true;
		source->key_from = mem_str("the command line");
		return 0;
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

static int find_log(struct audit_source *source, const char *path, struct err *err)
{
	struct stat stat_of;

	if (stat(path, &stat_of) < 0) {
		err_errno(err, "%s", path);
		err->kind = errno == ENOENT ? ERR_NOT_FOUND : err->kind;
		return -1;
	}
	if (!S_ISDIR(stat_of.st_mode)) {
		source->file = mem_str(path);
		return 0;
	}
	source->dir = mem_str(path);
	source->file = mem_format("%s/" AUDIT_ONE_FILE, path);
	if (access(source->file, F_OK) == 0)
		return 0;
	mem_free(source->file);
	source->file = mem_format("%s/" AUDIT_SEGMENTS, path);
	return 0;
}

static int find_all(const char *path, const char *workspace, const char *key_text,
		    struct audit_source *source, struct err *err)
{
	CLEANUP(mem_freep) char *found = NULL;
	CLEANUP(mem_freep) char *in_workspace = NULL;

	/* With a path and no -C there is no workspace to ask for a key. */
	if (path == NULL || workspace != NULL) {
		if (cli_workspace_find(workspace, &found, err) < 0)
			return -1;
		in_workspace = mem_format("%s/state/audit", found);
	}
	if (find_log(source, path != NULL ? path : in_workspace, err) < 0)
		return err_wrap(err, "no log");
	if (key_text != NULL)
		return take_key(source, key_text, err);
	if (found != NULL)
		return take_workspace_key(source, found, err);
	return 0;
}

int audit_source_find(const char *path, const char *workspace, const char *key_text,
		      struct audit_source *ret_source, struct err *err)
{
	struct audit_source source = {.dir = NULL};

	if (find_all(path, workspace, key_text, &source, err) < 0) {
		audit_source_clear(&source);
		return -1;
	}
	*ret_source = source;
	return 0;
}

static void show_progress(uint64_t done, uint64_t total)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\rreading the log: %llu of %llu MiB ",
			(unsigned long long)(done >> 20), (unsigned long long)(total >> 20));
}

static void end_progress(bool shown)
{
	if (shown && isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

static int feed(int fd, uint64_t total, struct audit_verify *verify, struct err *err)
{
	CLEANUP(mem_freep) char *bytes = mem_alloc(READ_BYTES);
	uint64_t done = 0;
	uint64_t next = PROGRESS_BYTES;

	for (;;) {
		ssize_t got = read(fd, bytes, READ_BYTES);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_errno(err, "read");
		if (got == 0)
			break;
		audit_verify_feed(verify, bytes, (size_t)got);
		done += (uint64_t)got;
		if (done >= next) {
			show_progress(done, total);
			next = done + PROGRESS_BYTES;
		}
	}
	end_progress(done >= PROGRESS_BYTES);
	return 0;
}

static int feed_file(const char *path, struct audit_verify *verify, struct err *err)
{
	CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat stat;

	if (fd < 0 && errno == ENOENT)
		return err_set(err, ERR_NOT_FOUND, "%s: no such file", path);
	if (fd < 0 || fstat(fd, &stat) < 0)
		return err_errno(err, "%s", path);
	if (!S_ISREG(stat.st_mode))
		return err_set(err, ERR_INVALID, "%s: is no regular file", path);
	if (feed(fd, (uint64_t)stat.st_size, verify, err) < 0)
		return err_wrap(err, "%s", path);
	return 0;
}

static int is_segment(const struct dirent *entry)
{
	uint64_t first;

	return segment_read(entry->d_name, AUDIT_RECORDS, &first);
}

/* Twenty digits sort as their numbers do. */
static int feed_segments(const char *folder, struct audit_verify *verify, struct err *err)
{
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, is_segment, alphasort);
	int result = 0;

	if (count < 0 && errno == ENOENT)
		return err_set(err, ERR_NOT_FOUND, "%s: no such folder", folder);
	if (count < 0)
		return err_errno(err, "%s", folder);
	for (int i = 0; i < count; i++) {
		CLEANUP(mem_freep)
		char *path = mem_format("%s/%s", folder, entries[i]->d_name);

		if (result == 0)
			result = feed_file(path, verify, err);
		free(entries[i]);
	}
	free(entries);
	return result;
}

int audit_source_feed(const struct audit_source *source, struct audit_verify *verify,
		      struct err *err)
{
	struct stat stat_of;

	if (stat(source->file, &stat_of) == 0 && S_ISDIR(stat_of.st_mode))
		return feed_segments(source->file, verify, err);
	return feed_file(source->file, verify, err);
}
