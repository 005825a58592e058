/*
 * Expressions: windows, FUNCTION(...) OVER (PARTITION BY ... ORDER BY ... frame).
 *
 * What a window leaves open is settled here, so that every database gives the same answer: a
 * missing value is the highest one (ASC puts it last, DESC first) unless NULLS says otherwise.
 * Refused: GROUPS frames and bounds that are no whole numbers (Ossie puts them off), a window in a
 * window, a ranking without OVER.
 */
#include "agents/query/metrics/expression_internal.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

static const struct expr *find_kind(const struct expr *expr, enum expr_kind kind)
{
	if (expr->kind == kind)
		return expr;
	for (size_t i = 0; i < expr->count; i++) {
		const struct expr *found = find_kind(expr->kids[i], kind);

		if (found)
			return found;
	}
	return NULL;
}

static const struct expr *find_below(const struct expr *expr, enum expr_kind kind)
{
	for (size_t i = 0; i < expr->count; i++) {
		const struct expr *found = find_kind(expr->kids[i], kind);

		if (found)
			return found;
	}
	return NULL;
}

int parse_refusal(struct parser *parser, size_t at, const char *code, const char *text,
		  struct err *err)
{
	IGNORE(parse_mistake(parser, at, err, "%s", text) == 0, "it always fails");
	err_give_code(err, code);
	return -1;
}

int parse_check_nested(struct parser *parser, const struct expr *call, struct err *err)
{
	const struct expr *inner = find_below(call, EXPR_AGGREGATE);

	if (call->kind != EXPR_AGGREGATE || !inner)
		return 0;
	return parse_refusal(parser, inner->offset, "E_NESTED_AGGREGATION_DEFERRED",
			     "an aggregate inside an aggregate has no meaning of its own: say "
			     "per what the inner one is taken with WRIT \"per\" and \"then\"",
			     err);
}

static int parse_words(struct parser *parser, const char *first, const char *second,
		       struct err *err)
{
	if (token_want_word(parser, first, err) < 0)
		return -1;
	return token_want_word(parser, second, err);
}

static int parse_partition(struct parser *parser, struct expr *window, struct err *err)
{
	do {
		struct expr *part = expr_new(EXPR_PARTITION, NULL);

		part->offset = parser->token_at;
		expr_add(window, part);
		if (token_next(parser, err) < 0 || parse_into(parser, part, parse_or, err) < 0)
			return -1;
	} while (token_is_sign(parser, ","));
	return 0;
}

/* [ASC | DESC] [NULLS FIRST | NULLS LAST] */
static int parse_direction(struct parser *parser, struct expr *order, struct err *err)
{
	bool desc = token_is_word(parser, "DESC");
	bool first = desc;

	if ((desc || token_is_word(parser, "ASC")) && token_next(parser, err) < 0)
		return -1;
	if (token_is_word(parser, "NULLS")) {
		if (token_next(parser, err) < 0)
			return -1;
		first = token_is_word(parser, "FIRST");
		if (!first && !token_is_word(parser, "LAST"))
			return token_unexpected(parser, "FIRST or LAST", err);
		if (token_next(parser, err) < 0)
			return -1;
	}
	mem_free(order->text);
	order->text = mem_format("%s NULLS %s", desc ? "DESC" : "ASC", first ? "FIRST" : "LAST");
	return 0;
}

static int parse_orders(struct parser *parser, struct expr *window, struct err *err)
{
	do {
		struct expr *order = expr_new(EXPR_ORDER, NULL);

		order->offset = parser->token_at;
		expr_add(window, order);
		if (token_next(parser, err) < 0 || parse_into(parser, order, parse_or, err) < 0 ||
		    parse_direction(parser, order, err) < 0)
			return -1;
	} while (token_is_sign(parser, ","));
	return 0;
}

/* UNBOUNDED PRECEDING, 3 FOLLOWING, CURRENT ROW */
static int parse_bound(struct parser *parser, struct buf *frame, struct err *err)
{
	if (token_is_word(parser, "CURRENT")) {
		buf_add_str(frame, "CURRENT ROW");
		return parse_words(parser, "CURRENT", "ROW", err);
	}
	if (token_is_word(parser, "UNBOUNDED"))
		buf_add_str(frame, "UNBOUNDED");
	else if (parser->kind == TOKEN_NUMBER && strchr(buf_str(&parser->token), '.') == NULL)
		buf_add_str(frame, buf_str(&parser->token));
	else
		return parse_refusal(parser, parser->token_at, "E_DEFERRED_FRAME_MODE",
				     "a bound of a frame is a literal integer, UNBOUNDED or "
				     "CURRENT ROW; a parameter is put off (\xc2\xa7"
				     "10 of the specification)",
				     err);
	if (token_next(parser, err) < 0)
		return -1;
	if (token_is_word(parser, "PRECEDING"))
		buf_add_str(frame, " PRECEDING");
	else if (token_is_word(parser, "FOLLOWING"))
		buf_add_str(frame, " FOLLOWING");
	else
		return token_unexpected(parser, "PRECEDING or FOLLOWING", err);
	return token_next(parser, err);
}

