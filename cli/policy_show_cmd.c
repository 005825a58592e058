/* writ policy show: the rules as the broker obeys them. */
#include <stdio.h>
#include <string.h>

#include "cli/policy.h"
#include "cli/policy_review.h"
#include "cli/policy_show.h"

static void print_state(const struct policy_files *files)
{
	const char *digest = bundle_digest(files->bundle);

	printf("Policy %s\n", digest);
	if (files->in_force[0] == '\0')
		return;
	if (strcmp(digest, files->in_force) == 0)
		printf("as last compiled for the service\n");
	else
		printf("not yet compiled for the service, which has %.12s\n", files->in_force);
}

static int run(int argc, char **argv)
{
	CLEANUP(policy_files_clear) struct policy_files files = {0};
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	CLEANUP(args_clear) struct args args = {0};
	int code = args_read(argc, argv, NULL, 0, 1, &args);

	if (code == 0)
		code = policy_files_want(&args, POLICY_WITH_DATA, &files);
	if (code != EXIT_FINE)
		return code;
	if (args.word_count == 1)
		return policy_review(&files, args.words[0], args.json);
	if (args.json) {
		cli_print_json(files.json);
		return EXIT_FINE;
	}
	print_state(&files);
	policy_show(files.json, &text);
	printf("\n%s", buf_str(&text));
	return EXIT_FINE;
}

const struct policy_command policy_show_command = {
	.name = "show",
	.summary = "the rules as the broker obeys them",
	.help = "usage: writ policy show [USER|AGENT] [-C DIR] [--json]\n"
		"\n"
		"With a name: what that agent may do for each person, or every agent for that "
		"user,\n"
		"as a matrix of tables and tools. Without: prints agents, rules and limits as the "
		"broker will obey them, each with file and\n"
		"line, and the named lists of functions. Changes nothing and needs no service.\n"
		"\n"
		"  -C DIR   the workspace; otherwise the nearest folder upward with a writ.yaml\n"
		"  --json   the bundle; with a name the matrix\n"
		"\n"
		"examples:\n"
		"  writ policy show -C examples/sales\n"
		"  writ policy show sales-query-01\n"
		"  writ policy show --json | jq '.rules[].id'\n"
		"\n"
		"exit: 0 shown, 1 the files have mistakes, 2 wrong usage or unreadable files\n",
	.run = run,
};
