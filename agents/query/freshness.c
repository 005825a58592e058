/*
 * How far the data reach, asked when it matters: nothing came of a period, or the period is not
 * over. "No sales next month" and "no sales recorded yet" are different answers. One more call, if
 * the agent has one left; whatever becomes of it, the result stands.
 */
#include "agents/query/freshness.h"

#include <string.h>

#include "agents/query/agent_internal.h"

/* Is every measured value missing or zero, or is there no row at all? */
static bool says_nothing(const struct query_agent *agent)
{
	size_t first = 0;

	for (size_t i = 0; i < agent->compiled->column_count; i++)
		first += agent->compiled->columns[i].role == COLUMN_DIMENSION;
	json_each(row, json_get(agent->outcome.result, "rows"))
	{
		size_t at = 0;

		json_each(value, row)
		{
			bool nothing = json_is_null(value) ||
				       (!json_str(value) && json_real(value) == 0.0);

			if (at++ >= first && !nothing)
				return false;
		}
	}
	return true;
}

static bool not_over(const struct query_agent *agent)
{
	char today[DATE_LEN + 1];

	date_write(agent->today, today);
	return strcmp(agent->plan->query->period.to, today) > 0;
}

static bool due(const struct query_agent *agent)
{
	const struct compiled_query *compiled = agent->compiled;

	return !agent->seeded_attempt && agent->verified == NULL && compiled != NULL &&
	       compiled->freshness != NULL && agent->plan != NULL && agent->plan->query != NULL &&
	       agent->plan->query->period.set && turn_calls_left(agent->turn) > 0 &&
	       (says_nothing(agent) || not_over(agent));
}

static void say(struct query_agent *agent, const char *until)
{
	const struct query_period *period = &agent->plan->query->period;
	bool before = period->from[0] && strncmp(until, period->from, DATE_LEN) < 0;
	CLEANUP(mem_freep)
	char *text = before ? mem_format("Nothing is recorded for this period: the data end on "
					 "%s, before it begins.",
					 until)
			    : mem_format("The data reach to %s.", until);

	agent_flag(agent, before ? "data.ends_before" : "data.until", before ? "warning" : "note",
		   text);
}

static void on_until(void *owner, const struct json *result, const struct tool_error *error)
{
	struct query_agent *agent = owner;
	const char *until = json_str(json_at(json_at(json_get(result, "rows"), 0), 0));

	if (error == NULL && until != NULL)
		say(agent, until);
	agent_complete(agent);
}

bool freshness_begin(struct query_agent *agent)
{
	struct json *args;

	if (!due(agent))
		return false;
	agent_move(agent, AGENT_COUNT);
	args = agent_arguments(agent);
	json_set_str(args, "sql", agent->compiled->freshness);
	json_set_int(args, "rows", 1);
	turn_call(agent->turn, "run_query", args, agent->compiled->freshness, on_until);
	return true;
}
