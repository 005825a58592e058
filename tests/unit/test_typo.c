/* Slips of the finger. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agents/query/typo.h"

static void test_what_fingers_do_is_a_slip(void **state)
{
	static const char *const slips[][2] = {
		{"slaes", "sales"},	     {"prodcut", "product"},
		{"isues", "issues"},	     {"revenu", "revenue"},
		{"ordders", "orders"},	     {"custommer", "customer"},

		{"depatment", "department"}, {"deppartment", "department"},
		{"quarte", "quarter"},	     {"catgory", "category"}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(slips); i++)
		if (!typo_is_slip(slips[i][0], slips[i][1]))
			fail_msg("%s is no slip for %s", slips[i][0], slips[i][1]);
}

static void test_another_word_is_none(void **state)
{
	static const char *const words[][2] = {{"county", "country"},
					       {"departmant", "department"},
					       {"departmexnt", "department"},
					       {"stage", "state"},
					       {"prize", "price"},
					       {"cost", "costs"},
					       {"sale", "stale"},
					       {"sales", "sales"},
					       {"order", "border"},
					       {"salse", "xalse"},
					       {"profit", "product"},
					       {"area", "aera"},
					       {"", "sales"},
					       {"units", ""},
					       {"quart", "quarter"},
					       {"returns", "revenue"}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (typo_is_slip(words[i][0], words[i][1]))
			fail_msg("%s is a slip for %s", words[i][0], words[i][1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_fingers_do_is_a_slip),
		cmocka_unit_test(test_another_word_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
