/*
 * The connector's own rights: one folder and two lists of system calls. What can fail: the kernel;
 * a folder that is not there is none (calls then say that the file is missing).
 */
#include "broker/connectors/sqlite_confine.h"

#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "broker/connectors/sqlite_open.h"

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

/*
 * The folder, because SQLite opens -journal, -wal and -shm beside the file. In WAL mode it must
 * make and write the -shm file to take part in locking, so the folder is writable then: the
 * database itself is still opened read only.
 */
static int confine_files(const char *path, bool reduced_ok, struct err *err)
{
	CLEANUP(mem_freep) char *folder = mem_str(path);
	struct sandbox_path paths[1];
	enum sandbox_level level;
	char *slash = strrchr(folder, '/');

	*slash = '\0';
	paths[0].path = slash == folder ? "/" : folder;
	paths[0].write = database_is_wal(path);
	return sandbox_files(paths, access(paths[0].path, F_OK) == 0, reduced_ok, &level, err);
}

int sqlite_confine_frame(const char *path, bool reduced_ok, struct err *err)
{
	static const int kept[] = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, CONNECTOR_BROKER_FD};

	if (sandbox_close_others(kept, ARRAY_LEN(kept), err) < 0 || sandbox_drop(err) < 0 ||
	    confine_files(path, reduced_ok, err) < 0)
		return -1;
	return sandbox_calls(frame_calls, ARRAY_LEN(frame_calls), err);
}

int sqlite_confine_worker(struct err *err)
{
	return sandbox_calls(worker_calls, ARRAY_LEN(worker_calls), err);
}
