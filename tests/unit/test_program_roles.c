/* Users for the programs: read from service.json, and what of state/ each is given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/program_roles.h"

#define ROLES                                                                                      \
	"{\"roles\":{\"broker\":{\"uid\":901,\"gid\":801},\"orchestrator\":{\"uid\":902,\"gid\":"  \
	"802},\"signer\":{\"uid\":903,\"gid\":803},\"sqlite\":{\"uid\":904,\"gid\":804}}}"

static char folder[64];
static int folder_fd;

static int make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/tmp/writ-roles-test.XXXXXX");
	assert_non_null(mkdtemp(folder));
	folder_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return folder_fd < 0;
}

static int remove_folder(void **state)
{
	static const char *const files[] = {"audit.pub", "state/config/users.json",
					    "state/config/policy/active", "state/audit/log.jsonl",
					    "state/audit/link"};
	static const char *const folders[] = {
		"state/config/policy", "state/config", "state/broker", "state/audit",
		"state/signer",	       "state/tasks",  "state"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		unlinkat(folder_fd, files[i], 0);
	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		unlinkat(folder_fd, folders[i], AT_REMOVEDIR);
	close(folder_fd);
	return rmdir(folder);
}

static int read_roles(const char *text, struct program_roles *roles, bool *used, struct err *err)
{
	CLEANUP(json_freep) struct json *json = NULL;

	assert_int_equal(json_parse_str(text, &json, err), 0);
	return program_roles_read(json, "/srv/sales", roles, used, err);
}

static void test_root_needs_roles_and_others_cannot_have_them(void **state)
{
	struct program_roles roles;
	struct err err = {0};
	bool used = true;

	(void)state;
	if (geteuid() != 0) {
		assert_int_equal(read_roles("{}", &roles, &used, &err), 0);
		assert_false(used);
		assert_int_equal(read_roles(ROLES, &roles, &used, &err), -1);
		assert_int_equal(err.kind, ERR_DENIED);
		assert_non_null(strstr(err.text, "only root can become"));
		return;
	}
	assert_int_equal(read_roles("{}", &roles, &used, &err), -1);
	assert_int_equal(err.kind, ERR_DENIED);
	assert_non_null(strstr(err.text, "the user who owns /srv/sales"));
	assert_non_null(strstr(err.text, "\nroles:\n  broker: writ-broker\n"));
	assert_int_equal(read_roles(ROLES, &roles, &used, &err), 0);
	assert_true(used);
	assert_int_equal(roles.users[ROLE_BROKER].uid, 901);
	assert_int_equal(roles.users[ROLE_ORCHESTRATOR].uid, 902);
	assert_int_equal(roles.users[ROLE_SIGNER].gid, 803);
	assert_int_equal(roles.users[ROLE_SQLITE].gid, 804);
	/* What was compiled is checked again: nobody becomes root by a mistake. */
	assert_int_equal(read_roles("{\"roles\":{}}", &roles, &used, &err), -1);
	assert_non_null(strstr(err.text, "roles: broker"));
	assert_int_equal(
		read_roles("{\"roles\":{\"broker\":{\"uid\":0,\"gid\":5}}}", &roles, &used, &err),
		-1);
	assert_int_equal(
		read_roles("{\"roles\":{\"broker\":{\"uid\":5,\"gid\":0}}}", &roles, &used, &err),
		-1);
}

static void is_owned(const char *path, uid_t uid, gid_t gid, mode_t mode)
{
	struct stat stat;

	assert_int_equal(fstatat(folder_fd, path, &stat, AT_SYMLINK_NOFOLLOW), 0);
	if (stat.st_uid != uid || stat.st_gid != gid || (stat.st_mode & 07777) != mode)
		fail_msg("%s: %u:%u %04o", path, stat.st_uid, stat.st_gid, stat.st_mode & 07777);
}

static void put(const char *path, mode_t mode)
{
	int fd = openat(folder_fd, path, O_WRONLY | O_CREAT | O_CLOEXEC, mode);

	assert_true(fd >= 0);
	close(fd);
}

static void test_each_folder_goes_to_the_user_of_its_program(void **state)
{
	struct program_roles roles;
	struct err err = {0};
	bool used;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(read_roles(ROLES, &roles, &used, &err), 0);
	/* What was there before, of root. */
	assert_int_equal(mkdirat(folder_fd, "state", 0700), 0);
	assert_int_equal(mkdirat(folder_fd, "state/config", 0700), 0);
	assert_int_equal(mkdirat(folder_fd, "state/config/policy", 0700), 0);
	assert_int_equal(mkdirat(folder_fd, "state/audit", 0700), 0);
	put("state/config/users.json", 0600);
	put("state/config/policy/active", 0600);
	put("state/audit/log.jsonl", 0600);
	assert_int_equal(symlinkat("/etc/passwd", folder_fd, "state/audit/link"), 0);
	for (int i = 0; i < 2; i++) { /* a second time it changes nothing */
		assert_int_equal(program_roles_give_state(folder_fd, &roles, &err), 0);
		is_owned("state", 0, 0, 0711);
		is_owned("state/config", 0, 801, 02750);
		is_owned("state/config/policy", 0, 801, 02750);
		is_owned("state/config/users.json", 0, 801, 0640);
		is_owned("state/config/policy/active", 0, 801, 0640);
		is_owned("state/broker", 901, 801, 0700);
		is_owned("state/audit", 901, 801, 0700);
		is_owned("state/audit/log.jsonl", 901, 801, 0600);
		is_owned("state/signer", 903, 803, 0700);
		is_owned("state/tasks", 902, 802, 0700);
		is_owned("audit.pub", 903, 803, 0644);
		is_owned("state/audit/link", 0, 0, 0777); /* links are nobody's */
	}
}

static void test_what_belongs_to_somebody_else_is_not_taken_over(void **state)
{
	struct program_roles roles;
	struct err err = {0};
	bool used;

	(void)state;
	if (geteuid() != 0)
		skip();
	assert_int_equal(read_roles(ROLES, &roles, &used, &err), 0);
	assert_int_equal(mkdirat(folder_fd, "state", 0711), 0);
	assert_int_equal(mkdirat(folder_fd, "state/signer", 0700), 0);
	assert_int_equal(fchownat(folder_fd, "state/signer", 777, 777, 0), 0);
	assert_int_equal(program_roles_give_state(folder_fd, &roles, &err), -1);
	assert_int_equal(err.kind, ERR_DENIED);
	assert_non_null(strstr(err.text, "signer belongs to user 777"));
	assert_non_null(strstr(err.text, "chown -R 903:803 "));
	assert_int_equal(unlinkat(folder_fd, "state/signer", AT_REMOVEDIR), 0);
	assert_int_equal(symlinkat("/etc", folder_fd, "state/signer"), 0);
	assert_int_equal(program_roles_give_state(folder_fd, &roles, &err), -1);
	assert_int_equal(unlinkat(folder_fd, "state/signer", 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_root_needs_roles_and_others_cannot_have_them),
		cmocka_unit_test_setup_teardown(test_each_folder_goes_to_the_user_of_its_program,
						make_folder, remove_folder),
		cmocka_unit_test_setup_teardown(
			test_what_belongs_to_somebody_else_is_not_taken_over, make_folder,
			remove_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
