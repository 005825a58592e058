/*
 * Choosing the reading: every phrase that begins at a word is a candidate; a shortest-path pass
 * from the end picks the row of candidates with the highest score. A longer phrase outweighs the
 * phrases inside it, a name outweighs an operator, an operator a filler, anything an unknown word.
 */
#include "agents/query/items.h"

#include <string.h>

static const struct {
	const char *phrase;
	enum op op;
} op_phrases[] = {
	{"how many", OPW_COUNT},
	{"number of", OPW_COUNT},
	{"total number of", OPW_COUNT},
	{"count of", OPW_COUNT},
	{"count", OPW_COUNT},
	{"counts", OPW_COUNT},
	{"by", OPW_GROUP},
	{"by each", OPW_GROUP},
	{"by every", OPW_GROUP},
	{"broken down by", OPW_GROUP},
	{"broken out by", OPW_GROUP},
	{"split by", OPW_GROUP},
	{"grouped by", OPW_GROUP},
	{"group by", OPW_GROUP},
	{"breakdown by", OPW_GROUP},
	{"each", OPW_GROUP},
	{"every", OPW_GROUP},
	{"for each", OPW_GROUP},
	{"for every", OPW_GROUP},
	{"in each", OPW_GROUP},
	{"in every", OPW_GROUP},
	{"within each", OPW_GROUP},
	{"of each", OPW_GROUP},
	{"from each", OPW_GROUP},
	{"across", OPW_GROUP},
	{"for all", OPW_GROUP},
	{"per", OPW_PER},
	{"across all", OPW_ACROSS_ALL},
	{"highest", OPW_HIGHEST},
	{"largest", OPW_HIGHEST},
	{"biggest", OPW_HIGHEST},
	{"greatest", OPW_HIGHEST},
	{"maximum", OPW_HIGHEST},
	{"max", OPW_HIGHEST},
	{"lowest", OPW_LOWEST},
	{"smallest", OPW_LOWEST},
	{"minimum", OPW_LOWEST},
	{"min", OPW_LOWEST},
	{"most", OPW_MOST},
	{"the most", OPW_MOST},
	{"fewest", OPW_FEWEST},
	{"least", OPW_FEWEST},
	{"best", OPW_BEST},
	{"strongest", OPW_BEST},
	{"leading", OPW_BEST},
	{"worst", OPW_WORST},
	{"weakest", OPW_WORST},
	{"top", OPW_TOP},
	{"bottom", OPW_BOTTOM},
	{"sorted by", OPW_SORT},
	{"sort by", OPW_SORT},
	{"ordered by", OPW_SORT},
	{"order by", OPW_SORT},
	{"ranked by", OPW_SORT},
	{"rank by", OPW_SORT},
	{"ranked", OPW_DESCENDING},
	{"rank", OPW_DESCENDING},
	{"ranking", OPW_DESCENDING},
	{"ascending", OPW_ASCENDING},
	{"in ascending order", OPW_ASCENDING},
	{"lowest first", OPW_ASCENDING},
	{"smallest first", OPW_ASCENDING},
	{"descending", OPW_DESCENDING},
	{"in descending order", OPW_DESCENDING},
	{"highest first", OPW_DESCENDING},
	{"largest first", OPW_DESCENDING},
	{"biggest first", OPW_DESCENDING},
	{"most first", OPW_DESCENDING},
	{"share", OPW_SHARE},
	{"share of", OPW_SHARE},
	{"share of total", OPW_SHARE},
	{"share of the total", OPW_SHARE},
	{"percent", OPW_SHARE},
	{"percentage", OPW_SHARE},
	{"percentage share", OPW_SHARE},
	{"proportion", OPW_SHARE},
	{"fraction", OPW_SHARE},
	{"as a percentage of total", OPW_SHARE},
	{"as a percentage of the total", OPW_SHARE},
	{"compare", OPW_COMPARE},
	{"comparing", OPW_COMPARE},
	{"compared", OPW_COMPARE},
	{"compare to", OPW_COMPARE},
	{"compares to", OPW_COMPARE},
	{"compared to", OPW_COMPARE},
	{"compared with", OPW_COMPARE},
	{"comparison", OPW_COMPARE},
	{"versus", OPW_COMPARE},
	{"vs", OPW_COMPARE},
	{"against", OPW_COMPARE},
	{"relative to", OPW_COMPARE},
	{"change", OPW_COMPARE},
	{"changed", OPW_COMPARE},
	{"changes", OPW_COMPARE},
	{"difference", OPW_COMPARE},
	{"differ", OPW_COMPARE},
	{"growth", OPW_COMPARE},
	{"grow", OPW_COMPARE},
	{"grown", OPW_COMPARE},
	{"grew", OPW_COMPARE},
	{"increase", OPW_COMPARE},
	{"increased", OPW_COMPARE},
	{"decrease", OPW_COMPARE},
	{"decreased", OPW_COMPARE},
	{"decline", OPW_COMPARE},
	{"declined", OPW_COMPARE},
	{"drop", OPW_COMPARE},
	{"dropped", OPW_COMPARE},
	{"fall", OPW_COMPARE},
	{"fell", OPW_COMPARE},
	{"rise", OPW_COMPARE},
	{"rose", OPW_COMPARE},
	{"develop", OPW_COMPARE},
	{"developed", OPW_COMPARE},
	{"the previous period", OPW_PREVIOUS},
	{"previous period", OPW_PREVIOUS},
	{"the prior period", OPW_PREVIOUS},
	{"prior period", OPW_PREVIOUS},
	{"preceding period", OPW_PREVIOUS},
	{"the period before", OPW_PREVIOUS},
	{"period before", OPW_PREVIOUS},
	{"the day before", OPW_PREVIOUS},
	{"the week before", OPW_PREVIOUS},
	{"the month before", OPW_PREVIOUS},
	{"the quarter before", OPW_PREVIOUS},
	{"the one before", OPW_PREVIOUS},
	{"month over month", OPW_PREVIOUS},
	{"quarter over quarter", OPW_PREVIOUS},
	{"week over week", OPW_PREVIOUS},
	{"the year before", OPW_YEAR_AGO},
	{"a year before", OPW_YEAR_AGO},
	{"a year earlier", OPW_YEAR_AGO},
	{"one year earlier", OPW_YEAR_AGO},
	{"same period last year", OPW_YEAR_AGO},
	{"same time last year", OPW_YEAR_AGO},
	{"same day last year", OPW_YEAR_AGO},
	{"same month last year", OPW_YEAR_AGO},
	{"same quarter last year", OPW_YEAR_AGO},
	{"same period a year ago", OPW_YEAR_AGO},
	{"same period of last year", OPW_YEAR_AGO},
	{"same period in the previous year", OPW_YEAR_AGO},
	{"year over year", OPW_YEAR_AGO},
	{"year on year", OPW_YEAR_AGO},
	{"yoy", OPW_YEAR_AGO},
	{"average", OPW_AVERAGE},
	{"avg", OPW_AVERAGE},
	{"mean", OPW_AVERAGE},
	{"on average", OPW_AVERAGE},
	{"total", OPW_TOTAL},
	{"totals", OPW_TOTAL},
	{"in total", OPW_TOTAL},
	{"sum", OPW_TOTAL},
	{"sum of", OPW_TOTAL},
	{"overall", OPW_TOTAL},
	{"combined", OPW_TOTAL},
	{"altogether", OPW_TOTAL},
	{"sum up", OPW_TOTAL},
	{"breakdown", OPW_TOTAL},
	{"breakdown of", OPW_TOTAL},
	{"overview", OPW_TOTAL},
	{"overview of", OPW_TOTAL},
	{"summary", OPW_TOTAL},
	{"summary of", OPW_TOTAL},
	{"table of", OPW_TOTAL},
	{"chart of", OPW_TOTAL},
	{"not", OPW_NOT},
	{"not in", OPW_NOT},
	{"but not", OPW_NOT},
	{"except", OPW_NOT},
	{"except for", OPW_NOT},
	{"excluding", OPW_NOT},
	{"exclude", OPW_NOT},
	{"without", OPW_NOT},
	{"no", OPW_NONE},
	{"nobody", OPW_NONE},
	{"have nobody", OPW_NONE},
	{"has nobody", OPW_NONE},
	{"with no", OPW_NONE},
	{"have no", OPW_NONE},
	{"has no", OPW_NONE},
	{"had no", OPW_NONE},
	{"having no", OPW_NONE},
	{"without any", OPW_NONE},
	{"other than", OPW_NOT},
	{"apart from", OPW_NOT},
	{"outside", OPW_NOT},
	{"outside of", OPW_NOT},
	{"non", OPW_NOT},
	{"more than", OPW_MORE},
	{"greater than", OPW_MORE},
	{"higher than", OPW_MORE},
	{"larger than", OPW_MORE},
	{"above", OPW_MORE},
	{"over", OPW_MORE},
	{"exceeding", OPW_MORE},
	{"less than", OPW_LESS},
	{"fewer than", OPW_LESS},
	{"lower than", OPW_LESS},
	{"smaller than", OPW_LESS},
	{"below", OPW_LESS},
	{"under", OPW_LESS},
	{"at least", OPW_AT_LEAST},
	{"no less than", OPW_AT_LEAST},
	{"no fewer than", OPW_AT_LEAST},
	{"at most", OPW_AT_MOST},
	{"no more than", OPW_AT_MOST},
	{"column", OPW_COLUMN},
	{"field", OPW_COLUMN},
	{"distinct", OPW_DISTINCT},
	{"unique", OPW_DISTINCT},
	{"different", OPW_DISTINCT},
	{"and", OPW_AND},
	{"as well as", OPW_AND},
	{"plus", OPW_AND},
	{"along with", OPW_AND},
	{"together with", OPW_AND},
	{"or", OPW_OR},
	{"over time", OPW_OVER_TIME},
	{"how high", OPW_TOTAL},
	{"how large", OPW_TOTAL},
	{"how big", OPW_TOTAL},
	{"right now", OPW_TOTAL},
	{"at the moment", OPW_TOTAL},
};

