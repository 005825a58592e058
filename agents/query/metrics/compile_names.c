/*
 * The metric compiler: names to pointers. Each metric, dimension, filter and measure is found in
 * the model, or is an error that names the nearest.
 */
#include "agents/query/metrics/compile_internal.h"

#include <string.h>

#include "base/nearest.h"

int compiler_find_metric(const struct model *model, const char *name,
			 const struct model_metric **ret, struct err *err)
{
	size_t count = model_metric_count(model);
	CLEANUP(mem_freep) const char **names = NULL;
	const char *near;

	*ret = model_metric(model, name);
	if (*ret)
		return 0;
	names = mem_array(count + 1, sizeof(*names));
	for (size_t i = 0; i < count; i++)
		names[i] = model_metric_at(model, i)->name;
	near = nearest_word(name, names, count);
	if (near)
		return err_coded(err, ERR_NOT_FOUND, "E_NAME_NOT_FOUND",
				 "no metric %s; did you mean %s?", name, near);
	return err_coded(err, ERR_NOT_FOUND, "E_NAME_NOT_FOUND", "no metric %s", name);
}

int compiler_find_field(const struct model *model, const char *id, const struct model_field **ret,
			struct err *err)
{
	CLEANUP(mem_freep) const char **names = NULL;
	size_t count = 0;
	const char *near;

	*ret = model_field(model, id);
	if (*ret)
		return 0;
	for (size_t i = 0; i < model_dataset_count(model); i++) {
		const struct model_dataset *dataset = model_dataset_at(model, i);

		names = mem_grow(names, (count + dataset->field_count + 1) * sizeof(*names));
		for (size_t j = 0; j < dataset->field_count; j++)
			names[count++] = dataset->fields[j].id;
	}
	near = nearest_word(id, names, count);
	if (near)
		return err_coded(err, ERR_NOT_FOUND, "E_NAME_NOT_FOUND",
				 "no field %s; did you mean %s?", id, near);
	return err_coded(err, ERR_NOT_FOUND, "E_NAME_NOT_FOUND", "no field %s", id);
}

static int add_asked(struct compiler *compiler, const struct model_metric *metric, struct err *err)
{
	for (size_t i = 0; i < compiler->metric_count; i++) {
		if (strcmp(compiler->metrics[i]->name, metric->name) == 0)
			return err_set(err, ERR_INVALID, "metric %s is asked for twice",
				       metric->name);
	}
	if (compiler->metric_count == COMPILE_METRICS_MAX)
		return err_set(err, ERR_LIMIT, "more than %d metrics at once", COMPILE_METRICS_MAX);
	compiler->metrics[compiler->metric_count++] = metric;
	return 0;
}

/* What the metric is made of, down to single aggregates. */
static int add_atoms(struct compiler *compiler, const struct model_metric *metric, int depth,
		     struct err *err)
{
	if (depth > EXPR_DEPTH_MAX)
		return err_set(err, ERR_INVALID, "%s is made of itself", metric->name);
	for (size_t i = 0; i < metric->input_count; i++) {
		if (add_atoms(compiler, metric->inputs[i], depth + 1, err) < 0)
			return -1;
	}
	if (metric->input_count > 0)
		return 0;
	for (size_t i = 0; i < compiler->atom_count; i++) {
		if (compiler->atoms[i] == metric)
			return 0;
	}
	if (compiler->atom_count == COMPILE_ATOMS_MAX)
		return err_set(err, ERR_LIMIT, "metrics made of more than %d others",
			       COMPILE_ATOMS_MAX);
	compiler->atoms[compiler->atom_count++] = metric;
	return 0;
}

