/* base/problems.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/problems.h"

static void test_problems_keep_place_message_and_frame(void **state)
{
	CLEANUP(yaml_freep) struct yaml *root = NULL;
	CLEANUP(problems_clear) struct problems problems = PROBLEMS_INIT;
	struct err err = {0};

	(void)state;
	assert_int_equal(yaml_parse("x.yaml", "a: 1\nb: two\n", 12, &root, &err), 0);
	problems_add(&problems, PROBLEM_ERROR, "bad_value", yaml_get(root, "b"), "not %s", "so");
	assert_int_equal(problems.count, 1);
	assert_int_equal(problems.error_count, 1);
	assert_string_equal(problems.items[0].file, "x.yaml");
	assert_int_equal(problems.items[0].line, 2);
	assert_int_equal(problems.items[0].column, 4);
	assert_string_equal(problems.items[0].message, "not so");
	assert_string_equal(problems.items[0].text,
			    "x.yaml:2:4: not so\n    2 | b: two\n      |    ^");
}

static void test_problems_read_the_place_of_an_error(void **state)
{
	CLEANUP(problems_clear) struct problems problems = PROBLEMS_INIT;
	struct err err = {.kind = ERR_INVALID, .text = "a: b/x.yaml:12:3: what: now\n   12 | ?"};
	struct err without = {.kind = ERR_IO, .text = "a.yaml: open: no such file"};
	struct err nearly = {.kind = ERR_IO, .text = "a.yaml:1:x: no"};

	(void)state;
	problems_add_err(&problems, "yaml", &err);
	problems_add_err(&problems, "io", &without);
	problems_add_err(&problems, "io", &nearly);
	assert_string_equal(problems.items[0].file, "a: b/x.yaml");
	assert_int_equal(problems.items[0].line, 12);
	assert_int_equal(problems.items[0].column, 3);
	assert_string_equal(problems.items[0].message, "what: now");
	assert_string_equal(problems.items[0].text, err.text);
	assert_string_equal(problems.items[1].file, "");
	assert_int_equal(problems.items[1].line, 0);
	assert_string_equal(problems.items[1].message, without.text);
	assert_string_equal(problems.items[2].message, nearly.text);
}

static void test_problems_come_in_the_order_of_the_files(void **state)
{
	CLEANUP(problems_clear) struct problems problems = PROBLEMS_INIT;
	static const struct err errs[] = {{.kind = ERR_INVALID, .text = "no place"},
					  {.kind = ERR_INVALID, .text = "b:1:1: x"},
					  {.kind = ERR_INVALID, .text = "a:10:2: x"},
					  {.kind = ERR_INVALID, .text = "a:9:3: x"},
					  {.kind = ERR_INVALID, .text = "a:9:2: x"}};
	static const char *const order[] = {"a:9:2: x", "a:9:3: x", "a:10:2: x", "b:1:1: x",
					    "no place"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(errs); i++)
		problems_add_err(&problems, "c", &errs[i]);
	problems_sort(&problems);
	for (size_t i = 0; i < ARRAY_LEN(order); i++)
		assert_string_equal(problems.items[i].text, order[i]);
}

static void test_problems_are_bounded_but_counted(void **state)
{
	CLEANUP(problems_clear) struct problems problems = PROBLEMS_INIT;
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	(void)state;
	for (size_t i = 0; i < PROBLEMS_MAX; i++)
		problems_add(&problems, PROBLEM_WARNING, "c", NULL, "w");
	assert_int_equal(problems.unshown, 0);
	assert_int_equal(problems.error_count, 0);
	problems_add(&problems, PROBLEM_ERROR, "c", NULL, "e");
	assert_int_equal(problems.count, PROBLEMS_MAX);
	assert_int_equal(problems.unshown, 1);
	assert_int_equal(problems.error_count, 1);
	problems_print(&problems, out);
	fclose(out);
	assert_memory_equal(text, "warning: w\nwarning: w\n", 22);
	assert_string_equal(text + len - 11, "and 1 more\n");
	free(text);
}

static void test_problems_as_json(void **state)
{
	CLEANUP(problems_clear) struct problems problems = PROBLEMS_INIT;
	struct err err = {.kind = ERR_INVALID, .text = "a:9:2: x"};
	struct buf text = BUF_INIT;
	struct json *json;

	(void)state;
	problems_add_err(&problems, "yaml", &err);
	json = problems_json(&problems);
	json_write(json, &text);
	assert_string_equal(buf_str(&text),
			    "[{\"severity\":\"error\",\"code\":\"yaml\",\"file\":\"a\",\"line\":9,"
			    "\"column\":2,\"message\":\"x\"}]");
	buf_clear(&text);
	json_free(json);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_problems_keep_place_message_and_frame),
		cmocka_unit_test(test_problems_read_the_place_of_an_error),
		cmocka_unit_test(test_problems_come_in_the_order_of_the_files),
		cmocka_unit_test(test_problems_are_bounded_but_counted),
		cmocka_unit_test(test_problems_as_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
