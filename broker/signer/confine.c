/* The signer's own rights: read, write, end. What can fail: the kernel. */
#include "broker/signer/confine.h"

#include <unistd.h>

static const char *const calls[] = {
	"read",	      /* the channel */
	"write",      /* the channel, the log on stderr */
	"exit_group", /* the end */
};

int signer_confine(bool reduced_ok, struct err *err)
{
	static const int keep[] = {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO, SIGNER_CHANNEL_FD};
	enum sandbox_level level;

	if (sandbox_close_others(keep, ARRAY_LEN(keep), err) < 0 || sandbox_drop(err) < 0 ||
	    sandbox_files(NULL, 0, reduced_ok, &level, err) < 0)
		return -1;
	return sandbox_calls(calls, ARRAY_LEN(calls), err);
}
