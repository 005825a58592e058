/* fork, arrange descriptors, execve. Everything that can fail in the parent does so before fork;
 * what fails in the child ends it with 127 and a line on stderr. */
#include "cli/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/sandbox.h"

#define FIRST_FD 3
#define ARGS_MAX 8
#define ABOVE_ALL 100 /* where descriptors wait until their final number is free */

int spawn_folder(char **ret_folder, struct err *err)
{
	char path[PATH_MAX];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash;

	if (len < 0)
		return err_errno(err, "find our own executable");
	path[len] = '\0';
	slash = strrchr(path, '/');
	if (slash == NULL)
		return err_set(err, ERR_INTERNAL, "our own executable has no folder: %s", path);
	*slash = '\0';
	*ret_folder = mem_str(path);
	return 0;
}

static char **minimal_environment(void)
{
	static const char *const kept[] = {"WRIT_LOG", "TZDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS",
					   "LSAN_OPTIONS"};
	char **environment = mem_array(ARRAY_LEN(kept) + 1, sizeof(*environment));
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		const char *value = getenv(kept[i]);

		if (value != NULL)
			environment[count++] = mem_format("%s=%s", kept[i], value);
	}
	return environment;
}

static void child_die(const char *what)
{
	log_error("%s: %s", what, strerror(errno));
	_exit(127);
}

static void arrange_descriptors(const struct spawn *spawn)
{
	int moved[SPAWN_FDS_MAX];
	int null = open("/dev/null", O_RDWR);

	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0)
		child_die("/dev/null");
	for (int i = 0; i < spawn->fd_count; i++) {
		moved[i] = fcntl(spawn->fds[i], F_DUPFD, ABOVE_ALL);
		if (moved[i] < 0)
			child_die("keep a descriptor");
	}
	for (int i = 0; i < spawn->fd_count; i++)
		if (dup2(moved[i], FIRST_FD + i) < 0)
			child_die("place a descriptor");
	if (close_range((unsigned)(FIRST_FD + spawn->fd_count), ~0U, 0) < 0)
		child_die("close what must not cross over");
}

static void reset_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, SIG_DFL);
}

static void become(const struct spawn *spawn, char *path, char **environment)
{
	char *argv[ARGS_MAX + 2] = {path};
	struct err err = {0};

	for (int i = 0; i < ARGS_MAX && spawn->args[i] != NULL; i++)
		argv[i + 1] = mem_str(spawn->args[i]);
	reset_signals();
	arrange_descriptors(spawn);
	if (spawn->user != NULL && sandbox_become(spawn->user->uid, spawn->user->gid, &err) < 0) {
		log_error("%s: %s", path, err.text);
		_exit(127);
	}
	execve(path, argv, environment);
	child_die(path);
}

static void free_environment(char **environment)
{
	for (size_t i = 0; environment[i] != NULL; i++)
		mem_free(environment[i]);
	mem_free(environment);
}

int spawn_program(const struct spawn *spawn, pid_t *ret_pid, struct err *err)
{
	CLEANUP(mem_freep) char *folder = NULL;
	CLEANUP(mem_freep) char *path = NULL;
	char **environment;
	pid_t pid;

	if (spawn_folder(&folder, err) < 0)
		return -1;
	path = mem_format("%s/%s", folder, spawn->program);
	if (access(path, X_OK) < 0)
		return err_set(
			err, ERR_NOT_FOUND,
			"%s is missing or cannot be run; all programs of writ belong in one folder",
			path);
	environment = minimal_environment();
	pid = fork();
	if (pid == 0)
		become(spawn, path, environment);
	free_environment(environment);
	if (pid < 0)
		return err_errno(err, "start %s", spawn->program);
	*ret_pid = pid;
	return 0;
}
