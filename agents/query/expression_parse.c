/*
 * Expressions: from text to tree, by recursive descent.
 *
 *   or     := and (OR and)*                 and   := not (AND not)*
 *   not    := NOT not | test                test  := sum [comparison | IN | BETWEEN | LIKE | IS]
 *   sum    := term (+ - term)*              term  := joint (* / % joint)*
 *   joint  := sign (|| sign)*               sign  := (+ | -) sign | primary
 *
 * The first mistake ends the parse; its byte offset lets the caller point at it in the file.
 * Refused beside bad grammar: aggregates inside aggregates, DISTINCT anywhere but in COUNT, unknown
 * functions, expressions that are too long or too deep.
 */
#include "agents/query/expression.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/nearest.h"

enum token_kind { TOKEN_END, TOKEN_WORD, TOKEN_NAME, TOKEN_NUMBER, TOKEN_STRING, TOKEN_SIGN };

struct parser {
	const char *source;
	size_t at; /* behind the current token */
	enum token_kind kind;
	struct buf token; /* its text: words as written, names and strings unquoted */
	size_t token_at;
	int depth;
	bool in_aggregate;
	size_t mistake_at;
};

static int mistake(struct parser *parser, size_t at, struct err *err, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static int mistake(struct parser *parser, size_t at, struct err *err, const char *format, ...)
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
			return mistake(parser, parser->token_at, err, "this quote is never closed");
		if (source[i] == quote && source[i + 1] != quote)
			break;
		if (source[i] == quote)
			i++;
		buf_add_char(&parser->token, source[i]);
	}
	parser->at = i + 1;
	parser->kind = quote == '"' ? TOKEN_NAME : TOKEN_STRING;
	if (quote == '"' && parser->token.len == 0)
		return mistake(parser, parser->token_at, err, "a name is empty");
	return 0;
}

static int scan_number(struct parser *parser, struct err *err)
{
	const char *start = parser->source + parser->at;
	size_t len = strspn(start, "0123456789");

	if (start[len] == '.')
		len += 1 + strspn(start + len + 1, "0123456789");
	if (word_char(start[len]) || start[len] == '.' || start[len - 1] == '.')
		return mistake(parser, parser->token_at, err,
			       "this is no number; write digits, or digits.digits");
	buf_add(&parser->token, start, len);
	parser->at += len;
	parser->kind = TOKEN_NUMBER;
	return 0;
}

static int scan_sign(struct parser *parser, struct err *err)
{
	static const char *const signs[] = {"<=", ">=", "<>", "!=", "||", "+", "-", "*", "/",
					    "%",  "=",	"<",  ">",  "(",  ")", ",", "."};
	const char *start = parser->source + parser->at;

	for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
		if (strncmp(start, signs[i], strlen(signs[i])) != 0)
			continue;
		if (strncmp(start, "--", 2) == 0 || strncmp(start, "/*", 2) == 0)
			return mistake(parser, parser->token_at, err,
				       "comments are not part of an expression");
		buf_add_str(&parser->token, signs[i]);
		parser->at += strlen(signs[i]);
		parser->kind = TOKEN_SIGN;
		return 0;
	}
	return mistake(parser, parser->token_at, err, "'%c' is not part of an expression", *start);
}

static int next_token(struct parser *parser, struct err *err)
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

static bool at_word(const struct parser *parser, const char *word)
{
	return parser->kind == TOKEN_WORD && strcasecmp(buf_str(&parser->token), word) == 0;
}

static bool at_sign(const struct parser *parser, const char *sign)
{
	return parser->kind == TOKEN_SIGN && strcmp(buf_str(&parser->token), sign) == 0;
}

static int unexpected(struct parser *parser, const char *wanted, struct err *err)
{
	if (parser->kind == TOKEN_END)
		return mistake(parser, parser->token_at, err, "%s is missing at the end", wanted);
	return mistake(parser, parser->token_at, err, "%s is expected here, not %s", wanted,
		       buf_str(&parser->token));
}

