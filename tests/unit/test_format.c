/* policy/format*.c: the canonical form of scope files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "policy/compile.h"
#include "policy/format.h"
#include "tests/unit/workspace_dir.h"

static char *formatted(const char *text)
{
	struct buf out = BUF_INIT;
	struct err err = {0};

	if (policy_format("scopes/a.yaml", text, strlen(text), &out, &err) < 0)
		fail_msg("%s", err.text);
	return buf_take(&out);
}

static void test_a_file_gets_its_form_and_keeps_every_comment(void **state)
{
	CLEANUP(mem_freep) char *text = source_file("tests/unit/fixtures/policy/messy.yaml");
	CLEANUP(mem_freep)
	char *want = source_file("tests/unit/fixtures/policy/messy.formatted.yaml");
	CLEANUP(mem_freep) char *once = formatted(text);
	CLEANUP(mem_freep) char *twice = formatted(once);

	(void)state;
	assert_string_equal(once, want);
	assert_string_equal(twice, once);
}

static void test_the_examples_have_their_form(void **state)
{
	static const char *const names[] = {"sales", "company", "widgets"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		CLEANUP(mem_freep)
		char *name = mem_format("examples/%s/scopes/%s.yaml", names[i], names[i]);
		CLEANUP(mem_freep) char *text = source_file(name);
		CLEANUP(mem_freep) char *form = formatted(text);

		assert_string_equal(form, text);
	}
}

/* Lines move, so the bundle is the same but for the places it names. */
static void drop_places(struct json *json)
{
	json_remove(json, "at");
	json_remove(json, "places");
	json_each(child,
		  json) if (json_type(child) == JSON_OBJECT || json_type(child) == JSON_ARRAY)
		drop_places((struct json *)(uintptr_t)child);
}

static char *compiled(const char *text)
{
	struct workspace_dir dir = workspace_dir_make();
	CLEANUP(problems_clear) struct problems problems = PROBLEMS_INIT;
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	CLEANUP(json_freep) struct json *json = NULL;
	struct buf out = BUF_INIT;
	struct err err = {0};

	workspace_dir_put(&dir, "scopes/a.yaml", text);
	assert_int_equal(policy_compile(dir.fd, NULL, &bytes, &problems, &err), 0);
	problems_print(&problems, stderr);
	assert_int_equal(problems.error_count, 0);
	assert_int_equal(json_parse(bytes.bytes, bytes.len, bytes.len, &json, &err), 0);
	drop_places(json);
	json_write_canonical(json, &out);
	workspace_dir_remove(&dir);
	return buf_take(&out);
}

static void test_the_compiled_policy_is_the_same(void **state)
{
	CLEANUP(mem_freep) char *text = source_file("tests/unit/fixtures/policy/messy.yaml");
	CLEANUP(mem_freep) char *form = formatted(text);
	CLEANUP(mem_freep) char *before = compiled(text);
	CLEANUP(mem_freep) char *after = compiled(form);

	(void)state;
	assert_string_equal(after, before);
}

static void becomes(const char *text, const char *want)
{
	CLEANUP(mem_freep) char *form = formatted(text);
	CLEANUP(mem_freep) char *again = formatted(form);

	assert_string_equal(form, want);
	assert_string_equal(again, form);
}

static void test_what_yaml_tells_apart_is_told_apart(void **state)
{
	(void)state;
	becomes("owner:  'it''s  # no comment'  # one\nwrit: 1\n",
		"writ: 1\nowner: 'it''s  # no comment'   # one\n");
	becomes("a: \"x \\\" # y\"\n", "a: \"x \\\" # y\"\n");
	becomes("a: [ 'b, c' ,\"d: e\",f ]\n", "a: ['b, c', \"d: e\", f]\n");
	becomes("a: { b: { c: [ ] } }\n", "a: {b: {c: []}}\n");
	becomes("a: b#c\nd: e # f\n", "a: b#c\nd: e # f\n");
	becomes("a: |\n   text\n\n   more\nb: 1\n", "a: |\n   text\n\n   more\nb: 1\n");
	becomes("a:\n- b\n- - c\n  - d\n", "a:\n  - b\n  - - c\n    - d\n");
	becomes("\n\n\na: 1\n\n\n\nb: 2\n\n\n", "a: 1\n\nb: 2\n");
	becomes("a: 1\r\nb: 2\r\n", "a: 1\nb: 2\n");
	becomes("agents:\n\nscope: x\n", "scope: x\n\nagents:\n");
}

static void test_what_is_no_yaml_is_refused_at_its_place(void **state)
{
	struct buf out = BUF_INIT;
	struct err err = {0};

	(void)state;
	assert_int_equal(policy_format("scopes/a.yaml", "a: [b\n", 6, &out, &err), -1);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_int_equal(strncmp(err.text, "scopes/a.yaml:", 14), 0);
	assert_int_equal(out.len, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_file_gets_its_form_and_keeps_every_comment),
		cmocka_unit_test(test_the_examples_have_their_form),
		cmocka_unit_test(test_the_compiled_policy_is_the_same),
		cmocka_unit_test(test_what_yaml_tells_apart_is_told_apart),
		cmocka_unit_test(test_what_is_no_yaml_is_refused_at_its_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
