/* One timer, running only while someone waits; see queue.h. */
#include "orchestrator/queue.h"

#include "orchestrator/run.h"

#define QUEUE_STEP_MS 20 /* far below what a task takes; a try costs the broker no record */

/* The list of tasks is newest first. */
static struct task *oldest_after(const struct orchestrator *orchestrator, const struct task *last)
{
	struct task *oldest = NULL;

	for (struct task *task = orchestrator->tasks; task != NULL && task != last;
	     task = task->next)
		if (task->state == TASK_QUEUED)
			oldest = task;
	return oldest;
}

static void on_tick(uv_timer_t *timer)
{
	struct orchestrator *orchestrator = timer->data;
	struct task *task = oldest_after(orchestrator, NULL);

	if (task == NULL)
		uv_timer_stop(timer);
	while (task != NULL) {
		struct task *next = oldest_after(orchestrator, task);

		run_open(task);
		task = next;
	}
}

void queue_init(struct orchestrator *orchestrator)
{
	uv_timer_init(orchestrator->loop, &orchestrator->queue_timer);
	orchestrator->queue_timer.data = orchestrator;
}

void queue_close(struct orchestrator *orchestrator)
{
	uv_close((uv_handle_t *)&orchestrator->queue_timer, NULL);
}

bool queue_add(struct task *task)
{
	if (clock_mono_us() - task->started_us > QUEUE_WAIT_MS * 1000LL)
		return false;
	task->state = TASK_QUEUED;
	if (!uv_is_active((const uv_handle_t *)&task->orchestrator->queue_timer))
		uv_timer_start(&task->orchestrator->queue_timer, on_tick, QUEUE_STEP_MS,
			       QUEUE_STEP_MS);
	return true;
}
