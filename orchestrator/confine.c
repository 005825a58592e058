/* The orchestrator's own rights: its store and what the broker hands it. What can fail: the kernel.
 */
#include "orchestrator/confine.h"

/* Beyond the lists of base/sandbox.h nothing: no socket, no program, no process. */
static const char *const calls[] = {SANDBOX_CALLS_CORE, SANDBOX_CALLS_LOOP, SANDBOX_CALLS_FILES,
				    SANDBOX_CALLS_STREAMS};

int orchestrator_confine(bool reduced_ok, enum sandbox_level *ret_level, struct err *err)
{
	const struct sandbox_path paths[] = {{.path = ".", .write = true},
					     {.path = "/usr/share/zoneinfo", .write = false}};

	if (sandbox_drop(err) < 0 ||
	    sandbox_files(paths, ARRAY_LEN(paths), reduced_ok, ret_level, err) < 0)
		return -1;
	return sandbox_calls(calls, ARRAY_LEN(calls), err);
}
