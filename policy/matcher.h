/*
 * A constraint (policy/constraint.h) made ready for fast testing: matcher_passes() answers exactly
 * what constraint_check() does. matcher_clear() says whether the value is of a type that the
 * constraint speaks of: a rule that takes away on "amount over 100" cannot tell what "lots" is.
 */
#ifndef POLICY_MATCHER_H
#define POLICY_MATCHER_H

#include <stdbool.h>

#include "base/err.h"
#include "base/json.h"

struct matcher;

/* constraint must be valid and outlive the matcher. */
struct matcher *matcher_new(const struct json *constraint);
void matcher_free(struct matcher *matcher);

bool matcher_passes(const struct matcher *matcher, const struct json *value);
bool matcher_clear(const struct matcher *matcher, const struct json *value);

#endif
