/* What the two files of the oracle share: groups of rows, and the values of a group. */
#ifndef TESTS_RANDOM_ORACLE_H
#define TESTS_RANDOM_ORACLE_H

#include "tests/lib/random/world.h"

struct tally {
	int64_t whole;
	double real;
	size_t values; /* that were not missing */
	size_t rows;
	int64_t *seen; /* distinct links; owned */
	size_t seen_count;
};

struct group {
	struct cell keys[2 * WORLD_DIMENSIONS + 2]; /* what tells groups apart */
	size_t key_count;
	struct cell shown[WORLD_DIMENSIONS];
	struct tally now;
	struct tally before; /* in the period compared with; or of the second metric */
};

struct value {
	bool missing;
	double number;
};

struct oracle {
	const struct world *world;
	const struct ask *ask;
	const struct metric *metric; /* whose value is worked out */
	size_t table;		     /* whose rows are counted */
	struct group *groups;
	size_t group_count;
	bool unsure; /* a value lies where rounding could go either way */
};

/* oracle_value.c */
void tally_add(const struct oracle *oracle, size_t row, const struct metric *metric,
	       struct tally *tally);
/* Before scaling. zero: nothing in a period that is compared is a sum of 0. */
struct value tally_value(const struct metric *metric, const struct tally *tally, bool zero);
struct value value_none(void);
struct value value_of(double number);
/* As it is shown; oracle->metric says in which unit. */
struct value value_scaled(struct oracle *oracle, struct value raw);
struct json *value_json(const struct oracle *oracle, struct value value, bool plain);
struct json *group_json(struct oracle *oracle, const struct group *group);

#endif
