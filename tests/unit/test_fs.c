/* Who else could replace what lies at a path: each refusal names the folder and the command. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fs.h"

static char top[64]; /* /tmp/test_fs.XXXXXX, ours, 0700 */

static const char *below(const char *name)
{
	static char path[4][256];
	static int next;

	next = (next + 1) % 4;
	snprintf(path[next], sizeof(path[next]), "%s/%s", top, name);
	return path[next];
}

static int set_up(void **state)
{
	(void)state;
	umask(022);
	snprintf(top, sizeof(top), "/tmp/test_fs.XXXXXX");
	if (mkdtemp(top) == NULL || mkdir(below("a"), 0755) < 0 || mkdir(below("a/b"), 0700) < 0)
		return -1;
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(below("link"));
	unlink(below("a/file"));
	rmdir(below("a/b"));
	rmdir(below("a"));
	rmdir(below("it's odd"));
	return rmdir(top);
}

static void __attribute__((format(printf, 3, 4)))
assert_refused(const char *path, enum err_kind kind, const char *format, ...)
{
	char wanted[1024];
	struct err err = {0};
	va_list args;

	va_start(args, format);
	vsnprintf(wanted, sizeof(wanted), format, args);
	va_end(args);
	assert_int_equal(path_check_owned(path, &err), -1);
	assert_string_equal(err.text, wanted);
	assert_int_equal(err.kind, kind);
}

static void test_a_folder_of_ours_below_sticky_tmp_is_fine(void **state)
{
	struct err err = {0};
	char slashes[256];

	(void)state;
	assert_int_equal(path_check_owned(below("a/b"), &err), 0);
	snprintf(slashes, sizeof(slashes), "/%s//a///b/", top);
	assert_int_equal(path_check_owned(slashes, &err), 0);
	assert_int_equal(path_check_owned("/", &err), 0);
}

static void test_a_folder_that_others_may_write_is_refused(void **state)
{
	(void)state;
	chmod(below("a/b"), 0777);
	assert_refused(below("a/b"), ERR_DENIED,
		       "%s is writable by everyone (mode 0777); run: chmod go-w %s", below("a/b"),
		       below("a/b"));
	chmod(below("a/b"), 0720);
	assert_refused(below("a/b"), ERR_DENIED,
		       "%s is writable by its group (mode 0720); run: chmod g-w %s", below("a/b"),
		       below("a/b"));
	chmod(below("a/b"), 01777); /* sticky helps on the way only */
	assert_refused(below("a/b"), ERR_DENIED,
		       "%s is writable by everyone (mode 1777); run: chmod go-w %s", below("a/b"),
		       below("a/b"));
}

static void test_a_folder_on_the_way_counts_as_well(void **state)
{
	struct err err = {0};

	(void)state;
	chmod(below("a"), 0775);
	assert_refused(below("a/b"), ERR_DENIED,
		       "%s is writable by its group (mode 0775); run: chmod g-w %s", below("a"),
		       below("a"));
	chmod(below("a"), 01777);
	assert_int_equal(path_check_owned(below("a/b"), &err), 0);
}

static void test_a_folder_of_somebody_else_is_refused(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(chown(below("a"), 65534, 65534), 0);
	assert_refused(
		below("a/b"), ERR_DENIED,
		"%s belongs to user 65534, who could replace what lies in it; run: chown 0 %s",
		below("a"), below("a"));
}

static void test_links_files_and_absent_parts_are_told_apart(void **state)
{
	(void)state;
	assert_int_equal(symlink(below("a"), below("link")), 0);
	assert_refused(below("link/b"), ERR_DENIED, "%s is a link: give the folder it leads to",
		       below("link"));
	assert_refused(below("link"), ERR_DENIED, "%s is a link: give the folder it leads to",
		       below("link"));
	fclose(fopen(below("a/file"), "w"));
	assert_refused(below("a/file"), ERR_INVALID, "%s is no folder", below("a/file"));
	assert_refused(below("a/none/x"), ERR_NOT_FOUND, "%s: no such folder", below("a/none"));
}

static void test_paths_that_could_mean_something_else_are_refused(void **state)
{
	char path[PATH_MAX + 1];

	(void)state;
	assert_refused("a/b", ERR_INVALID, "a/b: wanted an absolute path");
	assert_refused("", ERR_INVALID, ": wanted an absolute path");
	assert_refused(below("a/../a"), ERR_INVALID, "%s: \".\" and \"..\" are not allowed",
		       below("a/../a"));
	assert_refused("/./tmp", ERR_INVALID, "/./tmp: \".\" and \"..\" are not allowed");
	memset(path, '/', PATH_MAX);
	path[PATH_MAX] = '\0';
	assert_refused(path, ERR_INVALID, "a path over 4095 bytes");
}

static void test_a_command_quotes_an_odd_path(void **state)
{
	(void)state;
	assert_int_equal(mkdir(below("it's odd"), 0755), 0);
	assert_int_equal(chmod(below("it's odd"), 0770), 0);
	assert_refused(below("it's odd"), ERR_DENIED,
		       "%s is writable by its group (mode 0770); run: chmod g-w '%s/it'\\''s odd'",
		       below("it's odd"), top);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		T(test_a_folder_of_ours_below_sticky_tmp_is_fine),
		T(test_a_folder_that_others_may_write_is_refused),
		T(test_a_folder_on_the_way_counts_as_well),
		T(test_a_folder_of_somebody_else_is_refused),
		T(test_links_files_and_absent_parts_are_told_apart),
		T(test_paths_that_could_mean_something_else_are_refused),
		T(test_a_command_quotes_an_odd_path),
#undef T
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
