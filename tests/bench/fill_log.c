/*
 * fill_log WORKSPACE AGENT CALLS: makes so many calls (list_tables) over the MCP method of a
 * running service, one after the other, so that its audit log grows the way it grows in use.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/line.h"

static int join(const char *workspace)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/run/writ.sock", workspace);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		perror(address.sun_path);
		exit(3);
	}
	return fd;
}

static struct json *request(const char *agent, int64_t id)
{
	struct json *request = json_object();
	struct json *params = json_object();

	json_set_str(params, "agent", agent);
	json_set_str(params, "tool", "list_tables");
	json_set(params, "arguments", json_object());
	json_set_str(request, "jsonrpc", "2.0");
	json_set_int(request, "id", id);
	json_set_str(request, "method", "mcp.call");
	json_set(request, "params", params);
	return request;
}

static void call(struct line_reader *reader, int fd, const char *agent, int64_t id)
{
	CLEANUP(json_freep) struct json *line = request(agent, id);
	CLEANUP(json_freep) struct json *answer = NULL;
	struct err err = {0};

	if (line_write(fd, line, &err) < 0 || line_read(reader, -1, &answer, &err) <= 0 ||
	    json_get(answer, "result") == NULL) {
		fprintf(stderr, "call %lld failed: %s\n", (long long)id, err.text);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	struct line_reader reader;
	int fd;

	if (argc != 4) {
		fprintf(stderr, "usage: fill_log WORKSPACE AGENT CALLS\n");
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	fd = join(argv[1]);
	line_reader_init(&reader, fd, 1u << 20);
	for (int64_t i = 1; i <= atoll(argv[3]); i++)
		call(&reader, fd, argv[2], i);
	line_reader_clear(&reader);
	close(fd);
	return 0;
}
