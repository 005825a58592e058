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
 *   checks_result()  this file     verdicts and measurements as flags
 *                    check_result.c  values, period, declaration
 *
 * Nothing can fail: what is not understood becomes the note analysis.unknown.
 */
#include "agents/query/check/checks.h"

#include <math.h>
#include <stdio.h>
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
	checks->plan = copy_or_null(input->plan);
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
	scan_statement(checks, &context, input);
	checks->probe_findings = check_probe(&context, checks->statement, &checks->findings);
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

/* Once something matters on one level, the tables of all may matter to it. */
struct json *checks_tables_wanted(const struct sql_checks *checks)
{
	struct json *wanted = json_array();
	size_t count = checks->statement ? checks->statement->select_count : 0;
	bool any = false;

	for (size_t i = 0; i < count; i++)
		any = any || matters(checks->statement->selects[i]);
	for (size_t i = 0; any && i < count; i++) {
		const struct sql_select *select = checks->statement->selects[i];

		for (size_t j = 0; j < select->source_count; j++) {
			if (select->sources[j].kind == SQL_TABLE)
				want_table(checks, select->sources[j].table, wanted);
		}
	}
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

/* ---- verdicts as flags ---- */

struct measured { /* one aggregate of the probe */
	const struct json *shown;
	const struct json *once;
	double rows;
	double distinct;
};

static bool read_measured(const struct json *probe, int number, struct measured *ret)
{
	const struct json *row = json_at(json_get(probe, "rows"), 0);
	size_t at = (size_t)number * CHECK_PROBE_COLUMNS;

	if (number < 0 || json_len(row) < at + CHECK_PROBE_COLUMNS)
		return false;
	*ret = (struct measured){json_at(row, at), json_at(row, at + 1),
				 json_real(json_at(row, at + 2)), json_real(json_at(row, at + 3))};
	return true;
}

/* Two places, as money is read; integers as they are. */
static void add_number(const struct json *value, struct buf *out)
{
	if (json_type(value) == JSON_INT)
		buf_addf(out, "%lld", (long long)json_int(value));
	else if (json_type(value) == JSON_REAL && fabs(json_real(value)) >= 0.01 &&
		 fabs(json_real(value)) < 1e15)
		buf_addf(out, "%.2f", json_real(value));
	else if (json_str(value))
		buf_add_str(out, json_str(value));
	else
		json_write(value, out);
}

static bool same_value(const struct json *a, const struct json *b)
{
	double x = json_real(a), y = json_real(b);

	if (json_str(a) || json_str(b))
		return json_equal(a, b);
	return fabs(x - y) <= 1e-9 * (fabs(x) + fabs(y));
}

static double factor_of(const struct measured *measured)
{
	double shown = json_real(measured->shown), once = json_real(measured->once);

	return once != 0 && shown / once > 0 ? shown / once : measured->rows / measured->distinct;
}

static char *text_of(const struct sql_checks *checks, const struct finding *finding)
{
	struct buf text = BUF_INIT;

	sql_tokens_write(&checks->statement->tokens, finding->aggregate->text.first,
			 finding->aggregate->text.end, &text);
	if (text.len > 120) {
		text.len = 117;
		buf_add_str(&text, "...");
	}
	return buf_take(&text);
}

static char *repair_of(const struct finding *finding)
{
	if (finding->aggregate->call == SQL_COUNT)
		return mem_format("count the key with DISTINCT, or count %s before joining",
				  finding->owner);
	return mem_format("sum a column of %s instead, or aggregate %s before joining",
			  finding->repeated_by, finding->owner);
}

static void flag_inflated(const struct finding *finding, const char *text,
			  const struct measured *measured, struct json *flags)
{
	bool average = finding->aggregate->call == SQL_AVG;
	CLEANUP(buf_clear) struct buf shown = BUF_INIT;
	CLEANUP(buf_clear) struct buf once = BUF_INIT;
	CLEANUP(mem_freep) char *repair = repair_of(finding);

	add_number(measured->shown, &shown);
	add_number(measured->once, &once);
	if (average)
		flag_add(flags, "fan_out.skewed", "warning", repair,
			 "%s weighs each row of %s by its rows of %s: %s shown, %s with each row "
			 "once",
			 text, finding->owner, finding->repeated_by, buf_str(&shown),
			 buf_str(&once));
	else
		flag_add(flags, "fan_out.inflated", "error", repair,
			 "%s counts each row of %s once per row of %s: %s shown, %s without the "
			 "repetition, factor %.2f",
			 text, finding->owner, finding->repeated_by, buf_str(&shown),
			 buf_str(&once), factor_of(measured));
}

static void flag_repeated(const struct finding *finding, const char *text, const struct json *probe,
			  struct json *flags)
{
	CLEANUP(mem_freep) char *repair = NULL;
	struct measured measured;

