/* The handle lives until libuv has closed it; the owner's pointer is dead after timer_stop(). */
#include "broker/timer.h"

#include "base/mem.h"

struct timer {
	uv_timer_t handle;
	void (*fired)(void *data);
	void *data;
};

static void on_timer(uv_timer_t *handle)
{
	struct timer *timer = handle->data;

	timer->fired(timer->data);
}

static void on_closed(uv_handle_t *handle)
{
	mem_free(handle->data);
}

struct timer *timer_start(uv_loop_t *loop, uint64_t delay_ms, void (*fired)(void *data), void *data)
{
	struct timer *timer = mem_alloc(sizeof(*timer));

	timer->fired = fired;
	timer->data = data;
	uv_timer_init(loop, &timer->handle); /* cannot fail */
	timer->handle.data = timer;
	uv_timer_start(&timer->handle, on_timer, delay_ms, 0);
	return timer;
}

void timer_stop(struct timer *timer)
{
	if (timer != NULL)
		uv_close((uv_handle_t *)&timer->handle, on_closed);
}
