/* Many hashes at once against one at a time, at every length around a block and a lane. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/sha256.h"
#include "base/sha256_many.h"

#define MESSAGES 300
#define LEN_MAX 9000

static uint8_t bytes[LEN_MAX];
static uint8_t got[MESSAGES][SHA256_LEN];

static void want_of(uint8_t prefix, const struct sha256_job *job, uint8_t out[SHA256_LEN])
{
	struct sha256 state;

	sha256_init(&state);
	sha256_add(&state, &prefix, 1);
	sha256_add(&state, job->bytes, job->len);
	sha256_end(&state, out);
}

static void check(uint8_t prefix, struct sha256_job *jobs, size_t count)
{
	memset(got, 0, sizeof(got));
	for (size_t i = 0; i < count; i++)
		jobs[i].out = got[i];
	sha256_many(prefix, jobs, count);
	for (size_t i = 0; i < count; i++) {
		uint8_t want[SHA256_LEN];

		want_of(prefix, &jobs[i], want);
		if (memcmp(want, got[i], SHA256_LEN) != 0)
			fail_msg("message %zu of %zu, %zu bytes", i, count, jobs[i].len);
	}
}

static void test_every_length_up_to_five_blocks_is_hashed_alike(void **state)
{
	struct sha256_job jobs[MESSAGES];

	(void)state;
	for (size_t i = 0; i < MESSAGES; i++)
		jobs[i] = (struct sha256_job){.bytes = bytes + i, .len = i};
	check(0, jobs, MESSAGES);
	for (size_t i = 0; i < MESSAGES; i++)
		jobs[i].len = MESSAGES - i;
	check(1, jobs, MESSAGES);
}

static void test_lengths_around_what_a_lane_holds_are_hashed_alike(void **state)
{
	struct sha256_job jobs[40];

	(void)state;
	for (size_t i = 0; i < 40; i++)
		jobs[i] =
			(struct sha256_job){.bytes = bytes, .len = i % 3 == 0 ? 4070 + i : 50 * i};
	check(0, jobs, 40);
	for (size_t i = 0; i < 40; i++)
		jobs[i].len = 8999;
	check(0, jobs, 40);
}

static void test_none_one_and_two_messages_are_fine(void **state)
{
	struct sha256_job jobs[2] = {{.bytes = bytes, .len = 65}, {.bytes = bytes, .len = 1000}};

	(void)state;
	check(0, jobs, 0);
	check(0, jobs, 1);
	check(0, jobs, 2);
	jobs[0].len = 5000;
	check(0, jobs, 2);
	jobs[1].len = 6000;
	check(0, jobs, 2);
}

static void test_a_hash_may_take_the_place_of_its_message(void **state)
{
	uint8_t nodes[64], want[SHA256_LEN];
	struct sha256_job job = {.bytes = nodes, .len = 64, .out = nodes};

	(void)state;
	memcpy(nodes, bytes, sizeof(nodes));
	want_of(1, &job, want);
	sha256_many(1, &job, 1);
	assert_memory_equal(nodes, want, SHA256_LEN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_length_up_to_five_blocks_is_hashed_alike),
		cmocka_unit_test(test_lengths_around_what_a_lane_holds_are_hashed_alike),
		cmocka_unit_test(test_none_one_and_two_messages_are_fine),
		cmocka_unit_test(test_a_hash_may_take_the_place_of_its_message),
	};

	for (size_t i = 0; i < LEN_MAX; i++)
		bytes[i] = (uint8_t)(i * 131 + i / 256);
	/* Before and after the processor's instructions are taken. */
	if (cmocka_run_group_tests_name("portable", tests, NULL, NULL) != 0)
		return 1;
	crypto_init();
	return cmocka_run_group_tests_name("chosen", tests, NULL, NULL);
}
