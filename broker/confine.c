/*
 * The broker's own rights: three folders and a list of system calls. What can fail: a folder that
 * is not there, and the kernel.
 */
#include "broker/confine.h"

#include "base/mem.h"

/* No program is run, no socket made but pairs of our own, nothing connected or bound. */
static const char *const calls[] = {
	SANDBOX_CALLS_CORE,  SANDBOX_CALLS_LOOP, SANDBOX_CALLS_STREAMS,
	SANDBOX_CALLS_FILES, "accept4", /* people's connections on the socket we were given */
	"fstatfs",			/* is there room for the log? */
	"socketpair", /* session and agent channels, whose other ends go out by lane */
};

int broker_confine_files(const char *state_path, bool reduced_ok, enum sandbox_level *ret_level,
			 struct err *err)
{
	/* The folder, not its files: a reload reads those that took their place. */
	CLEANUP(mem_freep) char *config = mem_format("%s/config", state_path);
	CLEANUP(mem_freep) char *broker = mem_format("%s/broker", state_path);
	CLEANUP(mem_freep) char *audit = mem_format("%s/audit", state_path);
	const struct sandbox_path paths[] = {{config, false}, {broker, true}, {audit, true}};

	if (sandbox_drop(err) < 0)
		return -1;
	return sandbox_files(paths, ARRAY_LEN(paths), reduced_ok, ret_level, err);
}

int broker_confine_calls(struct err *err)
{
	return sandbox_calls(calls, ARRAY_LEN(calls), err);
}
