/*
 * The second half of the query agent: a compiled attempt is explained, run, checked, counted where
 * it was cut, and repaired where the database or the checks refuse it. A step that starts a call,
 * or ends the agent, is the last thing its caller does: the agent may be gone when it returns. What
 * can fail: any call; an error of the database leads to another attempt while there is a different
 * one to make.
 */
#include <inttypes.h>
#include <string.h>

#include "agents/query/metrics/gaps.h"
#include "agents/query/agent_internal.h"
#include "agents/query/check/sanity.h"
#include "agents/query/freshness.h"
#include "agents/query/ties.h"

static int64_t attempts_max(const struct query_agent *agent)
{
	return agent->fixed ? 1 : turn_attempts_left(agent->turn);
}

/* ---- running, and what comes after ---- */

/* A list by time leaves out the steps in which nothing happened: that is said. */
static void flag_gaps(struct query_agent *agent)
{
	CLEANUP(mem_freep) char *gaps = NULL;

	if (agent->compiled == NULL || agent->plan == NULL || agent->seeded_attempt)
		return;
	gaps = query_gaps(agent->plan->query, json_get(agent->outcome.result, "rows"),
			  agent->today);
	if (gaps != NULL)
		agent_flag(agent, "result.gaps", "note", gaps);
}

void agent_complete(struct query_agent *agent)
{
	flag_gaps(agent);
	agent_end(agent, "completed", NULL, NULL);
}

static void cut_short(struct query_agent *agent, int64_t total)
{
	int64_t shown = json_get_int(agent->outcome.result, "row_count", 0);
	CLEANUP(mem_freep)
	char *reason = total > shown ? mem_format("The list is cut: %" PRId64 " of %" PRId64
						  " rows are shown.",
						  shown, total)
				     : mem_format("The list is cut after %" PRId64 " rows.", shown);

	agent_end(agent, "limit_reached", reason,
		  "Ask for the top ones, for one group, or for a shorter period.");
}

static void on_counted(void *owner, const struct json *result, const struct tool_error *error)
{
	const struct json *row = json_at(json_get(result, "rows"), 0);

	cut_short(owner, error == NULL ? json_int(json_at(row, 0)) : 0);
}

/* The list was cut by a limit of ours: say of how many, if that can still be asked. */
static void count(struct query_agent *agent)
{
	struct json *args = NULL;
	CLEANUP(mem_freep) char *sql = NULL;

	if (agent->seeded_attempt || turn_calls_left(agent->turn) < 1 ||
	    agent->attempt + agent->lookup_count >= turn_attempts_left(agent->turn)) {
		cut_short(agent, 0);
		return;
	}
	agent_move(agent, AGENT_COUNT);
	sql = mem_format("SELECT COUNT(*) AS n FROM (%s)", agent->sql);
	args = agent_arguments(agent);
	json_set_str(args, "sql", sql);
	json_set_int(args, "rows", 1);
	turn_call(agent->turn, "run_query", args, sql, on_counted);
}

static const struct json *worst_flag(const struct json *flags)
{
	json_each(flag, flags)
	{
		const char *severity = json_get_str(flag, "severity");

		if (severity != NULL && strcmp(severity, "error") == 0)
			return flag;
	}
	return NULL;
}

static void add_flags(struct query_agent *agent, const struct json *flags)
{
	json_each(flag, flags)
	{
		CLEANUP(mem_freep)
		char *line = mem_format("%s: %s", json_get_str(flag, "code"),
					json_get_str(flag, "message"));

		turn_trace(agent->turn, "check", line, flag);
		json_push(agent->outcome.flags, json_copy(flag));
	}
}

/* The injected statement gives way to the agent's own plan. */
static bool can_replace_seed(const struct query_agent *agent)
{
	return agent->seeded_attempt && !agent->fixed &&
	       agent->attempt + agent->lookup_count < attempts_max(agent);
}

static void repair(struct query_agent *agent, const char *error);

/* A number that is proven wrong is never completed. */
static void reject_result(struct query_agent *agent, const struct json *flag)
{
	CLEANUP(mem_freep) char *message = mem_str(json_get_str(flag, "message"));
	CLEANUP(mem_freep) char *mend = mem_str(json_get_str(flag, "repair"));
	bool own = strcmp(json_get_str(flag, "code"), "metric.own_arithmetic") == 0;

	json_free(TAKE(agent->outcome.result));
	if (can_replace_seed(agent)) {
		repair(agent, message);
		return;
	}
	attempt_failed(agent, message);
	/* a metric of one's own making is no failure of the data: it is not given */
	agent_end(agent, own ? "refused" : "failed", message, mend);
}

static void on_sanity(void *data, struct json *flags, const struct sanity_spent *spent)
{
	struct query_agent *agent = data;
	CLEANUP(json_freep) struct json *owned = flags;
	const struct json *wrong = worst_flag(owned);

	if (agent->state == AGENT_DONE)
		return; /* the agent is ending under it */
	turn_count_calls(agent->turn, spent->tool_calls, spent->bytes_scanned);
	if (wrong != NULL) {
		reject_result(agent, wrong);
		return;
	}
	add_flags(agent, owned);
	kept_back_tell(agent);
	if (json_get_bool(agent->outcome.result, "truncated", false))
		count(agent);
	else if (!ties_begin(agent) && !freshness_begin(agent))
		agent_complete(agent);
}

