/* orchestrator/confine.c: what a corrupted orchestrator tries in vain. */
#include "confine_attempts.h"

#include "orchestrator/confine.h"

static void enter_orchestrator(void)
{
	enum sandbox_level level = SANDBOX_REDUCED;
	struct err err = {0};

	CHECK(chdir(in_place("state/tasks")) == 0);
	CHECK_OK(orchestrator_confine(false, &level, &err), &err);
	CHECK(level == SANDBOX_FULL);
}

static long leave_its_folder(void)
{
	return open("../config/users.json", O_RDONLY | O_CLOEXEC);
}

static long make_a_pair(void)
{
	int ends[2];

	return socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
}

static long accept_a_connection(void)
{
	return accept4(unconnected, NULL, NULL, SOCK_CLOEXEC);
}

static void test_nothing_but_its_store_can_be_reached(void **state)
{
	static const struct attempt attempts[] = {
		ATTEMPTS_EVERYWHERE,
		ATTEMPTS_ON_FILES(REFUSED),
		{"fork", make_a_process, KILLED, true},
		{"kill", signal_the_parent, KILLED, true},
		{"socketpair", make_a_pair, KILLED, false},
		{"accept", accept_a_connection, KILLED, false},
		{"open the source", open_source, REFUSED, false},
		{"open users.json", open_users, REFUSED, false},
		{"open users.json from its folder", leave_its_folder, REFUSED, false},
		{"open the tokens", open_tokens, REFUSED, false},
		{"open the log", open_log, REFUSED, false},
		{"open the environment", open_environment, REFUSED, true},
	};

	(void)state;
	check_attempts(enter_orchestrator, attempts, ARRAY_LEN(attempts));
}

static void use_the_store(const void *data)
{
	int fd;

	(void)data;
	enter_orchestrator();
	fd = open("tasks.db-journal", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && write(fd, "x", 1) == 1 && fsync(fd) == 0);
	CHECK(unlink("tasks.db-journal") == 0);
	CHECK(open("/usr/share/zoneinfo/UTC", O_RDONLY | O_CLOEXEC) >= 0 || errno == ENOENT);
}

static void test_its_store_and_the_time_zones_can_be_used(void **state)
{
	(void)state;
	if (sandbox_landlock_abi() == 0)
		skip();
	assert_int_equal(in_child(use_the_store, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, make_place, remove_place)
		T(test_nothing_but_its_store_can_be_reached),
		T(test_its_store_and_the_time_zones_can_be_used),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
