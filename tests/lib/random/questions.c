/*
 * Questions that have one right answer. What is meant is thrown first, then how it is said; the
 * oracle answers what is meant.
 */
#include "tests/lib/random/world.h"

#include <stdlib.h>
#include <string.h>

#include "tests/lib/random/filters.h"
#include "tests/lib/random/wording.h"

struct question {
	struct world *world;
	struct ask ask;
	struct buf text;
	const char *kind;
};

static uint32_t roll(struct question *question, uint32_t n)
{
	return rng_below(&question->world->rng, n);
}

static bool chance(struct question *question, uint32_t percent)
{
	return rng_chance(&question->world->rng, percent);
}

static const char *pick(struct question *question, const char *const *list, size_t count)
{
	return list[roll(question, (uint32_t)count)];
}

static void add(struct question *question, const char *words)
{
	say(&question->text, words);
}

static const struct metric *any_metric(struct question *question)
{
	const struct metric *metric;

	do {
		metric =
			&question->world
				 ->metrics[roll(question, (uint32_t)question->world->metric_count)];
	} while (metric->measure == MEASURE_SECRET);
	return metric;
}

static bool is_timed(const struct question *question)
{
	return question->world->timed[question->ask.metric->table];
}

static void say_metric(struct question *question)
{
	add(question, noun_of_metric(question->world, question->ask.metric));
}

static void say_period(struct question *question, uint32_t percent)
{
	struct phrase phrase;

	if (!is_timed(question) || !chance(question, percent))
		return;
	phrase = phrase_any(question->world);
	question->ask.period = phrase.range;
	add(question, phrase.text);
}

/* Filters and period, in either order. */
static void say_rest(struct question *question)
{
	bool period_first = chance(question, 30);

	if (period_first)
		say_period(question, 50);
	say_filters(question->world, &question->ask, &question->text, 45);
	if (!period_first)
		say_period(question, 60);
}

static bool add_dimension(struct question *question)
{
	struct ask *ask = &question->ask;
	struct spot spot;

	if (!spot_free(question->world, ask, true, &spot))
		return false;
	ask->dims[ask->dim_count++] = (struct dimension){spot, BY_VALUE};
	return true;
}

static const char *dimension_noun(struct question *question, size_t i)
{
	return noun_of_group(question->world, question->ask.dims[i].spot);
}

static const char *dimension_plural(struct question *question, size_t i)
{
	return word_plural(question->world, dimension_noun(question, i));
}

static const char *lead(struct question *question)
{
	static const char *const leads[] = {
		"",	      "What was",    "What was the", "Show me",
		"Show",	      "Give me the", "Tell me the",  "I want to see",
		"What is our"};

	return pick(question, leads, ARRAY_LEN(leads));
}

static bool ask_total(struct question *question)
{
	static const char *const first[] = {"what was the", "show me", "what was"};
	struct phrase phrase;

	question->kind = "total";
	question->ask.metric = any_metric(question);
	if (is_timed(question) && chance(question, 25)) {
		phrase = phrase_any(question->world);
		question->ask.period = phrase.range;
		add(question, word_title(question->world, phrase.text));
		buf_add_char(&question->text, ',');
		add(question, pick(question, first, ARRAY_LEN(first)));
		say_metric(question);
		say_filters(question->world, &question->ask, &question->text, 50);
		return true;
	}
	add(question, lead(question));
	if (question->ask.metric->measure == MEASURE_NET && chance(question, 15))
		add(question, "total");
	say_metric(question);
	say_rest(question);
	return true;
}

static void say_group(struct question *question)
{
	static const char *const joints[] = {"by", "per", "for each", "broken down by", "split by"};

	add(question, pick(question, joints, ARRAY_LEN(joints)));
	add(question, dimension_noun(question, 0));
	if (question->ask.dim_count > 1) {
		add(question, "and");
		add(question, dimension_noun(question, 1));
	}
}

static bool ask_grouped(struct question *question)
{
	question->kind = "grouped";
	question->ask.metric = any_metric(question);
	if (!add_dimension(question))
		return false;
	if (chance(question, 20) && !add_dimension(question))
		return false;
	add(question, lead(question));
	say_metric(question);
	if (chance(question, 75)) {
		say_group(question);
		say_rest(question);
	} else {
		say_rest(question);
		say_group(question);
	}
	return true;
}

