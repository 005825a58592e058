/*
 * Expressions: from text to tree, by recursive descent.
 *
 *   or     := and (OR and)*                 and   := not (AND not)*
 *   not    := NOT not | test                test  := sum [comparison | IN | BETWEEN | LIKE | IS]
 *   sum    := term (+ - term)*              term  := joint (* / % joint)*
 *   joint  := sign (|| sign)*               sign  := (+ | -) sign | primary
 *
 * The first mistake ends the parse; its byte offset lets the caller point at it in the file.
 * Refused beside bad grammar: comparisons in a chain, expressions that are too long or too deep.
 */
#include "agents/query/metrics/expression_internal.h"

#include <string.h>

static int parse_sum(struct parser *parser, struct expr **ret, struct err *err);

/* Parses one operand with parse and makes it the next child of parent. */
int parse_into(struct parser *parser, struct expr *parent, parse_fn *parse, struct err *err)
{
	struct expr *kid = NULL;

	if (parse(parser, &kid, err) < 0)
		return -1;
	expr_add(parent, kid);
	return 0;
}

int parse_list(struct parser *parser, struct expr *parent, struct err *err)
{
	for (;;) {
		if (parse_into(parser, parent, parse_or, err) < 0)
			return -1;
		if (!token_is_sign(parser, ","))
			return token_want_sign(parser, ")", err);
		if (token_next(parser, err) < 0)
			return -1;
	}
}

static int parse_sign(struct parser *parser, struct expr **ret, struct err *err)
{
	CLEANUP(expr_freep) struct expr *unary = NULL;
	int result;

	if (!token_is_sign(parser, "-") && !token_is_sign(parser, "+"))
		return parse_primary(parser, ret, err);
	if (++parser->depth > EXPR_DEPTH_MAX)
		return parse_mistake(parser, parser->token_at, err, "nested more than %d deep",
				     EXPR_DEPTH_MAX);
	unary = expr_new(EXPR_UNARY, buf_str(&parser->token));
	unary->offset = parser->token_at;
	if (token_next(parser, err) < 0)
		return -1;
	result = parse_into(parser, unary, parse_sign, err);
	parser->depth--;
	if (result == 0)
		*ret = TAKE(unary);
	return result;
}

