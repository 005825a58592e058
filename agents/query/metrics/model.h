/*
 * The semantic model of one source, as agents use it: what there is to measure, to group by and to
 * filter, in which words people ask for it, and how the tables meet.
 *
 *   metrics/x.yaml --(model_source.c; in `writ`)--> state/config/model.json, one model per source
 *   model.json --(the broker, less what the scope hides)--> list_metrics --(model_from_json)-->
 * here
 *
 * A model is immutable once read, and everything reachable from it is owned by it. Text is never
 * NULL where a comment does not say so. Layout of the JSON: docs/metrics.md.
 */
#ifndef AGENTS_QUERY_METRICS_MODEL_H
#define AGENTS_QUERY_METRICS_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/json.h"

struct buf;
struct expr; /* agents/query/metrics/expression.h */
struct model;
struct model_dataset;

struct words { /* a borrowed list of texts */
	const char *const *items;
	size_t count;
};

/* How a time field is stored; every one compares rightly with a bound in its own format. */
enum time_format { TIME_TEXT, TIME_EPOCH }; /* ISO 8601 text (date first); seconds since 1970 */

enum field_type { TYPE_UNKNOWN, TYPE_STRING, TYPE_INTEGER, TYPE_DECIMAL, TYPE_BOOLEAN, TYPE_TIME };

struct model_value { /* a stored value that people call by other words */
	const char *value;
	struct words synonyms;
};

struct model_offset {	  /* of a zone, from a moment on */
	const char *from; /* "2026-03-29 01:00:00", UTC */
	int minutes;	  /* to add to UTC */
};

struct model_zone { /* the zone in which days are business days */
	const char *name;
	const struct model_offset *offsets; /* ascending; the first holds from the beginning */
	size_t count;
};

struct model_field {
	const struct model_dataset *dataset;
	const char *name;
	const char *id;		 /* "dataset.name", unique in the model */
	const char *label;	 /* for headings: "region" */
	const char *description; /* "" when none */
	struct words synonyms;
	const struct expr *expression; /* over columns of the dataset's table */
	enum field_type type;
	const char *unit; /* NULL when none */
	bool dimension;	  /* may be grouped by and filtered on */
	bool is_time;	  /* periods and time buckets apply */
	bool names_row;	  /* one value names one row (a person's name): grouped by key as well */
	enum time_format time_format;
	bool instant; /* a moment, in UTC or with its offset: its day depends on a zone */
	const struct model_zone *zone; /* of an instant; NULL: UTC */
	const char *missing; /* label of a missing value ("Unknown"); NULL when none is agreed */
	const struct model_value *values;
	size_t value_count;
	struct words reads; /* "table.column" */
	const char *at;	    /* metrics/sales.yaml:31 */
	int column;	    /* in that line, from 1; 0 when unknown */
};

struct model_dataset {
	const char *name;
	const char *table;
	const char *label;	 /* "orders" */
	const char *description; /* "" when none */
	const char *grain;	 /* "one row = one order"; "" when none */
	struct words synonyms;
	struct words primary_key; /* columns; empty when none */
	const struct words *unique_keys;
	size_t unique_key_count;
	const struct expr *filter; /* rows that count (soft delete); NULL when all do */
	const char *filter_words;  /* "orders not deleted"; NULL without filter */
	const char *time;	   /* id of the default time field; NULL when none */
	const struct model_field *fields;
	size_t field_count;
	const char *at;
	int column;
};

struct model_relationship { /* each row of from has at most one row of to */
	const char *name;
	const struct model_dataset *from;
	const struct model_dataset *to;
	struct words from_columns;
	struct words to_columns; /* as many */
	struct words reads;
	const char *at;
	int column;
};

enum additivity { ADDITIVE, NOT_ADDITIVE }; /* may values of groups be added up? */

struct expected_value {	   /* what the metric is known to be, checked by `writ metric check` */
	const char *value; /* decimal text: "850.00" */
	const char *from;  /* 2026-07-01; NULL when over all time */
	const char *to;	   /* exclusive; NULL likewise */
	const char *at;
	int column;
};

