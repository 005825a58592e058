/*
 * Joins of a part: from the base along to-one relationships, so that no row of the base is
 * repeated, and LEFT, so that none is lost. Each dataset is joined once, under its own name.
 *
 * What lies behind a bridge (or, where the query allows it, behind children) may meet a row of the
 * base several times. Then the ways are walked first, in a derived table that keeps each row of the
 * base once per group, and the aggregates are taken over that:
 *
 *   FROM (SELECT DISTINCT key of the base, dimensions FROM base, far joins WHERE ...) AS "linked"
 *   JOIN base ON its key
 *
 * A stock (snapshot) is joined with the last moment of each stretch of time.
 *
 * Fails when no way leads there, or several and the query does not say which, or when a row would
 * count many times.
 */
#include "agents/query/metrics/compile_internal.h"

#include <string.h>

struct words compiler_via(const struct compiler *compiler)
{
	const struct query_texts *via = &compiler->query->via;

	return (struct words){(const char *const *)via->items, via->count};
}

static bool joined(const struct part *part, const struct model_dataset *dataset)
{
	for (size_t i = 0; i < part->joined.count; i++) {
		if (part->joined.items[i] == dataset)
			return true;
	}
	return false;
}

/* "net_sales", or for a listing "rows of issues". */
static void subject(const struct part *part, struct buf *out)
{
	if (part->atom_count)
		buf_add_str(out, part->atoms[0]->name);
	else
		buf_addf(out, "rows of %s", part->base->name);
}

static int no_way(const struct part *part, const struct model_dataset *dataset, const char *what,
		  struct err *err)
{
	CLEANUP(buf_clear) struct buf who = BUF_INIT;
	const struct model *model = part->compiler->model;

	subject(part, &who);
	if (part->compiler->part_count > 1)
		return err_coded(err, ERR_INVALID, "E3013_NO_STITCHING_DIMENSION",
				 "%s and %s have no shared dimension %s: no relationship leads "
				 "from %s to %s, so ask for one of them",
				 part->compiler->parts[0].base->name,
				 part->compiler->parts[1].base->name, what, part->base->name,
				 dataset->name);
	if (model_path(model, dataset, part->base, NULL, NULL) != PATH_NONE)
		return err_coded(err, ERR_INVALID, "E3012_MN_NO_SAFE_REWRITE",
				 "%s cannot be split by %s: one row of %s belongs to many of %s, "
				 "so it would be counted many times",
				 buf_str(&who), what, part->base->name, dataset->name);
	return err_coded(err, ERR_INVALID, "E_NO_PATH",
			 "%s cannot be split by %s: no relationship leads from %s to %s",
			 buf_str(&who), what, part->base->name, dataset->name);
}

static int several_ways(const struct part *part, const struct model_dataset *dataset,
			const char *what, struct err *err)
{
	CLEANUP(buf_clear) struct buf who = BUF_INIT;
	CLEANUP(buf_clear) struct buf ways = BUF_INIT;

	subject(part, &who);
	model_path_names(part->compiler->model, part->base, dataset, &ways);
	return err_coded(err, ERR_INVALID, "E_AMBIGUOUS_PATH",
			 "%s by %s has several meanings: %s lead from %s to %s; choose one with "
			 "\"via\", or give each role a dataset of its own in the model",
			 buf_str(&who), what, ways.len ? buf_str(&ways) : "several relationships",
			 part->base->name, dataset->name);
}

static int add_step(struct part *part, const struct model_relationship *step, bool reversed,
		    bool far, struct err *err)
{
	const struct model_dataset *to = reversed ? step->from : step->to;

	if (joined(part, to))
		return 0;
	if (!dataset_set_add(&part->joined, to))
		return err_set(err, ERR_LIMIT, "more than %d datasets in one query",
			       MODEL_DATASETS_MAX);
	part->joins[part->joined.count - 1] = (struct part_join){step, reversed, far};
	part->linked = part->linked || far;
	return 0;
}

/* Over children: a row may meet several, and must be told apart to count once in each group. */
static int link(struct part *part, const struct model_dataset *dataset, const char *what,
		struct err *err)
{
	const struct model_relationship *steps[MODEL_PATH_MAX];
	const struct compiler *compiler = part->compiler;
	const struct words via = compiler_via(compiler);
	size_t count = 0;
	bool bridge;

