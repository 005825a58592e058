/*
 * What an allow rule keeps back of a table it grants: rows, masks, groups. Written at the table,
 * put into "rows", "masks" and "require" of the rule's data, where policy_view() finds them.
 */
#include <string.h>

#include "policy/compile_parts.h"
#include "writ/limits.h"

#define MIN_GROUP_MAX 1000000

/* {user: tenant}: taken from the session when the call is made. */
static struct json *compile_user_value(struct compile *compile, const struct yaml *node)
{
	static const char *const keys[] = {"user", NULL};
	const char *name;
	struct json *json;

	if (!check_map(&compile->check, node, "a value", keys))
		return NULL;
	name = check_name(&compile->check,
			  check_member(&compile->check, node, "a value", "user", "{user: tenant}"),
			  "what of the user");
	if (name == NULL)
		return NULL;
	json = json_object();
	json_set_str(json, "user", name);
	return json;
}

static bool is_map(const struct yaml *node)
{
	return !yaml_is_null(node) && yaml_kind(node) == YAML_MAP;
}

static struct json *compile_value(struct compile *compile, const struct yaml *node)
{
	int64_t number;
	const char *text;

	if (is_map(node))
		return compile_user_value(compile, node);
	if (!yaml_is_null(node) &&
	    yaml_want_int(node, -JSON_INT_MAX, JSON_INT_MAX, &number, NULL) == 0)
		return json_new_int(number);
	text = check_text(&compile->check, node, "a value");
	return text == NULL ? NULL : json_new_str(text);
}

static struct json *compile_values(struct compile *compile, const struct yaml *node,
				   const char *what)
{
	CLEANUP(list_items_clear) struct list_items items = {NULL, 0};
	struct json *list;

	if (is_map(node))
		return compile_user_value(compile, node);
	if (!check_list(&compile->check, node, what))
		return NULL;
	list = json_array();
	list_items_of(compile, node, &items);
	for (size_t i = 0; i < items.count; i++) {
		struct json *value =
			is_map(items.nodes[i]) ? NULL : compile_value(compile, items.nodes[i]);

		if (is_map(items.nodes[i]))
			check_fail(&compile->check, "wrong_type", items.nodes[i],
				   "a list of the user's stands alone: %s: {user: NAME}", what);
		if (value != NULL)
			json_push(list, value);
	}
	return list;
}

static void compile_row_range(struct compile *compile, const struct yaml *node, struct json *json)
{
	static const char *const keys[] = {"min", "max", "min_inclusive", "max_inclusive", NULL};
	static const char *const bounds[] = {"min", "max"};
	static const char *const inclusive[] = {"min_inclusive", "max_inclusive"};

	if (!check_map(&compile->check, node, "range", keys))
		return;
	for (size_t i = 0; i < ARRAY_LEN(bounds); i++) {
		const struct yaml *bound = yaml_get(node, bounds[i]);
		const struct yaml *closed = yaml_get(node, inclusive[i]);
		struct json *value = bound == NULL ? NULL : compile_value(compile, bound);
		bool truth;

		if (value != NULL)
			json_set(json, bounds[i], value);
		if (closed == NULL)
			continue;
		if (yaml_want_bool(closed, &truth, NULL) < 0)
			check_fail(&compile->check, "bad_value", closed, "%s must be true or false",
				   inclusive[i]);
		else
			json_set_bool(json, inclusive[i], truth);
	}
	if (yaml_get(node, "min") == NULL && yaml_get(node, "max") == NULL)
		check_fail(&compile->check, "missing_key", node, "range needs min or max");
}

static struct json *compile_condition(struct compile *compile, const char *column,
				      const struct yaml *node)
{
	static const char *const types[] = {"exact", "one_of", "not_one_of", "range", NULL};
	struct json *json;
	const char *type;
	const struct yaml *value;

	if (!check_map(&compile->check, node, "a condition on rows", types))
		return NULL;
	if (yaml_len(node) != 1) {
		check_fail(&compile->check, "bad_value", node,
			   "one condition a column: {exact: x}, {one_of: [a, b]}, {not_one_of: "
			   "[a]} or {range: {min: 1}}");
		return NULL;
	}
	type = yaml_text(yaml_key(node, 0));
	value = yaml_value(node, 0);
	json = json_object();
	json_set_str(json, "column", column);
	json_set_str(json, "constraint_type", type);
	if (strcmp(type, "exact") == 0)
		json_set(json, "value", compile_value(compile, value));
	else if (strcmp(type, "one_of") == 0)
		json_set(json, "values", compile_values(compile, value, type));
	else if (strcmp(type, "not_one_of") == 0)
		json_set(json, "excluded", compile_values(compile, value, type));
	else
		compile_row_range(compile, value, json);
	return json;
}

