/* Which rows are meant: values, lists of them, all but them, those without one, numbers. */
#include "tests/lib/random/filters.h"

#include <string.h>

#include "tests/lib/random/wording.h"

static bool is_used(const struct ask *ask, struct spot spot)
{
	for (size_t i = 0; i < ask->dim_count; i++)
		if (spot_same(ask->dims[i].spot, spot))
			return true;
	for (size_t i = 0; i < ask->filter_count; i++)
		if (spot_same(ask->filters[i].spot, spot))
			return true;
	if (ask->average && spot_same(ask->per, spot))
		return true;
	return ask->metric != NULL && ask->metric->filtered && spot_same(ask->metric->filter, spot);
}

static size_t ask_table(const struct ask *ask)
{
	return ask->metric != NULL ? ask->metric->table : ask->dims[0].spot.table;
}

bool spot_free(struct world *world, const struct ask *ask, bool named, struct spot *ret_spot)
{
	struct spot spots[2 * SPOTS_MAX];
	size_t count = spots_of(world, ask_table(ask), ROLE_CLASS, spots);
	size_t kept = 0;

	if (named)
		count += spots_of(world, ask_table(ask), ROLE_NAME, spots + count);
	for (size_t i = 0; i < count; i++)
		if (!is_used(ask, spots[i]))
			spots[kept++] = spots[i];
	if (kept == 0)
		return false;
	*ret_spot = spots[rng_below(&world->rng, (uint32_t)kept)];
	return true;
}

static void add_value(struct world *world, struct filter *filter)
{
	const char *value = NULL;
	bool known = true;

	for (int tries = 0; known && tries < 20; tries++) {
		value = stored_value(world, filter->spot);
		known = false;
		for (size_t i = 0; i < filter->value_count; i++)
			known = known || strcmp(filter->values[i], value) == 0;
	}
	if (!known)
		filter->values[filter->value_count++] = value;
}

/* "Kavdor", "Kavdor and Mirat", "Kavdor, Mirat or Tolen" */
static const char *spoken_list(struct world *world, const struct filter *filter, const char *joint)
{
	CLEANUP(buf_clear) struct buf text = BUF_INIT;

	for (size_t i = 0; i < filter->value_count; i++) {
		if (i > 0 && i + 1 == filter->value_count)
			buf_addf(&text, " %s ", joint);
		else if (i > 0)
			buf_add_str(&text, ", ");
		buf_add_str(&text, spoken_value(world, filter->spot, filter->values[i]));
	}
	return world_keep(world, mem_str(buf_str(&text)));
}

static char *value_words(struct world *world, struct ask *ask, const struct filter *filter,
			 const char *value)
{
	static const char *const leads[] = {"in", "for", "from", "of", "with", "at"};
	const char *lead = leads[rng_below(&world->rng, ARRAY_LEN(leads))];
	const char *noun;

	for (size_t i = 0; i < filter->value_count; i++)
		if (value_awkward(filter->values[i]))
			ask->tricky = true;
	if (filter->value_count > 1 || rng_chance(&world->rng, 50))
		return mem_format("%s %s", lead, value);
	noun = noun_of_field(world, filter->spot);
	switch (rng_below(&world->rng, 3)) {
	case 0:
		return mem_format("in the %s %s", value, noun);
	case 1:
		return mem_format("for %s %s", noun, value);
	default:
		return mem_format("where the %s is %s", noun, value);
	}
}

static char *say_values(struct world *world, struct ask *ask, struct filter *filter)
{
	static const char *const joints[] = {"and", "or"};
	size_t wanted = rng_chance(&world->rng, 70) ? 1 : 2 + rng_below(&world->rng, 2);

	for (size_t i = 0; i < wanted; i++)
		add_value(world, filter);
	filter->test = TEST_IN;
	return value_words(world, ask, filter,
			   spoken_list(world, filter, joints[rng_below(&world->rng, 2)]));
}

