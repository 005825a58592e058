/* Small files by directory descriptor. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"

struct place {
	char path[64];
	int fd;
};

static int place_make(void **state)
{
	struct place *place = mem_alloc(sizeof(*place));

	strcpy(place->path, "/tmp/writ-test-XXXXXX");
	if (mkdtemp(place->path) == NULL)
		return -1;
	place->fd = open(place->path, O_RDONLY | O_DIRECTORY);
	*state = place;
	return place->fd < 0 ? -1 : 0;
}

static int place_remove(void **state)
{
	static const char *const names[] = {"f", "f.new", "link", "fifo"};
	struct place *place = *state;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		unlinkat(place->fd, names[i], 0);
	unlinkat(place->fd, "d", AT_REMOVEDIR);
	close(place->fd);
	rmdir(place->path);
	mem_free(place);
	return 0;
}

static void test_a_replaced_file_reads_back_and_leaves_no_temporary_file(void **state)
{
	struct place *place = *state;
	struct buf out = BUF_INIT;
	struct err err = {0};
	struct stat stat;

	assert_int_equal(file_replace_at(place->fd, "f", 0600, "one", 3, true, &err), 0);
	assert_int_equal(file_replace_at(place->fd, "f", 0600, "second", 6, false, &err), 0);
	buf_add_str(&out, "> ");
	assert_int_equal(file_read_at(place->fd, "f", 6, &out, &err), 0);
	assert_string_equal(buf_str(&out), "> second");
	assert_int_equal(fstatat(place->fd, "f", &stat, 0), 0);
	assert_int_equal(stat.st_mode & 07777, 0600);
	assert_int_not_equal(faccessat(place->fd, "f.new", F_OK, 0), 0);
	buf_clear(&out);
}

static void test_a_file_over_the_bound_is_refused_and_nothing_is_added(void **state)
{
	struct place *place = *state;
	struct buf out = BUF_INIT;
	struct err err = {0};

	assert_int_equal(file_replace_at(place->fd, "f", 0600, "1234567", 7, false, &err), 0);
	assert_int_equal(file_read_at(place->fd, "f", 6, &out, &err), -1);
	assert_int_equal(err.kind, ERR_LIMIT);
	assert_string_equal(err.text, "f: larger than 6 bytes");
	assert_int_equal(out.len, 0);
	assert_int_equal(file_read_at(place->fd, "f", 7, &out, &err), 0);
	assert_int_equal(out.len, 7);
	buf_clear(&out);
}

static void test_an_absent_file_a_link_and_a_fifo_are_told_apart(void **state)
{
	struct place *place = *state;
	struct buf out = BUF_INIT;
	struct err err = {0};

	assert_int_equal(file_read_at(place->fd, "f", 6, &out, &err), -1);
	assert_int_equal(err.kind, ERR_NOT_FOUND);
	assert_int_equal(symlinkat("/etc/passwd", place->fd, "link"), 0);
	assert_int_equal(file_read_at(place->fd, "link", 1 << 20, &out, &err), -1);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_string_equal(err.text, "link: is a link");
	assert_int_equal(mkfifoat(place->fd, "fifo", 0600), 0);
	assert_int_equal(file_read_at(place->fd, "fifo", 6, &out, &err), -1);
	assert_string_equal(err.text, "fifo: is no regular file");
	assert_int_equal(out.len, 0);
}

static void test_a_link_is_replaced_not_followed(void **state)
{
	struct place *place = *state;
	struct err err = {0};
	struct stat stat;

	assert_int_equal(symlinkat("target", place->fd, "f"), 0);
	assert_int_equal(file_replace_at(place->fd, "f", 0600, "x", 1, false, &err), 0);
	assert_int_equal(fstatat(place->fd, "f", &stat, AT_SYMLINK_NOFOLLOW), 0);
	assert_true(S_ISREG(stat.st_mode));
	assert_int_not_equal(faccessat(place->fd, "target", F_OK, 0), 0);
}

static void test_a_private_folder_is_made_and_one_open_to_others_is_refused(void **state)
{
	struct place *place = *state;
	struct err err = {0};
	int fd = -1;

	assert_int_equal(dir_open_private_at(place->fd, "d", false, &fd, &err), -1);
	assert_int_equal(err.kind, ERR_NOT_FOUND);
	assert_int_equal(dir_open_private_at(place->fd, "d", true, &fd, &err), 0);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(fchmodat(place->fd, "d", 0770, 0), 0);
	assert_int_equal(dir_open_private_at(place->fd, "d", true, &fd, &err), -1);
	assert_int_equal(err.kind, ERR_DENIED);
	assert_string_equal(err.text, "d: is open to others (mode 0770); run: chmod 700 d");
}

static void test_a_folder_of_someone_else_is_refused(void **state)
{
	struct place *place = *state;
	struct err err = {0};
	int fd = -1;

	if (geteuid() != 0)
		skip();
	assert_int_equal(mkdirat(place->fd, "d", 0700), 0);
	assert_int_equal(fchownat(place->fd, "d", 65534, 65534, 0), 0);
	assert_int_equal(dir_open_private_at(place->fd, "d", false, &fd, &err), -1);
	assert_int_equal(err.kind, ERR_DENIED);
	assert_string_equal(err.text, "d: belongs to user 65534, not to user 0 who runs this");
}

/* As another user: 1 when the folder is taken, 0 when it is refused. */
static int taken_by_nobody(struct place *place,
			   int (*open_it)(int, const char *, int *, struct err *), mode_t mode,
			   uid_t folder_owner)
{
	struct err err = {0};
	int fd = -1, result;

	assert_int_equal(fchownat(place->fd, "d", folder_owner, 65534, 0), 0);
	assert_int_equal(fchmodat(place->fd, "d", mode, 0), 0);
	assert_int_equal(setegid(65534), 0);
	assert_int_equal(seteuid(65534), 0);
	result = open_it(place->fd, "d", &fd, &err);
	assert_int_equal(seteuid(0), 0);
	assert_int_equal(setegid(0), 0);
	if (result == 0)
		close(fd);
	else
		assert_true(err.kind == ERR_DENIED || err.kind == ERR_IO);
	return result == 0;
}

