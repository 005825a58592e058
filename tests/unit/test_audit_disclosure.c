/* Commitments and their opening. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "broker/audit/disclosure.h"
#include "tests/unit/vectors.h"

static struct err err;

static void test_a_disclosure_opens_to_what_went_in(void **state)
{
	static const uint8_t salt[DISCLOSURE_SALT_LEN] = {0xff, 1, 2};
	struct json *value = NULL;
	struct disclosure opened;
	struct buf text = BUF_INIT;

	(void)state;
	assert_int_equal(
		json_parse_str("{\"rows\":[[\"East\",420.0],[\"\\u0001\",-1]]}", &value, &err), 0);
	disclosure_make("result", value, salt, &text);
	assert_int_equal(disclosure_open(text.bytes, text.len, &opened, &err), 0);
	assert_string_equal(opened.name, "result");
	assert_string_equal(opened.salt, "_wECAAAAAAAAAAAAAAAAAA");
	assert_true(json_equal(opened.value, value));
	disclosure_clear(&opened);
	json_free(value);
	buf_clear(&text);
}

static void test_the_salt_changes_the_digest(void **state)
{
	static const uint8_t salts[2][DISCLOSURE_SALT_LEN] = {{1}, {2}};
	char digests[2][DISCLOSURE_DIGEST_LEN + 1];
	struct json *value = json_new_str("user_42");

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct buf text = BUF_INIT;

		disclosure_make("user", value, salts[i], &text);
		disclosure_digest(text.bytes, text.len, digests[i]);
		assert_int_equal(strlen(digests[i]), DISCLOSURE_DIGEST_LEN);
		buf_clear(&text);
	}
	assert_string_not_equal(digests[0], digests[1]);
	json_free(value);
}

static void assert_not_opened(const char *array_text)
{
	struct disclosure opened;
	struct buf text = BUF_INIT;

	base64url_write(array_text, strlen(array_text), &text);
	assert_int_equal(disclosure_open(text.bytes, text.len, &opened, &err), -1);
	assert_non_null(strstr(err.text, "disclosure: "));
	buf_clear(&text);
}

static void test_other_forms_are_refused(void **state)
{
	struct disclosure opened;

	(void)state;
	assert_not_opened("{}");
	assert_not_opened("[\"s\"]");
	assert_not_opened("[1,\"n\",2]");
	assert_not_opened("[\"s\",1,2]");
	assert_not_opened("[\"s\",\"n\",2,3]");
	assert_not_opened("[\"s\",\"n\",2] ]");
	assert_int_equal(disclosure_open("WyJz=", 5, &opened, &err), -1);
}

static void test_published_disclosures_have_the_published_digests(void **state)
{
	struct json *json = vector_json("audit/sd-jwt.json");

	(void)state;
	if (json == NULL) {
		skip();
		return;
	}
	assert_int_equal(json_len(json_get(json, "disclosures")), 5);
	json_each(item, json_get(json, "disclosures"))
	{
		const char *text = json_get_str(item, "disclosure");
		const struct json *decoded = json_get(item, "decoded");
		char digest[DISCLOSURE_DIGEST_LEN + 1];
		struct disclosure opened;

		disclosure_digest(text, strlen(text), digest);
		assert_string_equal(digest, json_get_str(item, "digest"));
		assert_int_equal(disclosure_open(text, strlen(text), &opened, &err), 0);
		assert_string_equal(opened.salt, json_str(json_at(decoded, 0)));
		assert_true(json_equal(opened.value, json_at(decoded, json_len(decoded) - 1)));
		assert_int_equal(opened.name != NULL, json_len(decoded) == 3);
		disclosure_clear(&opened);
	}
	json_free(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_disclosure_opens_to_what_went_in),
		cmocka_unit_test(test_the_salt_changes_the_digest),
		cmocka_unit_test(test_other_forms_are_refused),
		cmocka_unit_test(test_published_disclosures_have_the_published_digests),
	};

	crypto_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
