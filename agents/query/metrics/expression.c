/*
 * Expressions: the tree, walking it, and writing it as SQL.
 *
 * Parentheses are written only where precedence asks for them. Aggregates can be written under a
 * condition (one of several filters, one of two periods): SUM(x) becomes
 * SUM(CASE WHEN condition THEN x END), COUNT(*) becomes COUNT(CASE WHEN condition THEN 1 END).
 * Writing cannot fail; expression_parse.c lets nothing else into a tree.
 */
#include "agents/query/metrics/expression_internal.h"

#include <ctype.h>
#include <string.h>

struct expr *expr_new(enum expr_kind kind, const char *text)
{
	struct expr *expr = mem_alloc(sizeof(*expr));

	expr->kind = kind;
	expr->text = mem_str(text);
	return expr;
}

void expr_free(struct expr *expr)
{
	if (!expr)
		return;
	for (size_t i = 0; i < expr->count; i++)
		expr_free(expr->kids[i]);
	mem_free(expr->kids);
	mem_free(expr->text);
	mem_free(expr->dataset);
	mem_free(expr);
}

void expr_freep(struct expr **expr)
{
	expr_free(*expr);
}

void expr_add(struct expr *expr, struct expr *kid)
{
	expr->kids = mem_grow(expr->kids, (expr->count + 1) * sizeof(*expr->kids));
	expr->kids[expr->count++] = kid;
}

int expr_walk(const struct expr *expr, int (*visit)(const struct expr *node, void *data),
	      void *data)
{
	int result = visit(expr, data);

	for (size_t i = 0; result == 0 && i < expr->count; i++)
		result = expr_walk(expr->kids[i], visit, data);
	return result;
}

bool expr_has_aggregate(const struct expr *expr)
{
	if (expr->kind == EXPR_AGGREGATE)
		return true;
	for (size_t i = 0; i < expr->count; i++) {
		const struct expr *kid = expr->kids[i];
		bool call = expr->kind == EXPR_WINDOW && i == 0;

		for (size_t j = 0; call && j < kid->count; j++) {
			if (expr_has_aggregate(kid->kids[j]))
				return true;
		}
		if (!call && expr_has_aggregate(kid))
			return true;
	}
	return false;
}

bool expr_is_ranked(const struct expr *expr)
{
	static const char *const names[] = {"median", "percentile_cont", "percentile_disc",
					    "stddev", "stddev_pop",	 "variance",
					    "var_pop"};

	for (size_t i = 0; expr->kind == EXPR_AGGREGATE && i < ARRAY_LEN(names); i++) {
		if (strcmp(expr->text, names[i]) == 0)
			return true;
	}
	return false;
}

static int find_ranked(const struct expr *node, void *data)
{
	(void)data;
	return expr_is_ranked(node);
}

bool expr_has_ranked(const struct expr *expr)
{
	return expr_walk(expr, find_ranked, NULL) != 0;
}

/* Higher binds tighter. A column may be written as a whole expression, which brings its own
 * parentheses. */
static int precedence(const struct expr *expr)
{
	static const struct {
		const char *operator;
		int level;
	} levels[] = {{"OR", 1}, {"AND", 2}, {"=", 4},	  {"<>", 4},	   {"<", 4}, {"<=", 4},
		      {">", 4},	 {">=", 4},  {"LIKE", 4}, {"NOT LIKE", 4}, {"+", 5}, {"-", 5},
		      {"*", 6},	 {"/", 6},   {"%", 6},	  {"||", 7}};

	switch (expr->kind) {
	case EXPR_BINARY:
		for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
			if (strcmp(expr->text, levels[i].operator) == 0)
				return levels[i].level;
		}
		return 0;
	case EXPR_UNARY:
		return strcmp(expr->text, "NOT") == 0 ? 3 : 8;
	case EXPR_IS_NULL:
	case EXPR_IN:
	case EXPR_BETWEEN:
		return 4;
	default:
		return 9;
	}
}

