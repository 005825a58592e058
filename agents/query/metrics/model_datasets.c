/* The semantic model: datasets and their fields, read from its JSON. */
#include "agents/query/metrics/model_internal.h"

#include <string.h>

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

	if (model_read_items(json, "values", &list, err) < 0)
		return -1;
	values = model_keep(model, mem_array(json_len(list) + 1, sizeof(*values)));
	json_each(item, list)
	{
		struct model_value *value = &values[field->value_count];

		if (json_want_str(item, "value", &value->value, err) < 0 ||
		    model_read_words(model, item, "synonyms", &value->synonyms, err) < 0)
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
	field->label = model_text_or(json, "label", field->name);
	field->description = model_text_or(json, "description", "");
	field->type = type_from_name(model_text_or(json, "type", ""));
	field->unit = json_get_str(json, "unit");
	field->dimension = json_get_bool(json, "dimension", false);
	field->is_time = json_get_bool(json, "is_time", false);
	field->names_row = json_get_bool(json, "names_row", false);
	field->time_format = strcmp(model_text_or(json, "time_format", "text"), "epoch") == 0
				     ? TIME_EPOCH
				     : TIME_TEXT;
	field->instant = json_get_bool(json, "instant", false);
	field->zone = field->instant && model->zone.name ? &model->zone : NULL;
	field->missing = json_get_str(json, "missing");
	field->at = model_text_or(json, "at", "");
	field->column = (int)json_get_int(json, "column", 0);
	if (model_read_words(model, json, "synonyms", &field->synonyms, err) < 0 ||
	    model_read_words(model, json, "reads", &field->reads, err) < 0 ||
	    read_values(model, json, field, err) < 0 ||
	    model_read_expr(model, json, "expression", &field->expression, err) < 0)
		return err_wrap(err, "field %s", field->id);
	return 0;
}

static int read_fields(struct model *model, const struct json *json, struct model_dataset *dataset,
		       struct err *err)
{
	const struct json *list;
	struct model_field *fields;

	if (model_read_items(json, "fields", &list, err) < 0)
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

	if (model_read_items(json, "unique_keys", &list, err) < 0)
		return -1;
	keys = model_keep(model, mem_array(json_len(list) + 1, sizeof(*keys)));
	json_each(item, list)
	{
		if (model_words_of(model, item, &keys[dataset->unique_key_count], err) < 0)
			return err_wrap(err, "unique_keys");
		dataset->unique_key_count++;
	}
	dataset->unique_keys = keys;
	return 0;
}

int model_read_dataset(struct model *model, const struct json *json, struct model_dataset *dataset,
		       struct err *err)
{
	if (json_want_str(json, "name", &dataset->name, err) < 0)
		return -1;
	dataset->label = model_text_or(json, "label", dataset->name);
	dataset->description = model_text_or(json, "description", "");
	dataset->grain = model_text_or(json, "grain", "");
	dataset->filter_words = json_get_str(json, "filter_words");
	dataset->time = json_get_str(json, "time");
	dataset->at = model_text_or(json, "at", "");
	dataset->column = (int)json_get_int(json, "column", 0);
	if (json_want_str(json, "table", &dataset->table, err) < 0 ||
	    model_read_words(model, json, "synonyms", &dataset->synonyms, err) < 0 ||
	    model_read_words(model, json, "primary_key", &dataset->primary_key, err) < 0 ||
	    read_unique_keys(model, json, dataset, err) < 0 ||
	    model_read_optional_expr(model, json, "filter", &dataset->filter, err) < 0 ||
	    read_fields(model, json, dataset, err) < 0)
		return err_wrap(err, "dataset %s", dataset->name);
	return 0;
}
