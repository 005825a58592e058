/*
 * What the answer says about a metric query: its definitions, and one
 * sentence that names filters, period, unit and the rules for missing values. Cannot fail.
 */
#include "agents/query/metrics/compile_internal.h"

#include <string.h>

char *compiler_period_words(const struct query_period *period)
{
	if (!period->to[0])
		return mem_format("from %s", period->from);
	if (!period->from[0])
		return mem_format("before %s", period->to);
	return mem_format("%s to before %s", period->from, period->to);
}

const char *compiler_metric_words(const struct model_metric *metric)
{
	return metric->description[0] ? metric->description : metric->definition;
}

static void add_value(const struct json *value, struct buf *out)
{
	if (json_str(value))
		buf_add_str(out, json_str(value));
	else
		json_write(value, out);
}

static void filter_words(const struct query_filter *filter, const struct model_field *field,
			 struct buf *out)
{
	static const char *const verbs[] = {"is",      "is not", "at least",
					    "at most", "above",	 "below"};
	size_t count = 0;

	if (filter->op == OP_MISSING || filter->op == OP_PRESENT) {
		buf_addf(out, "%s %s", filter->op == OP_MISSING ? "without" : "with", field->label);
		return;
	}
	buf_addf(out, "%s %s ", field->label, verbs[filter->op]);
	json_each(value, filter->values)
	{
		if (count++)
			buf_add_str(out, count == json_len(filter->values) ? " or " : ", ");
		add_value(value, out);
	}
	if (field->unit)
		buf_addf(out, " %s", field->unit);
}

static bool has_text(const struct json *list, const char *text)
{
	json_each(item, list)
	{
		if (strcmp(json_str(item), text) == 0)
			return true;
	}
	return false;
}

void compiler_add_once(struct json *list, const char *text)
{
	if (text && !has_text(list, text))
		json_push_str(list, text);
}

static void condition_words(const struct compiler *compiler, struct json *list)
{
	static const char *const verbs[] = {"is",      "is not", "at least",
					    "at most", "above",	 "below"};

	for (size_t i = 0; i < compiler->query->condition_count; i++) {
		const struct query_condition *condition = &compiler->query->conditions[i];
		const struct model_metric *metric =
			model_metric(compiler->model, condition->metric);
		CLEANUP(mem_freep) char *text = NULL;

		text = mem_format("only with %s %s %s%s%s",
				  metric ? metric->label : condition->metric, verbs[condition->op],
				  condition->value, metric && metric->unit ? " " : "",
				  metric && metric->unit ? metric->unit : "");
		compiler_add_once(list, text);
	}
}

static struct json *period_json(const struct query_period *period, const struct model_field *time)
{
	struct json *json = json_object();

	if (period->from[0])
		json_set_str(json, "from", period->from);
	if (period->to[0])
		json_set_str(json, "to", period->to);
	if (period->label)
		json_set_str(json, "label", period->label);
	json_set_str(json, "field", time->id);
	return json;
}

static struct json *metric_json(const struct model_metric *metric)
{
	struct json *json = json_object();

	json_set_str(json, "name", metric->name);
	json_set_str(json, "label", metric->label);
	json_set_str(json, "definition", compiler_metric_words(metric));
	if (metric->filter_words)
		json_set_str(json, "filter", metric->filter_words);
	if (metric->unit)
		json_set_str(json, "unit", metric->unit);
	if (metric->missing_words)
		json_set_str(json, "missing", metric->missing_words);
	return json;
}

static void part_filters(const struct part *part, struct json *list)
{
	const struct compiler *compiler = part->compiler;
	bool alone = part->one_filter && compiler->part_count == 1;

	for (size_t i = 0; i < part->counted.count; i++)
		compiler_add_once(list, part->counted.items[i]->filter_words);
	for (size_t i = 0; i < part->atom_count; i++) {
		CLEANUP(mem_freep) char *own = NULL;
		const struct model_metric *metric = part->atoms[i];

		if (!metric->filter_words)
			continue;
		own = alone ? mem_str(metric->filter_words)
			    : mem_format("%s: %s", metric->label, metric->filter_words);
		compiler_add_once(list, own);
	}
}

