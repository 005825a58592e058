/*
 * The model compiler: what Ossie has no place for and a metric says under vendor WRIT: its fact,
 * its filter, numbers and units, expected values, snapshots, what it is taken per.
 */
#include "agents/query/metrics/model_source_metric.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

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
	source_set_text(out, "from", from);
	source_set_text(out, "to", to);
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
		metric_collect_field(reading, field);
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

void metric_read_extension(struct metric_reading *reading, struct json *metric)
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
		source_set_taken(metric, "label", source_label(reading->name));
	if (reading->made) {
		source_made(reading->source, reading->node, node, extension, reading->expr,
			    reading->metrics, metric);
		read_expected(reading, node, extension, metric);
		return;
	}
	metric_find_fact(reading, json_get_str(extension, "dataset"), node);
	if (!reading->dataset)
		return;
	metric_check_grain(reading);
	metric_read_filter(reading, node, extension);
	read_numbers(reading, node, extension, metric);
	read_expected(reading, node, extension, metric);
	time = read_time(reading, node, extension);
	metric_collect_reads(reading, time);
	read_snapshot(reading, node, json_get(extension, "snapshot"), metric);
	read_per(reading, node, extension, metric);
	json_set_str(metric, "dataset", reading->dataset->name);
	json_set_str(metric, "table", reading->dataset->table);
	source_set_text(metric, "time", time);
	source_set_text(metric, "filter", json_get_str(extension, "filter"));
	source_set_text(metric, "filter_words", json_get_str(extension, "filter_words"));
	source_set_text(metric, "missing_words", json_get_str(extension, "missing_words"));
	source_set_text(metric, "unit", json_get_str(extension, "unit"));
	json_set(metric, "reads", TAKE(reading->reads));
}
