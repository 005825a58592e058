/*
 * Points in time: one function per form, each knows its calendar unit; the longest form from a word
 * on wins. What can fail: a date that does not exist comes back as a mistake.
 */
#include "agents/query/period_reader.h"

#include <stdio.h>
#include <string.h>

#include "agents/query/period_unit.h"

const struct word *reader_word(const struct reader *reader, size_t at)
{
	static char empty[] = "";
	static const struct word none = {.text = empty, .stem = empty};

	return at < reader->sentence->count ? &reader->sentence->items[at] : &none;
}

bool reader_is(const struct reader *reader, size_t at, const char *text)
{
	if (at >= reader->sentence->count)
		return false;
	return strcmp(reader->sentence->items[at].text, text) == 0;
}

static size_t skip_word(const struct reader *reader, size_t at, const char *text)
{
	return reader_is(reader, at, text) ? 1 : 0;
}

static const char *const months[12][4] = {
	{"january", "jan", NULL},
	{"february", "feb", NULL},
	{"march", "mar", NULL},
	{"april", "apr", NULL},
	{"may", NULL},
	{"june", "jun", NULL},
	{"july", "jul", NULL},
	{"august", "aug", NULL},
	{"september", "sep", "sept", NULL},
	{"october", "oct", NULL},
	{"november", "nov", NULL},
	{"december", "dec", NULL},
};

static int month_of(const struct word *word)
{
	for (int month = 1; month <= 12; month++)
		if (word_in(word, months[month - 1]))
			return month;
	return 0;
}

/* A unit that time is cut into; a day of the week is none. */
static enum period_unit calendar_unit(const struct word *word)
{
	enum period_unit unit = period_unit_of(word);

	return unit >= UNIT_WEEKDAY ? UNIT_NONE : unit;
}

static int whole_number(const struct word *word, int max)
{
	if (!word->has_number || word->real || word->percent || word->number < 1 ||
	    word->number > max)
		return 0;
	return (int)word->number;
}

static bool is_last(const struct word *word)
{
	static const char *const list[] = {"last", "past", "previous", "prior", "preceding", NULL};

	return word_in(word, list);
}

static bool is_this(const struct word *word)
{
	static const char *const list[] = {"this", "current", NULL};

	return word_in(word, list);
}

static bool is_next(const struct word *word)
{
	static const char *const list[] = {"next", "coming", "upcoming", NULL};

	return word_in(word, list);
}

/* A year in four digits. */
static int year_number(const struct word *word)
{
	if (word->kind != WORD_NUMBER || word->len != 4 || word->real || word->ordinal ||
	    word->percent || strspn(word->text, "0123456789") != 4)
		return 0;
	return word->number >= 1900 && word->number < 2200 ? (int)word->number : 0;
}

/* [of|in] 2025, [of] last year, [of] this year: behind a month, quarter or half. */
static size_t read_year(const struct reader *reader, size_t at, int *ret_year)
{
	size_t skip = reader_is(reader, at, "of") || reader_is(reader, at, "in") ? 1 : 0;
	const struct word *word = NULL;

	skip += skip_word(reader, at + skip, "the");
	word = reader_word(reader, at + skip);
	if (year_number(word) != 0) {
		*ret_year = year_number(word);
		return skip + 1;
	}
	if (!reader_is(reader, at + skip + 1, "year"))
		return 0;
	if (!is_this(word) && !is_last(word))
		return 0;
	*ret_year = reader->rules->today.year - (is_last(word) ? 1 : 0);
	return skip + 2;
}

/* The year given behind the phrase, or the latest in which month has begun. */
static size_t read_year_or_latest(const struct reader *reader, size_t at, int month,
				  struct period *period, int *ret_year)
{
	size_t count = read_year(reader, at, ret_year);

	if (count > 0)
		return count;
	period->year_implied = true;
	*ret_year = reader->rules->today.year - (month > reader->rules->today.month ? 1 : 0);
	return 0;
}

