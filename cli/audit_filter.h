/* Which records `writ audit show`, `export` and `report` are about: options and the test of one
 * record. */
#ifndef CLI_AUDIT_FILTER_H
#define CLI_AUDIT_FILTER_H

#include "base/err.h"
#include "base/json.h"
#include "broker/audit/opening_book.h"

struct audit_filter {
	const char *task;
	const char *user;  /* a name, or a pseudonym "user:<16 hex>" */
	const char *agent; /* its name or URI */
	const char *tool;
	const char *decision; /* allow, deny, ask */
	const char *event;
	const char *since; /* as given */
	const char *until;
	char since_time[32]; /* as records write times; empty: none */
	char until_time[32];

	/* Pseudonyms that openings gave the name to, so far. */
	struct audit_user {
		char *subject; /* owned */
		char *name;    /* owned */
	} * users;
	size_t user_count;
};

/* Takes --task, --user, ...: as audit_option(). */
int audit_filter_option(int argc, char **argv, int *at, struct audit_filter *filter);
/* Times: 2026-10-15, 2026-10-15T08:30:00Z, or 2h (ago). ERR_INVALID for any other, and for a
 * decision that is none. */
MUST_CHECK int audit_filter_init(struct audit_filter *filter, int64_t now_us, struct err *err);
void audit_filter_clear(struct audit_filter *filter);
/* Call it for each record in order: names of users are learned on the way. book may be NULL. */
bool audit_filter_takes(struct audit_filter *filter, struct opening_book *book,
			const struct json *record);
/* The user's name if an opening gave it, else the pseudonym, else "". */
const char *audit_filter_user(const struct audit_filter *filter, const struct json *record);

/* "N" or "N-M": numbers of records, both included; *ret_to is the one behind. */
MUST_CHECK int audit_range_read(const char *text, uint64_t *ret_from, uint64_t *ret_to,
				struct err *err);

#endif
