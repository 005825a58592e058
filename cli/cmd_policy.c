/* writ policy: which subcommand. Each lives in cli/policy_<name>.c. */
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "cli/commands.h"
#include "cli/policy.h"

static const struct policy_command *const subcommands[] = {
	&policy_check,
	&policy_fmt,
	&policy_test,
	&policy_show_command,
	&policy_who_command,
	&policy_explain_command,
	&policy_diff,
	&policy_prove_command,
	&policy_replay,
	&policy_shadow,
	&policy_compile_command,
	&policy_apply,
	&policy_rollback,
	&policy_log,
	&policy_schema_command,
};

static void print_overview(FILE *out)
{
	fputs("usage: writ policy COMMAND [OPTIONS]\n\n", out);
	for (size_t i = 0; i < ARRAY_LEN(subcommands); i++)
		fprintf(out, "  %-8s  %s\n", subcommands[i]->name, subcommands[i]->summary);
	fputs("\nEach has a --help with examples and takes -C DIR (workspace) and --json.\n"
	      "Exit codes of all: 0 fine, 1 a negative finding, 2 wrong usage or unreadable "
	      "files,\n"
	      "3 the service could not do it.\n",
	      out);
}

static int unknown(const char *word)
{
	const char *names[ARRAY_LEN(subcommands)];
	const char *near;

	for (size_t i = 0; i < ARRAY_LEN(subcommands); i++)
		names[i] = subcommands[i]->name;
	near = nearest_word(word, names, ARRAY_LEN(names));
	if (near != NULL)
		return cli_usage("policy", "no \"%s\"; did you mean %s?", word, near);
	return cli_usage("policy", "no \"%s\"", word);
}

static int run_one(const struct policy_command *command, int argc, char **argv)
{
	CLEANUP(mem_freep) char *name = mem_format("policy %s", command->name);

	if (cli_wants_help(argc, argv)) {
		fputs(command->help, stdout);
		return EXIT_FINE;
	}
	argv[0] = name;
	return command->run(argc, argv);
}

static int cmd_policy(int argc, char **argv)
{
	if (argc < 2) {
		print_overview(stderr);
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < ARRAY_LEN(subcommands); i++)
		if (strcmp(argv[1], subcommands[i]->name) == 0)
			return run_one(subcommands[i], argc - 1, argv + 1);
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		print_overview(stdout);
		return EXIT_FINE;
	}
	return unknown(argv[1]);
}

const struct command command_policy = {
	.name = "policy",
	.summary = "write, check, test, compare and apply the rules",
	.help = NULL,
	.run = cmd_policy,
};
