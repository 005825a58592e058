/*
 * Whether the programs still run. A question is a pipe whose other end the broker passes on to the
 * program (broker/probe.h); the answer is a byte in it, so nothing is parsed here. The broker
 * itself answers by taking the message.
 *
 * Four questions are asked in hang_after_ms, and three in a row without an answer mean that the
 * program hangs. Counted are questions and not time: where this process, or the whole machine, was
 * stopped for a while, that counts as one.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/lane.h"
#include "base/log.h"
#include "cli/schedule.h"
#include "cli/supervisor.h"

#define QUESTIONS 4
#define MISSES_MAX 3
#define NOTE_BYTES_MAX 160

void supervisor_note(struct supervisor *supervisor, const struct program *program,
		     const char *format, ...)
{
	CLEANUP(json_freep) struct json *note = json_object();
	char why[NOTE_BYTES_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	log_error("%s %s", program_label(program), why);
	json_set_str(note, "ended", program_label(program));
	json_set_str(note, "why", why);
	if (supervisor->untold_count < SUPERVISOR_NOTES_MAX)
		supervisor->untold[supervisor->untold_count++] = TAKE(note);
}

static void hangs(struct supervisor *supervisor, struct program *program)
{
	supervisor_note(supervisor, program,
			"has not answered for %lld s: it is ended and started again",
			(long long)(supervisor->hang_after_ms / 1000));
	schedule_end(program, clock_mono_us());
}

/* A broker that hangs leaves the lane out of step: it is ended as well. */
static bool send_to_broker(struct supervisor *supervisor, const struct json *message, int fd)
{
	struct program *broker = programs_broker(&supervisor->programs);
	struct err err = {0};

	if (lane_send_within(supervisor->programs.control_fd, message, fd,
			     supervisor->hang_after_ms * (QUESTIONS - 1) / QUESTIONS, &err) == 0)
		return true;
	if (err.kind == ERR_TIMEOUT)
		hangs(supervisor, broker);
	return false; /* if it has ended, that is seen soon */
}

static bool broker_listens(const struct supervisor *supervisor)
{
	const struct program *broker = programs_broker(&supervisor->programs);

	return !supervisor->stopping && broker->pid > 0 && broker->kill_at_us == 0;
}

void supervisor_tell_notes(struct supervisor *supervisor)
{
	while (supervisor->untold_count > 0 && broker_listens(supervisor)) {
		if (!send_to_broker(supervisor, supervisor->untold[0], -1))
			return;
		json_free(supervisor->untold[0]);
		supervisor->untold_count--;
		memmove(&supervisor->untold[0], &supervisor->untold[1],
			supervisor->untold_count * sizeof(supervisor->untold[0]));
	}
}

/* The last question; a program that was started meanwhile was not asked yet. */
static void take_answer(struct program *program)
{
	char byte;

	if (program->probe_fd < 0)
		return;
	if (read(program->probe_fd, &byte, 1) == 1)
		program->misses = 0;
	else
		program->misses++;
	close(program->probe_fd);
	program->probe_fd = -1;
}

static bool ask(struct supervisor *supervisor, struct program *program)
{
	CLEANUP(json_freep) struct json *message = json_object();
	int ends[2] = {-1, -1};
	bool sent;

	if (program->kind != PROGRAM_BROKER && pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0) {
		log_error("pipe: %s", strerror(errno));
		return true;
	}
	json_set_str(message, "probe", program_kind(program));
	if (program->name != NULL)
		json_set_str(message, "name", program->name);
	sent = send_to_broker(supervisor, message, ends[1]);
	fd_closep(&ends[1]);
	program->probe_fd = ends[0];
	return sent;
}

static bool is_to_be_asked(const struct program *program)
{
	return (program->kind == PROGRAM_BROKER || program_is_attached(program)) &&
	       program->pid > 0 && program->kill_at_us == 0;
}

void supervisor_pulse(struct supervisor *supervisor, int64_t now_us)
{
	struct programs *programs = &supervisor->programs;

	if (now_us < supervisor->pulse_at_us)
		return;
	for (size_t i = 0; i < programs->count; i++) {
		struct program *program = &programs->items[i];

		take_answer(program);
		if (is_to_be_asked(program) && program->misses >= MISSES_MAX)
			hangs(supervisor, program);
	}
	for (size_t i = 0; i < programs->count && broker_listens(supervisor); i++)
		if (is_to_be_asked(&programs->items[i]) && !ask(supervisor, &programs->items[i]))
			break;
	supervisor->pulse_at_us = clock_mono_us() + supervisor->hang_after_ms * 1000 / QUESTIONS;
}