struct model_metric {
	const char *name;
	const char *label;
	const char *description; /* the definition in words */
	struct words synonyms;
	const struct expr *expression;	     /* aggregates over fields */
	const char *definition;		     /* the expression as text */
	const struct model_dataset *dataset; /* the fact: its rows are aggregated */
	const struct expr *filter;	     /* NULL when none */
	const char *filter_words;	     /* "completed orders"; NULL without filter */
	const char *missing_words; /* "missing discount 0"; NULL when nothing is to be said */
	const char *unit;	   /* "USD"; NULL when a plain number */
	int scale;		   /* stored units per unit: 100 for cents; 1 */
	int decimals;		   /* places shown: 2 for USD, 0 for counts */
	bool exact;		   /* sums and counts of integers: no rounding happens */
	bool non_negative;
	bool higher_is_better; /* "best" may mean highest */
	enum additivity additivity;
	const char *time; /* id of the default time field; NULL when none */
	/* Made of other metrics: the expression names them, without a dataset, and each is taken
	 * at its own grain before they meet. Then dataset is that of the first. */
	const struct model_metric *const *inputs;
	size_t input_count;
	/* A stock, not a flow (a balance): of each stretch of time only the last (or first) moment
	 * counts, per what is listed (an account) or over all. NULL when it is none. */
	const struct model_field *snapshot;
	bool snapshot_first;
	const struct model_field *const *snapshot_per;
	size_t snapshot_per_count;
	/* Taken per this first, and then put together by this aggregate ("avg"); NULL when not. */
	const struct model_field *per;
	const char *then;
	const struct expected_value *expected;
	size_t expected_count;
	struct words reads;
	const char *at;
	int column;
};

/* json is one model (a member of model.json, or `model` of list_metrics). Members that a scope
 * hides may be missing; what refers to a hidden field, time or relationship does without it. */
MUST_CHECK int model_from_json(const struct json *json, struct model **ret_model, struct err *err);
void model_free(struct model *model); /* NULL is fine */
void model_freep(struct model **model);

const char *model_source(const struct model *model);	  /* name of the source: "sales" */
const char *model_description(const struct model *model); /* "" when none */

/* The month in which the fiscal year begins; 0 when none is defined. A fiscal year has the number
 * of the calendar year in which it ends. */
int model_fiscal_start(const struct model *model);
/* The zone in which days are business days; NULL when none is named. */
const char *model_zone_name(const struct model *model);

size_t model_dataset_count(const struct model *model);
const struct model_dataset *model_dataset_at(const struct model *model, size_t index);
size_t model_relationship_count(const struct model *model);
const struct model_relationship *model_relationship_at(const struct model *model, size_t index);
size_t model_metric_count(const struct model *model);
const struct model_metric *model_metric_at(const struct model *model, size_t index);

/* NULL when there is none of that name. */
const struct model_dataset *model_dataset(const struct model *model, const char *name);
const struct model_field *model_field(const struct model *model, const char *id);
const struct model_metric *model_metric(const struct model *model, const char *name);
const struct model_field *
model_field_of_column(const struct model *model, const char *table,
		      const char *column); /* a field that is that column */

/* The way from one dataset to another along to-one relationships. */
enum model_path { PATH_NONE, PATH_ONE, PATH_SEVERAL };
#define MODEL_PATH_MAX 8
enum model_path
model_path(const struct model *model, const struct model_dataset *from,
	   const struct model_dataset *to,
	   const struct model_relationship *ret_steps[MODEL_PATH_MAX],
	   size_t *ret_count); /* ret_ may be NULL; from == to is PATH_ONE, 0 steps */
/* As model_path(), through these relationships alone where one of several must be chosen (by name;
 * NULL: no choice made). */
enum model_path model_path_via(const struct model *model, const struct model_dataset *from,
			       const struct model_dataset *to, const struct words *via,
			       const struct model_relationship *ret_steps[MODEL_PATH_MAX],
			       size_t *ret_count);
/* Names of every relationship that lies on some way between them, for messages: "a, b". */
void model_path_names(const struct model *model, const struct model_dataset *from,
		      const struct model_dataset *to, struct buf *out);
/* The way over rows that point at from (children), and on along to-one relationships: a row of from
 * may meet many of to. The first step is walked from its to side. */
enum model_path model_link(const struct model *model, const struct model_dataset *from,
			   const struct model_dataset *to, const struct words *via,
			   const struct model_relationship *ret_steps[MODEL_PATH_MAX],
			   size_t *ret_count);
/* Does a row of it only say which rows of several datasets belong together? Its primary key is
 * made of their keys. */
bool model_is_bridge(const struct model *model, const struct model_dataset *dataset);
/* Can the metric be grouped by or filtered on the field? */
bool model_reaches(const struct model *model, const struct model_metric *metric,
		   const struct model_field *field);

/*
 * metrics/ of a workspace, compiled for state/config/model.json: an object with one model per
 * source. Every mistake of every file is added to mistakes as "file:line:column: text" with the
 * line and a caret; then the result is ERR_INVALID and names how many. A workspace without metrics/
 * gives {}. In model_source.c; needs libyaml, so only `writ` links it (target model_source).
 */
MUST_CHECK int model_compile(int workspace_fd, const char *const *sources, size_t source_count,
			     struct json **ret_models, struct buf *mistakes, struct err *err);

#endif
