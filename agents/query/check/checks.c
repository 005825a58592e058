/*
 * Sanity of a result: read this first.
 *
 *   checks_plan()    sql_parse.c   the statement as levels of tables, joins and aggregates
 *                    check_views.c, check_catalogue.c  the tables that it is about
 *                    check_names.c which table a column is of
 *                    check_keys.c, check_closure.c  which rows determine which
 *                    check_verdict.c  one verdict per aggregate
 *                    check_shape.c, check_joins.c, check_partners.c, check_conditions.c,
 *                    check_times.c, check_rows.c, check_metric.c, check_unknown.c
 *                                  flags, and doubts that only data can settle
 *                    check_probe.c, check_doubt.c  one SELECT that measures what is left
 *   checks_result()  check_flags.c verdicts and measurements as flags
 *                    check_result.c  values, period, declaration
 *
 * Nothing can fail: what is not understood becomes the note analysis.unknown.
 */
#include "agents/query/check/checks.h"

#include <stdlib.h>
#include <string.h>

#include "agents/query/check/check_doubt.h"
#include "agents/query/check/check_internal.h"

static struct json *copy_or_null(const struct json *json)
{
	return json_is_null(json) ? NULL : json_copy(json);
}

static enum sql_dialect dialect_of(const struct checks_input *input)
{
	return input->dialect && strcmp(input->dialect, "postgres") == 0 ? SQL_DIALECT_POSTGRES
									 : SQL_DIALECT_SQLITE;
}

/* What is compiled from metrics is made right; what people and models write is looked at. */
static void scan_statement(struct sql_checks *checks, struct check_context *context,
			   const struct checks_input *input)
{
	struct scan scan = {
		.context = context,
		.statement = checks->statement,
		.flags = checks->flags,
		.doubts = checks->doubts,
		.findings = &checks->findings,
	};

	if (input->compiled)
		return;
	check_metrics(&scan, input->tables, input->metrics);
	check_unknown(&scan);
	check_shape(&scan);
	check_joins(&scan);
	check_partners(&scan);
	check_conditions(&scan);
	check_times(&scan);
	check_rows(&scan);
}

static size_t probed(const struct findings *findings)
{
	size_t count = 0;

	for (size_t i = 0; i < findings->count; i++)
		count += findings->items[i].probe >= 0;
	return count;
}

struct sql_checks *checks_plan(const struct checks_input *input)
{
	struct sql_checks *checks = mem_alloc(sizeof(*checks));
	struct check_context context = {.input = &checks->input};

	checks->sql = mem_str(input->sql ? input->sql : "");
	checks->plan = json_is_null(input->plan) ? check_declared(checks->sql)
						 : json_copy(input->plan);
	checks->columns = copy_or_null(input->columns);
	checks->period = copy_or_null(input->period);
	checks->period_column = mem_str(input->period_column);
	checks->zone = mem_str(input->zone);
	checks->flags = json_array();
	checks->doubts = mem_alloc(sizeof(*checks->doubts));
	checks->input = (struct checks_input){
		.sql = checks->sql,
		.plan = checks->plan,
		.columns = checks->columns,
		.period = checks->period,
		.period_column = checks->period_column,
		.zone = checks->zone,
		.dialect = dialect_of(input) == SQL_DIALECT_POSTGRES ? "postgres" : "sqlite",
	};
	if (sql_parse_as(dialect_of(input), checks->sql, &checks->statement, &checks->why) < 0)
		return checks;
	check_views_expand(input->tables, dialect_of(input), checks->statement, &checks->views,
			   checks->flags);
	checks->tables = check_catalogue(input->tables, checks->statement, &checks->views);
	checks->input.tables = checks->tables;
	check_statement(&context, checks->statement, &checks->findings);
	for (size_t i = 0; i < checks->views.count; i++)
		check_statement(&context, checks->views.items[i], &checks->findings);
	scan_statement(checks, &context, input);
	checks->probe_findings =
		check_probe(&context, checks->statement, &checks->views, &checks->findings);
	checks->probe = doubts_probe(checks->doubts, mem_str(checks->probe_findings),
				     probed(&checks->findings) * CHECK_PROBE_COLUMNS);
	if (context.steps >= CHECK_STEPS_MAX)
		err_set(&checks->why, ERR_LIMIT, "too many queries inside each other");
	return checks;
}

