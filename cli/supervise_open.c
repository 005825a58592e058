/*
 * What a supervisor holds before it starts anything: the lock, the folders, its signals, the
 * compiled configuration, the listening socket. What can fail: a workspace that others could
 * change, files with mistakes, and the operating system.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/fs.h"
#include "cli/cli.h"
#include "cli/compile.h"
#include "cli/supervisor.h"
#include "writ/limits.h"

#define SERVICE_JSON_MAX (1u << 20)
#define SOCKET_BACKLOG 128

/* Mapped users must reach the socket in it, whatever umask its maker has. */
static int make_run(int dir_fd)
{
	if (mkdirat(dir_fd, "run", 0711) < 0)
		return errno == EEXIST ? 0 : -1;
	return fchmodat(dir_fd, "run", 0711, 0);
}

/* Root would leave files of its own in somebody else's workspace, and obey that person's roles. */
static int check_owner(int dir_fd, const char *workspace, struct err *err)
{
	struct stat stat;

	if (fstat(dir_fd, &stat) < 0)
		return err_errno(err, "%s", workspace);
	if (geteuid() != 0 || stat.st_uid == 0)
		return 0;
	return err_set(
		err, ERR_DENIED,
		"will not run as root for the workspace of user %u: start it as that user "
		"(setpriv --reuid=%u --regid=%u --clear-groups writ serve -C %s), or give it "
		"to root (chown -R root:root %s) and add roles to writ.yaml, so that each "
		"program has a user of its own",
		stat.st_uid, stat.st_uid, stat.st_gid, workspace, workspace);
}

