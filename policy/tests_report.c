/*
 * The outcome of tests for machines: TAP 14 (https://testanything.org), JUnit's XML as continuous
 * integration reads it, and JSON. Pure.
 */
#include <string.h>

#include "policy/tests.h"

/* A description ends at a "#"; what YAML would take for something else is quoted. */
static void tap_text(const char *text, struct buf *out)
{
	for (; *text != '\0'; text++) {
		if (*text == '#' || *text == '\\')
			buf_add_char(out, '\\');
		buf_add_char(out, *text);
	}
}

static void tap_failure(const struct policy_check_case *test, const struct case_result *result,
			struct buf *out)
{
	buf_add_str(out, "  ---\n  message: ");
	json_write_string(result->wrong, strlen(result->wrong), out);
	buf_add_str(out, "\n  at: ");
	json_write_string(test->at, strlen(test->at), out);
	buf_add_str(out, "\n  ...\n");
}

void tests_write_tap(const struct policy_tests *tests, const struct tests_result *result,
		     struct buf *out)
{
	buf_addf(out, "TAP version 14\n1..%zu\n", result->count);
	for (size_t i = 0; i < result->count; i++) {
		buf_addf(out, "%s %zu - ", result->cases[i].passed ? "ok" : "not ok", i + 1);
		tap_text(tests->cases[i].name, out);
		buf_add_char(out, '\n');
		if (!result->cases[i].passed)
			tap_failure(&tests->cases[i], &result->cases[i], out);
	}
}

/* Control characters, which XML 1.0 cannot hold, are not in texts of scope files. */
static void xml_text(const char *text, size_t len, struct buf *out)
{
	for (size_t i = 0; i < len; i++)
		switch (text[i]) {
		case '&':
			buf_add_str(out, "&amp;");
			break;
		case '<':
			buf_add_str(out, "&lt;");
			break;
		case '>':
			buf_add_str(out, "&gt;");
			break;
		case '"':
			buf_add_str(out, "&quot;");
			break;
		default:
			buf_add_char(out, text[i]);
		}
}

static void junit_case(const struct policy_check_case *test, const struct case_result *result,
		       struct buf *out)
{
	size_t file = strcspn(test->at, ":");

	buf_add_str(out, "  <testcase classname=\"");
	xml_text(test->at, file, out);
	buf_add_str(out, "\" name=\"");
	xml_text(test->name, strlen(test->name), out);
	if (result->passed) {
		buf_add_str(out, "\"/>\n");
		return;
	}
	buf_add_str(out, "\">\n    <failure message=\"");
	xml_text(result->wrong, strlen(result->wrong), out);
	buf_add_str(out, "\">");
	xml_text(test->at, strlen(test->at), out);
	buf_add_str(out, "</failure>\n  </testcase>\n");
}

void tests_write_junit(const struct policy_tests *tests, const struct tests_result *result,
		       struct buf *out)
{
	buf_addf(out,
		 "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		 "<testsuites>\n <testsuite name=\"policy\" tests=\"%zu\" failures=\"%zu\" "
		 "errors=\"0\">\n",
		 result->count, result->failed);
	for (size_t i = 0; i < result->count; i++)
		junit_case(&tests->cases[i], &result->cases[i], out);
	buf_add_str(out, " </testsuite>\n</testsuites>\n");
}

static struct json *verdict_json(const struct verdict *verdict)
{
	struct json *json = json_object();

	json_set_str(json, "effect", effect_words[verdict->effect]);
	json_set_str(json, "code", verdict->code);
	json_set_str(json, "rule", verdict->rule);
	json_set_str(json, "at", verdict->at);
	json_set_str(json, "reason", verdict->reason);
	return json;
}

struct json *tests_json(const struct policy_tests *tests, const struct tests_result *result)
{
	struct json *list = json_array();

	for (size_t i = 0; i < result->count; i++) {
		struct json *json = json_object();

		json_set_str(json, "name", tests->cases[i].name);
		json_set_str(json, "at", tests->cases[i].at);
		json_set_bool(json, "passed", result->cases[i].passed);
		json_set_str(json, "wrong", result->cases[i].wrong);
		json_set(json, "verdict", verdict_json(&result->cases[i].verdict));
		json_set(json, "call", call_spec_json(call_spec_facts(tests->cases[i].spec)));
		json_push(list, json);
	}
	return list;
}
