/* How a query agent ends: one outcome, handed over once, then everything is freed. */
#include <inttypes.h>
#include <string.h>

#include "agents/query/agent_internal.h"
#include "base/log.h"

static const char *const state_names[] = {
	[AGENT_TOKEN] = "token",   [AGENT_GROUND] = "ground", [AGENT_VERIFY] = "verify",
	[AGENT_VALUES] = "values", [AGENT_PLAN] = "plan",     [AGENT_LOOKUP] = "lookup",
	[AGENT_CHECK] = "check",   [AGENT_RUN] = "run",	      [AGENT_SANITY] = "sanity",
	[AGENT_COUNT] = "count",   [AGENT_REPAIR] = "repair", [AGENT_DONE] = "done",
};

#define TO(state) (1u << (state))

/* Where each state may lead; DONE is reachable from everywhere. */
static const unsigned moves[] = {
	[AGENT_TOKEN] = TO(AGENT_GROUND),
	[AGENT_GROUND] = TO(AGENT_VALUES) | TO(AGENT_VERIFY),
	[AGENT_VERIFY] = TO(AGENT_VALUES) | TO(AGENT_RUN),
	[AGENT_VALUES] = TO(AGENT_PLAN),
	[AGENT_PLAN] = TO(AGENT_LOOKUP) | TO(AGENT_CHECK) | TO(AGENT_RUN),
	[AGENT_LOOKUP] = TO(AGENT_PLAN),
	[AGENT_CHECK] = TO(AGENT_RUN) | TO(AGENT_REPAIR),
	[AGENT_RUN] = TO(AGENT_SANITY) | TO(AGENT_REPAIR) | TO(AGENT_VALUES),
	[AGENT_SANITY] = TO(AGENT_COUNT) | TO(AGENT_REPAIR),
	[AGENT_REPAIR] = TO(AGENT_PLAN),
	[AGENT_COUNT] = TO(AGENT_COUNT), /* a tie, then how far the data reach */
	[AGENT_DONE] = 0,
};

void agent_move(struct query_agent *agent, enum agent_state state)
{
	if (state != AGENT_DONE && (moves[agent->state] & TO(state)) == 0)
		log_error("query agent: %s -> %s is no move", state_names[agent->state],
			  state_names[state]);
	log_debug("query agent: %s -> %s", state_names[agent->state], state_names[state]);
	agent->state = state;
}

void agent_free(struct query_agent *agent)
{
	struct query_outcome *outcome = &agent->outcome;

	turn_close(agent->turn);
	json_free(agent->handoff);
	json_free(agent->choices);
	mem_free(agent->first_sql);
	json_free(agent->model_json);
	model_free(agent->model);
	json_free(agent->matches);
	json_free(agent->lookups);
	metric_query_free(agent->previous);
	plan_free(agent->plan);
	compiled_query_free(agent->compiled);
	json_free(agent->tables);
	json_free(agent->metrics);
	json_free(agent->asked);
	mem_free(agent->period_column);
	json_free(agent->verified);
	mem_free(agent->passed_over);
	mem_free(agent->reason);
	mem_free(agent->hint);
	mem_free(agent->sql);
	json_free(outcome->question);
	json_free(outcome->result);
	json_free(outcome->columns);
	json_free(outcome->words);
	json_free(outcome->definitions);
	json_free(outcome->period);
	json_free(outcome->query);
	json_free(outcome->plan);
	json_free(outcome->attempts);
	json_free(outcome->flags);
	mem_free(agent);
}

void agent_flag(struct query_agent *agent, const char *code, const char *severity,
		const char *message)
{
	struct json *flag = json_object();

	json_set_str(flag, "code", code);
	json_set_str(flag, "severity", severity);
	json_set_str(flag, "message", message);
	json_push(agent->outcome.flags, flag);
}

void agent_end(struct query_agent *agent, const char *status, const char *reason, const char *hint)
{
	struct query_outcome *outcome = &agent->outcome;

	if (agent->state == AGENT_DONE)
		return;
	agent_move(agent, AGENT_DONE);
	agent->reason = mem_str(reason);
	agent->hint = mem_str(hint);
	outcome->status = status;
	outcome->reason = agent->reason;
	outcome->hint = agent->hint;
	outcome->sql = outcome->result != NULL || outcome->attempts != NULL ? agent->sql : NULL;
	outcome->seeded = agent->first_sql != NULL;
	outcome->tool_calls = turn_calls_made(agent->turn);
	outcome->bytes_scanned = turn_scanned(agent->turn);
	outcome->jti = turn_jti(agent->turn);
	if (outcome->seeded)
		agent_flag(agent, "seeded", "note",
			   "The first query of this task was injected, not planned.");
	agent->done(agent->data, outcome);
	agent_free(agent);
}

/* Which task state a failed call leads to, by who rejected it. */
static const char *status_of(const char *by)
{
	static const struct {
		const char *by;
		const char *status;
	} map[] = {{"limit", "too_expensive"}, {"policy", "refused"}, {"budget", "limit_reached"}};

	for (size_t i = 0; i < ARRAY_LEN(map); i++)
		if (strcmp(map[i].by, by) == 0)
			return map[i].status;
	return strcmp(by, "canceled") == 0 ? "cancelled" : "failed";
}

void agent_end_error(struct query_agent *agent, const struct tool_error *error)
{
	CLEANUP(mem_freep) char *approval = mem_str(error->approval);
	const char *status = status_of(error->by);
	CLEANUP(mem_freep) char *text = mem_str(error->text);
	CLEANUP(mem_freep)
	char *hint = approval != NULL
			     ? mem_format("someone the rule names says yes with: writ approval "
					  "give %s; then: writ task answer and this task's id",
					  approval)
		     : strcmp(status, "too_expensive") == 0 && agent->plan != NULL &&
				     agent->plan->query != NULL
			     ? attempt_narrower(agent)
			     : mem_str(error->hint);

	agent->outcome.approval = approval;
	agent_end(agent, approval != NULL ? "needs_approval" : status, text, hint);
}
