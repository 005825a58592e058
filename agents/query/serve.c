/*
 * The verified-query cache of one agent: the approved SQL of this very question, bound to today,
 * instead of a plan. Whatever stands in the way (a change since, a period that cannot be bound, an
 * error of the database) is noted on the answer, and the question is planned as any other.
 */
#include <inttypes.h>
#include <string.h>

#include "agents/query/agent_internal.h"
#include "agents/query/verified/verified.h"

static const char *zone_of(const struct query_agent *agent)
{
	const char *zone = json_get_str(json_get(agent->handoff, "context"), "timezone");

	return zone ? zone : "UTC";
}

static void pass_over(struct query_agent *agent, const char *why)
{
	CLEANUP(mem_freep)
	char *message = mem_format("A verified query for this question was not used: %s.", why);

	turn_trace(agent->turn, "plan", message, NULL);
	mem_free(agent->passed_over);
	agent->passed_over = mem_str(message);
	json_free(TAKE(agent->verified));
	agent_plan_anew(agent);
}

static struct json *metric_of(const struct query_agent *agent, const char *name)
{
	const struct model_metric *metric = model_metric(agent->model, name);
	struct json *json;

	if (!metric)
		return NULL;
	json = json_object();
	json_set_str(json, "metric", metric->name);
	json_set_str(json, "definition",
		     metric->description[0] != '\0' ? metric->description : metric->definition);
	json_set_str(json, "source", metric->at);
	return json;
}

static struct json *definitions_of(const struct query_agent *agent)
{
	struct json *definitions = json_array();

	json_each(approved, json_get(agent->verified, "metrics"))
	{
		struct json *definition = metric_of(agent, json_key(approved));

		if (definition)
			json_push(definitions, definition);
	}
	return definitions;
}

/* The metric whose unit the numbers have: only when there is one alone. */
static const struct model_metric *only_metric(const struct query_agent *agent)
{
	const struct json *metrics = json_get(agent->verified, "metrics");

	return json_len(metrics) == 1 ? model_metric(agent->model, json_key(json_first(metrics)))
				      : NULL;
}

char *serve_period_column(const struct query_agent *agent)
{
	const struct model_metric *metric = only_metric(agent);
	const struct model_field *field =
		metric && metric->time ? model_field(agent->model, metric->time) : NULL;

	return field && field->reads.count > 0 ? mem_str(field->reads.items[0]) : NULL;
}

static void declare(struct query_agent *agent, const struct period *period)
{
	struct query_outcome *outcome = &agent->outcome;
	const char *by = json_get_str(agent->verified, "verified_by");
	const char *at = json_get_str(agent->verified, "verified_at");
	CLEANUP(mem_freep)
	char *message = mem_format("Answered by the verified query %s, approved by %s%s%s.",
				   json_get_str(agent->verified, "name"), by, at ? " on " : "",
				   at ? at : "");
	struct json *words = json_object();

	json_set_str(words, "sentence", json_get_str(agent->verified, "question"));
	outcome->words = words;
	outcome->definitions = definitions_of(agent);
	if (period) {
		char from[DATE_LEN + 1], to[DATE_LEN + 1];

		date_write(period->from, from);
		date_write(period->to, to);
		outcome->period = json_object();
		json_set_str(outcome->period, "from", from);
		json_set_str(outcome->period, "to", to);
		json_set_str(outcome->period, "timezone", zone_of(agent));
	}
	agent_flag(agent, "query.verified", "note", message);
}

