/*
 * Reading the restrictions of a view, strictly: whatever is not understood is an error, so that the
 * call fails instead of showing more. What can fail: the shape.
 */
#include "broker/connectors/sqlite_restrict.h"

#include <string.h>

#include "base/crypto.h"
#include "base/mem.h"

#define VALUES_MAX 10000

static const char *const mask_names[] = {
	[MASK_NONE] = "none",	  [MASK_LAST4] = "last4", [MASK_HASH] = "hash",
	[MASK_REDACT] = "redact", [MASK_NULL] = "null",
};

const char *mask_name(enum mask mask)
{
	return mask_names[mask];
}

static struct restriction *restriction_of(struct restriction **restrictions, size_t table)
{
	if (!restrictions[table])
		restrictions[table] = mem_alloc(sizeof(*restrictions[table]));
	return restrictions[table];
}

static int add_value(struct bound_values *bound, const struct json *value, struct err *err)
{
	if (json_type(value) != JSON_STRING && json_type(value) != JSON_INT)
		return err_set(err, ERR_INVALID, "a value is neither a string nor an integer");
	if (json_len(bound->values) >= VALUES_MAX)
		return err_set(err, ERR_LIMIT, "more than %d values", VALUES_MAX);
	json_push(bound->values, json_copy(value));
	return 0;
}

static int add_values(struct bound_values *bound, const struct json *values,
		      struct row_condition *condition, struct err *err)
{
	if (json_type(values) != JSON_ARRAY)
		return err_set(err, ERR_INVALID, "no list of values");
	condition->value_count = json_len(values);
	json_each(value, values) if (add_value(bound, value, err) < 0) return -1;
	return 0;
}

static int read_range(const struct json *source, struct bound_values *bound,
		      struct row_condition *condition, struct err *err)
{
	const struct json *min = json_get(source, "min");
	const struct json *max = json_get(source, "max");

	condition->test = ROW_RANGE;
	condition->has_min = !json_is_null(min);
	condition->has_max = !json_is_null(max);
	condition->min_open = !json_get_bool(source, "min_inclusive", true);
	condition->max_open = !json_get_bool(source, "max_inclusive", true);
	condition->no_text = json_type(min) == JSON_INT && !condition->has_max;
	if (!condition->has_min && !condition->has_max)
		return err_set(err, ERR_INVALID, "a range without bounds");
	if ((condition->has_min && add_value(bound, min, err) < 0) ||
	    (condition->has_max && add_value(bound, max, err) < 0))
		return -1;
	condition->value_count = json_len(bound->values) - condition->first_value;
	return 0;
}

static int read_test(const struct json *source, struct bound_values *bound,
		     struct row_condition *condition, struct err *err)
{
	const char *type;

	condition->first_value = json_len(bound->values);
	if (json_want_str(source, "constraint_type", &type, err) < 0)
		return -1;
	if (strcmp(type, "range") == 0)
		return read_range(source, bound, condition, err);
	if (strcmp(type, "exact") == 0) {
		condition->test = ROW_ONE_OF;
		condition->value_count = 1;
		return add_value(bound, json_get(source, "value"), err);
	}
	if (strcmp(type, "one_of") == 0) {
		condition->test = ROW_ONE_OF;
		return add_values(bound, json_get(source, "values"), condition, err);
	}
	if (strcmp(type, "not_one_of") == 0) {
		condition->test = ROW_NOT_ONE_OF;
		return add_values(bound, json_get(source, "excluded"), condition, err);
	}
	return err_set(err, ERR_INVALID, "constraint_type %s does not filter rows", type);
}

static int add_condition(struct restriction *restriction, const struct catalog_table *table,
			 const struct json *source, struct bound_values *bound, struct err *err)
{
	struct row_condition condition = {0};
	const char *column;

	if (json_want_str(source, "column", &column, err) < 0 ||
	    read_test(source, bound, &condition, err) < 0)
		return -1;
	condition.column = catalog_column_find(table, column);
	if (condition.column == CATALOG_NONE)
		condition.test = ROW_NEVER;
	restriction->conditions =
		mem_grow(restriction->conditions,
			 (restriction->condition_count + 1) * sizeof(*restriction->conditions));
	restriction->conditions[restriction->condition_count++] = condition;
	return 0;
}

static int read_conditions(struct restriction **restrictions, size_t place,
			   const struct catalog_table *table, const struct json *conditions,
			   struct bound_values *bound, struct err *err)
{
	if (json_type(conditions) != JSON_ARRAY)
		return err_set(err, ERR_INVALID, "no list of conditions");
	json_each(condition,
		  conditions) if (add_condition(restriction_of(restrictions, place), table,
						condition, bound, err) < 0) return -1;
	return 0;
}

