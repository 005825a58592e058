/*
 * What a workspace keeps of its policies: state/config/policy/ with one file per bundle, the line
 * that names the active one, the line that holds one after a rollback, and the history of attempts.
 * Only the owner can. Formats: docs/protocol.md.
 */
#ifndef CLI_POLICY_STORE_H
#define CLI_POLICY_STORE_H

#include <stdbool.h>

#include "base/crypto.h"
#include "base/err.h"
#include "base/json.h"

struct policy_store {
	int fd; /* the folder */
};

/* Makes the folders when they are absent. */
MUST_CHECK int policy_store_open(int workspace_fd, struct policy_store *ret_store, struct err *err);
void policy_store_close(struct policy_store *store);

struct policy_attempt {
	const char *what;   /* apply, reload, rollback */
	const char *digest; /* NULL when nothing was compiled */
	const char *reason; /* why it was refused; NULL when it was applied */
};

/* Appends one line, on disk when this returns. */
MUST_CHECK int policy_history_add(const struct policy_store *store,
				  const struct policy_attempt *attempt, struct err *err);
/* All lines, oldest first, as a list of {"at","what","digest","by","result","reason"}. A line that
 * cannot be read (a power cut) is left out. The caller owns it. */
MUST_CHECK int policy_history_read(const struct policy_store *store, struct json **ret_lines,
				   struct err *err);

/* The hashes that "active" and "held" name; "" when there is none. */
void policy_active(const struct policy_store *store, char ret_hash[SHA256_HEX_LEN + 1]);
void policy_held(const struct policy_store *store, char ret_hash[SHA256_HEX_LEN + 1]);
/* The bundle to be decided beside the active one; NULL: none from now on. */
MUST_CHECK int policy_candidate(const struct policy_store *store, const char *hash,
				struct err *err);
/* Names the active bundle, in one step. hold: also whatever the files say from now on; otherwise
 * what was held is not any more. */
MUST_CHECK int policy_activate(const struct policy_store *store, const char *hash, bool hold,
			       struct err *err);

#endif
