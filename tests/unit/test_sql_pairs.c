/*
 * The pairs of tests/evals/sql: a statement that is wrong and one that is right for the same
 * question. That they differ is shown on the database, or on one that was changed as the pair says:
 * that is where the wrong one is judged, the right one is on both. The wrong one must be flagged
 * with the code of its class, the right one with nothing above a note. Recall and false alarms are
 * printed per class; both have a bound.
 */
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agents/query/check/checks.h"
#include "base/file.h"
#include "base/yaml.h"
#include "tests/unit/checked_database.h"

#define RECALL_MIN 0.95
#define ALARMS_MAX 0.02
#define CLASSES_MAX 64

struct score {
	char name[64];
	int wrong;
	int found;
	int right;
	int alarms;
};

static struct score scores[CLASSES_MAX];
static size_t score_count;
static int no_difference; /* pairs whose label nothing shows */
static struct yaml *databases;
static int source_fd = -1;

static struct score *score_of(const char *name)
{
	for (size_t i = 0; i < score_count; i++) {
		if (strcmp(scores[i].name, name) == 0)
			return &scores[i];
	}
	assert_true(score_count < CLASSES_MAX);
	snprintf(scores[score_count].name, sizeof(scores[0].name), "%s", name);
	return &scores[score_count++];
}

/* An item without statements says what holds for those behind it, unless they say otherwise. */
static const struct yaml *defaults;

static const char *text(const struct yaml *node, const char *key)
{
	const struct yaml *value = yaml_get(node, key);

	if (!value && defaults)
		value = yaml_get(defaults, key);
	return value ? yaml_text(value) : NULL;
}

/* ---- databases ---- */