/* Conditions that only what is known of columns can judge: texts, NOT, NULL. */
static bool needs_columns(const struct sql_expr *expr)
{
	if (!expr)
		return false;
	if (expr->kind == SQL_EXPR_LIKE || expr->kind == SQL_EXPR_BETWEEN ||
	    expr->kind == SQL_EXPR_TEXT || (expr->kind == SQL_EXPR_IN && expr->negated) ||
	    (expr->kind == SQL_EXPR_COMPARE && strcmp(expr->name, "<>") == 0))
		return true;
	for (size_t i = 0; i < expr->arg_count; i++) {
		if (needs_columns(expr->args[i]))
			return true;
	}
	return false;
}

/* A list without such conditions shows what it is; numbers hide which rows went into them. */
static bool matters(const struct sql_select *select)
{
	if (select->aggregate_count > 0 || needs_columns(select->where))
		return true;
	for (size_t i = 0; i < select->join_count; i++) {
		if (needs_columns(select->joins[i].on))
			return true;
	}
	return false;
}

static void want_table(const struct sql_checks *checks, const char *name, struct json *wanted)
{
	if (check_table(&checks->input, name))
		return;
	json_each(item, wanted)
	{
		if (strcasecmp(json_str(item), name) == 0)
			return;
	}
	json_push_str(wanted, name);
}

static bool any_matters(const struct sql_statement *statement)
{
	for (size_t i = 0; statement && i < statement->select_count; i++) {
		if (matters(statement->selects[i]))
			return true;
	}
	return false;
}

static void want_tables(const struct sql_checks *checks, const struct sql_statement *statement,
			struct json *wanted)
{
	for (size_t i = 0; i < statement->select_count; i++) {
		const struct sql_select *select = statement->selects[i];

		for (size_t j = 0; j < select->source_count; j++) {
			if (select->sources[j].kind == SQL_TABLE)
				want_table(checks, select->sources[j].table, wanted);
		}
	}
}

/* Once something matters on one level, the tables of all may matter to it. */
struct json *checks_tables_wanted(const struct sql_checks *checks)
{
	struct json *wanted = json_array();
	bool any = any_matters(checks->statement);

	for (size_t i = 0; i < checks->views.count; i++)
		any = any || any_matters(checks->views.items[i]);
	if (!any)
		return wanted;
	want_tables(checks, checks->statement, wanted);
	for (size_t i = 0; i < checks->views.count; i++)
		want_tables(checks, checks->views.items[i], wanted);
	return wanted;
}

const char *checks_probe(const struct sql_checks *checks)
{
	return checks->probe;
}

const char *checks_probe_less(struct sql_checks *checks)
{
	bool fewer = checks->probe_findings && checks->probe &&
		     strcmp(checks->probe, checks->probe_findings) != 0;

	doubts_unask(checks->doubts);
	return fewer ? checks->probe_findings : NULL;
}

void checks_free(struct sql_checks *checks)
{
	if (!checks)
		return;
	findings_clear(&checks->findings);
	check_views_clear(&checks->views);
	doubts_clear(checks->doubts);
	mem_free(checks->doubts);
	json_free(checks->flags);
	mem_free(checks->zone);
	mem_free(checks->probe_findings);
	sql_statement_free(checks->statement);
	json_free(checks->tables);
	json_free(checks->plan);
	json_free(checks->columns);
	json_free(checks->period);
	mem_free(checks->period_column);
	mem_free(checks->probe);
	mem_free(checks->sql);
	mem_free(checks);
}

struct json *checks_result(struct sql_checks *checks, const struct json *result,
			   const struct json *probe)
{
	struct json *flags = json_array();

	if (!checks->statement)
		flag_add(flags, "analysis.unknown", "note", NULL,
			 "the statement was not analysed: %s", checks->why.text);
	else if (checks->why.kind != ERR_NONE)
		flag_add(flags, "analysis.unknown", "note", NULL,
			 "the statement was not analysed to its end: %s", checks->why.text);
	check_findings_flag(checks, probe, flags);
	json_each(flag, checks->flags) json_push(flags, json_copy(flag));
	doubts_flag(&(struct check_context){.input = &checks->input}, checks->doubts, probe, flags);
	check_values(checks, result, flags);
	check_period(checks, flags);
	check_declaration(checks, result, flags);
	return flags;
}

struct json *checks_verdicts(const struct sql_checks *checks, const struct json *probe)
{
	return check_findings_json(checks, probe);
}
