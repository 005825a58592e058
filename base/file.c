/* Small files read whole and replaced whole. What can fail: the file system, a link where a file
 * should be, a folder that others could write. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/give_way.h"

#define READ_BYTES 65536

static int open_regular(int dir_fd, const char *name, struct stat *ret_stat, struct err *err)
{
	/* O_NONBLOCK: opening a FIFO put in its place must not hang. */
	int fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0 && errno == ENOENT)
		return err_set(err, ERR_NOT_FOUND, "%s: no such file", name);
	if (fd < 0 && errno == ELOOP)
		return err_set(err, ERR_INVALID, "%s: is a link", name);
	if (fd < 0)
		return err_errno(err, "%s: open", name);
	if (fstat(fd, ret_stat) < 0) {
		err_errno(err, "%s: stat", name);
		close(fd);
		return -1;
	}
	if (!S_ISREG(ret_stat->st_mode)) {
		close(fd);
		return err_set(err, ERR_INVALID, "%s: is no regular file", name);
	}
	return fd;
}

/* What the file is long at first, and a byte that says that there is no more. */
static void make_room(struct buf *out, const struct stat *stat, size_t max)
{
	size_t wanted = stat->st_size < 0 ? 0 : (size_t)stat->st_size;

	buf_reserve(out, (wanted < max ? wanted : max) + 1);
}

static int read_all(int fd, const char *name, size_t max, struct buf *out, struct err *err)
{
	char bytes[READ_BYTES];
	size_t start = out->len;

	for (;;) {
		ssize_t got = read(fd, bytes, sizeof(bytes));

		if (got == (ssize_t)sizeof(bytes))
			give_way(); /* a large one */

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_errno(err, "%s: read", name);
		if (got == 0)
			return 0;
		if (out->len - start + (size_t)got > max)
			return err_set(err, ERR_LIMIT, "%s: larger than %zu bytes", name, max);
		buf_add(out, bytes, (size_t)got);
	}
}

int file_read_at(int dir_fd, const char *name, size_t max, struct buf *out, struct err *err)
{
	CLEANUP(fd_closep) int fd = -1;
	size_t before = out->len;
	struct stat stat;

	fd = open_regular(dir_fd, name, &stat, err);
	if (fd < 0)
		return -1;
	make_room(out, &stat, max);
	if (read_all(fd, name, max, out, err) == 0)
		return 0;
	out->len = before; /* untouched on failure */
	if (out->bytes != NULL)
		out->bytes[before] = '\0';
	return -1;
}

int file_write_all(int fd, const void *bytes, size_t len, struct err *err)
{
	const char *at = bytes;

	while (len > 0) {
		ssize_t done = write(fd, at, len);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return err_errno(err, "write");
		at += done;
		len -= (size_t)done;
	}
	return 0;
}

static int write_new(int dir_fd, const char *temporary, mode_t mode, const void *bytes, size_t len,
		     bool sync, struct err *err)
{
	CLEANUP(fd_closep) int fd = -1;

	if (unlinkat(dir_fd, temporary, 0) < 0 && errno != ENOENT)
		return err_errno(err, "%s: remove", temporary);
	fd = openat(dir_fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);
	if (fd < 0)
		return err_errno(err, "%s: create", temporary);
	if (fchmod(fd, mode) < 0) /* exactly, whatever the umask */
		return err_errno(err, "%s: set its mode", temporary);
	if (file_write_all(fd, bytes, len, err) < 0)
		return err_wrap(err, "%s", temporary);
	if (sync && fsync(fd) < 0)
		return err_errno(err, "%s: fsync", temporary);
	return 0;
}

int file_replace_at(int dir_fd, const char *name, mode_t mode, const void *bytes, size_t len,
		    bool sync, struct err *err)
{
	char temporary[256];

	if (snprintf(temporary, sizeof(temporary), "%s.new", name) >= (int)sizeof(temporary))
		return err_set(err, ERR_INVALID, "%s: the name is too long", name);
	if (write_new(dir_fd, temporary, mode, bytes, len, sync, err) < 0) {
		unlinkat(dir_fd, temporary, 0);
		return -1;
	}
	if (renameat(dir_fd, temporary, dir_fd, name) < 0) {
		err_errno(err, "%s: rename", name);
		unlinkat(dir_fd, temporary, 0);
		return -1;
	}
	if (sync && fsync(dir_fd) < 0)
		return err_errno(err, "%s: fsync of its folder", name);
	return 0;
}

static int check_private(const char *name, const struct stat *stat, struct err *err)
{
	mode_t open_to_others = stat->st_mode & (stat->st_uid == 0 ? 026 : 077);

	if (stat->st_uid != geteuid() && stat->st_uid != 0)
		return err_set(err, ERR_DENIED,
			       "%s: belongs to user %u, not to user %u who runs this", name,
			       (unsigned)stat->st_uid, (unsigned)geteuid());
	if (open_to_others != 0)
		return err_set(err, ERR_DENIED,
			       "%s: is open to others (mode %04o); run: chmod 700 %s", name,
			       (unsigned)(stat->st_mode & 07777), name);
	return 0;
}

static int open_private(int dir_fd, const char *name, int access, int *ret_fd, struct err *err)
{
	CLEANUP(fd_closep)
	int fd = openat(dir_fd, name, access | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	struct stat stat;

	if (fd < 0 && errno == ENOENT)
		return err_set(err, ERR_NOT_FOUND, "%s: no such folder", name);
	if (fd < 0)
		return err_errno(err, "%s: open folder", name);
	if (fstat(fd, &stat) < 0)
		return err_errno(err, "%s: stat", name);
	if (check_private(name, &stat, err) < 0)
		return -1;
	*ret_fd = fd;
	fd = -1;
	return 0;
}

int dir_open_private_at(int dir_fd, const char *name, bool make, int *ret_fd, struct err *err)
{
	if (make && mkdirat(dir_fd, name, 0700) < 0 && errno != EEXIST)
		return err_errno(err, "%s: make folder", name);
	return open_private(dir_fd, name, O_RDONLY, ret_fd, err);
}

int dir_pass_private_at(int dir_fd, const char *name, int *ret_fd, struct err *err)
{
	return open_private(dir_fd, name, O_PATH, ret_fd, err);
}
