/*
 * The semantic model, read from its JSON (docs/metrics.md).
 *
 * The model keeps a copy of the JSON, which owns the texts. A scope may have taken members away:
 * what refers to a dataset, field or relationship that is not there is left out as well, never
 * half kept. Anything of the wrong shape is an error that names it.
 */
#include "agents/query/metrics/model_internal.h"

#include <string.h>

#define ITEMS_MAX 10000 /* of one list; a warehouse of hundreds of tables stays below */

void *model_keep(struct model *model, void *memory)
{
	model->kept = mem_grow(model->kept, (model->kept_count + 1) * sizeof(*model->kept));
	model->kept[model->kept_count++] = memory;
	return memory;
}

struct expr *model_keep_expr(struct model *model, struct expr *expr)
{
	model->exprs = mem_grow(model->exprs, (model->expr_count + 1) * sizeof(*model->exprs));
	model->exprs[model->expr_count++] = expr;
	return expr;
}

void model_free(struct model *model)
{
	if (!model)
		return;
	for (size_t i = 0; i < model->kept_count; i++)
		mem_free(model->kept[i]);
	for (size_t i = 0; i < model->expr_count; i++)
		expr_free(model->exprs[i]);
	mem_free(model->kept);
	mem_free(model->exprs);
	json_free(model->json);
	mem_free(model);
}

void model_freep(struct model **model)
{
	model_free(*model);
}

const char *model_source(const struct model *model)
{
	const char *source = json_get_str(model->json, "source");

	return source ? source : "";
}

const char *model_description(const struct model *model)
{
	const char *description = json_get_str(model->json, "description");

	return description ? description : "";
}

static const char *text_or(const struct json *json, const char *key, const char *fallback)
{
	const char *text = json_get_str(json, key);

	return text ? text : fallback;
}

/* An optional list: absent is empty. */
static int read_items(const struct json *json, const char *key, const struct json **ret_list,
		      struct err *err)
{
	*ret_list = NULL;
	if (json_is_null(json_get(json, key)))
		return 0;
	if (json_want_array(json, key, ret_list, err) < 0)
		return -1;
	if (json_len(*ret_list) > ITEMS_MAX)
		return err_set(err, ERR_LIMIT, "%s: more than %d", key, ITEMS_MAX);
	return 0;
}

static int words_of(struct model *model, const struct json *list, struct words *ret_words,
		    struct err *err)
{
	const char **items = model_keep(model, mem_array(json_len(list) + 1, sizeof(*items)));
	size_t count = 0;

	if (json_type(list) != JSON_ARRAY && !json_is_null(list))
		return err_set(err, ERR_INVALID, "a list of texts is wanted, not %s",
			       json_type_name(json_type(list)));
	json_each(item, list)
	{
		if (!json_str(item))
			return err_set(err, ERR_INVALID, "texts are wanted, not %s",
				       json_type_name(json_type(item)));
		items[count++] = json_str(item);
	}
	*ret_words = (struct words){items, count};
	return 0;
}

static int read_words(struct model *model, const struct json *json, const char *key,
		      struct words *ret_words, struct err *err)
{
	if (words_of(model, json_get(json, key), ret_words, err) < 0)
		return err_wrap(err, "%s", key);
	return 0;
}

static int read_expr(struct model *model, const struct json *json, const char *key,
		     const struct expr **ret_expr, struct err *err)
{
	const char *text;
	struct expr *expr;

	if (json_want_str(json, key, &text, err) < 0)
		return -1;
	if (expr_parse(text, &expr, NULL, err) < 0)
		return err_wrap(err, "%s", key);
	*ret_expr = model_keep_expr(model, expr);
	return 0;
}

static int read_optional_expr(struct model *model, const struct json *json, const char *key,
			      const struct expr **ret_expr, struct err *err)
{
	if (json_is_null(json_get(json, key))) {
		*ret_expr = NULL;
		return 0;
	}
	return read_expr(model, json, key, ret_expr, err);
}

