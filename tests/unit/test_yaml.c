/* YAML: the tree with its places, every refusal with text and place, and hostile sizes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/yaml.h"

static struct yaml *parse(const char *text)
{
	struct yaml *root = NULL;
	struct err err = {0};

	if (yaml_parse("f.yaml", text, strlen(text), &root, &err) < 0)
		fail_msg("%s", err.text);
	return root;
}

static void test_a_tree_keeps_text_order_and_places(void **state)
{
	struct yaml *root = parse("writ: 1\n"
				  "list: [a, 'b', \"c\"]\n"
				  "größe: {tief: x}\n"
				  "text: |\n  zwei\n  zeilen\n");
	const struct yaml *list = yaml_get(root, "list");
	const struct yaml *deep = yaml_get(yaml_get(root, "größe"), "tief");

	(void)state;
	assert_int_equal(yaml_kind(root), YAML_MAP);
	assert_int_equal(yaml_len(root), 4);
	assert_string_equal(yaml_text(yaml_key(root, 0)), "writ");
	assert_string_equal(yaml_text(yaml_value(root, 0)), "1");
	assert_string_equal(yaml_text(yaml_key(root, 2)), "größe");
	assert_int_equal(yaml_kind(list), YAML_LIST);
	assert_int_equal(yaml_len(list), 3);
	assert_string_equal(yaml_text(yaml_at(list, 1)), "b");
	assert_false(yaml_quoted(yaml_at(list, 0)));
	assert_true(yaml_quoted(yaml_at(list, 1)));
	assert_int_equal(yaml_line(yaml_at(list, 2)), 2);
	assert_int_equal(yaml_column(yaml_at(list, 2)), 16);
	assert_int_equal(yaml_line(deep), 3);
	assert_int_equal(yaml_column(deep), 15); /* characters, not bytes */
	assert_string_equal(yaml_text(yaml_get(root, "text")), "zwei\nzeilen\n");
	assert_true(yaml_quoted(yaml_get(root, "text")));
	assert_string_equal(yaml_file(deep), "f.yaml");
	yaml_free(root);
}

static void test_looking_up_what_is_not_there_gives_nothing(void **state)
{
	struct yaml *root = parse("m: {a: 1}\nl: [x]\ns: t\n");

	(void)state;
	assert_null(yaml_get(root, "x"));
	assert_null(yaml_get(yaml_get(root, "l"), "x"));
	assert_null(yaml_at(yaml_get(root, "l"), 1));
	assert_null(yaml_at(yaml_get(root, "m"), 0));
	assert_null(yaml_at(yaml_get(root, "s"), 0));
	assert_null(yaml_key(root, 3));
	assert_null(yaml_value(root, 3));
	assert_null(yaml_value(yaml_get(root, "l"), 0));
	assert_null(yaml_text(yaml_get(root, "m")));
	assert_null(yaml_text(NULL));
	assert_null(yaml_get(NULL, "x"));
	assert_int_equal(yaml_len(NULL), 0);
	assert_int_equal(yaml_kind(NULL), YAML_SCALAR);
	assert_int_equal(yaml_line(NULL), 0);
	assert_int_equal(yaml_column(NULL), 0);
	assert_string_equal(yaml_file(NULL), "");
	yaml_free(root);
	yaml_free(NULL);
}

static void test_null_is_absent_empty_tilde_or_the_word(void **state)
{
	struct yaml *root = parse("a:\nb: ~\nc: null\nd: ''\ne: 'null'\nf: []\ng: nil\n");

	(void)state;
	assert_true(yaml_is_null(yaml_get(root, "a")));
	assert_true(yaml_is_null(yaml_get(root, "b")));
	assert_true(yaml_is_null(yaml_get(root, "c")));
	assert_true(yaml_is_null(yaml_get(root, "absent")));
	assert_false(yaml_is_null(yaml_get(root, "d")));
	assert_false(yaml_is_null(yaml_get(root, "e")));
	assert_false(yaml_is_null(yaml_get(root, "f")));
	assert_false(yaml_is_null(yaml_get(root, "g")));
	yaml_free(root);
}

