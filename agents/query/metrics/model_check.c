/*
 * The check of a semantic model against its data.
 *
 * Few statements: all fields of a dataset at once (one by one only to find the wrong one), one per
 * key, one per relationship, one per metric and expected value. What the database refuses becomes a
 * finding at the place in the model's file; what keeps the check from going on (no service, budget
 * used up) ends it.
 */
#include "agents/query/metrics/model_check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agents/query/metrics/compile.h"
#include "agents/query/metrics/model_internal.h"

struct checking {
	const struct model *model;
	run_sql_fn *run_sql;
	void *self;
	struct model_check *check;
};

static void find(struct checking *checking, const char *severity, const char *at, int column,
		 const char *format, ...) __attribute__((format(printf, 5, 6)));

static void find(struct checking *checking, const char *severity, const char *at, int column,
		 const char *format, ...)
{
	struct json *finding = json_object();
	char text[ERR_TEXT_MAX];
	va_list args;

	va_start(args, format);
	IGNORE(vsnprintf(text, sizeof(text), format, args) < 0, "a cut message is still one");
	va_end(args);
	json_set_str(finding, "severity", severity);
	json_set_str(finding, "at", at);
	json_set_int(finding, "column", column);
	json_set_str(finding, "message", text);
	json_push(checking->check->findings, finding);
	if (strcmp(severity, "error") == 0)
		checking->check->error_count++;
}

/* 0: ran; 1: the database refused it (err says why); negative: the check cannot go on. */
static int run(struct checking *checking, const char *sql, struct json **ret_result,
	       struct err *err)
{
	checking->check->statement_count++;
	if (checking->run_sql(checking->self, sql, ret_result, err) == 0)
		return 0;
	return err->kind == ERR_INVALID ? 1 : -1;
}

/* The n-th value of the only row. */
static const struct json *value_of(const struct json *result, size_t index)
{
	return json_at(json_at(json_get(result, "rows"), 0), index);
}

static int64_t count_of(const struct json *result, size_t index)
{
	return json_int(value_of(result, index)); /* SUM over no rows is missing: 0 */
}

static void own_column(const struct expr_writer *writer, const struct expr *column, struct buf *out)
{
	(void)writer;
	sql_name(column->text, out);
}

static void write_columns(const struct words *columns, const char *separator, struct buf *out)
{
	for (size_t i = 0; i < columns->count; i++) {
		buf_add_str(out, i ? separator : "");
		sql_name(columns->items[i], out);
	}
}

/* "a, b", for messages. */
static void name_columns(const struct words *columns, struct buf *out)
{
	for (size_t i = 0; i < columns->count; i++)
		buf_addf(out, "%s%s", i ? ", " : "", columns->items[i]);
}

static void write_fields(const struct model_dataset *dataset, size_t from, size_t count,
			 struct buf *out)
{
	struct expr_writer writer = {own_column, NULL, NULL};

	buf_add_str(out, "SELECT ");
	for (size_t i = from; i < from + count; i++) {
		buf_add_str(out, i > from ? ", " : "");
		expr_write(dataset->fields[i].expression, &writer, out);
	}
	buf_add_str(out, " FROM ");
	sql_name(dataset->table, out);
	if (dataset->filter) {
		buf_add_str(out, " WHERE ");
		expr_write(dataset->filter, &writer, out);
	}
	buf_add_str(out, " LIMIT 1");
}

static int run_fields(struct checking *checking, const struct model_dataset *dataset, size_t from,
		      size_t count, struct err *err)
{
	CLEANUP(buf_clear) struct buf sql = BUF_INIT;
	CLEANUP(json_freep) struct json *result = NULL;

	write_fields(dataset, from, count, &sql);
	return run(checking, buf_str(&sql), &result, err);
}

static int check_fields(struct checking *checking, const struct model_dataset *dataset,
			struct err *err)
{
	size_t before = checking->check->error_count;
	int result;

	if (dataset->field_count == 0)
		return 0;
	checking->check->field_count += dataset->field_count;
	result = run_fields(checking, dataset, 0, dataset->field_count, err);
	if (result <= 0)
		return result;
	for (size_t i = 0; i < dataset->field_count; i++) {
		const struct model_field *field = &dataset->fields[i];

		result = run_fields(checking, dataset, i, 1, err);
		if (result < 0)
			return -1;
		if (result > 0)
			find(checking, "error", field->at, field->column, "field %s: %s", field->id,
			     err->text);
	}
	if (checking->check->error_count == before)
		find(checking, "error", dataset->at, dataset->column,
		     "dataset %s: its fields do not go together: %s", dataset->name, err->text);
	return 0;
}