static int want_sign(struct parser *parser, const char *sign, struct err *err)
{
	if (!at_sign(parser, sign))
		return unexpected(parser, sign, err);
	return next_token(parser, err);
}

static int want_word(struct parser *parser, const char *word, struct err *err)
{
	if (!at_word(parser, word))
		return unexpected(parser, word, err);
	return next_token(parser, err);
}

static int parse_or(struct parser *parser, struct expr **ret, struct err *err);
static int parse_sum(struct parser *parser, struct expr **ret, struct err *err);

/* Parses one operand with parse and makes it the next child of parent. */
static int parse_into(struct parser *parser, struct expr *parent,
		      int (*parse)(struct parser *, struct expr **, struct err *), struct err *err)
{
	struct expr *kid = NULL;

	if (parse(parser, &kid, err) < 0)
		return -1;
	expr_add(parent, kid);
	return 0;
}

static int parse_list(struct parser *parser, struct expr *parent, struct err *err)
{
	for (;;) {
		if (parse_into(parser, parent, parse_or, err) < 0)
			return -1;
		if (!at_sign(parser, ","))
			return want_sign(parser, ")", err);
		if (next_token(parser, err) < 0)
			return -1;
	}
}

struct function {
	const char *name; /* as written */
	const char *sql;  /* as emitted */
	size_t args_min;
	size_t args_max;
	bool aggregate;
};

static const struct function functions[] = {
	{"abs", "abs", 1, 1, false},
	{"avg", "avg", 1, 1, true},
	{"coalesce", "coalesce", 2, 16, false},
	{"count", "count", 1, 1, true},
	{"datediff", "datediff", 3, 3, false},
	{"ifnull", "coalesce", 2, 2, false},
	{"length", "length", 1, 1, false},
	{"lower", "lower", 1, 1, false},
	{"max", "max", 1, 1, true},
	{"min", "min", 1, 1, true},
	{"nullif", "nullif", 2, 2, false},
	{"nvl", "coalesce", 2, 2, false},
	{"replace", "replace", 3, 3, false},
	{"round", "round", 1, 2, false},
	{"substr", "substr", 2, 3, false},
	{"substring", "substr", 2, 3, false},
	{"sum", "sum", 1, 1, true},
	{"trim", "trim", 1, 1, false},
	{"upper", "upper", 1, 1, false},
};

static const struct function *function_find(struct parser *parser, const char *name, size_t at,
					    struct err *err)
{
	const char *names[ARRAY_LEN(functions)];
	const char *near;

	for (size_t i = 0; i < ARRAY_LEN(functions); i++) {
		if (strcasecmp(name, functions[i].name) == 0)
			return &functions[i];
		names[i] = functions[i].name;
	}
	near = nearest_word(name, names, ARRAY_LEN(names));
	if (near)
		mistake(parser, at, err, "no function %s; did you mean %s?", name, near);
	else
		mistake(parser, at, err,
			"no function %s; there are abs, avg, coalesce, count, datediff, length, "
			"lower, max, min, nullif, replace, round, substr, sum, trim and upper",
			name);
	return NULL;
}

/* Behind "count(" and the like: what aggregates have that other functions do not. */
static int parse_aggregate_head(struct parser *parser, struct expr *call, size_t at,
				struct err *err)
{
	if (parser->in_aggregate)
		return mistake(parser, at, err, "an aggregate inside an aggregate has no meaning");
	if (at_word(parser, "DISTINCT")) {
		if (strcmp(call->text, "count") != 0)
			return mistake(parser, parser->token_at, err,
				       "%s(DISTINCT ...) drops equal values that are not the same "
				       "thing; only COUNT takes DISTINCT",
				       call->text);
		call->distinct = true;
		return next_token(parser, err);
	}
	return 0;
}

static int parse_arguments(struct parser *parser, struct expr *call, bool aggregate, size_t at,
			   struct err *err)
{
	int result;

