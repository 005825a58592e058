/*
 * Which rows count: those marked as deleted, those of a table that was built from another and not
 * since, amounts of several currencies. What the model says goes before what a column is called.
 */
#include <string.h>
#include <strings.h>

#include "agents/query/check/check_ask.h"
#include "agents/query/check/check_doubt.h"

/* ---- what the statement speaks of ---- */

static bool speaks_of(struct scan *scan, const struct sql_select *select,
		      const struct sql_expr *expr, const char *table, const char *column)
{
	struct base base;

	if (!expr || !check_step(scan->context))
		return false;
	if (expr->kind == SQL_EXPR_COLUMN)
		return check_same(expr->column.name, column) &&
		       (!check_base(scan->context, select, &expr->column, &base) ||
			check_same(base.table, table));
	for (size_t i = 0; i < expr->arg_count; i++) {
		if (speaks_of(scan, select, expr->args[i], table, column))
			return true;
	}
	return false;
}

static bool level_speaks_of(struct scan *scan, const struct sql_select *select, const char *table,
			    const char *column)
{
	bool found = speaks_of(scan, select, select->where, table, column) ||
		     speaks_of(scan, select, select->having, table, column);

	for (size_t i = 0; !found && i < select->join_count; i++)
		found = speaks_of(scan, select, select->joins[i].on, table, column);
	for (size_t i = 0; !found && i < select->output_count && select->arm_count == 0; i++)
		found = speaks_of(scan, select, select->outputs[i].expr, table, column);
	for (size_t i = 0; !found && i < select->group_count; i++)
		found = speaks_of(scan, select, select->groups[i].expr, table, column);
	return found;
}

static bool statement_speaks_of(struct scan *scan, const char *table, const char *column)
{
	for (size_t i = 0; i < scan->statement->select_count; i++) {
		if (level_speaks_of(scan, scan->statement->selects[i], table, column))
			return true;
	}
	return false;
}

/* ---- deleted rows ---- */

struct mark { /* how a column says that a row no longer counts */
	const char *word;
	bool flag;
	const char *repair; /* behind the column's name */
};

static const struct mark *mark_of(const char *column)
{
	static const struct mark marks[] = {
		{"deleted_at", false, " IS NULL"}, {"gone_at", false, " IS NULL"},
		{"removed_at", false, " IS NULL"}, {"archived_at", false, " IS NULL"},
		{"voided_at", false, " IS NULL"},  {"deleted_on", false, " IS NULL"},
		{"voided_on", false, " IS NULL"},  {"removed_on", false, " IS NULL"},
		{"is_deleted", true, " = 0"},	   {"deleted", true, " = 0"},
		{"is_void", true, " = 0"},	   {"voided", true, " = 0"},
		{"is_archived", true, " = 0"},	   {"archived", true, " = 0"},
		{"is_test", true, " = 0"},
	};

	for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
		if (check_same(column, marks[i].word))
			return &marks[i];
	}
	return NULL;
}

static void raise_deleted(struct scan *scan, const char *table, const char *column,
			  const struct mark *mark)
{
	struct doubt *doubt;

	if (statement_speaks_of(scan, table, column))
		return;
	doubt = doubt_add(scan->doubts, DOUBT_DELETED);
	doubt->table = mem_str(table);
	doubt->name = mem_str(column);
	doubt->value = mem_str(mark->repair);
	doubt->sql = ask_marked(table, column, mark->flag);
}

/* The model says which rows of the table count at all, and the statement does not look. */
static void flag_unfiltered(struct scan *scan, const char *table, const char *column,
			    const char *words)
{
	CLEANUP(mem_freep)
	char *repair = mem_format("test %s as the model does: %s", column, words ? words : column);

	if (!statement_speaks_of(scan, table, column))
		flag_add(scan->flags, "rows.unfiltered", "warning", repair,
			 "of %s only %s count, says the model; the statement does not look at %s",
			 table, words ? words : "some rows", column);
}

static void check_deleted(struct scan *scan, const char *table, const struct json *described)
{
	json_each(column, json_get(described, "columns"))
	{
		const char *name = json_get_str(column, "name");
		const struct mark *mark = name ? mark_of(name) : NULL;

		if (mark)
			raise_deleted(scan, table, name, mark);
	}
	json_each(column, json_get(described, "filter_columns"))
	{
		if (json_str(column) && !mark_of(json_str(column)))
			flag_unfiltered(scan, table, json_str(column),
					json_get_str(described, "filter_words"));
	}
}

/* ---- tables built from others ---- */

static bool is_build_time(const char *name)
{
	static const char *const words[] = {
		"built_at",    "refreshed_at", "computed_at", "loaded_at",    "generated_at",
		"snapshot_at", "as_of",	       "built_on",    "refreshed_on", "materialized_at"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (check_same(name, words[i]))
			return true;
	}
	return false;
}

static const char *build_time(const struct json *described)
{
	json_each(column, json_get(described, "columns"))
	{
		const char *name = json_get_str(column, "name");

		if (name && is_build_time(name))
			return name;
	}
	return NULL;
}

static bool has_column(const struct json *table, const char *name)
{
	json_each(column, json_get(table, "columns"))
	{
		if (check_same(json_get_str(column, "name"), name))
			return true;
	}
	return false;
}

/* "admitted", "ordered": what happened then, where it is kept as a text or a time. */
static bool is_happening(const struct json *column)
{
	static const char *const types[] = {"TEXT", "DATE", "DATETIME", "TIMESTAMP", "TIMESTAMPTZ"};
	const char *name = json_get_str(column, "name"), *type = json_get_str(column, "type");
	size_t len = name ? strlen(name) : 0;

	for (size_t i = 0; type && i < ARRAY_LEN(types); i++) {
		if (check_same(type, types[i]))
			return len > 4 && strcasecmp(name + len - 2, "ed") == 0 && !mark_of(name);
	}
	return false;
}

