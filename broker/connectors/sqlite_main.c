/*
 * writ-sqlite NAME DATABASE-FILE [--reduced]: the connector of one SQLite file.
 *
 * The broker's channel is descriptor 3. The program confines itself before it reads a byte of it:
 * nothing of the file system but the database's folder, no network, no exec. Workers give up more.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/sandbox.h"
#include "broker/connectors/frame.h"
#include "broker/connectors/sqlite_open.h"
#include "broker/connectors/sqlite_worker.h"
#include "writ/exit_codes.h"

#define BROKER_FD 3

/* Lines in and out on an open descriptor, SQLite on its files; no process, no socket, no signal. */
static const char *const worker_calls[] = {SANDBOX_CALLS_CORE, SANDBOX_CALLS_FILES};

static const char *const frame_calls[] = {
	SANDBOX_CALLS_CORE,
	SANDBOX_CALLS_LOOP,
	SANDBOX_CALLS_STREAMS,
	SANDBOX_CALLS_FILES, /* for its workers */
	SANDBOX_CALLS_WORKERS,
	"getppid",  /* a worker sees whether the frame is still there */
	"prctl",    /* it dies with the frame, and confines itself */
	"seccomp"}; /* likewise; a filter can only be added to */

static int confine_worker(void)
{
	struct err err;

	if (sandbox_calls(worker_calls, ARRAY_LEN(worker_calls), &err) == 0)
		return 0;
	log_error("worker: %s", err.text);
	return -1;
}

/*
 * The folder, because SQLite opens -journal, -wal and -shm beside the file. In WAL mode it must
 * make and write the -shm file to take part in locking, so the folder is writable then: the
 * database itself is still opened read only.
 */
static int confine(const char *path, bool reduced_ok, struct err *err)
{
	static const int kept[] = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, BROKER_FD};
	CLEANUP(mem_freep) char *folder = mem_str(path);
	struct sandbox_path paths[1];
	enum sandbox_level level;
	char *slash = strrchr(folder, '/');

	*slash = '\0';
	paths[0].path = slash == folder ? "/" : folder;
	paths[0].write = database_is_wal(path);
	if (sandbox_close_others(kept, ARRAY_LEN(kept), err) < 0 || sandbox_drop(err) < 0)
		return -1;
	/* Without the folder there is nothing to allow; calls then say that the file is missing. */
	if (sandbox_files(paths, access(paths[0].path, F_OK) == 0, reduced_ok, &level, err) < 0)
		return -1;
	return sandbox_calls(frame_calls, ARRAY_LEN(frame_calls), err);
}

static int usage(void)
{
	fprintf(stderr, "usage: writ-sqlite NAME DATABASE-FILE [--reduced]\n"
			"Started by writ serve, with the broker's channel as descriptor 3.\n"
			"DATABASE-FILE is an absolute path.\n");
	return EXIT_USAGE;
}

static int serve(struct sqlite_source *sqlite)
{
	struct source source = {"writ-sqlite", sqlite, sqlite_work};
	struct frame *frame;
	uv_loop_t loop;

	if (uv_loop_init(&loop) < 0) {
		log_error("no event loop");
		return EXIT_UNAVAILABLE;
	}
	frame = frame_open(&loop, BROKER_FD, &source);
	uv_run(&loop, UV_RUN_DEFAULT);
	frame_free(frame);
	uv_loop_close(&loop);
	return EXIT_FINE;
}

int main(int argc, char **argv)
{
	struct sqlite_source sqlite = {NULL, confine_worker};
	bool reduced_ok = argc == 4 && strcmp(argv[3], "--reduced") == 0;
	struct err err;

	log_open("writ-sqlite");
	if (argc < 3 || argc > 4 || (argc == 4 && !reduced_ok) || argv[2][0] != '/')
		return usage();
	sqlite.path = argv[2];
	signal(SIGPIPE, SIG_IGN);
	if (database_check_file(sqlite.path, &err) < 0)
		log_error("source %s: %s: %s; calls are refused until it is mended", argv[1],
			  sqlite.path, err.text);
	if (confine(sqlite.path, reduced_ok, &err) < 0) {
		log_error("source %s: %s", argv[1], err.text);
		return EXIT_NO_SANDBOX;
	}
	return serve(&sqlite);
}
