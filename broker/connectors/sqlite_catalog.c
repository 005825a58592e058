/*
 * Loads the schema with the table-valued pragmas, one prepared statement for each, the table's name
 * bound. Runs under the guard's internal mode. What can fail: the database (locked, damaged).
 */
#include "broker/connectors/sqlite_catalog.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"

static int database_error(sqlite3 *sqlite, struct err *err, const char *what)
{
	return err_set(err, ERR_UNAVAILABLE, "%s: %s", what, sqlite3_errmsg(sqlite));
}

static void statement_finalizep(sqlite3_stmt **statement)
{
	sqlite3_finalize(*statement);
}

static char *column_text(sqlite3_stmt *row, int index)
{
	const unsigned char *text = sqlite3_column_text(row, index);

	return mem_str(text ? (const char *)text : "");
}

/* A name that is not UTF-8 cannot travel as JSON: what bears it is left out. */
static bool has_good_name(sqlite3_stmt *row, int index)
{
	const char *text = (const char *)sqlite3_column_text(row, index);

	return text && utf8_valid(text, strlen(text));
}

void catalog_free(struct catalog *catalog)
{
	if (!catalog)
		return;
	for (size_t t = 0; t < catalog->table_count; t++) {
		struct catalog_table *table = &catalog->tables[t];

		for (size_t c = 0; c < table->column_count; c++) {
			mem_free(table->columns[c].name);
			mem_free(table->columns[c].type);
		}
		for (size_t u = 0; u < table->unique_count; u++)
			mem_free(table->unique[u].columns);
		for (size_t f = 0; f < table->foreign_count; f++) {
			struct catalog_foreign *foreign = &table->foreign[f];

			for (size_t c = 0; c < foreign->count; c++)
				mem_free(foreign->to[c]);
			mem_free(foreign->to);
			mem_free(foreign->columns);
			mem_free(foreign->table);
		}
		mem_free(table->columns);
		mem_free(table->unique);
		mem_free(table->foreign);
		mem_free(table->name);
		mem_free(table->sql);
	}
	for (size_t r = 0; r < catalog->root_count; r++)
		mem_free(catalog->roots[r].name);
	mem_free(catalog->roots);
	mem_free(catalog->tables);
	mem_free(catalog);
}

void catalog_freep(struct catalog **catalog)
{
	catalog_free(*catalog);
}

static int compare_tables(const void *a, const void *b)
{
	return sqlite3_stricmp(((const struct catalog_table *)a)->name,
			       ((const struct catalog_table *)b)->name);
}

static int compare_roots(const void *a, const void *b)
{
	int64_t left = ((const struct catalog_root *)a)->page;
	int64_t right = ((const struct catalog_root *)b)->page;

	return (left > right) - (left < right);
}

size_t catalog_table_find(const struct catalog *catalog, const char *name)
{
	size_t low = 0, high = catalog->table_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = sqlite3_stricmp(catalog->tables[middle].name, name);

		if (order == 0)
			return middle;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return CATALOG_NONE;
}

size_t catalog_column_find(const struct catalog_table *table, const char *name)
{
	for (size_t c = 0; c < table->column_count; c++)
		if (sqlite3_stricmp(table->columns[c].name, name) == 0)
			return c;
	return CATALOG_NONE;
}

const struct catalog_root *catalog_root_find(const struct catalog *catalog, int64_t page)
{
	struct catalog_root wanted = {.page = page};

	if (catalog->root_count == 0)
		return NULL;
	return bsearch(&wanted, catalog->roots, catalog->root_count, sizeof(wanted), compare_roots);
}

static int load_version(sqlite3 *sqlite, struct catalog *catalog, struct err *err)
{
	CLEANUP(statement_finalizep) sqlite3_stmt *row = NULL;

	if (sqlite3_prepare_v2(sqlite, "PRAGMA main.schema_version", -1, &row, NULL) != SQLITE_OK ||
	    sqlite3_step(row) != SQLITE_ROW)
		return database_error(sqlite, err, "schema version");
	catalog->version = sqlite3_column_int64(row, 0);
	return 0;
}

