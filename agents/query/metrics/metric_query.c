/*
 * Metric queries: building, copying, and their JSON form. The reader is strict about shape and
 * dates; whether a name exists is the compiler's question.
 */
#include "agents/query/metrics/metric_query.h"

#include <string.h>

#define LIST_MAX 32 /* metrics, dimensions, filters, orders: far above any question */
#define VALUES_MAX 200

static const char *const bucket_names[] = {NULL, "day", "week", "month", "quarter", "year"};
static const char *const op_names[] = {"=", "not", ">=", "<=", ">", "<", "missing", "present"};

const char *time_bucket_name(enum time_bucket bucket)
{
	return bucket_names[bucket];
}

const char *filter_op_name(enum filter_op op)
{
	return op_names[op];
}

struct metric_query *metric_query_new(void)
{
	return mem_alloc(sizeof(struct metric_query));
}

static void period_clear(struct query_period *period)
{
	mem_free(period->field);
	mem_free(period->label);
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
	query->order[query->order_count++] = (struct query_order){.by = mem_str(by), .desc = desc};
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
	copy->period = period_copy(&query->period);
	copy->compare = period_copy(&query->compare);
	copy->limit = query->limit;
	copy->share = query->share;
	copy->average_per = mem_str(query->average_per);
	copy->dataset = mem_str(query->dataset);
	return copy;
}

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
		json_push(list, item);
	}
	return list;
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
	return json;
}

static int read_list(const struct json *json, const char *key, const struct json **ret,
		     struct err *err)
{
	*ret = json_get(json, key);
	if (json_is_null(*ret)) {
		*ret = NULL;
		return 0;
	}
	if (json_type(*ret) != JSON_ARRAY)
		return err_set(err, ERR_INVALID, "%s: a list is wanted, not %s", key,
			       json_type_name(json_type(*ret)));
	if (json_len(*ret) > LIST_MAX)
		return err_set(err, ERR_LIMIT, "%s: more than %d", key, LIST_MAX);
	return 0;
}

static int read_metrics(struct metric_query *query, const struct json *json, struct err *err)
{
	const struct json *list;

	if (read_list(json, "metrics", &list, err) < 0)
		return -1;
	json_each(item, list)
	{
		if (!json_str(item))
			return err_set(err, ERR_INVALID, "metrics: names are wanted");
		metric_query_add_metric(query, json_str(item));
	}
	return 0;
}

static int read_name(const char *name, const char *const *names, size_t from, size_t count,
		     const char *what, size_t *ret, struct err *err)
{
	struct buf known = BUF_INIT;

	for (size_t i = from; i < count; i++) {
		if (strcmp(name, names[i]) == 0) {
			*ret = i;
			buf_clear(&known);
			return 0;
		}
		buf_addf(&known, "%s%s", i > from ? ", " : "", names[i]);
	}
	err_set(err, ERR_INVALID, "unknown %s \"%.40s\"; there are %s", what, name,
		buf_str(&known));
	buf_clear(&known);
	return -1;
}

static int read_dimension(struct metric_query *query, const struct json *item, struct err *err)
{
	static const char *const keys[] = {"field", "bucket", NULL};
	const char *field, *bucket;
	size_t index = BUCKET_NONE;

	if (json_only(item, keys, err) < 0 || json_want_str(item, "field", &field, err) < 0)
		return -1;
	if (!json_is_null(json_get(item, "bucket"))) {
		if (json_want_str(item, "bucket", &bucket, err) < 0 ||
		    read_name(bucket, bucket_names, BUCKET_DAY, ARRAY_LEN(bucket_names), "bucket",
			      &index, err) < 0)
			return -1;
	}
	metric_query_add_dimension(query, field, (enum time_bucket)index);
	return 0;
}

static int check_values(enum filter_op op, const struct json *values, struct err *err)
{
	size_t count = json_len(values);

	if (op == OP_MISSING || op == OP_PRESENT)
		return count == 0 ? 0
				  : err_set(err, ERR_INVALID, "%s takes no values",
					    filter_op_name(op));
	if (count == 0)
		return err_set(err, ERR_INVALID, "%s needs a value", filter_op_name(op));
	if (op != OP_IN && op != OP_NOT && count > 1)
		return err_set(err, ERR_INVALID, "%s takes one value, not %zu", filter_op_name(op),
			       count);
	if (count > VALUES_MAX)
		return err_set(err, ERR_LIMIT, "more than %d values", VALUES_MAX);
	json_each(value, values)
	{
		enum json_type type = json_type(value);

		if (type == JSON_NULL || type == JSON_ARRAY || type == JSON_OBJECT)
			return err_set(err, ERR_INVALID,
				       "a value is text, a number, true or false, not %s",
				       json_type_name(type));
	}
	return 0;
}

