/* The words for things, and which things can be spoken of. Texts are kept by the world. */
#ifndef TESTS_RANDOM_WORDING_H
#define TESTS_RANDOM_WORDING_H

#include "tests/lib/random/world.h"

#define SPOTS_MAX 16

const char *noun_of_rows(struct world *world, size_t table);
const char *noun_of_field(struct world *world, struct spot spot);
const char *noun_of_metric(struct world *world, const struct metric *metric);
/* As noun_of_field(), or what the rows are called where the column names them. */
const char *noun_of_group(struct world *world, struct spot spot);

/* Columns of the role that rows of table lead to and anyone may see; at most SPOTS_MAX. */
size_t spots_of(const struct world *world, size_t table, enum world_role role, struct spot *ret);
bool spot_same(struct spot a, struct spot b);
/* A value that stands in the column, and in no other one. */
const char *stored_value(struct world *world, struct spot spot);
/* How people say it: as it is, in small letters, or by its other name. */
const char *spoken_value(struct world *world, struct spot spot, const char *value);

void say(struct buf *text, const char *words); /* with a blank before */
const char *without_preposition(const char *phrase);

#endif
