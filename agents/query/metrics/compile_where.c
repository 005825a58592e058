/* WHERE of a metric query: soft deletes, the metrics' own filters, the question's filters and
 * periods, and what must be there for a row to have a meaning. Fails as its filters do. */
#include "agents/query/metrics/compile_internal.h"

static void and_before(struct buf *out, size_t *count)
{
	buf_add_str(out, (*count)++ == 0 ? "\nWHERE " : "\n  AND ");
}

/* Soft deletes of the datasets that the number is made of. */
static void write_dataset_filters(const struct compiler *compiler, struct buf *out, size_t *count)
{
	for (size_t i = 0; i < compiler->counted.count; i++) {
		const struct model_dataset *dataset = compiler->counted.items[i];
		struct expr_writer writer = {compiler_own_column, NULL, dataset};

		if (!dataset->filter)
			continue;
		and_before(out, count);
		expr_write_operand(dataset->filter, &writer, out);
	}
}

/* The metrics' own filters: one for all, or any of several (each aggregate then takes its own). */
static void write_metric_filters(const struct compiler *compiler, struct buf *out, size_t *count)
{
	struct expr_writer writer = {compiler_column, NULL, compiler};

	for (size_t i = 0; i < compiler->metric_count; i++) {
		if (!compiler->metrics[i]->filter)
			return;
	}
	if (compiler->metric_count == 0)
		return;
	and_before(out, count);
	if (compiler->one_filter) {
		expr_write_operand(compiler->metrics[0]->filter, &writer, out);
		return;
	}
	for (size_t i = 0; i < compiler->metric_count; i++) {
		buf_add_str(out, i == 0 ? "((" : " OR (");
		expr_write(compiler->metrics[i]->filter, &writer, out);
		buf_add_char(out, ')');
	}
	buf_add_char(out, ')');
}

static void write_periods(const struct compiler *compiler, struct buf *out, size_t *count)
{
	const struct metric_query *query = compiler->query;

	if (!query->period.set)
		return;
	and_before(out, count);
	if (!query->compare.set) {
		compiler_period(compiler, &query->period, out);
		return;
	}
	buf_add_str(out, "((");
	compiler_period(compiler, &query->period, out);
	buf_add_str(out, ")\n    OR (");
	compiler_period(compiler, &query->compare, out);
	buf_add_str(out, "))");
}

/* What must be there for a row to have a meaning: the thing averaged over, the thing listed. */
static void write_present(const struct compiler *compiler, struct buf *out, size_t *count)
{
	if (compiler->per) {
		and_before(out, count);
		compiler_field(compiler, compiler->per, out);
		buf_add_str(out, " IS NOT NULL");
	}
	for (size_t i = 0; compiler->metric_count == 0 && i < compiler->dimension_count; i++) {
		const struct model_field *field = compiler->dimensions[i].field;

		if (!field->names_row || field->dataset == compiler->base)
			continue;
		and_before(out, count);
		compiler_field(compiler, field, out);
		buf_add_str(out, " IS NOT NULL");
	}
}

int compiler_where(const struct compiler *compiler, struct buf *out, struct err *err)
{
	size_t count = 0;

	write_dataset_filters(compiler, out, &count);
	write_metric_filters(compiler, out, &count);
	for (size_t i = 0; i < compiler->query->filter_count; i++) {
		if (compiler_late(compiler, i))
			continue;
		and_before(out, &count);
		if (compiler_filter(compiler, &compiler->query->filters[i],
				    compiler->filter_fields[i], NULL, out, err) < 0)
			return err_wrap(err, "filter");
	}
	write_periods(compiler, out, &count);
	write_present(compiler, out, &count);
	return 0;
}
