/*
 * The query agent as a chain of calls: each step makes one tool call and names who takes its
 * answer. A step that starts a call, or ends the agent, is the last thing its caller does: the
 * agent may be gone when it returns. Here: token, grounding, planning; running.c goes on from a
 * compiled attempt. What can fail: any call, and each failure has one way out (ending.c).
 */
#include "agents/query/agent.h"

#include <string.h>
#include <unistd.h>

#include "agents/query/agent_internal.h"

#define MATCHES_MAX 50 /* what search_values gives at most */
#define LOOKUP_ROWS 50 /* names a person can still choose from */

static void plan(struct query_agent *agent);

/* Arguments of a call; with several sources each names its database. */
struct json *agent_arguments(const struct query_agent *agent)
{
	struct json *args = json_object();
	const char *database = json_get_str(json_get(agent->handoff, "context"), "database");

	if (database != NULL)
		json_set_str(args, "database", database);
	return args;
}

const char *agent_question(const struct query_agent *agent)
{
	const char *text = json_get_str(json_get(agent->handoff, "context"), "question");

	return text != NULL ? text : json_get_str(agent->handoff, "objective");
}

void agent_replan(struct query_agent *agent)
{
	agent_move(agent, AGENT_PLAN);
	plan(agent);
}

/* ---- planning ---- */

static void trace_plan(const struct query_agent *agent)
{
	const char *sentence = json_get_str(agent->compiled->words, "sentence");
	CLEANUP(json_freep) struct json *query = metric_query_to_json(agent->plan->query);

	turn_trace(agent->turn, "plan", sentence != NULL ? sentence : "a metric query", query);
}

static void add_notes(struct query_agent *agent)
{
	json_free(agent->outcome.flags);
	agent->outcome.flags = json_array();
	if (agent->seeded_attempt)
		return;
	if (agent->passed_over != NULL)
		agent_flag(agent, "query.passed_over", "note", agent->passed_over);
	json_each(note, agent->plan->notes) agent_flag(agent, json_get_str(note, "code"), "note",
						       json_get_str(note, "message"));
}

/* Attempt n + 1. An injected statement is always the first. */
static void attempt(struct query_agent *agent)
{
	struct err err = {0};

	agent->seeded_attempt = agent->first_sql != NULL && agent->attempt == 0;
	if (attempt_compile(agent, &err) < 0) {
		agent_end(agent, "refused", err.text, "Ask for one thing at a time.");
		return;
	}
	trace_plan(agent);
	if (agent->seeded_attempt) {
		mem_free(agent->sql);
		agent->sql = mem_str(agent->first_sql);
		turn_trace(agent->turn, "plan", "seeded: the first query is an injected one", NULL);
	}
	agent->attempt++;
	add_notes(agent);
	attempt_declare(agent);
	agent_check(agent);
}

static struct json *first_column(const struct json *result)
{
	struct json *names = json_array();

	json_each(row, json_get(result, "rows")) if (json_str(json_at(row, 0)) != NULL)
		json_push_str(names, json_str(json_at(row, 0)));
	return names;
}

static void on_lookup(void *owner, const struct json *result, const struct tool_error *error)
{
	struct query_agent *agent = owner;

	if (error != NULL) {
		agent_end_error(agent, error);
		return;
	}
	json_set(agent->lookups, agent->plan->lookup, first_column(result));
	agent_replan(agent);
}

static void lookup(struct query_agent *agent)
{
	struct json *args = NULL;
	struct err err = {0};

	if (agent->lookup_count++ == AGENT_LOOKUPS_MAX) {
		agent_end(agent, "failed",
			  "The question speaks of too many things without naming them.",
			  "Name the things that are meant.");
		return;
	}
	if (attempt_compile(agent, &err) < 0) {
		agent_end(agent, "refused", err.text, "Name the thing that is meant.");
		return;
	}
	agent_move(agent, AGENT_LOOKUP);
	args = agent_arguments(agent);
	json_set_str(args, "sql", agent->sql);
	json_set_int(args, "rows", LOOKUP_ROWS);
	turn_call(agent->turn, "run_query", args, agent->sql, on_lookup);
}

static void ask(struct query_agent *agent)
{
	agent->outcome.question = TAKE(agent->plan->question);
	turn_trace(agent->turn, "plan", json_get_str(agent->outcome.question, "text"),
		   agent->outcome.question);
	agent_end(agent, "needs_input", json_get_str(agent->outcome.question, "text"),
		  "Choose one value for each part.");
}

static void refuse(struct query_agent *agent)
{
	turn_trace(agent->turn, "plan", agent->plan->reason, NULL);
	agent_end(agent, "refused", agent->plan->reason, agent->plan->hint);
}

static void plan(struct query_agent *agent)
{
	const struct plan_input input = {
		.question = agent_question(agent),
		.model = agent->model,
		.matches = agent->matches,
		.choices = agent->choices,
		.lookups = agent->lookups,
		.previous = agent->previous,
		.today = agent->today,
		.distrust_column = agent->distrust_column,
	};
	struct plan *made = NULL;
	struct err err = {0};

	if (plan_make(&input, &made, &err) < 0) {
		agent_end(agent, "refused", err.text, "Ask in other words.");
		return;
	}
	plan_free(agent->plan);
	agent->plan = made;
	switch (made->kind) {
	case PLAN_QUERY:
		attempt(agent);
		return;
	case PLAN_LOOKUP:
		lookup(agent);
		return;
	case PLAN_ASK:
		ask(agent);
		return;
	case PLAN_REFUSE:
		refuse(agent);
		return;
	}
}