void period_mistake(struct period *period, const char *text, const char *detail)
{
	snprintf(period->mistake, sizeof(period->mistake), "%s%s", text, detail);
}

static void set_day(struct period *period, int year, int month, int day)
{
	char text[48];

	if (day < 1 || day > date_month_days(year, month)) {
		snprintf(text, sizeof(text), "%04d-%02d-%02d", year, month, day);
		period_mistake(period, "there is no day ", text);
		return;
	}
	period_set_unit(period, (struct date){year, month, day}, UNIT_DAY, 1);
}

/* 2026-07-01, 2026-07 */
static size_t read_iso(const struct reader *reader, size_t at, struct period *period)
{
	const struct word *word = reader_word(reader, at);

	if (word->kind != WORD_DATE)
		return 0;
	if (!word->date_ok)
		period_mistake(period, "there is no date ", word->text);
	else if (word->date.day == 0)
		period_set_unit(period, (struct date){word->date.year, word->date.month, 1},
				UNIT_MONTH, 1);
	else
		period_set_unit(period, word->date, UNIT_DAY, 1);
	return 1;
}

/* March 3, 2026 and March 3rd; the day stands behind the month. */
static size_t read_month_day(const struct reader *reader, size_t at, struct period *period)
{
	int month = month_of(reader_word(reader, at));
	int day = whole_number(reader_word(reader, at + 1), 31);
	int year = 0;
	size_t count = 2;

	if (month == 0 || day == 0 || calendar_unit(reader_word(reader, at + 2)) != UNIT_NONE)
		return 0;
	count += read_year_or_latest(reader, at + count, month, period, &year);
	if (period->year_implied && month == reader->rules->today.month &&
	    day > reader->rules->today.day)
		year--;
	set_day(period, year, month, day);
	return count;
}

/* 3 March 2026, 3rd of March */
static size_t read_day_month(const struct reader *reader, size_t at, struct period *period)
{
	int day = whole_number(reader_word(reader, at), 31);
	size_t count = 1 + skip_word(reader, at + 1, "of");
	int month = month_of(reader_word(reader, at + count));
	int year = 0;

	if (day == 0 || month == 0)
		return 0;
	count += 1;
	count += read_year_or_latest(reader, at + count, month, period, &year);
	if (period->year_implied && month == reader->rules->today.month &&
	    day > reader->rules->today.day)
		year--;
	set_day(period, year, month, day);
	return count;
}

/* "may" is also a verb: alone it is a month only behind a preposition. */
static bool may_is_month(const struct reader *reader, size_t at, size_t year_words)
{
	static const char *const before[] = {"in",	"during",  "since", "for",   "of",
					     "between", "before",  "after", "until", "from",
					     "to",	"last",	   "this",  "and",   "vs",
					     "versus",	"against", "with",  NULL};

	return year_words > 0 || (at > 0 && word_in(reader_word(reader, at - 1), before));
}

/* March 2026, last March, March of last year */
static size_t read_month(const struct reader *reader, size_t at, struct period *period)
{
	const struct date today = reader->rules->today;
	size_t lead = is_last(reader_word(reader, at)) || is_this(reader_word(reader, at)) ? 1 : 0;
	int month = month_of(reader_word(reader, at + lead));
	int year = 0;
	size_t count = 0;

	if (month == 0)
		return 0;
	count = read_year_or_latest(reader, at + lead + 1, month, period, &year);
	if (month == 5 && !may_is_month(reader, at + lead, count))
		return 0;
	if (lead > 0 && count > 0)
		return 0;
	if (lead > 0 && is_this(reader_word(reader, at)))
		year = today.year;
	if (lead > 0 && is_last(reader_word(reader, at)) && month == today.month)
		year = today.year - 1;
	period_set_unit(period, (struct date){year, month, 1}, UNIT_MONTH, 1);
	return lead + 1 + count;
}

