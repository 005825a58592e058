/*
 * The metric compiler: what the asker wrote as expressions. A measure becomes a metric of this
 * query alone; conditions are sorted by what they are about, rows or groups, as the specification
 * does (foundational semantics, "Having vs Where").
 *
 * What can fail: an expression that does not parse, a name that is not there, an aggregate or a
 * window where only values of a row may stand, and the other way round, a measure whose fact cannot
 * be told.
 */
#include "agents/query/metrics/compile_internal.h"

#include <string.h>

#define MEASURE_DECIMALS 6 /* a measure has no definition that says how many are meant */

static int bare_name(const struct expr *node, void *data)
{
	const struct expr **found = data;

	if (node->kind != EXPR_COLUMN || node->dataset)
		return 0;
	*found = node;
	return 1;
}

static const struct expr *find_bare(const struct expr *expr)
{
	const struct expr *found = NULL;

	IGNORE(expr_walk(expr, bare_name, &found), "found says it");
	return found;
}

static const struct expr *find_qualified(const struct expr *expr)
{
	if (expr->kind == EXPR_COLUMN)
		return expr->dataset ? expr : NULL;
	for (size_t i = 0; i < expr->count; i++) {
		const struct expr *found = find_qualified(expr->kids[i]);

		if (found)
			return found;
	}
	return NULL;
}

/* Of a boolean, the terms that AND, OR and NOT join. */
struct levels {
	size_t rows;
	size_t groups;
};

static void find_levels(const struct expr *expr, struct levels *levels)
{
	bool joint = (expr->kind == EXPR_BINARY &&
		      (strcmp(expr->text, "AND") == 0 || strcmp(expr->text, "OR") == 0)) ||
		     (expr->kind == EXPR_UNARY && strcmp(expr->text, "NOT") == 0);

	for (size_t i = 0; joint && i < expr->count; i++)
		find_levels(expr->kids[i], levels);
	if (joint)
		return;
	if (expr_has_aggregate(expr) || find_bare(expr))
		levels->groups++;
	else
		levels->rows++;
}

static int mixed_levels(const char *text, struct err *err)
{
	return err_coded(err, ERR_INVALID, "E_MIXED_PREDICATE_LEVEL",
			 "\"%.200s\" mixes a row-level term with an aggregate: split it, the "
			 "row-level half into Where, the aggregate half into Having",
			 text);
}

static int check_where(const struct expr *expr, const char *text, struct err *err)
{
	struct levels levels = {0, 0};

	if (expr_has_window(expr))
		return err_coded(err, ERR_INVALID, "E_WINDOW_IN_WHERE",
				 "\"%.200s\": a window is worked out after Where: use Having or "
				 "Qualify, or make it a field (as a subquery would) and filter on "
				 "that",
				 text);
	find_levels(expr, &levels);
	if (levels.groups > 0 && levels.rows > 0)
		return mixed_levels(text, err);
	if (levels.groups > 0)
		return err_coded(err, ERR_INVALID, "E_AGGREGATE_IN_WHERE",
				 "\"%.200s\" is about an aggregate, and Where picks rows before "
				 "anything is added up: put it into Having",
				 text);
	return 0;
}

static int check_having(const struct expr *expr, const char *text, struct err *err)
{
	struct levels levels = {0, 0};

	find_levels(expr, &levels);
	if (levels.groups > 0 && levels.rows > 0)
		return mixed_levels(text, err);
	if (levels.groups == 0)
		return err_coded(err, ERR_INVALID, "E_NON_AGGREGATE_IN_HAVING",
				 "\"%.200s\" has no aggregate: Having is about groups, so put it "
				 "into Where",
				 text);
	return 0;
}

static int parse_all(const struct model *model, const struct query_texts *texts,
		     struct expr ***ret_exprs,
		     int (*check)(const struct expr *expr, const char *text, struct err *err),
		     struct err *err)
{
	*ret_exprs = mem_array(texts->count + 1, sizeof(**ret_exprs));
	for (size_t i = 0; i < texts->count; i++) {
		struct dataset_set set = {.count = 0};
		struct expr *expr;

		if (expr_parse(texts->items[i], &expr, NULL, err) < 0)
			return err_wrap(err, "\"%.200s\"", texts->items[i]);
		(*ret_exprs)[i] = expr;
		if (check(expr, texts->items[i], err) < 0)
			return -1;
		if (!find_bare(expr) && model_expr_datasets(model, expr, NULL, &set, err) < 0) {
			err_give_code(err, "E_NAME_NOT_FOUND");
			return -1;
		}
	}
	return 0;
}

