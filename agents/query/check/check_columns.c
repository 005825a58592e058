/*
 * What is known of values: which table's column an expression shows, through the queries that pass
 * it on, its type and whether it may be missing. "Not known" is an answer like any other; checks
 * stay silent on it.
 */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "agents/query/check/check_internal.h"

bool check_postgres(const struct check_context *context)
{
	const char *dialect = context->input->dialect;

	return dialect && strcmp(dialect, "postgres") == 0;
}

uint64_t check_bit(size_t source)
{
	return 1ull << source;
}

/* ---- lineage ---- */

static const struct json *column_of(const struct json *table, const char *name)
{
	json_each(column, json_get(table, "columns"))
	{
		if (check_same(json_get_str(column, "name"), name))
			return column;
	}
	return NULL;
}

static bool base_in_table(struct check_context *context, const struct sql_source *source,
			  const char *name, struct base *ret_base)
{
	const struct json *table = check_table(context->input, source->table);
	const struct json *column = column_of(table, name);
	const char *spelled = json_get_str(column, "name");

	*ret_base = (struct base){
		.table = check_source_name(context->input, source),
		.column = spelled ? spelled : name,
		.described = table,
		.definition = column,
	};
	return true;
}

static const struct sql_select *first_arm(const struct sql_select *query)
{
	while (query->arm_count > 0)
		query = query->arms[0];
	return query;
}

static const struct sql_output *named_output(const struct sql_select *query, const char *name)
{
	for (size_t i = 0; i < query->output_count; i++) {
		if (!query->outputs[i].star && check_same(query->outputs[i].name, name))
			return &query->outputs[i];
	}
	return NULL;
}

/* Passed on by t.* or *. */
static bool starred(struct check_context *context, const struct sql_select *query, const char *name,
		    struct sql_column *ret_column)
{
	for (size_t i = 0; i < query->output_count; i++) {
		const struct sql_output *output = &query->outputs[i];
		const char *table = output->star ? output->columns.items[0].table : NULL;

		for (size_t j = 0; output->star && j < query->source_count; j++) {
			if (table && !check_same(table, query->sources[j].alias))
				continue;
			if (check_has_column(context, &query->sources[j], name) != 1)
				continue;
			*ret_column = (struct sql_column){query->sources[j].alias, name};
			return true;
		}
	}
	return false;
}

bool check_base(struct check_context *context, const struct sql_select *select,
		const struct sql_column *column, struct base *ret_base)
{
	struct place place = check_place(context, select, column, UINT64_MAX);
	const struct sql_source *source;
	const struct sql_select *query;
	const struct sql_output *output;
	struct sql_column inner;

	if (place.reach == REACH_UNKNOWN || !check_step(context))
		return false;
	source = &place.level->sources[place.source];
	if (source->kind == SQL_TABLE)
		return base_in_table(context, source, column->name, ret_base);
	if (source->kind != SQL_QUERY)
		return false;
	query = first_arm(source->query);
	output = named_output(query, column->name);
	if (output && output->expr && output->expr->kind == SQL_EXPR_COLUMN)
		inner = output->expr->column;
	else if (output || !starred(context, query, column->name, &inner))
		return false;
	if (!check_base(context, query, &inner, ret_base))
		return false;
	ret_base->passed = true;
	return true;
}

bool check_base_of(struct check_context *context, const struct sql_select *select,
		   const struct sql_expr *expr, struct base *ret_base)
{
	return expr && expr->kind == SQL_EXPR_COLUMN &&
	       check_base(context, select, &expr->column, ret_base);
}

bool check_same_base(const struct base *a, const struct base *b)
{
	return check_same(a->table, b->table) && check_same(a->column, b->column);
}

const struct sql_output *check_output_of(struct check_context *context,
					 const struct sql_select *select,
					 const struct sql_column *column,
					 const struct sql_select **ret_level)
{
	struct place place = check_place(context, select, column, UINT64_MAX);
	const struct sql_source *source;
	const struct sql_output *output;
	struct sql_column inner;

	if (place.reach == REACH_UNKNOWN || !check_step(context))
		return NULL;
	source = &place.level->sources[place.source];
	if (source->kind != SQL_QUERY)
		return NULL;
	*ret_level = first_arm(source->query);
	output = named_output(*ret_level, column->name);
	if (output && output->expr && output->expr->kind == SQL_EXPR_COLUMN) {
		const struct sql_select *outer = *ret_level;
		const struct sql_output *deeper =
			check_output_of(context, outer, &output->expr->column, ret_level);

		if (deeper)
			return deeper;
		*ret_level = outer;
	}
	if (!output && starred(context, *ret_level, column->name, &inner))
		return check_output_of(context, *ret_level, &inner, ret_level);
	return output;
}