static void check_sanity(struct query_agent *agent)
{
	struct checks_input input = {0};

	agent_move(agent, AGENT_SANITY);
	json_free(agent->tables);
	json_free(agent->metrics);
	json_free(agent->asked);
	mem_free(agent->period_column);
	agent->tables = attempt_tables(agent);
	agent->metrics = agent->seeded_attempt ? attempt_metrics(agent) : NULL;
	agent->asked = json_copy(agent->outcome.period);
	agent->period_column = attempt_period_column(agent);
	input.sql = agent->sql;
	input.tables = agent->tables;
	input.metrics = agent->metrics;
	input.compiled = !agent->seeded_attempt && agent->verified == NULL;
	input.dialect = json_get_str(json_get(agent->handoff, "context"), "dialect");
	input.plan = agent->outcome.plan;
	input.columns = agent->outcome.columns;
	input.period = agent->outcome.period != NULL ? agent->asked : NULL;
	input.period_column = agent->period_column;
	input.zone = model_zone_name(agent->model);
	sanity_start(turn_channel(agent->turn), &input, agent->outcome.result, on_sanity, agent);
}

/* ---- errors of the database, and the next attempt ---- */

/* Is there a different query to try? The same one would fail again. */
static bool can_repair(const struct query_agent *agent)
{
	if (agent->fixed || agent->attempt + agent->lookup_count >= attempts_max(agent))
		return false;
	return agent->seeded_attempt || agent->plan->column != NULL;
}

static char *column_list(const struct json *table)
{
	struct buf text = BUF_INIT;

	json_each(column, json_get(table, "columns"))
		buf_addf(&text, "%s%s", text.len > 0 ? ", " : "", json_get_str(column, "name"));
	return buf_take(&text);
}

static void on_schema(void *owner, const struct json *result, const struct tool_error *error)
{
	struct query_agent *agent = owner;

	if (error != NULL && strcmp(error->by, "budget") == 0) {
		agent_end_error(agent, error);
		return;
	}
	if (result != NULL) {
		CLEANUP(mem_freep) char *columns = column_list(result);
		CLEANUP(mem_freep)
		char *line =
			mem_format("%s has the columns %s", json_get_str(result, "table"), columns);

		turn_trace(agent->turn, "repair", line, result);
	}
	agent_replan(agent);
}

/* What does the schema really have? Read once, before the plan is made anew. */
static void read_schema(struct query_agent *agent)
{
	const struct model_dataset *dataset =
		model_dataset(agent->model, agent->plan->column_dataset);
	struct json *args = agent_arguments(agent);

	json_set_str(args, "table", dataset->table);
	turn_call(agent->turn, "describe_table", args, dataset->table, on_schema);
}

static void repair(struct query_agent *agent, const char *error)
{
	CLEANUP(mem_freep)
	char *line = mem_format("attempt %" PRId64 " failed: %s; trying the next one",
				agent->attempt, error);

	attempt_failed(agent, error);
	turn_trace(agent->turn, "repair", line, NULL);
	agent_move(agent, AGENT_REPAIR);
	if (agent->seeded_attempt || agent->plan->column == NULL) {
		agent_replan(agent);
		return;
	}
	agent->distrust_column = true;
	if (turn_may(agent->turn, "describe_table") && turn_calls_left(agent->turn) > 2)
		read_schema(agent);
	else
		agent_replan(agent);
}

static void on_query_error(struct query_agent *agent, const struct tool_error *error)
{
	bool by_database =
		strcmp(error->by, "database") == 0 || strcmp(error->by, "statement") == 0;
	CLEANUP(mem_freep) char *text = mem_str(error->text);

	if (by_database && agent->verified != NULL) {
		serve_failed(agent, text);
		return;
	}
	if (by_database && can_repair(agent)) {
		repair(agent, text);
		return;
	}
	if (by_database)
		attempt_failed(agent, text);
	agent_end_error(agent, error);
}

static void on_run(void *owner, const struct json *result, const struct tool_error *error)
{
	struct query_agent *agent = owner;

	if (error != NULL) {
		on_query_error(agent, error);
		return;
	}
	json_free(agent->outcome.result);
	agent->outcome.result = json_copy(result);
	if (agent->verified != NULL)
		serve_columns(agent);
	check_sanity(agent);
}

void agent_run(struct query_agent *agent)
{
	struct json *args = agent_arguments(agent);

	agent_move(agent, AGENT_RUN);
	json_set_str(args, "sql", agent->sql);
	json_set_int(args, "rows", attempt_rows(agent));
	turn_call(agent->turn, "run_query", args, agent->sql, on_run);
}

static void on_explained(void *owner, const struct json *result, const struct tool_error *error)
{
	struct query_agent *agent = owner;
	int64_t bytes = json_get_int(result, "bytes_estimated", 0);
	int64_t left = turn_scan_left(agent->turn);
	CLEANUP(mem_freep) char *reason = NULL;
	CLEANUP(mem_freep) char *hint = NULL;

	if (error != NULL) {
		on_query_error(agent, error);
		return;
	}
	if (bytes <= left) {
		agent_run(agent);
		return;
	}
	reason = mem_format("The query would read about %" PRId64 " bytes; %" PRId64
			    " are left for this task.",
			    bytes, left);
	hint = attempt_fitting(agent, result, left);
	agent_end(agent, "too_expensive", reason, hint);
}

/* The cost is asked first, unless the statement is somebody else's to stand for. */
void agent_check(struct query_agent *agent)
{
	struct json *args = NULL;

	if (agent->seeded_attempt || agent->plan->column != NULL ||
	    !turn_may(agent->turn, "explain_query") || turn_calls_left(agent->turn) < 2) {
		agent_run(agent);
		return;
	}
	agent_move(agent, AGENT_CHECK);
	args = agent_arguments(agent);
	json_set_str(args, "sql", agent->sql);
	turn_call(agent->turn, "explain_query", args, agent->sql, on_explained);
}