/* "at", "sold_on", "created_at", "order_date"; else what happened. */
static const char *own_time(const struct json *table)
{
	static const char *const words[] = {"at", "on", "date", "time", "day", "timestamp"};

	json_each(column, json_get(table, "columns"))
	{
		const char *name = json_get_str(column, "name");

		for (size_t i = 0; name && !mark_of(name) && i < ARRAY_LEN(words); i++) {
			if (check_has_word(name, words[i]) && !is_build_time(name))
				return name;
		}
	}
	json_each(column, json_get(table, "columns"))
	{
		if (is_happening(column))
			return json_get_str(column, "name");
	}
	return NULL;
}

/* Built from: a table with times of its own that has one of its measures too. */
const struct json *check_origin(const struct json *tables, const struct json *built)
{
	if (!build_time(built))
		return NULL;
	json_each(table, tables)
	{
		if (build_time(table) || !own_time(table))
			continue;
		json_each(column, json_get(built, "columns"))
		{
			const char *name = json_get_str(column, "name");
			bool key = false;

			json_each(part, json_get(built, "primary_key")) key =
				key || check_same(json_str(part), name);
			if (name && !key && !is_build_time(name) && has_column(table, name))
				return table;
		}
	}
	return NULL;
}

static void check_stale(struct scan *scan, const char *table, const struct json *described)
{
	const char *built = build_time(described);
	const struct json *origin;
	struct doubt *doubt;
	const char *other;

	if (!built || statement_speaks_of(scan, table, built))
		return;
	origin = check_origin(scan->context->input->tables, described);
	if (!origin) {
		flag_add(scan->flags, "table.stale", "note", "look at when it was built",
			 "%s is built from other tables at %s; what came later is not in it", table,
			 built);
		return;
	}
	other = json_get_str(origin, "table") ? json_get_str(origin, "table")
					      : json_get_str(origin, "name");
	doubt = doubt_add(scan->doubts, DOUBT_STALE);
	doubt->table = mem_str(table);
	doubt->name = mem_str(built);
	doubt->other = mem_str(other);
	doubt->sql = ask_built(table, built, other, own_time(origin));
}

/* ---- units ---- */

static const char *unit_column(const struct json *described)
{
	static const char *const words[] = {"currency", "currency_code", "unit_of_measure", "uom"};
	const char *modelled = json_get_str(described, "unit_column");

	if (modelled)
		return modelled;
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		if (has_column(described, words[i]))
			return words[i];
	}
	return NULL;
}

static bool adds_up(const struct sql_aggregate *aggregate)
{
	return aggregate->call == SQL_SUM || aggregate->call == SQL_TOTAL ||
	       aggregate->call == SQL_AVG;
}

/* Amounts of a table whose rows say of which currency they are. */
static void check_currency(struct scan *scan, const struct base *base)
{
	const char *unit = unit_column(base->described);
	struct doubt *doubt;

	if (!unit || check_same(unit, base->column) || statement_speaks_of(scan, base->table, unit))
		return;
	doubt = doubt_add(scan->doubts, DOUBT_UNITS);
	doubt->table = mem_str(base->table);
	doubt->name = mem_str(unit);
	doubt->sql = ask_kinds(base->table, unit);
}

static void check_units(struct scan *scan, const struct sql_select *select,
			const struct sql_aggregate *aggregate)
{
	const char *unit = NULL, *of = NULL;

	for (size_t i = 0; i < aggregate->term_count; i++) {
		const struct sql_columns *values = &aggregate->terms[i].values;
		const char *own;
		struct base base;

		/* a product has a unit of its own, which nobody declared */
		if (values->count != 1 ||
		    !check_base(scan->context, select, &values->items[0], &base))
			continue;
		check_currency(scan, &base);
		own = json_get_str(base.definition, "unit");
		if (own && unit && strcmp(own, unit) != 0)
			flag_add(scan->flags, "unit.mixed", "warning", "convert one of them first",
				 "%s is in %s and %s in %s: they are added up as if they were one",
				 of, unit, base.column, own);
		if (own && !unit) {
			unit = own;
			of = base.column;
		}
	}
}

/* ---- all ---- */

/* One row of a table that counts leads to one of these: it is looked up, not counted. */
static bool is_looked_up(struct scan *scan, const struct sql_select *select, size_t source)
{
	for (size_t i = 0; i < select->source_count; i++) {
		if (i != source && !check_is_optional(select, i) &&
		    (check_closure(scan->context, select, check_bit(i), false) >> source & 1))
			return true;
	}
	return false;
}

void check_rows(struct scan *scan)
{
	const struct sql_statement *statement = scan->statement;

	for (size_t i = 0; i < statement->select_count; i++) {
		const struct sql_select *select = statement->selects[i];

		for (size_t j = 0; j < select->source_count; j++) {
			const struct sql_source *source = &select->sources[j];
			const struct json *table =
				source->kind == SQL_TABLE
					? check_table(scan->context->input, source->table)
					: NULL;

			if (!table)
				continue;
			if (!is_looked_up(scan, select, j))
				check_deleted(scan, source->table, table);
			check_stale(scan, source->table, table);
		}
		for (size_t j = 0; j < select->aggregate_count; j++) {
			if (adds_up(&select->aggregates[j]))
				check_units(scan, select, &select->aggregates[j]);
		}
	}
}
