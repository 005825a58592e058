/* The compile step in a process of its own, so that a hostile file meets nothing but its parser. */
#include "cli/compile.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agents/query/verified/verified_source.h"
#include "base/clock.h"
#include "base/log.h"
#include "cli/catalog.h"
#include "cli/cli.h"
#include "cli/compiled.h"
#include "cli/policy_gate.h"
#include "cli/program_roles.h"
#include "policy/workspace.h"

/* Root writes nothing before it is known that nothing will run as root. */
static int check_roles(int fd, const char *path, struct err *err)
{
	CLEANUP(problems_clear) struct problems problems = PROBLEMS_INIT;
	CLEANUP(workspace_clear) struct workspace workspace = {0};
	struct program_roles roles;
	bool used;

	if (workspace_read(fd, path, WORKSPACE_NO_DATA, &workspace, &problems, err) < 0)
		return -1;
	if (problems.error_count > 0)
		return 0; /* the compile step shows them, and writes nothing */
	return program_roles_read(workspace.service, path, &roles, &used, err);
}

static int compile_anew(int fd, const char *workspace, bool *ret_silent)
{
	CLEANUP(problems_clear) struct problems problems = PROBLEMS_INIT;
	struct err err = {0};

	if (geteuid() == 0 && check_roles(fd, workspace, &err) < 0)
		return cli_fail(EXIT_UNAVAILABLE, "%s", err.text);
	if (workspace_compile(fd, workspace, verified_models_compile, catalogs_read, &problems,
			      &err) < 0)
		return cli_fail(err.kind == ERR_DENIED ? EXIT_UNAVAILABLE : EXIT_USAGE, "%s",
				err.text);
	problems_print(&problems, stderr);
	*ret_silent = problems.count == 0;
	return problems.error_count > 0 ? EXIT_NEGATIVE : EXIT_FINE;
}

/* Warnings are shown at every start, so only a run without any is one that can be left out. */
static int compile(const char *workspace)
{
	CLEANUP(fd_closep) int fd = open(workspace, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct compiled before, after;
	struct err err = {0};
	bool known, silent = false;
	int code;

	if (fd < 0)
		return cli_fail(EXIT_USAGE, "%s cannot be opened", workspace);
	known = compiled_take(fd, workspace, &before, &err) == 0;
	if (!known)
		log_debug("compile: %s", err.text);
	else if (compiled_is_kept(fd, &before)) {
		log_debug("compile: nothing has changed since the last time");
		return EXIT_FINE;
	}
	code = compile_anew(fd, workspace, &silent);
	if (code != EXIT_FINE || !known || !silent ||
	    compiled_take(fd, workspace, &after, &err) < 0 || strcmp(before.read, after.read) != 0)
		return code;
	if (compiled_keep(fd, &after, &err) < 0)
		log_debug("compile: %s", err.text);
	return code;
}

int compile_start(const char *workspace, pid_t *ret_pid, struct err *err)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(compile(workspace));
	if (pid < 0)
		return err_errno(err, "start the compile step");
	*ret_pid = pid;
	return 0;
}

int compile_result(int status)
{
	if (!WIFEXITED(status))
		return cli_fail(EXIT_UNAVAILABLE, "the compile step was ended by signal %d",
				WTERMSIG(status));
	return WEXITSTATUS(status);
}

int reload_start(const char *workspace, pid_t *ret_pid, struct err *err)
{
	struct gate_result result;
	pid_t pid = fork();

	if (pid == 0) {
		int code = policy_gate_apply(workspace, false, stderr, &result);

		if (code == EXIT_NEGATIVE)
			fprintf(stderr, "writ: %s\n", result.refused);
		_exit(code);
	}
	if (pid < 0)
		return err_errno(err, "start the compile step");
	*ret_pid = pid;
	return 0;
}

int reload_result(int status, const char **ret_why)
{
	int code = compile_result(status);

	*ret_why = code == EXIT_NEGATIVE
			   ? "the files have mistakes, fail their tests or break an invariant"
		   : code == EXIT_USAGE ? "the files cannot be read"
					: "the files could not be compiled";
	return code;
}

/* A deadline for what reads files of the workspace: one on a dead network mount never answers. */
static bool wait_for_end(pid_t pid)
{
	CLEANUP(fd_closep) int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd ended = {.fd = fd, .events = POLLIN};
	int64_t give_up = clock_mono_us() + COMPILE_WAIT_MS * 1000LL;
	int64_t left;

	while (fd >= 0 && (left = give_up - clock_mono_us()) > 0)
		if (poll(&ended, 1, (int)(left / 1000) + 1) == 1)
			return true;
	return fd < 0; /* a kernel before 5.3: without a deadline */
}

int compile_in_child(const char *workspace)
{
	struct err err = {0};
	bool in_time;
	int status;
	pid_t pid;

	if (compile_start(workspace, &pid, &err) < 0)
		return cli_fail(EXIT_UNAVAILABLE, "%s", err.text);
	in_time = wait_for_end(pid);
	if (!in_time)
		kill(pid, SIGKILL);
	if (waitpid(pid, &status, in_time ? 0 : WNOHANG) != pid && in_time)
		return cli_fail(EXIT_UNAVAILABLE, "the compile step was lost");
	if (!in_time)
		return cli_fail(EXIT_UNAVAILABLE, "reading the files took over %d s: given up",
				COMPILE_WAIT_MS / 1000);
	return compile_result(status);
}
