/* policy/call_spec.c: a call as people write it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "policy/call_spec.h"

static int read_call(const char *text, struct call_spec **ret_spec, struct err *err)
{
	CLEANUP(json_freep) struct json *json = NULL;

	assert_int_equal(json_parse_str(text, &json, err), 0);
	return call_spec_read(json, ret_spec, err);
}

static void refuses(const char *text, const char *want)
{
	struct call_spec *spec = NULL;
	struct err err = {0};

	assert_int_equal(read_call(text, &spec, &err), -1);
	assert_null(spec);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_string_equal(err.text, want);
}

static void test_a_whole_call_becomes_facts_and_comes_back(void **state)
{
	static const char text[] =
		"{\"agent\":\"a\",\"user\":\"anna\",\"groups\":[\"sales\",\"hr\"],\"tenant\":"
		"\"emea\",\"tool\":\"run_query\",\"database\":\"d\",\"tables\":[\"t\"],"
		"\"columns\":[\"o.x\",\"o.y\"],\"functions\":[\"sum\"]}";
	CLEANUP(call_spec_freep) struct call_spec *spec = NULL;
	CLEANUP(json_freep) struct json *json = NULL;
	CLEANUP(buf_clear) struct buf out = BUF_INIT;
	CLEANUP(buf_clear) struct buf said = BUF_INIT;
	const struct call_facts *facts;
	struct err err = {0};

	(void)state;
	assert_int_equal(read_call(text, &spec, &err), 0);
	facts = call_spec_facts(spec);
	assert_int_equal(facts->tables.count, 2);
	assert_string_equal(facts->tables.items[0], "t");
	assert_string_equal(facts->tables.items[1], "o");
	assert_int_equal(facts->columns.count, 3);
	assert_string_equal(facts->columns.items[2], "t.");
	assert_int_equal(facts->subject.groups.count, 2);
	json = call_spec_json(facts);
	json_write(json, &out);
	assert_string_equal(buf_str(&out), text);
	call_spec_say(facts, &said);
	assert_string_equal(buf_str(&said),
			    "a for anna (groups sales, hr; tenant emea): run_query on d, columns "
			    "o.x, o.y, tables t, functions sum");
}

static void test_a_call_without_data_says_little(void **state)
{
	CLEANUP(call_spec_freep) struct call_spec *spec = NULL;
	CLEANUP(buf_clear) struct buf said = BUF_INIT;
	struct err err = {0};

	(void)state;
	assert_int_equal(
		read_call("{\"agent\":\"a\",\"user\":\"u\",\"tenant\":\"x\",\"tool\":\"t\"}", &spec,
			  &err),
		0);
	assert_null(call_spec_facts(spec)->database);
	call_spec_say(call_spec_facts(spec), &said);
	assert_string_equal(buf_str(&said), "a for u (tenant x): t");
}

static void test_what_is_not_a_call_is_refused_by_its_member(void **state)
{
	(void)state;
	refuses("[]", "a call must be a map");
	refuses("{\"user\":\"u\",\"tool\":\"t\"}", "agent is missing");
	refuses("{\"agent\":\"\",\"user\":\"u\",\"tool\":\"t\"}", "agent must be a text");
	refuses("{\"agent\":\"a\",\"tool\":\"t\"}", "user is missing");
	refuses("{\"agent\":\"a\",\"user\":\"u\",\"tool\":1}", "tool must be a text");
	refuses("{\"agent\":\"a\",\"user\":\"u\",\"tool\":\"t\",\"groups\":\"g\"}",
		"groups must be a list");
	refuses("{\"agent\":\"a\",\"user\":\"u\",\"tool\":\"t\",\"groups\":[\"\"]}",
		"groups holds something that is no name");
	refuses("{\"agent\":\"a\",\"user\":\"u\",\"tool\":\"t\",\"database\":\"d\",\"columns\":"
		"[\"x\"]}",
		"columns: \"x\" is not written as table.column");
	refuses("{\"agent\":\"a\",\"user\":\"u\",\"tool\":\"t\",\"database\":\"d\",\"columns\":"
		"[\"a.b.c\"]}",
		"columns: \"a.b.c\" is not written as table.column");
	refuses("{\"agent\":\"a\",\"user\":\"u\",\"tool\":\"t\",\"tables\":[\"x\"]}",
		"tables and functions need a database");
	refuses("{\"agent\":\"a\",\"user\":\"u\",\"tool\":\"t\",\"time\":\"noon\"}",
		"time \"noon\" is not written as 2026-10-15T10:00:00Z");
	refuses("{\"agent\":\"a\",\"user\":\"u\",\"tool\":\"t\",\"time\":\"2026-13-15T10:00:00Z\"}",
		"time \"2026-13-15T10:00:00Z\" is not written as 2026-10-15T10:00:00Z");
	refuses("{\"agent\":\"a\",\"user\":\"u\",\"tool\":\"t\",\"arguments\":[]}",
		"arguments must be a map");
}

static void test_setting_arguments_and_approvals_are_facts_too(void **state)
{
	static const char text[] = "{\"agent\":\"a\",\"user\":\"u\",\"attributes\":{\"region\":"
				   "\"emea\"},\"tool\":\"t\","
				   "\"arguments\":{\"n\":5},\"time\":\"2026-10-15T10:00:01Z\","
				   "\"environment\":\"test\","
				   "\"approved\":[\"ask-it\"]}";
	CLEANUP(call_spec_freep) struct call_spec *spec = NULL;
	CLEANUP(json_freep) struct json *json = NULL;
	CLEANUP(buf_clear) struct buf out = BUF_INIT;
	CLEANUP(buf_clear) struct buf said = BUF_INIT;
	struct err err = {0};

	(void)state;
	assert_int_equal(read_call(text, &spec, &err), 0);
	assert_int_equal(call_spec_facts(spec)->setting.now_s, 1792058401);
	json = call_spec_json(call_spec_facts(spec));
	json_write(json, &out);
	assert_string_equal(buf_str(&out), text);
	call_spec_say(call_spec_facts(spec), &said);
	assert_string_equal(buf_str(&said),
			    "a for u: t, arguments {\"n\":5}, attributes {\"region\":\"emea\"}, at "
			    "2026-10-15T10:00:01Z, in test, approved ask-it");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_whole_call_becomes_facts_and_comes_back),
		cmocka_unit_test(test_setting_arguments_and_approvals_are_facts_too),
		cmocka_unit_test(test_a_call_without_data_says_little),
		cmocka_unit_test(test_what_is_not_a_call_is_refused_by_its_member),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
