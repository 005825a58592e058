/*
 * Walks a path from the root by descriptor, one component at a time, so that each answer is about
 * the very folder the next step starts from.
 */
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"

/* For a shell: the path of a command a person is told to run. */
static void add_quoted(struct buf *out, const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "/._-+,@%";

	if (path[0] != '-' && path[strspn(path, plain)] == '\0') {
		buf_add_str(out, path);
		return;
	}
	buf_add_char(out, '\'');
	for (; *path != '\0'; path++) {
		if (*path == '\'')
			buf_add_str(out, "'\\''");
		else
			buf_add_char(out, *path);
	}
	buf_add_char(out, '\'');
}

static int refuse(const char *path, const char *what, const char *command, struct err *err)
{
	CLEANUP(buf_clear) struct buf quoted = BUF_INIT;

	add_quoted(&quoted, path);
	return err_set(err, ERR_DENIED, "%s %s; run: %s %s", path, what, command, quoted.bytes);
}

static int check_folder(const char *path, const struct stat *folder, bool last, struct err *err)
{
	char text[128], command[32];
	mode_t others = folder->st_mode & (S_IWGRP | S_IWOTH);

	if (folder->st_uid != 0 && folder->st_uid != geteuid()) {
		snprintf(text, sizeof(text),
			 "belongs to user %u, who could replace what lies in it", folder->st_uid);
		snprintf(command, sizeof(command), "chown %u", geteuid());
		return refuse(path, text, command, err);
	}
	if (others == 0 || (!last && (folder->st_mode & S_ISVTX)))
		return 0;
	snprintf(text, sizeof(text), "is writable by %s (mode %04o)",
		 others & S_IWOTH ? "everyone" : "its group", folder->st_mode & 07777);
	snprintf(command, sizeof(command), "chmod %s", others & S_IWOTH ? "go-w" : "g-w");
	return refuse(path, text, command, err);
}

/* Opens the next component below *fd, checks it, and makes it the new *fd. */
static int step(int *fd, const char *name, const char *path, bool last, struct err *err)
{
	struct stat folder;
	int next = openat(*fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);

	if (next < 0 && errno == ENOENT)
		return err_set(err, ERR_NOT_FOUND, "%s: no such folder", path);
	if (next < 0)
		return err_errno(err, "%s", path);
	close(*fd);
	*fd = next;
	if (fstat(next, &folder) < 0)
		return err_errno(err, "%s", path);
	if (S_ISLNK(folder.st_mode))
		return err_set(err, ERR_DENIED, "%s is a link: give the folder it leads to", path);
	if (!S_ISDIR(folder.st_mode))
		return err_set(err, ERR_INVALID, "%s is no folder", path);
	return check_folder(path, &folder, last, err);
}

/* Length of the component at text, which is not a slash. */
static size_t component_len(const char *text)
{
	return strcspn(text, "/");
}

static int walk(const char *path, int *fd, struct err *err)
{
	const char *at = path + strspn(path, "/");
	char name[NAME_MAX + 1], so_far[PATH_MAX];

	if (step(fd, "/", "/", *at == '\0', err) < 0)
		return -1;
	while (*at != '\0') {
		size_t len = component_len(at);
		const char *next = at + len + strspn(at + len, "/");

		if (len > NAME_MAX)
			return err_set(err, ERR_INVALID, "%s: a name in it is too long", path);
		memcpy(name, at, len);
		name[len] = '\0';
		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
			return err_set(err, ERR_INVALID, "%s: \".\" and \"..\" are not allowed",
				       path);
		memcpy(so_far, path, (size_t)(at - path) + len);
		so_far[(size_t)(at - path) + len] = '\0';
		if (step(fd, name, so_far, *next == '\0', err) < 0)
			return -1;
		at = next;
	}
	return 0;
}

int path_check_owned(const char *path, struct err *err)
{
	int fd, result;

	if (path[0] != '/')
		return err_set(err, ERR_INVALID, "%s: wanted an absolute path", path);
	if (strlen(path) >= PATH_MAX)
		return err_set(err, ERR_INVALID, "a path over %d bytes", PATH_MAX - 1);
	fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_errno(err, "/");
	result = walk(path, &fd, err);
	close(fd);
	return result;
}
