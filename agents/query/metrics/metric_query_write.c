/* Metric queries as JSON: what metric_query_json.c reads. Cannot fail. */
#include "agents/query/metrics/metric_query.h"

#include <string.h>

static struct json *period_to_json(const struct query_period *period)
{
	struct json *json = json_object();

	if (period->field)
		json_set_str(json, "field", period->field);
	if (period->from[0])
		json_set_str(json, "from", period->from);
	if (period->to[0])
		json_set_str(json, "to", period->to);
	if (period->label)
		json_set_str(json, "label", period->label);
	return json;
}

static struct json *dimensions_to_json(const struct metric_query *query)
{
	struct json *list = json_array();

	for (size_t i = 0; i < query->dimension_count; i++) {
		struct json *item = json_object();

		json_set_str(item, "field", query->dimensions[i].field);
		if (query->dimensions[i].bucket != BUCKET_NONE)
			json_set_str(item, "bucket", time_bucket_name(query->dimensions[i].bucket));
		json_push(list, item);
	}
	return list;
}

static struct json *filters_to_json(const struct metric_query *query)
{
	struct json *list = json_array();

	for (size_t i = 0; i < query->filter_count; i++) {
		struct json *item = json_object();

		json_set_str(item, "field", query->filters[i].field);
		json_set_str(item, "op", filter_op_name(query->filters[i].op));
		if (json_len(query->filters[i].values) > 0)
			json_set(item, "values", json_copy(query->filters[i].values));
		json_push(list, item);
	}
	return list;
}

static struct json *order_to_json(const struct metric_query *query)
{
	struct json *list = json_array();

	for (size_t i = 0; i < query->order_count; i++) {
		struct json *item = json_object();

		json_set_str(item, "by", query->order[i].by);
		json_set_bool(item, "desc", query->order[i].desc);
		if (query->order[i].nulls != NULLS_AS_USUAL)
			json_set_str(item, "nulls", query_nulls_name(query->order[i].nulls));
		json_push(list, item);
	}
	return list;
}

static struct json *texts_to_json(char *const *items, size_t count)
{
	struct json *list = json_array();

	for (size_t i = 0; i < count; i++)
		json_push_str(list, items[i]);
	return list;
}

static struct json *expressions_to_json(const struct query_expression *items, size_t count)
{
	struct json *list = json_array();

	for (size_t i = 0; i < count; i++) {
		struct json *item = json_object();

		json_set_str(item, "expression", items[i].text);
		if (items[i].name)
			json_set_str(item, "as", items[i].name);
		json_push(list, item);
	}
	return list;
}

static struct json *conditions_to_json(const struct metric_query *query)
{
	struct json *list = json_array();

	for (size_t i = 0; i < query->condition_count; i++) {
		struct json *item = json_object();

		json_set_str(item, "metric", query->conditions[i].metric);
		json_set_str(item, "op", filter_op_name(query->conditions[i].op));
		json_set_str(item, "value", query->conditions[i].value);
		json_push(list, item);
	}
	return list;
}

static struct json *top_to_json(const struct query_top *top)
{
	struct json *json = json_object();

	json_set_int(json, "count", top->count);
	json_set(json, "within", texts_to_json(top->within, top->within_count));
	return json;
}

/* What an asker wrote in expressions, and conditions on what is measured. */
static void measured_to_json(const struct metric_query *query, struct json *json)
{
	if (query->measure_count)
		json_set(json, "measures",
			 expressions_to_json(query->measures, query->measure_count));
	if (query->lists_rows)
		json_set(json, "fields", expressions_to_json(query->fields, query->field_count));
	if (query->where.count)
		json_set(json, "where", texts_to_json(query->where.items, query->where.count));
	if (query->having.count)
		json_set(json, "having", texts_to_json(query->having.items, query->having.count));
	if (query->via.count)
		json_set(json, "via", texts_to_json(query->via.items, query->via.count));
	if (query->condition_count)
		json_set(json, "conditions", conditions_to_json(query));
	if (query->top.count)
		json_set(json, "top", top_to_json(&query->top));
	if (query->stepwise)
		json_set_bool(json, "stepwise", true);
	if (query->running)
		json_set_bool(json, "running", true);
	if (query->several_groups)
		json_set_bool(json, "several_groups", true);
}

struct json *metric_query_to_json(const struct metric_query *query)
{
	struct json *json = json_object();
	struct json *metrics = json_array();

	for (size_t i = 0; i < query->metric_count; i++)
		json_push_str(metrics, query->metrics[i]);
	json_set(json, "metrics", metrics);
	if (query->dimension_count)
		json_set(json, "dimensions", dimensions_to_json(query));
	if (query->filter_count)
		json_set(json, "filters", filters_to_json(query));
	if (query->period.set)
		json_set(json, "period", period_to_json(&query->period));
	if (query->compare.set)
		json_set(json, "compare", period_to_json(&query->compare));
	if (query->order_count)
		json_set(json, "order", order_to_json(query));
	if (query->limit)
		json_set_int(json, "limit", query->limit);
	if (query->share)
		json_set_bool(json, "share", true);
	if (query->average_per)
		json_set_str(json, "average_per", query->average_per);
	if (query->dataset)
		json_set_str(json, "dataset", query->dataset);
	measured_to_json(query, json);
	return json;
}