/* rows, different keys, rows with a missing part. */
static void write_key(const struct model_dataset *dataset, const struct words *key, struct buf *out)
{
	buf_add_str(out, "SELECT COUNT(*), (SELECT COUNT(*) FROM (SELECT DISTINCT ");
	write_columns(key, ", ", out);
	buf_add_str(out, " FROM ");
	sql_name(dataset->table, out);
	buf_add_str(out, ")), SUM(CASE WHEN ");
	write_columns(key, " IS NULL OR ", out);
	buf_add_str(out, " IS NULL THEN 1 ELSE 0 END) FROM ");
	sql_name(dataset->table, out);
}

static int check_key(struct checking *checking, const struct model_dataset *dataset,
		     const struct words *key, bool primary, struct err *err)
{
	CLEANUP(buf_clear) struct buf sql = BUF_INIT;
	CLEANUP(buf_clear) struct buf names = BUF_INIT;
	CLEANUP(json_freep) struct json *result = NULL;
	const char *what = primary ? "primary key" : "unique key";
	int ran;

	if (key->count == 0)
		return 0;
	checking->check->key_count++;
	name_columns(key, &names);
	write_key(dataset, key, &sql);
	ran = run(checking, buf_str(&sql), &result, err);
	if (ran < 0)
		return -1;
	if (ran > 0)
		find(checking, "error", dataset->at, dataset->column, "%s (%s) of %s: %s", what,
		     buf_str(&names), dataset->name, err->text);
	else if (count_of(result, 0) != count_of(result, 1))
		find(checking, "error", dataset->at, dataset->column,
		     "%s (%s) of %s is none: %lld rows, %lld different", what, buf_str(&names),
		     dataset->name, (long long)count_of(result, 0), (long long)count_of(result, 1));
	else if (primary && count_of(result, 2) > 0)
		find(checking, "error", dataset->at, dataset->column,
		     "primary key (%s) of %s is missing in %lld rows", buf_str(&names),
		     dataset->name, (long long)count_of(result, 2));
	return 0;
}

static int check_dataset(struct checking *checking, const struct model_dataset *dataset,
			 struct err *err)
{
	if (check_fields(checking, dataset, err) < 0 ||
	    check_key(checking, dataset, &dataset->primary_key, true, err) < 0)
		return -1;
	for (size_t i = 0; i < dataset->unique_key_count; i++) {
		if (check_key(checking, dataset, &dataset->unique_keys[i], false, err) < 0)
			return -1;
	}
	return 0;
}

/* keys that several rows of `to` share, and rows of `from` that name a row which is not there. */
static void write_relationship(const struct model_relationship *relationship, struct buf *out)
{
	const struct words *to = &relationship->to_columns, *from = &relationship->from_columns;

	buf_add_str(out, "SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM ");
	sql_name(relationship->to->table, out);
	buf_add_str(out, " WHERE ");
	write_columns(to, " IS NOT NULL AND ", out);
	buf_add_str(out, " IS NOT NULL GROUP BY ");
	write_columns(to, ", ", out);
	buf_add_str(out, " HAVING COUNT(*) > 1)), (SELECT COUNT(*) FROM ");
	sql_name(relationship->from->table, out);
	buf_add_str(out, " AS \"from\" WHERE ");
	for (size_t i = 0; i < from->count; i++) {
		buf_add_str(out, i ? " AND \"from\"." : "\"from\".");
		sql_name(from->items[i], out);
		buf_add_str(out, " IS NOT NULL");
	}
	buf_add_str(out, " AND NOT EXISTS (SELECT 1 FROM ");
	sql_name(relationship->to->table, out);
	buf_add_str(out, " AS \"to\" WHERE ");
	for (size_t i = 0; i < from->count; i++) {
		buf_add_str(out, i ? " AND \"to\"." : "\"to\".");
		sql_name(to->items[i], out);
		buf_add_str(out, " = \"from\".");
		sql_name(from->items[i], out);
	}
	buf_add_str(out, "))");
}

static int check_relationship(struct checking *checking,
			      const struct model_relationship *relationship, struct err *err)
{
	CLEANUP(buf_clear) struct buf sql = BUF_INIT;
	CLEANUP(buf_clear) struct buf names = BUF_INIT;
	CLEANUP(json_freep) struct json *result = NULL;
	int ran;

	checking->check->relationship_count++;
	name_columns(&relationship->to_columns, &names);
	write_relationship(relationship, &sql);
	ran = run(checking, buf_str(&sql), &result, err);
	if (ran < 0)
		return -1;
	if (ran > 0) {
		find(checking, "error", relationship->at, relationship->column,
		     "relationship %s: %s", relationship->name, err->text);
		return 0;
	}
	if (count_of(result, 0) > 0)
		find(checking, "error", relationship->at, relationship->column,
		     "relationship %s: %lld values of (%s) stand in several rows of %s, so joining "
		     "would count rows of %s many times",
		     relationship->name, (long long)count_of(result, 0), buf_str(&names),
		     relationship->to->name, relationship->from->name);
	if (count_of(result, 1) > 0)
		find(checking, "note", relationship->at, relationship->column,
		     "relationship %s: %lld rows of %s name a row of %s that is not there; they "
		     "are counted, with its fields missing",
		     relationship->name, (long long)count_of(result, 1), relationship->from->name,
		     relationship->to->name);
	return 0;
}

