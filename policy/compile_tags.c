/*
 * Tags: names for columns that are alike in a way rules care about ("pii"). Any scope file may tag
 * columns; rules of all files see the tags of all files.
 *
 *   tags:
 *     pii:
 *       sales: {customers: [email, phone]}
 */
#include <string.h>

#include "policy/compile_parts.h"

static struct json *member(struct json *object, const char *key)
{
	struct json *found = json_get_mut(object, key);

	if (found != NULL)
		return found;
	json_set(object, key, json_object());
	return json_get_mut(object, key);
}

static const struct json *find_named(const struct json *list, const char *name)
{
	json_each(item, list) if (strcmp(json_get_str(item, "name"), name) == 0) return item;
	return NULL;
}

static void check_known(struct compile *compile, const struct yaml *node, const char *code,
			const char *what, const struct json *known)
{
	size_t count = 0;
	CLEANUP(mem_freep) const char **names = mem_array(json_len(known), sizeof(*names));

	if (find_named(known, yaml_text(node)) != NULL)
		return;
	json_each(item, known) names[count++] = json_get_str(item, "name");
	check_unknown(&compile->check, code, node, what, (struct words){names, count});
}

/* One table; catalog NULL: not known. */
static void tag_columns(struct compile *compile, const struct yaml *key, const struct yaml *value,
			const struct json *catalog, struct json *tables)
{
	CLEANUP(list_items_clear) struct list_items items = {NULL, 0};
	const struct json *known_tables = json_get(catalog, "tables");
	const struct json *known;
	struct json *columns;

	if (check_text(&compile->check, key, "a table") == NULL ||
	    !check_list(&compile->check, value, "the tagged columns"))
		return;
	if (catalog != NULL)
		check_known(compile, key, "unknown_table", "table", known_tables);
	known = find_named(known_tables, yaml_text(key));
	if (json_get(tables, yaml_text(key)) == NULL)
		json_set(tables, yaml_text(key), json_array());
	columns = json_get_mut(tables, yaml_text(key));
	list_items_of(compile, value, &items);
	for (size_t i = 0; i < items.count; i++) {
		if (check_text(&compile->check, items.nodes[i], "a column") == NULL)
			continue;
		if (known != NULL)
			check_known(compile, items.nodes[i], "unknown_column", "column",
				    json_get(known, "columns"));
		push_name(compile, columns, items.nodes[i], yaml_text(items.nodes[i]), true);
	}
}

static void tag_database(struct compile *compile, const struct yaml *key, const struct yaml *value,
			 struct json *databases)
{
	const struct names *known = compile->world->databases;

	if (known != NULL && check_word(&compile->check, key, "database",
					(struct words){known->items, known->count}) == NULL)
		return;
	if (yaml_is_null(value) || yaml_kind(value) != YAML_MAP) {
		check_fail(&compile->check, "wrong_type", value,
			   "a tag names columns by table: {customers: [email, phone]}");
		return;
	}
	for (size_t i = 0; i < yaml_len(value); i++)
		tag_columns(compile, yaml_key(value, i), yaml_value(value, i),
			    json_get(compile->world->catalogs, yaml_text(key)),
			    member(databases, yaml_text(key)));
}

void compile_tags(struct compile *compile, const struct yaml *tags)
{
	if (tags == NULL)
		return;
	if (yaml_is_null(tags) || yaml_kind(tags) != YAML_MAP) {
		check_fail(&compile->check, "wrong_type", tags,
			   "tags must be a map like {pii: {sales: {customers: [email]}}}");
		return;
	}
	for (size_t i = 0; i < yaml_len(tags); i++) {
		const char *name = check_name(&compile->check, yaml_key(tags, i), "a tag");
		const struct yaml *value = yaml_value(tags, i);

		if (name == NULL)
			continue;
		if (yaml_is_null(value) || yaml_kind(value) != YAML_MAP) {
			check_fail(&compile->check, "wrong_type", value,
				   "tag %s must be a map like {sales: {customers: [email]}}", name);
			continue;
		}
		for (size_t d = 0; d < yaml_len(value); d++)
			tag_database(compile, yaml_key(value, d), yaml_value(value, d),
				     member(compile->tags, name));
	}
}

const struct json *tag_tables(struct compile *compile, const struct yaml *node, const char *tag,
			      const char *database)
{
	const struct json *known = tag == NULL ? NULL : json_get(compile->tags, tag);
	CLEANUP(mem_freep)
	const char **names = mem_array(json_len(compile->tags), sizeof(*names));
	const struct json *tables;
	size_t count = 0;

	if (known == NULL) {
		json_each(item, compile->tags) names[count++] = json_key(item);
		check_unknown_text(&compile->check, "unknown_tag", node, "tag",
				   tag == NULL ? "" : tag, (struct words){names, count});
		return NULL;
	}
	tables = database == NULL ? NULL : json_get(known, database);
	if (tables == NULL && database != NULL)
		check_fail(&compile->check, "unknown_tag", node,
			   "tag %s marks no column of database %s", tag, database);
	return tables;
}
