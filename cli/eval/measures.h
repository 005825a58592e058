/* What a run of a suite shows beside right and wrong: warnings against labels, repairs, cost. Pure.
 */
#ifndef CLI_EVAL_MEASURES_H
#define CLI_EVAL_MEASURES_H

#include <stddef.h>

#include "base/json.h"

#define MEASURES_ATTEMPTS_MAX 8

struct measures {
	/* Of cases that say which flags are right: those given and right, those given, those right.
	 * Notes are not held against a case, but count where they are asked for. */
	size_t labelled, flags_hit, flags_given, flags_wanted;
	/* Per attempt: how many cases came to it, and how many it led to a result. */
	size_t tried[MEASURES_ATTEMPTS_MAX], ended_well[MEASURES_ATTEMPTS_MAX];
	size_t attempts; /* the most that any case needed */
	double cost;
	const char *currency; /* borrowed from the run; NULL when nothing has a price */
};

struct measures measures_of(const struct json *run);

#endif
