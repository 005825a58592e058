/*
 * What the files of the metric compiler share. Read compile.c first.
 *
 *   asked      what the question names: metrics of the model, measures written as expressions
 *   atom       a metric that is one aggregate expression over the rows of one fact; a metric made
 *              of other metrics has several
 *   part       the atoms of one fact, aggregated to the grain of the question by one SELECT
 *   level two  works on the aggregates alone: what is made of several, shares, comparisons
 */
#ifndef AGENTS_QUERY_METRICS_COMPILE_INTERNAL_H
#define AGENTS_QUERY_METRICS_COMPILE_INTERNAL_H

#include "agents/query/metrics/compile.h"
#include "agents/query/metrics/model_internal.h"

#define COMPILE_METRICS_MAX 8
#define COMPILE_ATOMS_MAX 24
#define COMPILE_PARTS_MAX 8
#define COMPILE_DIMENSIONS_MAX 8

struct compiled_dimension {
	const struct model_field *field; /* NULL: each part's own time */
	enum time_bucket bucket;
	char *name; /* of the result column; owned */
};

struct part_join { /* of one dataset that is joined */
	const struct model_relationship *step;
	bool reversed; /* from its one to its many */
	bool far;      /* a row of the base may meet several */
};

struct part {
	const struct compiler *compiler;
	const struct model_dataset *base; /* its rows are counted */
	const struct model_metric *atoms[COMPILE_ATOMS_MAX];
	size_t atom_count;
	const struct model_field *time; /* of periods and of QUERY_TIME; NULL when not needed */
	/* Datasets whose own filter (soft delete) applies: those the numbers are made of. */
	struct dataset_set counted;
	struct dataset_set joined;		    /* in join order, base first */
	struct part_join joins[MODEL_DATASETS_MAX]; /* of joined[i], i >= 1 */
	bool linked;				    /* is any of them far? */
	bool one_filter;    /* every atom has the same filter: it stands in WHERE */
	bool without_where; /* it is joined, and part_where() is not written */
};

struct compiler {
	const struct metric_query *query;
	const struct model *model;
	const struct model_metric *metrics[COMPILE_METRICS_MAX]; /* asked */
	size_t metric_count;
	const struct model_metric *atoms[COMPILE_ATOMS_MAX]; /* of all parts */
	size_t atom_count;
	struct part parts[COMPILE_PARTS_MAX];
	size_t part_count;
	struct compiled_dimension dimensions[COMPILE_DIMENSIONS_MAX];
	size_t dimension_count;
	const struct model_field **filter_fields; /* owned; one per filter of the query */
	const struct model_field *per;		  /* average_per; NULL when none */
	struct model_metric *measures;		  /* owned; one per measure of the query */
	struct expr **where;			  /* owned; one per text of the query */
	struct expr **having;
	struct expr **exprs; /* owned: expressions of measures */
	size_t expr_count;
	void **kept; /* owned: lists of inputs */
	size_t kept_count;
};

/* compile_names.c: names -> pointers. */
MUST_CHECK int compiler_find_metric(const struct model *model, const char *name,
				    const struct model_metric **ret, struct err *err);
MUST_CHECK int compiler_find_field(const struct model *model, const char *id,
				   const struct model_field **ret, struct err *err);
MUST_CHECK int compiler_names(struct compiler *compiler, struct err *err);
MUST_CHECK int compiler_filter_fields(struct compiler *compiler, struct err *err);

/* compile_measure.c: expressions that the asker wrote. */
MUST_CHECK int compiler_expressions(struct compiler *compiler, struct err *err);
MUST_CHECK int compiler_measure(struct compiler *compiler, size_t index, struct err *err);

/* Windows over groups: what they name besides metrics is a dimension. */
MUST_CHECK int compiler_check_windows(const struct compiler *compiler, struct err *err);

