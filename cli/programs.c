/* Starting the programs; see programs.h. An end of a channel is closed here as soon as both
 * programs hold theirs. */
#include "cli/programs.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lane.h"
#include "cli/spawn.h"

void programs_init(struct programs *programs, const struct json *config)
{
	const struct json *sources = json_get(config, "sources");
	const struct json *sinks = json_get(config, "sinks");
	struct program *program;

	programs->items = mem_array(3 + json_len(sources) + json_len(sinks), sizeof(*program));
	program = programs->items;
	(program++)->kind = PROGRAM_BROKER;
	(program++)->kind = PROGRAM_SIGNER;
	json_each(source, sources)
	{
		program->kind = PROGRAM_CONNECTOR;
		program->name = json_key(source);
		program->source = json_get_str(source, "path");
		program++;
	}
	(program++)->kind = PROGRAM_ORCHESTRATOR;
	json_each(sink, sinks)
	{
		program->kind = PROGRAM_SINK;
		program->name = json_key(sink);
		program->source = json_get_str(sink, "path");
		program->sink = json_get_str(sink, "kind");
		program++;
	}
	programs->count = (size_t)(program - programs->items);
	for (size_t i = 0; i < programs->count; i++)
		programs->items[i].broker_fd = programs->items[i].probe_fd = -1;
}

void programs_clear(struct programs *programs)
{
	if (programs->control_fd >= 0)
		close(programs->control_fd);
	programs->control_fd = -1;
	for (size_t i = 0; i < programs->count; i++) {
		fd_closep(&programs->items[i].broker_fd);
		fd_closep(&programs->items[i].probe_fd);
	}
	mem_free(programs->items);
	programs->items = NULL;
	programs->count = 0;
}

struct program *programs_broker(const struct programs *programs)
{
	return &programs->items[0];
}

struct program *programs_find_pid(const struct programs *programs, pid_t pid)
{
	for (size_t i = 0; i < programs->count; i++)
		if (programs->items[i].pid == pid)
			return &programs->items[i];
	return NULL;
}

bool programs_any_running(const struct programs *programs)
{
	for (size_t i = 0; i < programs->count; i++)
		if (programs->items[i].pid > 0)
			return true;
	return false;
}

static int socket_pair(int ret_ends[2], struct err *err)
{
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ret_ends) < 0)
		return err_errno(err, "socketpair");
	return 0;
}

static const char *program_file(enum program_kind kind)
{
	switch (kind) {
	case PROGRAM_BROKER:
		return "writ-broker";
	case PROGRAM_SIGNER:
		return "writ-signer";
	case PROGRAM_CONNECTOR:
		return "writ-sqlite";
	case PROGRAM_ORCHESTRATOR:
		return "writ-orchestrator";
	case PROGRAM_SINK:
		return "writ-sink";
	}
	return NULL;
}

const char *program_label(const struct program *program)
{
	return program->name != NULL ? program->name : program_file(program->kind);
}

static const struct spawn_user *role_of(const struct program_roles *roles, enum program_kind kind)
{
	switch (kind) {
	case PROGRAM_BROKER:
		return &roles->users[ROLE_BROKER];
	case PROGRAM_SIGNER:
		return &roles->users[ROLE_SIGNER];
	case PROGRAM_CONNECTOR:
		return &roles->users[ROLE_SQLITE];
	case PROGRAM_ORCHESTRATOR:
		return &roles->users[ROLE_ORCHESTRATOR];
	case PROGRAM_SINK: /* whoever writes the log may read it */
		return &roles->users[ROLE_BROKER];
	}
	return NULL;
}

static int start_program(struct programs *programs, struct program *program, const int *fds,
			 int fd_count, struct err *err)
{
	const char *args[8];
	struct spawn spawn = {.program = program_file(program->kind), .args = args};
	int count = 0;

	if (program->kind == PROGRAM_CONNECTOR) {
		args[count++] = program->name;
		args[count++] = program->source;
	} else {
		args[count++] = programs->workspace;
	}
	if (program->kind == PROGRAM_SINK) {
		args[count++] = program->name;
		args[count++] = program->sink;
		args[count++] = program->source;
	}
	if (program->kind == PROGRAM_BROKER && programs->until_idle)
		args[count++] = "--until-idle";
	if (program->kind == PROGRAM_SIGNER && fd_count == 3)
		args[count++] = "--checkpoint";
	if (programs->reduced)
		args[count++] = "--reduced";
	args[count] = NULL;
	for (int i = 0; i < fd_count; i++)
		spawn.fds[i] = fds[i];
	spawn.fd_count = fd_count;
	if (programs->roles != NULL)
		spawn.user = role_of(programs->roles, program->kind);
	program->started_us = clock_mono_us();
	program->misses = 0;
	return spawn_program(&spawn, &program->pid, err);
}

