/* writ call: one tool call of one agent, through token and policy, for trying things. */
#include <stdio.h>
#include <string.h>

#include "cli/args.h"
#include "cli/ask_service.h"
#include "cli/commands.h"
#include "cli/render.h"

static int read_arguments(const char *text, struct json **ret_arguments, struct err *err)
{
	if (text == NULL) {
		*ret_arguments = json_object();
		return 0;
	}
	if (json_parse_str(text, ret_arguments, err) < 0)
		return err_wrap(err, "the tool's arguments");
	if (json_type(*ret_arguments) != JSON_OBJECT)
		return err_set(err, ERR_INVALID, "the tool's arguments must be a JSON object");
	return 0;
}

static int call(const struct args *args, const char *agent, const char *approval)
{
	CLEANUP(json_freep) struct json *result = NULL;
	struct json *arguments = NULL;
	struct json *params;
	struct err err = {0};
	int code;

	if (read_arguments(args->word_count == 2 ? args->words[1] : NULL, &arguments, &err) < 0) {
		json_free(arguments);
		return cli_fail(EXIT_USAGE, "%s", err.text);
	}
	params = json_object();
	json_set_str(params, "agent", agent);
	json_set_str(params, "tool", args->words[0]);
	json_set(params, "arguments", arguments);
	if (approval != NULL)
		json_set_str(params, "approval", approval);
	code = service_ask(args->workspace, SERVICE_ABSENT_OK, "call", params, NULL, NULL, &result);
	if (code != 0)
		return code;
	if (args->json)
		cli_print_json(result);
	else
		render_call(args->words[0], result, stdout);
	return json_get_bool(result, "ok", false) ? EXIT_FINE : EXIT_NEGATIVE;
}

static int run(int argc, char **argv)
{
	const char *agent = NULL, *approval = NULL;
	const struct arg_option options[] = {{"--agent", NULL, &agent},
					     {"--approval", NULL, &approval}};
	struct args args;
	int code = args_read(argc, argv, options, ARRAY_LEN(options), 2, &args);

	if (code == 0 && (agent == NULL || args.word_count == 0))
		code = cli_usage("call", "say --agent NAME and a tool");
	else if (code == 0)
		code = call(&args, agent, approval);
	args_clear(&args);
	return code;
}

const struct command command_call = {
	.name = "call",
	.summary = "one tool call of one agent, for trying things (owner)",
	.help = "usage: writ call --agent NAME TOOL ['JSON'] [--approval ID] [-C DIR] [--json]\n"
		"\n"
		"Makes one call exactly as the agent would: token, policy, limits, records; "
		"limited to the\n"
		"owner's own rights and recorded as a trial. Shows the decision with rule and "
		"file:line.\n"
		"A call that needs approval is refused with the approval's id; once it is given "
		"(writ\n"
		"approval give), make the very same call again with --approval ID. It counts "
		"once.\n"
		"Tools and their arguments:\n"
		"  list_tables, list_metrics  none\n"
		"  describe_table             table\n"
		"  search_schema              text, limit (of matches; may be left out)\n"
		"  search_values              text, limit\n"
		"  explain_query              sql\n"
		"  run_query                  sql, rows (may be left out)\n"
		"\n"
		"Examples:\n"
		"  writ call -C examples/sales --agent sales-query-01 list_tables\n"
		"  writ call -C examples/sales --agent sales-query-01 run_query \\\n"
		"      '{\"sql\":\"SELECT COUNT(*) FROM orders\"}'\n"
		"\n"
		"Exit codes: 0 allowed and done; 1 refused or failed (the reason is shown); 2 "
		"wrong usage;\n"
		"3 the service could not do it.\n",
	.run = run,
};