int supervise_lock(const char *workspace, int *ret_lock_fd, struct err *err)
{
	CLEANUP(fd_closep) int dir_fd = open(workspace, O_PATH | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(fd_closep) int run_fd = -1;
	int fd;

	if (dir_fd < 0)
		return err_errno(err, "%s", workspace);
	if (check_owner(dir_fd, workspace, err) < 0)
		return -1;
	if (make_run(dir_fd) < 0)
		return err_errno(err, "make %s/run", workspace);
	run_fd = openat(dir_fd, "run", O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (run_fd < 0)
		return err_errno(err, "%s/run", workspace);
	fd = openat(run_fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return err_errno(err, "%s/run/lock", workspace);
	if (flock(fd, LOCK_EX | LOCK_NB) == 0) {
		*ret_lock_fd = fd;
		return 0;
	}
	if (errno == EWOULDBLOCK)
		err_set(err, ERR_UNAVAILABLE, "another service holds %s", workspace);
	else
		err_errno(err, "%s/run/lock", workspace);
	close(fd);
	return -1;
}

static int open_socket(struct supervisor *supervisor, struct err *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return err_errno(err, "socket");
	supervisor->listen_fd = fd;
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d/writ.sock",
		 supervisor->run_fd);
	if (unlinkat(supervisor->run_fd, "writ.sock", 0) < 0 && errno != ENOENT)
		return err_errno(err, "remove the stale run/writ.sock");
	if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return err_errno(err, "bind run/writ.sock");
	/* Who connects is decided by the broker from peer credentials, not by file mode. */
	if (fchmodat(supervisor->run_fd, "writ.sock", 0666, 0) < 0)
		return err_errno(err, "open run/writ.sock to all users");
	if (listen(fd, SOCKET_BACKLOG) < 0)
		return err_errno(err, "listen on run/writ.sock");
	return 0;
}

static int open_signals(struct supervisor *supervisor, struct err *err)
{
	sigset_t wanted;

	sigemptyset(&wanted);
	sigaddset(&wanted, SIGCHLD);
	sigaddset(&wanted, SIGTERM);
	sigaddset(&wanted, SIGINT);
	sigaddset(&wanted, SIGHUP);
	sigaddset(&wanted, SIGUSR1);
	sigprocmask(SIG_BLOCK, &wanted, NULL);
	supervisor->signal_fd = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
	return supervisor->signal_fd < 0 ? err_errno(err, "signalfd") : 0;
}

/* The soft bound is often 1,024, of which 512 sessions take more; what a hard bound forbids, the
 * broker says. */
static int raise_descriptors(struct err *err)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return err_errno(err, "how many descriptors may be open");
	if (limit.rlim_cur >= WRIT_DESCRIPTORS)
		return 0;
	limit.rlim_cur = limit.rlim_max < WRIT_DESCRIPTORS ? limit.rlim_max : WRIT_DESCRIPTORS;
	if (setrlimit(RLIMIT_NOFILE, &limit) < 0)
		return err_errno(err, "raise how many descriptors may be open");
	return 0;
}

static int read_config(struct supervisor *supervisor, struct err *err)
{
	struct buf bytes = BUF_INIT;
	int result = file_read_at(supervisor->workspace_fd, "state/service.json", SERVICE_JSON_MAX,
				  &bytes, err);

	if (result == 0)
		result = json_parse(buf_str(&bytes), bytes.len, SERVICE_JSON_MAX,
				    &supervisor->config, err);
	buf_clear(&bytes);
	return result < 0 ? err_wrap(err, "state/service.json") : 0;
}

static int open_folders(struct supervisor *supervisor, struct err *err)
{
	supervisor->workspace_fd = open(supervisor->options->workspace,
					O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (supervisor->workspace_fd < 0)
		return err_errno(err, "%s", supervisor->options->workspace);
	if (path_check_owned(supervisor->options->workspace, err) < 0)
		return -1;
	supervisor->run_fd = openat(supervisor->workspace_fd, "run",
				    O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return supervisor->run_fd < 0 ? err_errno(err, "run") : 0;
}

/* A service that nobody watches writes its messages to run/service.log, anew each time. */
static int redirect_log(const struct supervisor *supervisor, struct err *err)
{
	CLEANUP(fd_closep)
	int fd = openat(supervisor->run_fd, "service.log",
			O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0 || dup2(fd, STDERR_FILENO) < 0)
		return err_errno(err, "run/service.log");
	return 0;
}

/* Everything in state/ is where it belongs before a program of the service sees it. */
static int take_roles(struct supervisor *supervisor, struct err *err)
{
	bool used = false;

	if (program_roles_read(supervisor->config, supervisor->options->workspace,
			       &supervisor->roles, &used, err) < 0)
		return -1;
	if (!used)
		return 0;
	supervisor->programs.roles = &supervisor->roles;
	return program_roles_give_state(supervisor->workspace_fd, &supervisor->roles, err);
}

static void list_programs(struct supervisor *supervisor)
{
	const char *sandbox = json_get_str(supervisor->config, "sandbox");

	programs_init(&supervisor->programs, supervisor->config);
	supervisor->programs.workspace = supervisor->options->workspace;
	supervisor->programs.until_idle = supervisor->options->until_idle;
	supervisor->programs.reduced = sandbox != NULL && strcmp(sandbox, "reduced") == 0;
	supervisor->programs.workspace_fd = supervisor->workspace_fd;
	supervisor->programs.listen_fd = supervisor->listen_fd;
}

int supervisor_open(struct supervisor *supervisor, struct err *err)
{
	if (open_folders(supervisor, err) < 0 || open_signals(supervisor, err) < 0 ||
	    raise_descriptors(err) < 0)
		return -1;
	supervisor->exit_code = compile_in_child(supervisor->options->workspace);
	if (supervisor->exit_code == EXIT_UNAVAILABLE)
		return err_set(err, ERR_DENIED,
			       "the workspace cannot be used as it is (see above)");
	if (supervisor->exit_code != EXIT_FINE)
		return err_set(err, ERR_INVALID, "the workspace's files have mistakes (see above)");
	if (read_config(supervisor, err) < 0 || take_roles(supervisor, err) < 0)
		return -1;
	if (supervisor->options->until_idle && redirect_log(supervisor, err) < 0)
		return -1;
	if (open_socket(supervisor, err) < 0)
		return -1;
	list_programs(supervisor);
	supervisor->hang_after_ms =
		json_get_int(supervisor->config, "hang_after_ms", WRIT_HANG_AFTER_MS_DEFAULT);
	supervisor->pulse_at_us = clock_mono_us() + supervisor->hang_after_ms * 1000;
	return 0;
}

void supervisor_close(struct supervisor *supervisor)
{
	const int fds[] = {supervisor->workspace_fd, supervisor->listen_fd, supervisor->signal_fd};

	if (supervisor->listen_fd >= 0)
		unlinkat(supervisor->run_fd, "writ.sock", 0);
	if (supervisor->run_fd >= 0)
		close(supervisor->run_fd);
	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		if (fds[i] >= 0)
			close(fds[i]);
	programs_clear(&supervisor->programs);
	json_free(supervisor->config);
	for (size_t i = 0; i < supervisor->untold_count; i++)
		json_free(supervisor->untold[i]);
}