static int read_filter(struct metric_query *query, const struct json *item, struct err *err)
{
	static const char *const keys[] = {"field", "op", "values", NULL};
	const char *field, *op;
	const struct json *values = NULL;
	size_t index;

	if (json_only(item, keys, err) < 0 || json_want_str(item, "field", &field, err) < 0 ||
	    json_want_str(item, "op", &op, err) < 0 ||
	    read_name(op, op_names, 0, ARRAY_LEN(op_names), "op", &index, err) < 0)
		return -1;
	if (!json_is_null(json_get(item, "values")) &&
	    json_want_array(item, "values", &values, err) < 0)
		return -1;
	if (check_values((enum filter_op)index, values, err) < 0)
		return err_wrap(err, "%s", field);
	metric_query_add_filter(query, field, (enum filter_op)index,
				values ? json_copy(values) : NULL);
	return 0;
}

static int read_order(struct metric_query *query, const struct json *item, struct err *err)
{
	static const char *const keys[] = {"by", "desc", NULL};
	const char *by;

	if (json_only(item, keys, err) < 0 || json_want_str(item, "by", &by, err) < 0)
		return -1;
	metric_query_add_order(query, by, json_get_bool(item, "desc", false));
	return 0;
}

static int read_each(struct metric_query *query, const struct json *json, const char *key,
		     int (*read)(struct metric_query *, const struct json *, struct err *),
		     struct err *err)
{
	const struct json *list;

	if (read_list(json, key, &list, err) < 0)
		return -1;
	json_each(item, list)
	{
		if (read(query, item, err) < 0)
			return err_wrap(err, "%s", key);
	}
	return 0;
}

static int read_optional_str(const struct json *json, const char *key, const char **ret,
			     struct err *err)
{
	*ret = NULL;
	if (json_is_null(json_get(json, key)))
		return 0;
	return json_want_str(json, key, ret, err);
}

static int read_period(struct query_period *period, const struct json *json, const char *key,
		       struct err *err)
{
	static const char *const keys[] = {"field", "from", "to", "label", NULL};
	const struct json *item = json_get(json, key);
	const char *field, *from, *to, *label;

	if (json_is_null(item))
		return 0;
	if (json_only(item, keys, err) < 0 || read_optional_str(item, "field", &field, err) < 0 ||
	    read_optional_str(item, "from", &from, err) < 0 ||
	    read_optional_str(item, "to", &to, err) < 0 ||
	    read_optional_str(item, "label", &label, err) < 0)
		return err_wrap(err, "%s", key);
	return query_period_set(period, field, from ? from : "", to ? to : "", label, err);
}

static int read_rest(struct metric_query *query, const struct json *json, struct err *err)
{
	const char *text;

	if (!json_is_null(json_get(json, "limit")) &&
	    json_want_int(json, "limit", 0, 1000000, &query->limit, err) < 0)
		return -1;
	if (!json_is_null(json_get(json, "share")) &&
	    json_type(json_get(json, "share")) != JSON_BOOL)
		return err_set(err, ERR_INVALID, "share: true or false is wanted");
	query->share = json_get_bool(json, "share", false);
	if (read_optional_str(json, "average_per", &text, err) < 0)
		return -1;
	query->average_per = mem_str(text);
	if (read_optional_str(json, "dataset", &text, err) < 0)
		return -1;
	query->dataset = mem_str(text);
	return 0;
}

int metric_query_from_json(const struct json *json, struct metric_query **ret_query,
			   struct err *err)
{
	static const char *const keys[] = {"metrics",	  "dimensions", "filters", "period",
					   "compare",	  "order",	"limit",   "share",
					   "average_per", "dataset",	NULL};
	CLEANUP(metric_query_freep) struct metric_query *query = metric_query_new();

	if (json_only(json, keys, err) < 0 || read_metrics(query, json, err) < 0 ||
	    read_each(query, json, "dimensions", read_dimension, err) < 0 ||
	    read_each(query, json, "filters", read_filter, err) < 0 ||
	    read_period(&query->period, json, "period", err) < 0 ||
	    read_period(&query->compare, json, "compare", err) < 0 ||
	    read_each(query, json, "order", read_order, err) < 0 || read_rest(query, json, err) < 0)
		return err_wrap(err, "metric query");
	*ret_query = TAKE(query);
	return 0;
}
