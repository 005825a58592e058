/*
 * The metric compiler: from names to one statement.
 *
 *   names -> pointers -> base dataset -> joins -> SQL -> words for the answer
 *
 * This file does the first steps and owns the result. What can fail: a name the model does not
 * have, metrics of two facts, a field that the base reaches in no way or in several, a combination
 * that has no sound meaning. Each failure says which names are at odds and what to ask instead.
 */
#include "agents/query/metrics/compile_internal.h"

#include <string.h>

#include "base/nearest.h"

static const char *const role_names[] = {"dimension", "metric",		"previous",
					 "change",    "change_percent", "share"};

const char *column_role_name(enum column_role role)
{
	return role_names[role];
}

static int no_metric(const struct model *model, const char *name, struct err *err)
{
	size_t count = model_metric_count(model);
	CLEANUP(mem_freep) const char **names = mem_array(count + 1, sizeof(*names));
	const char *near;

	for (size_t i = 0; i < count; i++)
		names[i] = model_metric_at(model, i)->name;
	near = nearest_word(name, names, count);
	if (near)
		return err_set(err, ERR_NOT_FOUND, "no metric %s; did you mean %s?", name, near);
	return err_set(err, ERR_NOT_FOUND, "no metric %s", name);
}

static int find_field(const struct model *model, const char *id, const struct model_field **ret,
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
		return err_set(err, ERR_NOT_FOUND, "no field %s; did you mean %s?", id, near);
	return err_set(err, ERR_NOT_FOUND, "no field %s", id);
}

static int resolve_metrics(struct compiler *compiler, struct err *err)
{
	const struct metric_query *query = compiler->query;

	if (query->metric_count > COMPILE_METRICS_MAX)
		return err_set(err, ERR_LIMIT, "more than %d metrics at once", COMPILE_METRICS_MAX);
	for (size_t i = 0; i < query->metric_count; i++) {
		const struct model_metric *metric =
			model_metric(compiler->model, query->metrics[i]);

		if (!metric)
			return no_metric(compiler->model, query->metrics[i], err);
		for (size_t j = 0; j < i; j++) {
			if (compiler->metrics[j] == metric)
				return err_set(err, ERR_INVALID, "metric %s is asked for twice",
					       metric->name);
		}
		if (i > 0 && metric->dataset != compiler->metrics[0]->dataset)
			return err_set(err, ERR_INVALID,
				       "%s is made of rows of %s, %s of rows of %s: two facts "
				       "cannot be answered by one query yet; ask for one of them",
				       compiler->metrics[0]->name,
				       compiler->metrics[0]->dataset->name, metric->name,
				       metric->dataset->name);
		compiler->metrics[compiler->metric_count++] = metric;
	}
	return 0;
}

/* Is name one of the columns that the metric may have? */
static bool metric_column(const char *metric, const char *name)
{
	static const char *const suffixes[] = {"",	 "_previous", "_change", "_change_percent",
					       "_share", "_average"};
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
	return false;
}

static char *dimension_name(const struct compiler *compiler, const struct model_field *field,
			    enum time_bucket bucket)
{
	const char *suffix = bucket == BUCKET_NONE ? "" : time_bucket_name(bucket);
	const char *joint = bucket == BUCKET_NONE ? "" : "_";
	char *name = mem_format("%s%s%s", field->name, joint, suffix);

	if (!name_taken(compiler, name))
		return name;
	mem_free(name);
	return mem_format("%s_%s%s%s", field->dataset->name, field->name, joint, suffix);
}