static enum field_type type_from_name(const char *name)
{
	static const struct {
		const char *name;
		enum field_type type;
	} types[] = {{"string", TYPE_STRING},
		     {"integer", TYPE_INTEGER},
		     {"decimal", TYPE_DECIMAL},
		     {"boolean", TYPE_BOOLEAN},
		     {"time", TYPE_TIME}};

	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		if (strcmp(types[i].name, name) == 0)
			return types[i].type;
	}
	return TYPE_UNKNOWN;
}

static int read_values(struct model *model, const struct json *json, struct model_field *field,
		       struct err *err)
{
	const struct json *list;
	struct model_value *values;

	if (read_items(json, "values", &list, err) < 0)
		return -1;
	values = model_keep(model, mem_array(json_len(list) + 1, sizeof(*values)));
	json_each(item, list)
	{
		struct model_value *value = &values[field->value_count];

		if (json_want_str(item, "value", &value->value, err) < 0 ||
		    read_words(model, item, "synonyms", &value->synonyms, err) < 0)
			return err_wrap(err, "values");
		field->value_count++;
	}
	field->values = values;
	return 0;
}

static int read_field(struct model *model, const struct model_dataset *dataset,
		      const struct json *json, struct model_field *field, struct err *err)
{
	field->dataset = dataset;
	if (json_want_str(json, "name", &field->name, err) < 0)
		return -1;
	field->id = model_keep(model, mem_format("%s.%s", dataset->name, field->name));
	field->label = text_or(json, "label", field->name);
	field->description = text_or(json, "description", "");
	field->type = type_from_name(text_or(json, "type", ""));
	field->unit = json_get_str(json, "unit");
	field->dimension = json_get_bool(json, "dimension", false);
	field->is_time = json_get_bool(json, "is_time", false);
	field->names_row = json_get_bool(json, "names_row", false);
	field->time_format =
		strcmp(text_or(json, "time_format", "text"), "epoch") == 0 ? TIME_EPOCH : TIME_TEXT;
	field->instant = json_get_bool(json, "instant", false);
	field->zone = field->instant && model->zone.name ? &model->zone : NULL;
	field->missing = json_get_str(json, "missing");
	field->at = text_or(json, "at", "");
	field->column = (int)json_get_int(json, "column", 0);
	if (read_words(model, json, "synonyms", &field->synonyms, err) < 0 ||
	    read_words(model, json, "reads", &field->reads, err) < 0 ||
	    read_values(model, json, field, err) < 0 ||
	    read_expr(model, json, "expression", &field->expression, err) < 0)
		return err_wrap(err, "field %s", field->id);
	return 0;
}

static int read_fields(struct model *model, const struct json *json, struct model_dataset *dataset,
		       struct err *err)
{
	const struct json *list;
	struct model_field *fields;

	if (read_items(json, "fields", &list, err) < 0)
		return -1;
	fields = model_keep(model, mem_array(json_len(list) + 1, sizeof(*fields)));
	json_each(item, list)
	{
		if (read_field(model, dataset, item, &fields[dataset->field_count], err) < 0)
			return -1;
		dataset->field_count++;
	}
	dataset->fields = fields;
	return 0;
}

static int read_unique_keys(struct model *model, const struct json *json,
			    struct model_dataset *dataset, struct err *err)
{
	const struct json *list;
	struct words *keys;

	if (read_items(json, "unique_keys", &list, err) < 0)
		return -1;
	keys = model_keep(model, mem_array(json_len(list) + 1, sizeof(*keys)));
	json_each(item, list)
	{
		if (words_of(model, item, &keys[dataset->unique_key_count], err) < 0)
			return err_wrap(err, "unique_keys");
		dataset->unique_key_count++;
	}
	dataset->unique_keys = keys;
	return 0;
}

