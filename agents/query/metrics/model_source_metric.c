/*
 * The model compiler: metrics.
 *
 * A metric is made of rows of one dataset, its fact: the one from which everything it reads is
 * reached along to-one relationships. Sums, counts and averages must read that dataset, since a
 * value of another would be taken once per row of the fact. Worked out here: the fact, whether
 * values of groups add up, whether the arithmetic is exact, and which columns are read.
 */
#include "agents/query/metrics/model_source_metric.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

static int check_names(const struct expr *node, void *data)
{
	struct metric_reading *reading = data;
	struct model_ref ref;
	struct err err;

	if (node->kind == EXPR_COLUMN && model_resolve(reading->model, node, NULL, &ref, &err) < 0)
		source_mistake(reading->source, reading->node, "metric %s: %s", reading->name,
			       err.text);
	return 0;
}

static bool check_shape(struct metric_reading *reading)
{
	size_t before = reading->source->mistake_count;
	const struct expr *bare = expr_bare_column(reading->expr);

	if (reading->made)
		return source_check_made(reading->source, reading->node, reading->name,
					 reading->expr);
	if (expr_has_window(reading->expr)) {
		source_mistake(reading->source, reading->node,
			       "metric %s: a window over groups is not taken up; ask for a running "
			       "total, or make the window a field",
			       reading->name);
		return false;
	}

	if (expr_has_ranked(reading->expr) && !expr_is_ranked(reading->expr))
		source_mistake(reading->source, reading->node,
			       "metric %s: a median, percentile or deviation stands alone in a "
			       "metric: give it one, and name that here",
			       reading->name);
	if (!expr_has_aggregate(reading->expr))
		source_mistake(reading->source, reading->node,
			       "metric %s adds nothing up: use SUM, COUNT, AVG, MIN or MAX",
			       reading->name);
	else if (bare)
		source_mistake(reading->source, reading->node,
			       "metric %s: %s stands outside of any aggregate", reading->name,
			       bare->text);
	IGNORE(expr_walk(reading->expr, check_names, reading), "it never stops early");
	return reading->source->mistake_count == before;
}

static bool reaches_all(const struct model *model, const struct model_dataset *from,
			const struct dataset_set *set)
{
	for (size_t i = 0; i < set->count; i++) {
		if (model_path(model, from, set->items[i], NULL, NULL) != PATH_ONE)
			return false;
	}
	return true;
}

/* The dataset named by WRIT, or the one that reaches all others. */
void metric_find_fact(struct metric_reading *reading, const char *named, const struct yaml *node)
{
	struct dataset_set set = {.count = 0};
	struct err err;

	if (model_expr_datasets(reading->model, reading->expr, NULL, &set, &err) < 0) {
		source_mistake(reading->source, reading->node, "metric %s: %s", reading->name,
			       err.text);
		return;
	}
	if (named) {
		const struct model_dataset *dataset = model_dataset(reading->model, named);

		if (!dataset)
			source_mistake(reading->source, node, "metric %s: no dataset %s",
				       reading->name, named);
		else if (!reaches_all(reading->model, dataset, &set))
			source_mistake(reading->source, node,
				       "metric %s: a row of %s does not lead to one row of each "
				       "dataset it reads",
				       reading->name, named);
		else
			reading->dataset = dataset;
		return;
	}
	for (size_t i = 0; i < set.count && !reading->dataset; i++) {
		if (reaches_all(reading->model, set.items[i], &set))
			reading->dataset = set.items[i];
	}
	if (set.count == 0)
		source_mistake(reading->source, reading->node,
			       "metric %s: COUNT(*) of what? Name its dataset in WRIT, or count a "
			       "key column",
			       reading->name);
	else if (!reading->dataset)
		source_mistake(reading->source, reading->node,
			       "metric %s reads %s and %s, and a row of neither leads to one row "
			       "of the other: make two metrics of it",
			       reading->name, set.items[0]->name, set.items[1]->name);
}

