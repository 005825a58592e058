/* WHERE of a metric query: soft deletes, the metrics' own filters, the question's filters and
 * periods, and what must be there for a row to have a meaning. Fails as its filters do. */
#include "agents/query/metrics/compile_internal.h"

static void and_before(struct buf *out, size_t *count)
{
	buf_add_str(out, (*count)++ == 0 ? "\nWHERE " : "\n  AND ");
}

/* Soft deletes of the datasets that the number is made of. */
static void write_dataset_filters(const struct part *part, struct buf *out, size_t *count)
{
	for (size_t i = 0; i < part->counted.count; i++) {
		const struct model_dataset *dataset = part->counted.items[i];
		struct expr_writer writer = {compiler_own_column, NULL, dataset};

		if (!dataset->filter)
			continue;
		and_before(out, count);
		expr_write_operand(dataset->filter, &writer, out);
	}
}

/* The metrics' own filters: one for all, or any of several (each aggregate then takes its own). */
static void write_metric_filters(const struct part *part, struct buf *out, size_t *count)
{
	struct expr_writer writer = {compiler_column, NULL, part->compiler};

	for (size_t i = 0; i < part->atom_count; i++) {
		if (!part->atoms[i]->filter)
			return;
	}
	if (part->atom_count == 0)
		return;
	and_before(out, count);
	if (part->one_filter) {
		expr_write_operand(part->atoms[0]->filter, &writer, out);
		return;
	}
	for (size_t i = 0; i < part->atom_count; i++) {
		buf_add_str(out, i == 0 ? "((" : " OR (");
		expr_write(part->atoms[i]->filter, &writer, out);
		buf_add_char(out, ')');
	}
	buf_add_char(out, ')');
}

static void write_periods(const struct part *part, struct buf *out, size_t *count)
{
	const struct metric_query *query = part->compiler->query;

	if (!query->period.set)
		return;
	and_before(out, count);
	if (!query->compare.set) {
		part_period(part, &query->period, out);
		return;
	}
	buf_add_str(out, "((");
	part_period(part, &query->period, out);
	buf_add_str(out, ")\n    OR (");
	part_period(part, &query->compare, out);
	buf_add_str(out, "))");
}

/* What must be there for a row to have a meaning: the thing averaged over, the thing listed. */
static void write_present(const struct part *part, struct buf *out, size_t *count)
{
	if (part->compiler->per) {
		and_before(out, count);
		compiler_field(part->compiler->per, out);
		buf_add_str(out, " IS NOT NULL");
	}
	for (size_t i = 0; part->atom_count == 0 && i < part->compiler->dimension_count; i++) {
		const struct model_field *field = part->compiler->dimensions[i].field;

		if (!field || !field->names_row || field->dataset == part->base)
			continue;
		and_before(out, count);
		compiler_field(field, out);
		buf_add_str(out, " IS NOT NULL");
	}
}

/* Conditions that the asker wrote. */
static void write_where(const struct part *part, struct buf *out, size_t *count)
{
	struct expr_writer writer = {compiler_column, NULL, part->compiler};

	for (size_t i = 0; i < part->compiler->query->where.count; i++) {
		and_before(out, count);
		expr_write_operand(part->compiler->where[i], &writer, out);
	}
}

int part_where(const struct part *part, struct buf *out, struct err *err)
{
	size_t count = 0;

	write_dataset_filters(part, out, &count);
	write_metric_filters(part, out, &count);
	for (size_t i = 0; i < part->compiler->query->filter_count; i++) {
		if (compiler_late(part->compiler, i))
			continue;
		and_before(out, &count);
		if (compiler_filter(&part->compiler->query->filters[i],
				    part->compiler->filter_fields[i], NULL, out, err) < 0)
			return err_wrap(err, "filter");
	}
	write_where(part, out, &count);
	write_periods(part, out, &count);
	write_present(part, out, &count);
	return 0;
}
