/*
 * Names that no table of the statement has. Databases refuse them, but for SQLite where it reads
 * "weight" in double quotes as the text 'weight' and adds up zeros. Silent unless every table that
 * could have the name is described in full.
 */
#include <string.h>

#include "agents/query/check/check_internal.h"
#include "base/nearest.h"

#define CANDIDATES_MAX 256

/* A name given to an output; one that only shows the column itself gives none. */
static bool is_output(const struct sql_select *select, const char *name)
{
	for (size_t i = 0; i < select->output_count; i++) {
		const struct sql_output *output = &select->outputs[i];

		if (check_same(output->name, name) &&
		    !(output->plain && check_same(output->columns.items[0].name, name)))
			return true;
	}
	return false;
}

/* May a table of this level, or of those around it, have it? */
static bool may_have(struct check_context *context, const struct sql_select *select,
		     const struct sql_column *column)
{
	for (const struct sql_select *level = select; level; level = level->parent) {
		if (is_output(level, column->name) && !column->table)
			return true;
		for (size_t i = 0; i < level->source_count; i++) {
			if (column->table && !check_same(column->table, level->sources[i].alias))
				continue;
			if (check_has_column(context, &level->sources[i], column->name) != 0)
				return true;
		}
	}
	return false;
}

static bool names_source(const struct sql_select *select, const char *table)
{
	for (const struct sql_select *level = select; level; level = level->parent) {
		for (size_t i = 0; i < level->source_count; i++) {
			if (check_same(table, level->sources[i].alias))
				return true;
		}
	}
	return false;
}

static const char *nearest_column(struct check_context *context, const struct sql_select *select,
				  const char *name)
{
	const char *names[CANDIDATES_MAX];
	size_t count = 0;

	for (size_t i = 0; i < select->source_count; i++) {
		const struct sql_source *source = &select->sources[i];
		const struct json *table = source->kind == SQL_TABLE
						   ? check_table(context->input, source->table)
						   : NULL;

		json_each(column, json_get(table, "columns"))
		{
			if (json_get_str(column, "name") && count < CANDIDATES_MAX)
				names[count++] = json_get_str(column, "name");
		}
	}
	return nearest_word(name, names, count);
}

static void flag_unknown(struct scan *scan, const struct sql_select *select,
			 const struct sql_column *column)
{
	const char *near = nearest_column(scan->context, select, column->name);
	CLEANUP(mem_freep) char *repair = near ? mem_format("did you mean %s?", near) : NULL;

	flag_add(scan->flags, "name.unknown", "error",
		 repair ? repair : "look at the columns of the tables",
		 "no table of the statement has a column %s%s%s",
		 column->table ? column->table : "", column->table ? "." : "", column->name);
}

static void check_expr(struct scan *scan, const struct sql_select *select,
		       const struct sql_expr *expr)
{
	if (!expr || !check_step(scan->context))
		return;
	if (expr->kind == SQL_EXPR_COLUMN && expr->column.name &&
	    (!expr->column.table || names_source(select, expr->column.table)) &&
	    !may_have(scan->context, select, &expr->column))
		flag_unknown(scan, select, &expr->column);
	for (size_t i = 0; i < expr->arg_count; i++)
		check_expr(scan, select, expr->args[i]);
}

void check_unknown(struct scan *scan)
{
	for (size_t i = 0; i < scan->statement->select_count; i++) {
		const struct sql_select *select = scan->statement->selects[i];

		if (select->source_count == 0 || select->arm_count > 0)
			continue;
		check_expr(scan, select, select->where);
		check_expr(scan, select, select->having);
		for (size_t j = 0; j < select->output_count; j++)
			check_expr(scan, select, select->outputs[j].expr);
		for (size_t j = 0; j < select->join_count; j++)
			check_expr(scan, select, select->joins[j].on);
		for (size_t j = 0; j < select->group_count; j++)
			check_expr(scan, select, select->groups[j].expr);
	}
}
