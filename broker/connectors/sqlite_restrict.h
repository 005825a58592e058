/*
 * Restrictions of a view: which rows of a table count, which columns are shown changed, and which
 * tables are shown in groups only. As a view states them (docs/protocol.md, "connector"):
 *
 *   "rows":    {"orders":[{"column":"region","constraint_type":"one_of","values":["EMEA"]}]}
 *   "masks":   {"customers":{"email":"hash"}}, with "mask_key": 64 hex digits for "hash"
 *   "require": {"staff":{"min_group":5,"of":"staff_id"}}
 *
 * Conditions of one table hold together (AND). Values are integers and strings; they are bound, and
 * compare as the column itself compares. A table that stands twice, in other spellings, has both
 * restrictions: the stricter mask, the larger group. A condition on a column that the table does not have
 * leaves no row: doubt shows nothing.
 */
#ifndef BROKER_CONNECTORS_SQLITE_RESTRICT_H
#define BROKER_CONNECTORS_SQLITE_RESTRICT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "broker/connectors/sqlite_catalog.h"

#define MASK_KEY_LEN 32
#define MASK_SHOWN 4 /* "last4": so many characters stay */

enum mask { MASK_NONE, MASK_LAST4, MASK_HASH, MASK_REDACT, MASK_NULL }; /* stricter last */

enum row_test { ROW_NEVER, ROW_ONE_OF, ROW_NOT_ONE_OF, ROW_RANGE };

struct row_condition {
	enum row_test test;
	size_t column;
	size_t first_value; /* in bound_values; a range has its bounds there, lower one first */
	size_t value_count;
	bool has_min, has_max, min_open, max_open;
	bool no_text; /* a range from a number upwards holds numbers only */
};

struct restriction { /* of one table */
	struct row_condition *conditions;
	size_t condition_count;
	enum mask *masks;  /* one per column; NULL when none is changed */
	int64_t min_group; /* 0: rows may be shown one by one */
	size_t unit;	   /* the column that tells apart what a group must hold so many of */
};

struct bound_values {
	struct json *values; /* an array; borrowed by the functions of sqlite_mask.h */
	uint8_t mask_key[MASK_KEY_LEN];
	bool has_mask_key;
};

/* One entry per table of the catalog; NULL where nothing is restricted. Strict: an unknown shape,
 * an unknown mask and a hash without a key are errors. Tables that the catalog does not have are
 * skipped. */
MUST_CHECK int restrictions_read(const struct json *view, const struct catalog *catalog,
				 struct restriction ***ret_restrictions,
				 struct bound_values *ret_values, struct err *err);
void restrictions_free(struct restriction **restrictions, const struct catalog *catalog);
void bound_values_clear(struct bound_values *values);

const char *mask_name(enum mask mask); /* "hash", ... */

#endif
