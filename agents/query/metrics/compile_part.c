/*
 * The metric compiler: parts. Atoms of one fact that are taken in the same way are aggregated by
 * one SELECT; others have a part of their own, so that no fact repeats the rows of another. Parts
 * meet on what they share: the dimensions of the question, or, where it has none, as single rows,
 * provided that the facts have anything to do with each other.
 */
#include "agents/query/metrics/compile_internal.h"

#include <string.h>

const struct model_field *part_dimension_field(const struct part *part, size_t dimension)
{
	const struct model_field *field = part->compiler->dimensions[dimension].field;

	return field ? field : part->time;
}

static int named_fields(const struct compiler *compiler, struct dataset_set *set, struct err *err)
{
	bool fits = true;

	for (size_t i = 0; i < compiler->dimension_count; i++) {
		if (compiler->dimensions[i].field)
			fits = fits && dataset_set_add(set, compiler->dimensions[i].field->dataset);
	}
	for (size_t i = 0; i < compiler->query->filter_count; i++)
		fits = fits && dataset_set_add(set, compiler->filter_fields[i]->dataset);
	for (size_t i = 0; i < compiler->query->where.count; i++) {
		if (model_expr_datasets(compiler->model, compiler->where[i], NULL, set, err) < 0)
			return -1;
	}
	if (compiler->query->period.field) {
		const struct model_field *time;

		if (compiler_find_field(compiler->model, compiler->query->period.field, &time,
					err) < 0)
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
		const struct words via = compiler_via(compiler);

		if (model_path_via(compiler->model, from, set->items[i], &via, NULL, NULL) !=
		    PATH_ONE)
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
static int listing_base(const struct compiler *compiler, const struct model_dataset **ret_base,
			struct err *err)
{
	struct dataset_set set = {.count = 0};
	const struct model_dataset *found = NULL;

	if (named_fields(compiler, &set, err) < 0)
		return -1;
	for (size_t i = 0; i < set.count; i++) {
		if (reaches_all(compiler, set.items[i], &set)) {
			*ret_base = set.items[i];
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
			return err_coded(err, ERR_INVALID, "E_AMBIGUOUS_PATH",
					 "%s and %s meet in %s and in %s: say which is meant",
					 set.items[0]->name, set.items[1]->name, found->name,
					 dataset->name);
	}
	if (!found)
		return err_coded(err, ERR_INVALID, "E_NO_PATH",
				 "no rows tell which %s belongs to which %s", set.items[0]->name,
				 set.items[set.count - 1]->name);
	*ret_base = found;
	return 0;
}

static struct part *new_part(struct compiler *compiler, const struct model_dataset *base)
{
	struct part *part = &compiler->parts[compiler->part_count++];

	part->compiler = compiler;
	part->base = base;
	return part;
}

static int listing_part(struct compiler *compiler, struct err *err)
{
	const char *name = compiler->query->dataset;
	const struct model_dataset *base;

	if (compiler->dimension_count == 0)
		return err_coded(err, ERR_INVALID, "E_EMPTY_AGGREGATION_QUERY",
				 "neither a metric nor a dimension is asked for: of Dimensions and "
				 "Measures at least one is needed");
	if (!name && listing_base(compiler, &base, err) < 0)
		return -1;
	if (name) {
		base = model_dataset(compiler->model, name);
		if (!base)
			return err_coded(err, ERR_NOT_FOUND, "E_NAME_NOT_FOUND", "no dataset %s",
					 name);
	}
	IGNORE(new_part(compiler, base) == NULL, "it is the first");
	return 0;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* May both be taken by one SELECT? */
static bool same_way(const struct model_metric *a, const struct model_metric *b)
{
	return !expr_is_ranked(a->expression) && !expr_is_ranked(b->expression) &&
	       a->dataset == b->dataset && a->snapshot == b->snapshot &&
	       a->snapshot_first == b->snapshot_first && a->snapshot_per == b->snapshot_per &&
	       a->per == b->per && same_text(a->then, b->then);
}

static int add_atom(struct compiler *compiler, const struct model_metric *atom, struct err *err)
{
	struct part *part = NULL;

	for (size_t i = 0; i < compiler->part_count && !part; i++) {
		if (same_way(compiler->parts[i].atoms[0], atom))
			part = &compiler->parts[i];
	}
	if (!part && compiler->part_count == COMPILE_PARTS_MAX)
		return err_set(err, ERR_LIMIT, "metrics of more than %d facts at once",
			       COMPILE_PARTS_MAX);
	if (!part)
		part = new_part(compiler, atom->dataset);
	part->atoms[part->atom_count++] = atom;
	return 0;
}

static bool needs_time(const struct compiler *compiler)
{
	const struct metric_query *query = compiler->query;

	for (size_t i = 0; i < compiler->dimension_count; i++) {
		if (!compiler->dimensions[i].field)
			return true;
	}
	return query->period.set || query->compare.set;
}

/* The period's field: as asked, or the default that all metrics of the part share. */
static int resolve_time(struct part *part, struct err *err)
{
	const struct metric_query *query = part->compiler->query;
	const char *id = query->period.field;
	const char *who = part->atom_count ? part->atoms[0]->name : part->base->name;

	if (!needs_time(part->compiler))
		return 0;
	if (!id)
		id = part->atom_count ? part->atoms[0]->time : part->base->time;
	for (size_t i = 1; !query->period.field && i < part->atom_count; i++) {
		const char *other = part->atoms[i]->time;

		if (!id || !other || strcmp(id, other) != 0)
			return err_set(err, ERR_INVALID,
				       "%s and %s are dated differently: say which date the period "
				       "is about",
				       who, part->atoms[i]->name);
	}
	if (!id)
		return err_set(err, ERR_INVALID,
			       "%s has no date, so it cannot be asked for in a period", who);
	if (compiler_find_field(part->compiler->model, id, &part->time, err) < 0)
		return -1;
	if (!part->time->is_time)
		return err_set(err, ERR_INVALID, "%s is no time", id);
	return 0;
}

static void add_counted(struct part *part, const struct expr *expr)
{
	struct err ignored;

	if (expr)
		IGNORE(model_expr_datasets(part->compiler->model, expr, NULL, &part->counted,
					   &ignored) < 0,
		       "the model was checked when read");
}

/* The datasets a number is made of: base, what the metrics and their filters read, and
 * their date's, should that one have rows that do not count. The period that is asked for changes
 * nothing here. */
static void find_counted(struct part *part)
{
	dataset_set_add(&part->counted, part->base);
	for (size_t i = 0; i < part->atom_count; i++) {
		const struct model_metric *metric = part->atoms[i];
		const struct model_dataset *time_dataset = NULL;

		add_counted(part, metric->expression);
		add_counted(part, metric->filter);
		if (metric->time)
			time_dataset = model_field(part->compiler->model, metric->time)->dataset;
		if (time_dataset && time_dataset->filter)
			dataset_set_add(&part->counted, time_dataset);
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

static int prepare(struct part *part, struct err *err)
{
	if (resolve_time(part, err) < 0)
		return -1;
	find_counted(part);
	part->one_filter = true;
	for (size_t i = 1; i < part->atom_count; i++) {
		if (!same_filter(part->atoms[0], part->atoms[i]))
			part->one_filter = false;
	}
	return part_join(part, err);
}

static bool meets(const struct model *model, const struct model_dataset *from,
		  const struct model_dataset *to)
{
	return model_path(model, from, to, NULL, NULL) != PATH_NONE ||
	       model_link(model, from, to, NULL, NULL, NULL) != PATH_NONE;
}

/* Rows of both have to do with rows of a third. */
static bool share_dataset(const struct model *model, const struct model_dataset *a,
			  const struct model_dataset *b)
{
	for (size_t i = 0; i < model_dataset_count(model); i++) {
		const struct model_dataset *shared = model_dataset_at(model, i);

		if (meets(model, a, shared) && meets(model, b, shared))
			return true;
	}
	return false;
}

/* Two facts that have nothing in common do not belong into one answer. */
static int check_shared(const struct compiler *compiler, struct err *err)
{
	for (size_t i = 1; i < compiler->part_count; i++) {
		const struct model_dataset *a = compiler->parts[0].base;
		const struct model_dataset *b = compiler->parts[i].base;

		if (!share_dataset(compiler->model, a, b))
			return err_coded(err, ERR_INVALID, "E3013_NO_STITCHING_DIMENSION",
					 "%s and %s have no shared dimension, so figures of both "
					 "do not belong into one answer: ask for one of them",
					 a->name, b->name);
	}
	return 0;
}

static int check_dataset(const struct compiler *compiler, struct err *err)
{
	const char *dataset = compiler->query->dataset;

	for (size_t i = 0; dataset && i < compiler->part_count; i++) {
		const struct part *part = &compiler->parts[i];

		if (part->atom_count > 0 && strcmp(dataset, part->base->name) != 0)
			return err_set(err, ERR_INVALID, "%s is made of rows of %s, not of %s",
				       part->atoms[0]->name, part->base->name, dataset);
	}
	return 0;
}

int compiler_parts(struct compiler *compiler, struct err *err)
{
	if (compiler->metric_count == 0 && listing_part(compiler, err) < 0)
		return -1;
	for (size_t i = 0; i < compiler->atom_count; i++) {
		if (add_atom(compiler, compiler->atoms[i], err) < 0)
			return -1;
	}
	if (check_dataset(compiler, err) < 0 || check_shared(compiler, err) < 0)
		return -1;
	for (size_t i = 0; i < compiler->part_count; i++) {
		if (prepare(&compiler->parts[i], err) < 0)
			return -1;
	}
	return 0;
}