/* Filters in words: soft deletes, the metrics' own, the question's. */
static struct json *all_filters(const struct compiler *compiler)
{
	struct json *list = json_array();

	for (size_t i = 0; i < compiler->part_count; i++)
		part_filters(&compiler->parts[i], list);
	for (size_t i = 0; i < compiler->query->filter_count; i++) {
		CLEANUP(buf_clear) struct buf words = BUF_INIT;

		filter_words(&compiler->query->filters[i], compiler->filter_fields[i], &words);
		compiler_add_once(list, buf_str(&words));
	}
	for (size_t i = 0; i < compiler->query->where.count; i++)
		compiler_add_once(list, compiler->query->where.items[i]);
	for (size_t i = 0; i < compiler->query->having.count; i++)
		compiler_add_once(list, compiler->query->having.items[i]);
	condition_words(compiler, list);
	return list;
}

/* What a reader must know of how a part was taken. */
static void add_part_rules(const struct part *part, struct json *list)
{
	for (size_t i = 0; i < part->atom_count; i++) {
		const struct model_metric *atom = part->atoms[i];
		CLEANUP(mem_freep) char *text = NULL;

		if (atom->snapshot)
			text = mem_format("%s at the %s %s recorded in each stretch of time",
					  atom->label, atom->snapshot_first ? "first" : "last",
					  atom->snapshot->label);
		else if (atom->per)
			text = mem_format("%s taken per %s first", atom->label, atom->per->label);
		compiler_add_once(list, text);
	}
	if (part->linked) {
		CLEANUP(mem_freep)
		char *text = mem_format("a row of %s counts once in each group it belongs to, so "
					"groups may add up to more than the whole",
					part->base->label);

		compiler_add_once(list, text);
	}
	if (part->compiler->query->top.count > 0)
		compiler_add_once(list, "ties are shown together");
}

/* Rules for missing values, as far as this query meets them. */
static struct json *all_missing(const struct compiler *compiler)
{
	struct json *list = json_array();

	for (size_t i = 0; i < compiler->metric_count; i++)
		compiler_add_once(list, compiler->metrics[i]->missing_words);
	for (size_t i = 0; i < compiler->dimension_count; i++) {
		const struct model_field *field = compiler->dimensions[i].field;
		CLEANUP(mem_freep) char *text = NULL;

		if (!field || !field->missing)
			continue;
		text = mem_format("missing %s %s", field->label, field->missing);
		compiler_add_once(list, text);
	}
	if (compiler->per) {
		CLEANUP(mem_freep)
		char *text = mem_format("only %s %s with rows enters the average",
					strchr("aeiouAEIOU", compiler->per->label[0]) ? "an" : "a",
					compiler->per->label);

		compiler_add_once(list, text);
	}
	for (size_t i = 0; i < compiler->query->condition_count; i++) {
		enum filter_op op = compiler->query->conditions[i].op;

		if (op == OP_LESS || op == OP_AT_MOST || op == OP_NOT)
			compiler_add_once(list, "groups without any rows are not shown");
	}
	for (size_t i = 0; i < compiler->part_count; i++)
		add_part_rules(&compiler->parts[i], list);
	return list;
}

static void join_texts(const struct json *list, struct buf *out)
{
	json_each(item, list) buf_addf(out, "%s%s", out->len ? ", " : "", json_str(item));
}

/* Where rows carry several dates, it is said which one counts. */
static bool several_dates(const struct model_dataset *dataset)
{
	size_t count = 0;

	for (size_t i = 0; i < dataset->field_count; i++)
		count += dataset->fields[i].is_time ? 1 : 0;
	return count > 1;
}

/* The date that the period is about; NULL when there is none, or each part has its own. */
static const struct model_field *the_date(const struct compiler *compiler)
{
	for (size_t i = 1; i < compiler->part_count; i++)
		if (compiler->parts[i].time != compiler->parts[0].time)
			return NULL;
	return compiler->query->period.set && compiler->part_count > 0 ? compiler->parts[0].time
								       : NULL;
}

