/*
 * The supervisor of one workspace.
 *
 *   lock -> compile (a process of its own) -> listening socket -> start programs -> attach -> watch
 *
 * Who died decides what happens: a signer or connector is started again and attached anew, so is an
 * orchestrator (its sessions end); when the broker ends, everything ends with it, and unless that
 * was the clean end everything is started again. Ends of channels are closed here as soon as both
 * programs hold theirs; a death is noticed by SIGCHLD and by nothing else.
 */
#include "cli/supervise.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lane.h"
#include "base/log.h"
#include "cli/cli.h"
#include "cli/compile.h"
#include "cli/schedule.h"
#include "cli/supervisor.h"

#define STOP_WAIT_MS 8000 /* the broker lets running calls finish for 5 s */
/* What SIGKILL does not end in this time hangs in the kernel, and cannot be waited for. */
#define GIVE_UP_MS (STOP_WAIT_MS + 2 * KILL_WAIT_MS)

static void stop(struct supervisor *supervisor);
static void reload(struct supervisor *supervisor);
static void tell_broker(struct supervisor *supervisor, const char *what, const char *why);

/* ---- deaths ---- */

/* Ends of the broker that starting again cannot mend. */
static bool is_final(int code)
{
	return code == EXIT_AUDIT_DAMAGED || code == EXIT_IO || code == EXIT_CONFIG ||
	       code == EXIT_NO_SANDBOX || code == 127;
}

static void describe_end(struct supervisor *supervisor, const struct program *program, int status)
{
	if (WIFSIGNALED(status))
		supervisor_note(supervisor, program, "was ended by signal %d (%s)",
				WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) != 0)
		supervisor_note(supervisor, program, "ended with exit code %d",
				WEXITSTATUS(status));
}

static void begin_stopping(struct supervisor *supervisor)
{
	supervisor->stopping = true;
	supervisor->give_up_us = clock_mono_us() + GIVE_UP_MS * 1000LL;
}

static void end_all(struct supervisor *supervisor, int64_t when_us)
{
	for (size_t i = 0; i < supervisor->programs.count; i++)
		schedule_end(&supervisor->programs.items[i], when_us);
}

/* Everyone else loses their channels with the broker and ends by end of file, or is made to. */
static void on_broker_end(struct supervisor *supervisor, struct program *broker, int status)
{
	int code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_UNAVAILABLE;

	/* It ends by itself only when idle and told so: otherwise even a clean end was not asked
	 * for. */
	if (supervisor->stopping || is_final(code) ||
	    (supervisor->options->until_idle && code != EXIT_BUSY)) {
		begin_stopping(supervisor);
		supervisor->exit_code = code;
	}
	schedule_restart(broker, clock_mono_us());
	end_all(supervisor, clock_mono_us());
}

/* A source that cannot be served leaves the rest of the service useful; keys or a task store that
 * cannot be used do not. */
static void on_other_end(struct supervisor *supervisor, struct program *program, int status)
{
	if (program->kind != PROGRAM_CONNECTOR && program->kind != PROGRAM_SINK &&
	    WIFEXITED(status) && is_final(WEXITSTATUS(status)) && !supervisor->stopping) {
		supervisor->exit_code = WEXITSTATUS(status);
		stop(supervisor);
	}
	schedule_restart(program, clock_mono_us());
}

/* The compile step of a reload: what it has written is what the broker is to read. */
static void on_compiled(struct supervisor *supervisor, int status)
{
	const char *why;

	supervisor->compile_pid = 0;
	if (supervisor->stopping)
		return;
	if (reload_result(status, &why) == EXIT_FINE) {
		tell_broker(supervisor, "reload", NULL);
		log_notice("reload: the files have no mistakes and were given to the broker");
	} else {
		log_error("reload: %s; the last good policy stays in force", why);
		tell_broker(supervisor, "refused", why);
	}
	if (supervisor->compile_again)
		reload(supervisor);
}

