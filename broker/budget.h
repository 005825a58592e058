/*
 * What one agent may spend in one task (per_task of its scope file). Everything is taken before the
 * call runs; what a call did not scan is given back.
 */
#ifndef BROKER_BUDGET_H
#define BROKER_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/policy.h"

struct budget_use {
	int64_t tool_calls;
	int64_t tool_errors;
	int64_t attempts;
	int64_t scan_bytes; /* read, and set aside by running calls */
};

enum budget_part {
	BUDGET_FINE,
	BUDGET_TOOL_CALLS,
	BUDGET_TOOL_ERRORS,
	BUDGET_ATTEMPTS,
	BUDGET_SCAN
};

/* Takes one call, and one attempt if it is one; or takes nothing and says what is used up.
 * So many errors as the budget names are borne; one more and no call starts. */
enum budget_part budget_take_call(struct budget_use *use, const struct task_budget *budget,
				  bool attempt);
void budget_count_error(struct budget_use *use);

/* Sets aside up to want bytes; the result is what was set aside, 0 when nothing is left. */
int64_t budget_take_scan(struct budget_use *use, const struct task_budget *budget, int64_t want);
/* The call is over: of taken bytes it scanned so many. */
void budget_settle_scan(struct budget_use *use, int64_t taken, int64_t scanned);

int64_t budget_left(int64_t limit, int64_t used); /* never below 0 */

const char *budget_part_code(enum budget_part part);	 /* "budget_attempts" */
const char *budget_part_sentence(enum budget_part part); /* for the agent */

#endif
