/* The verified queries of a workspace as a command meets them: its files, compiled, and the means
 * to look at the data. */
#ifndef CLI_QUERY_STORE_H
#define CLI_QUERY_STORE_H

#include "base/clock.h"
#include "cli/trial.h"
#include "policy/workspace.h"

struct query_store {
	char *path; /* of the workspace */
	int fd;
	struct workspace workspace;
	struct json *models;  /* verified_models_compile() */
	const char *timezone; /* borrowed */
	struct date today;
	struct trial trial; /* as the query agent, or as --agent says */
};

/* 0, or an exit code after a message that shows every mistake. Clear in both cases. */
int query_store_open(const char *dir, const char *agent, struct query_store *store);
void query_store_clear(struct query_store *store);

/* The query of that name, with the name of its source; NULL when there is none. */
const struct json *query_store_find(const struct query_store *store, const char *name,
				    const char **ret_source);
/* The one source of the workspace, or the one that is said; NULL after a message. */
const char *query_store_source(const struct query_store *store, const char *said);

/* SQL of the query for today; the caller frees. */
MUST_CHECK int query_store_bind(const struct query_store *store, const struct json *query,
				char **ret_sql, struct err *err);
/* A tool call about one source: with sql, text or neither. */
MUST_CHECK int query_store_call(struct query_store *store, const char *source, const char *tool,
				const char *key, const char *value, struct json **ret_result,
				struct err *err);

/* Reads the file of a query ("queries/sales.yaml:3"), *ret_line being its line. A missing file is
 * empty. */
MUST_CHECK int query_store_read(const struct query_store *store, const char *file,
				struct buf *ret_text, struct err *err);
MUST_CHECK int query_store_write(const struct query_store *store, const char *file,
				 const struct buf *text, struct err *err);
MUST_CHECK int query_store_delete(const struct query_store *store, const char *file,
				  struct err *err);
/* "queries/sales.yaml:3" in two; the caller frees the file. */
char *query_store_place(const struct json *query, int *ret_line);

#endif
