/* Reading CSV (RFC 4180): fields in quotes may hold commas, quotes (doubled) and line feeds. */
#ifndef CLI_EVAL_CSV_H
#define CLI_EVAL_CSV_H

#include "base/err.h"
#include "base/json.h"

/* An array of rows, each an array of texts; empty lines are left out. ERR_INVALID names the line.
 */
MUST_CHECK int csv_read(const char *text, struct json **ret_rows, struct err *err);

#endif
