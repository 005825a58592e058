/* Durable appending to one file. What can fail: the disk, and someone else's hand on the file. */
#include "broker/audit/log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FLAGS (O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)

/* Takes fd. */
static int take(int dir_fd, const char *name, int fd, struct log_file *ret_file, struct err *err)
{
	CLEANUP(fd_closep) int held = fd;
	struct stat stat;

	if (fstat(fd, &stat) < 0)
		return err_errno(err, "%s: stat", name);
	if (!S_ISREG(stat.st_mode))
		return err_set(err, ERR_INVALID, "%s: is no regular file", name);
	*ret_file = (struct log_file){.dir_fd = dir_fd,
				      .fd = held,
				      .bytes = (uint64_t)stat.st_size,
				      .io = {write, fdatasync}};
	snprintf(ret_file->name, sizeof(ret_file->name), "%s", name);
	held = -1;
	return 0;
}

int log_file_open(int dir_fd, const char *name, struct log_file *ret_file, struct err *err)
{
	int fd = openat(dir_fd, name, FLAGS);

	if (fd < 0 && errno == ENOENT)
		return err_set(err, ERR_NOT_FOUND, "%s: no such file", name);
	if (fd < 0)
		return err_errno(err, "%s: open", name);
	return take(dir_fd, name, fd, ret_file, err);
}

int log_file_create(int dir_fd, const char *name, struct log_file *ret_file, struct err *err)
{
	int fd = openat(dir_fd, name, FLAGS | O_CREAT | O_EXCL, 0600);
	struct log_file file;

	if (fd < 0 && errno == EEXIST)
		fd = openat(dir_fd, name, FLAGS);
	if (fd < 0) {
		ret_file->full = errno == ENOSPC || errno == EDQUOT;
		return err_errno(err, "%s: create", name);
	}
	if (take(dir_fd, name, fd, &file, err) < 0)
		return -1;
	if (file.bytes > 0) {
		log_file_close(&file);
		return err_set(err, ERR_IO, "%s: someone else made it", name);
	}
	if (fsync(file.fd) < 0 || fsync(dir_fd) < 0) {
		err_errno(err, "%s: fsync", name);
		log_file_close(&file);
		return -1;
	}
	*ret_file = file;
	return 0;
}

void log_file_close(struct log_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}

int log_file_check(const struct log_file *file, struct err *err)
{
	struct stat held;
	struct stat named;

	if (fstat(file->fd, &held) < 0)
		return err_errno(err, "%s: stat", file->name);
	if (held.st_nlink == 0)
		return err_set(err, ERR_IO, "%s was removed while the log was open", file->name);
	if (fstatat(file->dir_fd, file->name, &named, AT_SYMLINK_NOFOLLOW) < 0)
		return err_errno(err, "%s was moved away while the log was open", file->name);
	if (named.st_dev != held.st_dev || named.st_ino != held.st_ino)
		return err_set(err, ERR_IO,
			       "%s was replaced by another file while the log was open",
			       file->name);
	if ((uint64_t)held.st_size != file->bytes)
		return err_set(err, ERR_IO,
			       "%s has %lld bytes instead of %llu: someone else wrote to it or cut "
			       "it",
			       file->name, (long long)held.st_size,
			       (unsigned long long)file->bytes);
	return 0;
}

static int write_all(struct log_file *file, const char *bytes, size_t len, struct err *err)
{
	while (len > 0) {
		ssize_t done = file->io.write(file->fd, bytes, len);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0) {
			file->full = errno == ENOSPC || errno == EDQUOT;
			return err_errno(err, "%s: write", file->name);
		}
		bytes += done;
		len -= (size_t)done;
	}
	return 0;
}

int log_file_append(struct log_file *file, const void *bytes, size_t len, struct err *err)
{
	file->full = false;
	if (log_file_check(file, err) < 0)
		return -1;
	if (write_all(file, bytes, len, err) < 0) {
		/* If this fails too the line stays torn, and the next start cuts it. */
		if (ftruncate(file->fd, (off_t)file->bytes) < 0)
			file->full = false;
		return -1;
	}
	if (file->io.sync(file->fd) < 0)
		return err_errno(err, "%s: fdatasync", file->name);
	file->bytes += len;
	return 0;
}

int log_file_cut(struct log_file *file, uint64_t len, struct err *err)
{
	if (ftruncate(file->fd, (off_t)len) < 0)
		return err_errno(err, "%s: truncate", file->name);
	if (file->io.sync(file->fd) < 0)
		return err_errno(err, "%s: fdatasync", file->name);
	file->bytes = len;
	return 0;
}
