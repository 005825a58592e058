/*
 * writ mcp: the tools of one agent for any MCP host, over stdio. Two streams are watched: the
 * host's lines on stdin and the service's on its socket. End of input ends the program; calls still
 * open are cancelled by the end of the session.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/channel.h"
#include "base/line.h"
#include "cli/args.h"
#include "cli/ask_service.h"
#include "cli/commands.h"
#include "cli/mcp.h"

#define HOST_LINE_MAX (1u << 20)

struct bridge {
	const char *agent;
	struct mcp *mcp;
	struct line_reader host;
	struct line_reader service;
	int service_fd;
	int64_t first_id; /* ids below belong to the opening call */
	bool failed;
};

static void send_to_host(void *data, const struct json *message)
{
	struct bridge *bridge = data;
	struct err err = {0};

	if (line_write(STDOUT_FILENO, message, &err) < 0)
		bridge->failed = true;
}

static void send_to_service(struct bridge *bridge, int64_t id, const char *method,
			    struct json *params)
{
	CLEANUP(json_freep) struct json *request = json_object();
	struct err err = {0};

	json_set_str(request, "jsonrpc", "2.0");
	json_set_int(request, "id", id);
	json_set_str(request, "method", method);
	json_set(request, "params", params);
	if (line_write(bridge->service_fd, request, &err) < 0)
		bridge->failed = true;
}

/* A call and its cancellation have ids of their own: 2 * key and 2 * key + 1 above first_id. */
static void start_call(void *data, int64_t key, const char *tool, const struct json *arguments)
{
	struct bridge *bridge = data;
	struct json *params = json_object();
	char label[32];

	snprintf(label, sizeof(label), "%lld", (long long)key);
	json_set_str(params, "agent", bridge->agent);
	json_set_str(params, "tool", tool);
	json_set(params, "arguments", json_copy(arguments));
	json_set_str(params, "label", label);
	send_to_service(bridge, bridge->first_id + 2 * key, "mcp.call", params);
}

static void cancel_call(void *data, int64_t key)
{
	struct bridge *bridge = data;
	struct json *params = json_object();
	char label[32];

	snprintf(label, sizeof(label), "%lld", (long long)key);
	json_set_str(params, "label", label);
	send_to_service(bridge, bridge->first_id + 2 * key + 1, "mcp.cancel", params);
}

static void take_service_line(struct bridge *bridge, const struct json *line)
{
	int64_t id = json_get_int(line, "id", 0) - bridge->first_id;
	const struct json *error = json_get(line, "error");
	struct err err = {0};

	if (id < 2 || id % 2 != 0)
		return; /* the answer to a cancellation, or a notification */
	if (error != NULL)
		err_set(&err, err_kind_from_name(json_get_str(json_get(error, "data"), "kind")),
			"%s", json_get_str(error, "message"));
	mcp_call_done(bridge->mcp, id / 2, json_get(line, "result"), error != NULL ? &err : NULL);
}

/* True while the stream goes on. */
static bool read_service(struct bridge *bridge, struct err *err)
{
	CLEANUP(json_freep) struct json *line = NULL;
	int got = line_read(&bridge->service, -1, &line, err);

	if (got == 0)
		err_set(err, ERR_UNAVAILABLE, "the service closed the connection");
	if (got <= 0)
		return false;
	take_service_line(bridge, line);
	return true;
}

static bool read_host(struct bridge *bridge, struct err *err)
{
	CLEANUP(json_freep) struct json *message = NULL;
	int got = line_read(&bridge->host, -1, &message, err);

	if (got == 1)
		mcp_take(bridge->mcp, message);
	else if (got < 0 && err->kind == ERR_INVALID)
		mcp_take_broken(bridge->mcp, err->text);
	else
		return false;
	return true;
}

static bool has_line(const struct line_reader *reader)
{
	return reader->pending.len > 0 &&
	       memchr(reader->pending.bytes, '\n', reader->pending.len) != NULL;
}

