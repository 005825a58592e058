/*
 * writ-sqlite NAME DATABASE-FILE [--reduced]: the connector of one SQLite file.
 *
 * The broker's channel is descriptor 3. The program confines itself before it reads a byte of it:
 * nothing of the file system but the database's folder, no network, no exec. Workers give up more.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <uv.h>

#include "base/crypto.h"
#include "base/log.h"
#include "broker/connectors/frame.h"
#include "broker/connectors/sqlite_confine.h"
#include "broker/connectors/sqlite_open.h"
#include "broker/connectors/sqlite_worker.h"
#include "writ/exit_codes.h"

static int confine_worker(void)
{
	struct err err;

	if (sqlite_confine_worker(&err) == 0)
		return 0;
	log_error("worker: %s", err.text);
	return -1;
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
	frame = frame_open(&loop, CONNECTOR_BROKER_FD, &source);
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
	crypto_init();
	if (argc < 3 || argc > 4 || (argc == 4 && !reduced_ok) || argv[2][0] != '/')
		return usage();
	sqlite.path = argv[2];
	signal(SIGPIPE, SIG_IGN);
	if (database_check_file(sqlite.path, &err) < 0)
		log_error("source %s: %s: %s; calls are refused until it is mended", argv[1],
			  sqlite.path, err.text);
	if (sqlite_confine_frame(sqlite.path, reduced_ok, &err) < 0) {
		log_error("source %s: %s", argv[1], err.text);
		return EXIT_NO_SANDBOX;
	}
	return serve(&sqlite);
}
