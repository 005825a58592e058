/* What every command shares: messages, help, JSON output, finding the workspace. */
#include "cli/cli.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"

int cli_fail(int code, const char *format, ...)
{
	va_list args;

	fputs("writ: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	return code;
}

int cli_fail_err(const struct err *err, const char *doing)
{
	int code = err->kind == ERR_INVALID || err->kind == ERR_NOT_FOUND ? EXIT_USAGE
									  : EXIT_UNAVAILABLE;

	return cli_fail(code, "%s: %s", doing, err->text);
}

int cli_usage(const char *command, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "writ %s: ", command);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "; see writ %s --help\n", command);
	return EXIT_USAGE;
}

bool cli_wants_help(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return true;
	return false;
}

void cli_print_json(const struct json *json)
{
	struct buf out = BUF_INIT;

	if (isatty(STDOUT_FILENO))
		json_write_pretty(json, &out);
	else
		json_write(json, &out);
	fwrite(buf_str(&out), 1, out.len, stdout);
	fputc('\n', stdout);
	buf_clear(&out);
}

bool cli_color(void)
{
	const char *no_color = getenv("NO_COLOR"); /* https://no-color.org */

	return isatty(STDOUT_FILENO) && (no_color == NULL || no_color[0] == '\0');
}

static bool holds_workspace(const char *folder)
{
	CLEANUP(mem_freep) char *file = mem_format("%s/writ.yaml", folder);

	return access(file, F_OK) == 0;
}

static int find_upward(char *folder, char **ret_path, struct err *err)
{
	char start[PATH_MAX];

	snprintf(start, sizeof(start), "%s", folder);
	while (!holds_workspace(folder)) {
		char *slash = strrchr(folder, '/');

		if (slash == NULL || slash == folder)
			return err_set(err, ERR_NOT_FOUND,
				       "no writ.yaml in %s or above; name a workspace with -C DIR",
				       start);
		*slash = '\0';
	}
	*ret_path = mem_str(folder);
	return 0;
}

int cli_workspace_find(const char *dir, char **ret_path, struct err *err)
{
	char folder[PATH_MAX];

	if (realpath(dir != NULL ? dir : ".", folder) == NULL)
		return err_errno(err, "workspace %s", dir != NULL ? dir : "."),
		       err->kind = ERR_NOT_FOUND, -1;
	if (dir == NULL)
		return find_upward(folder, ret_path, err);
	if (!holds_workspace(folder))
		return err_set(err, ERR_NOT_FOUND, "%s is not a workspace: it has no writ.yaml",
			       folder);
	*ret_path = mem_str(folder);
	return 0;
}