	if (next_token(parser, err) < 0)
		return -1;
	if (at_sign(parser, ")"))
		return next_token(parser, err);
	if (aggregate && parse_aggregate_head(parser, call, at, err) < 0)
		return -1;
	if (aggregate && !call->distinct && strcmp(call->text, "count") == 0 &&
	    at_sign(parser, "*")) {
		if (next_token(parser, err) < 0)
			return -1;
		return want_sign(parser, ")", err);
	}
	if (!aggregate)
		return parse_list(parser, call, err);
	parser->in_aggregate = true;
	result = parse_list(parser, call, err);
	parser->in_aggregate = false;
	return result;
}

/* DATEDIFF(day, start, end): the unit is a word of the language, no column. */
static int take_unit(struct parser *parser, struct expr *call, struct err *err)
{
	struct expr *unit = call->kids[0];

	if ((unit->kind != EXPR_COLUMN && unit->kind != EXPR_STRING) || unit->dataset ||
	    strcasecmp(unit->text, "day") != 0)
		return mistake(parser, unit->offset, err,
			       "datediff counts days: write DATEDIFF(day, start, end)");
	expr_free(unit);
	call->count--;
	memmove(call->kids, call->kids + 1, call->count * sizeof(*call->kids));
	return 0;
}

static int parse_call(struct parser *parser, const char *name, size_t at, struct expr **ret,
		      struct err *err)
{
	const struct function *function = function_find(parser, name, at, err);
	CLEANUP(expr_freep) struct expr *call = NULL;
	bool star;

	if (!function)
		return -1;
	call = expr_new(function->aggregate ? EXPR_AGGREGATE : EXPR_FUNCTION, function->sql);
	call->offset = at;
	star = strcmp(function->name, "count") == 0 &&
	       parser->source[parser->at + strspn(parser->source + parser->at, " \t\n\r")] == '*';
	if (parse_arguments(parser, call, function->aggregate, at, err) < 0)
		return -1;
	if (!star && (call->count < function->args_min || call->count > function->args_max))
		return mistake(parser, at, err, "%s takes %zu%s argument%s, not %zu",
			       function->name, function->args_min,
			       function->args_max > function->args_min ? " or more" : "",
			       function->args_max > 1 ? "s" : "", call->count);
	if (strcmp(function->name, "datediff") == 0 && take_unit(parser, call, err) < 0)
		return -1;
	*ret = TAKE(call);
	return 0;
}

static int parse_case(struct parser *parser, size_t at, struct expr **ret, struct err *err)
{
	CLEANUP(expr_freep) struct expr *expr = expr_new(EXPR_CASE, NULL);

	expr->offset = at;
	if (!at_word(parser, "WHEN")) {
		expr->has_base = true;
		if (parse_into(parser, expr, parse_or, err) < 0)
			return -1;
	}
	do {
		if (want_word(parser, "WHEN", err) < 0 ||
		    parse_into(parser, expr, parse_or, err) < 0 ||
		    want_word(parser, "THEN", err) < 0 ||
		    parse_into(parser, expr, parse_or, err) < 0)
			return -1;
	} while (at_word(parser, "WHEN"));
	if (at_word(parser, "ELSE")) {
		expr->has_else = true;
		if (next_token(parser, err) < 0 || parse_into(parser, expr, parse_or, err) < 0)
			return -1;
	}
	if (want_word(parser, "END", err) < 0)
		return -1;
	*ret = TAKE(expr);
	return 0;
}

/* Words of SQL that cannot be the name of a column unless quoted. */
static bool reserved(const char *word)
{
	static const char *const words[] = {"AND",  "AS",    "BETWEEN", "CASE",	 "DISTINCT",
					    "ELSE", "END",   "FROM",	"GROUP", "HAVING",
					    "IN",   "IS",    "JOIN",	"LIKE",	 "NOT",
					    "ON",   "OR",    "ORDER",	"OVER",	 "SELECT",
					    "THEN", "UNION", "WHEN",	"WHERE", "FILTER"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (strcasecmp(word, words[i]) == 0)
			return true;
	}
	return false;
}

