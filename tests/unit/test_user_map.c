/* Who an operating-system user is, and what someone unknown is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "broker/passwd.h"
#include "broker/user_map.h"

static struct user_map *read_map(const char *text, struct err *err)
{
	CLEANUP(json_freep) struct json *json = NULL;
	struct user_map *map = NULL;

	assert_int_equal(json_parse_str(text, &json, err), 0);
	if (user_map_read(json, &map, err) < 0)
		return NULL;
	return map;
}

static const char two_users[] =
	"{\"owner_uid\":1000,\"users\":["
	"{\"uid\":1001,\"name\":\"alice\",\"groups\":[\"sales\",\"ops\"],\"tenant\":\"emea\"},"
	"{\"uid\":1000,\"name\":\"olga\",\"groups\":[]}]}";

static void test_a_named_user_gets_name_groups_and_tenant(void **state)
{
	struct err err = {0};
	CLEANUP(user_map_freep) struct user_map *map = read_map(two_users, &err);
	struct user user;
	struct subject subject;

	(void)state;
	assert_non_null(map);
	assert_int_equal(user_map_find(map, 1001, "whatever", &user, &err), 0);
	subject = user_subject(&user);
	assert_string_equal(subject.user, "alice");
	assert_int_equal(subject.groups.count, 2);
	assert_string_equal(subject.groups.items[1], "ops");
	assert_string_equal(subject.tenant, "emea");
	assert_false(user.owner);
	user_clear(&user);
	assert_int_equal(user_map_find(map, 1000, NULL, &user, &err), 0);
	assert_true(user.owner);
	assert_null(user.tenant);
	user_clear(&user);
}

static void test_someone_unmapped_is_denied_and_told_the_lines(void **state)
{
	struct err err = {0};
	CLEANUP(user_map_freep) struct user_map *map = read_map(two_users, &err);
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	struct user user;

	(void)state;
	assert_int_equal(user_map_find(map, 1002, "bob", &user, &err), -1);
	assert_int_equal(err.kind, ERR_DENIED);
	user_map_write_refusal(1002, "bob", &text);
	assert_non_null(strstr(buf_str(&text), "user bob (uid 1002)"));
	assert_non_null(strstr(buf_str(&text), "\nusers:\n  bob: {groups: []}\n"));
	buf_reset(&text);
	user_map_write_refusal(1002, "x\n- evil", &text);
	assert_null(strstr(buf_str(&text), "evil"));
	assert_non_null(strstr(buf_str(&text), "  uid-1002: {groups: []}"));
}

static void test_an_owner_who_is_not_mapped_is_let_in_without_rights(void **state)
{
	struct err err = {0};
	CLEANUP(user_map_freep)
	struct user_map *map = read_map("{\"owner_uid\":1000,\"users\":[{\"uid\":1001,\"name\":"
					"\"alice\",\"groups\":[\"sales\"]}]}",
					&err);
	CLEANUP(user_map_freep) struct user_map *open_map = NULL;
	struct user user, again;

	(void)state;
	assert_int_equal(user_map_find(map, 1000, "olga", &user, &err), 0);
	assert_string_equal(user.name, "olga");
	assert_true(user.owner);
	assert_false(user.mapped);
	assert_int_equal(user.group_count, 0);
	/* Nor does the owner bear the name of somebody else. */
	assert_int_equal(user_map_find(map, 1000, "alice", &again, &err), 0);
	assert_string_equal(again.name, "uid-1000");
	assert_false(again.mapped);
	user_clear(&again);
	assert_int_equal(user_map_find(map, 1001, NULL, &again, &err), 0);
	assert_true(again.mapped);
	user_clear(&again);
	/* With anyone the owner is mapped like anyone. */
	open_map = read_map("{\"owner_uid\":1000,\"users\":[],\"anyone\":{\"groups\":[]}}", &err);
	assert_int_equal(user_map_find(open_map, 1000, "olga", &again, &err), 0);
	assert_true(again.mapped);
	assert_true(again.owner);
	assert_false(user_equal(&user, &again)); /* they may ask from now on */
	user_clear(&again);
	user_clear(&user);
}

static void test_anyone_never_takes_the_name_of_another(void **state)
{
	struct err err = {0};
	CLEANUP(user_map_freep)
	struct user_map *map =
		read_map("{\"owner_uid\":1,\"users\":[{\"uid\":5,\"name\":\"alice\",\"groups\":[]},"
			 "{\"uid\":6,\"name\":\"uid-9\",\"groups\":[]}],"
			 "\"anyone\":{\"groups\":[\"sales\"]}}",
			 &err);
	struct user user;

	(void)state;
	assert_non_null(map);
	assert_int_equal(user_map_find(map, 7, "bob", &user, &err), 0);
	assert_string_equal(user.name, "bob");
	assert_string_equal(user.groups[0], "sales");
	user_clear(&user);
	assert_int_equal(user_map_find(map, 8, "alice", &user, &err), 0);
	assert_string_equal(user.name, "uid-8");
	user_clear(&user);
	assert_int_equal(user_map_find(map, 8, "uid-7", &user, &err), 0);
	assert_string_equal(user.name, "uid-8");
	user_clear(&user);
	assert_int_equal(user_map_find(map, 8, NULL, &user, &err), 0);
	assert_string_equal(user.name, "uid-8");
	user_clear(&user);
	assert_int_equal(user_map_find(map, 9, NULL, &user, &err), -1);
	assert_non_null(strstr(err.text, "another user's name"));
}