static int resolve_dimensions(struct compiler *compiler, struct err *err)
{
	const struct metric_query *query = compiler->query;

	if (query->dimension_count > COMPILE_DIMENSIONS_MAX)
		return err_set(err, ERR_LIMIT, "more than %d dimensions at once",
			       COMPILE_DIMENSIONS_MAX);
	for (size_t i = 0; i < query->dimension_count; i++) {
		const struct model_field *field;
		enum time_bucket bucket = query->dimensions[i].bucket;

		if (find_field(compiler->model, query->dimensions[i].field, &field, err) < 0)
			return -1;
		if (bucket != BUCKET_NONE && !field->is_time)
			return err_set(err, ERR_INVALID, "%s is no time: it has no %s", field->id,
				       time_bucket_name(bucket));
		for (size_t j = 0; j < i; j++) {
			if (compiler->dimensions[j].field == field &&
			    compiler->dimensions[j].bucket == bucket)
				return err_set(err, ERR_INVALID, "%s is asked for twice",
					       field->id);
		}
		compiler->dimensions[i] = (struct compiled_dimension){
			field, bucket, dimension_name(compiler, field, bucket)};
		compiler->dimension_count++;
	}
	return 0;
}

static int resolve_filters(struct compiler *compiler, struct err *err)
{
	const struct metric_query *query = compiler->query;

	compiler->filter_fields =
		mem_array(query->filter_count + 1, sizeof(*compiler->filter_fields));
	for (size_t i = 0; i < query->filter_count; i++) {
		if (find_field(compiler->model, query->filters[i].field,
			       &compiler->filter_fields[i], err) < 0)
			return -1;
	}
	if (query->average_per &&
	    find_field(compiler->model, query->average_per, &compiler->per, err) < 0)
		return -1;
	return 0;
}

static int named_fields(const struct compiler *compiler, struct dataset_set *set, struct err *err)
{
	bool fits = true;

	for (size_t i = 0; i < compiler->dimension_count; i++)
		fits = fits && dataset_set_add(set, compiler->dimensions[i].field->dataset);
	for (size_t i = 0; i < compiler->query->filter_count; i++)
		fits = fits && dataset_set_add(set, compiler->filter_fields[i]->dataset);
	if (compiler->query->period.field) {
		const struct model_field *time;

		if (find_field(compiler->model, compiler->query->period.field, &time, err) < 0)
			return -1;
		fits = fits && dataset_set_add(set, time->dataset);
	}
	if (!fits)
		return err_set(err, ERR_LIMIT, "fields of more than %d datasets",
			       MODEL_DATASETS_MAX);
	return 0;
}

static bool reaches_all(const struct compiler *compiler, const struct model_dataset *from,
			const struct dataset_set *set)
{
	for (size_t i = 0; i < set->count; i++) {
		if (model_path(compiler->model, from, set->items[i], NULL, NULL) != PATH_ONE)
			return false;
	}
	return true;
}

static bool leads_to(const struct compiler *compiler, const struct model_dataset *from,
		     const struct model_dataset *to)
{
	return model_path(compiler->model, from, to, NULL, NULL) == PATH_ONE;
}

/* A listing looks through the rows of the one dataset from which all its fields are reached: one
 * of their own datasets if it will do. */
static int listing_base(struct compiler *compiler, struct err *err)
{
	struct dataset_set set = {.count = 0};
	const struct model_dataset *found = NULL;

	if (named_fields(compiler, &set, err) < 0)
		return -1;
	for (size_t i = 0; i < set.count; i++) {
		if (reaches_all(compiler, set.items[i], &set)) {
			compiler->base = set.items[i];
			return 0;
		}
	}
	for (size_t i = 0; i < model_dataset_count(compiler->model); i++) {
		const struct model_dataset *dataset = model_dataset_at(compiler->model, i);

		if (!reaches_all(compiler, dataset, &set))
			continue;
		/* payments lead to hires: where the fields meet first is what is meant */
		if (!found || leads_to(compiler, found, dataset))
			found = dataset;
		else if (!leads_to(compiler, dataset, found))
			return err_set(err, ERR_INVALID,
				       "%s and %s meet in %s and in %s: say which is meant",
				       set.items[0]->name, set.items[1]->name, found->name,
				       dataset->name);
	}
	if (!found)
		return err_set(err, ERR_INVALID, "no rows tell which %s belongs to which %s",
			       set.items[0]->name, set.items[set.count - 1]->name);
	compiler->base = found;
	return 0;
}

