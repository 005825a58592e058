/* Durable appending to one file. What can fail: the disk, and someone else's hand on the file. */
#include "broker/audit/log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int log_file_open(int dir_fd, bool create, struct log_file *ret_file, struct err *err)
{
	int flags = O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
	CLEANUP(fd_closep) int fd = openat(dir_fd, LOG_FILE_NAME, flags);
	struct stat stat;

	if (fd < 0 && errno == ENOENT && !create)
		return err_set(err, ERR_NOT_FOUND, LOG_FILE_NAME ": no such file");
	if (fd < 0 && errno == ENOENT) {
		fd = openat(dir_fd, LOG_FILE_NAME, flags | O_CREAT | O_EXCL, 0600);
		if (fd >= 0 && (fsync(fd) < 0 || fsync(dir_fd) < 0))
			return err_errno(err, LOG_FILE_NAME ": fsync");
	}
	if (fd < 0 || fstat(fd, &stat) < 0)
		return err_errno(err, LOG_FILE_NAME ": open");
	if (!S_ISREG(stat.st_mode))
		return err_set(err, ERR_INVALID, LOG_FILE_NAME ": is no regular file");
	*ret_file = (struct log_file){.dir_fd = dir_fd,
				      .fd = fd,
				      .bytes = (uint64_t)stat.st_size,
				      .io = {write, fdatasync}};
	fd = -1;
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
		return err_errno(err, LOG_FILE_NAME ": stat");
	if (held.st_nlink == 0)
		return err_set(err, ERR_IO, LOG_FILE_NAME " was removed while the log was open");
	if (fstatat(file->dir_fd, LOG_FILE_NAME, &named, AT_SYMLINK_NOFOLLOW) < 0)
		return err_errno(err, LOG_FILE_NAME " was moved away while the log was open");
	if (named.st_dev != held.st_dev || named.st_ino != held.st_ino)
		return err_set(err, ERR_IO,
			       LOG_FILE_NAME
			       " was replaced by another file while the log was open");
	if ((uint64_t)held.st_size != file->bytes)
		return err_set(err, ERR_IO,
			       LOG_FILE_NAME
			       " has %lld bytes instead of %llu: someone else wrote to "
			       "it or cut it",
			       (long long)held.st_size, (unsigned long long)file->bytes);
	return 0;
}

static int write_all(struct log_file *file, const char *bytes, size_t len, struct err *err)
{
	while (len > 0) {
		ssize_t done = file->io.write(file->fd, bytes, len);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return err_errno(err, LOG_FILE_NAME ": write");
		bytes += done;
		len -= (size_t)done;
	}
	return 0;
}

int log_file_append(struct log_file *file, const void *bytes, size_t len, struct err *err)
{
	if (log_file_check(file, err) < 0)
		return -1;
	if (write_all(file, bytes, len, err) < 0) {
		/* If this fails too the line stays torn, and the next start cuts it. */
		IGNORE(ftruncate(file->fd, (off_t)file->bytes) < 0, "the first error counts");
		return -1;
	}
	if (file->io.sync(file->fd) < 0)
		return err_errno(err, LOG_FILE_NAME ": fdatasync");
	file->bytes += len;
	return 0;
}

int log_file_cut(struct log_file *file, uint64_t len, struct err *err)
{
	if (ftruncate(file->fd, (off_t)len) < 0)
		return err_errno(err, LOG_FILE_NAME ": truncate");
	if (file->io.sync(file->fd) < 0)
		return err_errno(err, LOG_FILE_NAME ": fdatasync");
	file->bytes = len;
	return 0;
}