static struct json *compile_rows(struct compile *compile, const struct yaml *node)
{
	struct json *conditions = json_array();

	if (!is_map(node) || yaml_len(node) == 0) {
		check_fail(&compile->check, "wrong_type", node,
			   "rows must be a map like {region: {one_of: {user: regions}}}");
		return conditions;
	}
	for (size_t i = 0; i < yaml_len(node); i++) {
		const char *column = check_text(&compile->check, yaml_key(node, i), "a column");
		struct json *condition =
			column == NULL ? NULL
				       : compile_condition(compile, column, yaml_value(node, i));

		if (condition != NULL)
			json_push(conditions, condition);
	}
	return conditions;
}

static void compile_mask(struct compile *compile, const struct yaml *key, const struct yaml *value,
			 const char *database, const char *table, struct json *masks)
{
	static const char *const names[] = {"hash", "last4", "null", "redact"};
	const char *column = check_text(&compile->check, key, "a column");
	const char *mask =
		check_word(&compile->check, value, "mask", (struct words){names, ARRAY_LEN(names)});
	const struct json *tables;

	if (column == NULL || mask == NULL)
		return;
	if (strncmp(column, "tag:", 4) != 0) {
		json_set_str(masks, column, mask);
		return;
	}
	tables = tag_tables(compile, key, column + 4, database);
	json_each(tagged, json_get(tables, table)) json_set_str(masks, json_str(tagged), mask);
}

static struct json *compile_masks(struct compile *compile, const struct yaml *node,
				  const char *database, const char *table)
{
	struct json *masks = json_object();

	if (!is_map(node) || yaml_len(node) == 0) {
		check_fail(&compile->check, "wrong_type", node,
			   "masks must be a map like {email: hash}; there are hash, last4, redact "
			   "and \"null\"");
		return masks;
	}
	for (size_t i = 0; i < yaml_len(node); i++)
		compile_mask(compile, yaml_key(node, i), yaml_value(node, i), database, table,
			     masks);
	return masks;
}

static struct json *compile_require(struct compile *compile, const struct yaml *node)
{
	static const char *const keys[] = {"aggregate", "min_group", "of", NULL};
	static const char what[] = "require";
	struct json *require = json_object();
	const struct yaml *aggregate;
	const struct yaml *group;
	bool truth = false;
	int64_t least = 2;

	if (!check_map(&compile->check, node, what, keys))
		return require;
	aggregate = check_member(&compile->check, node, what, "aggregate", "aggregate: true");
	group = check_member(&compile->check, node, what, "min_group", "min_group: 5");
	if (aggregate != NULL && (yaml_want_bool(aggregate, &truth, NULL) < 0 || !truth))
		check_fail(&compile->check, "bad_value", aggregate,
			   "only aggregate: true; leave require out to show rows");
	if (group != NULL && yaml_want_int(group, 2, MIN_GROUP_MAX, &least, NULL) < 0)
		check_fail(&compile->check, "bad_value", group,
			   "min_group must be a whole number from 2 to %d", MIN_GROUP_MAX);
	json_set_int(require, "min_group", least);
	json_set_str(require, "of",
		     check_text(&compile->check,
				check_member(&compile->check, node, what, "of", "of: staff_id"),
				"the column that tells apart what is counted"));
	return require;
}

static void set_of_table(struct json *data, const char *key, const char *table, struct json *value)
{
	struct json *tables = json_get_mut(data, key);

	if (tables == NULL) {
		tables = json_object();
		json_set(data, key, tables);
		tables = json_get_mut(data, key);
	}
	json_set(tables, table, value);
}

void compile_restrictions(struct compile *compile, const struct yaml *tables, const char *database,
			  bool takes_away, struct json *data)
{
	static const char *const keys[] = {"rows", "masks", "require"};

	for (size_t i = 0; is_map(tables) && i < yaml_len(tables); i++) {
		const char *name = yaml_text(yaml_key(tables, i));
		const struct yaml *table = yaml_value(tables, i);
		const struct yaml *nodes[ARRAY_LEN(keys)] = {NULL};

		for (size_t k = 0; is_map(table) && k < ARRAY_LEN(keys); k++) {
			nodes[k] = yaml_get(table, keys[k]);
			if (nodes[k] != NULL && takes_away)
				check_fail(&compile->check, "bad_value", nodes[k],
					   "%s is for allow rules: it keeps back a part of what "
					   "they grant",
					   keys[k]);
		}
		if (takes_away)
			continue;
		if (nodes[0] != NULL)
			set_of_table(data, "rows", name, compile_rows(compile, nodes[0]));
		if (nodes[1] != NULL)
			set_of_table(data, "masks", name,
				     compile_masks(compile, nodes[1], database, name));
		if (nodes[2] != NULL)
			set_of_table(data, "require", name, compile_require(compile, nodes[2]));
	}
}
