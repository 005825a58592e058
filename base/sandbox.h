/*
 * Confinement, entered before the first byte of a peer is read.
 *
 * The ladder of every confined program (section "Start" of docs/architecture.md):
 *   1. open what must be opened          2. sandbox_drop(): capabilities, no new privileges
 *   3. sandbox_files(): Landlock, while the process has one thread
 *   4. start the thread pool             5. sandbox_calls(): seccomp on all threads
 *
 * Sanitizer builds define WRIT_SANDBOX_RELAXED: sandbox_calls() then installs the list named
 * "relaxed" (the program's own list and what the sanitizers need); release builds do not contain it.
 */
#ifndef BASE_SANDBOX_H
#define BASE_SANDBOX_H

#include <stdbool.h>

#include "base/err.h"

struct sandbox_path {
	const char *path;
	bool write; /* read, write, create and remove below it; else read only */
};

/* What the kernel gave us, as status shows it. */
enum sandbox_level { SANDBOX_FULL, SANDBOX_REDUCED };

/* Drops capabilities and sets no_new_privs; dumpable off. */
MUST_CHECK int sandbox_drop(struct err *err);

/* Landlock: nothing of the file system but these paths. Without Landlock in the kernel: an error
 * that says how to accept it (`sandbox: reduced` in writ.yaml), or *ret_level = SANDBOX_REDUCED if
 * reduced_ok. */
MUST_CHECK int sandbox_files(const struct sandbox_path *paths, size_t count, bool reduced_ok,
			     enum sandbox_level *ret_level, struct err *err);

/* seccomp, default kill, all threads. names are system calls; each list says why beside each. */
MUST_CHECK int sandbox_calls(const char *const *names, size_t count, struct err *err);

const char *sandbox_profile_name(void); /* "release" or "relaxed" */

#endif
