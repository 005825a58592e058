/*
 * Holding a text against its result.
 *
 * The text is read from left to right: known phrases are passed over whole, labels and column names
 * are remembered, periods are checked where they stand, and each number is bound to
 *   the labels since the number before it (or, when there are none, that number's labels; or, when
 *   the sentence has none so far, the next label), the column named last in the sentence, its unit.
 * All of that must lead to a cell with this value. A sentence ends at . ! ? and at a line's end.
 *
 * Strict on purpose: what is ambiguous fails, since the built-in report can always stand in. What
 * is not checked: statements without a number ("East did best").
 */
#include "agents/report/report_view.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agents/report/report_phrase.h"
#include "agents/report/report_time.h"

static const char no_value[] = "no value"; /* as report_number() writes it */

#define LABELS_MAX 8 /* more labels before one number are no label of it */

struct number {
	const char *text; /* as it stands, for messages */
	size_t len;	  /* with its unit and currency sign */
	char digits[64];  /* without thousands separators */
	double value;
	int decimals;
	const char *unit; /* NULL when none stands with it */
};

struct labels {
	const char *items[LABELS_MAX];
	size_t count;
	bool overflow;
};

struct reading {
	struct report_view view;
	struct phrases phrases;
	const char *text;
	size_t at;
	struct labels fresh;  /* since the last number */
	struct labels bound;  /* those of the last number */
	const char *measure;  /* label of the column named last; NULL when none */
	bool pending;	      /* a number that waits for the next label */
	struct number number; /* the pending one */
	struct err *err;
};

static void add_label(struct labels *labels, const char *text)
{
	for (size_t i = 0; i < labels->count; i++) {
		if (strcmp(labels->items[i], text) == 0)
			return;
	}
	if (labels->count == LABELS_MAX)
		labels->overflow = true;
	else
		labels->items[labels->count++] = text;
}

/* ---- which rows ---- */

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

static bool row_fits(const struct report_view *view, const struct json *row,
		     const struct labels *labels)
{
	for (size_t i = 0; i < labels->count; i++) {
		if (!row_has_label(view, row, labels->items[i]))
			return false;
	}
	return true;
}

/* Do the labels name the row wholly? */
static bool row_is_named(const struct report_view *view, const struct json *row,
			 const struct labels *labels)
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

static bool unit_is(const char *unit, const char *other)
{
	if (strcmp(unit, "percent") == 0)
		unit = "%";
	return strcasecmp(unit, other) == 0;
}

/* A value without its unit is read in the one that the text states elsewhere; percents never are.
 */
static bool unit_fits(const struct reading *reading, const struct report_column *column,
		      const struct number *number)
{
	if (number->unit)
		return column->unit && unit_is(number->unit, column->unit);
	if (!column->unit)
		return true;
	return strcmp(column->unit, "%") != 0 && strstr(reading->text, column->unit);
}

static bool column_fits(const struct reading *reading, const struct report_column *column,
			const struct number *number)
{
	return !column->dimension && unit_fits(reading, column, number) &&
	       (!reading->measure || column_is(column, reading->measure));
}

/* Columns are told apart by their label, which several may share; without one, the measure proper
 * comes before what is derived from it. NULL when none or several would do. */
