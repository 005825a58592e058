/*
 * Plain counting, without I/O or clock. The broker, not the agent, holds the counters, and they
 * belong to the agent's name within its task: starting the same agent again does not refill them.
 */
#include "broker/budget.h"

static const struct {
	const char *code;
	const char *sentence;
} parts[] = {
	[BUDGET_FINE] = {"", ""},
	[BUDGET_TOOL_CALLS] = {"budget_tool_calls", "all tool calls of this task are used up"},
	[BUDGET_TOOL_ERRORS] = {"budget_tool_errors", "too many tool errors in this task"},
	[BUDGET_ATTEMPTS] = {"budget_attempts", "all query attempts of this task are used up"},
	[BUDGET_SCAN] = {"budget_scan", "this task may not scan any more bytes"},
};

enum budget_part budget_take_call(struct budget_use *use, const struct task_budget *budget,
				  bool attempt)
{
	if (use->tool_calls >= budget->tool_calls)
		return BUDGET_TOOL_CALLS;
	if (use->tool_errors > budget->tool_errors)
		return BUDGET_TOOL_ERRORS;
	if (attempt && use->attempts >= budget->attempts)
		return BUDGET_ATTEMPTS;
	use->tool_calls++;
	if (attempt)
		use->attempts++;
	return BUDGET_FINE;
}

void budget_count_error(struct budget_use *use)
{
	use->tool_errors++;
}

int64_t budget_left(int64_t limit, int64_t used)
{
	return used < limit ? limit - used : 0;
}

int64_t budget_take_scan(struct budget_use *use, const struct task_budget *budget, int64_t want)
{
	int64_t left = budget_left(budget->scan_bytes, use->scan_bytes);
	int64_t taken = want < left ? want : left;

	use->scan_bytes += taken;
	return taken;
}

void budget_settle_scan(struct budget_use *use, int64_t taken, int64_t scanned)
{
	use->scan_bytes += scanned - taken;
}

const char *budget_part_code(enum budget_part part)
{
	return parts[part].code;
}

const char *budget_part_sentence(enum budget_part part)
{
	return parts[part].sentence;
}