int compiler_expressions(struct compiler *compiler, struct err *err)
{
	if (parse_all(compiler->model, &compiler->query->where, &compiler->where, check_where,
		      err) < 0)
		return err_wrap(err, "where");
	if (parse_all(compiler->model, &compiler->query->having, &compiler->having, check_having,
		      err) < 0)
		return err_wrap(err, "having");
	return 0;
}

static bool reaches_all(const struct model *model, const struct model_dataset *from,
			const struct dataset_set *set)
{
	for (size_t i = 0; i < set->count; i++) {
		if (model_path(model, from, set->items[i], NULL, NULL) == PATH_NONE)
			return false;
	}
	return true;
}

/* Datasets of dimensions, filters and conditions: rows of the finest of them are what COUNT(*)
 * counts when no measure says otherwise. */
static int named_datasets(const struct compiler *compiler, struct dataset_set *set, struct err *err)
{
	const struct metric_query *query = compiler->query;
	const struct model_field *field;

	for (size_t i = 0; i < query->dimension_count; i++) {
		if (strcmp(query->dimensions[i].field, QUERY_TIME) == 0)
			continue;
		if (compiler_find_field(compiler->model, query->dimensions[i].field, &field, err) <
		    0)
			return -1;
		dataset_set_add(set, field->dataset);
	}
	for (size_t i = 0; i < query->filter_count; i++) {
		if (compiler_find_field(compiler->model, query->filters[i].field, &field, err) < 0)
			return -1;
		dataset_set_add(set, field->dataset);
	}
	for (size_t i = 0; i < query->where.count; i++) {
		if (model_expr_datasets(compiler->model, compiler->where[i], NULL, set, err) < 0)
			return -1;
	}
	return 0;
}

static const struct model_dataset *finest(const struct model *model, const struct dataset_set *set)
{
	for (size_t i = 0; i < set->count; i++) {
		if (reaches_all(model, set->items[i], set))
			return set->items[i];
	}
	return NULL;
}

/* Facts of the measures and metrics that say which they are made of. */
static int measured_datasets(const struct compiler *compiler, struct dataset_set *set,
			     struct err *err)
{
	for (size_t i = 0; i < compiler->metric_count; i++)
		dataset_set_add(set, compiler->metrics[i]->dataset);
	for (size_t i = 0; i < compiler->query->measure_count; i++) {
		CLEANUP(expr_freep) struct expr *expr = NULL;
		struct dataset_set own = {.count = 0};
		const struct model_dataset *fact;

		if (expr_parse(compiler->query->measures[i].text, &expr, NULL, err) < 0)
			return -1;
		if (find_bare(expr) ||
		    model_expr_datasets(compiler->model, expr, NULL, &own, err) < 0)
			continue; /* said when its turn comes */
		fact = finest(compiler->model, &own);
		if (fact)
			dataset_set_add(set, fact);
	}
	return 0;
}

/* COUNT(*) counts rows of what the other measures are made of, or of the finest dataset named. */
static int star_fact(const struct compiler *compiler, const struct model_dataset **ret_fact,
		     struct err *err)
{
	struct dataset_set set = {.count = 0};

	if (measured_datasets(compiler, &set, err) < 0)
		return -1;
	if (set.count == 0 && named_datasets(compiler, &set, err) < 0)
		return -1;
	*ret_fact = compiler->query->dataset
			    ? model_dataset(compiler->model, compiler->query->dataset)
			    : finest(compiler->model, &set);
	if (*ret_fact)
		return 0;
	return err_coded(err, ERR_INVALID, "E_AMBIGUOUS_MEASURE_GRAIN",
			 "COUNT(*) of what? Count a key, as in COUNT(orders.order_id)");
}

/* The fact, and whether each aggregate is taken over its rows. */
struct grain {
	const struct compiler *compiler;
	const struct model_dataset *fact;
	struct err *err;
};

