/*
 * writ-sink WORKSPACE NAME KIND PATH [--reduced]: copies the audit log to one place, a process for
 * each, so that a place that hangs holds up nothing but its own copy. Descriptor 3 leads to the
 * broker, which is told of changes; it ends with it.
 *
 * state/sinks/NAME.cursor holds the number of the next record. It follows what was delivered, so
 * after a crash some records come twice and none is missed: receivers tell them by origin and
 * number. A record that the receiver can never take goes to NAME.dead. What can fail: a log that
 * does not fit its head (exit 65), the place (told to the broker, tried again), the sandbox (79).
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/rpc.h"
#include "base/sandbox.h"
#include "broker/audit/lines.h"
#include "broker/sink/target.h"
#include "writ/exit_codes.h"

#define CHANNEL_FD 3
#define ROUND_RECORDS 1000
#define RETRY_MS_MIN 1000
#define RETRY_MS_MAX 60000
#define TELL_US 1000000 /* of progress, at most once in so long */
#define CURSOR_LINE "writ.sink/v1"
#define KEY_FILE_MAX 16384
#define NAME_MAX_BYTES 64

struct sink {
	const char *workspace;
	const char *name;
	struct target target;
	bool reduced;
	struct vkey key;
	int audit_fd;
	int state_fd; /* state/sinks */
	int watch_fd;
	struct follow *follow;
	bool is_down, has_told;
	int64_t told_us;
	uint64_t stored; /* the cursor on the disk */
};

static int open_folders(struct sink *sink, struct err *err)
{
	CLEANUP(fd_closep)
	int workspace = open(sink->workspace, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	CLEANUP(fd_closep) int state = -1;

	if (workspace < 0)
		return err_errno(err, "%s", sink->workspace);
	if (dir_pass_private_at(workspace, "state", &state, err) < 0 ||
	    dir_open_private_at(state, "audit", false, &sink->audit_fd, err) < 0)
		return err_wrap(err, "%s", sink->workspace);
	return dir_open_private_at(state, "sinks", true, &sink->state_fd, err);
}

/* The first key of audit.pub: the log's. */
static int read_key(struct sink *sink, struct err *err)
{
	CLEANUP(mem_freep) char *path = mem_format("%s/audit.pub", sink->workspace);
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	const char *line;

	if (file_read_at(AT_FDCWD, path, KEY_FILE_MAX, &bytes, err) < 0)
		return -1;
	for (line = buf_str(&bytes); *line == '#' || *line == '\n'; line += *line == '\n')
		line += strcspn(line, "\n");
	return vkey_parse(line, strcspn(line, "\n"), &sink->key, err) < 0
		       ? err_wrap(err, "%s", path)
		       : 0;
}

static int read_cursor(struct sink *sink, uint64_t *ret_next, struct err *err)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	char name[NAME_MAX_BYTES + 16];
	char first[32];
	struct lines lines;
	struct err why = {0};

	snprintf(name, sizeof(name), "%s.cursor", sink->name);
	*ret_next = 0;
	if (file_read_at(sink->state_fd, name, 256, &bytes, &why) < 0)
		return why.kind == ERR_NOT_FOUND ? 0 : err_set(err, why.kind, "%s", why.text);
	lines = (struct lines){buf_str(&bytes), bytes.len};
	if (lines_text(&lines, first, sizeof(first)) < 0 || strcmp(first, CURSOR_LINE) != 0 ||
	    lines_number(&lines, ret_next) < 0 || lines.left != 0)
		return err_set(err, ERR_INVALID,
			       "state/sinks/%s: not a cursor; remove it and the whole log is sent "
			       "again",
			       name);
	return 0;
}

static int store_cursor(struct sink *sink, struct err *err)
{
	char name[NAME_MAX_BYTES + 16];
	char text[64];
	uint64_t next = follow_next(sink->follow);
	int len;

	if (next == sink->stored)
		return 0;
	snprintf(name, sizeof(name), "%s.cursor", sink->name);
	len = snprintf(text, sizeof(text), CURSOR_LINE "\n%llu\n", (unsigned long long)next);
	if (file_replace_at(sink->state_fd, name, 0600, text, (size_t)len, true, err) < 0)
		return -1;
	sink->stored = next;
	return 0;
}