bool expr_is_atom(const struct expr *expr)
{
	return precedence(expr) == 9;
}

static void write_at(const struct expr *expr, int level, const struct expr_writer *writer,
		     struct buf *out)
{
	bool wrap = precedence(expr) < level;

	if (wrap)
		buf_add_char(out, '(');
	expr_write(expr, writer, out);
	if (wrap)
		buf_add_char(out, ')');
}

static void write_list(const struct expr *expr, size_t from, const struct expr_writer *writer,
		       struct buf *out)
{
	for (size_t i = from; i < expr->count; i++) {
		if (i > from)
			buf_add_str(out, ", ");
		expr_write(expr->kids[i], writer, out);
	}
}

static void write_upper(const char *text, struct buf *out)
{
	for (; *text; text++)
		buf_add_char(out, (char)toupper((unsigned char)*text));
}

static void write_unary(const struct expr *expr, const struct expr_writer *writer, struct buf *out)
{
	buf_add_str(out, expr->text);
	if (strcmp(expr->text, "NOT") == 0)
		buf_add_char(out, ' ');
	/* one level up, so that no sign follows a sign: -- begins a comment */
	write_at(expr->kids[0], precedence(expr) + 1, writer, out);
}

/* The 1.0 stands first, so that no integer ever divides an integer. */
static void write_division(const struct expr *expr, const struct expr_writer *writer,
			   struct buf *out)
{
	buf_add_str(out, "1.0 * ");
	write_at(expr->kids[0], 7, writer, out);
	buf_add_str(out, " / ");
	write_at(expr->kids[1], 7, writer, out);
}

static void write_binary(const struct expr *expr, const struct expr_writer *writer, struct buf *out)
{
	int level = precedence(expr);
	/* AND, OR, + and * of the same kind may follow without parentheses; comparisons may not */
	bool chains = level != 4;

	if (strcmp(expr->text, "/") == 0) {
		write_division(expr, writer, out);
		return;
	}
	write_at(expr->kids[0], chains ? level : level + 1, writer, out);
	buf_addf(out, " %s ", expr->text);
	write_at(expr->kids[1], level + 1, writer, out);
}

static void write_case(const struct expr *expr, const struct expr_writer *writer, struct buf *out)
{
	size_t i = 0;
	size_t end = expr->count - (expr->has_else ? 1 : 0);

	buf_add_str(out, "CASE");
	if (expr->has_base) {
		buf_add_char(out, ' ');
		expr_write(expr->kids[i++], writer, out);
	}
	for (; i + 2 <= end; i += 2) {
		buf_add_str(out, " WHEN ");
		expr_write(expr->kids[i], writer, out);
		buf_add_str(out, " THEN ");
		expr_write(expr->kids[i + 1], writer, out);
	}
	if (expr->has_else) {
		buf_add_str(out, " ELSE ");
		expr_write(expr->kids[end], writer, out);
	}
	buf_add_str(out, " END");
}

void expr_write_argument(const struct expr *expr, const struct expr_writer *writer, struct buf *out)
{
	/* a condition belongs to the rows, so columns below are written without it */
	struct expr_writer plain = *writer;

	plain.condition = NULL;
	if (!writer->condition) {
		if (expr->count)
			expr_write(expr->kids[0], &plain, out);
		else
			buf_add_char(out, '*');
		return;
	}
	buf_add_str(out, "CASE WHEN ");
	writer->condition(writer, out);
	buf_add_str(out, " THEN ");
	if (expr->count)
		expr_write(expr->kids[0], &plain, out);
	else
		buf_add_char(out, '1');
	buf_add_str(out, " END");
}

static void write_aggregate(const struct expr *expr, const struct expr_writer *writer,
			    struct buf *out)
{
	write_upper(expr->text, out);
	buf_add_char(out, '(');
	if (expr->distinct)
		buf_add_str(out, "DISTINCT ");
	expr_write_argument(expr, writer, out);
	buf_add_char(out, ')');
}

