/* writ task: list, show, answer and cancel tasks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/args.h"
#include "cli/ask_service.h"
#include "cli/commands.h"
#include "cli/render.h"
#include "cli/table.h"

#define LIST_MAX 500 /* of one page: docs/protocol.md, task.list */

static void print_tasks(const struct json *tasks)
{
	static const char *const headings[] = {"TASK", "CREATED", "USER", "STATUS", "QUESTION"};
	struct table *table = table_new(headings, ARRAY_LEN(headings));

	json_each(task, tasks)
	{
		const char *status = json_get_str(task, "answered_by") != NULL
					     ? "answered"
					     : json_get_str(task, "status");
		const char *const cells[] = {
			json_get_str(task, "task"), json_get_str(task, "created"),
			json_get_str(task, "user"), status, json_get_str(task, "question")};

		table_add(table, cells);
	}
	table_print(table, stdout);
	table_free(table);
}

struct list_options {
	bool all;
	const char *limit;
	const char *before;
};

static int read_limit(const char *text, struct json *params)
{
	char *end;
	long limit = strtol(text, &end, 10);

	if (*text == '\0' || *end != '\0' || limit < 1 || limit > LIST_MAX)
		return cli_usage("task list", "--limit is a number from 1 to %d, not \"%s\"",
				 LIST_MAX, text);
	json_set_int(params, "limit", limit);
	return 0;
}

static int list(const struct args *args, const struct list_options *options)
{
	CLEANUP(json_freep) struct json *result = NULL;
	struct json *params = json_object();
	const char *next;
	int code = 0;

	json_set_bool(params, "all", options->all);
	if (options->before != NULL)
		json_set_str(params, "before", options->before);
	if (options->limit != NULL)
		code = read_limit(options->limit, params);
	if (code != 0) {
		json_free(params);
		return code;
	}
	code = service_ask(args->workspace, SERVICE_ABSENT_OK, "task.list", params, NULL, NULL,
			   &result);
	if (code != 0)
		return code;
	if (args->json)
		cli_print_json(result);
	else
		print_tasks(json_get(result, "tasks"));
	next = json_get_str(result, "next");
	if (!args->json && next != NULL)
		fprintf(stderr, "there are older ones: writ task list --before %s%s\n", next,
			options->all ? " --all" : "");
	return EXIT_FINE;
}

static struct json *task_params(const char *task)
{
	struct json *params = json_object();

	json_set_str(params, "task", task);
	return params;
}

static int show(const struct args *args, const char *task)
{
	CLEANUP(json_freep) struct json *result = NULL;
	int code = service_ask(args->workspace, SERVICE_ABSENT_OK, "task.show", task_params(task),
			       NULL, NULL, &result);

	if (code != 0)
		return code;
	if (args->json) {
		cli_print_json(result);
	} else if (json_get_str(json_get(result, "task"), "answered_by") != NULL) {
		printf("task %s asked back and was answered: see writ task show %s\n", task,
		       json_get_str(json_get(result, "task"), "answered_by"));
	} else if (json_is_null(json_get(result, "answer"))) {
		printf("task %s: %s\n", task, json_get_str(json_get(result, "task"), "status"));
	} else {
		render_answer(json_get(result, "answer"), stdout);
	}
	return EXIT_FINE;
}

static int cancel(const struct args *args, const char *task)
{
	CLEANUP(json_freep) struct json *result = NULL;
	int code = service_ask(args->workspace, 0, "task.cancel", task_params(task), NULL, NULL,
			       &result);

	if (code == 0 && !args->json)
		printf("task %s is being cancelled\n", task);
	else if (code == 0)
		cli_print_json(result);
	return code;
}

/* PART=CHOICE words behind the task id. */
static int read_choices(const struct args *args, struct json *choices)
{
	for (size_t i = 2; i < args->word_count; i++) {
		CLEANUP(mem_freep) char *part = mem_str(args->words[i]);
		char *equals = strchr(part, '=');

		if (equals == NULL || equals == part || equals[1] == '\0')
			return cli_usage("task answer", "\"%s\" is not PART=CHOICE",
					 args->words[i]);
		*equals = '\0';
		json_set_str(choices, part, equals + 1);
	}
	return 0;
}

static int answer(const struct args *args, const char *task)
{
	CLEANUP(json_freep) struct json *result = NULL;
	struct json *params = task_params(task);
	struct json *choices = json_object();
	int code = read_choices(args, choices);

	json_set(params, "choices", choices);
	if (code != 0) {
		json_free(params);
		return code;
	}
	code = service_ask(args->workspace, SERVICE_ABSENT_OK, "task.answer", params, NULL, NULL,
			   &result);
	if (code != 0)
		return code;
	if (args->json)
		cli_print_json(result);
	else
		render_answer(result, stdout);
	return answer_exit_code(result);
}

static int dispatch(const struct args *args, const struct list_options *options)
{
	const char *verb = args->word_count > 0 ? args->words[0] : "";

	if (strcmp(verb, "list") == 0 && args->word_count == 1)
		return list(args, options);
	if (options->all || options->limit != NULL || options->before != NULL)
		return cli_usage("task", "--all, --limit and --before belong to task list");
	if (strcmp(verb, "show") == 0 && args->word_count == 2)
		return show(args, args->words[1]);
	if (strcmp(verb, "cancel") == 0 && args->word_count == 2)
		return cancel(args, args->words[1]);
	if (strcmp(verb, "answer") == 0 && args->word_count >= 2)
		return answer(args, args->words[1]);
	return cli_usage("task", "say list, show ID, answer ID [PART=CHOICE...] or cancel ID");
}

static int run(int argc, char **argv)
{
	struct list_options list_options = {0};
	const struct arg_option options[] = {{"--all", &list_options.all, NULL},
					     {"--limit", NULL, &list_options.limit},
					     {"--before", NULL, &list_options.before}};
	struct args args;
	int code = args_read(argc, argv, options, ARRAY_LEN(options), 16, &args);

	if (code == 0)
		code = dispatch(&args, &list_options);
	args_clear(&args);
	return code;
}

const struct command command_task = {
	.name = "task",
	.summary = "list, show, answer and cancel tasks",
	.help = "usage: writ task list [--all] [--limit N] [--before ID] [-C DIR] [--json]\n"
		"       writ task show ID [-C DIR] [--json]\n"
		"       writ task answer ID [PART=CHOICE...] [-C DIR] [--json]\n"
		"       writ task cancel ID [-C DIR]\n"
		"\n"
		"A user reaches their own tasks; the workspace's owner everyone's (list --all). "
		"The list\n"
		"has the newest 100, or N (at most 500), or those older than task ID, and says "
		"when "
		"there\n"
		"are more. A task that waits for its turn is queued, and can be cancelled like a "
		"running\n"
		"one. A question that came back (needs_input) is open for an hour; its answer is a "
		"new\n"
		"task. So is the repetition of one that waited for an approval (needs_approval), "
		"once\n"
		"it is given: answer it without choices. Tasks are kept for as long as writ.yaml "
		"says (retention; 90 days without "
		"it).\n"
		"\n"
		"Examples:\n"
		"  writ task list -C examples/sales\n"
		"  writ task list --limit 20 --before t-0197...\n"
		"  writ task answer t-0197... metric=net_sales period=\"last quarter\"\n"
		"\n"
		"Exit codes: 0 done; 1 an answer other than completed; 2 wrong usage or no such "
		"task;\n"
		"3 the service could not do it.\n",
	.run = run,
};