/* name | dataset.name, the first part already read. */
static int parse_column(struct parser *parser, const char *first, size_t at, struct expr **ret,
			struct err *err)
{
	CLEANUP(expr_freep) struct expr *column = expr_new(EXPR_COLUMN, first);

	column->offset = at;
	if (at_sign(parser, ".")) {
		if (next_token(parser, err) < 0)
			return -1;
		if (parser->kind != TOKEN_WORD && parser->kind != TOKEN_NAME)
			return unexpected(parser, "a name", err);
		column->dataset = column->text;
		column->text = mem_str(buf_str(&parser->token));
		if (next_token(parser, err) < 0)
			return -1;
		if (at_sign(parser, "."))
			return mistake(parser, at, err,
				       "write dataset.field: two parts, not three");
	}
	*ret = TAKE(column);
	return 0;
}

static int parse_word(struct parser *parser, struct expr **ret, struct err *err)
{
	CLEANUP(mem_freep) char *word = mem_str(buf_str(&parser->token));
	size_t at = parser->token_at;
	bool quoted = parser->kind == TOKEN_NAME;

	if (!quoted && strcasecmp(word, "CASE") == 0) {
		if (next_token(parser, err) < 0)
			return -1;
		return parse_case(parser, at, ret, err);
	}
	if (!quoted && reserved(word))
		return mistake(parser, at, err,
			       "%s cannot stand here; a column of that name is "
			       "written in double quotes",
			       word);
	if (next_token(parser, err) < 0)
		return -1;
	if (!quoted && at_sign(parser, "("))
		return parse_call(parser, word, at, ret, err);
	if (!quoted && (strcasecmp(word, "NULL") == 0 || strcasecmp(word, "TRUE") == 0 ||
			strcasecmp(word, "FALSE") == 0)) {
		for (char *c = word; *c; c++)
			*c = (char)toupper((unsigned char)*c);
		*ret = expr_new(EXPR_WORD, word);
		(*ret)->offset = at;
		return 0;
	}
	return parse_column(parser, word, at, ret, err);
}

static int parse_literal(struct parser *parser, enum expr_kind kind, struct expr **ret,
			 struct err *err)
{
	CLEANUP(expr_freep) struct expr *literal = expr_new(kind, buf_str(&parser->token));

	literal->offset = parser->token_at;
	if (next_token(parser, err) < 0)
		return -1;
	*ret = TAKE(literal);
	return 0;
}

static int parse_group(struct parser *parser, struct expr **ret, struct err *err)
{
	CLEANUP(expr_freep) struct expr *inner = NULL;

	if (next_token(parser, err) < 0 || parse_or(parser, &inner, err) < 0 ||
	    want_sign(parser, ")", err) < 0)
		return -1;
	*ret = TAKE(inner);
	return 0;
}

static int parse_primary(struct parser *parser, struct expr **ret, struct err *err)
{
	switch (parser->kind) {
	case TOKEN_NUMBER:
		return parse_literal(parser, EXPR_NUMBER, ret, err);
	case TOKEN_STRING:
		return parse_literal(parser, EXPR_STRING, ret, err);
	case TOKEN_WORD:
	case TOKEN_NAME:
		return parse_word(parser, ret, err);
	case TOKEN_SIGN:
		if (at_sign(parser, "("))
			return parse_group(parser, ret, err);
		return unexpected(parser, "a value", err);
	case TOKEN_END:
		break;
	}
	return unexpected(parser, "a value", err);
}

