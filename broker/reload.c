/*
 * The configuration is read in a thread of the pool and taken over in one step by the loop, so that
 * running calls never wait for ten thousand rules to be parsed; what it replaces is freed there
 * too. One reload runs at a time; words that come meanwhile lead to one more. What can fail: the
 * files, the disk under the epoch. Then the last good configuration stays in force, and log, status
 * and record say why.
 */
#include "broker/reload.h"

#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "broker/session.h"
#include "broker/trail.h"

struct reload {
	struct broker *broker;
	uv_work_t work;
	struct config *config; /* new one, then the old one to free */
	struct err err;
	int failed;
};

void reload_refused(struct broker *broker, const struct err *why)
{
	struct policy_reloads *reloads = &broker->reloads;

	log_error("reload: %s; the old policy stays in force", why->text);
	reloads->refused++;
	reloads->last_us = broker->now_us();
	reloads->last_refused = true;
	snprintf(reloads->reason, sizeof(reloads->reason), "%.255s", why->text);
	trail_policy_load(broker, why);
}

static void free_in_pool(uv_work_t *work)
{
	struct reload *reload = work->data;

	config_free(reload->config);
}

static void on_freed(uv_work_t *work, int status)
{
	(void)status;
	mem_free(work->data);
}

static void take_over(struct broker *broker, struct reload *reload)
{
	struct config *old = broker->config;

	broker->config = reload->config;
	reload->config = old;
	broker->shadow = (struct policy_shadow){0};
	broker->reloads.applied++;
	broker->reloads.last_us = broker->now_us();
	broker->reloads.last_refused = false;
	broker->reloads.reason[0] = '\0';
	trail_policy_load(broker, NULL);
	sessions_map_again(broker);
}

static void read_in_pool(uv_work_t *work)
{
	struct reload *reload = work->data;

	reload->failed =
		config_load(reload->broker->options.config_fd, &reload->config, &reload->err);
}

/* A cancelled read has loaded nothing; the loop is ending then. */
static void on_read(uv_work_t *work, int status)
{
	struct reload *reload = work->data;
	struct broker *broker = reload->broker;
	bool again = broker->reload_again;

	broker->reloading = broker->reload_again = false;
	if (status < 0 || broker->phase >= PHASE_CLOSING) {
		log_info("reload: the service is ending");
	} else if (reload->failed < 0 || token_store_raise_epoch(broker->store, &reload->err) < 0) {
		reload_refused(broker, &reload->err);
	} else {
		take_over(broker, reload);
	}
	if (again && broker->phase < PHASE_CLOSING)
		reload_start(broker);
	if (uv_queue_work(broker->loop, work, free_in_pool, on_freed) < 0) {
		config_free(reload->config);
		mem_free(reload);
	}
}

void reload_start(struct broker *broker)
{
	struct reload *reload;

	if (broker->reloading) {
		broker->reload_again = true;
		return;
	}
	reload = mem_alloc(sizeof(*reload));
	reload->broker = broker;
	reload->work.data = reload;
	if (uv_queue_work(broker->loop, &reload->work, read_in_pool, on_read) < 0) {
		err_set(&reload->err, ERR_IO, "the thread pool takes no work");
		reload_refused(broker, &reload->err);
		mem_free(reload);
		return;
	}
	broker->reloading = true;
}
