/*
 * Metric query + model -> one SELECT for SQLite, right at its grain by construction:
 *
 *  - The rows of the metric's own dataset are aggregated, joined (LEFT, so no row is lost) only
 *    along relationships that have at most one partner per row. A dimension that lies across a
 *    to-many relationship has no such way and is refused.
 *  - Periods are half-open, in the field's stored format. Cents are added as integers and divided
 *    once, at the end. A ratio divides sums, never averages averages. Division is never integer.
 *  - Order is total: ties fall to the dimensions, ascending.
 *
 * Names of tables and columns are quoted by sql_name(), values written by sql_text(): nothing of a
 * question or a model enters the SQL as code. Pure: no I/O, no clock.
 */
#ifndef AGENTS_QUERY_METRICS_COMPILE_H
#define AGENTS_QUERY_METRICS_COMPILE_H

#include <stdbool.h>

#include "agents/query/metrics/metric_query.h"
#include "agents/query/metrics/model.h"
#include "base/buf.h"

enum column_role {
	COLUMN_DIMENSION,
	COLUMN_METRIC,
	COLUMN_PREVIOUS,       /* the metric in the period compared with */
	COLUMN_CHANGE,	       /* metric minus previous */
	COLUMN_CHANGE_PERCENT, /* of previous; missing when previous is 0 */
	COLUMN_SHARE,	       /* percent of the total over all groups */
	COLUMN_RUNNING,	       /* the sum from the first time shown up to this one */
};

struct column_info {	   /* owned by the compiled query */
	const char *name;  /* as in the result */
	const char *label; /* for headings */
	enum column_role role;
	const char *metric; /* name; NULL for a dimension */
	const char *field;  /* id; NULL for a metric */
	enum time_bucket bucket;
	const char *unit; /* "USD", "%"; NULL when none */
	const char *type; /* text, integer, decimal, date */
	int decimals;
	bool non_negative;
	const char *definition; /* in words; NULL when none */
};

struct compiled_query {
	char *sql;
	char *freshness; /* SELECT the newest day of the first fact; NULL without a period */
	struct column_info *columns;
	size_t column_count;
	/* For the answer, the handoff and the report:
	 * {"metrics":[{"name","label","definition","filter","unit","missing"}],
	 *  "filters":["status is completed"], "period":{"from","to","label","field"},
	 *  "compare":{...}, "missing":["missing discount 0","missing region Unknown"],
	 *  "sentence":"completed orders, 2026-07-01 to before 2026-10-01, USD, missing discount 0,
	 * ..."} */
	struct json *words;
	/* Declared before it runs: {"tables":[],"grain","metric_definition","fanout_risk",
	 *  "metrics":[],"dataset"} */
	struct json *plan;
	/* [{"metric","definition","source":"metrics/sales.yaml:40"}] */
	struct json *definitions;
	struct json *texts; /* owns the composed texts of columns */
};

/* ERR_NOT_FOUND: an unknown name (with the nearest); ERR_INVALID: no sound query, saying why. */
MUST_CHECK int metric_query_compile(const struct metric_query *query, const struct model *model,
				    struct compiled_query **ret_compiled, struct err *err);
void compiled_query_free(struct compiled_query *compiled); /* NULL is fine */
void compiled_query_freep(struct compiled_query **compiled);
struct json *compiled_query_columns_json(const struct compiled_query *compiled);
const char *column_role_name(enum column_role role); /* "metric", "previous", ... */

#endif
