/*
 * writ policy test: the author's cases of scopes/tests/ against the policy of the files. --watch
 * looks at the files four times a second and runs again when one has changed.
 */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crypto.h"
#include "cli/policy.h"
#include "policy/tests.h"

#define WATCH_STEP_MS 250

struct options {
	const char *format; /* text, tap, junit */
	bool all;	    /* also cases that pass */
	bool watch;
	const char *min_coverage;
	unsigned min_percent;
};

struct run {
	struct policy_files files;
	struct policy_tests tests;
	struct tests_result result;
};

static void run_clear(struct run *run)
{
	tests_result_clear(&run->result);
	policy_tests_clear(&run->tests);
	policy_files_clear(&run->files);
}

static bool is_fine(const struct run *run, const struct options *options)
{
	return run->result.failed == 0 &&
	       tests_cover_percent(&run->result.cover) >= options->min_percent;
}

static void print_json(const struct run *run, const struct options *options)
{
	struct json *json = json_object();

	json_set_bool(json, "ok", is_fine(run, options));
	json_set_str(json, "digest", bundle_digest(run->files.bundle));
	json_set_int(json, "cases", (int64_t)run->result.count);
	json_set_int(json, "failed", (int64_t)run->result.failed);
	json_set(json, "results", tests_json(&run->tests, &run->result));
	json_set(json, "coverage", tests_cover_json(&run->result.cover));
	cli_print_json(json);
	json_free(json);
}

static void print_coverage(const struct tests_cover *cover, unsigned min_percent)
{
	CLEANUP(buf_clear) struct buf missing = BUF_INIT;

	printf("coverage %u %%: %zu of %zu rules and conditions are shown\n",
	       tests_cover_percent(cover), cover->shown, cover->total);
	tests_cover_write(cover, &missing);
	fputs(buf_str(&missing), stdout);
	if (tests_cover_percent(cover) < min_percent)
		fprintf(stderr, "writ: the coverage is below %u %%\n", min_percent);
}

static void print_text(const struct run *run, bool all)
{
	const struct tests_result *result = &run->result;

	for (size_t i = 0; i < result->count; i++) {
		const struct policy_check_case *test = &run->tests.cases[i];

		if (!result->cases[i].passed)
			printf("FAILED  %s\n        %s\n        %s\n", test->name, test->at,
			       result->cases[i].wrong);
		else if (all)
			printf("passed  %s\n", test->name);
	}
	printf("policy %.12s: %zu case%s, %zu failed\n", bundle_digest(run->files.bundle),
	       result->count, plural(result->count), result->failed);
}

static void print_machine(const struct run *run, const char *format)
{
	CLEANUP(buf_clear) struct buf out = BUF_INIT;

	if (strcmp(format, "tap") == 0)
		tests_write_tap(&run->tests, &run->result, &out);
	else
		tests_write_junit(&run->tests, &run->result, &out);
	fputs(buf_str(&out), stdout);
}

static int read_tests(const struct args *args, struct run *run)
{
	struct problems problems = PROBLEMS_INIT;
	struct err err = {0};
	size_t errors;
	int code = policy_files_want(args, POLICY_WITH_DATA, &run->files);

	if (code != EXIT_FINE)
		return code;
	if (policy_tests_read(run->files.fd, run->files.bundle, &run->tests, &problems, &err) < 0)
		return cli_fail(EXIT_USAGE, "%s", err.text);
	problems_print(&problems, stderr);
	errors = problems.error_count;
	problems_clear(&problems);
	if (errors > 0)
		return cli_fail(EXIT_NEGATIVE, "the tests have %zu mistake%s", errors,
				plural(errors));
	if (run->tests.count == 0)
		return cli_fail(EXIT_NEGATIVE, "no test: scopes/tests/ holds no case");
	return EXIT_FINE;
}

static int run_once(const struct args *args, const struct options *options)
{
	CLEANUP(run_clear) struct run run = {0};
	int code = read_tests(args, &run);

	if (code != EXIT_FINE)
		return code;
	policy_tests_run(run.files.bundle, &run.tests, &run.result);
	if (args->json)
		print_json(&run, options);
	else if (strcmp(options->format, "text") == 0)
		print_text(&run, options->all);
	else
		print_machine(&run, options->format);
	if (!args->json && strcmp(options->format, "text") == 0)
		print_coverage(&run.result.cover, options->min_percent);
	return is_fine(&run, options) ? EXIT_FINE : EXIT_NEGATIVE;
}