/* Whole days between two dates, whatever time of day the texts go on with. */
static void write_datediff(const struct expr *expr, const struct expr_writer *writer,
			   struct buf *out)
{
	buf_add_str(out, "CAST(JULIANDAY(SUBSTR(");
	expr_write(expr->kids[1], writer, out);
	buf_add_str(out, ", 1, 10)) - JULIANDAY(SUBSTR(");
	expr_write(expr->kids[0], writer, out);
	buf_add_str(out, ", 1, 10)) AS INTEGER)");
}

static void write_function(const struct expr *expr, const struct expr_writer *writer,
			   struct buf *out)
{
	if (strcmp(expr->text, "datediff") == 0) {
		write_datediff(expr, writer, out);
		return;
	}
	write_upper(expr->text, out);
	buf_add_char(out, '(');
	write_list(expr, 0, writer, out);
	buf_add_char(out, ')');
}

static void write_in(const struct expr *expr, const struct expr_writer *writer, struct buf *out)
{
	write_at(expr->kids[0], 5, writer, out);
	buf_add_str(out, expr->negated ? " NOT IN (" : " IN (");
	write_list(expr, 1, writer, out);
	buf_add_char(out, ')');
}

static void write_between(const struct expr *expr, const struct expr_writer *writer,
			  struct buf *out)
{
	write_at(expr->kids[0], 5, writer, out);
	buf_add_str(out, expr->negated ? " NOT BETWEEN " : " BETWEEN ");
	write_at(expr->kids[1], 5, writer, out);
	buf_add_str(out, " AND ");
	write_at(expr->kids[2], 5, writer, out);
}

void expr_write(const struct expr *expr, const struct expr_writer *writer, struct buf *out)
{
	switch (expr->kind) {
	case EXPR_COLUMN:
		writer->column(writer, expr, out);
		return;
	case EXPR_NUMBER:
	case EXPR_WORD:
		buf_add_str(out, expr->text);
		return;
	case EXPR_STRING:
		sql_text(expr->text, out);
		return;
	case EXPR_UNARY:
		write_unary(expr, writer, out);
		return;
	case EXPR_BINARY:
		write_binary(expr, writer, out);
		return;
	case EXPR_IS_NULL:
		write_at(expr->kids[0], 5, writer, out);
		buf_add_str(out, expr->negated ? " IS NOT NULL" : " IS NULL");
		return;
	case EXPR_IN:
		write_in(expr, writer, out);
		return;
	case EXPR_BETWEEN:
		write_between(expr, writer, out);
		return;
	case EXPR_CASE:
		write_case(expr, writer, out);
		return;
	case EXPR_FUNCTION:
		write_function(expr, writer, out);
		return;
	case EXPR_AGGREGATE:
		write_aggregate(expr, writer, out);
		return;
	case EXPR_WINDOW:
		expr_write_window(expr, writer, out);
		return;
	case EXPR_PARTITION:
	case EXPR_ORDER:
		expr_write(expr->kids[0], writer, out);
		return;
	}
}

void expr_write_operand(const struct expr *expr, const struct expr_writer *writer, struct buf *out)
{
	write_at(expr, 2, writer, out);
}

const struct expr *expr_bare_column(const struct expr *expr)
{
	if (expr->kind == EXPR_COLUMN)
		return expr;
	if (expr->kind == EXPR_AGGREGATE)
		return NULL;
	for (size_t i = 0; i < expr->count; i++) {
		const struct expr *bare = expr_bare_column(expr->kids[i]);

		if (bare)
			return bare;
	}
	return NULL;
}

bool expr_is_decimal(const char *text)
{
	size_t at = text[0] == '-';
	size_t digits = strspn(text + at, "0123456789");

	at += digits;
	if (digits == 0 || digits > 15)
		return false;
	if (text[at] == '.') {
		digits = strspn(text + at + 1, "0123456789");
		if (digits == 0 || digits > 9)
			return false;
		at += 1 + digits;
	}
	return text[at] == '\0';
}
