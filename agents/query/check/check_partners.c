/*
 * Rows without a partner: kept by an outer join and then dropped by WHERE after all, or lost by an
 * inner join because the reference is missing or leads nowhere.
 */
#include <string.h>

#include "agents/query/check/check_ask.h"
#include "agents/query/check/check_doubt.h"

/* ---- which made-up rows a condition drops ---- */

/* Sources of which a made-up row (all NULL) makes the expression NULL. */
static uint64_t strict(struct check_context *context, const struct sql_select *select,
		       const struct sql_expr *expr)
{
	static const char *const passing[] = {
		"abs",	 "round", "lower", "upper",	"trim",	    "length",	  "substr",
		"date",	 "time",  "ltrim", "rtrim",	"datetime", "julianday",  "strftime",
		"floor", "ceil",  "instr", "substring", "replace",  "date_trunc", NULL};
	uint64_t sources = 0;

	if (!expr || !check_step(context))
		return 0;
	if (expr->kind == SQL_EXPR_COLUMN) {
		struct place place = check_place(context, select, &expr->column, UINT64_MAX);

		return place.reach == REACH_SOURCE ? check_bit(place.source) : 0;
	}
	if (expr->kind != SQL_EXPR_OPERATOR && expr->kind != SQL_EXPR_CAST &&
	    !check_is_call(expr, passing))
		return 0;
	for (size_t i = 0; i < expr->arg_count; i++)
		sources |= strict(context, select, expr->args[i]);
	return sources;
}

static uint64_t strict_all(struct check_context *context, const struct sql_select *select,
			   const struct sql_expr *expr)
{
	uint64_t sources = 0;

	for (size_t i = 0; i < expr->arg_count; i++)
		sources |= strict(context, select, expr->args[i]);
	return sources;
}

uint64_t check_dropped(struct check_context *context, const struct sql_select *select,
		       const struct sql_expr *expr)
{
	uint64_t sources = 0;

	if (!expr || !check_step(context))
		return 0;
	switch (expr->kind) {
	case SQL_EXPR_AND:
		for (size_t i = 0; i < expr->arg_count; i++)
			sources |= check_dropped(context, select, expr->args[i]);
		return sources;
	case SQL_EXPR_OR:
		sources = UINT64_MAX;
		for (size_t i = 0; i < expr->arg_count; i++)
			sources &= check_dropped(context, select, expr->args[i]);
		return expr->arg_count ? sources : 0;
	case SQL_EXPR_COMPARE:
	case SQL_EXPR_LIKE:
	case SQL_EXPR_BETWEEN:
	case SQL_EXPR_COLUMN:
		return expr->kind == SQL_EXPR_COLUMN ? strict(context, select, expr)
						     : strict_all(context, select, expr);
	case SQL_EXPR_IN:
		return expr->arg_count ? strict(context, select, expr->args[0]) : 0;
	case SQL_EXPR_IS_NULL:
		return expr->negated ? strict_all(context, select, expr) : 0;
	case SQL_EXPR_SAME:
		return !expr->negated && expr->arg_count == 2 && check_is_constant(expr->args[1])
			       ? strict(context, select, expr->args[0])
			       : 0;
	case SQL_EXPR_NOT:
		return expr->arg_count && expr->args[0]->kind == SQL_EXPR_COMPARE
			       ? strict_all(context, select, expr->args[0])
			       : 0;
	default:
		return 0;
	}
}

/* Is the column missing only where the whole row is? A key, a declared NOT NULL, or joined by. */
static bool marks_row(struct check_context *context, const struct sql_select *select,
		      const struct sql_column *column, size_t source)
{
	struct base base;

	for (size_t i = 0; i < select->equality_count; i++) {
		const struct sql_equality *equality = &select->equalities[i];
		struct place place =
			check_place(context, select, &equality->left, equality->left_in);

		if (place.source == source && place.reach == REACH_SOURCE &&
		    check_same(equality->left.name, column->name))
			return true;
		place = check_place(context, select, &equality->right, equality->right_in);
		if (place.source == source && place.reach == REACH_SOURCE &&
		    check_same(equality->right.name, column->name))
			return true;
	}
	return check_base(context, select, column, &base) && base.definition &&
	       !check_nullable(&base);
}

/* WHERE ... IS NULL of the optional side asks for the rows that met nothing: an anti-join. */
bool check_asks_for_none(struct check_context *context, const struct sql_select *select,
			 const struct sql_expr *expr, size_t source)
{
	struct place place;

	if (!expr)
		return false;
	if (expr->kind == SQL_EXPR_AND) {
		for (size_t i = 0; i < expr->arg_count; i++) {
			if (check_asks_for_none(context, select, expr->args[i], source))
				return true;
		}
		return false;
	}
	if (expr->kind != SQL_EXPR_IS_NULL || expr->negated || expr->arg_count != 1 ||
	    expr->args[0]->kind != SQL_EXPR_COLUMN)
		return false;
	place = check_place(context, select, &expr->args[0]->column, UINT64_MAX);
	return place.reach == REACH_SOURCE && place.source == source &&
	       marks_row(context, select, &expr->args[0]->column, source);
}

