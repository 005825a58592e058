/*
 * No false alarm on what the metric compiler writes, and no report that fails its check: every
 * metric of every example, by every dimension it reaches, in every form of query, run on the
 * example's data and judged with the keys that the model declares.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "agents/query/check/checks.h"
#include "agents/query/metrics/compile.h"
#include "agents/report/report.h"
#include "base/file.h"

static sqlite3 *db;
static struct model *model;
static struct json *tables;
static int judged;

static struct json *cell(sqlite3_stmt *stmt, int column)
{
	switch (sqlite3_column_type(stmt, column)) {
	case SQLITE_INTEGER:
		return json_new_int(sqlite3_column_int64(stmt, column));
	case SQLITE_FLOAT:
		return json_new_real(sqlite3_column_double(stmt, column));
	case SQLITE_NULL:
		return json_new_null();
	default:
		return json_new_str((const char *)sqlite3_column_text(stmt, column));
	}
}

static const char *type_name(const struct json *value)
{
	switch (json_type(value)) {
	case JSON_INT:
		return "integer";
	case JSON_REAL:
		return "real";
	case JSON_STRING:
		return "text";
	default:
		return "null";
	}
}

static struct json *run(const char *sql)
{
	struct json *result = json_object(), *rows = json_array(), *columns = json_array();
	struct json *types = json_array();
	sqlite3_stmt *stmt = NULL;

	if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	for (int i = 0; i < sqlite3_column_count(stmt); i++)
		json_push_str(columns, sqlite3_column_name(stmt, i));
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		struct json *row = json_array();

		for (int i = 0; i < sqlite3_column_count(stmt); i++)
			json_push(row, cell(stmt, i));
		json_push(rows, row);
	}
	for (size_t i = 0; i < json_len(columns); i++) {
		const char *type = "null";

		json_each(row, rows)
		{
			if (strcmp(type, "null") == 0)
				type = type_name(json_at(row, i));
		}
		json_push_str(types, type);
	}
	sqlite3_finalize(stmt);
	json_set_int(result, "row_count", (int64_t)json_len(rows));
	json_set_bool(result, "truncated", false);
	json_set(result, "columns", columns);
	json_set(result, "types", types);
	json_set(result, "rows", rows);
	return result;
}

static struct json *names_json(const struct words *words)
{
	struct json *list = json_array();

	for (size_t i = 0; i < words->count; i++)
		json_push_str(list, words->items[i]);
	return list;
}

/* Columns from the database, keys from the model: what the query agent knows. */
static struct json *describe(const struct model_dataset *dataset)
{
	CLEANUP(mem_freep)
	char *sql = mem_format("SELECT name FROM pragma_table_info('%s')", dataset->table);
	CLEANUP(json_freep) struct json *columns = run(sql);
	struct json *table = json_object(), *list = json_array(), *foreign = json_array();

	json_each(row, json_get(columns, "rows"))
	{
		struct json *column = json_object();

		json_set_str(column, "name", json_str(json_at(row, 0)));
		json_push(list, column);
	}
	for (size_t i = 0; i < model_relationship_count(model); i++) {
		const struct model_relationship *way = model_relationship_at(model, i);
		struct json *item = json_object();

		if (way->from != dataset) {
			json_free(item);
			continue;
		}
		json_set_str(item, "table", way->to->table);
		json_set(item, "to", names_json(&way->to_columns));
		json_push(foreign, item);
	}
	json_set_str(table, "table", dataset->table);
	json_set(table, "columns", list);
	json_set(table, "primary_key", names_json(&dataset->primary_key));
	json_set(table, "foreign_keys", foreign);
	return table;
}

static void load(const char *name)
{
	const char *root = getenv("WRIT_SOURCE");
	CLEANUP(mem_freep) char *path = mem_format("%s/examples/%s", root ? root : ".", name);
	CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct buf sql = BUF_INIT, mistakes = BUF_INIT;
	struct json *models = NULL;
	struct err err = {0};

	assert_true(fd >= 0);
	assert_int_equal(file_read_at(fd, "data.sql", 1 << 20, &sql, &err), 0);
	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, buf_str(&sql), NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(model_compile(fd, &name, 1, &models, &mistakes, &err), 0);
	assert_int_equal(model_from_json(json_get(models, name), &model, &err), 0);
	tables = json_array();
	for (size_t i = 0; i < model_dataset_count(model); i++)
		json_push(tables, describe(model_dataset_at(model, i)));
	json_free(models);
	buf_clear(&sql);
	buf_clear(&mistakes);
}

