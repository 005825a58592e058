/*
 * What an allow rule keeps back, read from a bundle: checked whole once, so that policy_view() can
 * copy it. Strict like bundle.c.
 */
#include <string.h>

#include "policy/bundle_model.h"

static bool is_user_value(const struct json *value)
{
	return json_type(value) == JSON_OBJECT && json_len(value) == 1 &&
	       json_get_str(value, "user") != NULL;
}

static bool is_value(const struct json *value)
{
	return json_type(value) == JSON_INT || json_type(value) == JSON_STRING ||
	       is_user_value(value);
}

static bool is_values(const struct json *values)
{
	if (is_user_value(values))
		return true;
	if (json_type(values) != JSON_ARRAY)
		return false;
	json_each(value, values) if (!is_value(value) || is_user_value(value)) return false;
	return true;
}

static bool is_flag(const struct json *json)
{
	return json == NULL || json_type(json) == JSON_BOOL;
}

static bool is_range(const struct json *condition)
{
	const struct json *min = json_get(condition, "min");
	const struct json *max = json_get(condition, "max");

	return (min != NULL || max != NULL) && (min == NULL || is_value(min)) &&
	       (max == NULL || is_value(max)) && is_flag(json_get(condition, "min_inclusive")) &&
	       is_flag(json_get(condition, "max_inclusive"));
}

static bool is_condition(const struct json *condition)
{
	static const struct {
		const char *type;
		const char *keys[7];
	} shapes[] = {
		{"exact", {"column", "constraint_type", "value", NULL}},
		{"one_of", {"column", "constraint_type", "values", NULL}},
		{"not_one_of", {"column", "constraint_type", "excluded", NULL}},
		{"range",
		 {"column", "constraint_type", "min", "max", "min_inclusive", "max_inclusive",
		  NULL}},
	};
	const char *type = json_get_str(condition, "constraint_type");
	struct err ignored;
	size_t i = 0;

	if (type == NULL || json_get_str(condition, "column") == NULL)
		return false;
	while (i < ARRAY_LEN(shapes) && strcmp(shapes[i].type, type) != 0)
		i++;
	if (i == ARRAY_LEN(shapes) || json_only(condition, shapes[i].keys, &ignored) < 0)
		return false;
	switch (i) {
	case 0:
		return is_value(json_get(condition, "value"));
	case 1:
		return is_values(json_get(condition, "values"));
	case 2:
		return is_values(json_get(condition, "excluded"));
	default:
		return is_range(condition);
	}
}

static bool is_rows(const struct json *rows)
{
	if (json_type(rows) != JSON_ARRAY || json_len(rows) == 0)
		return false;
	json_each(condition, rows) if (!is_condition(condition)) return false;
	return true;
}

int policy_mask_rank(const char *mask)
{
	static const char *const masks[] = {"last4", "hash", "redact", "null"};

	for (size_t i = 0; mask != NULL && i < ARRAY_LEN(masks); i++)
		if (strcmp(masks[i], mask) == 0)
			return (int)i + 1;
	return 0;
}

static bool is_masks(const struct json *masks)
{
	if (json_type(masks) != JSON_OBJECT)
		return false;
	json_each(mask, masks) if (policy_mask_rank(json_str(mask)) == 0) return false;
	return true;
}

static bool is_require(const struct json *require)
{
	static const char *const keys[] = {"min_group", "of", NULL};
	struct err ignored;

	return json_type(require) == JSON_OBJECT && json_only(require, keys, &ignored) == 0 &&
	       json_get_int(require, "min_group", 0) >= 2 && json_get_str(require, "of") != NULL;
}

static int read_tables(const struct json *data, const char *key, bool is_right(const struct json *),
		       const struct json **ret_tables, struct err *err)
{
	const struct json *tables = json_get(data, key);

	if (tables == NULL)
		return 0;
	if (json_type(tables) != JSON_OBJECT)
		return err_set(err, ERR_INVALID, "%s must be an object", key);
	json_each(table, tables) if (!is_right(table)) return err_set(
		err, ERR_INVALID, "%s of %s are malformed", key, json_key(table));
	*ret_tables = tables;
	return 0;
}

int bundle_restrict_read(const struct json *json, struct rule_data *data, struct err *err)
{
	if (read_tables(json, "rows", is_rows, &data->rows, err) < 0 ||
	    read_tables(json, "masks", is_masks, &data->masks, err) < 0)
		return -1;
	return read_tables(json, "require", is_require, &data->require, err);
}
