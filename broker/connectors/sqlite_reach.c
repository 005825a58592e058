/*
 * Sets as flags beside the catalog's arrays, so a test is one look-up by name and one by place. A
 * view is read strictly: an unknown shape is an error, because a guess could show too much.
 */
#include "broker/connectors/sqlite_reach.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "broker/connectors/sqlite_text.h"

#define ROWID_NAME "rowid"

struct reach *reach_new(const struct catalog *catalog)
{
	struct reach *reach = mem_alloc(sizeof(*reach));

	reach->catalog = catalog;
	reach->tables = mem_array(catalog->table_count + 1, sizeof(*reach->tables));
	return reach;
}

struct reach *reach_everything(const struct catalog *catalog)
{
	struct reach *reach = reach_new(catalog);

	for (size_t t = 0; t < catalog->table_count; t++) {
		reach_add_table(reach, t);
		reach_add_rowid(reach, t);
		for (size_t c = 0; c < catalog->tables[t].column_count; c++)
			reach_add_column(reach, t, c);
	}
	return reach;
}

void reach_free(struct reach *reach)
{
	if (!reach)
		return;
	for (size_t t = 0; t < reach->catalog->table_count; t++) {
		struct reach_table *table = &reach->tables[t];

		for (size_t c = 0; table->names && c < reach->catalog->tables[t].column_count; c++)
			mem_free(table->names[c]);
		mem_free(table->names);
		mem_free(table->columns);
		mem_free(table->name);
	}
	for (size_t f = 0; f < reach->function_count; f++)
		mem_free(reach->functions[f]);
	restrictions_free(reach->restrictions, reach->catalog);
	bound_values_clear(&reach->bound);
	mem_free(reach->functions);
	mem_free(reach->tables);
	mem_free(reach);
}

void reach_freep(struct reach **reach)
{
	reach_free(*reach);
}

void reach_add_table(struct reach *reach, size_t table)
{
	reach->tables[table].in = true;
}

void reach_add_column(struct reach *reach, size_t table, size_t column)
{
	struct reach_table *entry = &reach->tables[table];

	if (!entry->columns)
		entry->columns = mem_array(reach->catalog->tables[table].column_count,
					   sizeof(*entry->columns));
	entry->columns[column] = true;
	entry->in = true;
}

void reach_add_rowid(struct reach *reach, size_t table)
{
	reach->tables[table].rowid = true;
	reach->tables[table].in = true;
}

bool reach_has_column(const struct reach *reach, size_t table, size_t column)
{
	return reach->tables[table].columns && reach->tables[table].columns[column];
}

