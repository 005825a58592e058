/* Database files in every state a writer can leave them in. */
#include "tests/lib/sqlite_fixture.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "broker/connectors/sqlite_open.h"

static void write_file(const char *path, const void *bytes, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), (ssize_t)len);
	close(fd);
}

/* What the agent hears of a file: the answer to a small question. */
static struct json *ask(struct fixture *fixture)
{
	session_clear(&fixture->session);
	session_init(&fixture->session, fixture->path);
	fixture->view = "{\"tables\":{\"t\":\"all\"},\"functions\":[]}";
	return fixture_run(fixture, "SELECT a FROM t");
}

static void test_a_missing_file(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_folder(&fixture);
	assert_refused(ask(&fixture), "unavailable", "the database file does not exist");
	fixture_close(&fixture);
}

static void test_an_empty_file(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_folder(&fixture);
	write_file(fixture.path, "", 0);
	assert_refused(ask(&fixture), "unavailable", "the database file is empty (0 bytes)");
	fixture_close(&fixture);
}

static void test_a_file_that_is_no_database(void **state)
{
	struct fixture fixture;
	char text[200];

	(void)state;
	memset(text, 'x', sizeof(text));
	fixture_folder(&fixture);
	write_file(fixture.path, text, sizeof(text));
	assert_refused(ask(&fixture), "unavailable", "the file is not a SQLite 3 database");
	write_file(fixture.path, "SQLite format 3", 16);
	assert_refused(ask(&fixture), "unavailable", "the file is not a SQLite 3 database");
	unlink(fixture.path);
	assert_int_equal(mkdir(fixture.path, 0700), 0);
	assert_refused(ask(&fixture), "unavailable", "the database is not a regular file");
	rmdir(fixture.path);
	fixture_close(&fixture);
}

static void test_a_damaged_database(void **state)
{
	struct fixture fixture;
	char page[4096];
	int fd;

	(void)state;
	fixture_folder(&fixture);
	fixture_exec(fixture.path, "CREATE TABLE t(a); INSERT INTO t VALUES (1)");
	memset(page, 0xff, sizeof(page));
	fd = open(fixture.path, O_WRONLY | O_CLOEXEC);
	assert_int_equal(pwrite(fd, page, sizeof(page), 4096), (ssize_t)sizeof(page));
	close(fd);
	assert_refused(ask(&fixture), "unavailable",
		       "the database cannot be read: database disk image is malformed");
	fixture_close(&fixture);
}

static void test_a_replaced_file_is_opened_anew(void **state)
{
	struct fixture fixture;
	char other[128];

	(void)state;
	fixture_folder(&fixture);
	fixture_exec(fixture.path, "CREATE TABLE t(a); INSERT INTO t VALUES (1)");
	assert_rows(ask(&fixture), "[[1]]");
	snprintf(other, sizeof(other), "%s.new", fixture.path);
	fixture_exec(other, "CREATE TABLE t(a); INSERT INTO t VALUES (2)");
	assert_int_equal(rename(other, fixture.path), 0);
	assert_rows(fixture_run(&fixture, "SELECT a FROM t"), "[[2]]");
	unlink(fixture.path);
	assert_refused(fixture_run(&fixture, "SELECT a FROM t"), "unavailable",
		       "the database file does not exist");
	fixture_exec(fixture.path, "CREATE TABLE t(a); INSERT INTO t VALUES (3)");
	assert_rows(fixture_run(&fixture, "SELECT a FROM t"), "[[3]]");
	fixture_close(&fixture);
}

static void test_wal_without_a_writer(void **state)
{
	struct fixture fixture;

	(void)state;
	fixture_folder(&fixture);
	fixture_exec(fixture.path,
		     "PRAGMA journal_mode=WAL; CREATE TABLE t(a); INSERT INTO t VALUES (1)");
	assert_rows(ask(&fixture), "[[1]]");
	fixture_close(&fixture);
}

