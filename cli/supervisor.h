/* The supervisor's own state, and how it is set up and taken down (supervise_open.c); supervise.c
 * gives it life. */
#ifndef CLI_SUPERVISOR_H
#define CLI_SUPERVISOR_H

#include "base/json.h"
#include "cli/programs.h"
#include "cli/supervise.h"

#define SUPERVISOR_NOTES_MAX 16 /* as many as the broker keeps */

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
	int64_t hang_after_ms;
	int64_t pulse_at_us; /* when programs are asked next whether they are there */
	struct json *untold[SUPERVISOR_NOTES_MAX]; /* what ended, for the broker: messages */
	size_t untold_count;
};

/* Everything up to the listening socket; no program is started. On failure exit_code may say more
 * than err. Close it in any case. */
MUST_CHECK int supervisor_open(struct supervisor *supervisor, struct err *err);
void supervisor_close(struct supervisor *supervisor);

/* supervise_pulse.c: asks every program whether it still runs its loop, at pulse_at_us; one that
 * has not answered for hang_after_ms is to be ended. */
void supervisor_pulse(struct supervisor *supervisor, int64_t now_us);
/* Notes for the broker, and so for `writ status`, why a program ended or is ended. */
void supervisor_note(struct supervisor *supervisor, const struct program *program,
		     const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Tells the broker, once it is there, what was noted. */
void supervisor_tell_notes(struct supervisor *supervisor);

#endif
