/* What the files of the metric compiler share. Read compile.c first. */
#ifndef AGENTS_QUERY_METRICS_COMPILE_INTERNAL_H
#define AGENTS_QUERY_METRICS_COMPILE_INTERNAL_H

#include "agents/query/metrics/compile.h"
#include "agents/query/metrics/model_internal.h"

#define COMPILE_METRICS_MAX 8
#define COMPILE_DIMENSIONS_MAX 8

struct compiled_dimension {
	const struct model_field *field;
	enum time_bucket bucket;
	char *name; /* of the result column; owned */
};

struct compiler {
	const struct metric_query *query;
	const struct model *model;
	const struct model_dataset *base; /* its rows are counted */
	const struct model_metric *metrics[COMPILE_METRICS_MAX];
	size_t metric_count;
	struct compiled_dimension dimensions[COMPILE_DIMENSIONS_MAX];
	size_t dimension_count;
	const struct model_field **filter_fields; /* owned; one per filter of the query */
	const struct model_field *per;		  /* average_per; NULL when none */
	const struct model_field *time;		  /* of the periods; NULL without period */
	/* Datasets whose own filter (soft delete) applies: those the numbers are made of. */
	struct dataset_set counted;
	struct dataset_set joined;				    /* in join order, base first */
	const struct model_relationship *joins[MODEL_DATASETS_MAX]; /* of joined[i], i >= 1 */
	bool one_filter; /* every metric has the same filter: it stands in WHERE */
};

/* compile.c: names -> pointers, the base, the period's field. */
/* compile_join.c: the ways from the base to everything named. */
MUST_CHECK int compiler_join(struct compiler *compiler, struct err *err);
void compiler_from(const struct compiler *compiler, struct buf *out);

/* compile_filter.c: fields, values and conditions. */
void compiler_column(const struct expr_writer *writer, const struct expr *column, struct buf *out);
/* Below a field, a name is a column of the table of the dataset that is the writer's data. */
void compiler_own_column(const struct expr_writer *writer, const struct expr *column,
			 struct buf *out);
void compiler_field(const struct compiler *compiler, const struct model_field *field,
		    struct buf *out);
/* As grouped and shown: bucketed, its missing value labelled. */
void compiler_dimension(const struct compiler *compiler, const struct compiled_dimension *dimension,
			struct buf *out);
void compiler_period(const struct compiler *compiler, const struct query_period *period,
		     struct buf *out);
MUST_CHECK int compiler_filter(const struct compiler *compiler, const struct query_filter *filter,
			       const struct model_field *field, const char *shown_as,
			       struct buf *out, struct err *err);
/* Must the filter wait until shares are taken? Returns the dimension it is about, or NULL. */
const struct compiled_dimension *compiler_late(const struct compiler *compiler, size_t filter);

/* compile_where.c */
MUST_CHECK int compiler_where(const struct compiler *compiler, struct buf *out, struct err *err);

/* compile_sql.c: the statement. */
MUST_CHECK int compiler_sql(const struct compiler *compiler, struct buf *out, struct err *err);
/* Are there aggregates in "grouped" first, scaled and compared in a second level? */
bool compiler_two_levels(const struct compiler *compiler);
/* Every key column of the dimensions, after the text before: under a name of its own (define), or
 * by that name (alias), or as it is. */
void compiler_keys(const struct compiler *compiler, const char *before, bool define, bool alias,
		   struct buf *out);
/* The n-th column of the result after the dimensions; false when there are no more. */
struct output_column {
	const struct model_metric *metric;
	enum column_role role;
};
bool compiler_output(const struct compiler *compiler, size_t index, struct output_column *ret);
char *compiler_output_name(const struct compiler *compiler, const struct output_column *column);
int compiler_decimals(const struct compiler *compiler, const struct output_column *column);

/* compile_order.c */
MUST_CHECK int compiler_order(const struct compiler *compiler, struct buf *out, struct err *err);

/* compile_words.c: what the answer says about it. */
void compiler_words(const struct compiler *compiler, struct compiled_query *compiled);

#endif