static const char *pick_label(const struct reading *reading, const struct number *number,
			      bool *ret_several)
{
	const struct report_view *view = &reading->view;
	const char *found = NULL, *metric = NULL;
	bool several = false, several_metrics = false;

	for (size_t i = 0; i < view->column_count; i++) {
		const struct report_column *column = &view->columns[i];

		if (!column_fits(reading, column, number))
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
		     const struct number *number)
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

static void write_labels(const struct labels *labels, struct buf *out)
{
	for (size_t i = 0; i < labels->count; i++)
		buf_addf(out, "%s%s", i ? " and " : "", labels->items[i]);
}

/* The row that does have the value, for the message. */
static void write_owner(const struct report_view *view, const struct report_column *column,
			const struct number *number, struct buf *out)
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

static int fail_value(const struct reading *reading, const struct labels *labels,
		      const struct report_column *column, const struct number *number)
{
	CLEANUP(buf_clear) struct buf who = BUF_INIT;
	CLEANUP(buf_clear) struct buf owner = BUF_INIT;

	write_labels(labels, &who);
	write_owner(&reading->view, column, number, &owner);
	if (who.len && owner.len)
		return err_set(reading->err, ERR_INVALID,
			       "%.*s stands with %s, the result has it for %s", (int)number->len,
			       number->text, buf_str(&who), buf_str(&owner));
	if (who.len)
		return err_set(reading->err, ERR_INVALID,
			       "%.*s stands with %s, the result has no such %s there",
			       (int)number->len, number->text, buf_str(&who), column->label);
	return err_set(reading->err, ERR_INVALID, "%.*s is not the result's %s", (int)number->len,
		       number->text, column->label);
}

static int fail_unit(const struct reading *reading, const struct number *number, bool several)
{
	const struct report_view *view = &reading->view;

	if (several)
		return err_set(reading->err, ERR_INVALID,
			       "%.*s could be one of several columns: name which", (int)number->len,
			       number->text);
	for (size_t i = 0; i < view->column_count; i++) {
		const struct report_column *column = &view->columns[i];

		if (!column->dimension &&
		    (!reading->measure || column_is(column, reading->measure)))
			return err_set(reading->err, ERR_INVALID, "%.*s stands where %s is in %s",
				       (int)number->len, number->text, column->label,
				       column->unit ? column->unit : "no unit");
	}
	return err_set(reading->err, ERR_INVALID, "%.*s: the result holds no such value",
		       (int)number->len, number->text);
}

/* Of rows that the labels name wholly one must have the value; of others all must. */
static bool column_has(const struct reading *reading, const struct labels *labels,
		       const struct report_column *column, const struct number *number,
		       size_t *ret_fitting)
{
	const struct report_view *view = &reading->view;
	size_t fitting = 0, having = 0;
	bool one = false;

	json_each(row, view->rows)
	{
		bool has = value_is(column, cell_of(view, row, column), number);

		if (labels->overflow || !row_fits(view, row, labels))
			continue;
		fitting++;
		having += has;
		one = one || (has && row_is_named(view, row, labels));
	}
	*ret_fitting = fitting;
	return one || (fitting > 0 && having == fitting);
}

static int fail_row(const struct reading *reading, const struct labels *labels,
		    const struct number *number)
{
	CLEANUP(buf_clear) struct buf who = BUF_INIT;

	write_labels(labels, &who);
	return err_set(reading->err, ERR_INVALID,
		       "%.*s stands with %s, which is no row of the result", (int)number->len,
		       number->text, buf_str(&who));
}

static int check_value(const struct reading *reading, const struct labels *labels,
		       const struct number *number)
{
	const struct report_view *view = &reading->view;
	const struct report_column *last = NULL;
	size_t fitting = 0;
	bool several;
	const char *label = pick_label(reading, number, &several);

	if (!label)
		return fail_unit(reading, number, several);
	if (labels->count == 0 && view->dimension_count > 0 && view->row_count > 1)
		return err_set(reading->err, ERR_INVALID, "%.*s stands with no row of the result",
			       (int)number->len, number->text);
	for (size_t i = 0; i < view->column_count; i++) {
		const struct report_column *column = &view->columns[i];

		if (!column_fits(reading, column, number) || !column_is(column, label))
			continue;
		if (column_has(reading, labels, column, number, &fitting))
			return 0;
		last = column;
	}
	if (fitting == 0)
		return fail_row(reading, labels, number);
	return fail_value(reading, labels, last, number);
}

/* ---- reading numbers ---- */

static const struct {
	const char *sign;
	const char *unit;
} currencies[] = {{"$", "USD"}, {"\xE2\x82\xAC", "EUR"}, {"\xC2\xA3", "GBP"}, {"\xC2\xA5", "JPY"}};

static const char *currency_at(const char *text, size_t *ret_len)
{
	for (size_t i = 0; i < ARRAY_LEN(currencies); i++) {
		size_t len = strlen(currencies[i].sign);

		if (strncmp(text, currencies[i].sign, len) == 0) {
			*ret_len = len;
			return currencies[i].unit;
		}
	}
	*ret_len = 0;
	return NULL;
}

/* A unit of the result, a currency sign or "percent" behind a number. */
static const char *unit_at(const struct report_view *view, const char *text, size_t *ret_len)
{
	size_t blank = text[0] == ' ', len;
	const char *found = NULL, *currency;

	*ret_len = 0;
	for (size_t i = 0; i < view->column_count; i++) {
		const char *unit = view->columns[i].unit;

		len = unit ? strlen(unit) : 0;
		if (len > 0 && blank + len > *ret_len &&
		    strncasecmp(text + blank, unit, len) == 0 &&
		    !(report_word_byte(unit[len - 1]) && report_word_byte(text[blank + len]))) {
			found = unit;
			*ret_len = blank + len;
		}
	}
	if (found)
		return found;
	currency = currency_at(text + blank, &len);
	if (currency) {
		*ret_len = blank + len;
		return currency;
	}
	if (text[blank] == '%') {
		*ret_len = blank + 1;
		return "%";
	}
	if (strncasecmp(text + blank, "percent", 7) == 0 && !report_word_byte(text[blank + 7])) {
		*ret_len = blank + 7;
		return "%";
	}
	/* a code of three capitals that the result does not have is a unit all the same */
	for (size_t i = 0; i < ARRAY_LEN(currencies); i++) {
		if (strncmp(text + blank, currencies[i].unit, 3) == 0 &&
		    !report_word_byte(text[blank + 3])) {
			*ret_len = blank + 3;
			return currencies[i].unit;
		}
	}
	return NULL;
}

/* Digits with thousands separators, a fraction and an exponent; returns bytes read. */
static size_t digits_at(const char *text, struct number *number)
{
	size_t at = 0, len = strlen(number->digits);
	bool fraction = false;

	while (len < sizeof(number->digits) - 1) {
		char c = text[at];

		if (isdigit((unsigned char)c)) {
			number->decimals += fraction;
		} else if (c == ',' && !fraction && at > 0 &&
			   isdigit((unsigned char)text[at + 1]) &&
			   strspn(text + at + 1, "0123456789") == 3) {
			at++;
			continue;
		} else if (c == '.' && !fraction && isdigit((unsigned char)text[at + 1])) {
			fraction = true;
		} else if ((c == 'e' || c == 'E') && at > 0 &&
			   isdigit((unsigned char)
					   text[at + 1 +
						(text[at + 1] == '+' || text[at + 1] == '-')])) {
			number->digits[len++] = c;
			at++;
			if (!isdigit((unsigned char)text[at]) && len < sizeof(number->digits) - 1)
				number->digits[len++] = text[at++];
			fraction = false;
			continue;
		} else {
			break;
		}
		number->digits[len++] = c;
		at++;
	}
	number->digits[len] = '\0';
	return at;
}

static bool number_begins(const char *text, size_t at)
{
	size_t sign = 0, currency;

	if (at > 0 && report_word_byte(text[at - 1]))
		return false;
	if (text[at] == '-' || text[at] == '+')
		sign = 1;
	currency_at(text + at + sign, &currency);
	return isdigit((unsigned char)text[at + sign + currency]) ||
	       (text[at + sign + currency] == '.' &&
		isdigit((unsigned char)text[at + sign + currency + 1]));
}

static int read_number(const struct reading *reading, size_t start, struct number *number)
{
	const char *text = reading->text, *behind;
	size_t at = start, len;

	*number = (struct number){.text = text + start};
	if (text[at] == '-')
		number->digits[0] = '-';
	at += text[at] == '-' || text[at] == '+';
	number->unit = currency_at(text + at, &len);
	at += len;
	at += digits_at(text + at, number);
	number->value = strtod(number->digits, NULL);
	behind = unit_at(&reading->view, text + at, &len);
	if (behind && (!number->unit || unit_is(behind, number->unit))) { /* also "$420 USD" */
		number->unit = behind;
		at += len;
	}
	number->len = at - start;
	if (report_word_byte(text[at - 1]) && report_word_byte(text[at])) /* 3rd, 10k, 2026abc */
		return err_set(reading->err, ERR_INVALID, "%.*s is not a number of the result",
			       (int)strcspn(text + start, " ,;\n") > 40
				       ? 40
				       : (int)strcspn(text + start, " ,;\n"),
			       text + start);
	return 0;
}

/* ---- counts of rows, numbers in words ---- */

static bool word_at_is(const char *text, const char *word)
{
	size_t len = strlen(word);

	return len > 0 && strncasecmp(text, word, len) == 0 && !report_word_byte(text[len]);
}

static bool plural_at(const char *text, const char *noun)
{
	CLEANUP(mem_freep) char *s = mem_format("%ss", noun);
	CLEANUP(mem_freep) char *es = mem_format("%ses", noun);
	size_t len = strlen(noun);
	CLEANUP(mem_freep)
	char *ies = len > 0 && noun[len - 1] == 'y' ? mem_format("%.*sies", (int)(len - 1), noun)
						    : mem_str("");

	return word_at_is(text, noun) || word_at_is(text, s) || word_at_is(text, es) ||
	       word_at_is(text, ies);
}

/* " rows", " regions": what rows are called. A word that is also a measure's is not one. */
static bool counts_rows(const struct report_view *view, const char *text)
{
	static const char *const nouns[] = {"row", "result", "group", "line"};

	if (*text++ != ' ')
		return false;
	for (size_t i = 0; i < view->column_count; i++) {
		if (!view->columns[i].dimension && plural_at(text, view->columns[i].label))
			return false;
	}
	for (size_t i = 0; i < ARRAY_LEN(nouns); i++) {
		if (plural_at(text, nouns[i]))
			return true;
	}
	for (size_t i = 0; i < view->column_count; i++) {
		if (view->columns[i].dimension && plural_at(text, view->columns[i].label))
			return true;
	}
	return false;
}

static int check_count(const struct reading *reading, const char *text, size_t len, double value)
{
	if (value == (double)reading->view.row_count)
		return 0;
	return err_set(reading->err, ERR_INVALID, "%.*s rows are named, the result has %zu",
		       (int)len, text, reading->view.row_count);
}

/* The bytes of a number in words from two up; *ret is 0 for those too great to be written so. */
static size_t number_word_at(const char *text, double *ret)
{
	static const struct {
		const char *word;
		double value;
	} words[] = {{"two", 2},       {"three", 3},	{"four", 4},	 {"five", 5},
		     {"six", 6},       {"seven", 7},	{"eight", 8},	 {"nine", 9},
		     {"ten", 10},      {"eleven", 11},	{"twelve", 12},	 {"thirteen", 13},
		     {"fifteen", 15},  {"twenty", 20},	{"thirty", 30},	 {"forty", 40},
		     {"fifty", 50},    {"sixty", 60},	{"seventy", 70}, {"eighty", 80},
		     {"ninety", 90},   {"hundred", 0},	{"thousand", 0}, {"million", 0},
		     {"billion", 0},   {"trillion", 0}, {"dozen", 0},	 {"hundreds", 0},
		     {"thousands", 0}, {"millions", 0}, {"billions", 0}, {"dozens", 0}};

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (word_at_is(text, words[i].word)) {
			*ret = words[i].value;
			return strlen(words[i].word);
		}
	}
	return 0;
}

