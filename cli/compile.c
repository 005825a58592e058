/* The compile step in a process of its own, so that a hostile file meets nothing but its parser. */
#include "cli/compile.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agents/query/metrics/model.h"
#include "cli/cli.h"
#include "policy/workspace.h"

static int compile(const char *workspace)
{
	CLEANUP(problems_clear) struct problems problems = PROBLEMS_INIT;
	CLEANUP(fd_closep) int fd = open(workspace, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct err err = {0};

	if (fd < 0)
		return cli_fail(EXIT_USAGE, "%s cannot be opened", workspace);
	if (workspace_compile(fd, workspace, model_compile, &problems, &err) < 0)
		return cli_fail(err.kind == ERR_DENIED ? EXIT_UNAVAILABLE : EXIT_USAGE, "%s",
				err.text);
	problems_print(&problems, stderr);
	return problems.error_count > 0 ? EXIT_NEGATIVE : EXIT_FINE;
}

int compile_in_child(const char *workspace)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(compile(workspace));
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return cli_fail(EXIT_UNAVAILABLE, "the compile step could not be started");
	if (!WIFEXITED(status))
		return cli_fail(EXIT_UNAVAILABLE, "the compile step was ended by signal %d",
				WTERMSIG(status));
	return WEXITSTATUS(status);
}
