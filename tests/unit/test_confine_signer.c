/* broker/signer/confine.c: a corrupted signer can answer on its channel, and nothing else. */
#include "confine_attempts.h"

#include "broker/signer/confine.h"

static void enter_signer(void)
{
	struct err err = {0};

	CHECK(dup2(unconnected, SIGNER_CHANNEL_FD) == SIGNER_CHANNEL_FD);
	unconnected = SIGNER_CHANNEL_FD;
	CHECK_OK(signer_confine(false, &err), &err);
}

static long read_the_clock(void)
{
	return syscall(SYS_clock_nanosleep, 0, 0, NULL, NULL);
}

static long ask_who_started_it(void)
{
	return syscall(SYS_getppid);
}

static long change_its_memory(void)
{
	return munmap(NULL, 4096);
}

static long pass_a_descriptor(void)
{
	struct msghdr message = {0};

	return sendmsg(SIGNER_CHANNEL_FD, &message, 0);
}

static long duplicate_the_channel(void)
{
	return syscall(SYS_dup, SIGNER_CHANNEL_FD);
}

static void test_nothing_but_reading_and_writing_is_left(void **state)
{
	static const struct attempt attempts[] = {
		ATTEMPTS_EVERYWHERE,
		ATTEMPTS_ON_FILES(KILLED),
		{"fork", make_a_process, KILLED, true},
		{"kill", signal_the_parent, KILLED, true},
		{"open the log", open_log, KILLED, false},
		{"clock_nanosleep", read_the_clock, KILLED, false},
		{"getppid", ask_who_started_it, KILLED, true},
		{"munmap", change_its_memory, KILLED, true},
		{"sendmsg", pass_a_descriptor, KILLED, false},
		{"dup", duplicate_the_channel, KILLED, true},
	};

	(void)state;
	check_attempts(enter_signer, attempts, ARRAY_LEN(attempts));
}

static void close_others_first(const void *data)
{
	int other =
		open("/dev/null", O_RDONLY); /* without O_CLOEXEC, as a careless parent leaves it */
	char byte;

	(void)data;
	other = dup2(other, 17);
	enter_signer();
	CHECK(read(other, &byte, 1) == -1 && errno == EBADF);
	CHECK(write(STDERR_FILENO, "", 0) == 0);
}

static void test_descriptors_left_open_by_mistake_are_closed(void **state)
{
	(void)state;
	if (sandbox_landlock_abi() == 0)
		skip();
	assert_int_equal(in_child(close_others_first, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, make_place, remove_place)
		T(test_nothing_but_reading_and_writing_is_left),
		T(test_descriptors_left_open_by_mistake_are_closed),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
