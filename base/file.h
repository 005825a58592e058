/*
 * Whole small files, by directory descriptor and without following a link in the last component.
 * Blocking.
 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

/* Appends the file to out. ERR_NOT_FOUND when there is none, ERR_LIMIT when it is larger than max,
 * ERR_INVALID when it is no regular file or a link. */
MUST_CHECK int file_read_at(int dir_fd, const char *name, size_t max, struct buf *out,
			    struct err *err);

/*
 * Puts the bytes in place of the file in one step: temporary file, rename. A reader sees the old or
 * the new one. sync makes it outlive a power cut as well (fsync of file and folder), which costs
 * milliseconds.
 */
MUST_CHECK int file_replace_at(int dir_fd, const char *name, mode_t mode, const void *bytes,
			       size_t len, bool sync, struct err *err);

/* Opens a folder that must belong to us and be closed to everyone else (0700), making it if make
 * is set and it is absent. One of root may also let its group read, and others pass through: root
 * gives each program's user what it needs (cli/program_roles.h). Nobody else may write in it. */
MUST_CHECK int dir_open_private_at(int dir_fd, const char *name, bool make, int *ret_fd,
				   struct err *err);
/* The same for a folder that is only passed through: the descriptor is O_PATH. Never makes it. */
MUST_CHECK int dir_pass_private_at(int dir_fd, const char *name, int *ret_fd, struct err *err);

/* Goes on after short writes and EINTR; errno is that of the failure. */
MUST_CHECK int file_write_all(int fd, const void *bytes, size_t len, struct err *err);

#endif
