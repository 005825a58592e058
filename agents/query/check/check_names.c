/*
 * Which table a column is of: by its qualifier, or by who has a column of that name. Tables that
 * nobody described may have any column; what follows from that is "not known", never a guess
 * between several.
 */
#include "agents/query/check/check_internal.h"

#include <string.h>

bool check_step(struct check_context *context)
{
	if (context->steps >= CHECK_STEPS_MAX)
		return false;
	context->steps++;
	return true;
}

bool check_same(const char *a, const char *b)
{
	return a && b && strcasecmp(a, b) == 0;
}

const struct json *check_table(const struct checks_input *input, const char *name)
{
	json_each(table, input->tables)
	{
		const char *own = json_get_str(table, "table");

		if (!own)
			own = json_get_str(table, "name");
		if (own && strcasecmp(own, name) == 0)
			return table;
	}
	return NULL;
}

uint64_t check_all(const struct sql_select *select)
{
	if (select->source_count == 64)
		return UINT64_MAX;
	return (1ull << select->source_count) - 1;
}

/* As the database spells it. */
const char *check_source_name(const struct checks_input *input, const struct sql_source *source)
{
	const struct json *table =
		source->kind == SQL_TABLE ? check_table(input, source->table) : NULL;
	const char *name = json_get_str(table, "table");

	if (!name)
		name = json_get_str(table, "name");
	if (name)
		return name;
	if (source->table)
		return source->table;
	return source->alias[0] ? source->alias : "a sub-query";
}

static int table_has(const struct checks_input *input, const char *table, const char *name)
{
	static const char *const rowids[] = {"rowid", "oid", "_rowid_"};
	const struct json *described = check_table(input, table);

	bool partial = json_get_bool(described, "partial", false);

	if (!described || json_len(json_get(described, "columns")) == 0)
		return -1;
	json_each(column, json_get(described, "columns"))
	{
		const char *own = json_get_str(column, "name");

		if (own && strcasecmp(own, name) == 0)
			return 1;
	}
	for (size_t i = 0; i < ARRAY_LEN(rowids); i++) {
		if (strcasecmp(rowids[i], name) == 0)
			return 1;
	}
	return partial ? -1 : 0;
}

static int query_has(struct check_context *context, const struct sql_select *query,
		     const char *name)
{
	int found = 0;

	for (size_t i = 0; i < query->output_count; i++) {
		const struct sql_output *output = &query->outputs[i];

		if (!output->star && output->name && strcasecmp(output->name, name) == 0)
			return 1;
		for (size_t j = 0; output->star && j < query->source_count; j++) {
			const char *table = output->columns.items[0].table;
			int has;

			if (table && strcasecmp(table, query->sources[j].alias) != 0)
				continue;
			has = check_has_column(context, &query->sources[j], name);
			if (has == 1)
				return 1;
			if (has < 0)
				found = -1;
		}
	}
	return found;
}

int check_has_column(struct check_context *context, const struct sql_source *source,
		     const char *name)
{
	if (!check_step(context))
		return -1;
	switch (source->kind) {
	case SQL_TABLE:
		return table_has(context->input, source->table, name);
	case SQL_QUERY:
		return query_has(context, source->query, name);
	case SQL_OPAQUE:
		break;
	}
	return -1;
}

static bool find_alias(const struct sql_select *select, const char *alias, uint64_t within,
		       size_t *ret_source)
{
	for (size_t i = 0; i < select->source_count; i++) {
		if ((within >> i & 1) && strcasecmp(select->sources[i].alias, alias) == 0) {
			*ret_source = i;
			return true;
		}
	}
	return false;
}

/* The one that surely has it; or the only one that may. */
static bool find_owner(struct check_context *context, const struct sql_select *select,
		       const char *name, uint64_t within, size_t *ret_source)
{
	size_t may = 0;

	for (size_t i = 0; i < select->source_count; i++) {
		int has =
			within >> i & 1 ? check_has_column(context, &select->sources[i], name) : 0;

		if (has == 1) {
			*ret_source = i;
			return true;
		}
		if (has < 0) {
			*ret_source = i;
			may++;
		}
	}
	return may == 1;
}

struct place check_place(struct check_context *context, const struct sql_select *select,
			 const struct sql_column *column, uint64_t within)
{
	struct place place = {REACH_UNKNOWN, 0, NULL};

	if (!column->name)
		return place;
	for (const struct sql_select *level = select; level; level = level->parent) {
		uint64_t sources = level == select ? within : UINT64_MAX;
		bool found =
			column->table
				? find_alias(level, column->table, sources, &place.source)
				: find_owner(context, level, column->name, sources, &place.source);

		if (found) {
			place.reach = level == select ? REACH_SOURCE : REACH_OUTER;
			place.level = level;
			return place;
		}
	}
	return (struct place){REACH_UNKNOWN, 0, NULL};
}