/* compile_part.c: the atoms by their facts; each part's time, filters and ways. */
MUST_CHECK int compiler_parts(struct compiler *compiler, struct err *err);
const struct model_field *part_dimension_field(const struct part *part, size_t dimension);

/* The relationships chosen by name. */
struct words compiler_via(const struct compiler *compiler);

/* compile_join.c: the ways from the base to everything named. */
MUST_CHECK int part_join(struct part *part, struct err *err);
/* The base, these datasets and the period's, each one row for a row of the base. */
MUST_CHECK int part_join_all(struct part *part, const struct dataset_set *set, struct err *err);
/* FROM and its joins; without the far ones, and so without a row repeated, unless far is set. */
void part_from(const struct part *part, bool far, struct buf *out);
void part_join_one(const struct part *part, size_t index, struct buf *out);
/* A join with the windowed fields of a dataset that is there, worked out over all its rows. */
void compiler_write_windows(const struct model_dataset *dataset, const struct model_field **fields,
			    size_t count, struct buf *out);

/* compile_filter.c: fields, values and conditions. */
void compiler_column(const struct expr_writer *writer, const struct expr *column, struct buf *out);
/* Below a field, a name is a column of the table of the dataset that is the writer's data. */
void compiler_own_column(const struct expr_writer *writer, const struct expr *column,
			 struct buf *out);
void compiler_field(const struct model_field *field, struct buf *out);
MUST_CHECK int compiler_filter(const struct query_filter *filter, const struct model_field *field,
			       const char *shown_as, struct buf *out, struct err *err);
/* Must the filter wait until shares are taken? Returns the dimension it is about, or NULL. */
const struct compiled_dimension *compiler_late(const struct compiler *compiler, size_t filter);
/* The name that a windowed field's dataset has beside it, where its windows are worked out. */
void compiler_windows_name(const struct model_dataset *dataset, struct buf *out);

/* compile_time.c: as grouped and shown: bucketed, its missing value labelled. compiler may be NULL
 * where no bucket is. */
void compiler_dimension(const struct compiler *compiler, const struct model_field *field,
			enum time_bucket bucket, struct buf *out);
void part_dimension(const struct part *part, size_t dimension, struct buf *out);
void part_period(const struct part *part, const struct query_period *period, struct buf *out);
/* field >= the begin of the day from_days after from AND field < that of to; "" is open. */
void compiler_range(const struct model_field *field, const char *from, int from_days,
		    const char *to, int to_days, struct buf *out);

/* compile_where.c */
MUST_CHECK int part_where(const struct part *part, struct buf *out, struct err *err);
/* compile_required.c: does WHERE drop the rows without joined[index]? Then it is an inner join. */
bool part_requires(const struct part *part, size_t index);

/* compile_part_sql.c: the SELECT of one part, without order. */
MUST_CHECK int part_select(const struct part *part, bool keys, bool scaled, struct buf *out,
			   struct err *err);
/* The metric's value before scaling; in a period, when WHERE holds more than that. */
void part_raw(const struct part *part, const struct model_metric *atom,
	      const struct query_period *period, struct buf *out);
/* The argument of the aggregate that the atom is, under the same conditions. */
void part_argument(const struct part *part, const struct model_metric *atom,
		   const struct query_period *period, struct buf *out);
/* The rows that the atoms are taken of, each in its groups: dimensions and keys by their names, then
 * what columns() writes, with a separator in front. */
typedef void part_columns(const struct part *part, struct buf *out);
MUST_CHECK int part_rows(const struct part *part, part_columns *columns, struct buf *out,
			 struct err *err);
void part_group_by_names(const struct compiler *compiler, struct buf *out);
/* compile_ranked.c: the SELECT of a part whose atom is a median or the like. */
MUST_CHECK int part_ranked(const struct part *part, struct buf *out, struct err *err);
/* operand / scale, rounded unless it is a whole number of stored units. */
void compiler_scaled(const struct model_metric *metric, const char *operand, bool exact,
		     int decimals, struct buf *out);
