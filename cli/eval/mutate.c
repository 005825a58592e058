/*
 * Changes a copy; see mutate.h. All of it is SQL over names that sql_name() quotes; what is a key
 * and what kind of values a column has is asked first. Which rows a step takes is settled by a list
 * of the table's rows in an order that the seed makes (temp.picked): row n of it for n % 5 == 2,
 * say, so that a table of five rows is changed too. What can fail: the database.
 */
#include "cli/eval/mutate.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cli/eval/mutate_schema.h"

/* ---- what is done to it ---- */

static int exec(struct db *db, const struct buf *sql, int64_t *counter, struct err *err)
{
	int64_t before = 0, after = 0;

	if (db_ask(db, "SELECT total_changes()", &before, 1, err) < 0 ||
	    db_exec(db, buf_str(sql), err) < 0 ||
	    db_ask(db, "SELECT total_changes()", &after, 1, err) < 0)
		return -1;
	*counter += after - before;
	return 0;
}

/* temp.picked(id, n): the rows in an order that the seed makes, numbered from 0. */
static int pick(struct db *db, const struct mutate_table *table, struct err *err)
{
	CLEANUP(buf_clear) struct buf sql = BUF_INIT;

	buf_addf(&sql,
		 "DROP TABLE IF EXISTS temp.picked; CREATE TEMP TABLE picked(id INTEGER PRIMARY "
		 "KEY, "
		 "n INTEGER); INSERT INTO temp.picked SELECT %s, row_number() OVER (ORDER BY "
		 "abs((%s %% 1000003) * 48271 + %lld) %% 65537, %s) - 1 FROM main.%s",
		 table->rowid, table->rowid, (long long)table->seed * 7919, table->rowid,
		 table->quoted);
	return db_exec(db, buf_str(&sql), err);
}

/* " WHERE rowid IN (...)": every of-th row, from the seed's on. */
static void add_where(const struct mutate_table *table, size_t step, int of, struct buf *sql)
{
	buf_addf(sql, " WHERE %s IN (SELECT id FROM temp.picked WHERE n %% %d = %lld)",
		 table->rowid, of, (long long)(((table->seed + (int64_t)step) % of + of) % of));
}

/* Rows that refer to others are there twice; their own key is a new number, and a text that names
 * them a new name. */
static int add_children(struct db *db, struct mutate_table *table, struct err *err)
{
	CLEANUP(buf_clear) struct buf names = BUF_INIT;
	CLEANUP(buf_clear) struct buf values = BUF_INIT;
	CLEANUP(buf_clear) struct buf sql = BUF_INIT;
	size_t primary = 0, references = 0;

	for (size_t i = 0; i < table->count; i++) {
		const struct mutate_column *column = &table->columns[i];
		const char *c = column->quoted, *comma = i ? ", " : "";

		primary += column->primary;
		references += column->reference && !column->primary;
		buf_addf(&names, "%s%s", comma, c);
		if (column->primary && !column->words)
			buf_addf(&values, "%s(SELECT MAX(%s) FROM main.%s) + 1 + p.n", comma, c,
				 table->quoted);
		else if (column->distinct && column->words && !column->reference &&
			 column->kind != COLUMN_TIME)
			buf_addf(&values, "%st.%s || ' ' || (p.n + 2)", comma, c);
		else
			buf_addf(&values, "%st.%s", comma, c);
	}
	if (primary > 1 || references == 0)
		return 0;
	buf_addf(
		&sql,
		"INSERT OR IGNORE INTO main.%s (%s) SELECT %s FROM main.%s t JOIN temp.picked p ON "
		"p.id = t.%s WHERE p.n %% 3 = %lld",
		table->quoted, buf_str(&names), buf_str(&values), table->quoted, table->rowid,
		(long long)((table->seed % 3 + 3) % 3));
	return exec(db, &sql, &table->added, err);
}

