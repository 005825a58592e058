/*
 * openings.db: the disclosures that open the commitments of records. They are kept apart from the
 * log so that one can be erased without touching the chain. Blocking.
 */
#ifndef BROKER_AUDIT_OPENINGS_H
#define BROKER_AUDIT_OPENINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct openings;

struct opening {
	uint64_t seq;
	char *name;	  /* owned */
	char *disclosure; /* owned */
};

void opening_clear(struct opening *opening);

MUST_CHECK int openings_open(const char *dir, struct openings **ret_openings, struct err *err);
void openings_close(struct openings *openings); /* NULL is fine */
/* The disclosures of one record, appended to an array. */
struct json;
MUST_CHECK int openings_read(struct openings *openings, uint64_t seq, struct json *disclosures,
			     struct err *err);
/* For good: the row, and what a journal still holds of it. ret_count: 0 or 1. */
MUST_CHECK int openings_erase(struct openings *openings, uint64_t seq, const char *name,
			      int64_t *ret_count, struct err *err);
/* A legal hold on records first to past - 1; a name that is there already gets the new range. */
MUST_CHECK int openings_hold(struct openings *openings, const char *name, const char *reason,
			     uint64_t first, uint64_t past, struct err *err);
MUST_CHECK int openings_lift(struct openings *openings, const char *name, int64_t *ret_count,
			     struct err *err);
MUST_CHECK int openings_is_held(struct openings *openings, uint64_t first, uint64_t past,
				bool *ret_held, struct err *err);
/* All or none. */
MUST_CHECK int openings_add(struct openings *openings, const struct opening *items, size_t count,
			    struct err *err);

#endif
