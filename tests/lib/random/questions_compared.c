/* Questions that set one number against others: two periods, a whole, an average. */
#include "tests/lib/random/question.h"

#include <string.h>

#include "tests/lib/random/filters.h"
#include "tests/lib/random/wording.h"

static bool is_earlier(const struct range *a, const struct range *b)
{
	return date_compare(a->from, b->from) < 0;
}

bool ask_compare(struct question *question)
{
	struct ask *ask = &question->ask;
	struct phrase one = phrase_whole(question->world);
	struct phrase other = phrase_whole(question->world);

	question->kind = "compare";
	ask->metric = question_metric(question);
	if (!question_timed(question) || date_compare(one.range.from, other.range.from) == 0 ||
	    strstr(one.text, "previous") != NULL || strstr(other.text, "previous") != NULL)
		return false;
	ask->compares = true;
	ask->period = is_earlier(&one.range, &other.range) ? other.range : one.range;
	ask->before = is_earlier(&one.range, &other.range) ? one.range : other.range;
	if (question_chance(question, 30) && !question_group_by(question))
		return false;
	if (question_chance(question, 50)) {
		question_say(question, "Compare");
		question_say_metric(question);
		if (ask->dim_count > 0)
			question_say_group(question);
		question_say(question, one.text);
		question_say(question, question_chance(question, 50) ? "with" : "to");
		question_say(question, without_preposition(other.text));
		return true;
	}
	question_say_lead(question);
	question_say_metric(question);
	question_say(question, one.text);
	question_say(question, question_chance(question, 50) ? "versus" : "vs");
	question_say(question, without_preposition(other.text));
	if (ask->dim_count > 0)
		question_say_group(question);
	return true;
}

static struct range year_before(struct range range)
{
	range.from = date_add_months(range.from, -12);
	range.to = date_add_months(range.to, -12);
	return range;
}

bool ask_growth(struct question *question)
{
	struct ask *ask = &question->ask;
	struct phrase phrase = phrase_whole(question->world);

	question->kind = "growth";
	ask->metric = question_metric(question);
	if (!question_timed(question))
		return false;
	ask->compares = true;
	ask->period = phrase.range;
	ask->before = phrase.previous;
	switch (question_roll(question, 4)) {
	case 0:
		question_say(question, "Change in");
		question_say_metric(question);
		question_say(question, phrase.text);
		break;
	case 1:
		question_say(question, "How did");
		question_say_metric(question);
		question_say(question, "change");
		question_say(question, phrase.text);
		break;
	case 2:
		question_say_metric(question);
		question_say(question, phrase.text);
		question_say(question, "compared to");
		question_say(question, phrase.before);
		break;
	default:
		question_say_metric(question);
		question_say(question, phrase.text);
		question_say(question, "versus the same period last year");
		ask->before = year_before(phrase.range);
	}
	return true;
}

static const struct metric *additive_metric(struct question *question)
{
	const struct metric *metric;

	do {
		metric = question_metric(question);
	} while (!metric_additive(metric));
	return metric;
}

static const char *told_value(struct question *question, struct spot spot)
{
	const char *value = stored_value(question->world, spot);

	question->ask.tricky = value_awkward(value);
	return value;
}

bool ask_share(struct question *question)
{
	struct ask *ask = &question->ask;

	question->kind = "share";
	ask->metric = additive_metric(question);
	ask->share = true;
	if (!question_group_by(question))
		return false;
	if (question_chance(question, 30)) {
		question_say(question, "What percentage of");
		question_say_metric(question);
		question_say(question, "came from");
		question_say(question, told_value(question, ask->dims[0].spot));
	} else {
		question_say(question,
			     question_chance(question, 50) ? "What is the share of" : "Share of");
		question_say_metric(question);
		question_say_group(question);
	}
	question_say_period(question, 60);
	return true;
}

bool ask_average(struct question *question)
{
	struct ask *ask = &question->ask;
	struct spot spot;

	question->kind = "average";
	ask->metric = additive_metric(question);
	if (!spot_free(question->world, ask, true, &spot))
		return false;
	ask->average = true;
	ask->per = spot;
	if (ask->metric->measure == MEASURE_ROWS && question_chance(question, 50)) {
		question_say(question, "How many");
		question_say(question,
			     word_plural(question->world,
					 noun_of_rows(question->world, ask->metric->table)));
		question_say(question, "per");
		question_say(question, noun_of_group(question->world, spot));
		question_say(question, "on average");
	} else {
		question_say(question,
			     question_chance(question, 50) ? "Average" : "What was the average");
		question_say_metric(question);
		question_say(question, "per");
		question_say(question, noun_of_group(question->world, spot));
	}
	question_say_period(question, 60);
	return true;
}
