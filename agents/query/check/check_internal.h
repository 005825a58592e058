/* What the files of the checks share. Read checks.c first. */
#ifndef AGENTS_QUERY_CHECK_INTERNAL_H
#define AGENTS_QUERY_CHECK_INTERNAL_H

#include "agents/query/check/checks.h"
#include "agents/query/check/sql_parse.h"

#define CHECK_PROBES_MAX 4 /* aggregates measured at once; a statement rarely has more at risk */
#define CHECK_PROBE_COLUMNS 4U /* shown, without the repetition, rows, distinct rows */

/* Judging is linear for what people write, but a chain of queries can multiply it. */
#define CHECK_STEPS_MAX 200000

struct check_context {
	const struct checks_input *input;
	long steps; /* at most CHECK_STEPS_MAX; from then on nothing more is known */
};

/* ---- check_names.c: which table a column is of ---- */

enum reach { REACH_SOURCE, REACH_OUTER, REACH_UNKNOWN };

struct place {
	enum reach reach; /* OUTER: fixed while this level runs */
	size_t source;	  /* of the level, when SOURCE */
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
	const struct sql_select *select;
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

void check_statement(struct check_context *context, const struct sql_statement *statement,
		     struct findings *ret_findings);
void findings_clear(struct findings *findings);

/* ---- check_probe.c ---- */

/* One SELECT that measures the findings it numbers, or NULL when there is nothing to measure. */
char *check_probe(struct check_context *context, const struct sql_statement *statement,
		  struct findings *findings);

/* ---- check_flags.c ---- */

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
	char *probe;
};

void check_values(const struct sql_checks *checks, const struct json *result, struct json *flags);
void check_period(const struct sql_checks *checks, struct json *flags);
void check_declaration(const struct sql_checks *checks, const struct json *result,
		       struct json *flags);

#endif
