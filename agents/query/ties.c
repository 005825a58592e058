/*
 * One more call for lists that were asked to be cut, if the agent has one left; whatever becomes of
 * it, the result stands. What can fail: the call; then nothing is said.
 */
#include "agents/query/ties.h"

#include <inttypes.h>
#include <string.h>

#include "agents/query/agent_internal.h"
#include "agents/query/freshness.h"
#include "writ/limits.h"

#define NAMED_MAX 3

/* What tells the row from others: "East, 2026-07". */
static void add_name(const struct json *row, const struct compiled_query *compiled, struct buf *out)
{
	size_t count = 0;

	for (size_t i = 0; i < compiled->column_count; i++) {
		CLEANUP(buf_clear) struct buf value = BUF_INIT;
		const struct json *cell = json_at(row, i);

		if (compiled->columns[i].role != COLUMN_DIMENSION)
			continue;
		if (json_str(cell))
			buf_add_str(&value, json_str(cell));
		else if (json_is_null(cell))
			buf_add_str(&value, "missing");
		else
			json_write(cell, &value);
		buf_addf(out, "%s%s", count++ > 0 ? " / " : "", buf_str(&value));
	}
}

char *ties_text(const struct json *rows, size_t shown, const struct compiled_query *compiled,
		size_t column)
{
	const struct json *last = shown > 0 ? json_at(rows, shown - 1) : NULL;
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	size_t equal = 0;

	for (size_t i = shown; last && i < json_len(rows); i++) {
		const struct json *row = json_at(rows, i);

		if (!json_equal(json_at(row, column), json_at(last, column)))
			break;
		if (equal < NAMED_MAX) {
			buf_add_str(&text, equal > 0 ? ", " : "");
			add_name(row, compiled, &text);
		}
		equal++;
	}
	if (equal == 0)
		return NULL;
	if (equal > NAMED_MAX)
		buf_addf(&text, " and %s%zu more", equal >= TIES_MORE ? "at least " : "",
			 equal - NAMED_MAX);
	buf_addf(&text,
		 ": the same %s as the last one shown. The cut falls between equals, and which of "
		 "them is shown says nothing.",
		 compiled->columns[column].label);
	return buf_take(&text);
}

/* The column that the query is ordered by; false when by a dimension, whose values all differ. */
static bool ordered_by(const struct query_agent *agent, size_t *ret_column)
{
	const struct metric_query *query = agent->plan->query;
	const struct compiled_query *compiled = agent->compiled;
	const char *by = query->order_count > 0 ? query->order[0].by : query->metrics[0];

	for (size_t i = 0; i < compiled->column_count; i++) {
		const struct column_info *column = &compiled->columns[i];
		const char *called = column->role == COLUMN_METRIC ? column->metric
								   : column_role_name(column->role);

		if (column->role == COLUMN_DIMENSION || !called || strcmp(called, by) != 0)
			continue;
		*ret_column = i;
		return true;
	}
	return false;
}

static bool due(const struct query_agent *agent, size_t *ret_column)
{
	const struct metric_query *query;

	if (agent->seeded_attempt || agent->verified != NULL || agent->compiled == NULL ||
	    agent->plan == NULL || agent->plan->query == NULL || agent->plan->column != NULL)
		return false;
	query = agent->plan->query;
	return query->limit > 0 && query->limit + TIES_MORE <= WRIT_ROWS_MAX &&
	       query->metric_count > 0 && query->dimension_count > 0 &&
	       json_get_int(agent->outcome.result, "row_count", 0) == query->limit &&
	       turn_calls_left(agent->turn) > 0 &&
	       agent->attempt + agent->lookup_count < turn_attempts_left(agent->turn) &&
	       ordered_by(agent, ret_column);
}

static void on_more(void *owner, const struct json *result, const struct tool_error *error)
{
	struct query_agent *agent = owner;
	size_t column = 0;
	CLEANUP(mem_freep) char *text = NULL;

	if (error == NULL && ordered_by(agent, &column))
		text = ties_text(json_get(result, "rows"), (size_t)agent->plan->query->limit,
				 agent->compiled, column);
	if (text != NULL)
		agent_flag(agent, "result.tie", "warning", text);
	if (!freshness_begin(agent))
		agent_complete(agent);
}

bool ties_begin(struct query_agent *agent)
{
	CLEANUP(metric_query_freep) struct metric_query *more = NULL;
	CLEANUP(compiled_query_freep) struct compiled_query *compiled = NULL;
	struct json *args;
	struct err ignored;
	size_t column = 0;

	if (!due(agent, &column))
		return false;
	more = metric_query_copy(agent->plan->query);
	more->limit += TIES_MORE;
	if (metric_query_compile(more, agent->model, &compiled, &ignored) < 0)
		return false;
	agent_move(agent, AGENT_COUNT);
	args = agent_arguments(agent);
	json_set_str(args, "sql", compiled->sql);
	json_set_int(args, "rows", more->limit);
	turn_call(agent->turn, "run_query", args, compiled->sql, on_more);
	return true;
}