/* Two metrics of the same rows, side by side. */
static bool ask_two(struct question *question)
{
	struct ask *ask = &question->ask;

	question->kind = "two metrics";
	ask->metric = any_metric(question);
	ask->second = any_metric(question);
	if (ask->second == ask->metric || ask->second->table != ask->metric->table)
		return false;
	if (!add_dimension(question))
		return false;
	add(question, lead(question));
	say_metric(question);
	add(question, "and");
	add(question, noun_of_metric(question->world, ask->second));
	say_group(question);
	say_rest(question);
	return true;
}

static bool ask_over_time(struct question *question)
{
	static const struct {
		enum bucket bucket;
		const char *by, *adverb;
	} steps[] = {{BY_MONTH, "by month", "monthly"},
		     {BY_MONTH, "per month", "monthly"},
		     {BY_QUARTER, "by quarter", "quarterly"},
		     {BY_QUARTER, "for each quarter", "quarterly"},
		     {BY_YEAR, "by year", "yearly"},
		     {BY_WEEK, "by week", "weekly"}};
	size_t i = roll(question, ARRAY_LEN(steps));
	struct ask *ask = &question->ask;

	question->kind = "over time";
	ask->metric = any_metric(question);
	if (!is_timed(question))
		return false;
	ask->dims[ask->dim_count++] =
		(struct dimension){question->world->time[ask->metric->table], steps[i].bucket};
	if (chance(question, 30)) {
		add(question, "Show");
		add(question, steps[i].adverb);
		say_metric(question);
	} else {
		add(question, lead(question));
		say_metric(question);
		add(question, steps[i].by);
	}
	say_rest(question);
	return true;
}

static const struct metric *count_metric(struct question *question)
{
	const struct metric *metric;

	do {
		metric = any_metric(question);
	} while (metric->measure != MEASURE_ROWS);
	return metric;
}

static bool ask_count(struct question *question)
{
	struct world *world = question->world;
	const char *noun;

	question->kind = "count";
	question->ask.metric = count_metric(question);
	noun = word_plural(world, noun_of_rows(world, question->ask.metric->table));
	switch (roll(question, 4)) {
	case 0:
		add(question, "How many");
		add(question, noun);
		add(question, is_timed(question) ? "were there" : "are there");
		break;
	case 1:
		add(question, "Number of");
		add(question, noun);
		break;
	case 2:
		add(question, "Count of");
		add(question, noun);
		break;
	default:
		if (!add_dimension(question))
			return false;
		add(question, "How many");
		add(question, noun);
		add(question, chance(question, 50) ? "did each" : "does each");
		add(question, dimension_noun(question, 0));
		add(question, "have");
	}
	say_rest(question);
	return true;
}

static void say_count_word(struct question *question, size_t limit)
{
	static const char *const words[] = {"", "1", "two", "three", "4", "five", "6", "7"};

	if (limit > 0)
		add(question, words[limit]);
}

static bool ask_top(struct question *question)
{
	struct ask *ask = &question->ask;
	bool high = chance(question, 60);

	question->kind = "top";
	ask->metric = any_metric(question);
	ask->order = high ? 1 : -1;
	ask->limit = 2 + roll(question, 4);
	if (!add_dimension(question))
		return false;
	switch (roll(question, 3)) {
	case 0:
		add(question, high ? "Top" : "Bottom");
		say_count_word(question, ask->limit);
		add(question, dimension_plural(question, 0));
		add(question, "by");
		say_metric(question);
		break;
	case 1:
		add(question, "Which");
		say_count_word(question, ask->limit);
		add(question, dimension_plural(question, 0));
		add(question, high ? "had the highest" : "had the lowest");
		say_metric(question);
		break;
	default:
		add(question, "Show the");
		say_count_word(question, ask->limit);
		add(question, dimension_plural(question, 0));
		add(question, high ? "with the highest" : "with the smallest");
		say_metric(question);
	}
	say_rest(question);
	return true;
}

