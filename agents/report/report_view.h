/*
 * A result as a report sees it: which columns name a row, which hold its values, and how each cell
 * is written. The writer and the check share this, so that they cannot disagree about a form.
 */
#ifndef AGENTS_REPORT_REPORT_VIEW_H
#define AGENTS_REPORT_REPORT_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "agents/report/report.h"

#define REPORT_ROWS_SHOWN 12   /* more are not read as a sentence; the table has them all */
#define REPORT_LABEL_BYTES 120 /* longer labels are cut, visibly */

/* How a row's label is written:
 *   plain     East             letters first, and no other text could be read into it
 *   numbered  quantity 5       behind its column's label, or it would be taken for a value
 *   quoted    "a, b"           as a JSON string: everything else */
enum label_form { LABEL_PLAIN, LABEL_NUMBERED, LABEL_QUOTED };

struct report_column { /* texts are lent by the input */
	const char *name;
	const char *label;
	const char *unit; /* NULL when none */
	const char *role; /* "" for free SQL */
	bool dimension;	  /* names the row */
	int decimals;	  /* places shown; -1: as stored */
};

struct report_view {
	const struct report_input *input;
	struct report_column *columns; /* owned */
	size_t column_count;
	size_t dimension_count;
	size_t value_count;
	const struct json *rows;
	size_t row_count;
	bool declared; /* the columns have definitions */
};

void report_view_init(struct report_view *view, const struct report_input *input);
void report_view_clear(struct report_view *view);

/* Title, filters, period, unit, missing-value rules and how many rows are listed, up to the colon
 * or full stop. It holds no value of the result. */
void report_header(const struct report_view *view, struct buf *out);
size_t report_rows_shown(const struct report_view *view);

/* A column's label as it stands before its values: plain, or in `backquotes` when that could be
 * misread. */
bool report_column_plain(const struct report_view *view, size_t column);
void report_backquote(const char *text, struct buf *out);
void report_column(const struct report_view *view, size_t column, struct buf *out);

/* A value without its unit; "no value" for a missing one. */
void report_number(const struct report_column *column, const struct json *cell, struct buf *out);
bool report_is_number(const struct json *cell); /* also an integer that travels as a string */

/* The bare text of a label, cut when long. */
void report_label_text(const struct json *cell, struct buf *out);
enum label_form report_label_form(const struct report_view *view, size_t column,
				  const struct json *cell);
void report_label(const struct report_view *view, size_t column, const struct json *cell,
		  struct buf *out);

#endif
