/* Calendar units as first days and counts. Months are added to first days only, so nothing clamps.
 */
#include "agents/query/period_unit.h"

#include <stdio.h>
#include <string.h>

static const char *const unit_names[] = {"", "day", "week", "month", "quarter", "year", "weekday", "fiscal quarter",
					 "fiscal year"};

const char *period_unit_name(enum period_unit unit)
{
	return unit_names[unit];
}

enum period_unit period_unit_of(const struct word *word)
{
	static const char *const adverbs[] = {"",	 "daily",     "weekly",
					      "monthly", "quarterly", "yearly"};

	for (int unit = UNIT_DAY; unit <= UNIT_YEAR; unit++)
		if (strcmp(word->stem, unit_names[unit]) == 0 ||
		    strcmp(word->text, adverbs[unit]) == 0)
			return (enum period_unit)unit;
	if (strcmp(word->stem, "weekday") == 0)
		return UNIT_WEEKDAY;
	return strcmp(word->text, "annually") == 0 || strcmp(word->text, "annual") == 0 ? UNIT_YEAR
											: UNIT_NONE;
}

struct date period_unit_start(struct date date, enum period_unit unit, int year_start)
{
	struct date first = {date.year, date.month, 1};

	switch (unit) {
	case UNIT_NONE:
	case UNIT_WEEKDAY:
	case UNIT_FISCAL_QUARTER:
	case UNIT_FISCAL_YEAR:
	case UNIT_DAY:
		return date;
	case UNIT_WEEK:
		return date_add_days(date, -date_weekday(date));
	case UNIT_MONTH:
		return first;
	case UNIT_QUARTER:
		return date_add_months(first, -((date.month - year_start + 12) % 3));
	case UNIT_YEAR:
		return date_add_months(first, -((date.month - year_start + 12) % 12));
	}
	return date;
}

struct date period_add_units(struct date start, enum period_unit unit, int units)
{
	switch (unit) {
	case UNIT_NONE:
	case UNIT_WEEKDAY:
	case UNIT_FISCAL_QUARTER:
	case UNIT_FISCAL_YEAR:
		return start;
	case UNIT_DAY:
		return date_add_days(start, units);
	case UNIT_WEEK:
		return date_add_days(start, 7 * (int64_t)units);
	case UNIT_MONTH:
		return date_add_months(start, units);
	case UNIT_QUARTER:
		return date_add_months(start, 3 * units);
	case UNIT_YEAR:
		return date_add_months(start, 12 * units);
	}
	return start;
}

void period_set_unit(struct period *period, struct date from, enum period_unit unit, int units)
{
	period->has_from = true;
	period->has_to = true;
	period->from = from;
	period->to = period_add_units(from, unit, units);
	period->unit = unit;
	period->units = units;
}

void period_part(const struct period *whole, enum period_unit unit, bool first,
		 struct period *ret_part)
{
	struct period part = {.year_implied = whole->year_implied};

	/* Weeks do not fill months, quarters or years; and a part is smaller than its whole. */
	if (unit == UNIT_WEEK || unit >= whole->unit) {
		snprintf(part.mistake, sizeof(part.mistake),
			 "cannot tell which %s of that is meant", period_unit_name(unit));
		*ret_part = part;
		return;
	}
	period_set_unit(&part, first ? whole->from : period_add_units(whole->to, unit, -1), unit,
			1);
	*ret_part = part;
}

static struct date add_years(struct date date, int years)
{
	return date_add_months(date, 12 * years);
}

static void shift_years(struct period *period, int years)
{
	enum period_unit unit = period->unit;

	period_set_unit(period, add_years(period->from, years), unit, period->units);
}

void period_settle_years(struct period *from, struct period *to)
{
	if (from->year_implied && !to->year_implied)
		shift_years(from, to->from.year - from->from.year);
	else if (to->year_implied && !from->year_implied)
		shift_years(to, from->from.year - to->from.year);
	if (from->year_implied && date_compare(from->from, to->from) > 0)
		shift_years(from, -1);
	else if (to->year_implied && date_compare(from->from, to->from) > 0)
		shift_years(to, 1);
}

bool period_before(const struct period *period, struct period *ret_before)
{
	struct period before = {0};

	if (!period->has_from || !period->has_to)
		return false;
	if (period->unit != UNIT_NONE) {
		period_set_unit(&before,
				period_add_units(period->from, period->unit, -period->units),
				period->unit, period->units);
	} else {
		before.has_from = true;
		before.has_to = true;
		before.to = period->from;
		before.from = date_add_days(period->from,
					    date_to_days(period->from) - date_to_days(period->to));
	}
	if (period->unit != UNIT_NONE && period->units == 1)
		snprintf(before.label, sizeof(before.label), "the %s before",
			 period_unit_name(period->unit));
	else if (period->unit != UNIT_NONE)
		snprintf(before.label, sizeof(before.label), "the %d %ss before", period->units,
			 period_unit_name(period->unit));
	else
		snprintf(before.label, sizeof(before.label), "the same number of days before");
	*ret_before = before;
	return true;
}

bool period_year_before(const struct period *period, struct period *ret_before)
{
	struct period before = *period;

	/* Weeks do not repeat by the calendar year. */
	if (!period->has_from || !period->has_to || period->unit == UNIT_WEEK)
		return false;
	before.from = add_years(period->from, -1);
	before.to = period->unit == UNIT_NONE || period->unit == UNIT_DAY
			    ? add_years(date_add_days(period->to, -1), -1)
			    : add_years(period->to, -1);
	if (period->unit == UNIT_NONE || period->unit == UNIT_DAY)
		before.to = date_add_days(before.to, 1);
	before.note[0] = '\0';
	snprintf(before.label, sizeof(before.label), "the same period a year before");
	*ret_before = before;
	return true;
}