/* Repeating a row changes sums, counts and averages, but not MIN, MAX or COUNT(DISTINCT). */
static int check_grain(const struct expr *node, void *data)
{
	struct metric_reading *reading = data;
	struct dataset_set set = {.count = 0};
	struct err err;

	if (node->kind != EXPR_AGGREGATE || node->distinct || node->count == 0 ||
	    strcmp(node->text, "min") == 0 || strcmp(node->text, "max") == 0)
		return 0;
	IGNORE(model_expr_datasets(reading->model, node, NULL, &set, &err) < 0, "checked before");
	for (size_t i = 0; i < set.count; i++) {
		if (set.items[i] == reading->dataset)
			return 0;
	}
	if (set.count > 0)
		source_mistake(reading->source, reading->node,
			       "metric %s: %s() over %s would take each row once per row of %s; "
			       "give it a metric of its own",
			       reading->name, node->text, set.items[0]->name,
			       reading->dataset->name);
	return 0;
}

void metric_check_grain(struct metric_reading *reading)
{
	IGNORE(expr_walk(reading->expr, check_grain, reading), "it never stops early");
}

static void check_filter_reach(struct metric_reading *reading, const struct yaml *node)
{
	struct dataset_set set = {.count = 0};
	struct err err;

	if (expr_has_aggregate(reading->filter))
		source_mistake(reading->source, node,
			       "metric %s: its filter picks rows, so it has no aggregate",
			       reading->name);
	if (model_expr_datasets(reading->model, reading->filter, NULL, &set, &err) < 0)
		source_mistake(reading->source, node, "metric %s: filter: %s", reading->name,
			       err.text);
	else if (!reaches_all(reading->model, reading->dataset, &set))
		source_mistake(reading->source, node,
			       "metric %s: filter: a row of %s does not lead to one row of each "
			       "dataset it reads",
			       reading->name, reading->dataset->name);
}

void metric_read_filter(struct metric_reading *reading, const struct yaml *node,
			const struct json *extension)
{
	const char *filter = json_get_str(extension, "filter");
	const char *words = json_get_str(extension, "filter_words");

	if (!filter != !words)
		source_mistake(reading->source, node,
			       "WRIT: filter and filter_words come together: what the answer says "
			       "must be what the query does");
	if (!filter || !words)
		return;
	reading->filter = source_parse(reading->source, node, "filter", filter);
	if (reading->filter)
		check_filter_reach(reading, node);
}

static bool read_head(struct metric_reading *reading)
{
	static const char *const keys[] = {"name",     "expression", "description",
					   "datatype", "ai_context", "custom_extensions",
					   NULL};
	struct source *source = reading->source;

	if (!source_keys(source, reading->map, "a metric", keys) &&
	    yaml_kind(reading->map) != YAML_MAP)
		return false;
	reading->name = source_name(source, reading->map, "a metric");
	if (yaml_get(reading->map, "datatype") && source->before_02)
		source_mistake(source, yaml_get(reading->map, "datatype"),
			       "datatype came with version 0.2.0.dev0 of the format");
	reading->node = source_expression(source, reading->map, "a metric");
	if (!reading->name || !reading->node)
		return false;
	reading->expr =
		source_parse(source, reading->node, reading->name, yaml_text(reading->node));
	return reading->expr && check_shape(reading);
}

struct json *source_metric(struct source *source, const struct yaml *map, const struct model *model,
			   const struct json *metrics)
{
	struct metric_reading reading = {
		.source = source,
		.model = model,
		.map = map,
		.metrics = metrics,
		.made = metrics != NULL,
	};
	size_t before = source->mistake_count;
	CLEANUP(json_freep) struct json *metric = json_object();

	if (read_head(&reading)) {
		json_set_str(metric, "name", reading.name);
		metric_read_extension(&reading, metric);
		source_set_text(metric, "description",
				source_text(source, map, "a metric", "description", false));
		json_set(metric, "synonyms", source_synonyms(source, map, "a metric"));
		json_set_str(metric, "expression", yaml_text(reading.node));
		source_place(metric, map);
	}
	expr_free(reading.expr);
	expr_free(reading.filter);
	json_free(reading.reads);
	return source->mistake_count == before ? TAKE(metric) : NULL;
}
