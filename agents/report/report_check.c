/*
 * Holding a text against its result.
 *
 * The text is read from left to right: known phrases are passed over whole (report_phrase.c),
 * labels and column names are remembered, periods are checked where they stand (report_time.c), and
 * each number (report_number.c) is bound to the labels since the number before it (or, when there
 * are none, that number's labels; or, when the sentence has none so far, the next label), the
 * column named last in the sentence, its unit. All of that must lead to a cell with this value
 * (report_match.c). A sentence ends at . ! ? and at a line's end.
 *
 * Strict on purpose: what is ambiguous fails, since the built-in report can always stand in. What
 * is not checked: statements without a number ("East did best").
 */
#include "agents/report/report_view.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "agents/report/report_match.h"
#include "agents/report/report_phrase.h"
#include "agents/report/report_time.h"

static const char no_value[] = "no value"; /* as report_number() writes it */

struct reading {
	struct report_view view;
	struct phrases phrases;
	struct buf vocabulary; /* what the question, the columns and the definitions say */
	const char *text;
	size_t at;
	size_t phrase_end;	     /* behind the last phrase; 0 before the first */
	struct report_labels fresh;  /* since the last number */
	struct report_labels bound;  /* those of the last number */
	const char *measure;	     /* label of the column named last; NULL when none */
	bool pending;		     /* a number that waits for the next label */
	struct report_number number; /* the pending one */
	struct err *err;
};

static int match(const struct reading *reading, const struct report_number *number)
{
	struct report_claim claim = {number, &reading->bound, reading->measure, reading->text};

	return report_match(&reading->view, &claim, reading->err);
}

static bool plural_at(const char *text, const char *noun)
{
	CLEANUP(mem_freep) char *s = mem_format("%ss", noun);
	CLEANUP(mem_freep) char *es = mem_format("%ses", noun);
	size_t len = strlen(noun);
	CLEANUP(mem_freep)
	char *ies = len > 0 && noun[len - 1] == 'y' ? mem_format("%.*sies", (int)(len - 1), noun)
						    : mem_str("");

	return report_word_at(text, noun) || report_word_at(text, s) || report_word_at(text, es) ||
	       report_word_at(text, ies);
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

/* The number that waited for a label gets what there is. */
static int settle(struct reading *reading)
{
	if (!reading->pending)
		return 0;
	reading->pending = false;
	reading->bound = reading->fresh;
	reading->fresh = (struct report_labels){.count = 0};
	return match(reading, &reading->number);
}

static int end_sentence(struct reading *reading)
{
	if (settle(reading) < 0)
		return -1;
	reading->fresh = (struct report_labels){.count = 0};
	reading->bound = (struct report_labels){.count = 0};
	reading->measure = NULL;
	return 0;
}

static int take_number(struct reading *reading, const struct report_number *number)
{
	if (settle(reading) < 0)
		return -1;
	if (reading->fresh.count > 0) {
		reading->bound = reading->fresh;
		reading->fresh = (struct report_labels){.count = 0};
	}
	if (reading->bound.count > 0 || reading->view.row_count <= 1 ||
	    reading->view.dimension_count == 0)
		return match(reading, number);
	reading->pending = true;
	reading->number = *number;
	return 0;
}

static int take_phrase(struct reading *reading, const struct phrase *phrase)
{
	reading->at += phrase->len;
	reading->phrase_end = reading->at;
	switch (phrase->kind) {
	case PHRASE_MEASURE:
		reading->measure = phrase->meaning;
		return 0;
	case PHRASE_LABEL:
		report_labels_add(&reading->fresh, phrase->meaning);
		return settle(reading);
	case PHRASE_DIMENSION:
	case PHRASE_KNOWN:
		return 0;
	}
	return 0;
}

static int take_digits(struct reading *reading)
{
	struct report_number number;
	bool named = reading->at == reading->phrase_end + 1;

	if (report_number_read(&reading->view, reading->text, reading->at, named, &number,
			       reading->err) < 0)
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
	reading->fresh = (struct report_labels){.count = 0};
	json_each(row, view->rows)
	{
		for (size_t i = 0; i < view->column_count; i++) {
			if (!view->columns[i].dimension && !report_is_number(json_at(row, i)) &&
			    report_row_fits(view, row, &reading->bound))
				return 0;
		}
	}
	return err_set(reading->err, ERR_INVALID, "no value is said where the result has one");
}

static void add_vocabulary(struct buf *out, const char *text)
{
	if (text)
		buf_addf(out, " %s", text);
}

static void fill_vocabulary(struct reading *reading)
{
	const struct report_view *view = &reading->view;
	struct buf *out = &reading->vocabulary;

	add_vocabulary(out, view->input->question);
	add_vocabulary(out, json_get_str(view->input->words, "sentence"));
	for (size_t i = 0; i < view->column_count; i++) {
		add_vocabulary(out, view->columns[i].name);
		add_vocabulary(out, view->columns[i].label);
	}
	json_each(metric, json_get(view->input->words, "metrics"))
	{
		add_vocabulary(out, json_get_str(metric, "label"));
		add_vocabulary(out, json_get_str(metric, "definition"));
	}
}

static bool has_word(const char *text, const char *word)
{
	for (const char *at = text; (at = strcasestr(at, word)); at++) {
		bool begins = at == text || !isalpha((unsigned char)at[-1]);

		if (begins && !isalpha((unsigned char)at[strlen(word)]))
			return true;
	}
	return false;
}

/* Kinds of measures in everyday words: "profit" beside the numbers of net sales is a wrong claim,
 * even though the numbers are right. Named by the question or a definition they are fine. */
static int check_measure_word(const struct reading *reading, const char *text)
{
	static const char *const words[] = {
		"profit",  "profits",  "margin",   "margins",  "cost",	   "costs",
		"revenue", "revenues", "sales",	   "turnover", "income",   "earnings",
		"loss",	   "losses",   "expenses", "average",  "averages", "mean",
		"median",  "share",    "growth",   "rate",     "ratio",	   "price",
		"prices",  "quantity", "units",	   "count",    "balance",  "budget"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (report_word_at(text, words[i]) &&
		    !has_word(buf_str(&reading->vocabulary), words[i]))
			return err_set(reading->err, ERR_INVALID,
				       "%s is named, the result does not measure it", words[i]);
	}
	return 0;
}

static int take_word(struct reading *reading)
{
	const char *text = reading->text + reading->at;
	size_t len = 0;
	bool digit = false;

	if ((reading->at == 0 || !report_word_byte(text[-1])) &&
	    check_measure_word(reading, text) < 0)
		return -1;
	while (report_word_byte(text[len])) {
		digit = digit || isdigit((unsigned char)text[len]) ||
			report_foreign_digit(text + len);
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
	if (report_number_begins(reading->text, reading->at))
		return take_digits(reading);
	len = begins ? report_number_word(text, &value) : 0;
	if (len > 0)
		return take_number_word(reading, len, value);
	if (begins && report_word_at(text, no_value))
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
	fill_vocabulary(&reading);
	while (result == 0 && text[reading.at])
		result = step(&reading);
	if (result == 0)
		result = end_sentence(&reading);
	phrases_clear(&reading.phrases);
	buf_clear(&reading.vocabulary);
	report_view_clear(&reading.view);
	return result;
}