	switch (model_link(compiler->model, part->base, dataset, &via, steps, &count)) {
	case PATH_NONE:
		return no_way(part, dataset, what, err);
	case PATH_SEVERAL:
		return several_ways(part, dataset, what, err);
	case PATH_ONE:
		break;
	}
	bridge = count > 1 && model_is_bridge(compiler->model, steps[0]->from);
	if (part->atom_count == 0 || (!bridge && !compiler->query->several_groups))
		return no_way(part, dataset, what, err);
	if (part->base->primary_key.count == 0)
		return err_coded(err, ERR_INVALID, "E_PRIMARY_KEY_REQUIRED",
				 "rows of %s meet several of %s, and without a primary key they "
				 "cannot be told apart",
				 part->base->name, dataset->name);
	for (size_t i = 0; i < count; i++) {
		if (add_step(part, steps[i], i == 0, true, err) < 0)
			return -1;
	}
	return 0;
}

static int join(struct part *part, const struct model_dataset *dataset, const char *what,
		struct err *err)
{
	const struct model_relationship *steps[MODEL_PATH_MAX];
	const struct words via = compiler_via(part->compiler);
	size_t count = 0;

	switch (model_path_via(part->compiler->model, part->base, dataset, &via, steps, &count)) {
	case PATH_NONE:
		return link(part, dataset, what, err);
	case PATH_SEVERAL:
		return several_ways(part, dataset, what, err);
	case PATH_ONE:
		break;
	}
	for (size_t i = 0; i < count; i++) {
		if (add_step(part, steps[i], false, false, err) < 0)
			return -1;
	}
	return 0;
}

static int join_field(struct part *part, const struct model_field *field, struct err *err)
{
	return field ? join(part, field->dataset, field->label, err) : 0;
}