/* ---- the walk ---- */

/* The number that waited for a label gets what there is. */
static int settle(struct reading *reading)
{
	if (!reading->pending)
		return 0;
	reading->pending = false;
	reading->bound = reading->fresh;
	reading->fresh = (struct labels){.count = 0};
	return check_value(reading, &reading->bound, &reading->number);
}

static int end_sentence(struct reading *reading)
{
	if (settle(reading) < 0)
		return -1;
	reading->fresh = (struct labels){.count = 0};
	reading->bound = (struct labels){.count = 0};
	reading->measure = NULL;
	return 0;
}

static int take_number(struct reading *reading, const struct number *number)
{
	if (settle(reading) < 0)
		return -1;
	if (reading->fresh.count > 0) {
		reading->bound = reading->fresh;
		reading->fresh = (struct labels){.count = 0};
	}
	if (reading->bound.count > 0 || reading->view.row_count <= 1 ||
	    reading->view.dimension_count == 0)
		return check_value(reading, &reading->bound, number);
	reading->pending = true;
	reading->number = *number;
	return 0;
}

static int take_phrase(struct reading *reading, const struct phrase *phrase)
{
	reading->at += phrase->len;
	switch (phrase->kind) {
	case PHRASE_MEASURE:
		reading->measure = phrase->meaning;
		return 0;
	case PHRASE_LABEL:
		add_label(&reading->fresh, phrase->meaning);
		return settle(reading);
	case PHRASE_DIMENSION:
	case PHRASE_KNOWN:
		return 0;
	}
	return 0;
}