bool check_nullable(const struct base *base)
{
	const char *key = json_get_str(base->definition, "key");

	if (!base->definition || json_get_bool(base->definition, "not_null", false))
		return false;
	json_each(name, json_get(base->described, "primary_key"))
	{
		if (check_same(json_str(name), base->column))
			return false;
	}
	return !key || strcmp(key, "primary") != 0;
}

/* ---- types ---- */

static bool holds(const char *text, const char *const *parts)
{
	for (; *parts; parts++) {
		if (strcasestr(text, *parts))
			return true;
	}
	return false;
}

/* By the affinity rules of https://www.sqlite.org/datatype3.html, and PostgreSQL's names. */
static enum value_type type_named(const char *type)
{
	static const char *const times[] = {"date", "time", NULL};
	static const char *const integers[] = {"int", "serial", NULL};
	static const char *const texts[] = {"char", "clob", "text", "uuid", "string", NULL};
	static const char *const reals[] = {"real", "floa", "doub", NULL};
	static const char *const bools[] = {"bool", NULL};

	if (!type || !*type || strcasestr(type, "interval") || strcasestr(type, "point"))
		return VALUE_UNKNOWN;
	if (holds(type, times))
		return VALUE_TIME;
	if (holds(type, bools))
		return VALUE_BOOL;
	if (holds(type, integers))
		return VALUE_INTEGER;
	if (holds(type, texts))
		return VALUE_TEXT;
	if (holds(type, reals))
		return VALUE_REAL;
	return VALUE_UNKNOWN;
}

static bool is_numeric_name(const char *type)
{
	static const char *const names[] = {"numeric", "decimal", "number", NULL};

	return type && holds(type, names);
}

enum value_type check_declared_type(const struct check_context *context, const struct base *base)
{
	const char *type = json_get_str(base->definition, "type");

	if (is_numeric_name(type)) /* SQLite keeps whole numbers whole in such a column */
		return check_postgres(context) ? VALUE_REAL : VALUE_UNKNOWN;
	return type_named(type);
}

static enum value_type type_of_column(struct check_context *context,
				      const struct sql_select *select, const struct sql_expr *expr)
{
	const struct sql_select *level = NULL;
	const struct sql_output *output;
	struct base base;

	if (check_base(context, select, &expr->column, &base))
		return check_declared_type(context, &base);
	output = check_output_of(context, select, &expr->column, &level);
	return output && output->expr ? check_type(context, level, output->expr) : VALUE_UNKNOWN;
}

/* Both whole: whole. One real: real. */
static enum value_type join_types(enum value_type a, enum value_type b)
{
	if (a == VALUE_REAL || b == VALUE_REAL)
		return VALUE_REAL;
	return a == b ? a : VALUE_UNKNOWN;
}

static enum value_type type_of_operator(struct check_context *context,
					const struct sql_select *select,
					const struct sql_expr *expr)
{
	enum value_type left, right;

	if (strcmp(expr->name, "||") == 0 || strcmp(expr->name, "->>") == 0)
		return VALUE_TEXT;
	if (expr->arg_count == 0)
		return VALUE_UNKNOWN;
	left = check_type(context, select, expr->args[0]);
	if (expr->arg_count == 1)
		return left;
	right = check_type(context, select, expr->args[1]);
	if (left == VALUE_BOOL)
		left = VALUE_INTEGER;
	if (right == VALUE_BOOL)
		right = VALUE_INTEGER;
	left = join_types(left, right);
	return left == VALUE_INTEGER || left == VALUE_REAL ? left : VALUE_UNKNOWN;
}

