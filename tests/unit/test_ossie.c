/*
 * The vectors of Ossie's foundation semantics (tests/vectors/ossie): each model is read by the real
 * loader, each query compiled twice to the same bytes and run on SQLite. docs/ossie-compliance.md
 * must say what was found; with WRIT_OSSIE_TABLE=FILE its table is written there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <math.h>
#include <sqlite3.h>

#include "agents/query/metrics/compile.h"
#include "base/file.h"
#include "tests/unit/workspace_dir.h"

#define FOLDER "tests/vectors/ossie"

static struct json *vectors;
static int source_fd = -1;

static char *read_text(const char *name)
{
	CLEANUP(mem_freep) char *path = mem_format("%s", name);
	struct buf text = BUF_INIT;
	struct err err;

	if (file_read_at(source_fd, path, 1 << 20, &text, &err) < 0)
		fail_msg("%s: %s", path, err.text);
	return buf_take(&text);
}

static int open_vectors(void **state)
{
	const char *source = getenv("WRIT_SOURCE");
	struct err err;
	char *text;

	(void)state;
	source_fd = open(source ? source : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	text = read_text(FOLDER "/vectors.json");
	if (json_parse_str(text, &vectors, &err) < 0)
		fail_msg("%s", err.text);
	mem_free(text);
	return 0;
}

static int close_vectors(void **state)
{
	(void)state;
	json_free(vectors);
	fd_closep(&source_fd);
	return 0;
}

/* The fixture's model with the vector's additions under their places. */
static char *model_text(const struct json *vector)
{
	CLEANUP(mem_freep)
	char *path = mem_format(FOLDER "/%s.yaml", json_get_str(vector, "fixture"));
	CLEANUP(mem_freep) char *plain = read_text(path);
	struct buf out = BUF_INIT;

	for (const char *line = plain; *line;) {
		size_t len = strcspn(line, "\n");
		size_t indent = strspn(line, " ");
		const char *place = line + indent;

		buf_add(&out, line, len + 1);
		line += len + 1;
		if (strncmp(place, "#metrics", 8) == 0) {
			json_each(item, json_get(vector, "metrics"))
				buf_addf(&out, "%*s- %s\n", (int)indent, "", json_str(item));
		}
		if (strncmp(place, "#fields:", 8) != 0)
			continue;
		json_each(item, json_get(vector, "fields"))
		{
			size_t name = strlen(json_key(item));

			if (strncmp(place + 8, json_key(item), name) != 0)
				continue;
			if (json_str(item))
				buf_addf(&out, "%*s- %s\n", (int)indent, "", json_str(item));
			json_each(field, item)
				buf_addf(&out, "%*s- %s\n", (int)indent, "", json_str(field));
		}
	}
	return buf_take(&out);
}

static bool contains(const char *text, const char *part)
{
	return strcasestr(text, part) != NULL;
}

static void check_message(const struct json *vector, const char *message)
{
	json_each(part, json_get(vector, "must_contain"))
	{
		if (!contains(message, json_str(part)))
			fail_msg("%s: \"%s\" does not speak of \"%s\"", json_get_str(vector, "id"),
				 message, json_str(part));
	}
}

/* NULL when the model is wrong, as the vector wants it to be. */
static struct model *load_model(const struct json *vector)
{
	struct workspace_dir dir = workspace_dir_make();
	CLEANUP(mem_freep) char *text = model_text(vector);
	CLEANUP(buf_clear) struct buf mistakes = BUF_INIT;
	CLEANUP(json_freep) struct json *models = NULL;
	const char *fixture = json_get_str(vector, "fixture");
	struct model *model = NULL;
	struct err err;
	int result;

	workspace_dir_put(&dir, "metrics/model.yaml", text);
	result = model_compile(dir.fd, &fixture, 1, &models, &mistakes, &err);
	workspace_dir_remove(&dir);
	if (json_is_null(json_get(vector, "query"))) {
		if (result == 0)
			fail_msg("%s: the model is accepted", json_get_str(vector, "id"));
		if (!contains(buf_str(&mistakes), json_get_str(vector, "error")))
			fail_msg("%s: says %s", json_get_str(vector, "id"), buf_str(&mistakes));
		check_message(vector, buf_str(&mistakes));
		return NULL;
	}
	if (result < 0 || model_from_json(json_get(models, fixture), &model, &err) < 0)
		fail_msg("%s: %s\n%s", json_get_str(vector, "id"), err.text, buf_str(&mistakes));
	return model;
}

static struct compiled_query *compile(const struct json *vector, const struct model *model)
{
	struct metric_query *query = NULL;
	struct compiled_query *compiled = NULL;
	const char *id = json_get_str(vector, "id"), *wanted = json_get_str(vector, "error");
	struct err err = {0};

	if (metric_query_from_json(json_get(vector, "query"), &query, &err) < 0)
		fail_msg("%s: %s", id, err.text);
	if (metric_query_compile(query, model, &compiled, &err) == 0) {
		if (wanted)
			fail_msg("%s: compiles to %s", id, compiled->sql);
	} else if (!wanted) {
		fail_msg("%s: %s", id, err.text);
	} else {
		if (!err.code || strcmp(err.code, wanted) != 0)
			fail_msg("%s: %s (%s), wanted %s", id, err.text,
				 err.code ? err.code : "no code", wanted);
		check_message(vector, err.text);
	}
	metric_query_free(query);
	return compiled;
}

