/*
 * Keys count only when all of their columns are in the view, foreign keys only when both ends are.
 * Sample rows are read by an ordinary statement, with every check of one.
 */
#include "broker/connectors/sqlite_tables.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "broker/connectors/sqlite_definition.h"
#include "broker/connectors/sqlite_text.h"

/* Places of the primary key's columns in order, or 0 when one is out of view or there is none. */
static size_t primary_key(const struct reach *view, size_t table, size_t *columns)
{
	const struct catalog_table *source = &view->catalog->tables[table];
	size_t count = 0;

	for (int place = 1; place <= (int)source->column_count; place++) {
		size_t c = 0;

		while (c < source->column_count && source->columns[c].pk != place)
			c++;
		if (c == source->column_count)
			return count;
		if (!reach_has_column(view, table, c))
			return 0;
		columns[count++] = c;
	}
	return count;
}

/* A unique index over columns that are never null identifies a row as well. */
static size_t unique_key(const struct reach *view, size_t table, size_t *columns)
{
	const struct catalog_table *source = &view->catalog->tables[table];

	for (size_t u = 0; u < source->unique_count; u++) {
		const struct catalog_key *key = &source->unique[u];
		bool usable = key->count > 0;

		for (size_t c = 0; c < key->count; c++)
			usable = usable && reach_has_column(view, table, key->columns[c]) &&
				 source->columns[key->columns[c]].not_null;
		if (usable && key->count <= source->column_count) {
			memcpy(columns, key->columns, key->count * sizeof(*columns));
			return key->count;
		}
	}
	return 0;
}

static struct json *grain_json(const struct reach *view, size_t table)
{
	const struct catalog_table *source = &view->catalog->tables[table];
	CLEANUP(mem_freep) size_t *columns = mem_array(source->column_count, sizeof(*columns));
	struct buf text = BUF_INIT;
	struct json *json;
	size_t count;

	if (source->is_view)
		return json_new_str("grain unknown: a view");
	count = primary_key(view, table, columns);
	if (count == 0)
		count = unique_key(view, table, columns);
	if (count == 0)
		return json_new_str("grain unknown: no declared key");
	buf_add_str(&text, count > 1 ? "one row per (" : "one row per ");
	for (size_t i = 0; i < count; i++) {
		buf_add_str(&text, i ? ", " : "");
		buf_add_str(&text, reach_column_name(view, table, columns[i]));
	}
	buf_add_str(&text, count > 1 ? ")" : "");
	json = json_new_str(buf_str(&text));
	buf_clear(&text);
	return json;
}

struct json *tables_list(const struct reach *view)
{
	struct json *result = json_object();
	struct json *tables = json_array();

	for (size_t t = 0; t < view->catalog->table_count; t++) {
		struct json *table;

		if (!view->tables[t].in)
			continue;
		table = json_object();
		json_set_str(table, "name", reach_table_name(view, t));
		json_set_str(table, "kind", view->catalog->tables[t].is_view ? "view" : "table");
		json_set_int(table, "columns", (int64_t)reach_column_count(view, t));
		json_set(table, "grain", grain_json(view, t));
		json_push(tables, table);
	}
	json_set_bool(result, "ok", true);
	json_set(result, "tables", tables);
	return result;
}

static const char *key_of(const struct catalog_table *source, size_t column)
{
	if (source->columns[column].pk)
		return "primary";
	for (size_t u = 0; u < source->unique_count; u++)
		if (source->unique[u].count == 1 && source->unique[u].columns[0] == column)
			return "unique";
	return NULL;
}

static struct json *columns_json(const struct reach *view, size_t table)
{
	const struct catalog_table *source = &view->catalog->tables[table];
	struct json *columns = json_array();

	for (size_t c = 0; c < source->column_count; c++) {
		struct json *column;

		if (!reach_has_column(view, table, c))
			continue;
		column = json_object();
		json_set_str(column, "name", reach_column_name(view, table, c));
		json_set_str(column, "type", source->columns[c].type);
		json_set_bool(column, "not_null", source->columns[c].not_null);
		json_set(column, "key", json_new_str(key_of(source, c)));
		if (reach_mask(view, table, c) != MASK_NONE)
			json_set_str(column, "masked", mask_name(reach_mask(view, table, c)));
		json_push(columns, column);
	}
	return columns;
}

static struct json *primary_key_json(const struct reach *view, size_t table)
{
	size_t column_count = view->catalog->tables[table].column_count;
	CLEANUP(mem_freep) size_t *columns = mem_array(column_count, sizeof(*columns));
	size_t count = primary_key(view, table, columns);
	struct json *json = json_array();

	for (size_t i = 0; i < count; i++)
		json_push_str(json, reach_column_name(view, table, columns[i]));
	return json;
}

