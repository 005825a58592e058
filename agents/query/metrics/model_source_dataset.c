/*
 * The model compiler: datasets with their fields.
 *
 * A field whose expression is wrong is kept under its name, so that metrics which use it are not
 * reported as well. Refused beside bad shape: two of one name, an aggregate in a field, a column of
 * another dataset, a query in place of a table, fields that read each other in a circle.
 */
#include "agents/query/metrics/model_source.h"

#include <string.h>
#include <strings.h>

#include "base/nearest.h"

static const char *text_of(const struct json *extension, const char *key)
{
	return json_get_str(extension, key);
}

/* Distinct "table.column" of an expression over one table. */
struct own_reads {
	struct source *source;
	const struct yaml *node;
	const char *what;
	const char *dataset;
	const char *table;
	struct json *reads;
	bool window; /* aggregates stand in a window, so nothing is added up */
};

static bool has_text(const struct json *list, const char *text)
{
	json_each(item, list)
	{
		if (strcmp(json_str(item), text) == 0)
			return true;
	}
	return false;
}

static int own_read(const struct expr *node, void *data)
{
	struct own_reads *own = data;
	CLEANUP(mem_freep) char *read = NULL;

	if (node->kind == EXPR_AGGREGATE && !own->window) {
		source_mistake(own->source, own->node,
			       "%s: %s() adds rows up, an aggregate; that belongs into a metric "
			       "(E_AGGREGATE_IN_FIELD)",
			       own->what, node->text);
		return 1;
	}
	if (node->kind != EXPR_COLUMN)
		return 0;
	if (node->dataset && strcmp(node->dataset, own->dataset) != 0) {
		source_mistake(own->source, own->node,
			       "%s: %s.%s is of another dataset; a field of %s reads its own "
			       "columns: wrap it in an aggregate as a metric, or take the field "
			       "from its own dataset (E_UNAGGREGATED_FINER_GRAIN_REFERENCE)",
			       own->what, node->dataset, node->text, own->dataset);
		return 1;
	}
	read = mem_format("%s.%s", own->table, node->text);
	if (!has_text(own->reads, read))
		json_push_str(own->reads, read);
	return 0;
}

/* Checks an expression over the dataset's own columns. NULL and a mistake when it is wrong. */
static struct json *own_expression(struct source *source, const struct yaml *node, const char *what,
				   const char *text, const char *dataset, const char *table)
{
	CLEANUP(expr_freep) struct expr *expr = source_parse(source, node, what, text);
	struct own_reads own = {source, node, what, dataset, table, json_array(), false};

	own.window = expr && expr_has_window(expr) && !expr_has_aggregate(expr);

	if (expr && expr_walk(expr, own_read, &own) == 0)
		return own.reads;
	json_free(own.reads);
	return NULL;
}

static const struct {
	const char *ossie;
	const char *type;
} types[] = {{"String", "string"}, {"Integer", "integer"}, {"Decimal", "decimal"},
	     {"Float", "decimal"}, {"Boolean", "boolean"}, {"Date", "time"},
	     {"Time", "string"},   {"DateTime", "time"},   {"DateTimeTz", "time"},
	     {"Opaque", "unknown"}};

/* The type by our name; NULL when none is given. */
static const char *field_type(struct source *source, const struct yaml *map)
{
	const char *datatype = source_text(source, map, "a field", "datatype", false);
	const char *names[ARRAY_LEN(types)];
	const char *near;

	if (!datatype)
		return NULL;
	if (source->before_02)
		source_mistake(source, yaml_get(map, "datatype"),
			       "datatype came with version 0.2.0.dev0 of the format");
	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		if (strcmp(datatype, types[i].ossie) == 0)
			return types[i].type;
		names[i] = types[i].ossie;
	}
	near = nearest_word(datatype, names, ARRAY_LEN(names));
	source_mistake(source, yaml_get(map, "datatype"), "no datatype %s%s%s", datatype,
		       near ? "; did you mean " : "", near ? near : "");
	return NULL;
}

/* Time unless the file says otherwise; a number is a dimension only if it is called one. */
static void field_roles(struct source *source, const struct yaml *map, const char *type,
			struct json *field)
{
	static const char *const keys[] = {"is_time", NULL};
	const struct yaml *dimension = yaml_get(map, "dimension");
	bool number = type && (strcmp(type, "integer") == 0 || strcmp(type, "decimal") == 0);
	bool is_time = type && strcmp(type, "time") == 0;
	struct err err;

