/*
 * Do the openings of openings.db open what the records committed to? Records are handed in while
 * they are verified, in order; the database is read along with them, so memory does not grow with
 * it. Blocking.
 */
#ifndef BROKER_AUDIT_OPENINGS_CHECK_H
#define BROKER_AUDIT_OPENINGS_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct openings_report {
	bool there;	       /* the database was */
	uint64_t commitments;  /* in the records that were read */
	uint64_t present;      /* of them can be opened, and fit */
	uint64_t redacted;     /* cannot, and a record of a redaction says so */
	uint64_t missing;      /* cannot, without such a record */
	uint64_t undone;       /* redacted by a record, but the opening is still there */
	uint64_t wrong;	       /* openings that no commitment of their record fits */
	uint64_t wrong_record; /* the first of those */
};

struct openings_check;

/* path: the database. Without one everything is missing. */
MUST_CHECK int openings_check_new(const char *path, struct openings_check **ret_check,
				  struct err *err);
void openings_check_free(struct openings_check *check);
void openings_check_record(struct openings_check *check, uint64_t seq, const char *entry,
			   size_t len);
/* Fails when the database could not be read in between. */
MUST_CHECK int openings_check_end(struct openings_check *check, struct openings_report *ret_report,
				  struct err *err);

#endif
