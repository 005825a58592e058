/*
 * A query of fields: rows of one dataset, its home, each with what its to-one relationships lead
 * to. Nothing is added up, so nothing may repeat a row: what the home does not reach along such
 * relationships is refused. Windows run after WHERE, over the rows that are shown.
 */
#include "agents/query/metrics/compile_internal.h"

#include <string.h>

struct rows {
	struct compiler compiler; /* lends names and conditions to the writers */
	struct expr **fields;	  /* owned; one per field of the query */
	char **names;		  /* owned; of the result's columns */
};

static int aggregate_in_fields(const char *text, const char *what, struct err *err)
{
	return err_coded(err, ERR_INVALID, "E_AGGREGATE_IN_SCALAR_QUERY",
			 "%s: %s is an aggregate, and a scalar query shows rows as they are: ask "
			 "for it as a measure, with dimensions",
			 text, what);
}

static int bare_metric(const struct expr *node, void *data)
{
	const struct expr **found = data;

	if (node->kind != EXPR_COLUMN || node->dataset)
		return 0;
	*found = node;
	return 1;
}

static char *column_name(const struct rows *rows, size_t index)
{
	const struct query_expression *asked = &rows->compiler.query->fields[index];
	const struct expr *expr = rows->fields[index];
	const char *name = asked->name;
	size_t taken = 0;

	if (!name)
		name = expr->kind == EXPR_COLUMN ? expr->text : "value";
	for (size_t i = 0; i < index; i++)
		taken += strcmp(rows->names[i], name) == 0;
	if (taken == 0)
		return mem_str(name);
	if (!asked->name && expr->kind == EXPR_COLUMN)
		return mem_format("%s_%s", expr->dataset, expr->text);
	return mem_format("%s_%zu", name, index + 1);
}

static int read_field(struct rows *rows, size_t index, struct dataset_set *set, struct err *err)
{
	const struct compiler *compiler = &rows->compiler;
	const char *text = compiler->query->fields[index].text;
	const struct expr *bare = NULL;
	struct expr *expr;

	if (expr_parse(text, &expr, NULL, err) < 0)
		return err_wrap(err, "%s", text);
	rows->fields[index] = expr;
	if (expr_has_aggregate(expr))
		return aggregate_in_fields(text, "what it adds up", err);
	IGNORE(expr_walk(expr, bare_metric, &bare), "bare says it");
	if (bare && model_metric(compiler->model, bare->text))
		return aggregate_in_fields(text, bare->text, err);
	if (model_expr_datasets(compiler->model, expr, NULL, set, err) < 0) {
		err_give_code(err, "E_NAME_NOT_FOUND");
		return err_wrap(err, "%s", text);
	}
	rows->names[index] = column_name(rows, index);
	return 0;
}

static enum model_path way(const struct compiler *compiler, const struct model_dataset *from,
			   const struct model_dataset *to)
{
	const struct words via = compiler_via(compiler);

	return model_path_via(compiler->model, from, to, &via, NULL, NULL);
}

static bool leads_to_all(const struct compiler *compiler, const struct model_dataset *from,
			 const struct dataset_set *set)
{
	for (size_t i = 0; i < set->count; i++) {
		if (way(compiler, from, set->items[i]) == PATH_NONE)
			return false;
	}
	return true;
}

/* Two of which neither leads to the other, for the message. */
static int no_home(const struct compiler *compiler, const struct dataset_set *set, struct err *err)
{
	const struct model_dataset *a = set->items[0], *b = set->items[set->count - 1];

	for (size_t i = 0; i < set->count; i++) {
		for (size_t j = 0; j < i; j++) {
			if (way(compiler, set->items[i], set->items[j]) != PATH_NONE ||
			    way(compiler, set->items[j], set->items[i]) != PATH_NONE)
				continue;
			a = set->items[j];
			b = set->items[i];
		}
	}
	return err_coded(err, ERR_INVALID, "E_FAN_OUT_IN_SCALAR_QUERY",
			 "rows of %s and of %s in one scalar query would repeat each other "
			 "(fan-out): ask for an aggregation, or for fields of a single home",
			 a->name, b->name);
}

static int find_home(struct rows *rows, const struct dataset_set *set, struct err *err)
{
	struct compiler *compiler = &rows->compiler;

	if (set->count == 0)
		return err_set(err, ERR_INVALID, "the fields name no dataset");
	for (size_t i = 0; i < set->count; i++) {
		if (leads_to_all(compiler, set->items[i], set)) {
			compiler->parts[0].base = set->items[i];
			compiler->parts[0].compiler = compiler;
			compiler->part_count = 1;
			return 0;
		}
	}
	return no_home(compiler, set, err);
}

static int read_filters(struct rows *rows, struct dataset_set *set, struct err *err)
{
	struct compiler *compiler = &rows->compiler;
	const struct metric_query *query = compiler->query;

	if (compiler_filter_fields(compiler, err) < 0)
		return -1;
	for (size_t i = 0; i < query->filter_count; i++)
		dataset_set_add(set, compiler->filter_fields[i]->dataset);
	for (size_t i = 0; i < query->where.count; i++) {
		if (model_expr_datasets(compiler->model, compiler->where[i], NULL, set, err) < 0)
			return -1;
	}
	return 0;
}