static int take_digits(struct reading *reading)
{
	struct number number;

	if (read_number(reading, reading->at, &number) < 0)
		return -1;
	reading->at += number.len;
	if (!number.unit && number.decimals == 0 &&
	    counts_rows(&reading->view, reading->text + reading->at))
		return check_count(reading, number.text, number.len, number.value);
	return take_number(reading, &number);
}

/* Numbers in words count rows, or they are too vague to be held against a result. */
static int take_number_word(struct reading *reading, size_t len, double value)
{
	const char *text = reading->text + reading->at;

	reading->at += len;
	if (value > 0 && value == (double)reading->view.row_count)
		return 0;
	return err_set(reading->err, ERR_INVALID, "\"%.*s\" cannot be checked: write it in digits",
		       (int)len, text);
}

/* "no value" takes its labels like a number, and must stand where there is none. */
static int take_no_value(struct reading *reading)
{
	const struct report_view *view = &reading->view;

	if (settle(reading) < 0)
		return -1;
	reading->at += strlen(no_value);
	if (reading->fresh.count > 0)
		reading->bound = reading->fresh;
	reading->fresh = (struct labels){.count = 0};
	json_each(row, view->rows)
	{
		for (size_t i = 0; i < view->column_count; i++) {
			if (!view->columns[i].dimension && !report_is_number(json_at(row, i)) &&
			    row_fits(view, row, &reading->bound))
				return 0;
		}
	}
	return err_set(reading->err, ERR_INVALID, "no value is said where the result has one");
}

