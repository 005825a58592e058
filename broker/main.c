/*
 * writ-broker WORKSPACE [--until-idle] [--reduced]
 *
 * The ladder: arguments, what is open already (3: control lane, 4: listening socket), configuration
 * and database out of state/, drop everything else, Landlock (confine.c), start the thread pool,
 * seccomp, and only then the loop that reads a peer's first byte.
 */
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/file.h"
#include "base/log.h"
#include "broker/broker.h"
#include "broker/confine.h"
#include "writ/exit_codes.h"
#include "writ/limits.h"

#define CONTROL_FD 3
#define LISTEN_FD 4

struct arguments {
	const char *workspace;
	uint64_t descriptors; /* not an argument, but given in the same way */
	bool until_idle;
	bool reduced_ok;
};

static int read_arguments(int argc, char **argv, struct arguments *ret, struct err *err)
{
	char real[PATH_MAX];

	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--until-idle") == 0)
			ret->until_idle = true;
		else if (strcmp(argv[i], "--reduced") == 0)
			ret->reduced_ok = true;
		else if (argv[i][0] == '-' || ret->workspace != NULL)
			return err_set(err, ERR_INVALID, "unknown argument %s", argv[i]);
		else
			ret->workspace = argv[i];
	}
	if (ret->workspace == NULL || ret->workspace[0] != '/')
		return err_set(err, ERR_INVALID, "WORKSPACE must be an absolute path");
	if (realpath(ret->workspace, real) == NULL)
		return err_errno(err, "%s", ret->workspace);
	if (strcmp(real, ret->workspace) != 0)
		return err_set(err, ERR_INVALID, "WORKSPACE must be a path without links: %s",
			       real);
	return 0;
}

/* The orchestrator has the same bound: one supervisor set both. */
static int count_descriptors(uint64_t *ret_count, struct err *err)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return err_errno(err, "how many descriptors may be open");
	*ret_count = limit.rlim_cur;
	if (limit.rlim_cur < DESCRIPTORS_ALL)
		log_error("only %llu descriptors may be open, enough for %zu of %d sessions; start "
			  "writ with a hard limit of %d or more (ulimit -Hn, LimitNOFILE=)",
			  (unsigned long long)limit.rlim_cur, capacity_of(limit.rlim_cur).sessions,
			  SESSIONS_MAX, WRIT_DESCRIPTORS);
	return 0;
}

static int check_descriptors(struct err *err)
{
	struct stat stat;

	for (int fd = CONTROL_FD; fd <= LISTEN_FD; fd++) {
		if (fstat(fd, &stat) < 0 || !S_ISSOCK(stat.st_mode))
			return err_set(err, ERR_INVALID,
				       "descriptor %d is not a socket; writ serve starts this "
				       "program",
				       fd);
		if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0)
			return err_errno(err, "descriptor %d", fd);
	}
	if (fcntl(LISTEN_FD, F_SETFL, O_NONBLOCK) < 0)
		return err_errno(err, "descriptor %d", LISTEN_FD);
	return 0;
}

struct opened {
	int config_fd;
	int passwd_fd;
	char *state_path;    /* owned */
	char *audit_path;    /* owned */
	char *database_path; /* owned */
	struct config *config;
	struct token_store *store;
};