static struct json *foreign_json(const struct reach *view, size_t table,
				 const struct catalog_foreign *foreign)
{
	size_t other = catalog_table_find(view->catalog, foreign->table);
	CLEANUP(json_freep) struct json *columns = json_array();
	CLEANUP(json_freep) struct json *to = json_array();
	struct json *json;

	if (other == CATALOG_NONE || !view->tables[other].in)
		return NULL;
	for (size_t i = 0; i < foreign->count; i++) {
		size_t place = catalog_column_find(&view->catalog->tables[other], foreign->to[i]);

		if (place == CATALOG_NONE || !reach_has_column(view, other, place) ||
		    !reach_has_column(view, table, foreign->columns[i]))
			return NULL;
		json_push_str(columns, reach_column_name(view, table, foreign->columns[i]));
		json_push_str(to, reach_column_name(view, other, place));
	}
	json = json_object();
	json_set(json, "columns", TAKE(columns));
	json_set_str(json, "table", reach_table_name(view, other));
	json_set(json, "to", TAKE(to));
	return json;
}

static struct json *foreign_keys_json(const struct reach *view, size_t table)
{
	const struct catalog_table *source = &view->catalog->tables[table];
	struct json *keys = json_array();

	for (size_t f = 0; f < source->foreign_count; f++) {
		struct json *key = foreign_json(view, table, &source->foreign[f]);

		if (key)
			json_push(keys, key);
	}
	return keys;
}

static char *sample_sql(const struct reach *view, size_t table)
{
	const struct catalog_table *source = &view->catalog->tables[table];
	struct buf sql = BUF_INIT;

	for (size_t c = 0; c < source->column_count; c++) {
		if (!reach_has_column(view, table, c))
			continue;
		buf_add_str(&sql, sql.len ? ", " : "SELECT ");
		sql_name(source->columns[c].name, &sql);
	}
	buf_add_str(&sql, " FROM ");
	sql_name(source->name, &sql);
	buf_addf(&sql, " LIMIT %d", SAMPLE_ROWS);
	return buf_take(&sql);
}

static int sample(struct session *session, struct view *view, size_t table,
		  const struct run_limits *limits, struct json **ret_rows, struct refusal *refusal)
{
	CLEANUP(mem_freep) char *sql = sample_sql(view->reach, table);
	struct run_limits narrow = *limits;
	struct statement *statement;
	int result;

	narrow.rows = SAMPLE_ROWS;
	narrow.text_max = SAMPLE_TEXT_MAX;
	if (session_statement(session, view, sql, &statement, NULL, refusal) < 0)
		return -1;
	database_release(&session->database);
	result = run_statement(&session->database, statement, &narrow, ret_rows, refusal);
	if (result == RUN_SCHEMA_CHANGED)
		return refusal_set(refusal, BY_DATABASE, "try again", "the schema changed");
	return result;
}

/* Columns and keys are worth having without samples; a cancel or a dead source is not. */
static int sample_json(struct session *session, struct view *view, size_t table,
		       const struct run_limits *limits, struct json **ret_sample,
		       struct refusal *refusal)
{
	CLEANUP(json_freep) struct json *read = NULL;
	const struct restriction *restriction = reach_restriction(view->reach, table);
	struct json *json;

	if (reach_column_count(view->reach, table) == 0 ||
	    (restriction && restriction->min_group)) {
		*ret_sample = json_object();
		json_set(*ret_sample, "columns", json_array());
		json_set(*ret_sample, "rows", json_array());
		return 0;
	}
	if (sample(session, view, table, limits, &read, refusal) < 0 &&
	    (strcmp(refusal->by, BY_CANCELED) == 0 || strcmp(refusal->by, BY_UNAVAILABLE) == 0))
		return -1;
	json = json_object();
	json_set(json, "columns", read ? json_copy(json_get(read, "columns")) : json_array());
	json_set(json, "rows", read ? json_copy(json_get(read, "rows")) : json_array());
	if (!read)
		json_set_str(json, "error", refusal->error);
	*ret_sample = json;
	return 0;
}

static void add_definition(const struct reach *view, size_t table, struct json *json)
{
	CLEANUP(mem_freep) char *definition = definition_in_view(view, table);

	if (definition)
		json_set_str(json, "definition", definition);
}

/* That something is kept back is no secret; what, is. */
static void add_restriction(const struct restriction *restriction, struct json *json)
{
	if (restriction && restriction->condition_count)
		json_set_bool(json, "rows_filtered", true);
	if (restriction && restriction->min_group)
		json_set_int(json, "min_group", restriction->min_group);
}

int tables_describe(struct session *session, struct view *view, const char *name,
		    const struct run_limits *limits, struct json **ret_result,
		    struct refusal *refusal)
{
	size_t table = catalog_table_find(view->reach->catalog, name);
	struct json *samples = NULL;
	struct json *json;

	if (table == CATALOG_NONE || !view->reach->tables[table].in)
		return refusal_set(refusal, BY_DATABASE, "call list_tables", "no such table: %s",
				   name);
	if (sample_json(session, view, table, limits, &samples, refusal) < 0)
		return -1;
	json = json_object();
	json_set_bool(json, "ok", true);
	json_set_str(json, "table", reach_table_name(view->reach, table));
	json_set(json, "columns", columns_json(view->reach, table));
	json_set(json, "primary_key", primary_key_json(view->reach, table));
	json_set(json, "foreign_keys", foreign_keys_json(view->reach, table));
	json_set(json, "grain", grain_json(view->reach, table));
	add_definition(view->reach, table, json);
	json_set(json, "sample_rows", samples);
	add_restriction(reach_restriction(view->reach, table), json);
	*ret_result = json;
	return 0;
}
