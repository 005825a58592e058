/* What stands between a question and its rows, in one process: model, values, planner, SQLite. */
#ifndef TESTS_RANDOM_SERVICE_H
#define TESTS_RANDOM_SERVICE_H

#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agents/query/metrics/compile.h"
#include "agents/query/metrics/model.h"
#include "agents/query/planner.h"
#include "agents/query/sentence.h"
#include "tests/lib/random/world.h"

struct stored {
	size_t table, column;
	const char *text; /* lent by the world */
	struct sentence words;
};

struct service {
	const struct world *world;
	struct model *model;
	sqlite3 *sqlite;
	struct stored *stored; /* owned: the values that anyone may see */
	size_t stored_count;
};

/* The model that a user sees: what is hidden is left out. */
static struct model *service_model(const struct world *world)
{
	char folder[] = "/tmp/random-world-XXXXXX";
	static const char *const sources[] = {"data"};
	CLEANUP(mem_freep) char *yaml = world_model_yaml(world, false);
	struct json *models = NULL;
	struct buf mistakes = BUF_INIT;
	struct model *model = NULL;
	struct err err = {0};
	int folder_fd = -1, fd = -1;

	assert_non_null(mkdtemp(folder));
	folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(mkdirat(folder_fd, "metrics", 0700), 0);
	fd = openat(folder_fd, "metrics/data.yaml", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, yaml, strlen(yaml)), (ssize_t)strlen(yaml));
	close(fd);
	if (model_compile(folder_fd, sources, 1, &models, &mistakes, &err) < 0)
		fail_msg("%s\n%s", err.text, buf_str(&mistakes));
	if (model_from_json(json_get(models, "data"), &model, &err) < 0)
		fail_msg("%s", err.text);
	json_free(models);
	buf_clear(&mistakes);
	unlinkat(folder_fd, "metrics/data.yaml", 0);
	unlinkat(folder_fd, "metrics", AT_REMOVEDIR);
	close(folder_fd);
	rmdir(folder);
	return model;
}

/* A value and the words it is made of. */
static void store_value(struct service *service, size_t table, size_t column, const char *text)
{
	struct stored *stored;
	struct err err;

	for (size_t i = 0; i < service->stored_count; i++) {
		stored = &service->stored[i];
		if (stored->table == table && stored->column == column &&
		    strcmp(stored->text, text) == 0)
			return;
	}
	service->stored = mem_grow(service->stored, (service->stored_count + 1) * sizeof(*stored));
	stored = &service->stored[service->stored_count++];
	*stored = (struct stored){.table = table, .column = column, .text = text};
	if (sentence_read(text, &stored->words, &err) < 0)
		fail_msg("%s", err.text);
}

static void store_values(struct service *service)
{
	for (size_t i = 0; i < service->world->table_count; i++) {
		const struct table *table = &service->world->tables[i];

		for (size_t j = 0; j < table->column_count && !table->hidden; j++) {
			enum world_role role = table->columns[j].role;

			if (role != ROLE_NAME && role != ROLE_CLASS)
				continue;
			for (size_t row = 0; row < table->rows; row++) {
				const struct cell *cell =
					&table->cells[row * table->column_count + j];

				if (cell->kind == CELL_TEXT)
					store_value(service, i, j, cell->text);
			}
		}
	}
}

static struct service service_start(const struct world *world)
{
	struct service service = {.world = world, .model = service_model(world)};
	struct err err = {0};

	assert_int_equal(sqlite3_open(":memory:", &service.sqlite), SQLITE_OK);
	sqlite3_db_config(service.sqlite, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
	if (world_write_database(world, service.sqlite, &err) < 0)
		fail_msg("%s", err.text);
	store_values(&service);
	return service;
}

static void service_stop(struct service *service)
{
	for (size_t i = 0; i < service->stored_count; i++)
		sentence_clear(&service->stored[i].words);
	mem_free(service->stored);
	model_free(service->model);
	assert_int_equal(sqlite3_close(service->sqlite), SQLITE_OK);
}

static bool occurs(const struct sentence *question, const struct sentence *words)
{
	for (size_t i = 0; i < question->count; i++)
		if (sentence_match(question, i, words) > 0)
			return true;
	return false;
}

/* A double of search_values: the stored values, word by word. */
static struct json *service_matches(const struct service *service, const char *text)
{
	struct json *matches = json_array();
	struct sentence question;
	struct err err;

