/*
 * Who else could write a file that the service obeys? It must belong to root or to the workspace's
 * owner, not be writable by group or others, and be no link. The folders above the workspace are
 * path_check_owned()'s (base/fs.h). ERR_DENIED says which file and what to do.
 */
#ifndef POLICY_GUARD_H
#define POLICY_GUARD_H

#include <sys/types.h>

#include "base/err.h"

/* shown names the file in messages. ERR_NOT_FOUND when it is absent; a link is not followed. */
MUST_CHECK int guard_file(int dir_fd, const char *name, const char *shown, uid_t owner,
			  struct err *err);
MUST_CHECK int guard_folder(int fd, const char *shown, uid_t owner, struct err *err);

#endif
