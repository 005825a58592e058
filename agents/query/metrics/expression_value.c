/* Expressions: literals, columns, calls, CASE and parentheses. Refused: unknown functions,
 * DISTINCT anywhere but in COUNT, words that SQL keeps for itself. */
#include "agents/query/metrics/expression_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/nearest.h"

struct function {
	const char *name; /* as written */
	const char *sql;  /* as emitted */
	size_t args_min;
	size_t args_max;
	bool aggregate;
	bool window; /* needs OVER */
};

static const struct function functions[] = {
	{"abs", "abs", 1, 1, false, false},
	{"avg", "avg", 1, 1, true, false},
	{"coalesce", "coalesce", 2, 16, false, false},
	{"count", "count", 1, 1, true, false},
	{"datediff", "datediff", 3, 3, false, false},
	{"ifnull", "coalesce", 2, 2, false, false},
	{"length", "length", 1, 1, false, false},
	{"lower", "lower", 1, 1, false, false},
	{"max", "max", 1, 1, true, false},
	{"median", "median", 1, 1, true, false},
	{"min", "min", 1, 1, true, false},
	{"nullif", "nullif", 2, 2, false, false},
	{"nvl", "coalesce", 2, 2, false, false},
	{"percentile_cont", "percentile_cont", 1, 1, true, false},
	{"percentile_disc", "percentile_disc", 1, 1, true, false},
	{"replace", "replace", 3, 3, false, false},
	{"round", "round", 1, 2, false, false},
	{"stddev", "stddev", 1, 1, true, false},
	{"stddev_pop", "stddev_pop", 1, 1, true, false},
	{"stddev_samp", "stddev", 1, 1, true, false},
	{"substr", "substr", 2, 3, false, false},
	{"substring", "substr", 2, 3, false, false},
	{"sum", "sum", 1, 1, true, false},
	{"trim", "trim", 1, 1, false, false},
	{"var_pop", "var_pop", 1, 1, true, false},
	{"var_samp", "variance", 1, 1, true, false},
	{"variance", "variance", 1, 1, true, false},
	{"upper", "upper", 1, 1, false, false},
	{"cume_dist", "cume_dist", 0, 0, false, true},
	{"dense_rank", "dense_rank", 0, 0, false, true},
	{"first_value", "first_value", 1, 1, false, true},
	{"lag", "lag", 1, 3, false, true},
	{"last_value", "last_value", 1, 1, false, true},
	{"lead", "lead", 1, 3, false, true},
	{"nth_value", "nth_value", 2, 2, false, true},
	{"ntile", "ntile", 1, 1, false, true},
	{"percent_rank", "percent_rank", 0, 0, false, true},
	{"rank", "rank", 0, 0, false, true},
	{"row_number", "row_number", 0, 0, false, true},
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
		parse_mistake(parser, at, err, "no function %s; did you mean %s?", name, near);
	else
		parse_mistake(
			parser, at, err,
			"no function %s; there are abs, avg, coalesce, count, datediff, length, "
			"lower, max, median, min, nullif, percentile_cont, percentile_disc, "
			"replace, "
			"round, stddev, stddev_pop, substr, sum, trim, upper, var_pop and variance",
			name);
	return NULL;
}

/* Behind "count(" and the like: what aggregates have that other functions do not. */
static int parse_aggregate_head(struct parser *parser, struct expr *call, struct err *err)
{
	if (token_is_word(parser, "DISTINCT")) {
		if (strcmp(call->text, "count") != 0)
			return parse_mistake(
				parser, parser->token_at, err,
				"%s(DISTINCT ...) drops equal values that are not the same "
				"thing; only COUNT takes DISTINCT",
				call->text);
		call->distinct = true;
		return token_next(parser, err);
	}
	return 0;
}

static int parse_arguments(struct parser *parser, struct expr *call, bool aggregate,
			   struct err *err)
{
	if (token_next(parser, err) < 0)
		return -1;
	if (token_is_sign(parser, ")"))
		return token_next(parser, err);
	if (aggregate && parse_aggregate_head(parser, call, err) < 0)
		return -1;
	if (aggregate && !call->distinct && strcmp(call->text, "count") == 0 &&
	    token_is_sign(parser, "*")) {
		if (token_next(parser, err) < 0)
			return -1;
		return token_want_sign(parser, ")", err);
	}
	return parse_list(parser, call, err);
}

/* DATEDIFF(day, start, end): the unit is a word of the language, no column. */
static int take_unit(struct parser *parser, struct expr *call, struct err *err)
{
	struct expr *unit = call->kids[0];

	if ((unit->kind != EXPR_COLUMN && unit->kind != EXPR_STRING) || unit->dataset ||
	    strcasecmp(unit->text, "day") != 0)
		return parse_mistake(parser, unit->offset, err,
				     "datediff counts days: write DATEDIFF(day, start, end)");
	expr_free(unit);
	call->count--;
	memmove(call->kids, call->kids + 1, call->count * sizeof(*call->kids));
	return 0;
}

/* PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x): x becomes the first child, the share the second.
 */
