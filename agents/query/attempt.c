/*
 * One query attempt: from a plan to SQL, and what is declared of it before it runs. Pure but for
 * the agent it fills. What can fail: a query that has no sound SQL.
 */
#include <inttypes.h>
#include <string.h>

#include "agents/query/agent_internal.h"
#include "writ/limits.h"

/* "severity" as an expression of the model: a quoted name, quotes inside doubled. */
static char *quoted(const char *name)
{
	struct buf text = BUF_INIT;

	buf_add_char(&text, '"');
	for (; *name != '\0'; name++) {
		if (*name == '"')
			buf_add_char(&text, '"');
		buf_add_char(&text, *name);
	}
	buf_add_char(&text, '"');
	return buf_take(&text);
}

static struct json *named_field(const char *column)
{
	CLEANUP(mem_freep) char *expression = quoted(column);
	struct json *field = json_object();

	json_set_str(field, "name", column);
	json_set_str(field, "expression", expression);
	json_set_str(field, "type", "string");
	json_set_bool(field, "dimension", true);
	return field;
}

/* The model as the question sees it: with the column it names. */
static int model_with_column(const struct query_agent *agent, struct model **ret_model,
			     struct err *err)
{
	CLEANUP(json_freep) struct json *json = json_copy(agent->model_json);
	struct json *datasets = json_get_mut(json, "datasets");
	struct json *patched = json_array();

	json_each(dataset, datasets)
	{
		struct json *copy = json_copy(dataset);
		struct json *fields = json_get_mut(copy, "fields");

		if (fields != NULL &&
		    strcmp(json_get_str(copy, "name"), agent->plan->column_dataset) == 0)
			json_push(fields, named_field(agent->plan->column));
		json_push(patched, copy);
	}
	json_set(json, "datasets", patched);
	return model_from_json(json, ret_model, err);
}

int attempt_compile(struct query_agent *agent, struct err *err)
{
	CLEANUP(model_freep) struct model *patched = NULL;
	const struct model *model = agent->model;
	struct compiled_query *compiled = NULL;

	if (agent->plan->column != NULL) {
		if (model_with_column(agent, &patched, err) < 0)
			return -1;
		model = patched;
	}
	if (metric_query_compile(agent->plan->query, model, &compiled, err) < 0)
		return -1;
	compiled_query_free(agent->compiled);
	agent->compiled = compiled;
	mem_free(agent->sql);
	agent->sql = mem_str(compiled->sql);
	return 0;
}

void attempt_failed(struct query_agent *agent, const char *error)
{
	struct json *entry = json_object();

	json_set_str(entry, "sql", agent->sql);
	json_set_str(entry, "error", error);
	if (agent->outcome.attempts == NULL)
		agent->outcome.attempts = json_array();
	json_push(agent->outcome.attempts, entry);
}

int64_t attempt_rows(const struct query_agent *agent)
{
	int64_t limit = agent->seeded_attempt || agent->verified ? 0 : agent->plan->query->limit;

	if (limit <= WRIT_ROWS_DEFAULT)
		return WRIT_ROWS_DEFAULT;
	return limit < WRIT_ROWS_MAX ? limit : WRIT_ROWS_MAX;
}

static struct json *bound(const char *date)
{
	return date[0] != '\0' ? json_new_str(date) : json_new_null();
}

static struct json *period_json(const struct query_agent *agent)
{
	const struct query_period *period = &agent->plan->query->period;
	const char *zone = json_get_str(json_get(agent->handoff, "context"), "timezone");
	struct json *json = NULL;

	if (!period->set)
		return NULL;
	json = json_object();
	json_set(json, "from", bound(period->from));
	json_set(json, "to", bound(period->to));
	json_set_str(json, "timezone", zone != NULL ? zone : "UTC");
	return json;
}

static void replace(struct json **slot, struct json *value)
{
	json_free(*slot);
	*slot = value;
}

void attempt_declare(struct query_agent *agent)
{
	struct query_outcome *outcome = &agent->outcome;

	replace(&outcome->period, period_json(agent));
	if (agent->seeded_attempt) {
		/* Nobody declared anything for SQL that was injected. */
		replace(&outcome->columns, NULL);
		replace(&outcome->words, NULL);
		replace(&outcome->definitions, NULL);
		replace(&outcome->plan, NULL);
		replace(&outcome->query, NULL);
		return;
	}
	replace(&outcome->columns, compiled_query_columns_json(agent->compiled));
	replace(&outcome->words, json_copy(agent->compiled->words));
	replace(&outcome->definitions, json_copy(agent->compiled->definitions));
	replace(&outcome->plan, json_copy(agent->compiled->plan));
	replace(&outcome->query, metric_query_to_json(agent->plan->query));
}

char *attempt_narrower(const struct query_agent *agent)
{
	const struct metric_query *query = agent->plan->query;

	if (!query->period.set)
		return mem_str("Name a period, for example \"last month\".");
	if (query->filter_count == 0)
		return mem_str("Name a shorter period, or limit the question to one value, for "
			       "example one region.");
	return mem_str("Name a shorter period.");
}

/* The table that a plan reads whole, whatever is filtered: "SCAN orders", "  SCAN o USING ..." */
static char *read_whole(const struct json *explained)
{
	json_each(line, json_get(explained, "plan"))
	{
		const char *text = json_str(line) ? json_str(line) : "";

		text += strspn(text, " ");
		if (strncmp(text, "SCAN ", 5) == 0 && text[5] != '(' &&
		    strncmp(text + 5, "CONSTANT", 8) != 0)
			return mem_strn(text + 5, strcspn(text + 5, " "));
	}
	return NULL;
}

static int64_t days_of(const struct query_period *period)
{
	struct date from, to;
	struct err err = {0};

	if (!period->set || date_read(period->from, &from, &err) < 0 ||
	    date_read(period->to, &to, &err) < 0)
		return 0;
	return date_to_days(to) - date_to_days(from);
}

char *attempt_fitting(const struct query_agent *agent, const struct json *explained, int64_t left)
{
	int64_t bytes = json_get_int(explained, "bytes_estimated", 0);
	int64_t days = days_of(&agent->plan->query->period);
	CLEANUP(mem_freep) char *whole = read_whole(explained);
	int64_t fit = bytes > 0 ? (int64_t)((double)days * (double)left / (double)bytes) : 0;

	if (whole != NULL && left < bytes)
		return mem_format(
			"%s is read whole, so a shorter period reads as much: it takes an "
			"index on what is filtered, or a scan budget of %" PRId64
			" bytes (per_task in the scope file).",
			whole, bytes);
	if (fit < 1)
		return attempt_narrower(agent);
	return mem_format("Name a period of at most %" PRId64 " %s instead of %" PRId64
			  ": that would read about %" PRId64 " bytes.",
			  fit, fit == 1 ? "day" : "days", days,
			  (int64_t)((double)bytes / (double)days * (double)fit));
}

static char *planned_period_column(const struct query_agent *agent)
{
	const struct metric_query *query = agent->plan->query;
	const struct model_metric *metric =
		query->metric_count > 0 ? model_metric(agent->model, query->metrics[0]) : NULL;
	const char *id = query->period.field != NULL ? query->period.field
			 : metric != NULL	     ? metric->time
						     : NULL;
	const struct model_field *field = id != NULL ? model_field(agent->model, id) : NULL;

	if (!query->period.set || field == NULL || field->reads.count == 0)
		return NULL;
	return mem_str(field->reads.items[0]);
}

char *attempt_period_column(const struct query_agent *agent)
{
	return agent->verified ? serve_period_column(agent) : planned_period_column(agent);
}
