/* list_tables and describe_table: what a view shows of the schema. */
#ifndef BROKER_CONNECTORS_SQLITE_TABLES_H
#define BROKER_CONNECTORS_SQLITE_TABLES_H

#include "broker/connectors/sqlite_run.h"
#include "broker/connectors/sqlite_session.h"

#define SAMPLE_ROWS 3
#define SAMPLE_TEXT_MAX 200 /* a sample shows the kind of value, not all of a long one */

struct json *tables_list(const struct reach *view);
MUST_CHECK int tables_describe(struct session *session, struct view *view, const char *name,
			       const struct run_limits *limits, struct json **ret_result,
			       struct refusal *refusal);

#endif