/* Points per kind and word; the extra for each further word makes the longer phrase win. */
enum { SCORE_NAME = 40, SCORE_PERIOD = 39, SCORE_OP = 38, SCORE_FILLER = 36, SCORE_LONGER = 10 };

struct candidate {
	struct item item;
	long score;
};

static long score_of(long word, size_t count)
{
	return word * (long)count + SCORE_LONGER * ((long)count - 1);
}

static void offer(struct candidate *best, const struct candidate *offered)
{
	if (offered->score <= best->score)
		return;
	mem_free(best->item.readings);
	*best = *offered;
	best->item.readings = mem_copy(offered->item.readings,
				       offered->item.reading_count * sizeof(struct reading));
}

/* Little words that say a state where a state of that name is stored: "projects that are done". */
static bool says_state(const struct word *word, const struct sentence *value)
{
	static const char *const states[] = {"done",   "left",	   "remaining", "made",
					     "placed", "recorded", "working",	"performed",
					     "called", "named",	   NULL};

	return word_in(word, states) && strcmp(word->text, value->items[0].text) == 0;
}

/* A value spelled like a little word ("IT", "Other") is meant only when written as stored. */
static bool value_is_meant(const struct sentence *sentence, const char *question, size_t at,
			   const struct phrase *phrase)
{
	const struct word *word = &sentence->items[at];
	const char *value = phrase->reading.value;

	if (phrase->words.count > 1 || word->quoted)
		return true;
	if (!word_is_filler(word) && !word->has_number)
		return true;
	if (says_state(word, &phrase->words))
		return true;
	if (word->kind == WORD_NUMBER)
		return false;
	return at > 0 && word->capital && strlen(value) == word->len &&
	       memcmp(question + word->at, value, word->len) == 0;
}