static void test_wal_with_a_live_writer(void **state)
{
	struct fixture fixture;
	sqlite3 *writer = NULL;

	(void)state;
	fixture_folder(&fixture);
	assert_int_equal(sqlite3_open(fixture.path, &writer), SQLITE_OK);
	assert_int_equal(sqlite3_exec(writer,
				      "PRAGMA journal_mode=WAL; CREATE TABLE t(a);"
				      "INSERT INTO t VALUES (1)",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	assert_rows(ask(&fixture), "[[1]]");
	assert_int_equal(
		sqlite3_exec(writer, "BEGIN IMMEDIATE; INSERT INTO t VALUES (2)", NULL, NULL, NULL),
		SQLITE_OK);
	assert_rows(fixture_run(&fixture, "SELECT a FROM t"), "[[1]]");
	assert_int_equal(sqlite3_exec(writer, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
	assert_rows(fixture_run(&fixture, "SELECT a FROM t"), "[[1],[2]]");
	sqlite3_close(writer);
	assert_rows(fixture_run(&fixture, "SELECT a FROM t"), "[[1],[2]]");
	fixture_close(&fixture);
}

static void test_a_locked_database_says_so_within_its_time(void **state)
{
	struct fixture fixture;
	sqlite3 *writer = NULL;

	(void)state;
	fixture_folder(&fixture);
	fixture_exec(fixture.path, "CREATE TABLE t(a); INSERT INTO t VALUES (1)");
	assert_rows(ask(&fixture), "[[1]]");
	assert_int_equal(sqlite3_open(fixture.path, &writer), SQLITE_OK);
	assert_int_equal(sqlite3_exec(writer, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
	assert_refused(fixture_execute(&fixture, "SELECT a FROM t", "run",
				       "{\"rows\":9,\"bytes\":999,\"scan_bytes\":999999,"
				       "\"time_ms\":50}"),
		       "database", "database is locked");
	sqlite3_exec(writer, "COMMIT", NULL, NULL, NULL);
	sqlite3_close(writer);
	assert_rows(fixture_run(&fixture, "SELECT a FROM t"), "[[1]]");
	fixture_close(&fixture);
}

/* Runs as a user who owns nothing here; what it must hear is compared there. */
static void as_nobody(const char *path, const char *error)
{
	struct fixture fixture = {0};
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		CLEANUP(json_freep) struct json *result = NULL;
		CLEANUP(mem_freep) char *text = NULL;

		if (setgid(65534) < 0 || setuid(65534) < 0)
			_exit(2);
		snprintf(fixture.path, sizeof(fixture.path), "%s", path);
		result = ask(&fixture);
		text = text_of(result);
		session_clear(&fixture.session);
		if (error ? json_get_str(result, "error") &&
				    strcmp(json_get_str(result, "error"), error) == 0
			  : strstr(text, "\"rows\":[[1]]") != NULL)
			_exit(0);
		fprintf(stderr, "got %s\n", text);
		_exit(1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void test_a_folder_that_cannot_be_written(void **state)
{
	struct fixture fixture;

	(void)state;
	if (getuid() != 0)
		skip(); /* needs a second user */
	fixture_folder(&fixture);
	chmod(fixture.folder, 0755);
	fixture_exec(fixture.path, "CREATE TABLE t(a); INSERT INTO t VALUES (1)");
	chmod(fixture.path, 0644);
	as_nobody(fixture.path, NULL);
	fixture_exec(fixture.path, "PRAGMA journal_mode=WAL");
	as_nobody(fixture.path,
		  "the database is in WAL mode and its -shm file can neither be read nor made: let "
		  "the service's user write to the database's folder and restart the service, or "
		  "set the database to journal_mode=DELETE");
	fixture_close(&fixture);
}

static void test_wal_of_another_user_with_a_live_writer(void **state)
{
	struct fixture fixture;
	sqlite3 *writer = NULL;

	(void)state;
	if (getuid() != 0)
		skip();
	fixture_folder(&fixture);
	chmod(fixture.folder, 0755);
	assert_int_equal(sqlite3_open(fixture.path, &writer), SQLITE_OK);
	chmod(fixture.path, 0644);
	assert_int_equal(sqlite3_exec(writer,
				      "PRAGMA journal_mode=WAL; CREATE TABLE t(a);"
				      "INSERT INTO t VALUES (1)",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	as_nobody(fixture.path, NULL);
	sqlite3_close(writer);
	fixture_close(&fixture);
}

/* A process that dies within its commit, with pages already changed in the file. */
static void leave_hot_journal(const char *path)
{
	pid_t pid = fork();

	if (pid == 0) {
		sqlite3 *writer = NULL;

		sqlite3_open(path, &writer);
		sqlite3_exec(writer,
			     "PRAGMA cache_size=2; PRAGMA cache_spill=1; BEGIN;"
			     "UPDATE t SET a = a + 1000, b = randomblob(2000);",
			     NULL, NULL, NULL);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void test_a_left_over_journal(void **state)
{
	struct fixture fixture;
	char journal[128];

	(void)state;
	fixture_folder(&fixture);
	chmod(fixture.folder, 0755);
	fixture_exec(fixture.path,
		     "CREATE TABLE t(a, b); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT "
		     "i + 1 FROM n WHERE i < 200) INSERT INTO t SELECT i, randomblob(2000) FROM n");
	chmod(fixture.path, 0644);
	leave_hot_journal(fixture.path);
	snprintf(journal, sizeof(journal), "%s-journal", fixture.path);
	assert_int_equal(access(journal, F_OK), 0);
	chmod(journal, 0644);
	assert_refused(ask(&fixture), "unavailable",
		       "the database has a left-over journal of an interrupted write: open it once "
		       "with the program that owns it, so that the write is rolled back");
	/* as the text says */
	fixture_exec(fixture.path, "SELECT count(*) FROM t");
	assert_rows(fixture_run(&fixture, "SELECT max(a) FROM t"), "[[200]]");
	fixture_close(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_missing_file),
		cmocka_unit_test(test_an_empty_file),
		cmocka_unit_test(test_a_file_that_is_no_database),
		cmocka_unit_test(test_a_damaged_database),
		cmocka_unit_test(test_a_replaced_file_is_opened_anew),
		cmocka_unit_test(test_wal_without_a_writer),
		cmocka_unit_test(test_wal_with_a_live_writer),
		cmocka_unit_test(test_a_locked_database_says_so_within_its_time),
		cmocka_unit_test(test_a_folder_that_cannot_be_written),
		cmocka_unit_test(test_wal_of_another_user_with_a_live_writer),
		cmocka_unit_test(test_a_left_over_journal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
