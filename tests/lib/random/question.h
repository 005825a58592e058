/* A question in the making: what is meant, and the words so far. */
#ifndef TESTS_RANDOM_QUESTION_H
#define TESTS_RANDOM_QUESTION_H

#include "tests/lib/random/world.h"

struct question {
	struct world *world;
	struct ask ask;
	struct buf text;
	const char *kind;
};

/* questions.c */
uint32_t question_roll(struct question *question, uint32_t n);
bool question_chance(struct question *question, uint32_t percent);
const struct metric *question_metric(struct question *question); /* any that may be seen */
bool question_timed(const struct question *question); /* can its metric be limited to a period? */
bool question_group_by(struct question *question);    /* one more dimension; false: none is left */
void question_say(struct question *question, const char *words);
void question_say_lead(struct question *question); /* "What was the" */
void question_say_metric(struct question *question);
void question_say_group(struct question *question); /* "by region" */
void question_say_period(struct question *question, uint32_t percent);

/* questions_compared.c: false when the dice fell badly. */
bool ask_compare(struct question *question);
bool ask_growth(struct question *question);
bool ask_share(struct question *question);
bool ask_average(struct question *question);

#endif