/* The folders that confinement leaves us, those we write made if they are absent. */
static int open_folders(const char *workspace, struct opened *opened, struct err *err)
{
	CLEANUP(fd_closep)
	int dir = open(workspace, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	CLEANUP(fd_closep) int state_fd = -1;
	CLEANUP(fd_closep) int broker_fd = -1;
	CLEANUP(fd_closep) int audit_fd = -1;

	if (dir < 0)
		return err_errno(err, "%s", workspace);
	if (dir_pass_private_at(dir, "state", &state_fd, err) < 0)
		return err_wrap(err, "%s", workspace);
	if (dir_open_private_at(state_fd, "config", false, &opened->config_fd, err) < 0 ||
	    dir_open_private_at(state_fd, "broker", true, &broker_fd, err) < 0 ||
	    dir_open_private_at(state_fd, "audit", true, &audit_fd, err) < 0)
		return err_wrap(err, "%s/state", workspace);
	return 0;
}

static int open_state(const char *workspace, struct opened *opened, struct err *err)
{
	if (open_folders(workspace, opened, err) < 0)
		return -1;
	opened->state_path = mem_format("%s/state", workspace);
	opened->audit_path = mem_format("%s/audit", opened->state_path);
	opened->database_path = mem_format("%s/broker/broker.db", opened->state_path);
	if (config_load(opened->config_fd, &opened->config, err) < 0)
		return -1;
	opened->passwd_fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	return token_store_open(opened->database_path, &opened->store, err);
}

/* libuv starts its threads at the first use; seccomp forbids new ones. */
static void nothing(uv_work_t *work)
{
	(void)work;
}

static void after_nothing(uv_work_t *work, int status)
{
	(void)work;
	(void)status;
}

static int start_threads(uv_loop_t *loop, struct err *err)
{
	uv_work_t work;

	if (uv_queue_work(loop, &work, nothing, after_nothing) < 0)
		return err_set(err, ERR_IO, "the thread pool does not start");
	uv_run(loop, UV_RUN_DEFAULT);
	return 0;
}

static int complain(int exit_code, const struct err *err)
{
	log_error("%s", err->text);
	return exit_code;
}

static void on_signal(uv_signal_t *handle, int number)
{
	(void)number;
	service_stop(handle->data, "signal");
}

struct signals {
	uv_signal_t term;
	uv_signal_t interrupt;
};

static void signals_open(struct signals *signals, uv_loop_t *loop, struct broker *broker)
{
	signals->term.data = signals->interrupt.data = broker;
	uv_signal_init(loop, &signals->term);
	uv_signal_init(loop, &signals->interrupt);
	uv_signal_start(&signals->term, on_signal, SIGTERM);
	uv_signal_start(&signals->interrupt, on_signal, SIGINT);
	/* The loop ends when nothing else is left. */
	uv_unref((uv_handle_t *)&signals->term);
	uv_unref((uv_handle_t *)&signals->interrupt);
}

/* After a clean stop nothing else is open, and the loop closes. */
static void signals_close(struct signals *signals, uv_loop_t *loop)
{
	uv_close((uv_handle_t *)&signals->term, NULL);
	uv_close((uv_handle_t *)&signals->interrupt, NULL);
	uv_run(loop, UV_RUN_NOWAIT);
	if (uv_loop_close(loop) < 0)
		log_info("the loop still held something");
}

static int serve(uv_loop_t *loop, const struct arguments *arguments, struct opened *opened,
		 enum sandbox_level level)
{
	struct broker_options options = {.audit_dir = opened->audit_path,
					 .config_fd = opened->config_fd,
					 .passwd_fd = opened->passwd_fd,
					 .descriptors = arguments->descriptors,
					 .until_idle = arguments->until_idle,
					 .sandbox = level};
	struct signals signals;
	struct broker broker;
	struct err err;

	broker_init(&broker, loop, &options, TAKE(opened->config), TAKE(opened->store));
	signals_open(&signals, loop, &broker);
	if (service_open(&broker, CONTROL_FD, LISTEN_FD, &err) < 0)
		return complain(EXIT_IO, &err);
	uv_run(loop, UV_RUN_DEFAULT);
	signals_close(&signals, loop);
	broker_clear(&broker);
	return broker.exit_code;
}

static int run(uv_loop_t *loop, struct arguments *arguments, struct opened *opened)
{
	const int kept[] = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, CONTROL_FD, LISTEN_FD};
	enum sandbox_level level = SANDBOX_REDUCED;
	struct err err;

	if (check_descriptors(&err) < 0 || count_descriptors(&arguments->descriptors, &err) < 0)
		return complain(EXIT_USAGE, &err);
	if (sandbox_close_others(kept, ARRAY_LEN(kept), &err) < 0)
		return complain(EXIT_NO_SANDBOX, &err);
	if (open_state(arguments->workspace, opened, &err) < 0)
		return complain(err.kind == ERR_IO ? EXIT_IO : EXIT_CONFIG, &err);
	if (broker_confine_files(opened->state_path, arguments->reduced_ok, &level, &err) < 0)
		return complain(EXIT_NO_SANDBOX, &err);
	if (uv_loop_init(loop) < 0 || start_threads(loop, &err) < 0)
		return complain(EXIT_IO, &err);
	if (broker_confine_calls(&err) < 0)
		return complain(EXIT_NO_SANDBOX, &err);
	return serve(loop, arguments, opened, level);
}

int main(int argc, char **argv)
{
	struct arguments arguments = {0};
	struct opened opened = {.config_fd = -1, .passwd_fd = -1};
	uv_loop_t loop;
	struct err err;
	int exit_code;

	log_open("writ-broker");
	umask(077);
	signal(SIGPIPE, SIG_IGN);
	crypto_init();
	if (read_arguments(argc, argv, &arguments, &err) < 0) {
		fprintf(stderr,
			"writ-broker: %s\nusage: writ-broker WORKSPACE [--until-idle] "
			"[--reduced]\n",
			err.text);
		return EXIT_USAGE;
	}
	exit_code = run(&loop, &arguments, &opened);
	token_store_close(opened.store);
	config_free(opened.config);
	mem_free(opened.state_path);
	mem_free(opened.audit_path);
	mem_free(opened.database_path);
	return exit_code;
}
