/*
 * What counts as a period: 2026-07-01, 2026-07, 2026-Q3, Q3 2026, July 2026, July to September
 * 2026, 1 July 2026, July 1, 2026, "last quarter", "past 30 days", yesterday. A bare year is one
 * only behind "in", "of", "during", "for", "since", "from".
 *
 * A day must be a bound: the first day, the last day, or behind "before" the day after it. A span
 * must be the whole period. Words must be those of the question or of the period's label, whose
 * meaning was settled before the SQL ran.
 */
#include "agents/report/report_time.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agents/report/report_phrase.h"
#include "base/clock.h"

enum time_kind { TIME_NONE, TIME_DAY, TIME_SPAN, TIME_WORDS };

struct time_named {
	enum time_kind kind;
	size_t len;
	bool year_given;
	struct date from; /* the day itself, or the span's first day */
	struct date to;	  /* behind the span */
};

static const char *const months[] = {"january",	  "february", "march",	  "april",
				     "may",	  "june",     "july",	  "august",
				     "september", "october",  "november", "december"};

static size_t number_at(const char *text, size_t digits_min, size_t digits_max, int *ret)
{
	size_t len = strspn(text, "0123456789");

	if (len < digits_min || len > digits_max || report_word_byte(text[len]))
		return 0;
	*ret = atoi(text);
	return len;
}

static size_t year_at(const char *text, int *ret_year)
{
	size_t len = number_at(text, 4, 4, ret_year);

	if (len == 0 || *ret_year < 1900 || *ret_year > 2100 ||
	    ((text[4] == '.' || text[4] == ',') && isdigit((unsigned char)text[5])))
		return 0;
	return len;
}

static size_t word_len(const char *text)
{
	size_t len = 0;

	while (isalpha((unsigned char)text[len]))
		len++;
	return report_word_byte(text[len]) ? 0 : len;
}

static bool word_is(const char *text, size_t len, const char *word)
{
	return len == strlen(word) && strncasecmp(text, word, len) == 0;
}

/* 1 to 12; capital letter first, or "may" would be a month in every sentence. */
static int month_at(const char *text, size_t *ret_len)
{
	size_t len = isupper((unsigned char)text[0]) ? word_len(text) : 0;

	for (int i = 0; len > 0 && i < 12; i++) {
		if (word_is(text, len, months[i]) ||
		    (len == 3 && strncasecmp(text, months[i], 3) == 0)) {
			*ret_len = len;
			return i + 1;
		}
	}
	return 0;
}

static struct time_named span(size_t len, struct date from, int month_count)
{
	return (struct time_named){TIME_SPAN, len, true, from, date_add_months(from, month_count)};
}

static struct time_named day(size_t len, int year, int month, int day_of_month)
{
	if (month < 1 || month > 12 || day_of_month < 1 ||
	    day_of_month > date_month_days(year, month))
		return (struct time_named){.kind = TIME_NONE};
	return (struct time_named){
		TIME_DAY, len, true, {year, month, day_of_month}, {year, month, day_of_month}};
}

/* 2026-07-01, 2026-07, 2026-Q3 */
static struct time_named iso_at(const char *text)
{
	struct time_named none = {.kind = TIME_NONE};
	int year, month, day_of_month;

	if (strspn(text, "0123456789") != 4 || text[4] != '-')
		return none;
	year = atoi(text);
	if (text[5] == 'Q' && text[6] >= '1' && text[6] <= '4' && !report_word_byte(text[7]))
		return span(7, (struct date){year, (text[6] - '1') * 3 + 1, 1}, 3);
	if (strspn(text + 5, "0123456789") != 2)
		return none;
	month = atoi(text + 5);
	if (month < 1 || month > 12)
		return none;
	if (text[7] == '-' && number_at(text + 8, 2, 2, &day_of_month) == 2)
		return day(10, year, month, day_of_month);
	if (text[7] == '-' || report_word_byte(text[7]))
		return none;
	return span(7, (struct date){year, month, 1}, 1);
}

/* Q3 2026; without a year it is taken for any. */
static struct time_named quarter_at(const char *text)
{
	struct time_named named;
	int year = 2000;
	size_t len = 0;

	if (text[0] != 'Q' || text[1] < '1' || text[1] > '4' || report_word_byte(text[2]))
		return (struct time_named){.kind = TIME_NONE};
	if (text[2] == ' ')
		len = year_at(text + 3, &year);
	named = span(len ? 3 + len : 2, (struct date){year, (text[1] - '1') * 3 + 1, 1}, 3);
	named.year_given = len > 0;
	return named;
}

