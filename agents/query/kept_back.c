/*
 * What policy kept back of an answer, told with it: a sum over a part of the rows looks like any
 * other sum. What is kept back is not told, only that something is.
 */
#include <inttypes.h>

#include "agents/query/agent_internal.h"

static char *listed(const struct json *names)
{
	struct buf text = BUF_INIT;
	size_t left = json_len(names);

	json_each(name, names)
	{
		buf_add_str(&text, json_str(name) ? json_str(name) : "");
		left--;
		buf_add_str(&text, left > 1 ? ", " : left == 1 ? " and " : "");
	}
	return buf_take(&text);
}

static void flag_rows(struct query_agent *agent, const struct json *tables)
{
	CLEANUP(mem_freep) char *names = listed(tables);
	CLEANUP(mem_freep)
	char *message = mem_format("Only those rows of %s are counted that you may see.", names);

	if (json_len(tables) > 0)
		agent_flag(agent, "policy.rows", "warning", message);
}

static void flag_masks(struct query_agent *agent, const struct json *columns)
{
	CLEANUP(mem_freep) char *names = listed(columns);
	CLEANUP(mem_freep)
	char *message = mem_format("Values of %s are shown changed, as policy says.", names);

	if (json_len(columns) > 0)
		agent_flag(agent, "policy.masks", "note", message);
}

void kept_back_tell(struct query_agent *agent)
{
	const struct json *result = agent->outcome.result;
	const struct json *restricted = json_get(result, "restricted");
	int64_t groups = json_get_int(result, "suppressed_groups", 0);
	CLEANUP(mem_freep) char *message = NULL;

	flag_rows(agent, json_get(restricted, "rows"));
	flag_masks(agent, json_get(restricted, "masks"));
	if (groups == 0)
		return;
	message = mem_format("%" PRId64 " group%s left out: fewer than %" PRId64 " in %s.", groups,
			     groups == 1 ? " is" : "s are", json_get_int(result, "min_group", 0),
			     groups == 1 ? "it" : "each");
	agent_flag(agent, "policy.groups", "warning", message);
}
