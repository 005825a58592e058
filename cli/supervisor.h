/* The supervisor's own state, and how it is set up and taken down (supervise_open.c); supervise.c
 * gives it life. */
#ifndef CLI_SUPERVISOR_H
#define CLI_SUPERVISOR_H

#include "base/json.h"
#include "cli/programs.h"
#include "cli/supervise.h"

struct supervisor {
	const struct supervise_options *options;
	struct json *config; /* service.json */
	struct programs programs;
	struct program_roles roles; /* when programs.roles points here */
	int workspace_fd;
	int run_fd;
	int listen_fd;
	int signal_fd;
	pid_t compile_pid; /* of a reload; 0: none */
	int64_t compile_kill_us;
	bool compile_again; /* asked for while one was running */
	bool stopping;
	int64_t give_up_us; /* when stopping */
	int exit_code;
};

/* Everything up to the listening socket; no program is started. On failure exit_code may say more
 * than err. Close it in any case. */
MUST_CHECK int supervisor_open(struct supervisor *supervisor, struct err *err);
void supervisor_close(struct supervisor *supervisor);

#endif
