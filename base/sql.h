/*
 * SQL as text: quoting, the only way in which a name or a text enters a statement, and walking the
 * tokens of one without understanding it. Tokens as in https://www.sqlite.org/lang_keywords.html
 * and the tokenizer of SQLite 3; whoever has to judge a statement parses it (agents/query/check).
 */
#ifndef BASE_SQL_H
#define BASE_SQL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* "name" and 'text', with the quotes inside doubled. */
void sql_name(const char *name, struct buf *out);
void sql_text(const char *text, struct buf *out);

enum sql_lex_kind {
	SQL_LEX_END,
	SQL_LEX_WORD,	/* keyword or plain name */
	SQL_LEX_QUOTED, /* "x", `x` or [x] */
	SQL_LEX_STRING, /* 'x' */
	SQL_LEX_OTHER,	/* number, operator, anything else: one byte or a run of digits */
};

struct sql_lexeme {
	enum sql_lex_kind kind;
	const char *start; /* into the text */
	size_t len;
};

/* The next one at *cursor, blanks and comments skipped; moves *cursor behind it. An unfinished
 * quote or comment reaches to the end of the text. */
struct sql_lexeme sql_lex_next(const char **cursor);
bool sql_lex_is(const struct sql_lexeme *lexeme, const char *word); /* ASCII case ignored */
/* The name a word or quoted name stands for; the caller's to free. A string too: where SQLite wants
 * a name it takes a string for one. */
char *sql_lex_name(const struct sql_lexeme *lexeme);

/* Nothing but blanks, comments and semicolons? */
bool sql_lex_is_blank(const char *text);

#endif
