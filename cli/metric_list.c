/* writ metric list and show: what can be asked, and exactly what each name means. */
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "cli/commands.h"
#include "cli/metric.h"
#include "cli/table.h"

static void made_of(const struct model_metric *metric, struct buf *out)
{
	if (metric->input_count == 0) {
		buf_add_str(out, metric->dataset->label);
		return;
	}
	for (size_t i = 0; i < metric->input_count; i++)
		buf_addf(out, "%s%s", i ? ", " : "", metric->inputs[i]->name);
}

/* Fields it can be grouped by and filtered on. */
static struct json *dimensions_of(const struct model *model, const struct model_metric *metric)
{
	struct json *list = json_array();

	for (size_t i = 0; i < model_dataset_count(model); i++) {
		const struct model_dataset *dataset = model_dataset_at(model, i);

		for (size_t j = 0; j < dataset->field_count; j++) {
			const struct model_field *field = &dataset->fields[j];

			if (field->dimension && model_reaches(model, metric, field))
				json_push_str(list, field->id);
		}
	}
	return list;
}

static void set_text(struct json *json, const char *key, const char *text)
{
	if (text && text[0])
		json_set_str(json, key, text);
}

static struct json *texts(const struct words *words)
{
	struct json *list = json_array();

	for (size_t i = 0; i < words->count; i++)
		json_push_str(list, words->items[i]);
	return list;
}

static struct json *metric_json(const struct model *model, const struct model_metric *metric)
{
	struct json *json = json_object(), *inputs = json_array();

	json_set_str(json, "name", metric->name);
	json_set_str(json, "label", metric->label);
	set_text(json, "description", metric->description);
	json_set_str(json, "expression", metric->definition);
	json_set_str(json, "dataset", metric->dataset->name);
	for (size_t i = 0; i < metric->input_count; i++)
		json_push_str(inputs, metric->inputs[i]->name);
	json_set(json, "made_of", inputs);
	set_text(json, "filter", metric->filter_words);
	set_text(json, "missing", metric->missing_words);
	set_text(json, "unit", metric->unit);
	set_text(json, "time", metric->time);
	json_set_bool(json, "adds_up", metric->additivity == ADDITIVE);
	if (metric->snapshot)
		json_set_str(json, "snapshot", metric->snapshot->id);
	if (metric->per)
		json_set_str(json, "per", metric->per->id);
	json_set(json, "synonyms", texts(&metric->synonyms));
	json_set(json, "dimensions", dimensions_of(model, metric));
	json_set(json, "reads", texts(&metric->reads));
	set_text(json, "at", metric->at);
	return json;
}

static void print_list(const struct model *model)
{
	static const char *const headings[] = {"METRIC", "UNIT", "OF", "DATE", "MEANS"};
	struct table *table = table_new(headings, ARRAY_LEN(headings));

	for (size_t i = 0; i < model_metric_count(model); i++) {
		const struct model_metric *metric = model_metric_at(model, i);
		CLEANUP(buf_clear) struct buf of = BUF_INIT;

		made_of(metric, &of);
		table_add(table, (const char *const[]){
					 metric->name, metric->unit, buf_str(&of), metric->time,
					 metric->description[0] ? metric->description
								: metric->definition});
	}
	table_print(table, stdout);
	table_free(table);
}

static int list_seen(const struct args *args, const struct metric_session *session)
{
	const struct model *model = session->model;
	CLEANUP(json_freep) struct json *list = json_array();

	for (size_t i = 0; i < model_metric_count(model); i++)
		json_push(list, metric_json(model, model_metric_at(model, i)));
	if (args->json)
		cli_print_json(list);
	else
		print_list(model);
	return EXIT_FINE;
}

static void print_field(const char *name, const char *text)
{
	if (text && text[0])
		printf("%-12s %s\n", name, text);
}

static void print_texts(const char *name, const struct json *list)
{
	CLEANUP(buf_clear) struct buf line = BUF_INIT;

	json_each(item, list) buf_addf(&line, "%s%s", line.len ? ", " : "", json_str(item));
	print_field(name, buf_str(&line));
}

static void print_metric(const struct json *metric, const struct model_metric *found)
{
	print_field("metric", found->name);
	print_field("called", found->label);
	print_field("means", found->description);
	print_field("expression", found->definition);
	print_texts("made of", json_get(metric, "made_of"));
	if (found->input_count == 0)
		print_field("rows of", found->dataset->label);
	print_field("counts", found->filter_words);
	print_field("missing", found->missing_words);
	print_field("unit", found->unit);
	print_field("date", found->time);
	if (found->snapshot)
		printf("%-12s only the %s %s of each stretch of time counts\n", "stock",
		       found->snapshot_first ? "first" : "last", found->snapshot->label);
	if (found->per)
		printf("%-12s taken per %s, then %s\n", "per", found->per->label, found->then);
	print_field("groups", found->additivity == ADDITIVE ? "add up to the whole"
							    : "do not add up to the whole");
	print_texts("synonyms", json_get(metric, "synonyms"));
	print_texts("by", json_get(metric, "dimensions"));
	print_texts("reads", json_get(metric, "reads"));
	print_field("defined at", found->at);
}

static int show_seen(const struct args *args, const struct metric_session *session)
{
	const struct model *model = session->model;
	const struct model_metric *found = model_metric(model, args->words[1]);
	CLEANUP(json_freep) struct json *json = NULL;

	if (!found) {
		CLEANUP(mem_freep)
		const char **names = mem_array(model_metric_count(model) + 1, sizeof(*names));
		const char *near;

		for (size_t i = 0; i < model_metric_count(model); i++)
			names[i] = model_metric_at(model, i)->name;
		near = nearest_word(args->words[1], names, model_metric_count(model));
		return cli_fail(EXIT_NEGATIVE, "no metric %s%s%s%s", args->words[1],
				near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
	}
	json = metric_json(model, found);
	if (args->json)
		cli_print_json(json);
	else
		print_metric(json, found);
	return EXIT_FINE;
}

static int with_model(const struct args *args, const struct metric_options *options,
		      int (*act)(const struct args *args, const struct metric_session *session))
{
	struct metric_session session;
	int code = metric_session_open(args, options, &session);

	if (code == 0)
		code = metric_session_model(&session);
	if (code == 0)
		code = act(args, &session);
	metric_session_close(&session);
	return code;
}

int metric_list(const struct args *args, const struct metric_options *options)
{
	return with_model(args, options, list_seen);
}

int metric_show(const struct args *args, const struct metric_options *options)
{
	if (args->word_count < 2)
		return cli_usage("metric", "show which metric?");
	return with_model(args, options, show_seen);
}