/* All rows of one parent go, unless they are half of the table or the last ones with some word. */
static int drop_group(struct db *db, struct mutate_table *table,
		      const struct mutate_column *reference, struct err *err)
{
	CLEANUP(buf_clear) struct buf sql = BUF_INIT;
	const char *c = reference->quoted, *t = table->quoted;
	CLEANUP(mem_freep)
	char *parent = mem_format("(SELECT t.%s FROM main.%s t JOIN temp.picked p ON p.id = t.%s "
				  "WHERE t.%s NOT NULL ORDER BY p.n LIMIT 1)",
				  c, t, table->rowid, c);

	buf_addf(&sql,
		 "DELETE FROM main.%s WHERE %s = %s AND (SELECT 2 * SUM(%s IS %s) <= COUNT(*) FROM "
		 "main.%s)",
		 t, c, parent, c, parent, t);
	for (size_t i = 0; i < table->count; i++) {
		const char *w = table->columns[i].quoted;

		if (table->columns[i].kind == COLUMN_WORD)
			buf_addf(
				&sql,
				" AND (%s IS NULL OR %s IN (SELECT %s FROM main.%s WHERE %s IS NOT "
				"%s))",
				w, w, w, t, c, parent);
	}
	return exec(db, &sql, &table->removed, err);
}

static int drop_groups(struct db *db, struct mutate_table *table, struct err *err)
{
	if (!table->leaf)
		return 0;
	for (size_t i = 0; i < table->count; i++)
		if (table->columns[i].reference)
			return drop_group(db, table, &table->columns[i], err);
	return 0;
}

static int update_rows(struct db *db, struct mutate_table *table, size_t step, int of,
		       const char *column, const char *value, const char *unless, int64_t *counter,
		       struct err *err)
{
	CLEANUP(buf_clear) struct buf sql = BUF_INIT;

	buf_addf(&sql, "UPDATE OR IGNORE main.%s SET %s = %s", table->quoted, column, value);
	add_where(table, step, of, &sql);
	buf_addf(&sql, " AND %s NOT NULL%s", column, unless);
	return exec(db, &sql, counter, err);
}

/* " AND rowid NOT IN (...)": not the first row of each value, so that every value stays. */
static char *keeps_words(const struct mutate_table *table, const struct mutate_column *column)
{
	if (column->kind != COLUMN_WORD)
		return mem_str("");
	return mem_format(" AND %s NOT IN (SELECT MIN(%s) FROM main.%s GROUP BY %s)", table->rowid,
			  table->rowid, table->quoted, column->quoted);
}

static int shift_times(struct db *db, struct mutate_table *table, size_t step, const char *c,
		       struct err *err)
{
	CLEANUP(mem_freep)
	char *first = mem_format("date(substr(%s,1,10),'start of month') || substr(%s,11)", c, c);
	CLEANUP(mem_freep)
	char *last =
		mem_format("date(substr(%s,1,10),'start of month','+1 month','-1 day') || CASE "
			   "WHEN length(%s) >= 19 THEN substr(%s,11,1) || '23:59:59' || "
			   "substr(%s,20) ELSE substr(%s,11) END",
			   c, c, c, c, c);
	CLEANUP(mem_freep)
	char *year = mem_format("date(substr(%s,1,10),'start of year') || substr(%s,11)", c, c);

	if (update_rows(db, table, step, 5, c, first, "", &table->changed, err) < 0 ||
	    update_rows(db, table, step + 1, 5, c, last, "", &table->changed, err) < 0)
		return -1;
	return update_rows(db, table, step + 2, 7, c, year, "", &table->changed, err);
}

/* The next larger value that the column has, behind the largest the least. */
static char *next_value(const struct mutate_table *table, const char *c)
{
	const char *t = table->quoted;

	return mem_format("COALESCE((SELECT MIN(o.%s) FROM main.%s o WHERE o.%s > main.%s.%s), "
			  "(SELECT MIN(o.%s) FROM main.%s o))",
			  c, t, c, t, c, c, t);
}

