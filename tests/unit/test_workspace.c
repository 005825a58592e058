/* policy/workspace*.c: writ.yaml, and a workspace compiled into state/. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>
#include <pwd.h>

#include "base/crypto.h"
#include "policy/policy.h"
#include "policy/workspace.h"
#include "tests/unit/workspace_dir.h"

#define SCOPE                                                                                      \
	"writ: 1\nscope: s\nowner: team:s\nagents:\n"                                              \
	"  q: {id: 'urn:q', role: query, token: 5m, hands_to: [r]}\n"                              \
	"  r: {id: 'urn:r', role: report, token: 5m}\n"                                            \
	"rules:\n"                                                                                 \
	"  - {id: read, effect: allow, agents: [q], users: everyone, tools: [run_query],\n"        \
	"     data: {database: sales, tables: {orders: {columns: all}}}}\n"
#define LEAST                                                                                      \
	"sources: {sales: {sqlite: data/sales.db}}\n"                                              \
	"agents: {query: q, report: r}\n"

struct made {
	struct workspace_dir dir;
	struct problems problems;
	char *text;
	struct err err;
	int result;
};

static void start(struct made *made, const char *writ_yaml)
{
	*made = (struct made){.dir = workspace_dir_make()};
	workspace_dir_put(&made->dir, "writ.yaml", writ_yaml);
	workspace_dir_put(&made->dir, "scopes/s.yaml", SCOPE);
	workspace_dir_put(&made->dir, "data/sales.db", "any bytes");
}

static void print(struct made *made)
{
	size_t len;
	FILE *out = open_memstream(&made->text, &len);

	problems_print(&made->problems, out);
	fclose(out);
}

static void compile(struct made *made, workspace_models_fn *models)
{
	free(made->text);
	problems_clear(&made->problems);
	made->result = workspace_compile(made->dir.fd, made->dir.path, models, NULL,
					 &made->problems, &made->err);
	print(made);
}

static void made_clear(struct made *made)
{
	workspace_dir_remove(&made->dir);
	problems_clear(&made->problems);
	free(made->text);
}

static char *state_file(const struct made *made, const char *name)
{
	struct buf text = BUF_INIT;
	struct err err = {0};

	if (file_read_at(made->dir.fd, name, 1 << 20, &text, &err) < 0)
		fail_msg("%s", err.text);
	return buf_take(&text);
}

static bool exists(const struct made *made, const char *name)
{
	return faccessat(made->dir.fd, name, F_OK, 0) == 0;
}

static void file_is(const struct made *made, const char *name, const char *expected)
{
	CLEANUP(mem_freep) char *text = state_file(made, name);

	assert_string_equal(text, expected);
}

static void test_the_least_workspace_is_compiled_into_state(void **state)
{
	CLEANUP(made_clear) struct made made;
	CLEANUP(mem_freep) char *active = NULL;
	CLEANUP(mem_freep) char *bundle_text = NULL;
	CLEANUP(mem_freep) char *bundle_name = NULL;
	CLEANUP(mem_freep) char *service = NULL;
	CLEANUP(mem_freep) char *users = NULL;
	CLEANUP(bundle_freep) struct bundle *bundle = NULL;
	struct stat info;

	(void)state;
	start(&made, LEAST);
	compile(&made, NULL);
	assert_string_equal(made.text, "");
	assert_int_equal(made.result, 0);
	active = state_file(&made, "state/config/policy/active");
	assert_int_equal(strlen(active), SHA256_HEX_LEN + 1);
	active[SHA256_HEX_LEN] = '\0';
	bundle_name = mem_format("state/config/policy/%s.json", active);
	bundle_text = state_file(&made, bundle_name);
	assert_int_equal(bundle_read(bundle_text, strlen(bundle_text), &bundle, &made.err), 0);
	assert_string_equal(bundle_digest(bundle), active);
	users = mem_format("{\"owner_uid\":%u,\"users\":[]}\n", geteuid());
	file_is(&made, "state/config/users.json", users);
	file_is(&made, "state/config/model.json", "{}\n");
	service = mem_format(
		"{\"agents\":{\"query\":\"q\",\"report\":\"r\"},\"hang_after_ms\":15000,"
		"\"models\":{\"plan\":\"builtin\","
		"\"report\":\"builtin\"},\"name\":\"%s\",\"prices\":{},"
		"\"retention\":{\"tasks_s\":7776000},\"sandbox\":\"full\","
		"\"sources\":{\"sales\":{\"kind\":\"sqlite\",\"path\":\"%s/data/sales.db\"}},"
		"\"timezone\":\"UTC\",\"today\":null,\"workspace\":\"%s\"}\n",
		made.dir.path + strlen("/tmp/"), made.dir.path, made.dir.path);
	file_is(&made, "state/service.json", service);
	assert_int_equal(fstatat(made.dir.fd, "state", &info, 0), 0);
	assert_int_equal(info.st_mode & 07777, 0700);
	assert_int_equal(fstatat(made.dir.fd, "state/config/users.json", &info, 0), 0);
	assert_int_equal(info.st_mode & 07777, 0600);
}

static void test_every_key_arrives(void **state)
{
	CLEANUP(made_clear) struct made made;
	CLEANUP(mem_freep) char *service = NULL;

	(void)state;
	start(&made, LEAST "today: 2026-10-15\ntimezone: Europe/Berlin\n"
			   "models: {plan: builtin}\nprices: {scan: \"0.25 USD/TiB\"}\n"
			   "sandbox: reduced\nretention: {tasks: 48h}\n");
	compile(&made, NULL);
	assert_string_equal(made.text, "");
	service = state_file(&made, "state/service.json");
	assert_non_null(strstr(service, "\"today\":\"2026-10-15\""));
	assert_non_null(strstr(service, "\"timezone\":\"Europe/Berlin\""));
	assert_non_null(
		strstr(service, "\"prices\":{\"scan\":{\"micros\":250000,\"per\":\"TiB\"}}"));
	assert_non_null(strstr(service, "\"sandbox\":\"reduced\""));
	assert_non_null(strstr(service, "\"retention\":{\"tasks_s\":172800}"));
}

static void test_what_the_log_is_like_arrives(void **state)
{
	CLEANUP(made_clear) struct made made;
	CLEANUP(mem_freep) char *service = NULL;

	(void)state;
	start(&made, LEAST "audit:\n  segment: 1MiB\n  segment_age: 2h\n  keep: 24h\n"
			   "  auditors: [group:audit, user:carol]\n"
			   "  sinks: {siem: {syslog: /dev/log}, copy: {file: /var/log/x}}\n");
	compile(&made, NULL);
	assert_string_equal(made.text, "");
	file_is(&made, "state/config/audit.json",
		"{\"auditors\":[\"group:audit\",\"user:carol\"],\"keep_s\":86400,"
		"\"segment_bytes\":1048576,\"segment_s\":7200}\n");
	service = state_file(&made, "state/service.json");
	assert_non_null(strstr(service,
			       "\"sinks\":{\"copy\":{\"kind\":\"file\",\"path\":\"/var/log/x\"},"
			       "\"siem\":{\"kind\":\"syslog\",\"path\":\"/dev/log\"}}"));
}

static void test_mistakes_about_the_log_are_named(void **state)
{
	static const struct {
		const char *yaml, *mistake;
	} cases[] = {
		{"audit: {segment: 2GiB}\n", "the size of a segment may be 1GiB at most"},
		{"audit: {keep: 0s}\n", "the keeping of segments must be at least 1s"},
		{"audit: {auditors: [carol]}\n", "group:auditors or user:carol"},
		{"audit: {auditors: [\"user:\"]}\n", "group:auditors or user:carol"},
		{"audit: {sinks: {a: {}}}\n", "a sink is written like"},
		{"audit: {sinks: {a: {file: x.log}}}\n", "begins with /"},
		{"audit: {sinks: {a: {file: /x, syslog: /y}}}\n", "a sink is of one kind"},
		{"audit: {sinks: [a]}\n", "a name for each"},
		{"audit: {segments: 1}\n", "segments"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(mem_freep) char *text = mem_format("%s%s", LEAST, cases[i].yaml);
		CLEANUP(made_clear) struct made made;

		start(&made, text);
		compile(&made, NULL);
		if (strstr(made.text, cases[i].mistake) == NULL)
			fail_msg("%s: %s", cases[i].yaml, made.text);
	}
}

static void test_how_long_a_program_may_be_silent_has_bounds(void **state)
{
	static const struct {
		const char *line;
		const char *problem; /* NULL: fine */
	} cases[] = {
		{"hang_after: 1s\n", NULL},
		{"hang_after: 2m\n", NULL},
		{"hang_after: 999ms\n", "hang_after"},
		{"hang_after: 0s\n", "hang_after must be at least 1s"},
		{"hang_after: 121s\n", "hang_after may be 2m at most"},
		{"hang_after: soon\n", "hang_after must be a duration"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(made_clear) struct made made;
		CLEANUP(mem_freep) char *text = mem_format("%s%s", LEAST, cases[i].line);

		start(&made, text);
		compile(&made, NULL);
		if (cases[i].problem == NULL)
			assert_string_equal(made.text, "");
		else if (strstr(made.text, cases[i].problem) == NULL)
			fail_msg("%s gave \"%s\"", cases[i].line, made.text);
	}
}

