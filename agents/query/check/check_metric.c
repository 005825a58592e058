/*
 * A question that names a defined metric is answered by that definition. The definition comes as
 * the statement that is compiled from it; a column of the statement at hand must compute the same
 * (check_canon.h), in the same unit, under the same conditions or more.
 */
#include <math.h>
#include <string.h>

#include "agents/query/check/check_canon.h"

struct computed {   /* one column, or what a definition wants */
	char *text; /* owned */
	double factor;
	struct json *conditions; /* owned */
};

static void computed_clear(struct computed *computed)
{
	mem_free(computed->text);
	json_free(computed->conditions);
}

static bool holds(const struct json *list, const char *text)
{
	json_each(item, list)
	{
		if (strcmp(json_str(item), text) == 0)
			return true;
	}
	return false;
}

/* The conditions of all levels; those of outer joins keep rows and are none. */
static void add_conditions(struct canon *canon, const struct sql_statement *statement)
{
	for (size_t i = 0; i < statement->select_count; i++) {
		const struct sql_select *select = statement->selects[i];

		canon_conditions(canon, select, select->where);
		for (size_t j = 0; j < select->join_count; j++) {
			if (select->joins[j].kind == SQL_INNER)
				canon_conditions(canon, select, select->joins[j].on);
		}
	}
}

static struct computed compute(struct check_context *context, const struct sql_statement *statement,
			       const struct sql_select *select, const struct sql_expr *expr)
{
	struct canon canon = {.context = context, .conditions = json_array()};
	struct computed computed;

	add_conditions(&canon, statement);
	computed.text = canon_write(&canon, select, expr, &computed.factor);
	computed.conditions = TAKE(canon.conditions);
	canon_clear(&canon);
	return computed;
}

enum fit { FIT_NOT, FIT_CONDITION, FIT_UNIT, FIT_YES }; /* the better, the greater */

static enum fit fits(const struct computed *computed, const struct computed *wanted,
		     const char **ret_missing)
{
	if (strcmp(computed->text, wanted->text) != 0)
		return FIT_NOT;
	json_each(condition, wanted->conditions)
	{
		if (holds(computed->conditions, json_str(condition)))
			continue;
		*ret_missing = json_str(condition);
		return FIT_CONDITION;
	}
	if (fabs(computed->factor - wanted->factor) > 1e-9 * fabs(wanted->factor))
		return FIT_UNIT;
	return FIT_YES;
}

/* The best that any column of any level does. */
static enum fit best_fit(struct scan *scan, const struct computed *wanted, const char **ret_missing)
{
	const struct sql_statement *statement = scan->statement;
	enum fit best = FIT_NOT;

	for (size_t i = 0; i < statement->select_count; i++) {
		const struct sql_select *select = statement->selects[i];

		for (size_t j = 0; j < select->output_count && select->arm_count == 0; j++) {
			struct computed computed;
			enum fit fit;

			if (!select->outputs[j].expr)
				continue;
			computed =
				compute(scan->context, statement, select, select->outputs[j].expr);
			fit = fits(&computed, wanted, ret_missing);
			best = fit > best ? fit : best;
			computed_clear(&computed);
		}
	}
	return best;
}

static const struct sql_output *metric_output(const struct sql_select *top)
{
	for (size_t i = 0; i < top->output_count; i++) {
		if (top->outputs[i].aggregated && top->outputs[i].expr)
			return &top->outputs[i];
	}
	return NULL;
}

static void flag_metric(struct scan *scan, const struct json *metric, enum fit fit,
			const char *missing)
{
	const char *name = json_get_str(metric, "name");
	const char *definition = json_get_str(metric, "definition");
	CLEANUP(mem_freep)
	char *repair = mem_format("use the metric %s: %s", name, definition ? definition : "");
	CLEANUP(mem_freep) char *why = NULL;

	if (fit == FIT_CONDITION)
		why = mem_format("the condition \"%s\" of its definition is missing", missing);
	else if (fit == FIT_UNIT)
		why = mem_str("the statement computes it in another unit");
	else
		why = mem_str("no column of the statement computes it");
	flag_add(scan->flags, "metric.own_arithmetic", "error", repair,
		 "the question is about %s, which is defined, and %s", name, why);
}

static void check_one(struct scan *scan, const struct json *tables, const struct json *metric)
{
	struct sql_statement *defined = NULL;
	struct checks_input input = *scan->context->input;
	struct check_context context = {.input = &input};
	CLEANUP(json_freep) struct json *part = NULL;
	const struct sql_output *output;
	const char *missing = "";
	struct computed wanted;
	struct err err = {0};
	enum fit fit;

	if (sql_parse(json_get_str(metric, "sql"), &defined, &err) < 0)
		return;
	part = check_catalogue(tables, defined, NULL);
	input.tables = part;
	output = metric_output(defined->top);
	if (output) {
		wanted = compute(&context, defined, defined->top, output->expr);
		fit = best_fit(scan, &wanted, &missing);
		if (fit != FIT_YES)
			flag_metric(scan, metric, fit, missing);
		computed_clear(&wanted);
	}
	sql_statement_free(defined);
}

void check_metrics(struct scan *scan, const struct json *tables, const struct json *metrics)
{
	json_each(metric, metrics)
	{
		if (json_get_str(metric, "sql") && json_get_str(metric, "name"))
			check_one(scan, tables, metric);
	}
}