static void reap(struct supervisor *supervisor)
{
	pid_t pid;
	int status;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		struct program *program = programs_find_pid(&supervisor->programs, pid);

		if (pid == supervisor->compile_pid)
			on_compiled(supervisor, status);
		if (program == NULL)
			continue;
		if (!supervisor->stopping)
			describe_end(supervisor, program, status);
		program->pid = 0;
		if (program->kind == PROGRAM_BROKER)
			on_broker_end(supervisor, program, status);
		else
			on_other_end(supervisor, program, status);
	}
}

/* A program that is not there will not be there after a pause either. One that was started and
 * could not be attached, or found its broker hanging, is of no use as it is. */
static void on_start_failed(struct supervisor *supervisor, struct program *program,
			    const struct err *err)
{
	int64_t now = clock_mono_us();

	log_error("start %s: %s", program_label(program), err->text);
	if (err->kind == ERR_NOT_FOUND) {
		supervisor->exit_code = EXIT_UNAVAILABLE;
		stop(supervisor);
		return;
	}
	if (program->pid == 0)
		schedule_restart(program, now);
	schedule_end(program, now);
	if (err->kind == ERR_TIMEOUT)
		schedule_end(programs_broker(&supervisor->programs), now);
}

static void start_due(struct supervisor *supervisor)
{
	struct program *program;
	struct err err = {0};

	while (!supervisor->stopping &&
	       (program = schedule_due(&supervisor->programs, clock_mono_us())) != NULL)
		if (program_start(&supervisor->programs, program, &err) < 0) {
			on_start_failed(supervisor, program, &err);
			return;
		}
}

/* In the order of the list: who passes questions on comes after those who answer them. To a broker
 * that is gone or going, nothing is attached. */
static void attach_started(struct supervisor *supervisor)
{
	struct programs *programs = &supervisor->programs;
	const struct program *broker = programs_broker(programs);
	struct err err = {0};

	for (size_t i = 0; i < programs->count; i++) {
		if (supervisor->stopping || broker->pid == 0 || broker->kill_at_us != 0)
			return;
		if (programs->items[i].pid > 0 &&
		    program_attach(programs, &programs->items[i], &err) < 0)
			on_start_failed(supervisor, &programs->items[i], &err);
	}
}

static void signal_due(struct supervisor *supervisor)
{
	int64_t now = clock_mono_us();

	for (size_t i = 0; i < supervisor->programs.count; i++) {
		struct program *program = &supervisor->programs.items[i];
		int number = program->pid > 0 ? schedule_signal(program, now) : 0;

		if (number == SIGKILL)
			log_error("%s did not end when told to: it is killed",
				  program_label(program));
		if (number != 0)
			kill(program->pid, number);
	}
	if (supervisor->compile_pid > 0 && supervisor->compile_kill_us <= now) {
		log_error("reload: reading the files took over %d s: given up",
			  COMPILE_WAIT_MS / 1000);
		supervisor->compile_kill_us = INT64_MAX;
		kill(supervisor->compile_pid, SIGKILL);
	}
}

static int wait_ms(const struct supervisor *supervisor)
{
	int64_t now = clock_mono_us();
	int wait = schedule_wait_ms(&supervisor->programs, supervisor->stopping, now);
	int64_t at = supervisor->compile_pid > 0 ? supervisor->compile_kill_us : INT64_MAX;

	if (supervisor->stopping && supervisor->give_up_us < at)
		at = supervisor->give_up_us;
	if (!supervisor->stopping && supervisor->pulse_at_us < at)
		at = supervisor->pulse_at_us;
	if (at == INT64_MAX)
		return wait;
	at = at <= now ? 0 : (at - now - 1) / 1000 + 1;
	return wait < 0 || at < wait ? (int)at : wait;
}

/* ---- stopping and reloading ---- */