/* "dated by closed on", when no period of that date says it already. */
static void add_date_words(const struct compiler *compiler, struct buf *out)
{
	for (size_t i = 0; i < compiler->dimension_count; i++) {
		const struct compiled_dimension *dimension = &compiler->dimensions[i];

		if (dimension->bucket == BUCKET_NONE || dimension->field == NULL ||
		    dimension->field == the_date(compiler) ||
		    !several_dates(dimension->field->dataset))
			continue;
		buf_addf(out, "%sdated by %s", out->len ? ", " : "", dimension->field->label);
		return;
	}
}

static void add_period_words(const struct compiler *compiler, struct buf *out)
{
	const struct metric_query *query = compiler->query;
	const struct model_field *date = the_date(compiler);
	CLEANUP(mem_freep) char *now = NULL;
	CLEANUP(mem_freep) char *before = NULL;

	if (!query->period.set)
		return;
	now = compiler_period_words(&query->period);
	buf_add_str(out, out->len ? ", " : "");
	if (date != NULL && several_dates(date->dataset))
		buf_addf(out, "%s ", date->label);
	buf_add_str(out, now);
	if (!query->compare.set)
		return;
	before = compiler_period_words(&query->compare);
	buf_addf(out, " against %s", before);
}

/* Whose days they are, where it matters. */
static void add_zone_words(const struct compiler *compiler, struct buf *out)
{
	for (size_t i = 0; i < compiler->part_count; i++) {
		const struct model_field *time = compiler->parts[i].time;

		for (size_t j = 0; !time && j < compiler->dimension_count; j++) {
			const struct model_field *field = compiler->dimensions[j].field;

			if (field && field->instant && compiler->dimensions[j].bucket)
				time = field;
		}
		if (!time || !time->instant)
			continue;
		buf_addf(out, "%sdays of %s", out->len ? ", " : "",
			 time->zone ? time->zone->name : "UTC");
		return;
	}
}

static void add_unit_words(const struct compiler *compiler, struct buf *out)
{
	CLEANUP(json_freep) struct json *units = json_array();

	for (size_t i = 0; i < compiler->metric_count; i++)
		compiler_add_once(units, compiler->metrics[i]->unit);
	join_texts(units, out);
}

static void add_words(const struct compiler *compiler, struct compiled_query *compiled)
{
	const struct metric_query *query = compiler->query;
	CLEANUP(buf_clear) struct buf sentence = BUF_INIT;
	struct json *words = json_object(), *metrics = json_array();
	struct json *filters = all_filters(compiler), *missing = all_missing(compiler);

	for (size_t i = 0; i < compiler->metric_count; i++)
		json_push(metrics, metric_json(compiler->metrics[i]));
	join_texts(filters, &sentence);
	add_date_words(compiler, &sentence);
	add_period_words(compiler, &sentence);
	add_zone_words(compiler, &sentence);
	add_unit_words(compiler, &sentence);
	join_texts(missing, &sentence);
	json_set(words, "metrics", metrics);
	json_set(words, "filters", filters);
	if (query->period.set)
		json_set(words, "period", period_json(&query->period, compiler->parts[0].time));
	if (query->compare.set)
		json_set(words, "compare", period_json(&query->compare, compiler->parts[0].time));
	json_set(words, "missing", missing);
	json_set_str(words, "sentence", buf_str(&sentence));
	compiled->words = words;
}

void compiler_words(const struct compiler *compiler, struct compiled_query *compiled)
{
	compiled->texts = json_array();
	compiled->definitions = json_array();
	compiler_columns(compiler, compiled);
	add_words(compiler, compiled);
	compiler_plan(compiler, compiled);
	for (size_t i = 0; i < compiler->metric_count; i++) {
		struct json *item = json_object();

		json_set_str(item, "metric", compiler->metrics[i]->name);
		json_set_str(item, "definition", compiler_metric_words(compiler->metrics[i]));
		json_set_str(item, "source", compiler->metrics[i]->at);
		json_push(compiled->definitions, item);
	}
}
