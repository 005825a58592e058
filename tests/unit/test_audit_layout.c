/* Names of the files of a log: out of numbers and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "broker/audit/layout.h"

static void segment_names_have_twenty_digits_and_read_back(void **state)
{
	char path[AUDIT_NAME_MAX];
	uint64_t first = 7;

	(void)state;
	segment_path(0, AUDIT_RECORDS, path);
	assert_string_equal(path, "seg/00000000000000000000.jsonl");
	segment_path(UINT64_MAX, AUDIT_SEAL, path);
	assert_string_equal(path, "seg/18446744073709551615.checkpoint");
	assert_true(segment_read(segment_name(path), AUDIT_SEAL, &first));
	assert_int_equal(first, UINT64_MAX);
	assert_true(segment_read("00000000000000000042.close", AUDIT_LAST, &first));
	assert_int_equal(first, 42);
}

static void other_names_are_no_segments(void **state)
{
	static const char *const names[] = {"",
					    "0.jsonl",
					    "0000000000000000000.jsonl",
					    "000000000000000000000.jsonl",
					    "0000000000000000000a.jsonl",
					    "00000000000000000000.json",
					    "00000000000000000000.jsonl~",
					    "18446744073709551616.jsonl",
					    "99999999999999999999.jsonl",
					    ".."};
	uint64_t first = 7;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_false(segment_read(names[i], AUDIT_RECORDS, &first));
	assert_int_equal(first, 7);
}

static void tile_paths_group_three_digits(void **state)
{
	static const struct {
		unsigned int level;
		uint64_t index;
		unsigned int width;
		const char *path;
	} rows[] = {{0, 0, 256, "tile/0/000"},
		    {0, 999, 256, "tile/0/999"},
		    {0, 1000, 256, "tile/0/x001/000"},
		    {1, 1234067, 256, "tile/1/x001/x234/067"},
		    {0, 273, 112, "tile/0/273.p/112"},
		    {2, 0, 1, "tile/2/000.p/1"},
		    {7, 1234067, 255, "tile/7/x001/x234/067.p/255"}};
	char path[AUDIT_NAME_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		tile_path(rows[i].level, rows[i].index, rows[i].width, path);
		assert_string_equal(path, rows[i].path);
	}
}

static void an_epoch_is_named_after_its_log(void **state)
{
	char name[EPOCH_NAME_MAX + 1];
	char origin[EPOCH_NAME_MAX + 1];
	struct err err;

	(void)state;
	assert_int_equal(epoch_key_name("writ.local/sales/9f2c", 12, name, &err), 0);
	assert_string_equal(name, "writ.local/sales/9f2c/e12");
	memset(origin, 'a', sizeof(origin));
	origin[EPOCH_NAME_MAX - 3] = '\0';
	assert_int_equal(epoch_key_name(origin, 9, name, &err), 0);
	assert_int_equal(epoch_key_name(origin, 10, name, &err), -1);
	assert_string_equal(err.text, "the origin is too long for the name of an epoch");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(segment_names_have_twenty_digits_and_read_back),
		cmocka_unit_test(other_names_are_no_segments),
		cmocka_unit_test(tile_paths_group_three_digits),
		cmocka_unit_test(an_epoch_is_named_after_its_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