static int resolve_base(struct compiler *compiler, struct err *err)
{
	const char *dataset = compiler->query->dataset;

	if (compiler->metric_count > 0) {
		compiler->base = compiler->metrics[0]->dataset;
		if (dataset && strcmp(dataset, compiler->base->name) != 0)
			return err_set(err, ERR_INVALID, "%s is made of rows of %s, not of %s",
				       compiler->metrics[0]->name, compiler->base->name, dataset);
		return 0;
	}
	if (compiler->dimension_count == 0)
		return err_set(err, ERR_INVALID, "neither a metric nor a dimension is asked for");
	if (!dataset)
		return listing_base(compiler, err);
	compiler->base = model_dataset(compiler->model, dataset);
	if (!compiler->base)
		return err_set(err, ERR_NOT_FOUND, "no dataset %s", dataset);
	return 0;
}

/* The period's field: as asked, or the default that all metrics share. */
static int resolve_time(struct compiler *compiler, struct err *err)
{
	const struct metric_query *query = compiler->query;
	const char *id = query->period.field;

	if (!query->period.set && !query->compare.set)
		return 0;
	if (!id)
		id = compiler->metric_count ? compiler->metrics[0]->time : compiler->base->time;
	for (size_t i = 1; !query->period.field && i < compiler->metric_count; i++) {
		const char *other = compiler->metrics[i]->time;

		if (!id || !other || strcmp(id, other) != 0)
			return err_set(err, ERR_INVALID,
				       "%s and %s are dated differently: say which date the period "
				       "is about",
				       compiler->metrics[0]->name, compiler->metrics[i]->name);
	}
	if (!id)
		return err_set(
			err, ERR_INVALID, "%s has no date, so it cannot be asked for in a period",
			compiler->metric_count ? compiler->metrics[0]->name : compiler->base->name);
	if (find_field(compiler->model, id, &compiler->time, err) < 0)
		return -1;
	if (!compiler->time->is_time)
		return err_set(err, ERR_INVALID, "%s is no time", id);
	return 0;
}

static int check_compare(const struct metric_query *query, struct err *err)
{
	if (!query->compare.set)
		return 0;
	if (!query->period.set || !query->period.from[0] || !query->period.to[0] ||
	    !query->compare.from[0] || !query->compare.to[0])
		return err_set(err, ERR_INVALID,
			       "a comparison needs two periods, each with a first and a last day");
	return 0;
}

/* Combinations that would give a number without a meaning. */
static int check_meaning(const struct compiler *compiler, struct err *err)
{
	const struct metric_query *query = compiler->query;

	if (compiler->metric_count == 0 && (query->share || query->compare.set || compiler->per))
		return err_set(err, ERR_INVALID, "a listing has no %s",
			       query->share    ? "share"
			       : compiler->per ? "average"
					       : "comparison");
	if (check_compare(query, err) < 0)
		return -1;
	for (size_t i = 0; i < compiler->metric_count; i++) {
		const struct model_metric *metric = compiler->metrics[i];

		if (metric->additivity == ADDITIVE || (!query->share && !compiler->per))
			continue;
		return err_set(err, ERR_INVALID,
			       "values of %s do not add up over groups, so %s would be wrong",
			       metric->name,
			       query->share ? "a share of their total" : "an average of them");
	}
	if (query->share && compiler->dimension_count == 0)
		return err_set(err, ERR_INVALID, "a share needs groups to be a share of");
	if (query->share + query->compare.set + (compiler->per != NULL) > 1)
		return err_set(err, ERR_INVALID,
			       "share, comparison and average are asked for together: ask for one");
	return 0;
}

static void add_counted(struct compiler *compiler, const struct expr *expr)
{
	struct err ignored;

	if (expr)
		IGNORE(model_expr_datasets(compiler->model, expr, NULL, &compiler->counted,
					   &ignored) < 0,
		       "the model was checked when read");
}

/* The datasets a number is made of: base, what the metrics and their filters read, and
 * their date's, should that one have rows that do not count. The period that is asked for changes
 * nothing here. */
