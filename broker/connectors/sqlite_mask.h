/*
 * The functions that the inner views of restricted tables use, and nobody else can: the guard lets
 * them through only where such a view calls them.
 *
 *   writ_bound(i)    the i-th value of the view's conditions
 *   writ_last4(x)    "****1234"; a text of fewer than 8 characters becomes "****"
 *   writ_redact(x)   "[redacted]"
 *   writ_hash(x)     16 hex digits of BLAKE2b (RFC 7693) of the value under the view's mask key:
 *                    equal values have equal hashes, and without the key none can be guessed
 *
 * NULL stays NULL. An integer and the text of its digits have one hash.
 */
#ifndef BROKER_CONNECTORS_SQLITE_MASK_H
#define BROKER_CONNECTORS_SQLITE_MASK_H

#include <stdbool.h>

#include <sqlite3.h>

#include "broker/connectors/sqlite_restrict.h"

/* *values is read at each call and may change between statements; NULL binds nothing. Returns
 * SQLite's code. */
int mask_functions_add(sqlite3 *sqlite, const struct bound_values *const *values);
bool mask_function_is(const char *name);

#endif
