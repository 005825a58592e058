/* The digest that lets a start do without the compile step: every kind of change makes it another,
 * every doubt makes it none. */
#include "cli/compiled.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/workspace_dir.h"

#define ACTIVE "8f434346648f6b96df89dda901c5176b10a6d83961dd3c1ac88b59b2dc327aa4"

static struct workspace_dir dir;
static char header[101]; /* of a database: text for the helper that writes files */

static void private_folder(const char *name)
{
	mkdirat(dir.fd, name, 0700);
	assert_int_equal(fchmodat(dir.fd, name, 0700, 0), 0);
}

static void put_service(const char *more)
{
	CLEANUP(mem_freep)
	char *text = mem_format("{\"sources\":{\"sales\":{\"path\":\"%s/data/sales.db\"%s}}}\n",
				dir.path, more);

	workspace_dir_put(&dir, "state/service.json", text);
}

static int set_up(void **state)
{
	(void)state;
	dir = workspace_dir_make();
	private_folder("state");
	private_folder("state/config");
	private_folder("state/config/policy");
	memset(header, 'h', 100);
	workspace_dir_put(&dir, "writ.yaml", "today: 2026-10-15\n");
	workspace_dir_put(&dir, "scopes/sales.yaml", "writ: 1\n");
	workspace_dir_put(&dir, "metrics/sales.yaml", "version: 0.2\n");
	workspace_dir_put(&dir, "data/sales.db", header);
	put_service("");
	workspace_dir_put(&dir, "state/config/users.json", "{\"users\":[{\"name\":\"uid-7\"}]}\n");
	workspace_dir_put(&dir, "state/config/setting.json", "{}\n");
	workspace_dir_put(&dir, "state/config/audit.json", "{}\n");
	workspace_dir_put(&dir, "state/config/model.json", "{}\n");
	workspace_dir_put(&dir, "state/config/policy/active", ACTIVE "\n");
	workspace_dir_put(&dir, "state/config/policy/" ACTIVE ".json", "{}\n");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	workspace_dir_remove(&dir);
	return 0;
}

static struct compiled take(void)
{
	struct compiled compiled;
	struct err err = {0};

	if (compiled_take(dir.fd, dir.path, &compiled, &err) < 0)
		fail_msg("%s", err.text);
	return compiled;
}

static bool same(struct compiled a, struct compiled b)
{
	return strcmp(a.hex, b.hex) == 0;
}

static void assert_doubt(const char *text)
{
	struct compiled compiled = {.hex = "untouched"};
	struct err err = {0};

	assert_int_equal(compiled_take(dir.fd, dir.path, &compiled, &err), -1);
	if (strstr(err.text, text) == NULL)
		fail_msg("got \"%s\", want \"%s\" in it", err.text, text);
	assert_string_equal(compiled.hex, "untouched");
}

/* A file with the same bytes is another file: its times say so. */
static void assert_noticed(const char *name, const char *text)
{
	struct compiled before = take();
	struct compiled after;

	workspace_dir_put(&dir, name, text);
	after = take();
	if (same(before, after))
		fail_msg("a change of %s is not noticed", name);
	before = take();
	assert_true(same(before, after));
}

static void test_nothing_changed_gives_the_same_digest(void **state)
{
	struct compiled first = take();
	struct compiled second = take();

	(void)state;
	assert_int_equal(strlen(first.hex), SHA256_HEX_LEN);
	assert_true(same(first, second));
}

static void test_every_file_that_is_read_or_written_counts(void **state)
{
	(void)state;
	assert_noticed("writ.yaml", "today: 2026-10-16\n");
	assert_noticed("scopes/sales.yaml", "writ: 2\n");
	assert_noticed("scopes/more.yaml", "writ: 1\n");
	assert_noticed("scopes/sales.yml", "writ: 1\n");
	assert_noticed("metrics/sales.yaml", "version: 0.1\n");
	assert_noticed("queries/sales.yaml", "verified_queries: []\n");
	assert_noticed("state/config/users.json", "{\"users\":[]}\n");
	assert_noticed("state/config/setting.json", "{\"environment\":\"x\"}\n");
	assert_noticed("state/config/audit.json", "{\"keep_s\":1}\n");
	assert_noticed("state/config/model.json", "{\"sales\":{}}\n");
	assert_noticed("state/config/policy/" ACTIVE ".json", "{\"rules\":[]}\n");
}

