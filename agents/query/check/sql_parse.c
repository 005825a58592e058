/*
 * The one door to libpg_query.
 *
 *   text -> tokens (sql_scan.c) -> PostgreSQL's words (sql_normalise.c) -> parse tree as JSON
 *        -> SELECT levels (sql_tree.c) of sources (sql_from.c), aggregates (sql_walk.c,
 * sql_terms.c) and places in the text (sql_range.c)
 *
 * What fails: text that is no SELECT of both dialects, and statements whose tree is deeper or
 * larger than base/json.h reads. The caller then knows nothing about the statement and must say so.
 */
#include "agents/query/check/sql_internal.h"

#include <pg_query.h>
#include <string.h>

#include "writ/limits.h"

/* A tree of JSON takes up to some 50 times its text. */
#define SQL_TREE_BYTES_MAX (1u << 20)

struct sql_block {
	struct sql_block *next;
	max_align_t bytes[];
};

void *sql_keep(struct sql_parsed *parsed, size_t size)
{
	struct sql_block *block = mem_alloc(sizeof(*block) + size);

	block->next = parsed->blocks;
	parsed->blocks = block;
	return block->bytes;
}

/* Doubles; the array before is left to the statement's end. */
void *sql_more(struct sql_parsed *parsed, void *items, size_t count, size_t size)
{
	void *grown;

	if (count != 0 && (count < 4 || (count & (count - 1)) != 0))
		return items;
	grown = sql_keep(parsed, (count < 4 ? 4 : count * 2) * size);
	if (count > 0)
		memcpy(grown, items, count * size);
	return grown;
}

void sql_statement_free(struct sql_statement *statement)
{
	struct sql_parsed *parsed = (struct sql_parsed *)statement;

	if (!parsed)
		return;
	for (struct sql_block *block = parsed->blocks, *next; block; block = next) {
		next = block->next;
		mem_free(block);
	}
	json_free(parsed->tree);
	sql_tokens_clear(&parsed->statement.tokens);
	mem_free(parsed);
}

void sql_statement_freep(struct sql_statement **statement)
{
	sql_statement_free(*statement);
}

const char *sql_call_name(enum sql_call call)
{
	static const char *const names[] = {"SUM", "TOTAL", "COUNT",	   "AVG",
					    "MIN", "MAX",   "GROUP_CONCAT"};

	return names[call];
}

static int read_tree(const char *text, struct json **ret_tree, struct err *err)
{
	PgQueryParseResult result = pg_query_parse(text);
	int status;

	if (result.error)
		status = err_set(err, ERR_INVALID, "not understood: %s", result.error->message);
	else
		status = json_parse(result.parse_tree, strlen(result.parse_tree),
				    SQL_TREE_BYTES_MAX, ret_tree, err);
	pg_query_free_parse_result(result);
	return status;
}

static int build(struct sql_parsed *parsed, struct err *err)
{
	struct sql_builder builder = {.parsed = parsed, .err = err};
	const struct json *stmts = json_get(parsed->tree, "stmts");
	const struct json *select = json_get(json_get(json_at(stmts, 0), "stmt"), "SelectStmt");

	if (json_len(stmts) != 1 || !select)
		return err_set(err, ERR_INVALID, "not one SELECT");
	parsed->statement.top = sql_build(&builder, select, SQL_TOP, NULL);
	parsed->statement.selects = parsed->selects;
	return parsed->statement.top ? 0 : -1;
}

int sql_parse_as(enum sql_dialect dialect, const char *sql, struct sql_statement **ret_statement,
		 struct err *err)
{
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	struct sql_parsed *parsed;
	char *copy;

	if (strlen(sql) > WRIT_SQL_BYTES_MAX)
		return err_set(err, ERR_LIMIT, "more than %d bytes", WRIT_SQL_BYTES_MAX);
	parsed = mem_alloc(sizeof(*parsed));
	copy = sql_keep(parsed, strlen(sql) + 1);
	memcpy(copy, sql, strlen(sql));
	if (sql_tokens_scan_as(dialect, copy, &parsed->statement.tokens, err) < 0)
		goto fail;
	if (dialect == SQL_DIALECT_SQLITE)
		sql_tokens_normalise(&parsed->statement.tokens, &text);
	else
		buf_add_str(&text, copy);
	if (read_tree(buf_str(&text), &parsed->tree, err) < 0 || build(parsed, err) < 0)
		goto fail;
	*ret_statement = &parsed->statement;
	return 0;
fail:
	sql_statement_free(&parsed->statement);
	return -1;
}

int sql_parse(const char *sql, struct sql_statement **ret_statement, struct err *err)
{
	return sql_parse_as(SQL_DIALECT_SQLITE, sql, ret_statement, err);
}