static int check_grain(const struct expr *node, void *data)
{
	const struct grain *grain = data;
	struct dataset_set set = {.count = 0};

	if (node->kind == EXPR_WINDOW)
		return err_set(grain->err, ERR_INVALID,
			       "a window over groups takes what is measured by its name: make a "
			       "measure of what is inside, then window that");
	if (node->kind != EXPR_AGGREGATE || node->distinct || node->count == 0 ||
	    strcmp(node->text, "min") == 0 || strcmp(node->text, "max") == 0)
		return 0;
	if (model_expr_datasets(grain->compiler->model, node, NULL, &set, grain->err) < 0)
		return -1;
	for (size_t i = 0; i < set.count; i++) {
		if (set.items[i] == grain->fact)
			return 0;
	}
	if (set.count == 0)
		return 0;
	return err_coded(grain->err, ERR_INVALID, "E_AMBIGUOUS_MEASURE_GRAIN",
			 "%s() over %s would take each of its rows once per row of %s: make two "
			 "measures of it",
			 node->text, set.items[0]->name, grain->fact->name);
}

static int find_fact(struct compiler *compiler, struct model_metric *metric, struct err *err)
{
	struct grain grain = {compiler, NULL, err};
	struct dataset_set set = {.count = 0};
	const struct expr *bare = expr_bare_column(metric->expression);

	if (bare)
		return err_coded(err, ERR_INVALID, "E_UNAGGREGATED_FINER_GRAIN_REFERENCE",
				 "%s.%s stands outside of any aggregate: wrap it in one, as in "
				 "SUM(%s.%s)",
				 bare->dataset, bare->text, bare->dataset, bare->text);
	if (model_expr_datasets(compiler->model, metric->expression, NULL, &set, err) < 0) {
		err_give_code(err, "E_NAME_NOT_FOUND");
		return -1;
	}
	if (set.count == 0 && star_fact(compiler, &metric->dataset, err) < 0)
		return -1;
	if (set.count > 0)
		metric->dataset = finest(compiler->model, &set);
	if (!metric->dataset)
		return err_coded(err, ERR_INVALID, "E_AMBIGUOUS_MEASURE_GRAIN",
				 "it reads %s and %s, and a row of neither leads to one row of the "
				 "other: make two measures of it",
				 set.items[0]->name, set.items[1]->name);
	grain.fact = metric->dataset;
	return expr_walk(metric->expression, check_grain, &grain);
}

struct inputs {
	struct compiler *compiler;
	const struct model_metric **list;
	size_t count;
	size_t measures; /* of the query, that stand before this one */
	bool window;	 /* also names dimensions */
	struct err *err;
};

/* A metric of the model, or a measure that the query asks for before. */
static const struct model_metric *input_of(const struct inputs *inputs, const char *name)
{
	const struct model_metric *metric = model_metric(inputs->compiler->model, name);

	for (size_t i = 0; !metric && i < inputs->measures; i++) {
		if (strcmp(inputs->compiler->measures[i].name, name) == 0)
			metric = &inputs->compiler->measures[i];
	}
	return metric;
}

static int find_input(const struct expr *node, void *data)
{
	struct inputs *inputs = data;
	const struct model_metric *metric;

	if (node->kind != EXPR_COLUMN || (inputs->window && node->dataset))
		return 0; /* a dimension: compiler_check_windows() */
	metric = input_of(inputs, node->text);
	if (!metric && inputs->window && strcmp(node->text, QUERY_TIME) == 0)
		return 0;
	if (!metric)
		return err_coded(inputs->err, ERR_NOT_FOUND, "E_NAME_NOT_FOUND",
				 "no metric %s among the global names; a field is written "
				 "dataset.field",
				 node->text);
	for (size_t i = 0; i < inputs->count; i++) {
		if (inputs->list[i] == metric)
			return 0;
	}
	inputs->list = mem_grow(inputs->list, (inputs->count + 1) * sizeof(*inputs->list));
	inputs->list[inputs->count++] = metric;
	return 0;
}

static void *keep(struct compiler *compiler, void *memory)
{
	compiler->kept =
		mem_grow(compiler->kept, (compiler->kept_count + 1) * sizeof(*compiler->kept));
	compiler->kept[compiler->kept_count++] = memory;
	return memory;
}

