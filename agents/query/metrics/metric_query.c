/* Metric queries: building and copying. */
#include "agents/query/metrics/metric_query.h"

#include <string.h>

struct metric_query *metric_query_new(void)
{
	return mem_alloc(sizeof(struct metric_query));
}

static void period_clear(struct query_period *period)
{
	mem_free(period->field);
	mem_free(period->label);
}

static void texts_clear(struct query_texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		mem_free(texts->items[i]);
	mem_free(texts->items);
}

static void expressions_clear(struct query_expression *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		mem_free(list[i].text);
		mem_free(list[i].name);
	}
	mem_free(list);
}

void metric_query_free(struct metric_query *query)
{
	if (!query)
		return;
	for (size_t i = 0; i < query->metric_count; i++)
		mem_free(query->metrics[i]);
	for (size_t i = 0; i < query->dimension_count; i++)
		mem_free(query->dimensions[i].field);
	for (size_t i = 0; i < query->filter_count; i++) {
		mem_free(query->filters[i].field);
		json_free(query->filters[i].values);
	}
	for (size_t i = 0; i < query->order_count; i++)
		mem_free(query->order[i].by);
	mem_free(query->metrics);
	mem_free(query->dimensions);
	mem_free(query->filters);
	mem_free(query->order);
	for (size_t i = 0; i < query->condition_count; i++) {
		mem_free(query->conditions[i].metric);
		mem_free(query->conditions[i].value);
	}
	mem_free(query->conditions);
	for (size_t i = 0; i < query->top.within_count; i++)
		mem_free(query->top.within[i]);
	mem_free(query->top.within);
	texts_clear(&query->via);
	texts_clear(&query->where);
	texts_clear(&query->having);
	expressions_clear(query->measures, query->measure_count);
	expressions_clear(query->fields, query->field_count);
	period_clear(&query->period);
	period_clear(&query->compare);
	mem_free(query->average_per);
	mem_free(query->dataset);
	mem_free(query);
}

void metric_query_freep(struct metric_query **query)
{
	metric_query_free(*query);
}

void metric_query_add_metric(struct metric_query *query, const char *name)
{
	query->metrics =
		mem_grow(query->metrics, (query->metric_count + 1) * sizeof(*query->metrics));
	query->metrics[query->metric_count++] = mem_str(name);
}

void metric_query_add_dimension(struct metric_query *query, const char *field,
				enum time_bucket bucket)
{
	query->dimensions = mem_grow(query->dimensions,
				     (query->dimension_count + 1) * sizeof(*query->dimensions));
	query->dimensions[query->dimension_count++] =
		(struct query_dimension){.field = mem_str(field), .bucket = bucket};
}

void metric_query_add_filter(struct metric_query *query, const char *field, enum filter_op op,
			     struct json *values)
{
	query->filters =
		mem_grow(query->filters, (query->filter_count + 1) * sizeof(*query->filters));
	query->filters[query->filter_count++] = (struct query_filter){
		.field = mem_str(field), .op = op, .values = values ? values : json_array()};
}

void metric_query_add_filter_str(struct metric_query *query, const char *field, enum filter_op op,
				 const char *value)
{
	struct json *values = json_array();

	json_push_str(values, value);
	metric_query_add_filter(query, field, op, values);
}

void metric_query_add_order(struct metric_query *query, const char *by, bool desc)
{
	query->order = mem_grow(query->order, (query->order_count + 1) * sizeof(*query->order));
	query->order[query->order_count++] =
		(struct query_order){.by = mem_str(by), .desc = desc, .nulls = NULLS_AS_USUAL};
}

void metric_query_add_condition(struct metric_query *query, const char *metric, enum filter_op op,
				const char *value)
{
	query->conditions = mem_grow(query->conditions,
				     (query->condition_count + 1) * sizeof(*query->conditions));
	query->conditions[query->condition_count++] = (struct query_condition){
		.metric = mem_str(metric), .op = op, .value = mem_str(value)};
}

void metric_query_add_within(struct metric_query *query, const char *field)
{
	struct query_top *top = &query->top;

	top->within = mem_grow(top->within, (top->within_count + 1) * sizeof(*top->within));
	top->within[top->within_count++] = mem_str(field);
}

