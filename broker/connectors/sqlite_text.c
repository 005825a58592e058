/* Columns that joins compare by their equal names, read from the text. Nothing here can fail. */
#include "broker/connectors/sqlite_text.h"

#include <string.h>

#include "base/mem.h"
#include "base/sql.h"

/* NATURAL is also a name; it joins only when a JOIN follows. */
static bool natural_follows(const char *cursor)
{
	static const char *const between[] = {"left", "right", "full", "inner", "cross", "outer"};

	for (;;) {
		struct sql_lexeme token = sql_lex_next(&cursor);
		bool known = false;

		if (sql_lex_is(&token, "join"))
			return true;
		for (size_t i = 0; i < ARRAY_LEN(between); i++)
			known = known || sql_lex_is(&token, between[i]);
		if (!known)
			return false;
	}
}

static void add_using(struct sql_joins *joins, const char *cursor)
{
	struct sql_lexeme token = sql_lex_next(&cursor);

	if (token.len != 1 || *token.start != '(')
		return;
	for (;;) {
		token = sql_lex_next(&cursor);
		if (token.kind == SQL_LEX_END || (token.len == 1 && *token.start == ')'))
			return;
		if (token.kind != SQL_LEX_WORD && token.kind != SQL_LEX_QUOTED &&
		    token.kind != SQL_LEX_STRING)
			continue;
		if (token.kind == SQL_LEX_STRING)
			token.kind = SQL_LEX_QUOTED; /* SQLite takes 'x' for a name here */
		joins->using_columns =
			mem_grow(joins->using_columns,
				 (joins->using_count + 1) * sizeof(*joins->using_columns));
		joins->using_columns[joins->using_count++] = sql_lex_name(&token);
	}
}

void sql_joins_add(struct sql_joins *joins, const char *sql)
{
	for (;;) {
		struct sql_lexeme token = sql_lex_next(&sql);

		if (token.kind == SQL_LEX_END)
			return;
		if (sql_lex_is(&token, "natural"))
			joins->natural = joins->natural || natural_follows(sql);
		else if (sql_lex_is(&token, "using"))
			add_using(joins, sql);
	}
}

void sql_joins_clear(struct sql_joins *joins)
{
	for (size_t i = 0; i < joins->using_count; i++)
		mem_free(joins->using_columns[i]);
	mem_free(joins->using_columns);
	*joins = (struct sql_joins){0};
}
