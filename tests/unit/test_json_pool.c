/* The pool: bounded, reused for ever, and no system call once it stands. Its own program, since it
 * stays in use until the process ends. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/json.h"

#define POOL_BYTES (256u * 1024)

static struct json *made_before;

static void strings(size_t count, struct buf *out)
{
	buf_reset(out);
	buf_add_char(out, '[');
	for (size_t i = 0; i < count; i++)
		buf_add_str(out, i > 0 ? ",\"some text\"" : "\"some text\"");
	buf_add_char(out, ']');
}

/* 0, or the kind of the error. */
static enum err_kind outcome(const struct buf *text)
{
	struct json *json = NULL;
	struct err err = {0};

	if (json_parse(text->bytes, text->len, text->len, &json, &err) < 0)
		return err.kind;
	json_free(json);
	return ERR_NONE;
}

static void test_pool_full_is_a_limit_and_leaves_nothing_behind(void **state)
{
	CLEANUP(buf_clear) struct buf small = BUF_INIT;
	CLEANUP(buf_clear) struct buf large = BUF_INIT;

	(void)state;
	strings(100, &small);
	strings(10000, &large);
	for (int i = 0; i < 1000; i++) {
		assert_int_equal(outcome(&small), ERR_NONE);
		assert_int_equal(outcome(&large), ERR_LIMIT);
	}
}

/* The largest request that fits still fits after any number of requests of any shape. */
static void test_pool_never_fragments_across_requests(void **state)
{
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	size_t most = 0;

	(void)state;
	for (size_t count = 1; most == 0; count++) {
		strings(count, &text);
		if (outcome(&text) == ERR_LIMIT)
			most = count - 1;
	}
	assert_true(most > 1000);
	for (size_t round = 0; round < 200; round++) {
		strings(round * 7 % most, &text);
		assert_int_equal(outcome(&text), ERR_NONE);
	}
	strings(most, &text);
	assert_int_equal(outcome(&text), ERR_NONE);
	strings(most + 1, &text);
	assert_int_equal(outcome(&text), ERR_LIMIT);
}

/* Fills the pool further and further, so that each allocation of a parse fails once. */
static void test_pool_out_of_memory_anywhere_is_a_limit(void **state)
{
	static const char text[] =
		"{\"a\":[1,2.5,null,true,\"text\",[[]],{}],\"b\":1,\"c\":2,\"d\":3,\"e\":4,"
		"\"f\":5,\"g\":6,\"h\":7,\"i\":\"a longer text, which needs a larger block\"}";
	size_t refused = 0;

	(void)state;
	for (size_t filled = 1500; filled < POOL_BYTES / 128 - 1; filled++) {
		CLEANUP(json_freep) struct json *filler = json_array();
		struct json *json = NULL;
		struct err err = {0};

		for (size_t i = 0; i < filled; i++)
			json_push_int(filler, 1);
		if (json_parse_str(text, &json, &err) == 0) {
			json_free(json);
			assert_int_equal(refused, 0); /* never again once it was too full */
			continue;
		}
		refused++;
		assert_null(json);
		assert_int_equal(err.kind, ERR_LIMIT);
		assert_non_null(strstr(err.text, "needs more memory than there is for JSON"));
	}
	assert_in_range(refused, 15, 60);
}

static void test_pool_serves_every_function_that_makes_nodes(void **state)
{
	CLEANUP(buf_clear) struct buf out = BUF_INIT;

	(void)state;
	for (int i = 0; i < 3000; i++) { /* a leak of one node each would fill it */
		CLEANUP(json_freep) struct json *json = json_object();
		CLEANUP(json_freep) struct json *copy = NULL;

		json_set_str(json, "s",
			     "a text that is a little longer than one block of the pool");
		json_set_str(json, "s", "b");
		json_set(json, "n", json_array());
		json_push_int(json_get_mut(json, "n"), i);
		json_set_real(json, "gone", 1.5);
		json_remove(json, "gone");
		copy = json_copy(json);
		assert_true(json_equal(json, copy));
		buf_reset(&out);
		json_write_canonical(copy, &out);
	}
	assert_string_equal(buf_str(&out), "{\"n\":[2999],\"s\":\"b\"}");
}

static void test_pool_frees_what_was_made_before_it(void **state)
{
	(void)state;
	assert_int_equal(json_get_int(made_before, "a", 0), 1);
	json_set_str(made_before, "b", "from the pool");
	json_free(made_before);
}

static void test_pool_full_while_building_ends_the_process(void **state)
{
	pid_t child = fork();
	int status;

	(void)state;
	if (child == 0) {
		struct json *json = json_array();

		close(STDERR_FILENO);
		for (size_t i = 0; i < POOL_BYTES; i++)
			json_push_int(json, 1);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
}

static int start(void **state)
{
	(void)state;
	made_before = json_object();
	json_set_int(made_before, "a", 1);
	json_use_pool(POOL_BYTES);
	json_use_pool(16); /* does nothing */
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pool_full_is_a_limit_and_leaves_nothing_behind),
		cmocka_unit_test(test_pool_never_fragments_across_requests),
		cmocka_unit_test(test_pool_out_of_memory_anywhere_is_a_limit),
		cmocka_unit_test(test_pool_serves_every_function_that_makes_nodes),
		cmocka_unit_test(test_pool_frees_what_was_made_before_it),
		cmocka_unit_test(test_pool_full_while_building_ends_the_process),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, start, NULL);
}
