/*
 * The program of a statement, cursor by cursor. A cursor that is stepped from the first or last
 * entry on reads all; one that is moved inside the loop of another is moved as often as that one
 * steps, which nobody knows. Left are those that are sought once. Programs with subroutines that
 * are called from several places are not judged.
 */
#include "broker/connectors/sqlite_sought.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "broker/connectors/sqlite_text.h"

#define FIELDS_MAX 8   /* of one key; more are not looked at */
#define CONSTANT_OPS 8 /* a constant stands right before what uses it, or at the program's end */

struct op {
	char code[16];
	int p1, p2, p3;
	char *p4; /* owned; NULL for none */
};

struct sought {
	struct op *ops; /* the address is the place */
	int count;
};

static void statement_finalizep(sqlite3_stmt **statement)
{
	sqlite3_finalize(*statement);
}

void sought_free(struct sought *sought)
{
	if (sought == NULL)
		return;
	for (int i = 0; i < sought->count; i++)
		mem_free(sought->ops[i].p4);
	mem_free(sought->ops);
	mem_free(sought);
}

void sought_freep(struct sought **sought)
{
	sought_free(*sought);
}

int sought_read(sqlite3 *sqlite, const char *sql, struct sought **ret_sought, struct err *err)
{
	CLEANUP(mem_freep) char *text = mem_format("EXPLAIN %s", sql);
	CLEANUP(statement_finalizep) sqlite3_stmt *row = NULL;
	CLEANUP(sought_freep) struct sought *sought = mem_alloc(sizeof(*sought));
	int rc = sqlite3_prepare_v2(sqlite, text, -1, &row, NULL);

	while (rc == SQLITE_OK && (rc = sqlite3_step(row)) == SQLITE_ROW) {
		const char *code = (const char *)sqlite3_column_text(row, 1);
		struct op *op;

		sought->ops =
			mem_grow(sought->ops, (size_t)(sought->count + 1) * sizeof(*sought->ops));
		op = &sought->ops[sought->count++];
		*op = (struct op){.p1 = sqlite3_column_int(row, 2),
				  .p2 = sqlite3_column_int(row, 3),
				  .p3 = sqlite3_column_int(row, 4),
				  .p4 = mem_str((const char *)sqlite3_column_text(row, 5))};
		snprintf(op->code, sizeof(op->code), "%s", code ? code : "");
		rc = SQLITE_OK;
	}
	if (rc != SQLITE_DONE)
		return err_set(err, ERR_UNAVAILABLE, "explain: %s", sqlite3_errmsg(sqlite));
	*ret_sought = TAKE(sought);
	return 0;
}

/* ---- what a cursor does ---- */

static bool is_any(const struct op *op, const char *const *codes)
{
	for (; *codes; codes++)
		if (strcmp(op->code, *codes) == 0)
			return true;
	return false;
}

static const char *const steps[] = {"Next", "Prev", NULL};
static const char *const loops[] = {"Next", "Prev", "VNext", "SorterNext", NULL};
static const char *const ends[] = {"Rewind", "Last", "Count", NULL};
static const char *const seeks[] = {"SeekGE", "SeekGT", "SeekLE", "SeekLT", NULL};
static const char *const stops[] = {"IdxGE", "IdxGT", "IdxLE", "IdxLT", NULL};
static const char *const points[] = {"SeekRowid",  "NotExists", "Found",    "NotFound",
				     "NoConflict", "SeekScan",	"IfNoHope", NULL};

/* Subroutines and jumps back that are no loop of a cursor: how often something runs is not told. */
static bool is_plain(const struct sought *sought)
{
	for (int i = 0; i < sought->count; i++) {
		const struct op *op = &sought->ops[i];

		if (strcmp(op->code, "Gosub") == 0 || strcmp(op->code, "Program") == 0 ||
		    (strcmp(op->code, "Goto") == 0 && op->p2 > 1 && op->p2 < i))
			return false;
	}
	return true;
}

static bool in_loop(const struct sought *sought, int at, int cursor)
{
	for (int i = at + 1; i < sought->count; i++) {
		const struct op *op = &sought->ops[i];

		if (is_any(op, loops) && op->p2 <= at &&
		    (op->p1 != cursor || strcmp(op->code, "SorterNext") == 0))
			return true;
	}
	return false;
}

struct use { /* of one cursor */
	bool known;
	bool stepped;
	int seek;     /* the only op of seeks[], -1 for none */
	int stop;     /* likewise of stops[] */
	int deferred; /* the index cursor that moves it, -1 for none */
};

static struct use use_of(const struct sought *sought, int cursor)
{
	struct use use = {.known = true, .seek = -1, .stop = -1, .deferred = -1};