static enum value_type type_of_call(struct check_context *context, const struct sql_select *select,
				    const struct sql_expr *expr)
{
	static const char *const integers[] = {"count",	      "length",	  "instr", "unixepoch",
					       "row_number",  "rank",	  "ntile", "dense_rank",
					       "char_length", "position", NULL};
	static const char *const reals[] = {"avg",	 "total", "julianday",	  "sqrt",
					    "pow",	 "power", "percent_rank", "extract",
					    "date_part", "exp",	  "ln",		  NULL};
	static const char *const texts[] = {"strftime",	    "date",   "datetime",   "time",
					    "substr",	    "lower",  "upper",	    "substring",
					    "trim",	    "hex",    "replace",    "to_char",
					    "group_concat", "concat", "string_agg", NULL};
	static const char *const same[] = {"sum", "min",  "max",	 "abs",	       "nullif",
					   "lag", "lead", "first_value", "last_value", NULL};
	enum value_type type;

	if (check_is_call(expr, integers))
		return VALUE_INTEGER;
	if (check_is_call(expr, reals))
		return VALUE_REAL;
	if (check_is_call(expr, texts))
		return VALUE_TEXT;
	if (strcmp(expr->name, "round") == 0)
		return check_postgres(context) ? VALUE_UNKNOWN : VALUE_REAL;
	if (!check_is_call(expr, same) || expr->arg_count == 0)
		return VALUE_UNKNOWN;
	type = check_type(context, select, expr->args[0]);
	return type == VALUE_BOOL ? VALUE_INTEGER : type;
}

/* Results alone, missing ones left out. */
static enum value_type type_of_results(struct check_context *context,
				       const struct sql_select *select, const struct sql_expr *expr)
{
	bool any = false, choice = expr->kind == SQL_EXPR_CASE;
	enum value_type type = VALUE_UNKNOWN;

	for (size_t i = 0; i < expr->arg_count; i++) {
		enum value_type one;

		if ((choice && i % 2 == 0 && i + 1 < expr->arg_count) ||
		    expr->args[i]->kind == SQL_EXPR_NULL)
			continue;
		one = check_type(context, select, expr->args[i]);
		type = any ? join_types(type, one) : one;
		any = true;
	}
	return type;
}

static enum value_type type_of_cast(struct check_context *context, const struct sql_select *select,
				    const struct sql_expr *expr)
{
	/* to NUMERIC SQLite leaves a whole number whole */
	if (is_numeric_name(expr->name) && !check_postgres(context))
		return expr->arg_count ? check_type(context, select, expr->args[0]) : VALUE_UNKNOWN;
	return is_numeric_name(expr->name) ? VALUE_REAL : type_named(expr->name);
}

enum value_type check_type(struct check_context *context, const struct sql_select *select,
			   const struct sql_expr *expr)
{
	if (!expr || !check_step(context))
		return VALUE_UNKNOWN;
	switch (expr->kind) {
	case SQL_EXPR_COLUMN:
		return type_of_column(context, select, expr);
	case SQL_EXPR_INTEGER:
		return VALUE_INTEGER;
	case SQL_EXPR_REAL:
		return VALUE_REAL;
	case SQL_EXPR_TEXT:
		return VALUE_TEXT;
	case SQL_EXPR_BOOL:
	case SQL_EXPR_COMPARE:
	case SQL_EXPR_SAME:
	case SQL_EXPR_LIKE:
	case SQL_EXPR_BETWEEN:
	case SQL_EXPR_IN:
	case SQL_EXPR_IS_NULL:
	case SQL_EXPR_AND:
	case SQL_EXPR_OR:
	case SQL_EXPR_NOT:
	case SQL_EXPR_EXISTS:
		return VALUE_BOOL;
	case SQL_EXPR_OPERATOR:
		return type_of_operator(context, select, expr);
	case SQL_EXPR_CALL:
		return type_of_call(context, select, expr);
	case SQL_EXPR_CASE:
	case SQL_EXPR_COALESCE:
		return type_of_results(context, select, expr);
	case SQL_EXPR_CAST:
		return type_of_cast(context, select, expr);
	case SQL_EXPR_QUERY:
		if (expr->query && expr->query->output_count > 0)
			return check_type(context, first_arm(expr->query),
					  expr->query->outputs[0].expr);
		return VALUE_UNKNOWN;
	case SQL_EXPR_NULL:
	case SQL_EXPR_OTHER:
		break;
	}
	return VALUE_UNKNOWN;
}