static void test_what_is_read_has_a_digest_of_its_own(void **state)
{
	struct compiled before = take();
	struct compiled after;

	(void)state;
	workspace_dir_put(&dir, "state/config/model.json", "{\"sales\":{}}\n");
	after = take();
	assert_string_equal(before.read, after.read);
	workspace_dir_put(&dir, "metrics/sales.yaml", "version: 0.1\n");
	after = take();
	assert_string_not_equal(before.read, after.read);
}

static void test_a_folder_that_went_is_noticed(void **state)
{
	struct compiled before = take();
	struct compiled after;

	(void)state;
	assert_int_equal(unlinkat(dir.fd, "metrics/sales.yaml", 0), 0);
	after = take();
	assert_false(same(before, after));
	before = after;
	assert_int_equal(unlinkat(dir.fd, "metrics", AT_REMOVEDIR), 0);
	after = take();
	assert_false(same(before, after));
}

static void test_a_mode_counts_with_the_same_bytes_and_times(void **state)
{
	struct compiled before = take();
	struct compiled after;

	(void)state;
	assert_int_equal(fchmodat(dir.fd, "scopes/sales.yaml", 0664, 0), 0);
	after = take();
	assert_false(same(before, after));
	before = after;
	assert_int_equal(fchmodat(dir.fd, "metrics", 0775, 0), 0);
	after = take();
	assert_false(same(before, after));
}

/* As cp -p and touch -r do; the time of the last change cannot be set. */
static void test_times_set_back_hide_nothing(void **state)
{
	struct compiled before = take();
	struct timespec times[2];
	struct compiled after;
	struct stat info;

	(void)state;
	fstatat(dir.fd, "data/sales.db", &info, 0);
	header[40] = 'x'; /* the schema cookie */
	workspace_dir_put(&dir, "data/sales.db", header);
	times[0] = info.st_atim;
	times[1] = info.st_mtim;
	assert_int_equal(utimensat(dir.fd, "data/sales.db", times, 0), 0);
	after = take();
	assert_false(same(before, after));
}

static void test_another_workspace_has_another_digest(void **state)
{
	struct compiled here = take();
	struct compiled there;
	struct err err = {0};

	(void)state;
	assert_int_equal(compiled_take(dir.fd, "/elsewhere", &there, &err), 0);
	assert_false(same(here, there));
}

static void test_a_database_that_is_being_written_is_a_doubt(void **state)
{
	(void)state;
	workspace_dir_put(&dir, "data/sales.db-wal", "");
	workspace_dir_put(&dir, "data/sales.db-journal", "");
	take();
	workspace_dir_put(&dir, "data/sales.db-wal", "x");
	assert_doubt("sales.db-wal: not empty");
	workspace_dir_put(&dir, "data/sales.db-wal", "");
	workspace_dir_put(&dir, "data/sales.db-journal", "x");
	assert_doubt("sales.db-journal: not empty");
}

static void test_a_file_that_is_no_database_is_a_doubt(void **state)
{
	(void)state;
	header[99] = '\0';
	workspace_dir_put(&dir, "data/sales.db", header);
	assert_doubt("sales.db: no database");
	unlinkat(dir.fd, "data/sales.db", 0);
	assert_doubt("leads elsewhere");
}

static void test_a_way_through_a_link_must_lead_there_still(void **state)
{
	CLEANUP(mem_freep)
	char *through = mem_format(",\"through\":\"%s/current.db\"", dir.path);

	(void)state;
	assert_int_equal(symlinkat("data/sales.db", dir.fd, "current.db"), 0);
	put_service(through);
	take();
	workspace_dir_put(&dir, "data/new.db", header);
	unlinkat(dir.fd, "current.db", 0);
	assert_int_equal(symlinkat("data/new.db", dir.fd, "current.db"), 0);
	assert_doubt("current.db: leads elsewhere");
}

static void test_names_that_the_system_resolves_are_a_doubt(void **state)
{
	(void)state;
	workspace_dir_put(&dir, "state/config/users.json", "{\"users\":[{\"name\":\"alice\"}]}\n");
	assert_doubt("users.json: holds names");
	workspace_dir_put(&dir, "state/config/users.json", "{\"users\":[]}\n");
	workspace_dir_put(&dir, "state/service.json", "{\"sources\":{},\"roles\":{}}\n");
	assert_doubt("service.json: holds roles");
}

