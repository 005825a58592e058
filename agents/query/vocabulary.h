/*
 * Everything a question can name: metrics, fields, datasets and stored values, each with the phrase
 * that names it, cut into words as the question is. It comes from the semantic model and from the
 * values that search_values found; no name is known in advance. Pure.
 */
#ifndef AGENTS_QUERY_VOCABULARY_H
#define AGENTS_QUERY_VOCABULARY_H

#include "agents/query/metrics/model.h"
#include "agents/query/sentence.h"
#include "base/json.h"

enum reading_kind {
	READ_METRIC, /* its name, label or synonym */
	READ_COUNT,  /* a metric that counts what the phrase names: "orders" for "order count" */
	READ_FIELD,
	READ_DATASET, /* the things a row stands for: "customers" */
	READ_VALUE,   /* a stored value of field */
	READ_MISSING, /* the label of a missing value of field */
};

struct reading { /* one meaning of a phrase; borrows from the model and the vocabulary */
	enum reading_kind kind;
	const struct model_metric *metric;
	const struct model_field *field;
	const struct model_dataset *dataset;
	const char *value;
	bool deed; /* READ_DATASET as a verb: "ordered" */
};

struct phrase {
	struct sentence words; /* owned */
	char *value;	       /* owned; NULL unless READ_VALUE */
	struct reading reading;
};

struct near {		       /* a stored value that is only similar to a word of the question */
	struct sentence words; /* that word; owned */
	const struct model_field *field;
	const char *value; /* borrowed from the matches */
};

struct vocabulary {
	struct phrase *phrases; /* owned */
	size_t count;
	struct near *near; /* owned */
	size_t near_count;
};

/* matches: the `matches` of search_values; NULL when there are none. */
void vocabulary_init(struct vocabulary *vocabulary, const struct model *model,
		     const struct json *matches);
void vocabulary_clear(struct vocabulary *vocabulary);

/* The metric counts rows or distinct things. */
bool metric_is_count(const struct model_metric *metric);
/* It is one by its expression or by its name: "average order value". */
bool metric_is_average(const struct model_metric *metric);

/* The field whose values name the rows of a dataset; NULL when none or several could. */
const struct model_field *dataset_name_field(const struct model_dataset *dataset);

#endif