void query_texts_add(struct query_texts *texts, const char *text)
{
	texts->items = mem_grow(texts->items, (texts->count + 1) * sizeof(*texts->items));
	texts->items[texts->count++] = mem_str(text);
}

void query_expressions_add(struct query_expression **list, size_t *count, const char *text,
			   const char *name)
{
	*list = mem_grow(*list, (*count + 1) * sizeof(**list));
	(*list)[(*count)++] =
		(struct query_expression){.text = mem_str(text), .name = mem_str(name)};
}

static int date_check(const char *date, struct err *err)
{
	struct date ignored;

	return date[0] == '\0' ? 0 : date_read(date, &ignored, err);
}

int query_period_set(struct query_period *period, const char *field, const char *from,
		     const char *to, const char *label, struct err *err)
{
	if (date_check(from, err) < 0 || date_check(to, err) < 0)
		return err_wrap(err, "period");
	if (from[0] == '\0' && to[0] == '\0')
		return err_set(err, ERR_INVALID, "period: neither a first nor a last day");
	/* ISO dates order as text */
	if (from[0] && to[0] && strcmp(from, to) >= 0)
		return err_set(err, ERR_INVALID,
			       "period: it ends (before %s) where it begins (%s) or earlier", to,
			       from);
	period_clear(period);
	*period = (struct query_period){
		.set = true, .field = mem_str(field), .label = mem_str(label)};
	memcpy(period->from, from, strlen(from) + 1);
	memcpy(period->to, to, strlen(to) + 1);
	return 0;
}

static struct query_period period_copy(const struct query_period *period)
{
	struct query_period copy = *period;

	copy.field = mem_str(period->field);
	copy.label = mem_str(period->label);
	return copy;
}

static void texts_copy(struct query_texts *copy, const struct query_texts *texts)
{
	for (size_t i = 0; i < texts->count; i++)
		query_texts_add(copy, texts->items[i]);
}

static void copy_measured(struct metric_query *copy, const struct metric_query *query)
{
	for (size_t i = 0; i < query->condition_count; i++)
		metric_query_add_condition(copy, query->conditions[i].metric,
					   query->conditions[i].op, query->conditions[i].value);
	for (size_t i = 0; i < query->top.within_count; i++)
		metric_query_add_within(copy, query->top.within[i]);
	for (size_t i = 0; i < query->measure_count; i++)
		query_expressions_add(&copy->measures, &copy->measure_count,
				      query->measures[i].text, query->measures[i].name);
	for (size_t i = 0; i < query->field_count; i++)
		query_expressions_add(&copy->fields, &copy->field_count, query->fields[i].text,
				      query->fields[i].name);
	texts_copy(&copy->via, &query->via);
	texts_copy(&copy->where, &query->where);
	texts_copy(&copy->having, &query->having);
	copy->top.count = query->top.count;
	copy->running = query->running;
	copy->stepwise = query->stepwise;
	copy->several_groups = query->several_groups;
	copy->lists_rows = query->lists_rows;
}

struct metric_query *metric_query_copy(const struct metric_query *query)
{
	struct metric_query *copy = metric_query_new();

	for (size_t i = 0; i < query->metric_count; i++)
		metric_query_add_metric(copy, query->metrics[i]);
	for (size_t i = 0; i < query->dimension_count; i++)
		metric_query_add_dimension(copy, query->dimensions[i].field,
					   query->dimensions[i].bucket);
	for (size_t i = 0; i < query->filter_count; i++)
		metric_query_add_filter(copy, query->filters[i].field, query->filters[i].op,
					json_copy(query->filters[i].values));
	for (size_t i = 0; i < query->order_count; i++)
		metric_query_add_order(copy, query->order[i].by, query->order[i].desc);
	for (size_t i = 0; i < query->order_count; i++)
		copy->order[i].nulls = query->order[i].nulls;
	copy_measured(copy, query);
	copy->period = period_copy(&query->period);
	copy->compare = period_copy(&query->compare);
	copy->limit = query->limit;
	copy->share = query->share;
	copy->average_per = mem_str(query->average_per);
	copy->dataset = mem_str(query->dataset);
	return copy;
}