static int shift_column(struct db *db, struct mutate_table *table, size_t step,
			const struct mutate_column *column, struct err *err)
{
	const char *c = column->quoted;
	CLEANUP(mem_freep) char *value = NULL;
	CLEANUP(mem_freep) char *unless = NULL;

	switch (column->kind) {
	case COLUMN_KEY:
		if (!column->reference || column->composite || column->primary)
			return 0;
		value = next_value(table, c);
		return update_rows(db, table, step, 5, c, value, "", &table->changed, err);
	case COLUMN_FLAG:
		value = mem_format("1 - %s", c);
		return update_rows(db, table, step, 5, c, value, "", &table->changed, err);
	case COLUMN_NUMBER:
		value = mem_format("%s + CASE WHEN %s < 0 THEN -1 ELSE 1 END * max(1, abs(%s) / 4)",
				   c, c, c);
		return update_rows(db, table, step, 3, c, value, "", &table->changed, err);
	case COLUMN_TIME:
		return shift_times(db, table, step, c, err);
	case COLUMN_WORD:
		value = next_value(table, c);
		unless = keeps_words(table, column);
		return update_rows(db, table, step, 5, c, value, unless, &table->changed, err);
	default:
		return 0;
	}
}

/* A missing value also of a reference: that row has no partner. */
static int lose_values(struct db *db, struct mutate_table *table, size_t step,
		       const struct mutate_column *column, struct err *err)
{
	CLEANUP(mem_freep) char *unless = NULL;

	if (column->not_null || column->primary)
		return 0;
	unless = keeps_words(table, column);
	return update_rows(db, table, step, 6, column->quoted, "NULL", unless, &table->missing,
			   err);
}

static int change_table(struct db *db, struct mutate_table *table, struct err *err)
{
	if (mutate_read_table(db, table, err) < 0)
		return -1;
	if (!table->rowid)
		return 0;
	if (pick(db, table, err) < 0 || add_children(db, table, err) < 0 ||
	    pick(db, table, err) < 0 || drop_groups(db, table, err) < 0 || pick(db, table, err) < 0)
		return -1;
	for (size_t i = 0; i < table->count; i++)
		if (shift_column(db, table, i, &table->columns[i], err) < 0)
			return -1;
	for (size_t i = 0; i < table->count; i++)
		if (lose_values(db, table, i + 1, &table->columns[i], err) < 0)
			return -1;
	return 0;
}

/* ---- all of them ---- */

static void add_counts(const struct mutate_table *table, struct json *changes)
{
	struct json *counts;

	if (!table->added && !table->removed && !table->changed && !table->missing)
		return;
	counts = json_object();
	json_set_int(counts, "added", table->added);
	json_set_int(counts, "removed", table->removed);
	json_set_int(counts, "changed", table->changed);
	json_set_int(counts, "missing", table->missing);
	json_set(changes, table->name, counts);
}

/* Those with rows that have a number of their own. */
static int list_tables(struct db *db, struct json *tables, struct err *err)
{
	CLEANUP(db_donep) struct db_stmt *stmt = NULL;
	int got;

	if (db_query(db,
		     "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' "
		     "AND "
		     "NOT wr AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
		     &stmt, err) < 0)
		return -1;
	while ((got = db_step(stmt, err)) == 1)
		json_push_str(tables, db_str(stmt, 0));
	if (got == 0 && json_len(tables) > MUTATE_TABLES_MAX)
		return err_set(err, ERR_LIMIT, "more than %d tables", MUTATE_TABLES_MAX);
	return got;
}

static int mutate_all(struct db *db, int64_t seed, struct json *changes, struct err *err)
{
	CLEANUP(json_freep) struct json *tables = json_array();
	int64_t index = 0;

	if (list_tables(db, tables, err) < 0)
		return -1;
	json_each(name, tables)
	{
		CLEANUP(mutate_table_clear)
		struct mutate_table table = {.name = mem_str(json_str(name)),
					     .quoted = mutate_quoted(json_str(name)),
					     .seed = seed % 1000003 + index++};

		if (change_table(db, &table, err) < 0)
			return err_wrap(err, "%s", table.name);
		add_counts(&table, changes);
	}
	return db_exec(db, "DROP TABLE IF EXISTS temp.picked", err);
}

int mutate(struct db *copy, int64_t seed, struct json **ret_changes, struct err *err)
{
	CLEANUP(json_freep) struct json *changes = json_object();

	if (db_begin(copy, err) < 0)
		return err_wrap(err, "second state");
	if (mutate_all(copy, seed, changes, err) < 0 || db_commit(copy, err) < 0) {
		db_rollback(copy);
		return err_wrap(err, "second state");
	}
	*ret_changes = TAKE(changes);
	return 0;
}
