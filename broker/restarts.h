/* What the supervisor tells of programs that ended unasked, or were ended because they hung: the
 * newest few, for status. */
#ifndef BROKER_RESTARTS_H
#define BROKER_RESTARTS_H

#include <stddef.h>
#include <stdint.h>

#include "base/json.h"

#define RESTARTS_MAX 16

struct restart {
	int64_t at_us;
	char program[65];
	char why[160];
};

struct restarts {
	struct restart items[RESTARTS_MAX]; /* oldest first */
	size_t count;
};

/* message: {"ended":"<program>","why":"..."}; longer texts are cut. */
void restarts_add(struct restarts *restarts, int64_t now_us, const struct json *message);
/* [{"program","at","why"}], oldest first. */
struct json *restarts_status(const struct restarts *restarts);

#endif
