/*
 * The temporary schema lives in memory; query_only is off only while our own fixed statements run.
 * What can fail: memory, a name that went with a schema change.
 */
#include "broker/connectors/sqlite_narrow.h"

#include "base/buf.h"
#include "base/mem.h"
#include "broker/connectors/sqlite_text.h"

static void add_separator(struct buf *sql, bool *first, const char *separator)
{
	if (!*first)
		buf_add_str(sql, separator);
	*first = false;
}

static void add_masked(struct buf *sql, const char *column, enum mask mask)
{
	static const char *const functions[] = {[MASK_REDACT] = "writ_redact(",
						[MASK_LAST4] = "writ_last4(",
						[MASK_HASH] = "writ_hash("};

	if (mask == MASK_NULL) {
		buf_add_str(sql, "NULL");
	} else if (mask != MASK_NONE) {
		buf_add_str(sql, functions[mask]);
		sql_name(column, sql);
		buf_add_char(sql, ')');
	} else {
		sql_name(column, sql);
		return; /* a plain column keeps its name and affinity */
	}
	buf_add_str(sql, " AS ");
	sql_name(column, sql);
}

/* The columns of the view; those of a table without any become stand_in. */
static void add_columns(struct buf *sql, const struct reach *view, size_t table,
			const char *stand_in)
{
	const struct catalog_table *source = &view->catalog->tables[table];
	bool first = true;

	for (size_t c = 0; c < source->column_count; c++) {
		if (!reach_has_column(view, table, c))
			continue;
		add_separator(sql, &first, ", ");
		add_masked(sql, source->columns[c].name, reach_mask(view, table, c));
	}
	if (first) {
		buf_add_str(sql, "1 AS ");
		sql_name(stand_in, sql);
	}
}

static void add_bound(struct buf *sql, size_t value)
{
	buf_addf(sql, "writ_bound(%zu)", value);
}

static void add_condition(struct buf *sql, const struct catalog_table *table,
			  const struct row_condition *condition)
{
	size_t value = condition->first_value;

	if (condition->test == ROW_NEVER) {
		buf_add_str(sql, "0");
		return;
	}
	if (condition->test == ROW_RANGE) {
		if (condition->has_min) {
			sql_name(table->columns[condition->column].name, sql);
			buf_add_str(sql, condition->min_open ? " > " : " >= ");
			add_bound(sql, value++);
		}
		if (condition->no_text) { /* which is above every number */
			buf_add_str(sql, " AND ");
			sql_name(table->columns[condition->column].name, sql);
			buf_add_str(sql, " < ''");
		}
		buf_add_str(sql, condition->has_min && condition->has_max ? " AND " : "");
		if (condition->has_max) {
			sql_name(table->columns[condition->column].name, sql);
			buf_add_str(sql, condition->max_open ? " < " : " <= ");
			add_bound(sql, value);
		}
		return;
	}
	sql_name(table->columns[condition->column].name, sql);
	/* Without a list, IN () is true of nothing and NOT IN () of NULL too. */
	if (condition->test == ROW_NOT_ONE_OF) {
		buf_add_str(sql, " IS NOT NULL AND ");
		sql_name(table->columns[condition->column].name, sql);
		buf_add_str(sql, " NOT");
	}
	buf_add_str(sql, " IN (");
	for (size_t i = 0; i < condition->value_count; i++) {
		buf_add_str(sql, i ? ", " : "");
		add_bound(sql, value + i);
	}
	buf_add_char(sql, ')');
}

static void add_unit(struct buf *sql, const struct guard *guard, const struct reach *view,
		     size_t table)
{
	const struct restriction *restriction = reach_restriction(view, table);
	CLEANUP(mem_freep) char *unit = NULL;

	if (!restriction->min_group || restriction->unit == CATALOG_NONE)
		return;
	unit = guard_unit_column(guard, table);
	buf_add_str(sql, ", ");
	sql_name(view->catalog->tables[table].columns[restriction->unit].name, sql);
	buf_add_str(sql, " AS ");
	sql_name(unit, sql);
}

static void add_restricted(struct buf *sql, const struct guard *guard, const struct reach *view,
			   size_t table, const char *stand_in)
{
	const struct catalog_table *source = &view->catalog->tables[table];
	const struct restriction *restriction = reach_restriction(view, table);
	CLEANUP(mem_freep) char *inner = guard_inner_view(guard, table);

	buf_add_str(sql, "CREATE TEMP VIEW ");
	sql_name(inner, sql);
	buf_add_str(sql, " AS SELECT ");
	add_columns(sql, view, table, stand_in);
	add_unit(sql, guard, view, table);
	buf_add_str(sql, " FROM main.");
	sql_name(source->name, sql);
	for (size_t i = 0; i < restriction->condition_count; i++) {
		buf_add_str(sql, i ? " AND (" : " WHERE (");
		add_condition(sql, source, &restriction->conditions[i]);
		buf_add_char(sql, ')');
	}
	/* Keeps SQLite from mixing the statement's conditions with these: rows that are kept back
	 * would meet them first where an index serves them, and show in errors and bytes. */
	buf_add_str(sql, restriction->condition_count ? " LIMIT -1" : "");
	buf_add_str(sql, "; CREATE TEMP VIEW ");
	sql_name(source->name, sql);
	buf_add_str(sql, " AS SELECT * FROM temp.");
	sql_name(inner, sql);
	buf_add_char(sql, ';');
}

static void add_listed(struct buf *sql, const struct reach *view, size_t table,
		       const char *stand_in)
{
	const struct catalog_table *source = &view->catalog->tables[table];

	buf_add_str(sql, "CREATE TEMP VIEW ");
	sql_name(source->name, sql);
	buf_add_str(sql, " AS SELECT ");
	add_columns(sql, view, table, stand_in);
	buf_add_str(sql, " FROM main.");
	sql_name(source->name, sql);
	buf_add_char(sql, ';');
}

static int add_drops(struct database *database, struct buf *sql)
{
	static const char list[] = "SELECT name FROM temp.sqlite_schema WHERE type = 'view'";
	sqlite3_stmt *row = NULL;
	int rc = sqlite3_prepare_v2(database->sqlite, list, -1, &row, NULL);

	while (rc == SQLITE_OK && (rc = sqlite3_step(row)) == SQLITE_ROW) {
		buf_add_str(sql, "DROP VIEW temp.");
		sql_name((const char *)sqlite3_column_text(row, 0), sql);
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

	database->fronts = view;
	database->bound = &view->bound;
	guard_internal(&database->guard);
	rc = add_drops(database, &sql);
	for (size_t t = 0; rc == SQLITE_OK && t < view->catalog->table_count; t++) {
		if (!view->tables[t].in)
			continue;
		if (reach_restriction(view, t))
			add_restricted(&sql, &database->guard, view, t, stand_in);
		else if (view->tables[t].listed)
			add_listed(&sql, view, t, stand_in);
	}
	if (rc == SQLITE_OK && sql.len)
		rc = run(database, &sql);
	guard_close(&database->guard);
	buf_clear(&sql);
	return rc == SQLITE_OK ? 0 : database_refuse(database, rc, refusal);
}
