/*
 * Default deny: SELECT, READ, RECURSIVE and FUNCTION are looked at, every other action code, also
 * one that a later SQLite adds, is refused. Doubt about a name (unknown to the catalog, in another
 * database than main) is a refusal too.
 */
#include "broker/connectors/sqlite_guard.h"

#include <stdlib.h>
#include <string.h>

#include "base/crypto.h"
#include "base/mem.h"
#include "broker/connectors/sqlite_mask.h"

/* Never, whatever a policy lists: they load code, touch files, hand out pointers or write a log. */
static const char *const never_functions[] = {
	"load_extension", "readfile", "writefile", "edit",
	"fts3_tokenizer", "lsdir",    "fsdir",	   "sqlite_log",
};

/* Table-valued functions: they read their arguments only. Decided like functions. */
static const char *const table_functions[] = {"json_each", "json_tree"};

static int refuse(struct guard *guard, enum guard_refusal refusal, const char *name)
{
	if (guard->refusal == GUARD_NOTHING) {
		guard->refusal = refusal;
		sqlite3_snprintf(sizeof(guard->name), guard->name, "%s", name ? name : "");
	}
	return SQLITE_DENY;
}

static bool in_list(const char *name, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (sqlite3_stricmp(name, list[i]) == 0)
			return true;
	return false;
}

/* A name that only this connection's views can have. */
static bool is_ours(const struct guard *guard, const char *name)
{
	return guard->prefix[0] && name && strncmp(name, guard->prefix, GUARD_PREFIX_LEN) == 0;
}

static bool is_inner_view_of(const struct guard *guard, size_t table, const char *name)
{
	return is_ours(guard, name) && name[GUARD_PREFIX_LEN] == 'v' &&
	       strtoull(name + GUARD_PREFIX_LEN + 1, NULL, 10) == table;
}

char *guard_inner_view(const struct guard *guard, size_t table)
{
	return mem_format("%sv%zu", guard->prefix, table);
}

char *guard_unit_column(const struct guard *guard, size_t table)
{
	return mem_format("%su%zu", guard->prefix, table);
}

static int check_function(struct guard *guard, const char *name, const char *accessor)
{
	if (mask_function_is(name))
		return is_ours(guard, accessor) ? SQLITE_OK : refuse(guard, GUARD_FUNCTION, name);
	if (in_list(name, never_functions, ARRAY_LEN(never_functions)))
		return refuse(guard, GUARD_FUNCTION, name);
	reach_add_function(guard->facts, name);
	return SQLITE_OK;
}

/* The whole table, no column of it: COUNT(*), or a table that is only joined. SQLite asks for it
 * when views are dissolved already, so the reader's name means nothing here. That a restricted
 * table is not reached around its view is seen to before: main.t does not compile in the shadow,
 * and views of the database over such a table are out of view (sqlite_reach.c). */
static int check_whole(struct guard *guard, size_t table, const char *name, const char *accessor)
{
	if (table != CATALOG_NONE && guard->view->tables[table].in) {
		reach_add_table(guard->facts, table);
		return SQLITE_OK;
	}
	if (sqlite3_strnicmp(name, "sqlite_", 7) == 0 || sqlite3_strnicmp(name, "pragma_", 7) == 0)
		return refuse(guard, GUARD_NAME, name);
	if (in_list(name, table_functions, ARRAY_LEN(table_functions)))
		return check_function(guard, name, accessor);
	/* A common table expression of this name, or a table behind a view: which of them shows in
	 * what the compiled statement opens. */
	return SQLITE_OK;
}

/* The narrow view of a table reads its columns for whoever reads it; what of them is used shows in
 * the reads of the view itself. A column that is not shown counts in any case. */
static bool is_by_narrow_view(const struct guard *guard, size_t table, size_t column,
			      const char *database, const char *accessor)
{
	return guard->view->tables[table].listed && strcmp(database, "main") == 0 && accessor &&
	       sqlite3_stricmp(accessor, guard->view->catalog->tables[table].name) == 0 &&
	       reach_has_column(guard->view, table, column);
}

