/* What period.c (ranges) and period_point.c (single days and calendar units) share. */
#ifndef AGENTS_QUERY_PERIOD_READER_H
#define AGENTS_QUERY_PERIOD_READER_H

#include "agents/query/period.h"

struct reader {
	const struct sentence *sentence;
	const struct period_rules *rules;
};

/* Words used from `at` on; 0: no such phrase there. */
typedef size_t read_fn(const struct reader *reader, size_t at, struct period *period);

const struct word *reader_word(const struct reader *reader, size_t at); /* empty beyond the end */
bool reader_is(const struct reader *reader, size_t at, const char *text);
void period_mistake(struct period *period, const char *text, const char *detail);
/* A day, a month, "last quarter", "the year 2025". */
size_t reader_point(const struct reader *reader, size_t at, struct period *period);

#endif