	if (!yaml_is_null(dimension) && source_keys(source, dimension, "dimension", keys) &&
	    yaml_get(dimension, "is_time") &&
	    yaml_want_bool(yaml_get(dimension, "is_time"), &is_time, &err) < 0) {
		source->mistake_count++;
		buf_addf(source->mistakes, "%s\n", err.text);
	}
	json_set_str(field, "type", is_time ? "time" : type ? type : "unknown");
	json_set_bool(field, "dimension", !number || !yaml_is_null(dimension));
	json_set_bool(field, "is_time", is_time);
}

static bool all_texts(const struct json *list)
{
	json_each(item, list)
	{
		if (!json_str(item))
			return false;
	}
	return json_type(list) == JSON_ARRAY;
}

static void field_values(struct source *source, const struct yaml *node,
			 const struct json *extension, struct json *field)
{
	struct json *list = json_array();

	json_each(member, json_get(extension, "values"))
	{
		struct json *item = json_object();
		bool good = all_texts(member);

		if (!good)
			source_mistake(source, node, "WRIT: values.%s is a list of synonyms",
				       json_key(member));
		json_set_str(item, "value", json_key(member));
		json_set(item, "synonyms", good ? json_copy(member) : json_array());
		json_push(list, item);
	}
	json_set(field, "values", list);
}

static void field_extension(struct source *source, const struct yaml *map, const char *name,
			    struct json *field)
{
	static const struct extension_key keys[] = {
		{"label", EXT_TEXT, 0},	    {"unit", EXT_TEXT, 0},	  {"missing", EXT_TEXT, 0},
		{"names_row", EXT_BOOL, 0}, {"time_format", EXT_TEXT, 0}, {"values", EXT_OBJECT, 0},
		{"instant", EXT_BOOL, 0},   {NULL, EXT_TEXT, 0}};
	const struct yaml *node;
	CLEANUP(json_freep)
	struct json *extension = source_extension(source, map, "a field", keys, &node);
	const char *label = text_of(extension, "label");
	const char *format = text_of(extension, "time_format");

	if (label)
		json_set_str(field, "label", label);
	else
		source_set_taken(field, "label", source_label(name));
	source_set_text(field, "unit", text_of(extension, "unit"));
	source_set_text(field, "missing", text_of(extension, "missing"));
	json_set_bool(field, "names_row", json_get_bool(extension, "names_row", false));
	json_set_str(field, "time_format", format ? format : "text");
	if (json_get_bool(extension, "instant", false)) {
		json_set_bool(field, "instant", true);
		if (!json_get_bool(field, "is_time", false))
			source_mistake(source, node, "WRIT: instant: %s is no time field", name);
	}
	if (format && strcmp(format, "text") != 0 && strcmp(format, "epoch") != 0)
		source_mistake(source, node, "WRIT: time_format is text or epoch, not %s", format);
	field_values(source, node, extension, field);
}

static struct json *read_field(struct source *source, const struct yaml *map, const char *dataset,
			       const char *table)
{
	static const char *const keys[] = {"name",	 "expression",	      "dimension",
					   "label",	 "description",	      "datatype",
					   "ai_context", "custom_extensions", NULL};
	const struct yaml *expression;
	const char *name, *type;
	struct json *field, *reads = NULL;

	if (yaml_kind(map) != YAML_MAP) {
		source_mistake(source, map, "a field is a map of its keys");
		return NULL;
	}
	IGNORE(!source_keys(source, map, "a field", keys), "the rest is read all the same");
	name = source_name(source, map, "a field");
	if (!name)
		return NULL;
	field = json_object();
	json_set_str(field, "name", name);
	type = field_type(source, map);
	IGNORE(!source_text(source, map, "a field", "label", false), "a category, not used here");
	source_set_text(field, "description",
			source_text(source, map, "a field", "description", false));
	json_set(field, "synonyms", source_synonyms(source, map, "a field"));
	field_roles(source, map, type, field);
	field_extension(source, map, name, field);
	expression = source_expression(source, map, "a field");
	if (expression)
		reads = own_expression(source, expression, name, yaml_text(expression), dataset,
				       table);
	json_set_str(field, "expression", reads ? yaml_text(expression) : name);
	json_set(field, "reads", reads ? reads : json_array());
	source_place(field, map);
	return field;
}

