/*
 * When a program is started, told to end, and killed, and how long the supervisor may sleep until
 * then. Pure: times are arguments, in microseconds of one clock; what is due is done by the caller.
 *
 * The others attach to the broker, so without one only it is started, and not before everything
 * that belonged to the last one has ended. One program that waits holds up no other.
 */
#ifndef CLI_SCHEDULE_H
#define CLI_SCHEDULE_H

#include "cli/programs.h"

#define RESTART_WAIT_MIN_MS 50 /* a crash at start must not spin */
#define RESTART_WAIT_MAX_MS 10000
#define STEADY_US (30 * 1000000LL) /* running this long forgives earlier failures */
#define KILL_WAIT_MS 1000	   /* after SIGTERM, before SIGKILL */

/* One that is to be started now; NULL when there is none. */
struct program *schedule_due(const struct programs *programs, int64_t now_us);

/* It has ended: starts again after a pause that doubles with each quick failure. */
void schedule_restart(struct program *program, int64_t now_us);

/* A running one gets SIGTERM at term_us and SIGKILL KILL_WAIT_MS later, unless both come earlier
 * already. */
void schedule_end(struct program *program, int64_t term_us);

/* The signal to send it now: SIGTERM, SIGKILL a while after that was sent, or 0. */
int schedule_signal(struct program *program, int64_t now_us);

/* Milliseconds until something above is due, rounded up; -1 when nothing will be. While stopping,
 * nothing is started. */
int schedule_wait_ms(const struct programs *programs, bool stopping, int64_t now_us);

#endif
