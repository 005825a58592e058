/*
 * Made from quoted names and declared types only. What can fail: a name SQLite refuses (it accepted
 * it once, so only damage), memory.
 */
#include "broker/connectors/sqlite_shadow.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/buf.h"
#include "base/mem.h"
#include "broker/connectors/sqlite_explain.h"
#include "broker/connectors/sqlite_open.h"
#include "broker/connectors/sqlite_text.h"

/* Types are free text in SQLite: only plain ones are repeated, they do not change what compiles. */
static bool is_plain_type(const char *type)
{
	return type[strspn(type, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				 "0123456789_ ")] == '\0';
}

static void add_column(struct buf *sql, const char *name, const char *type)
{
	sql_name(name, sql);
	if (*type && is_plain_type(type)) {
		buf_add_char(sql, ' ');
		sql_name(type, sql); /* quoted: a type may hold keywords */
	}
}

static void add_table(struct buf *sql, const struct reach *view, size_t table, const char *marker)
{
	const struct catalog_table *source = &view->catalog->tables[table];
	bool listed = view->tables[table].listed;
	bool first = true;

	buf_add_str(sql, reach_is_fronted(view, table) ? "CREATE TEMP TABLE " : "CREATE TABLE ");
	sql_name(source->name, sql);
	buf_add_str(sql, " (");
	for (size_t c = 0; c < source->column_count; c++) {
		if (!reach_has_column(view, table, c))
			continue;
		if (!first)
			buf_add_str(sql, ", ");
		add_column(sql, source->columns[c].name, source->columns[c].type);
		first = false;
	}
	if (listed) {
		buf_add_str(sql, first ? "" : ", ");
		sql_name(marker, sql);
		buf_add_str(sql, " PRIMARY KEY) WITHOUT ROWID;");
	} else {
		buf_add_str(sql, ");");
	}
}

static int make_marker(struct shadow *shadow, struct err *err)
{
	unsigned char random[16];

	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return err_errno(err, "random bytes");
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(shadow->marker + 2 * i, 3, "%02x", random[i]);
	memcpy(shadow->marker, "c_", 2); /* begins like a name */
	return 0;
}

static int make_tables(struct shadow *shadow, const struct reach *view, struct err *err)
{
	struct buf sql = BUF_INIT;
	int rc;

	buf_add_str(&sql, "PRAGMA temp_store = MEMORY; BEGIN;");
	for (size_t t = 0; t < view->catalog->table_count; t++)
		if (view->tables[t].in)
			add_table(&sql, view, t, shadow->marker);
	buf_add_str(&sql, "COMMIT; SELECT 1 FROM json_each('[]'), json_tree('[]');");
	rc = sqlite3_exec(shadow->sqlite, buf_str(&sql), NULL, NULL, NULL);
	buf_clear(&sql);
	if (rc != SQLITE_OK)
		return err_set(err, ERR_INTERNAL, "shadow: %s", sqlite3_errmsg(shadow->sqlite));
	return 0;
}

int shadow_open(struct shadow *shadow, const struct reach *view, struct err *err)
{
	static const char *kept_modules[] = {"json_each", "json_tree", NULL};
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX |
		    SQLITE_OPEN_MEMORY | SQLITE_OPEN_PRIVATECACHE;

	*shadow = (struct shadow){0};
	if (make_marker(shadow, err) < 0)
		return -1;
	if (sqlite3_open_v2(":memory:", &shadow->sqlite, flags, NULL) != SQLITE_OK) {
		shadow_close(shadow);
		return err_set(err, ERR_INTERNAL, "shadow: out of memory");
	}
	database_harden(shadow->sqlite);
	sqlite3_drop_modules(shadow->sqlite, kept_modules);
	if (make_tables(shadow, view, err) < 0) {
		shadow_close(shadow);
		return -1;
	}
	guard_init(&shadow->guard);
	shadow->guard.marker = shadow->marker;
	guard_install(&shadow->guard, shadow->sqlite);
	return 0;
}

void shadow_close(struct shadow *shadow)
{
	sqlite3_close_v2(shadow->sqlite);
	shadow->sqlite = NULL;
}

/* Its own root pages: another file than the source, so another numbering. */
static int add_by_root(struct shadow *shadow, struct explain_page page, struct reach *facts)
{
	static const char *const sql[] = {
		"SELECT tbl_name FROM main.sqlite_schema WHERE rootpage = ?1",
		"SELECT tbl_name FROM temp.sqlite_schema WHERE rootpage = ?1"};
	size_t table = CATALOG_NONE;
	sqlite3_stmt *row = NULL;

	guard_internal(&shadow->guard);
	if (sqlite3_prepare_v2(shadow->sqlite, sql[page.database == 1], -1, &row, NULL) ==
	    SQLITE_OK) {
		sqlite3_bind_int64(row, 1, page.page);
		if (sqlite3_step(row) == SQLITE_ROW) {
			const char *name = (const char *)sqlite3_column_text(row, 0);

			table = name ? catalog_table_find(facts->catalog, name) : CATALOG_NONE;
		}
	}
	sqlite3_finalize(row);
	guard_close(&shadow->guard);
	if (table == CATALOG_NONE)
		return -1;
	reach_add_table(facts, table);
	return 0;
}

int shadow_opened(struct shadow *shadow, const char *sql, struct reach *facts, struct err *err)
{
	struct explain_page *pages = NULL;
	size_t count = 0;
	int result = 0;

	guard_internal(&shadow->guard);
	if (explain_opened(shadow->sqlite, sql, &pages, &count, err) < 0)
		result = -1;
	guard_close(&shadow->guard);
	for (size_t i = 0; result == 0 && i < count; i++)
		if (add_by_root(shadow, pages[i], facts) < 0)
			result = err_set(err, ERR_INTERNAL, "shadow: unknown page %lld",
					 (long long)pages[i].page);
	mem_free(pages);
	return result;
}
