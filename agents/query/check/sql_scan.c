/*
 * Tokens of SQL, as SQLite reads it or as PostgreSQL does. Comments and blanks separate, and are
 * remembered only as a gap. What can fail: text that SQLite would refuse as well (an open string, a
 * stray byte), parameters, a second statement, too many parentheses.
 */
#include "agents/query/check/sql_scan.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

struct scanner {
	struct sql_tokens *tokens;
	size_t cap;
	const char *text;
	size_t at;
	int depth;
	bool gap;
	bool postgres;
	struct err *err;
};

static bool name_start(char c)
{
	return isalpha((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool name_byte(char c)
{
	return name_start(c) || isdigit((unsigned char)c) || c == '$';
}

static void push(struct scanner *scanner, enum sql_token_kind kind, size_t len)
{
	struct sql_tokens *tokens = scanner->tokens;

	if (tokens->count == scanner->cap) {
		scanner->cap = scanner->cap * 2 + 64;
		tokens->items = mem_grow(tokens->items, scanner->cap * sizeof(*tokens->items));
	}
	tokens->items[tokens->count++] = (struct sql_token){
		kind,		scanner->at, scanner->at + len, scanner->postgres ? scanner->at : 0,
		scanner->depth, scanner->gap};
	scanner->at += len;
	scanner->gap = false;
}

/* Behind a comment that begins at text; PostgreSQL's nest. NULL when it is not closed. */
static const char *comment_end(const struct scanner *scanner, const char *text)
{
	int depth = 1;

	for (text += 2; *text; text++) {
		if (text[0] == '*' && text[1] == '/') {
			if (--depth == 0)
				return text + 2;
			text++;
		} else if (scanner->postgres && text[0] == '/' && text[1] == '*') {
			depth++;
			text++;
		}
	}
	return NULL;
}

static int skip_gap(struct scanner *scanner)
{
	for (;;) {
		const char *text = scanner->text + scanner->at;
		const char *end;

		if (isspace((unsigned char)*text)) {
			scanner->at++;
		} else if (text[0] == '-' && text[1] == '-') {
			scanner->at += strcspn(text, "\n");
		} else if (text[0] == '/' && text[1] == '*') {
			end = comment_end(scanner, text);
			if (!end)
				return err_set(scanner->err, ERR_INVALID,
					       "a comment is not closed");
			scanner->at += (size_t)(end - text);
		} else {
			return 0;
		}
		scanner->gap = true;
	}
}

/* With the quote doubled inside; brackets have no such rule. */
static int quoted(struct scanner *scanner, enum sql_token_kind kind, size_t prefix, char close)
{
	const char *text = scanner->text + scanner->at;
	size_t len = prefix + 1;

	for (;; len++) {
		if (!text[len])
			return err_set(scanner->err, ERR_INVALID, "%c is not closed", close);
		if (text[len] != close)
			continue;
		if (close == ']' || text[len + 1] != close)
			break;
		len++;
	}
	push(scanner, kind, len + 1);
	return 0;
}

static int number(struct scanner *scanner)
{
	const char *text = scanner->text + scanner->at;
	size_t len;

	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		len = 2 + strspn(text + 2, "0123456789abcdefABCDEF");
	} else {
		len = strspn(text, "0123456789");
		if (text[len] == '.')
			len += 1 + strspn(text + len + 1, "0123456789");
		if (text[len] == 'e' || text[len] == 'E') {
			size_t sign = text[len + 1] == '+' || text[len + 1] == '-';
			size_t digits = strspn(text + len + 1 + sign, "0123456789");

			len += digits ? 1 + sign + digits : 0;
		}
	}
	if (name_byte(text[len]))
		return err_set(scanner->err, ERR_INVALID, "unrecognized token \"%.*s\"",
			       (int)(len + 1), text);
	push(scanner, SQL_NUMBER, len);
	return 0;
}

static void sign(struct scanner *scanner)
{
	static const char *const longer[] = {"->>", "->", "||", "<=", ">=", "<>", "!=",
					     "==",  "<<", ">>", "::", ":=", "~*", "!~"};
	const char *text = scanner->text + scanner->at;

	for (size_t i = 0; i < ARRAY_LEN(longer); i++) {
		if (strncmp(text, longer[i], strlen(longer[i])) == 0) {
			push(scanner, SQL_SIGN, strlen(longer[i]));
			return;
		}
	}
	push(scanner, SQL_SIGN, 1);
}

static int parenthesis(struct scanner *scanner, char c)
{
	if (c == '(') {
		push(scanner, SQL_SIGN, 1);
		if (++scanner->depth > SQL_DEPTH_MAX)
			return err_set(scanner->err, ERR_LIMIT, "more than %d parentheses",
				       SQL_DEPTH_MAX);
		return 0;
	}
	if (scanner->depth == 0)
		return err_set(scanner->err, ERR_INVALID, "\")\" closes nothing");
	scanner->depth--;
	push(scanner, SQL_SIGN, 1);
	return 0;
}

/* E'it\'s': a backslash takes the next byte with it. */
static int escaped(struct scanner *scanner)
{
	const char *text = scanner->text + scanner->at;
	size_t len = 2;

	for (; text[len] && (text[len] != '\'' || text[len + 1] == '\''); len++)
		len += (text[len] == '\\' || text[len] == '\'') && text[len + 1];
	if (!text[len])
		return err_set(scanner->err, ERR_INVALID, "' is not closed");
	push(scanner, SQL_STRING, len + 1);
	return 0;
}

/* $tag$ text $tag$ */
static int dollar_quoted(struct scanner *scanner)
{
	const char *text = scanner->text + scanner->at;
	size_t tag = 1;
	const char *end;

	while (name_byte(text[tag]) && text[tag] != '$')
		tag++;
	if (text[tag] != '$' || isdigit((unsigned char)text[1]))
		return err_set(scanner->err, ERR_INVALID, "parameters have no value here");
	for (end = text + tag + 1; *end; end++) {
		if (strncmp(end, text, tag + 1) == 0) {
			push(scanner, SQL_STRING, (size_t)(end - text) + tag + 1);
			return 0;
		}
	}
	return err_set(scanner->err, ERR_INVALID, "%.*s is not closed", (int)(tag + 1), text);
}

/* What only PostgreSQL reads so; false when the common rules apply. */
static bool next_postgres(struct scanner *scanner, int *ret_status)
{
	const char *text = scanner->text + scanner->at;

	if ((text[0] == 'e' || text[0] == 'E') && text[1] == '\'') {
		*ret_status = escaped(scanner);
	} else if (text[0] == '$') {
		*ret_status = dollar_quoted(scanner);
	} else if (strchr("[]:^#@?", text[0])) {
		sign(scanner);
		*ret_status = 0;
	} else {
		return false;
	}
	return true;
}

static int next(struct scanner *scanner)
{
	const char *text = scanner->text + scanner->at;
	char c = *text;
	int status;

	if (scanner->postgres && next_postgres(scanner, &status))
		return status;

	if (name_start(c)) {
		size_t len = 1;

		if ((c == 'x' || c == 'X') && text[1] == '\'')
			return quoted(scanner, SQL_STRING, 1, '\'');
		while (name_byte(text[len]))
			len++;
		push(scanner, SQL_WORD, len);
		return 0;
	}
	if (isdigit((unsigned char)c) || (c == '.' && isdigit((unsigned char)text[1])))
		return number(scanner);
	switch (c) {
	case '\'':
		return quoted(scanner, SQL_STRING, 0, '\'');
	case '"':
	case '`':
		return quoted(scanner, SQL_NAME, 0, c);
	case '[':
		return quoted(scanner, SQL_NAME, 0, ']');
	case '(':
	case ')':
		return parenthesis(scanner, c);
	case '?':
	case ':':
	case '@':
	case '$':
		return err_set(scanner->err, ERR_INVALID, "parameters have no value here");
	default:
		break;
	}
	if (!strchr("+-*/%|&<>=!~,.;", c))
		return err_set(scanner->err, ERR_INVALID, "unrecognized token \"%c\"",
			       isprint((unsigned char)c) ? c : '?');
	sign(scanner);
	return 0;
}

static int scan_all(struct scanner *scanner)
{
	size_t end;

	for (;;) {
		if (skip_gap(scanner) < 0)
			return -1;
		if (!scanner->text[scanner->at])
			break;
		if (next(scanner) < 0)
			return -1;
	}
	if (scanner->depth > 0)
		return err_set(scanner->err, ERR_INVALID, "\"(\" is not closed");
	end = scanner->tokens->count;
	while (end > 0 && sql_token_is(scanner->tokens, end - 1, ";"))
		end--;
	for (size_t i = 0; i < end; i++) {
		if (sql_token_is(scanner->tokens, i, ";"))
			return err_set(scanner->err, ERR_INVALID, "more than one statement");
	}
	scanner->tokens->count = end;
	if (end == 0)
		return err_set(scanner->err, ERR_INVALID, "no statement");
	return 0;
}

int sql_tokens_scan_as(enum sql_dialect dialect, const char *text, struct sql_tokens *ret_tokens,
		       struct err *err)
{
	CLEANUP(sql_tokens_clear) struct sql_tokens tokens = {.text = text};
	struct scanner scanner = {.tokens = &tokens,
				  .text = text,
				  .postgres = dialect == SQL_DIALECT_POSTGRES,
				  .err = err};

	if (scan_all(&scanner) < 0)
		return -1;
	*ret_tokens = tokens;
	tokens = (struct sql_tokens){0};
	return 0;
}

int sql_tokens_scan(const char *text, struct sql_tokens *ret_tokens, struct err *err)
{
	return sql_tokens_scan_as(SQL_DIALECT_SQLITE, text, ret_tokens, err);
}

void sql_tokens_clear(struct sql_tokens *tokens)
{
	mem_free(tokens->items);
	*tokens = (struct sql_tokens){0};
}

bool sql_token_is(const struct sql_tokens *tokens, size_t index, const char *text)
{
	const struct sql_token *token;
	size_t len = strlen(text);

	if (index >= tokens->count)
		return false;
	token = &tokens->items[index];
	return (token->kind == SQL_WORD || token->kind == SQL_SIGN) &&
	       token->end - token->start == len &&
	       strncasecmp(tokens->text + token->start, text, len) == 0;
}

size_t sql_token_at(const struct sql_tokens *tokens, size_t at)
{
	size_t low = 0, high = tokens->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (tokens->items[middle].at < at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void sql_tokens_write(const struct sql_tokens *tokens, size_t first, size_t end, struct buf *out)
{
	for (size_t i = first; i < end && i < tokens->count; i++) {
		const struct sql_token *token = &tokens->items[i];

		if (i > first && token->gap)
			buf_add_char(out, ' ');
		buf_add(out, tokens->text + token->start, token->end - token->start);
	}
}
