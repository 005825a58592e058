/*
 * Questions to a view (policy_view() in policy/policy.h): what one agent may see of one database.
 * Pure. Names of tables and columns compare without regard to ASCII case, as the databases do.
 */
#ifndef BROKER_VIEW_H
#define BROKER_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"

bool name_equal(const char *a, size_t a_len, const char *b, size_t b_len);

/* The table as the view spells it, or NULL when it is not to be seen. */
const char *view_table(const struct json *view, const char *table);
bool view_column(const struct json *view, const char *table, size_t table_len, const char *column);

/*
 * A semantic model less what the view hides: elements with a "table" that is hidden, or with
 * "reads" of which one "table.column" is hidden, are left out at any depth, and so are keys over
 * hidden columns, and elements with "sql" but without "reads". Where rows are kept
 * back, so are the values that metrics are expected to have. The caller owns the result.
 */
struct json *view_filter_model(const struct json *view, const struct json *model);

#endif