static void find_counted(struct compiler *compiler)
{
	dataset_set_add(&compiler->counted, compiler->base);
	for (size_t i = 0; i < compiler->metric_count; i++) {
		const struct model_metric *metric = compiler->metrics[i];
		const struct model_dataset *time_dataset = NULL;

		add_counted(compiler, metric->expression);
		add_counted(compiler, metric->filter);
		if (metric->time)
			time_dataset = model_field(compiler->model, metric->time)->dataset;
		if (time_dataset && time_dataset->filter)
			dataset_set_add(&compiler->counted, time_dataset);
	}
}

/* Filters compare as trees would: both were written from the same kind of text. */
static bool same_filter(const struct model_metric *a, const struct model_metric *b)
{
	struct expr_writer plain = {compiler_column, NULL, NULL};
	struct buf one = BUF_INIT, other = BUF_INIT;
	bool same;

	if (!a->filter || !b->filter)
		return a->filter == b->filter;
	expr_write(a->filter, &plain, &one);
	expr_write(b->filter, &plain, &other);
	same = strcmp(buf_str(&one), buf_str(&other)) == 0;
	buf_clear(&one);
	buf_clear(&other);
	return same;
}

static int resolve(struct compiler *compiler, struct err *err)
{
	if (resolve_metrics(compiler, err) < 0 || resolve_dimensions(compiler, err) < 0 ||
	    resolve_filters(compiler, err) < 0 || resolve_base(compiler, err) < 0 ||
	    resolve_time(compiler, err) < 0 || check_meaning(compiler, err) < 0)
		return -1;
	find_counted(compiler);
	compiler->one_filter = true;
	for (size_t i = 1; i < compiler->metric_count; i++) {
		if (!same_filter(compiler->metrics[0], compiler->metrics[i]))
			compiler->one_filter = false;
	}
	return compiler_join(compiler, err);
}

static void compiler_clear(struct compiler *compiler)
{
	for (size_t i = 0; i < compiler->dimension_count; i++)
		mem_free(compiler->dimensions[i].name);
	mem_free(compiler->filter_fields);
}

int metric_query_compile(const struct metric_query *query, const struct model *model,
			 struct compiled_query **ret_compiled, struct err *err)
{
	CLEANUP(compiler_clear) struct compiler compiler = {.query = query, .model = model};
	CLEANUP(compiled_query_freep) struct compiled_query *compiled = NULL;
	struct buf sql = BUF_INIT;

	if (resolve(&compiler, err) < 0)
		return -1;
	if (compiler_sql(&compiler, &sql, err) < 0) {
		buf_clear(&sql);
		return -1;
	}
	compiled = mem_alloc(sizeof(*compiled));
	compiled->sql = buf_take(&sql);
	compiler_words(&compiler, compiled);
	*ret_compiled = TAKE(compiled);
	return 0;
}

void compiled_query_free(struct compiled_query *compiled)
{
	if (!compiled)
		return;
	mem_free(compiled->sql);
	mem_free(compiled->columns);
	json_free(compiled->words);
	json_free(compiled->plan);
	json_free(compiled->definitions);
	json_free(compiled->texts);
	mem_free(compiled);
}

void compiled_query_freep(struct compiled_query **compiled)
{
	compiled_query_free(*compiled);
}

struct json *compiled_query_columns_json(const struct compiled_query *compiled)
{
	struct json *list = json_array();

	for (size_t i = 0; i < compiled->column_count; i++) {
		const struct column_info *column = &compiled->columns[i];
		struct json *item = json_object();

		json_set_str(item, "name", column->name);
		json_set_str(item, "label", column->label);
		json_set_str(item, "role", column_role_name(column->role));
		if (column->metric)
			json_set_str(item, "metric", column->metric);
		if (column->field)
			json_set_str(item, "field", column->field);
		if (column->bucket != BUCKET_NONE)
			json_set_str(item, "bucket", time_bucket_name(column->bucket));
		if (column->unit)
			json_set_str(item, "unit", column->unit);
		json_set_str(item, "type", column->type);
		json_set_int(item, "decimals", column->decimals);
		json_set_bool(item, "non_negative", column->non_negative);
		if (column->definition)
			json_set_str(item, "definition", column->definition);
		json_push(list, item);
	}
	return list;
}