void serve_columns(struct query_agent *agent)
{
	const struct model_metric *metric = only_metric(agent);
	const struct json *types = json_get(agent->outcome.result, "types");
	struct json *columns = json_array();
	size_t numbers = 0, place = 0;

	json_each(type, types) numbers +=
		strcmp(json_str(type), "integer") == 0 || strcmp(json_str(type), "real") == 0;
	json_each(name, json_get(agent->outcome.result, "columns"))
	{
		const char *type = json_str(json_at(types, place++));
		bool number = strcmp(type, "integer") == 0 || strcmp(type, "real") == 0;
		struct json *column = json_object();

		json_set_str(column, "name", json_str(name));
		CLEANUP(mem_freep) char *label = mem_str(json_str(name));

		for (char *at = label; *at != '\0'; at++)
			*at = *at == '_' ? ' ' : *at; /* net_sales: in words as elsewhere */
		json_set_str(column, "label", label);
		json_set_str(column, "role", number ? "measure" : "dimension");
		json_set_str(column, "type", strcmp(type, "real") == 0 ? "decimal" : type);
		json_set_int(column, "decimals", strcmp(type, "real") == 0 ? 2 : 0);
		if (number && numbers == 1 && metric) {
			if (metric->unit)
				json_set_str(column, "unit", metric->unit);
			json_set_int(column, "decimals", metric->decimals);
			json_set_bool(column, "non_negative", metric->non_negative);
		}
		json_push(columns, column);
	}
	json_free(agent->outcome.columns);
	agent->outcome.columns = columns;
}

static void on_shape(void *owner, const struct json *result, const struct tool_error *error)
{
	struct query_agent *agent = owner;
	const char *approved = json_get_str(agent->verified, "shape");
	const char *now = json_get_str(result, "shape");

	if (error && strcmp(error->by, "database") != 0 && strcmp(error->by, "policy") != 0) {
		agent_end_error(agent, error);
		return;
	}
	if (error) {
		CLEANUP(mem_freep) char *why = mem_str(error->text);

		pass_over(agent, why);
		return;
	}
	if (!now || !approved || strcmp(now, approved) != 0) {
		pass_over(agent, "its tables changed since it was approved");
		return;
	}
	if (json_get_int(result, "bytes_estimated", 0) > turn_scan_left(agent->turn)) {
		agent_end(agent, "too_expensive",
			  "The verified query would read more than is left for this task.",
			  "Ask for a shorter period.");
		return;
	}
	agent->attempt++;
	agent_run(agent);
}

/* The SQL of the query for today; false, with the reason, when it cannot be bound. */
static bool bind_today(struct query_agent *agent, struct period *ret_period, bool *ret_set,
		       struct err *err)
{
	const char *sql = json_get_str(agent->verified, "sql");
	bool wants = false;

	if (verified_wants_period(sql, &wants, err) < 0 ||
	    verified_period(agent_question(agent), agent->today, ret_set, ret_period, err) < 0)
		return false;
	if (wants != *ret_set) {
		err_set(err, ERR_INVALID, "its period and that of the question do not fit");
		return false;
	}
	mem_free(agent->sql);
	agent->sql = wants ? verified_bind(sql, ret_period) : mem_str(sql);
	return true;
}

bool serve_begin(struct query_agent *agent)
{
	const struct json *found =
		verified_match(json_get(agent->model_json, "queries"), agent_question(agent));
	CLEANUP(mem_freep) char *stale = NULL;
	struct period period = {0};
	struct json *args;
	bool set = false;
	struct err err;

	if (!found || !json_get_str(found, "verified_by") || agent->fixed || agent->unverified ||
	    agent->first_sql || json_len(agent->choices) > 0 ||
	    !turn_may(agent->turn, "explain_query") || turn_calls_left(agent->turn) < 2)
		return false;
	agent->verified = json_copy(found);
	agent_move(agent, AGENT_VERIFY);
	stale = verified_stale(agent->verified, agent->model_json, zone_of(agent));
	if (stale) {
		pass_over(agent, stale);
		return true;
	}
	if (!bind_today(agent, &period, &set, &err)) {
		pass_over(agent, err.text);
		return true;
	}
	declare(agent, set ? &period : NULL);
	turn_trace(agent->turn, "plan", "a verified query answers this question", agent->verified);
	args = agent_arguments(agent);
	json_set_str(args, "sql", agent->sql);
	turn_call(agent->turn, "explain_query", args, agent->sql, on_shape);
	return true;
}

void serve_failed(struct query_agent *agent, const char *error)
{
	struct query_outcome *outcome = &agent->outcome;

	attempt_failed(agent, error);
	json_free(TAKE(outcome->words));
	json_free(TAKE(outcome->definitions));
	json_free(TAKE(outcome->period));
	json_free(TAKE(outcome->flags));
	outcome->flags = json_array();
	pass_over(agent, error);
}
