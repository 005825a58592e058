/* writ eval: a suite of questions against what is right. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/args.h"
#include "cli/commands.h"
#include "cli/eval/report.h"
#include "cli/eval/run.h"
#include "cli/eval/second.h"
#include "policy/workspace.h"

#define RUNS_MAX 100
#define BASELINE_BYTES_MAX (64 << 20)
#define SEED_MAX 1000000

struct eval_words {
	const char *agent;
	const char *runs;
	const char *workflow;
	const char *junit;
	const char *html;
	const char *baseline;
	const char *accuracy;
	const char *states;
	const char *seed;
	bool both;
};

/* A copy of the data must not stay behind because somebody lost patience. */
static volatile sig_atomic_t stopped;

static void on_stop(int number)
{
	(void)number;
	stopped = 1;
}

static void stop_cleanly(void)
{
	const struct sigaction action = {.sa_handler = on_stop, .sa_flags = SA_RESTART};

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

static void show_progress(void *data, size_t done, size_t all, const struct json *result)
{
	(void)data;
	(void)result;
	fprintf(stderr, "\r%zu of %zu", done, all);
	if (done == all)
		fputs("\r\033[K", stderr);
}

static int write_file(const char *path, const struct json *run, const struct json *other,
		      void write_it(const struct json *run, const struct json *other, FILE *out))
{
	FILE *out = fopen(path, "we");
	bool wrong;

	if (!out)
		return cli_fail(EXIT_UNAVAILABLE, "%s: %s", path, strerror(errno));
	write_it(run, other, out);
	wrong = ferror(out) != 0;
	if (fclose(out) != 0 || wrong)
		return cli_fail(EXIT_UNAVAILABLE, "%s could not be written", path);
	return 0;
}

static void write_junit(const struct json *run, const struct json *other, FILE *out)
{
	(void)other;
	report_junit(run, out);
}

static int read_baseline(const char *path, struct json **ret_run)
{
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	struct err err = {0};

	if (file_read_at(AT_FDCWD, path, BASELINE_BYTES_MAX, &text, &err) < 0 ||
	    json_parse(buf_str(&text), text.len, BASELINE_BYTES_MAX, ret_run, &err) < 0)
		return cli_fail(EXIT_USAGE, "--baseline %s: %s", path, err.text);
	if (json_get(*ret_run, "cases") == NULL && json_get(*ret_run, "run") != NULL) {
		struct json *run = json_copy(json_get(*ret_run, "run"));

		json_free(*ret_run);
		*ret_run = run;
	}
	return 0;
}

static int read_number(const char *text, const char *what, double min, double max, double fallback,
		       double *ret)
{
	char *end = NULL;

	*ret = text ? strtod(text, &end) : fallback;
	if (text && (*end != '\0' || end == text || *ret < min || *ret > max))
		return cli_usage("eval", "%s is a number from %g to %g, not \"%s\"", what, min, max,
				 text);
	return 0;
}

/* The agent whose scope the cases' SQL runs under, and where the data lies. */
static int read_workspace(const char *path, const struct eval_words *words, char **ret_agent,
			  struct json **ret_sources)
{
	CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct problems problems = PROBLEMS_INIT;
	struct workspace workspace = {0};
	struct err err = {0};
	const char *agent = words->agent;
	int code = 0;

	if (fd < 0)
		return cli_fail(EXIT_USAGE, "%s cannot be opened", path);
	if (workspace_read(fd, path, WORKSPACE_NO_DATA, &workspace, &problems, &err) < 0)
		code = cli_fail_err(&err, "eval");
	else if (problems.error_count > 0) {
		problems_print(&problems, stderr);
		code = EXIT_NEGATIVE;
	}
	if (code == 0 && !agent)
		agent = json_get_str(json_get(workspace.service, "agents"), "query");
	if (code == 0 && !agent)
		code = cli_usage("eval", "writ.yaml names no query agent; say --agent NAME");
	if (code == 0) {
		*ret_agent = mem_str(agent);
		*ret_sources = json_copy(json_get(workspace.service, "sources"));
	}
	problems_clear(&problems);
	workspace_clear(&workspace);
	return code;
}

static int read_suite(const char *path, struct json **ret_suite)
{
	CLEANUP(buf_clear) struct buf mistakes = BUF_INIT;
	struct err err = {0};

	if (suite_read(path, ret_suite, &mistakes, &err) == 0)
		return 0;
	if (mistakes.len > 0)
		fputs(buf_str(&mistakes), stderr);
	return cli_fail(EXIT_USAGE, "%s", err.text);
}

static int write_reports(const struct args *args, const struct eval_words *words,
			 const struct json *run, const struct json *other)
{
	int code = 0;

	if (words->junit)
		code = write_file(words->junit, run, other, write_junit);
	if (code == 0 && words->html)
		code = write_file(words->html, run, other, report_html);
	if (args->json) {
		CLEANUP(json_freep) struct json *out = json_object();

		json_set(out, "run", json_copy(run));
		if (other)
			json_set(out, "other", json_copy(other));
		cli_print_json(out);
	} else {
		report_text(run, other, stdout);
	}
	return code;
}

/* Wrong numbers that look right, and less than was asked for, fail. */
static int verdict(const struct json *run, const struct eval_words *words, double accuracy)
{
	CLEANUP(json_freep) struct json *before = NULL;
	int64_t wrong = json_get_int(json_get(run, "counts"), "wrong", 0);
	size_t lost = 0;
	int code;

	if (words->baseline) {
		code = read_baseline(words->baseline, &before);
		if (code != 0)
			return code;
		lost = report_changes(before, run, stderr);
	}
	if (wrong > 0)
		return cli_fail(EXIT_NEGATIVE, "%lld wrong: completed, with a wrong answer",
				(long long)wrong);
	if (report_accuracy(run) < accuracy)
		return cli_fail(EXIT_NEGATIVE, "%.1f %% right, less than %.1f %%",
				100.0 * report_accuracy(run), 100.0 * accuracy);
	if (lost > 0)
		return cli_fail(EXIT_NEGATIVE, "%zu that were right before are not any more", lost);
	return EXIT_FINE;
}

static bool has_sql(const struct json *suite)
{
	json_each(item, json_get(suite, "cases")) if (json_get_str(item, "sql")) return true;
	return false;
}

static int ask_all(struct trial *trial, const struct json *suite, const struct eval_words *words,
		   const struct eval_options *options, struct json **ret_run,
		   struct json **ret_other)
{
	eval_progress *progress = isatty(STDERR_FILENO) ? show_progress : NULL;
	struct eval_options fixed = *options;
	struct err err = {0};

	fixed.workflow = "fixed";
	if (eval_run(trial, suite, options, progress, NULL, ret_run, &err) < 0 ||
	    (words->both && eval_run(trial, suite, &fixed, progress, NULL, ret_other, &err) < 0))
		return cli_fail(EXIT_UNAVAILABLE, "%s", err.text);
	return 0;
}

/* Only cases with SQL can be right on data that nobody has seen before. */
static int ask_on_states(struct trial *trial, const struct json *suite, const struct json *sources,
			 const struct eval_words *words, struct eval_options *options,
			 struct json **ret_run, struct json **ret_other)
{
	bool second_wanted = has_sql(suite) && !(words->states && strcmp(words->states, "1") == 0);
	struct second second = {0};
	struct trial changed = {.agent = trial->agent};
	struct err err = {0};
	int code;

	stop_cleanly();
	if (second_wanted &&
	    second_make(trial->workspace, sources, options->seed, &second, &err) < 0)
		return cli_fail(EXIT_UNAVAILABLE,
				"no second state of the data: %s. To ask the data as they are "
				"alone: --states 1",
				err.text);
	changed.workspace = second.folder;
	if (second_wanted)
		options->second = &changed;
	code = ask_all(trial, suite, words, options, ret_run, ret_other);
	trial_close(trial);
	trial_close(&changed);
	if (code == 0 && second_wanted)
		json_set(*ret_run, "changes", json_copy(second.changes));
	second_remove(&second);
	return code;
}

static int evaluate(const struct args *args, const struct eval_words *words,
		    struct eval_options *options, double accuracy)
{
	CLEANUP(mem_freep) char *path = NULL;
	CLEANUP(mem_freep) char *agent = NULL;
	CLEANUP(json_freep) struct json *sources = NULL;
	CLEANUP(json_freep) struct json *suite = NULL;
	CLEANUP(json_freep) struct json *run = NULL;
	CLEANUP(json_freep) struct json *other = NULL;
	struct trial trial = {0};
	struct err err = {0};
	int code = read_suite(args->words[0], &suite);

	if (code != 0)
		return code;
	if (cli_workspace_find(args->workspace, &path, &err) < 0)
		return cli_fail_err(&err, "eval");
	code = read_workspace(path, words, &agent, &sources);
	if (code != 0)
		return code;
	trial.workspace = path;
	trial.agent = agent;
	code = ask_on_states(&trial, suite, sources, words, options, &run, &other);
	if (code == 0)
		code = write_reports(args, words, run, other);
	return code != 0 ? code : verdict(run, words, accuracy);
}

static int run(int argc, char **argv)
{
	struct eval_words words = {0};
	const struct arg_option table[] = {
		{"--agent", NULL, &words.agent},
		{"--runs", NULL, &words.runs},
		{"--workflow", NULL, &words.workflow},
		{"--junit", NULL, &words.junit},
		{"--html", NULL, &words.html},
		{"--baseline", NULL, &words.baseline},
		{"--min-accuracy", NULL, &words.accuracy},
		{"--states", NULL, &words.states},
		{"--seed", NULL, &words.seed},
		{"--both", &words.both, NULL},
	};
	struct args args;
	struct eval_options options = {.runs = 1, .workflow = "agent", .stopped = &stopped};
	double runs = 1, accuracy = 0, seed = 1;
	int code = args_read(argc, argv, table, ARRAY_LEN(table), 1, &args);

	if (code == 0 && args.word_count == 0)
		code = cli_usage("eval", "say which suite: writ eval evals/sales.yaml");
	if (code == 0)
		code = read_number(words.runs, "--runs", 1, RUNS_MAX, 1, &runs);
	if (code == 0)
		code = read_number(words.accuracy, "--min-accuracy", 0, 1, 0, &accuracy);
	if (code == 0 && words.workflow && strcmp(words.workflow, "agent") != 0 &&
	    strcmp(words.workflow, "fixed") != 0)
		code = cli_usage("eval", "--workflow is agent or fixed");
	if (code == 0)
		code = read_number(words.seed, "--seed", 0, SEED_MAX, 1, &seed);
	if (code == 0 && words.states && strcmp(words.states, "1") != 0 &&
	    strcmp(words.states, "2") != 0)
		code = cli_usage("eval", "--states is 1 or 2");
	options.runs = (int64_t)runs;
	options.seed = (int64_t)seed;
	if (words.workflow)
		options.workflow = words.workflow;
	if (code == 0)
		code = evaluate(&args, &words, &options, accuracy);
	args_clear(&args);
	return code;
}

const struct command command_eval = {
	.name = "eval",
	.summary = "ask a suite of questions and compare with what is right",
	.help = "usage: writ eval SUITE [OPTIONS] [-C DIR] [--json]\n"
		"\n"
		"SUITE is YAML or CSV: questions, each with the right rows, with SQL that gives "
		"them, or\n"
		"with the outcome that is right (needs_input, refused ...). Every question is "
		"asked as a\n"
		"person would ask it; verified queries answer none. Rows are compared as a "
		"multiset of\n"
		"values, in order only where a case says so; docs/evals.md has the rules. A case "
		"with SQL\n"
		"is asked twice: of the data as they are, and of a copy that was changed so that "
		"what is\n"
		"right only by luck is not right there.\n"
		"\n"
		"  --runs N            ask each N times; the majority counts\n"
		"  --workflow NAME     agent (default) or fixed\n"
		"  --both              the agent and the fixed workflow side by side\n"
		"  --states 1          only the data as they are; default 2\n"
		"  --seed N            how the copy is changed; default 1\n"
		"  --min-accuracy X    exit 1 when less than this share is right (0 to 1)\n"
		"  --baseline FILE     compare with an earlier --json; exit 1 when something that "
		"was right\n"
		"                      is not any more\n"
		"  --junit FILE        as JUnit XML, for CI\n"
		"  --html FILE         as one page\n"
		"  --agent NAME        run the cases' SQL as this agent; default: the query agent\n"
		"\n"
		"Examples:\n"
		"  writ eval evals/sales.yaml -C examples/sales\n"
		"  writ eval evals/sales.yaml --json >before.json\n"
		"  writ eval evals/sales.yaml --baseline before.json --min-accuracy 0.95\n"
		"\n"
		"Exit codes: 0 nothing wrong; 1 a wrong answer that was given as completed, too "
		"few "
		"right,\n"
		"or worse than before; 2 wrong usage or an unreadable suite; 3 the service could "
		"not be\n"
		"asked.\n",
	.run = run,
};
