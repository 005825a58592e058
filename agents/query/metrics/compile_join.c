/*
 * Joins of a metric query: from the base along to-one relationships, so that no row of the base is
 * repeated, and LEFT, so that none is lost. Each dataset is joined once, under its own name.
 *
 * Fails when a dataset lies the other way (one row has many) or when two ways lead there and the
 * model does not say which is meant.
 */
#include "agents/query/metrics/compile_internal.h"

#include <string.h>

static bool joined(const struct compiler *compiler, const struct model_dataset *dataset)
{
	for (size_t i = 0; i < compiler->joined.count; i++) {
		if (compiler->joined.items[i] == dataset)
			return true;
	}
	return false;
}

/* "net_sales", or for a listing "rows of issues". */
static void subject(const struct compiler *compiler, struct buf *out)
{
	if (compiler->metric_count)
		buf_add_str(out, compiler->metrics[0]->name);
	else
		buf_addf(out, "rows of %s", compiler->base->name);
}

static int no_way(const struct compiler *compiler, const struct model_dataset *dataset,
		  const char *what, struct err *err)
{
	CLEANUP(buf_clear) struct buf who = BUF_INIT;

	subject(compiler, &who);
	if (model_path(compiler->model, dataset, compiler->base, NULL, NULL) == PATH_NONE)
		return err_set(err, ERR_INVALID,
			       "%s cannot be split by %s: no relationship leads from %s to %s",
			       buf_str(&who), what, compiler->base->name, dataset->name);
	return err_set(err, ERR_INVALID,
		       "%s cannot be split by %s: one row of %s belongs to many of %s, so it would "
		       "be counted many times",
		       buf_str(&who), what, compiler->base->name, dataset->name);
}

static int several_ways(const struct compiler *compiler, const struct model_dataset *dataset,
			const char *what, struct err *err)
{
	CLEANUP(buf_clear) struct buf who = BUF_INIT;

	subject(compiler, &who);
	return err_set(err, ERR_INVALID,
		       "%s by %s has two meanings: several relationships lead from %s to %s; the "
		       "model needs a dataset of its own for each role",
		       buf_str(&who), what, compiler->base->name, dataset->name);
}

static int join(struct compiler *compiler, const struct model_dataset *dataset, const char *what,
		struct err *err)
{
	const struct model_relationship *steps[MODEL_PATH_MAX];
	size_t count = 0;

	switch (model_path(compiler->model, compiler->base, dataset, steps, &count)) {
	case PATH_NONE:
		return no_way(compiler, dataset, what, err);
	case PATH_SEVERAL:
		return several_ways(compiler, dataset, what, err);
	case PATH_ONE:
		break;
	}
	for (size_t i = 0; i < count; i++) {
		if (joined(compiler, steps[i]->to))
			continue;
		if (!dataset_set_add(&compiler->joined, steps[i]->to))
			return err_set(err, ERR_LIMIT, "more than %d datasets in one query",
				       MODEL_DATASETS_MAX);
		compiler->joins[compiler->joined.count - 1] = steps[i];
	}
	return 0;
}

int compiler_join(struct compiler *compiler, struct err *err)
{
	dataset_set_add(&compiler->joined, compiler->base);
	for (size_t i = 0; i < compiler->counted.count; i++) {
		if (join(compiler, compiler->counted.items[i], compiler->counted.items[i]->name,
			 err) < 0)
			return -1;
	}
	for (size_t i = 0; i < compiler->dimension_count; i++) {
		const struct model_field *field = compiler->dimensions[i].field;

		if (join(compiler, field->dataset, field->label, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < compiler->query->filter_count; i++) {
		const struct model_field *field = compiler->filter_fields[i];

		if (join(compiler, field->dataset, field->label, err) < 0)
			return -1;
	}
	if (compiler->per && join(compiler, compiler->per->dataset, compiler->per->label, err) < 0)
		return -1;
	if (compiler->time &&
	    join(compiler, compiler->time->dataset, compiler->time->label, err) < 0)
		return -1;
	return 0;
}

static void write_table(const struct model_dataset *dataset, struct buf *out)
{
	sql_name(dataset->table, out);
	if (strcmp(dataset->table, dataset->name) != 0) {
		buf_add_str(out, " AS ");
		sql_name(dataset->name, out);
	}
}

static void write_column(const struct model_dataset *dataset, const char *column, struct buf *out)
{
	sql_name(dataset->name, out);
	buf_add_char(out, '.');
	sql_name(column, out);
}

void compiler_from(const struct compiler *compiler, struct buf *out)
{
	buf_add_str(out, "FROM ");
	write_table(compiler->base, out);
	for (size_t i = 1; i < compiler->joined.count; i++) {
		const struct model_relationship *step = compiler->joins[i];

		buf_add_str(out, "\nLEFT JOIN ");
		write_table(step->to, out);
		for (size_t j = 0; j < step->from_columns.count; j++) {
			buf_add_str(out, j == 0 ? " ON " : " AND ");
			write_column(step->to, step->to_columns.items[j], out);
			buf_add_str(out, " = ");
			write_column(step->from, step->from_columns.items[j], out);
		}
	}
}
