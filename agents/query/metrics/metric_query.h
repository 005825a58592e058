/*
 * A metric query: what is asked, in the words of the model, before any SQL. The planner (or a
 * language model) writes it; compile.h turns it into SQL that is right at its grain.
 *
 * Values are plain structs that own their text; names are checked against the model by
 * metric_query_compile(), not here. JSON form (unknown members are refused):
 *   {"metrics":["net_sales"],
 *    "dimensions":[{"field":"customers.region"},{"field":"orders.order_date","bucket":"month"}],
 *    "filters":[{"field":"orders.status","op":"=","values":["completed"]}],
 *    "period":{"field":"orders.order_date","from":"2026-07-01","to":"2026-10-01",
 *              "label":"last quarter"},
 *    "compare":{"from":"2026-04-01","to":"2026-07-01","label":"the quarter before"},
 *    "order":[{"by":"net_sales","desc":true,"nulls":"last"}], "limit":3,
 *    "share":true, "running":true, "stepwise":true, "average_per":"customers.name",
 * "dataset":"issues", "conditions":[{"metric":"net_sales","op":">","values":["300"]}],
 *    "top":{"count":1,"within":["customers.region"]}, "via":["order_placed_by"]}
 * and, for those who write expressions of their own (an analyst, another program):
 *   {"measures":[{"expression":"SUM(orders.amount)","as":"revenue"}], "where":["orders.amount >
 * 60"], "having":["SUM(orders.amount) > 100"], "several_groups":true}
 *   {"fields":[{"expression":"orders.id"}, {"expression":"RANK() OVER (...)","as":"rank"}]}
 * A query with fields lists rows of one dataset; it has neither measures nor dimensions.
 */
#ifndef AGENTS_QUERY_METRICS_METRIC_QUERY_H
#define AGENTS_QUERY_METRICS_METRIC_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/json.h"

enum time_bucket {
	BUCKET_NONE,
	BUCKET_DAY,
	BUCKET_WEEK,
	BUCKET_MONTH,
	BUCKET_QUARTER,
	BUCKET_YEAR,
	BUCKET_WEEKDAY,	       /* Monday to Sunday, over all weeks */
	BUCKET_FISCAL_QUARTER, /* FY2026-Q1, of the model's fiscal year */
	BUCKET_FISCAL_YEAR
};

struct query_dimension {
	char *field;		 /* owned; "dataset.field" */
	enum time_bucket bucket; /* of a time field */
};

enum filter_op {
	OP_IN,	     /* one of values; one value is "=" */
	OP_NOT,	     /* none of values; missing values are kept (they are not one of them) */
	OP_AT_LEAST, /* >= */
	OP_AT_MOST,  /* <= */
	OP_MORE,     /* > */
	OP_LESS,     /* < */
	OP_MISSING,  /* has no value */
	OP_PRESENT,
};

struct query_filter {
	char *field; /* owned */
	enum filter_op op;
	struct json *values; /* owned array of strings, integers, reals, booleans; empty for MISSING
				and PRESENT, exactly one for comparisons */
};

struct query_period {
	bool set;
	char *field;		 /* owned; NULL: the metric's (or dataset's) default time field */
	char from[DATE_LEN + 1]; /* inclusive; "" is open (compare needs both) */
	char to[DATE_LEN + 1];	 /* exclusive; "" is open */
	char *label;		 /* owned; the words of the question: "last quarter"; may be NULL */
};

enum query_nulls { NULLS_AS_USUAL, NULLS_FIRST, NULLS_LAST }; /* as usual: last, either way */

struct query_order {
	char *by; /* owned; a metric's name, a dimension's field, or "change", "change_percent" */
	bool desc;
	enum query_nulls nulls;
};

struct query_expression { /* written by the asker, in the language of expression.h */
	char *text;	  /* owned */
	char *name;	  /* owned; of the column; NULL: found from the text */
};

struct query_condition {   /* on what is measured, after it is added up */
	char *metric;	   /* owned */
	enum filter_op op; /* a comparison, "=" or "not" */
	char *value;	   /* owned; a decimal number, in the metric's unit */
};

struct query_top {     /* the first ones within each group, ties included */
	int64_t count; /* 0: not asked for */
	char **within; /* owned; fields of dimensions */
	size_t within_count;
};

struct query_texts {
	char **items; /* owned */
	size_t count;
};

struct metric_query {
	char **metrics; /* owned; none: a listing of the distinct dimension values */
	size_t metric_count;
	struct query_dimension *dimensions;
	size_t dimension_count;
	struct query_filter *filters;
	size_t filter_count;
	struct query_period period;
	struct query_period compare; /* field unused; needs period */
	struct query_order *order;   /* none: the first metric descending, times ascending */
	size_t order_count;
	int64_t limit;	   /* rows asked; 0: all */
	bool share;	   /* adds the percentage of the total over all groups, shown or not */
	char *average_per; /* owned; "dataset.field": the average of the metric's values per it */
	char *dataset; /* owned; which rows a listing looks through; NULL: found from its fields */
	bool stepwise; /* each stretch of time against the one before it */
	bool running;  /* adds the sum from the first time shown to each */
	struct query_condition *conditions; /* all must hold */
	size_t condition_count;
	struct query_top top;
	struct query_texts via;		   /* relationships to take where several lead there */
	struct query_expression *measures; /* beside metrics */
	size_t measure_count;
	struct query_texts where;  /* conditions on rows; all must hold */
	struct query_texts having; /* conditions on groups; all must hold */
	bool several_groups;	   /* a row may belong to several groups, and counts once in each */
	bool lists_rows;	   /* fields are given: rows, nothing added up */
	struct query_expression *fields;
	size_t field_count;
};

/* The id of a dimension that is each fact's own default time. */
#define QUERY_TIME "time"

struct metric_query *metric_query_new(void);
void metric_query_free(struct metric_query *query); /* NULL is fine */
void metric_query_freep(struct metric_query **query);
struct metric_query *metric_query_copy(const struct metric_query *query);

/* Building: texts are copied. */
void metric_query_add_metric(struct metric_query *query, const char *name);
void metric_query_add_dimension(struct metric_query *query, const char *field,
				enum time_bucket bucket);
/* values is taken over; NULL is an empty list. */
void metric_query_add_filter(struct metric_query *query, const char *field, enum filter_op op,
			     struct json *values);
void metric_query_add_filter_str(struct metric_query *query, const char *field, enum filter_op op,
				 const char *value);
void metric_query_add_order(struct metric_query *query, const char *by, bool desc);
/* value is a decimal number as text. */
void metric_query_add_condition(struct metric_query *query, const char *metric, enum filter_op op,
				const char *value);
void metric_query_add_within(struct metric_query *query, const char *field);
void query_texts_add(struct query_texts *texts, const char *text);
void query_expressions_add(struct query_expression **list, size_t *count, const char *text,
			   const char *name);
/* from and to as YYYY-MM-DD or ""; field and label may be NULL. */
MUST_CHECK int query_period_set(struct query_period *period, const char *field, const char *from,
				const char *to, const char *label, struct err *err);

struct json *metric_query_to_json(const struct metric_query *query);
MUST_CHECK int metric_query_from_json(const struct json *json, struct metric_query **ret_query,
				      struct err *err);

const char *time_bucket_name(enum time_bucket bucket); /* "month"; NULL for BUCKET_NONE */
const char *query_nulls_name(enum query_nulls nulls); /* "first", "last"; NULL as usual */
const char *filter_op_name(enum filter_op op);	       /* "=", "not", ">=", ..., "missing" */
bool time_bucket_from_name(const char *name, enum time_bucket *ret_bucket);

#endif
