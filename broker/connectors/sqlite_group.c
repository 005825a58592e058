/*
 * A reader of the one plain shape of statement that may add up over a table shown in groups. It
 * knows tokens, not grammar: whatever it does not recognise is refused, so its ignorance costs
 * convenience and never a row. What can fail: the shape.
 */
#include "broker/connectors/sqlite_group.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "broker/connectors/sqlite_group_from.h"
#include "broker/connectors/sqlite_tokens.h"

#define LIMIT_DIGITS_MAX 15

struct spans {
	struct span *items;
	size_t count;
};

struct shape {
	struct tokens tokens;
	const struct reach *facts;
	struct spans columns;
	struct spans groups;
	struct spans orders;
	size_t from;  /* where FROM stands */
	size_t limit; /* where LIMIT stands, or the end */
};

static int refuse(struct refusal *refusal, const char *what)
{
	return refusal_set(refusal, BY_POLICY,
			   "ask for COUNT, SUM or AVG of columns, grouped by columns",
			   "a table of this statement is shown in groups only; %s", what);
}

void groups_clear(struct groups *groups)
{
	mem_free(groups->least);
	*groups = (struct groups){0};
}

static void shape_clear(struct shape *shape)
{
	tokens_clear(&shape->tokens);
	mem_free(shape->columns.items);
	mem_free(shape->groups.items);
	mem_free(shape->orders.items);
}

bool groups_any(const struct reach *view)
{
	for (size_t t = 0; t < view->catalog->table_count; t++) {
		const struct restriction *restriction = reach_restriction(view, t);

		if (restriction && restriction->min_group)
			return true;
	}
	return false;
}

bool groups_wanted(const struct reach *view, const struct reach *facts)
{
	for (size_t t = 0; t < facts->catalog->table_count; t++) {
		const struct restriction *restriction = reach_restriction(view, t);

		if (facts->tables[t].in && restriction && restriction->min_group)
			return true;
	}
	return false;
}

/* Words that make a statement another shape, wherever they stand. */
static int check_words(const struct shape *shape, struct refusal *refusal)
{
	static const char *const others[] = {
		"with",	  "union",  "intersect", "except", "values",
		"having", "window", "over",	 "filter", "distinct",
	};

	if (!tokens_is_word(&shape->tokens, 0, "select"))
		return refuse(refusal, "the statement has to begin with SELECT");
	for (size_t i = 1; i < shape->tokens.count; i++) {
		bool counts_distinct = i >= 2 && tokens_is_char(&shape->tokens, i - 1, '(') &&
				       tokens_is_word(&shape->tokens, i, "distinct") &&
				       tokens_is_word(&shape->tokens, i - 2, "count");

		if (tokens_is_word(&shape->tokens, i, "select"))
			return refuse(refusal, "no sub-query can be used with it");
		if (!counts_distinct &&
		    tokens_is_one_of(&shape->tokens, i, others, ARRAY_LEN(others)))
			return refuse(refusal, "WITH, UNION, DISTINCT, HAVING, FILTER and windows "
					       "cannot be used with it");
	}
	return 0;
}

/* The end of the clause that starts at place: one of words at depth 0, or the end. */
static size_t clause_end(const struct shape *shape, size_t place, const char *const *words,
			 size_t count)
{
	size_t depth = 0;

	for (; place < shape->tokens.count; place++) {
		if (tokens_is_char(&shape->tokens, place, '('))
			depth++;
		else if (tokens_is_char(&shape->tokens, place, ')') && depth > 0)
			depth--;
		else if (depth == 0 && (tokens_is_char(&shape->tokens, place, ';') ||
					tokens_is_one_of(&shape->tokens, place, words, count)))
			return place;
	}
	return place;
}

static void split(const struct shape *shape, struct span span, struct spans *spans)
{
	size_t depth = 0, start = span.start;

	for (size_t i = span.start; i <= span.end; i++) {
		if (i < span.end && tokens_is_char(&shape->tokens, i, '('))
			depth++;
		else if (i < span.end && tokens_is_char(&shape->tokens, i, ')') && depth > 0)
			depth--;
		else if (i == span.end || (depth == 0 && tokens_is_char(&shape->tokens, i, ','))) {
			spans->items =
				mem_grow(spans->items, (spans->count + 1) * sizeof(*spans->items));
			spans->items[spans->count++] = (struct span){start, i};
			start = i + 1;
		}
	}
}

/* Where the clause begins behind its two words ("group by"), or the end when it is not there. */
static size_t find_clause(const struct shape *shape, const char *word)
{
	size_t place = clause_end(shape, shape->from, &word, 1);

	if (place < shape->tokens.count && tokens_is_word(&shape->tokens, place + 1, "by"))
		return place + 2;
	return shape->tokens.count;
}

