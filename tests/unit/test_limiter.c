/* broker/limiter.c: rates that hold in every span of time, calls at once, and room for counters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "broker/limiter.h"

static const struct rule_limit three_a_minute = {
	.rule = "r", .calls = 3, .per_ms = 60000, .each = RATE_EACH_USER};
static const struct rule_limit two_at_once = {
	.rule = "r", .running = 2, .each = RATE_EACH_AGENT | RATE_EACH_TOOL, .index = 1};
static const struct limiter_who ann = {"q1", "ann", "run_query"};
static const struct limiter_who bob = {"q1", "bob", "run_query"};

struct took {
	enum limiter_answer answer;
	struct limiter_hold *hold;
	const struct rule_limit *limit;
	int64_t wait_ms;
};

static struct took take(struct limiter *limiter, const struct rule_limit *limit,
			const struct limiter_who *who, int64_t now_ms)
{
	struct took took = {0};

	took.answer = limiter_take(limiter, &limit, 1, who, now_ms, &took.hold, &took.limit,
				   &took.wait_ms);
	return took;
}

static void test_a_rate_holds_in_every_span_of_its_length(void **state)
{
	struct limiter *limiter = limiter_new();
	struct took refused;

	(void)state;
	assert_int_equal(take(limiter, &three_a_minute, &ann, 1000).answer, LIMITER_FINE);
	assert_int_equal(take(limiter, &three_a_minute, &ann, 30000).answer, LIMITER_FINE);
	assert_int_equal(take(limiter, &three_a_minute, &ann, 50000).answer, LIMITER_FINE);
	refused = take(limiter, &three_a_minute, &ann, 60999);
	assert_int_equal(refused.answer, LIMITER_RATE);
	assert_ptr_equal(refused.limit, &three_a_minute);
	assert_int_equal(refused.wait_ms, 1);
	assert_null(refused.hold);
	/* The first is a minute ago exactly: it counts no more. */
	assert_int_equal(take(limiter, &three_a_minute, &ann, 61000).answer, LIMITER_FINE);
	refused = take(limiter, &three_a_minute, &ann, 61000);
	assert_int_equal(refused.answer, LIMITER_RATE);
	assert_int_equal(refused.wait_ms, 29000);
	limiter_free(limiter);
}

static void test_each_counts_by_itself_and_together_by_all(void **state)
{
	static const struct rule_limit one_for_all = {.rule = "all", .calls = 1, .per_ms = 1000};
	struct limiter *limiter = limiter_new();

	(void)state;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(take(limiter, &three_a_minute, &ann, 0).answer, LIMITER_FINE);
		assert_int_equal(take(limiter, &three_a_minute, &bob, 0).answer, LIMITER_FINE);
	}
	assert_int_equal(take(limiter, &three_a_minute, &bob, 0).answer, LIMITER_RATE);
	assert_int_equal(take(limiter, &one_for_all, &ann, 0).answer, LIMITER_FINE);
	assert_int_equal(take(limiter, &one_for_all, &bob, 0).answer, LIMITER_RATE);
	assert_int_equal(limiter_counters(limiter), 3);
	limiter_free(limiter);
}

static void test_calls_at_once_count_until_they_are_let_go(void **state)
{
	struct limiter *limiter = limiter_new();
	struct took first = take(limiter, &two_at_once, &ann, 0);
	struct took second = take(limiter, &two_at_once, &bob, 0);

	(void)state;
	assert_non_null(first.hold);
	assert_non_null(second.hold);
	assert_int_equal(take(limiter, &two_at_once, &ann, 0).answer, LIMITER_RUNNING);
	limiter_let_go(first.hold);
	first = take(limiter, &two_at_once, &ann, 0);
	assert_int_equal(first.answer, LIMITER_FINE);
	limiter_let_go(first.hold);
	limiter_let_go(second.hold);
	limiter_let_go(NULL);
	limiter_free(limiter);
}