static int check_column(struct guard *guard, size_t table, const char *column, const char *database,
			const char *accessor)
{
	size_t place = catalog_column_find(&guard->view->catalog->tables[table], column);

	if (guard->prefix[0] && reach_restriction(guard->view, table) &&
	    strcmp(database, "main") == 0)
		return is_inner_view_of(guard, table, accessor)
			       ? SQLITE_OK
			       : refuse(guard, GUARD_AROUND, column);
	if (is_ours(guard, column))
		return SQLITE_OK; /* the unit of a table that is shown in groups */
	if (guard->marker && strcmp(column, guard->marker) == 0) {
		guard->star_table = table;
	} else if (place != CATALOG_NONE) {
		if (!is_by_narrow_view(guard, table, place, database, accessor))
			reach_add_column(guard->facts, table, place);
	} else if (sqlite3_stricmp(column, "ROWID") == 0) {
		reach_add_rowid(guard->facts, table);
	} else {
		return refuse(guard, GUARD_NAME, column);
	}
	return SQLITE_OK;
}

static int check_read(struct guard *guard, const char *name, const char *column,
		      const char *database, const char *accessor)
{
	size_t table;

	if (!name || !column)
		return refuse(guard, GUARD_NAME, name);
	if (is_ours(guard, name))
		return SQLITE_OK; /* an inner view, read by the one in front */
	table = catalog_table_find(guard->view->catalog, name);
	if (database && strcmp(database, "main") != 0 &&
	    (strcmp(database, "temp") != 0 || table == CATALOG_NONE ||
	     !reach_is_fronted(guard->view, table)))
		return refuse(guard, GUARD_NAME, name);
	if (column[0] == '\0')
		return check_whole(guard, table, name, accessor);
	if (table != CATALOG_NONE)
		return check_column(guard, table, column, database ? database : "main", accessor);
	if (in_list(name, table_functions, ARRAY_LEN(table_functions)))
		return check_function(guard, name, accessor);
	return refuse(guard, GUARD_NAME, name);
}

static int authorize(void *data, int action, const char *first, const char *second,
		     const char *database, const char *accessor)
{
	struct guard *guard = data;

	if (guard->mode == GUARD_INTERNAL)
		return SQLITE_OK;
	if (guard->mode == GUARD_CLOSED)
		return refuse(guard, GUARD_ACTION, first);
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_READ:
		return check_read(guard, first, second, database, accessor);
	case SQLITE_FUNCTION:
		return second ? check_function(guard, second, accessor)
			      : refuse(guard, GUARD_FUNCTION, second);
	default:
		return refuse(guard, GUARD_ACTION, first);
	}
}

void guard_init(struct guard *guard)
{
	*guard = (struct guard){.mode = GUARD_CLOSED, .star_table = CATALOG_NONE};
}

void guard_choose_prefix(struct guard *guard)
{
	uint8_t random[(GUARD_PREFIX_LEN - 2) / 2];

	random_bytes(random, sizeof(random));
	memcpy(guard->prefix, "w_", 2); /* begins like a name */
	hex_write(random, sizeof(random), guard->prefix + 2);
}

void guard_install(struct guard *guard, sqlite3 *sqlite)
{
	sqlite3_set_authorizer(sqlite, authorize, guard);
}

static void guard_set(struct guard *guard, enum guard_mode mode, const struct reach *view,
		      struct reach *facts)
{
	guard->mode = mode;
	guard->view = view;
	guard->facts = facts;
	guard->star_table = CATALOG_NONE;
	guard->refusal = GUARD_NOTHING;
	guard->name[0] = '\0';
}

void guard_close(struct guard *guard)
{
	guard->mode = GUARD_CLOSED; /* what was refused can still be read */
	guard->view = NULL;
	guard->facts = NULL;
}

void guard_internal(struct guard *guard)
{
	guard_set(guard, GUARD_INTERNAL, NULL, NULL);
}

void guard_collect(struct guard *guard, const struct reach *view, struct reach *facts)
{
	guard_set(guard, GUARD_COLLECT, view, facts);
}
