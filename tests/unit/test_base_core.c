/* Errors, memory and buffers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/seccomp.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/mem.h"

static void test_err_wrap_puts_the_doing_in_front_and_keeps_the_kind(void **state)
{
	struct err err;

	(void)state;
	assert_int_equal(err_set(&err, ERR_LIMIT, "line over %d bytes", 7), -1);
	assert_int_equal(err_wrap(&err, "bundle %s", "x"), -1);
	assert_string_equal(err.text, "bundle x: line over 7 bytes");
	assert_int_equal(err.kind, ERR_LIMIT);
}

static void test_an_err_carries_the_code_of_a_specification_until_it_is_set_anew(void **state)
{
	struct err err = {0};

	(void)state;
	assert_int_equal(err_coded(&err, ERR_INVALID, "E_X", "no %s", "way"), -1);
	assert_string_equal(err.code, "E_X");
	assert_int_equal(err_wrap(&err, "query"), -1);
	assert_string_equal(err.text, "query: no way");
	assert_string_equal(err.code, "E_X");
	assert_int_equal(err_set(&err, ERR_INVALID, "other"), -1);
	assert_null(err.code);
	err_give_code(NULL, "E_X");
}

static void test_err_errno_names_the_system_error(void **state)
{
	struct err err;

	(void)state;
	errno = ENOENT;
	err_errno(&err, "open %s", "f");
	assert_string_equal(err.text, "open f: No such file or directory");
	assert_int_equal(err.kind, ERR_IO);
}

static void test_err_text_too_long_is_cut_between_characters(void **state)
{
	char text[3 * ERR_TEXT_MAX + 1];
	struct err err;

	(void)state;
	for (size_t i = 0; i < ERR_TEXT_MAX; i++)
		memcpy(text + 3 * i, "\xE2\x82\xAC", 3); /* euro signs */
	text[3 * ERR_TEXT_MAX] = '\0';
	err_set(&err, ERR_INVALID, "%s", text);
	assert_string_equal(err.text + strlen(err.text) - 3, "...");
	assert_int_equal((strlen(err.text) - 3) % 3, 0);
}

static void test_err_kind_names_read_back(void **state)
{
	(void)state;
	for (int kind = ERR_NONE; kind <= ERR_INTERNAL; kind++)
		assert_int_equal(err_kind_from_name(err_kind_name((enum err_kind)kind)), kind);
	assert_int_equal(err_kind_from_name("no such kind"), ERR_INTERNAL);
	assert_int_equal(err_kind_from_name(NULL), ERR_INTERNAL);
}

static void test_buf_grows_drops_and_hands_over(void **state)
{
	struct buf buf = BUF_INIT;
	char *text;

	(void)state;
	assert_string_equal(buf_str(&buf), "");
	for (int i = 0; i < 1000; i++)
		buf_addf(&buf, "%03d,", i);
	assert_int_equal(buf.len, 4000);
	buf_drop(&buf, 3996);
	assert_string_equal(buf_str(&buf), "999,");
	buf_drop(&buf, 10);
	assert_string_equal(buf_str(&buf), "");
	buf_add(&buf, "a\0b", 3);
	assert_int_equal(buf.len, 3);
	text = buf_take(&buf);
	assert_memory_equal(text, "a\0b", 4);
	assert_null(buf.bytes);
	mem_free(text);
	buf_clear(&buf);
}

static void test_take_leaves_null_behind(void **state)
{
	CLEANUP(mem_freep) char *text = mem_str("x");
	char *taken = TAKE(text);

	(void)state;
	assert_null(text);
	assert_string_equal(taken, "x");
	mem_free(taken);
}

#ifndef WRIT_SANDBOX_RELAXED /* a sanitizer's own allocator asks the kernel */
/* Under a filter of read, write and exit alone. */
static void allocate_within(size_t bytes)
{
	for (size_t size = 16; size <= bytes / 4; size *= 2) {
		char *first = mem_alloc(size), *second = mem_array(1, size / 2);

		first = mem_grow(first, size + size / 4);
		first[size] = second[0];
		mem_free(first);
		mem_free(second);
	}
}

static void test_mem_reserve_spares_system_calls(void **state)
{
	pid_t child = fork();
	int status;

	(void)state;
	if (child == 0) {
		mem_reserve(8u << 20);
		if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) < 0)
			_exit(1);
		allocate_within(8u << 20);
		syscall(SYS_exit, 0); /* strict mode kills exit_group */
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_err_wrap_puts_the_doing_in_front_and_keeps_the_kind),
		cmocka_unit_test(
			test_an_err_carries_the_code_of_a_specification_until_it_is_set_anew),
		cmocka_unit_test(test_err_errno_names_the_system_error),
		cmocka_unit_test(test_err_text_too_long_is_cut_between_characters),
		cmocka_unit_test(test_err_kind_names_read_back),
		cmocka_unit_test(test_buf_grows_drops_and_hands_over),
#ifndef WRIT_SANDBOX_RELAXED
		cmocka_unit_test(test_mem_reserve_spares_system_calls),
#endif
		cmocka_unit_test(test_take_leaves_null_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