	if (sentence_read(text, &question, &err) < 0)
		fail_msg("%s", err.text);
	for (size_t i = 0; i < service->stored_count; i++) {
		const struct stored *stored = &service->stored[i];
		const struct table *table = &service->world->tables[stored->table];
		struct json *match;

		if (!occurs(&question, &stored->words))
			continue;
		match = json_object();
		json_set_str(match, "table", table->name);
		json_set_str(match, "column", table->columns[stored->column].name);
		json_set_str(match, "value", stored->text);
		json_set_str(match, "phrase", stored->text);
		json_set_bool(match, "exact", true);
		json_push(matches, match);
	}
	sentence_clear(&question);
	return matches;
}

static struct json *column_json(sqlite3_stmt *row, int at)
{
	switch (sqlite3_column_type(row, at)) {
	case SQLITE_INTEGER:
		return json_new_int(sqlite3_column_int64(row, at));
	case SQLITE_FLOAT:
		return json_new_real(sqlite3_column_double(row, at));
	case SQLITE_NULL:
		return json_new_null();
	default:
		return json_new_str((const char *)sqlite3_column_text(row, at));
	}
}

static struct json *service_rows(const struct service *service, const char *sql)
{
	struct json *rows = json_array();
	sqlite3_stmt *statement = NULL;
	int rc = sqlite3_prepare_v2(service->sqlite, sql, -1, &statement, NULL);

	if (rc != SQLITE_OK)
		fail_msg("%s\n%s", sql, sqlite3_errmsg(service->sqlite));
	while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
		struct json *row = json_array();

		for (int i = 0; i < sqlite3_column_count(statement); i++)
			json_push(row, column_json(statement, i));
		json_push(rows, row);
	}
	if (rc != SQLITE_DONE)
		fail_msg("%s\n%s", sql, sqlite3_errmsg(service->sqlite));
	sqlite3_finalize(statement);
	return rows;
}

static char *service_sql(const struct service *service, const struct plan *plan)
{
	struct compiled_query *compiled = NULL;
	struct err err = {0};
	char *sql;

	if (metric_query_compile(plan->query, service->model, &compiled, &err) < 0)
		fail_msg("%s", err.text);
	sql = mem_str(compiled->sql);
	compiled_query_free(compiled);
	return sql;
}

/* The first column of a look-up's rows, under its name. */
static struct json *looked_up(const struct service *service, const struct plan *plan)
{
	CLEANUP(mem_freep) char *sql = service_sql(service, plan);
	CLEANUP(json_freep) struct json *rows = service_rows(service, sql);
	struct json *lookups = json_object();
	struct json *names = json_array();

	json_each(row, rows) json_push(names, json_copy(json_first(row)));
	json_set(lookups, plan->lookup, names);
	return lookups;
}

/* {"status","rows","reason","hint","question","sql"}, as an answer has them. */
static struct json *service_ask(const struct service *service, const char *question,
				const struct json *choices)
{
	CLEANUP(json_freep) struct json *matches = service_matches(service, question);
	CLEANUP(json_freep) struct json *lookups = NULL;
	struct plan_input input = {.question = question,
				   .model = service->model,
				   .matches = matches,
				   .choices = choices,
				   .today = service->world->today};
	struct json *answer = json_object();
	struct plan *plan = NULL;
	struct err err = {0};

	if (plan_make(&input, &plan, &err) < 0)
		fail_msg("%s: %s", question, err.text);
	if (plan->kind == PLAN_LOOKUP) {
		lookups = looked_up(service, plan);
		input.lookups = lookups;
		plan_free(plan);
		if (plan_make(&input, &plan, &err) < 0)
			fail_msg("%s: %s", question, err.text);
	}
	json_set_str(answer, "status",
		     plan->kind == PLAN_QUERY ? "completed"
		     : plan->kind == PLAN_ASK ? "needs_input"
					      : "refused");
	if (plan->kind == PLAN_QUERY) {
		CLEANUP(mem_freep) char *sql = service_sql(service, plan);

		json_set_str(answer, "sql", sql);
		json_set(answer, "rows", service_rows(service, sql));
	}
	json_set_str(answer, "reason", plan->reason);
	json_set_str(answer, "hint", plan->hint);
	json_set(answer, "question", json_copy(plan->question));
	plan_free(plan);
	return answer;
}

#endif
