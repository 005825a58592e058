/* What a compiled statement would open, how SQLite plans it and what it may cost. */
#ifndef BROKER_CONNECTORS_SQLITE_EXPLAIN_H
#define BROKER_CONNECTORS_SQLITE_EXPLAIN_H

#include <stddef.h>
#include <stdint.h>

#include <sqlite3.h>

#include "base/err.h"
#include "base/json.h"
#include "broker/connectors/sqlite_open.h"

struct explain_page { /* the root of a b-tree */
	int database; /* 0 main, 1 temp */
	int64_t page;
};

/* What the statement's program opens, each once; the caller frees. The caller has set the guard's
 * mode and has compiled sql alone before. https://www.sqlite.org/opcode.html */
MUST_CHECK int explain_opened(sqlite3 *sqlite, const char *sql, struct explain_page **ret_pages,
			      size_t *ret_count, struct err *err);

/* Sizes of b-trees, remembered until schema or file size change. Zero is empty. */
struct explain_sizes {
	int64_t version;
	int64_t page_count;
	struct explain_size {
		int64_t page;
		int64_t bytes;
		int64_t cells; /* of its leaves: rows; 0 when not known */
	} * items;
	size_t count;
};
void explain_sizes_clear(struct explain_sizes *sizes);

/* {"ok":true,"plan":["SCAN orders",...],"bytes_estimated":N,"tables":[...],"columns":["t.c"],
 * "shape":"<64 hex>" (sqlite_shape.h)}: the estimate counts
 * every b-tree the plan opens whole, so it is exact for scans, but for rows and ranges of an index
 * that are sought once (sqlite_sought.h): rows times pages. An upper bound for all other look-ups.
 */
MUST_CHECK int explain_statement(struct database *database, struct explain_sizes *sizes,
				 const char *sql, const struct reach *facts,
				 const struct reach *view, struct json **ret_result,
				 struct refusal *refusal);

#endif