static void test_a_retention_has_bounds(void **state)
{
	static const struct {
		const char *yaml, *mistake;
	} cases[] = {
		{"retention: {tasks: 1s}\n", NULL},
		{"retention: {tasks: 87600h}\n", NULL},
		{"retention: {tasks: 87601h}\n", "the retention of tasks may be 87600h at most"},
		{"retention: {tasks: 0s}\n", "the retention of tasks must be at least 1s"},
		{"retention: {tasks: 90d}\n", "the retention of tasks must be a duration"},
		{"retention: {answers: 90h}\n", "answers"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(mem_freep) char *text = mem_format("%s%s", LEAST, cases[i].yaml);
		CLEANUP(made_clear) struct made made;

		start(&made, text);
		compile(&made, NULL);
		if (cases[i].mistake == NULL)
			assert_string_equal(made.text, "");
		else
			assert_non_null(strstr(made.text, cases[i].mistake));
	}
}

static void test_prices_are_exact(void **state)
{
	static const struct {
		const char *price;
		const char *json;
	} cases[] = {{"5 USD/TB", "{\"micros\":5000000,\"per\":\"TB\"}"},
		     {"0.000001 USD/GB", "{\"micros\":1,\"per\":\"GB\"}"},
		     {"6.5 USD/GiB", "{\"micros\":6500000,\"per\":\"GiB\"}"},
		     {"999999999 USD/TB", "{\"micros\":999999999000000,\"per\":\"TB\"}"},
		     {"1000000000 USD/TB", NULL},
		     {"0.0000001 USD/TB", NULL},
		     {"5. USD/TB", NULL},
		     {".5 USD/TB", NULL},
		     {"5 EUR/TB", NULL},
		     {"5 USD/MB", NULL},
		     {"5 USD/TB ", NULL},
		     {"-5 USD/TB", NULL},
		     {"5", NULL}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(made_clear) struct made made;
		CLEANUP(mem_freep)
		char *text = mem_format("%sprices: {scan: \"%s\"}\n", LEAST, cases[i].price);
		CLEANUP(mem_freep) char *service = NULL;

		start(&made, text);
		compile(&made, NULL);
		if (cases[i].json == NULL) {
			assert_non_null(strstr(made.text, "a price is written like"));
			continue;
		}
		assert_string_equal(made.text, "");
		service = state_file(&made, "state/service.json");
		assert_non_null(strstr(service, cases[i].json));
	}
}

static void test_tokens_have_prices_of_their_own(void **state)
{
	CLEANUP(made_clear) struct made made;
	CLEANUP(mem_freep) char *service = NULL;

	(void)state;
	start(&made, LEAST
	      "prices: {input_tokens: \"5 USD/million\", output_tokens: \"25 USD/million\"}\n");
	compile(&made, NULL);
	assert_string_equal(made.text, "");
	service = state_file(&made, "state/service.json");
	assert_non_null(strstr(
		service, "\"prices\":{\"input_tokens\":{\"micros\":5000000,\"per\":\"million\"},"
			 "\"output_tokens\":{\"micros\":25000000,\"per\":\"million\"}}"));
	made_clear(&made);
	start(&made, LEAST "prices: {input_tokens: \"5 USD/TB\"}\n");
	compile(&made, NULL);
	assert_non_null(strstr(made.text, "a price of tokens is written like"));
}

static void test_users_become_uids(void **state)
{
	CLEANUP(made_clear) struct made made;
	CLEANUP(mem_freep) char *expected = NULL;
	const struct passwd *nobody = getpwnam("nobody");

	(void)state;
	if (nobody == NULL)
		skip();
	expected =
		mem_format("{\"anyone\":{\"groups\":[\"sales\"]},\"owner_uid\":%u,\"users\":[{"
			   "\"groups\":[\"hr\",\"sales\"],\"name\":\"nobody\",\"tenant\":\"emea\","
			   "\"uid\":%u}]}\n",
			   geteuid(), nobody->pw_uid);
	start(&made, LEAST "users:\n  anyone: {groups: [sales]}\n"
			   "  nobody: {groups: [hr, sales], tenant: emea}\n");
	compile(&made, NULL);
	assert_string_equal(made.text, "");
	file_is(&made, "state/config/users.json", expected);
}

static void test_a_user_without_a_name_is_named_by_number(void **state)
{
	CLEANUP(made_clear) struct made made;
	CLEANUP(mem_freep) char *expected = NULL;

	(void)state;
	expected = mem_format("{\"owner_uid\":%u,\"users\":[{\"groups\":[],\"name\":"
			      "\"uid-4294967294\",\"uid\":4294967294}]}\n",
			      geteuid());
	start(&made, LEAST "users:\n  uid-4294967294: {groups: []}\n");
	compile(&made, NULL);
	assert_string_equal(made.text, "");
	file_is(&made, "state/config/users.json", expected);
}

static void says(const char *writ_yaml, const char *problem)
{
	CLEANUP(made_clear) struct made made;

	start(&made, writ_yaml);
	compile(&made, NULL);
	assert_int_equal(made.result, 0);
	if (strstr(made.text, problem) == NULL)
		fail_msg("said \"%s\", not \"%s\"", made.text, problem);
	assert_false(exists(&made, "state"));
}

static void test_mistakes_are_shown_at_their_place(void **state)
{
	(void)state;
	says(LEAST "user: {}\n",
	     "writ.yaml:3:1: unknown key of writ.yaml \"user\": did you mean \"users\"?\n"
	     "    3 | user: {}\n      | ^");
	says(LEAST "users: {no-such-user-here: {groups: [a]}}\n",
	     "writ.yaml:3:9: this machine has no user \"no-such-user-here\"");
	says(LEAST "users: {uid-4294967295: {groups: [a]}}\n", "no user \"uid-4294967295\"");
	says(LEAST "users: {uid-01: {groups: [a]}}\n", "no user \"uid-01\"");
	says(LEAST "users: {uid--1: {groups: [a]}}\n", "no user \"uid--1\"");
	says(LEAST "users: {uid-: {groups: [a]}}\n", "no user \"uid-\"");
	says(LEAST "users: {uid-7x: {groups: [a]}}\n", "no user \"uid-7x\"");
	says(LEAST "users: {uid-99999999999999999999: {groups: [a]}}\n", "no user");
	says(LEAST "users: {anyone: {group: [a]}}\n", "did you mean \"groups\"?");
	says(LEAST "users: {anyone: {groups: sales}}\n", "groups must be a list");
	says(LEAST "users: {anyone: {groups: [a, a]}}\n", "\"a\" stands twice");
	says(LEAST "users: {anyone: {groups: [\"a b\"]}}\n", "a group: letters");
	says(LEAST "users: [alice]\n", "users must be a map");
	says(LEAST "today: tomorrow\n", "writ.yaml:3:8: today must be a date like 2026-10-15");
	says(LEAST "today: 2026-02-29\n", "today must be a date");
	says(LEAST "timezone: Mars\n", "unknown timezone \"Mars\"");
	says(LEAST "models: {plan: bultin}\n",
	     "unknown model \"bultin\": did you mean \"builtin\"?");
	says(LEAST "sandbox: none\n", "unknown sandbox \"none\": there are full, reduced");
	says("agents: {query: q, report: r}\n", "writ.yaml has no \"sources\"");
	says("sources: {}\nagents: {query: q, report: r}\n", "sources must be a map");
	says("sources: {sales: {sqlite: data/sales.db}}\n", "writ.yaml has no \"agents\"");
	says("sources: {sales: {sqlite: data/sales.db}}\nagents: {query: q}\n",
	     "agents has no \"report\"");
	says("sources: {sales: {sqlite: data/sales.db}}\nagents: {query: qq, report: q}\n",
	     "writ.yaml:2:17: unknown agent \"qq\": did you mean \"q\"?");
	says("sources: {sales: {sqlite: data/sales.db}}\nagents: {query: q, report: q}\n",
	     "writ.yaml:2:28: agent q has the role query (scopes/s.yaml:5), not report");
	says("- 1\n", "writ.yaml must be a map");
	says("a: [\n", "writ.yaml:2:1:");
	says("", "there is nothing in this file");
}

static void test_rules_name_only_sources_that_exist(void **state)
{
	(void)state;
	says("sources: {sale: {sqlite: data/sales.db}}\nagents: {query: q, report: r}\n",
	     "scopes/s.yaml:9:23: unknown database \"sales\": did you mean \"sale\"?");
}

static void source_says(const char *path, const char *problem)
{
	CLEANUP(made_clear) struct made made;
	CLEANUP(mem_freep)
	char *text = mem_format(
		"agents: {query: q, report: r}\nsources:\n  sales: {sqlite: '%s'}\n", path);

	start(&made, text);
	workspace_dir_put(&made.dir, "root.db", "");
	workspace_dir_put(&made.dir, "metrics/x.db", "");
	assert_int_equal(symlinkat("/etc/hostname", made.dir.fd, "data/out.db"), 0);
	assert_int_equal(symlinkat("sales.db", made.dir.fd, "data/in.db"), 0);
	compile(&made, NULL);
	if (problem == NULL)
		assert_string_equal(made.text, "");
	else if (strstr(made.text, problem) == NULL)
		fail_msg("said \"%s\", not \"%s\"", made.text, problem);
}

static void test_sources_lie_in_a_folder_of_their_own(void **state)
{
	(void)state;
	source_says("data/sales.db", NULL);
	source_says("./data/sales.db", NULL);
	source_says("data/in.db", NULL);
	source_says("data/none.db", "writ.yaml:3:19: data/none.db: there is no such file");
	source_says("data", "no regular file");
	source_says("root.db", "data must lie in a folder of its own");
	source_says("metrics/x.db", "data must lie in a folder of its own");
	source_says("data/out.db", "a link leads out of the workspace, to /etc/hostname");
	source_says("../data/sales.db", "\"..\" leads out of the workspace");
	source_says("data/../data/sales.db", "\"..\" leads out of the workspace");
	source_says("", "must be a text");
}

static void test_two_sources_share_no_folder(void **state)
{
	CLEANUP(made_clear) struct made made;

	(void)state;
	start(&made, "agents: {query: q, report: r}\nsources:\n  sales: {sqlite: data/sales.db}\n"
		     "  hr: {sqlite: data/hr/hr.db}\n");
	workspace_dir_put(&made.dir, "data/hr/hr.db", "");
	compile(&made, NULL);
	assert_non_null(strstr(made.text, "writ.yaml:4:16: source sales lies in the same folder"));
}

static void test_with_mistakes_what_was_in_force_stays(void **state)
{
	CLEANUP(made_clear) struct made made;
	CLEANUP(mem_freep) char *before = NULL;
	CLEANUP(mem_freep) char *after = NULL;

	(void)state;
	start(&made, LEAST);
	compile(&made, NULL);
	before = state_file(&made, "state/config/policy/active");
	workspace_dir_put(&made.dir, "scopes/s.yaml", SCOPE "rule: []\n");
	compile(&made, NULL);
	assert_int_equal(made.problems.error_count, 1);
	after = state_file(&made, "state/config/policy/active");
	assert_string_equal(before, after);
}

static void test_unchanged_files_are_left_alone(void **state)
{
	static const char *const names[] = {"state/config/policy/active", "state/config/users.json",
					    "state/service.json", "state/config/model.json"};
	CLEANUP(made_clear) struct made made;
	struct stat before[4];
	struct stat after;

	(void)state;
	start(&made, LEAST);
	compile(&made, NULL);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		fstatat(made.dir.fd, names[i], &before[i], 0);
	compile(&made, NULL);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		fstatat(made.dir.fd, names[i], &after, 0);
		assert_int_equal(after.st_ino, before[i].st_ino);
	}
	workspace_dir_put(&made.dir, "writ.yaml", LEAST "today: 2026-10-15\n");
	compile(&made, NULL);
	fstatat(made.dir.fd, names[2], &after, 0);
	assert_int_not_equal(after.st_ino, before[2].st_ino);
	fstatat(made.dir.fd, names[0], &after, 0);
	assert_int_equal(after.st_ino, before[0].st_ino);
}

