/*
 * What the model says of tables and metrics, in the shape that the checks of a statement read.
 * Pure. A metric that does not compile alone is left out: its questions are then checked without
 * it.
 */
#include <string.h>

#include "agents/query/agent_internal.h"
#include "agents/query/metrics/expression.h"

static bool has_name(const struct json *columns, const char *name)
{
	json_each(column, columns) if (strcmp(json_get_str(column, "name"), name) == 0) return true;
	return false;
}

static void add_column(struct json *columns, const char *name, const struct model_field *field)
{
	static const char *const types[] = {[TYPE_STRING] = "TEXT", [TYPE_INTEGER] = "INTEGER"};
	struct json *column = NULL;

	if (has_name(columns, name))
		return;
	column = json_object();
	json_set_str(column, "name", name);
	/* of an expression it is not the column's own */
	if (field != NULL && field->expression->kind == EXPR_COLUMN) {
		if (field->type < ARRAY_LEN(types) && types[field->type] != NULL)
			json_set_str(column, "type", types[field->type]);
		if (field->unit != NULL)
			json_set_str(column, "unit", field->unit);
		if (field->instant) /* in UTC, or with its offset, which is told by its text */
			json_set_str(column, "zone", "UTC");
	}
	json_push(columns, column);
}

static struct json *names_json(const struct words *words)
{
	struct json *names = json_array();

	for (size_t i = 0; i < words->count; i++)
		json_push_str(names, words->items[i]);
	return names;
}

static struct json *foreign_keys_json(const struct model *model, const struct model_dataset *from)
{
	struct json *keys = json_array();

	for (size_t i = 0; i < model_relationship_count(model); i++) {
		const struct model_relationship *way = model_relationship_at(model, i);
		struct json *key = NULL;

		if (way->from != from)
			continue;
		key = json_object();
		json_set(key, "columns", names_json(&way->from_columns));
		json_set_str(key, "table", way->to->table);
		json_set(key, "to", names_json(&way->to_columns));
		json_push(keys, key);
	}
	return keys;
}

static struct json *columns_json(const struct model *model, const struct model_dataset *dataset)
{
	struct json *columns = json_array();

	for (size_t i = 0; i < dataset->field_count; i++)
		for (size_t j = 0; j < dataset->fields[i].reads.count; j++) {
			const char *dot = strrchr(dataset->fields[i].reads.items[j], '.');

			if (dot != NULL)
				add_column(columns, dot + 1, &dataset->fields[i]);
		}
	for (size_t i = 0; i < dataset->primary_key.count; i++)
		add_column(columns, dataset->primary_key.items[i], NULL);
	for (size_t i = 0; i < model_relationship_count(model); i++) {
		const struct model_relationship *way = model_relationship_at(model, i);

		for (size_t j = 0; way->from == dataset && j < way->from_columns.count; j++)
			add_column(columns, way->from_columns.items[j], NULL);
		for (size_t j = 0; way->to == dataset && j < way->to_columns.count; j++)
			add_column(columns, way->to_columns.items[j], NULL);
	}
	return columns;
}

static struct json *unique_keys_json(const struct model_dataset *dataset)
{
	struct json *keys = json_array();

	for (size_t i = 0; i < dataset->unique_key_count; i++)
		json_push(keys, names_json(&dataset->unique_keys[i]));
	return keys;
}

/* Which rows count at all, as the model says. */
static void add_filter(const struct json *model, const struct model_dataset *dataset,
		       struct json *table)
{
	struct json *columns = NULL;

	if (dataset->filter == NULL)
		return;
	columns = json_array();
	json_each(own, json_get(model, "datasets"))
	{
		if (strcmp(json_get_str(own, "name"), dataset->name) != 0)
			continue;
		json_each(read, json_get(own, "reads"))
		{
			const char *dot = json_str(read) ? strrchr(json_str(read), '.') : NULL;

			if (dot != NULL)
				json_push_str(columns, dot + 1);
		}
	}
	json_set(table, "filter_columns", columns);
	json_set_str(table, "filter_words", dataset->filter_words);
}

struct json *attempt_tables(const struct query_agent *agent)
{
	struct json *tables = json_array();

	for (size_t i = 0; i < model_dataset_count(agent->model); i++) {
		const struct model_dataset *dataset = model_dataset_at(agent->model, i);
		struct json *table = json_object();

		json_set_str(table, "table", dataset->table);
		json_set(table, "columns", columns_json(agent->model, dataset));
		json_set(table, "primary_key", names_json(&dataset->primary_key));
		json_set(table, "foreign_keys", foreign_keys_json(agent->model, dataset));
		json_set(table, "unique_keys", unique_keys_json(dataset));
		json_set_bool(table, "partial", true); /* columns without a field are not known */
		json_set_str(table, "grain", dataset->grain);
		add_filter(agent->model_json, dataset, table);
		json_push(tables, table);
	}
	return tables;
}

static struct json *metric_json(const struct query_agent *agent, const char *name)
{
	CLEANUP(metric_query_freep) struct metric_query *query = metric_query_new();
	CLEANUP(compiled_query_freep) struct compiled_query *compiled = NULL;
	const struct model_metric *metric = model_metric(agent->model, name);
	struct json *json = NULL;
	struct err err = {0};

	metric_query_add_metric(query, name);
	if (metric == NULL || metric_query_compile(query, agent->model, &compiled, &err) < 0)
		return NULL;
	json = json_object();
	json_set_str(json, "name", metric->label);
	json_set_str(json, "definition", metric->description);
	json_set_str(json, "sql", compiled->sql);
	return json;
}

struct json *attempt_metrics(const struct query_agent *agent)
{
	struct json *metrics = json_array();

	for (size_t i = 0; i < agent->plan->query->metric_count; i++) {
		struct json *metric = metric_json(agent, agent->plan->query->metrics[i]);

		if (metric != NULL)
			json_push(metrics, metric);
	}
	return metrics;
}