static int read_dataset(struct model *model, const struct json *json, struct model_dataset *dataset,
			struct err *err)
{
	if (json_want_str(json, "name", &dataset->name, err) < 0)
		return -1;
	dataset->label = text_or(json, "label", dataset->name);
	dataset->description = text_or(json, "description", "");
	dataset->grain = text_or(json, "grain", "");
	dataset->filter_words = json_get_str(json, "filter_words");
	dataset->time = json_get_str(json, "time");
	dataset->at = text_or(json, "at", "");
	dataset->column = (int)json_get_int(json, "column", 0);
	if (json_want_str(json, "table", &dataset->table, err) < 0 ||
	    read_words(model, json, "synonyms", &dataset->synonyms, err) < 0 ||
	    read_words(model, json, "primary_key", &dataset->primary_key, err) < 0 ||
	    read_unique_keys(model, json, dataset, err) < 0 ||
	    read_optional_expr(model, json, "filter", &dataset->filter, err) < 0 ||
	    read_fields(model, json, dataset, err) < 0)
		return err_wrap(err, "dataset %s", dataset->name);
	return 0;
}

/* {"name":"Europe/Lisbon","offsets":[["1970-01-01 00:00:00",60],...]} */
static int read_zone(struct model *model, struct err *err)
{
	const struct json *zone = json_get(model->json, "zone");
	const struct json *list;
	struct model_offset *offsets;

	model->fiscal_start = (int)json_get_int(model->json, "fiscal_start", 0);
	if (model->fiscal_start < 0 || model->fiscal_start > 12)
		return err_set(err, ERR_INVALID, "fiscal_start is a month from 1 to 12");
	if (json_is_null(zone))
		return 0;
	if (json_want_str(zone, "name", &model->zone.name, err) < 0 ||
	    json_want_array(zone, "offsets", &list, err) < 0)
		return err_wrap(err, "zone");
	offsets = model_keep(model, mem_array(json_len(list) + 1, sizeof(*offsets)));
	json_each(item, list)
	{
		if (!json_str(json_at(item, 0)))
			return err_set(err, ERR_INVALID, "zone: an offset has a moment");
		offsets[model->zone.count++] = (struct model_offset){
			json_str(json_at(item, 0)), (int)json_int(json_at(item, 1))};
	}
	model->zone.offsets = offsets;
	if (model->zone.count == 0)
		return err_set(err, ERR_INVALID, "zone: no offset");
	return 0;
}

static int read_datasets(struct model *model, struct err *err)
{
	const struct json *list;

	if (read_items(model->json, "datasets", &list, err) < 0)
		return -1;
	/* never grown: fields point at their dataset */
	model->datasets =
		model_keep(model, mem_array(json_len(list) + 1, sizeof(*model->datasets)));
	json_each(item, list)
	{
		if (read_dataset(model, item, &model->datasets[model->dataset_count], err) < 0)
			return -1;
		model->dataset_count++;
	}
	return 0;
}

/* 1: kept, 0: one of its ends is hidden. */
static int read_relationship(struct model *model, const struct json *json,
			     struct model_relationship *relationship, struct err *err)
{
	const char *from, *to;

	if (json_want_str(json, "name", &relationship->name, err) < 0 ||
	    json_want_str(json, "from", &from, err) < 0 ||
	    json_want_str(json, "to", &to, err) < 0 ||
	    read_words(model, json, "from_columns", &relationship->from_columns, err) < 0 ||
	    read_words(model, json, "to_columns", &relationship->to_columns, err) < 0 ||
	    read_words(model, json, "reads", &relationship->reads, err) < 0)
		return -1;
	if (relationship->from_columns.count == 0 ||
	    relationship->from_columns.count != relationship->to_columns.count)
		return err_set(err, ERR_INVALID, "relationship %s: as many columns on both sides",
			       relationship->name);
	relationship->at = text_or(json, "at", "");
	relationship->column = (int)json_get_int(json, "column", 0);
	relationship->from = model_dataset(model, from);
	relationship->to = model_dataset(model, to);
	return relationship->from && relationship->to;
}