/* Arithmetic over metrics of the model. */
static int find_inputs(struct compiler *compiler, size_t index, struct err *err)
{
	struct model_metric *metric = &compiler->measures[index];
	bool window = expr_has_window(metric->expression);
	struct inputs inputs = {compiler, NULL, 0, index, window, err};
	int result;

	if (expr_has_aggregate(metric->expression) ||
	    (!window && find_qualified(metric->expression)))
		return err_set(err, ERR_INVALID,
			       "it mixes metrics with fields: make a measure of each, then "
			       "combine them");
	result = expr_walk(metric->expression, find_input, &inputs);
	if (inputs.list)
		keep(compiler, inputs.list);
	if (result < 0)
		return -1;
	if (inputs.count == 0)
		return err_set(err, ERR_INVALID, "it names no metric");
	metric->inputs = inputs.list;
	metric->input_count = inputs.count;
	metric->dataset = inputs.list[0]->dataset;
	metric->time = inputs.list[0]->time;
	return 0;
}

static bool counts(const struct expr *expr)
{
	return expr->kind == EXPR_AGGREGATE && strcmp(expr->text, "count") == 0;
}

/* SUM(x) and COUNT(x) of its own rows add up over groups. */
static bool adds_up(const struct expr *expr)
{
	return expr->kind == EXPR_AGGREGATE && !expr->distinct &&
	       (strcmp(expr->text, "sum") == 0 || strcmp(expr->text, "count") == 0);
}

int compiler_measure(struct compiler *compiler, size_t index, struct err *err)
{
	const struct query_expression *asked = &compiler->query->measures[index];
	struct model_metric *metric = &compiler->measures[index];
	struct expr *expr;

	if (expr_parse(asked->text, &expr, NULL, err) < 0)
		return -1;
	compiler->exprs =
		mem_grow(compiler->exprs, (compiler->expr_count + 1) * sizeof(*compiler->exprs));
	compiler->exprs[compiler->expr_count++] = expr;
	*metric = (struct model_metric){
		.name = asked->name ? asked->name : asked->text,
		.label = asked->name ? asked->name : asked->text,
		.description = "",
		.expression = expr,
		.definition = asked->text,
		.scale = 1,
		.decimals = counts(expr) ? 0 : MEASURE_DECIMALS,
		.exact = counts(expr),
		.additivity = adds_up(expr) ? ADDITIVE : NOT_ADDITIVE,
		.at = "",
	};
	if (expr_has_ranked(expr) && !expr_is_ranked(expr))
		return err_set(
			err, ERR_INVALID,
			"a median, percentile or deviation stands alone in a measure: make a "
			"metric of it and combine that by its name");
	if (find_bare(expr))
		return find_inputs(compiler, index, err);
	if (!expr_has_aggregate(expr) && !expr_has_window(expr))
		return err_coded(err, ERR_INVALID, "E_UNAGGREGATED_FINER_GRAIN_REFERENCE",
				 "it adds nothing up: use SUM, COUNT, AVG, MIN or MAX");
	if (find_fact(compiler, metric, err) < 0)
		return -1;
	metric->time = metric->dataset->time;
	return 0;
}

struct windowed {
	const struct compiler *compiler;
	const struct model_metric *metric;
	struct err *err;
};

static int check_dimension(const struct expr *node, void *data)
{
	const struct windowed *windowed = data;

	if (node->kind != EXPR_COLUMN || compiler_input(windowed->metric, node) ||
	    compiler_named_dimension(windowed->compiler, node))
		return 0;
	return err_coded(windowed->err, ERR_NOT_FOUND, "E_NAME_NOT_FOUND",
			 "%s: the window names %s%s%s, which is no dimension of the query",
			 windowed->metric->name, node->dataset ? node->dataset : "",
			 node->dataset ? "." : "", node->text);
}

int compiler_check_windows(const struct compiler *compiler, struct err *err)
{
	for (size_t i = 0; i < compiler->metric_count; i++) {
		const struct model_metric *metric = compiler->metrics[i];
		struct windowed windowed = {compiler, metric, err};

		if (metric->input_count == 0 || !expr_has_window(metric->expression))
			continue;
		if (compiler->per)
			return err_set(
				err, ERR_INVALID,
				"%s is a window over groups, and of that no average is taken",
				metric->name);
		if (expr_walk(metric->expression, check_dimension, &windowed) != 0)
			return -1;
	}
	return 0;
}