static bool ask_ranked(struct question *question)
{
	struct ask *ask = &question->ask;
	bool high = chance(question, 60);

	question->kind = "ranked";
	ask->metric = any_metric(question);
	if (!add_dimension(question))
		return false;
	ask->order = high ? 1 : -1;
	switch (roll(question, 3)) {
	case 0:
		add(question, "Rank");
		add(question, dimension_plural(question, 0));
		add(question, "by");
		say_metric(question);
		ask->order = 1;
		break;
	case 1:
		add(question, lead(question));
		say_metric(question);
		add(question, "by");
		add(question, dimension_noun(question, 0));
		say_rest(question);
		add(question, high ? "in descending order" : "lowest first");
		return true;
	default:
		add(question, dimension_plural(question, 0));
		add(question, "ranked by");
		say_metric(question);
		ask->order = 1;
	}
	say_rest(question);
	return true;
}

static bool ask_highest(struct question *question)
{
	struct ask *ask = &question->ask;
	bool high = chance(question, 60);

	question->kind = "highest";
	ask->metric = any_metric(question);
	ask->order = high ? 1 : -1;
	if (!add_dimension(question))
		return false;
	if (ask->metric->measure == MEASURE_ROWS && chance(question, 60)) {
		add(question, "Which");
		add(question, dimension_noun(question, 0));
		add(question, high ? "had the most" : "had the fewest");
		add(question, word_plural(question->world,
					  noun_of_rows(question->world, ask->metric->table)));
	} else {
		add(question, "Which");
		add(question, chance(question, 50) ? dimension_noun(question, 0)
						   : dimension_plural(question, 0));
		add(question, high ? "had the highest" : "had the lowest");
		say_metric(question);
	}
	say_rest(question);
	return true;
}

static bool is_earlier(const struct range *a, const struct range *b)
{
	return date_compare(a->from, b->from) < 0;
}

static bool ask_compare(struct question *question)
{
	struct ask *ask = &question->ask;
	struct phrase one = phrase_whole(question->world);
	struct phrase other = phrase_whole(question->world);

	question->kind = "compare";
	ask->metric = any_metric(question);
	if (!is_timed(question) || date_compare(one.range.from, other.range.from) == 0 ||
	    strstr(one.text, "previous") != NULL || strstr(other.text, "previous") != NULL)
		return false;
	ask->compares = true;
	ask->period = is_earlier(&one.range, &other.range) ? other.range : one.range;
	ask->before = is_earlier(&one.range, &other.range) ? one.range : other.range;
	if (chance(question, 30) && !add_dimension(question))
		return false;
	if (chance(question, 50)) {
		add(question, "Compare");
		say_metric(question);
		if (ask->dim_count > 0)
			say_group(question);
		add(question, one.text);
		add(question, chance(question, 50) ? "with" : "to");
		add(question, without_preposition(other.text));
		return true;
	}
	add(question, lead(question));
	say_metric(question);
	add(question, one.text);
	add(question, chance(question, 50) ? "versus" : "vs");
	add(question, without_preposition(other.text));
	if (ask->dim_count > 0)
		say_group(question);
	return true;
}

static struct range year_before(struct range range)
{
	range.from = date_add_months(range.from, -12);
	range.to = date_add_months(range.to, -12);
	return range;
}

static bool ask_growth(struct question *question)
{
	struct ask *ask = &question->ask;
	struct phrase phrase = phrase_whole(question->world);

	question->kind = "growth";
	ask->metric = any_metric(question);
	if (!is_timed(question))
		return false;
	ask->compares = true;
	ask->period = phrase.range;
	ask->before = phrase.previous;
	switch (roll(question, 4)) {
	case 0:
		add(question, "Change in");
		say_metric(question);
		add(question, phrase.text);
		break;
	case 1:
		add(question, "How did");
		say_metric(question);
		add(question, "change");
		add(question, phrase.text);
		break;
	case 2:
		say_metric(question);
		add(question, phrase.text);
		add(question, "compared to");
		add(question, phrase.before);
		break;
	default:
		say_metric(question);
		add(question, phrase.text);
		add(question, "versus the same period last year");
		ask->before = year_before(phrase.range);
	}
	return true;
}

static const struct metric *additive_metric(struct question *question)
{
	const struct metric *metric;

	do {
		metric = any_metric(question);
	} while (!metric_additive(metric));
	return metric;
}

static const char *told_value(struct question *question, struct spot spot)
{
	const char *value = stored_value(question->world, spot);

	question->ask.tricky = value_awkward(value);
	return value;
}

