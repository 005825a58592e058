/* What the files of the checks share. Read checks.c first. */
#ifndef AGENTS_QUERY_CHECK_INTERNAL_H
#define AGENTS_QUERY_CHECK_INTERNAL_H

#include "agents/query/check/checks.h"
#include "agents/query/check/sql_parse.h"

struct doubts;

#define CHECK_PROBES_MAX 4 /* aggregates measured at once; a statement rarely has more at risk */
#define CHECK_PROBE_COLUMNS 4U /* shown, without the repetition, rows, distinct rows */

/* Judging is linear for what people write, but a chain of queries can multiply it. */
#define CHECK_STEPS_MAX 200000

struct check_context {
	const struct checks_input *input;
	long steps; /* at most CHECK_STEPS_MAX; from then on nothing more is known */
};

/* ---- check_catalogue.c: of many tables those that the statement is about; the caller owns it ----
 */

struct check_views { /* owned: the statements that views stand for */
	struct sql_statement **items;
	size_t count;
};

struct json *check_catalogue(const struct json *tables, const struct sql_statement *statement,
			     const struct check_views *views);

/* check_views.c: views whose text is known become sub-queries; of others a note is added. */
void check_views_expand(const struct json *tables, enum sql_dialect dialect,
			const struct sql_statement *statement, struct check_views *views,
			struct json *flags);
void check_views_clear(struct check_views *views);

/* check_declared.c: what comments before the statement declare, in the shape of checks_input.plan;
 * NULL when nothing. The caller's. */
struct json *check_declared(const char *sql);

/* check_rows.c: the table that this one was built from, by what they have in common; or NULL */
const struct json *check_origin(const struct json *tables, const struct json *built);

/* ---- check_names.c: which table a column is of ---- */

enum reach { REACH_SOURCE, REACH_OUTER, REACH_UNKNOWN };

struct place {
	enum reach reach;		/* OUTER: fixed while this level runs */
	size_t source;			/* of the level */
	const struct sql_select *level; /* whose source it is; NULL when UNKNOWN */
};

const struct json *check_table(const struct checks_input *input, const char *name);
bool check_same(const char *a, const char *b);	/* names; NULL is like nothing */
bool check_step(struct check_context *context); /* false: none left */
struct place check_place(struct check_context *context, const struct sql_select *select,
			 const struct sql_column *column, uint64_t within);
/* Does the source have the column? 1 yes, 0 no, -1 not known. */
int check_has_column(struct check_context *context, const struct sql_source *source,
		     const char *name);
uint64_t check_all(const struct sql_select *select); /* every source */
const char *check_source_name(const struct checks_input *input, const struct sql_source *source);

/* ---- check_columns.c: what is known of values ---- */

struct base {		    /* a column of a table, also through queries that pass it on */
	const char *table;  /* as the database spells it */
	const char *column; /* likewise */
	const struct json *described;  /* the table; NULL when nobody described it */
	const struct json *definition; /* the column; likewise */
	bool passed;		       /* through a sub-query or common table expression */
};

enum value_type { VALUE_UNKNOWN, VALUE_INTEGER, VALUE_REAL, VALUE_TEXT, VALUE_TIME, VALUE_BOOL };

/* false when the column is of no table, or of which is not known. */
bool check_base(struct check_context *context, const struct sql_select *select,
		const struct sql_column *column, struct base *ret_base);
bool check_base_of(struct check_context *context, const struct sql_select *select,
		   const struct sql_expr *expr, struct base *ret_base); /* of a column alone */
bool check_same_base(const struct base *a, const struct base *b);
enum value_type check_type(struct check_context *context, const struct sql_select *select,
			   const struct sql_expr *expr);
enum value_type check_declared_type(const struct check_context *context, const struct base *base);
bool check_nullable(const struct base *base); /* declared so: known and not excluded */
/* The output behind a column of a sub-query, and the level it is of; NULL when it is none. */
const struct sql_output *check_output_of(struct check_context *context,
					 const struct sql_select *select,
					 const struct sql_column *column,
					 const struct sql_select **ret_level);
bool check_postgres(const struct check_context *context);
/* Without the casts, rounding and COALESCE around it. */
const struct sql_expr *check_bare(const struct sql_expr *expr);
bool check_is_constant(const struct sql_expr *expr); /* no column, no sub-query in it */
bool check_same_expr(const struct sql_expr *a, const struct sql_expr *b);
bool check_is_call(const struct sql_expr *expr, const char *const *names); /* NULL-terminated */
/* A word of a name: "unit_price" has "unit" and "price". */
bool check_has_word(const char *name, const char *word);

/* ---- check_keys.c ---- */

struct check_key {
	const char **columns; /* none: the source has one row at most */
	size_t count;
};

struct check_keys { /* owned */
	struct check_key *items;
	size_t count;
};

void check_keys_of(struct check_context *context, const struct sql_source *source,
		   struct check_keys *ret_keys);
void check_keys_clear(struct check_keys *keys);

