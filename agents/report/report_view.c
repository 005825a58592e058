/*
 * Columns, labels and numbers of a result, as text. Nothing can fail: a result that lacks something
 * is read as empty.
 */
#include "agents/report/report_view.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NUMBER_WHOLE_MAX 1e15 /* from here on a real is written with an exponent */

static bool digits_only(const char *text)
{
	if (*text == '-')
		text++;
	return *text && strspn(text, "0123456789") == strlen(text);
}

bool report_is_number(const struct json *cell)
{
	return json_type(cell) == JSON_INT || json_type(cell) == JSON_REAL ||
	       (json_str(cell) && digits_only(json_str(cell)));
}

static bool numeric_type(const char *type)
{
	return type && (strcmp(type, "integer") == 0 || strcmp(type, "real") == 0 ||
			strcmp(type, "bigint") == 0);
}

/* The declared columns count only if they are those of the result. */
static bool columns_agree(const struct json *declared, const struct json *names)
{
	if (json_len(declared) == 0 || json_len(declared) != json_len(names))
		return false;
	for (size_t i = 0; i < json_len(names); i++) {
		const char *name = json_get_str(json_at(declared, i), "name");

		if (!name || !json_str(json_at(names, i)) ||
		    strcmp(name, json_str(json_at(names, i))) != 0)
			return false;
	}
	return true;
}

static void read_column(struct report_column *column, const struct json *name,
			const struct json *type, const struct json *declared)
{
	const char *text = json_str(name) ? json_str(name) : "";

	*column = (struct report_column){
		.name = text,
		.label = text,
		.role = "",
		.dimension = !numeric_type(json_str(type)),
		.decimals = -1,
	};
	if (!declared)
		return;
	if (json_get_str(declared, "label"))
		column->label = json_get_str(declared, "label");
	if (json_get_str(declared, "role"))
		column->role = json_get_str(declared, "role");
	column->unit = json_get_str(declared, "unit");
	column->decimals = (int)json_get_int(declared, "decimals", -1);
	/* a measure that came out as text names its row, it does not measure it; one without any
	 * value is still a measure */
	column->dimension = strcmp(column->role, "dimension") == 0 ||
			    (json_str(type) && strcmp(json_str(type), "text") == 0);
}

void report_view_init(struct report_view *view, const struct report_input *input)
{
	const struct json *names = json_get(input->result, "columns");
	const struct json *types = json_get(input->result, "types");

	*view = (struct report_view){.input = input};
	view->rows = json_get(input->result, "rows");
	view->row_count = json_len(view->rows);
	view->column_count = json_len(names);
	view->columns = mem_array(view->column_count + 1, sizeof(*view->columns));
	view->declared = columns_agree(input->columns, names);
	for (size_t i = 0; i < view->column_count; i++) {
		read_column(&view->columns[i], json_at(names, i), json_at(types, i),
			    view->declared ? json_at(input->columns, i) : NULL);
		view->dimension_count += view->columns[i].dimension;
	}
	/* several rows of numbers alone: the first number names the row */
	if (view->dimension_count == 0 && view->row_count > 1 && view->column_count > 1) {
		view->columns[0].dimension = true;
		view->dimension_count = 1;
	}
	view->value_count = view->column_count - view->dimension_count;
}

void report_view_clear(struct report_view *view)
{
	mem_free(view->columns);
	*view = (struct report_view){0};
}

size_t report_rows_shown(const struct report_view *view)
{
	return view->row_count > REPORT_ROWS_SHOWN ? REPORT_ROWS_SHOWN : view->row_count;
}

static void write_real(double value, int decimals, struct buf *out)
{
	CLEANUP(json_freep) struct json *real = NULL;
	char text[64];

	if (decimals >= 0 && decimals <= 12 && fabs(value) < NUMBER_WHOLE_MAX) {
		snprintf(text, sizeof(text), "%.*f", decimals, value);
		/* no "-0.00" */
		buf_add_str(out, text[0] == '-' && strtod(text, NULL) == 0 ? text + 1 : text);
		return;
	}
	real = json_new_real(value);
	json_write(real, out);
}

void report_number(const struct report_column *column, const struct json *cell, struct buf *out)
{
	if (json_type(cell) == JSON_INT && column->decimals <= 0)
		buf_addf(out, "%lld", (long long)json_int(cell));
	else if (json_type(cell) == JSON_INT || json_type(cell) == JSON_REAL)
		write_real(json_real(cell), column->decimals, out);
	else if (report_is_number(cell))
		buf_add_str(out, json_str(cell));
	else
		buf_add_str(out, "no value");
}