	for (int i = 0; i < sought->count && use.known; i++) {
		const struct op *op = &sought->ops[i];

		if (strcmp(op->code, "DeferredSeek") == 0 && op->p3 == cursor) {
			use.known = use.deferred < 0;
			use.deferred = op->p1;
		}
		if (op->p1 != cursor)
			continue;
		if (is_any(op, ends))
			use.known = false;
		else if (is_any(op, steps))
			use.stepped = true;
		else if (is_any(op, seeks)) {
			use.known = use.seek < 0 && !in_loop(sought, i, cursor);
			use.seek = i;
		} else if (is_any(op, stops)) {
			use.known = use.stop < 0;
			use.stop = i;
		} else if (is_any(op, points)) {
			use.known = !in_loop(sought, i, cursor);
		}
	}
	return use;
}

/* ---- the values of a key ---- */

static bool is_constant(const struct op *op, int reg)
{
	static const char *const codes[] = {"Integer", "Int64", "Real", "String8", NULL};

	if (strcmp(op->code, "Null") == 0)
		return reg == op->p2 || (reg > op->p2 && reg <= op->p3);
	return op->p2 == reg && is_any(op, codes);
}

/* What the register holds when the op at this address runs; NULL when that is not told. */
static const struct op *value_at(const struct sought *sought, int reg, int at)
{
	const struct op *found = NULL;

	for (int i = at - 1; i >= 0 && i >= at - CONSTANT_OPS; i--)
		if (is_constant(&sought->ops[i], reg))
			return &sought->ops[i];
	for (int i = at + 1; i < sought->count; i++) {
		if (!is_constant(&sought->ops[i], reg))
			continue;
		if (found != NULL)
			return NULL;
		found = &sought->ops[i];
	}
	return found;
}

struct key { /* values of the first columns of an index */
	const struct op *values[FIELDS_MAX];
	int count;
};

static bool read_key(const struct sought *sought, int at, struct key *ret_key)
{
	const struct op *op;

	*ret_key = (struct key){0};
	if (at < 0)
		return true;
	op = &sought->ops[at];
	ret_key->count = op->p4 ? atoi(op->p4) : 0;
	if (ret_key->count < 1 || ret_key->count > FIELDS_MAX)
		return false;
	for (int i = 0; i < ret_key->count; i++) {
		ret_key->values[i] = value_at(sought, op->p3 + i, at);
		if (ret_key->values[i] == NULL)
			return false;
	}
	return true;
}

static bool is_null(const struct op *value)
{
	return strcmp(value->code, "Null") == 0;
}

static void bind(sqlite3_stmt *row, int number, const struct op *value)
{
	if (strcmp(value->code, "Integer") == 0)
		sqlite3_bind_int(row, number, value->p1);
	else if (strcmp(value->code, "Int64") == 0)
		sqlite3_bind_int64(row, number, strtoll(value->p4 ? value->p4 : "0", NULL, 10));
	else if (strcmp(value->code, "Real") == 0)
		sqlite3_bind_double(row, number, strtod(value->p4 ? value->p4 : "0", NULL));
	else
		sqlite3_bind_text(row, number, value->p4 ? value->p4 : "", -1, SQLITE_STATIC);
}

/* ---- counting a range ---- */

struct range {
	struct key low; /* what is sought */
	struct key high;
	const char *first; /* the comparison of the last sought column */
	const char *last;
	const struct op *bound[2 * FIELDS_MAX];
	int bound_count;
	int conditions;
};

static const char *comparison(const char *code)
{
	static const char *const known[][2] = {{"SeekGE", ">="}, {"SeekGT", ">"}, {"SeekLE", "<="},
					       {"SeekLT", "<"},	 {"IdxGE", "<"},  {"IdxGT", "<="},
					       {"IdxLE", ">"},	 {"IdxLT", ">="}};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (strcmp(code, known[i][0]) == 0)
			return known[i][1];
	return NULL;
}

static void add_condition(struct range *range, const char *column, const char *sign,
			  const struct op *value, struct buf *sql)
{
	buf_add_str(sql, range->conditions++ > 0 ? " AND " : " WHERE ");
	sql_name(column, sql);
	if (is_null(value)) { /* sought past the missing ones */
		buf_add_str(sql, " IS NOT NULL");
		return;
	}
	range->bound[range->bound_count++] = value;
	buf_addf(sql, " %s ?%d", sign, range->bound_count);
}

/* The index's columns up to the longest key: equal but for the last, which is compared. */
static bool add_conditions(struct range *range, const struct json *columns, struct buf *sql)
{
	int fields = range->low.count > range->high.count ? range->low.count : range->high.count;

	for (int i = 0; i < fields; i++) {
		const char *column = json_str(json_at(columns, (size_t)i));
		const struct op *low = i < range->low.count ? range->low.values[i] : NULL;
		const struct op *high = i < range->high.count ? range->high.values[i] : NULL;

		if (column == NULL)
			return false;
		if (i + 1 < fields) {
			const struct op *same = low ? low : high;

			if (same == NULL || is_null(same))
				return false;
			add_condition(range, column, "=", same, sql);
			continue;
		}
		if (low)
			add_condition(range, column, range->first, low, sql);
		if (high)
			add_condition(range, column, range->last, high, sql);
	}
	return fields > 0;
}

