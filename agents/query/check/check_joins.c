/*
 * Joins: two roles of one table made one, tables that no condition joins, columns of different
 * types or of no key, rows without a partner that an inner join loses.
 */
#include <string.h>
#include <strings.h>

#include "agents/query/check/check_ask.h"
#include "agents/query/check/check_doubt.h"

#define PAIR_COLUMNS_MAX 8 /* equalities between two tables */

struct level {
	struct scan *scan;
	const struct sql_select *select;
};

static struct place place_of(const struct level *level, const struct sql_column *column,
			     uint64_t within)
{
	return check_place(level->scan->context, level->select, column, within);
}

static const char *name_of(const struct level *level, size_t source)
{
	return check_source_name(level->scan->context->input, &level->select->sources[source]);
}

/* ---- equalities as pairs of places ---- */

struct pair {
	size_t left;
	size_t right;
	const char *left_name;
	const char *right_name;
	int join;
};

static bool read_pair(const struct level *level, const struct sql_equality *equality,
		      struct pair *ret_pair)
{
	struct place left, right;

	if (equality->constant || equality->from.count > 0)
		return false;
	left = place_of(level, &equality->left, equality->left_in);
	right = place_of(level, &equality->right, equality->right_in);
	if (left.reach != REACH_SOURCE || right.reach != REACH_SOURCE ||
	    left.source == right.source)
		return false;
	*ret_pair = (struct pair){left.source, right.source, equality->left.name,
				  equality->right.name, equality->join};
	return true;
}

/* ---- two roles in one ---- */

static bool is_key(const struct level *level, size_t source, const char *column)
{
	struct check_keys keys;
	bool found = false;

	check_keys_of(level->scan->context, &level->select->sources[source], &keys);
	for (size_t i = 0; i < keys.count; i++)
		found = found ||
			(keys.items[i].count == 1 && check_same(keys.items[i].columns[0], column));
	check_keys_clear(&keys);
	return found;
}

static void flag_roles(const struct level *level, size_t one, size_t other, const char *a,
		       const char *b)
{
	const char *table = name_of(level, one);
	CLEANUP(mem_freep)
	char *repair = mem_format("join %s twice, once for %s and once for %s", table, a, b);

	flag_add(level->scan->flags, "join.two_roles", "warning", repair,
		 "%s.%s and %s.%s both lead to %s and share one join: the two roles are made one",
		 name_of(level, other), a, name_of(level, other), b, table);
}

/* p.id = h.port_out AND p.id = h.port_back */
static void check_roles_and(const struct level *level)
{
	const struct sql_select *select = level->select;
	struct pair a, b;

	for (size_t i = 0; i < select->equality_count; i++) {
		if (!read_pair(level, &select->equalities[i], &a))
			continue;
		for (size_t j = i + 1; j < select->equality_count; j++) {
			if (!read_pair(level, &select->equalities[j], &b))
				continue;
			if (a.left == b.right && a.right == b.left)
				b = (struct pair){b.right, b.left, b.right_name, b.left_name,
						  b.join};
			if (a.left != b.left || a.right != b.right)
				continue;
			if (check_same(a.left_name, b.left_name) &&
			    !check_same(a.right_name, b.right_name) &&
			    is_key(level, a.left, a.left_name))
				flag_roles(level, a.left, a.right, a.right_name, b.right_name);
			else if (check_same(a.right_name, b.right_name) &&
				 !check_same(a.left_name, b.left_name) &&
				 is_key(level, a.right, a.right_name))
				flag_roles(level, a.right, a.left, a.left_name, b.left_name);
		}
	}
}

/* The key on one side, two columns of one other table as choices. */
static void check_choices(const struct level *level, const struct sql_expr *key,
			  const struct sql_expr *a, const struct sql_expr *b)
{
	struct place at, first, second;

	if (key->kind != SQL_EXPR_COLUMN || a->kind != SQL_EXPR_COLUMN ||
	    b->kind != SQL_EXPR_COLUMN)
		return;
	at = place_of(level, &key->column, UINT64_MAX);
	first = place_of(level, &a->column, UINT64_MAX);
	second = place_of(level, &b->column, UINT64_MAX);
	if (at.reach == REACH_SOURCE && first.reach == REACH_SOURCE &&
	    second.reach == REACH_SOURCE && first.source == second.source &&
	    first.source != at.source && !check_same(a->column.name, b->column.name) &&
	    is_key(level, at.source, key->column.name))
		flag_roles(level, at.source, first.source, a->column.name, b->column.name);
}

static bool is_equality(const struct sql_expr *expr)
{
	return expr->kind == SQL_EXPR_COMPARE && expr->arg_count == 2 &&
	       strcmp(expr->name, "=") == 0;
}