static sqlite3 *open_database(const char *name, const char *change)
{
	const struct yaml *described = yaml_get(databases, name ? name : "");
	CLEANUP(buf_clear) struct buf sql = BUF_INIT;
	struct err err = {0};
	sqlite3 *db = NULL;

	if (!described)
		fail_msg("no database %s", name);
	if (file_read_at(source_fd, text(described, "sql"), 4 << 20, &sql, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
	checked_exec(db, buf_str(&sql));
	if (change)
		checked_exec(db, change);
	return db;
}

static void add_member(struct json *tables, const char *name, const char *member, const char *value)
{
	const char *dot = strchr(name, '.');

	for (size_t i = 0; i < json_len(tables); i++) {
		struct json *table = (struct json *)(uintptr_t)json_at(tables, i);
		struct json *columns = json_get_mut(table, "columns");

		if (strncmp(json_get_str(table, "table"), name, (size_t)(dot - name)) != 0)
			continue;
		for (size_t j = 0; j < json_len(columns); j++) {
			struct json *column = (struct json *)(uintptr_t)json_at(columns, j);

			if (strcmp(json_get_str(column, "name"), dot + 1) == 0)
				json_set_str(column, member, value);
		}
	}
}

static struct json *describe(sqlite3 *db, const char *name)
{
	static const char *const members[][2] = {{"zones", "zone"}, {"units", "unit"}};
	const struct yaml *described = yaml_get(databases, name);
	struct json *tables = checked_tables(db);

	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		const struct yaml *map = yaml_get(described, members[i][0]);

		for (size_t j = 0; map && j < yaml_len(map); j++)
			add_member(tables, yaml_text(yaml_key(map, j)), members[i][1],
				   yaml_text(yaml_value(map, j)));
	}
	return tables;
}

/* The metric a pair's question names, as its definition is compiled. */
static struct json *metrics_of(const char *name, const char *metric)
{
	const struct yaml *sql = yaml_get(yaml_get(yaml_get(databases, name), "metrics"), metric);
	struct json *list = json_array(), *one = json_object();

	if (!sql)
		fail_msg("no metric %s of %s", metric, name);
	json_set_str(one, "name", metric);
	json_set_str(one, "sql", yaml_text(sql));
	json_push(list, one);
	return list;
}

/* ---- one statement ---- */

static struct json *flags_of(sqlite3 *db, const char *name, const struct yaml *pair,
			     const char *sql)
{
	CLEANUP(json_freep) struct json *tables = describe(db, name);
	CLEANUP(json_freep) struct json *result = checked_run(db, sql);
	CLEANUP(json_freep) struct json *probe = NULL, *period = NULL, *metrics = NULL;
	struct checks_input input = {.sql = sql, .tables = tables, .zone = text(pair, "zone")};
	struct sql_checks *checks;
	struct json *flags;

	if (text(pair, "from")) {
		period = json_object();
		json_set_str(period, "from", text(pair, "from"));
		json_set_str(period, "to", text(pair, "to"));
		input.period = period;
		input.period_column = text(pair, "time");
	}
	if (text(pair, "metric")) {
		metrics = metrics_of(name, text(pair, "metric"));
		input.metrics = metrics;
	}
	checks = checks_plan(&input);
	if (checks_probe(checks))
		probe = checked_run(db, checks_probe(checks));
	flags = checks_result(checks, result, probe);
	checks_free(checks);
	return flags;
}

static bool is_alarm(const struct json *flag)
{
	return strcmp(json_get_str(flag, "severity"), "note") != 0;
}

/* Zero rows, zeros and missing values are facts about an answer, not about its statement. */
static bool is_of_statement(const struct json *flag)
{
	return strncmp(json_get_str(flag, "code"), "result.", 7) != 0;
}

static void print_flags(const char *what, const char *sql, const struct json *flags)
{
	print_message("# %s: %s\n", what, sql);
	json_each(flag, flags)
		print_message("#   %s %s: %s\n", json_get_str(flag, "code"),
			      json_get_str(flag, "severity"), json_get_str(flag, "message"));
}

static bool lists(const char *codes, const char *code)
{
	size_t len = strlen(code);

	for (const char *at = codes; (at = strstr(at, code)) != NULL; at += len) {
		if ((at == codes || at[-1] == ' ') && (at[len] == '\0' || at[len] == ','))
			return true;
	}
	return false;
}

static void judge_wrong(sqlite3 *db, const char *name, const struct yaml *pair, struct score *score)
{
	const char *codes = text(pair, "flag");
	CLEANUP(json_freep) struct json *flags = flags_of(db, name, pair, text(pair, "wrong"));
	bool found = false;

	json_each(flag, flags) found =
		found || (is_alarm(flag) && lists(codes, json_get_str(flag, "code")));
	score->wrong++;
	score->found += found;
	if (!found)
		print_flags(codes, text(pair, "wrong"), flags);
}

static void judge_right(sqlite3 *db, const char *name, const struct yaml *pair, const char *sql,
			struct score *score)
{
	CLEANUP(json_freep) struct json *flags = flags_of(db, name, pair, sql);
	bool alarm = false;

	json_each(flag, flags) alarm = alarm || (is_alarm(flag) && is_of_statement(flag));
	score->right++;
	score->alarms += alarm;
	if (alarm)
		print_flags("false alarm", sql, flags);
}

/* ---- do the two differ? ---- */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Rows as a multiset; whole numbers and reals of one value are the same. */
static char *rows_text(const struct json *result)
{
	size_t count = json_len(json_get(result, "rows")), at = 0;
	char **lines = mem_array(count + 1, sizeof(*lines));
	struct buf out = BUF_INIT;

	json_each(row, json_get(result, "rows"))
	{
		struct buf line = BUF_INIT;

		json_each(cell, row)
		{
			if (json_type(cell) == JSON_INT || json_type(cell) == JSON_REAL)
				buf_addf(&line, "%.6g|", json_real(cell));
			else
				buf_addf(&line, "%s|", json_str(cell) ? json_str(cell) : "NULL");
		}
		lines[at++] = buf_take(&line);
	}
	qsort(lines, count, sizeof(*lines), by_text);
	for (size_t i = 0; i < count; i++) {
		buf_addf(&out, "%s\n", lines[i]);
		mem_free(lines[i]);
	}
	mem_free(lines);
	return buf_take(&out);
}

static void demand_difference(sqlite3 *db, const struct yaml *pair)
{
	CLEANUP(json_freep) struct json *wrong = checked_run(db, text(pair, "wrong"));
	CLEANUP(json_freep) struct json *right = checked_run(db, text(pair, "right"));
	CLEANUP(mem_freep) char *a = rows_text(wrong);
	CLEANUP(mem_freep) char *b = rows_text(right);

	if (strcmp(a, b) == 0 && !yaml_get(pair, "same"))
		print_message("# %s:%d: no difference, both give %s", yaml_file(pair),
			      yaml_line(pair), a);
	else
		return;
	no_difference++;
}

/* ---- files ---- */

static void read_pair(const char *class, const struct yaml *pair)
{
	const char *name = text(pair, "db");
	const char *extra = text(pair, "trap");
	struct score *score = score_of(class);
	sqlite3 *db = open_database(name, NULL);

	if (extra) {
		judge_right(db, name, pair, extra, score);
	} else {
		if (!text(pair, "wrong") || !text(pair, "right") || !text(pair, "flag"))
			fail_msg("%s:%d: wrong, right and flag belong together", yaml_file(pair),
				 yaml_line(pair));
		judge_right(db, name, pair, text(pair, "right"), score);
		if (text(pair, "changed"))
			checked_exec(db, text(pair, "changed"));
		demand_difference(db, pair);
		judge_wrong(db, name, pair, score);
		if (text(pair, "changed"))
			judge_right(db, name, pair, text(pair, "right"), score);
	}
	sqlite3_close(db);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_class(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return dot && strcmp(dot, ".yaml") == 0 && strcmp(entry->d_name, "databases.yaml") != 0;
}

static void read_class(const char *file)
{
	CLEANUP(mem_freep) char *path = mem_format("tests/evals/sql/%s", file);
	CLEANUP(yaml_freep) struct yaml *root = NULL;
	struct err err = {0};

	if (yaml_load(source_fd, path, &root, &err) < 0)
		fail_msg("%s", err.text);
	for (size_t i = 0; i < yaml_len(root); i++) {
		const struct yaml *pairs = yaml_value(root, i);

		for (size_t j = 0; j < yaml_len(pairs); j++) {
			const struct yaml *pair = yaml_at(pairs, j);

			if (yaml_get(pair, "wrong") || yaml_get(pair, "trap"))
				read_pair(yaml_text(yaml_key(root, i)), pair);
			else
				defaults = pair;
		}
		defaults = NULL;
	}
}

static double share(int part, int whole)
{
	return whole ? (double)part / whole : 0;
}

static void print_scores(struct score *ret_total)
{
	struct score total = {.name = "all"};

	print_message("# %-22s %6s %8s %6s %12s\n", "class", "wrong", "recall", "right",
		      "false alarms");
	for (size_t i = 0; i < score_count; i++) {
		const struct score *score = &scores[i];

		print_message("# %-22s %6d %7.1f%% %6d %5d %5.1f%%\n", score->name, score->wrong,
			      100 * share(score->found, score->wrong), score->right, score->alarms,
			      100 * share(score->alarms, score->right));
		total.wrong += score->wrong;
		total.found += score->found;
		total.right += score->right;
		total.alarms += score->alarms;
	}
	print_message("# %-22s %6d %7.1f%% %6d %5d %5.1f%%\n", total.name, total.wrong,
		      100 * share(total.found, total.wrong), total.right, total.alarms,
		      100 * share(total.alarms, total.right));
	*ret_total = total;
}

static void wrong_statements_are_found_and_right_ones_left_alone(void **state)
{
	CLEANUP(mem_freep)
	char *folder = mem_format("%s/tests/evals/sql", getenv("WRIT_SOURCE"));
	struct dirent **entries = NULL;
	struct err err = {0};
	struct score total;
	int count;

	(void)state;
	if (yaml_load(source_fd, "tests/evals/sql/databases.yaml", &databases, &err) < 0)
		fail_msg("%s", err.text);
	count = scandir(folder, &entries, is_class, by_name);
	assert_true(count > 0);
	for (int i = 0; i < count; i++) {
		read_class(entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	print_scores(&total);
	yaml_free(databases);
	assert_int_equal(no_difference, 0);
	assert_true(share(total.found, total.wrong) >= RECALL_MIN);
	assert_true(share(total.alarms, total.right) <= ALARMS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrong_statements_are_found_and_right_ones_left_alone),
	};

	if (!getenv("WRIT_SOURCE"))
		return 77;
	source_fd = open(getenv("WRIT_SOURCE"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
