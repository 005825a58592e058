/*
 * openings.db: the disclosures that open the commitments of records. They are kept apart from the
 * log so that one can be erased without touching the chain. Blocking.
 */
#ifndef BROKER_AUDIT_OPENINGS_H
#define BROKER_AUDIT_OPENINGS_H

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
/* All or none. */
MUST_CHECK int openings_add(struct openings *openings, const struct opening *items, size_t count,
			    struct err *err);

#endif
