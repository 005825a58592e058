/* writ approval: what waits for a person's yes or no, and saying it. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/args.h"
#include "cli/ask_service.h"
#include "cli/commands.h"
#include "cli/table.h"

static const char *state_of(const struct json *approval, char room[48])
{
	const char *state = json_get_str(approval, "state");
	int64_t left = json_get_int(approval, "expires", 0) - clock_now_us() / 1000000;

	if (strcmp(state, "asked") != 0 && strcmp(state, "given") != 0)
		return state;
	snprintf(room, 48, "%s, %lld s left", state, (long long)left);
	return room;
}

static void print_approvals(const struct json *approvals)
{
	static const char *const headings[] = {"APPROVAL", "USER",  "AGENT", "TOOL",
					       "RULE",	   "YOURS", "STATE", "ARGUMENTS"};
	struct table *table = table_new(headings, ARRAY_LEN(headings));

	json_each(approval, approvals)
	{
		char room[48];
		const char *const cells[] = {
			json_get_str(approval, "approval"),
			json_get_str(approval, "user"),
			json_get_str(approval, "agent"),
			json_get_str(approval, "tool"),
			json_get_str(approval, "rule"),
			json_get_bool(approval, "may_decide", false) ? "to decide" : "",
			state_of(approval, room),
			json_get_str(approval, "arguments"),
		};

		table_add(table, cells);
	}
	table_print(table, stdout);
	table_free(table);
}

static int list(const struct args *args)
{
	CLEANUP(json_freep) struct json *result = NULL;
	int code = service_ask(args->workspace, 0, "approval.list", NULL, NULL, NULL, &result);

	if (code != 0)
		return code;
	if (args->json)
		cli_print_json(result);
	else
		print_approvals(json_get(result, "approvals"));
	return EXIT_FINE;
}

static int decide(const struct args *args, const char *method)
{
	CLEANUP(json_freep) struct json *result = NULL;
	struct json *params = json_object();
	int code;

	json_set_str(params, "approval", args->words[1]);
	code = service_ask(args->workspace, 0, method, params, NULL, NULL, &result);
	if (code != 0)
		return code;
	if (args->json)
		cli_print_json(result);
	else
		printf("%s %s (record %lld)\n", json_get_str(result, "approval"),
		       json_get_str(result, "state"),
		       (long long)json_get_int(result, "record", -1));
	return EXIT_FINE;
}

static int run(int argc, char **argv)
{
	struct args args;
	int code = args_read(argc, argv, NULL, 0, 2, &args);

	if (code != 0)
		;
	else if (args.word_count == 1 && strcmp(args.words[0], "list") == 0)
		code = list(&args);
	else if (args.word_count == 2 && strcmp(args.words[0], "give") == 0)
		code = decide(&args, "approval.give");
	else if (args.word_count == 2 && strcmp(args.words[0], "refuse") == 0)
		code = decide(&args, "approval.refuse");
	else
		code = cli_usage("approval", "say list, give ID or refuse ID");
	args_clear(&args);
	return code;
}

const struct command command_approval = {
	.name = "approval",
	.summary = "list, give and refuse approvals of calls",
	.help = "usage: writ approval list [-C DIR] [--json]\n"
		"       writ approval give ID [-C DIR] [--json]\n"
		"       writ approval refuse ID [-C DIR] [--json]\n"
		"\n"
		"A rule whose effect is ask refuses a call until one of those it names says yes to "
		"it: to\n"
		"these exact arguments, for a limited time, once. list shows what waits for you, "
		"what your\n"
		"own calls wait for, and to the workspace's owner all of them. Once an approval is "
		"given,\n"
		"whoever asked makes the call again: writ task answer TASK, or writ call "
		"--approval ID.\n"
		"\n"
		"Examples:\n"
		"  writ approval list -C /srv/writ/sales\n"
		"  writ approval give ap-01a22ee6-b000-7a10-8b52-3f6c1d2e4a01\n"
		"\n"
		"Exit codes: 0 done; 2 wrong usage; 3 no service, or it could not (the reason is "
		"shown).\n",
	.run = run,
};
