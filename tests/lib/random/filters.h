/* Which rows a question is about. */
#ifndef TESTS_RANDOM_FILTERS_H
#define TESTS_RANDOM_FILTERS_H

#include "tests/lib/random/world.h"

/* A column to group by or filter on that plays no part in the question yet. */
bool spot_free(struct world *world, const struct ask *ask, bool named, struct spot *ret_spot);
void say_filter(struct world *world, struct ask *ask, struct buf *text);
/* None, one or two of them. */
void say_filters(struct world *world, struct ask *ask, struct buf *text, uint32_t percent);

#endif