static void test_a_call_that_one_limit_refuses_costs_none_of_the_others(void **state)
{
	static const struct rule_limit one = {.rule = "x", .calls = 1, .per_ms = 1000};
	const struct rule_limit *const both[] = {&three_a_minute, &one};
	struct limiter *limiter = limiter_new();
	const struct rule_limit *limit = NULL;
	struct limiter_hold *hold;
	int64_t wait_ms;

	(void)state;
	assert_int_equal(limiter_take(limiter, both, 2, &ann, 0, &hold, &limit, &wait_ms),
			 LIMITER_FINE);
	for (int i = 0; i < 5; i++) {
		assert_int_equal(limiter_take(limiter, both, 2, &ann, 1, &hold, &limit, &wait_ms),
				 LIMITER_RATE);
		assert_ptr_equal(limit, &one);
	}
	assert_int_equal(take(limiter, &three_a_minute, &ann, 1).answer, LIMITER_FINE);
	assert_int_equal(take(limiter, &three_a_minute, &ann, 1).answer, LIMITER_FINE);
	assert_int_equal(take(limiter, &three_a_minute, &ann, 1).answer, LIMITER_RATE);
	assert_int_equal(limiter_take(limiter, NULL, 0, &ann, 0, &hold, &limit, &wait_ms),
			 LIMITER_FINE);
	limiter_free(limiter);
}

static void test_a_limit_that_became_smaller_counts_the_last_calls(void **state)
{
	struct rule_limit limit = {.rule = "r", .calls = 20, .per_ms = 1000};
	struct limiter *limiter = limiter_new();
	struct took refused;

	(void)state;
	for (int i = 0; i < 20; i++)
		assert_int_equal(take(limiter, &limit, &ann, i).answer, LIMITER_FINE);
	limit.calls = 5;
	refused = take(limiter, &limit, &ann, 100);
	assert_int_equal(refused.answer, LIMITER_RATE);
	assert_int_equal(refused.wait_ms, 15 + 1000 - 100);
	assert_int_equal(take(limiter, &limit, &ann, 1014).answer, LIMITER_RATE);
	assert_int_equal(take(limiter, &limit, &ann, 1015).answer, LIMITER_FINE);
	limiter_free(limiter);
}

static void test_idle_counters_make_room_and_busy_ones_do_not(void **state)
{
	static const struct rule_limit held = {.rule = "h", .running = 1, .each = RATE_EACH_USER};
	struct limiter *limiter = limiter_new();
	struct limiter_hold *first = NULL;
	struct took took;

	(void)state;
	for (size_t i = 0; i < LIMITER_COUNTERS_MAX; i++) {
		CLEANUP(mem_freep) char *user = mem_format("u%zu", i);
		const struct limiter_who who = {"q", user, "t"};

		took = take(limiter, i == 0 ? &held : &three_a_minute, &who, 0);
		assert_int_equal(took.answer, LIMITER_FINE);
		first = i == 0 ? took.hold : first;
	}
	assert_int_equal(take(limiter, &three_a_minute, &ann, 59999).answer, LIMITER_FULL);
	assert_int_equal(take(limiter, &three_a_minute, &ann, 60000).answer, LIMITER_FINE);
	assert_int_equal(limiter_counters(limiter), 2); /* that one, and the one that is held */
	limiter_let_go(first);
	limiter_free(limiter);
	limiter_free(NULL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_rate_holds_in_every_span_of_its_length),
		cmocka_unit_test(test_each_counts_by_itself_and_together_by_all),
		cmocka_unit_test(test_calls_at_once_count_until_they_are_let_go),
		cmocka_unit_test(test_a_call_that_one_limit_refuses_costs_none_of_the_others),
		cmocka_unit_test(test_a_limit_that_became_smaller_counts_the_last_calls),
		cmocka_unit_test(test_idle_counters_make_room_and_busy_ones_do_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