/* Names compare without case, as the database's own do. */
static bool named_in(const struct json *list, const char *name)
{
	json_each(item, list)
	{
		if (strcasecmp(json_get_str(item, "name"), name) == 0)
			return true;
	}
	return false;
}

/* Puts what other fields are in place of their names. */
static void expand_field(struct source *source, const struct yaml *map, const char *dataset,
			 const char *table, const char *text, struct json *field)
{
	struct json *reads;

	if (strcmp(text, json_get_str(field, "expression")) == 0)
		return;
	reads = own_expression(source, yaml_get(map, "expression"), json_get_str(field, "name"),
			       text, dataset, table);
	if (!reads)
		return;
	json_set_str(field, "expression", text);
	json_set(field, "reads", reads);
}

static const struct yaml *field_node(const struct yaml *list, const char *name)
{
	for (size_t i = 0; i < yaml_len(list); i++) {
		const struct yaml *node = yaml_kind(yaml_at(list, i)) == YAML_MAP
						  ? yaml_get(yaml_at(list, i), "name")
						  : NULL;

		if (node && yaml_text(node) && strcmp(yaml_text(node), name) == 0)
			return yaml_at(list, i);
	}
	return list;
}

/* Takes fields. All are read before any is changed, so that their order does not matter. */
static struct json *expand_fields(struct source *source, const struct yaml *list,
				  const char *dataset, const char *table, struct json *fields)
{
	struct json *expanded = json_array();

	json_each(field, fields)
	{
		const char *circle, *name = json_get_str(field, "name");
		CLEANUP(mem_freep) char *text = source_expanded(fields, dataset, field, &circle);
		struct json *copy = json_copy(field);

		if (circle)
			source_mistake(source, field_node(list, name),
				       "field %s reads itself, by way of %s "
				       "(E_FIELD_DEPENDENCY_CYCLE)",
				       name, circle);
		else
			expand_field(source, field_node(list, name), dataset, table, text, copy);
		json_push(expanded, copy);
	}
	json_free(fields);
	return expanded;
}

static struct json *read_fields(struct source *source, const struct yaml *map, const char *dataset,
				const char *table)
{
	const struct yaml *list = source_list(source, map, "a dataset", "fields", false);
	struct json *fields = json_array();

	for (size_t i = 0; list && i < yaml_len(list); i++) {
		struct json *field = read_field(source, yaml_at(list, i), dataset, table);

		if (!field)
			continue;
		if (named_in(fields, json_get_str(field, "name"))) {
			source_mistake(source, yaml_get(yaml_at(list, i), "name"),
				       "dataset %s has two fields %s", dataset,
				       json_get_str(field, "name"));
			json_free(field);
		} else {
			json_push(fields, field);
		}
	}
	return list ? expand_fields(source, list, dataset, table, fields) : fields;
}

/* The table of "database.schema.table". A query cannot be granted table by table, so it is none. */
static char *table_of(struct source *source, const struct yaml *map)
{
	const char *text = source_text(source, map, "a dataset", "source", true);
	const char *dot = text ? strrchr(text, '.') : NULL;
	const char *table = dot ? dot + 1 : text;

	if (!text)
		return mem_str("");
	if (strpbrk(text, " \t\n()") || table[0] == '\0') {
		source_mistake(source, yaml_get(map, "source"),
			       "source is the name of a table or view, not a query");
		return mem_str("");
	}
	return mem_str(table);
}

static struct json *unique_keys(struct source *source, const struct yaml *map)
{
	const struct yaml *list = source_list(source, map, "a dataset", "unique_keys", false);
	struct json *keys = json_array();

	for (size_t i = 0; list && i < yaml_len(list); i++) {
		const struct yaml *item = yaml_at(list, i);
		struct json *key = json_array();

		if (yaml_kind(item) != YAML_LIST || yaml_len(item) == 0)
			source_mistake(source, item, "a unique key is a list of columns");
		for (size_t j = 0; yaml_kind(item) == YAML_LIST && j < yaml_len(item); j++) {
			if (yaml_kind(yaml_at(item, j)) == YAML_SCALAR)
				json_push_str(key, yaml_text(yaml_at(item, j)));
			else
				source_mistake(source, yaml_at(item, j),
					       "a unique key is a list of columns");
		}
		json_push(keys, key);
	}
	return keys;
}