/* Behind a month: " to September 2026", as far as it goes. */
static size_t until_month(const char *text, int *ret_month)
{
	static const char *const joints[] = {" to ", " through ", " until ",	 " and ",
					     " - ",  "-",	  "\xE2\x80\x93"};

	for (size_t i = 0; i < ARRAY_LEN(joints); i++) {
		size_t joint = strlen(joints[i]), len;

		if (strncasecmp(text, joints[i], joint) != 0)
			continue;
		*ret_month = month_at(text + joint, &len);
		if (*ret_month)
			return joint + len;
	}
	return 0;
}

/* July 1, 2026 / July 2026 / July to September 2026 / July */
static struct time_named month_name_at(const char *text)
{
	struct time_named named;
	size_t len, more;
	int first = month_at(text, &len), last = first, year = 2000, day_of_month;

	if (!first)
		return (struct time_named){.kind = TIME_NONE};
	if (text[len] == ' ') {
		more = number_at(text + len + 1, 1, 2, &day_of_month);
		if (more > 0) {
			size_t at = len + 1 + more;
			size_t comma = text[at] == ',';
			size_t digits =
				text[at + comma] == ' ' ? year_at(text + at + comma + 1, &year) : 0;

			named = day(digits ? at + comma + 1 + digits : at, year, first,
				    day_of_month);
			named.year_given = digits > 0;
			return named;
		}
	}
	len += until_month(text + len, &last);
	more = text[len] == ' ' ? year_at(text + len + 1, &year) : 0;
	if (more > 0)
		len += 1 + more;
	named = span(len, (struct date){year, first, 1}, (last - first + 12) % 12 + 1);
	named.year_given = more > 0;
	return named;
}

/* 1 July 2026 */
static struct time_named day_month_at(const char *text)
{
	struct time_named named = {.kind = TIME_NONE};
	int day_of_month, month, year = 2000;
	size_t len = number_at(text, 1, 2, &day_of_month), month_len, more;

	if (len == 0 || text[len] != ' ')
		return named;
	month = month_at(text + len + 1, &month_len);
	if (!month)
		return named;
	len += 1 + month_len;
	more = text[len] == ' ' ? year_at(text + len + 1, &year) : 0;
	named = day(more ? len + 1 + more : len, year, month, day_of_month);
	named.year_given = more > 0;
	return named;
}

static size_t skip_blank(const char *text, size_t at)
{
	return text[at] == ' ' ? at + 1 : at;
}

/* last quarter, past 30 days, yesterday */
static struct time_named words_at(const char *text)
{
	static const char *const which[] = {"last", "this", "previous", "past", "next", "current"};
	static const char *const units[] = {"day",    "days",	 "week",     "weeks", "month",
					    "months", "quarter", "quarters", "year",  "years"};
	size_t len = word_len(text), at, digits;
	int number;

	if (word_is(text, len, "today") || word_is(text, len, "yesterday"))
		return (struct time_named){.kind = TIME_WORDS, .len = len};
	for (size_t i = 0; len > 0 && i < ARRAY_LEN(which); i++) {
		if (!word_is(text, len, which[i]))
			continue;
		at = skip_blank(text, len);
		digits = number_at(text + at, 1, 4, &number);
		at = digits ? skip_blank(text, at + digits) : at;
		for (size_t j = 0; j < ARRAY_LEN(units); j++) {
			if (word_is(text + at, word_len(text + at), units[j]))
				return (struct time_named){.kind = TIME_WORDS,
							   .len = at + strlen(units[j])};
		}
	}
	return (struct time_named){.kind = TIME_NONE};
}

/* The word before text + at, lower case. */
static void word_before(const char *text, size_t at, char out[16])
{
	size_t end = at, start;

	while (end > 0 && text[end - 1] == ' ')
		end--;
	start = end;
	while (start > 0 && (isalpha((unsigned char)text[start - 1]) || text[start - 1] == '<'))
		start--;
	snprintf(out, 16, "%.*s", (int)(end - start > 15 ? 15 : end - start), text + start);
	for (char *c = out; *c; c++)
		*c = (char)tolower((unsigned char)*c);
}

static bool one_of(const char *word, const char *const *words)
{
	for (; *words; words++) {
		if (strcmp(word, *words) == 0)
			return true;
	}
	return false;
}

