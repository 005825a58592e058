/* Expressions in one canonical spelling: whether two statements compute the same. */
#ifndef AGENTS_QUERY_CHECK_CHECK_CANON_H
#define AGENTS_QUERY_CHECK_CHECK_CANON_H

#include "agents/query/check/check_internal.h"

struct canon {
	struct check_context *context;
	struct json *conditions; /* owned: texts of the conditions that were met on the way */
	int depth;
};

/* The caller owns the text. *ret_factor: what all of it is multiplied with. */
char *canon_write(struct canon *canon, const struct sql_select *select, const struct sql_expr *expr,
		  double *ret_factor);
/* The parts of a condition under AND, added to the conditions. */
void canon_conditions(struct canon *canon, const struct sql_select *select,
		      const struct sql_expr *condition);
void canon_clear(struct canon *canon);

#endif