static int open_private(int dir_fd, const char *name, int *ret_fd, struct err *err)
{
	return dir_open_private_at(dir_fd, name, false, ret_fd, err);
}

static void test_root_may_give_its_folder_to_a_group_and_let_others_pass(void **state)
{
	struct place *place = *state;

	if (geteuid() != 0)
		skip();
	assert_int_equal(fchmod(place->fd, 0755), 0);
	assert_int_equal(mkdirat(place->fd, "d", 0700), 0);
	assert_int_equal(taken_by_nobody(place, open_private, 0750, 0), 1);
	assert_int_equal(taken_by_nobody(place, open_private, 02750, 0), 1);
	assert_int_equal(taken_by_nobody(place, dir_pass_private_at, 0711, 0), 1);
	assert_int_equal(taken_by_nobody(place, open_private, 0711, 0), 0); /* not to be read */
	assert_int_equal(taken_by_nobody(place, open_private, 0770, 0), 0);
	assert_int_equal(taken_by_nobody(place, dir_pass_private_at, 0731, 0), 0);
	assert_int_equal(taken_by_nobody(place, dir_pass_private_at, 0715, 0), 0);
	assert_int_equal(taken_by_nobody(place, dir_pass_private_at, 0713, 0), 0);
	/* What is its own is closed to all others, and what is somebody else's is not taken. */
	assert_int_equal(taken_by_nobody(place, open_private, 0700, 65534), 1);
	assert_int_equal(taken_by_nobody(place, open_private, 0710, 65534), 0);
	assert_int_equal(taken_by_nobody(place, dir_pass_private_at, 0711, 65534), 0);
	assert_int_equal(taken_by_nobody(place, dir_pass_private_at, 0711, 65533), 0);
}

static void test_a_file_has_the_mode_asked_for_whatever_the_umask(void **state)
{
	struct place *place = *state;
	struct err err = {0};
	struct stat stat;
	mode_t before = umask(077);

	assert_int_equal(file_replace_at(place->fd, "f", 0644, "x", 1, false, &err), 0);
	umask(before);
	assert_int_equal(fstatat(place->fd, "f", &stat, 0), 0);
	assert_int_equal(stat.st_mode & 07777, 0644);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, place_make, place_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_a_replaced_file_reads_back_and_leaves_no_temporary_file),
		CASE(test_a_file_over_the_bound_is_refused_and_nothing_is_added),
		CASE(test_an_absent_file_a_link_and_a_fifo_are_told_apart),
		CASE(test_a_link_is_replaced_not_followed),
		CASE(test_root_may_give_its_folder_to_a_group_and_let_others_pass),
		CASE(test_a_file_has_the_mode_asked_for_whatever_the_umask),
		CASE(test_a_private_folder_is_made_and_one_open_to_others_is_refused),
		CASE(test_a_folder_of_someone_else_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