static void test_a_workspace_of_others_is_refused(void **state)
{
	CLEANUP(made_clear) struct made made;

	(void)state;
	start(&made, LEAST);
	fchmod(made.dir.fd, 0777);
	compile(&made, NULL);
	assert_int_equal(made.result, -1);
	assert_non_null(strstr(made.err.text, "writable by everyone"));
	fchmod(made.dir.fd, 0755);
	assert_int_equal(fchmodat(made.dir.fd, "writ.yaml", 0666, 0), 0);
	compile(&made, NULL);
	assert_non_null(strstr(made.text, "writ.yaml can be written by others"));
	assert_int_equal(fchmodat(made.dir.fd, "writ.yaml", 0644, 0), 0);
	mkdirat(made.dir.fd, "state", 0755);
	compile(&made, NULL);
	assert_int_equal(made.result, -1);
	assert_non_null(strstr(made.err.text, "state: is open to others"));
}

static int models_fine(int workspace_fd, const char *const *sources, size_t source_count,
		       struct json **ret_models, struct buf *mistakes, struct err *err)
{
	(void)workspace_fd;
	(void)mistakes;
	(void)err;
	*ret_models = json_object();
	for (size_t i = 0; i < source_count; i++)
		json_set_int(*ret_models, sources[i], (int64_t)i);
	return 0;
}

