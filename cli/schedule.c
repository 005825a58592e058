/* Times of starting and ending; see schedule.h. Cannot fail. */
#include "cli/schedule.h"

#include <limits.h>
#include <signal.h>

#define NEVER INT64_MAX

/* When it may be started; NEVER while it runs, or while something else must come first. */
static int64_t start_time(const struct programs *programs, const struct program *program)
{
	const struct program *broker = programs_broker(programs);

	if (program->pid > 0)
		return NEVER;
	if (program != broker && broker->pid == 0)
		return NEVER;
	if (program == broker && programs_any_running(programs))
		return NEVER;
	return program->start_after_us;
}

struct program *schedule_due(const struct programs *programs, int64_t now_us)
{
	for (size_t i = 0; i < programs->count; i++)
		if (start_time(programs, &programs->items[i]) <= now_us)
			return &programs->items[i];
	return NULL;
}

void schedule_restart(struct program *program, int64_t now_us)
{
	if (now_us - program->started_us > STEADY_US || program->wait_ms == 0)
		program->wait_ms = RESTART_WAIT_MIN_MS;
	else if (program->wait_ms < RESTART_WAIT_MAX_MS / 2)
		program->wait_ms *= 2;
	else
		program->wait_ms = RESTART_WAIT_MAX_MS;
	program->pid = 0;
	program->term_at_us = program->kill_at_us = 0;
	program->start_after_us = now_us + program->wait_ms * 1000LL;
}

void schedule_end(struct program *program, int64_t term_us)
{
	int64_t kill_us = term_us + KILL_WAIT_MS * 1000LL;

	if (program->pid == 0 || (program->kill_at_us != 0 && program->kill_at_us <= kill_us))
		return;
	program->term_at_us = term_us > 0 ? term_us : 1;
	program->kill_at_us = kill_us;
}

int schedule_signal(struct program *program, int64_t now_us)
{
	if (program->term_at_us != 0 && program->term_at_us <= now_us) {
		program->term_at_us = 0;
		program->kill_at_us = now_us + KILL_WAIT_MS * 1000LL; /* however late we are */
		return SIGTERM;
	}
	if (program->kill_at_us != 0 && program->kill_at_us <= now_us) {
		program->kill_at_us = NEVER; /* nothing is left to send */
		return SIGKILL;
	}
	return 0;
}

static int64_t sooner(int64_t soonest, int64_t at_us)
{
	return at_us != 0 && at_us < soonest ? at_us : soonest;
}

int schedule_wait_ms(const struct programs *programs, bool stopping, int64_t now_us)
{
	int64_t soonest = NEVER;
	int64_t wait_ms;

	for (size_t i = 0; i < programs->count; i++) {
		const struct program *program = &programs->items[i];
		int64_t start = start_time(programs, program);

		if (program->pid > 0) {
			soonest = sooner(soonest, program->term_at_us);
			soonest = sooner(soonest, program->kill_at_us);
		} else if (!stopping && start < soonest) {
			soonest = start;
		}
	}
	if (soonest == NEVER)
		return -1;
	if (soonest <= now_us)
		return 0;
	wait_ms = (soonest - now_us - 1) / 1000 + 1;
	return wait_ms < INT_MAX ? (int)wait_ms : INT_MAX;
}