static int parse_sign(struct parser *parser, struct expr **ret, struct err *err)
{
	CLEANUP(expr_freep) struct expr *unary = NULL;
	int result;

	if (!at_sign(parser, "-") && !at_sign(parser, "+"))
		return parse_primary(parser, ret, err);
	if (++parser->depth > EXPR_DEPTH_MAX)
		return mistake(parser, parser->token_at, err, "nested more than %d deep",
			       EXPR_DEPTH_MAX);
	unary = expr_new(EXPR_UNARY, buf_str(&parser->token));
	unary->offset = parser->token_at;
	if (next_token(parser, err) < 0)
		return -1;
	result = parse_into(parser, unary, parse_sign, err);
	parser->depth--;
	if (result == 0)
		*ret = TAKE(unary);
	return result;
}

/* One level of left-associative operators. */
static int parse_chain(struct parser *parser, const char *const *operators, size_t count,
		       int (*parse)(struct parser *, struct expr **, struct err *),
		       struct expr **ret, struct err *err)
{
	CLEANUP(expr_freep) struct expr *left = NULL;

	if (parse(parser, &left, err) < 0)
		return -1;
	for (;;) {
		struct expr *binary;
		size_t i = 0;

		while (i < count && !at_sign(parser, operators[i]) &&
		       !at_word(parser, operators[i]))
			i++;
		if (i == count)
			break;
		binary = expr_new(EXPR_BINARY, operators[i]);
		binary->offset = parser->token_at;
		expr_add(binary, left);
		left = binary;
		if (next_token(parser, err) < 0 || parse_into(parser, binary, parse, err) < 0)
			return -1;
	}
	*ret = TAKE(left);
	return 0;
}

static int parse_joint(struct parser *parser, struct expr **ret, struct err *err)
{
	static const char *const operators[] = {"||"};

	return parse_chain(parser, operators, 1, parse_sign, ret, err);
}

static int parse_term(struct parser *parser, struct expr **ret, struct err *err)
{
	static const char *const operators[] = {"*", "/", "%"};

	return parse_chain(parser, operators, 3, parse_joint, ret, err);
}

static int parse_sum(struct parser *parser, struct expr **ret, struct err *err)
{
	static const char *const operators[] = {"+", "-"};

	return parse_chain(parser, operators, 2, parse_term, ret, err);
}

static int parse_in(struct parser *parser, struct expr *test, struct err *err)
{
	test->kind = EXPR_IN;
	if (next_token(parser, err) < 0 || want_sign(parser, "(", err) < 0)
		return -1;
	return parse_list(parser, test, err);
}

static int parse_between(struct parser *parser, struct expr *test, struct err *err)
{
	test->kind = EXPR_BETWEEN;
	if (next_token(parser, err) < 0 || parse_into(parser, test, parse_sum, err) < 0 ||
	    want_word(parser, "AND", err) < 0)
		return -1;
	return parse_into(parser, test, parse_sum, err);
}

static int parse_is(struct parser *parser, struct expr *test, struct err *err)
{
	test->kind = EXPR_IS_NULL;
	if (next_token(parser, err) < 0)
		return -1;
	if (at_word(parser, "NOT")) {
		test->negated = true;
		if (next_token(parser, err) < 0)
			return -1;
	}
	return want_word(parser, "NULL", err);
}

static int parse_comparison(struct parser *parser, struct expr *test, const char *operator,
			    struct err * err)
{
	test->kind = EXPR_BINARY;
	test->text = mem_str(strcmp(operator, "!=") == 0 ? "<>" : operator);
	if (next_token(parser, err) < 0)
		return -1;
	return parse_into(parser, test, parse_sum, err);
}

static int parse_rest_of_test(struct parser *parser, struct expr *test, struct err *err)
{
	static const char *const operators[] = {"=", "<>", "!=", "<=", ">=", "<", ">"};

	for (size_t i = 0; i < ARRAY_LEN(operators); i++) {
		if (at_sign(parser, operators[i]))
			return parse_comparison(parser, test, operators[i], err);
	}
	if (at_word(parser, "IS"))
		return parse_is(parser, test, err);
	if (at_word(parser, "NOT")) {
		test->negated = true;
		if (next_token(parser, err) < 0)
			return -1;
	}
	if (at_word(parser, "IN"))
		return parse_in(parser, test, err);
	if (at_word(parser, "BETWEEN"))
		return parse_between(parser, test, err);
	if (at_word(parser, "LIKE"))
		return parse_comparison(parser, test, test->negated ? "NOT LIKE" : "LIKE", err);
	return unexpected(parser, "IN, BETWEEN or LIKE", err);
}

