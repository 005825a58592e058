/*
 * Ranges between points, and what is open on one side. The longest reading from a word on wins.
 * What can fail: ranges that run backwards come back as a mistake.
 */
#include "agents/query/period.h"

#include <stdio.h>
#include <string.h>

#include "agents/query/period_reader.h"
#include "agents/query/period_unit.h"

static void check_range(struct period *period)
{
	if (period->has_from && period->has_to && date_compare(period->from, period->to) >= 0)
		period_mistake(period, "the period ends before it begins", "");
}

/* from A to B and between A and B: every day of both ends. */
static void join(const struct period *a, const struct period *b, struct period *period)
{
	struct period from = *a;
	struct period to = *b;

	memset(period, 0, sizeof(*period));
	if (a->mistake[0] != '\0' || b->mistake[0] != '\0') {
		period_mistake(period, a->mistake[0] != '\0' ? a->mistake : b->mistake, "");
		return;
	}
	period_settle_years(&from, &to);
	period->has_from = true;
	period->has_to = true;
	period->from = from.from;
	period->to = to.to;
	period->year_implied = from.year_implied && to.year_implied;
	check_range(period);
}

static bool is_range_word(const struct reader *reader, size_t at, bool between)
{
	static const char *const words[] = {"to", "through", "thru", "until", "till", NULL};

	if (between)
		return reader_is(reader, at, "and");
	return word_in(reader_word(reader, at), words);
}

/* [from|between] A to|and B, and A - B */
static size_t read_range(const struct reader *reader, size_t at, struct period *period)
{
	bool between = reader_is(reader, at, "between");
	size_t lead = between || reader_is(reader, at, "from") ? 1 : 0;
	struct period a = {0};
	struct period b = {0};
	size_t first = reader_point(reader, at + lead, &a);
	size_t joint = 0;
	size_t second = 0;

	if (first == 0)
		return 0;
	if (is_range_word(reader, at + lead + first, between))
		joint = 1;
	else if (between || reader_word(reader, at + lead + first)->mark != '-')
		return 0;
	second = reader_point(reader, at + lead + first + joint, &b);
	if (second == 0)
		return 0;
	join(&a, &b, period);
	return lead + first + joint + second;
}

/* since A, after A, before A, until A, up to A */
static size_t read_open(const struct reader *reader, size_t at, struct period *period)
{
	static const struct {
		const char *phrase;
		char side;
	} words[] = {{"on or after", 'f'}, {"starting from", 'f'}, {"starting", 'f'},
		     {"from", 'f'},	   {"since", 's'},	   {"after", 'a'},
		     {"before", 'b'},	   {"prior to", 'b'},	   {"until", 'u'},
		     {"till", 'u'},	   {"up to", 'u'},	   {"through", 'u'},
		     {"on or before", 'u'}};
	struct period point = {0};

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		size_t count = sentence_spell(reader->sentence, at, words[i].phrase);
		size_t rest = count > 0 ? reader_point(reader, at + count, &point) : 0;
		char side = words[i].side;

		if (rest == 0)
			continue;
		/* "from March" alone is March; "from March on" and "onwards" is open. */
		if (strcmp(words[i].phrase, "from") == 0) {
			const struct word *behind = reader_word(reader, at + count + rest);

			if (strcmp(behind->text, "on") != 0 &&
			    strcmp(behind->text, "onwards") != 0 &&
			    strcmp(behind->text, "onward") != 0)
				return 0;
			count++;
		}
		*period = point;
		period->unit = UNIT_NONE;
		period->has_from = side == 'f' || side == 's' || side == 'a';
		period->has_to = !period->has_from || side == 's';
		period->from = side == 'a' ? point.to : point.from;
		period->to = side == 'b'   ? point.from
			     : side == 's' ? date_add_days(reader->rules->today, 1)
					   : point.to;
		if (point.mistake[0] == '\0')
			check_range(period);
		return count + rest;
	}
	return 0;
}

/* "this month to date", "October so far": the point, up to today. One that is over is no such. */
static size_t read_to_date(const struct reader *reader, size_t at, struct period *period)
{
	static const char *const tails[] = {"to date", "so far", "until now", "till now",
					    "up to now", "until today", "up to today"};
	size_t lead = reader_is(reader, at, "in") || reader_is(reader, at, "for") ? 1 : 0;
	struct period point = {0};
	size_t count = reader_point(reader, at + lead, &point);
	struct date after = date_add_days(reader->rules->today, 1);

	for (size_t i = 0; count > 0 && i < ARRAY_LEN(tails); i++) {
		size_t tail = sentence_spell(reader->sentence, at + lead + count, tails[i]);

		if (tail == 0)
			continue;
		*period = point;
		if (point.mistake[0] != '\0')
			return lead + count + tail;
		if (!point.has_from || !point.has_to ||
		    date_compare(point.from, reader->rules->today) > 0 ||
		    date_compare(point.to, reader->rules->today) <= 0)
			period_mistake(period, "it is not the period of today", "");
		else if (date_compare(after, point.to) < 0)
			period->to = after;
		return lead + count + tail;
	}
	return 0;
}

static size_t read_all(const struct reader *reader, size_t at, struct period *period)
{
	static const char *const phrases[] = {"of all time",
					      "for all time",
					      "over all time",
					      "across all time",
					      "all time",
					      "all of time",
					      "since the beginning",
					      "to date",
					      "ever",
					      NULL};

	for (size_t i = 0; phrases[i] != NULL; i++) {
		size_t count = sentence_spell(reader->sentence, at, phrases[i]);

		if (count > 0) {
			period->all = true;
			return count;
		}
	}
	return 0;
}

static bool is_preposition(const struct word *word)
{
	static const char *const list[] = {"in", "during", "for",     "over",	    "within", "on",
					   "of", "from",   "between", "throughout", NULL};

	return word_in(word, list);
}

static void label(const struct sentence *sentence, size_t at, size_t count, struct period *period)
{
	size_t used = 0;

	while (count > 1 && (is_preposition(&sentence->items[at]) ||
			     strcmp(sentence->items[at].text, "the") == 0)) {
		if (!period->unit && !period->all)
			break; /* "between A and B", "from A to B" keep their words */
		at++;
		count--;
	}
	period->label[0] = '\0';
	for (size_t i = 0; i < count && used < sizeof(period->label); i++) {
		int len = snprintf(period->label + used, sizeof(period->label) - used, "%s%s",
				   i > 0 ? " " : "", sentence->items[at + i].text);
		used += (size_t)len;
	}
}

size_t period_read(const struct sentence *sentence, size_t at, const struct period_rules *rules,
		   struct period *ret_period)
{
	static read_fn *const readers[] = {read_range, read_open, read_to_date, read_all};
	const struct reader reader = {sentence, rules};
	struct period best = {0};
	size_t lead = is_preposition(reader_word(&reader, at)) ? 1 : 0;
	size_t count = reader_point(&reader, at + lead, &best);

	count = count > 0 ? lead + count : 0;
	for (size_t i = rules->ranges ? 0 : 1; i < ARRAY_LEN(readers); i++) {
		struct period candidate = {0};
		size_t longer = readers[i](&reader, at, &candidate);

		if (longer > count) {
			count = longer;
			best = candidate;
		}
	}
	if (count == 0)
		return 0;
	label(sentence, at, count, &best);
	*ret_period = best;
	return count;
}
