/*
 * Constraints on one argument, after the core types of draft-niyikiza-oauth-attenuating-agent-
 * tokens-01: exact, range, one_of, not_one_of, contains, subset, wildcard, all, any.
 *
 * Fixed here where the draft is open: numbers are integers; strings compare byte for byte; "1" is
 * not 1; values are strings, integers or booleans; a list holds nothing twice; min above max and an
 * empty any are malformed; one_of [] matches nothing. An unknown type or member is malformed.
 */
#ifndef POLICY_CONSTRAINT_H
#define POLICY_CONSTRAINT_H

#include <stdbool.h>

#include "base/err.h"
#include "base/json.h"

/* Adds the constraint and all inside it to *count, and refuses more than max. */
MUST_CHECK int constraint_valid(const struct json *constraint, size_t max, size_t *count,
				struct err *err);
/* Both take valid constraints only. */
bool constraint_check(const struct json *constraint, const struct json *value);
/* True only if every value that passes child passes parent; pairs not in the table are refused. */
bool constraint_subsumes(const struct json *parent, const struct json *child);

#endif
