/*
 * Sanity of a result: what a number may be wrong about although its query ran.
 *
 * checks_plan() looks at a statement alone: it reports for each aggregate over which joins it is
 * taken and whether the declared keys prove each counted row unique, and proposes one cheap probe
 * (a SELECT, to be run under the same grant) where they do not. checks_result() then judges result
 * and probe. Both are pure; the caller runs the probe.
 *
 * Flags are {"code","severity","message","repair"}: severity note, warning or error. An error means
 * the number is proven wrong and must not be `completed`. Codes are stable and listed in
 * docs/checks.md. Source of the classes: SQL analysis literature on fan-out and chasm traps.
 */
#ifndef AGENTS_QUERY_CHECKS_H
#define AGENTS_QUERY_CHECKS_H

#include "base/err.h"
#include "base/json.h"

struct sql_checks; /* one analysed statement */

struct checks_input {
	const char *sql;
	/* What describe_table said of each table read (array of its results): columns, primary_key,
	 * foreign_keys. Tables missing here have unknown keys. */
	const struct json *tables;
	const struct json
		*plan; /* the declaration: {"tables","grain","fanout_risk",...}; NULL: the one
			  that comments before the statement make, if any (docs/checks.md) */
	const struct json *columns; /* compiled columns, or NULL: role, unit, non_negative */
	const struct json *period;  /* {"from","to"} that was asked for, or NULL */
	const char *period_column;  /* "orders.order_date", or NULL when unknown */
	/* The metrics that the question names: [{"name","definition","sql"}], sql being the one
	 * that is compiled from the definition alone; or NULL. */
	const struct json *metrics;
	bool compiled;	      /* the statement was made from metrics by code */
	const char *dialect;  /* "sqlite" (also NULL) or "postgres" */
	const char *zone;     /* whose days count ("Europe/Lisbon"), or NULL */
	const char *database; /* for the tools, where there is more than one; or NULL */
};

/* Never fails: a statement that cannot be analysed gives the note "analysis.unknown". */
struct sql_checks *checks_plan(const struct checks_input *input);
/* Names of tables that input did not describe and on whose keys a verdict depends; the caller may
 * describe them and plan again. The caller owns the array. */
struct json *checks_tables_wanted(const struct sql_checks *checks);
/* A statement to run for the verdict, or NULL when none is needed. Owned by checks. */
const char *checks_probe(const struct sql_checks *checks);
/* The probe was refused: a smaller one, of the repeated rows alone, or NULL. The rest of what was
 * to be measured is left open. */
const char *checks_probe_less(struct sql_checks *checks);
/* result: RESULT of run_query; probe: RESULT of the probe or NULL when it did not run.
 * The caller owns the returned array of flags. */
struct json *checks_result(struct sql_checks *checks, const struct json *result,
			   const struct json *probe);
/* One verdict per aggregate, in the order of the text: {"aggregate","verdict":"safe"|"fans_out"|
 * "grain_unknown","of","by","factor"}: of is the table whose rows it adds up, by what repeats them,
 * factor by how much today, where that was measured. The caller owns the array. */
struct json *checks_verdicts(const struct sql_checks *checks, const struct json *probe);
void checks_free(struct sql_checks *checks); /* NULL is fine */

#endif
