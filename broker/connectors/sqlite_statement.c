/*
 * Compiles for the shadow, then for the source, and compares. Refusals that come from the
 * difference between the two are neutral: they name nothing that the view does not show.
 */
#include "broker/connectors/sqlite_statement.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "broker/connectors/sqlite_explain.h"
#include "broker/connectors/sqlite_text.h"
#include "writ/limits.h"

#define CONSTRUCTOR_FAILED "vtable constructor failed: "

void statement_free(struct statement *statement)
{
	if (!statement)
		return;
	sqlite3_finalize(statement->compiled);
	reach_free(statement->facts); /* NULL when handed over */
	groups_clear(&statement->groups);
	mem_free(statement->counting);
	mem_free(statement->sql);
	mem_free(statement);
}

void statement_freep(struct statement **statement)
{
	statement_free(*statement);
}

const char *statement_source(const struct statement *statement)
{
	return statement->counting ? statement->counting : statement->sql;
}

static void statement_finalizep(sqlite3_stmt **compiled)
{
	sqlite3_finalize(*compiled);
}

static void joins_clearp(struct sql_joins *joins)
{
	sql_joins_clear(joins);
}

/* Statements that SQLite has and that never run here get a clear word; for anything else that is
 * not a SELECT, SQLite's own parser speaks. */
static int check_first_word(const char *sql, struct refusal *refusal)
{
	static const char *const others[] = {
		"alter",   "analyze",  "attach",    "begin",  "commit", "create",  "delete",
		"detach",  "drop",     "end",	    "insert", "pragma", "reindex", "release",
		"replace", "rollback", "savepoint", "update", "vacuum",
	};
	struct sql_lexeme token;

	if (strlen(sql) > WRIT_SQL_BYTES_MAX)
		return refusal_set(refusal, BY_STATEMENT, "shorten it",
				   "the statement is longer than %d bytes", WRIT_SQL_BYTES_MAX);
	token = sql_lex_next(&sql);
	if (sql_lex_is(&token, "explain"))
		return refusal_set(refusal, BY_STATEMENT, "call explain_query",
				   "only SELECT runs here, this is EXPLAIN");
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (sql_lex_is(&token, others[i]))
			return refusal_set(refusal, BY_STATEMENT, "send one SELECT",
					   "only SELECT runs here, this is %.*s", (int)token.len,
					   token.start);
	return 0;
}

static int refuse_neutral(struct refusal *refusal)
{
	return refusal_set(refusal, BY_POLICY, "use other tables of list_tables",
			   "the statement reaches beyond what is granted");
}

static int refuse_star(const struct reach *view, size_t table, struct refusal *refusal)
{
	struct buf names = BUF_INIT;

	for (size_t c = 0; c < view->catalog->tables[table].column_count; c++) {
		if (!reach_has_column(view, table, c))
			continue;
		buf_add_str(&names, names.len ? ", " : "; name the columns you need: ");
		buf_add_str(&names, reach_column_name(view, table, c));
	}
	refusal_set(refusal, BY_POLICY, "name the columns", "SELECT * is not granted on %s%s",
		    reach_table_name(view, table), buf_str(&names));
	buf_clear(&names);
	return -1;
}

static int refuse_write(struct refusal *refusal)
{
	return refusal_set(refusal, BY_STATEMENT, "send one SELECT",
			   "only reading is possible here; the statement would do more");
}

/* SQLite makes a pragma_ table at first sight, and says then that it may not. */
static char *find_pragma_table(const char *sql, const struct catalog *catalog)
{
	for (;;) {
		struct sql_lexeme token = sql_lex_next(&sql);
		CLEANUP(mem_freep) char *name = NULL;

		if (token.kind == SQL_LEX_END)
			return NULL;
		if (token.kind != SQL_LEX_WORD && token.kind != SQL_LEX_QUOTED)
			continue;
		name = sql_lex_name(&token);
		if (sqlite3_strnicmp(name, "pragma_", 7) == 0 &&
		    catalog_table_find(catalog, name) == CATALOG_NONE)
			return TAKE(name);
	}
}

