/*
 * The temporary schema lives in memory; query_only is off only while our own fixed statements run.
 * What can fail: memory, a name that went with a schema change.
 */
#include "broker/connectors/sqlite_narrow.h"

#include "base/buf.h"
#include "base/mem.h"
#include "broker/connectors/sqlite_text.h"

static void add_view(struct buf *sql, const struct reach *view, size_t table, const char *stand_in)
{
	const struct catalog_table *source = &view->catalog->tables[table];
	bool first = true;

	buf_add_str(sql, "CREATE TEMP VIEW ");
	sql_add_name(sql, source->name);
	buf_add_str(sql, " AS SELECT ");
	for (size_t c = 0; c < source->column_count; c++) {
		if (!reach_has_column(view, table, c))
			continue;
		buf_add_str(sql, first ? "" : ", ");
		sql_add_name(sql, source->columns[c].name);
		first = false;
	}
	if (first) {
		buf_add_str(sql, "1 AS ");
		sql_add_name(sql, stand_in);
	}
	buf_add_str(sql, " FROM main.");
	sql_add_name(sql, source->name);
	buf_add_char(sql, ';');
}

static int add_drops(struct database *database, struct buf *sql)
{
	static const char list[] = "SELECT name FROM temp.sqlite_schema WHERE type = 'view'";
	sqlite3_stmt *row = NULL;
	int rc = sqlite3_prepare_v2(database->sqlite, list, -1, &row, NULL);

	while (rc == SQLITE_OK && (rc = sqlite3_step(row)) == SQLITE_ROW) {
		buf_add_str(sql, "DROP VIEW temp.");
		sql_add_name(sql, (const char *)sqlite3_column_text(row, 0));
		buf_add_char(sql, ';');
		rc = SQLITE_OK;
	}
	sqlite3_finalize(row);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int run(struct database *database, const struct buf *sql)
{
	int rc = sqlite3_exec(database->sqlite, "PRAGMA query_only = 0", NULL, NULL, NULL);
	int back;

	if (rc == SQLITE_OK)
		rc = sqlite3_exec(database->sqlite, buf_str(sql), NULL, NULL, NULL);
	back = sqlite3_exec(database->sqlite, "PRAGMA query_only = 1", NULL, NULL, NULL);
	return rc == SQLITE_OK ? back : rc;
}

int narrow_install(struct database *database, const struct reach *view, const char *stand_in,
		   struct refusal *refusal)
{
	struct buf sql = BUF_INIT;
	int rc;

	guard_internal(&database->guard);
	rc = add_drops(database, &sql);
	for (size_t t = 0; rc == SQLITE_OK && t < view->catalog->table_count; t++)
		if (view->tables[t].in && view->tables[t].listed)
			add_view(&sql, view, t, stand_in);
	if (rc == SQLITE_OK && sql.len)
		rc = run(database, &sql);
	guard_close(&database->guard);
	buf_clear(&sql);
	return rc == SQLITE_OK ? 0 : database_refuse(database, rc, refusal);
}