static struct time_named bare_year_at(const char *text, size_t at)
{
	static const char *const leads[] = {"in", "of", "during", "for", "since", "from", NULL};
	char before[16];
	int year;
	size_t len = year_at(text + at, &year);

	word_before(text, at, before);
	if (len == 0 || !one_of(before, leads))
		return (struct time_named){.kind = TIME_NONE};
	return span(len, (struct date){year, 1, 1}, 12);
}

static struct time_named find(const char *text, size_t at)
{
	struct time_named (*const forms[])(const char *) = {iso_at, quarter_at, month_name_at,
							    day_month_at, words_at};

	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		struct time_named named = forms[i](text + at);

		if (named.kind != TIME_NONE)
			return named;
	}
	return bare_year_at(text, at);
}

size_t report_time_len(const char *text, size_t at)
{
	return find(text, at).len;
}

static bool bounds(const struct json *period, bool *ret_from, struct date *from, bool *ret_to,
		   struct date *to)
{
	const char *first = json_get_str(period, "from"), *end = json_get_str(period, "to");

	*ret_from = first && date_read(first, from, NULL) == 0;
	*ret_to = end && date_read(end, to, NULL) == 0;
	return *ret_from || *ret_to;
}

static struct date in_year_of(struct date date, const struct time_named *named, struct date model)
{
	if (!named->year_given)
		date.year = model.year + (date.year - named->from.year);
	return date;
}

static bool day_fits(const struct time_named *named, const char *before, const struct json *period)
{
	static const char *const excluding[] = {"before", "excluding", "than", "<", NULL};
	static const char *const starting[] = {"from", "since", "after", "on", "between", NULL};
	static const char *const ending[] = {"to", "through", "and", "til", NULL};
	struct date from, to, last;
	bool has_from, has_to;

	if (!bounds(period, &has_from, &from, &has_to, &to))
		return false;
	last = has_to ? date_add_days(to, -1) : from;
	if (has_from && !one_of(before, excluding) && !one_of(before, ending) &&
	    date_compare(in_year_of(named->from, named, from), from) == 0)
		return true;
	if (has_to && (one_of(before, excluding) || strcmp(before, "until") == 0) &&
	    date_compare(in_year_of(named->from, named, to), to) == 0)
		return true;
	return has_to && !one_of(before, excluding) && !one_of(before, starting) &&
	       date_compare(in_year_of(named->from, named, last), last) == 0;
}

static bool span_fits(const struct time_named *named, const struct json *period)
{
	struct date from, to;
	bool has_from, has_to;

	if (!bounds(period, &has_from, &from, &has_to, &to) || !has_from || !has_to)
		return false;
	return date_compare(in_year_of(named->from, named, from), from) == 0 &&
	       date_compare(in_year_of(named->to, named, from), to) == 0;
}

static bool says(const char *where, const char *text, size_t len)
{
	CLEANUP(mem_freep) char *words = mem_strn(text, len);

	return where && strcasestr(where, words);
}

static bool fits(const struct time_named *named, const struct report_view *view, const char *text,
		 size_t at)
{
	const struct report_input *input = view->input;
	const struct json *periods[] = {input->period, json_get(input->words, "period"),
					json_get(input->words, "compare")};
	char before[16];

	word_before(text, at, before);
	if (named->kind == TIME_WORDS && says(input->question, text + at, named->len))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(periods); i++) {
		if (named->kind == TIME_WORDS &&
		    says(json_get_str(periods[i], "label"), text + at, named->len))
			return true;
		if (named->kind == TIME_DAY && day_fits(named, before, periods[i]))
			return true;
		if (named->kind == TIME_SPAN && span_fits(named, periods[i]))
			return true;
	}
	return false;
}

int report_time_check(const struct report_view *view, const char *text, size_t at, struct err *err)
{
	struct time_named named = find(text, at);
	const char *from = json_get_str(view->input->period, "from");
	const char *to = json_get_str(view->input->period, "to");
	int len = (int)(named.len > 60 ? 60 : named.len);

	if (fits(&named, view, text, at))
		return 0;
	if (!from && !to)
		return err_set(err, ERR_INVALID, "%.*s is named, the result has no period", len,
			       text + at);
	return err_set(err, ERR_INVALID, "%.*s is named, the result is of %s to before %s", len,
		       text + at, from ? from : "any time", to ? to : "any time");
}
