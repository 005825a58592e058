/* writ: the command line. One row per command; each lives in a file of its group. */
#include <stdio.h>
#include <stdlib.h>
#include <signal.h>
#include <string.h>

#include "base/crypto.h"
#include "base/log.h"
#include "base/nearest.h"
#include "cli/cli.h"
#include "cli/commands.h"

static const struct command *const commands[] = {
	&command_ask,	 &command_serve,  &command_task,   &command_call,  &command_token,
	&command_status, &command_policy, &command_metric, &command_query, &command_eval,  &command_audit,
	&command_mcp,
	&command_approval,
};

const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

static void print_overview(FILE *out)
{
	fprintf(out,
		"writ answers questions about your data through agents that hold only signed,\n"
		"short-lived authority, and can prove afterwards what each of them did.\n\n"
		"usage: writ COMMAND [OPTIONS]\n\n");
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		fprintf(out, "  %-8s  %s\n", commands[i]->name, commands[i]->summary);
	fprintf(out, "\nOptions everywhere: -C DIR (workspace), --json, --help.\n"
		     "Start here: writ ask -C examples/sales "
		     "\"Which regions had the highest net sales last quarter?\"\n");
}

static int unknown(const char *word)
{
	const char *names[ARRAY_LEN(commands)];
	const char *near;

	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		names[i] = commands[i]->name;
	near = nearest_word(word, names, ARRAY_LEN(names));
	if (near != NULL)
		return cli_fail(EXIT_USAGE, "no command \"%s\"; did you mean %s?", word, near);
	return cli_fail(EXIT_USAGE, "no command \"%s\"; see writ --help", word);
}

static bool is_one_of(const char *word, const char *a, const char *b)
{
	return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

int main(int argc, char **argv)
{
	const struct command *command;

	signal(SIGPIPE, SIG_IGN);
	log_open("writ");
	crypto_init();
	if (argc < 2) {
		print_overview(stderr);
		return EXIT_USAGE;
	}
	if (is_one_of(argv[1], "--help", "help")) {
		print_overview(stdout);
		return EXIT_FINE;
	}
	if (is_one_of(argv[1], "--version", "version")) {
		printf("writ %s\n", WRIT_VERSION);
		return EXIT_FINE;
	}
	command = command_find(argv[1]);
	if (command == NULL)
		return unknown(argv[1]);
	if (command->help != NULL && cli_wants_help(argc - 1, argv + 1)) {
		fputs(command->help, stdout);
		return EXIT_FINE;
	}
	return command->run(argc - 1, argv + 1);
}
