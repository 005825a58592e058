/* The generic cell rate algorithm (ITU-T I.371, virtual scheduling). Cannot fail. */
#include "broker/rate.h"

bool rate_take(struct rate *rate, const struct rate_limit *limit, int64_t now_us)
{
	int64_t debt_max = limit->burst * limit->each_us;
	int64_t debt = rate->earned_us - now_us;

	if (debt < 0)
		debt = 0;
	if (debt > debt_max) /* the clock was set back */
		debt = debt_max;
	rate->earned_us = now_us + debt;
	if (debt + limit->each_us > debt_max)
		return false;
	rate->earned_us += limit->each_us;
	return true;
}

bool rate_rested(const struct rate *rate, int64_t now_us)
{
	return rate->earned_us <= now_us;
}
