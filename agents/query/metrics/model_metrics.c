/*
 * The semantic model: metrics, read from its JSON. One that refers to what a scope has taken away
 * is left out, and so is what is made of it.
 */
#include "agents/query/metrics/model_internal.h"

#include <string.h>

static int read_expected(struct model *model, const struct json *json, struct model_metric *metric,
			 struct err *err)
{
	const struct json *list;
	struct expected_value *expected;

	if (model_read_items(json, "expected", &list, err) < 0)
		return -1;
	expected = model_keep(model, mem_array(json_len(list) + 1, sizeof(*expected)));
	json_each(item, list)
	{
		struct expected_value *value = &expected[metric->expected_count];

		if (json_want_str(item, "value", &value->value, err) < 0)
			return err_wrap(err, "expected");
		value->from = json_get_str(item, "from");
		value->to = json_get_str(item, "to");
		value->at = model_text_or(item, "at", metric->at);
		value->column = (int)json_get_int(item, "column", 0);
		metric->expected_count++;
	}
	metric->expected = expected;
	return 0;
}

static int read_numbers(const struct json *json, struct model_metric *metric, struct err *err)
{
	int64_t scale = 1, decimals = 0;

	if (!json_is_null(json_get(json, "scale")) &&
	    json_want_int(json, "scale", 1, 1000000000, &scale, err) < 0)
		return -1;
	if (!json_is_null(json_get(json, "decimals")) &&
	    json_want_int(json, "decimals", 0, 9, &decimals, err) < 0)
		return -1;
	metric->scale = (int)scale;
	metric->decimals = (int)decimals;
	return 0;
}

static bool known_names(const struct model *model, const struct expr *expr)
{
	struct dataset_set set = {.count = 0};
	struct err ignored;

	return !expr || model_expr_datasets(model, expr, NULL, &set, &ignored) == 0;
}

/* Lists of field ids. 1: all there, 0: one is hidden. */
static int read_fields_named(struct model *model, const struct json *list,
			     const struct model_field *const **ret_fields, size_t *ret_count,
			     struct err *err)
{
	const struct model_field **fields;
	struct words words;

	if (model_words_of(model, list, &words, err) < 0)
		return -1;
	fields = model_keep(model, mem_array(words.count + 1, sizeof(*fields)));
	for (size_t i = 0; i < words.count; i++) {
		fields[i] = model_field(model, words.items[i]);
		if (!fields[i])
			return 0;
	}
	*ret_fields = fields;
	*ret_count = words.count;
	return 1;
}

/* 1: kept, 0: a field it needs is hidden. */
static int read_snapshot(struct model *model, const struct json *json, struct model_metric *metric,
			 struct err *err)
{
	const struct json *snapshot = json_get(json, "snapshot");
	const char *time;

	if (json_is_null(snapshot))
		return 1;
	if (json_want_str(snapshot, "time", &time, err) < 0)
		return err_wrap(err, "snapshot");
	metric->snapshot = model_field(model, time);
	metric->snapshot_first = strcmp(model_text_or(snapshot, "take", "last"), "first") == 0;
	if (!metric->snapshot)
		return 0;
	return read_fields_named(model, json_get(snapshot, "per"), &metric->snapshot_per,
				 &metric->snapshot_per_count, err);
}

static int read_per(struct model *model, const struct json *json, struct model_metric *metric,
		    struct err *err)
{
	static const char *const known[] = {"avg", "sum", "min", "max", "count"};
	const char *per = json_get_str(json, "per");
	const char *then = model_text_or(json, "then", "avg");

	if (!per)
		return 1;
	metric->per = model_field(model, per);
	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		if (strcmp(known[i], then) == 0)
			metric->then = known[i];
	}
	if (!metric->then)
		return err_set(err, ERR_INVALID, "then: %s is no aggregate", then);
	return metric->per != NULL;
}

