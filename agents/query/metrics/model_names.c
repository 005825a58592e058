/* The semantic model: finding things by name, what expressions refer to, and the ways between
 * datasets. Pure. */
#include "agents/query/metrics/model_internal.h"

#include <string.h>
#include <strings.h>

#include "base/nearest.h"

const char *model_zone_name(const struct model *model)
{
	return model->zone.name;
}

int model_fiscal_start(const struct model *model)
{
	return model->fiscal_start;
}

size_t model_dataset_count(const struct model *model)
{
	return model->dataset_count;
}

const struct model_dataset *model_dataset_at(const struct model *model, size_t index)
{
	return &model->datasets[index];
}

size_t model_relationship_count(const struct model *model)
{
	return model->relationship_count;
}

const struct model_relationship *model_relationship_at(const struct model *model, size_t index)
{
	return &model->relationships[index];
}

size_t model_metric_count(const struct model *model)
{
	return model->metric_count;
}

const struct model_metric *model_metric_at(const struct model *model, size_t index)
{
	return &model->metrics[index];
}

const struct model_dataset *model_dataset(const struct model *model, const char *name)
{
	for (size_t i = 0; i < model->dataset_count; i++) {
		if (strcmp(model->datasets[i].name, name) == 0)
			return &model->datasets[i];
	}
	return NULL;
}

const struct model_field *model_field(const struct model *model, const char *id)
{
	for (size_t i = 0; i < model->dataset_count; i++) {
		const struct model_dataset *dataset = &model->datasets[i];

		for (size_t j = 0; j < dataset->field_count; j++) {
			if (strcmp(dataset->fields[j].id, id) == 0)
				return &dataset->fields[j];
		}
	}
	return NULL;
}

const struct model_metric *model_metric(const struct model *model, const char *name)
{
	for (size_t i = 0; i < model->metric_count; i++) {
		if (strcmp(model->metrics[i].name, name) == 0)
			return &model->metrics[i];
	}
	return NULL;
}

const struct model_field *model_field_of_column(const struct model *model, const char *table,
						const char *column)
{
	for (size_t i = 0; i < model->dataset_count; i++) {
		const struct model_dataset *dataset = &model->datasets[i];

		if (strcasecmp(dataset->table, table) != 0)
			continue;
		for (size_t j = 0; j < dataset->field_count; j++) {
			const struct expr *expr = dataset->fields[j].expression;

			if (expr->kind == EXPR_COLUMN && strcasecmp(expr->text, column) == 0)
				return &dataset->fields[j];
		}
	}
	return NULL;
}

static bool listed(const struct words *words, const char *word)
{
	for (size_t i = 0; i < words->count; i++) {
		if (strcmp(words->items[i], word) == 0)
			return true;
	}
	return false;
}

bool model_key_column(const struct model *model, const struct model_dataset *dataset,
		      const char *column)
{
	if (listed(&dataset->primary_key, column))
		return true;
	for (size_t i = 0; i < dataset->unique_key_count; i++) {
		if (listed(&dataset->unique_keys[i], column))
			return true;
	}
	for (size_t i = 0; i < model->relationship_count; i++) {
		const struct model_relationship *relationship = &model->relationships[i];

		if (relationship->from == dataset && listed(&relationship->from_columns, column))
			return true;
		if (relationship->to == dataset && listed(&relationship->to_columns, column))
			return true;
	}
	return false;
}

static int no_dataset(const struct model *model, const char *name, struct err *err)
{
	const char **names = mem_array(model->dataset_count, sizeof(*names));
	const char *near;

	for (size_t i = 0; i < model->dataset_count; i++)
		names[i] = model->datasets[i].name;
	near = nearest_word(name, names, model->dataset_count);
	if (near)
		err_set(err, ERR_NOT_FOUND, "no dataset %s; did you mean %s?", name, near);
	else
		err_set(err, ERR_NOT_FOUND, "no dataset %s", name);
	mem_free(names);
	return -1;
}

static int no_field(const struct model_dataset *dataset, const char *name, struct err *err)
{
	const char **names = mem_array(dataset->field_count + 1, sizeof(*names));
	const char *near;

	for (size_t i = 0; i < dataset->field_count; i++)
		names[i] = dataset->fields[i].name;
	near = nearest_word(name, names, dataset->field_count);
	if (near)
		err_set(err, ERR_NOT_FOUND, "dataset %s has no field %s; did you mean %s?",
			dataset->name, name, near);
	else
		err_set(err, ERR_NOT_FOUND, "dataset %s has no field %s", dataset->name, name);
	mem_free(names);
	return -1;
}

int model_resolve(const struct model *model, const struct expr *column,
		  const struct model_dataset *home, struct model_ref *ret_ref, struct err *err)
{
	const struct model_dataset *dataset = home;

	if (column->dataset)
		dataset = model_dataset(model, column->dataset);
	if (!dataset && column->dataset)
		return no_dataset(model, column->dataset, err);
	if (!dataset)
		return err_set(err, ERR_NOT_FOUND, "which dataset is %s of? Write dataset.%s",
			       column->text, column->text);
	for (size_t i = 0; i < dataset->field_count; i++) {
		if (strcmp(dataset->fields[i].name, column->text) == 0) {
			*ret_ref = (struct model_ref){dataset, &dataset->fields[i], NULL};
			return 0;
		}
	}
	if (!model_key_column(model, dataset, column->text))
		return no_field(dataset, column->text, err);
	*ret_ref = (struct model_ref){dataset, NULL, column->text};
	return 0;
}

bool dataset_set_add(struct dataset_set *set, const struct model_dataset *dataset)
{
	for (size_t i = 0; i < set->count; i++) {
		if (set->items[i] == dataset)
			return true;
	}
	if (set->count == MODEL_DATASETS_MAX)
		return false;
	set->items[set->count++] = dataset;
	return true;
}

struct collecting {
	const struct model *model;
	const struct model_dataset *home;
	struct dataset_set *set;
	struct err *err;
};

static int collect(const struct expr *node, void *data)
{
	struct collecting *collecting = data;
	struct model_ref ref;

	if (node->kind != EXPR_COLUMN)
		return 0;
	if (model_resolve(collecting->model, node, collecting->home, &ref, collecting->err) < 0)
		return -1;
	if (!dataset_set_add(collecting->set, ref.dataset))
		return err_set(collecting->err, ERR_LIMIT, "more than %d datasets",
			       MODEL_DATASETS_MAX);
	return 0;
}

int model_expr_datasets(const struct model *model, const struct expr *expr,
			const struct model_dataset *home, struct dataset_set *set, struct err *err)
{
	struct collecting collecting = {model, home, set, err};

	return expr_walk(expr, collect, &collecting);
}
