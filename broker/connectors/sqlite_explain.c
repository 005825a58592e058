/*
 * EXPLAIN gives the program: its OpenRead instructions name root pages, which is what a statement
 * really opens, whoever wrote which name. dbstat gives their sizes, page by page, so a large b-tree
 * is given up after a while and counted as the whole file: the estimate stays an upper bound. Rows
 * and ranges of an index that are sought once count for themselves (sqlite_sought.h).
 */
#include "broker/connectors/sqlite_explain.h"

#include <string.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "broker/connectors/sqlite_shape.h"
#include "broker/connectors/sqlite_sought.h"

#define SIZE_US_MAX 250000 /* for measuring one b-tree */
#define PLAN_DEPTH_MAX 16

static void statement_finalizep(sqlite3_stmt **statement)
{
	sqlite3_finalize(*statement);
}

static int prepare_prefixed(sqlite3 *sqlite, const char *prefix, const char *sql,
			    sqlite3_stmt **ret_row)
{
	CLEANUP(mem_freep) char *text = mem_format("%s%s", prefix, sql);

	return sqlite3_prepare_v2(sqlite, text, -1, ret_row, NULL);
}

static void add_page(struct explain_page page, struct explain_page **pages, size_t *count)
{
	for (size_t i = 0; i < *count; i++)
		if ((*pages)[i].page == page.page && (*pages)[i].database == page.database)
			return;
	*pages = mem_grow(*pages, (*count + 1) * sizeof(**pages));
	(*pages)[(*count)++] = page;
}

int explain_opened(sqlite3 *sqlite, const char *sql, struct explain_page **ret_pages,
		   size_t *ret_count, struct err *err)
{
	CLEANUP(statement_finalizep) sqlite3_stmt *row = NULL;
	struct explain_page *pages = NULL;
	size_t count = 0;
	int rc = prepare_prefixed(sqlite, "EXPLAIN ", sql, &row);

	while (rc == SQLITE_OK && (rc = sqlite3_step(row)) == SQLITE_ROW) {
		const char *opcode = (const char *)sqlite3_column_text(row, 1);

		if (opcode && (strcmp(opcode, "OpenRead") == 0 || strcmp(opcode, "ReopenIdx") == 0))
			add_page((struct explain_page){sqlite3_column_int(row, 4),    /* p3 */
						       sqlite3_column_int64(row, 3)}, /* p2 */
				 &pages, &count);
		rc = SQLITE_OK;
	}
	if (rc != SQLITE_DONE) {
		mem_free(pages);
		return err_set(err, ERR_UNAVAILABLE, "explain: %s", sqlite3_errmsg(sqlite));
	}
	*ret_pages = pages;
	*ret_count = count;
	return 0;
}

void explain_sizes_clear(struct explain_sizes *sizes)
{
	mem_free(sizes->items);
	*sizes = (struct explain_sizes){0};
}

static int64_t page_count(struct database *database)
{
	CLEANUP(statement_finalizep) sqlite3_stmt *row = NULL;

	if (sqlite3_prepare_v2(database->sqlite, "PRAGMA main.page_count", -1, &row, NULL) !=
		    SQLITE_OK ||
	    sqlite3_step(row) != SQLITE_ROW)
		return 0;
	return sqlite3_column_int64(row, 0);
}

/* Bytes of one b-tree, or of the whole file when it takes too long to know. */
static void measure(struct database *database, const char *name, int64_t file_bytes,
		    struct explain_size *size)
{
	CLEANUP(statement_finalizep) sqlite3_stmt *row = NULL;
	int64_t end_us = clock_mono_us() + SIZE_US_MAX;
	int64_t bytes = 0, cells = 0;
	int rc;

	size->bytes = file_bytes;
	rc = sqlite3_prepare_v2(database->sqlite,
				"SELECT pgsize, ncell, pagetype FROM dbstat WHERE name = ?1", -1,
				&row, NULL);
	if (rc != SQLITE_OK)
		return;
	sqlite3_bind_text(row, 1, name, -1, SQLITE_STATIC);
	for (int64_t n = 1; (rc = sqlite3_step(row)) == SQLITE_ROW; n++) {
		const char *type = (const char *)sqlite3_column_text(row, 2);

		bytes += sqlite3_column_int64(row, 0);
		if (type != NULL && strcmp(type, "leaf") == 0)
			cells += sqlite3_column_int64(row, 1);
		if (n % 256 == 0 && clock_mono_us() >= end_us)
			return;
	}
	if (rc != SQLITE_DONE)
		return;
	size->bytes = bytes;
	size->cells = cells;
}

static const struct explain_size *size_of(struct database *database, struct explain_sizes *sizes,
					  int64_t page)
{
	const struct catalog_root *root = catalog_root_find(database->catalog, page);
	int64_t file_bytes = sizes->page_count * database->page_size;
	struct explain_size *size;

	for (size_t i = 0; i < sizes->count; i++)
		if (sizes->items[i].page == page)
			return &sizes->items[i];
	sizes->items = mem_grow(sizes->items, (sizes->count + 1) * sizeof(*sizes->items));
	size = &sizes->items[sizes->count++];
	*size = (struct explain_size){.page = page, .bytes = file_bytes};
	if (root != NULL)
		measure(database, root->name, file_bytes, size);
	return size;
}

#define TREE_DEPTH 5 /* pages from the root to a leaf of any b-tree that fits a disk */

/* Rows times pages where the statement seeks them once; a row found through an index may lie on a
 * page of its own, with what of it does not fit there; those of a range lie side by side. */
