/*
 * What a result shows by itself, what the period demands of the statement, and what the declaration
 * promised.
 */
#include "agents/query/check/check_internal.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGNITUDE_MAX                                                                              \
	1e12 /* more than a company sells, counts or pays; less than its ids may be                \
	      */

static bool says(const struct json *flags, const char *code, const char *message)
{
	json_each(flag, flags)
	{
		if (strcmp(json_get_str(flag, "code"), code) == 0 &&
		    strcmp(json_get_str(flag, "message"), message) == 0)
			return true;
	}
	return false;
}

void flag_add(struct json *flags, const char *code, const char *severity, const char *repair,
	      const char *format, ...)
{
	struct json *flag;
	char message[1024];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	if (says(flags, code, message))
		return;
	flag = json_object();
	json_set_str(flag, "code", code);
	json_set_str(flag, "severity", severity);
	json_set_str(flag, "message", message);
	if (repair)
		json_set_str(flag, "repair", repair);
	json_push(flags, flag);
}

/* ---- values ---- */

/* Does the column measure something? Declared, or an aggregate; without either, unknown. */
static bool is_measure(const struct sql_checks *checks, size_t index)
{
	const char *role = json_get_str(json_at(checks->columns, index), "role");
	const struct sql_select *top = checks->statement ? checks->statement->top : NULL;

	if (checks->columns)
		return role && (strcmp(role, "metric") == 0 || strcmp(role, "previous") == 0);
	if (!top || top->arm_count > 0)
		return false;
	for (size_t i = 0; i < top->output_count; i++) {
		if (top->outputs[i].star)
			return false; /* columns and outputs do not go together one by one */
	}
	return index < top->output_count && top->outputs[index].aggregated;
}

static bool is_previous(const struct sql_checks *checks, size_t index)
{
	const char *role = json_get_str(json_at(checks->columns, index), "role");

	return role && strcmp(role, "previous") == 0;
}

static bool number_of(const struct json *cell, double *ret)
{
	const char *text = json_str(cell);
	char *end;

	if (json_type(cell) == JSON_INT || json_type(cell) == JSON_REAL) {
		*ret = json_real(cell);
		return true;
	}
	if (!text || !*text || strspn(text, "-0123456789") != strlen(text))
		return false;
	*ret = strtod(text, &end); /* an integer beyond 2^53 */
	return *end == '\0';
}

struct counts {
	size_t zero;
	size_t missing;
	size_t huge;
	size_t negative;
	double largest;
	double lowest;
};

static struct counts count_values(const struct json *rows, size_t index)
{
	struct counts counts = {0};

	json_each(row, rows)
	{
		double value;

		if (!number_of(json_at(row, index), &value)) {
			counts.missing += json_is_null(json_at(row, index));
			continue;
		}
		counts.zero += value == 0;
		counts.huge += fabs(value) > MAGNITUDE_MAX;
		if (fabs(value) > fabs(counts.largest))
			counts.largest = value;
		counts.negative += value < 0;
		if (value < counts.lowest)
			counts.lowest = value;
	}
	return counts;
}

static void check_column(const struct sql_checks *checks, const struct json *result, size_t index,
			 struct json *flags)
{
	const struct json *rows = json_get(result, "rows");
	const struct json *declared = json_at(checks->columns, index);
	const char *name = json_get_str(declared, "label");
	struct counts counts = count_values(rows, index);
	size_t total = json_len(rows);

	if (!name)
		name = json_str(json_at(json_get(result, "columns"), index));
	name = name ? name : "?";
	/* what had nothing in the period before is no surprise, unless nothing had */
	if (is_measure(checks, index) && counts.zero > 0 &&
	    (!is_previous(checks, index) || counts.zero == total))
		flag_add(flags, "result.zero", "warning",
			 "check that the filters name values which exist",
			 "%s is exactly zero in %zu of %zu rows", name, counts.zero, total);
	if (is_measure(checks, index) && counts.missing > 0 && total == 1)
		flag_add(flags, "result.missing", "warning",
			 "check that the filters name values which exist",
			 "%s has no value: no row went into it", name);
	if ((is_measure(checks, index) || (!checks->columns && !checks->statement)) &&
	    counts.huge > 0)
		flag_add(flags, "result.magnitude", "warning",
			 "check units, and joins without a condition",
			 "%s is greater than 1e12 in %zu of %zu rows (%.4g)", name, counts.huge,
			 total, counts.largest);
	if (json_get_bool(declared, "non_negative", false) && counts.negative > 0)
		flag_add(flags, "result.negative", "warning",
			 "look at the rows below zero: refunds, corrections or a wrong sign",
			 "%s is declared never negative and is below zero in %zu of %zu rows "
			 "(%.12g)",
			 name, counts.negative, total, counts.lowest);
}

void check_values(const struct sql_checks *checks, const struct json *result, struct json *flags)
{
	const struct json *rows = json_get(result, "rows");

	if (json_len(rows) == 0) {
		flag_add(flags, "result.no_rows", "warning",
			 "check that the filters name values which exist", "no rows matched");
		return;
	}
	for (size_t i = 0; i < json_len(json_get(result, "columns")); i++)
		check_column(checks, result, i, flags);
}

/* ---- period ---- */

static bool column_matches(struct check_context *context, const struct sql_select *select,
			   const struct sql_column *column, const char *table, const char *name)
{
	struct place place;
	const struct sql_source *source;

	if (!column->name || strcasecmp(column->name, name) != 0)
		return false;
	place = check_place(context, select, column, UINT64_MAX);
	if (place.reach != REACH_SOURCE)
		return true; /* by its name alone */
	source = &select->sources[place.source];
	return source->kind != SQL_TABLE || !*table || strcasecmp(source->table, table) == 0;
}