static void read_metric_words(const struct json *json, struct model_metric *metric)
{
	metric->label = model_text_or(json, "label", metric->name);
	metric->description = model_text_or(json, "description", "");
	metric->definition = model_text_or(json, "expression", "");
	metric->filter_words = json_get_str(json, "filter_words");
	metric->missing_words = json_get_str(json, "missing_words");
	metric->unit = json_get_str(json, "unit");
	metric->exact = json_get_bool(json, "exact", false);
	metric->non_negative = json_get_bool(json, "non_negative", false);
	metric->higher_is_better = json_get_bool(json, "higher_is_better", false);
	metric->additivity = json_get_bool(json, "additive", false) ? ADDITIVE : NOT_ADDITIVE;
	metric->time = json_get_str(json, "time");
	metric->at = model_text_or(json, "at", "");
	metric->column = (int)json_get_int(json, "column", 0);
}

/* 1: kept, 0: something it needs is hidden. Its inputs are found when all are read. */
static int read_metric(struct model *model, const struct json *json, struct model_metric *metric,
		       struct err *err)
{
	const char *dataset;
	int snapshot, per;

	if (json_want_str(json, "name", &metric->name, err) < 0)
		return -1;
	read_metric_words(json, metric);
	if (json_want_str(json, "dataset", &dataset, err) < 0 ||
	    read_numbers(json, metric, err) < 0 ||
	    model_read_words(model, json, "synonyms", &metric->synonyms, err) < 0 ||
	    model_read_words(model, json, "reads", &metric->reads, err) < 0 ||
	    read_expected(model, json, metric, err) < 0 ||
	    model_read_expr(model, json, "expression", &metric->expression, err) < 0 ||
	    model_read_optional_expr(model, json, "filter", &metric->filter, err) < 0)
		return err_wrap(err, "metric %s", metric->name);
	snapshot = read_snapshot(model, json, metric, err);
	per = snapshot < 0 ? -1 : read_per(model, json, metric, err);
	if (per < 0)
		return err_wrap(err, "metric %s", metric->name);
	metric->dataset = model_dataset(model, dataset);
	if (!metric->dataset || !snapshot || !per || !known_names(model, metric->filter))
		return 0;
	return json_len(json_get(json, "inputs")) > 0 || known_names(model, metric->expression);
}

static void drop_metric(struct model *model, size_t index)
{
	memmove(&model->metrics[index], &model->metrics[index + 1],
		(model->metric_count - index - 1) * sizeof(*model->metrics));
	model->metric_count--;
}

static const struct json *metric_json(const struct model *model, const char *name)
{
	json_each(item, json_get(model->json, "metrics"))
	{
		const char *other = json_get_str(item, "name");

		if (other && strcmp(other, name) == 0)
			return item;
	}
	return NULL;
}

static bool inputs_seen(const struct model *model, const struct json *names)
{
	json_each(name, names)
	{
		if (!json_str(name) || !model_metric(model, json_str(name)))
			return false;
	}
	return true;
}

/* What is made of a metric that is hidden is hidden too, until nothing more goes. Only then do the
 * metrics stand still and may be pointed at. */
static void read_inputs(struct model *model)
{
	for (size_t i = 0; i < model->metric_count;) {
		const struct json *json = metric_json(model, model->metrics[i].name);

		if (inputs_seen(model, json_get(json, "inputs"))) {
			i++;
			continue;
		}
		drop_metric(model, i);
		i = 0;
	}
	for (size_t i = 0; i < model->metric_count; i++) {
		struct model_metric *metric = &model->metrics[i];
		const struct json *names = json_get(metric_json(model, metric->name), "inputs");
		const struct model_metric **inputs =
			model_keep(model, mem_array(json_len(names) + 1, sizeof(*inputs)));

		json_each(name, names) inputs[metric->input_count++] =
			model_metric(model, json_str(name));
		metric->inputs = inputs;
	}
}

int model_read_metrics(struct model *model, struct err *err)
{
	const struct json *list;

	if (model_read_items(model->json, "metrics", &list, err) < 0)
		return -1;
	model->metrics = model_keep(model, mem_array(json_len(list) + 1, sizeof(*model->metrics)));
	json_each(item, list)
	{
		struct model_metric metric = {0};
		int result = read_metric(model, item, &metric, err);

		if (result < 0)
			return -1;
		if (result > 0)
			model->metrics[model->metric_count++] = metric;
	}
	read_inputs(model);
	return 0;
}
