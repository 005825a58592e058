/* Our own state databases. */
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

static char folder[64];
static char path[128];

static const char *const schema[] = {"CREATE TABLE t(a TEXT, b INTEGER)",
				     "ALTER TABLE t ADD COLUMN c BLOB"};

static int make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/writ-db.XXXXXX");
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/x.db", folder);
	return 0;
}

static int remove_folder(void **state)
{
	static const char *const names[] = {"x.db", "x.db-wal", "x.db-shm", "link.db"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		char file[256];

		snprintf(file, sizeof(file), "%s/%s", folder, names[i]);
		unlink(file);
	}
	return rmdir(folder);
}

static void test_db_leaves_an_empty_log_of_changes_behind(void **state)
{
	CLEANUP(mem_freep) char *wal = mem_format("%s-wal", path);
	struct db *db;
	struct err err = {0};
	struct stat info;
	int64_t count = 0;

	(void)state;
	for (int i = 1; i <= 2; i++) {
		assert_int_equal(db_open(path, DB_SYNC_NORMAL, schema, 1, &db, &err), 0);
		assert_int_equal(db_exec(db, "INSERT INTO t(a,b) VALUES('x',1)", &err), 0);
		assert_int_equal(stat(wal, &info), 0);
		assert_true(info.st_size > 0);
		assert_int_equal(info.st_mode & 0777, 0600);
		db_close(db);
		assert_int_equal(stat(wal, &info), 0);
		assert_int_equal(info.st_size, 0);
		assert_int_equal(db_open_read(path, &db, &err), 0);
		assert_int_equal(db_ask(db, "SELECT count(*) FROM t", &count, 1, &err), 0);
		assert_int_equal(count, i);
		db_close(db);
	}
}

static void test_db_keeps_values_over_reopening_and_migrates(void **state)
{
	struct db *db;
	struct db_stmt *stmt;
	struct err err = {0};
	struct stat info;
	size_t len;

	(void)state;
	assert_int_equal(db_open(path, DB_SYNC_FULL, schema, 1, &db, &err), 0);
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 0777, 0600);
	assert_int_equal(db_query(db, "INSERT INTO t(a,b) VALUES(?1,?2)", &stmt, &err), 0);
	db_bind_str(stmt, 1, "x'y");
	db_bind_int(stmt, 2, 9007199254740993);
	assert_int_equal(db_step(stmt, &err), 0);
	db_done(stmt);
	assert_int_equal(db_changes(db), 1);
	db_close(db);
	assert_int_equal(db_open(path, DB_SYNC_NORMAL, schema, 2, &db, &err), 0);
	assert_int_equal(db_query(db, "SELECT a,b,c FROM t", &stmt, &err), 0);
	assert_int_equal(db_step(stmt, &err), 1);
	assert_string_equal(db_str(stmt, 0), "x'y");
	assert_int_equal(db_int(stmt, 1), 9007199254740993);
	assert_true(db_is_null(stmt, 2));
	assert_null(db_blob(stmt, 2, &len));
	assert_int_equal(db_step(stmt, &err), 0);
	db_done(stmt);
	db_close(db);
}

static void test_db_refuses_a_newer_schema(void **state)
{
	struct db *db = NULL;
	struct err err = {0};

	(void)state;
	assert_int_equal(db_open(path, DB_SYNC_FULL, schema, 2, &db, &err), 0);
	db_close(db);
	db = NULL;
	assert_int_equal(db_open(path, DB_SYNC_FULL, schema, 1, &db, &err), -1);
	assert_non_null(strstr(err.text, "schema version 2 is newer than this program knows (1)"));
	assert_null(db);
}

static void test_db_refuses_a_link_and_a_file_that_is_none(void **state)
{
	struct db *db = NULL;
	struct err err = {0};
	char link[256];
	FILE *file = fopen(path, "w");

	(void)state;
	snprintf(link, sizeof(link), "%s/link.db", folder);
	assert_non_null(file);
	fputs("this is no database, however long it may be read, and so on and on", file);
	fclose(file);
	assert_int_equal(symlink(path, link), 0);
	assert_int_equal(db_open(link, DB_SYNC_FULL, schema, 1, &db, &err), -1);
	assert_non_null(strstr(err.text, "symbolic links"));
	assert_int_equal(db_open(path, DB_SYNC_FULL, schema, 1, &db, &err), -1);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_non_null(strstr(err.text, "not a database"));
}