static bool exact_words(const struct sentence *sentence, size_t at, const struct sentence *phrase)
{
	for (size_t i = 0; i < phrase->count; i++)
		if (strcmp(sentence->items[at + i].text, phrase->items[i].text) != 0)
			return false;
	return true;
}

/* Quotes hold one name: a phrase may not reach over their edge. */
static bool crosses_quote(const struct sentence *sentence, size_t at, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (sentence->items[at + i].quoted != sentence->items[at].quoted)
			return true;
	return false;
}

static bool readable(const struct sentence *sentence, const char *question, size_t at,
		     const struct phrase *phrase, size_t count)
{
	if (sentence_match(sentence, at, &phrase->words) != count ||
	    crosses_quote(sentence, at, count))
		return false;
	if (phrase->reading.kind == READ_VALUE || phrase->reading.kind == READ_MISSING)
		return value_is_meant(sentence, question, at, phrase);
	return true;
}

struct collector {
	const struct sentence *sentence;
	const char *question;
	const struct vocabulary *vocabulary;
	const struct period_rules *rules;
};

static bool has_exact(const struct collector *collector, size_t at, size_t count,
		      enum reading_kind kind)
{
	for (size_t i = 0; i < collector->vocabulary->count; i++) {
		const struct phrase *phrase = &collector->vocabulary->phrases[i];

		if (phrase->reading.kind == kind && phrase->words.count == count &&
		    sentence_match(collector->sentence, at, &phrase->words) == count &&
		    exact_words(collector->sentence, at, &phrase->words))
			return true;
	}
	return false;
}

