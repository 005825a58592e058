/*
 * How often someone may do a thing: `burst` at once, then one each `each_us`. Pure: the time is an
 * argument. A clock that is set back costs at most the time it takes to earn a whole burst again.
 */
#ifndef BROKER_RATE_H
#define BROKER_RATE_H

#include <stdbool.h>
#include <stdint.h>

struct rate {
	int64_t earned_us; /* when everything taken so far will have been earned; 0 at first */
};

struct rate_limit {
	int64_t each_us;
	int64_t burst; /* at least 1 */
};

/* Takes one if that is within the limit. */
bool rate_take(struct rate *rate, const struct rate_limit *limit, int64_t now_us);
/* Nothing is owed: as good as a new one. */
bool rate_rested(const struct rate *rate, int64_t now_us);

#endif