static int read_relationships(struct model *model, struct err *err)
{
	const struct json *list;

	if (read_items(model->json, "relationships", &list, err) < 0)
		return -1;
	model->relationships =
		model_keep(model, mem_array(json_len(list) + 1, sizeof(*model->relationships)));
	json_each(item, list)
	{
		struct model_relationship relationship = {0};
		int result = read_relationship(model, item, &relationship, err);

		if (result < 0)
			return -1;
		if (result > 0)
			model->relationships[model->relationship_count++] = relationship;
	}
	return 0;
}

static int read_expected(struct model *model, const struct json *json, struct model_metric *metric,
			 struct err *err)
{
	const struct json *list;
	struct expected_value *expected;

	if (read_items(json, "expected", &list, err) < 0)
		return -1;
	expected = model_keep(model, mem_array(json_len(list) + 1, sizeof(*expected)));
	json_each(item, list)
	{
		struct expected_value *value = &expected[metric->expected_count];

		if (json_want_str(item, "value", &value->value, err) < 0)
			return err_wrap(err, "expected");
		value->from = json_get_str(item, "from");
		value->to = json_get_str(item, "to");
		value->at = text_or(item, "at", metric->at);
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

	if (words_of(model, list, &words, err) < 0)
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
	metric->snapshot_first = strcmp(text_or(snapshot, "take", "last"), "first") == 0;
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
	const char *then = text_or(json, "then", "avg");

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
	metric->label = text_or(json, "label", metric->name);
	metric->description = text_or(json, "description", "");
	metric->definition = text_or(json, "expression", "");
	metric->filter_words = json_get_str(json, "filter_words");
	metric->missing_words = json_get_str(json, "missing_words");
	metric->unit = json_get_str(json, "unit");
	metric->exact = json_get_bool(json, "exact", false);
	metric->non_negative = json_get_bool(json, "non_negative", false);
	metric->higher_is_better = json_get_bool(json, "higher_is_better", false);
	metric->additivity = json_get_bool(json, "additive", false) ? ADDITIVE : NOT_ADDITIVE;
	metric->time = json_get_str(json, "time");
	metric->at = text_or(json, "at", "");
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
	    read_words(model, json, "synonyms", &metric->synonyms, err) < 0 ||
	    read_words(model, json, "reads", &metric->reads, err) < 0 ||
	    read_expected(model, json, metric, err) < 0 ||
	    read_expr(model, json, "expression", &metric->expression, err) < 0 ||
	    read_optional_expr(model, json, "filter", &metric->filter, err) < 0)
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

static int read_metrics(struct model *model, struct err *err)
{
	const struct json *list;

	if (read_items(model->json, "metrics", &list, err) < 0)
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

/* A default time that is hidden is no default. */
static void drop_hidden_times(struct model *model)
{
	for (size_t i = 0; i < model->dataset_count; i++) {
		struct model_dataset *dataset = &model->datasets[i];

		if (dataset->time && !model_field(model, dataset->time))
			dataset->time = NULL;
	}
	for (size_t i = 0; i < model->metric_count; i++) {
		struct model_metric *metric = &model->metrics[i];

		if (metric->time && !model_field(model, metric->time))
			metric->time = NULL;
	}
}

int model_from_json(const struct json *json, struct model **ret_model, struct err *err)
{
	CLEANUP(model_freep) struct model *model = mem_alloc(sizeof(*model));

	if (json_type(json) != JSON_OBJECT)
		return err_set(err, ERR_INVALID, "semantic model: an object is wanted, not %s",
			       json_type_name(json_type(json)));
	model->json = json_copy(json);
	if (read_zone(model, err) < 0 || read_datasets(model, err) < 0 ||
	    read_relationships(model, err) < 0 || read_metrics(model, err) < 0)
		return err_wrap(err, "semantic model");
	drop_hidden_times(model);
	*ret_model = TAKE(model);
	return 0;
}
