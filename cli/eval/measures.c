/* Counting over the cases of a run, as cli/eval/run.h describes it. */
#include "cli/eval/measures.h"

#include <stdlib.h>
#include <string.h>

static bool has_text(const struct json *texts, const char *text)
{
	json_each(item, texts) if (json_str(item) && strcmp(json_str(item), text) == 0) return true;
	return false;
}

static void count_flags(const struct json *item, struct measures *measures)
{
	const struct json *wanted = json_get(item, "wanted_flags");
	const struct json *given = json_get(item, "flags");

	if (!wanted || !given)
		return;
	measures->labelled++;
	json_each(flag, wanted)
	{
		bool hit = has_text(given, json_str(flag));

		measures->flags_wanted++;
		measures->flags_hit += hit;
		measures->flags_given += hit;
	}
	json_each(flag, json_get(item, "warnings")) if (!has_text(wanted, json_str(flag)))
		measures->flags_given++;
}

static void count_attempts(const struct json *item, struct measures *measures)
{
	const char *status = json_get_str(item, "status");
	bool well = status && strcmp(status, "completed") == 0;
	int64_t failed = json_get_int(item, "failed_attempts", 0);
	size_t tries = (size_t)failed + (well ? 1 : 0);

	if (tries > MEASURES_ATTEMPTS_MAX)
		tries = MEASURES_ATTEMPTS_MAX;
	for (size_t i = 0; i < tries; i++)
		measures->tried[i]++;
	if (well && tries > 0)
		measures->ended_well[tries - 1]++;
	if (tries > measures->attempts)
		measures->attempts = tries;
}

struct measures measures_of(const struct json *run)
{
	struct measures measures = {0};

	json_each(item, json_get(run, "cases"))
	{
		const char *currency = json_get_str(item, "currency");

		count_flags(item, &measures);
		count_attempts(item, &measures);
		measures.cost += json_real(json_get(item, "cost"));
		if (currency)
			measures.currency = currency;
	}
	return measures;
}
