/* Who else could change what lies at a path. Blocking. For whole small files see base/file.h. */
#ifndef BASE_FS_H
#define BASE_FS_H

#include "base/err.h"

/*
 * Refuses the folder at an absolute path when someone other than us and root could replace it or
 * what lies in it: it or a folder on the way belongs to somebody else, is a link, or is writable by
 * group or others. On the way, a sticky folder such as /tmp is fine: what lies in it can only be
 * replaced by its owner, who is checked next.
 *
 * ERR_DENIED names the folder and the command that mends it; ERR_NOT_FOUND the part that is absent;
 * ERR_INVALID a path that is not absolute or has a "." or ".." in it.
 */
MUST_CHECK int path_check_owned(const char *path, struct err *err);

#endif
