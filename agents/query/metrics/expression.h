/*
 * The expression language of semantic models: the part of SQL that fields, filters and metrics are
 * written in (Apache Ossie core-spec/expression_language.md, dialect ANSI_SQL).
 *
 *   columns        name, dataset.name, "quoted name"
 *   literals       12, 1.5, 'text', TRUE, FALSE, NULL
 *   operators      + - * / % ||  = <> != < <= > >=  AND OR NOT
 *   tests          IS [NOT] NULL, [NOT] IN (...), [NOT] BETWEEN a AND b, [NOT] LIKE
 *   CASE           both forms
 *   functions      ABS COALESCE LENGTH LOWER NULLIF REPLACE ROUND SUBSTR TRIM UPPER,
 *                  DATEDIFF(day, start, end): whole days between two ISO dates
 *   aggregates     SUM COUNT AVG MIN MAX, COUNT(DISTINCT x), COUNT(*); alone in a metric also
 *                  MEDIAN, PERCENTILE_CONT(p) and PERCENTILE_DISC(p) WITHIN GROUP (ORDER BY x),
 *                  STDDEV STDDEV_SAMP STDDEV_POP VARIANCE VAR_SAMP VAR_POP
 *   windows        any aggregate, ROW_NUMBER RANK DENSE_RANK NTILE PERCENT_RANK CUME_DIST LAG LEAD
 *                  FIRST_VALUE LAST_VALUE NTH_VALUE, with OVER (PARTITION BY ... ORDER BY ...
 *                  ROWS | RANGE ...)
 *
 * Text is parsed into a tree and written again from the tree; no text of a file reaches SQL.
 * Division is exact: 1 / 2 is 0.5. Pure.
 */
#ifndef AGENTS_QUERY_METRICS_EXPRESSION_H
#define AGENTS_QUERY_METRICS_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/sql.h"

#define EXPR_BYTES_MAX 4096 /* far above any definition a person can check */
#define EXPR_DEPTH_MAX 32

enum expr_kind {
	EXPR_COLUMN,	/* dataset (NULL when not named), text: the name */
	EXPR_NUMBER,	/* text */
	EXPR_STRING,	/* text */
	EXPR_WORD,	/* text: NULL, TRUE, FALSE */
	EXPR_UNARY,	/* text: "-", "+", "NOT" */
	EXPR_BINARY,	/* text: the operator, "LIKE" and "NOT LIKE" among them */
	EXPR_IS_NULL,	/* negated */
	EXPR_IN,	/* negated; first child is tested */
	EXPR_BETWEEN,	/* negated; three children */
	EXPR_CASE,	/* has_base: first child; then pairs; has_else: last child */
	EXPR_FUNCTION,	/* text: lower case */
	EXPR_AGGREGATE, /* text: lower case; distinct; no child for COUNT(*); of a percentile the
			   second child is its share, a number from 0 to 1 */
	EXPR_WINDOW, /* first child: the call; then PARTITIONs, ORDERs; text: the frame or NULL */
	EXPR_PARTITION, /* only below WINDOW: one child */
	EXPR_ORDER,	/* only below WINDOW: one child; text: "ASC NULLS LAST" */
};

struct expr {
	enum expr_kind kind;
	char *text;
	char *dataset;
	bool negated;
	bool distinct;
	bool has_base;
	bool has_else;
	size_t offset; /* byte of the source where it begins */
	struct expr **kids;
	size_t count;
};

/* On failure *ret_offset (may be NULL) is the byte of the source the message is about. */
MUST_CHECK int expr_parse(const char *source, struct expr **ret_expr, size_t *ret_offset,
			  struct err *err);
void expr_free(struct expr *expr); /* NULL is fine */
void expr_freep(struct expr **expr);
struct expr *expr_new(enum expr_kind kind, const char *text); /* text copied */
void expr_add(struct expr *expr, struct expr *kid);	      /* takes kid */

/* Calls visit for every node, parents first; stops at the first non-zero and returns it. */
int expr_walk(const struct expr *expr, int (*visit)(const struct expr *node, void *data),
	      void *data);
/* Does it add rows up? The call of a window does not; what is inside that call may. */
bool expr_has_aggregate(const struct expr *expr);
bool expr_has_window(const struct expr *expr);
/* A median, percentile, variance or standard deviation: its values are needed in order, or with
 * their mean, so that it stands alone in a metric. has: somewhere in it. */
bool expr_is_ranked(const struct expr *expr);
bool expr_has_ranked(const struct expr *expr);

/* How columns are written: the caller resolves them (a field may stand for a whole expression). */
struct expr_writer {
	void (*column)(const struct expr_writer *writer, const struct expr *column,
		       struct buf *out);
	/* NULL: aggregates are written plainly; else the arguments are restricted to rows for
	 * which the writer's condition holds (see expr_write_condition()). */
	void (*condition)(const struct expr_writer *writer, struct buf *out);
	const void *data;
};
void expr_write(const struct expr *expr, const struct expr_writer *writer, struct buf *out);
/* The argument of an aggregate, under the writer's condition. */
void expr_write_argument(const struct expr *aggregate, const struct expr_writer *writer,
			 struct buf *out);
/* Words of SQL, and of Ossie, that name nothing unless quoted. */
bool expr_reserved_word(const char *word);
bool expr_is_atom(const struct expr *expr); /* needs parentheses nowhere */
/* As one operand of AND: in parentheses unless it binds at least as tightly. */
void expr_write_operand(const struct expr *expr, const struct expr_writer *writer, struct buf *out);

/* A column outside of every aggregate, where it would be the value of some row; NULL when none is.
 */
const struct expr *expr_bare_column(const struct expr *expr);
/* 850.00, -3: up to 15 digits, with a fraction of up to 9 or without. */
bool expr_is_decimal(const char *text);

#endif
