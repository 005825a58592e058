/*
 * Is this answer the one the log committed to? The answer object of docs/answer.md carries the
 * openings of its task.close record: each must be one of the record's digests, and what it opens to
 * must be what the answer says. Pure: records are handed in while the log is verified.
 */
#ifndef CLI_AUDIT_ANSWER_H
#define CLI_AUDIT_ANSWER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"

enum answer_state {
	ANSWER_ABSENT, /* neither said nor committed */
	ANSWER_MATCHES,
	ANSWER_DIFFERS,	 /* says something else than was committed */
	ANSWER_UNPROVEN, /* said, but nothing opens a commitment to it */
};

#define ANSWER_FIELDS 4
#define ANSWER_TEXT_MAX 400

struct answer_check {
	struct json *answer; /* owned */
	const char *task;
	struct json *close; /* the task.close record once seen; owned */
	uint64_t close_seq;
	size_t records_listed;
	size_t records_seen;
	bool failed;		   /* proof that answer and log differ */
	char why[ANSWER_TEXT_MAX]; /* the first such proof */
	struct answer_field {
		const char *name;   /* as committed: question, sql, result, answer */
		const char *member; /* of the answer */
		enum answer_state state;
		char text[ANSWER_TEXT_MAX]; /* what differs, where */
	} fields[ANSWER_FIELDS];
};

/* bytes: the file of `writ ask --json`. */
MUST_CHECK int answer_check_init(struct answer_check *check, const char *bytes, size_t len,
				 struct err *err);
void answer_check_clear(struct answer_check *check);

/* The head that was current when the answer was given, kept outside the log; NULL when absent. */
const char *answer_checkpoint(const struct answer_check *check);

/* Each record of the log, in order. */
void answer_check_record(struct answer_check *check, uint64_t seq, const char *entry, size_t len);
/* After the last record. */
void answer_check_end(struct answer_check *check);
/* Every field that is there is proven, and nothing failed. */
bool answer_is_proven(const struct answer_check *check);

const char *answer_state_name(enum answer_state state);

#endif
