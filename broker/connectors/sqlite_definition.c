/*
 * Every word, quoted name and string of the text is held against the catalog, without asking what
 * it is there for: an alias that happens to be called like a hidden column withholds the text as
 * well. Doubt withholds. Nothing can fail.
 */
#include "broker/connectors/sqlite_definition.h"

#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "broker/connectors/sqlite_tokens.h"

struct names { /* of the tokens that may be names; owned */
	char **items;
	size_t count;
};

static void names_clear(struct names *names)
{
	for (size_t i = 0; i < names->count; i++)
		mem_free(names->items[i]);
	mem_free(names->items);
}

static struct names names_of(const char *text)
{
	CLEANUP(tokens_clear) struct tokens tokens;
	struct names names = {0};

	tokens_read(text, &tokens);
	names.items = mem_array(tokens.count + 1, sizeof(*names.items));
	for (size_t i = 0; i < tokens.count; i++)
		if (tokens.items[i].kind != SQL_LEX_OTHER)
			names.items[names.count++] = sql_lex_name(&tokens.items[i]);
	return names;
}

static bool names_hidden_column(const struct reach *view, size_t table, const struct names *names)
{
	for (size_t i = 0; i < names->count; i++) {
		size_t column = catalog_column_find(&view->catalog->tables[table], names->items[i]);

		if (column != CATALOG_NONE && !reach_has_column(view, table, column))
			return true;
	}
	return false;
}

static bool is_in_view(const struct reach *view, const struct names *names)
{
	for (size_t i = 0; i < names->count; i++) {
		size_t table = catalog_table_find(view->catalog, names->items[i]);

		if (table == CATALOG_NONE)
			continue;
		if (!view->tables[table].in || names_hidden_column(view, table, names))
			return false;
	}
	return true;
}

char *definition_in_view(const struct reach *view, size_t table)
{
	const char *text = view->catalog->tables[table].sql;
	CLEANUP(names_clear) struct names names = {0};

	if (!view->catalog->tables[table].is_view || text == NULL || text[0] == '\0' ||
	    strlen(text) > DEFINITION_BYTES_MAX || !utf8_valid(text, strlen(text)))
		return NULL;
	names = names_of(text);
	return is_in_view(view, &names) ? mem_str(text) : NULL;
}