/* Names of an index's columns in order; NULL where one is an expression or runs downwards. */
static struct json *index_columns(sqlite3 *sqlite, const char *index)
{
	CLEANUP(statement_finalizep) sqlite3_stmt *row = NULL;
	CLEANUP(buf_clear) struct buf sql = BUF_INIT;
	struct json *columns = json_array();

	buf_add_str(&sql, "PRAGMA main.index_xinfo(");
	sql_name(index, &sql);
	buf_add_char(&sql, ')');
	if (sqlite3_prepare_v2(sqlite, buf_str(&sql), -1, &row, NULL) != SQLITE_OK)
		return columns;
	while (sqlite3_step(row) == SQLITE_ROW) {
		const char *name = (const char *)sqlite3_column_text(row, 2);

		if (sqlite3_column_int(row, 5) == 0)
			break; /* columns that only lead to the row */
		json_push(columns, json_new_str(sqlite3_column_int(row, 3) != 0 ? NULL : name));
	}
	return columns;
}

static int64_t count_range(sqlite3 *sqlite, const char *table, const char *index,
			   struct range *range)
{
	CLEANUP(statement_finalizep) sqlite3_stmt *row = NULL;
	CLEANUP(json_freep) struct json *columns = index_columns(sqlite, index);
	CLEANUP(buf_clear) struct buf sql = BUF_INIT;

	buf_add_str(&sql, "SELECT COUNT(*) FROM (SELECT 1 FROM main.");
	sql_name(table, &sql);
	buf_add_str(&sql, " INDEXED BY ");
	sql_name(index, &sql);
	if (!add_conditions(range, columns, &sql))
		return -1;
	buf_addf(&sql, " LIMIT %d)", SOUGHT_ROWS_MAX + 1);
	if (sqlite3_prepare_v2(sqlite, buf_str(&sql), -1, &row, NULL) != SQLITE_OK)
		return -1;
	for (int i = 0; i < range->bound_count; i++)
		bind(row, i + 1, range->bound[i]);
	return sqlite3_step(row) == SQLITE_ROW ? sqlite3_column_int64(row, 0) : -1;
}

/* Rows that a cursor comes to; -1 when not known. */
static int64_t rows_of(const struct sought *sought, sqlite3 *sqlite, const struct catalog *catalog,
		       int cursor, int64_t page)
{
	const struct catalog_root *root = catalog_root_find(catalog, page);
	struct use use = use_of(sought, cursor);
	struct range range = {0};
	const char *table;

	if (!use.known || root == NULL || use.deferred >= 0)
		return -1;
	if (!use.stepped)
		return 1;
	table = catalog->tables[root->table].name;
	if (use.seek < 0 || strcmp(root->name, table) == 0 ||
	    !read_key(sought, use.seek, &range.low) || !read_key(sought, use.stop, &range.high))
		return -1;
	range.first = comparison(sought->ops[use.seek].code);
	range.last = use.stop < 0 ? NULL : comparison(sought->ops[use.stop].code);
	return count_range(sqlite, table, root->name, &range);
}

/* ---- a b-tree ---- */

static int64_t page_of(const struct sought *sought, int cursor)
{
	for (int i = 0; i < sought->count; i++)
		if (strcmp(sought->ops[i].code, "OpenRead") == 0 && sought->ops[i].p1 == cursor &&
		    sought->ops[i].p3 == 0)
			return sought->ops[i].p2;
	return 0;
}

bool sought_in(const struct sought *sought, sqlite3 *sqlite, const struct catalog *catalog,
	       int64_t page, struct sought_rows *ret_rows)
{
	struct sought_rows all = {0};

	if (!is_plain(sought))
		return false;
	for (int i = 0; i < sought->count; i++) {
		const struct op *op = &sought->ops[i];
		struct use use;
		int64_t rows;

		if (strcmp(op->code, "ReopenIdx") == 0 && op->p2 == page)
			return false;
		if (strcmp(op->code, "OpenRead") != 0 || op->p2 != page || op->p3 != 0)
			continue;
		use = use_of(sought, op->p1);
		if (use.known && use.deferred >= 0) {
			all.scattered = true;
			rows = rows_of(sought, sqlite, catalog, use.deferred,
				       page_of(sought, use.deferred));
		} else {
			rows = rows_of(sought, sqlite, catalog, op->p1, page);
		}
		if (rows < 0 || (all.rows += rows) > SOUGHT_ROWS_MAX)
			return false;
	}
	*ret_rows = all;
	return true;
}
