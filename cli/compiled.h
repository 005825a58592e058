/*
 * Whether a start can do without the compile step (compile.h), because a run of it would find
 * everything as the last one left it.
 *
 * A digest is taken over all that the step reads (writ.yaml, scopes/, metrics/, queries/ with
 * owner, mode and times; of each database its identity, length, times, schema cookie and change
 * counter; the two executables that take part) and all that it writes. A run that had nothing to
 * say, and found and left the same digest, keeps it in state/config/compiled. Where a later start
 * takes that digest again, nothing is compiled. Any doubt is ERR_UNAVAILABLE, and then everything
 * is compiled: a database with a journal or a write-ahead log, a name of a user that the operating
 * system resolves, programs with users of their own, a file that cannot be read.
 *
 * Who can write state/config/ can write what is compiled there, so the kept digest gives nobody
 * power they did not have. Of a time zone the step reads only that there is one; who uses it finds
 * that out for itself.
 */
#ifndef CLI_COMPILED_H
#define CLI_COMPILED_H

#include <stdbool.h>

#include "base/crypto.h"

struct compiled {
	char read[SHA256_HEX_LEN + 1]; /* what the step reads: the same before and after it */
	char hex[SHA256_HEX_LEN + 1];  /* that, and what it writes */
};

/* workspace: absolute, without links, that of workspace_fd. */
MUST_CHECK int compiled_take(int workspace_fd, const char *workspace, struct compiled *ret,
			     struct err *err);
/* Is it the kept one? A file that is missing, damaged or no file is a no. */
bool compiled_is_kept(int workspace_fd, const struct compiled *compiled);
MUST_CHECK int compiled_keep(int workspace_fd, const struct compiled *compiled, struct err *err);

#endif
