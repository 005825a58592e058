/*
 * What one user may take of what all share: openings per time (each leads to records that stay for
 * ever), and a part of the descriptors. Users are told apart by their pseudonym.
 */
#ifndef BROKER_ALLOWANCE_H
#define BROKER_ALLOWANCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "broker/rate.h"

/* Far above what a person's program does in a loop, far below what fills a disk in a day. */
#define TASKS_PER_SECOND_MAX 50
#define TASKS_BURST_MAX 2000
#define CONNECTIONS_PER_SECOND_MAX 100
#define CONNECTIONS_BURST_MAX 4000

#define SESSIONS_MAX 512     /* connections of people at once */
#define SESSION_SHARES 8     /* so many users can take all of them, one cannot */
#define AGENTS_MAX 2048	     /* of all tasks at once */
#define DESCRIPTORS_SPARE 64 /* files, the loop, the other programs */

enum opening { OPENING_TASK, OPENING_CONNECTION, OPENING_COUNT };

struct allowance; /* of one user */

struct allowances {
	struct allowance *first;
};

void allowances_clear(struct allowances *allowances);
/* Counts one opening of this user; false, and not counted, when it is over the rate. */
bool allowance_take(struct allowances *allowances, const char *su, enum opening opening,
		    int64_t now_us);
/* For tests: who is remembered, the last one first; NULL behind them. */
const char *allowance_user_at(const struct allowances *allowances, size_t index);

/* So many hold SESSIONS_MAX sessions and AGENTS_MAX agents. */
#define DESCRIPTORS_ALL (DESCRIPTORS_SPARE + 11 * SESSIONS_MAX)

/* What so many descriptors of a process are enough for, in the broker and in the orchestrator, even
 * while all of it is being passed on. At least one session. */
struct capacity {
	size_t sessions;
	size_t sessions_per_user;
	size_t agents;
};
struct capacity capacity_of(uint64_t descriptors);

#endif