static char *say_exclusion(struct world *world, struct ask *ask, struct filter *filter)
{
	static const char *const leads[] = {"excluding",  "except",	"not in",
					    "other than", "except for", "without"};
	const char *lead = leads[rng_below(&world->rng, ARRAY_LEN(leads))];

	add_value(world, filter);
	if (rng_chance(&world->rng, 30))
		add_value(world, filter);
	filter->test = TEST_NOT;
	for (size_t i = 0; i < filter->value_count; i++)
		if (value_awkward(filter->values[i]))
			ask->tricky = true;
	return mem_format("%s %s", lead, spoken_list(world, filter, "and"));
}

static char *say_missing(struct world *world, struct filter *filter)
{
	const struct column *column = spot_column(world, filter->spot);
	const char *noun = noun_of_field(world, filter->spot);

	filter->test = TEST_MISSING;
	if (column->missing != NULL && rng_chance(&world->rng, 50))
		return mem_format("in the %s %s", column->missing, noun);
	return mem_format("%s %s", rng_chance(&world->rng, 50) ? "without a" : "with no", noun);
}

static char *say_number(struct world *world, struct filter *filter)
{
	static const struct {
		const char *words;
		enum test test;
	} tests[] = {
		{"", TEST_EQUAL},	  {"of", TEST_EQUAL},	     {"over", TEST_OVER},
		{"more than", TEST_OVER}, {"above", TEST_OVER},	     {"at least", TEST_AT_LEAST},
		{"below", TEST_UNDER},	  {"less than", TEST_UNDER}, {"at most", TEST_AT_MOST}};
	size_t i = rng_below(&world->rng, ARRAY_LEN(tests));

	filter->test = tests[i].test;
	filter->number = rng_between(&world->rng, 4, 16);
	return mem_format("with %s%s%s %d", noun_of_field(world, filter->spot),
			  tests[i].words[0] != '\0' ? " " : "", tests[i].words,
			  (int)filter->number);
}

static char *say_flag(struct world *world, struct filter *filter)
{
	filter->test = TEST_EQUAL;
	filter->number = rng_chance(&world->rng, 60) ? 1 : 0;
	return mem_format("that are %s%s", filter->number == 1 ? "" : "not ",
			  noun_of_field(world, filter->spot));
}

static bool number_spot(struct world *world, const struct ask *ask, enum world_role role,
			struct spot *ret_spot)
{
	size_t count = 0;
	struct spot spots[SPOTS_MAX];

	count = spots_of(world, ask_table(ask), role, spots);
	if (count == 0)
		return false;
	*ret_spot = spots[rng_below(&world->rng, (uint32_t)count)];
	return !is_used(ask, *ret_spot);
}

void say_filter(struct world *world, struct ask *ask, struct buf *text)
{
	struct filter *filter = &ask->filters[ask->filter_count];
	uint32_t roll = rng_below(&world->rng, 100);
	char *words;

	if (roll < 12 && number_spot(world, ask, ROLE_LEVEL, &filter->spot))
		words = say_number(world, filter);
	else if (roll < 19 && number_spot(world, ask, ROLE_FLAG, &filter->spot))
		words = say_flag(world, filter);
	else if (!spot_free(world, ask, true, &filter->spot))
		return;
	else if (roll < 65)
		words = say_values(world, ask, filter);
	else if (roll < 85)
		words = say_exclusion(world, ask, filter);
	else
		words = say_missing(world, filter);
	ask->filter_count++;
	say(text, words);
	mem_free(words);
}

void say_filters(struct world *world, struct ask *ask, struct buf *text, uint32_t percent)
{
	if (!rng_chance(&world->rng, percent))
		return;
	say_filter(world, ask, text);
	/* "without a kind of Kavdor" would be without Kavdor. */
	if (ask->filter_count == 1 && ask->filters[0].test == TEST_MISSING)
		return;
	if (rng_chance(&world->rng, 20))
		say_filter(world, ask, text);
}