/* Names, sizes and times of what a run reads, as one hash. */
static void add_folder(struct sha256 *state, const char *path)
{
	DIR *folder = opendir(path);
	const struct dirent *entry;
	struct stat info;

	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		if (entry->d_name[0] == '.' ||
		    fstatat(dirfd(folder), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) < 0 ||
		    !S_ISREG(info.st_mode))
			continue;
		sha256_add(state, entry->d_name, strlen(entry->d_name) + 1);
		sha256_add(state, &info.st_size, sizeof(info.st_size));
		sha256_add(state, &info.st_mtim, sizeof(info.st_mtim));
		sha256_add(state, &info.st_ino, sizeof(info.st_ino));
	}
	if (folder != NULL)
		closedir(folder);
}

static void look(const char *workspace, uint8_t ret_hash[SHA256_LEN])
{
	static const char *const folders[] = {"", "/scopes", "/scopes/tests"};
	struct sha256 state;

	sha256_init(&state);
	for (size_t i = 0; i < ARRAY_LEN(folders); i++) {
		CLEANUP(mem_freep) char *path = mem_format("%s%s", workspace, folders[i]);

		add_folder(&state, path);
	}
	sha256_end(&state, ret_hash);
}

/* Until the process is interrupted, or nobody reads any more. */
static int watch(const struct args *args, const struct options *options)
{
	CLEANUP(mem_freep) char *workspace = NULL;
	uint8_t seen[SHA256_LEN], now[SHA256_LEN];
	struct err err = {0};
	int code = EXIT_FINE;

	if (cli_workspace_find(args->workspace, &workspace, &err) < 0)
		return cli_fail(EXIT_USAGE, "%s", err.text);
	look(workspace, now);
	do {
		memcpy(seen, now, sizeof(seen));
		code = run_once(args, options);
		if (fflush(stdout) != 0)
			return code;
		do {
			IGNORE(poll(NULL, 0, WATCH_STEP_MS) < 0, "only a pause");
			look(workspace, now);
		} while (memcmp(seen, now, sizeof(seen)) == 0);
		if (!args->json)
			printf("\nchanged:\n");
	} while (true);
}

static bool read_percent(const char *text, unsigned *ret_percent)
{
	size_t digits = strspn(text, "0123456789");

	*ret_percent = 0;
	if (digits == 0 || digits > 3 || text[digits] != '\0')
		return false;
	for (; *text != '\0'; text++)
		*ret_percent = *ret_percent * 10 + (unsigned)(*text - '0');
	return *ret_percent <= 100;
}

static int run(int argc, char **argv)
{
	static const char *const formats[] = {"text", "tap", "junit"};
	struct options options = {.format = "text"};
	const struct arg_option table[] = {{"--format", NULL, &options.format},
					   {"--all", &options.all, NULL},
					   {"--min-coverage", NULL, &options.min_coverage},
					   {"--watch", &options.watch, NULL}};
	CLEANUP(args_clear) struct args args = {0};
	int code = args_read(argc, argv, table, ARRAY_LEN(table), 0, &args);
	bool known = false;

	if (code != 0)
		return code;
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		known = known || strcmp(options.format, formats[i]) == 0;
	if (!known)
		return cli_usage(argv[0], "no format \"%s\"; there are text, tap and junit",
				 options.format);
	if (options.min_coverage != NULL &&
	    !read_percent(options.min_coverage, &options.min_percent))
		return cli_usage(argv[0], "--min-coverage %s is no whole number from 0 to 100",
				 options.min_coverage);
	return options.watch ? watch(&args, &options) : run_once(&args, &options);
}

const struct policy_command policy_test = {
	.name = "test",
	.summary = "your cases in scopes/tests/ against the rules",
	.help = "usage: writ policy test [-C DIR] [--format text|tap|junit] [--all] [--watch] "
		"[--json]\n"
		"\n"
		"Puts every case of scopes/tests/*.yaml to the evaluator that the broker uses, "
		"under\n"
		"the policy of the files. A case is the product of its agents, users and calls.\n"
		"\n"
		"  --format F  tap (version 14) or junit (XML) for continuous integration\n"
		"  --all       show cases that pass as well\n"
		"  --watch     run again whenever a file changes, until Ctrl-C\n"
		"  --min-coverage N  fail below N per cent\n"
		"  --json      {ok, digest, cases, failed, results, coverage}\n"
		"\n"
		"examples:\n"
		"  writ policy test -C examples/sales\n"
		"  writ policy test --format junit > policy.xml\n"
		"\n"
		"exit: 0 all pass, 1 one fails, none exists, the coverage is too low or a file has "
		"a mistake, 2 wrong usage "
		"or\n"
		"unreadable files\n",
	.run = run,
};