/* Only values of the optional tables are aggregated, and nothing else is shown: the rows that are
 * dropped would have added nothing. */
static bool adds_nothing(struct check_context *context, const struct sql_select *select,
			 uint64_t optional)
{
	if (select->aggregate_count == 0 || select->group_count > 0)
		return false;
	for (size_t i = 0; i < select->aggregate_count; i++) {
		const struct sql_aggregate *aggregate = &select->aggregates[i];

		if (aggregate->star || aggregate->term_count == 0)
			return false;
		for (size_t j = 0; j < aggregate->term_count; j++) {
			const struct sql_columns *values = &aggregate->terms[j].values;

			for (size_t k = 0; k < values->count; k++) {
				struct place place =
					check_place(context, select, &values->items[k], UINT64_MAX);

				if (place.reach != REACH_SOURCE || !(optional >> place.source & 1))
					return false;
			}
		}
	}
	return true;
}

/* Sources that an outer join below made optional, before this join. */
static uint64_t optional_below(const struct sql_select *select, size_t join)
{
	uint64_t below = select->joins[join].left | select->joins[join].right, optional = 0;

	for (size_t i = 0; i < join; i++) {
		const struct sql_join *one = &select->joins[i];

		if ((one->left | one->right) & ~below)
			continue;
		if (one->kind == SQL_LEFT || one->kind == SQL_FULL)
			optional |= one->right;
		if (one->kind == SQL_RIGHT || one->kind == SQL_FULL)
			optional |= one->left;
	}
	return optional;
}

/* Does a condition that drops the source's made-up rows exclude something (<>, NOT)? */
static bool excludes(struct check_context *context, const struct sql_select *select,
		     const struct sql_expr *expr, uint64_t source)
{
	if (!expr || !(check_dropped(context, select, expr) & source))
		return false;
	if (expr->negated || expr->kind == SQL_EXPR_NOT ||
	    (expr->kind == SQL_EXPR_COMPARE && strcmp(expr->name, "<>") == 0))
		return true;
	for (size_t i = 0; i < expr->arg_count; i++) {
		if (excludes(context, select, expr->args[i], source))
			return true;
	}
	return false;
}

/* A table that is looked up, one row at most for each of the kept rows, and asked for one value: an
 * inner join says the same. What excludes a value is meant to keep rows without any. */
static bool is_lookup(struct check_context *context, const struct sql_select *select, size_t source)
{
	uint64_t kept = 0;

	for (size_t i = 0; i < select->join_count; i++) {
		const struct sql_join *join = &select->joins[i];

		if (join->kind == SQL_LEFT && (join->right >> source & 1))
			kept |= join->left;
		if (join->kind == SQL_RIGHT && (join->left >> source & 1))
			kept |= join->right;
	}
	return kept && (check_closure(context, select, kept, false) >> source & 1) &&
	       !excludes(context, select, select->where, check_bit(source));
}

static void flag_cancelled(struct scan *scan, const struct sql_select *select, uint64_t sources,
			   uint64_t optional, const char *where)
{
	size_t first = (size_t)__builtin_ctzll(sources);
	const char *name = check_source_name(scan->context->input, &select->sources[first]);
	bool harmless = adds_nothing(scan->context, select, optional) ||
			is_lookup(scan->context, select, first);

	flag_add(scan->flags, "join.outer_cancelled", harmless ? "note" : "warning",
		 "move the test into ON, or write an inner join",
		 "the outer join keeps rows without %s, and the test of %s in %s drops them again",
		 name, name, where);
}

static void check_cancelled(struct scan *scan, const struct sql_select *select)
{
	uint64_t optional = 0, gone;

	for (size_t i = 0; i < select->source_count; i++)
		optional |= check_is_optional(select, i) ? check_bit(i) : 0;
	gone = check_dropped(scan->context, select, select->where) & optional;
	if (gone) {
		flag_cancelled(scan, select, gone, optional, "WHERE");
		return;
	}
	for (size_t i = 0; i < select->join_count; i++) {
		if (select->joins[i].kind != SQL_INNER)
			continue;
		gone = check_dropped(scan->context, select, select->joins[i].on) &
		       optional_below(select, i);
		if (gone) {
			flag_cancelled(scan, select, gone, optional, "a later inner join");
			return;
		}
	}
}

/* ---- rows lost by an inner join ---- */

/* Is the source the parent of the equality: does its column alone make a key? */
static bool is_parent(struct scan *scan, const struct sql_select *select, size_t source,
		      const char *column)
{
	struct check_keys keys;
	bool found = false;

	check_keys_of(scan->context, &select->sources[source], &keys);
	for (size_t i = 0; i < keys.count; i++)
		found = found ||
			(keys.items[i].count == 1 && check_same(keys.items[i].columns[0], column));
	check_keys_clear(&keys);
	return found;
}