static int read_shape(struct shape *shape, struct refusal *refusal)
{
	static const char *const from[] = {"from"};
	static const char *const after[] = {"order", "limit"};
	size_t place;

	if (check_words(shape, refusal) < 0)
		return -1;
	shape->from = clause_end(shape, 1, from, 1);
	if (!tokens_is_word(&shape->tokens, shape->from, "from"))
		return refuse(refusal, "no FROM was found");
	split(shape, (struct span){1, shape->from}, &shape->columns);
	place = find_clause(shape, "group");
	if (place < shape->tokens.count)
		split(shape, (struct span){place, clause_end(shape, place, after, 2)},
		      &shape->groups);
	place = find_clause(shape, "order");
	if (place < shape->tokens.count)
		split(shape, (struct span){place, clause_end(shape, place, after + 1, 1)},
		      &shape->orders);
	shape->limit = clause_end(shape, shape->from, after + 1, 1);
	return 0;
}

static bool read_number(const struct shape *shape, size_t place, int64_t *ret_number)
{
	int64_t number = 0;

	if (place >= shape->tokens.count || shape->tokens.items[place].kind != SQL_LEX_OTHER ||
	    shape->tokens.items[place].len > LIMIT_DIGITS_MAX)
		return false;
	for (size_t i = 0; i < shape->tokens.items[place].len; i++) {
		char digit = shape->tokens.items[place].start[i];

		if (digit < '0' || digit > '9')
			return false;
		number = number * 10 + (digit - '0');
	}
	*ret_number = number;
	return true;
}

static bool is_end(const struct shape *shape, size_t place)
{
	return place >= shape->tokens.count || tokens_is_char(&shape->tokens, place, ';');
}

/* LIMIT n, LIMIT n OFFSET m, LIMIT m, n */
static int read_limit(const struct shape *shape, struct groups *groups, struct refusal *refusal)
{
	size_t place = shape->limit + 1;
	bool known;

	groups->limit = -1;
	if (!tokens_is_word(&shape->tokens, shape->limit, "limit"))
		return 0;
	known = read_number(shape, place++, &groups->limit);
	if (known && tokens_is_word(&shape->tokens, place, "offset")) {
		known = read_number(shape, place + 1, &groups->offset);
		place += 2;
	} else if (known && tokens_is_char(&shape->tokens, place, ',')) {
		groups->offset = groups->limit;
		known = read_number(shape, place + 1, &groups->limit);
		place += 2;
	}
	if (!known || !is_end(shape, place))
		return refuse(refusal, "LIMIT and OFFSET have to be plain numbers");
	return 0;
}

/* A column without "AS alias". An alias without AS is not understood. */
static struct span without_alias(const struct shape *shape, struct span column,
				 struct span *ret_alias)
{
	*ret_alias = (struct span){0};
	if (column.end - column.start > 2 && tokens_is_word(&shape->tokens, column.end - 2, "as") &&
	    tokens_is_name(&shape->tokens, column.end - 1)) {
		*ret_alias = (struct span){column.end - 1, column.end};
		column.end -= 2;
	}
	return column;
}

/* A name that some column of the statement's tables has as well means that column to SQLite. */
static bool is_column_name(const struct shape *shape, const struct sql_lexeme *token)
{
	CLEANUP(mem_freep) char *name = sql_lex_name(token);
	const struct catalog *catalog = shape->facts->catalog;

	for (size_t t = 0; t < catalog->table_count; t++)
		if (shape->facts->tables[t].in &&
		    catalog_column_find(&catalog->tables[t], name) != CATALOG_NONE)
			return true;
	return false;
}

static bool is_number(const struct shape *shape, struct span span, size_t number)
{
	char text[24];
	const struct sql_lexeme *token = &shape->tokens.items[span.start];

	sqlite3_snprintf(sizeof(text), text, "%llu", (unsigned long long)number);
	return span.end - span.start == 1 && token->kind == SQL_LEX_OTHER &&
	       token->len == strlen(text) && memcmp(token->start, text, token->len) == 0;
}

/* Does the item of GROUP BY or ORDER BY stand for this column of the result? */
static bool stands_for(const struct shape *shape, struct span item, size_t column)
{
	struct span alias;
	struct span bare = without_alias(shape, shape->columns.items[column], &alias);

	if (tokens_are_same(&shape->tokens, item, bare) || is_number(shape, item, column + 1))
		return true;
	return tokens_are_same(&shape->tokens, item, alias) &&
	       !is_column_name(shape, &shape->tokens.items[alias.start]);
}

/* "f ( column )", "f ( t . column )", "COUNT ( * )", "COUNT ( DISTINCT column )": the place behind
 * it, or 0. */
static size_t behind_aggregate(const struct shape *shape, size_t place, size_t end)
{
	static const char *const aggregates[] = {"count", "sum", "avg", "total"};
	const struct tokens *tokens = &shape->tokens;
	bool counts = tokens_is_word(tokens, place, "count");

	if (place + 3 >= end ||
	    !tokens_is_one_of(tokens, place, aggregates, ARRAY_LEN(aggregates)) ||
	    !tokens_is_char(tokens, place + 1, '('))
		return 0;
	place += 2;
	if (counts && tokens_is_char(tokens, place, '*'))
		return tokens_is_char(tokens, place + 1, ')') ? place + 2 : 0;
	if (counts && tokens_is_word(tokens, place, "distinct"))
		place++;
	if (!tokens_is_name(tokens, place))
		return 0;
	if (tokens_is_char(tokens, place + 1, '.') && tokens_is_name(tokens, place + 2))
		place += 2;
	return place + 1 < end && tokens_is_char(tokens, place + 1, ')') ? place + 2 : 0;
}

