/* What the files of the semantic model share: the model's own memory, and looking names up in
 * expressions. Used by model*.c and compile*.c only. */
#ifndef AGENTS_QUERY_METRICS_MODEL_INTERNAL_H
#define AGENTS_QUERY_METRICS_MODEL_INTERNAL_H

#include "agents/query/metrics/expression.h"
#include "agents/query/metrics/model.h"

struct model {
	struct json *json; /* owns every text that was read */
	void **kept;	   /* owns every array and composed text */
	size_t kept_count;
	struct expr **exprs;
	size_t expr_count;
	struct model_dataset *datasets;
	size_t dataset_count;
	struct model_relationship *relationships;
	size_t relationship_count;
	struct model_metric *metrics;
	struct model_zone zone; /* name NULL: none */
	int fiscal_start;
	size_t metric_count;
};

void *model_keep(struct model *model, void *memory);
struct expr *model_keep_expr(struct model *model, struct expr *expr);

/* model_read.c: members of the model's JSON. A list that is not there has no items; an optional
 * expression that is not there is NULL. Errors name the key. */
const char *model_text_or(const struct json *json, const char *key, const char *fallback);
MUST_CHECK int model_read_items(const struct json *json, const char *key,
				const struct json **ret_list, struct err *err);
MUST_CHECK int model_words_of(struct model *model, const struct json *list, struct words *ret_words,
			      struct err *err);
MUST_CHECK int model_read_words(struct model *model, const struct json *json, const char *key,
				struct words *ret_words, struct err *err);
MUST_CHECK int model_read_expr(struct model *model, const struct json *json, const char *key,
			       const struct expr **ret_expr, struct err *err);
MUST_CHECK int model_read_optional_expr(struct model *model, const struct json *json,
					const char *key, const struct expr **ret_expr,
					struct err *err);
/* model_datasets.c, model_metrics.c */
MUST_CHECK int model_read_dataset(struct model *model, const struct json *json,
				  struct model_dataset *dataset, struct err *err);
MUST_CHECK int model_read_metrics(struct model *model, struct err *err);

/* What a column in an expression stands for. */
struct model_ref {
	const struct model_dataset *dataset;
	const struct model_field *field; /* NULL: a key column, by its own name */
	const char *column;		 /* NULL: see field */
};

/* In a metric or its filter: dataset.field, or dataset.column for a column of a key. Unqualified
 * names belong to home; without home they are an error. ERR_NOT_FOUND with the nearest name. */
MUST_CHECK int model_resolve(const struct model *model, const struct expr *column,
			     const struct model_dataset *home, struct model_ref *ret_ref,
			     struct err *err);
bool model_key_column(const struct model *model, const struct model_dataset *dataset,
		      const char *column);

/* Distinct datasets an expression of metric kind reads, at most max; false when it is more, or a
 * name is unknown. */
#define MODEL_DATASETS_MAX 16
struct dataset_set {
	const struct model_dataset *items[MODEL_DATASETS_MAX];
	size_t count;
};
bool dataset_set_add(struct dataset_set *set, const struct model_dataset *dataset);
MUST_CHECK int model_expr_datasets(const struct model *model, const struct expr *expr,
				   const struct model_dataset *home, struct dataset_set *set,
				   struct err *err);

#endif
