/*
 * Reads the clause into members and equalities, then closes over keys: a table is single when a key
 * of it is equal to columns of tables that are single already. Nothing here fails; what is not
 * understood proves nothing.
 */
#include "broker/connectors/sqlite_group_from.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define MEMBERS_MAX 16
#define EQUALITIES_MAX 64

struct member {
	size_t table;
	char *name; /* alias, or the table's own */
	bool single;
};

struct side {
	size_t member;
	size_t column;
};

struct equality {
	struct side left, right;
};

struct clause {
	const struct tokens *tokens;
	const struct catalog *catalog;
	const struct reach *view;
	size_t place;
	struct member members[MEMBERS_MAX];
	size_t member_count;
	struct equality equalities[EQUALITIES_MAX];
	size_t equality_count;
};

static void clause_clear(struct clause *clause)
{
	for (size_t m = 0; m < clause->member_count; m++)
		mem_free(clause->members[m].name);
}

static bool take_word(struct clause *clause, const char *word)
{
	if (!tokens_is_word(clause->tokens, clause->place, word))
		return false;
	clause->place++;
	return true;
}

static bool take_char(struct clause *clause, char c)
{
	if (!tokens_is_char(clause->tokens, clause->place, c))
		return false;
	clause->place++;
	return true;
}

static char *take_name(struct clause *clause) /* NULL: none there */
{
	if (!tokens_is_name(clause->tokens, clause->place))
		return NULL;
	return sql_lex_name(&clause->tokens->items[clause->place++]);
}

static bool is_end(const struct clause *clause)
{
	static const char *const ends[] = {"where", "group", "order", "limit"};

	return clause->place >= clause->tokens->count ||
	       tokens_is_char(clause->tokens, clause->place, ';') ||
	       tokens_is_one_of(clause->tokens, clause->place, ends, ARRAY_LEN(ends));
}

static bool is_join_word(const struct clause *clause)
{
	static const char *const words[] = {"join",  "inner",	"left",	 "right", "full",
					    "cross", "natural", "outer", "on",	  "using"};

	return tokens_is_one_of(clause->tokens, clause->place, words, ARRAY_LEN(words));
}

static bool read_member(struct clause *clause)
{
	CLEANUP(mem_freep) char *table = take_name(clause);
	struct member member = {0};

	if (!table || clause->member_count == MEMBERS_MAX)
		return false;
	member.table = catalog_table_find(clause->catalog, table);
	if (member.table == CATALOG_NONE)
		return false;
	if (take_word(clause, "as") || (!is_end(clause) && !is_join_word(clause)))
		member.name = take_name(clause);
	else
		member.name = TAKE(table);
	if (!member.name)
		return false;
	clause->members[clause->member_count++] = member;
	return true;
}

static bool read_side(struct clause *clause, struct side *side)
{
	CLEANUP(mem_freep) char *name = take_name(clause);
	CLEANUP(mem_freep) char *column = NULL;
	size_t found = 0;

	if (!name || !take_char(clause, '.') || !(column = take_name(clause)))
		return false;
	for (size_t m = 0; m < clause->member_count; m++) {
		if (sqlite3_stricmp(clause->members[m].name, name) != 0)
			continue;
		side->member = m;
		found++;
	}
	if (found != 1)
		return false;
	side->column = catalog_column_find(
		&clause->catalog->tables[clause->members[side->member].table], column);
	return side->column != CATALOG_NONE;
}

static bool add_equality(struct clause *clause, struct equality equality)
{
	if (clause->equality_count == EQUALITIES_MAX)
		return false;
	clause->equalities[clause->equality_count++] = equality;
	return true;
}

static bool read_on(struct clause *clause)
{
	do {
		struct equality equality;

		if (!read_side(clause, &equality.left) || !take_char(clause, '='))
			return false;
		take_char(clause, '='); /* SQLite has "==" too */
		if (!read_side(clause, &equality.right) || !add_equality(clause, equality))
			return false;
	} while (take_word(clause, "and"));
	return true;
}