static int take_percentile(struct parser *parser, struct expr *call, struct err *err)
{
	const struct expr *share = call->kids[0];
	struct expr *value = NULL;

	if (share->kind != EXPR_NUMBER || strtod(share->text, NULL) > 1)
		return parse_mistake(parser, share->offset, err,
				     "the share of %s is a number from 0 to 1", call->text);
	if (token_want_word(parser, "WITHIN", err) < 0 ||
	    token_want_word(parser, "GROUP", err) < 0 || token_want_sign(parser, "(", err) < 0 ||
	    token_want_word(parser, "ORDER", err) < 0 || token_want_word(parser, "BY", err) < 0 ||
	    parse_or(parser, &value, err) < 0)
		return -1;
	expr_add(call, call->kids[0]);
	call->kids[0] = value;
	if (token_is_word(parser, "ASC") && token_next(parser, err) < 0)
		return -1;
	return token_want_sign(parser, ")", err);
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
	if (parse_arguments(parser, call, function->aggregate, err) < 0)
		return -1;
	if (!star && (call->count < function->args_min || call->count > function->args_max))
		return parse_mistake(parser, at, err, "%s takes %zu%s argument%s, not %zu",
				     function->name, function->args_min,
				     function->args_max > function->args_min ? " or more" : "",
				     function->args_max > 1 ? "s" : "", call->count);
	if (strcmp(function->name, "datediff") == 0 && take_unit(parser, call, err) < 0)
		return -1;
	if (strncmp(function->name, "percentile_", 11) == 0 &&
	    take_percentile(parser, call, err) < 0)
		return -1;
	if (expr_is_ranked(call) && token_is_word(parser, "OVER"))
		return parse_mistake(parser, parser->token_at, err,
				     "%s is taken of groups, not over a window", function->name);
	if (function->window || (function->aggregate && token_is_word(parser, "OVER")))
		return parse_window(parser, TAKE(call), ret, err);
	if (parse_check_nested(parser, call, err) < 0)
		return -1;
	*ret = TAKE(call);
	return 0;
}

static int parse_case(struct parser *parser, size_t at, struct expr **ret, struct err *err)
{
	CLEANUP(expr_freep) struct expr *expr = expr_new(EXPR_CASE, NULL);

	expr->offset = at;
	if (!token_is_word(parser, "WHEN")) {
		expr->has_base = true;
		if (parse_into(parser, expr, parse_or, err) < 0)
			return -1;
	}
	do {
		if (token_want_word(parser, "WHEN", err) < 0 ||
		    parse_into(parser, expr, parse_or, err) < 0 ||
		    token_want_word(parser, "THEN", err) < 0 ||
		    parse_into(parser, expr, parse_or, err) < 0)
			return -1;
	} while (token_is_word(parser, "WHEN"));
	if (token_is_word(parser, "ELSE")) {
		expr->has_else = true;
		if (token_next(parser, err) < 0 || parse_into(parser, expr, parse_or, err) < 0)
			return -1;
	}
	if (token_want_word(parser, "END", err) < 0)
		return -1;
	*ret = TAKE(expr);
	return 0;
}

bool expr_reserved_word(const char *word)
{
	static const char *const words[] = {
		"AND",	 "AS",	  "BETWEEN", "CASE",   "DISTINCT", "ELSE",	  "END",
		"FROM",	 "GROUP", "HAVING",  "IN",     "IS",	   "JOIN",	  "LIKE",
		"NOT",	 "ON",	  "OR",	     "ORDER",  "OVER",	   "SELECT",	  "THEN",
		"UNION", "WHEN",  "WHERE",   "FILTER", "GRAIN",	   "QUERY_FILTER"};

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
	if (token_is_sign(parser, ".")) {
		if (token_next(parser, err) < 0)
			return -1;
		if (parser->kind != TOKEN_WORD && parser->kind != TOKEN_NAME)
			return token_unexpected(parser, "a name", err);
		column->dataset = column->text;
		column->text = mem_str(buf_str(&parser->token));
		if (token_next(parser, err) < 0)
			return -1;
		if (token_is_sign(parser, "."))
			return parse_mistake(parser, at, err,
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
		if (token_next(parser, err) < 0)
			return -1;
		return parse_case(parser, at, ret, err);
	}
	if (!quoted && expr_reserved_word(word))
		return parse_mistake(parser, at, err,
				     "%s cannot stand here; a column of that name is "
				     "written in double quotes",
				     word);
	if (token_next(parser, err) < 0)
		return -1;
	if (!quoted && token_is_sign(parser, "("))
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
	if (token_next(parser, err) < 0)
		return -1;
	*ret = TAKE(literal);
	return 0;
}

static int parse_group(struct parser *parser, struct expr **ret, struct err *err)
{
	CLEANUP(expr_freep) struct expr *inner = NULL;

	if (token_next(parser, err) < 0 || parse_or(parser, &inner, err) < 0 ||
	    token_want_sign(parser, ")", err) < 0)
		return -1;
	*ret = TAKE(inner);
	return 0;
}

int parse_primary(struct parser *parser, struct expr **ret, struct err *err)
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
		if (token_is_sign(parser, "("))
			return parse_group(parser, ret, err);
		return token_unexpected(parser, "a value", err);
	case TOKEN_END:
		break;
	}
	return token_unexpected(parser, "a value", err);
}
