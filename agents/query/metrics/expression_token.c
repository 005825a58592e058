/* Expressions: from bytes to tokens. Refused: quotes that never close, numbers that are none,
 * comments, and signs the language does not have. */
#include "agents/query/metrics/expression_internal.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

int parse_mistake(struct parser *parser, size_t at, struct err *err, const char *format, ...)
{
	char text[ERR_TEXT_MAX];
	va_list args;

	va_start(args, format);
	IGNORE(vsnprintf(text, sizeof(text), format, args) < 0, "a cut message is still one");
	va_end(args);
	parser->mistake_at = at;
	return err_set(err, ERR_INVALID, "%s", text);
}

static bool word_start(char c)
{
	return isalpha((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool word_char(char c)
{
	return word_start(c) || isdigit((unsigned char)c) || c == '$';
}

/* 'it''s' or "a ""b""": the doubled quote stands for one. */
static int scan_quoted(struct parser *parser, char quote, struct err *err)
{
	const char *source = parser->source;
	size_t i = parser->at + 1;

	for (;; i++) {
		if (source[i] == '\0')
			return parse_mistake(parser, parser->token_at, err,
					     "this quote is never closed");
		if (source[i] == quote && source[i + 1] != quote)
			break;
		if (source[i] == quote)
			i++;
		buf_add_char(&parser->token, source[i]);
	}
	parser->at = i + 1;
	parser->kind = quote == '"' ? TOKEN_NAME : TOKEN_STRING;
	if (quote == '"' && parser->token.len == 0)
		return parse_mistake(parser, parser->token_at, err, "a name is empty");
	return 0;
}

static int scan_number(struct parser *parser, struct err *err)
{
	const char *start = parser->source + parser->at;
	size_t len = strspn(start, "0123456789");

	if (start[len] == '.')
		len += 1 + strspn(start + len + 1, "0123456789");
	if (word_char(start[len]) || start[len] == '.' || start[len - 1] == '.')
		return parse_mistake(parser, parser->token_at, err,
				     "this is no number; write digits, or digits.digits");
	buf_add(&parser->token, start, len);
	parser->at += len;
	parser->kind = TOKEN_NUMBER;
	return 0;
}

static int scan_sign(struct parser *parser, struct err *err)
{
	static const char *const signs[] = {"<=", ">=", "<>", "!=", "||", "+", "-", "*", "/",
					    "%",  "=",	"<",  ">",  "(",  ")", ",", ".", ":"};
	const char *start = parser->source + parser->at;

	for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
		if (strncmp(start, signs[i], strlen(signs[i])) != 0)
			continue;
		if (strncmp(start, "--", 2) == 0 || strncmp(start, "/*", 2) == 0)
			return parse_mistake(parser, parser->token_at, err,
					     "comments are not part of an expression");
		buf_add_str(&parser->token, signs[i]);
		parser->at += strlen(signs[i]);
		parser->kind = TOKEN_SIGN;
		return 0;
	}
	return parse_mistake(parser, parser->token_at, err, "'%c' is not part of an expression",
			     *start);
}

int token_next(struct parser *parser, struct err *err)
{
	const char *source = parser->source;

	buf_reset(&parser->token);
	while (isspace((unsigned char)source[parser->at]))
		parser->at++;
	parser->token_at = parser->at;
	if (source[parser->at] == '\0') {
		parser->kind = TOKEN_END;
		return 0;
	}
	if (source[parser->at] == '\'' || source[parser->at] == '"')
		return scan_quoted(parser, source[parser->at], err);
	if (isdigit((unsigned char)source[parser->at]))
		return scan_number(parser, err);
	if (!word_start(source[parser->at]))
		return scan_sign(parser, err);
	while (word_char(source[parser->at]))
		buf_add_char(&parser->token, source[parser->at++]);
	parser->kind = TOKEN_WORD;
	return 0;
}

bool token_is_word(const struct parser *parser, const char *word)
{
	return parser->kind == TOKEN_WORD && strcasecmp(buf_str(&parser->token), word) == 0;
}

bool token_is_sign(const struct parser *parser, const char *sign)
{
	return parser->kind == TOKEN_SIGN && strcmp(buf_str(&parser->token), sign) == 0;
}

int token_unexpected(struct parser *parser, const char *wanted, struct err *err)
{
	if (parser->kind == TOKEN_END)
		return parse_mistake(parser, parser->token_at, err, "%s is missing at the end",
				     wanted);
	return parse_mistake(parser, parser->token_at, err, "%s is expected here, not %s", wanted,
			     buf_str(&parser->token));
}

int token_want_sign(struct parser *parser, const char *sign, struct err *err)
{
	if (!token_is_sign(parser, sign))
		return token_unexpected(parser, sign, err);
	return token_next(parser, err);
}

int token_want_word(struct parser *parser, const char *word, struct err *err)
{
	if (!token_is_word(parser, word))
		return token_unexpected(parser, word, err);
	return token_next(parser, err);
}
