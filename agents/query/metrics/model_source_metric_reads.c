/* The model compiler: which columns a metric reads, those on the way to them included. */
#include "agents/query/metrics/model_source_metric.h"

#include <string.h>

struct own_table {
	struct json *reads;
	const struct model_dataset *dataset;
};

static void add_read(struct json *reads, const char *read)
{
	json_each(item, reads)
	{
		if (strcmp(json_str(item), read) == 0)
			return;
	}
	json_push_str(reads, read);
}

static void add_words(struct json *reads, const struct words *words)
{
	for (size_t i = 0; i < words->count; i++)
		add_read(reads, words->items[i]);
}

static int collect_read(const struct expr *node, void *data)
{
	struct metric_reading *reading = data;
	CLEANUP(mem_freep) char *read = NULL;
	struct model_ref ref;
	struct err err;

	if (node->kind != EXPR_COLUMN || model_resolve(reading->model, node, NULL, &ref, &err) < 0)
		return 0;
	if (ref.field) {
		add_words(reading->reads, &ref.field->reads);
		return 0;
	}
	read = mem_format("%s.%s", ref.dataset->table, ref.column);
	add_read(reading->reads, read);
	return 0;
}

static int collect_own(const struct expr *node, void *data)
{
	struct own_table *own = data;

	if (node->kind == EXPR_COLUMN) {
		CLEANUP(mem_freep)
		char *read = mem_format("%s.%s", own->dataset->table, node->text);

		add_read(own->reads, read);
	}
	return 0;
}

/* The way to a dataset, and what its own filter reads. */
static void collect_way(struct metric_reading *reading, const struct model_dataset *to)
{
	const struct model_relationship *steps[MODEL_PATH_MAX];
	struct own_table own = {reading->reads, to};
	size_t count = 0;

	if (model_path(reading->model, reading->dataset, to, steps, &count) == PATH_ONE) {
		for (size_t i = 0; i < count; i++)
			add_words(reading->reads, &steps[i]->reads);
	}
	if (to->filter)
		IGNORE(expr_walk(to->filter, collect_own, &own), "it never stops early");
}

void metric_collect_field(struct metric_reading *reading, const struct model_field *field)
{
	add_words(reading->reads, &field->reads);
	collect_way(reading, field->dataset);
}

void metric_collect_reads(struct metric_reading *reading, const char *time)
{
	struct dataset_set set = {.count = 0};
	const struct model_field *field = time ? model_field(reading->model, time) : NULL;
	struct err err;

	reading->reads = json_array();
	dataset_set_add(&set, reading->dataset);
	IGNORE(expr_walk(reading->expr, collect_read, reading), "it never stops early");
	IGNORE(model_expr_datasets(reading->model, reading->expr, NULL, &set, &err) < 0,
	       "checked before");
	if (reading->filter) {
		IGNORE(expr_walk(reading->filter, collect_read, reading), "it never stops early");
		IGNORE(model_expr_datasets(reading->model, reading->filter, NULL, &set, &err) < 0,
		       "checked before");
	}
	if (field) {
		add_words(reading->reads, &field->reads);
		dataset_set_add(&set, field->dataset);
	}
	for (size_t i = 0; i < set.count; i++)
		collect_way(reading, set.items[i]);
	if (json_len(reading->reads) == 0) {
		struct own_table own = {reading->reads, reading->dataset};

		for (size_t i = 0; i < own.dataset->primary_key.count; i++) {
			CLEANUP(mem_freep)
			char *read = mem_format("%s.%s", own.dataset->table,
						own.dataset->primary_key.items[i]);

			add_read(own.reads, read);
		}
	}
}
