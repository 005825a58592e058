/* What a table is, for mutate.c: its columns, their keys and the kind of values they have. */
#ifndef CLI_EVAL_MUTATE_SCHEMA_H
#define CLI_EVAL_MUTATE_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/db.h"

enum mutate_kind { COLUMN_OTHER, COLUMN_KEY, COLUMN_FLAG, COLUMN_NUMBER, COLUMN_TIME, COLUMN_WORD };

struct mutate_column {
	char *name;   /* owned */
	char *quoted; /* owned */
	enum mutate_kind kind;
	bool primary;
	bool not_null;
	bool reference; /* to another table, declared or by its name */
	bool composite; /* part of a reference of several columns, which only hold together */
	bool distinct;	/* all its values are different, so a copy of a row needs a new one */
	bool words;	/* texts */
};

struct mutate_table {
	char *name;   /* owned */
	char *quoted; /* owned */
	const char *rowid;
	struct mutate_column *columns; /* owned */
	size_t count;
	bool leaf; /* no other table refers to it */
	int64_t seed;
	int64_t added, removed, changed, missing;
};

char *mutate_quoted(const char *name); /* the caller's */
/* Fills all but name, quoted and seed. rowid is NULL where a column has taken every name of it. */
MUST_CHECK int mutate_read_table(struct db *db, struct mutate_table *table, struct err *err);
void mutate_table_clear(struct mutate_table *table);

#endif
