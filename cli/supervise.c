/*
 * The supervisor of one workspace.
 *
 *   lock -> compile (a process of its own) -> listening socket -> start programs -> attach -> watch
 *
 * Who died decides what happens: a signer or connector is started again and attached anew, so is an
 * orchestrator (its sessions end); when the broker ends, everything ends with it, and unless that
 * was the clean end everything is started again. Ends of channels are closed here as soon as both
 * programs hold theirs; a death is noticed by SIGCHLD and by nothing else.
 */
#include "cli/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/lane.h"
#include "base/log.h"
#include "cli/cli.h"
#include "cli/compile.h"
#include "cli/programs.h"

#define STOP_WAIT_MS 8000      /* the broker lets running calls finish for 5 s */
#define KILL_WAIT_MS 1000      /* after SIGTERM, before SIGKILL */
#define RESTART_WAIT_MIN_MS 50 /* a crash at start must not spin */
#define RESTART_WAIT_MAX_MS 10000
#define STEADY_US (30 * 1000000LL) /* running this long forgives earlier failures */
#define SERVICE_JSON_MAX (1u << 20)
#define SOCKET_BACKLOG 128

struct supervisor {
	const struct supervise_options *options;
	struct json *config; /* service.json */
	struct programs programs;
	int workspace_fd;
	int run_fd;
	int listen_fd;
	int signal_fd;
	bool stopping;
	int exit_code;
};

int supervise_lock(const char *workspace, int *ret_lock_fd, struct err *err)
{
	CLEANUP(fd_closep) int dir_fd = open(workspace, O_PATH | O_DIRECTORY | O_CLOEXEC);
	CLEANUP(fd_closep) int run_fd = -1;
	int fd;

	if (dir_fd < 0)
		return err_errno(err, "%s", workspace);
	if (mkdirat(dir_fd, "run", 0711) < 0 && errno != EEXIST)
		return err_errno(err, "make %s/run", workspace);
	run_fd = openat(dir_fd, "run", O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (run_fd < 0)
		return err_errno(err, "%s/run", workspace);
	fd = openat(run_fd, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return err_errno(err, "%s/run/lock", workspace);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		close(fd);
		if (errno != EWOULDBLOCK)
			return err_errno(err, "%s/run/lock", workspace);
		return err_set(err, ERR_UNAVAILABLE, "another service holds %s", workspace);
	}
	*ret_lock_fd = fd;
	return 0;
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

static void stop(struct supervisor *supervisor);

/* ---- deaths ---- */

static void plan_restart(struct program *program)
{
	int64_t now = clock_mono_us();

	if (now - program->started_us > STEADY_US || program->wait_ms == 0)
		program->wait_ms = RESTART_WAIT_MIN_MS;
	else if (program->wait_ms < RESTART_WAIT_MAX_MS)
		program->wait_ms *= 2;
	program->pid = 0;
	program->start_after_us = now + program->wait_ms * 1000LL;
}

/* Ends of the broker that starting again cannot mend. */
static bool is_final(int code)
{
	return code == EXIT_AUDIT_DAMAGED || code == EXIT_IO || code == EXIT_CONFIG ||
	       code == EXIT_NO_SANDBOX || code == 127;
}

static void describe_end(const struct program *program, int status)
{
	if (WIFSIGNALED(status))
		log_error("%s was ended by signal %d (%s)", program_label(program),
			  WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) != 0)
		log_error("%s ended with exit code %d", program_label(program),
			  WEXITSTATUS(status));
}

/* Everyone else loses their channels with the broker and ends by end of file. */
static void on_broker_end(struct supervisor *supervisor, struct program *broker, int status)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_UNAVAILABLE;

	if (supervisor->stopping || code == 0 || is_final(code) ||
	    (supervisor->options->until_idle && code != EXIT_BUSY)) {
		supervisor->stopping = true;
		supervisor->exit_code = code;
	}
	for (size_t i = 0; i < supervisor->programs.count; i++)
		if (supervisor->programs.items[i].pid > 0 &&
		    &supervisor->programs.items[i] != broker)
			kill(supervisor->programs.items[i].pid, SIGTERM);
	plan_restart(broker);
}

