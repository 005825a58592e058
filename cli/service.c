/*
 * Joining a running service, or starting one for our own use.
 *
 *   connect ok ----------------------------------------> joined
 *   refused / absent --> lock free --> fork supervisor --> ready --> connect again
 *                    \-> lock busy --> it is starting or stopping: wait, connect again
 *
 * The socket is reached through the folder's descriptor, since sun_path holds only 108 bytes.
 */
#include "cli/service.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/sandbox.h"
#include "cli/cli.h"
#include "cli/supervise.h"

#define JOIN_WAIT_US (20 * 1000000LL) /* a service that recovers a long log may take seconds */
#define JOIN_STEP_MS 5
#define LEAVE_WAIT_MS 3000 /* writing the signed tail takes milliseconds */

/* 0, or the errno of what failed. */
static int connect_socket(const char *workspace, int *ret_fd)
{
	CLEANUP(mem_freep) char *run = mem_format("%s/run", workspace);
	CLEANUP(fd_closep) int run_fd = open(run, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd, number;

	if (run_fd < 0)
		return errno;
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/writ.sock", run_fd);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return errno;
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		number = errno;
		close(fd);
		return number;
	}
	*ret_fd = fd;
	return 0;
}

static bool nobody_answers(int number)
{
	return number == ENOENT || number == ECONNREFUSED;
}

static bool own_workspace(const char *workspace)
{
	struct stat info;

	return stat(workspace, &info) == 0 && info.st_uid == geteuid();
}

static int refuse_to_start(const char *workspace, struct err *err)
{
	if (own_workspace(workspace))
		return err_set(err, ERR_UNAVAILABLE,
			       "no service runs for %s; start it with: writ serve -C %s", workspace,
			       workspace);
	return err_set(
		err, ERR_UNAVAILABLE,
		"no service runs for %s, and only the workspace's owner can start one; ask the "
		"owner to run: writ serve -C %s",
		workspace, workspace);
}

struct start {
	int lock_fd;  /* the supervisor's as well: it holds the lock */
	int ready[2]; /* a byte when clients may connect */
	int done[2];  /* end of file when the supervisor has gone */
};

static void start_close(const struct start *start)
{
	for (int i = 0; i < 2; i++) {
		fd_closep(&start->ready[i]);
		fd_closep(&start->done[i]);
	}
}

/* The caller's pipes are not ours to hold open: who reads them would wait for the service to end.
 * Messages go to our stderr until run/service.log is open. */
static int let_go(const struct start *start, struct err *err)
{
	const int kept[] = {STDIN_FILENO,   STDOUT_FILENO,   STDERR_FILENO,
			    start->lock_fd, start->ready[1], start->done[1]};
	CLEANUP(fd_closep) int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0)
		return err_errno(err, "/dev/null");
	return sandbox_close_others(kept, ARRAY_LEN(kept), err);
}

/* In the child: a session of its own, so that a signal to the command does not reach the service
 * that others may have joined meanwhile. */
static void run_supervisor(const char *workspace, const struct start *start)
{
	struct supervise_options options = {
		.workspace = workspace, .until_idle = true, .ready_fd = start->ready[1]};
	struct err err = {0};

	if (let_go(start, &err) < 0)
		_exit(cli_fail(EXIT_UNAVAILABLE, "start the service: %s", err.text));
	setsid();
	_exit(supervise(&options, start->lock_fd));
}

static int await_ready(const char *workspace, const struct start *start, pid_t pid, struct err *err)
{
	int status;
	char byte;

	if (read(start->ready[0], &byte, 1) == 1)
		return 0;
	if (waitpid(pid, &status, 0) == pid && WIFEXITED(status))
		return err_set(err,
			       WEXITSTATUS(status) == EXIT_USAGE ? ERR_INVALID : ERR_UNAVAILABLE,
			       "the service of %s did not start (exit %d)", workspace,
			       WEXITSTATUS(status));
	return err_set(err, ERR_UNAVAILABLE, "the service of %s died while starting", workspace);
}

/* ret_done stays open in the supervisor alone, so its end of file is the service's end. */
static int start_service(const char *workspace, int lock_fd, int *ret_done, struct err *err)
{
	CLEANUP(start_close)
	struct start start = {.lock_fd = lock_fd, .ready = {-1, -1}, .done = {-1, -1}};
	pid_t pid;

	if (pipe2(start.ready, O_CLOEXEC) < 0 || pipe2(start.done, O_CLOEXEC) < 0)
		return err_errno(err, "pipe");
	pid = fork();
	if (pid < 0)
		return err_errno(err, "start the service");
	if (pid == 0)
		run_supervisor(workspace, &start);
	close(start.ready[1]);
	close(start.done[1]);
	start.ready[1] = start.done[1] = -1;
	if (await_ready(workspace, &start, pid, err) < 0)
		return -1;
	*ret_done = start.done[0];
	start.done[0] = -1;
	return 0;
}

static int start_or_wait(const char *workspace, struct service *service, struct err *err)
{
	CLEANUP(fd_closep) int lock_fd = -1;

	if (supervise_lock(workspace, &lock_fd, err) < 0) {
		if (err->kind != ERR_UNAVAILABLE)
			return -1;
		IGNORE(poll(NULL, 0, JOIN_STEP_MS) < 0, "only a pause");
		return 0;
	}
	return start_service(workspace, lock_fd, &service->supervisor_done, err);
}

int service_join(const char *workspace, int flags, struct service *ret_service, struct err *err)
{
	struct service service = {.client = NULL, .supervisor_done = -1};
	int64_t give_up = clock_mono_us() + JOIN_WAIT_US;
	int fd = -1, number;

	while ((number = connect_socket(workspace, &fd)) != 0) {
		if (!nobody_answers(number))
			return err_set(err, ERR_UNAVAILABLE, "%s/run/writ.sock: %s", workspace,
				       strerror(number));
		if (!(flags & SERVICE_ABSENT_OK) || !own_workspace(workspace))
			return refuse_to_start(workspace, err);
		if (clock_mono_us() > give_up)
			return err_set(err, ERR_TIMEOUT,
				       "the service of %s neither starts nor stops; see "
				       "%s/run/service.log",
				       workspace, workspace);
		if (start_or_wait(workspace, &service, err) < 0)
			return -1;
	}
	service.client = client_new(fd);
	*ret_service = service;
	return 0;
}

void service_leave(struct service *service)
{
	struct pollfd done = {.fd = service->supervisor_done, .events = POLLIN};

	client_free(TAKE(service->client));
	if (service->supervisor_done < 0)
		return;
	IGNORE(poll(&done, 1, LEAVE_WAIT_MS) < 0, "others may still use it; it ends by itself");
	close(service->supervisor_done);
	service->supervisor_done = -1;
	while (waitpid(-1, NULL, WNOHANG) > 0)
		continue;
}
