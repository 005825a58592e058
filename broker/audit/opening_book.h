/* The openings of openings.db, one at a time, for reading. Each is checked against its record's
 * digests by whoever has the record. Blocking. */
#ifndef BROKER_AUDIT_OPENING_BOOK_H
#define BROKER_AUDIT_OPENING_BOOK_H

#include <stdint.h>

#include "base/err.h"
#include "base/json.h"

struct opening_book; /* NULL: there is none, and nothing is found in it */

/* path: openings.db of a log. ERR_NOT_FOUND when there is none. */
MUST_CHECK int opening_book_open(const char *path, struct opening_book **ret_book, struct err *err);
void opening_book_close(struct opening_book *book);

/* The disclosure of a value of a record; NULL when it is not there. The caller frees. */
char *opening_book_get(struct opening_book *book, uint64_t seq, const char *name);
/* The value, if the record really committed to it; NULL otherwise. The caller frees. */
struct json *opening_book_value(struct opening_book *book, uint64_t seq, const struct json *record,
				const char *name);
/* Each (name, disclosure) of a record. */
void opening_book_each(struct opening_book *book, uint64_t seq,
		       void (*each)(void *data, const char *name, const char *disclosure),
		       void *data);

#endif