static bool compares_column(const struct sql_checks *checks, const char *period_column)
{
	struct check_context context = {.input = &checks->input};
	const char *dot = strrchr(period_column, '.');
	CLEANUP(mem_freep)
	char *table = mem_strn(period_column, dot ? (size_t)(dot - period_column) : 0);
	const char *name = dot ? dot + 1 : period_column;

	for (size_t i = 0; i < checks->statement->select_count; i++) {
		const struct sql_select *select = checks->statement->selects[i];

		for (size_t j = 0; j < select->compared.count; j++) {
			if (column_matches(&context, select, &select->compared.items[j], table,
					   name))
				return true;
		}
	}
	return false;
}

static bool names_bound(const struct sql_checks *checks)
{
	const char *from = json_get_str(checks->period, "from");
	const char *to = json_get_str(checks->period, "to");

	return (from && *from && strstr(checks->sql, from)) ||
	       (to && *to && strstr(checks->sql, to));
}

void check_period(const struct sql_checks *checks, struct json *flags)
{
	const char *from = json_get_str(checks->period, "from");
	const char *to = json_get_str(checks->period, "to");
	const char *column = checks->period_column;
	bool known = column && checks->statement;
	CLEANUP(mem_freep) char *repair = NULL;

	if ((!from || !*from) && (!to || !*to))
		return;
	if (known ? compares_column(checks, column) : names_bound(checks))
		return;
	repair = mem_format("compare %s with '%s' (>=) and '%s' (<)",
			    column ? column : "the time column", from ? from : "", to ? to : "");
	flag_add(flags, "period.not_filtered", known && !names_bound(checks) ? "error" : "warning",
		 repair, "%s to before %s was asked for, and %s is compared with nothing",
		 from ? from : "any time", to ? to : "any time",
		 column ? column : "no time column");
}

/* ---- declaration ---- */

static bool list_has(const struct json *list, const char *text)
{
	json_each(item, list)
	{
		if (json_str(item) && strcasecmp(json_str(item), text) == 0)
			return true;
	}
	return false;
}

static struct json *tables_read(const struct sql_checks *checks, const struct json *result)
{
	struct json *tables = json_array();

	if (!checks->statement) {
		json_each(item, json_get(result, "tables")) json_push(tables, json_copy(item));
		return tables;
	}
	for (size_t i = 0; i < checks->statement->select_count; i++) {
		const struct sql_select *select = checks->statement->selects[i];

		for (size_t j = 0; j < select->source_count; j++) {
			const struct sql_source *source = &select->sources[j];

			if (source->kind == SQL_TABLE && !list_has(tables, source->table))
				json_push_str(tables, check_source_name(&checks->input, source));
		}
	}
	return tables;
}

static void check_tables(const struct sql_checks *checks, const struct json *result,
			 struct json *flags)
{
	const struct json *declared = json_get(checks->plan, "tables");
	CLEANUP(json_freep) struct json *read = NULL;

	if (json_type(declared) != JSON_ARRAY)
		return;
	read = tables_read(checks, result);
	json_each(table, read)
	{
		if (!list_has(declared, json_str(table)))
			flag_add(flags, "plan.contradiction", "warning",
				 "declare every table, or leave it out of the statement",
				 "the plan does not name %s, the statement reads it",
				 json_str(table));
	}
	json_each(table, declared)
	{
		if (json_str(table) && json_len(read) > 0 && !list_has(read, json_str(table)))
			flag_add(flags, "plan.contradiction", "warning",
				 "read the table, or leave it out of the plan",
				 "the plan names %s, the statement does not read it",
				 json_str(table));
	}
}

static void check_risk(const struct sql_checks *checks, struct json *flags)
{
	const char *risk = json_get_str(checks->plan, "fanout_risk");

	if (!risk || strncasecmp(risk, "none", 4) != 0)
		return;
	for (size_t i = 0; i < checks->findings.count; i++) {
		const struct finding *finding = &checks->findings.items[i];

		if (finding->verdict != VERDICT_REPEATED || finding->keys_missing)
			continue;
		flag_add(flags, "plan.contradiction", "warning",
			 "aggregate each table to the join's key before joining",
			 "the plan says that no row is counted twice, the keys do not prove it: %s "
			 "may be repeated by %s",
			 finding->owner ? finding->owner : "a row", finding->repeated_by);
		return;
	}
}

static bool adds_up_all(const struct sql_select *top)
{
	if (top->arm_count > 0 || top->group_count > 0)
		return false;
	for (size_t i = 0; i < top->aggregate_count; i++) {
		if (!top->aggregates[i].window)
			return true;
	}
	return false;
}

/* "one row = one region", "one row per month" above a statement that gives one row in all. */
static void check_grain(const struct sql_checks *checks, const char *grain, struct json *flags)
{
	const struct sql_select *top = checks->statement ? checks->statement->top : NULL;
	bool each = strncasecmp(grain, "one row = ", 10) == 0 ||
		    strncasecmp(grain, "one row per ", 12) == 0;

	if (top && each && adds_up_all(top))
		flag_add(flags, "plan.contradiction", "warning",
			 "group by what a row is, or declare one row in all",
			 "the plan says %s, the statement adds up everything into one row", grain);
}

void check_declaration(const struct sql_checks *checks, const struct json *result,
		       struct json *flags)
{
	const char *grain = json_get_str(checks->plan, "grain");
	size_t rows = json_len(json_get(result, "rows"));

	check_tables(checks, result, flags);
	check_risk(checks, flags);
	if (grain)
		check_grain(checks, grain, flags);
	if (grain && strcasecmp(grain, "one row in all") == 0 && rows > 1)
		flag_add(flags, "plan.contradiction", "warning",
			 "group by nothing, or declare what a row is",
			 "the plan says one row in all, the result has %zu", rows);
}
