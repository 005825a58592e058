/*
 * The semantic model, read from its JSON (docs/metrics.md).
 *
 * The model keeps a copy of the JSON, which owns the texts. A scope may have taken members away:
 * what refers to a dataset, field or relationship that is not there is left out as well, never
 * half kept. Anything of the wrong shape is an error that names it.
 */
#include "agents/query/metrics/model_internal.h"

#include <string.h>

void *model_keep(struct model *model, void *memory)
{
	model->kept = mem_grow(model->kept, (model->kept_count + 1) * sizeof(*model->kept));
	model->kept[model->kept_count++] = memory;
	return memory;
}

struct expr *model_keep_expr(struct model *model, struct expr *expr)
{
	model->exprs = mem_grow(model->exprs, (model->expr_count + 1) * sizeof(*model->exprs));
	model->exprs[model->expr_count++] = expr;
	return expr;
}

void model_free(struct model *model)
{
	if (!model)
		return;
	for (size_t i = 0; i < model->kept_count; i++)
		mem_free(model->kept[i]);
	for (size_t i = 0; i < model->expr_count; i++)
		expr_free(model->exprs[i]);
	mem_free(model->kept);
	mem_free(model->exprs);
	json_free(model->json);
	mem_free(model);
}

void model_freep(struct model **model)
{
	model_free(*model);
}

const char *model_source(const struct model *model)
{
	const char *source = json_get_str(model->json, "source");

	return source ? source : "";
}

const char *model_description(const struct model *model)
{
	const char *description = json_get_str(model->json, "description");

	return description ? description : "";
}

/* {"name":"Europe/Lisbon","offsets":[["1970-01-01 00:00:00",60],...]} */
static int read_zone(struct model *model, struct err *err)
{
	const struct json *zone = json_get(model->json, "zone");
	const struct json *list;
	struct model_offset *offsets;

	model->fiscal_start = (int)json_get_int(model->json, "fiscal_start", 0);
	if (model->fiscal_start < 0 || model->fiscal_start > 12)
		return err_set(err, ERR_INVALID, "fiscal_start is a month from 1 to 12");
	if (json_is_null(zone))
		return 0;
	if (json_want_str(zone, "name", &model->zone.name, err) < 0 ||
	    json_want_array(zone, "offsets", &list, err) < 0)
		return err_wrap(err, "zone");
	offsets = model_keep(model, mem_array(json_len(list) + 1, sizeof(*offsets)));
	json_each(item, list)
	{
		if (!json_str(json_at(item, 0)))
			return err_set(err, ERR_INVALID, "zone: an offset has a moment");
		offsets[model->zone.count++] = (struct model_offset){
			json_str(json_at(item, 0)), (int)json_int(json_at(item, 1))};
	}
	model->zone.offsets = offsets;
	if (model->zone.count == 0)
		return err_set(err, ERR_INVALID, "zone: no offset");
	return 0;
}

static int read_datasets(struct model *model, struct err *err)
{
	const struct json *list;

	if (model_read_items(model->json, "datasets", &list, err) < 0)
		return -1;
	/* never grown: fields point at their dataset */
	model->datasets =
		model_keep(model, mem_array(json_len(list) + 1, sizeof(*model->datasets)));
	json_each(item, list)
	{
		if (model_read_dataset(model, item, &model->datasets[model->dataset_count], err) <
		    0)
			return -1;
		model->dataset_count++;
	}
	return 0;
}

/* 1: kept, 0: one of its ends is hidden. */
static int read_relationship(struct model *model, const struct json *json,
			     struct model_relationship *relationship, struct err *err)
{
	const char *from, *to;

	if (json_want_str(json, "name", &relationship->name, err) < 0 ||
	    json_want_str(json, "from", &from, err) < 0 ||
	    json_want_str(json, "to", &to, err) < 0 ||
	    model_read_words(model, json, "from_columns", &relationship->from_columns, err) < 0 ||
	    model_read_words(model, json, "to_columns", &relationship->to_columns, err) < 0 ||
	    model_read_words(model, json, "reads", &relationship->reads, err) < 0)
		return -1;
	if (relationship->from_columns.count == 0 ||
	    relationship->from_columns.count != relationship->to_columns.count)
		return err_set(err, ERR_INVALID, "relationship %s: as many columns on both sides",
			       relationship->name);
	relationship->at = model_text_or(json, "at", "");
	relationship->column = (int)json_get_int(json, "column", 0);
	relationship->from = model_dataset(model, from);
	relationship->to = model_dataset(model, to);
	return relationship->from && relationship->to;
}

static int read_relationships(struct model *model, struct err *err)
{
	const struct json *list;

	if (model_read_items(model->json, "relationships", &list, err) < 0)
		return -1;
	model->relationships =
		model_keep(model, mem_array(json_len(list) + 1, sizeof(*model->relationships)));
	json_each(item, list)
	{
		struct model_relationship relationship = {0};
		int result = read_relationship(model, item, &relationship, err);

		if (result < 0)
			return -1;
		if (result > 0)
			model->relationships[model->relationship_count++] = relationship;
	}
	return 0;
}

/* A default time that is hidden is no default. */
static void drop_hidden_times(struct model *model)
{
	for (size_t i = 0; i < model->dataset_count; i++) {
		struct model_dataset *dataset = &model->datasets[i];

		if (dataset->time && !model_field(model, dataset->time))
			dataset->time = NULL;
	}
	for (size_t i = 0; i < model->metric_count; i++) {
		struct model_metric *metric = &model->metrics[i];

		if (metric->time && !model_field(model, metric->time))
			metric->time = NULL;
	}
}

int model_from_json(const struct json *json, struct model **ret_model, struct err *err)
{
	CLEANUP(model_freep) struct model *model = mem_alloc(sizeof(*model));

	if (json_type(json) != JSON_OBJECT)
		return err_set(err, ERR_INVALID, "semantic model: an object is wanted, not %s",
			       json_type_name(json_type(json)));
	model->json = json_copy(json);
	if (read_zone(model, err) < 0 || read_datasets(model, err) < 0 ||
	    read_relationships(model, err) < 0 || model_read_metrics(model, err) < 0)
		return err_wrap(err, "semantic model");
	drop_hidden_times(model);
	*ret_model = TAKE(model);
	return 0;
}
