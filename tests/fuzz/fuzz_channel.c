/*
 * A channel whose peer sends arbitrary bytes and leaves. Promises: a call of ours is done exactly
 * once, on_close comes exactly once and last, everything we wrote is JSON-RPC, and the loop closes.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/channel.h"
#include "base/rpc.h"
#include "tests/fuzz/fuzz.h"

#define INPUT_BYTES_MAX 65536u /* fits into the socket's own room */

struct seen {
	int dones;
	int closes;
	int requests;
};

static void demand(bool kept, const char *promise)
{
	if (kept)
		return;
	fprintf(stderr, "broken: %s\n", promise);
	abort();
}

static void on_request(struct channel *channel, void *owner, int64_t id, const char *method,
		       const struct json *params)
{
	struct seen *seen = owner;

	demand(seen->closes == 0, "nothing comes after on_close");
	demand(method[0] != '\0', "a method has a name");
	seen->requests++;
	if (id > 0)
		channel_reply(channel, id, json_copy(params));
}

static void on_close(struct channel *channel, void *owner, const struct err *why)
{
	struct seen *seen = owner;

	(void)channel;
	demand(seen->dones == 1, "calls are done before on_close");
	demand(why->text[0] != '\0', "an end has a reason");
	seen->closes++;
}

static void on_done(void *data, const struct json *result, const struct err *err)
{
	struct seen *seen = data;

	demand(err != NULL || result != NULL, "a call ends with a result or an error");
	seen->dones++;
}

static void check_written(int fd)
{
	CLEANUP(buf_clear) struct buf in = BUF_INIT;
	char bytes[4096], *line;
	ssize_t got;

	while ((got = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
		buf_add(&in, bytes, (size_t)got);
	for (line = in.bytes; line != NULL && *line != '\0';) {
		CLEANUP(json_freep) struct json *json = NULL;
		char *end = strchr(line, '\n');
		struct rpc_message message;
		struct err err;

		demand(end != NULL, "lines end");
		demand(json_parse(line, (size_t)(end - line), CHANNEL_LINE_MAX, &json, &err) == 0,
		       "what we write is JSON");
		demand(rpc_read(json, &message, &err) == 0, "what we write is JSON-RPC");
		line = end + 1;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	static const struct channel_handlers handlers = {on_request, on_close};
	struct seen seen = {0};
	struct channel *channel;
	uv_loop_t loop;
	int ends[2];

	if (len > INPUT_BYTES_MAX)
		return 0;
	signal(SIGPIPE, SIG_IGN);
	demand(uv_loop_init(&loop) == 0 && socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0,
	       "set up");
	channel = channel_open(&loop, ends[0], "near", &handlers, &seen);
	demand(channel_call(channel, "m", NULL, 0, on_done, &seen) == 1, "a call starts");
	uv_run(&loop, UV_RUN_NOWAIT); /* the call is on the wire: its answer may be in the bytes */
	demand(send(ends[1], bytes, len, MSG_DONTWAIT) == (ssize_t)len, "the socket has room");
	shutdown(ends[1], SHUT_WR);
	uv_run(&loop, UV_RUN_DEFAULT);
	demand(seen.closes == 1, "on_close comes once");
	check_written(ends[1]);
	close(ends[1]);
	demand(uv_loop_close(&loop) == 0, "the loop closes");
	return 0;
}
