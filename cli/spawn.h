/* Starting one program of ours with exactly the descriptors it may have. */
#ifndef CLI_SPAWN_H
#define CLI_SPAWN_H

#include <sys/types.h>

#include "base/err.h"

#define SPAWN_FDS_MAX 4

/* Who the program runs as; only root can give it another user. */
struct spawn_user {
	uid_t uid;
	gid_t gid;
};

struct spawn {
	const char *program;	 /* "writ-broker": found beside the running executable */
	const char *const *args; /* behind the program's name; NULL-terminated */
	int fds[SPAWN_FDS_MAX];	 /* become 3, 4, ... in the child; lent */
	int fd_count;
	const struct spawn_user *user; /* NULL: ours */
};

/* stdin and stdout are /dev/null, stderr is ours; no other descriptor and no environment but
 * WRIT_LOG, TZDIR and the sanitizers' options cross over. With a user, neither groups nor any
 * capability do. */
MUST_CHECK int spawn_program(const struct spawn *spawn, pid_t *ret_pid, struct err *err);

/* The folder of the running executable, where its sister programs are. */
MUST_CHECK int spawn_folder(char **ret_folder, struct err *err);

#endif
