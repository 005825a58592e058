/* base/json_doc.c: what is read once and kept reads as everything else does. */
#include "base/json_doc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#define SIZE_MAX_OF_TEXT (64u << 20)

static struct json_doc *parse(const char *text, size_t len)
{
	struct json_doc *doc = NULL;
	struct err err = {0};

	if (json_doc_parse(text, len, SIZE_MAX_OF_TEXT, &doc, &err) < 0)
		fail_msg("%.60s: %s", text, err.text);
	return doc;
}

static void same_as_tree(const char *text, size_t len)
{
	CLEANUP(json_doc_freep) struct json_doc *doc = parse(text, len);
	CLEANUP(json_freep) struct json *tree = NULL;
	struct err err = {0};

	assert_int_equal(json_parse(text, len, SIZE_MAX_OF_TEXT, &tree, &err), 0);
	if (!json_equal(json_doc_root(doc), tree))
		fail_msg("%.60s differs", text);
}

static void test_a_document_is_the_tree_of_its_text(void **state)
{
	static const char *const texts[] = {
		"null",
		"true",
		"-0.5",
		"9007199254740991",
		"\"\"",
		"\"a\\u00e9\\n\\\"\xC3\xA9\\ud83d\\ude00\"",
		"[]",
		"{}",
		"[1,[2,[3,{}]],\"x\"]",
		"{\"b\":1,\"a\":{\"b\":2,\"a\":[{\"b\":3}]}}",
		/* names of one length, first and last letter, and an empty one */
		"{\"abc\":1,\"axc\":2,\"\":3,\"a\\u0062d\":4,\"abd \":5}",
		"[{\"abc\":1},{\"axc\":2},{\"abc\":3},{\"axc\":4}]",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		same_as_tree(texts[i], strlen(texts[i]));
}

static void test_a_document_is_refused_with_the_same_words(void **state)
{
	static const char *const texts[] = {
		"",
		"{",
		"[1,]",
		"{\"a\":1,\"b\":2,\"a\":3}",
		"{\"a\":1,\"a\":2}",
		"{\"a\":1,\"b\":2,\"b\":3}",
		"{\"z\":1,\"y\":1,\"x\":1,\"w\":1,\"v\":1,\"u\":1,\"t\":1,\"s\":1,\"z\":1}",
		"\"\\ud800\"",
		"\"\xFF\"",
		"01",
		"1 2",
		"\"open",
		"{\"a\" 1}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct json_doc *doc = NULL;
		struct json *tree = NULL;
		struct err of_doc = {0}, of_tree = {0};

		assert_int_equal(json_doc_parse(texts[i], strlen(texts[i]), 4096, &doc, &of_doc),
				 -1);
		assert_int_equal(json_parse(texts[i], strlen(texts[i]), 4096, &tree, &of_tree), -1);
		assert_string_equal(of_doc.text, of_tree.text);
		assert_int_equal(of_doc.kind, of_tree.kind);
		assert_null(doc);
	}
}

static void test_a_document_may_be_longer_than_any_piece_of_memory(void **state)
{
	struct buf text = BUF_INIT;

	(void)state;
	buf_add_char(&text, '[');
	for (int i = 0; i < 20000; i++)
		buf_addf(&text, "{\"at\":\"line %d\",\"name-%d\":%d},", i, i, i);
	buf_add_char(&text, '"');
	for (int i = 0; i < 300000; i++)
		buf_add_char(&text, (char)('a' + i % 26));
	buf_add_str(&text, "\"]");
	same_as_tree(text.bytes, text.len);
	buf_clear(&text);
}

static void test_a_first_value_may_be_larger_than_a_piece(void **state)
{
	struct buf text = BUF_INIT;
	struct json_doc *doc;

	(void)state;
	buf_add_char(&text, '"');
	for (int i = 0; i < 200000; i++)
		buf_add_char(&text, 'x');
	buf_add_char(&text, '"');
	doc = parse(text.bytes, text.len);
	assert_int_equal(strlen(json_str(json_doc_root(doc))), 200000);
	json_doc_free(doc);
	buf_clear(&text);
}

static void test_a_copy_outlives_its_document(void **state)
{
	static const char text[] = "{\"names\":[\"ann\",\"bob\"],\"more\":{\"names\":1}}";
	struct json_doc *doc = parse(text, strlen(text));
	struct json *copy = json_copy(json_doc_root(doc));
	CLEANUP(buf_clear) struct buf written = BUF_INIT;

	(void)state;
	json_doc_free(doc);
	json_set_str(copy, "added", "x");
	json_write(copy, &written);
	assert_string_equal(buf_str(&written),
			    "{\"names\":[\"ann\",\"bob\"],\"more\":{\"names\":1},"
			    "\"added\":\"x\"}");
	json_free(copy);
}

static void test_the_size_is_bounded(void **state)
{
	struct json_doc *doc = NULL;
	struct err err = {0};

	(void)state;
	assert_int_equal(json_doc_parse("[10]", 4, 4, &doc, &err), 0);
	json_doc_free(TAKE(doc));
	assert_int_equal(json_doc_parse("[10]", 4, 3, &doc, &err), -1);
	assert_int_equal(err.kind, ERR_LIMIT);
	json_doc_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_document_is_the_tree_of_its_text),
		cmocka_unit_test(test_a_document_is_refused_with_the_same_words),
		cmocka_unit_test(test_a_document_may_be_longer_than_any_piece_of_memory),
		cmocka_unit_test(test_a_first_value_may_be_larger_than_a_piece),
		cmocka_unit_test(test_a_copy_outlives_its_document),
		cmocka_unit_test(test_the_size_is_bounded),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("json_doc", tests, NULL, NULL);
}