static void test_every_refusal_has_its_text_and_place(void **state)
{
	static const struct {
		const char *text;
		const char *wanted;
	} cases[] = {
		{"rules: 1\nscope: x\nrules: 2\n",
		 "f.yaml:3:1: duplicate key \"rules\", first at line 1\n"
		 "    3 | rules: 2\n"
		 "      | ^"},
		{"a:\n  b: {x: 1, y: 2, \"x\": 3, y: 4}\n",
		 "f.yaml:2:19: duplicate key \"x\", first at line 2\n"
		 "    2 |   b: {x: 1, y: 2, \"x\": 3, y: 4}\n"
		 "      |                   ^"},
		{"a: &name 1\n", "f.yaml:1:4: anchors (&name) are not allowed: write it out\n"
				 "    1 | a: &name 1\n"
				 "      |    ^"},
		{"a: &n {b: 1}\n", "f.yaml:1:4: anchors (&name) are not allowed: write it out\n"},
		{"a: &n [1]\n", "f.yaml:1:4: anchors (&name) are not allowed: write it out\n"},
		{"a: *name\n", "f.yaml:1:4: aliases (*name) are not allowed: write it out\n"},
		{"*name : 1\n", "f.yaml:1:1: aliases (*name) are not allowed: write it out\n"},
		{"a:\n  <<: {b: 1}\n",
		 "f.yaml:2:3: merge keys (<<) are not allowed: write it out\n"},
		{"a: !!int 1\n", "f.yaml:1:4: tags (!name) are not allowed: remove it\n"},
		{"a: !x [1]\n", "f.yaml:1:4: tags (!name) are not allowed: remove it\n"},
		{"a: !x {b: 1}\n", "f.yaml:1:4: tags (!name) are not allowed: remove it\n"},
		{"a: ! x\n", "f.yaml:1:4: tags (!name) are not allowed: remove it\n"},
		{"a: 1\n---\nb: 2\n",
		 "f.yaml:2:1: a second document (---): one file, one document\n"},
		{"%YAML 1.1\n---\na: 1\n",
		 "f.yaml:1:1: directives (%) are not allowed: remove it\n"},
		{"%TAG ! tag:x,2000:\n---\na: 1\n",
		 "f.yaml:1:1: directives (%) are not allowed: remove it\n"},
		{"a:\n\tb: 1\n", "f.yaml:2:1: a tab in the indentation: use blanks\n"
				 "    2 |  b: 1\n"
				 "      | ^"},
		{"a:\n  b: 1\n \tc: 1\n", "f.yaml:3:2: a tab in the indentation: use blanks\n"},
		{"a: [x,\n\ty]\n", "f.yaml:2:1: a tab in the indentation: use blanks\n"},
		{"a: x\xff\n", "f.yaml:1:5: not UTF-8\n    1 | a: x?\n      |     ^"},
		{"a: ä\nbö: \xc0\x80\n", "f.yaml:2:5: not UTF-8\n"},
		{"a: \x01\n", "f.yaml:1:4: control characters are not allowed\n"
			      "    1 | a: ?\n"
			      "      |    ^"},
		{"a: \"x\\0y\"\n", "f.yaml:1:4: a NUL character (\\0) in a text\n"},
		{"", "f.yaml:1:1: there is nothing in this file\n    1 | \n      | ^"},
		{"# only a comment\n", "f.yaml:1:1: there is nothing in this file\n"},
		{"? [a, b]\n: 1\n", "f.yaml:1:3: a key must be a word, not a list or map\n"},
		{"{a: 1}: 2\n", "f.yaml:1:1: a key must be a word, not a list or map\n"},
		{": 1\n", "f.yaml:1:1: did not find expected key, while parsing a block mapping "
			  "that starts at line 1\n"},
		{"'': 1\n", "f.yaml:1:1: a key is missing before the colon\n"},
		{"a: [1, 2\n", "f.yaml:2:1: did not find expected ',' or ']', while parsing a flow "
			       "sequence that starts at line 1\n"},
		{"a: 'x\n", "f.yaml:2:1: found unexpected end of stream, while scanning a quoted "
			    "scalar that starts at line 1\n"},
		{"a: 1\n b: 2\n", "f.yaml:2:3: mapping values are not allowed in this context\n"
				  "    2 |  b: 2\n"
				  "      |   ^"},
		{"a: @x\n",
		 "f.yaml:1:4: found character that cannot start any token, while scanning "
		 "for the next token that starts at line 1\n"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct yaml *root = NULL;
		struct err err = {0};

		assert_int_equal(
			yaml_parse("f.yaml", cases[i].text, strlen(cases[i].text), &root, &err),
			-1);
		assert_null(root);
		assert_int_equal(err.kind, ERR_INVALID);
		if (strncmp(err.text, cases[i].wanted, strlen(cases[i].wanted)) != 0)
			fail_msg("case %zu: %s", i, err.text);
	}
}

static void test_tabs_elsewhere_are_just_white_space(void **state)
{
	struct yaml *root = parse("a:\t1\nsql: |\n  SELECT\n  \tx\n# \tcomment\n");

	(void)state;
	assert_string_equal(yaml_text(yaml_get(root, "a")), "1");
	assert_string_equal(yaml_text(yaml_get(root, "sql")), "SELECT\n\tx\n");
	yaml_free(root);
}

static void test_a_document_mark_a_bom_and_crlf_are_fine(void **state)
{
	struct yaml *root = parse("\xEF\xBB\xBF---\r\na: 1\r\nb: 2\r\n...\r\n");
	struct err err;

	(void)state;
	assert_string_equal(yaml_text(yaml_get(root, "b")), "2");
	assert_int_equal(yaml_line(yaml_get(root, "b")), 3);
	yaml_error(yaml_get(root, "b"), &err, "here");
	assert_string_equal(err.text, "f.yaml:3:4: here\n    3 | b: 2\n      |    ^");
	yaml_free(root);
}

static char *nested(int depth, const char *open, const char *close)
{
	struct buf text = BUF_INIT;

	for (int i = 0; i < depth; i++)
		buf_add_str(&text, open);
	for (int i = 0; i < depth; i++)
		buf_add_str(&text, close);
	return buf_take(&text);
}

static void test_depth_is_bounded_at_32(void **state)
{
	(void)state;
	for (int depth = 31; depth <= 33; depth++) {
		CLEANUP(mem_freep) char *text = nested(depth, "[", "]");
		struct yaml *root = NULL;
		struct err err = {0};
		int result = yaml_parse("f.yaml", text, strlen(text), &root, &err);

		assert_int_equal(result, depth <= 32 ? 0 : -1);
		if (depth > 32)
			assert_memory_equal(err.text, "f.yaml:1:33: more than 32 levels deep\n",
					    38);
		yaml_free(root);
	}
}

static void test_hostile_sizes_end_quickly(void **state)
{
	static const char *const opens[] = {"[", "{a: ", "- ", "? ", "{"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(opens); i++) {
		CLEANUP(mem_freep) char *text = nested(500000, opens[i], "");
		struct yaml *root = NULL;
		struct err err = {0};

		assert_int_equal(yaml_parse("f.yaml", text, strlen(text), &root, &err), -1);
		yaml_free(root);
	}
}

static void test_a_map_of_many_keys_is_ordered_not_searched(void **state)
{
	enum { COUNT = 100000 };
	struct buf text = BUF_INIT;
	struct yaml *root = NULL;
	struct err err = {0};

	(void)state;
	for (int i = 0; i < COUNT; i++)
		buf_addf(&text, "k%d: %d\n", (i * 7919) % COUNT, i);
	assert_int_equal(yaml_parse("f.yaml", text.bytes, text.len, &root, &err), 0);
	for (int i = 0; i < COUNT; i++) {
		char key[16];
		int64_t value = -1;

		snprintf(key, sizeof(key), "k%d", (i * 7919) % COUNT);
		assert_int_equal(yaml_want_int(yaml_get(root, key), 0, COUNT, &value, &err), 0);
		assert_int_equal(value, i);
	}
	yaml_free(root);
	buf_add_str(&text, "k0: 1\nk1: 1\n");
	assert_int_equal(yaml_parse("f.yaml", text.bytes, text.len, &root, &err), -1);
	assert_memory_equal(err.text, "f.yaml:100001:1: duplicate key \"k0\", first at line 1\n",
			    51);
	buf_clear(&text);
}

static void test_the_file_cap_holds_at_its_edge(void **state)
{
	size_t max = 4u << 20;
	char *text = mem_alloc(max + 2);

	(void)state;
	for (size_t len = max - 1; len <= max + 1; len++) {
		struct yaml *root = NULL;
		struct err err = {0};
		int result;

		memset(text, '#', len);
		memcpy(text, "a: 1\n", 5);
		result = yaml_parse("f.yaml", text, len, &root, &err);
		assert_int_equal(result, len <= max ? 0 : -1);
		if (len > max) {
			assert_int_equal(err.kind, ERR_LIMIT);
			assert_string_equal(err.text, "f.yaml: larger than 4194304 bytes");
		}
		yaml_free(root);
	}
	mem_free(text);
}

static void test_numbers_are_plain_decimals_in_range(void **state)
{
	struct yaml *root =
		parse("l: [5, 10, 11, -1, 0, 007, +5, 5.0, 1_0, 0x5, '5', '', five, [1], "
		      "{a: 1}, 1234567890123456789, -0, 5k]\n");
	const struct yaml *list = yaml_get(root, "l");
	int64_t value = 77;
	struct err err;

	(void)state;
	assert_int_equal(yaml_want_int(yaml_at(list, 0), 5, 10, &value, &err), 0);
	assert_int_equal(value, 5);
	assert_int_equal(yaml_want_int(yaml_at(list, 1), 5, 10, &value, &err), 0);
	assert_int_equal(value, 10);
	assert_int_equal(yaml_want_int(yaml_at(list, 2), 5, 10, &value, &err), -1);
	assert_memory_equal(err.text,
			    "f.yaml:1:12: wanted a whole number from 5 to 10, found \"11\"\n", 60);
	assert_int_equal(yaml_want_int(yaml_at(list, 3), -1, 10, &value, &err), 0);
	assert_int_equal(value, -1);
	assert_int_equal(yaml_want_int(yaml_at(list, 4), 0, 10, &value, &err), 0);
	assert_int_equal(value, 0);
	for (size_t i = 5; i < yaml_len(list); i++) {
		value = 77;
		assert_int_equal(
			yaml_want_int(yaml_at(list, i), INT64_MIN, INT64_MAX, &value, &err), -1);
		assert_int_equal(value, 77);
	}
	assert_int_equal(yaml_want_int(yaml_at(list, 10), 0, 9, &value, &err), -1);
	assert_non_null(strstr(err.text, "from 0 to 9, found the text \"5\"\n"));
	assert_int_equal(yaml_want_int(yaml_at(list, 13), 0, 9, &value, &err), -1);
	assert_non_null(strstr(err.text, "found a list\n"));
	assert_int_equal(yaml_want_int(yaml_at(list, 14), 0, 9, &value, &err), -1);
	assert_non_null(strstr(err.text, "found a map\n"));
	assert_int_equal(yaml_want_int(NULL, 0, 9, &value, &err), -1);
	assert_string_equal(err.text, "wanted a whole number from 0 to 9, found nothing");
	yaml_free(root);
}

static void test_booleans_are_true_and_false_only(void **state)
{
	struct yaml *root = parse("l: [true, false, yes, 'true', True, [true]]\n");
	const struct yaml *list = yaml_get(root, "l");
	bool value = false;
	struct err err;

	(void)state;
	assert_int_equal(yaml_want_bool(yaml_at(list, 0), &value, &err), 0);
	assert_true(value);
	assert_int_equal(yaml_want_bool(yaml_at(list, 1), &value, &err), 0);
	assert_false(value);
	for (size_t i = 2; i < yaml_len(list); i++)
		assert_int_equal(yaml_want_bool(yaml_at(list, i), &value, &err), -1);
	assert_int_equal(yaml_want_bool(yaml_at(list, 2), &value, &err), -1);
	assert_memory_equal(err.text, "f.yaml:1:18: wanted true or false, found \"yes\"\n", 47);
	yaml_free(root);
}

static void test_a_long_line_is_cut_around_the_place(void **state)
{
	struct buf text = BUF_INIT;
	struct yaml *root;
	struct err err;
	const char *frame, *caret;

	(void)state;
	buf_add_str(&text, "a: [");
	for (int i = 0; i < 1000; i++)
		buf_add_str(&text, "ä, ");
	buf_add_str(&text, "here, and, more]\n");
	root = parse(text.bytes);
	yaml_error(yaml_at(yaml_get(root, "a"), 1000), &err, "%s", "look");
	assert_memory_equal(err.text, "f.yaml:1:3005: look\n    1 | ...", 31);
	assert_true(strlen(err.text) < 400);
	frame = strchr(err.text, '\n') + 1;
	caret = strchr(frame, '\n') + 1;
	assert_null(strchr(caret, '\n'));
	/* the caret stands below the h of "here", counted in characters */
	{
		const char *here = strstr(frame, "here");
		size_t characters = 0;

		for (const char *c = frame; c < here; c++)
			characters += ((unsigned char)*c & 0xC0) != 0x80;
		assert_int_equal(strcspn(caret, "^"), characters);
	}
	yaml_free(root);
	buf_clear(&text);
}

static void test_no_control_character_reaches_a_terminal(void **state)
{
	struct yaml *root = parse("a: \"\\e[31m\"\n");
	struct yaml *again = NULL;
	struct err err;

	(void)state;
	yaml_error(yaml_get(root, "a"), &err, "found %s and %s", yaml_text(yaml_get(root, "a")),
		   "\xC2\x9B");
	assert_memory_equal(err.text, "f.yaml:1:4: found ?[31m and ?\n", 30);
	yaml_free(root);
	assert_int_equal(yaml_parse("f\x1b.yaml", "\"\\e\": 1\n\"\\e\": 2\n", 16, &again, &err),
			 -1);
	assert_null(strchr(err.text, '\x1b'));
}

static void test_a_file_is_loaded_by_descriptor_and_links_are_refused(void **state)
{
	char dir[] = "/tmp/test_yaml.XXXXXX";
	struct yaml *root = NULL;
	struct err err = {0};
	int dir_fd, fd;

	(void)state;
	assert_non_null(mkdtemp(dir));
	dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = openat(dir_fd, "a.yaml", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, "a: 1\n", 5), 5);
	close(fd);
	assert_int_equal(symlinkat("a.yaml", dir_fd, "link.yaml"), 0);
	assert_int_equal(yaml_load(dir_fd, "a.yaml", &root, &err), 0);
	assert_string_equal(yaml_file(root), "a.yaml");
	yaml_freep(&root);
	assert_int_equal(yaml_load(dir_fd, "link.yaml", &root, &err), -1);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_int_equal(yaml_load(dir_fd, "none.yaml", &root, &err), -1);
	assert_int_equal(err.kind, ERR_NOT_FOUND);
	unlinkat(dir_fd, "a.yaml", 0);
	unlinkat(dir_fd, "link.yaml", 0);
	close(dir_fd);
	rmdir(dir);
}

