/* What the command line prints: tables, cells, rows for other programs; and how it reads options.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "cli/args.h"
#include "cli/commands.h"
#include "cli/export.h"
#include "cli/table.h"
#include "cli/value.h"

const struct command *command_find(const char *name)
{
	(void)name;
	return NULL;
}

static char *printed(void (*print)(FILE *out, void *data), void *data)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	assert_non_null(out);
	print(out, data);
	fclose(out);
	return text;
}

static void print_table(FILE *out, void *data)
{
	table_print(data, out);
}

static void test_columns_are_as_wide_as_people_see_them(void **state)
{
	static const char *const headings[] = {"NAME", "N"};
	static const char *const rows[][2] = {{"Zoë", "1"}, {"東京", "200"}, {"a\033[31m", NULL}};
	struct table *table = table_new(headings, 2);
	char *text;

	(void)state;
	table_align_right(table, 1);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		table_add(table, rows[i]);
	text = printed(print_table, table);
	assert_string_equal(text, "NAME      N\n"
				  "Zoë       1\n"
				  "東京    200\n"
				  "a [31m    -\n");
	free(text);
	table_free(table);
	assert_int_equal(text_width("東京"), 4);
	assert_int_equal(text_width("e\xCC\x81"), 1); /* a combining accent */
}

static struct json *answer_of(const char *text)
{
	struct json *json = NULL;
	struct err err = {0};

	if (json_parse_str(text, &json, &err) < 0)
		fail_msg("%s", err.text);
	return json;
}

struct export
{
	const char *format;
	struct json *answer;
};

static void print_export(FILE *out, void *data)
{
	struct export *export = data;

	export_rows(export->format, export->answer, out);
}

static void check_export(const char *format, const char *answer, const char *want)
{
	struct export export = {format, answer_of(answer)};
	char *text = printed(print_export, &export);

	assert_string_equal(text, want);
	free(text);
	json_free(export.answer);
}

static void test_csv_neutralises_what_a_spreadsheet_would_run(void **state)
{
	(void)state;
	check_export("csv",
		     "{\"columns\":[\"a\",\"b\"],\"rows\":[[\"=1+1\",-5],[\"x\\\"y\",null],[\"@"
		     "me\",1.5]]}",
		     "\"a\",\"b\"\r\n\"'=1+1\",-5\r\n\"x\"\"y\",\r\n\"'@me\",1.5\r\n");
}

static void test_rows_as_json_keep_both_columns_of_one_name(void **state)
{
	(void)state;
	check_export("jsonl", "{\"columns\":[\"n\",\"n\"],\"rows\":[[1,2]]}",
		     "{\"n\":1,\"n_2\":2}\n");
	check_export("json", "{\"columns\":[\"n\"],\"rows\":[]}", "[]\n");
	check_export("md", "{\"columns\":[\"a|b\"],\"units\":[\"USD\"],\"rows\":[[2.5]]}",
		     "| a\\|b |\n|---|\n| 2.50 |\n");
	assert_true(export_knows("csv"));
	assert_false(export_knows("xml"));
}

static void check_value(const char *json, const char *unit, const char *want)
{
	CLEANUP(json_freep) struct json *value = answer_of(json);
	CLEANUP(mem_freep) char *text = value_text(value, unit);

	assert_string_equal(text, want);
}

static void test_cells_show_money_with_its_places(void **state)
{
	CLEANUP(mem_freep) char *small = bytes_text(1023);
	CLEANUP(mem_freep) char *large = bytes_text(1536LL << 20);

	(void)state;
	check_value("420.0", "USD", "420.00");
	check_value("37.7", NULL, "37.7");
	check_value("12.5", "%", "12.5");
	check_value("3", "USD", "3");
	check_value("null", "USD", "-");
	check_value("{\"base64\":\"AAAA\"}", NULL, "(blob, 3 bytes)");
	assert_string_equal(small, "1023 B");
	assert_string_equal(large, "1.5 GiB");
}

static void test_options_are_read_from_their_table(void **state)
{
	const char *file = NULL;
	bool all = false;
	const struct arg_option options[] = {{"--all", &all, NULL}, {"--file", NULL, &file}};
	char *good[] = {(char[]){"task"}, (char[]){"--all"}, (char[]){"--file=x"}, (char[]){"-C"},
			(char[]){"dir"},  (char[]){"--"},    (char[]){"--word"}};
	char *unknown[] = {(char[]){"task"}, (char[]){"--al"}};
	char *valueless[] = {(char[]){"task"}, (char[]){"--file"}};
	char *many[] = {(char[]){"task"}, (char[]){"a"}, (char[]){"b"}};
	struct args args;

	(void)state;
	assert_int_equal(args_read((int)ARRAY_LEN(good), good, options, 2, 1, &args), 0);
	assert_true(all);
	assert_string_equal(file, "x");
	assert_string_equal(args.workspace, "dir");
	assert_string_equal(args.words[0], "--word");
	args_clear(&args);
	assert_int_equal(args_read(2, unknown, options, 2, 1, &args), EXIT_USAGE);
	args_clear(&args);
	assert_int_equal(args_read(2, valueless, options, 2, 1, &args), EXIT_USAGE);
	args_clear(&args);
	assert_int_equal(args_read(3, many, options, 2, 1, &args), EXIT_USAGE);
	args_clear(&args);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns_are_as_wide_as_people_see_them),
		cmocka_unit_test(test_csv_neutralises_what_a_spreadsheet_would_run),
		cmocka_unit_test(test_rows_as_json_keep_both_columns_of_one_name),
		cmocka_unit_test(test_cells_show_money_with_its_places),
		cmocka_unit_test(test_options_are_read_from_their_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