static int resolve(struct rows *rows, struct err *err)
{
	struct compiler *compiler = &rows->compiler;
	struct part *part = &compiler->parts[0];
	struct dataset_set set = {.count = 0};

	if (compiler_expressions(compiler, err) < 0)
		return -1;
	for (size_t i = 0; i < compiler->query->field_count; i++) {
		if (read_field(rows, i, &set, err) < 0)
			return -1;
	}
	if (read_filters(rows, &set, err) < 0 || find_home(rows, &set, err) < 0)
		return -1;
	if (compiler->query->period.set) {
		const char *id = compiler->query->period.field;

		if (!id)
			id = part->base->time;
		if (!id)
			return err_set(err, ERR_INVALID,
				       "%s has no date, so it cannot be asked for in a period",
				       part->base->name);
		if (compiler_find_field(compiler->model, id, &part->time, err) < 0)
			return -1;
	}
	dataset_set_add(&part->counted, part->base);
	return part_join_all(part, &set, err);
}

static int write_order(const struct rows *rows, struct buf *out, struct err *err)
{
	const struct metric_query *query = rows->compiler.query;

	for (size_t i = 0; i < query->order_count; i++) {
		const struct query_order *order = &query->order[i];
		size_t at = 0;

		while (at < query->field_count && strcmp(rows->names[at], order->by) != 0 &&
		       strcmp(query->fields[at].text, order->by) != 0)
			at++;
		if (at == query->field_count)
			return err_coded(err, ERR_NOT_FOUND, "E_NAME_NOT_FOUND",
					 "order: %s is no column of the result", order->by);
		buf_add_str(out, i == 0 ? "\nORDER BY " : ", ");
		sql_name(rows->names[at], out);
		buf_addf(out, "%s NULLS %s", order->desc ? " DESC" : "",
			 order->nulls == NULLS_FIRST ? "FIRST" : "LAST");
	}
	return 0;
}

static int write_rows(const struct rows *rows, struct buf *out, struct err *err)
{
	const struct compiler *compiler = &rows->compiler;
	struct expr_writer writer = {compiler_column, NULL, compiler};
	size_t count = 0;

	buf_add_str(out, "SELECT");
	for (size_t i = 0; i < compiler->query->field_count; i++) {
		compiler_separator(&count, out);
		expr_write(rows->fields[i], &writer, out);
		buf_add_str(out, " AS ");
		sql_name(rows->names[i], out);
	}
	buf_add_char(out, '\n');
	part_from(&compiler->parts[0], false, out);
	if (part_where(&compiler->parts[0], out, err) < 0 || write_order(rows, out, err) < 0)
		return -1;
	if (compiler->query->limit > 0)
		buf_addf(out, "\nLIMIT %lld", (long long)compiler->query->limit);
	return 0;
}

static const char *keep_text(struct compiled_query *compiled, const char *text)
{
	struct json *kept = json_new_str(text);

	json_push(compiled->texts, kept);
	return json_str(kept);
}

static void write_words(const struct rows *rows, struct compiled_query *compiled)
{
	const struct compiler *compiler = &rows->compiler;
	const struct part *part = &compiler->parts[0];
	struct json *tables = json_array();
	CLEANUP(mem_freep) char *grain = mem_format("one row = one row of %s", part->base->table);

	compiled->texts = json_array();
	compiled->columns = mem_array(compiler->query->field_count + 1, sizeof(*compiled->columns));
	for (size_t i = 0; i < compiler->query->field_count; i++)
		compiled->columns[compiled->column_count++] = (struct column_info){
			.name = keep_text(compiled, rows->names[i]),
			.label = keep_text(compiled, rows->names[i]),
			.role = COLUMN_DIMENSION,
			.type = "text",
		};
	compiled->words = json_object();
	json_set_str(compiled->words, "sentence", "rows as they are");
	compiled->plan = json_object();
	for (size_t i = 0; i < part->joined.count; i++)
		json_push_str(tables, part->joined.items[i]->table);
	json_set(compiled->plan, "tables", tables);
	json_set_str(compiled->plan, "grain", grain);
	json_set_str(compiled->plan, "metric_definition", "rows as they are, nothing counted");
	json_set_str(compiled->plan, "fanout_risk", "none: nothing repeats a row");
	json_set(compiled->plan, "metrics", json_array());
	json_set_str(compiled->plan, "dataset", part->base->name);
	compiled->definitions = json_array();
}

static void rows_clear(struct rows *rows)
{
	const struct metric_query *query = rows->compiler.query;

	for (size_t i = 0; i < query->field_count; i++) {
		expr_free(rows->fields[i]);
		mem_free(rows->names[i]);
	}
	for (size_t i = 0; rows->compiler.where && i < query->where.count; i++)
		expr_free(rows->compiler.where[i]);
	mem_free(rows->compiler.where);
	mem_free(rows->compiler.having);
	mem_free(rows->compiler.filter_fields);
	mem_free(rows->fields);
	mem_free(rows->names);
}

int compiler_rows(const struct metric_query *query, const struct model *model,
		  struct compiled_query *compiled, struct err *err)
{
	CLEANUP(rows_clear)
	struct rows rows = {.compiler = {.query = query, .model = model}};
	CLEANUP(buf_clear) struct buf sql = BUF_INIT;

	rows.fields = mem_array(query->field_count + 1, sizeof(*rows.fields));
	rows.names = mem_array(query->field_count + 1, sizeof(*rows.names));
	rows.compiler.exprs = rows.fields; /* lent */
	rows.compiler.expr_count = query->field_count;
	if (resolve(&rows, err) < 0 || write_rows(&rows, &sql, err) < 0)
		return -1;
	compiled->sql = buf_take(&sql);
	write_words(&rows, compiled);
	return 0;
}