static int resolve_metrics(struct compiler *compiler, struct err *err)
{
	const struct metric_query *query = compiler->query;
	const struct model_metric *metric;

	for (size_t i = 0; i < query->metric_count; i++) {
		if (compiler_find_metric(compiler->model, query->metrics[i], &metric, err) < 0 ||
		    add_asked(compiler, metric, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < query->measure_count; i++) {
		if (compiler_measure(compiler, i, err) < 0)
			return err_wrap(err, "measure %s", query->measures[i].text);
		if (add_asked(compiler, &compiler->measures[i], err) < 0)
			return -1;
	}
	for (size_t i = 0; i < compiler->metric_count; i++) {
		if (add_atoms(compiler, compiler->metrics[i], 0, err) < 0)
			return -1;
	}
	return 0;
}

/* Is name one of the columns that the metric may have? */
static bool metric_column(const char *metric, const char *name)
{
	static const char *const suffixes[] = {"",	 "_previous", "_change", "_change_percent",
					       "_share", "_average",  "_running"};
	size_t len = strlen(metric);

	for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
		if (strncmp(name, metric, len) == 0 && strcmp(name + len, suffixes[i]) == 0)
			return true;
	}
	return false;
}

static bool name_taken(const struct compiler *compiler, const char *name)
{
	for (size_t i = 0; i < compiler->dimension_count; i++) {
		if (strcmp(compiler->dimensions[i].name, name) == 0)
			return true;
	}
	for (size_t i = 0; i < compiler->metric_count; i++) {
		if (metric_column(compiler->metrics[i]->name, name))
			return true;
	}
	for (size_t i = 0; i < compiler->atom_count; i++) {
		if (metric_column(compiler->atoms[i]->name, name))
			return true;
	}
	return false;
}

/* field is NULL for the time of each fact. */
static char *dimension_name(const struct compiler *compiler, const struct model_field *field,
			    enum time_bucket bucket)
{
	const char *suffix = bucket == BUCKET_NONE ? "" : time_bucket_name(bucket);
	const char *joint = bucket == BUCKET_NONE || !field ? "" : "_";
	char *name = mem_format("%s%s%s", field ? field->name : "", joint, suffix);

	if (!name_taken(compiler, name))
		return name;
	mem_free(name);
	return mem_format("%s_%s%s%s", field ? field->dataset->name : "time",
			  field ? field->name : "", joint, suffix);
}

static int resolve_dimension(struct compiler *compiler, const struct query_dimension *asked,
			     struct err *err)
{
	const struct model_field *field = NULL;
	bool own_time = strcmp(asked->field, QUERY_TIME) == 0;

	if (!own_time && compiler_find_field(compiler->model, asked->field, &field, err) < 0)
		return -1;
	if (own_time && asked->bucket == BUCKET_NONE)
		return err_set(err, ERR_INVALID, "%s needs a bucket: day, week, month, ...",
			       QUERY_TIME);
	if (field && asked->bucket != BUCKET_NONE && !field->is_time)
		return err_set(err, ERR_INVALID, "%s is no time: it has no %s", field->id,
			       time_bucket_name(asked->bucket));
	if (asked->bucket > BUCKET_WEEKDAY && model_fiscal_start(compiler->model) == 0)
		return err_set(err, ERR_INVALID,
			       "no fiscal year is defined: say in the model when it begins");
	for (size_t j = 0; j < compiler->dimension_count; j++) {
		if (compiler->dimensions[j].field == field &&
		    compiler->dimensions[j].bucket == asked->bucket)
			return err_set(err, ERR_INVALID, "%s is asked for twice", asked->field);
	}
	compiler->dimensions[compiler->dimension_count] = (struct compiled_dimension){
		field, asked->bucket, dimension_name(compiler, field, asked->bucket)};
	compiler->dimension_count++;
	return 0;
}

static int resolve_dimensions(struct compiler *compiler, struct err *err)
{
	const struct metric_query *query = compiler->query;

	if (query->dimension_count > COMPILE_DIMENSIONS_MAX)
		return err_set(err, ERR_LIMIT, "more than %d dimensions at once",
			       COMPILE_DIMENSIONS_MAX);
	for (size_t i = 0; i < query->dimension_count; i++) {
		if (resolve_dimension(compiler, &query->dimensions[i], err) < 0)
			return -1;
	}
	return 0;
}

int compiler_filter_fields(struct compiler *compiler, struct err *err)
{
	const struct metric_query *query = compiler->query;

	compiler->filter_fields =
		mem_array(query->filter_count + 1, sizeof(*compiler->filter_fields));
	for (size_t i = 0; i < query->filter_count; i++) {
		if (compiler_find_field(compiler->model, query->filters[i].field,
					&compiler->filter_fields[i], err) < 0)
			return -1;
	}
	return 0;
}

static int resolve_filters(struct compiler *compiler, struct err *err)
{
	const struct metric_query *query = compiler->query;

	if (compiler_filter_fields(compiler, err) < 0)
		return -1;
	if (query->average_per &&
	    compiler_find_field(compiler->model, query->average_per, &compiler->per, err) < 0)
		return -1;
	return 0;
}

int compiler_names(struct compiler *compiler, struct err *err)
{
	if (resolve_metrics(compiler, err) < 0 || resolve_dimensions(compiler, err) < 0 ||
	    resolve_filters(compiler, err) < 0)
		return -1;
	return 0;
}