/* ---- grounding ---- */

static void on_values(void *owner, const struct json *result, const struct tool_error *error)
{
	struct query_agent *agent = owner;

	/* Without stored values the planner refuses words it cannot explain; that is enough. */
	if (error != NULL && strcmp(error->by, "policy") != 0) {
		agent_end_error(agent, error);
		return;
	}
	if (result != NULL && json_get(result, "matches") != NULL)
		agent->matches = json_copy(json_get(result, "matches"));
	agent_move(agent, AGENT_PLAN);
	plan(agent);
}

static void search_values(struct query_agent *agent)
{
	struct json *args = NULL;

	agent_move(agent, AGENT_VALUES);
	if (!turn_may(agent->turn, "search_values")) {
		agent_move(agent, AGENT_PLAN);
		plan(agent);
		return;
	}
	args = agent_arguments(agent);
	json_set_str(args, "text", agent_question(agent));
	json_set_int(args, "limit", MATCHES_MAX);
	turn_call(agent->turn, "search_values", args, agent_question(agent), on_values);
}

static void on_model(void *owner, const struct json *result, const struct tool_error *error)
{
	struct query_agent *agent = owner;
	struct err err = {0};

	if (error != NULL) {
		agent_end_error(agent, error);
		return;
	}
	if (json_get(result, "model") == NULL) {
		agent_end(agent, "refused", "No metrics are defined for this data.",
			  "Define metrics in metrics/*.yaml, then reload.");
		return;
	}
	agent->model_json = json_copy(json_get(result, "model"));
	if (model_from_json(agent->model_json, &agent->model, &err) < 0) {
		agent_end(agent, "failed", err.text, "Run writ metric check.");
		return;
	}
	if (!serve_begin(agent))
		search_values(agent);
}

void agent_plan_anew(struct query_agent *agent)
{
	search_values(agent);
}

/* Without one of these there is no way to an answer, whatever is asked. */
static const char *missing_tool(const struct query_agent *agent)
{
	static const char *const needed[] = {"list_metrics", "run_query"};

	for (size_t i = 0; i < ARRAY_LEN(needed); i++)
		if (!turn_may(agent->turn, needed[i]))
			return needed[i];
	return NULL;
}

static void refuse_without(struct query_agent *agent, const char *tool)
{
	const char *name = json_get_str(agent->handoff, "to");
	CLEANUP(mem_freep)
	char *reason = mem_format("Agent %s may not use the tool %s for this user, and cannot "
				  "answer any question without it.",
				  name, tool);
	CLEANUP(mem_freep)
	char *hint = mem_format("Let a rule of scopes/*.yaml allow %s to %s for this user (tools, "
				"agents, users), then reload.",
				tool, name);

	turn_trace(agent->turn, "plan", reason, NULL);
	agent_end(agent, "refused", reason, hint);
}

static void on_token(void *owner, const struct json *token)
{
	struct query_agent *agent = owner;
	const char *missing = missing_tool(agent);

	(void)token;
	if (missing != NULL) {
		refuse_without(agent, missing);
		return;
	}
	agent_move(agent, AGENT_GROUND);
	turn_call(agent->turn, "list_metrics", agent_arguments(agent), "", on_model);
}

static void on_end(void *owner, const struct err *why)
{
	struct query_agent *agent = owner;

	if (why->kind == ERR_CANCELED)
		agent_end(agent, "cancelled", why->text, "Ask again.");
	else if (why->kind == ERR_TIMEOUT || why->kind == ERR_LIMIT)
		agent_end(agent, "limit_reached", why->text, "Ask for less at a time.");
	else if (why->kind == ERR_DENIED)
		agent_end(agent, "refused", why->text,
			  "See writ policy show for what this agent may do.");
	else
		agent_end(agent, "failed", why->text, "Try again; see writ status if it persists.");
}

static const struct turn_handlers handlers = {.on_token = on_token, .on_end = on_end};

/* The question before, in a conversation. */
static int read_previous(struct query_agent *agent, struct err *err)
{
	const struct json *previous = json_get(json_get(agent->handoff, "context"), "previous");

	if (json_is_null(previous))
		return 0;
	if (metric_query_from_json(json_get(previous, "query"), &agent->previous, err) < 0)
		return err_wrap(err, "the question before");
	return 0;
}

int query_agent_start(uv_loop_t *loop, const struct query_agent_options *options,
		      struct query_agent **ret_agent, struct err *err)
{
	struct query_agent *agent = mem_alloc(sizeof(*agent));

	agent->handoff = handoff_to_json(options->handoff);
	agent->choices = options->choices != NULL ? json_copy(options->choices) : NULL;
	agent->first_sql = mem_str(options->first_sql);
	agent->fixed = options->fixed;
	agent->unverified = options->unverified;
	agent->today = options->today;
	agent->data = options->data;
	agent->done = options->done;
	agent->lookups = json_object();
	agent->outcome.flags = json_array();
	if (read_previous(agent, err) < 0) {
		close(options->channel_fd);
		agent_free(agent);
		return err_wrap(err, "query agent");
	}
	if (turn_start(loop, options->channel_fd, options->handoff->to, &handlers, options->trace,
		       options->data, agent, &agent->turn, err) < 0) {
		agent_free(agent);
		return err_wrap(err, "query agent");
	}
	*ret_agent = agent;
	return 0;
}

void query_agent_cancel(struct query_agent *agent)
{
	turn_cancel(agent->turn);
}