static void dataset_filter(struct source *source, const struct yaml *node,
			   const struct json *extension, struct json *dataset)
{
	const char *filter = text_of(extension, "filter");
	const char *words = text_of(extension, "filter_words");
	struct json *reads;

	if (!filter != !words)
		source_mistake(source, node,
			       "WRIT: filter and filter_words come together: what the answer says "
			       "must be what the query does");
	if (!filter || !words)
		return;
	reads = own_expression(source, node, "filter", filter, json_get_str(dataset, "name"),
			       json_get_str(dataset, "table"));
	if (!reads)
		return;
	json_set_str(dataset, "filter", filter);
	json_set_str(dataset, "filter_words", words);
	json_set(dataset, "reads", reads);
}

static void dataset_extension(struct source *source, const struct yaml *map, struct json *dataset)
{
	static const struct extension_key keys[] = {
		{"label", EXT_TEXT, 0},	 {"grain", EXT_TEXT, 0},	{"time", EXT_TEXT, 0},
		{"filter", EXT_TEXT, 0}, {"filter_words", EXT_TEXT, 0}, {NULL, EXT_TEXT, 0}};
	const struct yaml *node;
	CLEANUP(json_freep)
	struct json *extension = source_extension(source, map, "a dataset", keys, &node);
	const char *label = text_of(extension, "label");

	if (label)
		json_set_str(dataset, "label", label);
	else
		source_set_taken(dataset, "label", source_label(json_get_str(dataset, "name")));
	source_set_text(dataset, "grain", text_of(extension, "grain"));
	source_set_text(dataset, "time", text_of(extension, "time"));
	dataset_filter(source, node, extension, dataset);
}

/* Windows are worked out beside the table and joined by its key. */
static void check_windows(struct source *source, const struct yaml *map, const struct json *dataset)
{
	json_each(field, json_get(dataset, "fields"))
	{
		struct expr *expr = NULL;
		bool window;

		if (expr_parse(json_get_str(field, "expression"), &expr, NULL, NULL) < 0)
			continue; /* said already */
		window = expr_has_window(expr);
		expr_free(expr);
		if (!window || json_len(json_get(dataset, "primary_key")) > 0)
			continue;
		source_mistake(source, map,
			       "field %s is a window, so its dataset needs a primary key "
			       "(E_PRIMARY_KEY_REQUIRED)",
			       json_get_str(field, "name"));
		return;
	}
}

struct json *source_dataset(struct source *source, const struct yaml *map)
{
	static const char *const keys[] = {
		"name",	      "source", "primary_key",	     "unique_keys", "description",
		"ai_context", "fields", "custom_extensions", NULL};
	CLEANUP(mem_freep) char *table = NULL;
	const char *name;
	struct json *dataset;

	if (yaml_kind(map) != YAML_MAP) {
		source_mistake(source, map, "a dataset is a map of its keys");
		return NULL;
	}
	IGNORE(!source_keys(source, map, "a dataset", keys), "the rest is read all the same");
	name = source_name(source, map, "a dataset");
	if (!name)
		return NULL;
	table = table_of(source, map);
	dataset = json_object();
	json_set_str(dataset, "name", name);
	json_set_str(dataset, "table", table);
	source_set_text(dataset, "description",
			source_text(source, map, "a dataset", "description", false));
	json_set(dataset, "synonyms", source_synonyms(source, map, "a dataset"));
	json_set(dataset, "primary_key",
		 source_texts(source, map, "a dataset", "primary_key", false));
	json_set(dataset, "unique_keys", unique_keys(source, map));
	dataset_extension(source, map, dataset);
	json_set(dataset, "fields", read_fields(source, map, name, table));
	check_windows(source, map, dataset);
	source_place(dataset, map);
	return dataset;
}

void source_check_time(struct source *source, const struct yaml *node, const char *what,
		       const struct model *model, const struct model_dataset *from, const char *id)
{
	const struct model_field *time = model_field(model, id);

	if (!time)
		source_mistake(source, node, "time of %s: no field %s; write dataset.field", what,
			       id);
	else if (!time->is_time)
		source_mistake(source, node, "time of %s: %s is no time field", what, id);
	else if (model_path(model, from, time->dataset, NULL, NULL) != PATH_ONE)
		source_mistake(source, node, "time of %s: no single way leads from %s to %s", what,
			       from->name, id);
}