/* q3 and 2026q3: the quarter's number; *ret_year is 0 when not said. */
static int quarter_word(const struct word *word, int *ret_year)
{
	const char *text = word->text;
	size_t len = strlen(text);
	int year = 0;

	if (len == 6 && strspn(text, "0123456789") == 4) {
		if (sscanf(text, "%4d", &year) != 1)
			return 0;
		text += 4;
		len = 2;
	}
	if (len != 2 || text[0] != 'q' || text[1] < '1' || text[1] > '4')
		return 0;
	*ret_year = year;
	return text[1] - '0';
}

static size_t read_named_quarter(const struct reader *reader, size_t at, struct period *period)
{
	int year = year_number(reader_word(reader, at));
	size_t count = year != 0 ? 1 : 0;
	const struct word *word = reader_word(reader, at + count);
	int said = 0;
	int quarter = quarter_word(word, &said);

	if (quarter == 0 && word->ordinal && whole_number(word, 4) != 0 &&
	    reader_is(reader, at + count + 1, "quarter")) {
		quarter = whole_number(word, 4);
		count++;
	}
	if (quarter == 0 || (said != 0 && year != 0))
		return 0;
	count++;
	if (said != 0)
		year = said;
	if (year == 0)
		count += read_year_or_latest(reader, at + count, 3 * quarter - 2, period, &year);
	period_set_unit(period, (struct date){year, 3 * quarter - 2, 1}, UNIT_QUARTER, 1);
	return count;
}

/* H1 2026, the second half of last year */
static size_t read_half(const struct reader *reader, size_t at, struct period *period)
{
	const struct word *word = reader_word(reader, at);
	int half = strcmp(word->text, "h1") == 0 ? 1 : strcmp(word->text, "h2") == 0 ? 2 : 0;
	size_t count = 1;
	int year = 0;

	if (half == 0 && word->ordinal && reader_is(reader, at + 1, "half")) {
		half = whole_number(word, 2);
		count = 2;
	}
	if (half == 0)
		return 0;
	count += read_year_or_latest(reader, at + count, 6 * half - 5, period, &year);
	period_set_unit(period, (struct date){year, 6 * half - 5, 1}, UNIT_QUARTER, 2);
	return count;
}

/* A year alone, unless the number counts something ("top 2000", "more than 2000"). */
static size_t read_bare_year(const struct reader *reader, size_t at, struct period *period)
{
	static const char *const counted[] = {"top",	   "bottom",  "first", "than",	"least",
					      "most",	   "over",    "above", "under", "below",
					      "exceeding", "exactly", NULL};
	int year = year_number(reader_word(reader, at));

	if (year == 0 || (at > 0 && word_in(reader_word(reader, at - 1), counted)))
		return 0;
	period_set_unit(period, (struct date){year, 1, 1}, UNIT_YEAR, 1);
	return 1;
}

/* this quarter, last fiscal year, the previous month, next week */
static size_t read_relative(const struct reader *reader, size_t at, struct period *period)
{
	static const char *const preceding[] = {"previous", "prior", "preceding", NULL};
	const struct word *lead = reader_word(reader, at);
	size_t fiscal = skip_word(reader, at + 1, "fiscal");
	const struct word *unit_word = reader_word(reader, at + 1 + fiscal);
	enum period_unit unit = calendar_unit(unit_word);
	struct date start;

	if ((!is_this(lead) && !is_last(lead) && !is_next(lead)) || unit == UNIT_NONE ||
	    strcmp(unit_word->text, period_unit_name(unit)) != 0)
		return 0;
	if (fiscal > 0 && reader->rules->fiscal_start == 0)
		period_mistake(period, "no fiscal year is defined in this workspace", "");
	start = period_unit_start(reader->rules->today, unit,
				  fiscal > 0 ? reader->rules->fiscal_start : 1);
	if (is_last(lead) || is_next(lead))
		start = period_add_units(start, unit, is_last(lead) ? -1 : 1);
	period_set_unit(period, start, unit, 1);
	period->preceding = word_in(lead, preceding);
	return 2 + fiscal;
}

