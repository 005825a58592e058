/*
 * Starts the connector of each source for one question. It confines itself as always; what it
 * answers is a foreign program's word and is only ever compared with names. A connector that dies
 * or is silent leaves its source unread.
 */
#include "cli/catalog.h"

#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/channel.h"
#include "base/line.h"
#include "cli/program_roles.h"
#include "cli/spawn.h"

#define ANSWER_WAIT_MS 5000 /* who takes longer is not waited for at a start */

static int start(const struct json *service, const struct json *source, int fd, pid_t *ret_pid,
		 struct err *err)
{
	const char *sandbox = json_get_str(service, "sandbox");
	const char *args[4] = {json_key(source), json_get_str(source, "path")};
	struct spawn spawn = {.program = "writ-sqlite", .args = args, .fd_count = 1};
	struct program_roles roles;
	bool used = false;

	/* Nothing runs as root, this connector no more than the service's. */
	if (geteuid() == 0 &&
	    program_roles_read(service, json_get_str(service, "workspace"), &roles, &used, err) < 0)
		return -1;
	if (used)
		spawn.user = &roles.users[ROLE_SQLITE];
	if (sandbox != NULL && strcmp(sandbox, "reduced") == 0)
		args[2] = "--reduced";
	spawn.fds[0] = fd;
	return spawn_program(&spawn, ret_pid, err);
}

/* One request, one answer, and no longer than it takes to list names. */
static int ask(int fd, struct json **ret_catalog, struct err *err)
{
	CLEANUP(line_reader_clear) struct line_reader reader;
	CLEANUP(json_freep) struct json *request = json_object();
	CLEANUP(json_freep) struct json *line = NULL;
	const struct json *result;
	const char *text;
	int got;

	line_reader_init(&reader, fd, CHANNEL_LINE_MAX);
	json_set_str(request, "jsonrpc", "2.0");
	json_set_int(request, "id", 1);
	json_set_str(request, "method", "catalog");
	json_set(request, "params", json_object());
	if (line_write(fd, request, err) < 0)
		return -1;
	got = line_read(&reader, ANSWER_WAIT_MS, &line, err);
	if (got <= 0)
		return got < 0 ? -1 : err_set(err, ERR_UNAVAILABLE, "its connector ended");
	result = json_get(line, "result");
	text = json_get_str(result, "error");
	if (json_type(json_get(result, "tables")) != JSON_ARRAY)
		return err_set(err, ERR_UNAVAILABLE, "%s",
			       text == NULL ? "its connector gave no list of tables" : text);
	*ret_catalog = json_copy(result);
	return 0;
}

static int read_one(const struct json *service, const struct json *source,
		    struct json **ret_catalog, struct err *err)
{
	const char *path = json_get_str(source, "path");
	int ends[2], result;
	pid_t pid = 0;

	if (path == NULL || access(path, R_OK) < 0)
		return err_errno(err, "%s", path == NULL ? "no path" : path);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return err_errno(err, "socketpair");
	result = start(service, source, ends[1], &pid, err);
	close(ends[1]);
	if (result == 0)
		result = ask(ends[0], ret_catalog, err);
	close(ends[0]);
	if (pid > 0) {
		kill(pid, SIGKILL); /* it holds nothing yet, and one that hangs must not hold us */
		IGNORE(waitpid(pid, NULL, 0) < 0, "it is gone either way");
	}
	return result;
}

void catalogs_read(const struct json *service, struct json **ret_catalogs, struct json **ret_notes)
{
	struct json *catalogs = json_object();
	struct json *notes = json_array();

	json_each(source, json_get(service, "sources"))
	{
		struct json *catalog = NULL;
		struct err err = {0};

		if (read_one(service, source, &catalog, &err) == 0) {
			json_set(catalogs, json_key(source), catalog);
		} else {
			CLEANUP(mem_freep)
			char *note = mem_format("tables of %s: not checked (%s)", json_key(source),
						err.text);

			json_push_str(notes, note);
		}
	}
	*ret_catalogs = catalogs;
	*ret_notes = notes;
}
