/*
 * writ-orchestrator WORKSPACE [--reduced]
 *
 * The ladder: read our configuration (descriptor 4), open the task store, then confine ourselves,
 * then look at the lane (descriptor 3). After that this process opens nothing but its own store and
 * talks to nobody but over descriptors the broker hands it.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "orchestrator/agent_wait.h"
#include "orchestrator/confine.h"
#include "orchestrator/orchestrator.h"
#include "orchestrator/queue.h"
#include "orchestrator/retention.h"
#include "orchestrator/store.h"
#include "writ/exit_codes.h"

#define LANE_FD 3
#define CONFIG_FD 4
#define CONFIG_BYTES_MAX (1u << 20)

static int read_config(struct json **ret_config, struct err *err)
{
	char bytes[4096];
	struct buf text = BUF_INIT;
	ssize_t got;
	int result;

	while ((got = read(CONFIG_FD, bytes, sizeof(bytes))) > 0 && text.len <= CONFIG_BYTES_MAX)
		buf_add(&text, bytes, (size_t)got);
	close(CONFIG_FD);
	result = got < 0 ? err_errno(err, "read")
			 : json_parse(buf_str(&text), text.len, CONFIG_BYTES_MAX, ret_config, err);
	buf_clear(&text);
	return result < 0 ? err_wrap(err, "service.json") : 0;
}

/* The store's folder becomes the current one, so that the confined process needs no path. */
static int enter_store_folder(const char *workspace, struct err *err)
{
	CLEANUP(fd_closep)
	int workspace_fd = open(workspace, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	CLEANUP(fd_closep) int state_fd = -1;
	CLEANUP(fd_closep) int tasks_fd = -1;

	if (workspace_fd < 0)
		return err_errno(err, "%s", workspace);
	if (dir_pass_private_at(workspace_fd, "state", &state_fd, err) < 0 ||
	    dir_open_private_at(state_fd, "tasks", true, &tasks_fd, err) < 0)
		return -1;
	if (fchdir(tasks_fd) < 0)
		return err_errno(err, "enter state/tasks");
	return 0;
}

static int fail(const struct err *err)
{
	log_error("%s", err->text);
	return err->kind == ERR_IO ? EXIT_IO : EXIT_CONFIG;
}

static void shut_down(struct orchestrator *orchestrator)
{
	lane_close(orchestrator->lane);
	while (orchestrator->sessions != NULL)
		session_end(orchestrator->sessions, "the service stops");
	queue_close(orchestrator);
	agent_wait_close(orchestrator);
	retention_close(orchestrator);
	while (uv_loop_close(orchestrator->loop) == UV_EBUSY)
		uv_run(orchestrator->loop, UV_RUN_ONCE);
	store_close(orchestrator->store);
}

static int run(struct orchestrator *orchestrator, const char *workspace, bool reduced_ok)
{
	static const int kept[] = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, LANE_FD, CONFIG_FD};
	CLEANUP(json_freep) struct json *config = NULL;
	uv_loop_t loop;
	struct err err = {0};

	if (sandbox_close_others(kept, ARRAY_LEN(kept), &err) < 0)
		return fail(&err), EXIT_NO_SANDBOX;
	if (read_config(&config, &err) < 0 || enter_store_folder(workspace, &err) < 0 ||
	    store_open("tasks.db", clock_now_us(), &orchestrator->store, &err) < 0)
		return fail(&err);
	if (orchestrator_confine(reduced_ok, &orchestrator->sandbox, &err) < 0)
		return fail(&err), EXIT_NO_SANDBOX;
	uv_loop_init(&loop);
	orchestrator->loop = &loop;
	orchestrator->config = config;
	queue_init(orchestrator);
	agent_wait_init(orchestrator);
	retention_init(orchestrator);
	orchestrator_open_lane(orchestrator, LANE_FD);
	uv_run(&loop, UV_RUN_DEFAULT);
	shut_down(orchestrator);
	return EXIT_FINE;
}

int main(int argc, char **argv)
{
	struct orchestrator orchestrator = {0};
	bool reduced = argc == 3 && strcmp(argv[2], "--reduced") == 0;

	log_open("writ-orchestrator");
	signal(SIGPIPE, SIG_IGN);
	umask(077);
	if (argc < 2 || argc > 3 || (argc == 3 && !reduced)) {
		fprintf(stderr,
			"usage: writ-orchestrator WORKSPACE [--reduced] (started by writ serve)\n");
		return EXIT_USAGE;
	}
	return run(&orchestrator, argv[1], reduced);
}
