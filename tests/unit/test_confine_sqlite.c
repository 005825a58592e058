/* broker/connectors/sqlite_confine.c: what a corrupted connector, or its worker, tries in vain. */
#include "confine_attempts.h"

#include <sqlite3.h>
#include <sys/prctl.h>

#include "broker/connectors/sqlite_confine.h"

static void enter_frame(void)
{
	struct err err = {0};

	CHECK(dup2(unconnected, CONNECTOR_BROKER_FD) == CONNECTOR_BROKER_FD);
	unconnected = CONNECTOR_BROKER_FD;
	CHECK_OK(sqlite_confine_frame(in_place("data/sales.db"), false, &err), &err);
}

static void enter_worker(void)
{
	struct err err = {0};

	enter_frame();
	CHECK_OK(sqlite_confine_worker(&err), &err);
}

static long signal_init(void)
{
	return kill(1, 0);
}

static long change_the_source(void)
{
	return open(in_place("data/sales.db"), O_WRONLY | O_CLOEXEC);
}

static long add_to_the_source(void)
{
	return open(in_place("data/other.db"), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
}

static long remove_the_source(void)
{
	return unlink(in_place("data/sales.db"));
}

static long make_a_process_in_a_namespace(void)
{
	return syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
}

static long set_a_name(void)
{
	return prctl(PR_SET_NAME, "x");
}

static long make_a_pair(void)
{
	int ends[2];

	return socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
}

static long pass_a_descriptor(void)
{
	struct msghdr message = {0};

	return sendmsg(CONNECTOR_BROKER_FD, &message, 0);
}

#define ATTEMPTS_ON_THE_SERVICE                                                                    \
	{"open users.json", open_users, REFUSED, false},                                           \
		{"open the tokens", open_tokens, REFUSED, false},                                  \
		{"open the log", open_log, REFUSED, false},                                        \
		{"open the tasks", open_tasks, REFUSED, false},                                    \
		{"open the environment", open_environment, REFUSED, true},                         \
		{"change the source", change_the_source, REFUSED, false},                          \
		{"add to the source", add_to_the_source, REFUSED, false},                          \
	{                                                                                          \
		"remove the source", remove_the_source, REFUSED, false                             \
	}

static void test_the_frame_reaches_nothing_but_its_source(void **state)
{
	static const struct attempt attempts[] = {
		ATTEMPTS_EVERYWHERE,
		ATTEMPTS_ON_FILES(REFUSED),
		ATTEMPTS_ON_THE_SERVICE,
		{"fork with a namespace", make_a_process_in_a_namespace, KILLED, true},
	};
	/* It may signal its workers; Landlock keeps that inside. */
	static const struct attempt signals[] = {
		{"signal the parent", signal_the_parent, REFUSED, true},
		{"signal init", signal_init, REFUSED, true},
	};

	(void)state;
	check_attempts(enter_frame, attempts, ARRAY_LEN(attempts));
	if (sandbox_landlock_abi() >= 6)
		check_attempts(enter_frame, signals, ARRAY_LEN(signals));
}

static void test_a_worker_reaches_even_less(void **state)
{
	static const struct attempt attempts[] = {
		ATTEMPTS_EVERYWHERE,
		ATTEMPTS_ON_FILES(REFUSED),
		ATTEMPTS_ON_THE_SERVICE,
		{"fork", make_a_process, KILLED, true},
		{"kill", signal_the_parent, KILLED, true},
		{"prctl", set_a_name, KILLED, true},
		{"socketpair", make_a_pair, KILLED, false},
		{"sendmsg", pass_a_descriptor, KILLED, false},
	};

	(void)state;
	check_attempts(enter_worker, attempts, ARRAY_LEN(attempts));
}

static void read_the_source(const void *data)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *stmt = NULL;

	(void)data;
	CHECK(sqlite3_open_v2(in_place("data/sales.db"), &db, SQLITE_OPEN_READONLY, NULL) ==
	      SQLITE_OK);
	CHECK(sqlite3_prepare_v2(db, "SELECT x FROM t", -1, &stmt, NULL) == SQLITE_OK);
	CHECK(sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_int(stmt, 0) == 7);
	sqlite3_finalize(stmt);
	CHECK(sqlite3_exec(db, "DELETE FROM t", NULL, NULL, NULL) == SQLITE_READONLY);
	sqlite3_close(db);
}

static void read_in_a_worker(const void *data)
{
	enter_worker();
	read_the_source(data);
}

static void make_source(const char *name, const char *sql)
{
	sqlite3 *db = NULL;

	assert_int_equal(sqlite3_open(in_place(name), &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

static void test_the_source_can_be_read(void **state)
{
	(void)state;
	if (sandbox_landlock_abi() == 0)
		skip();
	make_source("data/sales.db", "CREATE TABLE t(x); INSERT INTO t VALUES (7)");
	assert_int_equal(in_child(read_in_a_worker, NULL), 0);
	make_source("data/sales.db", "PRAGMA journal_mode=WAL");
	assert_int_equal(in_child(read_in_a_worker, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, make_place, remove_place)
		T(test_the_frame_reaches_nothing_but_its_source),
		T(test_a_worker_reaches_even_less),
		T(test_the_source_can_be_read),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
