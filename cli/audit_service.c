/*
 * writ audit redact, hold and anchor, and reading through the service. What can fail: the service
 * is not there, or refuses; a command or file that an anchor should go to.
 */
#include "cli/audit_service.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/args.h"
#include "cli/ask_service.h"
#include "cli/cli.h"
#include "cli/cmd_audit.h"

#define LINES_BYTES (1 << 20)
#define REPLY_BYTES_MAX 65536

static int give_lines(const struct json *lines, log_on_line *on_line, void *data, struct err *err)
{
	json_each(item, lines)
	{
		const char *text = json_str(item);
		struct log_line line = {.entry = text, .len = text == NULL ? 0 : strlen(text)};
		int result = text == NULL ? 0 : on_line(data, &line, err);

		if (result != 0)
			return result;
	}
	return 0;
}

static int read_pages(struct service *service, log_on_line *on_line, void *data, struct err *err)
{
	int64_t at = 0;

	for (;;) {
		CLEANUP(json_freep) struct json *result = NULL;
		struct json *params = json_object();
		bool lost = false;
		int64_t next;

		json_set_int(params, "from", at);
		json_set_int(params, "bytes", LINES_BYTES);
		if (client_call(service->client, "audit.lines", params, NULL, NULL, &result, &lost,
				err) < 0)
			return -1;
		next = json_get_int(result, "next", at);
		if (give_lines(json_get(result, "lines"), on_line, data, err) < 0)
			return -1;
		if (next <= at || json_len(json_get(result, "lines")) == 0)
			return 0;
		at = next;
	}
}

int audit_service_walk(const char *workspace, const char *event, const char *filter,
		       log_on_line *on_line, void *data)
{
	CLEANUP(json_freep) struct json *params = json_object();
	CLEANUP(json_freep) struct json *noted = NULL;
	CLEANUP(mem_freep) char *folder = NULL;
	struct service service = {.client = NULL};
	struct err err;
	int result;

	json_set_str(params, "event", event);
	if (filter != NULL && filter[0] != '\0')
		json_set_str(params, "filter", filter);
	if (cli_workspace_find(workspace, &folder, &err) < 0 ||
	    service_first_call(folder, 0, &service, "audit.note", params, NULL, NULL, &noted,
			       &err) < 0)
		return cli_fail(EXIT_UNAVAILABLE, "audit: %s", err.text);
	result = read_pages(&service, on_line, data, &err);
	service_leave(&service);
	return result < 0 ? cli_fail(EXIT_UNAVAILABLE, "audit: %s", err.text) : 0;
}

/* redact N --name NAME --reason TEXT */
int cmd_audit_redact(int argc, char **argv)
{
	const char *name = NULL, *reason = NULL;
	const struct arg_option options[] = {{"--name", NULL, &name}, {"--reason", NULL, &reason}};
	CLEANUP(args_clear) struct args args = {.words = NULL};
	CLEANUP(json_freep) struct json *result = NULL;
	struct json *params;
	char *end = NULL;
	long long record;
	int code = args_read(argc, argv, options, ARRAY_LEN(options), 1, &args);

	if (code != 0)
		return code;
	if (args.word_count != 1 || name == NULL || reason == NULL)
		return cli_usage("audit redact", "which record (a number), --name and --reason?");
	record = strtoll(args.words[0], &end, 10);
	if (args.words[0][0] < '0' || args.words[0][0] > '9' || *end != '\0')
		return cli_usage("audit redact", "%s is no number of a record", args.words[0]);
	params = json_object();
	json_set_int(params, "record", record);
	json_set_str(params, "name", name);
	json_set_str(params, "reason", reason);
	code = service_ask(args.workspace, 0, "audit.redact", params, NULL, NULL, &result);
	if (code != 0)
		return code;
	if (args.json)
		cli_print_json(result);
	else
		printf("%s of record %lld %s; record %lld says so\n", name, record,
		       json_get_bool(result, "erased", false) ? "is erased" : "was not there",
		       (long long)json_get_int(result, "record", 0));
	return EXIT_FINE;
}

/* hold NAME --reason TEXT (--range N-M | --lift) */
int cmd_audit_hold(int argc, char **argv)
{
	const char *reason = NULL, *from = NULL, *to = NULL;
	bool lift = false;
	const struct arg_option options[] = {{"--reason", NULL, &reason},
					     {"--from", NULL, &from},
					     {"--to", NULL, &to},
					     {"--lift", &lift, NULL}};
	CLEANUP(args_clear) struct args args = {.words = NULL};
	CLEANUP(json_freep) struct json *result = NULL;
	struct json *params;
	int code = args_read(argc, argv, options, ARRAY_LEN(options), 1, &args);

	if (code != 0)
		return code;
	if (args.word_count != 1 || reason == NULL || (!lift && (from == NULL || to == NULL)))
		return cli_usage("audit hold",
				 "which name, --reason, and --from N --to N (or --lift)?");
	params = json_object();
	json_set_str(params, "name", args.words[0]);
	json_set_str(params, "reason", reason);
	if (lift) {
		json_set_bool(params, "lift", true);
	} else {
		json_set_int(params, "from", strtoll(from, NULL, 10));
		json_set_int(params, "to", strtoll(to, NULL, 10));
	}
	code = service_ask(args.workspace, 0, "audit.hold", params, NULL, NULL, &result);
	if (code == 0 && args.json)
		cli_print_json(result);
	else if (code == 0)
		printf("%s %s; record %lld says so\n", args.words[0], lift ? "is lifted" : "holds",
		       (long long)json_get_int(result, "record", 0));
	return code;
}

