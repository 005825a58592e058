/*
 * The built-in report: one sentence that says what was measured and how, then the values.
 *
 *   Net sales by region, completed orders, 2026-07-01 to before 2026-10-01, USD, missing discount
 * 0, missing region Unknown: East 420.00 USD, West 300.00 USD.
 *
 * A statement without definitions is told by the names of its columns. Nothing can fail.
 */
#include "agents/report/report_view.h"

#include <ctype.h>
#include <string.h>

static void add_part(struct buf *out, size_t *count, const char *separator, const char *text)
{
	if (*count > 0)
		buf_add_str(out, separator);
	buf_add_str(out, text);
	(*count)++;
}

/* What is measured: the columns of measures proper; comparisons and shares follow from them. */
static void add_measures(const struct report_view *view, struct buf *out)
{
	size_t count = 0;

	for (size_t i = 0; i < view->column_count; i++) {
		const struct report_column *column = &view->columns[i];

		if (!column->dimension && strcmp(column->role, "metric") == 0)
			add_part(out, &count, ", ", column->label);
	}
	for (size_t i = 0; count == 0 && i < view->column_count; i++) {
		if (!view->columns[i].dimension)
			buf_addf(out, "%s%s", out->len ? ", " : "", view->columns[i].label);
	}
}

static void add_dimensions(const struct report_view *view, bool listing, struct buf *out)
{
	size_t count = 0;

	for (size_t i = 0; i < view->column_count; i++) {
		const char *first = listing ? "" : " by ";

		if (!view->columns[i].dimension)
			continue;
		buf_add_str(out, count == 0 ? first : " and ");
		buf_add_str(out, view->columns[i].label);
		count++;
	}
}

/* Periods are named also when the words do not have them, and when there is nothing to show. */
static void add_period(const struct report_view *view, struct buf *out)
{
	const char *from = json_get_str(view->input->period, "from");
	const char *to = json_get_str(view->input->period, "to");

	if (from && to)
		buf_addf(out, "%s to before %s", from, to);
	else if (from)
		buf_addf(out, "from %s", from);
	else if (to)
		buf_addf(out, "before %s", to);
}

static void add_extent(const struct report_view *view, struct buf *out)
{
	bool truncated = json_get_bool(view->input->result, "truncated", false);

	if (report_rows_shown(view) < view->row_count)
		buf_addf(out, " (the first %zu of %zu rows%s)", report_rows_shown(view),
			 view->row_count, truncated ? "; the limit cut off further rows" : "");
	else if (truncated)
		buf_addf(out, " (%zu %s; the limit cut off further rows)", view->row_count,
			 view->row_count == 1 ? "row" : "rows");
}

static void declared_header(const struct report_view *view, struct buf *out)
{
	const char *sentence = json_get_str(view->input->words, "sentence");
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	CLEANUP(buf_clear) struct buf period = BUF_INIT;

	add_measures(view, &text);
	add_dimensions(view, text.len == 0, &text);
	if (text.len > 0)
		text.bytes[0] = (char)toupper((unsigned char)text.bytes[0]);
	if (sentence && *sentence)
		buf_addf(&text, ", %s", sentence);
	add_period(view, &period);
	if (period.len > 0 && !strstr(buf_str(&text), buf_str(&period)))
		buf_addf(&text, ", %s", buf_str(&period));
	buf_add(out, buf_str(&text), text.len);
	add_extent(view, out);
}

static void plain_header(const struct report_view *view, struct buf *out)
{
	if (view->row_count == 0)
		buf_add_str(out, "The statement returned no rows");
	else
		buf_addf(out, "The statement returned %zu %s", view->row_count,
			 view->row_count == 1 ? "row" : "rows");
	if (json_get_str(view->input->period, "from") || json_get_str(view->input->period, "to")) {
		buf_add_str(out, ", ");
		add_period(view, out);
	}
	add_extent(view, out);
}

void report_header(const struct report_view *view, struct buf *out)
{
	if (view->declared)
		declared_header(view, out);
	else
		plain_header(view, out);
}

static void add_value(const struct report_view *view, size_t index, const struct json *cell,
		      bool named, struct buf *out)
{
	const struct report_column *column = &view->columns[index];

	if (named) {
		report_column(view, index, out);
		buf_add_char(out, ' ');
	}
	report_number(column, cell, out);
	if (column->unit && report_is_number(cell))
		buf_addf(out, " %s", column->unit);
}

static void add_labels(const struct report_view *view, const struct json *row, struct buf *out)
{
	size_t count = 0;

	for (size_t i = 0; i < view->column_count; i++) {
		const struct json *cell = json_at(row, i);

		if (!view->columns[i].dimension)
			continue;
		if (count++ > 0)
			buf_add_str(out, " / ");
		if (!view->declared && report_label_form(view, i, cell) != LABEL_NUMBERED) {
			report_column(view, i, out);
			buf_add_char(out, ' ');
		}
		report_label(view, i, cell, out);
	}
}

static bool has_numbered(const struct report_view *view, const struct json *row)
{
	for (size_t i = 0; i < view->column_count; i++) {
		if (view->columns[i].dimension &&
		    report_label_form(view, i, json_at(row, i)) == LABEL_NUMBERED)
			return true;
	}
	return false;
}

/* "East 420.00 USD", "quantity 5: 420.00 USD", or with several measures "East: net sales 420.00
 * USD, orders 2". */
static void add_row(const struct report_view *view, const struct json *row, struct buf *out)
{
	bool named = view->value_count > 1 || !view->declared;
	bool numbered = has_numbered(view, row);
	size_t start = out->len, count = 0;

	add_labels(view, row, out);
	for (size_t i = 0; i < view->column_count; i++) {
		if (view->columns[i].dimension)
			continue;
		if (count == 0 && out->len > start)
			buf_add_str(out, named || numbered ? ": " : " ");
		else if (count > 0)
			buf_add_str(out, ", ");
		add_value(view, i, json_at(row, i), named, out);
		count++;
	}
}

static void add_rows(const struct report_view *view, struct buf *out)
{
	bool simple = view->declared && view->value_count == 1 && view->dimension_count <= 1;
	size_t shown = report_rows_shown(view);

	for (size_t i = 0; i < shown; i++) {
		if (i > 0)
			buf_add_str(out, simple ? ", " : "; ");
		add_row(view, json_at(view->rows, i), out);
	}
}

/* What is wrong or may be: a reader of the words alone must meet it too. */
static void add_warnings(const struct report_view *view, struct buf *out)
{
	json_each(flag, view->input->flags)
	{
		const char *severity = json_get_str(flag, "severity");
		const char *message = json_get_str(flag, "message");

		if (!severity || !message || strcmp(severity, "note") == 0)
			continue;
		buf_addf(out, " %s: %s.", strcmp(severity, "error") == 0 ? "Error" : "Warning",
			 message);
	}
}

void report_builtin(const struct report_input *input, struct buf *ret_text)
{
	struct report_view view;

	report_view_init(&view, input);
	report_header(&view, ret_text);
	if (view.row_count == 0 && view.declared)
		buf_add_str(ret_text, ": no rows matched.");
	else if (view.row_count == 0 || view.column_count == 0)
		buf_add_str(ret_text, ".");
	else {
		buf_add_str(ret_text, ": ");
		add_rows(&view, ret_text);
		buf_add_str(ret_text, ".");
	}
	add_warnings(&view, ret_text);
	report_view_clear(&view);
}
