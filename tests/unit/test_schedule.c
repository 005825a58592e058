/* When programs are started and ended: times, order, and what waits for what. */
#include "cli/schedule.h"

#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#define MS 1000LL
#define BROKER 0
#define SIGNER 1
#define CONNECTOR 2
#define ORCHESTRATOR 3

static struct program items[4];
static struct programs programs;

static int fresh(void **state)
{
	(void)state;
	for (size_t i = 0; i < 4; i++)
		items[i] = (struct program){.kind = PROGRAM_SIGNER};
	items[BROKER].kind = PROGRAM_BROKER;
	items[CONNECTOR].kind = PROGRAM_CONNECTOR;
	items[ORCHESTRATOR].kind = PROGRAM_ORCHESTRATOR;
	programs = (struct programs){.items = items, .count = 4};
	return 0;
}

static void all_run(void)
{
	for (size_t i = 0; i < 4; i++)
		items[i].pid = (pid_t)(100 + i);
}

static void test_the_broker_is_started_first(void **state)
{
	(void)state;
	assert_ptr_equal(schedule_due(&programs, 0), &items[BROKER]);
	items[BROKER].start_after_us = 10 * MS;
	assert_null(schedule_due(&programs, 10 * MS - 1));
	assert_ptr_equal(schedule_due(&programs, 10 * MS), &items[BROKER]);
	/* The others are due, but not without it: they do not keep us awake. */
	assert_int_equal(schedule_wait_ms(&programs, false, 0), 10);
	items[BROKER].pid = 1;
	assert_ptr_equal(schedule_due(&programs, 0), &items[SIGNER]);
}

static void test_a_program_that_waits_holds_up_no_other(void **state)
{
	(void)state;
	all_run();
	items[CONNECTOR].pid = 0;
	items[CONNECTOR].start_after_us = 10000 * MS;
	items[ORCHESTRATOR].pid = 0;
	items[ORCHESTRATOR].start_after_us = 50 * MS;
	assert_null(schedule_due(&programs, 50 * MS - 1));
	assert_int_equal(schedule_wait_ms(&programs, false, 0), 50);
	assert_ptr_equal(schedule_due(&programs, 50 * MS), &items[ORCHESTRATOR]);
	items[ORCHESTRATOR].pid = 7;
	assert_null(schedule_due(&programs, 50 * MS));
	assert_int_equal(schedule_wait_ms(&programs, false, 50 * MS), 9950);
	assert_ptr_equal(schedule_due(&programs, 10000 * MS), &items[CONNECTOR]);
}

static void test_a_new_broker_waits_for_what_belonged_to_the_old_one(void **state)
{
	(void)state;
	all_run();
	items[BROKER].pid = 0;
	items[SIGNER].pid = 0;
	assert_null(schedule_due(&programs, 1000 * MS));
	assert_int_equal(schedule_wait_ms(&programs, false, 1000 * MS), -1);
	items[CONNECTOR].pid = items[ORCHESTRATOR].pid = 0;
	assert_ptr_equal(schedule_due(&programs, 1000 * MS), &items[BROKER]);
	assert_int_equal(schedule_wait_ms(&programs, false, 1000 * MS), 0);
}

static void test_pauses_double_up_to_ten_seconds_and_are_forgiven(void **state)
{
	static const int pauses[] = {50, 100, 200, 400, 800, 1600, 3200, 6400, 10000, 10000, 10000};
	struct program *program = &items[CONNECTOR];

	(void)state;
	for (size_t i = 0; i < sizeof(pauses) / sizeof(pauses[0]); i++) {
		program->pid = 9;
		program->term_at_us = program->kill_at_us = 5;
		schedule_restart(program, 1000 * MS);
		assert_int_equal(program->start_after_us, 1000 * MS + pauses[i] * MS);
		assert_int_equal(program->pid, 0);
		assert_int_equal(program->term_at_us, 0);
		assert_int_equal(program->kill_at_us, 0);
	}
	program->started_us = 1000 * MS;
	schedule_restart(program, 1000 * MS + STEADY_US);
	assert_int_equal(program->wait_ms, 10000);
	schedule_restart(program, 1000 * MS + STEADY_US + 1);
	assert_int_equal(program->wait_ms, 50);
}

static void test_who_does_not_end_when_told_is_killed(void **state)
{
	struct program *program = &items[SIGNER];

	(void)state;
	all_run();
	assert_int_equal(schedule_signal(program, 5000 * MS), 0);
	schedule_end(program, 100 * MS);
	assert_int_equal(schedule_signal(program, 100 * MS - 1), 0);
	assert_int_equal(schedule_wait_ms(&programs, true, 0), 100);
	assert_int_equal(schedule_signal(program, 100 * MS), SIGTERM);
	assert_int_equal(schedule_signal(program, 100 * MS), 0);
	assert_int_equal(schedule_wait_ms(&programs, true, 100 * MS), KILL_WAIT_MS);
	assert_int_equal(schedule_signal(program, 1100 * MS - 1), 0);
	assert_int_equal(schedule_signal(program, 1100 * MS), SIGKILL);
	assert_int_equal(schedule_signal(program, 9000 * MS), 0);
	assert_int_equal(schedule_wait_ms(&programs, true, 9000 * MS), -1);
}

static void test_an_end_can_be_brought_forward_and_not_put_off(void **state)
{
	struct program *program = &items[SIGNER];

	(void)state;
	all_run();
	schedule_end(program, 8000 * MS);
	schedule_end(program, 0);
	assert_int_equal(program->kill_at_us, 1000 * MS);
	schedule_end(program, 8000 * MS);
	assert_int_equal(program->kill_at_us, 1000 * MS);
	/* Looked at late: it still gets its time after being told. */
	assert_int_equal(schedule_signal(program, 20000 * MS), SIGTERM);
	assert_int_equal(schedule_signal(program, 21000 * MS - 1), 0);
	assert_int_equal(schedule_signal(program, 21000 * MS), SIGKILL);
	schedule_end(program, 30000 * MS);
	assert_int_equal(schedule_signal(program, 30000 * MS), SIGTERM);
	program->pid = 0;
	program->kill_at_us = 0;
	schedule_end(program, 5 * MS);
	assert_int_equal(program->kill_at_us, 0);
}

static void test_nothing_is_started_while_stopping(void **state)
{
	(void)state;
	assert_int_equal(schedule_wait_ms(&programs, true, 0), -1);
	assert_int_equal(schedule_wait_ms(&programs, false, 0), 0);
	items[BROKER].start_after_us = 1;
	assert_int_equal(schedule_wait_ms(&programs, false, 0), 1); /* rounded up */
	items[BROKER].start_after_us = INT64_MAX - 1;
	assert_int_equal(schedule_wait_ms(&programs, false, 0), INT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_the_broker_is_started_first, fresh),
		cmocka_unit_test_setup(test_a_program_that_waits_holds_up_no_other, fresh),
		cmocka_unit_test_setup(test_a_new_broker_waits_for_what_belonged_to_the_old_one,
				       fresh),
		cmocka_unit_test_setup(test_pauses_double_up_to_ten_seconds_and_are_forgiven,
				       fresh),
		cmocka_unit_test_setup(test_who_does_not_end_when_told_is_killed, fresh),
		cmocka_unit_test_setup(test_an_end_can_be_brought_forward_and_not_put_off, fresh),
		cmocka_unit_test_setup(test_nothing_is_started_while_stopping, fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
