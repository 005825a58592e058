/* A value of the database as JSON: docs/protocol.md, "RESULT". */
#ifndef BROKER_CONNECTORS_SQLITE_VALUE_H
#define BROKER_CONNECTORS_SQLITE_VALUE_H

#include <stddef.h>

#include <sqlite3.h>

#include "base/json.h"

/* integer, real, text, blob, null, bigint (beyond +-(2^53-1), a string); *ret_type names it. Text
 * that is not UTF-8, or holds a NUL, comes as a blob; infinities as text. text_max 0 is no bound,
 * otherwise longer text and blobs are cut there ("..." behind the text). */
struct json *value_json(sqlite3_stmt *row, int index, size_t text_max, const char **ret_type);

#endif
