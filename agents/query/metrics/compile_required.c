/*
 * Which joined datasets a row must have. WHERE drops the rows without them, so they are joined as
 * such: JOIN instead of LEFT JOIN. It changes no result; it says what is meant. In doubt: not
 * required. Nothing here fails.
 */
#include "agents/query/metrics/compile_internal.h"

#include <string.h>
#include <strings.h>

struct wanted {
	const struct compiler *compiler;
	const struct model_dataset *dataset;
	bool own; /* columns are the dataset's own, without a name before them */
};

static bool is_one_of(const char *text, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(text, list[i]) == 0)
			return true;
	}
	return false;
}

/* Of columns of one table: missing where the row is. */
static bool own_is_missing(const struct expr *expr)
{
	static const char *const signs[] = {"+", "-", "*", "/", "%", "||"};

	if (expr->kind == EXPR_COLUMN)
		return true;
	if ((expr->kind == EXPR_UNARY || expr->kind == EXPR_BINARY) &&
	    is_one_of(expr->text, signs, ARRAY_LEN(signs)))
		return own_is_missing(expr->kids[0]);
	return false;
}

static bool field_is_missing(const struct model_field *field, const struct model_dataset *dataset)
{
	return field && field->dataset == dataset && own_is_missing(field->expression);
}

/* Is the value missing where the dataset has no row? */
static bool is_missing(const struct wanted *wanted, const struct expr *expr)
{
	struct model_ref ref;
	struct err ignored;

	if (wanted->own)
		return own_is_missing(expr);
	if (expr->kind != EXPR_COLUMN ||
	    model_resolve(wanted->compiler->model, expr, NULL, &ref, &ignored) < 0)
		return false;
	return ref.field ? field_is_missing(ref.field, wanted->dataset)
			 : ref.dataset == wanted->dataset;
}

/* Does the condition never hold where the dataset has no row? */
static bool wants(const struct wanted *wanted, const struct expr *expr)
{
	static const char *const tests[] = {"=", "<>", "!=", "<", "<=", ">", ">=", "LIKE"};

	if (expr->kind == EXPR_BINARY && strcmp(expr->text, "AND") == 0)
		return wants(wanted, expr->kids[0]) || wants(wanted, expr->kids[1]);
	if (expr->kind == EXPR_BINARY && is_one_of(expr->text, tests, ARRAY_LEN(tests)))
		return is_missing(wanted, expr->kids[0]) || is_missing(wanted, expr->kids[1]);
	if (expr->kind == EXPR_IN || expr->kind == EXPR_BETWEEN ||
	    (expr->kind == EXPR_IS_NULL && expr->negated))
		return is_missing(wanted, expr->kids[0]);
	return false;
}

static bool filter_wants(const struct query_filter *filter, const struct model_field *field,
			 const struct model_dataset *dataset)
{
	if (!field_is_missing(field, dataset) || filter->op == OP_NOT || filter->op == OP_MISSING)
		return false;
	json_each(value, filter->values)
	{
		if (field->missing && json_str(value) &&
		    strcasecmp(json_str(value), field->missing) == 0)
			return false; /* "Unknown": those without a value are asked for */
	}
	return true;
}

static bool metrics_want(const struct part *part, const struct wanted *wanted)
{
	for (size_t i = 0; i < part->atom_count; i++) {
		if (!part->atoms[i]->filter || !wants(wanted, part->atoms[i]->filter))
			return false;
	}
	return part->atom_count > 0;
}

static bool question_wants(const struct part *part, const struct wanted *wanted)
{
	const struct compiler *compiler = part->compiler;
	const struct metric_query *query = compiler->query;

	for (size_t i = 0; i < query->filter_count; i++) {
		if (!compiler_late(compiler, i) &&
		    filter_wants(&query->filters[i], compiler->filter_fields[i], wanted->dataset))
			return true;
	}
	for (size_t i = 0; i < query->where.count; i++) {
		if (wants(wanted, compiler->where[i]))
			return true;
	}
	return (query->period.set && field_is_missing(part->time, wanted->dataset)) ||
	       field_is_missing(compiler->per, wanted->dataset);
}

static bool dataset_wants(const struct part *part, const struct model_dataset *dataset)
{
	struct wanted own = {part->compiler, dataset, true};

	for (size_t i = 0; i < part->counted.count; i++) {
		if (part->counted.items[i] == dataset && dataset->filter)
			return wants(&own, dataset->filter);
	}
	return false;
}

bool part_requires(const struct part *part, size_t index)
{
	const struct model_dataset *dataset = part->joined.items[index];
	struct wanted wanted = {part->compiler, dataset, false};

	if (part->linked || part->without_where || part->joins[index].reversed)
		return false;
	if (metrics_want(part, &wanted) || question_wants(part, &wanted) ||
	    dataset_wants(part, dataset))
		return true;
	for (size_t i = index + 1; i < part->joined.count; i++) {
		if (!part->joins[i].reversed && part->joins[i].step->from == dataset &&
		    part_requires(part, i))
			return true; /* what is joined through it must be there */
	}
	return false;
}