static int64_t bytes_of(struct database *database, struct explain_sizes *sizes,
			const struct sought *sought, const struct explain_page *page)
{
	const struct explain_size *size = size_of(database, sizes, page->page);
	struct sought_rows found;
	int64_t each, bytes;

	if (page->database != 0 || sought == NULL || size->cells <= 0 ||
	    !sought_in(sought, database->sqlite, database->catalog, page->page, &found))
		return size->bytes;
	each = size->bytes / size->cells + 1;
	if (found.scattered)
		each += database->page_size;
	bytes = found.rows * each + TREE_DEPTH * database->page_size;
	return bytes < size->bytes ? bytes : size->bytes;
}

struct opened {			    /* by one statement */
	struct explain_page *pages; /* owned */
	size_t count;
	struct sought *sought; /* owned; NULL when it is not looked at */
};

static void opened_clear(struct opened *opened)
{
	mem_free(opened->pages);
	sought_free(opened->sought);
}

static int64_t estimate(struct database *database, struct explain_sizes *sizes,
			const struct opened *opened)
{
	int64_t bytes = opened->count ? database->page_size : 0; /* the file's first page */
	int64_t now;

	guard_internal(&database->guard);
	now = page_count(database);
	if (sizes->version != database->catalog->version || sizes->page_count != now)
		explain_sizes_clear(sizes);
	sizes->version = database->catalog->version;
	sizes->page_count = now;
	for (size_t i = 0; i < opened->count; i++)
		bytes += bytes_of(database, sizes, opened->sought, &opened->pages[i]);
	guard_close(&database->guard);
	return bytes;
}

/* Does the view leave out a column or a row of any table? */
static bool hides_any(const struct reach *view)
{
	for (size_t t = 0; t < view->catalog->table_count; t++)
		if (reach_is_fronted(view, t))
			return true;
	return false;
}

/* Which index is used tells of columns that are hidden: by its name, by what it holds before the
 * column that is asked for, by the condition of a row filter. */
static size_t shown_len(const char *text, const struct reach *view)
{
	const char *index = strstr(text, " USING ");

	return index && hides_any(view) ? (size_t)(index - text) : strlen(text);
}

/* Rows come with their parent's id; depth is what a reader sees. */
static int read_plan(const struct database *database, const struct reach *view, sqlite3_stmt *row,
		     struct json *plan)
{
	int ids[PLAN_DEPTH_MAX] = {0};
	int depth = 0, rc;

	while ((rc = sqlite3_step(row)) == SQLITE_ROW) {
		const char *detail = (const char *)sqlite3_column_text(row, 3);
		CLEANUP(mem_freep) char *text = database_public(database, detail ? detail : "");
		struct buf line = BUF_INIT;

		while (depth > 0 && ids[depth - 1] != sqlite3_column_int(row, 1))
			depth--;
		for (int i = 0; i < depth; i++)
			buf_add_str(&line, "  ");
		buf_add(&line, text, shown_len(text, view));
		json_push_str(plan, buf_str(&line));
		buf_clear(&line);
		if (depth < PLAN_DEPTH_MAX)
			ids[depth++] = sqlite3_column_int(row, 0);
	}
	return rc;
}

/* How many rows a range has is not told where any are hidden. */
static bool shows_all_rows(const struct reach *view)
{
	for (size_t t = 0; t < view->catalog->table_count; t++)
		if (reach_restriction(view, t) != NULL)
			return false;
	return true;
}

/* Compiles again, so looks again at what would be read. */
static int plan_within(struct database *database, const char *sql, const struct reach *facts,
		       const struct reach *view, struct json *plan, struct opened *opened,
		       struct refusal *refusal)
{
	CLEANUP(statement_finalizep) sqlite3_stmt *row = NULL;
	CLEANUP(reach_freep) struct reach *scratch = reach_new(database->catalog);
	struct err err;
	int rc, status = -1;

	guard_collect(&database->guard, view, scratch);
	rc = prepare_prefixed(database->sqlite, "EXPLAIN QUERY PLAN ", sql, &row);
	if (rc == SQLITE_OK)
		status =
			explain_opened(database->sqlite, sql, &opened->pages, &opened->count, &err);
	if (status == 0 && shows_all_rows(view))
		status = sought_read(database->sqlite, sql, &opened->sought, &err);
	guard_close(&database->guard);
	if (rc != SQLITE_OK)
		return database_refuse(database, rc, refusal);
	if (status < 0)
		return refusal_from_err(refusal, &err);
	if (!reach_within(scratch, facts, false))
		return refusal_set(refusal, BY_POLICY, "send the statement again",
				   "the schema changed while the statement was explained");
	rc = read_plan(database, view, row, plan);
	return rc == SQLITE_DONE ? 0 : database_refuse(database, rc, refusal);
}

int explain_statement(struct database *database, struct explain_sizes *sizes, const char *sql,
		      const struct reach *facts, const struct reach *view, struct json **ret_result,
		      struct refusal *refusal)
{
	CLEANUP(json_freep) struct json *result = json_object();
	CLEANUP(json_freep) struct json *plan = json_array();
	CLEANUP(json_freep) struct json *names = json_object();
	CLEANUP(opened_clear) struct opened opened = {0};
	char shape[SHAPE_LEN + 1];

	if (plan_within(database, sql, facts, view, plan, &opened, refusal) < 0)
		return -1;
	json_set_bool(result, "ok", true);
	json_set(result, "plan", TAKE(plan));
	json_set_int(result, "bytes_estimated", estimate(database, sizes, &opened));
	reach_write(facts, view, names);
	json_set(result, "tables", json_copy(json_get(names, "tables")));
	json_set(result, "columns", json_copy(json_get(names, "columns")));
	shape_write(facts, shape);
	json_set_str(result, "shape", shape);
	*ret_result = TAKE(result);
	return 0;
}