/* p.id IN (h.port_out, h.port_back); p.id = h.port_out OR p.id = h.port_back */
static void check_roles_or(const struct level *level, const struct sql_expr *expr)
{
	if (!expr || !check_step(level->scan->context))
		return;
	if (expr->kind == SQL_EXPR_IN && expr->arg_count == 3 && !expr->query && !expr->negated)
		check_choices(level, expr->args[0], expr->args[1], expr->args[2]);
	if (expr->kind == SQL_EXPR_OR && expr->arg_count == 2 && is_equality(expr->args[0]) &&
	    is_equality(expr->args[1])) {
		for (size_t i = 0; i < 2; i++) {
			for (size_t j = 0; j < 2; j++) {
				const struct sql_expr *key = expr->args[0]->args[i];

				if (check_same_expr(key, expr->args[1]->args[j]))
					check_choices(level, key, expr->args[0]->args[1 - i],
						      expr->args[1]->args[1 - j]);
			}
		}
	}
	for (size_t i = 0; expr->kind == SQL_EXPR_AND && i < expr->arg_count; i++)
		check_roles_or(level, expr->args[i]);
}

/* ---- tables that nothing joins ---- */

static uint64_t sources_in(const struct level *level, const struct sql_expr *expr)
{
	uint64_t sources = 0;
	struct place place;

	if (!expr)
		return 0;
	if (expr->query)
		return UINT64_MAX; /* it may join through what it reads outside */
	if (expr->kind == SQL_EXPR_COLUMN) {
		place = place_of(level, &expr->column, UINT64_MAX);
		return place.reach == REACH_SOURCE    ? check_bit(place.source)
		       : place.reach == REACH_UNKNOWN ? UINT64_MAX
						      : 0;
	}
	for (size_t i = 0; i < expr->arg_count; i++)
		sources |= sources_in(level, expr->args[i]);
	return sources;
}

/* Each condition under AND joins the tables it names. */
static void spread(const struct level *level, const struct sql_expr *expr, uint64_t *reached)
{
	uint64_t sources;

	if (!expr)
		return;
	if (expr->kind == SQL_EXPR_AND) {
		for (size_t i = 0; i < expr->arg_count; i++)
			spread(level, expr->args[i], reached);
		return;
	}
	sources = sources_in(level, expr);
	if (sources & *reached)
		*reached |= sources;
}

static bool is_one_row(const struct level *level, size_t source)
{
	struct check_keys keys;
	bool one = false;

	check_keys_of(level->scan->context, &level->select->sources[source], &keys);
	for (size_t i = 0; i < keys.count; i++)
		one = one || keys.items[i].count == 0;
	check_keys_clear(&keys);
	return one || (check_closure(level->scan->context, level->select, 0, false) >> source & 1);
}

static bool says_cross(const struct sql_tokens *tokens)
{
	for (size_t i = 0; i < tokens->count; i++) {
		if (sql_token_is(tokens, i, "CROSS"))
			return true;
	}
	return false;
}

static uint64_t joined_with(const struct level *level, uint64_t start)
{
	const struct sql_select *select = level->select;
	uint64_t reached = start, before;

	do {
		before = reached;
		spread(level, select->where, &reached);
		for (size_t i = 0; i < select->join_count; i++) {
			const struct sql_join *join = &select->joins[i];

			spread(level, join->on, &reached);
			/* USING, NATURAL, and what an outer join keeps on purpose */
			if (!join->on && join->kind != SQL_INNER &&
			    (reached & (join->left | join->right)))
				reached |= join->left | join->right;
			if (join->natural && (reached & (join->left | join->right)))
				reached |= join->left | join->right;
		}
		for (size_t i = 0; i < select->equality_count; i++) {
			struct pair pair;

			if (!read_pair(level, &select->equalities[i], &pair))
				continue;
			if (reached & (check_bit(pair.left) | check_bit(pair.right)))
				reached |= check_bit(pair.left) | check_bit(pair.right);
		}
	} while (reached != before);
	return reached;
}

static void check_cross(const struct level *level)
{
	const struct sql_select *select = level->select;
	uint64_t reached;
	size_t first = 0;

	if (select->source_count < 2 || says_cross(&level->scan->statement->tokens))
		return;
	while (first < select->source_count && is_one_row(level, first))
		first++;
	if (first == select->source_count)
		return;
	reached = joined_with(level, check_bit(first));
	for (size_t i = first + 1; i < select->source_count; i++) {
		if ((reached >> i & 1) || is_one_row(level, i) ||
		    select->sources[i].kind == SQL_OPAQUE)
			continue;
		flag_add(level->scan->flags, "join.no_condition", "warning",
			 "join them by a key, or write CROSS JOIN if every pair is meant",
			 "nothing joins %s and %s: each row of one meets every row of the other",
			 name_of(level, first), name_of(level, i));
		return;
	}
}

/* ---- types and keys of what is joined ---- */

static const char *kind_word(enum value_type type)
{
	return type == VALUE_TEXT ? "texts" : "numbers";
}

