/*
 * Keys: of a table those it declares (primary key, unique columns, columns that a foreign key
 * points to), of a sub-query those that follow from how it is made: what it groups by, all of a
 * DISTINCT, nothing at all of a lone aggregate, or the key of the one source whose rows it passes
 * on.
 */
#include "agents/query/check/check_internal.h"

#include <string.h>

static struct check_key *add_key(struct check_keys *keys, size_t room)
{
	struct check_key *key;

	keys->items = mem_grow(keys->items, (keys->count + 1) * sizeof(*keys->items));
	key = &keys->items[keys->count++];
	*key = (struct check_key){mem_array(room + 1, sizeof(*key->columns)), 0};
	return key;
}

void check_keys_clear(struct check_keys *keys)
{
	for (size_t i = 0; i < keys->count; i++)
		mem_free(keys->items[i].columns);
	mem_free(keys->items);
	*keys = (struct check_keys){0};
}

static void drop_last(struct check_keys *keys)
{
	mem_free(keys->items[--keys->count].columns);
}

/* A key with a column that has no name (an expression) is none. */
static void add_list(struct check_keys *keys, const struct json *columns)
{
	struct check_key *key;

	if (json_type(columns) != JSON_ARRAY || json_len(columns) == 0)
		return;
	key = add_key(keys, json_len(columns));
	json_each(column, columns)
	{
		if (!json_str(column)) {
			drop_last(keys);
			return;
		}
		key->columns[key->count++] = json_str(column);
	}
}

/* Columns that a foreign key points to are a key: SQL demands it. */
static void add_foreign(const struct checks_input *input, const char *name, struct check_keys *keys)
{
	json_each(table, input->tables)
	{
		json_each(foreign, json_get(table, "foreign_keys"))
		{
			const char *to = json_get_str(foreign, "table");

			if (to && strcasecmp(to, name) == 0)
				add_list(keys, json_get(foreign, "to"));
		}
	}
}

static void table_keys(const struct checks_input *input, const char *name, struct check_keys *keys)
{
	const struct json *table = check_table(input, name);

	add_list(keys, json_get(table, "primary_key"));
	json_each(unique, json_get(table, "unique_keys")) add_list(keys, unique);
	json_each(unique, json_get(table, "unique")) add_list(keys, unique);
	json_each(column, json_get(table, "columns"))
	{
		const char *kind = json_get_str(column, "key");
		const char *own = json_get_str(column, "name");

		if (own && kind && strcmp(kind, "unique") == 0)
			add_key(keys, 1)->columns[0] = own;
		else
			continue;
		keys->items[keys->count - 1].count = 1;
	}
	add_foreign(input, name, keys);
}

static bool is_aggregated(const struct sql_select *select)
{
	for (size_t i = 0; i < select->aggregate_count; i++) {
		if (!select->aggregates[i].window)
			return true;
	}
	return false;
}

static bool same_column(const struct sql_column *a, const struct sql_column *b)
{
	return check_same(a->name, b->name) &&
	       ((!a->table && !b->table) || check_same(a->table, b->table));
}

const struct sql_output *check_group_output(const struct sql_select *query,
					    const struct sql_group *group)
{
	if (group->output >= 0)
		return &query->outputs[group->output];
	for (size_t i = 0; group->plain && i < query->output_count; i++) {
		const struct sql_output *output = &query->outputs[i];

		if (output->plain && same_column(&output->columns.items[0], &group->column))
			return output;
		if (!group->column.table && check_same(output->name, group->column.name))
			return output;
	}
	return NULL;
}

static void grouped_key(const struct sql_select *query, struct check_keys *keys)
{
	struct check_key *key = add_key(keys, query->group_count);

	for (size_t i = 0; i < query->group_count; i++) {
		const struct sql_output *output = check_group_output(query, &query->groups[i]);

		if (!output || !output->name) {
			drop_last(keys);
			return;
		}
		key->columns[key->count++] = output->name;
	}
}

static void distinct_key(const struct sql_select *query, struct check_keys *keys)
{
	struct check_key *key = add_key(keys, query->output_count);

	for (size_t i = 0; i < query->output_count; i++) {
		if (query->outputs[i].star || !query->outputs[i].name) {
			drop_last(keys);
			return;
		}
		key->columns[key->count++] = query->outputs[i].name;
	}
}

/* Under which name the query shows a column of its source; NULL when it does not. */
static const char *shown_as(struct check_context *context, const struct sql_select *query,
			    size_t source, const char *column)
{
	for (size_t i = 0; i < query->output_count; i++) {
		const struct sql_output *output = &query->outputs[i];
		const struct sql_column *inner = output->columns.items;
		struct place place;

		if (output->star &&
		    (!inner->table || check_same(inner->table, query->sources[source].alias)))
			return column;
		if (!output->plain || !check_same(inner->name, column))
			continue;
		place = check_place(context, query, inner, UINT64_MAX);
		if (place.reach == REACH_SOURCE && place.source == source)
			return output->name;
	}
	return NULL;
}

/* Rows are those of one source, whose key is shown. */
static void passed_keys(struct check_context *context, const struct sql_select *query,
			struct check_keys *keys)
{
	for (size_t i = 0; i < query->source_count; i++) {
		struct check_keys inner = {0};

		if (check_closure(context, query, 1ull << i, false) != check_all(query))
			continue;
		check_keys_of(context, &query->sources[i], &inner);
		for (size_t j = 0; j < inner.count; j++) {
			struct check_key *key = add_key(keys, inner.items[j].count);

			for (size_t k = 0; k < inner.items[j].count; k++) {
				const char *name =
					shown_as(context, query, i, inner.items[j].columns[k]);

				if (!name)
					break;
				key->columns[key->count++] = name;
			}
			if (key->count < inner.items[j].count)
				drop_last(keys);
		}
		check_keys_clear(&inner);
	}
}

static void query_keys(struct check_context *context, const struct sql_select *query,
		       struct check_keys *keys)
{
	if (query->distinct)
		distinct_key(query, keys);
	if (query->arm_count > 0 || query->wild_group)
		return;
	if (query->group_count > 0)
		grouped_key(query, keys);
	else if (is_aggregated(query))
		add_key(keys, 0);
	else if (query->source_count > 0)
		passed_keys(context, query, keys);
}

void check_keys_of(struct check_context *context, const struct sql_source *source,
		   struct check_keys *ret_keys)
{
	*ret_keys = (struct check_keys){0};
	if (!check_step(context))
		return;
	if (source->kind == SQL_TABLE)
		table_keys(context->input, source->table, ret_keys);
	else if (source->kind == SQL_QUERY)
		query_keys(context, source->query, ret_keys);
}
