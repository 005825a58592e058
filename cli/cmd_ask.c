/* writ ask: one question, or a conversation. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/args.h"
#include "cli/ask_service.h"
#include "cli/commands.h"
#include "cli/conversation.h"
#include "cli/export.h"
#include "cli/render.h"
#include "writ/limits.h"

struct ask_options {
	const char *workflow;
	const char *first_sql; /* a file's name */
	const char *format;
	bool trace;
};

static void on_event(void *data, const char *method, const struct json *params)
{
	(void)data;
	if (strcmp(method, "trace") == 0)
		render_trace(params, stderr);
}

/* "-" is standard input. */
static int read_first_sql(const char *name, struct json *params, struct err *err)
{
	struct buf sql = BUF_INIT;
	int result = file_read_at(AT_FDCWD, name, WRIT_SQL_BYTES_MAX, &sql, err);

	if (result == 0)
		json_set_str(params, "first_sql", buf_str(&sql));
	buf_clear(&sql);
	return result < 0 ? err_wrap(err, "--first-sql") : 0;
}

static int ask_params(const char *question, const struct ask_options *options,
		      struct json **ret_params, struct err *err)
{
	CLEANUP(json_freep) struct json *params = json_object();

	json_set_str(params, "question", question);
	if (options->workflow != NULL)
		json_set_str(params, "workflow", options->workflow);
	if (options->trace)
		json_set_bool(params, "trace", true);
	if (options->first_sql != NULL && read_first_sql(options->first_sql, params, err) < 0)
		return -1;
	*ret_params = TAKE(params);
	return 0;
}

static void print_answer(const struct args *args, const struct ask_options *options,
			 const struct json *answer)
{
	if (args->json) {
		cli_print_json(answer);
	} else if (options->format != NULL && json_get(answer, "rows") != NULL) {
		export_rows(options->format, answer, stdout);
		export_proof(answer, stderr);
	} else {
		render_answer(answer, options->format != NULL ? stderr : stdout);
	}
	fflush(stdout);
}

static int ask_once(const struct args *args, const struct ask_options *options)
{
	CLEANUP(json_freep) struct json *params = NULL;
	CLEANUP(json_freep) struct json *answer = NULL;
	CLEANUP(mem_freep) char *workspace = NULL;
	struct service service;
	struct err err = {0};

	if (cli_workspace_find(args->workspace, &workspace, &err) < 0 ||
	    ask_params(args->words[0], options, &params, &err) < 0)
		return cli_fail(EXIT_USAGE, "%s", err.text);
	if (service_first_call(workspace, SERVICE_ABSENT_OK, &service, "ask", params, on_event,
			       NULL, &answer, &err) < 0)
		return cli_fail(err.kind == ERR_INVALID ? EXIT_USAGE : EXIT_UNAVAILABLE, "%s",
				err.text);
	print_answer(args, options, answer);
	service_leave(&service);
	return answer_exit_code(answer);
}

static int check_options(const struct args *args, const struct ask_options *options)
{
	if (options->format != NULL && !export_knows(options->format))
		return cli_usage("ask", "--format is csv, json, jsonl or md, not \"%s\"",
				 options->format);
	if (options->format != NULL && args->json)
		return cli_usage("ask",
				 "--json prints the whole answer, --format its rows: choose one");
	if (args->word_count == 0 && !(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)))
		return cli_usage("ask", "say a question (a conversation needs a terminal)");
	return 0;
}

static int run(int argc, char **argv)
{
	struct ask_options asking = {0};
	const struct arg_option options[] = {{"--workflow", NULL, &asking.workflow},
					     {"--first-sql", NULL, &asking.first_sql},
					     {"--format", NULL, &asking.format},
					     {"--trace", &asking.trace, NULL}};
	struct args args;
	int code = args_read(argc, argv, options, ARRAY_LEN(options), 1, &args);

	if (code == 0)
		code = check_options(&args, &asking);
	if (code == 0)
		code = args.word_count == 1 ? ask_once(&args, &asking)
					    : converse(args.workspace, asking.trace);
	args_clear(&args);
	return code;
}

const struct command command_ask = {
	.name = "ask",
	.summary = "ask a question; without one, a conversation",
	.help = "usage: writ ask [-C DIR] [OPTIONS] [\"QUESTION\"]\n"
		"\n"
		"Answers in words and numbers, always with the exact SQL, rows, bytes scanned, "
		"the\n"
		"definition used, warnings and the audit records. If no service runs, the "
		"workspace's\n"
		"owner's question starts one for as long as it takes.\n"
		"\n"
		"  -C DIR               workspace (default: the nearest folder upward with "
		"writ.yaml)\n"
		"  --json               the whole answer as one object (docs/answer.md)\n"
		"  --format FORMAT      rows only: csv, json, jsonl, md; the proof goes to stderr\n"
		"  --trace              each handoff, token, call, decision and result as it "
		"happens\n"
		"  --workflow fixed     one query attempt, no discovery (default: agent)\n"
		"  --first-sql FILE     inject a first query, labelled seeded, to see the repair\n"
		"\n"
		"In a conversation: /sql, /audit, /trace, /new, /help, /quit; a question may go on from the\n"
		"one before it: \"and by month?\", \"only the East\", \"last year instead\".\n"
		"\n"
		"Examples:\n"
		"  writ ask -C examples/sales \"Which regions had the highest net sales last "
		"quarter?\"\n"
		"  writ ask \"How many orders per month in 2026?\" --format csv > orders.csv\n"
		"\n"
		"Exit codes: 0 completed; 1 any other outcome (refused, needs_input, failed, "
		"...);\n"
		"2 wrong usage or unreadable input; 3 the service could not answer.\n",
	.run = run,
};