static bool holds(const struct item *item, const struct reading *reading)
{
	for (size_t i = 0; i < item->reading_count; i++) {
		const struct reading *other = &item->readings[i];
		bool value = reading->value != NULL && other->value != NULL;

		if (other->metric != reading->metric || other->field != reading->field ||
		    other->dataset != reading->dataset || other->kind != reading->kind)
			continue;
		if (!value || strcmp(other->value, reading->value) == 0)
			return true;
	}
	return false;
}

static void add_reading(struct item *item, const struct reading *reading)
{
	if (holds(item, reading))
		return;
	item->readings =
		mem_grow(item->readings, (item->reading_count + 1) * sizeof(struct reading));
	item->readings[item->reading_count++] = *reading;
}

/* All meanings of the count words at `at`; where one is spelled exactly, not those of the stem. */
static void model_candidate(const struct collector *collector, size_t at, size_t count,
			    struct candidate *ret)
{
	struct candidate candidate = {
		.item = {.kind = ITEM_MODEL, .first = at, .count = count},
		.score = score_of(SCORE_NAME, count),
	};

	for (size_t i = 0; i < collector->vocabulary->count; i++) {
		const struct phrase *phrase = &collector->vocabulary->phrases[i];

		if (phrase->words.count != count ||
		    !readable(collector->sentence, collector->question, at, phrase, count))
			continue;
		if (!exact_words(collector->sentence, at, &phrase->words) &&
		    has_exact(collector, at, count, phrase->reading.kind))
			continue;
		add_reading(&candidate.item, &phrase->reading);
	}
	*ret = candidate;
}

static size_t longest_phrase(const struct vocabulary *vocabulary)
{
	size_t longest = 1;

	for (size_t i = 0; i < vocabulary->count; i++)
		if (vocabulary->phrases[i].words.count > longest)
			longest = vocabulary->phrases[i].words.count;
	return longest;
}

static void single_candidate(const struct collector *collector, size_t at,
			     struct candidate *candidate)
{
	const struct word *word = &collector->sentence->items[at];

	candidate->item.first = at;
	candidate->item.count = 1;
	candidate->score = 0;
	candidate->item.kind = ITEM_UNKNOWN;
	if (word->quoted)
		return;
	if (period_unit_of(word) != UNIT_NONE) {
		candidate->item.kind = ITEM_UNIT;
		candidate->item.unit = period_unit_of(word);
		candidate->score = SCORE_OP;
	} else if (word->has_number && !word->ordinal) {
		candidate->item.kind = ITEM_NUMBER;
		candidate->score = SCORE_FILLER;
	} else if (word_is_filler(word)) {
		candidate->item.kind = ITEM_FILLER;
		candidate->score = SCORE_FILLER;
	}
}

