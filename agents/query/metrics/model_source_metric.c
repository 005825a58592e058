/*
 * The model compiler: metrics.
 *
 * A metric is made of rows of one dataset, its fact: the one from which everything it reads is
 * reached along to-one relationships. Sums, counts and averages must read that dataset, since a
 * value of another would be taken once per row of the fact. Worked out here: the fact, whether
 * values of groups add up, whether the arithmetic is exact, and which columns are read.
 */
#include "agents/query/metrics/model_source.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

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

static void set_taken(struct json *out, const char *key, char *text)
{
	json_set_str(out, key, text);
	mem_free(text);
}

static void set_text(struct json *out, const char *key, const char *text)
{
	if (text)
		json_set_str(out, key, text);
}

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
static void find_fact(struct metric_reading *reading, const char *named, const struct yaml *node)
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

struct own_table {
	struct json *reads;
	const struct model_dataset *dataset;
};

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

static void collect_reads(struct metric_reading *reading, const char *time)
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

static void read_filter(struct metric_reading *reading, const struct yaml *node,
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

static void read_expected_one(struct metric_reading *reading, const struct yaml *node,
			      const struct json *item, struct json *list)
{
	static const char *const keys[] = {"value", "from", "to", NULL};
	const char *from = json_get_str(item, "from"), *to = json_get_str(item, "to");
	const char *value = json_get_str(item, "value");
	struct date first, last;
	struct json *out;
	struct err err;

	if (json_only(item, keys, &err) < 0) {
		source_mistake(reading->source, node, "WRIT: expected: %s", err.text);
		return;
	}
	if (!value || !expr_is_decimal(value)) {
		source_mistake(reading->source, node,
			       "WRIT: expected: value is a number as text: \"850.00\"");
		return;
	}
	if (!from != !to ||
	    (from && (date_read(from, &first, &err) < 0 || date_read(to, &last, &err) < 0 ||
		      date_compare(first, last) >= 0))) {
		source_mistake(reading->source, node,
			       "WRIT: expected: from and to are two dates, to being the first day "
			       "behind the period");
		return;
	}
	out = json_object();
	json_set_str(out, "value", value);
	set_text(out, "from", from);
	set_text(out, "to", to);
	source_place(out, node);
	json_push(list, out);
}

static void read_expected(struct metric_reading *reading, const struct yaml *node,
			  const struct json *extension, struct json *metric)
{
	struct json *list = json_array();

	json_each(item, json_get(extension, "expected"))
	{
		read_expected_one(reading, node, item, list);
	}
	json_set(metric, "expected", list);
}

static void read_numbers(struct metric_reading *reading, const struct yaml *node,
			 const struct json *extension, struct json *metric)
{
	bool whole = source_exact(reading->model, reading->dataset, reading->expr);
	bool adds = source_additive(reading->model, reading->dataset, reading->expr);
	int64_t scale = json_get_int(extension, "scale", 1);
	const struct json *said = json_get(extension, "additive");

	if (scale == 0)
		source_mistake(reading->source, node, "WRIT: scale is at least 1");
	if (json_bool(said) && !adds)
		source_mistake(reading->source, node,
			       "WRIT: metric %s is not additive: only sums and counts of its own "
			       "rows are",
			       reading->name);
	json_set_int(metric, "scale", scale);
	json_set_int(metric, "decimals",
		     json_get_int(extension, "decimals", whole && scale == 1 ? 0 : 2));
	json_set_bool(metric, "exact", whole);
	json_set_bool(metric, "additive", json_is_null(said) ? adds : adds && json_bool(said));
	json_set_bool(metric, "non_negative", json_get_bool(extension, "non_negative", false));
	json_set_bool(metric, "higher_is_better",
		      json_get_bool(extension, "higher_is_better", false));
}

static bool field_id(struct metric_reading *reading, const struct yaml *node, const char *key,
		     const char *id)
{
	const struct model_field *field = id ? model_field(reading->model, id) : NULL;

	if (!field)
		source_mistake(reading->source, node,
			       "WRIT: %s of metric %s: no field %s; write "
			       "dataset.field",
			       key, reading->name, id ? id : "");
	else if (model_path(reading->model, reading->dataset, field->dataset, NULL, NULL) !=
		 PATH_ONE)
		source_mistake(reading->source, node,
			       "WRIT: %s of metric %s: a row of %s does not lead to one %s", key,
			       reading->name, reading->dataset->name, id);
	else {
		add_words(reading->reads, &field->reads);
		collect_way(reading, field->dataset);
	}
	return field != NULL;
}

/* {"time": "balances.day", "take": "last", "per": ["balances.account_id"]} */
static void read_snapshot(struct metric_reading *reading, const struct yaml *node,
			  const struct json *snapshot, struct json *metric)
{
	static const char *const keys[] = {"time", "take", "per", NULL};
	const char *take = json_get_str(snapshot, "take");
	struct err err;

	if (json_is_null(snapshot))
		return;
	if (json_only(snapshot, keys, &err) < 0) {
		source_mistake(reading->source, node, "WRIT: snapshot: %s", err.text);
		return;
	}
	if (take && strcmp(take, "last") != 0 && strcmp(take, "first") != 0)
		source_mistake(reading->source, node, "WRIT: snapshot: take is last or first");
	if (field_id(reading, node, "snapshot.time", json_get_str(snapshot, "time")) &&
	    !model_field(reading->model, json_get_str(snapshot, "time"))->is_time)
		source_mistake(reading->source, node, "WRIT: snapshot: %s is no time",
			       json_get_str(snapshot, "time"));
	json_each(item, json_get(snapshot, "per"))
	{
		if (!field_id(reading, node, "snapshot.per", json_str(item)))
			return;
	}
	json_set(metric, "snapshot", json_copy(snapshot));
	json_set_bool(metric, "additive", false); /* over time it is not */
}

static void read_per(struct metric_reading *reading, const struct yaml *node,
		     const struct json *extension, struct json *metric)
{
	static const char *const known[] = {"avg", "sum", "min", "max", "count"};
	const char *per = json_get_str(extension, "per");
	const char *then = json_get_str(extension, "then");
	bool good = false;

	if (!per && !then)
		return;
	if (reading->expr && expr_is_ranked(reading->expr))
		source_mistake(reading->source, node,
			       "WRIT: per and then: %s() is not taken per something first",
			       reading->expr->text);
	if (!per || !then) {
		source_mistake(reading->source, node, "WRIT: per and then come together");
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		good = good || strcmp(then, known[i]) == 0;
	if (!good)
		source_mistake(reading->source, node,
			       "WRIT: then is avg, sum, min, max or count, not %s", then);
	if (!field_id(reading, node, "per", per))
		return;
	json_set_str(metric, "per", per);
	json_set_str(metric, "then", then);
	json_set_bool(metric, "additive", false);
	json_set_bool(metric, "exact", false);
	if (json_is_null(json_get(extension, "decimals")))
		json_set_int(metric, "decimals", 2);
}

static const char *read_time(struct metric_reading *reading, const struct yaml *node,
			     const struct json *extension)
{
	const char *own = json_get_str(extension, "time");

	if (own)
		source_check_time(reading->source, node, reading->name, reading->model,
				  reading->dataset, own);
	return own ? own : reading->dataset->time;
}

static void read_extension(struct metric_reading *reading, struct json *metric)
{
	static const struct extension_key keys[] = {{"label", EXT_TEXT, 0},
						    {"dataset", EXT_TEXT, 0},
						    {"filter", EXT_TEXT, 0},
						    {"filter_words", EXT_TEXT, 0},
						    {"missing_words", EXT_TEXT, 0},
						    {"unit", EXT_TEXT, 0},
						    {"scale", EXT_INT, 1000000000},
						    {"decimals", EXT_INT, 9},
						    {"non_negative", EXT_BOOL, 0},
						    {"higher_is_better", EXT_BOOL, 0},
						    {"additive", EXT_BOOL, 0},
						    {"time", EXT_TEXT, 0},
						    {"expected", EXT_LIST, 0},
						    {"snapshot", EXT_OBJECT, 0},
						    {"per", EXT_TEXT, 0},
						    {"then", EXT_TEXT, 0},
						    {NULL, EXT_TEXT, 0}};
	const struct yaml *node;
	CLEANUP(json_freep)
	struct json *extension =
		source_extension(reading->source, reading->map, "a metric", keys, &node);
	const char *label = json_get_str(extension, "label");
	const char *time;

	if (label)
		json_set_str(metric, "label", label);
	else
		set_taken(metric, "label", source_label(reading->name));
	if (reading->made) {
		source_made(reading->source, reading->node, node, extension, reading->expr,
			    reading->metrics, metric);
		read_expected(reading, node, extension, metric);
		return;
	}
	find_fact(reading, json_get_str(extension, "dataset"), node);
	if (!reading->dataset)
		return;
	IGNORE(expr_walk(reading->expr, check_grain, reading), "it never stops early");
	read_filter(reading, node, extension);
	read_numbers(reading, node, extension, metric);
	read_expected(reading, node, extension, metric);
	time = read_time(reading, node, extension);
	collect_reads(reading, time);
	read_snapshot(reading, node, json_get(extension, "snapshot"), metric);
	read_per(reading, node, extension, metric);
	json_set_str(metric, "dataset", reading->dataset->name);
	json_set_str(metric, "table", reading->dataset->table);
	set_text(metric, "time", time);
	set_text(metric, "filter", json_get_str(extension, "filter"));
	set_text(metric, "filter_words", json_get_str(extension, "filter_words"));
	set_text(metric, "missing_words", json_get_str(extension, "missing_words"));
	set_text(metric, "unit", json_get_str(extension, "unit"));
	json_set(metric, "reads", TAKE(reading->reads));
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
		read_extension(&reading, metric);
		set_text(metric, "description",
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
