/* Formatting a record, and the strict check of a line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "broker/audit/record.h"
#include "tests/unit/vectors.h"

#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"
#define HEAD "{\"_prev\":\"" ZEROS "\",\"_seq\":7"

static struct err err;

static int check(const char *line)
{
	struct record_head head;

	return record_check(line, strlen(line), &head, &err);
}

static void assert_refused(const char *rest, const char *text)
{
	char line[512];

	snprintf(line, sizeof(line), HEAD "%s", rest);
	assert_int_equal(check(line), -1);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_string_equal(err.text, text);
}

static void assert_accepted(const char *rest)
{
	char line[512];

	snprintf(line, sizeof(line), HEAD "%s", rest);
	err_clear(&err);
	if (check(line) < 0)
		fail_msg("%s: %s", line, err.text);
}

static char *format(const char *fields_text, const char *digests_text)
{
	static const uint8_t prev[SHA256_LEN];
	struct json *fields = NULL;
	struct json *digests = NULL;
	struct buf out = BUF_INIT;
	int result;

	assert_int_equal(json_parse_str(fields_text, &fields, &err), 0);
	if (digests_text != NULL)
		assert_int_equal(json_parse_str(digests_text, &digests, &err), 0);
	buf_add_str(&out, "before\n");
	result = record_format(7, prev, "2026-08-22T10:00:00.000000Z", fields, digests, &out, &err);
	json_free(fields);
	json_free(digests);
	if (result < 0) {
		assert_string_equal(buf_str(&out), "before\n");
		buf_clear(&out);
		return NULL;
	}
	return buf_take(&out);
}

static void test_a_record_is_written_in_canonical_order_with_sorted_commitments(void **state)
{
	char *line = format("{\"tl\":\"run_query\",\"ev\":\"tool.intent\",\"ag\":\"Zo\xC3\xAB\","
			    "\"fa\":{\"tables\":[\"b\",\"a\"],\"columns\":[]},\"rn\":null,"
			    "\"ex\":false}",
			    "[\"b\",\"B\",\"a\"]");

	(void)state;
	assert_string_equal(line,
			    "before\n" HEAD ",\"ag\":\"Zo\xC3\xAB\",\"cm\":[\"B\",\"a\",\"b\"],"
			    "\"ev\":\"tool.intent\",\"fa\":{\"columns\":[],\"tables\":"
			    "[\"b\",\"a\"]},\"tl\":\"run_query\",\"ts\":"
			    "\"2026-08-22T10:00:00.000000Z\",\"v\":1}");
	mem_free(line);
}

static void test_control_characters_are_escaped_so_that_a_line_stays_a_line(void **state)
{
	char *line = format("{\"ev\":\"a\\nb\\u0001\\u007f\\\"\\\\\"}", NULL);

	(void)state;
	assert_non_null(line);
	assert_non_null(strstr(line, "\"ev\":\"a\\nb\\u0001\x7F\\\"\\\\\""));
	mem_free(line);
}

static void test_fields_that_make_no_record_are_refused_and_nothing_is_written(void **state)
{
	(void)state;
	assert_null(format("{\"ev\":1.5}", NULL));
	assert_non_null(strstr(err.text, "a number that is no integer"));
	assert_null(format("{\"ev\":true}", NULL));
	assert_null(format("{\"eV\":\"x\"}", NULL));
	assert_non_null(strstr(err.text, "a key holds only small letters, digits and _"));
	assert_null(format("{\"ts\":\"x\"}", NULL));
	assert_string_equal(err.text, "field ts is written by the log itself");
	assert_null(format("{\"_seq\":1}", NULL));
}

static void test_the_longest_record_is_accepted_and_one_byte_more_is_not(void **state)
{
	static char line[WRIT_RECORD_BYTES_MAX + 2];
	struct record_head head;
	size_t len = strlen(HEAD ",\"a\":\"");

	(void)state;
	memset(line, 'x', sizeof(line));
	memcpy(line, HEAD ",\"a\":\"", len);
	memcpy(line + WRIT_RECORD_BYTES_MAX - 2, "\"}", 2);
	assert_int_equal(record_check(line, WRIT_RECORD_BYTES_MAX, &head, &err), 0);
	assert_int_equal(head.seq, 7);
	memcpy(line + WRIT_RECORD_BYTES_MAX - 2, "xx\"}", 4);
	line[WRIT_RECORD_BYTES_MAX - 1] = '"';
	line[WRIT_RECORD_BYTES_MAX] = '}';
	assert_int_equal(record_check(line, WRIT_RECORD_BYTES_MAX + 1, &head, &err), -1);
	assert_string_equal(err.text, "65536 bytes long; a record has 85 to 65535");
}

static void test_the_shortest_record_is_accepted_and_one_byte_less_is_not(void **state)
{
	struct record_head head;
	const char *line = HEAD "}";

	(void)state;
	assert_int_equal(strlen(line), 85);
	assert_int_equal(record_check(line, 85, &head, &err), 0);
	assert_int_equal(record_check(line, 84, &head, &err), -1);
	assert_string_equal(err.text, "84 bytes long; a record has 85 to 65535");
}

static void test_head_of_a_record_is_fixed(void **state)
{
	struct record_head head;
	char line[] = HEAD ",\"a\":\"\"}";
	size_t len = sizeof(line) - 1;

	(void)state;
	line[73] = 'A';
	assert_int_equal(record_check(line, len, &head, &err), -1);
	assert_string_equal(err.text, "byte 11: _prev is not 64 lower-case hex digits");
	line[73] = 'f';
	assert_int_equal(record_check(line, len, &head, &err), 0);
	assert_int_equal(head.prev[31], 0x0f);
	line[2] = 'x';
	assert_int_equal(record_check(line, len, &head, &err), -1);
	assert_string_equal(err.text, "byte 1: a record begins with {\"_prev\":\"");
	line[2] = '_';
	line[78] = 'S';
	assert_int_equal(record_check(line, len, &head, &err), -1);
	assert_string_equal(err.text, "byte 75: _seq must follow _prev");
	line[78] = 's';
	line[83] = '-';
	assert_int_equal(record_check(line, len, &head, &err), -1);
	assert_string_equal(err.text, "byte 84: _seq is not a number");
}

static void test_values_are_strings_and_integers_in_objects_and_arrays_only(void **state)
{
	(void)state;
	assert_accepted(
		",\"a\":-1,\"b\":0,\"c\":9007199254740991,\"d\":[],\"e\":{},\"f\":[1,\"x\",[2]]}");
	assert_refused(",\"a\":true}", "byte 90: a string, an integer, an object or an array "
				       "expected");
	assert_refused(",\"a\":null}", "byte 90: a string, an integer, an object or an array "
				       "expected");
	assert_refused(",\"a\":1.5}", "byte 91: a number that is no integer");
	assert_refused(",\"a\":1e2}", "byte 91: a number that is no integer");
	assert_refused(",\"a\":-0}", "byte 92: a number with a leading zero or a negative zero");
	assert_refused(",\"a\":01}", "byte 92: a number with a leading zero or a negative zero");
	assert_refused(",\"a\":9007199254740992}", "byte 106: a number beyond 2^53 - 1");
	assert_refused(",\"a\":99999999999999999999}", "byte 107: a number beyond 2^53 - 1");
	assert_refused(",\"a\":-}", "byte 91: a number expected");
	assert_refused(",\"a\": 1}", "byte 90: a string, an integer, an object or an array "
				     "expected");
}

static void test_keys_ascend_and_come_once_at_every_depth(void **state)
{
	(void)state;
	assert_accepted(",\"a\":1,\"a1\":1,\"a_\":1,\"ab\":1,\"b\":{\"a\":1,\"b\":1}}");
	assert_refused(",\"b\":1,\"a\":1}", "byte 95: keys not in order");
	assert_refused(",\"a\":1,\"a\":1}", "byte 95: a key that was there before");
	assert_refused(",\"x\":{\"b\":1,\"a\":1}}", "byte 100: keys not in order");
	assert_refused(",\"x\":{\"a\":1,\"a\":1}}", "byte 100: a key that was there before");
	assert_refused(",\"_x\":1}", "byte 87: a key must begin with a small letter");
	assert_refused(",\"aB\":1}", "byte 88: a key holds only small letters, digits and _");
	assert_refused(",\"\\u0061\":1}", "byte 87: a key must begin with a small letter");
	assert_refused(",}", "byte 86: a key expected");
}

static void test_strings_are_raw_utf8_with_the_needed_escapes_only(void **state)
{
	(void)state;
	assert_accepted(
		",\"a\":"
		"\"\xC3\xAB\xE2\x82\xAC\xF0\x9F\x98\x80\x7F\\\"\\\\\\b\\t\\n\\f\\r\\u001f\"}");
	assert_refused(",\"a\":\"\\/\"}", "byte 92: an escape that the format does not use");
	assert_refused(",\"a\":\"\\u0041\"}", "byte 92: an escape that the format does not use");
	assert_refused(",\"a\":\"\\u000A\"}", "byte 92: an escape that the format does not use");
	assert_refused(",\"a\":\"\\u000a\"}", "byte 92: an escape that the format does not use");
	assert_refused(",\"a\":\"\\u001F\"}", "byte 92: an escape that the format does not use");
	assert_refused(",\"a\":\"\\u0000\"}", "byte 92: an escape that the format does not use");
	assert_refused(",\"a\":\"\\u00", "byte 92: an escape that the format does not use");
	assert_refused(",\"a\":\"\t\"}", "byte 91: a control character");
	assert_refused(",\"a\":\"\r\"}", "byte 91: a control character");
	assert_refused(",\"a\":\"\xC3\"}", "byte 91: not UTF-8");
	assert_refused(",\"a\":\"\xED\xA0\x80\"}", "byte 91: not UTF-8");
	assert_refused(",\"a\":\"\xC0\xAF\"}", "byte 91: not UTF-8");
	assert_refused(",\"a\":\"open}", "byte 96: the line ends inside a string");
}

static void test_a_nul_byte_does_not_end_a_line(void **state)
{
	struct record_head head;
	char line[] = HEAD ",\"a\":\"x\"}";

	(void)state;
	line[90] = '\0';
	assert_int_equal(record_check(line, sizeof(line) - 1, &head, &err), -1);
	assert_string_equal(err.text, "byte 91: a control character");
}

static void test_nothing_may_follow_and_nothing_may_be_missing(void **state)
{
	(void)state;
	assert_refused("}{", "byte 86: something follows the record");
	assert_refused("} ", "byte 86: something follows the record");
	assert_refused("}\r", "byte 86: something follows the record");
	assert_refused(",\"a\":1", "byte 91: a comma or a closing brace expected");
	assert_refused(",\"a\":[1", "byte 92: a comma or a closing bracket expected");
	assert_refused(",\"a\"1}", "byte 89: a colon expected");
	assert_refused(" }", "byte 85: a comma or a closing brace expected");
}

static void test_depth_is_bounded(void **state)
{
	(void)state;
	assert_accepted(",\"a\":[[[[[[[1]]]]]]]}");
	assert_refused(",\"a\":[[[[[[[[1]]]]]]]]}", "byte 97: nested too deep");
}

static void test_a_later_record_format_is_refused_by_name(void **state)
{
	(void)state;
	assert_accepted(",\"v\":1}");
	assert_accepted(",\"fa\":{\"v\":2}}");
	assert_refused(",\"v\":2}", "byte 91: a record format that this program does not know");
	assert_refused(",\"v\":\"1\"}", "byte 90: a number expected");
}

static void test_every_record_of_the_sample_log_passes(void **state)
{
	struct buf bytes = BUF_INIT;
	struct record_head head;
	size_t count = 0;

	(void)state;
	if (!vector_read("audit/sample-log/seg-00000000000000000000.jsonl", &bytes)) {
		skip();
		return;
	}
	for (const char *at = bytes.bytes; at < bytes.bytes + bytes.len; count++) {
		const char *feed = strchr(at, '\n');

		assert_int_equal(record_check(at, (size_t)(feed - at), &head, &err), 0);
		assert_int_equal(head.seq, count);
		at = feed + 1;
	}
	assert_int_equal(count, 256);
	buf_clear(&bytes);
}

static void test_the_canonical_json_of_others_is_no_record(void **state)
{
	static const char *const names[] = {"weird",	  "unicode", "values",
					    "structures", "arrays",  "french"};
	struct record_head head;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct buf bytes = BUF_INIT;
		char name[64];

		snprintf(name, sizeof(name), "audit/jcs/output/%s.json", names[i]);
		if (!vector_read(name, &bytes)) {
			skip();
			return;
		}
		assert_int_equal(record_check(bytes.bytes, bytes.len, &head, &err), -1);
		buf_clear(&bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_a_record_is_written_in_canonical_order_with_sorted_commitments),
		cmocka_unit_test(test_control_characters_are_escaped_so_that_a_line_stays_a_line),
		cmocka_unit_test(
			test_fields_that_make_no_record_are_refused_and_nothing_is_written),
		cmocka_unit_test(test_the_longest_record_is_accepted_and_one_byte_more_is_not),
		cmocka_unit_test(test_the_shortest_record_is_accepted_and_one_byte_less_is_not),
		cmocka_unit_test(test_head_of_a_record_is_fixed),
		cmocka_unit_test(test_values_are_strings_and_integers_in_objects_and_arrays_only),
		cmocka_unit_test(test_keys_ascend_and_come_once_at_every_depth),
		cmocka_unit_test(test_strings_are_raw_utf8_with_the_needed_escapes_only),
		cmocka_unit_test(test_a_nul_byte_does_not_end_a_line),
		cmocka_unit_test(test_nothing_may_follow_and_nothing_may_be_missing),
		cmocka_unit_test(test_depth_is_bounded),
		cmocka_unit_test(test_a_later_record_format_is_refused_by_name),
		cmocka_unit_test(test_every_record_of_the_sample_log_passes),
		cmocka_unit_test(test_the_canonical_json_of_others_is_no_record),
	};

	crypto_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
