/* Calendar arithmetic behind period.c: whole units, their parts and their neighbours. Pure. */
#ifndef AGENTS_QUERY_PERIOD_UNIT_H
#define AGENTS_QUERY_PERIOD_UNIT_H

#include "agents/query/period.h"

/* The first day of the unit that holds date. year_start: month in which years begin (1-12). */
struct date period_unit_start(struct date date, enum period_unit unit, int year_start);
struct date period_add_units(struct date start, enum period_unit unit, int units);
void period_set_unit(struct period *period, struct date from, enum period_unit unit, int units);
/* The first or last unit inside whole; a mistake when whole does not consist of such units. */
void period_part(const struct period *whole, enum period_unit unit, bool first,
		 struct period *ret_part);
/* "from March to June 2026": a year said once counts for both ends. */
void period_settle_years(struct period *from, struct period *to);

#endif