/* What the shadow's SQLite said, corrected where internal names exist although they should not. */
static int refuse_shadow(struct shadow *shadow, const struct reach *view, const char *sql,
			 struct refusal *refusal)
{
	CLEANUP(mem_freep) char *pragma = NULL;
	const char *text = sqlite3_errmsg(shadow->sqlite);
	const char *name = NULL;

	if (shadow->guard.star_table != CATALOG_NONE)
		return refuse_star(view, shadow->guard.star_table, refusal);
	if (strstr(text, shadow->marker))
		return refuse_neutral(refusal);
	if (strncmp(text, CONSTRUCTOR_FAILED, strlen(CONSTRUCTOR_FAILED)) == 0)
		name = text + strlen(CONSTRUCTOR_FAILED);
	else if (shadow->guard.refusal == GUARD_NAME)
		name = shadow->guard.name;
	else if (shadow->guard.refusal == GUARD_ACTION)
		name = pragma = find_pragma_table(sql, view->catalog);
	else if (shadow->guard.refusal == GUARD_FUNCTION)
		return refusal_set(refusal, BY_DATABASE, "use another function",
				   "not authorized to use function: %s", shadow->guard.name);
	if (name)
		return refusal_set(refusal, BY_DATABASE, "call list_tables", "no such table: %s",
				   name);
	if (shadow->guard.refusal == GUARD_ACTION)
		return refuse_write(refusal);
	if (strncmp(text, "no such column", 14) == 0)
		return refusal_set(refusal, BY_DATABASE, "call search_schema", "%s", text);
	if (strncmp(text, "no such table: main.", 20) == 0)
		return refusal_set(refusal, BY_DATABASE, "write the table's name alone", "%s",
				   text);
	if (strncmp(text, "no such table", 13) == 0)
		return refusal_set(refusal, BY_DATABASE, "call list_tables", "%s", text);
	return refusal_set(refusal, BY_DATABASE, "correct the statement", "%s", text);
}

/* Without virtual tables SQLite itself does not know pragma_..., dbstat and the like. Only JSON's
 * table-valued functions are let in, and then the guard minds the rest. */
static int compile(sqlite3 *sqlite, const char *sql, sqlite3_stmt **ret_compiled,
		   const char **ret_tail)
{
	const unsigned int flags = SQLITE_PREPARE_PERSISTENT;
	int rc = sqlite3_prepare_v3(sqlite, sql, -1, flags | SQLITE_PREPARE_NO_VTAB, ret_compiled,
				    ret_tail);
	const char *text;

	if (rc != SQLITE_ERROR)
		return rc;
	text = sqlite3_errmsg(sqlite);
	if (sqlite3_stricmp(text, "no such table: json_each") != 0 &&
	    sqlite3_stricmp(text, "no such table: json_tree") != 0)
		return rc;
	return sqlite3_prepare_v3(sqlite, sql, -1, flags, ret_compiled, ret_tail);
}

static int check_shape(sqlite3_stmt *compiled, const char *tail, struct refusal *refusal)
{
	if (!compiled)
		return refusal_set(refusal, BY_STATEMENT, "send one SELECT",
				   "the statement is empty");
	if (!sql_lex_is_blank(tail))
		return refusal_set(refusal, BY_STATEMENT, "send one SELECT",
				   "one statement at a time: there is text behind the first");
	if (!sqlite3_stmt_readonly(compiled) || sqlite3_stmt_isexplain(compiled) ||
	    sqlite3_column_count(compiled) == 0)
		return refuse_write(refusal);
	if (sqlite3_bind_parameter_count(compiled) > 0)
		return refusal_set(refusal, BY_STATEMENT, "write the values into the statement",
				   "the statement has a parameter without a value: %s",
				   sqlite3_bind_parameter_name(compiled, 1)
					   ? sqlite3_bind_parameter_name(compiled, 1)
					   : "?");
	return 0;
}