/* A source that cannot be served leaves the rest of the service useful; keys or a task store that
 * cannot be used do not. */
static void on_other_end(struct supervisor *supervisor, struct program *program, int status)
{
	if (program->kind != PROGRAM_CONNECTOR && WIFEXITED(status) &&
	    is_final(WEXITSTATUS(status)) && !supervisor->stopping) {
		supervisor->exit_code = WEXITSTATUS(status);
		stop(supervisor);
	}
	plan_restart(program);
}

static void reap(struct supervisor *supervisor)
{
	pid_t pid;
	int status;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		struct program *program = programs_find_pid(&supervisor->programs, pid);

		if (program == NULL)
			continue;
		if (!supervisor->stopping)
			describe_end(program, status);
		program->pid = 0;
		if (program->kind == PROGRAM_BROKER)
			on_broker_end(supervisor, program, status);
		else
			on_other_end(supervisor, program, status);
	}
}

static bool only_others_running(struct supervisor *supervisor)
{
	return programs_broker(&supervisor->programs)->pid == 0 &&
	       programs_any_running(&supervisor->programs);
}

/* A program that is not there will not be there after a pause either. */
static void on_start_failed(struct supervisor *supervisor, struct program *program,
			    const struct err *err)
{
	log_error("start %s: %s", program_label(program), err->text);
	if (err->kind == ERR_NOT_FOUND) {
		supervisor->exit_code = EXIT_UNAVAILABLE;
		stop(supervisor);
	} else if (program->pid == 0) {
		plan_restart(program);
	}
}

/* Starts what is due. The others wait for a broker, and a new broker waits until everything that
 * belonged to the old one has ended. */
static void start_due(struct supervisor *supervisor)
{
	int64_t now = clock_mono_us();
	struct err err = {0};

	if (supervisor->stopping || only_others_running(supervisor))
		return;
	for (size_t i = 0; i < supervisor->programs.count; i++) {
		struct program *program = &supervisor->programs.items[i];

		if (program->pid > 0)
			continue;
		if (program->start_after_us > now ||
		    (i > 0 && programs_broker(&supervisor->programs)->pid == 0))
			return;
		if (program_start(&supervisor->programs, program, &err) < 0) {
			on_start_failed(supervisor, program, &err);
			return;
		}
	}
}

static int wait_for_due_ms(const struct supervisor *supervisor)
{
	int64_t now = clock_mono_us();
	int64_t soonest = -1;

	for (size_t i = 0; i < supervisor->programs.count; i++) {
		const struct program *program = &supervisor->programs.items[i];
		int64_t wait_us = program->start_after_us - now;

		if (program->pid > 0)
			continue;
		if (wait_us < 0)
			wait_us = 0;
		if (soonest < 0 || wait_us < soonest)
			soonest = wait_us;
	}
	return soonest < 0 ? -1 : (int)(soonest / 1000) + 1;
}

/* ---- stopping and reloading ---- */

static void tell_broker(struct supervisor *supervisor, const char *what)
{
	CLEANUP(json_freep) struct json *message = json_object();
	struct err err = {0};

	json_set_bool(message, what, true);
	if (supervisor->programs.control_fd >= 0 &&
	    programs_broker(&supervisor->programs)->pid > 0 &&
	    lane_send_blocking(supervisor->programs.control_fd, message, -1, &err) < 0)
		log_error("tell the broker to %s: %s", what, err.text);
}

static void stop(struct supervisor *supervisor)
{
	if (supervisor->stopping)
		return;
	supervisor->stopping = true;
	tell_broker(supervisor, "stop");
}

static void reload(struct supervisor *supervisor)
{
	if (compile_in_child(supervisor->options->workspace) != EXIT_FINE) {
		log_error("reload: the files have mistakes; the last good policy stays in force");
		return;
	}
	tell_broker(supervisor, "reload");
}

static void kill_all(struct supervisor *supervisor, int signal_number)
{
	for (size_t i = 0; i < supervisor->programs.count; i++)
		if (supervisor->programs.items[i].pid > 0)
			kill(supervisor->programs.items[i].pid, signal_number);
}

static void on_signal(struct supervisor *supervisor, uint32_t number)
{
	if (number == SIGCHLD)
		reap(supervisor);
	else if (number == SIGHUP)
		reload(supervisor);
	else
		stop(supervisor);
}