static int load_names(sqlite3 *sqlite, struct catalog *catalog, struct err *err)
{
	static const char sql[] =
		"SELECT l.name, l.type, s.sql FROM pragma_table_list l"
		" JOIN main.sqlite_schema s ON s.name = l.name AND s.type IN ('table', 'view')"
		" WHERE l.schema = 'main' AND l.type IN ('table', 'view')"
		" AND lower(substr(l.name, 1, 7)) <> 'sqlite_'";
	CLEANUP(statement_finalizep) sqlite3_stmt *row = NULL;
	int rc;

	if (sqlite3_prepare_v2(sqlite, sql, -1, &row, NULL) != SQLITE_OK)
		return database_error(sqlite, err, "list of tables");
	while ((rc = sqlite3_step(row)) == SQLITE_ROW) {
		struct catalog_table *table;

		if (!has_good_name(row, 0))
			continue;
		catalog->tables = mem_grow(catalog->tables,
					   (catalog->table_count + 1) * sizeof(*catalog->tables));
		table = &catalog->tables[catalog->table_count++];
		*table = (struct catalog_table){.name = column_text(row, 0)};
		table->is_view = strcmp((const char *)sqlite3_column_text(row, 1), "view") == 0;
		table->sql = table->is_view ? column_text(row, 2) : NULL;
	}
	if (rc != SQLITE_DONE)
		return database_error(sqlite, err, "list of tables");
	if (catalog->table_count)
		qsort(catalog->tables, catalog->table_count, sizeof(*catalog->tables),
		      compare_tables);
	return 0;
}

static int load_columns(sqlite3 *sqlite, sqlite3_stmt *row, struct catalog_table *table,
			struct err *err)
{
	int rc;

	sqlite3_reset(row);
	sqlite3_bind_text(row, 1, table->name, -1, SQLITE_STATIC);
	while ((rc = sqlite3_step(row)) == SQLITE_ROW) {
		struct catalog_column *column;

		if (!has_good_name(row, 0) || !has_good_name(row, 1))
			continue;
		table->columns = mem_grow(table->columns,
					  (table->column_count + 1) * sizeof(*table->columns));
		column = &table->columns[table->column_count++];
		column->name = column_text(row, 0);
		column->type = column_text(row, 1);
		column->not_null = sqlite3_column_int(row, 2) != 0;
		column->pk = sqlite3_column_int(row, 3);
	}
	if (rc != SQLITE_DONE && !table->is_view)
		return database_error(sqlite, err, "list of columns");
	return 0;
}

/* A view that cannot be expanded has no columns, and a table always has one. */
static void drop_broken_views(struct catalog *catalog)
{
	size_t kept = 0;

	for (size_t t = 0; t < catalog->table_count; t++) {
		if (catalog->tables[t].column_count == 0) {
			mem_free(catalog->tables[t].name);
			mem_free(catalog->tables[t].sql);
			continue;
		}
		catalog->tables[kept++] = catalog->tables[t];
	}
	catalog->table_count = kept;
}

static int load_unique(sqlite3 *sqlite, sqlite3_stmt *row, struct catalog_table *table,
		       struct err *err)
{
	struct catalog_key *key = NULL;
	int rc;

	sqlite3_reset(row);
	sqlite3_bind_text(row, 1, table->name, -1, SQLITE_STATIC);
	while ((rc = sqlite3_step(row)) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(row, 1);
		size_t column = name ? catalog_column_find(table, name) : CATALOG_NONE;

		if (sqlite3_column_int(row, 0) == 0 || !key) { /* first column of an index */
			table->unique = mem_grow(table->unique, (table->unique_count + 1) *
									sizeof(*table->unique));
			key = &table->unique[table->unique_count++];
			*key = (struct catalog_key){0};
		}
		key->columns = mem_grow(key->columns, (key->count + 1) * sizeof(*key->columns));
		key->columns[key->count++] = column;
	}
	return rc == SQLITE_DONE ? 0 : database_error(sqlite, err, "list of indexes");
}

/* A key over an expression names no column and says nothing about columns. */
static void drop_expression_keys(struct catalog_table *table)
{
	size_t kept = 0;

	for (size_t u = 0; u < table->unique_count; u++) {
		bool plain = true;

		for (size_t c = 0; c < table->unique[u].count; c++)
			plain = plain && table->unique[u].columns[c] != CATALOG_NONE;
		if (plain)
			table->unique[kept++] = table->unique[u];
		else
			mem_free(table->unique[u].columns);
	}
	table->unique_count = kept;
}

