/*
 * What the rules that shape a view keep back, together: conditions add up, the stricter mask stays,
 * the larger group counts. What a user's value is meant for and the session does not have leaves no
 * row. Pure, cannot fail.
 */
#include <string.h>

#include "policy/restrict.h"

/* A fresh list with what the session has; NULL when it has nothing of that name. */
static struct json *user_values(const struct subject *subject, const char *name)
{
	const struct json *attribute;
	struct json *list = json_array();

	if (strcmp(name, "name") == 0 && subject->user != NULL) {
		json_push_str(list, subject->user);
		return list;
	}
	if (strcmp(name, "tenant") == 0 && subject->tenant != NULL) {
		json_push_str(list, subject->tenant);
		return list;
	}
	attribute = json_get(subject->attributes, name);
	if (json_type(attribute) == JSON_STRING || json_type(attribute) == JSON_INT)
		json_push(list, json_copy(attribute));
	else if (json_type(attribute) == JSON_BOOL)
		json_push_int(list, json_bool(attribute));
	json_each(item, json_type(attribute) == JSON_ARRAY ? attribute : NULL)
	{
		if (json_type(item) == JSON_STRING || json_type(item) == JSON_INT)
			json_push(list, json_copy(item));
	}
	if (json_len(list) > 0)
		return list;
	json_free(list);
	return NULL;
}

static struct json *never(const char *column)
{
	struct json *json = json_object();

	json_set_str(json, "column", column);
	json_set_str(json, "constraint_type", "one_of");
	json_set(json, "values", json_array());
	return json;
}

/* The member of condition with the user's values in it; false when there are none. */
static bool bind_member(struct json *condition, const char *key, const struct subject *subject,
			bool single)
{
	const char *name = json_get_str(json_get(condition, key), "user");
	struct json *values;
	bool bound;

	if (name == NULL)
		return true;
	values = user_values(subject, name);
	bound = values != NULL && (!single || json_len(values) == 1);
	if (bound && single)
		json_set(condition, key, json_copy(json_at(values, 0)));
	else if (bound)
		json_set(condition, key, json_copy(values));
	json_free(values);
	return bound;
}

static struct json *bind_condition(const struct json *source, const struct subject *subject)
{
	struct json *condition = json_copy(source);

	if (bind_member(condition, "value", subject, true) &&
	    bind_member(condition, "min", subject, true) &&
	    bind_member(condition, "max", subject, true) &&
	    bind_member(condition, "values", subject, false) &&
	    bind_member(condition, "excluded", subject, false))
		return condition;
	json_free(condition);
	return never(json_get_str(source, "column"));
}

/* The member of this key, made when absent. */
static struct json *member(struct json *object, const char *key, struct json *make(void))
{
	if (json_get(object, key) == NULL)
		json_set(object, key, make());
	return json_get_mut(object, key);
}

static void add_rows(struct json *rows, const struct json *tables, const struct subject *subject)
{
	json_each(conditions, tables)
	{
		struct json *list = member(rows, json_key(conditions), json_array);

		json_each(condition, conditions)
			json_push(list, bind_condition(condition, subject));
	}
}

static void add_masks(struct json *masks, const struct json *tables)
{
	json_each(columns, tables)
	{
		struct json *table = member(masks, json_key(columns), json_object);

		json_each(mask, columns)
		{
			const char *known = json_get_str(table, json_key(mask));

			if (policy_mask_rank(json_str(mask)) > policy_mask_rank(known))
				json_set_str(table, json_key(mask), json_str(mask));
		}
	}
}

/* Two rules that count different things contradict each other: then no row is left. */
static void add_require(struct json *require, struct json *rows, const struct json *tables)
{
	json_each(wanted, tables)
	{
		const char *table = json_key(wanted);
		const struct json *known = json_get(require, table);
		const char *of = json_get_str(known, "of");

		if (of != NULL && strcmp(of, json_get_str(wanted, "of")) != 0)
			json_push(member(rows, table, json_array), never(of));
		if (of == NULL ||
		    json_get_int(wanted, "min_group", 0) > json_get_int(known, "min_group", 0))
			json_set(require, table, json_copy(wanted));
	}
}

static void set_if_any(struct json *view, const char *key, struct json *value)
{
	if (json_len(value) > 0)
		json_set(view, key, value);
	else
		json_free(value);
}

void restrict_view(const struct scope_rules *rules, const struct subject *subject,
		   struct json *view)
{
	struct json *rows = json_object();
	struct json *masks = json_object();
	struct json *require = json_object();

	for (size_t i = 0; i < rules->count; i++) {
		const struct rule_data *data = &rules->items[i]->data;

		if (rules->items[i]->effect != EFFECT_ALLOW)
			continue;
		add_rows(rows, data->rows, subject);
		add_masks(masks, data->masks);
		add_require(require, rows, data->require);
	}
	set_if_any(view, "rows", rows);
	set_if_any(view, "masks", masks);
	set_if_any(view, "require", require);
}