/* Returns an exit code. */
static int bridge_run(struct bridge *bridge)
{
	struct pollfd streams[2] = {{.fd = STDIN_FILENO, .events = POLLIN},
				    {.fd = bridge->service_fd, .events = POLLIN}};
	struct err err = {0};

	while (!bridge->failed) {
		bool waiting = has_line(&bridge->host) || has_line(&bridge->service);

		if (poll(streams, 2, waiting ? 0 : -1) < 0)
			continue;
		if (streams[1].revents != 0 || has_line(&bridge->service)) {
			if (!read_service(bridge, &err))
				return cli_fail(EXIT_UNAVAILABLE, "%s", err.text);
		}
		if (streams[0].revents != 0 || has_line(&bridge->host)) {
			if (!read_host(bridge, &err))
				return err.kind == ERR_LIMIT ? cli_fail(EXIT_USAGE, "%s", err.text)
							     : EXIT_FINE;
		}
	}
	return EXIT_UNAVAILABLE;
}

static int serve_host(const char *workspace, const char *agent)
{
	CLEANUP(json_freep) struct json *params = json_object();
	CLEANUP(json_freep) struct json *opened = NULL;
	struct service service;
	struct bridge bridge = {.agent = agent, .first_id = 1000000};
	struct mcp_hooks hooks = {&bridge, send_to_host, start_call, cancel_call};
	struct err err = {0};
	int code;

	json_set_str(params, "agent", agent);
	if (service_first_call(workspace, SERVICE_ABSENT_OK, &service, "mcp.open", params, NULL,
			       NULL, &opened, &err) < 0)
		return cli_fail(err.kind == ERR_INVALID || err.kind == ERR_NOT_FOUND
					? EXIT_USAGE
					: EXIT_UNAVAILABLE,
				"%s", err.text);
	bridge.service_fd = client_fd(service.client);
	line_reader_init(&bridge.host, STDIN_FILENO, HOST_LINE_MAX);
	line_reader_init(&bridge.service, bridge.service_fd, CHANNEL_LINE_MAX);
	bridge.mcp = mcp_new(json_get(opened, "tools"), &hooks);
	code = bridge_run(&bridge);
	mcp_free(bridge.mcp);
	line_reader_clear(&bridge.host);
	line_reader_clear(&bridge.service);
	service_leave(&service);
	return code;
}

static int run(int argc, char **argv)
{
	CLEANUP(mem_freep) char *workspace = NULL;
	const char *agent = NULL;
	const struct arg_option options[] = {{"--agent", NULL, &agent}};
	struct args args;
	struct err err = {0};
	int code = args_read(argc, argv, options, ARRAY_LEN(options), 0, &args);

	if (code == 0 && agent == NULL)
		code = cli_usage("mcp", "say which agent's tools to serve: --agent NAME");
	if (code == 0 && cli_workspace_find(args.workspace, &workspace, &err) < 0)
		code = cli_fail(EXIT_USAGE, "%s", err.text);
	if (code == 0)
		code = serve_host(workspace, agent);
	args_clear(&args);
	return code;
}

const struct command command_mcp = {
	.name = "mcp",
	.summary = "serve one agent's tools to an MCP host over stdio",
	.help = "usage: writ mcp --agent NAME [-C DIR]\n"
		"\n"
		"Speaks the Model Context Protocol on stdin and stdout: versions 2026-07-28, "
		"2025-11-25,\n"
		"2025-06-18 and 2025-03-26. Each call passes token, policy and log like any other, "
		"under\n"
		"the agent's scope and your own rights.\n"
		"\n"
		"A host's configuration (docs/mcp.md):\n"
		"  {\"mcpServers\": {\"sales\": {\"command\": \"writ\",\n"
		"    \"args\": [\"mcp\", \"-C\", \"/srv/writ/sales\", \"--agent\", "
		"\"sales-query-01\"]}}}\n"
		"\n"
		"Exit codes: 0 the host closed its end; 2 wrong usage; 3 the service could not do "
		"it.\n",
	.run = run,
};