static void check_pair_types(const struct level *level, const struct sql_equality *equality)
{
	struct check_context *context = level->scan->context;
	struct base left, right;
	enum value_type a, b;

	if (equality->constant || equality->from.count > 0 ||
	    !check_base(context, level->select, &equality->left, &left) ||
	    !check_base(context, level->select, &equality->right, &right))
		return;
	a = check_declared_type(context, &left);
	b = check_declared_type(context, &right);
	if ((a == VALUE_TEXT && (b == VALUE_INTEGER || b == VALUE_REAL)) ||
	    (b == VALUE_TEXT && (a == VALUE_INTEGER || a == VALUE_REAL)))
		flag_add(level->scan->flags, "join.types", "warning", "join on columns of one type",
			 "%s.%s holds %s and is joined with %s.%s, which holds %s: '007' and 7 are "
			 "not one thing",
			 left.table, left.column, kind_word(a), right.table, right.column,
			 kind_word(b));
}

struct pairing { /* all equalities between two sources */
	const char *left[PAIR_COLUMNS_MAX];
	const char *right[PAIR_COLUMNS_MAX];
	size_t count;
};

static void collect_pairing(const struct level *level, size_t left, size_t right,
			    struct pairing *ret_pairing)
{
	const struct sql_select *select = level->select;
	struct pair pair;

	*ret_pairing = (struct pairing){0};
	for (size_t i = 0; i < select->equality_count; i++) {
		if (!read_pair(level, &select->equalities[i], &pair))
			continue;
		if (pair.left == right && pair.right == left)
			pair = (struct pair){left, right, pair.right_name, pair.left_name,
					     pair.join};
		if (pair.left != left || pair.right != right ||
		    ret_pairing->count == PAIR_COLUMNS_MAX)
			continue;
		ret_pairing->left[ret_pairing->count] = pair.left_name;
		ret_pairing->right[ret_pairing->count++] = pair.right_name;
	}
}

/* 1: the columns, with what is fixed besides, hold a key; 0: they do not; -1: no key is known */
static int holds_key(const struct level *level, size_t source, const char *const *columns,
		     size_t count)
{
	struct check_keys keys;
	int result = -1;

	check_keys_of(level->scan->context, &level->select->sources[source], &keys);
	for (size_t i = 0; i < keys.count && result != 1; i++) {
		size_t met = 0;

		for (size_t k = 0; k < keys.items[i].count; k++) {
			struct sql_column column = {level->select->sources[source].alias,
						    keys.items[i].columns[k]};
			bool found = false;

			for (size_t c = 0; c < count; c++)
				found = found || check_same(columns[c], column.name);
			met += found || check_column_fixed(level->scan->context, level->select,
							   false, &column);
		}
		result = met == keys.items[i].count;
	}
	check_keys_clear(&keys);
	return result;
}

static void add_paired(const struct level *level, size_t left, size_t right,
		       const struct pairing *pairing)
{
	const struct sql_source *a = &level->select->sources[left];
	const struct sql_source *b = &level->select->sources[right];
	struct doubt *doubt;
	char *first, *second;

	if (a->kind != SQL_TABLE || b->kind != SQL_TABLE || check_same(a->table, b->table))
		return; /* a table joined with itself compares its own rows */
	first = ask_repeated(a->table, pairing->left, pairing->count);
	second = ask_repeated(b->table, pairing->right, pairing->count);
	doubt = doubt_add(level->scan->doubts, DOUBT_PAIRED);
	doubt->table = mem_str(name_of(level, left));
	doubt->other = mem_str(name_of(level, right));
	doubt->name = mem_str(pairing->left[0]);
	doubt->sql = mem_format("SELECT (%s) || '|' || (%s)", first, second);
	mem_free(first);
	mem_free(second);
}

static void check_pairings(const struct level *level)
{
	const struct sql_select *select = level->select;
	struct pairing pairing;

	for (size_t i = 0; i < select->source_count; i++) {
		for (size_t j = i + 1; j < select->source_count; j++) {
			collect_pairing(level, i, j, &pairing);
			if (pairing.count > 0 &&
			    holds_key(level, i, pairing.left, pairing.count) == 0 &&
			    holds_key(level, j, pairing.right, pairing.count) == 0)
				add_paired(level, i, j, &pairing);
		}
	}
}

/* ---- all of a level ---- */

static void check_level(const struct level *level)
{
	const struct sql_select *select = level->select;

	check_roles_and(level);
	check_roles_or(level, select->where);
	for (size_t i = 0; i < select->join_count; i++)
		check_roles_or(level, select->joins[i].on);
	check_cross(level);
	check_pairings(level);
}

void check_joins(struct scan *scan)
{
	for (size_t i = 0; i < scan->statement->select_count; i++) {
		struct level level = {scan, scan->statement->selects[i]};

		for (size_t j = 0; j < level.select->equality_count; j++)
			check_pair_types(&level, &level.select->equalities[j]);
		if (level.select->source_count > 1)
			check_level(&level);
	}
}