/* Where name is, or where it would be put. */
static size_t function_place(const struct reach *reach, const char *name)
{
	size_t low = 0, high = reach->function_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(reach->functions[middle], name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool reach_has_function(const struct reach *reach, const char *name)
{
	size_t place = function_place(reach, name);

	return place < reach->function_count && strcmp(reach->functions[place], name) == 0;
}

void reach_add_function(struct reach *reach, const char *name)
{
	CLEANUP(mem_freep) char *lower = mem_str(name);
	size_t place;

	for (char *c = lower; *c; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c + 'a' - 'A');
	place = function_place(reach, lower);
	if (place < reach->function_count && strcmp(reach->functions[place], lower) == 0)
		return;
	reach->functions =
		mem_grow(reach->functions, (reach->function_count + 1) * sizeof(*reach->functions));
	memmove(&reach->functions[place + 1], &reach->functions[place],
		(reach->function_count - place) * sizeof(*reach->functions));
	reach->functions[place] = TAKE(lower);
	reach->function_count++;
}

static void add_every_column(struct reach *reach, size_t table)
{
	for (size_t c = 0; c < reach->catalog->tables[table].column_count; c++)
		reach_add_column(reach, table, c);
	if (!reach->catalog->tables[table].is_view)
		reach->tables[table].rowid = true;
	reach->tables[table].in = true;
}

static void spell_column(struct reach *reach, size_t table, size_t column, const char *name)
{
	struct reach_table *entry = &reach->tables[table];

	if (strcmp(reach->catalog->tables[table].columns[column].name, name) == 0)
		return;
	if (!entry->names)
		entry->names = mem_array(reach->catalog->tables[table].column_count,
					 sizeof(*entry->names));
	mem_free(entry->names[column]);
	entry->names[column] = mem_str(name);
}

/* A list with the row's own name in it stands for the whole table as it was once. While it still
 * is, SELECT * means no more than the list. */
static bool is_whole(const struct reach *reach, size_t table, const struct json *columns)
{
	bool rowid = false;

	for (size_t c = 0; c < reach->catalog->tables[table].column_count; c++)
		if (!reach_has_column(reach, table, c))
			return false;
	json_each(column, columns) rowid = rowid || strcmp(json_str(column), ROWID_NAME) == 0;
	return rowid;
}

static int add_listed(struct reach *reach, size_t table, const struct json *columns,
		      struct err *err)
{
	reach->tables[table].listed = true;
	reach->tables[table].in = true;
	json_each(column, columns)
	{
		const char *name = json_str(column);
		size_t place;

		if (!name)
			return err_set(err, ERR_INVALID, "view: a column's name is no string");
		place = catalog_column_find(&reach->catalog->tables[table], name);
		if (place == CATALOG_NONE)
			continue;
		reach_add_column(reach, table, place);
		spell_column(reach, table, place, name);
	}
	if (is_whole(reach, table, columns)) {
		reach->tables[table].listed = false;
		reach->tables[table].rowid = !reach->catalog->tables[table].is_view;
	}
	return 0;
}

static bool is_all(const struct json *json)
{
	const char *text = json_str(json);

	return text && strcmp(text, "all") == 0;
}

static int add_tables(struct reach *reach, const struct json *tables, struct err *err)
{
	if (is_all(tables)) {
		for (size_t t = 0; t < reach->catalog->table_count; t++)
			add_every_column(reach, t);
		return 0;
	}
	if (json_type(tables) != JSON_OBJECT)
		return err_set(err, ERR_INVALID, "view: \"tables\" is no object");
	json_each(entry, tables)
	{
		size_t table = catalog_table_find(reach->catalog, json_key(entry));

		if (!is_all(entry) && json_type(entry) != JSON_ARRAY)
			return err_set(err, ERR_INVALID, "view: columns of table %s: no list",
				       json_key(entry));
		if (table == CATALOG_NONE)
			continue;
		if (is_all(entry))
			add_every_column(reach, table);
		else if (add_listed(reach, table, entry, err) < 0)
			return -1;
		if (strcmp(reach->catalog->tables[table].name, json_key(entry)) != 0) {
			mem_free(reach->tables[table].name);
			reach->tables[table].name = mem_str(json_key(entry));
		}
	}
	return 0;
}

static void take_table(struct reach *reach, size_t table)
{
	struct reach_table *entry = &reach->tables[table];

	mem_free(entry->columns);
	entry->columns = NULL;
	entry->in = entry->rowid = false;
}

static int take_away(struct reach *reach, const struct json *except, struct err *err)
{
	if (except && json_type(except) != JSON_OBJECT && !json_is_null(except))
		return err_set(err, ERR_INVALID, "view: \"except\" is no object");
	json_each(entry, except)
	{
		size_t table = catalog_table_find(reach->catalog, json_key(entry));

		if (!is_all(entry) && json_type(entry) != JSON_ARRAY)
			return err_set(err, ERR_INVALID, "view: except %s: no list",
				       json_key(entry));
		if (table == CATALOG_NONE || !reach->tables[table].in)
			continue;
		if (is_all(entry)) {
			take_table(reach, table);
			continue;
		}
		reach->tables[table].listed = true;
		reach->tables[table].rowid = false;
		json_each(column, entry)
		{
			const char *name = json_str(column);
			size_t place =
				name ? catalog_column_find(&reach->catalog->tables[table], name)
				     : CATALOG_NONE;

			if (!name)
				return err_set(err, ERR_INVALID,
					       "view: a column's name is no string");
			if (place != CATALOG_NONE && reach->tables[table].columns)
				reach->tables[table].columns[place] = false;
		}
		if (reach_column_count(reach, table) == 0)
			take_table(reach, table);
	}
	return 0;
}

static int add_functions(struct reach *reach, const struct json *functions, struct err *err)
{
	if (functions && json_type(functions) != JSON_ARRAY && !json_is_null(functions))
		return err_set(err, ERR_INVALID, "\"functions\" is no list");
	json_each(function, functions)
	{
		if (!json_str(function))
			return err_set(err, ERR_INVALID, "a function's name is no string");
		reach_add_function(reach, json_str(function));
	}
	return 0;
}

/* Does the text of a view name a table that must not be read around? SQLite takes a string for a
 * name where it finds none. */
static bool names_restricted(const struct reach *reach, const char *sql, const bool *around)
{
	for (;;) {
		struct sql_lexeme token = sql_lex_next(&sql);
		CLEANUP(mem_freep) char *name = NULL;
		size_t table;

		if (token.kind == SQL_LEX_END)
			return false;
		if (token.kind == SQL_LEX_OTHER)
			continue;
		name = sql_lex_name(&token);
		table = catalog_table_find(reach->catalog, name);
		if (table != CATALOG_NONE && around[table])
			return true;
	}
}

/* A view of the database reads its tables as they are: over a restricted table, directly or through
 * other views, it would show what the restriction keeps back. */
static void take_views_around(struct reach *reach)
{
	const struct catalog *catalog = reach->catalog;
	CLEANUP(mem_freep) bool *around = mem_array(catalog->table_count + 1, sizeof(*around));
	bool more = true;

	for (size_t t = 0; t < catalog->table_count; t++)
		around[t] = reach->restrictions[t] != NULL;
	while (more) {
		more = false;
		for (size_t t = 0; t < catalog->table_count; t++) {
			if (around[t] || !catalog->tables[t].is_view ||
			    !names_restricted(reach, catalog->tables[t].sql, around))
				continue;
			take_table(reach, t);
			around[t] = more = true;
		}
	}
}

static int add_restrictions(struct reach *reach, const struct json *view, struct err *err)
{
	if (restrictions_read(view, reach->catalog, &reach->restrictions, &reach->bound, err) < 0)
		return -1;
	for (size_t t = 0; t < reach->catalog->table_count; t++)
		if (reach->restrictions[t])
			reach->tables[t].rowid = false; /* the view in front has none */
	take_views_around(reach);
	return 0;
}

int reach_from_view(const struct json *view, const struct catalog *catalog,
		    struct reach **ret_reach, struct err *err)
{
	CLEANUP(reach_freep) struct reach *reach = reach_new(catalog);

	if (add_tables(reach, json_get(view, "tables"), err) < 0 ||
	    take_away(reach, json_get(view, "except"), err) < 0 ||
	    add_functions(reach, json_get(view, "functions"), err) < 0 ||
	    add_restrictions(reach, view, err) < 0)
		return -1;
	*ret_reach = TAKE(reach);
	return 0;
}

/* "t.c". A table's name may hold a dot: every dot is tried. */
static void add_allowed_column(struct reach *reach, const char *text)
{
	for (const char *dot = strchr(text, '.'); dot; dot = strchr(dot + 1, '.')) {
		CLEANUP(mem_freep) char *name = mem_strn(text, (size_t)(dot - text));
		size_t table = catalog_table_find(reach->catalog, name);
		size_t column;

		if (table == CATALOG_NONE)
			continue;
		column = catalog_column_find(&reach->catalog->tables[table], dot + 1);
		if (column != CATALOG_NONE)
			reach_add_column(reach, table, column);
		else if (sqlite3_stricmp(dot + 1, ROWID_NAME) == 0)
			reach_add_rowid(reach, table);
		else if (dot[1] == '\0')
			reach_add_table(reach, table);
	}
}

int reach_from_allow(const struct json *allow, const struct catalog *catalog,
		     struct reach **ret_reach, struct err *err)
{
	CLEANUP(reach_freep) struct reach *reach = reach_new(catalog);
	const struct json *tables, *columns, *functions;

	if (json_want_array(allow, "tables", &tables, err) < 0 ||
	    json_want_array(allow, "columns", &columns, err) < 0 ||
	    json_want_array(allow, "functions", &functions, err) < 0)
		return err_wrap(err, "allow");
	json_each(entry, tables)
	{
		size_t table = json_str(entry) ? catalog_table_find(catalog, json_str(entry))
					       : CATALOG_NONE;

		if (!json_str(entry))
			return err_set(err, ERR_INVALID, "allow: a table's name is no string");
		if (table != CATALOG_NONE)
			reach_add_table(reach, table);
	}
	json_each(entry, columns)
	{
		if (!json_str(entry))
			return err_set(err, ERR_INVALID, "allow: a column's name is no string");
		add_allowed_column(reach, json_str(entry));
	}
	if (add_functions(reach, functions, err) < 0)
		return err_wrap(err, "allow");
	*ret_reach = TAKE(reach);
	return 0;
}

void reach_join(struct reach *facts, const struct reach *more)
{
	for (size_t t = 0; t < facts->catalog->table_count; t++) {
		if (more->tables[t].in)
			reach_add_table(facts, t);
		if (more->tables[t].rowid)
			reach_add_rowid(facts, t);
		for (size_t c = 0; c < facts->catalog->tables[t].column_count; c++)
			if (reach_has_column(more, t, c))
				reach_add_column(facts, t, c);
	}
	for (size_t f = 0; f < more->function_count; f++)
		reach_add_function(facts, more->functions[f]);
}

bool reach_within(const struct reach *facts, const struct reach *allowed, bool tables_only)
{
	for (size_t t = 0; t < facts->catalog->table_count; t++) {
		if ((facts->tables[t].in && !allowed->tables[t].in) ||
		    (facts->tables[t].rowid && !allowed->tables[t].rowid))
			return false;
		for (size_t c = 0; c < facts->catalog->tables[t].column_count; c++)
			if (reach_has_column(facts, t, c) && !reach_has_column(allowed, t, c))
				return false;
	}
	for (size_t f = 0; !tables_only && f < facts->function_count; f++)
		if (!reach_has_function(allowed, facts->functions[f]))
			return false;
	return true;
}

const char *reach_table_name(const struct reach *view, size_t table)
{
	return view->tables[table].name ? view->tables[table].name
					: view->catalog->tables[table].name;
}

const char *reach_column_name(const struct reach *view, size_t table, size_t column)
{
	char **names = view->tables[table].names;

	return names && names[column] ? names[column]
				      : view->catalog->tables[table].columns[column].name;
}

size_t reach_column_count(const struct reach *reach, size_t table)
{
	size_t count = 0;

	for (size_t c = 0; c < reach->catalog->tables[table].column_count; c++)
		count += reach_has_column(reach, table, c);
	return count;
}

const struct restriction *reach_restriction(const struct reach *view, size_t table)
{
	return view->restrictions ? view->restrictions[table] : NULL;
}

enum mask reach_mask(const struct reach *view, size_t table, size_t column)
{
	const struct restriction *restriction = reach_restriction(view, table);

	return restriction && restriction->masks ? restriction->masks[column] : MASK_NONE;
}

bool reach_is_fronted(const struct reach *view, size_t table)
{
	return view->tables[table].listed || reach_restriction(view, table);
}

static void push_column(struct json *columns, const char *table, const char *column)
{
	CLEANUP(mem_freep) char *text = mem_format("%s.%s", table, column);

	json_push_str(columns, text);
}

void reach_write(const struct reach *facts, const struct reach *view, struct json *object)
{
	struct json *tables = json_array();
	struct json *columns = json_array();
	struct json *functions = json_array();

	for (size_t t = 0; t < facts->catalog->table_count; t++) {
		const char *name = reach_table_name(view, t);
		bool any = facts->tables[t].rowid;

		if (!facts->tables[t].in)
			continue;
		json_push_str(tables, name);
		for (size_t c = 0; c < facts->catalog->tables[t].column_count; c++) {
			if (!reach_has_column(facts, t, c))
				continue;
			push_column(columns, name, reach_column_name(view, t, c));
			any = true;
		}
		if (facts->tables[t].rowid)
			push_column(columns, name, ROWID_NAME);
		if (!any)
			push_column(columns, name, "");
	}
	for (size_t f = 0; f < facts->function_count; f++)
		json_push_str(functions, facts->functions[f]);
	json_set(object, "tables", tables);
	json_set(object, "columns", columns);
	json_set(object, "functions", functions);
}