static void unload(void)
{
	json_free(tables);
	model_free(model);
	model = NULL;
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/* Results may be empty or zero; nothing may be said against the statement. */
static void assert_quiet(const struct compiled_query *compiled, const struct json *flags)
{
	json_each(flag, flags)
	{
		const char *code = json_get_str(flag, "code");

		if (strncmp(code, "result.", 7) != 0)
			fail_msg("%s: %s\n%s", code, json_get_str(flag, "message"), compiled->sql);
	}
}

static void assert_report(const struct compiled_query *compiled, const struct json *columns,
			  const struct json *result, const struct json *flags)
{
	struct report_input input = {.question = "?",
				     .result = result,
				     .columns = columns,
				     .words = compiled->words,
				     .period = json_get(compiled->words, "period"),
				     .flags = flags};
	struct buf text = BUF_INIT;
	struct err err = {0};

	report_builtin(&input, &text);
	if (report_check(&input, buf_str(&text), &err) < 0)
		fail_msg("%s\n%s", err.text, buf_str(&text));
	buf_clear(&text);
}

static void judge(const struct metric_query *query)
{
	struct compiled_query *compiled = NULL;
	struct checks_input input = {.tables = tables};
	struct sql_checks *checks;
	struct json *columns, *flags;
	CLEANUP(json_freep) struct json *result = NULL;
	const struct model_metric *metric = model_metric(model, query->metrics[0]);
	const struct model_field *time = metric->time ? model_field(model, metric->time) : NULL;

	if (metric_query_compile(query, model, &compiled, NULL) < 0)
		return; /* a combination without a meaning */
	result = run(compiled->sql);
	columns = compiled_query_columns_json(compiled);
	input.sql = compiled->sql;
	input.plan = compiled->plan;
	input.columns = columns;
	input.compiled = true;
	input.period = json_get(compiled->words, "period");
	input.period_column = time && time->reads.count ? time->reads.items[0] : NULL;
	checks = checks_plan(&input);
	if (checks_probe(checks))
		fail_msg("a probe for %s\n%s", compiled->sql, checks_probe(checks));
	flags = checks_result(checks, result, NULL);
	assert_quiet(compiled, flags);
	assert_report(compiled, columns, result, flags);
	judged++;
	json_free(flags);
	json_free(columns);
	checks_free(checks);
	compiled_query_free(compiled);
}

enum form { PLAIN, PERIOD, COMPARE, SHARE, PER, FILTER, FORMS };

static void judge_form(const struct model_metric *metric, const struct model_field *field,
		       enum time_bucket bucket, enum form form)
{
	struct metric_query *query = metric_query_new();

	metric_query_add_metric(query, metric->name);
	if (field && form != PER)
		metric_query_add_dimension(query, field->id, bucket);
	if (form == PERIOD || form == COMPARE)
		assert_int_equal(query_period_set(&query->period, NULL, "2026-07-01", "2026-10-01",
						  "last quarter", NULL),
				 0);
	if (form == COMPARE)
		assert_int_equal(query_period_set(&query->compare, NULL, "2026-04-01", "2026-07-01",
						  "the quarter before", NULL),
				 0);
	query->share = form == SHARE;
	if (form == PER && field)
		query->average_per = mem_str(field->id);
	if (form == FILTER && field)
		metric_query_add_filter_str(query, field->id, OP_NOT, "nothing of this name");
	query->limit = form == PLAIN ? 3 : 0;
	judge(query);
	metric_query_free(query);
}

static void judge_metric(const struct model_metric *metric)
{
	for (int form = 0; form < FORMS; form++) {
		judge_form(metric, NULL, BUCKET_NONE, (enum form)form);
		for (size_t i = 0; i < model_dataset_count(model); i++) {
			const struct model_dataset *dataset = model_dataset_at(model, i);

			for (size_t j = 0; j < dataset->field_count; j++) {
				const struct model_field *field = &dataset->fields[j];

				judge_form(metric, field,
					   field->is_time ? BUCKET_MONTH : BUCKET_NONE,
					   (enum form)form);
			}
		}
	}
}

static void what_the_compiler_writes_raises_no_alarm(void **state)
{
	static const char *const examples[] = {"sales", "widgets", "company"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(examples); i++) {
		judged = 0;
		load(examples[i]);
		for (size_t j = 0; j < model_metric_count(model); j++)
			judge_metric(model_metric_at(model, j));
		unload();
		assert_true(judged >= 20);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_the_compiler_writes_raises_no_alarm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
