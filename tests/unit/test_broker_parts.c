/* Handles, budgets and the table of call states. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "broker/budget.h"
#include "broker/call_state.h"
#include "broker/handles.h"

static void test_a_handle_finds_its_object_until_it_is_dropped(void **state)
{
	struct handles handles = {0};
	int a = 0, b = 0;
	uint64_t first = handle_add(&handles, &a);
	uint64_t second = handle_add(&handles, &b);

	(void)state;
	assert_true(first != 0 && second != 0 && first != second);
	assert_ptr_equal(handle_find(&handles, first), &a);
	assert_ptr_equal(handle_find(&handles, second), &b);
	handle_drop(&handles, first);
	assert_null(handle_find(&handles, first));
	assert_ptr_equal(handle_find(&handles, second), &b);
	assert_int_equal(handles.live, 1);
	handles_clear(&handles);
}

static void test_a_dropped_handle_never_finds_the_next_tenant(void **state)
{
	struct handles handles = {0};
	int a = 0, b = 0;
	uint64_t first = handle_add(&handles, &a);
	uint64_t second;

	(void)state;
	handle_drop(&handles, first);
	handle_drop(&handles, first); /* twice is harmless */
	second = handle_add(&handles, &b);
	assert_int_equal((uint32_t)first, (uint32_t)second); /* the same slot */
	assert_null(handle_find(&handles, first));
	assert_ptr_equal(handle_find(&handles, second), &b);
	assert_null(handle_find(&handles, 0));
	assert_null(handle_find(&handles, 12345));
	handles_clear(&handles);
}

static void test_many_handles_stay_apart(void **state)
{
	struct handles handles = {0};
	uint64_t given[1000];
	int objects[1000];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(given); i++)
		given[i] = handle_add(&handles, &objects[i]);
	for (size_t i = 0; i < ARRAY_LEN(given); i += 2)
		handle_drop(&handles, given[i]);
	for (size_t i = 0; i < ARRAY_LEN(given); i++)
		assert_ptr_equal(handle_find(&handles, given[i]), i % 2 == 0 ? NULL : &objects[i]);
	assert_int_equal(handles.live, 500);
	handles_clear(&handles);
}

static const struct task_budget small = {
	.tool_calls = 3, .tool_errors = 2, .attempts = 2, .scan_bytes = 100};

static void test_the_last_tool_call_is_given_and_the_next_is_not(void **state)
{
	struct budget_use use = {0};

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(budget_take_call(&use, &small, false), BUDGET_FINE);
	assert_int_equal(budget_take_call(&use, &small, false), BUDGET_TOOL_CALLS);
	assert_int_equal(use.tool_calls, 3); /* a refused call takes nothing */
}

static void test_the_last_attempt_is_given_and_the_next_takes_nothing(void **state)
{
	struct budget_use use = {0};

	(void)state;
	assert_int_equal(budget_take_call(&use, &small, true), BUDGET_FINE);
	assert_int_equal(budget_take_call(&use, &small, true), BUDGET_FINE);
	assert_int_equal(budget_take_call(&use, &small, true), BUDGET_ATTEMPTS);
	assert_int_equal(use.tool_calls, 2);
	assert_int_equal(use.attempts, 2);
	assert_int_equal(budget_take_call(&use, &small, false), BUDGET_FINE);
}

static void test_two_errors_are_borne_and_a_third_ends_it(void **state)
{
	struct budget_use use = {0};

	(void)state;
	budget_count_error(&use);
	assert_int_equal(budget_take_call(&use, &small, false), BUDGET_FINE);
	budget_count_error(&use);
	assert_int_equal(budget_take_call(&use, &small, false), BUDGET_FINE);
	budget_count_error(&use);
	assert_int_equal(budget_take_call(&use, &small, false), BUDGET_TOOL_ERRORS);
}

static void test_scanning_is_set_aside_and_settled(void **state)
{
	struct budget_use use = {0};

	(void)state;
	assert_int_equal(budget_take_scan(&use, &small, 99), 99);
	assert_int_equal(budget_take_scan(&use, &small, 99), 1);
	assert_int_equal(budget_take_scan(&use, &small, 99), 0);
	budget_settle_scan(&use, 99, 40);
	assert_int_equal(use.scan_bytes, 41);
	assert_int_equal(budget_take_scan(&use, &small, 59), 59);
	budget_settle_scan(&use, 59, 70); /* more than set aside is counted too */
	assert_int_equal(budget_left(small.scan_bytes, use.scan_bytes), 0);
	assert_string_equal(budget_part_code(BUDGET_SCAN), "budget_scan");
}

static void test_a_call_goes_only_along_its_table(void **state)
{
	(void)state;
	assert_true(call_state_may_follow(CALL_RECEIVED, CALL_TOKEN));
	assert_true(call_state_may_follow(CALL_RECEIVED, CALL_DECIDED));
	assert_true(call_state_may_follow(CALL_PREPARED, CALL_DECIDED));
	assert_true(call_state_may_follow(CALL_INTENT, CALL_EXECUTING));
	assert_true(call_state_may_follow(CALL_DURABLE, CALL_RECORDED));
	assert_false(call_state_may_follow(CALL_RECEIVED, CALL_EXECUTING));
	assert_false(call_state_may_follow(CALL_DECIDED, CALL_EXECUTING));
	assert_false(call_state_may_follow(CALL_EXECUTING, CALL_REPLIED));
	assert_false(call_state_may_follow(CALL_EXECUTING, CALL_DURABLE));
	for (int next = 0; next < CALL_STATE_COUNT; next++)
		assert_false(call_state_may_follow(CALL_REPLIED, (enum call_state)next));
	assert_string_equal(call_state_name(CALL_EXECUTING), "EXECUTING");
}

static void test_every_way_to_a_reply_passes_a_record(void **state)
{
	(void)state;
	for (int from = 0; from < CALL_STATE_COUNT; from++) {
		bool replies = call_state_may_follow((enum call_state)from, CALL_REPLIED);

		assert_int_equal(replies, from == CALL_RECORDED || from == CALL_DURABLE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_handle_finds_its_object_until_it_is_dropped),
		cmocka_unit_test(test_a_dropped_handle_never_finds_the_next_tenant),
		cmocka_unit_test(test_many_handles_stay_apart),
		cmocka_unit_test(test_the_last_tool_call_is_given_and_the_next_is_not),
		cmocka_unit_test(test_the_last_attempt_is_given_and_the_next_takes_nothing),
		cmocka_unit_test(test_two_errors_are_borne_and_a_third_ends_it),
		cmocka_unit_test(test_scanning_is_set_aside_and_settled),
		cmocka_unit_test(test_a_call_goes_only_along_its_table),
		cmocka_unit_test(test_every_way_to_a_reply_passes_a_record),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
