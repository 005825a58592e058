/*
 * Quoting, and a tokenizer just good enough to know where names, strings and comments begin and
 * end. It never decides what a statement means. Nothing here can fail.
 */
#include "base/sql.h"

#include <string.h>
#include <strings.h>

#include "base/mem.h"

void sql_name(const char *name, struct buf *out)
{
	buf_add_char(out, '"');
	for (; *name; name++) {
		if (*name == '"')
			buf_add_char(out, '"');
		buf_add_char(out, *name);
	}
	buf_add_char(out, '"');
}

void sql_text(const char *text, struct buf *out)
{
	buf_add_char(out, '\'');
	for (; *text; text++) {
		if (*text == '\'')
			buf_add_char(out, '\'');
		buf_add_char(out, *text);
	}
	buf_add_char(out, '\'');
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

/* SQLite takes U+FEFF for a blank where a token could begin. */
static bool is_byte_order_mark(const char *at)
{
	return at[0] == '\xEF' && at[1] == '\xBB' && at[2] == '\xBF';
}

static const char *skip_blank(const char *at)
{
	for (;;) {
		if (is_blank(*at)) {
			at++;
		} else if (is_byte_order_mark(at)) {
			at += 3;
		} else if (at[0] == '-' && at[1] == '-') {
			at += strcspn(at, "\n");
		} else if (at[0] == '/' && at[1] == '*') {
			const char *end = strstr(at + 2, "*/");

			at = end ? end + 2 : at + strlen(at);
		} else {
			return at;
		}
	}
}

/* Behind the closing quote; a doubled one stands for itself. */
static const char *skip_quoted(const char *at, char close, bool doubled)
{
	for (at++; *at; at++) {
		if (*at != close)
			continue;
		if (!doubled || at[1] != close)
			return at + 1;
		at++;
	}
	return at;
}

struct sql_lexeme sql_lex_next(const char **cursor)
{
	const char *start = skip_blank(*cursor);
	const char *at = start;
	struct sql_lexeme token = {SQL_LEX_OTHER, start, 0};

	if (*at == '\0') {
		token.kind = SQL_LEX_END;
	} else if (*at == '\'') {
		token.kind = SQL_LEX_STRING;
		at = skip_quoted(at, '\'', true);
	} else if (*at == '"' || *at == '`') {
		token.kind = SQL_LEX_QUOTED;
		at = skip_quoted(at, *at, true);
	} else if (*at == '[') {
		token.kind = SQL_LEX_QUOTED;
		at = skip_quoted(at, ']', false);
	} else if (is_digit(*at)) {
		while (is_word(*at) || *at == '.')
			at++;
	} else if (is_word(*at)) {
		token.kind = SQL_LEX_WORD;
		while (is_word(*at))
			at++;
	} else {
		at++;
	}
	token.len = (size_t)(at - start);
	*cursor = at;
	return token;
}

bool sql_lex_is(const struct sql_lexeme *token, const char *word)
{
	return token->kind == SQL_LEX_WORD && token->len == strlen(word) &&
	       strncasecmp(token->start, word, token->len) == 0;
}

char *sql_lex_name(const struct sql_lexeme *token)
{
	struct buf name = BUF_INIT;
	char close;

	if (token->kind != SQL_LEX_QUOTED && token->kind != SQL_LEX_STRING)
		return mem_strn(token->start, token->len);
	close = token->start[0] == '[' ? ']' : token->start[0];
	for (size_t i = 1; i + 1 < token->len; i++) {
		if (close != ']' && token->start[i] == close)
			i++;
		buf_add_char(&name, token->start[i]);
	}
	return buf_take(&name);
}

bool sql_lex_is_blank(const char *text)
{
	for (;;) {
		struct sql_lexeme token = sql_lex_next(&text);

		if (token.kind == SQL_LEX_END)
			return true;
		if (token.len != 1 || *token.start != ';')
			return false;
	}
}