static void test_stray_keys_are_found_one_after_the_other(void **state)
{
	static const char *const keys[] = {"suite", "cases", "columns", NULL};
	CLEANUP(yaml_freep)
	struct yaml *root = parse("suite: a\ncaes: 1\ncolumns: b\nelsewhere: 2\n");
	const char *near = "set";

	(void)state;
	assert_int_equal(yaml_stray_key(root, 0, keys, &near), 1);
	assert_string_equal(near, "cases");
	assert_int_equal(yaml_stray_key(root, 2, keys, &near), 3);
	assert_null(near);
	assert_int_equal(yaml_stray_key(root, 4, keys, &near), 4);
	assert_int_equal(yaml_stray_key(root, 9, keys, &near), 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_tree_keeps_text_order_and_places),
		cmocka_unit_test(test_looking_up_what_is_not_there_gives_nothing),
		cmocka_unit_test(test_stray_keys_are_found_one_after_the_other),
		cmocka_unit_test(test_null_is_absent_empty_tilde_or_the_word),
		cmocka_unit_test(test_every_refusal_has_its_text_and_place),
		cmocka_unit_test(test_tabs_elsewhere_are_just_white_space),
		cmocka_unit_test(test_a_document_mark_a_bom_and_crlf_are_fine),
		cmocka_unit_test(test_depth_is_bounded_at_32),
		cmocka_unit_test(test_hostile_sizes_end_quickly),
		cmocka_unit_test(test_a_map_of_many_keys_is_ordered_not_searched),
		cmocka_unit_test(test_the_file_cap_holds_at_its_edge),
		cmocka_unit_test(test_numbers_are_plain_decimals_in_range),
		cmocka_unit_test(test_booleans_are_true_and_false_only),
		cmocka_unit_test(test_a_long_line_is_cut_around_the_place),
		cmocka_unit_test(test_no_control_character_reaches_a_terminal),
		cmocka_unit_test(test_a_file_is_loaded_by_descriptor_and_links_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