/* Arithmetic over aggregates, at least one of them. */
static bool adds_up(const struct shape *shape, struct span column)
{
	static const char *const around[] = {"round", "coalesce", "nullif",  "abs",	"cast",
					     "as",    "real",	  "integer", "numeric", "null"};
	struct span alias;
	struct span bare = without_alias(shape, column, &alias);
	bool any = false;

	for (size_t i = bare.start; i < bare.end;) {
		size_t behind = behind_aggregate(shape, i, bare.end);

		if (behind) {
			any = true;
			i = behind;
		} else if (shape->tokens.items[i].kind == SQL_LEX_OTHER ||
			   tokens_is_one_of(&shape->tokens, i, around, ARRAY_LEN(around))) {
			i++;
		} else {
			return false;
		}
	}
	return any;
}

static bool is_grouped(const struct shape *shape, size_t column)
{
	for (size_t g = 0; g < shape->groups.count; g++)
		if (stands_for(shape, shape->groups.items[g], column))
			return true;
	return false;
}

static int check_columns(const struct shape *shape, struct refusal *refusal)
{
	for (size_t c = 0; c < shape->columns.count; c++)
		if (!is_grouped(shape, c) && !adds_up(shape, shape->columns.items[c]))
			return refuse(refusal,
				      "each column has to be one of GROUP BY, or arithmetic over "
				      "COUNT, SUM, AVG or TOTAL of one column");
	return 0;
}

static struct span without_direction(const struct shape *shape, struct span item)
{
	static const char *const words[] = {"asc", "desc", "nulls", "first", "last"};

	while (item.end > item.start + 1 &&
	       tokens_is_one_of(&shape->tokens, item.end - 1, words, ARRAY_LEN(words)))
		item.end--;
	return item;
}

/* An order by something else would tell about single rows what the columns do not. */
static int check_orders(const struct shape *shape, struct refusal *refusal)
{
	for (size_t o = 0; o < shape->orders.count; o++) {
		struct span item = without_direction(shape, shape->orders.items[o]);
		bool known = false;

		for (size_t c = 0; !known && c < shape->columns.count; c++)
			known = stands_for(shape, item, c);
		if (!known)
			return refuse(refusal, "ORDER BY has to name columns of the result");
	}
	return 0;
}

static int add_counts(const struct shape *shape, const struct guard *guard,
		      const struct reach *view, struct buf *sql, struct groups *groups,
		      struct refusal *refusal)
{
	for (size_t t = 0; t < view->catalog->table_count; t++) {
		const struct restriction *restriction = reach_restriction(view, t);
		CLEANUP(mem_freep) char *unit = NULL;

		if (!shape->facts->tables[t].in || !restriction || !restriction->min_group)
			continue;
		if (restriction->unit == CATALOG_NONE)
			return refuse(refusal, "the column that tells its units apart is gone");
		if (!group_from_keeps(&shape->tokens, shape->from, view, t))
			return refuse(refusal,
				      "it has to stand once behind FROM, and each other table "
				      "there joined by ON a.x = b.y with columns that are its "
				      "key, so that no row is counted twice");
		unit = guard_unit_column(guard, t);
		buf_add_str(sql, ", COUNT(DISTINCT ");
		sql_name(unit, sql);
		buf_add_str(sql, ") ");
		groups->least =
			mem_grow(groups->least, (groups->count + 1) * sizeof(*groups->least));
		groups->least[groups->count++] = restriction->min_group;
		if (restriction->min_group > groups->largest)
			groups->largest = restriction->min_group;
	}
	return 0;
}

int groups_prepare(const struct guard *guard, const struct reach *view, const struct reach *facts,
		   const char *sql, char **ret_sql, struct groups *ret_groups,
		   struct refusal *refusal)
{
	CLEANUP(shape_clear) struct shape shape = {.facts = facts};
	struct groups groups = {0};
	struct buf counted = BUF_INIT;
	const char *from, *end = NULL;

	tokens_read(sql, &shape.tokens);
	if (read_shape(&shape, refusal) < 0 || check_columns(&shape, refusal) < 0 ||
	    check_orders(&shape, refusal) < 0 || read_limit(&shape, &groups, refusal) < 0)
		return -1;
	if (shape.limit < shape.tokens.count)
		end = shape.tokens.items[shape.limit].start;
	from = shape.tokens.items[shape.from].start;
	buf_add(&counted, sql, (size_t)(from - sql));
	if (add_counts(&shape, guard, view, &counted, &groups, refusal) < 0) {
		groups_clear(&groups);
		buf_clear(&counted);
		return -1;
	}
	buf_add(&counted, from, end ? (size_t)(end - from) : strlen(from));
	*ret_sql = buf_take(&counted);
	*ret_groups = groups;
	return 0;
}