static int load_foreign(sqlite3 *sqlite, sqlite3_stmt *row, struct catalog_table *table,
			struct err *err)
{
	struct catalog_foreign *foreign = NULL;
	int rc;

	sqlite3_reset(row);
	sqlite3_bind_text(row, 1, table->name, -1, SQLITE_STATIC);
	while ((rc = sqlite3_step(row)) == SQLITE_ROW) {
		const char *from = (const char *)sqlite3_column_text(row, 2);
		size_t column = from ? catalog_column_find(table, from) : CATALOG_NONE;

		if (column == CATALOG_NONE)
			continue;
		if (sqlite3_column_int(row, 0) == 0 || !foreign) {
			table->foreign = mem_grow(table->foreign, (table->foreign_count + 1) *
									  sizeof(*table->foreign));
			foreign = &table->foreign[table->foreign_count++];
			*foreign = (struct catalog_foreign){.table = column_text(row, 1)};
		}
		foreign->columns = mem_grow(foreign->columns,
					    (foreign->count + 1) * sizeof(*foreign->columns));
		foreign->to = mem_grow(foreign->to, (foreign->count + 1) * sizeof(*foreign->to));
		foreign->columns[foreign->count] = column;
		foreign->to[foreign->count++] = column_text(row, 3);
	}
	return rc == SQLITE_DONE ? 0 : database_error(sqlite, err, "list of foreign keys");
}

/* REFERENCES without columns means the other table's primary key. */
static void resolve_foreign(const struct catalog *catalog, struct catalog_foreign *foreign)
{
	size_t other = catalog_table_find(catalog, foreign->table);

	if (other == CATALOG_NONE)
		return;
	for (size_t i = 0; i < foreign->count; i++) {
		const struct catalog_table *table = &catalog->tables[other];

		if (foreign->to[i][0])
			continue;
		for (size_t c = 0; c < table->column_count; c++) {
			if (table->columns[c].pk != (int)i + 1)
				continue;
			mem_free(foreign->to[i]);
			foreign->to[i] = mem_str(table->columns[c].name);
		}
	}
}

static int load_details(sqlite3 *sqlite, struct catalog *catalog, struct err *err)
{
	static const char columns_sql[] = "SELECT name, type, \"notnull\", pk"
					  " FROM pragma_table_xinfo(?1, 'main') WHERE hidden <> 1";
	static const char unique_sql[] =
		"SELECT i.seqno, i.name FROM pragma_index_list(?1, 'main') l,"
		" pragma_index_info(l.name, 'main') i"
		" WHERE l.\"unique\" AND NOT l.partial AND l.origin <> 'pk'"
		" ORDER BY l.seq DESC, i.seqno";
	static const char foreign_sql[] =
		"SELECT seq, \"table\", \"from\", coalesce(\"to\", '')"
		" FROM pragma_foreign_key_list(?1, 'main') ORDER BY id DESC, seq";
	CLEANUP(statement_finalizep) sqlite3_stmt *columns = NULL;
	CLEANUP(statement_finalizep) sqlite3_stmt *unique = NULL;
	CLEANUP(statement_finalizep) sqlite3_stmt *foreign = NULL;

	if (sqlite3_prepare_v2(sqlite, columns_sql, -1, &columns, NULL) != SQLITE_OK ||
	    sqlite3_prepare_v2(sqlite, unique_sql, -1, &unique, NULL) != SQLITE_OK ||
	    sqlite3_prepare_v2(sqlite, foreign_sql, -1, &foreign, NULL) != SQLITE_OK)
		return database_error(sqlite, err, "schema");
	for (size_t t = 0; t < catalog->table_count; t++)
		if (load_columns(sqlite, columns, &catalog->tables[t], err) < 0)
			return -1;
	drop_broken_views(catalog);
	for (size_t t = 0; t < catalog->table_count; t++) {
		struct catalog_table *table = &catalog->tables[t];

		if (table->is_view)
			continue;
		if (load_unique(sqlite, unique, table, err) < 0 ||
		    load_foreign(sqlite, foreign, table, err) < 0)
			return -1;
		drop_expression_keys(table);
		for (size_t f = 0; f < table->foreign_count; f++)
			resolve_foreign(catalog, &table->foreign[f]);
	}
	return 0;
}