/* anchor (--file PATH | --command "CMD") */
static int to_file(const char *path, const char *head, struct err *err)
{
	const char *slash = strrchr(path, '/');
	CLEANUP(mem_freep)
	char *folder = slash == NULL ? mem_str(".") : mem_strn(path, (size_t)(slash + 1 - path));
	CLEANUP(fd_closep) int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return err_errno(err, "%s", folder);
	return file_replace_at(fd, slash == NULL ? path : slash + 1, 0644, head, strlen(head), true,
			       err);
}

/* The head on its stdin, its stdout is the reply. The words are split at blanks: no shell. */
static pid_t start(const char *command, int in, int out)
{
	CLEANUP(mem_freep) char *words = mem_str(command);
	char *argv[64];
	size_t count = 0;
	char *rest = NULL;
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	for (char *word = strtok_r(words, " ", &rest); word != NULL && count < 63;
	     word = strtok_r(NULL, " ", &rest))
		argv[count++] = word;
	argv[count] = NULL;
	if (count > 0 && dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0)
		execvp(argv[0], argv);
	_exit(127);
}

static int read_reply(int fd, struct buf *out, struct err *err)
{
	char bytes[4096];

	for (;;) {
		ssize_t got = read(fd, bytes, sizeof(bytes));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_errno(err, "its reply");
		if (got == 0)
			return 0;
		if (out->len + (size_t)got > REPLY_BYTES_MAX)
			return err_set(err, ERR_LIMIT, "its reply is over %d bytes",
				       REPLY_BYTES_MAX);
		buf_add(out, bytes, (size_t)got);
	}
}

static int to_command(const char *command, const char *head, struct buf *reply, struct err *err)
{
	CLEANUP(fd_closep) int in_read = -1;
	CLEANUP(fd_closep) int out_read = -1;
	int in[2], out[2], status;
	pid_t pid;
	int result;

	/* A head is shorter than what a pipe holds, so nobody waits for the other. */
	if (pipe2(in, O_CLOEXEC) < 0)
		return err_errno(err, "pipe");
	in_read = in[0];
	if (pipe2(out, O_CLOEXEC) < 0) {
		close(in[1]);
		return err_errno(err, "pipe");
	}
	out_read = out[0];
	result = file_write_all(in[1], head, strlen(head), err);
	close(in[1]);
	pid = result < 0 ? -1 : start(command, in[0], out[1]);
	close(out[1]);
	if (pid < 0)
		return result < 0 ? -1 : err_errno(err, "%s", command);
	result = read_reply(out_read, reply, err);
	waitpid(pid, &status, 0);
	if (result == 0 && (!WIFEXITED(status) || WEXITSTATUS(status) != 0))
		return err_set(err, ERR_UNAVAILABLE, "%s ended with %d", command,
			       WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return result;
}

static int note_anchor(const char *workspace, const char *head, const char *place,
		       const char *reply, struct json **ret_result)
{
	struct json *params = json_object();

	json_set_str(params, "checkpoint", head);
	json_set_str(params, "place", place);
	if (reply[0] != '\0')
		json_set_str(params, "reply", reply);
	return service_ask(workspace, 0, "audit.anchor", params, NULL, NULL, ret_result);
}

/* The newest head, which may be newer than the published file. The caller frees. */
static int read_head(const char *workspace, char **ret_head)
{
	CLEANUP(json_freep) struct json *status = NULL;
	int code = service_ask(workspace, 0, "status", NULL, NULL, NULL, &status);
	const char *head = json_get_str(json_get(status, "audit"), "checkpoint");

	if (code != 0)
		return code;
	if (head == NULL)
		return cli_fail(EXIT_UNAVAILABLE, "audit anchor: the log has no head yet");
	*ret_head = mem_str(head);
	return 0;
}

int cmd_audit_anchor(int argc, char **argv)
{
	const char *file = NULL, *command = NULL;
	const struct arg_option options[] = {{"--file", NULL, &file},
					     {"--command", NULL, &command}};
	CLEANUP(args_clear) struct args args = {.words = NULL};
	CLEANUP(mem_freep) char *head = NULL;
	CLEANUP(buf_clear) struct buf reply = BUF_INIT;
	CLEANUP(json_freep) struct json *result = NULL;
	CLEANUP(mem_freep) char *place = NULL;
	struct err err;
	int code = args_read(argc, argv, options, ARRAY_LEN(options), 0, &args);

	if (code != 0)
		return code;
	if ((file == NULL) == (command == NULL))
		return cli_usage("audit anchor", "--file PATH or --command WORDS?");
	code = read_head(args.workspace, &head);
	if (code != 0)
		return code;
	if ((file != NULL ? to_file(file, head, &err) : to_command(command, head, &reply, &err)) <
	    0)
		return cli_fail(err.kind == ERR_UNAVAILABLE ? EXIT_UNAVAILABLE : EXIT_USAGE,
				"audit anchor: %s", err.text);
	place = mem_format("%s:%s", file != NULL ? "file" : "command",
			   file != NULL ? file : command);
	code = note_anchor(args.workspace, head, place, buf_str(&reply), &result);
	if (code == 0 && args.json)
		cli_print_json(result);
	else if (code == 0)
		printf("the head is at %s; record %lld says so\n", place,
		       (long long)json_get_int(result, "record", 0));
	return code;
}
