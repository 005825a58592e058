/*
 * Matching a number against the cells. Labels choose the rows, the measure and the unit the column.
 * Of rows that are named wholly one must have the value; of others all must.
 */
#include "agents/report/report_match.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct match {
	const struct report_view *view;
	const struct report_claim *claim;
	struct err *err;
};

void report_labels_add(struct report_labels *labels, const char *text)
{
	for (size_t i = 0; i < labels->count; i++) {
		if (strcmp(labels->items[i], text) == 0)
			return;
	}
	if (labels->count == REPORT_LABELS_MAX)
		labels->overflow = true;
	else
		labels->items[labels->count++] = text;
}

static bool cell_is(const struct json *cell, const char *label)
{
	CLEANUP(buf_clear) struct buf text = BUF_INIT;

	report_label_text(cell, &text);
	return strcmp(buf_str(&text), label) == 0;
}

static bool row_has_label(const struct report_view *view, const struct json *row, const char *label)
{
	for (size_t i = 0; i < view->column_count; i++) {
		if (view->columns[i].dimension && cell_is(json_at(row, i), label))
			return true;
	}
	return false;
}

bool report_row_fits(const struct report_view *view, const struct json *row,
		     const struct report_labels *labels)
{
	for (size_t i = 0; i < labels->count; i++) {
		if (!row_has_label(view, row, labels->items[i]))
			return false;
	}
	return true;
}

/* Do the labels name the row wholly? */
static bool row_is_named(const struct report_view *view, const struct json *row,
			 const struct report_labels *labels)
{
	for (size_t i = 0; i < view->column_count; i++) {
		bool found = !view->columns[i].dimension;

		for (size_t j = 0; !found && j < labels->count; j++)
			found = cell_is(json_at(row, i), labels->items[j]);
		if (!found)
			return false;
	}
	return true;
}

/* ---- which column ---- */

static bool column_is(const struct report_column *column, const char *label)
{
	return strcasecmp(column->label, label) == 0;
}

/* A value without its unit is read in the one that the text states elsewhere; percents never are.
 */
static bool unit_fits(const struct match *match, const struct report_column *column,
		      const struct report_number *number)
{
	if (number->unit)
		return column->unit && report_unit_is(number->unit, column->unit);
	if (!column->unit)
		return true;
	return strcmp(column->unit, "%") != 0 && strstr(match->claim->text, column->unit);
}

static bool column_fits(const struct match *match, const struct report_column *column,
			const struct report_number *number)
{
	return !column->dimension && unit_fits(match, column, number) &&
	       (!match->claim->measure || column_is(column, match->claim->measure));
}

/* Columns are told apart by their label, which several may share; without one, the measure proper
 * comes before what is derived from it. NULL when none or several would do. */
static const char *pick_label(const struct match *match, const struct report_number *number,
			      bool *ret_several)
{
	const struct report_view *view = match->view;
	const char *found = NULL, *metric = NULL;
	bool several = false, several_metrics = false;

	for (size_t i = 0; i < view->column_count; i++) {
		const struct report_column *column = &view->columns[i];

		if (!column_fits(match, column, number))
			continue;
		several = several || (found && !column_is(column, found));
		found = column->label;
		if (strcmp(column->role, "metric") != 0)
			continue;
		several_metrics = several_metrics || (metric && !column_is(column, metric));
		metric = column->label;
	}
	*ret_several = several && (!metric || several_metrics);
	if (several)
		return *ret_several ? NULL : metric;
	return found;
}

/* ---- the value ---- */

static bool value_is(const struct report_column *column, const struct json *cell,
		     const struct report_number *number)
{
	CLEANUP(buf_clear) struct buf shown = BUF_INIT;
	char exact[400];

	if (!report_is_number(cell))
		return false;
	if (json_str(cell)) /* beyond what a double can tell apart */
		return strcmp(json_str(cell), number->digits) == 0;
	report_number(column, cell, &shown);
	if (strcmp(buf_str(&shown), number->digits) == 0 ||
	    strtod(buf_str(&shown), NULL) == number->value)
		return true;
	/* more places than are shown by default, rightly rounded */
	if (number->decimals <= (column->decimals > 1 ? column->decimals : 1) ||
	    number->decimals > 15)
		return false;
	snprintf(exact, sizeof(exact), "%.*f", number->decimals, json_real(cell));
	return strcmp(exact, number->digits) == 0;
}

static const struct json *cell_of(const struct report_view *view, const struct json *row,
				  const struct report_column *column)
{
	return json_at(row, (size_t)(column - view->columns));
}

