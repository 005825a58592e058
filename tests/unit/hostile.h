/*
 * For doubles that break the rules against the real writ-broker: bytes on a channel instead of
 * messages, what is left of the service afterwards, and whether its log verifies.
 */
#ifndef TEST_HOSTILE_H
#define TEST_HOSTILE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "broker/audit/verify.h"
#include "broker_fixture.h"
#include "tests/lib/garbage.h"
#include "writ/exit_codes.h"
#include "writ/record.h"

#define RUN_QUERY(sql) "{\"tool\":\"run_query\",\"arguments\":{\"sql\":\"" sql "\"}}"
#define LOG_BYTES_MAX (256u << 20)

static inline bool broker_lives(struct fx *fx)
{
	return waitpid(fx->pids[0], NULL, WNOHANG) == 0;
}

static inline void hang_up_session(struct fx *fx, const struct channel *session)
{
	for (size_t i = 0; i < fx->end_count; i++)
		if (fx->ends[i].channel == session)
			channel_close(TAKE(fx->ends[i].channel));
}

/* Somebody else's question from connection to answer. */
static inline void check_others_work(struct fx *fx)
{
	bool raw = fx->raw;
	struct fx_end *session;
	struct channel *agent;
	struct json *reply;
	char task[48];

	assert_true(broker_lives(fx));
	fx->raw = false;
	session = fx_connect(fx, NULL, 0);
	assert_non_null(session);
	fx_task(fx, session->channel, "ask", task);
	agent = fx_agent(fx, session->channel, task, "sales-query-01", NULL)->channel;
	json_free(fx_ok(fx, agent, "token.issue", "{}"));
	reply = fx_ok(fx, agent, "tool.call", RUN_QUERY("SELECT count(*) FROM orders"));
	if (!json_get_bool(reply, "ok", false))
		fail_msg("%s", json_get_str(reply, "error"));
	json_free(reply);
	channel_close(TAKE(session->channel));
	fx->raw = raw;
	fx_settle(fx);
}

static inline void read_key(struct fx *fx, struct vkey *ret_key)
{
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	int dir_fd = open(fx->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const char *line;
	struct err err = {0};

	if (fx->signer_made) {
		*ret_key = fx->signer.log_vkey;
		close(dir_fd);
		return;
	}
	if (file_read_at(dir_fd, "audit.pub", 4096, &text, &err) < 0)
		fail_msg("%s", err.text);
	close(dir_fd);
	line = buf_str(&text);
	while (*line == '#')
		line = strchr(line, '\n') + 1;
	if (vkey_parse(line, strcspn(line, "\n"), ret_key, &err) < 0)
		fail_msg("%s", err.text);
}

static inline int verify_log(struct fx *fx, struct audit_report *ret_report)
{
	CLEANUP(buf_clear) struct buf log = BUF_INIT;
	CLEANUP(buf_clear) struct buf note = BUF_INIT;
	CLEANUP(audit_verify_freep) struct audit_verify *verify = NULL;
	struct vkey key;
	struct audit_verify_options options = {.keys = &key, .key_count = 1};
	int audit_fd = openat(fx->state_fd, "audit", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct err err = {0};

	read_key(fx, &key);
	if (file_read_at(audit_fd, "seg/00000000000000000000.jsonl", LOG_BYTES_MAX, &log, &err) <
		    0 ||
	    file_read_at(audit_fd, "checkpoint", NOTE_BYTES_MAX, &note, &err) < 0)
		fail_msg("%s", err.text);
	close(audit_fd);
	verify = audit_verify_new(&options);
	if (audit_verify_head(verify, "checkpoint", buf_str(&note), note.len, &err) < 0)
		fail_msg("%s", err.text);
	audit_verify_feed(verify, buf_str(&log), log.len);
	audit_verify_end(verify, ret_report);
	return ret_report->exit_code;
}

/* Stops the broker cleanly; everything it did is in a log that verifies. */
static inline void close_and_verify(struct fx *fx)
{
	struct audit_report report;
	int code;

	fx_control(fx, "{\"stop\":true}");
	assert_int_equal(fx_wait_broker(fx), EXIT_FINE);
	code = verify_log(fx, &report);
	if (code != EXIT_FINE)
		for (int i = 0; i < AUDIT_VERDICTS; i++)
			if (report.holds[i])
				print_error("%s: %s\n", audit_verdict_name((enum audit_verdict)i),
					    report.text[i]);
	assert_int_equal(code, EXIT_FINE);
	fx_close_programs(fx);
}

static inline struct json *call_refused(struct fx *fx, struct channel *channel, const char *params,
					const char *by)
{
	struct json *reply = fx_ok(fx, channel, "tool.call", params);

	assert_false(json_get_bool(reply, "ok", true));
	if (by != NULL && strcmp(json_get_str(reply, "rejected_by"), by) != 0)
		fail_msg("rejected by %s: %s", json_get_str(reply, "rejected_by"),
			 json_get_str(reply, "error"));
	assert_null(json_get(reply, "rows"));
	return reply;
}

/* The kind of error that comes back; ERR_NONE with a result. */
static inline void check_error(struct fx *fx, struct channel *channel, const char *method,
			       const char *params, const char *kind, const char *part)
{
	struct json *answer = fx_call(fx, channel, method, params);
	const struct json *error = json_get(answer, "error");

	if (error == NULL)
		fail_msg("%s %s: no error", method, params);
	if (strcmp(json_get_str(error, "kind"), kind) != 0 ||
	    strstr(json_get_str(error, "text"), part) == NULL)
		fail_msg("%s %s: %s: %s", method, params, json_get_str(error, "kind"),
			 json_get_str(error, "text"));
	json_free(answer);
}

/* ---- bytes ---- */

/* Until all is written, the other end is gone, or nobody takes more for half a second; returns how
 * much was taken. */
static inline size_t raw_write(struct fx *fx, int fd, const void *bytes, size_t len)
{
	size_t at = 0;
	int idle = 0;

	while (at < len && idle < 500) {
		ssize_t sent =
			send(fd, (const char *)bytes + at, len - at, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (sent < 0 && errno != EAGAIN)
			break;
		idle = sent < 0 ? idle + 1 : 0;
		at += sent < 0 ? 0 : (size_t)sent;
		uv_run(&fx->loop, UV_RUN_NOWAIT);
		if (sent < 0)
			usleep(1000);
	}
	return at;
}

/* What comes back until the stream ends; fails the test when it does not within 5 s. */
static inline void raw_read_to_end(struct fx *fx, int fd, struct buf *out)
{
	char bytes[4096];
	ssize_t got;

	for (int turns = 0; turns < 25000; turns++) {
		got = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
		if (got == 0 || (got < 0 && errno != EAGAIN))
			return;
		if (got > 0)
			buf_add(out, bytes, (size_t)got);
		uv_run(&fx->loop, UV_RUN_NOWAIT);
		if (got < 0)
			usleep(200);
	}
	fail_msg("the channel was not closed: %.200s", buf_str(out));
}

/* `[[[[...`, as deep as it is long. */
static inline void put_deep(struct buf *out, size_t depth)
{
	buf_add_str(out, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"status\",\"params\":{\"x\":");
	for (size_t i = 0; i < depth; i++)
		buf_add_char(out, '[');
	for (size_t i = 0; i < depth; i++)
		buf_add_char(out, ']');
	buf_add_str(out, "}}\n");
}

#endif
