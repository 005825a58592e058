/* Runs a prepared statement under limits: docs/protocol.md, "RESULT". */
#ifndef BROKER_CONNECTORS_SQLITE_RUN_H
#define BROKER_CONNECTORS_SQLITE_RUN_H

#include <stdint.h>

#include "broker/connectors/sqlite_statement.h"

/* So that a result fits a line of a channel, whatever a policy allows. */
#define RUN_BYTES_MAX (3 << 20)

struct run_limits {
	int64_t rows;
	int64_t bytes;	    /* of the rows as JSON */
	int64_t scan_bytes; /* pages read times page size */
	int64_t time_ms;
	size_t text_max; /* 0, or where a long value is cut */
};

/* {"rows","bytes","scan_bytes","time_ms"}, all positive. */
MUST_CHECK int run_limits_read(const struct json *limits, struct run_limits *ret_limits,
			       struct err *err);

/* Why running was not begun or not finished without a fault of the statement. */
#define RUN_SCHEMA_CHANGED 1

/*
 * 0: *ret_result is the RESULT. -1: refused. RUN_SCHEMA_CHANGED: the statement would have to be
 * compiled anew; nothing was read. One row more than the limit is fetched to know "truncated".
 * The guard is closed all the while, so SQLite cannot compile anew by itself. database_watch() has
 * been called. The statement is reset afterwards. Rows of groups that are too small are left out
 * and counted: "suppressed_groups" and "min_group" of the result.
 */
MUST_CHECK int run_statement(struct database *database, const struct statement *statement,
			     const struct run_limits *limits, struct json **ret_result,
			     struct refusal *refusal);

#endif
