/*
 * Views: where the catalogue gives the text of a view, the view is read as the query it is, so that
 * its keys and the origin of its columns are known; else a note says that nobody looked inside.
 */
#include <string.h>
#include <strings.h>

#include "agents/query/check/check_internal.h"

#define VIEWS_MAX 32 /* of one statement, views within views counted */

static const struct json *find_table(const struct json *tables, const char *name)
{
	json_each(table, tables)
	{
		const char *own = json_get_str(table, "table");

		if (!own)
			own = json_get_str(table, "name");
		if (own && strcasecmp(own, name) == 0)
			return table;
	}
	return NULL;
}

/* CREATE VIEW v AS SELECT ...: from SELECT on; a text that begins with it is taken as it is. */
static const char *query_of(const char *definition)
{
	static const char *const begins[] = {"SELECT", "WITH"};
	CLEANUP(sql_tokens_clear) struct sql_tokens tokens = {0};
	struct err err = {0};

	if (sql_tokens_scan(definition, &tokens, &err) < 0)
		return NULL;
	for (size_t i = 0; i < tokens.count; i++) {
		for (size_t j = 0; j < ARRAY_LEN(begins); j++) {
			if (sql_token_is(&tokens, i, begins[j]))
				return definition + tokens.items[i].start;
		}
	}
	return NULL;
}

static void note_view(struct json *flags, const char *name)
{
	flag_add(flags, "analysis.unknown", "note", "look at how the view is made",
		 "%s is a view, and what it does inside was not looked at", name);
}

static bool is_view(const struct json *table)
{
	const char *grain = json_get_str(table, "grain"), *kind = json_get_str(table, "kind");

	return (kind && strcmp(kind, "view") == 0) || (grain && strstr(grain, "a view"));
}

static void expand_source(const struct json *tables, enum sql_dialect dialect,
			  struct sql_source *source, struct check_views *views, struct json *flags)
{
	const struct json *table = find_table(tables, source->table);
	const char *text = json_get_str(table, "definition");
	struct sql_statement *statement = NULL;
	struct err err = {0};

	if (!is_view(table) && !text)
		return;
	text = text ? query_of(text) : NULL;
	if (!text || views->count == VIEWS_MAX ||
	    sql_parse_as(dialect, text, &statement, &err) < 0) {
		note_view(flags, source->table);
		return;
	}
	views->items = mem_grow(views->items, (views->count + 1) * sizeof(struct sql_statement *));
	views->items[views->count++] = statement;
	source->kind = SQL_QUERY;
	source->query = statement->top;
}

static void expand_statement(const struct json *tables, enum sql_dialect dialect,
			     const struct sql_statement *statement, struct check_views *views,
			     struct json *flags)
{
	for (size_t i = 0; i < statement->select_count; i++) {
		const struct sql_select *select = statement->selects[i];

		for (size_t j = 0; j < select->source_count; j++) {
			if (select->sources[j].kind == SQL_TABLE)
				expand_source(tables, dialect, &select->sources[j], views, flags);
		}
	}
}

void check_views_expand(const struct json *tables, enum sql_dialect dialect,
			const struct sql_statement *statement, struct check_views *views,
			struct json *flags)
{
	expand_statement(tables, dialect, statement, views, flags);
	for (size_t i = 0; i < views->count; i++)
		expand_statement(tables, dialect, views->items[i], views, flags);
}

void check_views_clear(struct check_views *views)
{
	for (size_t i = 0; i < views->count; i++)
		sql_statement_free(views->items[i]);
	mem_free(views->items);
	*views = (struct check_views){0};
}
