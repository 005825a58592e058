/* The tokens of one statement, with questions to single ones: for readers of its shape. */
#ifndef BROKER_CONNECTORS_SQLITE_TOKENS_H
#define BROKER_CONNECTORS_SQLITE_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

#include "broker/connectors/sqlite_text.h"

struct tokens {
	struct sql_lexeme *items; /* into the text they were read from */
	size_t count;
};

struct span { /* of tokens: [start, end) */
	size_t start;
	size_t end;
};

void tokens_read(const char *sql, struct tokens *ret_tokens); /* clear it */
void tokens_clear(struct tokens *tokens);

/* A place behind the last token is no word, no character and no name. */
bool tokens_is_word(const struct tokens *tokens, size_t place, const char *word);
bool tokens_is_one_of(const struct tokens *tokens, size_t place, const char *const *words,
		      size_t count);
bool tokens_is_char(const struct tokens *tokens, size_t place, char c);
bool tokens_is_name(const struct tokens *tokens, size_t place); /* a word or a quoted name */
bool tokens_are_same(const struct tokens *tokens, struct span a, struct span b); /* not empty */

#endif