static void write_labels(const struct report_labels *labels, struct buf *out)
{
	for (size_t i = 0; i < labels->count; i++)
		buf_addf(out, "%s%s", i ? " and " : "", labels->items[i]);
}

/* The row that does have the value, for the message. */
static void write_owner(const struct report_view *view, const struct report_column *column,
			const struct report_number *number, struct buf *out)
{
	json_each(row, view->rows)
	{
		if (!value_is(column, cell_of(view, row, column), number))
			continue;
		for (size_t i = 0; i < view->column_count; i++) {
			if (!view->columns[i].dimension)
				continue;
			if (out->len)
				buf_add_str(out, " / ");
			report_label_text(json_at(row, i), out);
		}
		return;
	}
}

static int fail_value(const struct match *match, const struct report_labels *labels,
		      const struct report_column *column, const struct report_number *number)
{
	CLEANUP(buf_clear) struct buf who = BUF_INIT;
	CLEANUP(buf_clear) struct buf owner = BUF_INIT;

	write_labels(labels, &who);
	write_owner(match->view, column, number, &owner);
	if (who.len && owner.len)
		return err_set(match->err, ERR_INVALID,
			       "%.*s stands with %s, the result has it for %s", (int)number->len,
			       number->text, buf_str(&who), buf_str(&owner));
	if (who.len)
		return err_set(match->err, ERR_INVALID,
			       "%.*s stands with %s, the result has no such %s there",
			       (int)number->len, number->text, buf_str(&who), column->label);
	return err_set(match->err, ERR_INVALID, "%.*s is not the result's %s", (int)number->len,
		       number->text, column->label);
}

static int fail_unit(const struct match *match, const struct report_number *number, bool several)
{
	const struct report_view *view = match->view;

	if (several)
		return err_set(match->err, ERR_INVALID,
			       "%.*s could be one of several columns: name which", (int)number->len,
			       number->text);
	for (size_t i = 0; i < view->column_count; i++) {
		const struct report_column *column = &view->columns[i];

		if (!column->dimension &&
		    (!match->claim->measure || column_is(column, match->claim->measure)))
			return err_set(match->err, ERR_INVALID, "%.*s stands where %s is in %s",
				       (int)number->len, number->text, column->label,
				       column->unit ? column->unit : "no unit");
	}
	return err_set(match->err, ERR_INVALID, "%.*s: the result holds no such value",
		       (int)number->len, number->text);
}

/* Of rows that the labels name wholly one must have the value; of others all must. */
static bool column_has(const struct match *match, const struct report_labels *labels,
		       const struct report_column *column, const struct report_number *number,
		       size_t *ret_fitting)
{
	const struct report_view *view = match->view;
	size_t fitting = 0, having = 0;
	bool one = false;

	json_each(row, view->rows)
	{
		bool has = value_is(column, cell_of(view, row, column), number);

		if (labels->overflow || !report_row_fits(view, row, labels))
			continue;
		fitting++;
		having += has;
		one = one || (has && row_is_named(view, row, labels));
	}
	*ret_fitting = fitting;
	return one || (fitting > 0 && having == fitting);
}

static int fail_row(const struct match *match, const struct report_labels *labels,
		    const struct report_number *number)
{
	CLEANUP(buf_clear) struct buf who = BUF_INIT;

	write_labels(labels, &who);
	return err_set(match->err, ERR_INVALID,
		       "%.*s stands with %s, which is no row of the result", (int)number->len,
		       number->text, buf_str(&who));
}

static int check_value(const struct match *match, const struct report_labels *labels,
		       const struct report_number *number)
{
	const struct report_view *view = match->view;
	const struct report_column *last = NULL;
	size_t fitting = 0;
	bool several;
	const char *label = pick_label(match, number, &several);

	if (!label)
		return fail_unit(match, number, several);
	if (labels->count == 0 && view->dimension_count > 0 && view->row_count > 1)
		return err_set(match->err, ERR_INVALID, "%.*s stands with no row of the result",
			       (int)number->len, number->text);
	for (size_t i = 0; i < view->column_count; i++) {
		const struct report_column *column = &view->columns[i];

		if (!column_fits(match, column, number) || !column_is(column, label))
			continue;
		if (column_has(match, labels, column, number, &fitting))
			return 0;
		last = column;
	}
	if (fitting == 0)
		return fail_row(match, labels, number);
	return fail_value(match, labels, last, number);
}

int report_match(const struct report_view *view, const struct report_claim *claim, struct err *err)
{
	struct match match = {view, claim, err};

	return check_value(&match, claim->labels, claim->number);
}