/* USING (x) compares with the first table from the left that has x. */
static bool add_using(struct clause *clause, const char *name)
{
	size_t last = clause->member_count - 1;
	struct equality equality = {.right = {.member = last}};

	equality.right.column =
		catalog_column_find(&clause->catalog->tables[clause->members[last].table], name);
	if (equality.right.column == CATALOG_NONE)
		return false;
	for (size_t m = 0; m < last; m++) {
		size_t column = catalog_column_find(
			&clause->catalog->tables[clause->members[m].table], name);

		if (column == CATALOG_NONE)
			continue;
		equality.left = (struct side){m, column};
		return add_equality(clause, equality);
	}
	return false;
}

static bool read_using(struct clause *clause)
{
	if (!take_char(clause, '('))
		return false;
	do {
		CLEANUP(mem_freep) char *name = take_name(clause);

		if (!name || !add_using(clause, name))
			return false;
	} while (take_char(clause, ','));
	return take_char(clause, ')');
}

static bool read_join(struct clause *clause)
{
	if (take_word(clause, "left"))
		take_word(clause, "outer");
	else
		take_word(clause, "inner");
	if (!take_word(clause, "join") || !read_member(clause))
		return false;
	if (take_word(clause, "on"))
		return read_on(clause);
	return take_word(clause, "using") && read_using(clause);
}

static bool read_clause(struct clause *clause)
{
	if (!take_word(clause, "from") || !read_member(clause))
		return false;
	while (!is_end(clause))
		if (!read_join(clause))
			return false;
	return true;
}

/* Is this column of the member equal to a column of a table that is single? Of a masked column many
 * rows may show the same. */
static bool is_fixed(const struct clause *clause, size_t member, size_t column)
{
	if (reach_mask(clause->view, clause->members[member].table, column) != MASK_NONE)
		return false;
	for (size_t e = 0; e < clause->equality_count; e++) {
		const struct side *left = &clause->equalities[e].left;
		const struct side *right = &clause->equalities[e].right;

		if (left->member == member && left->column == column && right->member != member &&
		    clause->members[right->member].single)
			return true;
		if (right->member == member && right->column == column && left->member != member &&
		    clause->members[left->member].single)
			return true;
	}
	return false;
}

static bool has_fixed_key(const struct clause *clause, size_t member)
{
	const struct catalog_table *table = &clause->catalog->tables[clause->members[member].table];
	size_t key_len = 0;
	bool primary = true;

	for (size_t c = 0; c < table->column_count; c++) {
		if (!table->columns[c].pk)
			continue;
		key_len++;
		primary = primary && is_fixed(clause, member, c);
	}
	if (key_len && primary)
		return true;
	for (size_t u = 0; u < table->unique_count; u++) {
		bool fixed = table->unique[u].count > 0;

		for (size_t c = 0; c < table->unique[u].count; c++)
			fixed = fixed && is_fixed(clause, member, table->unique[u].columns[c]);
		if (fixed)
			return true;
	}
	return false;
}

static bool all_single(struct clause *clause)
{
	bool more = true;
	size_t single = 0;

	while (more) {
		more = false;
		single = 0;
		for (size_t m = 0; m < clause->member_count; m++) {
			if (!clause->members[m].single && has_fixed_key(clause, m))
				clause->members[m].single = more = true;
			single += clause->members[m].single;
		}
	}
	return single == clause->member_count;
}

bool group_from_keeps(const struct tokens *tokens, size_t from, const struct reach *view,
		      size_t table)
{
	CLEANUP(clause_clear)
	struct clause clause = {
		.tokens = tokens, .catalog = view->catalog, .view = view, .place = from};
	size_t found = 0;

	if (!read_clause(&clause))
		return false;
	for (size_t m = 0; m < clause.member_count; m++) {
		if (clause.members[m].table != table)
			continue;
		clause.members[m].single = true;
		found++;
	}
	return found == 1 && all_single(&clause);
}
