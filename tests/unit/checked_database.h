/*
 * A database in memory as the checks see one: statements answered as run_query answers, tables
 * described as describe_table describes them. For tests of the checks; failures end the test.
 */
#ifndef TESTS_UNIT_CHECKED_DATABASE_H
#define TESTS_UNIT_CHECKED_DATABASE_H

#include <string.h>

#include <sqlite3.h>

#include "base/json.h"

static inline void checked_exec(sqlite3 *db, const char *sql)
{
	char *error = NULL;

	if (sqlite3_exec(db, sql, NULL, NULL, &error) != SQLITE_OK)
		fail_msg("%s: %s", sql, error);
}

static inline struct json *checked_cell(sqlite3_stmt *stmt, int column)
{
	switch (sqlite3_column_type(stmt, column)) {
	case SQLITE_INTEGER:
		return json_new_int(sqlite3_column_int64(stmt, column));
	case SQLITE_FLOAT:
		return json_new_real(sqlite3_column_double(stmt, column));
	case SQLITE_NULL:
		return json_new_null();
	default:
		return json_new_str((const char *)sqlite3_column_text(stmt, column));
	}
}

static inline struct json *checked_run(sqlite3 *db, const char *sql)
{
	struct json *result = json_object(), *rows = json_array(), *columns = json_array();
	sqlite3_stmt *stmt = NULL;

	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	for (int i = 0; i < sqlite3_column_count(stmt); i++)
		json_push_str(columns, sqlite3_column_name(stmt, i));
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		struct json *row = json_array();

		for (int i = 0; i < sqlite3_column_count(stmt); i++)
			json_push(row, checked_cell(stmt, i));
		json_push(rows, row);
	}
	if (sqlite3_finalize(stmt) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	json_set_int(result, "row_count", (int64_t)json_len(rows));
	json_set(result, "columns", columns);
	json_set(result, "rows", rows);
	return result;
}

static inline const char *checked_text(const struct json *result, size_t row, size_t column)
{
	return json_str(json_at(json_at(json_get(result, "rows"), row), column));
}

static inline struct json *checked_unique(sqlite3 *db, const char *table)
{
	CLEANUP(mem_freep)
	char *sql = mem_format("SELECT name FROM pragma_index_list('%s') WHERE \"unique\" = 1 AND "
			       "partial = 0",
			       table);
	CLEANUP(json_freep) struct json *indexes = checked_run(db, sql);
	struct json *keys = json_array();

	for (size_t i = 0; i < json_len(json_get(indexes, "rows")); i++) {
		CLEANUP(mem_freep)
		char *parts = mem_format("SELECT name FROM pragma_index_info('%s') ORDER BY seqno",
					 checked_text(indexes, i, 0));
		CLEANUP(json_freep) struct json *columns = checked_run(db, parts);
		struct json *key = json_array();

		for (size_t j = 0; j < json_len(json_get(columns, "rows")); j++)
			json_push_str(key, checked_text(columns, j, 0));
		json_push(keys, key);
	}
	return keys;
}

static inline struct json *checked_foreign(sqlite3 *db, const char *table)
{
	CLEANUP(mem_freep)
	char *sql = mem_format("SELECT \"table\", \"from\", \"to\" FROM "
			       "pragma_foreign_key_list('%s') ORDER BY id",
			       table);
	CLEANUP(json_freep) struct json *keys = checked_run(db, sql);
	struct json *list = json_array();

	for (size_t i = 0; i < json_len(json_get(keys, "rows")); i++) {
		struct json *key = json_object(), *from = json_array(), *to = json_array();

		json_push_str(from, checked_text(keys, i, 1));
		json_push_str(to, checked_text(keys, i, 2));
		json_set_str(key, "table", checked_text(keys, i, 0));
		json_set(key, "columns", from);
		json_set(key, "to", to);
		json_push(list, key);
	}
	return list;
}

static inline struct json *checked_table(sqlite3 *db, const char *name)
{
	CLEANUP(mem_freep)
	char *sql =
		mem_format("SELECT name, type, \"notnull\", pk FROM pragma_table_info('%s')", name);
	CLEANUP(json_freep) struct json *info = checked_run(db, sql);
	struct json *table = json_object(), *columns = json_array(), *primary = json_array();

	json_each(row, json_get(info, "rows"))
	{
		struct json *column = json_object();
		bool key = json_int(json_at(row, 3)) > 0;

		json_set_str(column, "name", json_str(json_at(row, 0)));
		json_set_str(column, "type", json_str(json_at(row, 1)));
		json_set_bool(column, "not_null", json_int(json_at(row, 2)) > 0);
		json_set(column, "key", key ? json_new_str("primary") : json_new_null());
		json_push(columns, column);
		if (key)
			json_push_str(primary, json_str(json_at(row, 0)));
	}
	json_set_str(table, "table", name);
	json_set(table, "columns", columns);
	json_set(table, "primary_key", primary);
	json_set(table, "unique_keys", checked_unique(db, name));
	json_set(table, "foreign_keys", checked_foreign(db, name));
	return table;
}

static inline struct json *checked_tables(sqlite3 *db)
{
	CLEANUP(json_freep)
	struct json *names = checked_run(db, "SELECT name FROM sqlite_schema WHERE type = 'table'");
	struct json *tables = json_array();

	for (size_t i = 0; i < json_len(json_get(names, "rows")); i++)
		json_push(tables, checked_table(db, checked_text(names, i, 0)));
	return tables;
}

#endif