/* Which of the columns that a NATURAL JOIN or USING of the statement compares belong to which table
 * is not known: all that could be meant count. */
static void add_compared(const struct sql_joins *joins, const struct reach *view,
			 struct reach *facts)
{
	for (size_t t = 0; t < facts->catalog->table_count; t++) {
		const struct catalog_table *table = &facts->catalog->tables[t];

		for (size_t c = 0; facts->tables[t].in && c < table->column_count; c++) {
			bool compared = joins->natural;

			for (size_t i = 0; !compared && i < joins->using_count; i++)
				compared = sqlite3_stricmp(joins->using_columns[i],
							   table->columns[c].name) == 0;
			if (compared && (!view || reach_has_column(view, t, c)))
				reach_add_column(facts, t, c);
		}
	}
}

static int compile_in_shadow(struct shadow *shadow, const struct reach *view, const char *sql,
			     const struct sql_joins *joins, struct reach *facts,
			     struct refusal *refusal)
{
	struct err err;
	CLEANUP(statement_finalizep) sqlite3_stmt *compiled = NULL;
	const char *tail = sql;
	int rc;

	guard_collect(&shadow->guard, view, facts);
	rc = compile(shadow->sqlite, sql, &compiled, &tail);
	guard_close(&shadow->guard);
	if (rc != SQLITE_OK)
		return refuse_shadow(shadow, view, sql, refusal);
	if (check_shape(compiled, tail, refusal) < 0)
		return -1;
	if (shadow->guard.star_table != CATALOG_NONE)
		return refuse_star(view, shadow->guard.star_table, refusal);
	for (size_t t = 0; t < view->catalog->table_count; t++)
		facts->tables[t].rowid = false; /* the source knows which column that is */
	if (joins->natural || joins->using_count || groups_any(view)) {
		if (shadow_opened(shadow, sql, facts, &err) < 0)
			return refusal_from_err(refusal, &err);
		add_compared(joins, view, facts);
	}
	return 0;
}

/* May SQLite's words about the source be passed on? Not about what a view does inside. */
static bool is_open(const struct reach *facts)
{
	for (size_t t = 0; t < facts->catalog->table_count; t++)
		if (facts->tables[t].in && facts->catalog->tables[t].is_view)
			return false;
	return true;
}

static int add_opened(struct database *database, const char *sql, struct reach *facts,
		      struct refusal *refusal)
{
	struct explain_page *pages = NULL;
	size_t count = 0;
	struct err err;
	int result = 0;

	if (explain_opened(database->sqlite, sql, &pages, &count, &err) < 0)
		return refusal_from_err(refusal, &err);
	for (size_t i = 0; result == 0 && i < count; i++) {
		const struct catalog_root *root =
			catalog_root_find(database->catalog, pages[i].page);

		if (root && pages[i].database == 0)
			reach_add_table(facts, root->table);
		else
			result = refuse_neutral(refusal);
	}
	mem_free(pages);
	return result;
}

static int compile_in_source(struct database *database, const struct reach *view, const char *sql,
			     struct reach *facts, sqlite3_stmt **ret_compiled,
			     struct refusal *refusal)
{
	CLEANUP(statement_finalizep) sqlite3_stmt *compiled = NULL;
	const char *tail = sql;
	bool open = is_open(facts);
	int rc, result;

	guard_collect(&database->guard, view, facts);
	rc = compile(database->sqlite, sql, &compiled, &tail);
	if (rc != SQLITE_OK) {
		guard_close(&database->guard);
		if (database->guard.refusal == GUARD_AROUND)
			return refuse_neutral(refusal);
		if (((rc & 0xff) == SQLITE_ERROR || (rc & 0xff) == SQLITE_AUTH) && !open)
			return refuse_neutral(refusal);
		return database_refuse(database, rc, refusal);
	}
	result = add_opened(database, sql, facts, refusal);
	guard_close(&database->guard);
	if (result < 0 || check_shape(compiled, tail, refusal) < 0)
		return -1;
	*ret_compiled = TAKE(compiled);
	return 0;
}

