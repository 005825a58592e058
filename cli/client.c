/* Blocking JSON-RPC client of the local socket: one call at a time, notifications in between. */
#include "cli/client.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/channel.h"
#include "base/line.h"

#define AT_ONCE_MS 8000 /* sooner than the broker gives such a connection up */

struct client {
	int fd;
	int64_t last_id;
	struct line_reader reader;
};

struct client *client_new(int fd)
{
	struct client *client = mem_alloc(sizeof(*client));

	client->fd = fd;
	line_reader_init(&client->reader, fd, CHANNEL_LINE_MAX);
	return client;
}

void client_free(struct client *client)
{
	if (client == NULL)
		return;
	line_reader_clear(&client->reader);
	close(client->fd);
	mem_free(client);
}

void client_freep(struct client **client)
{
	client_free(*client);
}

int client_fd(const struct client *client)
{
	return client->fd;
}

int client_send(struct client *client, const char *method, struct json *params, struct err *err)
{
	CLEANUP(json_freep) struct json *request = json_object();

	client->last_id++;
	json_set_str(request, "jsonrpc", "2.0");
	json_set_int(request, "id", client->last_id);
	json_set_str(request, "method", method);
	json_set(request, "params", params != NULL ? params : json_object());
	return line_write(client->fd, request, err);
}

static int read_error(const struct json *error, struct err *err)
{
	const char *text = json_get_str(error, "message");
	const char *kind = json_get_str(json_get(error, "data"), "kind");

	return err_set(err, err_kind_from_name(kind), "%s",
		       text != NULL ? text : "no reason given");
}

/* 1: this line answers our call; 0: it was something else; -1: it is the error of our call. An
 * error without an id speaks for the whole connection. */
static int take_line(struct client *client, struct json *line, client_on_event *on_event,
		     void *data, struct json **ret_result, struct err *err)
{
	const char *method = json_get_str(line, "method");
	const struct json *error = json_get(line, "error");

	if (method != NULL) {
		if (on_event != NULL)
			on_event(data, method, json_get(line, "params"));
		return 0;
	}
	if (error != NULL &&
	    (json_is_null(json_get(line, "id")) || json_get_int(line, "id", 0) == client->last_id))
		return read_error(error, err);
	if (json_get_int(line, "id", 0) != client->last_id)
		return 0;
	*ret_result = json_copy(json_get(line, "result"));
	return 1;
}

/* How long an answer may take: what only reads is there at once, or something is held up. */
static int wait_ms(const char *method)
{
	static const char *const at_once[] = {"status", "task.list", "token.list", "approval.list"};

	for (size_t i = 0; i < ARRAY_LEN(at_once); i++)
		if (strcmp(method, at_once[i]) == 0)
			return AT_ONCE_MS;
	return -1;
}

static void explain_silence(struct err *err)
{
	err_set(err, ERR_UNAVAILABLE,
		"the service does not answer: one of its programs is held up (stopped, or waiting "
		"for a disk). A program that stays so is started again by itself (hang_after in "
		"writ.yaml); see the log of writ serve, and ps -o pid,stat,wchan,args");
}

int client_call(struct client *client, const char *method, struct json *params,
		client_on_event *on_event, void *data, struct json **ret_result, bool *ret_lost,
		struct err *err)
{
	if (ret_lost != NULL)
		*ret_lost = false;
	/* A service that refuses us says why and leaves, perhaps before we have asked: what it said
	 * can still be read. */
	if (client_send(client, method, params, err) < 0 && err->kind != ERR_UNAVAILABLE)
		return err_wrap(err, "ask the service");
	for (;;) {
		CLEANUP(json_freep) struct json *line = NULL;
		int got = line_read(&client->reader, wait_ms(method), &line, err);

		if (got < 0 && err->kind == ERR_TIMEOUT) {
			explain_silence(err);
			return -1;
		}
		if (got <= 0) {
			if (ret_lost != NULL)
				*ret_lost = true;
			if (got == 0)
				err_set(err, ERR_UNAVAILABLE,
					"the service closed the connection before it answered");
			return -1;
		}
		got = take_line(client, line, on_event, data, ret_result, err);
		if (got != 0)
			return got < 0 ? -1 : 0;
	}
}
