/* The short-lived compile step: scope files, writ.yaml and metrics into state/. */
#ifndef CLI_COMPILE_H
#define CLI_COMPILE_H

#include <sys/types.h>

#include "base/err.h"

#define COMPILE_WAIT_MS 30000 /* the largest workspace takes a second */

/* Forks, compiles with no other duty in that process, prints every mistake to stderr.
 * Returns EXIT_FINE, EXIT_NEGATIVE (mistakes), EXIT_USAGE (unreadable) or EXIT_UNAVAILABLE (not
 * started, killed, not done in COMPILE_WAIT_MS). */
int compile_in_child(const char *workspace);

/* The same in two steps, for who has more to do: the child is running; the caller waits for it, for
 * at most COMPILE_WAIT_MS, and passes on what waitpid(2) said. */
MUST_CHECK int compile_start(const char *workspace, pid_t *ret_pid, struct err *err);
int compile_result(int status);

/* A reload's child: as above, behind the gate (policy_gate.h). reload_result() also says in a line
 * why nothing was written. */
MUST_CHECK int reload_start(const char *workspace, pid_t *ret_pid, struct err *err);
int reload_result(int status, const char **ret_why);

#endif
