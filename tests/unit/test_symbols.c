/* policy/symbols.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "policy/symbols.h"

static void test_symbols_give_each_name_one_number(void **state)
{
	struct symbols symbols;
	symbol_t a;

	(void)state;
	symbols_init(&symbols);
	a = symbols_add(&symbols, "Orders");
	assert_int_not_equal(a, SYMBOL_NONE);
	assert_int_equal(symbols_add(&symbols, "Orders"), a);
	assert_int_not_equal(symbols_add(&symbols, "orders"), a);
	assert_string_equal(symbols_text(&symbols, a), "Orders");
	assert_null(symbols_text(&symbols, SYMBOL_NONE));
	assert_null(symbols_text(&symbols, 1000));
	symbols_clear(&symbols);
}

static void test_symbols_are_found_exactly_or_folded(void **state)
{
	struct symbols symbols;
	symbol_t exact;
	symbol_t folded;

	(void)state;
	symbols_init(&symbols);
	exact = symbols_add(&symbols, "PayRoll");
	assert_int_equal(symbols_find(&symbols, "PayRoll", 7), exact);
	assert_int_equal(symbols_find(&symbols, "payroll", 7), SYMBOL_NONE);
	/* "PayRoll" is no folded name, so folding finds nothing yet. */
	assert_int_equal(symbols_find_folded(&symbols, "PayRoll", 7), SYMBOL_NONE);
	folded = symbols_add_folded(&symbols, "PAYROLL");
	assert_string_equal(symbols_text(&symbols, folded), "payroll");
	assert_int_equal(symbols_find_folded(&symbols, "pAYROLl", 7), folded);
	assert_int_equal(symbols_find(&symbols, "payroll", 7), folded);
	assert_int_equal(symbols_find(&symbols, "PayRoll", 7), exact);
	/* Only ASCII letters fold: these are two names. */
	symbols_add_folded(&symbols, "\xC3\x89t\xC3\xA9");
	assert_int_equal(symbols_find_folded(&symbols, "\xC3\xA9t\xC3\xA9", 5), SYMBOL_NONE);
	assert_int_equal(symbols_find(&symbols, NULL, 0), SYMBOL_NONE);
	symbols_clear(&symbols);
}

static void test_symbols_never_take_a_part_for_the_whole(void **state)
{
	struct symbols symbols;
	char name[32];

	(void)state;
	symbols_init(&symbols);
	for (int i = 100000; i < 120000; i++) {
		snprintf(name, sizeof(name), "name_%d", i);
		symbols_add(&symbols, name);
	}
	for (int i = 100000; i < 120000; i++) {
		size_t len = (size_t)snprintf(name, sizeof(name), "name_%d", i);

		assert_string_equal(symbols_text(&symbols, symbols_find(&symbols, name, len)),
				    name);
		for (size_t cut = 0; cut < len; cut++)
			assert_int_equal(symbols_find(&symbols, name, cut), SYMBOL_NONE);
		name[len] = 'x';
		assert_int_equal(symbols_find(&symbols, name, len + 1), SYMBOL_NONE);
	}
	symbols_clear(&symbols);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbols_give_each_name_one_number),
		cmocka_unit_test(test_symbols_are_found_exactly_or_folded),
		cmocka_unit_test(test_symbols_never_take_a_part_for_the_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
