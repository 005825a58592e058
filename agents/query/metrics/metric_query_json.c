/*
 * Metric queries from their JSON form. The reader is strict about shape, numbers and dates; whether a
 * name exists is the compiler's question.
 */
#include "agents/query/metrics/expression.h"
#include "agents/query/metrics/metric_query.h"

#include <string.h>

#define LIST_MAX 32 /* metrics, dimensions, filters, orders: far above any question */
#define VALUES_MAX 200

static const char *const bucket_names[] = {NULL,	 "day",	 "week",    "month",
					   "quarter",	 "year", "weekday", "fiscal_quarter",
					   "fiscal_year"};
static const char *const op_names[] = {"=", "not", ">=", "<=", ">", "<", "missing", "present"};
static const char *const nulls_names[] = {NULL, "first", "last"};

const char *time_bucket_name(enum time_bucket bucket)
{
	return bucket_names[bucket];
}

bool time_bucket_from_name(const char *name, enum time_bucket *ret_bucket)
{
	for (size_t i = BUCKET_DAY; i < ARRAY_LEN(bucket_names); i++) {
		if (strcmp(name, bucket_names[i]) == 0) {
			*ret_bucket = (enum time_bucket)i;
			return true;
		}
	}
	return false;
}

const char *query_nulls_name(enum query_nulls nulls)
{
	return nulls_names[nulls];
}

const char *filter_op_name(enum filter_op op)
{
	return op_names[op];
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
	static const char *const keys[] = {"by", "desc", "nulls", NULL};
	const char *by, *nulls;
	size_t index = NULLS_AS_USUAL;

	if (json_only(item, keys, err) < 0 || json_want_str(item, "by", &by, err) < 0)
		return -1;
	if (!json_is_null(json_get(item, "nulls")) &&
	    (json_want_str(item, "nulls", &nulls, err) < 0 ||
	     read_name(nulls, nulls_names, NULLS_FIRST, ARRAY_LEN(nulls_names), "place of nulls",
		       &index, err) < 0))
		return -1;
	metric_query_add_order(query, by, json_get_bool(item, "desc", false));
	query->order[query->order_count - 1].nulls = (enum query_nulls)index;
	return 0;
}

static int read_condition(struct metric_query *query, const struct json *item, struct err *err)
{
	static const char *const keys[] = {"metric", "op", "value", NULL};
	const char *metric, *op, *value;
	size_t index;

	if (json_only(item, keys, err) < 0 || json_want_str(item, "metric", &metric, err) < 0 ||
	    json_want_str(item, "op", &op, err) < 0 ||
	    read_name(op, op_names, 0, OP_MISSING, "op", &index, err) < 0 ||
	    json_want_str(item, "value", &value, err) < 0)
		return -1;
	if (!expr_is_decimal(value))
		return err_set(err, ERR_INVALID, "%s: a number as text is wanted, like \"300\"",
			       metric);
	metric_query_add_condition(query, metric, (enum filter_op)index, value);
	return 0;
}

static int read_expression(const struct json *item, const char **ret_text, const char **ret_name,
			   struct err *err)
{
	static const char *const keys[] = {"expression", "as", NULL};

	*ret_name = NULL;
	if (json_str(item)) {
		*ret_text = json_str(item);
		return 0;
	}
	if (json_only(item, keys, err) < 0 || json_want_str(item, "expression", ret_text, err) < 0)
		return -1;
	if (json_is_null(json_get(item, "as")))
		return 0;
	if (json_want_str(item, "as", ret_name, err) < 0)
		return -1;
	if (strlen(*ret_name) > 128 || (*ret_name)[0] == '\0')
		return err_set(err, ERR_INVALID, "as: a name of at most 128 bytes is wanted");
	return 0;
}

static int read_measure(struct metric_query *query, const struct json *item, struct err *err)
{
	const char *text, *name;

	if (read_expression(item, &text, &name, err) < 0)
		return -1;
	query_expressions_add(&query->measures, &query->measure_count, text, name);
	return 0;
}

static int read_field(struct metric_query *query, const struct json *item, struct err *err)
{
	const char *text, *name;

	if (read_expression(item, &text, &name, err) < 0)
		return -1;
	query_expressions_add(&query->fields, &query->field_count, text, name);
	return 0;
}

static int read_texts(const struct json *json, const char *key, struct query_texts *texts,
		      struct err *err);

static int read_top(struct metric_query *query, const struct json *json, struct err *err)
{
	static const char *const keys[] = {"count", "within", NULL};
	const struct json *top = json_get(json, "top");
	struct query_texts within = {NULL, 0};
	int result = 0;

	if (json_is_null(top))
		return 0;
	if (json_only(top, keys, err) < 0 ||
	    json_want_int(top, "count", 1, 1000, &query->top.count, err) < 0 ||
	    read_texts(top, "within", &within, err) < 0)
		result = err_wrap(err, "top");
	query->top.within = within.items;
	query->top.within_count = within.count;
	return result;
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

static int read_texts(const struct json *json, const char *key, struct query_texts *texts,
		      struct err *err)
{
	const struct json *list;

	if (read_list(json, key, &list, err) < 0)
		return -1;
	json_each(item, list)
	{
		if (!json_str(item))
			return err_set(err, ERR_INVALID, "%s: texts are wanted", key);
		query_texts_add(texts, json_str(item));
	}
	return 0;
}

static int read_flag(const struct json *json, const char *key, bool *ret_flag, struct err *err)
{
	const struct json *value = json_get(json, key);

	if (!json_is_null(value) && json_type(value) != JSON_BOOL)
		return err_set(err, ERR_INVALID, "%s: true or false is wanted", key);
	*ret_flag = json_get_bool(json, key, false);
	return 0;
}

static int read_measured(struct metric_query *query, const struct json *json, struct err *err)
{
	query->lists_rows = !json_is_null(json_get(json, "fields"));
	if (read_each(query, json, "measures", read_measure, err) < 0 ||
	    read_each(query, json, "fields", read_field, err) < 0 ||
	    read_each(query, json, "conditions", read_condition, err) < 0 ||
	    read_texts(json, "where", &query->where, err) < 0 ||
	    read_texts(json, "having", &query->having, err) < 0 ||
	    read_texts(json, "via", &query->via, err) < 0 || read_top(query, json, err) < 0 ||
	    read_flag(json, "running", &query->running, err) < 0 ||
	    read_flag(json, "stepwise", &query->stepwise, err) < 0 ||
	    read_flag(json, "several_groups", &query->several_groups, err) < 0)
		return -1;
	return 0;
}

static int read_rest(struct metric_query *query, const struct json *json, struct err *err)
{
	const char *text;

	if (!json_is_null(json_get(json, "limit")) &&
	    json_want_int(json, "limit", 0, 1000000, &query->limit, err) < 0)
		return -1;
	if (read_flag(json, "share", &query->share, err) < 0 || read_measured(query, json, err) < 0)
		return -1;
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
	static const char *const keys[] = {
		"metrics",    "dimensions",	"filters",     "period",  "compare",  "order",
		"limit",      "share",		"average_per", "dataset", "measures", "fields",
		"conditions", "where",		"having",      "via",	  "top",      "running",
		"stepwise",   "several_groups", NULL};
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