/* The broker hears of changes of state at once, of progress now and then. */
static void tell(struct sink *sink, const struct err *why)
{
	CLEANUP(json_freep) struct json *params = json_object();
	CLEANUP(buf_clear) struct buf line = BUF_INIT;
	bool down = why != NULL;
	struct err ignored;

	if (sink->has_told && down == sink->is_down && clock_mono_us() - sink->told_us < TELL_US)
		return;
	json_set_str(params, "state", down ? "down" : "up");
	json_set_int(params, "next", (int64_t)follow_next(sink->follow));
	if (down)
		json_set_str(params, "error", why->text);
	rpc_write_request(&line, 0, "sink.state", params);
	IGNORE(file_write_all(CHANNEL_FD, line.bytes, line.len, &ignored) < 0,
	       "its end is noticed where we wait");
	if (down != sink->is_down || !sink->has_told)
		log_info("%s: %s", sink->name, down ? why->text : "up");
	sink->is_down = down;
	sink->has_told = true;
	sink->told_us = clock_mono_us();
}

static int bury(struct sink *sink, const struct followed *record, const struct err *why,
		struct err *err)
{
	CLEANUP(buf_clear) struct buf line = BUF_INIT;
	CLEANUP(json_freep) struct json *dead = json_object();
	char name[NAME_MAX_BYTES + 16];
	CLEANUP(fd_closep) int fd = -1;

	snprintf(name, sizeof(name), "%s.dead", sink->name);
	fd = openat(sink->state_fd, name, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
		    0600);
	if (fd < 0)
		return err_errno(err, "state/sinks/%s", name);
	json_set_int(dead, "seq", (int64_t)record->seq);
	json_set_str(dead, "error", why->text);
	json_set(dead, "line", json_new_strn(record->line, record->len));
	json_write(dead, &line);
	buf_add_char(&line, '\n');
	return file_write_all(fd, line.bytes, line.len, err);
}

static int deliver(void *data, const struct followed *record, struct err *err)
{
	struct sink *sink = data;
	struct err why;

	if (target_send(&sink->target, record, &why) == 0)
		return 0;
	if (why.kind == ERR_LIMIT)
		return bury(sink, record, &why, err);
	return err_set(err, why.kind, "%s", why.text);
}

/* All that the broker ever says is that it wants to know whether we are there. */
static bool answer_ping(void)
{
	CLEANUP(buf_clear) struct buf line = BUF_INIT;
	char bytes[4096];
	struct err ignored;

	if (read(CHANNEL_FD, bytes, sizeof(bytes)) <= 0)
		return false;
	rpc_write_request(&line, 0, "pong", NULL);
	IGNORE(file_write_all(CHANNEL_FD, line.bytes, line.len, &ignored) < 0,
	       "its end is noticed where we wait");
	return true;
}

/* False when the broker has gone. timeout_ms -1: until there is something. */
static bool wait_for(struct sink *sink, int timeout_ms)
{
	struct pollfd waits[2] = {{.fd = CHANNEL_FD, .events = POLLIN},
				  {.fd = sink->watch_fd, .events = POLLIN}};
	char bytes[4096];

	if (poll(waits, 2, timeout_ms) <= 0)
		return true;
	if (waits[1].revents != 0 && read(sink->watch_fd, bytes, sizeof(bytes)) < 0 &&
	    errno != EAGAIN)
		return false;
	return waits[0].revents == 0 || answer_ping();
}

/* Waits the whole time, whatever is written meanwhile. */
static bool pause_for(struct sink *sink, int ms)
{
	int64_t until = clock_mono_us() + (int64_t)ms * 1000;

	while (clock_mono_us() < until)
		if (!wait_for(sink, (int)((until - clock_mono_us()) / 1000) + 1))
			return false;
	return true;
}

static int one_round(struct sink *sink, struct err *err)
{
	int taken = follow_round(sink->follow, ROUND_RECORDS, deliver, sink, err);
	struct err why = *err;

	/* What was delivered before a failure counts. */
	if (target_sync(&sink->target, taken < 0 ? &why : err) < 0 ||
	    store_cursor(sink, taken < 0 ? &why : err) < 0)
		return -1;
	if (sink->target.kind == TARGET_FILE)
		target_close(&sink->target); /* whoever rotates it shall find it closed */
	return taken;
}

