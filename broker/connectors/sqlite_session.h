/*
 * What one worker keeps for its one grant: the connection, the views it was shown with their
 * shadows and indexes, and the statements it compiled. Everything is made from one catalog and goes
 * with it when the schema changes.
 */
#ifndef BROKER_CONNECTORS_SQLITE_SESSION_H
#define BROKER_CONNECTORS_SQLITE_SESSION_H

#include "broker/connectors/sqlite_explain.h"
#include "broker/connectors/sqlite_open.h"
#include "broker/connectors/sqlite_search.h"
#include "broker/connectors/sqlite_shadow.h"
#include "broker/connectors/sqlite_statement.h"
#include "broker/connectors/sqlite_values.h"

#define SESSION_VIEWS 4	      /* one per kind of tool */
#define SESSION_STATEMENTS 32 /* last used, by text */

struct view {
	char *text; /* the policy view as it came: the key */
	struct reach *reach;
	struct shadow shadow;
	struct name_index *names;   /* made at first use */
	struct value_index *values; /* likewise */
	uint64_t used;
};

struct kept_statement {
	struct statement *statement;
	const struct view *view;
	uint64_t used;
};

struct session {
	struct database database;
	struct view *views[SESSION_VIEWS];
	struct kept_statement statements[SESSION_STATEMENTS];
	struct explain_sizes sizes;
	struct reach *everything; /* for statement_unbound(); made at first use, NULL until then */
	struct shadow everything_shadow;
	const struct view *narrow; /* whose narrow views the connection has; NULL: none */
	uint64_t clock;		   /* of "used" */
};

void session_init(struct session *session, const char *path);
void session_clear(struct session *session);
/* Opens and reads the schema before the first call; a failure shows at that call. */
void session_warm(struct session *session);

/* The result of a method of docs/protocol.md, "connector" (catalog, prepare, execute, tool), never
 * NULL. cancel and run: see struct watch. */
struct json *session_call(struct session *session, const char *method, const struct json *params);

/* For the tools. */
MUST_CHECK int session_statement(struct session *session, struct view *view, const char *sql,
				 struct statement **ret_statement, struct reach **ret_beyond,
				 struct refusal *refusal);

#endif
