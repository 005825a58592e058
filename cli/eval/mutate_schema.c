/*
 * Reading a table of a copy: what its schema says of keys, and what its values are, since types in
 * SQLite are those of the values. What can fail: the database.
 */
#include "cli/eval/mutate_schema.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/sql.h"

enum key_use { USE_KEY, USE_REFERENCE, USE_COMPOSITE };

char *mutate_quoted(const char *name)
{
	struct buf out = BUF_INIT;

	sql_name(name, &out);
	return buf_take(&out);
}

void mutate_table_clear(struct mutate_table *table)
{
	for (size_t i = 0; i < table->count; i++) {
		mem_free(table->columns[i].name);
		mem_free(table->columns[i].quoted);
	}
	mem_free(table->columns);
	mem_free(table->name);
	mem_free(table->quoted);
}

/* customer_id, hireID: refers to something although the schema does not say so. */
static bool named_as_reference(const char *name)
{
	size_t len = strlen(name);

	if (len > 3 && strcasecmp(name + len - 3, "_id") == 0)
		return true;
	return len > 2 &&
	       (strcmp(name + len - 2, "Id") == 0 || strcmp(name + len - 2, "ID") == 0) &&
	       islower((unsigned char)name[len - 3]);
}

static int read_columns(struct db *db, struct mutate_table *table, struct err *err)
{
	CLEANUP(db_donep) struct db_stmt *stmt = NULL;
	int got;

	if (db_query(db, "SELECT name, \"notnull\", pk FROM pragma_table_info(?1)", &stmt, err) < 0)
		return -1;
	db_bind_str(stmt, 1, table->name);
	while ((got = db_step(stmt, err)) == 1) {
		struct mutate_column *column;

		table->columns =
			mem_grow(table->columns, (table->count + 1) * sizeof(*table->columns));
		column = &table->columns[table->count++];
		*column = (struct mutate_column){.name = mem_str(db_str(stmt, 0)),
						 .quoted = mutate_quoted(db_str(stmt, 0)),
						 .not_null = db_int(stmt, 1) != 0,
						 .primary = db_int(stmt, 2) != 0};
		column->reference = !column->primary && named_as_reference(column->name);
		if (column->primary || column->reference)
			column->kind = COLUMN_KEY;
	}
	return got;
}

static struct mutate_column *find_column(struct mutate_table *table, const char *name)
{
	for (size_t i = 0; name && i < table->count; i++)
		if (strcasecmp(table->columns[i].name, name) == 0)
			return &table->columns[i];
	return NULL;
}

/* Marks the columns that a statement about the schema (one parameter, the table) lists. */
static int mark_keys(struct db *db, struct mutate_table *table, const char *sql, enum key_use use,
		     struct err *err)
{
	CLEANUP(db_donep) struct db_stmt *stmt = NULL;
	int got;

	if (db_query(db, sql, &stmt, err) < 0)
		return -1;
	db_bind_str(stmt, 1, table->name);
	while ((got = db_step(stmt, err)) == 1) {
		struct mutate_column *column = find_column(table, db_str(stmt, 0));

		if (!column)
			continue; /* an expression, or the primary key that need not be named */
		column->kind = COLUMN_KEY;
		column->reference |= use != USE_KEY;
		column->composite |= use == USE_COMPOSITE;
	}
	return got;
}

static int read_keys(struct db *db, struct mutate_table *table, struct err *err)
{
	int64_t referred = 0;
	struct db_stmt *stmt;
	int got;

	if (mark_keys(db, table,
		      "SELECT i.name FROM pragma_index_list(?1) l JOIN pragma_index_info(l.name) i "
		      "WHERE l.\"unique\"",
		      USE_KEY, err) < 0 ||
	    mark_keys(db, table, "SELECT \"from\" FROM pragma_foreign_key_list(?1)", USE_REFERENCE,
		      err) < 0 ||
	    mark_keys(
		    db, table,
		    "SELECT f.\"to\" FROM pragma_table_list t JOIN pragma_foreign_key_list(t.name) "
		    "f WHERE t.schema = 'main' AND t.type = 'table' AND lower(f.\"table\") = "
		    "lower(?1)",
		    USE_KEY, err) < 0)
		return -1;
	if (db_query(
		    db,
		    "SELECT COUNT(*) FROM pragma_table_list t JOIN pragma_foreign_key_list(t.name) "
		    "f WHERE t.schema = 'main' AND t.type = 'table' AND lower(f.\"table\") = "
		    "lower(?1)",
		    &stmt, err) < 0)
		return -1;
	db_bind_str(stmt, 1, table->name);
	got = db_step(stmt, err);
	if (got == 1)
		referred = db_int(stmt, 0);
	db_done(stmt);
	table->leaf = referred == 0;
	return got < 0 ? -1 : 0;
}

/* What a column's values are, as they are: types in SQLite are those of the values. */
static int read_values(struct db *db, const struct mutate_table *table,
		       struct mutate_column *column, struct err *err)
{
	enum { COUNT, DIFFERENT, NUMBERS, TEXTS, DATES, LEAST, MOST, ANSWERS };
	CLEANUP(buf_clear) struct buf sql = BUF_INIT;
	const char *c = column->quoted;
	int64_t of[ANSWERS];

	buf_addf(
		&sql,
		"SELECT COUNT(%s), COUNT(DISTINCT %s), SUM(typeof(%s) IN ('integer','real')), "
		"SUM(typeof(%s) = 'text'), SUM(%s GLOB "
		"'[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*' AND date(substr(%s,1,10)) NOTNULL), "
		"MIN(%s), MAX(%s) FROM %s",
		c, c, c, c, c, c, c, c, table->quoted);
	if (db_ask(db, buf_str(&sql), of, ANSWERS, err) < 0)
		return -1;
	column->distinct = of[COUNT] > 0 && of[COUNT] == of[DIFFERENT];
	column->words = of[COUNT] > 0 && of[TEXTS] == of[COUNT];
	if (column->kind == COLUMN_KEY || of[COUNT] == 0)
		return 0;
	if (of[DATES] == of[COUNT])
		column->kind = COLUMN_TIME;
	else if (column->words)
		column->kind = column->distinct || of[DIFFERENT] < 2 ? COLUMN_OTHER : COLUMN_WORD;
	else if (of[NUMBERS] < of[COUNT])
		column->kind = COLUMN_OTHER;
	else if (of[LEAST] >= 0 && of[MOST] <= 1)
		column->kind = COLUMN_FLAG;
	else if (of[LEAST] >= 1900 && of[MOST] <= 2200)
		column->kind = of[DIFFERENT] < 2 ? COLUMN_OTHER : COLUMN_WORD; /* years */
	else
		column->kind = COLUMN_NUMBER;
	return 0;
}

/* A name of the row's own number that no column takes. */
static const char *rowid_of(struct mutate_table *table)
{
	static const char *const names[] = {"rowid", "_rowid_", "oid"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (!find_column(table, names[i]))
			return names[i];
	return NULL;
}

int mutate_read_table(struct db *db, struct mutate_table *table, struct err *err)
{
	if (read_columns(db, table, err) < 0 || read_keys(db, table, err) < 0)
		return -1;
	table->rowid = rowid_of(table);
	for (size_t i = 0; i < table->count; i++)
		if (read_values(db, table, &table->columns[i], err) < 0)
			return -1;
	return 0;
}
