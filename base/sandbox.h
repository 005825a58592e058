/*
 * Confinement, entered before the first byte of a peer is read.
 *
 * The ladder of every confined program (section "Start" of docs/architecture.md):
 *   1. open what must be opened, sandbox_close_others()
 *   2. sandbox_drop(): capabilities, no new privileges
 *   3. sandbox_files(): Landlock, while the process has one thread
 *   4. start the thread pool
 *   5. sandbox_calls(): seccomp on all threads
 *
 * Sanitizer builds define WRIT_SANDBOX_RELAXED: sandbox_calls() then installs the list named
 * "relaxed" (the program's own list and what the sanitizers need), sandbox_files() also leaves
 * /proc readable and sandbox_drop() leaves the process dumpable; release builds do not contain
 * this.
 *
 * Every step fails closed: after an error the program ends. ERR_UNAVAILABLE: the kernel lacks it.
 */
#ifndef BASE_SANDBOX_H
#define BASE_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/sandbox_calls.h"

struct sandbox_path {
	const char *path; /* a folder and what is below it, or one file */
	bool write;	  /* read, write, create and remove below it; else read only */
};

/* What the kernel gave us, as status shows it. */
enum sandbox_level { SANDBOX_FULL, SANDBOX_REDUCED };

/* Closes every descriptor that is not in the list (at most 64, any order, negative ones are
 * skipped). */
MUST_CHECK int sandbox_close_others(const int *keep, size_t count, struct err *err);

/* From root to a role user for good: bounding set of capabilities, groups, gid, uid; proven by
 * trying to come back. Not from root: fine if that is who we are already, otherwise ERR_DENIED. */
MUST_CHECK int sandbox_become(uid_t uid, gid_t gid, struct err *err);

/* Drops every capability (also from the bounding set, where we may), sets no_new_privs; no core
 * dumps, and nobody of the same user may trace us or read our memory. */
MUST_CHECK int sandbox_drop(struct err *err);

/*
 * Landlock: nothing of the file system but these paths; no TCP (ABI 4); no signal to and no
 * abstract socket of processes outside (ABI 6). No path may be executed from, and no device, socket
 * or link be made. Open descriptors keep working. A path to write must exist; one to read that does
 * not exist grants nothing.
 *
 * Without Landlock in the kernel: an error that says how to accept it (`sandbox: reduced` in
 * writ.yaml), or *ret_level = SANDBOX_REDUCED if reduced_ok.
 */
MUST_CHECK int sandbox_files(const struct sandbox_path *paths, size_t count, bool reduced_ok,
			     enum sandbox_level *ret_level, struct err *err);

/* The kernel's Landlock version, 0 without. For status and doctor. */
int sandbox_landlock_abi(void);

/* seccomp: any system call but these kills the process, in every thread, for good. names come from
 * base/sandbox_calls.h; one that this architecture does not know is an error. */
MUST_CHECK int sandbox_calls(const char *const *names, size_t count, struct err *err);

const char *sandbox_profile_name(void); /* "release" or "relaxed" */

#endif
