#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/mem.h"
#include "base/nearest.h"

static const char *const names[] = {"region", "status", "discount", "id"};

static const char *nearest(const char *word)
{
	return nearest_word(word, names, ARRAY_LEN(names));
}

static void test_nearest_counts_each_kind_of_slip(void **state)
{
	(void)state;
	assert_string_equal(nearest("regon"), "region");   /* dropped */
	assert_string_equal(nearest("regioon"), "region"); /* inserted */
	assert_string_equal(nearest("regoin"), "region");  /* swapped: one slip, not two */
	assert_string_equal(nearest("STATUS"), "status");  /* case does not count */
}

static void test_nearest_stops_at_its_limit(void **state)
{
	(void)state;
	assert_string_equal(nearest("stxtux"), "status");     /* 2 of 6 */
	assert_null(nearest("sxxxus"));			      /* 3 of 6 */
	assert_string_equal(nearest("dixxount"), "discount"); /* 2 of 8 */
	assert_null(nearest("xx"));			      /* 2 of 2 */
	assert_string_equal(nearest("ix"), "id");
}

static void test_nearest_prefers_the_nearer_and_then_the_first(void **state)
{
	static const char *const close[] = {"abcdef", "abcxyf", "abcxxf"};

	(void)state;
	assert_string_equal(nearest_word("abcxzf", close, 3), "abcxyf");
	assert_string_equal(nearest_word("abcxxf", close, 3), "abcxxf");
}

static void test_nearest_ignores_words_nobody_types(void **state)
{
	char longest[130];
	const char *candidates[1] = {longest};

	(void)state;
	memset(longest, 'a', sizeof(longest) - 1);
	longest[129] = '\0';
	assert_null(nearest_word(longest, candidates, 1));
	assert_null(nearest_word("aaaa", candidates, 1));
	longest[128] = '\0';
	assert_ptr_equal(nearest_word(longest, candidates, 1), longest);
	assert_null(nearest_word("a", NULL, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nearest_counts_each_kind_of_slip),
		cmocka_unit_test(test_nearest_stops_at_its_limit),
		cmocka_unit_test(test_nearest_prefers_the_nearer_and_then_the_first),
		cmocka_unit_test(test_nearest_ignores_words_nobody_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
