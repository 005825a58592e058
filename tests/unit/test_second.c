/* The workspace of a second state: its settings, its files, and that nothing stays behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/db.h"
#include "base/mem.h"
#include "cli/eval/second.h"

static struct json *parse(const char *text)
{
	struct json *json = NULL;
	struct err err;

	if (json_parse_str(text, &json, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	return json;
}

static void test_settings_are_kept_but_for_sources_sinks_and_users_of_programs(void **state)
{
	static const char text[] = "# a shop\n"
				   "today: 2026-10-15\n"
				   "sources:\n"
				   "  sales: {sqlite: /srv/data/sales.db}\n"
				   "audit:\n"
				   "  sinks: {siem: {file: /var/log/writ.jsonl}}\n"
				   "users:   # who asks\n"
				   "  anyone: {groups: [sales]}\n"
				   "roles: {broker: writ}";
	CLEANUP(json_freep)
	struct json *sources = parse("{\"sales\":{\"kind\":\"sqlite\",\"path\":\"/x\"}}");
	CLEANUP(mem_freep) char *changed = NULL;
	struct err err = {0};

	(void)state;
	assert_int_equal(second_writ_yaml(text, strlen(text), sources, &changed, &err), 0);
	assert_string_equal(changed, "today: 2026-10-15\n"
				     "users:   # who asks\n"
				     "  anyone: {groups: [sales]}\n"
				     "\nsources:\n"
				     "  sales: {sqlite: data/sales/copy.db}\n");
}

static void test_settings_of_another_shape_are_refused(void **state)
{
	static const char *const texts[] = {"{today: 2026-10-15, users: {}}", "[a]", "a: ["};
	CLEANUP(json_freep) struct json *sources = parse("{}");

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		char *changed = NULL;
		struct err err = {0};

		assert_int_equal(
			second_writ_yaml(texts[i], strlen(texts[i]), sources, &changed, &err), -1);
		assert_null(changed);
	}
}

static void write_to(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

static void make_workspace(char *folder)
{
	static const char *const schema[] = {
		"CREATE TABLE t(id INTEGER PRIMARY KEY, x INTEGER NOT NULL); INSERT INTO t VALUES "
		"(1, 100), (2, 200), (3, 300), (4, 400)"};
	CLEANUP(db_closep) struct db *db = NULL;
	struct err err = {0};
	char path[128];

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/writ.yaml", folder);
	write_to(path, "today: 2026-10-15\n");
	snprintf(path, sizeof(path), "%s/scopes", folder);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/scopes/a.yaml", folder);
	write_to(path, "writ: 1\n");
	snprintf(path, sizeof(path), "%s/t.db", folder);
	assert_int_equal(db_open(path, DB_SYNC_NORMAL, schema, 1, &db, &err), 0);
}

static void remove_workspace(const char *folder)
{
	struct second second = {.folder = mem_str(folder)};

	second_remove(&second);
	assert_int_equal(access(folder, F_OK), -1);
}

static void test_a_second_state_is_made_and_goes_away(void **state)
{
	char folder[] = "/tmp/writ-second.XXXXXX";
	CLEANUP(json_freep) struct json *sources = NULL;
	CLEANUP(mem_freep) char *text = NULL;
	CLEANUP(mem_freep) char *path = NULL;
	CLEANUP(mem_freep) char *place = NULL;
	struct second second = {0};
	struct db *db;
	struct err err = {0};
	struct stat info;
	int64_t sum = 0;

	(void)state;
	make_workspace(folder);
	text = mem_format("{\"s\":{\"kind\":\"sqlite\",\"path\":\"%s/t.db\"}}", folder);
	sources = parse(text);
	if (second_make(folder, sources, 1, &second, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(stat(second.folder, &info), 0);
	assert_int_equal(info.st_mode & 0777, 0700);
	path = mem_format("%s/scopes/a.yaml", second.folder);
	assert_int_equal(access(path, R_OK), 0);
	assert_true(json_get_int(json_get(json_get(second.changes, "s"), "t"), "changed", 0) > 0);
	mem_free(path);
	path = mem_format("%s/data/s/copy.db", second.folder);
	assert_int_equal(db_open_read(path, &db, &err), 0);
	assert_int_equal(db_ask(db, "SELECT SUM(x) FROM t", &sum, 1, &err), 0);
	db_close(db);
	assert_int_not_equal(sum, 1000);
	place = mem_str(second.folder);
	second_remove(&second);
	assert_int_equal(access(place, F_OK), -1);
	remove_workspace(folder);
}

static void test_a_source_that_cannot_be_copied_leaves_nothing_behind(void **state)
{
	static const char *const bad[] = {
		"{\"s\":{\"kind\":\"sqlite\",\"path\":\"/nowhere/t.db\"}}",
		"{\"s\":{\"kind\":\"postgres\"}}"};
	char folder[] = "/tmp/writ-second.XXXXXX";
	char above[] = "/tmp/writ-above.XXXXXX";

	(void)state;
	make_workspace(folder);
	assert_non_null(mkdtemp(above));
	setenv("TMPDIR", above, 1);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		CLEANUP(json_freep) struct json *sources = parse(bad[i]);
		struct second second = {0};
		struct err err = {0};

		assert_int_equal(second_make(folder, sources, 1, &second, &err), -1);
		assert_non_null(strstr(err.text, "source s"));
		assert_null(second.folder);
	}
	unsetenv("TMPDIR");
	assert_int_equal(rmdir(above), 0); /* so it is empty */
	remove_workspace(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_settings_are_kept_but_for_sources_sinks_and_users_of_programs),
		cmocka_unit_test(test_settings_of_another_shape_are_refused),
		cmocka_unit_test(test_a_second_state_is_made_and_goes_away),
		cmocka_unit_test(test_a_source_that_cannot_be_copied_leaves_nothing_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