/* One level of left-associative operators. */
static int parse_chain(struct parser *parser, const char *const *operators, size_t count,
		       parse_fn *parse, struct expr **ret, struct err *err)
{
	CLEANUP(expr_freep) struct expr *left = NULL;

	if (parse(parser, &left, err) < 0)
		return -1;
	for (;;) {
		struct expr *binary;
		size_t i = 0;

		while (i < count && !token_is_sign(parser, operators[i]) &&
		       !token_is_word(parser, operators[i]))
			i++;
		if (i == count)
			break;
		binary = expr_new(EXPR_BINARY, operators[i]);
		binary->offset = parser->token_at;
		expr_add(binary, left);
		left = binary;
		if (token_next(parser, err) < 0 || parse_into(parser, binary, parse, err) < 0)
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
	if (token_next(parser, err) < 0 || token_want_sign(parser, "(", err) < 0)
		return -1;
	return parse_list(parser, test, err);
}

static int parse_between(struct parser *parser, struct expr *test, struct err *err)
{
	test->kind = EXPR_BETWEEN;
	if (token_next(parser, err) < 0 || parse_into(parser, test, parse_sum, err) < 0 ||
	    token_want_word(parser, "AND", err) < 0)
		return -1;
	return parse_into(parser, test, parse_sum, err);
}

static int parse_is(struct parser *parser, struct expr *test, struct err *err)
{
	test->kind = EXPR_IS_NULL;
	if (token_next(parser, err) < 0)
		return -1;
	if (token_is_word(parser, "NOT")) {
		test->negated = true;
		if (token_next(parser, err) < 0)
			return -1;
	}
	return token_want_word(parser, "NULL", err);
}

static int parse_comparison(struct parser *parser, struct expr *test, const char *operator,
			    struct err * err)
{
	test->kind = EXPR_BINARY;
	test->text = mem_str(strcmp(operator, "!=") == 0 ? "<>" : operator);
	if (token_next(parser, err) < 0)
		return -1;
	return parse_into(parser, test, parse_sum, err);
}

static int parse_rest_of_test(struct parser *parser, struct expr *test, struct err *err)
{
	static const char *const operators[] = {"=", "<>", "!=", "<=", ">=", "<", ">"};

	for (size_t i = 0; i < ARRAY_LEN(operators); i++) {
		if (token_is_sign(parser, operators[i]))
			return parse_comparison(parser, test, operators[i], err);
	}
	if (token_is_word(parser, "IS"))
		return parse_is(parser, test, err);
	if (token_is_word(parser, "NOT")) {
		test->negated = true;
		if (token_next(parser, err) < 0)
			return -1;
	}
	if (token_is_word(parser, "IN"))
		return parse_in(parser, test, err);
	if (token_is_word(parser, "BETWEEN"))
		return parse_between(parser, test, err);
	if (token_is_word(parser, "LIKE"))
		return parse_comparison(parser, test, test->negated ? "NOT LIKE" : "LIKE", err);
	return token_unexpected(parser, "IN, BETWEEN or LIKE", err);
}

static bool test_follows(const struct parser *parser)
{
	static const char *const words[] = {"IS", "NOT", "IN", "BETWEEN", "LIKE"};
	static const char *const signs[] = {"=", "<>", "!=", "<=", ">=", "<", ">"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (token_is_word(parser, words[i]))
			return true;
	}
	for (size_t i = 0; i < ARRAY_LEN(signs); i++) {
		if (token_is_sign(parser, signs[i]))
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
		return parse_mistake(parser, parser->token_at, err,
				     "comparisons do not chain; join them with AND");
	*ret = TAKE(test);
	return 0;
}

static int parse_not(struct parser *parser, struct expr **ret, struct err *err)
{
	CLEANUP(expr_freep) struct expr *unary = NULL;
	int result;

	if (!token_is_word(parser, "NOT"))
		return parse_test(parser, ret, err);
	if (++parser->depth > EXPR_DEPTH_MAX)
		return parse_mistake(parser, parser->token_at, err, "nested more than %d deep",
				     EXPR_DEPTH_MAX);
	unary = expr_new(EXPR_UNARY, "NOT");
	unary->offset = parser->token_at;
	if (token_next(parser, err) < 0)
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

int parse_or(struct parser *parser, struct expr **ret, struct err *err)
{
	static const char *const operators[] = {"OR"};
	int result;

	if (++parser->depth > EXPR_DEPTH_MAX)
		return parse_mistake(parser, parser->token_at, err, "nested more than %d deep",
				     EXPR_DEPTH_MAX);
	result = parse_chain(parser, operators, 1, parse_and, ret, err);
	parser->depth--;
	return result;
}

static int parse_whole(struct parser *parser, struct expr **ret, struct err *err)
{
	CLEANUP(expr_freep) struct expr *expr = NULL;

	if (token_next(parser, err) < 0)
		return -1;
	if (parser->kind == TOKEN_END)
		return parse_mistake(parser, 0, err, "the expression is empty");
	if (parse_or(parser, &expr, err) < 0)
		return -1;
	if (parser->kind != TOKEN_END)
		return token_unexpected(parser, "an operator or the end", err);
	*ret = TAKE(expr);
	return 0;
}

int expr_parse(const char *source, struct expr **ret_expr, size_t *ret_offset, struct err *err)
{
	struct parser parser = {.source = source, .token = BUF_INIT};
	int result;

	if (strlen(source) > EXPR_BYTES_MAX)
		result = parse_mistake(&parser, 0, err, "the expression is longer than %d bytes",
				       EXPR_BYTES_MAX);
	else
		result = parse_whole(&parser, ret_expr, err);
	buf_clear(&parser.token);
	if (result < 0 && ret_offset)
		*ret_offset = parser.mistake_at;
	return result;
}
