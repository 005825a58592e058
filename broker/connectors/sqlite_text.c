/*
 * A tokenizer just good enough to know where names, strings and comments begin and end. It never
 * decides what a statement means: the database's own parser does. Nothing here can fail.
 */
#include "broker/connectors/sqlite_text.h"

#include <string.h>
#include <strings.h>

#include "base/mem.h"

void sql_add_name(struct buf *out, const char *name)
{
	buf_add_char(out, '"');
	for (; *name; name++) {
		if (*name == '"')
			buf_add_char(out, '"');
		buf_add_char(out, *name);
	}
	buf_add_char(out, '"');
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

struct sql_token sql_next(const char **cursor)
{
	const char *start = skip_blank(*cursor);
	const char *at = start;
	struct sql_token token = {SQL_OTHER, start, 0};

	if (*at == '\0') {
		token.kind = SQL_END;
	} else if (*at == '\'') {
		token.kind = SQL_STRING;
		at = skip_quoted(at, '\'', true);
	} else if (*at == '"' || *at == '`') {
		token.kind = SQL_QUOTED;
		at = skip_quoted(at, *at, true);
	} else if (*at == '[') {
		token.kind = SQL_QUOTED;
		at = skip_quoted(at, ']', false);
	} else if (is_digit(*at)) {
		while (is_word(*at) || *at == '.')
			at++;
	} else if (is_word(*at)) {
		token.kind = SQL_WORD;
		while (is_word(*at))
			at++;
	} else {
		at++;
	}
	token.len = (size_t)(at - start);
	*cursor = at;
	return token;
}

bool sql_token_is(const struct sql_token *token, const char *word)
{
	return token->kind == SQL_WORD && token->len == strlen(word) &&
	       strncasecmp(token->start, word, token->len) == 0;
}

char *sql_token_name(const struct sql_token *token)
{
	struct buf name = BUF_INIT;
	char close;

	if (token->kind != SQL_QUOTED && token->kind != SQL_STRING)
		return mem_strn(token->start, token->len);
	close = token->start[0] == '[' ? ']' : token->start[0];
	for (size_t i = 1; i + 1 < token->len; i++) {
		if (close != ']' && token->start[i] == close)
			i++;
		buf_add_char(&name, token->start[i]);
	}
	return buf_take(&name);
}

bool sql_is_blank(const char *text)
{
	for (;;) {
		struct sql_token token = sql_next(&text);

		if (token.kind == SQL_END)
			return true;
		if (token.len != 1 || *token.start != ';')
			return false;
	}
}

/* NATURAL is also a name; it joins only when a JOIN follows. */
static bool natural_follows(const char *cursor)
{
	static const char *const between[] = {"left", "right", "full", "inner", "cross", "outer"};

	for (;;) {
		struct sql_token token = sql_next(&cursor);
		bool known = false;

		if (sql_token_is(&token, "join"))
			return true;
		for (size_t i = 0; i < ARRAY_LEN(between); i++)
			known = known || sql_token_is(&token, between[i]);
		if (!known)
			return false;
	}
}

static void add_using(struct sql_joins *joins, const char *cursor)
{
	struct sql_token token = sql_next(&cursor);

	if (token.len != 1 || *token.start != '(')
		return;
	for (;;) {
		token = sql_next(&cursor);
		if (token.kind == SQL_END || (token.len == 1 && *token.start == ')'))
			return;
		if (token.kind != SQL_WORD && token.kind != SQL_QUOTED && token.kind != SQL_STRING)
			continue;
		if (token.kind == SQL_STRING)
			token.kind = SQL_QUOTED; /* SQLite takes 'x' for a name here */
		joins->using_columns =
			mem_grow(joins->using_columns,
				 (joins->using_count + 1) * sizeof(*joins->using_columns));
		joins->using_columns[joins->using_count++] = sql_token_name(&token);
	}
}

void sql_joins_add(struct sql_joins *joins, const char *sql)
{
	for (;;) {
		struct sql_token token = sql_next(&sql);

		if (token.kind == SQL_END)
			return;
		if (sql_token_is(&token, "natural"))
			joins->natural = joins->natural || natural_follows(sql);
		else if (sql_token_is(&token, "using"))
			add_using(joins, sql);
	}
}

void sql_joins_clear(struct sql_joins *joins)
{
	for (size_t i = 0; i < joins->using_count; i++)
		mem_free(joins->using_columns[i]);
	mem_free(joins->using_columns);
	*joins = (struct sql_joins){0};
}
