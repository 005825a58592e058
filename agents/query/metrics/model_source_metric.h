/* Reading one metric: what model_source_metric*.c share. Internal to the model compiler. */
#ifndef AGENTS_QUERY_METRICS_MODEL_SOURCE_METRIC_H
#define AGENTS_QUERY_METRICS_MODEL_SOURCE_METRIC_H

#include "agents/query/metrics/model_source.h"

struct metric_reading {
	struct source *source;
	const struct model *model;
	const struct yaml *map;
	const struct yaml *node; /* of the expression */
	const char *name;
	struct expr *expr;   /* owned */
	struct expr *filter; /* owned; NULL when none */
	const struct model_dataset *dataset;
	struct json *reads;	    /* owned until set */
	const struct json *metrics; /* what is read so far, for one that is made of others */
	bool made;		    /* of other metrics */
};

/* model_source_metric.c: the dataset named by WRIT, or the one that reaches all others. */
void metric_find_fact(struct metric_reading *reading, const char *named, const struct yaml *node);
/* Its sums, counts and averages are of rows of that dataset. */
void metric_check_grain(struct metric_reading *reading);
void metric_read_filter(struct metric_reading *reading, const struct yaml *node,
			const struct json *extension);

/* model_source_metric_reads.c: the columns that the metric reads, as "table.column". */
void metric_collect_reads(struct metric_reading *reading, const char *time);
void metric_collect_field(struct metric_reading *reading, const struct model_field *field);

/* model_source_metric_writ.c: what stands under vendor WRIT. */
void metric_read_extension(struct metric_reading *reading, struct json *metric);

#endif
