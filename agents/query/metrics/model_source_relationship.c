/* The model compiler: relationships. Refused beside bad shape: ends that are no datasets, unequal
 * lists of columns, a to side whose columns hold none of its keys. */
#include "agents/query/metrics/model_source.h"

#include <string.h>

#include "base/nearest.h"

static bool has_text(const struct json *list, const char *text)
{
	json_each(item, list)
	{
		if (strcmp(json_str(item), text) == 0)
			return true;
	}
	return false;
}

static const struct json *end_of(struct source *source, const struct yaml *map, const char *key,
				 const struct json *datasets)
{
	const char *name = source_text(source, map, "a relationship", key, true);
	const char *names[256];
	const char *near;
	size_t count = 0;

	if (!name)
		return NULL;
	json_each(dataset, datasets)
	{
		if (strcmp(json_get_str(dataset, "name"), name) == 0)
			return dataset;
		if (count < ARRAY_LEN(names))
			names[count++] = json_get_str(dataset, "name");
	}
	near = nearest_word(name, names, count);
	source_mistake(source, yaml_get(map, key), "no dataset %s%s%s%s", name,
		       near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
	return NULL;
}

/* Every column of the key is among columns: then columns tell rows apart. */
static bool covers(const struct json *columns, const struct json *key)
{
	json_each(column, key)
	{
		if (!has_text(columns, json_str(column)))
			return false;
	}
	return json_len(key) > 0;
}

static void check_to_key(struct source *source, const struct yaml *map, const struct json *to,
			 const struct json *columns)
{
	const struct json *primary = json_get(to, "primary_key");
	const struct json *unique = json_get(to, "unique_keys");

	if (json_len(primary) == 0 && json_len(unique) == 0)
		return; /* the relationship itself promises it; the database is asked later */
	if (covers(columns, primary))
		return;
	json_each(key, unique)
	{
		if (covers(columns, key))
			return;
	}
	source_mistake(
		source, yaml_get(map, "to_columns"),
		"to_columns hold no primary or unique key of %s, so a row could meet several",
		json_get_str(to, "name"));
}

static void add_reads(struct json *reads, const struct json *dataset, const struct json *columns)
{
	json_each(column, columns)
	{
		CLEANUP(mem_freep)
		char *read = mem_format("%s.%s", json_get_str(dataset, "table"), json_str(column));

		json_push_str(reads, read);
	}
}

static struct json *relationship_json(const struct yaml *map, const char *name,
				      const struct json *from, const struct json *to,
				      struct json *from_columns, struct json *to_columns)
{
	struct json *relationship = json_object(), *reads = json_array();

	add_reads(reads, from, from_columns);
	add_reads(reads, to, to_columns);
	json_set_str(relationship, "name", name);
	json_set_str(relationship, "from", json_get_str(from, "name"));
	json_set_str(relationship, "to", json_get_str(to, "name"));
	json_set(relationship, "from_columns", from_columns);
	json_set(relationship, "to_columns", to_columns);
	json_set(relationship, "reads", reads);
	source_place(relationship, map);
	return relationship;
}

struct json *source_relationship(struct source *source, const struct yaml *map,
				 const struct json *datasets)
{
	static const char *const keys[] = {"name",
					   "from",
					   "to",
					   "from_columns",
					   "to_columns",
					   "ai_context",
					   "custom_extensions",
					   NULL};
	static const struct extension_key none[] = {{NULL, EXT_TEXT, 0}};
	const struct yaml *node;
	const struct json *from, *to;
	CLEANUP(json_freep) struct json *from_columns = NULL;
	CLEANUP(json_freep) struct json *to_columns = NULL;
	size_t before = source->mistake_count;
	const char *name;

	if (!source_keys(source, map, "a relationship", keys) && yaml_kind(map) != YAML_MAP)
		return NULL;
	name = source_name(source, map, "a relationship");
	from = end_of(source, map, "from", datasets);
	to = end_of(source, map, "to", datasets);
	from_columns = source_texts(source, map, "a relationship", "from_columns", true);
	to_columns = source_texts(source, map, "a relationship", "to_columns", true);
	json_free(source_extension(source, map, "a relationship", none, &node));
	if (source->mistake_count > before)
		return NULL;
	if (json_len(from_columns) != json_len(to_columns))
		source_mistake(source, yaml_get(map, "to_columns"),
			       "from_columns has %zu columns, to_columns %zu; they are matched in "
			       "order",
			       json_len(from_columns), json_len(to_columns));
	else
		check_to_key(source, map, to, to_columns);
	if (source->mistake_count > before)
		return NULL;
	return relationship_json(map, name, from, to, TAKE(from_columns), TAKE(to_columns));
}
