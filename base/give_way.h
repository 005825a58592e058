/*
 * For long work in a thread of the pool, beside a loop that answers in microseconds. The scheduler
 * lets a thread finish its slice, some milliseconds, before one that has just woken up gets the same
 * processor, even where another is idle. Called every tenth of a millisecond or so, the loop waits
 * no longer than that; it costs half a microsecond where nobody waits.
 */
#ifndef BASE_GIVE_WAY_H
#define BASE_GIVE_WAY_H

#include <sched.h>

static inline void give_way(void)
{
	sched_yield();
}

#endif
