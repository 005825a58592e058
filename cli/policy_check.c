/* writ policy check: every mistake of writ.yaml and the scope files in one run. */
#include <stdio.h>

#include "cli/policy.h"
#include "policy/lint.h"

static void print_json(const struct policy_files *files)
{
	struct json *json = json_object();
	bool fine = files->problems.error_count == 0;

	json_set_bool(json, "ok", fine);
	json_set_int(json, "errors", (int64_t)files->problems.error_count);
	json_set(json, "problems", problems_json(&files->problems));
	json_set(json, "notes", json_copy(files->notes));
	json_set_str(json, "digest", fine ? bundle_digest(files->bundle) : NULL);
	json_set_int(json, "agents", fine ? (int64_t)bundle_agent_count(files->bundle) : 0);
	json_set_int(json, "rules", fine ? (int64_t)bundle_rule_count(files->bundle) : 0);
	cli_print_json(json);
	json_free(json);
}

static void print_text(const struct policy_files *files)
{
	size_t errors = files->problems.error_count;
	size_t warnings = files->problems.count + files->problems.unshown - errors;
	size_t agents, rules;

	problems_print(&files->problems, stdout);
	json_each(note, files->notes) fprintf(stderr, "note: %s\n", json_str(note));
	if (errors > 0) {
		fprintf(stderr, "writ: %zu mistake%s\n", errors, plural(errors));
		return;
	}
	agents = bundle_agent_count(files->bundle);
	rules = bundle_rule_count(files->bundle);
	printf("policy %.12s: %zu agent%s, %zu rule%s, no mistake", bundle_digest(files->bundle),
	       agents, plural(agents), rules, plural(rules));
	if (warnings > 0)
		printf(", %zu warning%s", warnings, plural(warnings));
	putchar('\n');
}

/* Only where there is no mistake: what a rule does is known then. */
static int look_for_idle_rules(struct policy_files *files)
{
	struct err err = {0};
	int done = policy_lint(files->fd, files->bundle, files->json, &files->problems, &err);

	if (done < 0)
		return cli_fail(EXIT_USAGE, "%s", err.text);
	if (done > 0)
		json_push_str(files->notes, "too many rules to look for those that change nothing");
	problems_sort(&files->problems);
	return EXIT_FINE;
}

static int run(int argc, char **argv)
{
	CLEANUP(policy_files_clear) struct policy_files files = {0};
	bool no_data = false;
	const struct arg_option options[] = {{"--no-data", &no_data, NULL}};
	CLEANUP(args_clear) struct args args = {0};
	int code = args_read(argc, argv, options, ARRAY_LEN(options), 0, &args);

	if (code == 0)
		code = policy_files_read(&args, no_data ? 0 : POLICY_WITH_DATA, &files);
	if (code == EXIT_FINE && files.problems.error_count == 0)
		code = look_for_idle_rules(&files);
	if (code != EXIT_FINE)
		return code;
	if (args.json)
		print_json(&files);
	else
		print_text(&files);
	return files.problems.error_count > 0 ? EXIT_NEGATIVE : EXIT_FINE;
}

const struct policy_command policy_check = {
	.name = "check",
	.summary = "every mistake, at its place, with what to do",
	.help = "usage: writ policy check [-C DIR] [--no-data] [--json]\n"
		"\n"
		"Reads writ.yaml and every scope file and shows all mistakes at their place, each\n"
		"with a stable code. Tables and columns are compared with the data, which the\n"
		"connectors are asked for; users and groups with writ.yaml. Rules without effect\n"
		"are warnings. Changes nothing and needs no service.\n"
		"\n"
		"  -C DIR     the workspace; otherwise the nearest folder upward with a writ.yaml\n"
		"  --no-data  do not start the connectors; names of tables are then not checked\n"
		"  --json     {ok, errors, problems, notes, digest, agents, rules}\n"
		"\n"
		"examples:\n"
		"  writ policy check -C examples/sales\n"
		"  writ policy check --json | jq -r '.problems[] | .code'\n"
		"\n"
		"exit: 0 no mistake, 1 mistakes, 2 wrong usage or unreadable files\n",
	.run = run,
};