static void wait_for_signal(struct supervisor *supervisor, int timeout_ms)
{
	struct pollfd ready = {.fd = supervisor->signal_fd, .events = POLLIN};
	struct signalfd_siginfo info;

	if (poll(&ready, 1, timeout_ms) <= 0)
		return;
	while (read(supervisor->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		on_signal(supervisor, info.ssi_signo);
}

static void wait_for_end(struct supervisor *supervisor, int wait_ms)
{
	int64_t give_up = clock_mono_us() + wait_ms * 1000LL;

	while (programs_any_running(&supervisor->programs) && clock_mono_us() < give_up)
		wait_for_signal(supervisor, (int)((give_up - clock_mono_us()) / 1000) + 1);
}

static void watch(struct supervisor *supervisor)
{
	while (!supervisor->stopping) {
		start_due(supervisor);
		wait_for_signal(supervisor, wait_for_due_ms(supervisor));
	}
	wait_for_end(supervisor, STOP_WAIT_MS);
	kill_all(supervisor, SIGTERM);
	wait_for_end(supervisor, KILL_WAIT_MS);
	kill_all(supervisor, SIGKILL);
	wait_for_end(supervisor, KILL_WAIT_MS);
}

/* ---- setting up ---- */

static int open_signals(struct supervisor *supervisor, struct err *err)
{
	sigset_t wanted;

	sigemptyset(&wanted);
	sigaddset(&wanted, SIGCHLD);
	sigaddset(&wanted, SIGTERM);
	sigaddset(&wanted, SIGINT);
	sigaddset(&wanted, SIGHUP);
	sigprocmask(SIG_BLOCK, &wanted, NULL);
	supervisor->signal_fd = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
	return supervisor->signal_fd < 0 ? err_errno(err, "signalfd") : 0;
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

static int refuse_root(const struct supervisor *supervisor, struct err *err)
{
	if (geteuid() != 0)
		return 0;
	return err_set(
		err, ERR_DENIED,
		"will not run as root: the programs would hold more than they need; start it as "
		"the user who owns %s (for example: setpriv --reuid=USER --regid=GROUP "
		"--clear-groups writ serve -C %s)",
		supervisor->options->workspace, supervisor->options->workspace);
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

static void tell_ready(const struct supervisor *supervisor)
{
	int fd = supervisor->options->ready_fd;

	if (fd < 0)
		return;
	IGNORE(write(fd, "r", 1) < 0, "whoever started us is gone; the service can still be used");
	close(fd);
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

static int set_up(struct supervisor *supervisor, struct err *err)
{
	if (refuse_root(supervisor, err) < 0 || open_folders(supervisor, err) < 0 ||
	    open_signals(supervisor, err) < 0)
		return -1;
	supervisor->exit_code = compile_in_child(supervisor->options->workspace);
	if (supervisor->exit_code != EXIT_FINE)
		return err_set(err, ERR_INVALID, "the workspace's files have mistakes (see above)");
	if (read_config(supervisor, err) < 0)
		return -1;
	if (supervisor->options->until_idle && redirect_log(supervisor, err) < 0)
		return -1;
	if (open_socket(supervisor, err) < 0)
		return -1;
	list_programs(supervisor);
	return 0;
}

static void tear_down(struct supervisor *supervisor)
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
}

int supervise(const struct supervise_options *options, int lock_fd)
{
	struct supervisor supervisor = {.options = options,
					.workspace_fd = -1,
					.run_fd = -1,
					.listen_fd = -1,
					.signal_fd = -1,
					.programs = {.control_fd = -1}};
	struct err err = {0};

	(void)lock_fd; /* held by being open */
	if (set_up(&supervisor, &err) < 0) {
		fprintf(stderr, "writ: start the service: %s\n", err.text);
		if (supervisor.exit_code == EXIT_FINE)
			supervisor.exit_code =
				err.kind == ERR_INVALID ? EXIT_USAGE : EXIT_UNAVAILABLE;
	} else {
		tell_ready(&supervisor);
		watch(&supervisor);
	}
	tear_down(&supervisor);
	return supervisor.exit_code;
}