/* "day of the week", "fiscal year": a unit in several words. */
static void unit_candidate(const struct collector *collector, size_t at, struct candidate *best,
			   const long *after)
{
	static const struct {
		const char *phrase;
		enum period_unit unit;
	} phrases[] = {
		{"day of the week", UNIT_WEEKDAY},
		{"day of week", UNIT_WEEKDAY},
		{"days of the week", UNIT_WEEKDAY},
		{"week day", UNIT_WEEKDAY},
		{"fiscal quarter", UNIT_FISCAL_QUARTER},
		{"fiscal quarters", UNIT_FISCAL_QUARTER},
		{"fiscal year", UNIT_FISCAL_YEAR},
		{"fiscal years", UNIT_FISCAL_YEAR},
	};

	for (size_t i = 0; i < ARRAY_LEN(phrases); i++) {
		size_t count = sentence_spell(collector->sentence, at, phrases[i].phrase);
		struct candidate candidate = {.item = {.kind = ITEM_UNIT,
						       .first = at,
						       .count = count,
						       .unit = phrases[i].unit}};

		if (count == 0 || collector->sentence->items[at].quoted)
			continue;
		candidate.score = score_of(SCORE_OP, count) + after[at + count];
		offer(best, &candidate);
	}
}

static void op_candidates(const struct collector *collector, size_t at, struct candidate *best,
			  const long *after)
{
	for (size_t i = 0; i < ARRAY_LEN(op_phrases); i++) {
		size_t count = sentence_spell(collector->sentence, at, op_phrases[i].phrase);
		struct candidate candidate = {
			.item = {.kind = ITEM_OP, .first = at, .count = count},
		};

		if (count == 0 || crosses_quote(collector->sentence, at, count) ||
		    collector->sentence->items[at].quoted)
			continue;
		candidate.item.op = op_phrases[i].op;
		candidate.score = score_of(SCORE_OP, count) + after[at + count];
		offer(best, &candidate);
	}
}

static void choose_at(const struct collector *collector, size_t at, const long *after,
		      struct candidate *best)
{
	struct candidate period = {.item = {.kind = ITEM_PERIOD, .first = at}};
	size_t longest = longest_phrase(collector->vocabulary);

	single_candidate(collector, at, best);
	best->score += after[at + 1];
	op_candidates(collector, at, best, after);
	unit_candidate(collector, at, best, after);
	period.item.count = collector->sentence->items[at].quoted
				    ? 0
				    : period_read(collector->sentence, at, collector->rules,
						  &period.item.period);
	if (period.item.count > 0) {
		period.score =
			score_of(SCORE_PERIOD, period.item.count) + after[at + period.item.count];
		offer(best, &period);
	}
	for (size_t count = 1; count <= longest; count++) {
		struct candidate named;

		if (at + count > collector->sentence->count)
			break;
		model_candidate(collector, at, count, &named);
		named.score += after[at + count];
		if (named.item.reading_count > 0)
			offer(best, &named);
		mem_free(named.item.readings);
	}
}

void items_read(struct items *items, const struct sentence *sentence, const char *question,
		const struct vocabulary *vocabulary, const struct period_rules *rules)
{
	const struct collector collector = {sentence, question, vocabulary, rules};
	struct candidate *best = mem_array(sentence->count + 1, sizeof(*best));
	long *after = mem_array(sentence->count + 2, sizeof(*after));

	items->list = mem_array(sentence->count + 1, sizeof(*items->list));
	items->count = 0;
	for (size_t at = sentence->count; at-- > 0;) {
		choose_at(&collector, at, after, &best[at]);
		after[at] = best[at].score;
	}
	for (size_t at = 0; at < sentence->count; at += items->list[items->count++].count) {
		items->list[items->count] = best[at].item;
		best[at].item.readings = NULL;
	}
	for (size_t at = 0; at < sentence->count; at++)
		mem_free(best[at].item.readings);
	mem_free(best);
	mem_free(after);
}

void items_clear(struct items *items)
{
	for (size_t i = 0; i < items->count; i++)
		mem_free(items->list[i].readings);
	mem_free(items->list);
	items->list = NULL;
	items->count = 0;
}

const char *items_operator(size_t index)
{
	return index < ARRAY_LEN(op_phrases) ? op_phrases[index].phrase : NULL;
}

bool item_is_op(const struct item *item, enum op op)
{
	return item->kind == ITEM_OP && item->op == op;
}

bool item_has(const struct item *item, enum reading_kind kind)
{
	for (size_t i = 0; item->kind == ITEM_MODEL && i < item->reading_count; i++)
		if (item->readings[i].kind == kind)
			return true;
	return false;
}