/* Does a condition of WHERE, or of a join, besides the join itself ask for the source? */
static bool is_asked_for(struct check_context *context, const struct sql_select *select,
			 const struct sql_expr *expr, uint64_t source)
{
	if (!expr)
		return false;
	if (expr->kind == SQL_EXPR_AND) {
		for (size_t i = 0; i < expr->arg_count; i++) {
			if (is_asked_for(context, select, expr->args[i], source))
				return true;
		}
		return false;
	}
	/* an equality of two columns is the join */
	if (expr->kind == SQL_EXPR_COMPARE && expr->arg_count == 2 &&
	    expr->args[0]->kind == SQL_EXPR_COLUMN && expr->args[1]->kind == SQL_EXPR_COLUMN)
		return false;
	return check_dropped(context, select, expr) & source;
}

/* Of the source, or of a table that its row leads to. */
static bool any_asked_for(struct check_context *context, const struct sql_select *select,
			  size_t source)
{
	uint64_t bit = check_closure(context, select, check_bit(source), false);

	if (is_asked_for(context, select, select->where, bit))
		return true;
	for (size_t i = 0; i < select->join_count; i++) {
		if (is_asked_for(context, select, select->joins[i].on, bit))
			return true;
	}
	return false;
}

static bool reads_source(struct check_context *context, const struct sql_select *select,
			 const struct sql_columns *columns, size_t source)
{
	for (size_t i = 0; i < columns->count; i++) {
		struct place place = check_place(context, select, &columns->items[i], UINT64_MAX);

		if (place.reach == REACH_SOURCE && place.source == source)
			return true;
	}
	return false;
}

static bool is_shown(struct check_context *context, const struct sql_select *select, size_t source)
{
	for (size_t i = 0; i < select->output_count; i++) {
		if (select->outputs[i].star ||
		    reads_source(context, select, &select->outputs[i].columns, source))
			return true;
	}
	return false;
}

static bool is_inner(const struct sql_select *select, int join)
{
	return join == SQL_IN_WHERE || select->joins[join].kind == SQL_INNER;
}

/* A list shows what it has; only numbers hide what they lack. */
static bool aggregates(const struct sql_statement *statement)
{
	for (size_t i = 0; i < statement->select_count; i++) {
		if (statement->selects[i]->aggregate_count > 0)
			return true;
	}
	return false;
}

static void raise_lost(struct scan *scan, const struct sql_select *select, size_t child,
		       const struct sql_column *reference, size_t parent, const char *key)
{
	struct base base;
	struct doubt *doubt;

	if (select->sources[child].kind != SQL_TABLE || select->sources[parent].kind != SQL_TABLE ||
	    check_same(select->sources[child].table, select->sources[parent].table) ||
	    check_is_optional(select, child) || check_is_optional(select, parent) ||
	    any_asked_for(scan->context, select, parent) ||
	    !check_base(scan->context, select, reference, &base) || !base.definition)
		return;
	doubt = doubt_add(scan->doubts, DOUBT_LOST);
	doubt->table = mem_str(base.table);
	doubt->name = mem_str(base.column);
	doubt->other = mem_str(check_source_name(scan->context->input, &select->sources[parent]));
	doubt->mild = is_shown(scan->context, select, parent);
	doubt->sql = ask_lost(base.table, base.column, select->sources[parent].table, key);
}

static void check_lost(struct scan *scan, const struct sql_select *select)
{
	for (size_t i = 0; i < select->equality_count; i++) {
		const struct sql_equality *equality = &select->equalities[i];
		struct place left, right;

		if (equality->constant || equality->from.count > 0 ||
		    !is_inner(select, equality->join))
			continue;
		left = check_place(scan->context, select, &equality->left, equality->left_in);
		right = check_place(scan->context, select, &equality->right, equality->right_in);
		if (left.reach != REACH_SOURCE || right.reach != REACH_SOURCE ||
		    left.source == right.source)
			continue;
		if (is_parent(scan, select, right.source, equality->right.name))
			raise_lost(scan, select, left.source,
				   &(struct sql_column){select->sources[left.source].alias,
							equality->left.name},
				   right.source, equality->right.name);
		else if (is_parent(scan, select, left.source, equality->left.name))
			raise_lost(scan, select, right.source,
				   &(struct sql_column){select->sources[right.source].alias,
							equality->right.name},
				   left.source, equality->left.name);
	}
}

void check_partners(struct scan *scan)
{
	bool counts = aggregates(scan->statement);

	for (size_t i = 0; i < scan->statement->select_count; i++) {
		const struct sql_select *select = scan->statement->selects[i];

		if (select->source_count < 2)
			continue;
		check_cancelled(scan, select);
		if (counts)
			check_lost(scan, select);
	}
}
