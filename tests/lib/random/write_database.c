/* The rows as a SQLite database. Names go through one quoting function, values are bound. */
#include <sqlite3.h>
#include <string.h>

#include "tests/lib/random/world.h"

static void add_name(struct buf *sql, const char *name)
{
	buf_add_char(sql, '"');
	for (; *name != '\0'; name++)
		buf_addf(sql, *name == '"' ? "\"\"" : "%c", *name);
	buf_add_char(sql, '"');
}

static const char *type_of(const struct table *table, const struct column *column)
{
	switch (column->role) {
	case ROLE_KEY:
		return "INTEGER PRIMARY KEY";
	case ROLE_SCORE:
		return "REAL";
	case ROLE_NAME:
	case ROLE_CLASS:
		return "TEXT";
	case ROLE_DATE:
		return column->form == FORM_EPOCH ? "INTEGER" : "TEXT";
	case ROLE_SECRET:
		return table->fact ? "INTEGER" : "TEXT";
	default:
		return "INTEGER";
	}
}

static char *create_sql(const struct world *world, const struct table *table)
{
	struct buf sql = BUF_INIT;

	buf_add_str(&sql, "CREATE TABLE ");
	add_name(&sql, table->name);
	for (size_t i = 0; i < table->column_count; i++) {
		const struct column *column = &table->columns[i];

		buf_add_str(&sql, i == 0 ? " (" : ", ");
		add_name(&sql, column->name);
		buf_addf(&sql, " %s", type_of(table, column));
		if (column->role != ROLE_LINK)
			continue;
		buf_add_str(&sql, " REFERENCES ");
		add_name(&sql, world->tables[column->target].name);
	}
	buf_add_str(&sql, ") STRICT");
	return buf_take(&sql);
}

static char *insert_sql(const struct table *table)
{
	struct buf sql = BUF_INIT;

	buf_add_str(&sql, "INSERT INTO ");
	add_name(&sql, table->name);
	buf_add_str(&sql, " VALUES (?");
	for (size_t i = 1; i < table->column_count; i++)
		buf_add_str(&sql, ", ?");
	buf_add_char(&sql, ')');
	return buf_take(&sql);
}

static void bind(sqlite3_stmt *statement, int at, const struct cell *cell)
{
	switch (cell->kind) {
	case CELL_NULL:
		sqlite3_bind_null(statement, at);
		return;
	case CELL_INT:
		sqlite3_bind_int64(statement, at, cell->number);
		return;
	case CELL_REAL:
		sqlite3_bind_double(statement, at, cell->real);
		return;
	case CELL_TEXT:
		sqlite3_bind_text(statement, at, cell->text, -1, SQLITE_STATIC);
		return;
	}
}

static int write_rows(sqlite3 *sqlite, const struct table *table, struct err *err)
{
	CLEANUP(mem_freep) char *sql = insert_sql(table);
	sqlite3_stmt *statement = NULL;
	int rc = sqlite3_prepare_v2(sqlite, sql, -1, &statement, NULL);

	if (rc == SQLITE_OK)
		rc = SQLITE_DONE;
	for (size_t row = 0; rc == SQLITE_DONE && row < table->rows; row++) {
		for (size_t i = 0; i < table->column_count; i++)
			bind(statement, (int)i + 1, &table->cells[row * table->column_count + i]);
		rc = sqlite3_step(statement);
		sqlite3_reset(statement);
	}
	sqlite3_finalize(statement);
	if (rc != SQLITE_DONE)
		return err_set(err, ERR_IO, "%s: %s", sql, sqlite3_errmsg(sqlite));
	return 0;
}

static int run(sqlite3 *sqlite, const char *sql, struct err *err)
{
	if (sqlite3_exec(sqlite, sql, NULL, NULL, NULL) != SQLITE_OK)
		return err_set(err, ERR_IO, "%s: %s", sql, sqlite3_errmsg(sqlite));
	return 0;
}

int world_write_database(const struct world *world, sqlite3 *sqlite, struct err *err)
{
	if (run(sqlite, "BEGIN", err) < 0)
		return -1;
	for (size_t i = 0; i < world->table_count; i++) {
		const struct table *table = &world->tables[i];
		CLEANUP(mem_freep) char *create = create_sql(world, table);

		if (run(sqlite, create, err) < 0 || write_rows(sqlite, table, err) < 0)
			return -1;
	}
	return run(sqlite, "COMMIT", err);
}
