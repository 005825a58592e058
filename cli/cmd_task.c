/* writ task: list, show, answer and cancel tasks. */
#include <stdio.h>
#include <string.h>

#include "cli/args.h"
#include "cli/ask_service.h"
#include "cli/commands.h"
#include "cli/render.h"
#include "cli/table.h"

static void print_tasks(const struct json *tasks)
{
	static const char *const headings[] = {"TASK", "CREATED", "USER", "STATUS", "QUESTION"};
	struct table *table = table_new(headings, ARRAY_LEN(headings));

	json_each(task, tasks)
	{
		const char *const cells[] = {
			json_get_str(task, "task"), json_get_str(task, "created"),
			json_get_str(task, "user"), json_get_str(task, "status"),
			json_get_str(task, "question")};

		table_add(table, cells);
	}
	table_print(table, stdout);
	table_free(table);
}

static int list(const struct args *args, bool all)
{
	CLEANUP(json_freep) struct json *result = NULL;
	struct json *params = json_object();
	int code;

	json_set_bool(params, "all", all);
	code = service_ask(args->workspace, SERVICE_ABSENT_OK, "task.list", params, NULL, NULL,
			   &result);
	if (code != 0)
		return code;
	if (args->json)
		cli_print_json(result);
	else
		print_tasks(json_get(result, "tasks"));
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
	if (json_len(choices) == 0)
		return cli_usage("task answer", "say at least one PART=CHOICE");
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

static int dispatch(const struct args *args, bool all)
{
	const char *verb = args->word_count > 0 ? args->words[0] : "";

	if (strcmp(verb, "list") == 0 && args->word_count == 1)
		return list(args, all);
	if (strcmp(verb, "show") == 0 && args->word_count == 2)
		return show(args, args->words[1]);
	if (strcmp(verb, "cancel") == 0 && args->word_count == 2)
		return cancel(args, args->words[1]);
	if (strcmp(verb, "answer") == 0 && args->word_count >= 2)
		return answer(args, args->words[1]);
	return cli_usage("task", "say list, show ID, answer ID PART=CHOICE... or cancel ID");
}

static int run(int argc, char **argv)
{
	bool all = false;
	const struct arg_option options[] = {{"--all", &all, NULL}};
	struct args args;
	int code = args_read(argc, argv, options, ARRAY_LEN(options), 16, &args);

	if (code == 0)
		code = dispatch(&args, all);
	args_clear(&args);
	return code;
}

const struct command command_task = {
	.name = "task",
	.summary = "list, show, answer and cancel tasks",
	.help = "usage: writ task list [--all] [-C DIR] [--json]\n"
		"       writ task show ID [-C DIR] [--json]\n"
		"       writ task answer ID PART=CHOICE... [-C DIR] [--json]\n"
		"       writ task cancel ID [-C DIR]\n"
		"\n"
		"A user reaches their own tasks; the workspace's owner everyone's (list --all). A "
		"question\n"
		"that came back (needs_input) is open for an hour; its answer is a new task.\n"
		"\n"
		"Examples:\n"
		"  writ task list -C examples/sales\n"
		"  writ task answer t-0197... metric=net_sales period=\"last quarter\"\n"
		"\n"
		"Exit codes: 0 done; 1 an answer other than completed; 2 wrong usage or no such "
		"task;\n"
		"3 the service could not do it.\n",
	.run = run,
};
