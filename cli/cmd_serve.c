/* writ serve: run the service of a workspace in the foreground. */
#include <unistd.h>

#include "cli/args.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/supervise.h"

static int run(int argc, char **argv)
{
	CLEANUP(mem_freep) char *workspace = NULL;
	struct supervise_options options = {.ready_fd = -1};
	struct args args;
	struct err err = {0};
	int code = args_read(argc, argv, NULL, 0, 0, &args);
	int lock_fd = -1;

	if (code == 0 && cli_workspace_find(args.workspace, &workspace, &err) < 0)
		code = cli_fail(EXIT_USAGE, "%s", err.text);
	if (code == 0 && supervise_lock(workspace, &lock_fd, &err) < 0)
		code = err.kind == ERR_UNAVAILABLE
			       ? cli_fail(EXIT_BUSY, "%s; stop it first, or ask through it",
					  err.text)
			       : cli_fail(EXIT_UNAVAILABLE, "%s", err.text);
	if (code == 0) {
		options.workspace = workspace;
		code = supervise(&options, lock_fd);
	}
	if (lock_fd >= 0)
		close(lock_fd);
	args_clear(&args);
	return code;
}

const struct command command_serve = {
	.name = "serve",
	.summary = "run the service of a workspace in the foreground",
	.help = "usage: writ serve [-C DIR]\n"
		"\n"
		"Starts broker, signer, orchestrator and one connector per source, each confined "
		"to what\n"
		"it needs, and keeps them running. Messages go to stderr (WRIT_LOG=info or debug "
		"for\n"
		"more). SIGTERM or Ctrl-C stops it cleanly; SIGHUP reads the files again: if they "
		"have\n"
		"mistakes, the last good policy stays in force. Started as root, it runs each "
		"program as\n"
		"the user that roles in writ.yaml names for it, and refuses without.\n"
		"\n"
		"Examples:\n"
		"  writ serve -C /srv/writ/sales\n"
		"  systemd-run --user writ serve -C ~/sales\n"
		"\n"
		"Exit codes: 0 stopped cleanly; 1 the files have mistakes; 2 wrong usage; 3 could "
		"not\n"
		"start; 65 the audit log contradicts its own head (writ audit verify says where);\n"
		"74 disk failure; 75 another service holds the workspace; 79 no sandbox.\n",
	.run = run,
};
