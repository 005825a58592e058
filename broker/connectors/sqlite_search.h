/* search_schema: full text search (FTS5, BM25) over the names that a view shows. */
#ifndef BROKER_CONNECTORS_SQLITE_SEARCH_H
#define BROKER_CONNECTORS_SQLITE_SEARCH_H

#include "broker/connectors/sqlite_reach.h"

struct name_index;

MUST_CHECK int name_index_open(const struct reach *view, struct name_index **ret_index,
			       struct err *err);
void name_index_close(struct name_index *index); /* NULL is fine */
/* An array of {"table","column" (null: the table itself),"type","score"}, best first. */
MUST_CHECK int name_index_search(struct name_index *index, const char *text, int64_t limit,
				 struct json **ret_matches, struct err *err);

#endif
