/*
 * Editing the files of queries/ as text, so that comments and order stay a person's own. Pure;
 * whoever calls has read the file with base/yaml before, so its shape is known to be right, and
 * reads the result again.
 */
#ifndef CLI_QUERY_FILE_H
#define CLI_QUERY_FILE_H

#include <stddef.h>

#include "base/buf.h"

struct query_key {
	const char *key;
	const char *value; /* YAML text of one line; NULL takes the key away */
};

/* A text as one line of YAML that reads back the same. The caller frees. */
char *query_file_quoted(const char *text);

/* text with a query behind the last one; an empty text becomes a whole file. name, when: may be
 * NULL. */
void query_file_add(const char *text, const char *name, const char *question, const char *sql,
		    const char *when, struct buf *out);

/* text with the keys of the query that begins in this line (from 1) set or taken away. */
void query_file_set(const char *text, int line, const struct query_key *keys, size_t count,
		    struct buf *out);

/* text without that query. The list itself goes with the last one. */
void query_file_remove(const char *text, int line, struct buf *out);

#endif