static void test_a_map_that_is_half_right_is_refused(void **state)
{
	static const struct {
		const char *text;
		const char *error;
	} cases[] = {
		{"{\"users\":[]}", "owner_uid"},
		{"{\"owner_uid\":1}", "users"},
		{"{\"owner_uid\":1,\"users\":[],\"admins\":[]}", "admins"},
		{"{\"owner_uid\":-1,\"users\":[]}", "owner_uid"},
		{"{\"owner_uid\":1,\"users\":[{\"uid\":1,\"name\":\"a b\",\"groups\":[]}]}",
		 "name"},
		{"{\"owner_uid\":1,\"users\":[{\"uid\":1,\"name\":\"\",\"groups\":[]}]}", "name"},
		{"{\"owner_uid\":1,\"users\":[{\"uid\":1,\"name\":\"a\"}]}", "groups"},
		{"{\"owner_uid\":1,\"users\":[{\"uid\":1,\"name\":\"a\",\"groups\":[7]}]}",
		 "group"},
		{"{\"owner_uid\":1,\"users\":[{\"uid\":1,\"name\":\"a\",\"groups\":[],"
		 "\"tenant\":\"\"}]}",
		 "tenant"},
		{"{\"owner_uid\":1,\"users\":[{\"uid\":1,\"name\":\"a\",\"groups\":[]},"
		 "{\"uid\":2,\"name\":\"a\",\"groups\":[]}]}",
		 "user a appears twice"},
		{"{\"owner_uid\":1,\"users\":[{\"uid\":1,\"name\":\"a\",\"groups\":[]},"
		 "{\"uid\":1,\"name\":\"b\",\"groups\":[]}]}",
		 "uid 1 appears twice"},
		{"{\"owner_uid\":1,\"users\":[],\"anyone\":{\"groups\":\"all\"}}", "anyone"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct err err = {0};

		assert_null(read_map(cases[i].text, &err));
		if (strstr(err.text, cases[i].error) == NULL)
			fail_msg("case %zu: \"%s\" lacks \"%s\"", i, err.text, cases[i].error);
	}
}

static void test_users_are_compared_by_all_their_rights(void **state)
{
	struct err err = {0};
	CLEANUP(user_map_freep) struct user_map *map = read_map(two_users, &err);
	struct user a, b;

	(void)state;
	assert_int_equal(user_map_find(map, 1001, NULL, &a, &err), 0);
	assert_int_equal(user_map_find(map, 1001, NULL, &b, &err), 0);
	assert_true(user_equal(&a, &b));
	b.groups[1][0] = 'x';
	assert_false(user_equal(&a, &b));
	b.groups[1][0] = 'o';
	b.group_count--;
	assert_false(user_equal(&a, &b));
	b.group_count++;
	mem_free(TAKE(b.tenant));
	assert_false(user_equal(&a, &b));
	user_clear(&a);
	user_clear(&b);
}

static int file_with(const char *text)
{
	char path[] = "/tmp/passwd-XXXXXX";
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	unlink(path);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	return fd;
}

static void test_a_login_is_found_by_exactly_its_uid(void **state)
{
	CLEANUP(fd_closep)
	int fd = file_with("root:x:0:0:root:/root:/bin/sh\n:x:7:7::/:\nbroken\n"
			   "bob:x:1002:100:Bob:/home/bob:/bin/sh\n"
			   "eve:x:10:1:x\nlast:x:33:");
	char name[LOGIN_MAX + 1];

	(void)state;
	assert_string_equal(passwd_login(fd, 0, name), "root");
	assert_string_equal(passwd_login(fd, 1002, name), "bob");
	assert_string_equal(passwd_login(fd, 10, name), "eve");
	assert_string_equal(passwd_login(fd, 33, name), "last");
	assert_null(passwd_login(fd, 100, name));
	assert_null(passwd_login(fd, 7, name));
	assert_null(passwd_login(fd, 2, name));
	assert_null(passwd_login(-1, 0, name));
}

static void test_a_login_over_the_bound_is_not_taken(void **state)
{
	char text[200];
	char name[LOGIN_MAX + 1];
	int fd;

	(void)state;
	for (int len = LOGIN_MAX - 1; len <= LOGIN_MAX + 1; len++) {
		snprintf(text, sizeof(text), "%0*d:x:5:5:\n", len, 0);
		fd = file_with(text);
		if (len <= LOGIN_MAX)
			assert_int_equal(strlen(passwd_login(fd, 5, name)), len);
		else
			assert_null(passwd_login(fd, 5, name));
		close(fd);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_named_user_gets_name_groups_and_tenant),
		cmocka_unit_test(test_someone_unmapped_is_denied_and_told_the_lines),
		cmocka_unit_test(test_an_owner_who_is_not_mapped_is_let_in_without_rights),
		cmocka_unit_test(test_anyone_never_takes_the_name_of_another),
		cmocka_unit_test(test_a_map_that_is_half_right_is_refused),
		cmocka_unit_test(test_users_are_compared_by_all_their_rights),
		cmocka_unit_test(test_a_login_is_found_by_exactly_its_uid),
		cmocka_unit_test(test_a_login_over_the_bound_is_not_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
