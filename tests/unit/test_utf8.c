/* UTF-8: every scalar value goes round, every border of the table holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/utf8.h"

static void test_utf8_every_scalar_value_goes_round(void **state)
{
	char bytes[4];

	(void)state;
	for (uint32_t scalar = 0; scalar <= 0x10FFFF; scalar++) {
		size_t len,
			wanted = 1u + (scalar >= 0x80) + (scalar >= 0x800) + (scalar >= 0x10000);

		if (scalar >= 0xD800 && scalar <= 0xDFFF)
			continue;
		len = utf8_encode(scalar, bytes);
		assert_int_equal(len, wanted);
		assert_int_equal(utf8_char_len(bytes, len), len);
		assert_int_equal(utf8_char_len(bytes, 4), len);
		assert_int_equal(utf8_char_len(bytes, len - 1), 0); /* cut */
	}
}

/* All pairs of bytes: exactly those that RFC 3629 calls a character are one. */
static void test_utf8_two_bytes_are_a_character_only_by_the_table(void **state)
{
	(void)state;
	for (int first = 0x80; first < 0x100; first++)
		for (int second = 0; second < 0x100; second++) {
			const char bytes[2] = {(char)first, (char)second};
			bool ok =
				first >= 0xC2 && first <= 0xDF && second >= 0x80 && second <= 0xBF;

			assert_int_equal(utf8_char_len(bytes, 2), ok ? 2 : 0);
		}
}

static void test_utf8_refuses_the_nearest_misses(void **state)
{
	static const char *const bad[] = {"\x80",
					  "\xBF",
					  "\xC0\x80",
					  "\xC1\xBF",
					  "\xE0\x9F\xBF",
					  "\xE0\xC0\x80",
					  "\xE1\x80\x7F",
					  "\xE1\x80\xC0",
					  "\xED\xA0\x80",
					  "\xED\xBF\xBF",
					  "\xF0\x8F\xBF\xBF",
					  "\xF0\x90\x80\x7F",
					  "\xF4\x90\x80\x80",
					  "\xF1\x80\xC0\x80",
					  "\xF5\x80\x80\x80",
					  "\xFE",
					  "\xFF"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_int_equal(utf8_char_len(bad[i], strlen(bad[i])), 0);
		assert_false(utf8_valid(bad[i], strlen(bad[i])));
	}
}

static void test_utf8_valid_looks_at_the_whole_text(void **state)
{
	(void)state;
	assert_true(utf8_valid("", 0));
	assert_int_equal(utf8_char_len("", 0), 0);
	assert_true(utf8_valid("a\0\xC3\xA9", 4));
	assert_false(utf8_valid("a\0\xC3\xA9", 3));
	assert_false(utf8_valid("abc\xFF", 4));
}

/* Every byte at every place of a text, so also across the border of eight. */
static void test_utf8_plain_ends_at_the_first_byte_that_is_not(void **state)
{
	char text[21];

	(void)state;
	for (size_t len = 0; len <= sizeof(text); len++) {
		memset(text, 'a', sizeof(text));
		assert_int_equal(utf8_plain_len(text, len), len);
		for (size_t at = 0; at < len; at++) {
			for (int byte = 0; byte < 256; byte++) {
				bool plain = byte >= 0x20 && byte < 0x80 && byte != '"' &&
					     byte != '\\';

				text[at] = (char)byte;
				assert_int_equal(utf8_plain_len(text, len), plain ? len : at);
			}
			text[at] = '~';
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_utf8_every_scalar_value_goes_round),
		cmocka_unit_test(test_utf8_two_bytes_are_a_character_only_by_the_table),
		cmocka_unit_test(test_utf8_refuses_the_nearest_misses),
		cmocka_unit_test(test_utf8_valid_looks_at_the_whole_text),
		cmocka_unit_test(test_utf8_plain_ends_at_the_first_byte_that_is_not),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