static int join_conditions(struct part *part, struct err *err)
{
	const struct compiler *compiler = part->compiler;
	struct dataset_set set = {.count = 0};

	for (size_t i = 0; i < compiler->query->where.count; i++) {
		if (model_expr_datasets(compiler->model, compiler->where[i], NULL, &set, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < set.count; i++) {
		if (join(part, set.items[i], set.items[i]->name, err) < 0)
			return -1;
	}
	return 0;
}

/* What an atom is put together by must be one for each row. */
static int join_atoms(struct part *part, struct err *err)
{
	for (size_t i = 0; i < part->atom_count; i++) {
		const struct model_metric *atom = part->atoms[i];

		if (join_field(part, atom->per, err) < 0 ||
		    join_field(part, atom->snapshot, err) < 0)
			return -1;
		for (size_t j = 0; j < atom->snapshot_per_count; j++) {
			if (join_field(part, atom->snapshot_per[j], err) < 0)
				return -1;
		}
	}
	if (join_field(part, part->compiler->per, err) < 0 || join_field(part, part->time, err) < 0)
		return -1;
	if (part->linked)
		return err_set(err, ERR_INVALID,
			       "%s: a row may have several of what it is taken per, or dated by",
			       part->atoms[0]->name);
	return 0;
}

int part_join(struct part *part, struct err *err)
{
	const struct compiler *compiler = part->compiler;

	dataset_set_add(&part->joined, part->base);
	for (size_t i = 0; i < part->counted.count; i++) {
		if (join(part, part->counted.items[i], part->counted.items[i]->name, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < compiler->dimension_count; i++) {
		const struct model_field *field = compiler->dimensions[i].field;

		if (field &&
		    model_path(compiler->model, part->base, field->dataset, NULL, NULL) !=
			    PATH_NONE &&
		    join_field(part, field, err) < 0)
			return -1;
	}
	if (join_atoms(part, err) < 0)
		return -1;
	for (size_t i = 0; i < compiler->query->filter_count; i++) {
		if (join_field(part, compiler->filter_fields[i], err) < 0)
			return -1;
	}
	if (join_conditions(part, err) < 0)
		return -1;
	for (size_t i = 0; i < compiler->dimension_count; i++) {
		if (join_field(part, compiler->dimensions[i].field, err) < 0)
			return -1;
	}
	return 0;
}

int part_join_all(struct part *part, const struct dataset_set *set, struct err *err)
{
	dataset_set_add(&part->joined, part->base);
	for (size_t i = 0; i < set->count; i++) {
		if (join(part, set->items[i], set->items[i]->name, err) < 0)
			return -1;
	}
	return join_field(part, part->time, err);
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

/* Rows of a far dataset that do not count link nothing. */
static void write_link_filter(const struct part *part, const struct model_dataset *to,
			      struct buf *out)
{
	struct expr_writer writer = {compiler_own_column, NULL, to};

	for (size_t i = 0; i < part->counted.count; i++) {
		if (part->counted.items[i] == to)
			return; /* stands in WHERE */
	}
	if (!to->filter)
		return;
	buf_add_str(out, " AND ");
	expr_write_operand(to->filter, &writer, out);
}

static void write_join(const struct part *part, size_t index, struct buf *out)
{
	const struct part_join *join = &part->joins[index];
	const struct model_dataset *to = part->joined.items[index];
	const struct model_relationship *step = join->step;
	const struct model_dataset *from = join->reversed ? step->to : step->from;
	const struct words *to_columns = join->reversed ? &step->from_columns : &step->to_columns;
	const struct words *from_columns = join->reversed ? &step->to_columns : &step->from_columns;

	buf_add_str(out, part_requires(part, index) ? "\nJOIN " : "\nLEFT JOIN ");
	write_table(to, out);
	for (size_t i = 0; i < to_columns->count; i++) {
		buf_add_str(out, i == 0 ? " ON " : " AND ");
		write_column(to, to_columns->items[i], out);
		buf_add_str(out, " = ");
		write_column(from, from_columns->items[i], out);
	}
	if (join->far)
		write_link_filter(part, to, out);
}

/* Is a windowed field of the dataset used here? */
struct usage {
	const struct model *model;
	const struct model_field *field;
};

static int uses_field(const struct expr *node, void *data)
{
	const struct usage *usage = data;
	struct model_ref ref;
	struct err ignored;

	return node->kind == EXPR_COLUMN &&
	       model_resolve(usage->model, node, NULL, &ref, &ignored) == 0 &&
	       ref.field == usage->field;
}

static bool in_expr(const struct part *part, const struct expr *expr,
		    const struct model_field *field)
{
	struct usage usage = {part->compiler->model, field};

	return expr && expr_walk(expr, uses_field, &usage) != 0;
}

static bool used(const struct part *part, const struct model_field *field)
{
	const struct compiler *compiler = part->compiler;

	for (size_t i = 0; i < compiler->dimension_count; i++) {
		if (compiler->dimensions[i].field == field)
			return true;
	}
	for (size_t i = 0; i < compiler->query->filter_count; i++) {
		if (compiler->filter_fields[i] == field)
			return true;
	}
	for (size_t i = 0; i < compiler->query->where.count; i++) {
		if (in_expr(part, compiler->where[i], field))
			return true;
	}
	for (size_t i = 0; i < compiler->expr_count; i++) {
		if (in_expr(part, compiler->exprs[i], field))
			return true;
	}
	for (size_t i = 0; i < part->atom_count; i++) {
		if (in_expr(part, part->atoms[i]->expression, field) ||
		    in_expr(part, part->atoms[i]->filter, field))
			return true;
	}
	return false;
}

void compiler_write_windows(const struct model_dataset *dataset, const struct model_field **fields,
			    size_t count, struct buf *out)
{
	struct expr_writer writer = {compiler_own_column, NULL, dataset};

	buf_add_str(out, "\nLEFT JOIN (SELECT ");
	for (size_t i = 0; i < dataset->primary_key.count; i++) {
		write_column(dataset, dataset->primary_key.items[i], out);
		buf_addf(out, " AS \"row_%zu\", ", i + 1);
	}
	for (size_t i = 0; i < count; i++) {
		if (i > 0)
			buf_add_str(out, ", ");
		expr_write(fields[i]->expression, &writer, out);
		buf_add_str(out, " AS ");
		sql_name(fields[i]->name, out);
	}
	buf_add_str(out, " FROM ");
	write_table(dataset, out);
	if (dataset->filter) {
		buf_add_str(out, " WHERE ");
		expr_write(dataset->filter, &writer, out);
	}
	buf_add_str(out, ") AS ");
	compiler_windows_name(dataset, out);
	for (size_t i = 0; i < dataset->primary_key.count; i++) {
		buf_add_str(out, i == 0 ? " ON " : " AND ");
		compiler_windows_name(dataset, out);
		buf_addf(out, ".\"row_%zu\" = ", i + 1);
		write_column(dataset, dataset->primary_key.items[i], out);
	}
}

static void write_windows(const struct part *part, const struct model_dataset *dataset,
			  struct buf *out)
{
	const struct model_field **fields = mem_array(dataset->field_count + 1, sizeof(*fields));
	size_t count = 0;

	for (size_t i = 0; i < dataset->field_count; i++) {
		const struct model_field *field = &dataset->fields[i];

		if (expr_has_window(field->expression) && used(part, field))
			fields[count++] = field;
	}
	if (count > 0)
		compiler_write_windows(dataset, fields, count, out);
	mem_free(fields);
}

void part_join_one(const struct part *part, size_t index, struct buf *out)
{
	write_join(part, index, out);
	write_windows(part, part->joined.items[index], out);
}

void part_from(const struct part *part, bool far, struct buf *out)
{
	buf_add_str(out, "FROM ");
	write_table(part->base, out);
	write_windows(part, part->base, out);
	for (size_t i = 1; i < part->joined.count; i++) {
		if (part->joins[i].far && !far)
			continue;
		part_join_one(part, i, out);
	}
}
