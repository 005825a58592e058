/* broker/confine.c: what a corrupted broker tries in vain, and what it still can. */
#include "confine_attempts.h"

#include "broker/confine.h"

static void enter_broker(void)
{
	enum sandbox_level level = SANDBOX_REDUCED;
	struct err err = {0};

	CHECK_OK(broker_confine_files(in_place("state"), false, &level, &err), &err);
	CHECK(level == SANDBOX_FULL);
	CHECK_OK(broker_confine_calls(&err), &err);
}

static void test_nothing_but_its_own_can_be_reached(void **state)
{
	static const struct attempt attempts[] = {
		ATTEMPTS_EVERYWHERE,
		ATTEMPTS_ON_FILES(REFUSED),
		{"fork", make_a_process, KILLED, true},
		{"kill", signal_the_parent, KILLED, true},
		{"open the source", open_source, REFUSED, false},
		{"open the tasks", open_tasks, REFUSED, false},
		{"open the environment", open_environment, REFUSED, true},
	};

	(void)state;
	check_attempts(enter_broker, attempts, ARRAY_LEN(attempts));
}

static int ready[2], go[2];

/* As a reload does it: through the folder that was opened before. */
static void reload_confined(const void *data)
{
	int config_fd = open(in_place("state/config"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char text[8] = "";
	int fd;

	(void)data;
	enter_broker();
	CHECK(write(ready[1], "r", 1) == 1 && read(go[0], text, 1) == 1);
	fd = openat(config_fd, "users.json", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	CHECK(fd >= 0 && read(fd, text, sizeof(text)) == 3 && memcmp(text, "new", 3) == 0);
	fd = openat(config_fd, "policy", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	CHECK(fd >= 0 && openat(fd, "active", O_RDONLY | O_NOFOLLOW | O_CLOEXEC) >= 0);
}

static void test_files_that_took_the_place_of_others_can_be_read(void **state)
{
	char byte;
	pid_t pid;
	int status;

	(void)state;
	if (sandbox_landlock_abi() == 0)
		skip();
	assert_int_equal(pipe(ready), 0);
	assert_int_equal(pipe(go), 0);
	pid = fork();
	if (pid == 0) {
		reload_confined(NULL);
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	put_file("state/config/users.json.new", "new");
	assert_int_equal(rename(in_place("state/config/users.json.new"),
				in_place("state/config/users.json")),
			 0);
	put_file("state/config/policy/active", "hash\n");
	assert_int_equal(write(go[1], "g", 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void write_confined(const void *data)
{
	int ends[2];
	int fd;

	(void)data;
	enter_broker();
	fd = open(in_place("state/audit/log.jsonl"), O_WRONLY | O_APPEND | O_CLOEXEC);
	CHECK(fd >= 0 && write(fd, "x", 1) == 1 && fdatasync(fd) == 0);
	fd = open(in_place("state/audit/tail.new"), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	CHECK(fd >= 0 &&
	      rename(in_place("state/audit/tail.new"), in_place("state/audit/tail")) == 0);
	fd = open(in_place("state/broker/broker.db-wal"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	CHECK(fd >= 0 && ftruncate(fd, 0) == 0 &&
	      unlink(in_place("state/broker/broker.db-wal")) == 0);
	CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
}

static void test_its_own_files_can_be_written(void **state)
{
	(void)state;
	if (sandbox_landlock_abi() == 0)
		skip();
	assert_int_equal(in_child(write_confined, NULL), 0);
}

static void lack_a_folder(const void *data)
{
	enum sandbox_level level;
	struct err err = {0};

	(void)data;
	CHECK(broker_confine_files(in_place("data"), true, &level, &err) == -1);
	CHECK(strstr(err.text, "data/broker: No such file or directory") != NULL);
}

static void test_a_folder_it_writes_must_be_there(void **state)
{
	(void)state;
	if (sandbox_landlock_abi() == 0)
		skip();
	assert_int_equal(in_child(lack_a_folder, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, make_place, remove_place)
		T(test_nothing_but_its_own_can_be_reached),
		T(test_files_that_took_the_place_of_others_can_be_read),
		T(test_its_own_files_can_be_written),
		T(test_a_folder_it_writes_must_be_there),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