/* The output that shows what is grouped by; NULL when none does. */
const struct sql_output *check_group_output(const struct sql_select *query,
					    const struct sql_group *group);

/* ---- check_closure.c ---- */

/* Has the column one value within a group (or, not grouped, for all rows of the level)? */
bool check_column_fixed(struct check_context *context, const struct sql_select *select,
			bool grouped, const struct sql_column *column);

/* The sources of which a row of the start sources meets at most one row each, with the start
 * sources themselves. grouped: within one group of the level. */
uint64_t check_closure(struct check_context *context, const struct sql_select *select,
		       uint64_t start, bool grouped);

/* ---- check_verdict.c: one verdict per aggregate ---- */

enum verdict {
	VERDICT_SAFE,
	VERDICT_GROUPED,  /* right within each group, groups overlap */
	VERDICT_REPEATED, /* rows of owner may be counted several times */
	VERDICT_UNKNOWN,  /* not judged; why */
	VERDICT_OUTER,	  /* COUNT(*) also counts rows that an outer join made up */
	VERDICT_DISTINCT, /* SUM(DISTINCT): equal values are dropped */
	VERDICT_JOINED,	  /* a count of the rows of owner, the finest of several tables */
};

struct finding {
	enum verdict verdict;
	const struct sql_statement *statement; /* that the aggregate stands in: ours, or a view */
	const struct sql_select *select;       /* whose rows repeat: its own, or one inside */
	const struct sql_aggregate *aggregate;
	char *owner;	   /* owned; names for messages */
	char *repeated_by; /* owned */
	char *why;	   /* owned */
	bool keys_missing; /* a repeating table has no known key at all */
	int owner_source;  /* of select; -1 when not one table */
	int probe;	   /* number in the probe, -1 when none */
};

struct findings { /* owned */
	struct finding *items;
	size_t count;
};

/* Adds a finding for each aggregate of the statement. */
void check_statement(struct check_context *context, const struct sql_statement *statement,
		     struct findings *findings);
void findings_clear(struct findings *findings);
bool check_is_optional(const struct sql_select *select, size_t source);
uint64_t check_bit(size_t source);

/* ---- what the statement shows by itself; flags and doubts are added to ---- */

struct scan {
	struct check_context *context;
	const struct sql_statement *statement;
	struct json *flags;
	struct doubts *doubts;
	const struct findings *findings;
};

void check_shape(struct scan *scan);	  /* check_shape.c: bare columns, LIMIT, averages, / */
void check_conditions(struct scan *scan); /* check_conditions.c: NULL, values */
void check_times(struct scan *scan);	  /* check_times.c: periods and their bounds */
void check_joins(struct scan *scan);	  /* check_joins.c */
/* Sources of which a row made up by an outer join (all NULL) does not pass the condition. */
uint64_t check_dropped(struct check_context *context, const struct sql_select *select,
		       const struct sql_expr *condition);
/* Does the condition ask for rows that met none of the source (IS NULL of one of its columns)? */
bool check_asks_for_none(struct check_context *context, const struct sql_select *select,
			 const struct sql_expr *condition, size_t source);
void check_partners(struct scan *scan); /* check_partners.c: rows without a partner */
void check_rows(struct scan *scan);	/* check_rows.c: deleted, stale, units */
/* check_metric.c: tables is the whole catalogue. */
void check_metrics(struct scan *scan, const struct json *tables, const struct json *metrics);
void check_unknown(struct scan *scan); /* check_unknown.c: names that nothing has */

/* ---- check_probe.c ---- */

/* One SELECT that measures the findings it numbers, or NULL when there is nothing to measure. */
char *check_probe(struct check_context *context, const struct sql_statement *statement,
		  const struct check_views *views, struct findings *findings);

/* ---- check_flags.c ---- */

/* A flag that says what one of them says already is left out. */
void flag_add(struct json *flags, const char *code, const char *severity, const char *repair,
	      const char *format, ...) __attribute__((format(printf, 5, 6)));

/* ---- check_result.c: values, period, plan ---- */

struct sql_checks {
	struct checks_input input; /* lent texts and trees are copied into the members below */
	char *sql;
	struct json *tables;
	struct json *plan;
	struct json *columns;
	struct json *period;
	char *period_column;
	struct sql_statement *statement; /* NULL: not understood; why */
	struct err why;
	struct findings findings;
	struct doubts *doubts;
	struct json *flags; /* found without data */
	char *probe;
	char *probe_findings; /* the part of it that measures findings */
	char *zone;
	struct check_views views;
};

void check_values(const struct sql_checks *checks, const struct json *result, struct json *flags);
void check_period(const struct sql_checks *checks, struct json *flags);
void check_declaration(const struct sql_checks *checks, const struct json *result,
		       struct json *flags);

/* ---- check_flags.c: verdicts, for people and for programs ---- */

void check_findings_flag(const struct sql_checks *checks, const struct json *probe,
			 struct json *flags);
struct json *check_findings_json(const struct sql_checks *checks, const struct json *probe);

#endif
