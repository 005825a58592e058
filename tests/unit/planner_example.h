/* The examples as they are shipped: their model, their data, and the values a search would find. */
#ifndef TESTS_PLANNER_EXAMPLE_H
#define TESTS_PLANNER_EXAMPLE_H

#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agents/query/metrics/compile.h"
#include "agents/query/planner.h"
#include "agents/query/sentence.h"
#include "base/file.h"

struct example {
	sqlite3 *db;
	struct model *model;
	struct date today;
};

static void example_fail(const char *what)
{
	fprintf(stderr, "example: %s\n", what);
	abort();
}

static void example_load(struct example *example, const char *name, const char *today)
{
	const char *root = getenv("WRIT_SOURCE");
	CLEANUP(mem_freep) char *path = mem_format("%s/examples/%s", root ? root : ".", name);
	CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(buf_clear) struct buf sql = BUF_INIT;
	CLEANUP(buf_clear) struct buf mistakes = BUF_INIT;
	struct json *models = NULL;
	struct err err = {0};

	if (fd < 0 || file_read_at(fd, "data.sql", 1 << 20, &sql, &err) < 0 ||
	    model_compile(fd, &name, 1, &models, &mistakes, &err) < 0 ||
	    model_from_json(json_get(models, name), &example->model, &err) < 0 ||
	    date_read(today, &example->today, &err) < 0)
		example_fail(err.text);
	json_free(models);
	if (sqlite3_open(":memory:", &example->db) != SQLITE_OK ||
	    sqlite3_exec(example->db, buf_str(&sql), NULL, NULL, NULL) != SQLITE_OK)
		example_fail(sqlite3_errmsg(example->db));
}

static void example_clear(struct example *example)
{
	model_free(example->model);
	sqlite3_close(example->db);
}

static bool example_occurs(const struct sentence *question, const char *value)
{
	struct sentence words;
	struct err err = {0};
	bool found = false;

	if (sentence_read(value, &words, &err) < 0)
		return false;
	for (size_t i = 0; i < question->count && !found; i++)
		found = sentence_match(question, i, &words) > 0;
	sentence_clear(&words);
	return found;
}

static void example_search(const struct example *example, const struct model_field *field,
			   const struct sentence *question, struct json *matches)
{
	const char *column = field->reads.count == 1 ? strchr(field->reads.items[0], '.') : NULL;
	CLEANUP(mem_freep) char *sql = NULL;
	sqlite3_stmt *statement = NULL;

	if (column == NULL || field->type != TYPE_STRING)
		return;
	sql = mem_format("SELECT DISTINCT \"%s\" FROM \"%s\"", column + 1, field->dataset->table);
	if (sqlite3_prepare_v2(example->db, sql, -1, &statement, NULL) != SQLITE_OK)
		example_fail(sqlite3_errmsg(example->db));
	while (sqlite3_step(statement) == SQLITE_ROW) {
		const char *value = (const char *)sqlite3_column_text(statement, 0);
		struct json *match = NULL;

		if (value == NULL || !example_occurs(question, value))
			continue;
		match = json_object();
		json_set_str(match, "table", field->dataset->table);
		json_set_str(match, "column", column + 1);
		json_set_str(match, "value", value);
		json_set_str(match, "phrase", value);
		json_set_bool(match, "exact", true);
		json_push(matches, match);
	}
	sqlite3_finalize(statement);
}

static struct json *example_matches(const struct example *example, const char *question)
{
	struct json *matches = json_array();
	struct sentence words;
	struct err err = {0};

	if (sentence_read(question, &words, &err) < 0)
		return matches;
	for (size_t i = 0; i < model_dataset_count(example->model); i++) {
		const struct model_dataset *dataset = model_dataset_at(example->model, i);

		for (size_t j = 0; j < dataset->field_count; j++)
			example_search(example, &dataset->fields[j], &words, matches);
	}
	sentence_clear(&words);
	return matches;
}

static struct plan *example_plan(const struct example *example, const char *question,
				 const struct json *choices, const struct json *lookups,
				 bool distrust)
{
	CLEANUP(json_freep) struct json *matches = example_matches(example, question);
	const struct plan_input input = {.question = question,
					 .model = example->model,
					 .matches = matches,
					 .choices = choices,
					 .lookups = lookups,
					 .today = example->today,
					 .distrust_column = distrust};
	struct plan *plan = NULL;
	struct err err = {0};

	if (plan_make(&input, &plan, &err) < 0)
		example_fail(err.text);
	return plan;
}

/* The rows of a query: values with commas between them, rows with semicolons. */
static char *example_rows(const struct example *example, const struct metric_query *query)
{
	struct compiled_query *compiled = NULL;
	struct buf rows = BUF_INIT;
	sqlite3_stmt *statement = NULL;
	struct err err = {0};

	if (metric_query_compile(query, example->model, &compiled, &err) < 0)
		example_fail(err.text);
	if (sqlite3_prepare_v2(example->db, compiled->sql, -1, &statement, NULL) != SQLITE_OK)
		example_fail(sqlite3_errmsg(example->db));
	while (sqlite3_step(statement) == SQLITE_ROW) {
		if (rows.len > 0)
			buf_add_str(&rows, "; ");
		for (int i = 0; i < sqlite3_column_count(statement); i++) {
			const char *text = (const char *)sqlite3_column_text(statement, i);

			buf_addf(&rows, "%s%s", i > 0 ? ", " : "", text ? text : "null");
		}
	}
	sqlite3_finalize(statement);
	compiled_query_free(compiled);
	return buf_take(&rows);
}

#endif
