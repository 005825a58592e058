/* writ policy explain: one call, decided and explained by the evaluator itself. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "cli/policy.h"
#include "policy/call_spec.h"
#include "policy/explain.h"

struct options {
	const char *agent, *user, *groups, *tenant, *tool, *database, *tables, *columns, *functions;
	const char *time, *environment, *approved, *arguments, *attributes;
	const char *call, *policy;
	bool all;
};

static struct json *split(const char *list)
{
	struct json *names = json_array();

	while (*list != '\0') {
		size_t len = strcspn(list, ",");

		if (len > 0)
			json_push(names, json_new_strn(list, len));
		list += len + (list[len] == ',');
	}
	return names;
}

static void set_text(struct json *call, const char *key, const char *value)
{
	if (value != NULL)
		json_set_str(call, key, value);
}

static void set_list(struct json *call, const char *key, const char *value)
{
	if (value != NULL)
		json_set(call, key, split(value));
}

static int set_json(struct json *call, const char *key, const char *value)
{
	struct json *json = NULL;
	struct err err = {0};

	if (value == NULL)
		return EXIT_FINE;
	if (json_parse_str(value, &json, &err) < 0)
		return cli_fail(EXIT_USAGE, "--%s: %s", key, err.text);
	json_set(call, key, json);
	return EXIT_FINE;
}

static int call_json(const struct options *options, struct json **ret_call)
{
	struct json *call = NULL;
	struct err err = {0};

	if (options->call != NULL) {
		if (json_parse_str(options->call, &call, &err) < 0)
			return cli_fail(EXIT_USAGE, "--call: %s", err.text);
		*ret_call = call;
		return EXIT_FINE;
	}
	call = *ret_call = json_object();
	set_text(call, "agent", options->agent);
	set_text(call, "user", options->user);
	set_list(call, "groups", options->groups);
	set_text(call, "tenant", options->tenant);
	set_text(call, "tool", options->tool);
	set_text(call, "database", options->database);
	set_list(call, "tables", options->tables);
	set_list(call, "columns", options->columns);
	set_list(call, "functions", options->functions);
	set_text(call, "time", options->time);
	set_text(call, "environment", options->environment);
	set_list(call, "approved", options->approved);
	if (set_json(call, "arguments", options->arguments) != EXIT_FINE ||
	    set_json(call, "attributes", options->attributes) != EXIT_FINE)
		return EXIT_USAGE;
	return EXIT_FINE;
}

static int explain(const struct args *args, const struct options *options)
{
	CLEANUP(policy_source_clear) struct policy_source source = {0};
	CLEANUP(json_freep) struct json *call = NULL;
	CLEANUP(call_spec_freep) struct call_spec *spec = NULL;
	CLEANUP(json_freep) struct json *result = NULL;
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	int flags = options->all ? EXPLAIN_ALL : 0;
	struct err err = {0};
	int code = call_json(options, &call);

	if (code != EXIT_FINE)
		return code;
	if (call_spec_read(call, &spec, &err) < 0)
		return cli_usage("policy explain", "the call: %s", err.text);
	code = policy_source_open(args, options->policy == NULL ? "files" : options->policy,
				  &source);
	if (code != EXIT_FINE)
		return code;
	result = policy_explain(source.bundle, source.json, call_spec_facts(spec), flags);
	explain_write(result, flags, &text);
	if (args->json)
		cli_print_json(result);
	else
		fputs(buf_str(&text), stdout);
	return strcmp(json_get_str(json_get(result, "verdict"), "effect"), "allow") == 0
		       ? EXIT_FINE
		       : EXIT_NEGATIVE;
}

static int run(int argc, char **argv)
{
	struct options options = {0};
	const struct arg_option table[] = {
		{"--agent", NULL, &options.agent},
		{"--user", NULL, &options.user},
		{"--groups", NULL, &options.groups},
		{"--tenant", NULL, &options.tenant},
		{"--tool", NULL, &options.tool},
		{"--database", NULL, &options.database},
		{"--tables", NULL, &options.tables},
		{"--columns", NULL, &options.columns},
		{"--functions", NULL, &options.functions},
		{"--time", NULL, &options.time},
		{"--environment", NULL, &options.environment},
		{"--approved", NULL, &options.approved},
		{"--arguments", NULL, &options.arguments},
		{"--attributes", NULL, &options.attributes},
		{"--call", NULL, &options.call},
		{"--policy", NULL, &options.policy},
		{"--all", &options.all, NULL},
	};
	CLEANUP(args_clear) struct args args = {0};
	int code = args_read(argc, argv, table, ARRAY_LEN(table), 0, &args);

	return code != 0 ? code : explain(&args, &options);
}

const struct policy_command policy_explain_command = {
	.name = "explain",
	.summary = "why a call is allowed or refused, and what would change it",
	.help = "usage: writ policy explain --agent A --user U --tool T [--groups G,...] [--tenant "
		"T]\n"
		"                           [--database D] [--columns T.C,...] [--tables T,...]\n"
		"                           [--functions F,...] [--arguments JSON] [--attributes "
		"JSON]\n"
		"                           [--time 2026-10-15T10:00:00Z] [--environment E]\n"
		"                           [--approved RULE,...] [--policy P] [--all] [-C DIR] "
		"[--json]\n"
		"       writ policy explain --call JSON [...]\n"
		"\n"
		"Decides one call, which need never have been made, with the evaluator that the\n"
		"broker uses, and tells of each rule the first condition that failed and what it\n"
		"saw. When no rule allows the call, the nearest misses are told, each with the "
		"change\n"
		"to the rules that would allow it, tried out before it is told.\n"
		"\n"
		"  --columns T.C  what the call reads; --tables what it touches without reading\n"
		"  --call JSON    the whole call, as diff and test print it\n"
		"  --policy P     files (default), live, a hash, a workspace or a bundle's file\n"
		"  --all          every condition of every rule, and every miss\n"
		"\n"
		"examples:\n"
		"  writ policy explain --agent sales-query-01 --user eve --tool run_query \\\n"
		"                      --database sales --columns orders.status --functions count\n"
		"\n"
		"exit: 0 allowed, 1 denied or asks for approval, 2 wrong usage or unreadable "
		"files\n",
	.run = run,
};