static int read_mask(const char *name, enum mask *ret_mask, struct err *err)
{
	for (enum mask mask = MASK_LAST4; mask <= MASK_NULL; mask++) {
		if (!name || strcmp(mask_names[mask], name) != 0)
			continue;
		*ret_mask = mask;
		return 0;
	}
	return err_set(err, ERR_INVALID, "no mask %s", name ? name : "of that type");
}

static int read_masks(struct restriction **restrictions, size_t place,
		      const struct catalog_table *table, const struct json *masks,
		      struct bound_values *bound, struct err *err)
{
	struct restriction *restriction = restriction_of(restrictions, place);

	if (json_type(masks) != JSON_OBJECT)
		return err_set(err, ERR_INVALID, "masks are no object");
	if (!restriction->masks)
		restriction->masks =
			mem_array(table->column_count + 1, sizeof(*restriction->masks));
	json_each(source, masks)
	{
		size_t column = catalog_column_find(table, json_key(source));
		enum mask mask;

		if (read_mask(json_str(source), &mask, err) < 0)
			return -1;
		if (mask == MASK_HASH && !bound->has_mask_key)
			return err_set(err, ERR_INVALID, "a hash without mask_key");
		if (column != CATALOG_NONE && mask > restriction->masks[column])
			restriction->masks[column] = mask;
	}
	return 0;
}

static int read_require(struct restriction **restrictions, size_t place,
			const struct catalog_table *table, const struct json *require,
			struct bound_values *bound, struct err *err)
{
	struct restriction *restriction = restriction_of(restrictions, place);
	const char *unit;
	int64_t least;
	size_t column;

	(void)bound;
	if (json_want_int(require, "min_group", 1, JSON_INT_MAX, &least, err) < 0 ||
	    json_want_str(require, "of", &unit, err) < 0)
		return -1;
	column = catalog_column_find(table, unit);
	if (restriction->min_group && restriction->unit != column)
		column = CATALOG_NONE; /* two that contradict each other: nothing is shown */
	restriction->unit = column;
	if (least > restriction->min_group)
		restriction->min_group = least;
	return 0;
}

typedef int read_one(struct restriction **restrictions, size_t place,
		     const struct catalog_table *table, const struct json *source,
		     struct bound_values *bound, struct err *err);

static int read_each(const struct json *view, const char *key, const struct catalog *catalog,
		     read_one *read, struct restriction **restrictions, struct bound_values *bound,
		     struct err *err)
{
	const struct json *tables = json_get(view, key);

	if (!json_is_null(tables) && json_type(tables) != JSON_OBJECT)
		return err_set(err, ERR_INVALID, "view: \"%s\" is no object", key);
	json_each(source, tables)
	{
		size_t place = catalog_table_find(catalog, json_key(source));

		if (place != CATALOG_NONE &&
		    read(restrictions, place, &catalog->tables[place], source, bound, err) < 0)
			return err_wrap(err, "view: %s of table %s", key, json_key(source));
	}
	return 0;
}

static int read_key(const struct json *view, struct bound_values *bound, struct err *err)
{
	const char *text = json_get_str(view, "mask_key");

	if (!text)
		return 0;
	if (hex_read(text, strlen(text), bound->mask_key, MASK_KEY_LEN, err) < 0)
		return err_wrap(err, "view: mask_key");
	bound->has_mask_key = true;
	return 0;
}

int restrictions_read(const struct json *view, const struct catalog *catalog,
		      struct restriction ***ret_restrictions, struct bound_values *ret_values,
		      struct err *err)
{
	struct restriction **restrictions =
		mem_array(catalog->table_count + 1, sizeof(*restrictions));
	struct bound_values bound = {.values = json_array()};

	if (read_key(view, &bound, err) < 0 ||
	    read_each(view, "rows", catalog, read_conditions, restrictions, &bound, err) < 0 ||
	    read_each(view, "masks", catalog, read_masks, restrictions, &bound, err) < 0 ||
	    read_each(view, "require", catalog, read_require, restrictions, &bound, err) < 0) {
		restrictions_free(restrictions, catalog);
		bound_values_clear(&bound);
		return -1;
	}
	*ret_restrictions = restrictions;
	*ret_values = bound;
	return 0;
}

void restrictions_free(struct restriction **restrictions, const struct catalog *catalog)
{
	if (!restrictions)
		return;
	for (size_t t = 0; t < catalog->table_count; t++) {
		if (!restrictions[t])
			continue;
		mem_free(restrictions[t]->conditions);
		mem_free(restrictions[t]->masks);
		mem_free(restrictions[t]);
	}
	mem_free(restrictions);
}

void bound_values_clear(struct bound_values *values)
{
	json_free(values->values);
	bytes_wipe(values->mask_key, sizeof(values->mask_key));
	*values = (struct bound_values){0};
}
