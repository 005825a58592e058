/*
 * How often a rule may be used, and by how many calls at once: the limits of policy/policy.h
 * (struct rule_limit), counted here. Times are a monotonic clock's, so that nobody gains by setting
 * the other one; counters live in memory and start anew with the service.
 *
 * A rate is exact: in no span of its length start more calls than it says. Memory is bounded by the
 * number of counters and by what each limit counts.
 */
#ifndef BROKER_LIMITER_H
#define BROKER_LIMITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/policy.h"

struct limiter;

struct limiter *limiter_new(void);
void limiter_free(struct limiter *limiter); /* NULL is fine; every hold was let go */

struct limiter_who { /* whose call it is, as far as a limit counts by it */
	const char *agent;
	const char *user; /* the pseudonym will do */
	const char *tool;
};

struct limiter_hold; /* what a running call counts in */

enum limiter_answer { LIMITER_FINE, LIMITER_RATE, LIMITER_RUNNING, LIMITER_FULL };

/*
 * Counts one call in each limit, or in none when one of them is reached: then *ret_limit is that
 * limit and *ret_wait_ms how long it lasts (0 when nobody can tell). LIMITER_FULL: more counters
 * than can be kept, none of them idle. The hold (NULL when nothing of it lasts) is the caller's to
 * let go when the call has ended.
 */
enum limiter_answer limiter_take(struct limiter *limiter, const struct rule_limit *const *limits,
				 size_t count, const struct limiter_who *who, int64_t now_ms,
				 struct limiter_hold **ret_hold,
				 const struct rule_limit **ret_limit, int64_t *ret_wait_ms);
void limiter_let_go(struct limiter_hold *hold); /* NULL is fine */

size_t limiter_counters(const struct limiter *limiter); /* for tests and status */
#define LIMITER_COUNTERS_MAX 20000u

#endif
