/* The command line: read this first. One row per command in main.c, one file per group of commands.
 * Results go to stdout, everything else to stderr; exit codes are include/writ/exit_codes.h. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include <stdbool.h>

#include "base/err.h"
#include "base/json.h"
#include "writ/exit_codes.h"

struct command {
	const char *name;
	const char *summary;		   /* one line for `writ --help` */
	/* usage, options, examples, exit codes; NULL when run() answers --help by itself, since
	 * each of its subcommands has a help of its own */
	const char *help;
	int (*run)(int argc, char **argv); /* argv[0] is the command's name */
};

/* "writ: text" on stderr; returns code, so that it can end a command. */
int cli_fail(int code, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same for an error value: usage-like kinds give EXIT_USAGE, the rest EXIT_UNAVAILABLE. */
int cli_fail_err(const struct err *err, const char *doing);
/* True for --help and -h anywhere before "--": prints the help of the named command. */
bool cli_wants_help(int argc, char **argv);
int cli_usage(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints json to stdout: one line, or indented on a terminal. */
void cli_print_json(const struct json *json);
bool cli_color(void); /* stdout is a terminal and NO_COLOR is not set */

/* The absolute path, without links, of the workspace: dir (from -C), or the nearest folder upward
 * from here that holds writ.yaml. */
MUST_CHECK int cli_workspace_find(const char *dir, char **ret_path, struct err *err);

#endif
