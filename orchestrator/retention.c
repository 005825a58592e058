/* One timer: now, again at once while there is more, then in an hour; see retention.h. A store that
 * cannot be pruned is logged and tried again. */
#include "orchestrator/retention.h"

#include "base/log.h"
#include "orchestrator/store.h"

#define PRUNE_EVERY_MS (60 * 60 * 1000)
#define PRUNE_AGAIN_MS 50 /* between two bounded steps others have their turn */

static void on_tick(uv_timer_t *timer)
{
	struct orchestrator *orchestrator = timer->data;
	int64_t keep_s = json_get_int(json_get(orchestrator->config, "retention"), "tasks_s",
				      RETENTION_TASKS_S);
	int64_t pruned = 0;
	struct err err = {0};

	if (store_prune(orchestrator->store, clock_now_us() - keep_s * 1000000, &pruned, &err) < 0)
		log_error("remove old tasks: %s", err.text);
	uv_timer_start(timer, on_tick, pruned == STORE_PRUNE_MAX ? PRUNE_AGAIN_MS : PRUNE_EVERY_MS,
		       0);
}

void retention_init(struct orchestrator *orchestrator)
{
	uv_timer_init(orchestrator->loop, &orchestrator->retention_timer);
	orchestrator->retention_timer.data = orchestrator;
	uv_timer_start(&orchestrator->retention_timer, on_tick, 0, 0);
}

void retention_close(struct orchestrator *orchestrator)
{
	uv_close((uv_handle_t *)&orchestrator->retention_timer, NULL);
}