	if (!finding->owner) {
		flag_add(
			flags, finding->keys_missing ? "analysis.unknown" : "fan_out.possible",
			finding->keys_missing ? "note" : "warning",
			"count the key of the table that is meant",
			"%s counts combinations of rows of %s: no key proves that they are rows of "
			"one of these tables",
			text, finding->repeated_by);
		return;
	}
	repair = repair_of(finding);
	if (read_measured(probe, finding->probe, &measured)) {
		if (measured.rows > measured.distinct && !same_value(measured.shown, measured.once))
			flag_inflated(finding, text, &measured, flags);
		else
			flag_add(flags, "fan_out.possible", "warning", repair,
				 "%s would count a row of %s once per row of %s: not inflated "
				 "today, it can be tomorrow",
				 text, finding->owner, finding->repeated_by);
		return;
	}
	if (finding->keys_missing)
		flag_add(
			flags, "analysis.unknown", "note", repair,
			"whether %s counts a row of %s several times is not known: no key of %s is "
			"known",
			text, finding->owner, finding->repeated_by);
	else
		flag_add(flags, "fan_out.possible", "warning", repair,
			 "%s may count a row of %s once per row of %s; it was not measured", text,
			 finding->owner, finding->repeated_by);
}

static void flag_finding(const struct sql_checks *checks, const struct finding *finding,
			 const struct json *probe, struct json *flags)
{
	CLEANUP(mem_freep) char *text = text_of(checks, finding);

	switch (finding->verdict) {
	case VERDICT_SAFE:
		return;
	case VERDICT_GROUPED:
		flag_add(
			flags, "fan_out.grouped", "note",
			"do not add up the groups; ask for the total on its own",
			"%s counts a row of %s in every group it belongs to (by %s): each group is "
			"right, their sum is not",
			text, finding->owner, finding->repeated_by);
		return;
	case VERDICT_REPEATED:
		flag_repeated(finding, text, probe, flags);
		return;
	case VERDICT_UNKNOWN:
		flag_add(flags, "analysis.unknown", "note", NULL, "%s was not checked: %s", text,
			 finding->why);
		return;
	case VERDICT_OUTER:
		flag_add(flags, "count.outer_join", "warning",
			 "count the key of the optional table",
			 "%s counts 1 where %s has no row: the outer join makes one up", text,
			 finding->owner);
		return;
	case VERDICT_DISTINCT:
		flag_add(flags, "distinct.values", "warning",
			 "aggregate before joining rather than dropping equal values",
			 "%s drops equal values of different rows", text);
		return;
	case VERDICT_JOINED:
		flag_add(flags, "count.rows", "note", NULL, "%s counts rows of %s", text,
			 finding->owner);
		return;
	}
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
	for (size_t i = 0; i < checks->findings.count; i++)
		flag_finding(checks, &checks->findings.items[i], probe, flags);
	json_each(flag, checks->flags) json_push(flags, json_copy(flag));
	doubts_flag(&(struct check_context){.input = &checks->input}, checks->doubts, probe, flags);
	check_values(checks, result, flags);
	check_period(checks, flags);
	check_declaration(checks, result, flags);
	return flags;
}
