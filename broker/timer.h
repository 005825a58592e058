/* A one-shot timer that can be dropped at any time, although libuv closes handles only later. */
#ifndef BROKER_TIMER_H
#define BROKER_TIMER_H

#include <stdint.h>
#include <uv.h>

struct timer;

/* fired runs once, from the loop, unless the timer is stopped before. Every timer is stopped
 * exactly once, from within fired too. */
struct timer *timer_start(uv_loop_t *loop, uint64_t delay_ms, void (*fired)(void *data),
			  void *data);
void timer_stop(struct timer *timer); /* frees; NULL is fine */

#endif