void report_label_text(const struct json *cell, struct buf *out)
{
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	size_t len;

	if (json_str(cell))
		buf_add_str(&text, json_str(cell));
	else if (json_is_null(cell))
		buf_add_str(&text, "(missing)");
	else if (json_type(cell) == JSON_OBJECT)
		buf_add_str(&text, "(binary)");
	else
		json_write(cell, &text);
	len = text.len;
	if (len <= REPORT_LABEL_BYTES) {
		buf_add(out, buf_str(&text), len);
		return;
	}
	len = REPORT_LABEL_BYTES;
	while (len > 0 && ((unsigned char)text.bytes[len] & 0xC0) == 0x80)
		len--; /* not inside a character */
	buf_add(out, text.bytes, len);
	buf_add_str(out, "...");
}

/* 2026-07, 2026-07-01, 2026-Q3, 2026-W33: cannot be taken for a value. */
static bool date_like(const char *text)
{
	size_t len = strlen(text);

	if (len < 7 || strspn(text, "0123456789") != 4 || text[4] != '-')
		return false;
	if (text[5] == 'Q')
		return len == 7 && isdigit((unsigned char)text[6]);
	if (text[5] == 'W')
		return len == 8 && strspn(text + 6, "0123456789") == 2;
	if (strspn(text + 5, "0123456789") != 2)
		return false;
	return len == 7 || (len == 10 && text[7] == '-' && strspn(text + 8, "0123456789") == 2);
}

static bool letter(char c)
{
	return isalpha((unsigned char)c) || (unsigned char)c >= 0x80;
}

static bool plain_text(const char *text)
{
	size_t len = strlen(text);

	if (date_like(text))
		return true;
	if (len == 0 || len > REPORT_LABEL_BYTES || !letter(text[0]) ||
	    (!letter(text[len - 1]) && !isdigit((unsigned char)text[len - 1])))
		return false;
	for (size_t i = 0; i < len; i++) {
		if (!letter(text[i]) && !isdigit((unsigned char)text[i]) &&
		    !strchr(" -'&_", text[i]))
			return false;
		if (text[i] == ' ' && text[i + 1] == ' ')
			return false;
	}
	return true;
}

static bool number_text(const char *text)
{
	char *end;

	if (!*text || isspace((unsigned char)*text))
		return false;
	strtod(text, &end);
	return !*end;
}

/* Does longer begin with text and a blank? */
static bool goes_on(const char *longer, const char *text)
{
	size_t len = strlen(text);

	return strncasecmp(longer, text, len) == 0 && longer[len] == ' ';
}

/* Words that a report uses itself, or that the check reads as a number or a time. */
static bool own_word(const char *text)
{
	static const char *const words[] = {
		"by",	     "and",	"to",	    "of",	"in",	   "before",  "rows",
		"row",	     "no",	"no value", "value",	"missing", "warning", "none",
		"percent",   "first",	"the",	    "zero",	"two",	   "three",   "four",
		"five",	     "six",	"seven",    "eight",	"nine",	   "ten",     "eleven",
		"twelve",    "twenty",	"hundred",  "thousand", "million", "billion", "today",
		"yesterday", "last",	"this",	    "previous", "past",	   "next",    "january",
		"february",  "march",	"april",    "may",	"june",	   "july",    "august",
		"september", "october", "november", "december"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (strcasecmp(text, words[i]) == 0 || goes_on(words[i], text))
			return true;
	}
	return false;
}

static bool clashes_with_column(const struct report_view *view, const char *text)
{
	for (size_t i = 0; i < view->column_count; i++) {
		const struct report_column *column = &view->columns[i];
		const char *texts[] = {column->name, column->label, column->unit};

		for (size_t j = 0; j < ARRAY_LEN(texts); j++) {
			if (texts[j] && (strcasecmp(text, texts[j]) == 0 ||
					 goes_on(texts[j], text) || goes_on(text, texts[j])))
				return true;
		}
	}
	return false;
}

