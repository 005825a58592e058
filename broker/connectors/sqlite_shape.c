/* Hashes canonical JSON (RFC 8785) of the facts. Cannot fail. */
#include "broker/connectors/sqlite_shape.h"

#include "base/buf.h"
#include "base/crypto.h"

static struct json *columns_json(const struct reach *facts, size_t table)
{
	const struct catalog_table *source = &facts->catalog->tables[table];
	struct json *columns = json_array();

	for (size_t c = 0; c < source->column_count; c++) {
		struct json *column;

		if (!reach_has_column(facts, table, c))
			continue;
		column = json_object();
		json_set_str(column, "name", source->columns[c].name);
		json_set_str(column, "type", source->columns[c].type);
		json_set_bool(column, "not_null", source->columns[c].not_null);
		json_push(columns, column);
	}
	return columns;
}

static struct json *names_json(const struct catalog_table *table, const size_t *columns,
			       size_t count)
{
	struct json *names = json_array();

	for (size_t i = 0; i < count; i++)
		json_push_str(names, table->columns[columns[i]].name);
	return names;
}

static struct json *keys_json(const struct catalog_table *table)
{
	struct json *keys = json_array();
	struct json *primary = json_array();

	for (int place = 1; place <= (int)table->column_count; place++)
		for (size_t c = 0; c < table->column_count; c++)
			if (table->columns[c].pk == place)
				json_push_str(primary, table->columns[c].name);
	json_push(keys, primary);
	for (size_t u = 0; u < table->unique_count; u++)
		json_push(keys,
			  names_json(table, table->unique[u].columns, table->unique[u].count));
	return keys;
}

static struct json *foreign_json(const struct catalog_table *table)
{
	struct json *keys = json_array();

	for (size_t f = 0; f < table->foreign_count; f++) {
		const struct catalog_foreign *foreign = &table->foreign[f];
		struct json *key = json_object();
		struct json *to = json_array();

		for (size_t i = 0; i < foreign->count; i++)
			json_push_str(to, foreign->to[i]);
		json_set(key, "columns", names_json(table, foreign->columns, foreign->count));
		json_set_str(key, "table", foreign->table);
		json_set(key, "to", to);
		json_push(keys, key);
	}
	return keys;
}

void shape_write(const struct reach *facts, char ret_shape[SHAPE_LEN + 1])
{
	CLEANUP(json_freep) struct json *shape = json_array();
	CLEANUP(buf_clear) struct buf text = BUF_INIT;

	for (size_t t = 0; t < facts->catalog->table_count; t++) {
		const struct catalog_table *source = &facts->catalog->tables[t];
		struct json *table;

		if (!facts->tables[t].in)
			continue;
		table = json_object();
		json_set_str(table, "name", source->name);
		json_set_str(table, "view", source->is_view ? source->sql : "");
		json_set(table, "columns", columns_json(facts, t));
		json_set(table, "keys", keys_json(source));
		json_set(table, "foreign", foreign_json(source));
		json_push(shape, table);
	}
	json_write_canonical(shape, &text);
	sha256_hex(text.bytes, text.len, ret_shape);
}
