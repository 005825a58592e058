/*
 * Questions that have one right answer. What is meant is thrown first, then how it is said; the
 * oracle answers what is meant.
 */
#include "tests/lib/random/question.h"

#include <stdlib.h>
#include <string.h>

#include "tests/lib/random/filters.h"
#include "tests/lib/random/wording.h"

uint32_t question_roll(struct question *question, uint32_t n)
{
	return rng_below(&question->world->rng, n);
}

bool question_chance(struct question *question, uint32_t percent)
{
	return rng_chance(&question->world->rng, percent);
}

static const char *pick(struct question *question, const char *const *list, size_t count)
{
	return list[question_roll(question, (uint32_t)count)];
}

void question_say(struct question *question, const char *words)
{
	say(&question->text, words);
}

const struct metric *question_metric(struct question *question)
{
	const struct metric *metric;

	do {
		metric = &question->world->metrics[question_roll(
			question, (uint32_t)question->world->metric_count)];
	} while (metric->measure == MEASURE_SECRET);
	return metric;
}

bool question_timed(const struct question *question)
{
	return question->world->timed[question->ask.metric->table];
}

void question_say_metric(struct question *question)
{
	question_say(question, noun_of_metric(question->world, question->ask.metric));
}

void question_say_period(struct question *question, uint32_t percent)
{
	struct phrase phrase;

	if (!question_timed(question) || !question_chance(question, percent))
		return;
	phrase = phrase_any(question->world);
	question->ask.period = phrase.range;
	question_say(question, phrase.text);
}

/* Filters and period, in either order. */
static void say_rest(struct question *question)
{
	bool period_first = question_chance(question, 30);

	if (period_first)
		question_say_period(question, 50);
	say_filters(question->world, &question->ask, &question->text, 45);
	if (!period_first)
		question_say_period(question, 60);
}

bool question_group_by(struct question *question)
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

void question_say_lead(struct question *question)
{
	static const char *const leads[] = {
		"",	      "What was",    "What was the", "Show me",
		"Show",	      "Give me the", "Tell me the",  "I want to see",
		"What is our"};

	question_say(question, pick(question, leads, ARRAY_LEN(leads)));
}

static bool ask_total(struct question *question)
{
	static const char *const first[] = {"what was the", "show me", "what was"};
	struct phrase phrase;

	question->kind = "total";
	question->ask.metric = question_metric(question);
	if (question_timed(question) && question_chance(question, 25)) {
		phrase = phrase_any(question->world);
		question->ask.period = phrase.range;
		question_say(question, word_title(question->world, phrase.text));
		buf_add_char(&question->text, ',');
		question_say(question, pick(question, first, ARRAY_LEN(first)));
		question_say_metric(question);
		say_filters(question->world, &question->ask, &question->text, 50);
		return true;
	}
	question_say_lead(question);
	if (question->ask.metric->measure == MEASURE_NET && question_chance(question, 15))
		question_say(question, "total");
	question_say_metric(question);
	say_rest(question);
	return true;
}

void question_say_group(struct question *question)
{
	static const char *const joints[] = {"by", "per", "for each", "broken down by", "split by"};

	question_say(question, pick(question, joints, ARRAY_LEN(joints)));
	question_say(question, dimension_noun(question, 0));
	if (question->ask.dim_count > 1) {
		question_say(question, "and");
		question_say(question, dimension_noun(question, 1));
	}
}

static bool ask_grouped(struct question *question)
{
	question->kind = "grouped";
	question->ask.metric = question_metric(question);
	if (!question_group_by(question))
		return false;
	if (question_chance(question, 20) && !question_group_by(question))
		return false;
	question_say_lead(question);
	question_say_metric(question);
	if (question_chance(question, 75)) {
		question_say_group(question);
		say_rest(question);
	} else {
		say_rest(question);
		question_say_group(question);
	}
	return true;
}

/* Two metrics of the same rows, side by side. */
static bool ask_two(struct question *question)
{
	struct ask *ask = &question->ask;

	question->kind = "two metrics";
	ask->metric = question_metric(question);
	ask->second = question_metric(question);
	if (ask->second == ask->metric || ask->second->table != ask->metric->table)
		return false;
	if (!question_group_by(question))
		return false;
	question_say_lead(question);
	question_say_metric(question);
	question_say(question, "and");
	question_say(question, noun_of_metric(question->world, ask->second));
	question_say_group(question);
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
	size_t i = question_roll(question, ARRAY_LEN(steps));
	struct ask *ask = &question->ask;

	question->kind = "over time";
	ask->metric = question_metric(question);
	if (!question_timed(question))
		return false;
	ask->dims[ask->dim_count++] =
		(struct dimension){question->world->time[ask->metric->table], steps[i].bucket};
	if (question_chance(question, 30)) {
		question_say(question, "Show");
		question_say(question, steps[i].adverb);
		question_say_metric(question);
	} else {
		question_say_lead(question);
		question_say_metric(question);
		question_say(question, steps[i].by);
	}
	say_rest(question);
	return true;
}