static int serve(struct sink *sink)
{
	int retry_ms = RETRY_MS_MIN;

	for (;;) {
		struct err err = {0};
		int taken = one_round(sink, &err);

		tell(sink, taken < 0 ? &err : NULL);
		if (taken < 0 && err.kind == ERR_INVALID)
			return EXIT_AUDIT_DAMAGED;
		if (taken < 0 && sink->target.kind == TARGET_SYSLOG)
			return EXIT_IO; /* a new one connects anew */
		if (taken < 0) {
			if (!pause_for(sink, retry_ms))
				return EXIT_FINE;
			retry_ms = retry_ms * 2 < RETRY_MS_MAX ? retry_ms * 2 : RETRY_MS_MAX;
			continue;
		}
		retry_ms = RETRY_MS_MIN;
		/* With more to send, only a look whether the broker has asked or gone. */
		if (!wait_for(sink, taken < ROUND_RECORDS ? -1 : 0))
			return EXIT_FINE;
	}
}

static int watch(struct sink *sink, struct err *err)
{
	CLEANUP(mem_freep) char *path = mem_format("%s/state/audit", sink->workspace);

	sink->watch_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (sink->watch_fd < 0 || inotify_add_watch(sink->watch_fd, path, IN_MOVED_TO) < 0)
		return err_errno(err, "watching %s", path);
	return 0;
}

static int confine(struct sink *sink, struct err *err)
{
	static const char *const calls[] = {SANDBOX_CALLS_CORE, SANDBOX_CALLS_FILES,
					    "sendto" /* syslog's socket */};
	CLEANUP(mem_freep) char *audit = mem_format("%s/state/audit", sink->workspace);
	CLEANUP(mem_freep) char *state = mem_format("%s/state/sinks", sink->workspace);
	CLEANUP(mem_freep) char *folder = mem_str(sink->target.path);
	struct sandbox_path paths[3] = {{audit, false}, {state, true}};
	const int keep[] = {STDIN_FILENO,   STDOUT_FILENO,  STDERR_FILENO,  CHANNEL_FD,
			    sink->audit_fd, sink->state_fd, sink->watch_fd, sink->target.fd};
	enum sandbox_level level;
	size_t count = 2;

	*strrchr(folder, '/') = '\0';
	if (sink->target.kind == TARGET_FILE)
		paths[count++] = (struct sandbox_path){folder[0] == '\0' ? "/" : folder, true};
	if (sandbox_close_others(keep, ARRAY_LEN(keep), err) < 0 || sandbox_drop(err) < 0 ||
	    sandbox_files(paths, count, sink->reduced, &level, err) < 0)
		return -1;
	return sandbox_calls(calls, ARRAY_LEN(calls), err);
}

static int prepare(struct sink *sink, struct err *err)
{
	uint64_t next;

	if (open_folders(sink, err) < 0 || read_key(sink, err) < 0 ||
	    read_cursor(sink, &next, err) < 0 || watch(sink, err) < 0)
		return -1;
	sink->stored = next;
	sink->follow = follow_new(sink->audit_fd, &sink->key, next);
	return 0;
}

static int read_arguments(int argc, char **argv, struct sink *sink)
{
	sink->reduced = argc == 6 && strcmp(argv[5], "--reduced") == 0;
	if (argc < 5 || argc > 6 || (argc == 6 && !sink->reduced) || argv[4][0] != '/' ||
	    strlen(argv[2]) > NAME_MAX_BYTES || strchr(argv[2], '/') != NULL)
		return -1;
	sink->workspace = argv[1];
	sink->name = argv[2];
	sink->target.path = argv[4];
	sink->target.kind = strcmp(argv[3], "syslog") == 0 ? TARGET_SYSLOG : TARGET_FILE;
	return sink->target.kind == TARGET_SYSLOG || strcmp(argv[3], "file") == 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
	struct sink sink = {.target = {.fd = -1}, .audit_fd = -1, .state_fd = -1, .watch_fd = -1};
	struct err err;

	log_open("writ-sink");
	signal(SIGPIPE, SIG_IGN);
	umask(077);
	if (read_arguments(argc, argv, &sink) < 0) {
		log_error("usage: writ-sink WORKSPACE NAME file|syslog PATH [--reduced]; it is "
			  "started by `writ serve`");
		return EXIT_USAGE;
	}
	crypto_init();
	if (prepare(&sink, &err) < 0) {
		log_error("%s: %s", sink.name, err.text);
		return err.kind == ERR_IO ? EXIT_IO : EXIT_CONFIG;
	}
	if (sink.target.kind == TARGET_SYSLOG && target_open(&sink.target, &err) < 0) {
		tell(&sink, &err);
		log_info("%s: %s", sink.name, err.text);
		return EXIT_IO;
	}
	if (confine(&sink, &err) < 0) {
		log_error("sandbox: %s", err.text);
		return EXIT_NO_SANDBOX;
	}
	return serve(&sink);
}
