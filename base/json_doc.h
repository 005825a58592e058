/*
 * A JSON text of ours that is read once, kept, and freed as a whole: its nodes and strings lie one
 * behind the other in a few large pieces of memory, so ten thousand rules are not two million
 * allocations. Read by the same strict reader as every other (json.h). Not bounded by the pool of
 * json_use_pool().
 */
#ifndef BASE_JSON_DOC_H
#define BASE_JSON_DOC_H

#include "base/json.h"

struct json_doc;

/* As json_parse(); fails as it does. */
MUST_CHECK int json_doc_parse(const char *bytes, size_t len, size_t len_max,
			      struct json_doc **ret_doc, struct err *err);
/* Never NULL. Lent: only to be read, or copied with json_copy(). */
const struct json *json_doc_root(const struct json_doc *doc);
void json_doc_free(struct json_doc *doc); /* NULL is fine */
void json_doc_freep(struct json_doc **doc);

#endif