static int load_roots(sqlite3 *sqlite, struct catalog *catalog, struct err *err)
{
	static const char sql[] = "SELECT rootpage, tbl_name, name FROM main.sqlite_schema"
				  " WHERE type IN ('table', 'index') AND rootpage > 0";
	CLEANUP(statement_finalizep) sqlite3_stmt *row = NULL;
	int rc;

	if (sqlite3_prepare_v2(sqlite, sql, -1, &row, NULL) != SQLITE_OK)
		return database_error(sqlite, err, "list of b-trees");
	while ((rc = sqlite3_step(row)) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(row, 1);
		size_t table = name ? catalog_table_find(catalog, name) : CATALOG_NONE;

		if (table == CATALOG_NONE)
			continue;
		catalog->roots = mem_grow(catalog->roots,
					  (catalog->root_count + 1) * sizeof(*catalog->roots));
		catalog->roots[catalog->root_count++] = (struct catalog_root){
			sqlite3_column_int64(row, 0), table, column_text(row, 2)};
	}
	if (rc != SQLITE_DONE)
		return database_error(sqlite, err, "list of b-trees");
	if (catalog->root_count)
		qsort(catalog->roots, catalog->root_count, sizeof(*catalog->roots), compare_roots);
	return 0;
}

int catalog_load(sqlite3 *sqlite, struct catalog **ret_catalog, struct err *err)
{
	CLEANUP(catalog_freep) struct catalog *catalog = mem_alloc(sizeof(*catalog));

	if (load_version(sqlite, catalog, err) < 0 || load_names(sqlite, catalog, err) < 0 ||
	    load_details(sqlite, catalog, err) < 0 || load_roots(sqlite, catalog, err) < 0)
		return err_wrap(err, "schema");
	*ret_catalog = TAKE(catalog);
	return 0;
}

static struct json *json_names(const struct catalog_table *table, const size_t *columns,
			       size_t count)
{
	struct json *names = json_array();

	for (size_t c = 0; c < count; c++)
		json_push_str(names, table->columns[columns[c]].name);
	return names;
}

static struct json *json_foreign(const struct catalog_table *table,
				 const struct catalog_foreign *foreign)
{
	struct json *json = json_object();
	struct json *to = json_array();

	for (size_t c = 0; c < foreign->count; c++)
		json_push_str(to, foreign->to[c]);
	json_set(json, "columns", json_names(table, foreign->columns, foreign->count));
	json_set_str(json, "table", foreign->table);
	json_set(json, "to", to);
	return json;
}

static struct json *json_table(const struct catalog_table *table)
{
	struct json *json = json_object();
	struct json *columns = json_array();
	struct json *unique = json_array();
	struct json *foreign = json_array();

	for (size_t c = 0; c < table->column_count; c++) {
		struct json *column = json_object();

		json_set_str(column, "name", table->columns[c].name);
		json_set_str(column, "type", table->columns[c].type);
		json_set_bool(column, "not_null", table->columns[c].not_null);
		json_set_int(column, "pk", table->columns[c].pk);
		json_push(columns, column);
	}
	for (size_t u = 0; u < table->unique_count; u++)
		json_push(unique,
			  json_names(table, table->unique[u].columns, table->unique[u].count));
	for (size_t f = 0; f < table->foreign_count; f++)
		json_push(foreign, json_foreign(table, &table->foreign[f]));
	json_set_str(json, "name", table->name);
	json_set_str(json, "kind", table->is_view ? "view" : "table");
	json_set(json, "columns", columns);
	json_set(json, "unique", unique);
	json_set(json, "foreign", foreign);
	return json;
}

struct json *catalog_json(const struct catalog *catalog)
{
	struct json *json = json_object();
	struct json *tables = json_array();

	for (size_t t = 0; t < catalog->table_count; t++)
		json_push(tables, json_table(&catalog->tables[t]));
	json_set(json, "tables", tables);
	json_set_int(json, "version", catalog->version);
	return json;
}