static void test_db_rollback_and_two_uses_of_one_text(void **state)
{
	struct db *db;
	struct db_stmt *a, *b;
	struct err err = {0};

	(void)state;
	assert_int_equal(db_open(path, DB_SYNC_NORMAL, schema, 1, &db, &err), 0);
	assert_int_equal(db_begin(db, &err), 0);
	assert_int_equal(db_exec(db, "INSERT INTO t VALUES('lost',1)", &err), 0);
	db_rollback(db);
	db_rollback(db);
	assert_int_equal(db_exec(db, "INSERT INTO t VALUES('kept',2)", &err), 0);
	assert_int_equal(db_query(db, "SELECT a FROM t", &a, &err), 0);
	assert_int_equal(db_query(db, "SELECT a FROM t", &b, &err), 0);
	assert_ptr_not_equal(a, b);
	assert_int_equal(db_step(a, &err), 1);
	assert_int_equal(db_step(b, &err), 1);
	assert_string_equal(db_str(a, 0), "kept");
	assert_int_equal(db_step(a, &err), 0);
	db_done(a);
	db_done(b);
	assert_int_equal(db_exec(db, "INSERT INTO nowhere VALUES(1)", &err), -1);
	assert_non_null(strstr(err.text, "no such table: nowhere"));
	db_close(db);
}

static void test_db_answers_a_question_made_for_once(void **state)
{
	CLEANUP(db_closep) struct db *db = NULL;
	struct err err = {0};
	int64_t of[3] = {9, 9, 9};

	(void)state;
	assert_int_equal(db_open(path, DB_SYNC_NORMAL, schema, 1, &db, &err), 0);
	assert_int_equal(db_exec(db, "INSERT INTO t VALUES ('x', 7)", &err), 0);
	assert_int_equal(db_ask(db, "SELECT b, NULL, 3 FROM t", of, 3, &err), 0);
	assert_int_equal(of[0], 7);
	assert_int_equal(of[1], 0);
	assert_int_equal(of[2], 3);
	assert_int_equal(db_ask(db, "SELECT b FROM t WHERE 0", of, 1, &err), 0);
	assert_int_equal(of[0], 0);
	assert_int_equal(db_ask(db, "SELECT nothing FROM t", of, 1, &err), -1);
	assert_non_null(strstr(err.text, "nothing"));
}

static void test_db_copies_what_was_committed_and_opens_it_for_changing(void **state)
{
	CLEANUP(db_closep) struct db *db = NULL;
	struct db *copy = NULL;
	struct err err = {0};
	char to[160];
	int64_t count = 0;

	(void)state;
	snprintf(to, sizeof(to), "%s/link.db", folder);
	assert_int_equal(db_open(path, DB_SYNC_NORMAL, schema, 1, &db, &err), 0);
	assert_int_equal(db_exec(db, "INSERT INTO t VALUES ('x', 7)", &err), 0);
	assert_int_equal(db_open_copy(path, to, 1 << 20, &copy, &err), 0);
	assert_int_equal(db_exec(copy, "DELETE FROM t", &err), 0);
	assert_int_equal(db_ask(copy, "SELECT COUNT(*) FROM t", &count, 1, &err), 0);
	assert_int_equal(count, 0);
	db_close(copy);
	assert_int_equal(db_ask(db, "SELECT COUNT(*) FROM t", &count, 1, &err), 0);
	assert_int_equal(count, 1);
	assert_int_equal(db_open_copy(path, to, 1 << 20, &copy, &err), -1); /* is there */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_db_leaves_an_empty_log_of_changes_behind,
						make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_db_keeps_values_over_reopening_and_migrates,
						make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_db_refuses_a_newer_schema, make_folder,
						remove_folder),
		cmocka_unit_test_setup_teardown(test_db_refuses_a_link_and_a_file_that_is_none,
						make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_db_rollback_and_two_uses_of_one_text,
						make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(test_db_answers_a_question_made_for_once,
						make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(
			test_db_copies_what_was_committed_and_opens_it_for_changing, make_folder,
			remove_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