static int parse_bounds(struct parser *parser, struct buf *frame, struct err *err)
{
	bool between = token_is_word(parser, "BETWEEN");

	if (!between)
		return parse_bound(parser, frame, err);
	buf_add_str(frame, "BETWEEN ");
	if (token_next(parser, err) < 0 || parse_bound(parser, frame, err) < 0 ||
	    token_want_word(parser, "AND", err) < 0)
		return -1;
	buf_add_str(frame, " AND ");
	return parse_bound(parser, frame, err);
}

static int parse_frame(struct parser *parser, struct expr *window, struct err *err)
{
	CLEANUP(buf_clear) struct buf frame = BUF_INIT;

	if (token_is_word(parser, "GROUPS"))
		return parse_refusal(parser, parser->token_at, "E_DEFERRED_FRAME_MODE",
				     "GROUPS frames are put off (\xc2\xa7"
				     "10 of the specification): use ROWS or RANGE",
				     err);
	if (!token_is_word(parser, "ROWS") && !token_is_word(parser, "RANGE"))
		return 0;
	buf_add_str(&frame, token_is_word(parser, "ROWS") ? "ROWS " : "RANGE ");
	if (token_next(parser, err) < 0 || parse_bounds(parser, &frame, err) < 0)
		return -1;
	window->text = mem_str(buf_str(&frame));
	return 0;
}

static int parse_over(struct parser *parser, struct expr *window, struct err *err)
{
	if (token_want_word(parser, "OVER", err) < 0 || token_want_sign(parser, "(", err) < 0)
		return -1;
	if (token_is_word(parser, "PARTITION")) {
		if (token_next(parser, err) < 0)
			return -1;
		if (!token_is_word(parser, "BY"))
			return token_unexpected(parser, "BY", err);
		if (parse_partition(parser, window, err) < 0)
			return -1;
	}
	if (token_is_word(parser, "ORDER")) {
		if (token_next(parser, err) < 0)
			return -1;
		if (!token_is_word(parser, "BY"))
			return token_unexpected(parser, "BY", err);
		if (parse_orders(parser, window, err) < 0)
			return -1;
	}
	if (parse_frame(parser, window, err) < 0)
		return -1;
	return token_want_sign(parser, ")", err);
}

int parse_window(struct parser *parser, struct expr *call, struct expr **ret, struct err *err)
{
	CLEANUP(expr_freep) struct expr *window = expr_new(EXPR_WINDOW, NULL);

	window->offset = call->offset;
	expr_add(window, call);
	if (parse_over(parser, window, err) < 0)
		return -1;
	if (find_below(window, EXPR_WINDOW))
		return parse_refusal(parser, find_below(window, EXPR_WINDOW)->offset,
				     "E_NESTED_WINDOW",
				     "a nested window: only a single window is possible; make "
				     "the inner one a field (a derived field) and use that",
				     err);
	*ret = TAKE(window);
	return 0;
}

bool expr_has_window(const struct expr *expr)
{
	return find_kind(expr, EXPR_WINDOW) != NULL;
}

static void write_kind(const struct expr *window, enum expr_kind kind, const char *head,
		       const struct expr_writer *writer, struct buf *out)
{
	size_t count = 0;

	for (size_t i = 1; i < window->count; i++) {
		const struct expr *item = window->kids[i];

		if (item->kind != kind)
			continue;
		buf_add_str(out, count++ == 0 ? head : ", ");
		expr_write(item->kids[0], writer, out);
		if (item->text)
			buf_addf(out, " %s", item->text);
	}
}

static bool has_kind(const struct expr *window, enum expr_kind kind)
{
	for (size_t i = 1; i < window->count; i++) {
		if (window->kids[i]->kind == kind)
			return true;
	}
	return false;
}

void expr_write_window(const struct expr *window, const struct expr_writer *writer, struct buf *out)
{
	bool parts = has_kind(window, EXPR_PARTITION), orders = has_kind(window, EXPR_ORDER);

	expr_write(window->kids[0], writer, out);
	buf_add_str(out, " OVER (");
	write_kind(window, EXPR_PARTITION, "PARTITION BY ", writer, out);
	write_kind(window, EXPR_ORDER, parts ? " ORDER BY " : "ORDER BY ", writer, out);
	if (window->text)
		buf_addf(out, "%s%s", parts || orders ? " " : "", window->text);
	buf_add_char(out, ')');
}