/* this year so far, so far this month, year to date, ytd: through today. */
static size_t read_to_date(const struct reader *reader, size_t at, struct period *period)
{
	static const struct {
		const char *phrase;
		enum period_unit unit;
	} phrases[] = {
		{"year to date", UNIT_YEAR},	       {"ytd", UNIT_YEAR},
		{"quarter to date", UNIT_QUARTER},     {"qtd", UNIT_QUARTER},
		{"month to date", UNIT_MONTH},	       {"mtd", UNIT_MONTH},
		{"week to date", UNIT_WEEK},	       {"so far this year", UNIT_YEAR},
		{"this year so far", UNIT_YEAR},       {"so far this quarter", UNIT_QUARTER},
		{"this quarter so far", UNIT_QUARTER}, {"so far this month", UNIT_MONTH},
		{"this month so far", UNIT_MONTH},     {"so far this week", UNIT_WEEK},
		{"this week so far", UNIT_WEEK},
	};

	for (size_t i = 0; i < ARRAY_LEN(phrases); i++) {
		size_t count = sentence_spell(reader->sentence, at, phrases[i].phrase);

		if (count == 0)
			continue;
		period->has_from = true;
		period->has_to = true;
		period->from = period_unit_start(reader->rules->today, phrases[i].unit, 1);
		period->to = date_add_days(reader->rules->today, 1);
		return count;
	}
	return 0;
}

/* last 3 months: the complete ones; last 7 days: the full days before today. */
static size_t read_last_n(const struct reader *reader, size_t at, struct period *period)
{
	int number = whole_number(reader_word(reader, at + 1), 1000);
	size_t complete = reader_is(reader, at + 2, "complete") ||
					  reader_is(reader, at + 2, "full") ||
					  reader_is(reader, at + 2, "calendar")
				  ? 1
				  : 0;
	enum period_unit unit = calendar_unit(reader_word(reader, at + 2 + complete));
	struct date end;

	if (!is_last(reader_word(reader, at)) || number == 0 || unit == UNIT_NONE ||
	    reader_word(reader, at + 1)->ordinal)
		return 0;
	end = period_unit_start(reader->rules->today, unit, 1);
	period_set_unit(period, period_add_units(end, unit, -number), unit, number);
	if (unit == UNIT_DAY)
		snprintf(period->note, sizeof(period->note),
			 "the last %d full days before today; today is not included", number);
	else
		snprintf(period->note, sizeof(period->note),
			 "the last %d complete %ss; the current %s is not included", number,
			 period_unit_name(unit), period_unit_name(unit));
	return 3 + complete;
}

/* 3 days ago, two months ago, a year ago: that day, that month, that year. */
static size_t read_ago(const struct reader *reader, size_t at, struct period *period)
{
	int number = whole_number(reader_word(reader, at), 1000);
	enum period_unit unit = calendar_unit(reader_word(reader, at + 1));
	struct date start;

	if (number == 0 && (reader_is(reader, at, "a") || reader_is(reader, at, "one")))
		number = 1;
	if (number == 0 || unit == UNIT_NONE || !reader_is(reader, at + 2, "ago"))
		return 0;
	start = period_unit_start(reader->rules->today, unit, 1);
	period_set_unit(period, period_add_units(start, unit, -number), unit, 1);
	if (unit != UNIT_DAY)
		snprintf(period->note, sizeof(period->note), "read as that whole %s",
			 period_unit_name(unit));
	return 3;
}

static size_t read_day_word(const struct reader *reader, size_t at, struct period *period)
{
	int back = reader_is(reader, at, "today") ? 0 : reader_is(reader, at, "yesterday") ? 1 : -1;
	bool tomorrow = reader_is(reader, at, "tomorrow");

	if (back < 0 && !tomorrow)
		return 0;
	period_set_unit(period, date_add_days(reader->rules->today, -back), UNIT_DAY, 1);
	return 1;
}

