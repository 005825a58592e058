/* The table of tools: arguments checked, schemas shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "broker/tool.h"
#include "writ/limits.h"

static int check(const char *tool, const char *text, struct err *err)
{
	CLEANUP(json_freep) struct json *arguments = NULL;

	if (json_parse_str(text, &arguments, err) < 0)
		fail_msg("%s", err->text);
	assert_non_null(tool_find(tool));
	return tool_check_arguments(tool_find(tool), arguments, err);
}

static void test_right_arguments_pass(void **state)
{
	struct err err = {0};

	(void)state;
	assert_int_equal(check("list_tables", "{}", &err), 0);
	assert_int_equal(check("describe_table", "{\"table\":\"orders\"}", &err), 0);
	assert_int_equal(check("search_values", "{\"text\":\"east\",\"limit\":1}", &err), 0);
	assert_int_equal(check("search_values", "{\"text\":\"east\",\"limit\":100}", &err), 0);
	assert_int_equal(check("run_query", "{\"sql\":\"SELECT 1\"}", &err), 0);
	assert_int_equal(check("run_query", "{\"sql\":\"SELECT 1\",\"rows\":100000}", &err), 0);
	assert_int_equal(tool_check_arguments(tool_find("list_metrics"), NULL, &err), 0);
}

static void test_a_wrong_argument_is_named(void **state)
{
	static const struct {
		const char *tool;
		const char *arguments;
		const char *error;
	} cases[] = {
		{"run_query", "{}", "run_query needs the argument \"sql\""},
		{"run_query", "{\"sql\":7}", "argument \"sql\" must be a string, not integer"},
		{"run_query", "{\"sql\":\"\"}", "argument \"sql\" is empty"},
		{"run_query", "{\"sql\":\"x\",\"row\":5}",
		 "run_query takes no argument \"row\"; did you mean \"rows\"?"},
		{"run_query", "{\"sql\":\"x\",\"rows\":0}",
		 "argument \"rows\" must lie between 1 and"},
		{"run_query", "{\"sql\":\"x\",\"rows\":1.5}",
		 "argument \"rows\" must be an integer"},
		{"run_query", "{\"sql\":\"x\",\"rows\":\"5\"}",
		 "argument \"rows\" must be an integer, not string"},
		{"search_schema", "{\"text\":\"x\",\"limit\":101}",
		 "argument \"limit\" must lie between 1 and 100"},
		{"search_schema", "{\"query\":\"region\"}",
		 "search_schema takes no argument \"query\"; it takes text, limit"},
		{"list_tables", "{\"agent\":\"other\"}", "list_tables takes no argument \"agent\""},
		{"describe_table", "{\"table\":null}",
		 "argument \"table\" must be a string, not null"},
		{"describe_table", "[]", "\"arguments\" must be an object"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err err = {0};

		assert_int_equal(check(cases[i].tool, cases[i].arguments, &err), -1);
		assert_int_equal(err.kind, ERR_INVALID);
		if (strncmp(err.text, cases[i].error, strlen(cases[i].error)) != 0)
			fail_msg("case %zu: %s", i, err.text);
	}
}

static void test_a_statement_is_bounded_in_bytes(void **state)
{
	(void)state;
	for (int more = -1; more <= 1; more++) {
		struct json *arguments = json_object();
		size_t len = (size_t)(WRIT_SQL_BYTES_MAX + more);
		char *sql = mem_alloc(len + 1);
		struct err err = {0};

		memset(sql, 'x', len);
		json_set_str(arguments, "sql", sql);
		assert_int_equal(tool_check_arguments(tool_find("run_query"), arguments, &err),
				 more > 0 ? -1 : 0);
		assert_int_equal(err.kind, more > 0 ? ERR_LIMIT : ERR_NONE);
		mem_free(sql);
		json_free(arguments);
	}
}

static void test_tool_names_compare_byte_for_byte(void **state)
{
	(void)state;
	assert_null(tool_find("Run_query"));
	assert_null(tool_find("run_query "));
	assert_null(tool_find(""));
	assert_string_equal(tool_find("run_query")->name, "run_query");
	assert_int_equal(tool_count(), 7);
}

static void test_a_tool_describes_itself_in_json_schema(void **state)
{
	static const char *const two[] = {"sales", "company"};
	CLEANUP(json_freep) struct json *one = tool_describe(tool_find("run_query"), two, 1);
	CLEANUP(json_freep) struct json *both = tool_describe(tool_find("list_tables"), two, 2);
	const struct json *schema = json_get(one, "inputSchema");
	CLEANUP(buf_clear) struct buf text = BUF_INIT;

	(void)state;
	assert_string_equal(json_get_str(schema, "$schema"),
			    "https://json-schema.org/draft/2020-12/schema");
	json_write(json_get(json_get(schema, "properties"), "rows"), &text);
	assert_string_equal(buf_str(&text),
			    "{\"type\":\"integer\",\"description\":\"how many rows at most; cut to "
			    "what the scope allows\",\"minimum\":1,\"default\":100}");
	assert_null(json_get(json_get(schema, "properties"), "database"));
	assert_int_equal(json_len(json_get(schema, "required")), 1);
	assert_false(json_get_bool(schema, "additionalProperties", true));
	buf_reset(&text);
	json_write(json_get(json_get(both, "inputSchema"), "properties"), &text);
	assert_string_equal(buf_str(&text),
			    "{\"database\":{\"type\":\"string\",\"description\":\"which database\","
			    "\"enum\":[\"sales\",\"company\"]}}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_right_arguments_pass),
		cmocka_unit_test(test_a_wrong_argument_is_named),
		cmocka_unit_test(test_a_statement_is_bounded_in_bytes),
		cmocka_unit_test(test_tool_names_compare_byte_for_byte),
		cmocka_unit_test(test_a_tool_describes_itself_in_json_schema),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
