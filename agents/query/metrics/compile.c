/*
 * The metric compiler: from names to one statement.
 *
 *   names -> atoms -> parts by fact -> joins -> SQL -> words for the answer
 *
 * This file runs the steps and owns the result. What can fail: a name the model does not have, a
 * field that a fact reaches in no way or in several, facts that have nothing in common, a
 * combination that has no sound meaning. Each failure says which names are at odds and what to ask
 * instead, and carries the code that Ossie's foundational semantics have for it, where it has one.
 */
#include "agents/query/metrics/compile_internal.h"

#include <string.h>

static const char *const role_names[] = {"dimension",	   "metric", "previous", "change",
					 "change_percent", "share",  "running"};

const char *column_role_name(enum column_role role)
{
	return role_names[role];
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

static int check_running(const struct compiler *compiler, struct err *err)
{
	for (size_t i = 0; compiler->query->running && i < compiler->dimension_count; i++) {
		enum time_bucket bucket = compiler->dimensions[i].bucket;

		if (bucket != BUCKET_NONE && bucket != BUCKET_WEEKDAY)
			return 0;
	}
	if (compiler->query->running)
		return err_set(err, ERR_INVALID,
			       "a running total needs times to run over: by day, month, ...");
	return 0;
}

/* Combinations that would give a number without a meaning. */
static int check_meaning(const struct compiler *compiler, struct err *err)
{
	const struct metric_query *query = compiler->query;

	if (compiler->metric_count == 0 && (query->share || query->compare.set || query->running ||
					    query->stepwise || compiler->per))
		return err_set(err, ERR_INVALID, "a listing has no %s",
			       query->share	? "share"
			       : compiler->per	? "average"
			       : query->running ? "running total"
						: "comparison");
	if (check_compare(query, err) < 0)
		return -1;
	for (size_t i = 0; i < compiler->metric_count; i++) {
		const struct model_metric *metric = compiler->metrics[i];

		if (metric->additivity == ADDITIVE ||
		    (!query->share && !compiler->per && !query->running))
			continue;
		return err_set(err, ERR_INVALID,
			       "values of %s do not add up over groups, so %s would be wrong",
			       metric->name,
			       query->share	? "a share of their total"
			       : query->running ? "a running total"
						: "an average of them");
	}
	if (query->share && compiler->dimension_count == 0)
		return err_set(err, ERR_INVALID, "a share needs groups to be a share of");
	if (query->share + query->compare.set + query->running + query->stepwise +
		    (compiler->per != NULL) >
	    1)
		return err_set(err, ERR_INVALID,
			       "share, comparison and average are asked for together: ask for one");
	if (compiler->per && compiler->part_count > 1)
		return err_set(err, ERR_INVALID,
			       "an average per %s is asked for of metrics of several facts: ask "
			       "for one of them",
			       compiler->per->label);
	if (query->stepwise && !compiler_step(compiler))
		return err_set(err, ERR_INVALID,
			       "a change from one time to the next needs one dimension of time: by "
			       "day, month, ...");
	return check_running(compiler, err);
}

static int resolve(struct compiler *compiler, struct err *err)
{
	if (compiler_expressions(compiler, err) < 0 || compiler_names(compiler, err) < 0 ||
	    compiler_parts(compiler, err) < 0 || check_meaning(compiler, err) < 0)
		return -1;
	return compiler_check_windows(compiler, err) < 0 ? -1 : compiler_check_picks(compiler, err);
}

static void exprs_free(struct expr **exprs, size_t count)
{
	for (size_t i = 0; exprs && i < count; i++)
		expr_free(exprs[i]);
	mem_free(exprs);
}

static void compiler_clear(struct compiler *compiler)
{
	for (size_t i = 0; i < compiler->dimension_count; i++)
		mem_free(compiler->dimensions[i].name);
	for (size_t i = 0; i < compiler->kept_count; i++)
		mem_free(compiler->kept[i]);
	exprs_free(compiler->where, compiler->query->where.count);
	exprs_free(compiler->having, compiler->query->having.count);
	exprs_free(compiler->exprs, compiler->expr_count);
	mem_free(compiler->kept);
	mem_free(compiler->measures);
	mem_free(compiler->filter_fields);
}

static int compile_groups(const struct metric_query *query, const struct model *model,
			  struct compiled_query *compiled, struct err *err)
{
	CLEANUP(compiler_clear) struct compiler compiler = {.query = query, .model = model};
	CLEANUP(buf_clear) struct buf sql = BUF_INIT;

	compiler.measures = mem_array(query->measure_count + 1, sizeof(*compiler.measures));
	if (resolve(&compiler, err) < 0 || compiler_sql(&compiler, &sql, err) < 0)
		return -1;
	compiled->sql = buf_take(&sql);
	compiled->freshness = part_freshness(&compiler.parts[0]);
	compiler_words(&compiler, compiled);
	return 0;
}

/* Rows or groups: one query asks for one of them. */
static int check_shape(const struct metric_query *query, struct err *err)
{
	bool groups = query->metric_count > 0 || query->measure_count > 0 ||
		      query->dimension_count > 0 || query->having.count > 0;

	if (query->lists_rows && groups)
		return err_coded(err, ERR_INVALID, "E_MIXED_QUERY_SHAPE",
				 "Dimensions or Measures and Fields in one query: a scalar query "
				 "has Fields alone, an aggregation query none");
	if (query->lists_rows && query->field_count == 0)
		return err_coded(err, ERR_INVALID, "E_EMPTY_SCALAR_QUERY",
				 "a scalar query needs at least one of Fields");
	return 0;
}

int metric_query_compile(const struct metric_query *query, const struct model *model,
			 struct compiled_query **ret_compiled, struct err *err)
{
	CLEANUP(compiled_query_freep) struct compiled_query *compiled = NULL;
	int result;

	if (check_shape(query, err) < 0)
		return -1;
	compiled = mem_alloc(sizeof(*compiled));
	result = query->lists_rows ? compiler_rows(query, model, compiled, err)
				   : compile_groups(query, model, compiled, err);
	if (result < 0)
		return -1;
	*ret_compiled = TAKE(compiled);
	return 0;
}

void compiled_query_free(struct compiled_query *compiled)
{
	if (!compiled)
		return;
	mem_free(compiled->sql);
	mem_free(compiled->freshness);
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
