/*
 * Phrases of time and the days they mean, worked out from the calendar alone. Every phrase begins
 * with its preposition, so it can stand at either end of a question.
 */
#include "tests/lib/random/world.h"

#include <stdlib.h>
#include <string.h>

enum unit { UNIT_DAY, UNIT_WEEK, UNIT_MONTH, UNIT_QUARTER, UNIT_YEAR };

static const char *const unit_names[] = {"day", "week", "month", "quarter", "year"};
static const char *const month_names[] = {"January",   "February", "March",    "April",
					  "May",       "June",	   "July",     "August",
					  "September", "October",  "November", "December"};

static struct date unit_start(struct date day, enum unit unit)
{
	if (unit == UNIT_WEEK)
		return date_add_days(day, -date_weekday(day));
	if (unit == UNIT_QUARTER)
		day.month -= (day.month - 1) % 3;
	if (unit == UNIT_YEAR)
		day.month = 1;
	if (unit != UNIT_DAY)
		day.day = 1;
	return day;
}

static struct date unit_add(struct date start, enum unit unit, int count)
{
	static const int months[] = {0, 0, 1, 3, 12};

	if (unit == UNIT_DAY || unit == UNIT_WEEK)
		return date_add_days(start, count * (unit == UNIT_WEEK ? 7 : 1));
	return date_add_months(start, count * months[unit]);
}

static struct range range_of(struct date start, enum unit unit, int count)
{
	return (struct range){true, true, start, unit_add(start, unit, count)};
}

static struct phrase phrase_unit(struct world *world, char *text, struct date start, enum unit unit)
{
	return (struct phrase){
		.text = world_keep(world, text),
		.range = range_of(start, unit, 1),
		.before = world_keep(world, mem_format("the %s before", unit_names[unit])),
		.previous = range_of(unit_add(start, unit, -1), unit, 1),
	};
}

static char *day_text(struct date day)
{
	char text[DATE_LEN + 1];

	date_write(day, text);
	return mem_str(text);
}

static struct date some_day(struct world *world, int64_t back)
{
	return date_add_days(world->today, -rng_between(&world->rng, 1, back));
}

static struct phrase relative(struct world *world)
{
	static const char *const leads[] = {"last", "last", "this", "previous"};
	const char *lead = leads[rng_below(&world->rng, ARRAY_LEN(leads))];
	enum unit unit = (enum unit)rng_between(&world->rng, UNIT_MONTH, UNIT_YEAR);
	struct date start = unit_start(world->today, unit);

	if (strcmp(lead, "this") != 0)
		start = unit_add(start, unit, -1);
	return phrase_unit(world, mem_format("%s %s", lead, unit_names[unit]), start, unit);
}

static struct phrase named_month(struct world *world)
{
	struct date start = unit_start(some_day(world, 600), UNIT_MONTH);
	const char *name = month_names[start.month - 1];

	if (rng_chance(&world->rng, 15))
		return phrase_unit(world, mem_format("in %04d-%02d", start.year, start.month),
				   start, UNIT_MONTH);
	if (rng_chance(&world->rng, 70))
		return phrase_unit(world,
				   mem_format("%s %s %d",
					      rng_chance(&world->rng, 80) ? "in" : "during", name,
					      start.year),
				   start, UNIT_MONTH);
	/* Without a year: the latest that has begun. */
	start.year = world->today.year - (start.month > world->today.month ? 1 : 0);
	return phrase_unit(world, mem_format("in %s", name), start, UNIT_MONTH);
}

static struct phrase named_quarter(struct world *world)
{
	static const char *const ordinals[] = {"first", "second", "third", "fourth"};
	struct date start = unit_start(some_day(world, 600), UNIT_QUARTER);
	int quarter = start.month / 3 + 1;
	char *text;

	if (rng_chance(&world->rng, 60))
		text = mem_format("in Q%d %d", quarter, start.year);
	else
		text = mem_format("in the %s quarter of %d", ordinals[quarter - 1], start.year);
	return phrase_unit(world, text, start, UNIT_QUARTER);
}

static struct phrase named_year(struct world *world)
{
	struct date start = unit_start(some_day(world, 600), UNIT_YEAR);

	return phrase_unit(world, mem_format("in %d", start.year), start, UNIT_YEAR);
}

struct phrase phrase_whole(struct world *world)
{
	switch (rng_below(&world->rng, 5)) {
	case 0:
	case 1:
		return relative(world);
	case 2:
		return named_month(world);
	case 3:
		return named_quarter(world);
	default:
		return named_year(world);
	}
}

static struct phrase plain(struct world *world, char *text, struct range range)
{
	return (struct phrase){.text = world_keep(world, text), .range = range};
}

static const char *count_word(struct world *world, int count)
{
	static const char *const words[] = {"zero", "one", "two", "three", "four", "five", "six"};

	if (count < (int)ARRAY_LEN(words) && rng_chance(&world->rng, 40))
		return words[count];
	return world_keep(world, mem_format("%d", count));
}