static const struct metric *count_metric(struct question *question)
{
	const struct metric *metric;

	do {
		metric = question_metric(question);
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
	switch (question_roll(question, 4)) {
	case 0:
		question_say(question, "How many");
		question_say(question, noun);
		question_say(question, question_timed(question) ? "were there" : "are there");
		break;
	case 1:
		question_say(question, "Number of");
		question_say(question, noun);
		break;
	case 2:
		question_say(question, "Count of");
		question_say(question, noun);
		break;
	default:
		if (!question_group_by(question))
			return false;
		question_say(question, "How many");
		question_say(question, noun);
		question_say(question, question_chance(question, 50) ? "did each" : "does each");
		question_say(question, dimension_noun(question, 0));
		question_say(question, "have");
	}
	say_rest(question);
	return true;
}

static void say_count_word(struct question *question, size_t limit)
{
	static const char *const words[] = {"", "1", "two", "three", "4", "five", "6", "7"};

	if (limit > 0)
		question_say(question, words[limit]);
}

static bool ask_top(struct question *question)
{
	struct ask *ask = &question->ask;
	bool high = question_chance(question, 60);

	question->kind = "top";
	ask->metric = question_metric(question);
	ask->order = high ? 1 : -1;
	ask->limit = 2 + question_roll(question, 4);
	if (!question_group_by(question))
		return false;
	switch (question_roll(question, 3)) {
	case 0:
		question_say(question, high ? "Top" : "Bottom");
		say_count_word(question, ask->limit);
		question_say(question, dimension_plural(question, 0));
		question_say(question, "by");
		question_say_metric(question);
		break;
	case 1:
		question_say(question, "Which");
		say_count_word(question, ask->limit);
		question_say(question, dimension_plural(question, 0));
		question_say(question, high ? "had the highest" : "had the lowest");
		question_say_metric(question);
		break;
	default:
		question_say(question, "Show the");
		say_count_word(question, ask->limit);
		question_say(question, dimension_plural(question, 0));
		question_say(question, high ? "with the highest" : "with the smallest");
		question_say_metric(question);
	}
	say_rest(question);
	return true;
}

static bool ask_ranked(struct question *question)
{
	struct ask *ask = &question->ask;
	bool high = question_chance(question, 60);

	question->kind = "ranked";
	ask->metric = question_metric(question);
	if (!question_group_by(question))
		return false;
	ask->order = high ? 1 : -1;
	switch (question_roll(question, 3)) {
	case 0:
		question_say(question, "Rank");
		question_say(question, dimension_plural(question, 0));
		question_say(question, "by");
		question_say_metric(question);
		ask->order = 1;
		break;
	case 1:
		question_say_lead(question);
		question_say_metric(question);
		question_say(question, "by");
		question_say(question, dimension_noun(question, 0));
		say_rest(question);
		question_say(question, high ? "in descending order" : "lowest first");
		return true;
	default:
		question_say(question, dimension_plural(question, 0));
		question_say(question, "ranked by");
		question_say_metric(question);
		ask->order = 1;
	}
	say_rest(question);
	return true;
}

static bool ask_highest(struct question *question)
{
	struct ask *ask = &question->ask;
	bool high = question_chance(question, 60);

	question->kind = "highest";
	ask->metric = question_metric(question);
	ask->order = high ? 1 : -1;
	if (!question_group_by(question))
		return false;
	if (ask->metric->measure == MEASURE_ROWS && question_chance(question, 60)) {
		question_say(question, "Which");
		question_say(question, dimension_noun(question, 0));
		question_say(question, high ? "had the most" : "had the fewest");
		question_say(question,
			     word_plural(question->world,
					 noun_of_rows(question->world, ask->metric->table)));
	} else {
		question_say(question, "Which");
		question_say(question, question_chance(question, 50)
					       ? dimension_noun(question, 0)
					       : dimension_plural(question, 0));
		question_say(question, high ? "had the highest" : "had the lowest");
		question_say_metric(question);
	}
	say_rest(question);
	return true;
}

static bool ask_listing(struct question *question)
{
	struct world *world = question->world;
	struct ask *ask = &question->ask;
	struct spot spots[SPOTS_MAX];
	size_t fact = world->metrics[0].table;
	size_t count = spots_of(world, fact, question_chance(question, 40) ? ROLE_NAME : ROLE_CLASS,
				spots);

	question->kind = "listing";
	ask->dims[ask->dim_count++] =
		(struct dimension){spots[question_roll(question, (uint32_t)count)], BY_VALUE};
	question_say(question, question_chance(question, 50) ? "List all" : "Show all");
	question_say(question, word_plural(world, noun_of_field(world, ask->dims[0].spot)));
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
	if (is_empty(expect) && !question_chance(question, 30)) {
		json_free(expect);
		return NULL;
	}
	json_set_str(expect, "status", "completed");
	if (question->ask.period.has_from && question->ask.period.has_to)
		json_set(expect, "period", period_json(&question->ask.period));
	if (question_chance(question, 60))
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
