/* One cell of a result as text. */
#ifndef CLI_VALUE_H
#define CLI_VALUE_H

#include "base/json.h"

/* The caller frees. Numbers with a unit get its usual places (USD 2), reals without one at most six
 * digits behind the point; NULL is "-"; a blob says how long it is. */
char *value_text(const struct json *value, const char *unit);
/* "12.0 KiB", "1.5 MiB"; binary units, as scope files write them. The caller frees. */
char *bytes_text(int64_t bytes);

#endif
