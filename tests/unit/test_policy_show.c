/* cli/policy_show.c: a bundle in words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cli/policy_show.h"
#include "policy/vocabulary.h"
#include "tests/unit/workspace_dir.h"

static void test_policy_show_tells_every_rule_with_its_place(void **state)
{
	CLEANUP(mem_freep) char *text = source_file("tests/unit/fixtures/policy/good.json");
	CLEANUP(mem_freep) char *golden = source_file("tests/unit/fixtures/policy/good.show.txt");
	CLEANUP(buf_clear) struct buf out = BUF_INIT;
	struct json *bundle = NULL;
	struct err err = {0};

	(void)state;
	text[strcspn(text, "\n")] = '\0';
	assert_int_equal(json_parse_str(text, &bundle, &err), 0);
	policy_show(bundle, &out);
	assert_string_equal(buf_str(&out), golden);
	json_free(bundle);
}

static void test_policy_show_prints_every_function(void **state)
{
	CLEANUP(buf_clear) struct buf out = BUF_INIT;
	size_t line = 0;

	(void)state;
	policy_show(NULL, &out);
	for (size_t l = 0; l < function_list_count; l++)
		for (size_t f = 0; function_lists[l].functions[f] != NULL; f++)
			assert_non_null(strstr(out.bytes, function_lists[l].functions[f]));
	for (const char *at = out.bytes; *at != '\0'; at++) {
		line = *at == '\n' ? 0 : line + 1;
		assert_true(line <= 96);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_policy_show_tells_every_rule_with_its_place),
		cmocka_unit_test(test_policy_show_prints_every_function),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