static bool same_cell(sqlite3_stmt *statement, int column, const struct json *want)
{
	if (json_is_null(want))
		return sqlite3_column_type(statement, column) == SQLITE_NULL;
	if (sqlite3_column_type(statement, column) == SQLITE_NULL)
		return false;
	if (json_str(want))
		return strcmp((const char *)sqlite3_column_text(statement, column),
			      json_str(want)) == 0;
	return fabs(sqlite3_column_double(statement, column) - json_real(want)) < 0.00001;
}

static bool same_row(sqlite3_stmt *statement, const struct json *want)
{
	int columns = sqlite3_column_count(statement);

	if ((size_t)columns != json_len(want))
		return false;
	for (int i = 0; i < columns; i++) {
		if (!same_cell(statement, i, json_at(want, (size_t)i)))
			return false;
	}
	return true;
}

static void show_row(sqlite3_stmt *statement, struct buf *out)
{
	for (int i = 0; i < sqlite3_column_count(statement); i++) {
		const char *text = (const char *)sqlite3_column_text(statement, i);

		buf_addf(out, "%s%s", i ? " " : "  ", text ? text : "NULL");
	}
	buf_add_char(out, '\n');
}

/* Every row that comes is wanted, once; in their order where that is asked. */
static void check_rows(const struct json *vector, sqlite3_stmt *statement, const char *sql)
{
	const struct json *rows = json_get(vector, "rows");
	bool ordered = json_get_bool(vector, "ordered", false);
	bool taken[32] = {false}, good = true;
	size_t count = 0, wanted = json_len(rows);
	CLEANUP(buf_clear) struct buf shown = BUF_INIT;

	while (sqlite3_step(statement) == SQLITE_ROW) {
		bool found = false;

		show_row(statement, &shown);
		for (size_t i = ordered ? count : 0; i < wanted && !found; i++) {
			found = !taken[i] && same_row(statement, json_at(rows, i));
			taken[i] = taken[i] || found;
			if (ordered)
				break;
		}
		good = good && (found || json_is_null(rows));
		count++;
	}
	if (json_is_null(rows))
		wanted = (size_t)json_get_int(vector, "count", -1);
	if (!good || count != wanted)
		fail_msg("%s gives %zu rows, not %zu:\n%sby %s", json_get_str(vector, "id"), count,
			 wanted, buf_str(&shown), sql);
}

static void run(const struct json *vector, const char *sql)
{
	CLEANUP(mem_freep)
	char *path = mem_format(FOLDER "/%s.sql", json_get_str(vector, "fixture"));
	CLEANUP(mem_freep) char *facts = read_text(path);
	const char *more = json_get_str(vector, "sql");
	sqlite3_stmt *statement;
	sqlite3 *db;

	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	sqlite3_db_config(db, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
	assert_int_equal(sqlite3_exec(db, facts, NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, more ? more : "", NULL, NULL, NULL), SQLITE_OK);
	if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
		fail_msg("%s: %s in:\n%s", json_get_str(vector, "id"), sqlite3_errmsg(db), sql);
	check_rows(vector, statement, sql);
	sqlite3_finalize(statement);
	sqlite3_close(db);
}

static void check_text(const struct json *vector, const char *sql)
{
	json_each(part, json_get(vector, "sql_contains"))
	{
		if (!strstr(sql, json_str(part)))
			fail_msg("%s: no %s in %s", json_get_str(vector, "id"), json_str(part),
				 sql);
	}
	json_each(part, json_get(vector, "sql_lacks"))
	{
		if (strstr(sql, json_str(part)))
			fail_msg("%s: %s in %s", json_get_str(vector, "id"), json_str(part), sql);
	}
}

static void check_vector(const struct json *vector)
{
	struct model *model = load_model(vector);
	struct compiled_query *first, *second;

	if (!model)
		return;
	first = compile(vector, model);
	second = compile(vector, model);
	if (first) {
		assert_string_equal(first->sql, second->sql);
		check_text(vector, first->sql);
		run(vector, first->sql);
	}
	compiled_query_free(first);
	compiled_query_free(second);
	model_free(model);
}

static void test_every_vector_has_its_outcome(void **state)
{
	(void)state;
	assert_true(json_len(json_get(vectors, "vectors")) >= 60);
	json_each(vector, json_get(vectors, "vectors")) check_vector(vector);
}

static void add_line(const struct json *vector, struct buf *out)
{
	const char *why = json_get_str(vector, "why");

	buf_addf(out, "| %s | %s | %s | %s%s%s |\n", json_get_str(vector, "id"),
		 json_get_str(vector, "title"), json_get_str(vector, "anchors"),
		 json_get_str(vector, "outcome"), why && why[0] ? ": " : "", why ? why : "");
}

static void test_the_page_says_what_was_found(void **state)
{
	CLEANUP(mem_freep) char *page = read_text("docs/ossie-compliance.md");
	CLEANUP(buf_clear) struct buf table = BUF_INIT;
	const char *file = getenv("WRIT_OSSIE_TABLE");

	(void)state;
	json_each(vector, json_get(vectors, "vectors"))
	{
		CLEANUP(buf_clear) struct buf line = BUF_INIT;

		add_line(vector, &line);
		buf_add_str(&table, buf_str(&line));
		if (!file && !strstr(page, buf_str(&line)))
			fail_msg("docs/ossie-compliance.md lacks the line\n%s", buf_str(&line));
	}
	if (file) {
		FILE *out = fopen(file, "w");

		assert_non_null(out);
		fputs(buf_str(&table), out);
		fclose(out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_vector_has_its_outcome),
		cmocka_unit_test(test_the_page_says_what_was_found),
	};

	return cmocka_run_group_tests(tests, open_vectors, close_vectors);
}