static int models_wrong(int workspace_fd, const char *const *sources, size_t source_count,
			struct json **ret_models, struct buf *mistakes, struct err *err)
{
	(void)workspace_fd;
	(void)sources;
	(void)source_count;
	(void)ret_models;
	buf_add_str(mistakes, "metrics/a.yaml:2:3: first\n    2 |   x\n      |   ^\n"
			      "metrics/a.yaml:4:1: second\n");
	return err_set(err, ERR_INVALID, "2 mistakes");
}

static int models_broken(int workspace_fd, const char *const *sources, size_t source_count,
			 struct json **ret_models, struct buf *mistakes, struct err *err)
{
	(void)workspace_fd;
	(void)sources;
	(void)source_count;
	(void)ret_models;
	(void)mistakes;
	return err_set(err, ERR_IO, "disk");
}

static void test_models_and_their_mistakes_come_along(void **state)
{
	CLEANUP(made_clear) struct made made;

	(void)state;
	start(&made, LEAST);
	compile(&made, models_wrong);
	assert_int_equal(made.problems.count, 2);
	assert_int_equal(made.problems.items[0].line, 2);
	assert_string_equal(made.problems.items[0].text,
			    "metrics/a.yaml:2:3: first\n    2 |   x\n      |   ^");
	assert_string_equal(made.problems.items[1].message, "second");
	assert_false(exists(&made, "state"));
	compile(&made, models_broken);
	assert_int_equal(made.result, -1);
	assert_string_equal(made.err.text, "metrics: disk");
	assert_false(exists(&made, "state"));
	compile(&made, models_fine);
	file_is(&made, "state/config/model.json", "{\"sales\":0}\n");
}