/* Joins inside the views that the statement uses, and inside those that they use. */
static void add_joins_of_views(const struct reach *facts, struct sql_joins *joins)
{
	const struct catalog *catalog = facts->catalog;
	CLEANUP(mem_freep) char *todo = mem_alloc(catalog->table_count + 1);
	CLEANUP(mem_freep) char *done = mem_alloc(catalog->table_count + 1);
	bool more = true;

	for (size_t t = 0; t < catalog->table_count; t++)
		todo[t] = facts->tables[t].in && catalog->tables[t].is_view;
	while (more) {
		more = false;
		for (size_t t = 0; t < catalog->table_count; t++) {
			const char *cursor = catalog->tables[t].sql;

			if (!todo[t] || done[t])
				continue;
			done[t] = 1;
			more = true;
			sql_joins_add(joins, cursor);
			for (;;) {
				struct sql_lexeme token = sql_lex_next(&cursor);
				CLEANUP(mem_freep) char *name = NULL;
				size_t used;

				if (token.kind == SQL_LEX_END)
					break;
				if (token.kind == SQL_LEX_OTHER)
					continue;
				name = sql_lex_name(&token);
				used = catalog_table_find(catalog, name);
				if (used != CATALOG_NONE && catalog->tables[used].is_view)
					todo[used] = 1;
			}
		}
	}
}

/* Tables shown in groups: known once the shadow has told what the statement reads. */
static int add_groups(const struct database *database, const struct reach *view,
		      struct statement *statement, struct refusal *refusal)
{
	if (!groups_wanted(view, statement->facts))
		return 0;
	return groups_prepare(&database->guard, view, statement->facts, statement->sql,
			      &statement->counting, &statement->groups, refusal);
}

int statement_prepare(struct database *database, const struct reach *view, struct shadow *shadow,
		      const char *sql, struct statement **ret_statement, struct reach **ret_beyond,
		      struct refusal *refusal)
{
	CLEANUP(statement_freep) struct statement *statement = mem_alloc(sizeof(*statement));
	CLEANUP(joins_clearp) struct sql_joins joins = {0}; /* of the statement */
	CLEANUP(joins_clearp) struct sql_joins inner = {0}; /* of the views it uses */

	statement->sql = mem_str(sql);
	statement->facts = reach_new(database->catalog);
	sql_joins_add(&joins, sql);
	if (check_first_word(sql, refusal) < 0 ||
	    compile_in_shadow(shadow, view, sql, &joins, statement->facts, refusal) < 0 ||
	    add_groups(database, view, statement, refusal) < 0 ||
	    compile_in_source(database, view, statement_source(statement), statement->facts,
			      &statement->compiled, refusal) < 0)
		return -1;
	add_joins_of_views(statement->facts, &inner);
	add_compared(&inner, NULL, statement->facts);
	if (!reach_within(statement->facts, view, true)) {
		if (ret_beyond)
			*ret_beyond = TAKE(statement->facts);
		return refuse_neutral(refusal);
	}
	*ret_statement = TAKE(statement);
	return 0;
}

struct reach *statement_unbound(const struct reach *everything, struct shadow *shadow,
				const char *sql)
{
	CLEANUP(reach_freep) struct reach *facts = reach_new(everything->catalog);
	CLEANUP(joins_clearp) struct sql_joins joins = {0};
	struct refusal refusal;

	sql_joins_add(&joins, sql);
	if (check_first_word(sql, &refusal) < 0 ||
	    compile_in_shadow(shadow, everything, sql, &joins, facts, &refusal) < 0)
		return NULL;
	return TAKE(facts);
}
