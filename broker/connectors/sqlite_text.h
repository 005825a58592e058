/* SQL as text: quoting names, walking tokens and finding joins by equal column names.
 * Tokens as in https://www.sqlite.org/lang_keywords.html and the tokenizer of SQLite 3. */
#ifndef BROKER_CONNECTORS_SQLITE_TEXT_H
#define BROKER_CONNECTORS_SQLITE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* Appends "name" with inner quotes doubled: the one way a name enters SQL text. */
void sql_add_name(struct buf *out, const char *name);

enum sql_token_kind {
	SQL_END,
	SQL_WORD,   /* keyword or plain name */
	SQL_QUOTED, /* "x", `x` or [x] */
	SQL_STRING, /* 'x' */
	SQL_OTHER,  /* number, operator, anything else: one byte or a run of digits */
};

struct sql_token {
	enum sql_token_kind kind;
	const char *start; /* into the text */
	size_t len;
};

/* The next token at *cursor, blanks and comments skipped; moves *cursor behind it. An unfinished
 * quote or comment reaches to the end of the text. */
struct sql_token sql_next(const char **cursor);
bool sql_token_is(const struct sql_token *token, const char *word); /* ASCII case ignored */
/* The name a SQL_WORD or SQL_QUOTED token stands for; the caller's to free. A SQL_STRING too: where
 * SQLite wants a name it takes a string for one. */
char *sql_token_name(const struct sql_token *token);

/* Nothing but blanks, comments and semicolons? */
bool sql_is_blank(const char *text);

/*
 * Columns compared by NATURAL JOIN and USING never reach an authorizer (SQLite 3.40.1), so they
 * are read from the text. Some names may be too many, none is missing.
 */
struct sql_joins {
	bool natural;
	char **using_columns; /* owned */
	size_t using_count;
};
void sql_joins_add(struct sql_joins *joins, const char *sql);
void sql_joins_clear(struct sql_joins *joins);

#endif
