/*
 * Past calls decided again: what a record of the log holds of a call, put to the evaluator under
 * another bundle. Facts that a record does not hold are never guessed: the log names users by
 * pseudonym and keeps arguments only as digests, so where a decision hangs on them the record is
 * not replayable, with the reason. A user's name matters only if some rule names users; then every
 * name that rules mention is tried, less those that contradict the recorded decision, and only if
 * all give the same answer it counts. Pure.
 */
#ifndef POLICY_REPLAY_H
#define POLICY_REPLAY_H

#include "policy/policy.h"

enum replay_class {
	REPLAY_UNCHANGED,
	REPLAY_WOULD_ALLOW, /* or ask where it denied */
	REPLAY_WOULD_DENY,  /* or ask where it allowed */
	REPLAY_NOT_REPLAYABLE,
	REPLAY_NO_DECISION, /* the record holds none */
	REPLAY_CLASSES
};

struct replay_line {
	enum replay_class class;
	/* of REPLAY_NOT_REPLAYABLE, stable: user, attributes, arguments, decided_elsewhere (by
	 * token, budget or the connector, before or beside the rules), no_facts */
	const char *reason;
	const char *was; /* deny, ask, allow; NULL for REPLAY_NO_DECISION */
	struct verdict verdict;
	struct json *call; /* call_spec.h, the user by pseudonym; NULL without facts; owned */
};

/* The bundle of this digest, or NULL: then nothing contradicts. */
typedef const struct bundle *replay_find_fn(void *data, const char *digest);

/* record: one of docs/audit-format.md. */
void replay_record(const struct bundle *bundle, const struct json *record, replay_find_fn *find,
		   void *data, struct replay_line *ret_line);
void replay_line_clear(struct replay_line *line);

const char *replay_class_name(enum replay_class class); /* unchanged, would_allow, ... */

#endif
