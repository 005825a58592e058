/*
 * SQL as tokens, and SQLite's (https://www.sqlite.org/lang.html) written again for a PostgreSQL
 * parser. Strict, with places, in two dialects; where only the ends of tokens matter, see base/sql.h.
 * Pure.
 */
#ifndef AGENTS_QUERY_SQL_SCAN_H
#define AGENTS_QUERY_SQL_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

#define SQL_DEPTH_MAX 64 /* parentheses; above what SQLite's own parser stack takes */

/* Whose words a statement is in. PostgreSQL's are parsed as they stand. */
enum sql_dialect { SQL_DIALECT_SQLITE, SQL_DIALECT_POSTGRES };

enum sql_token_kind {
	SQL_WORD,   /* keyword or name, unquoted */
	SQL_NAME,   /* "name", `name`, [name] */
	SQL_STRING, /* 'text', also x'00' */
	SQL_NUMBER,
	SQL_SIGN, /* operators and punctuation */
};

struct sql_token {
	enum sql_token_kind kind;
	size_t start; /* bytes of the statement */
	size_t end;
	size_t at; /* where it begins in the text written by sql_tokens_normalise() */
	int depth; /* of parentheses around it; those themselves lie outside */
	bool gap;  /* a blank or comment stands before it */
};

struct sql_tokens {
	const char *text; /* lent */
	struct sql_token *items;
	size_t count;
};

/* One statement, with or without a semicolon behind. ERR_INVALID names what is wrong, and refuses
 * parameters: their values are not in the text. */
MUST_CHECK int sql_tokens_scan(const char *text, struct sql_tokens *ret_tokens, struct err *err);
/* In PostgreSQL's words (https://www.postgresql.org/docs/current/sql-syntax-lexical.html) tokens
 * get their at, for that text is parsed as it stands. */
MUST_CHECK int sql_tokens_scan_as(enum sql_dialect dialect, const char *text,
				  struct sql_tokens *ret_tokens, struct err *err);
void sql_tokens_clear(struct sql_tokens *tokens);

/* Is it this keyword or sign? Case is ignored; a quoted name is no keyword. */
bool sql_token_is(const struct sql_tokens *tokens, size_t index, const char *text);
/* The token that begins at or behind this byte of the normalised text; count when none. */
size_t sql_token_at(const struct sql_tokens *tokens, size_t at);
/* Tokens first to before end as they were written, comments left out. */
void sql_tokens_write(const struct sql_tokens *tokens, size_t first, size_t end, struct buf *out);

/*
 * The same statement in words that PostgreSQL's grammar takes: `x` and [x] as "x", LIMIT a, b with
 * OFFSET, == as =, IS x as IS NOT DISTINCT FROM x, GLOB, MATCH and REGEXP as LIKE, 0x1F as 0,
 * x IN table as x IN (SELECT NULL), JOIN without a condition as CROSS JOIN, INDEXED BY dropped,
 * sub-queries of FROM named. Which rows it
 * would give is not kept in every case (LIMIT's two numbers change places); which columns meet in
 * which way is. Sets the tokens' at.
 */
void sql_tokens_normalise(struct sql_tokens *tokens, struct buf *out);

#endif
