/*
 * Blocking lines in, blocking lines out. Only the frame talks to a worker: a line that is not a
 * request ends it, and the frame makes a new one.
 */
#include "broker/connectors/sqlite_worker.h"

#include <unistd.h>

#include "base/line.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/rpc.h"
#include "broker/connectors/run_page.h"
#include "broker/connectors/sqlite_session.h"

#define REQUEST_BYTES_MAX (4u << 20) /* as base/channel.h writes at most */

static int write_all(int fd, const struct buf *line)
{
	for (size_t at = 0; at < line->len;) {
		ssize_t wrote = write(fd, line->bytes + at, line->len - at);

		if (wrote <= 0)
			return -1; /* the frame has gone */
		at += (size_t)wrote;
	}
	return 0;
}

static int answer(struct session *session, int fd, struct run_page *page, const struct json *line,
		  struct err *err)
{
	CLEANUP(json_freep) struct json *result = NULL;
	struct rpc_message message;
	struct buf out = BUF_INIT;
	int wrote;

	if (rpc_read(line, &message, err) < 0)
		return -1;
	if (message.type != RPC_REQUEST)
		return err_set(err, ERR_INVALID, "not a request");
	session->database.watch.run = (uint64_t)json_get_int(message.params, "run", 0);
	atomic_store(&page->begun, session->database.watch.run);
	result = session_call(session, message.method, message.params);
	rpc_write_result(&out, message.id, result);
	wrote = write_all(fd, &out);
	buf_clear(&out);
	return wrote < 0 ? err_errno(err, "answer") : 0;
}

void sqlite_work(void *data, int fd, struct run_page *page)
{
	const struct sqlite_source *source = data;
	struct line_reader reader;
	struct session session;
	struct err err = {0};
	int result = 0;

	sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
	sqlite3_initialize();
	sqlite3_hard_heap_limit64(DATABASE_HEAP_BYTES_MAX);
	if (source->confine && source->confine() < 0)
		return;
	session_init(&session, source->path);
	session.database.watch.cancel = &page->cancel;
	session_warm(&session);
	line_reader_init(&reader, fd, REQUEST_BYTES_MAX);
	while (result == 0) {
		CLEANUP(json_freep) struct json *line = NULL;

		result = line_read(&reader, -1, &line, &err) > 0
				 ? answer(&session, fd, page, line, &err)
				 : -1;
	}
	if (err.kind != ERR_NONE)
		log_error("worker: %s", err.text);
	line_reader_clear(&reader);
	session_clear(&session);
}