static int take_word(struct reading *reading)
{
	const char *text = reading->text + reading->at;
	size_t len = 0;
	bool digit = false;

	while (report_word_byte(text[len])) {
		digit = digit || isdigit((unsigned char)text[len]);
		len++;
	}
	reading->at += len;
	if (digit)
		return err_set(reading->err, ERR_INVALID, "%.*s is not in the result",
			       (int)(len > 40 ? 40 : len), text);
	return 0;
}

static bool sentence_ends(const char *text)
{
	if (text[0] == '\n')
		return true;
	return (text[0] == '.' || text[0] == '!' || text[0] == '?') &&
	       (text[1] == '\0' || isspace((unsigned char)text[1]));
}

static int step(struct reading *reading)
{
	const char *text = reading->text + reading->at;
	bool begins = reading->at == 0 || !report_word_byte(text[-1]);
	const struct phrase *phrase = phrases_at(&reading->phrases, reading->text, reading->at);
	double value;
	size_t len;

	if (phrase)
		return take_phrase(reading, phrase);
	len = begins ? report_time_len(reading->text, reading->at) : 0;
	if (len > 0) {
		if (report_time_check(&reading->view, reading->text, reading->at, reading->err) < 0)
			return -1;
		reading->at += len;
		return 0;
	}
	if (number_begins(reading->text, reading->at))
		return take_digits(reading);
	len = begins ? number_word_at(text, &value) : 0;
	if (len > 0)
		return take_number_word(reading, len, value);
	if (begins && word_at_is(text, no_value))
		return take_no_value(reading);
	if (report_word_byte(*text))
		return take_word(reading);
	reading->at++;
	return sentence_ends(text) ? end_sentence(reading) : 0;
}

int report_check(const struct report_input *input, const char *text, struct err *err)
{
	struct reading reading = {.text = text, .err = err};
	int result = 0;

	report_view_init(&reading.view, input);
	phrases_init(&reading.phrases, &reading.view);
	while (result == 0 && text[reading.at])
		result = step(&reading);
	if (result == 0)
		result = end_sentence(&reading);
	phrases_clear(&reading.phrases);
	report_view_clear(&reading.view);
	return result;
}