/* Key columns that keep apart rows of one name, for each dimension that has them. */
enum key_form {
	KEY_COLUMN, /* "customers"."customer_id" */
	KEY_DEFINE, /* the same AS "key_1_1" */
	KEY_ALIAS,  /* "key_1_1" */
};
void compiler_keys(const struct compiler *compiler, const char *before, enum key_form form,
		   struct buf *out);
void compiler_separator(size_t *count, struct buf *out);
void compiler_suffixed(const char *name, const char *suffix, struct buf *out);
/* GROUP BY the first columns. */
void compiler_positions(const struct compiler *compiler, struct buf *out);

/* compile_stitch.c: WITH ... "grouped" AS (...), one part or several put together. */
MUST_CHECK int compiler_grouped(const struct compiler *compiler, struct buf *out, struct err *err);

/* compile_step.c: the one dimension of time that is walked along; NULL when there is no such one.
 */
const struct compiled_dimension *compiler_step(const struct compiler *compiler);
/* , "stepped" AS (...): "grouped" with what was before. */
void compiler_stepped(const struct compiler *compiler, struct buf *out);

/* compile_freshness.c: the newest day that rows of the part have; NULL when none is asked for. The
 * caller frees. */
char *part_freshness(const struct part *part);

/* compile_sql.c: the statement. */
MUST_CHECK int compiler_sql(const struct compiler *compiler, struct buf *out, struct err *err);
/* Are there aggregates in "grouped" first, scaled and compared in a second level? */
bool compiler_two_levels(const struct compiler *compiler);
/* The n-th column of the result after the dimensions; false when there are no more. */
struct output_column {
	const struct model_metric *metric;
	enum column_role role;
};
bool compiler_output(const struct compiler *compiler, size_t index, struct output_column *ret);
char *compiler_output_name(const struct compiler *compiler, const struct output_column *column);
int compiler_decimals(const struct compiler *compiler, const struct output_column *column);
/* A metric from the columns of "grouped", before its scale; suffix: "" or "_previous". */
void compiler_value(const struct compiler *compiler, const struct model_metric *metric,
		    const char *suffix, struct buf *out);
/* What a name in a metric that is made of others stands for: one of these, or (in a window) a
 * dimension of the query; NULL when neither. */
const struct model_metric *compiler_input(const struct model_metric *metric,
					  const struct expr *column);
const struct compiled_dimension *compiler_named_dimension(const struct compiler *compiler,
							  const struct expr *column);

/* compile_pick.c: conditions on what is measured, and the first within each group. */
MUST_CHECK int compiler_having(const struct compiler *compiler, struct buf *out, struct err *err);
bool compiler_picks(const struct compiler *compiler);
MUST_CHECK int compiler_pick(const struct compiler *compiler, struct buf *out, struct err *err);
MUST_CHECK int compiler_check_picks(const struct compiler *compiler, struct err *err);
/* ", RANK() OVER (...) AS "place"", when it is asked for. */
void compiler_place(const struct compiler *compiler, struct buf *out);

/* compile_rows.c: a query of fields. */
MUST_CHECK int compiler_rows(const struct metric_query *query, const struct model *model,
			     struct compiled_query *compiled, struct err *err);

/* compile_order.c */
MUST_CHECK int compiler_order(const struct compiler *compiler, struct buf *out, struct err *err);

/* compile_words.c: what the answer says about it. */
void compiler_words(const struct compiler *compiler, struct compiled_query *compiled);
char *compiler_period_words(const struct query_period *period); /* the caller's */
const char *compiler_metric_words(const struct model_metric *metric);
void compiler_add_once(struct json *list, const char *text);
/* compile_columns.c, compile_plan.c */
const char *compiler_bucket_words(enum time_bucket bucket); /* "month" */
void compiler_columns(const struct compiler *compiler, struct compiled_query *compiled);
void compiler_plan(const struct compiler *compiler, struct compiled_query *compiled);

#endif
