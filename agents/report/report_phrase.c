/*
 * Collecting and finding phrases. Longest first, so that "North East" is not read as "East"; of
 * the same text a column beats a label, and a label what is known anyway.
 */
#include "agents/report/report_phrase.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

bool report_word_byte(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

static unsigned char first_byte(const char *text)
{
	return (unsigned char)tolower((unsigned char)text[0]);
}

static void add(struct phrases *phrases, enum phrase_kind kind, const char *text,
		const char *meaning)
{
	if (!text || !*text)
		return;
	if (phrases->count == phrases->cap) {
		phrases->cap = phrases->cap * 2 + 64;
		phrases->items = mem_grow(phrases->items, phrases->cap * sizeof(*phrases->items));
	}
	phrases->items[phrases->count++] =
		(struct phrase){kind, mem_str(text), strlen(text), mem_str(meaning)};
}

static void add_list(struct phrases *phrases, const struct json *list)
{
	json_each(item, list) add(phrases, PHRASE_KNOWN, json_str(item), "");
}

static void add_period(struct phrases *phrases, const struct json *period)
{
	const char *from = json_get_str(period, "from"), *to = json_get_str(period, "to");
	CLEANUP(mem_freep) char *text = NULL;

	if (!from || !to)
		return;
	text = mem_format("%s to before %s", from, to);
	add(phrases, PHRASE_KNOWN, text, "");
}

/* What is true of the result whatever stands around it. */
static void add_known(struct phrases *phrases, const struct report_view *view)
{
	const struct report_input *input = view->input;
	CLEANUP(buf_clear) struct buf header = BUF_INIT;

	report_header(view, &header);
	add(phrases, PHRASE_KNOWN, buf_str(&header), "");
	add(phrases, PHRASE_KNOWN, json_get_str(input->words, "sentence"), "");
	add_list(phrases, json_get(input->words, "filters"));
	add_list(phrases, json_get(input->words, "missing"));
	add_period(phrases, input->period);
	add_period(phrases, json_get(input->words, "period"));
	add_period(phrases, json_get(input->words, "compare"));
	json_each(metric, json_get(input->words, "metrics"))
	{
		add(phrases, PHRASE_KNOWN, json_get_str(metric, "definition"), "");
		add(phrases, PHRASE_KNOWN, json_get_str(metric, "filter"), "");
		add(phrases, PHRASE_KNOWN, json_get_str(metric, "missing"), "");
	}
	json_each(flag, input->flags) add(phrases, PHRASE_KNOWN, json_get_str(flag, "message"), "");
}

static void add_quoted(struct phrases *phrases, enum phrase_kind kind, const char *text)
{
	CLEANUP(buf_clear) struct buf quoted = BUF_INIT;

	json_write_string(text, strlen(text), &quoted);
	add(phrases, kind, buf_str(&quoted), text);
}

static bool begins_with_letter(const char *text)
{
	return isalpha((unsigned char)*text) || (unsigned char)*text >= 0x80;
}

/* The name of one column may be the label of another, which is what people read. */
static bool is_label(const struct report_view *view, const char *name)
{
	for (size_t i = 0; i < view->column_count; i++) {
		if (strcasecmp(view->columns[i].label, name) == 0)
			return true;
	}
	return false;
}

static void add_columns(struct phrases *phrases, const struct report_view *view)
{
	for (size_t i = 0; i < view->column_count; i++) {
		const struct report_column *column = &view->columns[i];
		enum phrase_kind kind = column->dimension ? PHRASE_DIMENSION : PHRASE_MEASURE;

		CLEANUP(buf_clear) struct buf quoted = BUF_INIT;

		report_backquote(column->label, &quoted);
		add(phrases, kind, buf_str(&quoted), column->label);
		/* a label that holds a number counts only as a whole and unmistakably */
		if (report_column_plain(view, i) ||
		    (begins_with_letter(column->label) && !strpbrk(column->label, "0123456789")))
			add(phrases, kind, column->label, column->label);
		if (begins_with_letter(column->name) && !strpbrk(column->name, "0123456789") &&
		    !is_label(view, column->name))
			add(phrases, kind, column->name, column->label);
	}
}

static void add_labels(struct phrases *phrases, const struct report_view *view)
{
	json_each(row, view->rows)
	{
		for (size_t i = 0; i < view->column_count; i++) {
			CLEANUP(buf_clear) struct buf text = BUF_INIT;
			CLEANUP(buf_clear) struct buf bare = BUF_INIT;

			if (!view->columns[i].dimension)
				continue;
			report_label(view, i, json_at(row, i), &text);
			report_label_text(json_at(row, i), &bare);
			add(phrases, PHRASE_LABEL, buf_str(&text), buf_str(&bare));
			if (report_label_form(view, i, json_at(row, i)) != LABEL_QUOTED)
				add_quoted(phrases, PHRASE_LABEL, buf_str(&bare));
		}
	}
}

static int by_first_then_length(const void *a, const void *b)
{
	const struct phrase *one = a, *other = b;
	unsigned char x = first_byte(one->text), y = first_byte(other->text);

	if (x != y)
		return x < y ? -1 : 1;
	if (one->len != other->len)
		return one->len > other->len ? -1 : 1;
	if (one->kind != other->kind)
		return one->kind < other->kind ? -1 : 1;
	return strcmp(one->text, other->text);
}

void phrases_init(struct phrases *phrases, const struct report_view *view)
{
	size_t at = 0;

	*phrases = (struct phrases){0};
	add_known(phrases, view);
	add_columns(phrases, view);
	add_labels(phrases, view);
	if (phrases->count > 0)
		qsort(phrases->items, phrases->count, sizeof(*phrases->items),
		      by_first_then_length);
	for (size_t byte = 0; byte < 257; byte++) {
		while (at < phrases->count && first_byte(phrases->items[at].text) < byte)
			at++;
		phrases->first[byte] = at;
	}
}

void phrases_clear(struct phrases *phrases)
{
	for (size_t i = 0; i < phrases->count; i++) {
		mem_free(phrases->items[i].text);
		mem_free(phrases->items[i].meaning);
	}
	mem_free(phrases->items);
	*phrases = (struct phrases){0};
}

/* "East 420" does not end inside "East 420.5", nor "2026" inside "2026-07". */
static bool whole(const char *text, size_t at, size_t len)
{
	const char *end = text + at + len;

	if (at > 0 && report_word_byte(text[at]) && report_word_byte(text[at - 1]))
		return false;
	if (report_word_byte(end[-1]) && report_word_byte(end[0]))
		return false;
	return !(isdigit((unsigned char)end[-1]) && end[0] && strchr(".,-", end[0]) &&
		 isalnum((unsigned char)end[1]));
}

const struct phrase *phrases_at(const struct phrases *phrases, const char *text, size_t at)
{
	unsigned char byte = first_byte(text + at);

	for (size_t i = phrases->first[byte]; i < phrases->first[byte + 1]; i++) {
		const struct phrase *phrase = &phrases->items[i];
		int differs = phrase->kind == PHRASE_LABEL
				      ? strncmp(text + at, phrase->text, phrase->len)
				      : strncasecmp(text + at, phrase->text, phrase->len);

		if (differs == 0 && whole(text, at, phrase->len))
			return phrase;
	}
	return NULL;
}