/* "East" beside "East 420": written plainly, "East 420" would be read as the other row. */
static bool begins_another(const struct report_view *view, const char *text)
{
	json_each(row, view->rows)
	{
		for (size_t i = 0; i < view->column_count; i++) {
			const char *other = json_str(json_at(row, i));

			if (view->columns[i].dimension && other && goes_on(other, text))
				return true;
		}
	}
	return false;
}

/* A column's label may hold commas and parentheses: what follows it is a number or a label. */
static bool plain_heading(const char *text)
{
	size_t len = strlen(text);

	if (len == 0 || len > REPORT_LABEL_BYTES || !letter(text[0]) ||
	    (!letter(text[len - 1]) && !isdigit((unsigned char)text[len - 1]) &&
	     text[len - 1] != ')'))
		return false;
	for (size_t i = 0; i < len; i++) {
		if (!letter(text[i]) && !isdigit((unsigned char)text[i]) &&
		    !strchr(" -'&_,()", text[i]))
			return false;
		if ((text[i] == ' ' && text[i + 1] == ' ') ||
		    (text[i] == ',' && text[i + 1] != ' '))
			return false;
	}
	return true;
}

/* "orders" beside "orders 5": "orders 5" before a value would be read as the other column. */
static bool goes_on_as_value(const char *longer, const char *text)
{
	size_t len = strlen(text);

	return goes_on(longer, text) &&
	       (isdigit((unsigned char)longer[len + 1]) || strchr("-.+", longer[len + 1]) ||
		strncasecmp(longer + len + 1, "no value", 8) == 0);
}

bool report_column_plain(const struct report_view *view, size_t column)
{
	const char *label = view->columns[column].label;

	if (!plain_heading(label) || own_word(label))
		return false;
	for (size_t i = 0; i < view->column_count; i++) {
		const struct report_column *other = &view->columns[i];

		if (goes_on_as_value(other->label, label) || goes_on_as_value(other->name, label) ||
		    (other->unit && strcasecmp(other->unit, label) == 0))
			return false;
		/* a label stands behind its column's name, and may be anything */
		if (view->columns[column].dimension && i != column && goes_on(other->label, label))
			return false;
	}
	return true;
}

/* Not as labels are quoted: a column and a row may be called the same. */
void report_backquote(const char *text, struct buf *out)
{
	CLEANUP(buf_clear) struct buf quoted = BUF_INIT;

	json_write_string(text, strlen(text), &quoted);
	buf_add_char(out, '`');
	for (size_t i = 1; i + 1 < quoted.len; i++) {
		if (quoted.bytes[i] == '`')
			buf_add_str(out, "\\u0060");
		else
			buf_add_char(out, quoted.bytes[i]);
	}
	buf_add_char(out, '`');
}

void report_column(const struct report_view *view, size_t column, struct buf *out)
{
	const char *label = view->columns[column].label;

	if (report_column_plain(view, column))
		buf_add_str(out, label);
	else
		report_backquote(label, out);
}

/* "orders 5" could be a value if a column of values had the same label. */
static bool numbers_rows(const struct report_view *view, size_t column)
{
	for (size_t i = 0; i < view->column_count; i++) {
		if (!view->columns[i].dimension &&
		    strcasecmp(view->columns[i].label, view->columns[column].label) == 0)
			return false;
	}
	return report_column_plain(view, column);
}

enum label_form report_label_form(const struct report_view *view, size_t column,
				  const struct json *cell)
{
	const char *text = json_str(cell);

	if (json_is_null(cell) || json_type(cell) == JSON_OBJECT)
		return LABEL_PLAIN; /* "(missing)", which as a text would be quoted */
	if ((!text || number_text(text)) && numbers_rows(view, column))
		return LABEL_NUMBERED;
	if (!text || !plain_text(text) || number_text(text) || own_word(text) ||
	    clashes_with_column(view, text) || begins_another(view, text))
		return LABEL_QUOTED;
	return LABEL_PLAIN;
}

void report_label(const struct report_view *view, size_t column, const struct json *cell,
		  struct buf *out)
{
	CLEANUP(buf_clear) struct buf text = BUF_INIT;

	report_label_text(cell, &text);
	switch (report_label_form(view, column, cell)) {
	case LABEL_PLAIN:
		buf_add_str(out, buf_str(&text));
		return;
	case LABEL_NUMBERED:
		buf_addf(out, "%s %s", view->columns[column].label, buf_str(&text));
		return;
	case LABEL_QUOTED:
		json_write_string(buf_str(&text), text.len, out);
		return;
	}
}