static int metric_sql(const struct checking *checking, const struct model_metric *metric,
		      const struct expected_value *expected, char **ret_sql, struct err *err)
{
	CLEANUP(metric_query_freep) struct metric_query *query = metric_query_new();
	CLEANUP(compiled_query_freep) struct compiled_query *compiled = NULL;

	metric_query_add_metric(query, metric->name);
	if (expected && expected->from && expected->to &&
	    query_period_set(&query->period, NULL, expected->from, expected->to, NULL, err) < 0)
		return -1;
	if (metric_query_compile(query, checking->model, &compiled, err) < 0)
		return -1;
	*ret_sql = mem_str(compiled->sql);
	return 0;
}

/* Half a unit of the expected text's last place. */
static double tolerance(const char *text)
{
	const char *dot = strchr(text, '.');

	return 0.5 * pow(10, dot ? -(double)strlen(dot + 1) : 0) + 1e-9;
}

static void check_value(struct checking *checking, const struct model_metric *metric,
			const struct expected_value *expected, const struct json *result)
{
	const struct json *value = value_of(result, 0);
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	bool right =
		!json_is_null(value) && fabs(json_real(value) - strtod(expected->value, NULL)) <=
						tolerance(expected->value);

	if (right)
		return;
	if (json_is_null(value))
		buf_add_str(&text, "nothing");
	else
		json_write(value, &text);
	find(checking, "error", expected->at, expected->column,
	     "metric %s is expected to be %s%s%s%s%s, and is %s", metric->name, expected->value,
	     expected->from ? " from " : "", expected->from ? expected->from : "",
	     expected->from ? " to before " : "", expected->from ? expected->to : "",
	     buf_str(&text));
}

/* Over all time, or the expected value's period. */
static int check_metric(struct checking *checking, const struct model_metric *metric,
			const struct expected_value *expected, struct err *err)
{
	CLEANUP(json_freep) struct json *result = NULL;
	CLEANUP(mem_freep) char *sql = NULL;
	const char *at = expected ? expected->at : metric->at;
	int column = expected ? expected->column : metric->column;
	int ran = 1;

	if (metric_sql(checking, metric, expected, &sql, err) == 0)
		ran = run(checking, sql, &result, err);
	if (ran < 0)
		return -1;
	if (ran > 0)
		find(checking, "error", at, column, "metric %s: %s", metric->name, err->text);
	else if (expected)
		check_value(checking, metric, expected, result);
	return 0;
}

static int check_metrics(struct checking *checking, struct err *err)
{
	for (size_t i = 0; i < model_metric_count(checking->model); i++) {
		const struct model_metric *metric = model_metric_at(checking->model, i);

		checking->check->metric_count++;
		checking->check->value_count += metric->expected_count;
		if (metric->expected_count == 0 && check_metric(checking, metric, NULL, err) < 0)
			return -1;
		for (size_t j = 0; j < metric->expected_count; j++) {
			if (check_metric(checking, metric, &metric->expected[j], err) < 0)
				return -1;
		}
	}
	return 0;
}

static int check_all(struct checking *checking, struct err *err)
{
	for (size_t i = 0; i < model_dataset_count(checking->model); i++) {
		if (check_dataset(checking, model_dataset_at(checking->model, i), err) < 0)
			return -1;
	}
	for (size_t i = 0; i < model_relationship_count(checking->model); i++) {
		if (check_relationship(checking, model_relationship_at(checking->model, i), err) <
		    0)
			return -1;
	}
	return check_metrics(checking, err);
}

int model_check(const struct model *model, run_sql_fn *run_sql, void *self,
		struct model_check *ret_check, struct err *err)
{
	struct model_check check = {.findings = json_array()};
	struct checking checking = {model, run_sql, self, &check};
	struct err own = {0};

	if (check_all(&checking, &own) < 0) {
		model_check_clear(&check);
		return err_set(err, own.kind, "%s", own.text);
	}
	*ret_check = check;
	return 0;
}

void model_check_clear(struct model_check *check)
{
	json_free(check->findings);
	check->findings = NULL;
}