static void test_the_examples_have_no_mistakes(void **state)
{
	static const char *const examples[] = {"sales", "widgets", "company"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(examples); i++) {
		CLEANUP(made_clear) struct made made;
		CLEANUP(mem_freep) char *writ = mem_format("examples/%s/writ.yaml", examples[i]);
		CLEANUP(mem_freep)
		char *scope = mem_format("examples/%s/scopes/%s.yaml", examples[i], examples[i]);
		CLEANUP(mem_freep) char *writ_text = source_file(writ);
		CLEANUP(mem_freep) char *scope_text = source_file(scope);
		CLEANUP(mem_freep) char *data = mem_format("data/%s.db", examples[i]);

		start(&made, writ_text);
		workspace_dir_put(&made.dir, "scopes/s.yaml", scope_text);
		workspace_dir_put(&made.dir, data, "");
		compile(&made, NULL);
		assert_string_equal(made.text, "");
		assert_int_equal(made.result, 0);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_least_workspace_is_compiled_into_state),
		cmocka_unit_test(test_every_key_arrives),
		cmocka_unit_test(test_how_long_a_program_may_be_silent_has_bounds),
		cmocka_unit_test(test_a_retention_has_bounds),
		cmocka_unit_test(test_what_the_log_is_like_arrives),
		cmocka_unit_test(test_mistakes_about_the_log_are_named),
		cmocka_unit_test(test_prices_are_exact),
		cmocka_unit_test(test_tokens_have_prices_of_their_own),
		cmocka_unit_test(test_users_become_uids),
		cmocka_unit_test(test_a_user_without_a_name_is_named_by_number),
		cmocka_unit_test(test_mistakes_are_shown_at_their_place),
		cmocka_unit_test(test_rules_name_only_sources_that_exist),
		cmocka_unit_test(test_sources_lie_in_a_folder_of_their_own),
		cmocka_unit_test(test_two_sources_share_no_folder),
		cmocka_unit_test(test_with_mistakes_what_was_in_force_stays),
		cmocka_unit_test(test_unchanged_files_are_left_alone),
		cmocka_unit_test(test_a_workspace_of_others_is_refused),
		cmocka_unit_test(test_models_and_their_mistakes_come_along),
		cmocka_unit_test(test_the_examples_have_no_mistakes),
	};

	crypto_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
