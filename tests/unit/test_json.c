/* The JSON door: what it refuses and says, what it builds, and that writing reads back. */
#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/json.h"

static void refused(const char *bytes, size_t len, enum err_kind kind, const char *text)
{
	struct json *json = (struct json *)(void *)&len; /* must stay untouched */
	struct err err = {0};

	assert_int_equal(json_parse(bytes, len, 1 << 20, &json, &err), -1);
	assert_ptr_equal(json, &len);
	assert_string_equal(err.text, text);
	assert_int_equal(err.kind, kind);
	assert_int_equal(json_parse(bytes, len, 1 << 20, &json, NULL), -1);
}

static void invalid(const char *bytes, const char *text)
{
	refused(bytes, strlen(bytes), ERR_INVALID, text);
}

static struct json *parsed(const char *text)
{
	struct json *json = NULL;
	struct err err = {0};

	if (json_parse_str(text, &json, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	return json;
}

static void writes(const struct json *json, const char *plain, const char *canonical)
{
	struct buf out = BUF_INIT;

	json_write(json, &out);
	assert_string_equal(buf_str(&out), plain);
	buf_reset(&out);
	json_write_canonical(json, &out);
	assert_string_equal(buf_str(&out), canonical);
	buf_clear(&out);
}

/* text as we write it, and canonical. */
static void round_trip(const char *text, const char *plain, const char *canonical)
{
	CLEANUP(json_freep) struct json *json = parsed(text);

	writes(json, plain, canonical);
}

static void test_json_refuses_broken_structure(void **state)
{
	(void)state;
	invalid("", "line 1, column 1: the text ends where a value is expected");
	invalid("  \n ", "line 2, column 2: the text ends where a value is expected");
	invalid("[1,", "line 1, column 4: the text ends where a value is expected");
	invalid("[1 2]", "line 1, column 4: '2' where ',' or ']' is expected");
	invalid("[1,]", "line 1, column 4: ']' where a value is expected");
	invalid("[,1]", "line 1, column 2: ',' where a value is expected");
	invalid("[1}", "line 1, column 3: '}' where ',' or ']' is expected");
	invalid("[1", "line 1, column 3: the text ends where ',' or ']' is expected");
	invalid("{\"a\":1", "line 1, column 7: the text ends where ',' or '}' is expected");
	invalid("{\"a\":1,}", "line 1, column 8: '}' where a member name in quotes is expected");
	invalid("{a:1}", "line 1, column 2: 'a' where a member name in quotes is expected");
	invalid("{\"a\" 1}", "line 1, column 6: '1' where ':' is expected");
	invalid("{\"a\"", "line 1, column 5: the text ends where ':' is expected");
	invalid("{\"a\":}", "line 1, column 6: '}' where a value is expected");
	invalid("{1:2}", "line 1, column 2: '1' where a member name in quotes is expected");
	invalid("]", "line 1, column 1: ']' where a value is expected");
	invalid("'a'", "line 1, column 1: ''' where a value is expected");
	invalid("// x\n1", "line 1, column 1: '/' where a value is expected");
	invalid("1 /* x */", "line 1, column 3: '/' where the end of the text is expected");
	invalid("{}\n{}", "line 2, column 1: '{' where the end of the text is expected");
	invalid("\xC2\xA0"
		"1",
		"line 1, column 1: byte 0xc2 where a value is expected");
	refused("1\0", 2, ERR_INVALID,
		"line 1, column 2: byte 0x00 where the end of the text is expected");
	refused("\0001", 2, ERR_INVALID, "line 1, column 1: byte 0x00 where a value is expected");
	invalid("\xEF\xBB\xBF{}", "line 1, column 1: a byte order mark: save the text without it");
}

static void test_json_refuses_words_that_are_none(void **state)
{
	(void)state;
	invalid("tru", "line 1, column 1: a value is expected; did you mean true?");
	invalid("True", "line 1, column 1: 'T' where a value is expected");
	invalid("nul", "line 1, column 1: a value is expected; did you mean null?");
	invalid("nan", "line 1, column 1: a value is expected; did you mean null?");
	invalid("fals\xC3\xA9", "line 1, column 1: a value is expected; did you mean false?");
	invalid("truex", "line 1, column 5: 'x' where the end of the text is expected");
	invalid("NaN", "line 1, column 1: 'N' where a value is expected");
	invalid("Infinity", "line 1, column 1: 'I' where a value is expected");
}

static void test_json_refuses_numbers_outside_the_grammar(void **state)
{
	(void)state;
	invalid("-", "line 1, column 2: a digit is expected");
	invalid("+1", "line 1, column 1: '+' where a value is expected");
	invalid(".5", "line 1, column 1: '.' where a value is expected");
	invalid("-.5", "line 1, column 2: a digit is expected");
	invalid("007", "line 1, column 1: a number must not start with 0");
	invalid("-01", "line 1, column 2: a number must not start with 0");
	invalid("00.5", "line 1, column 1: a number must not start with 0");
	invalid("1.", "line 1, column 3: a digit is expected after the point");
	invalid("[1.]", "line 1, column 4: a digit is expected after the point");
	invalid("1.e5", "line 1, column 3: a digit is expected after the point");
	invalid("1e", "line 1, column 3: a digit is expected in the exponent");
	invalid("1e+", "line 1, column 4: a digit is expected in the exponent");
	invalid("1E-x", "line 1, column 4: a digit is expected in the exponent");
	invalid("0x10", "line 1, column 2: 'x' where the end of the text is expected");
	invalid("1_000", "line 1, column 2: '_' where the end of the text is expected");
	invalid("--1", "line 1, column 2: a digit is expected");
	invalid("-0", "line 1, column 1: -0 is not an integer: write 0 or -0.0");
	invalid("[-0]", "line 1, column 2: -0 is not an integer: write 0 or -0.0");
}

static void test_json_refuses_numbers_it_cannot_keep(void **state)
{
	static const char too_wide[] =
		"line 1, column 1: the integer is outside +-(2^53-1): send it as a string";

	(void)state;
	invalid("9007199254740992", too_wide);
	invalid("-9007199254740992", too_wide);
	invalid("18446744073709551617", too_wide); /* wraps to 1 in 64 bits */
	invalid("1000000000000000000000000000000000000000000", too_wide);
	invalid("1e309", "line 1, column 1: the number is too large for a double");
	invalid("-1e400", "line 1, column 1: the number is too large for a double");
	invalid("[0,1.8e308]", "line 1, column 4: the number is too large for a double");
}

static void test_json_bounds_the_characters_of_a_real(void **state)
{
	char text[1103];

	(void)state;
	memset(text, '0', sizeof(text));
	memcpy(text, "0.", 2);
	text[1099] = '1';
	text[1100] = '\0';
	json_free(parsed(text));
	text[1100] = '1';
	text[1101] = '\0';
	refused(text, 1101, ERR_LIMIT,
		"line 1, column 1: the number is longer than 1100 characters");
}

static void test_json_refuses_bad_strings(void **state)
{
	(void)state;
	invalid("\"abc", "line 1, column 5: the text ends inside a string");
	invalid("\"abc\\", "line 1, column 6: the text ends inside a string");
	invalid("\"abc\\\"", "line 1, column 7: the text ends inside a string");
	invalid("\"a\\x\"", "line 1, column 3: a backslash must be followed by one of \"\\/bfnrtu");
	refused("\"\\\0\"", 4, ERR_INVALID,
		"line 1, column 2: a backslash must be followed by one of \"\\/bfnrtu");
	invalid("\"a\nb\"", "line 1, column 3: control character 0x0a in a string: escape it");
	invalid("\"\t\"", "line 1, column 2: control character 0x09 in a string: escape it");
	refused("\"\0\"", 3, ERR_INVALID,
		"line 1, column 2: control character 0x00 in a string: escape it");
	invalid("\"\x1f\"", "line 1, column 2: control character 0x1f in a string: escape it");
	invalid("\"\\u00g0\"", "line 1, column 2: \\u needs four hexadecimal digits");
	invalid("\"\\u12\"", "line 1, column 2: \\u needs four hexadecimal digits");
	invalid("\"\\u12", "line 1, column 2: \\u needs four hexadecimal digits");
	invalid("\"a\\u0000b\"", "line 1, column 3: \\u0000 is not allowed in a string");
	invalid("{\"a\\u0000b\":1}", "line 1, column 4: \\u0000 is not allowed in a string");
}

static void test_json_refuses_lone_surrogates(void **state)
{
	(void)state;
	invalid("\"\\ud800\"", "line 1, column 2: \\ud800 is half of a surrogate pair");
	invalid("\"\\udc00\"", "line 1, column 2: \\udc00 is half of a surrogate pair");
	invalid("\"\\udbff\\u0041\"", "line 1, column 2: \\udbff is half of a surrogate pair");
	invalid("\"\\ud800\\ud800\"", "line 1, column 2: \\ud800 is half of a surrogate pair");
	invalid("\"\\udc00\\ud800\"", "line 1, column 2: \\udc00 is half of a surrogate pair");
	invalid("\"\\ud83d\\n\"", "line 1, column 2: \\ud83d is half of a surrogate pair");
	invalid("\"\\ud83d", "line 1, column 2: \\ud83d is half of a surrogate pair");
	invalid("\"\\ud83d\\ude\"", "line 1, column 2: \\ud83d is half of a surrogate pair");
}

static void test_json_refuses_what_is_not_utf8(void **state)
{
	(void)state;
	invalid("\"\x80\"", "line 1, column 2: byte 0x80 is not UTF-8");
	invalid("\"\xC0\x80\"", "line 1, column 2: byte 0xc0 is not UTF-8"); /* overlong NUL */
	invalid("\"\xC1\xBF\"", "line 1, column 2: byte 0xc1 is not UTF-8");
	invalid("\"\xE0\x9F\xBF\"", "line 1, column 2: byte 0xe0 is not UTF-8");
	invalid("\"\xED\xA0\x80\"", "line 1, column 2: byte 0xed is not UTF-8"); /* U+D800 */
	invalid("\"\xF0\x8F\xBF\xBF\"", "line 1, column 2: byte 0xf0 is not UTF-8");
	invalid("\"\xF4\x90\x80\x80\"", "line 1, column 2: byte 0xf4 is not UTF-8");
	invalid("\"\xF5\x80\x80\x80\"", "line 1, column 2: byte 0xf5 is not UTF-8");
	invalid("\"\xFF\"", "line 1, column 2: byte 0xff is not UTF-8");
	invalid("\"\xC3\"", "line 1, column 2: byte 0xc3 is not UTF-8");
	invalid("\"\xE2\x82\"", "line 1, column 2: byte 0xe2 is not UTF-8");
	invalid("\"\xE2\x82", "line 1, column 2: byte 0xe2 is not UTF-8"); /* cut by the end */
	invalid("\"\xC3\xA9\xC3\xA9\xFF\"", "line 1, column 4: byte 0xff is not UTF-8");
	invalid("{\"\xFF\":1}", "line 1, column 3: byte 0xff is not UTF-8");
}

static void test_json_accepts_the_edges_of_utf8(void **state)
{
	CLEANUP(json_freep)
	struct json *json =
		parsed("[\"\x7F\",\"\xC2\x80\",\"\xDF\xBF\",\"\xE0\xA0\x80\",\"\xED\x9F\xBF\","
		       "\"\xEE\x80\x80\",\"\xEF\xBF\xBF\",\"\xF0\x90\x80\x80\","
		       "\"\xF4\x8F\xBF\xBF\",\"\\uD800\\uDC00\",\"\\udbff\\udfff\"]");

	(void)state;
	assert_int_equal(json_len(json), 11);
	assert_string_equal(json_str(json_at(json, 9)), "\xF0\x90\x80\x80");
	assert_string_equal(json_str(json_at(json, 10)), "\xF4\x8F\xBF\xBF");
}

static void test_json_refuses_duplicate_members(void **state)
{
	(void)state;
	invalid("{\"a\":1,\"a\":2}", "line 1, column 8: duplicate member \"a\"");
	invalid("{\"x\": 1,\n \"a\": 2,\n \"\\u0061\": 3, \"a\": 4}",
		"line 3, column 2: duplicate member \"a\"");
	invalid("{\"x\":1}}", "line 1, column 8: '}' where the end of the text is expected");
	invalid("[{\"k\":{\"\":1,\"b\":2,\"\":3}}]", "line 1, column 19: duplicate member \"\"");
	invalid("{\"a\\nb\":1,\"a\\nb\":1}", "line 1, column 11: duplicate member \"a?b\"");
	invalid("{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,\"h\":1,\"i\":1,"
		"\"c\":1,\"b\":1}",
		"line 1, column 56: duplicate member \"c\"");
	json_free(parsed("{\"a\":1,\"A\":2,\"a \":3}"));
	json_free(parsed("{\"a\":{\"a\":{\"a\":1}}}"));
}

static void test_json_cuts_long_names_in_messages(void **state)
{
	char text[512];
	char name[200];

	(void)state;
	memset(name, 'n', sizeof(name));
	memcpy(name + 70, "\xC3\xA9", 2); /* room is 74: cut behind it */
	name[sizeof(name) - 1] = '\0';
	snprintf(text, sizeof(text), "{\"%s\":1,\"%s\":2}", name, name);
	{
		struct json *json;
		struct err err = {0};

		assert_int_equal(json_parse_str(text, &json, &err), -1);
		assert_non_null(strstr(err.text, "nnn\xC3\xA9nn...\""));
		assert_true(strlen(err.text) < 150);
	}
	memcpy(name + 70, "nnn\xC3\xA9", 5); /* and not within it */
	snprintf(text, sizeof(text), "{\"%s\":1,\"%s\":2}", name, name);
	{
		struct json *json;
		struct err err = {0};

		assert_int_equal(json_parse_str(text, &json, &err), -1);
		assert_non_null(strstr(err.text, "nnnnnn...\""));
	}
}

static void nested(int depth, char *out)
{
	memset(out, '[', (size_t)depth);
	memset(out + depth, ']', (size_t)depth);
	out[2 * depth] = '\0';
}

static void test_json_bounds_the_depth(void **state)
{
	char text[2 * 1000 + 1];

	(void)state;
	nested(63, text);
	json_free(parsed(text));
	nested(64, text);
	json_free(parsed(text));
	nested(65, text);
	refused(text, 130, ERR_LIMIT, "line 1, column 65: nested deeper than 64");
	nested(1000, text);
	refused(text, 2000, ERR_LIMIT, "line 1, column 65: nested deeper than 64");
}

static void test_json_counts_depth_not_containers(void **state)
{
	struct buf text = BUF_INIT;

	(void)state;
	buf_add_char(&text, '[');
	for (int i = 0; i < 200; i++)
		buf_add_str(&text, "{\"a\":[]},");
	buf_add_str(&text, "[]]");
	json_free(parsed(buf_str(&text)));
	buf_clear(&text);
}

static void test_json_bounds_the_size(void **state)
{
	struct json *json = NULL;
	struct err err = {0};

	(void)state;
	assert_int_equal(json_parse("[12]", 4, 4, &json, &err), 0);
	json_free(json);
	assert_int_equal(json_parse("[12]", 4, 3, &json, &err), -1);
	assert_int_equal(err.kind, ERR_LIMIT);
	assert_string_equal(err.text, "4 bytes of JSON, at most 3 are accepted");
	assert_int_equal(json_parse(NULL, 0, 3, &json, &err), -1);
	assert_string_equal(err.text, "line 1, column 1: the text ends where a value is expected");
}

static void test_json_reads_no_byte_behind_its_input(void **state)
{
	static const char *const texts[] = {
		"[1,2]",    "{\"a\":\"\\ud83d\\ude00\"}", "true",
		"-12.5e+3", "\"\xE2\x82\xAC\"",		  "[null,{\"b\":false}]"};

	(void)state;
	/* Each beginning in memory of exactly its size: the sanitizer sees a step too far. */
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		for (size_t len = 0; len <= strlen(texts[i]); len++) {
			CLEANUP(mem_freep) char *exact = mem_copy(texts[i], len);
			struct json *json = NULL;

			if (json_parse(exact, len, len, &json, NULL) == 0)
				json_free(json);
			else
				assert_true(len < strlen(texts[i]));
		}
}

static void test_json_check_agrees_with_parse(void **state)
{
	struct err err = {0};

	(void)state;
	assert_int_equal(json_check("{}", 2, 2, &err), 0);
	assert_int_equal(json_check("{", 1, 2, &err), -1);
	assert_string_equal(err.text,
			    "line 1, column 2: the text ends where a member name in quotes is "
			    "expected");
}

static void test_json_tells_integers_from_reals(void **state)
{
	CLEANUP(json_freep)
	struct json *json =
		parsed("[0,-1,9007199254740991,-9007199254740991,1.0,1e2,1E-2,-0.0,0e0]");
	static const enum json_type types[] = {JSON_INT,  JSON_INT,  JSON_INT,	JSON_INT, JSON_REAL,
					       JSON_REAL, JSON_REAL, JSON_REAL, JSON_REAL};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		assert_int_equal(json_type(json_at(json, i)), types[i]);
	assert_true(json_int(json_at(json, 2)) == JSON_INT_MAX);
	assert_true(json_int(json_at(json, 3)) == -JSON_INT_MAX);
	assert_true(json_int(json_at(json, 4)) == 0); /* a real is no integer */
	assert_true(json_real(json_at(json, 5)) == 100.0);
	assert_true(json_real(json_at(json, 1)) == -1.0); /* an integer is a number */
	assert_true(signbit(json_real(json_at(json, 7))));
	writes(json, "[0,-1,9007199254740991,-9007199254740991,1.0,100.0,0.01,-0.0,0.0]",
	       "[0,-1,9007199254740991,-9007199254740991,1,100,0.01,0,0]");
}

static void test_json_writes_reals_in_the_shortest_form(void **state)
{
	(void)state;
	round_trip("0.1", "0.1", "0.1");
	round_trip("0.30000000000000004", "0.30000000000000004", "0.30000000000000004");
	round_trip("333333333.33333329", "333333333.3333333", "333333333.3333333");
	round_trip("420.0", "420.0", "420");
	round_trip("1E30", "1e+30", "1e+30");
	round_trip("4.50", "4.5", "4.5");
	round_trip("2e-3", "0.002", "0.002");
	round_trip("0.000001", "0.000001", "0.000001");
	round_trip("0.0000001", "1e-7", "1e-7");
	round_trip("1.25e-7", "1.25e-7", "1.25e-7");
	round_trip("-1234567.0", "-1234567.0", "-1234567");
	round_trip("1.7976931348623157e308", "1.7976931348623157e+308", "1.7976931348623157e+308");
	round_trip("2.2250738585072014e-308", "2.2250738585072014e-308", "2.2250738585072014e-308");
	round_trip("4.94065645841246544e-324", "5e-324", "5e-324");
	round_trip("5.684341886080802e-14", "5.684341886080802e-14", "5.684341886080802e-14");
	round_trip("9.5367431640625e-7", "9.5367431640625e-7", "9.5367431640625e-7");
	round_trip("1e23", "1e+23", "1e+23");
	round_trip("1e-400", "0.0", "0");
	round_trip("9007199254740991.0", "9007199254740991.0", "9007199254740991");
	/* plain digits would be an integer that our reader refuses */
	round_trip("9007199254740992.0", "9.007199254740992e+15", "9.007199254740992e+15");
	round_trip("1e20", "1e+20", "1e+20");
	round_trip("1e21", "1e+21", "1e+21");
}

static void test_json_real_digits_always_read_back(void **state)
{
	uint64_t bits = 88172645463325252u;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct buf out = BUF_INIT;
		struct json *real, *back;
		double value;

		bits ^= bits << 13;
		bits ^= bits >> 7;
		bits ^= bits << 17;
		memcpy(&value, &bits, sizeof(value));
		if (!isfinite(value))
			continue;
		real = json_new_real(value);
		json_write(real, &out);
		back = parsed(buf_str(&out));
		assert_int_equal(json_type(back), JSON_REAL);
		assert_true(json_equal(real, back));
		json_free(real);
		json_free(back);
		buf_clear(&out);
	}
}

static void test_json_escapes_only_what_must_be(void **state)
{
	(void)state;
	round_trip("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f\\u00e9\\u20ac/\"",
		   "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7F\xC3\xA9\xE2\x82\xAC/\"",
		   "\"\\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001f\x7F\xC3\xA9\xE2\x82\xAC/\"");
	round_trip("\"\\uD83D\\uDE02</script>\"", "\"\xF0\x9F\x98\x82</script>\"",
		   "\"\xF0\x9F\x98\x82</script>\"");
}

static void test_json_sorts_canonical_members(void **state)
{
	(void)state;
	round_trip(" { \"b\" : [ { \"d\":1, \"c\" : 2 } ] , \"a\":null,\"_z\":true,\"ab\":false,"
		   "\"\":\"\"} ",
		   "{\"b\":[{\"d\":1,\"c\":2}],\"a\":null,\"_z\":true,\"ab\":false,\"\":\"\"}",
		   "{\"\":\"\",\"_z\":true,\"a\":null,\"ab\":false,\"b\":[{\"c\":2,\"d\":1}]}");
	/* by UTF-16 code unit: U+1F602 (D83D) before U+E000 and U+FB33 */
	round_trip(
		"{\"\xEF\xAC\xB3\":1,\"\xEE\x80\x80\":2,\"\xF0\x9F\x98\x82\":3,\"\xED\x9F\xBF\":4}",
		"{\"\xEF\xAC\xB3\":1,\"\xEE\x80\x80\":2,\"\xF0\x9F\x98\x82\":3,\"\xED\x9F\xBF\":4}",
		"{\"\xED\x9F\xBF\":4,\"\xF0\x9F\x98\x82\":3,\"\xEE\x80\x80\":2,\"\xEF\xAC\xB3\":"
		"1}");
	/* both ways round, and in an odd number */
	round_trip("{\"\xF0\x9F\x98\x82\":3,\"\xEF\xAC\xB3\":1,\"a\":0}",
		   "{\"\xF0\x9F\x98\x82\":3,\"\xEF\xAC\xB3\":1,\"a\":0}",
		   "{\"a\":0,\"\xF0\x9F\x98\x82\":3,\"\xEF\xAC\xB3\":1}");
}

static void test_json_writes_for_people(void **state)
{
	CLEANUP(json_freep)
	struct json *json = parsed("{\"a\":[1,{\"b\":\"x\"}],\"c\":[],\"d\":{}}");
	struct buf out = BUF_INIT;

	(void)state;
	json_write_pretty(json, &out);
	assert_string_equal(buf_str(&out), "{\n  \"a\": [\n    1,\n    {\n      \"b\": \"x\"\n    }"
					   "\n  ],\n  \"c\": [],\n  \"d\": {}\n}");
	buf_clear(&out);
}

static void test_json_writes_only_utf8(void **state)
{
	struct buf out = BUF_INIT;

	(void)state;
	json_write_string("a\xFF\0b\xE2\x82", 6, &out);
	assert_string_equal(buf_str(&out), "\"a" JSON_REPLACEMENT JSON_REPLACEMENT
					   "b" JSON_REPLACEMENT JSON_REPLACEMENT "\"");
	buf_clear(&out);
}

static void test_json_builds_what_it_would_parse(void **state)
{
	CLEANUP(json_freep) struct json *json = json_object();
	CLEANUP(json_freep)
	struct json *wanted =
		parsed("{\"text\":\"new\",\"none\":null,\"n\":-3,\"r\":2.0,\"yes\":true,"
		       "\"list\":[\"a\",7,null,{\"k\":null}]}");
	struct json *list = json_array(), *inner = json_object();

	(void)state;
	json_set_str(json, "text", "old");
	json_set_str(json, "none", NULL);
	json_set_int(json, "n", -3);
	json_set_real(json, "r", 2);
	json_set_bool(json, "yes", true);
	json_set(json, "list", list);
	json_push_str(list, "a");
	json_push_int(list, 7);
	json_push(list, NULL);
	json_set_null(inner, "k");
	json_push(list, inner);
	json_set_str(json, "text", "new");
	assert_true(json_equal(json, wanted));
	assert_string_equal(json_key(json_first(json)), "text"); /* keeps its place */
	json_remove(json, "text");
	json_remove(json, "absent");
	assert_null(json_get(json, "text"));
	assert_int_equal(json_len(json), 5);
}

static void test_json_builder_replaces_what_peers_would_refuse(void **state)
{
	CLEANUP(json_freep) struct json *json = json_object();

	(void)state;
	json_set_str(json, "k\xFF", "a\x80z");
	json_set(json, "n", json_new_strn("x\0y", 3));
	writes(json,
	       "{\"k" JSON_REPLACEMENT "\":\"a" JSON_REPLACEMENT "z\",\"n\":\"x" JSON_REPLACEMENT
	       "y\"}",
	       "{\"k" JSON_REPLACEMENT "\":\"a" JSON_REPLACEMENT "z\",\"n\":\"x" JSON_REPLACEMENT
	       "y\"}");
}

static void test_json_turns_wide_integers_into_strings(void **state)
{
	CLEANUP(json_freep) struct json *json = json_array();

	(void)state;
	json_push_int(json, JSON_INT_MAX);
	json_push_int(json, JSON_INT_MAX + 1);
	json_push_int(json, -JSON_INT_MAX - 1);
	json_push_int(json, INT64_MIN);
	json_push(json, json_new_real(NAN));
	json_push(json, json_new_real(-INFINITY));
	writes(json,
	       "[9007199254740991,\"9007199254740992\",\"-9007199254740992\","
	       "\"-9223372036854775808\",null,null]",
	       "[9007199254740991,\"9007199254740992\",\"-9007199254740992\","
	       "\"-9223372036854775808\",null,null]");
}

static void test_json_answers_absent_like_null(void **state)
{
	CLEANUP(json_freep) struct json *json = parsed("{\"a\":[1],\"s\":\"x\",\"b\":true}");

	(void)state;
	assert_null(json_get(json_get(json_get(json, "x"), "y"), "z"));
	assert_true(json_is_null(NULL));
	assert_int_equal(json_type(NULL), JSON_NULL);
	assert_null(json_str(NULL));
	assert_null(json_key(NULL));
	assert_null(json_first(NULL));
	assert_null(json_next(NULL));
	assert_int_equal(json_int(NULL), 0);
	assert_true(json_real(NULL) == 0);
	assert_false(json_bool(NULL));
	assert_int_equal(json_len(NULL), 0);
	assert_null(json_at(json_get(json, "a"), 1));
	assert_null(json_get(json_get(json, "a"), "0"));
	assert_null(json_get_mut(json_get_mut(json, "a"), "0"));
	assert_null(json_get(json, "A")); /* case counts */
	assert_null(json_key(json_at(json_get(json, "a"), 0)));
	assert_string_equal(json_get_str(json, "s"), "x");
	assert_null(json_get_str(json, "a"));
	assert_int_equal(json_get_int(json_get(json, "a"), "n", 9), 9);
	assert_int_equal(json_get_int(json, "s", 9), 9);
	assert_true(json_get_bool(json, "b", false));
	assert_true(json_get_bool(json, "s", true));
	json_free(NULL);
}

static void test_json_checks_members_and_names_them(void **state)
{
	static const char *const some[] = {"s", "n", NULL};
	static const char *const all[] = {"s", "n", "o", "l", NULL};
	CLEANUP(json_freep) struct json *json = parsed("{\"s\":\"x\",\"n\":5,\"o\":{},\"l\":[]}");
	const struct json *child = NULL;
	const char *text = NULL;
	int64_t n = 0;
	struct err err = {0};

	(void)state;
	assert_int_equal(json_want_str(json, "s", &text, &err), 0);
	assert_string_equal(text, "x");
	assert_int_equal(json_want_str(json, "n", &text, &err), -1);
	assert_string_equal(err.text, "member \"n\" must be of type string, not integer");
	assert_int_equal(err.kind, ERR_INVALID);
	assert_int_equal(json_want_str(json, "q", &text, &err), -1);
	assert_string_equal(err.text, "member \"q\" is missing (string)");
	assert_int_equal(json_want_str(json_get(json, "l"), "q", &text, &err), -1);
	assert_string_equal(err.text, "an object is expected, not array");
	assert_int_equal(json_want_int(json, "n", 5, 5, &n, &err), 0);
	assert_int_equal(n, 5);
	assert_int_equal(json_want_int(json, "n", 6, 9, &n, &err), -1);
	assert_string_equal(err.text, "member \"n\" is 5, it must lie between 6 and 9");
	assert_int_equal(json_want_int(json, "n", 0, 4, &n, &err), -1);
	assert_int_equal(json_want_int(json, "s", 0, 4, &n, &err), -1);
	assert_string_equal(err.text, "member \"s\" must be of type integer, not string");
	assert_int_equal(json_want_object(json, "o", &child, &err), 0);
	assert_ptr_equal(child, json_get(json, "o"));
	assert_int_equal(json_want_object(json, "l", &child, &err), -1);
	assert_int_equal(json_want_array(json, "l", &child, &err), 0);
	assert_int_equal(json_want_array(json, "o", &child, &err), -1);
	assert_string_equal(err.text, "member \"o\" must be of type array, not object");
	assert_int_equal(json_only(json, all, &err), 0);
	assert_int_equal(json_only(json, some, &err), -1);
	assert_string_equal(err.text, "unknown member \"o\"");
	assert_int_equal(json_only(NULL, some, &err), -1);
	assert_string_equal(err.text, "an object is expected, not null");
}

static void unequal(const char *a, const char *b)
{
	CLEANUP(json_freep) struct json *x = parsed(a);
	CLEANUP(json_freep) struct json *y = parsed(b);

	assert_false(json_equal(x, y));
	assert_false(json_equal(y, x));
	assert_true(json_equal(x, x));
}

static void test_json_compares_values(void **state)
{
	CLEANUP(json_freep) struct json *a = parsed("{\"a\":1,\"b\":[1,2.5,\"x\",null,true]}");
	CLEANUP(json_freep) struct json *b = parsed("{\"b\":[1,2.5,\"x\",null,true],\"a\":1}");

	(void)state;
	assert_true(json_equal(a, b));
	assert_true(json_equal(NULL, NULL));
	unequal("1", "1.0");
	unequal("1", "2");
	unequal("1.5", "2.5");
	unequal("true", "false");
	unequal("null", "false");
	unequal("\"a\"", "\"b\"");
	unequal("[1]", "[1,2]");
	unequal("[1,2]", "[2,1]");
	unequal("{\"a\":1}", "{\"a\":1,\"b\":1}");
	unequal("{\"a\":1}", "{\"b\":1}");
	unequal("{\"a\":1}", "{\"a\":2}");
}

static void test_json_copies_are_independent_and_nameless(void **state)
{
	CLEANUP(json_freep) struct json *json = parsed("{\"a\":{\"r\":1.0,\"i\":1}}");
	struct json *copy = json_copy(json_get(json, "a"));

	(void)state;
	assert_null(json_key(copy));
	assert_true(json_equal(copy, json_get(json, "a")));
	json_set_int(copy, "i", 2);
	assert_int_equal(json_get_int(json_get(json, "a"), "i", 0), 1);
	json_set(json, "b", copy);
	writes(json, "{\"a\":{\"r\":1.0,\"i\":1},\"b\":{\"r\":1.0,\"i\":2}}",
	       "{\"a\":{\"i\":1,\"r\":1},\"b\":{\"i\":2,\"r\":1}}");
	copy = json_copy(NULL);
	assert_true(json_is_null(copy));
	json_free(copy);
}

/* Names that share a long beginning, so that a quadratic comparison could not hide. */
static void many_members(size_t count, bool twice, struct buf *out)
{
	buf_add_char(out, '{');
	for (size_t i = 0; i < count; i++)
		buf_addf(out, "\"a name with a long beginning %zu\":%zu,", i * 7919 % count, i);
	buf_add_str(out, twice ? "\"a name with a long beginning 1234\":0}" : "\"z\":0}");
}

static void test_json_parses_ten_thousand_members_quickly(void **state)
{
	CLEANUP(buf_clear) struct buf good = BUF_INIT, bad = BUF_INIT;
	int64_t start = clock_mono_us();
	struct json *json = NULL;
	struct err err = {0};

	(void)state;
	many_members(10000, false, &good);
	many_members(10000, true, &bad);
	assert_int_equal(json_parse(good.bytes, good.len, good.len, &json, &err), 0);
	assert_int_equal(json_len(json), 10001);
	assert_true(json_equal(json, json));
	json_free(json);
	assert_int_equal(json_parse(bad.bytes, bad.len, bad.len, &json, &err), -1);
	assert_non_null(
		strstr(err.text, ": duplicate member \"a name with a long beginning 1234\""));
	buf_clear(&bad);
	assert_true(clock_mono_us() - start < 2000000); /* some 20 ms; quadratic would be minutes */
}

static bool read_file(const char *path, struct buf *out)
{
	FILE *file = fopen(path, "rb");
	int c;

	if (file == NULL)
		return false;
	while ((c = getc(file)) != EOF)
		buf_add_char(out, (char)c);
	fclose(file);
	return true;
}

static void canonical_pair(const char *folder, const char *name)
{
	CLEANUP(buf_clear) struct buf input = BUF_INIT;
	CLEANUP(buf_clear) struct buf wanted = BUF_INIT;
	CLEANUP(buf_clear) struct buf got = BUF_INIT;
	CLEANUP(mem_freep) char *from = mem_format("%s/input/%s", folder, name);
	CLEANUP(mem_freep) char *to = mem_format("%s/output/%s", folder, name);
	CLEANUP(json_freep) struct json *json = NULL;
	struct err err = {0};

	assert_true(read_file(from, &input) && read_file(to, &wanted));
	if (json_parse(input.bytes, input.len, input.len, &json, &err) < 0)
		fail_msg("%s: %s", name, err.text);
	json_write_canonical(json, &got);
	assert_string_equal(buf_str(&got), buf_str(&wanted));
}

static void test_json_canonical_form_equals_published_pairs(void **state)
{
	static const char *const names[] = {"arrays.json",  "french.json", "structures.json",
					    "unicode.json", "values.json", "weird.json"};
	const char *vectors = getenv("WRIT_VECTORS");
	CLEANUP(mem_freep)
	char *folder = mem_format("%s/audit/jcs", vectors != NULL ? vectors : "");
	DIR *open = opendir(folder);

	(void)state;
	if (open == NULL) {
		mem_free(TAKE(folder)); /* skip() does not return */
		skip();
	}
	closedir(open);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		canonical_pair(folder, names[i]);
}

static void test_json_names_its_types(void **state)
{
	(void)state;
	assert_string_equal(json_type_name(JSON_NULL), "null");
	assert_string_equal(json_type_name(JSON_BOOL), "boolean");
	assert_string_equal(json_type_name(JSON_INT), "integer");
	assert_string_equal(json_type_name(JSON_REAL), "real");
	assert_string_equal(json_type_name(JSON_STRING), "string");
	assert_string_equal(json_type_name(JSON_ARRAY), "array");
	assert_string_equal(json_type_name(JSON_OBJECT), "object");
	assert_string_equal(json_type_name((enum json_type)99), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json_refuses_broken_structure),
		cmocka_unit_test(test_json_refuses_words_that_are_none),
		cmocka_unit_test(test_json_refuses_numbers_outside_the_grammar),
		cmocka_unit_test(test_json_refuses_numbers_it_cannot_keep),
		cmocka_unit_test(test_json_bounds_the_characters_of_a_real),
		cmocka_unit_test(test_json_refuses_bad_strings),
		cmocka_unit_test(test_json_refuses_lone_surrogates),
		cmocka_unit_test(test_json_refuses_what_is_not_utf8),
		cmocka_unit_test(test_json_accepts_the_edges_of_utf8),
		cmocka_unit_test(test_json_refuses_duplicate_members),
		cmocka_unit_test(test_json_cuts_long_names_in_messages),
		cmocka_unit_test(test_json_bounds_the_depth),
		cmocka_unit_test(test_json_counts_depth_not_containers),
		cmocka_unit_test(test_json_bounds_the_size),
		cmocka_unit_test(test_json_reads_no_byte_behind_its_input),
		cmocka_unit_test(test_json_check_agrees_with_parse),
		cmocka_unit_test(test_json_tells_integers_from_reals),
		cmocka_unit_test(test_json_writes_reals_in_the_shortest_form),
		cmocka_unit_test(test_json_real_digits_always_read_back),
		cmocka_unit_test(test_json_escapes_only_what_must_be),
		cmocka_unit_test(test_json_sorts_canonical_members),
		cmocka_unit_test(test_json_writes_for_people),
		cmocka_unit_test(test_json_writes_only_utf8),
		cmocka_unit_test(test_json_builds_what_it_would_parse),
		cmocka_unit_test(test_json_builder_replaces_what_peers_would_refuse),
		cmocka_unit_test(test_json_turns_wide_integers_into_strings),
		cmocka_unit_test(test_json_answers_absent_like_null),
		cmocka_unit_test(test_json_checks_members_and_names_them),
		cmocka_unit_test(test_json_compares_values),
		cmocka_unit_test(test_json_copies_are_independent_and_nameless),
		cmocka_unit_test(test_json_parses_ten_thousand_members_quickly),
		cmocka_unit_test(test_json_canonical_form_equals_published_pairs),
		cmocka_unit_test(test_json_names_its_types),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
