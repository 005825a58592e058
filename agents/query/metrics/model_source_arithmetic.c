/* The model compiler: what the arithmetic of a metric is worth. Do values of groups add up to the
 * value of all? Are they whole numbers all the way? When in doubt: no. */
#include "agents/query/metrics/model_source.h"

#include <string.h>

/* What the expression is read against. */
struct fact {
	const struct model *model;
	const struct model_dataset *dataset;
};

static bool constant(const struct expr *expr)
{
	if (expr->kind == EXPR_COLUMN || expr->kind == EXPR_AGGREGATE)
		return false;
	for (size_t i = 0; i < expr->count; i++) {
		if (!constant(expr->kids[i]))
			return false;
	}
	return true;
}

/* The one key column of the fact: a row has one, so it lies in one group only. */
static bool counts_own_key(const struct fact *fact, const struct expr *expr)
{
	const struct words *key = &fact->dataset->primary_key;
	struct model_ref ref;
	struct err err;
	const char *column;

	if (expr->kind != EXPR_COLUMN || key->count != 1 ||
	    model_resolve(fact->model, expr, NULL, &ref, &err) < 0 || ref.dataset != fact->dataset)
		return false;
	column = ref.column;
	if (ref.field && ref.field->expression->kind == EXPR_COLUMN)
		column = ref.field->expression->text;
	return column && strcmp(column, key->items[0]) == 0;
}

static bool adds_up(const struct fact *fact, const struct expr *expr)
{
	if (expr->kind == EXPR_AGGREGATE)
		return expr->distinct
			       ? counts_own_key(fact, expr->kids[0])
			       : strcmp(expr->text, "sum") == 0 || strcmp(expr->text, "count") == 0;
	if (expr->kind == EXPR_UNARY && strcmp(expr->text, "NOT") != 0)
		return adds_up(fact, expr->kids[0]);
	if (expr->kind == EXPR_FUNCTION && strcmp(expr->text, "coalesce") == 0)
		return expr->count == 2 && adds_up(fact, expr->kids[0]) &&
		       expr->kids[1]->kind == EXPR_NUMBER && strcmp(expr->kids[1]->text, "0") == 0;
	if (expr->kind != EXPR_BINARY)
		return false;
	if (strcmp(expr->text, "+") == 0 || strcmp(expr->text, "-") == 0)
		return adds_up(fact, expr->kids[0]) && adds_up(fact, expr->kids[1]);
	if (strcmp(expr->text, "/") == 0)
		return adds_up(fact, expr->kids[0]) && constant(expr->kids[1]);
	if (strcmp(expr->text, "*") != 0)
		return false;
	return (adds_up(fact, expr->kids[0]) && constant(expr->kids[1])) ||
	       (constant(expr->kids[0]) && adds_up(fact, expr->kids[1]));
}

static bool exact(const struct fact *fact, const struct expr *expr);

static bool exact_kids(const struct fact *fact, const struct expr *expr, size_t from, size_t step)
{
	for (size_t i = from; i < expr->count; i += step) {
		if (!exact(fact, expr->kids[i]))
			return false;
	}
	return true;
}

static bool exact_case(const struct fact *fact, const struct expr *expr)
{
	size_t first = (expr->has_base ? 1 : 0) + 1; /* the first THEN */

	if (expr->has_else && !exact(fact, expr->kids[expr->count - 1]))
		return false;
	return exact_kids(fact, expr, first, 2);
}

/* Whole numbers all the way: sums of integers, no division, no fraction. */
static bool exact(const struct fact *fact, const struct expr *expr)
{
	struct model_ref ref;
	struct err err;

	switch (expr->kind) {
	case EXPR_COLUMN:
		return model_resolve(fact->model, expr, NULL, &ref, &err) == 0 && ref.field &&
		       ref.field->type == TYPE_INTEGER;
	case EXPR_NUMBER:
		return strchr(expr->text, '.') == NULL;
	case EXPR_WORD:
		return true;
	case EXPR_CASE:
		return exact_case(fact, expr);
	case EXPR_AGGREGATE:
		if (strcmp(expr->text, "count") == 0)
			return true;
		return strcmp(expr->text, "avg") != 0 && !expr_is_ranked(expr) &&
		       exact_kids(fact, expr, 0, 1);
	case EXPR_FUNCTION:
		if (strcmp(expr->text, "datediff") == 0)
			return true;
		return (strcmp(expr->text, "coalesce") == 0 || strcmp(expr->text, "abs") == 0 ||
			strcmp(expr->text, "nullif") == 0) &&
		       exact_kids(fact, expr, 0, 1);
	case EXPR_UNARY:
		return exact_kids(fact, expr, 0, 1);
	case EXPR_BINARY:
		return strcmp(expr->text, "/") != 0 && strcmp(expr->text, "||") != 0 &&
		       exact_kids(fact, expr, 0, 1);
	case EXPR_STRING:
	case EXPR_IS_NULL:
	case EXPR_IN:
	case EXPR_BETWEEN:
	case EXPR_WINDOW:
	case EXPR_PARTITION:
	case EXPR_ORDER:
		break;
	}
	return false;
}

bool source_additive(const struct model *model, const struct model_dataset *dataset,
		     const struct expr *expr)
{
	struct fact fact = {model, dataset};

	return adds_up(&fact, expr);
}

bool source_exact(const struct model *model, const struct model_dataset *dataset,
		  const struct expr *expr)
{
	struct fact fact = {model, dataset};

	return exact(&fact, expr);
}
