/*
 * Places in the text. The parse tree says where things begin; where they end is found by the
 * parentheses and keywords of the same depth.
 */
#include "agents/query/check/sql_internal.h"

static size_t token_of(const struct sql_tokens *tokens, const struct json *node)
{
	return sql_token_at(tokens, (size_t)json_get_int(node, "location", 0));
}

static const char *const ends_select[] = {"UNION", "EXCEPT", "INTERSECT"};
static const char *const begins_rest[] = {"GROUP", "HAVING", "WINDOW", "ORDER", "LIMIT"};

static bool is_any(const struct sql_tokens *tokens, size_t at, const char *const *words,
		   size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (sql_token_is(tokens, at, words[i]))
			return true;
	}
	return false;
}

/* The parenthesis that closes a sub-query lies outside it, at a lesser depth. */
static void find_parts(const struct sql_tokens *tokens, struct sql_clauses *clauses)
{
	int depth = tokens->items[clauses->select].depth;
	size_t none = tokens->count, at = clauses->select + 1;

	for (; at < tokens->count && tokens->items[at].depth >= depth; at++) {
		if (tokens->items[at].depth > depth)
			continue;
		if (is_any(tokens, at, ends_select, 3))
			break;
		if (clauses->from == none && sql_token_is(tokens, at, "FROM") &&
		    !sql_token_is(tokens, at - 1, "DISTINCT"))
			clauses->from = at;
		if (clauses->rest == none && is_any(tokens, at, begins_rest, 5))
			clauses->rest = at;
		if (clauses->group == none && sql_token_is(tokens, at, "GROUP"))
			clauses->group = at;
	}
	clauses->end = at;
	clauses->from = clauses->from == none ? at : clauses->from;
	clauses->rest = clauses->rest == none ? at : clauses->rest;
	clauses->group = clauses->group == none ? at : clauses->group;
}

struct sql_clauses sql_find_clauses(const struct sql_tokens *tokens, const struct json *targets)
{
	size_t none = tokens->count;
	struct sql_clauses clauses = {none, none, none, none, none};
	size_t at = token_of(tokens, json_get(json_first(targets), "ResTarget"));
	int depth;

	if (!targets || at >= tokens->count)
		return clauses;
	depth = tokens->items[at].depth;
	while (at > 0 && !(tokens->items[at].depth == depth && sql_token_is(tokens, at, "SELECT")))
		at--;
	if (!sql_token_is(tokens, at, "SELECT"))
		return clauses;
	clauses.select = at;
	find_parts(tokens, &clauses);
	return clauses;
}

static bool name_token(const struct sql_tokens *tokens, size_t at)
{
	enum sql_token_kind kind = tokens->items[at].kind;

	return kind == SQL_WORD || kind == SQL_NAME || kind == SQL_STRING;
}

/* To before the next comma of the depth, or before end. */
static size_t item_end(const struct sql_tokens *tokens, size_t first, size_t end, int depth)
{
	size_t at = first;

	while (at < end && !(tokens->items[at].depth == depth && sql_token_is(tokens, at, ",")))
		at++;
	return at;
}

struct sql_range sql_output_range(const struct sql_tokens *tokens, const struct json *target,
				  const struct sql_clauses *clauses)
{
	struct sql_range range = {token_of(tokens, target), 0};
	size_t limit = clauses->from < clauses->rest ? clauses->from : clauses->rest;

	if (clauses->select >= tokens->count || range.first >= limit)
		return (struct sql_range){0, 0};
	range.end = item_end(tokens, range.first, limit, tokens->items[clauses->select].depth);
	if (!json_get_str(target, "name") || range.end < range.first + 2 ||
	    !name_token(tokens, range.end - 1))
		return range;
	range.end--;
	if (sql_token_is(tokens, range.end - 1, "AS") && range.end > range.first + 1)
		range.end--;
	return range;
}

struct sql_range sql_group_range(const struct sql_tokens *tokens, const struct sql_clauses *clauses,
				 size_t index)
{
	size_t at = clauses->group + 2, end = at; /* behind GROUP BY */
	int depth;

	if (clauses->select >= tokens->count || clauses->group >= clauses->end)
		return (struct sql_range){0, 0};
	depth = tokens->items[clauses->select].depth;
	while (end < clauses->end &&
	       !(tokens->items[end].depth == depth && is_any(tokens, end, begins_rest, 5)))
		end++;
	for (; index > 0; index--)
		at = item_end(tokens, at, end, depth) + 1;
	return (struct sql_range){at, item_end(tokens, at, end, depth)};
}

/* Behind the parenthesis that closes the one at open. */
static size_t behind(const struct sql_tokens *tokens, size_t open)
{
	int depth = tokens->items[open].depth;
	size_t at = open + 1;

	while (at < tokens->count && tokens->items[at].depth > depth)
		at++;
	return at < tokens->count ? at + 1 : at;
}

void sql_aggregate_ranges(const struct sql_tokens *tokens, const struct json *call,
			  struct sql_aggregate *aggregate)
{
	size_t first = token_of(tokens, call), open = first, end;

	while (open < tokens->count && !sql_token_is(tokens, open, "("))
		open++;
	if (open >= tokens->count)
		return;
	end = behind(tokens, open);
	aggregate->text = (struct sql_range){first, end};
	if (!aggregate->star) {
		size_t inner = open + 1;

		inner += sql_token_is(tokens, inner, "DISTINCT");
		aggregate->argument = (struct sql_range){inner, end - 1};
	}
	if (sql_token_is(tokens, end, "FILTER") && sql_token_is(tokens, end + 1, "("))
		aggregate->text.end = behind(tokens, end + 1);
}
