/*
 * Phrases of time in a question, as half-open ranges of civil dates.
 *
 * Bounds follow from an injected today, once, here; nothing is left to the database's clock.
 *   this / last / previous UNIT    whole calendar units; weeks begin on Monday (ISO 8601)
 *   last N UNITs                   the N complete units before the current one; "last 7 days" are
 *                                  the 7 full days before today
 *   a month or quarter, no year    the latest one that has begun
 *   A to B, between A and B        both ends included, however the data is stored
 *   since A                        from the first day of A through today
 *   before A, after A              open on the far side
 * Pure. What cannot be meant ("2026-02-30") comes back as a mistake in words, never as a guess.
 */
#ifndef AGENTS_QUERY_PERIOD_H
#define AGENTS_QUERY_PERIOD_H

#include "agents/query/sentence.h"
#include "base/clock.h"

enum period_unit {
	UNIT_NONE,
	UNIT_DAY,
	UNIT_WEEK,
	UNIT_MONTH,
	UNIT_QUARTER,
	UNIT_YEAR,
	UNIT_WEEKDAY, /* from here on only to group by; never a stretch of time */
	UNIT_FISCAL_QUARTER,
	UNIT_FISCAL_YEAR
};

struct period {
	bool all; /* "all time": no bounds, on purpose */
	bool has_from;
	bool has_to;
	struct date from;      /* inclusive */
	struct date to;	       /* exclusive */
	enum period_unit unit; /* whole units; UNIT_NONE for a free range */
	int units;
	bool year_implied; /* the year was not said */
	bool preceding;	   /* said as "the previous UNIT": in a comparison, before the other one */
	char label[96];	   /* the words, without preposition: "last quarter" */
	char note[128];	   /* how they were read, when another reading exists; or "" */
	char mistake[128]; /* not "": what is wrong with the phrase; the bounds are not set */
};

struct period_rules {
	struct date today;
	int fiscal_start; /* month in which the fiscal year begins; 0: none is defined */
	bool ranges;	  /* join "from A to B" to one range; else A and B stand alone */
};

/* How many words from `at` on are a phrase of time (a preposition before it included); 0: none. */
size_t period_read(const struct sentence *sentence, size_t at, const struct period_rules *rules,
		   struct period *ret_period);

/* The period of equal length that ends where this one begins; false without both bounds. */
bool period_before(const struct period *period, struct period *ret_before);
/* The same dates one year earlier. */
bool period_year_before(const struct period *period, struct period *ret_before);

/* day, week, month, quarter, year (and plurals, "monthly"); UNIT_NONE otherwise. */
enum period_unit period_unit_of(const struct word *word);
const char *period_unit_name(enum period_unit unit);

#endif