static void test_what_is_no_plain_file_is_a_doubt(void **state)
{
	(void)state;
	assert_int_equal(symlinkat("sales.yaml", dir.fd, "scopes/link.yaml"), 0);
	assert_doubt("link.yaml: no regular file");
	unlinkat(dir.fd, "scopes/link.yaml", 0);
	assert_int_equal(mkfifoat(dir.fd, "scopes/pipe.yaml", 0600), 0);
	assert_doubt("pipe.yaml: no regular file");
}

static void test_a_policy_that_is_held_or_damaged_is_a_doubt(void **state)
{
	(void)state;
	workspace_dir_put(&dir, "state/config/policy/held", ACTIVE "\n");
	assert_doubt("a policy is held");
	unlinkat(dir.fd, "state/config/policy/held", 0);
	workspace_dir_put(&dir, "state/config/policy/active", "../x\n");
	assert_doubt("active: no digest");
	workspace_dir_put(&dir, "state/config/policy/active", "x" ACTIVE "\n");
	assert_doubt("active");
	workspace_dir_put(&dir, "state/config/policy/active", "0" ACTIVE);
	assert_doubt("active: no digest");
	unlinkat(dir.fd, "state/config/policy/active", 0);
	assert_doubt("active");
}

static void test_a_service_file_that_is_damaged_is_a_doubt(void **state)
{
	(void)state;
	workspace_dir_put(&dir, "state/service.json", "{\"sources\":");
	assert_doubt("");
	workspace_dir_put(&dir, "state/service.json", "{\"sources\":{\"sales\":{}}}\n");
	assert_doubt("sales: no path");
}

static void test_only_the_kept_digest_is_kept(void **state)
{
	struct compiled compiled = take();
	struct compiled other = compiled;
	struct err err = {0};
	struct stat info;

	(void)state;
	other.hex[63] = other.hex[63] == '0' ? '1' : '0';
	assert_false(compiled_is_kept(dir.fd, &compiled));
	assert_int_equal(compiled_keep(dir.fd, &compiled, &err), 0);
	assert_true(compiled_is_kept(dir.fd, &compiled));
	assert_false(compiled_is_kept(dir.fd, &other));
	assert_int_equal(fstatat(dir.fd, "state/config/compiled", &info, 0), 0);
	assert_int_equal(info.st_mode & 07777, 0600);
	/* To keep it changes nothing that it covers. */
	other = take();
	assert_true(same(compiled, other));
}

static void test_a_damaged_note_is_no_note(void **state)
{
	struct compiled compiled = take();
	CLEANUP(mem_freep) char *longer = mem_format("%s\n\n", compiled.hex);

	(void)state;
	workspace_dir_put(&dir, "state/config/compiled", compiled.hex); /* cut: no line */
	assert_false(compiled_is_kept(dir.fd, &compiled));
	workspace_dir_put(&dir, "state/config/compiled", longer);
	assert_false(compiled_is_kept(dir.fd, &compiled));
	longer[SHA256_HEX_LEN + 1] = '\0';
	workspace_dir_put(&dir, "state/config/compiled", longer);
	assert_true(compiled_is_kept(dir.fd, &compiled));
	workspace_dir_put(&dir, "state/config/compiled", "");
	assert_false(compiled_is_kept(dir.fd, &compiled));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_nothing_changed_gives_the_same_digest, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_every_file_that_is_read_or_written_counts,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_is_read_has_a_digest_of_its_own, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_a_folder_that_went_is_noticed, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_a_mode_counts_with_the_same_bytes_and_times,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_times_set_back_hide_nothing, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_another_workspace_has_another_digest, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_a_database_that_is_being_written_is_a_doubt,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_file_that_is_no_database_is_a_doubt, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_a_way_through_a_link_must_lead_there_still,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_names_that_the_system_resolves_are_a_doubt,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_is_no_plain_file_is_a_doubt, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_a_policy_that_is_held_or_damaged_is_a_doubt,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_service_file_that_is_damaged_is_a_doubt,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_only_the_kept_digest_is_kept, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(test_a_damaged_note_is_no_note, set_up, tear_down),
	};

	crypto_init();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("compiled", tests, NULL, NULL);
}