static struct phrase last_units(struct world *world)
{
	enum unit unit = (enum unit)rng_below(&world->rng, UNIT_YEAR);
	int least = unit == UNIT_DAY ? 20 : 2;
	int count = least + (int)rng_below(&world->rng, unit == UNIT_DAY ? 70 : 5);
	struct date end = unit_start(world->today, unit);

	return plain(world,
		     mem_format("%s %s %s %ss", rng_chance(&world->rng, 50) ? "in the" : "over the",
				rng_chance(&world->rng, 70) ? "last" : "past",
				count_word(world, count), unit_names[unit]),
		     range_of(unit_add(end, unit, -count), unit, count));
}

static struct phrase units_ago(struct world *world)
{
	int count = 2 + (int)rng_below(&world->rng, 6);
	enum unit unit = rng_chance(&world->rng, 60) ? UNIT_MONTH : UNIT_QUARTER;
	struct date start = unit_add(unit_start(world->today, unit), unit, -count);

	return plain(world, mem_format("%d %ss ago", count, unit_names[unit]),
		     range_of(start, unit, 1));
}

static struct phrase since(struct world *world)
{
	struct date day = some_day(world, 500);
	struct range range = {true, true, day, date_add_days(world->today, 1)};
	CLEANUP(mem_freep) char *text = NULL;

	if (rng_chance(&world->rng, 50)) {
		range.from = unit_start(day, UNIT_MONTH);
		return plain(world, mem_format("since %s %d", month_names[day.month - 1], day.year),
			     range);
	}
	text = day_text(day);
	return plain(world, mem_format("since %s", text), range);
}

static struct phrase between(struct world *world)
{
	struct date first = some_day(world, 700);
	struct date last = date_add_days(first, rng_between(&world->rng, 20, 200));
	struct range range = {true, true, first, date_add_days(last, 1)};
	CLEANUP(mem_freep) char *a = day_text(first);
	CLEANUP(mem_freep) char *b = day_text(last);

	if (rng_chance(&world->rng, 50))
		return plain(world, mem_format("between %s and %s", a, b), range);
	return plain(world, mem_format("from %s to %s", a, b), range);
}

static struct phrase open_end(struct world *world)
{
	struct date day = some_day(world, 500);
	CLEANUP(mem_freep) char *text = day_text(day);
	struct range range = {false, true, day, day};

	switch (rng_below(&world->rng, 3)) {
	case 0:
		return plain(world, mem_format("before %s", text), range);
	case 1:
		range.to = date_add_days(day, 1);
		return plain(world, mem_format("until %s", text), range);
	default:
		range = (struct range){true, false, date_add_days(day, 1), day};
		return plain(world, mem_format("after %s", text), range);
	}
}

static struct phrase half_year(struct world *world)
{
	struct date start = unit_start(some_day(world, 600), UNIT_YEAR);
	int half = (int)rng_below(&world->rng, 2);
	char *text = rng_chance(&world->rng, 50)
			     ? mem_format("in H%d %d", half + 1, start.year)
			     : mem_format("in the %s half of %d", half == 0 ? "first" : "second",
					  start.year);

	return plain(world, text,
		     range_of(unit_add(start, UNIT_QUARTER, 2 * half), UNIT_QUARTER, 2));
}

static struct phrase to_date(struct world *world)
{
	struct range range = {true, true, unit_start(world->today, UNIT_YEAR),
			      date_add_days(world->today, 1)};

	return plain(world,
		     mem_str(rng_chance(&world->rng, 50) ? "year to date" : "this year so far"),
		     range);
}

static struct phrase months(struct world *world)
{
	struct date first = unit_start(some_day(world, 600), UNIT_YEAR);
	int from = (int)rng_below(&world->rng, 8);
	int to = from + 1 + (int)rng_below(&world->rng, 3);
	struct range range = {true, true, unit_add(first, UNIT_MONTH, from),
			      unit_add(first, UNIT_MONTH, to + 1)};

	return plain(world,
		     mem_format("from %s to %s %d", month_names[from], month_names[to], first.year),
		     range);
}

static struct phrase one_day(struct world *world)
{
	struct date day = some_day(world, 300);

	if (rng_chance(&world->rng, 50))
		return plain(
			world,
			mem_format("on %d %s %d", day.day, month_names[day.month - 1], day.year),
			range_of(day, UNIT_DAY, 1));
	return plain(world,
		     mem_format("on %s %d, %d", month_names[day.month - 1], day.day, day.year),
		     range_of(day, UNIT_DAY, 1));
}

static struct phrase week(struct world *world)
{
	struct date start = date_add_days(unit_start(world->today, UNIT_WEEK), -7);

	return plain(world, mem_str("last week"), range_of(start, UNIT_WEEK, 1));
}

struct phrase phrase_any(struct world *world)
{
	typedef struct phrase phrase_fn(struct world *);
	static phrase_fn *const all[] = {phrase_whole, phrase_whole, phrase_whole, phrase_whole,
					 last_units,   units_ago,    since,	   between,
					 between,      open_end,     half_year,	   to_date,
					 months,       week,	     one_day};

	return all[rng_below(&world->rng, ARRAY_LEN(all))](world);
}