static int start_broker(struct programs *programs, struct program *program, struct err *err)
{
	int ends[2], result;
	int fds[2];

	if (socket_pair(ends, err) < 0)
		return -1;
	fds[0] = ends[1];
	fds[1] = programs->listen_fd;
	result = start_program(programs, program, fds, 2, err);
	close(ends[1]);
	if (programs->control_fd >= 0)
		close(programs->control_fd);
	programs->control_fd = ends[0];
	return result;
}

const char *program_kind(const struct program *program)
{
	switch (program->kind) {
	case PROGRAM_SIGNER:
		return "signer";
	case PROGRAM_ORCHESTRATOR:
		return "orchestrator";
	case PROGRAM_CONNECTOR:
		return "connector";
	case PROGRAM_SINK:
		return "sink";
	case PROGRAM_BROKER:
		return "broker";
	}
	return NULL;
}

static struct json *attach_message(const struct program *program)
{
	struct json *message = json_object();

	json_set_str(message, "attach", program_kind(program));
	if (program->name != NULL)
		json_set_str(message, "name", program->name);
	if (program->kind == PROGRAM_CONNECTOR)
		json_set_str(message, "kind", "sqlite");
	return message;
}

#define LENT_MAX 2

static int lend(const struct programs *programs, const char *path, bool must, struct err *err)
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NOFOLLOW;
	int fd = openat(programs->workspace_fd, path, flags);

	if (fd < 0 && errno == ENOENT && !must)
		fd = open("/dev/null", flags); /* there is none yet */
	return fd < 0 ? err_errno(err, "%s", path) : fd;
}

/* What it reads and could not open itself, from fds on; returns how many. Of the signer's two the
 * epoch is opened first: the head must not be older. */
static int lend_files(const struct programs *programs, const struct program *program, int *fds,
		      struct err *err)
{
	if (program->kind == PROGRAM_ORCHESTRATOR) {
		fds[0] = lend(programs, "state/service.json", true, err);
		return fds[0] < 0 ? -1 : 1;
	}
	if (program->kind != PROGRAM_SIGNER || programs->roles == NULL)
		return 0;
	fds[1] = lend(programs, "state/audit/epoch", false, err);
	if (fds[1] < 0)
		return -1;
	fds[0] = lend(programs, "state/audit/checkpoint", false, err);
	if (fds[0] >= 0)
		return 2;
	close(fds[1]);
	return -1;
}

/* A program that cannot be started is never attached. */
static int start_other(struct programs *programs, struct program *program, struct err *err)
{
	int ends[2], fds[1 + LENT_MAX], result;
	int lent;

	if (socket_pair(ends, err) < 0)
		return -1;
	fds[0] = ends[1];
	lent = lend_files(programs, program, fds + 1, err);
	result = lent < 0 ? -1 : start_program(programs, program, fds, 1 + lent, err);
	for (int i = 0; i < lent; i++)
		close(fds[1 + i]);
	close(ends[1]);
	if (result < 0) {
		close(ends[0]);
		return -1;
	}
	fd_closep(&program->broker_fd); /* of one that ended before it was attached */
	program->broker_fd = ends[0];
	return 0;
}

int program_start(struct programs *programs, struct program *program, struct err *err)
{
	return program->kind == PROGRAM_BROKER ? start_broker(programs, program, err)
					       : start_other(programs, program, err);
}

bool program_is_attached(const struct program *program)
{
	return program->pid > 0 && program->broker_fd < 0;
}

int program_attach(struct programs *programs, struct program *program, struct err *err)
{
	CLEANUP(fd_closep) int fd = program->broker_fd;
	CLEANUP(json_freep) struct json *message = NULL;

	if (fd < 0)
		return 0;
	program->broker_fd = -1;
	message = attach_message(program);
	if (lane_send_blocking(programs->control_fd, message, fd, err) < 0)
		return err_wrap(err, "attach %s to the broker", program_label(program));
	return 0;
}