static bool test_follows(const struct parser *parser)
{
	static const char *const words[] = {"IS", "NOT", "IN", "BETWEEN", "LIKE"};
	static const char *const signs[] = {"=", "<>", "!=", "<=", ">=", "<", ">"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (at_word(parser, words[i]))
			return true;
	}
	for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
		if (at_sign(parser, signs[i]))
			return true;
	}
	return false;
}

static int parse_test(struct parser *parser, struct expr **ret, struct err *err)
{
	CLEANUP(expr_freep) struct expr *left = NULL;
	CLEANUP(expr_freep) struct expr *test = NULL;

	if (parse_sum(parser, &left, err) < 0)
		return -1;
	if (!test_follows(parser)) {
		*ret = TAKE(left);
		return 0;
	}
	test = expr_new(EXPR_BINARY, NULL);
	test->offset = left->offset;
	expr_add(test, TAKE(left));
	if (parse_rest_of_test(parser, test, err) < 0)
		return -1;
	if (test_follows(parser))
		return mistake(parser, parser->token_at, err,
			       "comparisons do not chain; join them with AND");
	*ret = TAKE(test);
	return 0;
}

static int parse_not(struct parser *parser, struct expr **ret, struct err *err)
{
	CLEANUP(expr_freep) struct expr *unary = NULL;
	int result;

	if (!at_word(parser, "NOT"))
		return parse_test(parser, ret, err);
	if (++parser->depth > EXPR_DEPTH_MAX)
		return mistake(parser, parser->token_at, err, "nested more than %d deep",
			       EXPR_DEPTH_MAX);
	unary = expr_new(EXPR_UNARY, "NOT");
	unary->offset = parser->token_at;
	if (next_token(parser, err) < 0)
		return -1;
	result = parse_into(parser, unary, parse_not, err);
	parser->depth--;
	if (result == 0)
		*ret = TAKE(unary);
	return result;
}

static int parse_and(struct parser *parser, struct expr **ret, struct err *err)
{
	static const char *const operators[] = {"AND"};

	return parse_chain(parser, operators, 1, parse_not, ret, err);
}

static int parse_or(struct parser *parser, struct expr **ret, struct err *err)
{
	static const char *const operators[] = {"OR"};
	int result;

	if (++parser->depth > EXPR_DEPTH_MAX)
		return mistake(parser, parser->token_at, err, "nested more than %d deep",
			       EXPR_DEPTH_MAX);
	result = parse_chain(parser, operators, 1, parse_and, ret, err);
	parser->depth--;
	return result;
}

static int parse_whole(struct parser *parser, struct expr **ret, struct err *err)
{
	CLEANUP(expr_freep) struct expr *expr = NULL;

	if (next_token(parser, err) < 0)
		return -1;
	if (parser->kind == TOKEN_END)
		return mistake(parser, 0, err, "the expression is empty");
	if (parse_or(parser, &expr, err) < 0)
		return -1;
	if (parser->kind != TOKEN_END)
		return unexpected(parser, "an operator or the end", err);
	*ret = TAKE(expr);
	return 0;
}

int expr_parse(const char *source, struct expr **ret_expr, size_t *ret_offset, struct err *err)
{
	struct parser parser = {.source = source, .token = BUF_INIT};
	int result;

	if (strlen(source) > EXPR_BYTES_MAX)
		result = mistake(&parser, 0, err, "the expression is longer than %d bytes",
				 EXPR_BYTES_MAX);
	else
		result = parse_whole(&parser, ret_expr, err);
	buf_clear(&parser.token);
	if (result < 0 && ret_offset)
		*ret_offset = parser.mistake_at;
	return result;
}