static bool ask_share(struct question *question)
{
	struct ask *ask = &question->ask;

	question->kind = "share";
	ask->metric = additive_metric(question);
	ask->share = true;
	if (!add_dimension(question))
		return false;
	if (chance(question, 30)) {
		add(question, "What percentage of");
		say_metric(question);
		add(question, "came from");
		add(question, told_value(question, ask->dims[0].spot));
	} else {
		add(question, chance(question, 50) ? "What is the share of" : "Share of");
		say_metric(question);
		say_group(question);
	}
	say_period(question, 60);
	return true;
}

static bool ask_average(struct question *question)
{
	struct ask *ask = &question->ask;
	struct spot spot;

	question->kind = "average";
	ask->metric = additive_metric(question);
	if (!spot_free(question->world, ask, true, &spot))
		return false;
	ask->average = true;
	ask->per = spot;
	if (ask->metric->measure == MEASURE_ROWS && chance(question, 50)) {
		add(question, "How many");
		add(question, word_plural(question->world,
					  noun_of_rows(question->world, ask->metric->table)));
		add(question, "per");
		add(question, noun_of_group(question->world, spot));
		add(question, "on average");
	} else {
		add(question, chance(question, 50) ? "Average" : "What was the average");
		say_metric(question);
		add(question, "per");
		add(question, noun_of_group(question->world, spot));
	}
	say_period(question, 60);
	return true;
}

static bool ask_listing(struct question *question)
{
	struct world *world = question->world;
	struct ask *ask = &question->ask;
	struct spot spots[SPOTS_MAX];
	size_t fact = world->metrics[0].table;
	size_t count = spots_of(world, fact, chance(question, 40) ? ROLE_NAME : ROLE_CLASS, spots);

	question->kind = "listing";
	ask->dims[ask->dim_count++] =
		(struct dimension){spots[roll(question, (uint32_t)count)], BY_VALUE};
	add(question, chance(question, 50) ? "List all" : "Show all");
	add(question, word_plural(world, noun_of_field(world, ask->dims[0].spot)));
	say_filters(world, ask, &question->text, 30);
	return true;
}

static struct json *period_json(const struct range *range)
{
	struct json *json = json_object();
	char text[DATE_LEN + 1];

	date_write(range->from, text);
	json_set_str(json, "from", text);
	date_write(range->to, text);
	json_set_str(json, "to", text);
	return json;
}

/* Nothing found: worth asking now and then. */
static bool is_empty(const struct json *answer)
{
	const struct json *rows = json_get(answer, "rows");

	return json_len(rows) == 0 ||
	       (json_len(json_first(rows)) == 1 && json_is_null(json_first(json_first(rows))));
}

static struct json *question_json(struct question *question)
{
	struct json *json = NULL;
	struct json *expect = oracle_answer(question->world, &question->ask);

	if (expect == NULL)
		return NULL;
	if (is_empty(expect) && !chance(question, 30)) {
		json_free(expect);
		return NULL;
	}
	json_set_str(expect, "status", "completed");
	if (question->ask.period.has_from && question->ask.period.has_to)
		json_set(expect, "period", period_json(&question->ask.period));
	if (chance(question, 60))
		buf_add_char(&question->text, '?');
	json = json_object();
	if (question->ask.tricky)
		json_set_bool(expect, "optional", true);
	json_set_str(json, "kind", question->kind);
	json_set_str(json, "question", buf_str(&question->text));
	json_set(json, "expect", expect);
	return json;
}

struct json *question_make(struct world *world)
{
	typedef bool ask_fn(struct question *);
	static ask_fn *const all[] = {
		ask_total,  ask_total, ask_grouped, ask_grouped, ask_grouped, ask_over_time,
		ask_count,  ask_count, ask_top,	    ask_top,	 ask_highest, ask_compare,
		ask_growth, ask_two,   ask_ranked,  ask_share,	 ask_average, ask_listing};
	struct question question = {.world = world};
	struct json *json = NULL;

	if (all[rng_below(&world->rng, ARRAY_LEN(all))](&question))
		json = question_json(&question);
	buf_clear(&question.text);
	return json;
}

struct json *questions_make(struct world *world, size_t count)
{
	struct json *cases = json_array();

	while (json_len(cases) < count) {
		struct json *question = question_make(world);

		if (question != NULL)
			json_push(cases, question);
	}
	return cases;
}