/* A broker that does not listen hangs: it is ended, and with it the lane that is out of step. */
static void tell_broker(struct supervisor *supervisor, const char *what, const char *why)
{
	CLEANUP(json_freep) struct json *message = json_object();
	struct program *broker = programs_broker(&supervisor->programs);
	struct err err = {0};

	if (why != NULL)
		json_set_str(message, what, why);
	else
		json_set_bool(message, what, true);
	if (supervisor->programs.control_fd < 0 || broker->pid == 0 ||
	    lane_send_blocking(supervisor->programs.control_fd, message, -1, &err) == 0)
		return;
	log_error("tell the broker to %s: %s", what, err.text);
	if (!supervisor->stopping)
		schedule_end(broker, clock_mono_us());
}

static void stop(struct supervisor *supervisor)
{
	if (supervisor->stopping)
		return;
	begin_stopping(supervisor);
	end_all(supervisor, clock_mono_us() + STOP_WAIT_MS * 1000LL);
	tell_broker(supervisor, "stop", NULL);
}

/* The answer comes by SIGCHLD: what dies meanwhile is started again as ever. */
static void reload(struct supervisor *supervisor)
{
	struct err err = {0};

	supervisor->compile_again = supervisor->compile_pid > 0;
	if (supervisor->compile_again || supervisor->stopping)
		return;
	if (reload_start(supervisor->options->workspace, &supervisor->compile_pid, &err) < 0)
		log_error("reload: %s", err.text);
	else
		supervisor->compile_kill_us = clock_mono_us() + COMPILE_WAIT_MS * 1000LL;
}

static void on_signal(struct supervisor *supervisor, uint32_t number)
{
	if (number == SIGCHLD)
		reap(supervisor);
	else if (number == SIGHUP)
		reload(supervisor);
	else if (number == SIGUSR1) /* `writ policy apply` has written state/ already */
		tell_broker(supervisor, "reload", NULL);
	else
		stop(supervisor);
}

static void wait_for_signal(struct supervisor *supervisor, int timeout_ms)
{
	struct pollfd ready = {.fd = supervisor->signal_fd, .events = POLLIN};
	struct signalfd_siginfo info;

	if (poll(&ready, 1, timeout_ms) <= 0)
		return;
	while (read(supervisor->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
		on_signal(supervisor, info.ssi_signo);
}

static void watch(struct supervisor *supervisor)
{
	while (!supervisor->stopping || (programs_any_running(&supervisor->programs) &&
					 clock_mono_us() < supervisor->give_up_us)) {
		start_due(supervisor);
		attach_started(supervisor);
		supervisor_tell_notes(supervisor);
		if (!supervisor->stopping)
			supervisor_pulse(supervisor, clock_mono_us());
		signal_due(supervisor);
		wait_for_signal(supervisor, wait_ms(supervisor));
	}
	if (supervisor->compile_pid > 0)
		kill(supervisor->compile_pid, SIGKILL);
}

static void tell_ready(const struct supervisor *supervisor)
{
	int fd = supervisor->options->ready_fd;

	if (fd < 0) {
		log_notice("serving %s; SIGHUP reads its files again, SIGTERM or Ctrl-C stops it",
			   supervisor->options->workspace);
		return;
	}
	IGNORE(write(fd, "r", 1) < 0, "whoever started us is gone; the service can still be used");
	close(fd);
}

int supervise(const struct supervise_options *options, int lock_fd)
{
	struct supervisor supervisor = {.options = options,
					.workspace_fd = -1,
					.run_fd = -1,
					.listen_fd = -1,
					.signal_fd = -1,
					.programs = {.control_fd = -1}};
	struct err err = {0};

	(void)lock_fd; /* held by being open */
	if (supervisor_open(&supervisor, &err) < 0) {
		fprintf(stderr, "writ: start the service: %s\n", err.text);
		if (supervisor.exit_code == EXIT_FINE)
			supervisor.exit_code =
				err.kind == ERR_INVALID ? EXIT_USAGE : EXIT_UNAVAILABLE;
	} else {
		tell_ready(&supervisor);
		watch(&supervisor);
	}
	supervisor_close(&supervisor);
	return supervisor.exit_code;
}
