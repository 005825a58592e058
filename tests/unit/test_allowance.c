/* What one user may take of what all share: rates, and shares of the descriptors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "broker/allowance.h"

#define S 1000000LL

static const struct rate_limit three = {S, 3};

static void test_a_burst_then_one_at_a_time(void **state)
{
	struct rate rate = {0};
	int64_t now = 1000 * S;

	(void)state;
	assert_true(rate_rested(&rate, now));
	for (int i = 0; i < 3; i++)
		assert_true(rate_take(&rate, &three, now));
	assert_false(rate_rested(&rate, now));
	assert_false(rate_take(&rate, &three, now));
	assert_false(rate_take(&rate, &three, now + S - 1)); /* refusals cost nothing */
	assert_true(rate_take(&rate, &three, now + S));
	assert_false(rate_take(&rate, &three, now + S));
	assert_false(rate_rested(&rate, now + 4 * S - 1));
	assert_true(rate_rested(&rate, now + 4 * S));
	for (int i = 0; i < 3; i++) /* a long rest earns one burst, not more */
		assert_true(rate_take(&rate, &three, now + 9000 * S));
	assert_false(rate_take(&rate, &three, now + 9000 * S));
}

static void test_a_clock_set_back_costs_one_burst(void **state)
{
	struct rate rate = {0};
	int64_t now = 90000 * S;

	(void)state;
	assert_true(rate_take(&rate, &three, now));
	now -= 3600 * S;
	assert_false(rate_take(&rate, &three, now));
	assert_false(rate_take(&rate, &three, now + S - 1));
	assert_true(rate_take(&rate, &three, now + S));
	assert_true(rate_rested(&rate, now + 4 * S));
}

static void test_users_have_rates_of_their_own_and_are_forgotten_at_rest(void **state)
{
	struct allowances all = {NULL};
	int64_t now = 1000 * S;
	char su[24];

	(void)state;
	for (int i = 0; i < TASKS_BURST_MAX; i++)
		assert_true(allowance_take(&all, "user:a", OPENING_TASK, now));
	assert_false(allowance_take(&all, "user:a", OPENING_TASK, now));
	assert_true(allowance_take(&all, "user:a", OPENING_CONNECTION, now));
	assert_true(allowance_take(&all, "user:b", OPENING_TASK, now));
	assert_true(allowance_take(&all, "user:a", OPENING_TASK, now + S / TASKS_PER_SECOND_MAX));
	for (int i = 0; i < CONNECTIONS_BURST_MAX; i++)
		assert_true(allowance_take(&all, "user:c", OPENING_CONNECTION, now));
	assert_false(allowance_take(&all, "user:c", OPENING_CONNECTION, now));
	/* Whoever comes later sees nobody but those who still owe. */
	for (int i = 0; i < 5; i++) {
		snprintf(su, sizeof(su), "user:%d", i);
		assert_true(allowance_take(&all, su, OPENING_TASK, now + 10 * S + i * S));
	}
	assert_string_equal(allowance_user_at(&all, 0), "user:4");
	assert_string_equal(allowance_user_at(&all, 1), "user:c");
	assert_string_equal(allowance_user_at(&all, 2), "user:a");
	assert_null(allowance_user_at(&all, 3));
	allowances_clear(&all);
	assert_null(all.first);
}

static void holds(uint64_t descriptors, size_t sessions, size_t per_user, size_t agents)
{
	struct capacity capacity = capacity_of(descriptors);

	assert_int_equal(capacity.sessions, sessions);
	assert_int_equal(capacity.sessions_per_user, per_user);
	assert_int_equal(capacity.agents, agents);
	if (descriptors >= DESCRIPTORS_SPARE + 11) {
		assert_true(3 * sessions + 2 * agents + DESCRIPTORS_SPARE <= descriptors);
		assert_true(2 * sessions + agents + DESCRIPTORS_SPARE <= descriptors);
	}
}

static void test_what_so_many_descriptors_are_enough_for(void **state)
{
	(void)state;
	holds(0, 1, 1, 4);
	holds(64, 1, 1, 4);
	holds(64 + 11 * 2 - 1, 1, 1, 4);
	holds(64 + 11 * 2, 2, 1, 8);
	holds(1024, 87, 11, 348);
	holds(64 + 11 * 512 - 1, 511, 64, 2044);
	holds(64 + 11 * 512, 512, 64, 2048);
	holds(UINT64_MAX, 512, 64, 2048);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_burst_then_one_at_a_time),
		cmocka_unit_test(test_a_clock_set_back_costs_one_burst),
		cmocka_unit_test(test_users_have_rates_of_their_own_and_are_forgotten_at_rest),
		cmocka_unit_test(test_what_so_many_descriptors_are_enough_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