/* week of 2026-03-04: the week that holds the day. */
static size_t read_week_of(const struct reader *reader, size_t at, struct period *period)
{
	size_t count = sentence_spell(reader->sentence, at, "week of");
	size_t date = count > 0 ? read_iso(reader, at + count, period) : 0;

	if (date == 0)
		return 0;
	if (period->unit == UNIT_DAY)
		period_set_unit(period, period_unit_start(period->from, UNIT_WEEK, 1), UNIT_WEEK,
				1);
	else if (period->mistake[0] == '\0')
		period_mistake(period, "a week is named by one of its days, not by ",
			       reader_word(reader, at + count)->text);
	return count + date;
}

static size_t read_simple(const struct reader *reader, size_t at, struct period *period)
{
	/* Every reading that begins here is tried; the longest wins, the first of equals. */
	static read_fn *const readers[] = {
		read_to_date,	read_last_n,	read_ago,	    read_week_of, read_iso,
		read_month_day, read_day_month, read_named_quarter, read_half,	  read_month,
		read_relative,	read_day_word,	read_bare_year};
	size_t best = 0;

	for (size_t i = 0; i < ARRAY_LEN(readers); i++) {
		struct period candidate = {0};
		size_t count = readers[i](reader, at, &candidate);

		if (count > best) {
			best = count;
			*period = candidate;
		}
	}
	return best;
}

/* first day of March, last quarter of 2025, beginning of the year */
static size_t read_part(const struct reader *reader, size_t at, struct period *period)
{
	bool first = reader_is(reader, at, "first");
	bool edge_start = reader_is(reader, at, "beginning") || reader_is(reader, at, "start");
	bool edge_end = reader_is(reader, at, "end");
	enum period_unit unit = calendar_unit(reader_word(reader, at + 1));
	size_t count = 2;
	size_t rest = 0;
	struct period whole = {0};

	if (edge_start || edge_end) {
		unit = UNIT_DAY;
		count = 1;
	} else if ((!first && !reader_is(reader, at, "last")) || unit == UNIT_NONE) {
		return 0;
	}
	if (!reader_is(reader, at + count, "of"))
		return 0;
	count++;
	count += skip_word(reader, at + count, "the");
	rest = read_simple(reader, at + count, &whole);
	if (rest == 0 && calendar_unit(reader_word(reader, at + count)) != UNIT_NONE) {
		enum period_unit current = calendar_unit(reader_word(reader, at + count));

		period_set_unit(&whole, period_unit_start(reader->rules->today, current, 1),
				current, 1);
		rest = 1;
	}
	if (rest == 0)
		return 0;
	*period = whole;
	if (whole.mistake[0] == '\0')
		period_part(&whole, unit, first || edge_start, period);
	return count + rest;
}

/* the month of August, the year 2025 */
static size_t read_named_unit(const struct reader *reader, size_t at, struct period *period)
{
	const struct word *word = reader_word(reader, at);
	enum period_unit unit = calendar_unit(word);
	size_t lead = 1 + skip_word(reader, at + 1, "of");
	size_t rest = 0;

	if (unit == UNIT_NONE || strcmp(word->text, period_unit_name(unit)) != 0)
		return 0;
	/* "by quarter last quarter" is a grouping and a period. */
	if (is_last(reader_word(reader, at + lead)) || is_this(reader_word(reader, at + lead)) ||
	    reader_is(reader, at + lead, "today") || reader_is(reader, at + lead, "yesterday"))
		return 0;
	rest = read_simple(reader, at + lead, period);
	if (rest == 0 || period->unit != unit || period->units != 1 ||
	    reader_is(reader, at + lead + rest - 1, "ago")) /* "by month 2 months ago" likewise */
		return 0;
	return lead + rest;
}

size_t reader_point(const struct reader *reader, size_t at, struct period *period)
{
	size_t the = skip_word(reader, at, "the");
	struct period part = {0};
	size_t simple = read_simple(reader, at + the, period);
	size_t parted = read_part(reader, at + the, &part);

	if (parted > simple) {
		*period = part;
		simple = parted;
	}
	if (simple == 0)
		simple = read_named_unit(reader, at + the, period);
	return simple > 0 ? the + simple : 0;
}
