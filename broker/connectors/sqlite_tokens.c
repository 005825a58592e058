/* Plain look-ups. Nothing here can fail. */
#include "broker/connectors/sqlite_tokens.h"

#include <string.h>
#include <strings.h>

#include "base/mem.h"

void tokens_read(const char *sql, struct tokens *ret_tokens)
{
	struct tokens tokens = {0};

	for (;;) {
		struct sql_lexeme token = sql_lex_next(&sql);

		if (token.kind == SQL_LEX_END)
			break;
		tokens.items = mem_grow(tokens.items, (tokens.count + 1) * sizeof(*tokens.items));
		tokens.items[tokens.count++] = token;
	}
	*ret_tokens = tokens;
}

void tokens_clear(struct tokens *tokens)
{
	mem_free(tokens->items);
	*tokens = (struct tokens){0};
}

bool tokens_is_word(const struct tokens *tokens, size_t place, const char *word)
{
	return place < tokens->count && tokens->items[place].kind == SQL_LEX_WORD &&
	       sql_lex_is(&tokens->items[place], word);
}

bool tokens_is_one_of(const struct tokens *tokens, size_t place, const char *const *words,
		      size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (tokens_is_word(tokens, place, words[i]))
			return true;
	return false;
}

bool tokens_is_char(const struct tokens *tokens, size_t place, char c)
{
	return place < tokens->count && tokens->items[place].kind == SQL_LEX_OTHER &&
	       tokens->items[place].len == 1 && tokens->items[place].start[0] == c;
}

bool tokens_is_name(const struct tokens *tokens, size_t place)
{
	return place < tokens->count &&
	       (tokens->items[place].kind == SQL_LEX_WORD || tokens->items[place].kind == SQL_LEX_QUOTED);
}

static bool is_same(const struct sql_lexeme *a, const struct sql_lexeme *b)
{
	if (a->kind != b->kind || a->len != b->len)
		return false;
	return a->kind == SQL_LEX_WORD ? strncasecmp(a->start, b->start, a->len) == 0
				   : memcmp(a->start, b->start, a->len) == 0;
}

bool tokens_are_same(const struct tokens *tokens, struct span a, struct span b)
{
	if (a.end - a.start != b.end - b.start || a.end == a.start)
		return false;
	for (size_t i = 0; i < a.end - a.start; i++)
		if (!is_same(&tokens->items[a.start + i], &tokens->items[b.start + i]))
			return false;
	return true;
}
