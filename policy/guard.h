/*
 * Who else could write what the service obeys? Files and folders of a workspace, and the folders
 * above it, must belong to root or to the workspace's owner and must not be writable by group or
 * others (a sticky folder like /tmp may be, above the workspace). Failures are ERR_DENIED and say
 * which file and what to do.
 */
#ifndef POLICY_GUARD_H
#define POLICY_GUARD_H

#include <sys/types.h>

#include "base/err.h"

/* shown names the file in messages. ERR_NOT_FOUND when it is absent; a link is not followed. */
MUST_CHECK int guard_file(int dir_fd, const char *name, const char *shown, uid_t owner,
			  struct err *err);
MUST_CHECK int guard_folder(int fd, const char *shown, uid_t owner, struct err *err);
/* Every folder from the root to path, which is absolute and without links. */
MUST_CHECK int guard_path(const char *path, uid_t owner, struct err *err);

#endif
