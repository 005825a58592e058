/*
 * The queue and its turns; processes are in worker.c. What can fail: fork (the call is refused), a
 * worker that dies (its call is refused, the next gets a new worker).
 */
#include "broker/connectors/pool.h"

#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "broker/connectors/refusal.h"
#include "broker/connectors/worker.h"

#define TRIES_MAX 3 /* workers that die one after the other have a reason */
#define SPARE_MS 20 /* a new spare worker is made after the call that took the last has begun */

enum fate { FATE_OPEN, FATE_TIMEOUT, FATE_CANCELED };

struct job {
	struct pool *pool;
	char *id;
	char *method;
	struct json *params;
	int64_t deadline_us;
	pool_done *done;
	void *data;
	struct line *line;
	struct worker *worker; /* NULL while it waits */
	uint64_t run;
	int tries;
	enum fate fate;
	uv_timer_t timer;
	struct job *next; /* in its line, or among the running */
};

struct line { /* the calls of one grant */
	char *grant;
	struct job *waiting; /* first come, first served */
	size_t running;
	struct line *next;
};

struct pool {
	uv_loop_t *loop;
	const struct source *source;
	struct workers *workers;
	struct line *lines;
	char *last_grant; /* whose turn was last */
	struct job *running;
	uint64_t runs;
	uv_timer_t sweep;
	uv_timer_t spare;
	int open_timers;
	bool closed;
};

static void pool_step(struct pool *pool);

static struct line *line_get(struct pool *pool, const char *grant)
{
	struct line **place = &pool->lines;

	for (; *place; place = &(*place)->next)
		if (strcmp((*place)->grant, grant) == 0)
			return *place;
	*place = mem_alloc(sizeof(**place));
	(*place)->grant = mem_str(grant);
	return *place;
}

static void line_drop_if_empty(struct pool *pool, struct line *line)
{
	struct line **place = &pool->lines;

	if (line->waiting || line->running)
		return;
	while (*place != line)
		place = &(*place)->next;
	*place = line->next;
	mem_free(line->grant);
	mem_free(line);
}

static void list_remove(struct job **list, struct job *job)
{
	while (*list && *list != job)
		list = &(*list)->next;
	if (*list)
		*list = job->next;
	job->next = NULL;
}

static void on_timer_closed(uv_handle_t *handle)
{
	struct job *job = handle->data;

	json_free(job->params);
	mem_free(job->id);
	mem_free(job->method);
	mem_free(job);
}

/* Leaves its list, tells, and goes. */
static void job_finish(struct job *job, struct json *result)
{
	struct pool *pool = job->pool;

	if (job->worker) {
		list_remove(&pool->running, job);
		job->line->running--;
		worker_set_job(job->worker, NULL);
		job->worker = NULL;
	} else {
		list_remove(&job->line->waiting, job);
	}
	line_drop_if_empty(pool, job->line);
	job->line = NULL;
	uv_close((uv_handle_t *)&job->timer, on_timer_closed);
	job->done(job->data, result);
}

static struct json *refuse(const char *by, const char *hint, const char *error)
{
	struct refusal refusal;

	refusal_set(&refusal, by, hint, "%s", error);
	return refusal_json(&refusal);
}

static struct json *refuse_by_fate(const struct job *job)
{
	if (job->fate == FATE_CANCELED)
		return refuse(BY_CANCELED, "nothing to do", "the call was canceled");
	if (job->fate == FATE_TIMEOUT)
		return refuse(BY_LIMIT,
			      "ask for something narrower: check that every join has its condition",
			      "the statement ran longer than its time");
	return refuse(BY_UNAVAILABLE, "try again",
		      "the worker of this source ended before it answered");
}

/* The worker had died before the call reached it: first in its line again. */
static void job_try_again(struct job *job)
{
	if (job->fate != FATE_OPEN || job->pool->closed || job->tries >= TRIES_MAX) {
		job_finish(job, refuse_by_fate(job));
		return;
	}
	list_remove(&job->pool->running, job);
	job->line->running--;
	worker_set_job(job->worker, NULL);
	job->worker = NULL;
	job->next = job->line->waiting;
	job->line->waiting = job;
}

static void on_answer(void *data, const struct json *result, const struct err *err)
{
	struct job *job = data;
	struct pool *pool = job->pool;

	if (err) { /* the end of the worker, or an answer that is none */
		worker_kill(job->worker);
		if (worker_has_begun(job->worker, job->run))
			job_finish(job, refuse_by_fate(job));
		else
			job_try_again(job);
		return; /* on_worker_gone() goes on */
	}
	job_finish(job, job->fate == FATE_CANCELED ? refuse_by_fate(job) : json_copy(result));
	pool_step(pool);
}

/* The end of a worker comes here after its call was answered by on_answer(). */
static void on_worker_gone(void *data)
{
	pool_step(data);
}

static void on_timer(uv_timer_t *timer)
{
	struct job *job = timer->data;
	struct pool *pool = job->pool;

	if (!job->worker) {
		job_finish(job, refuse(BY_LIMIT, "try again later",
				       "the call's time passed while it waited for its turn"));
		pool_step(pool);
		return;
	}
	if (job->fate == FATE_OPEN) { /* the worker sees the deadline itself */
		job->fate = FATE_TIMEOUT;
		uv_timer_start(&job->timer, on_timer, POOL_GRACE_MS, 0);
		return;
	}
	worker_kill(job->worker); /* answers through on_answer() */
}

static int64_t left_ms(const struct job *job)
{
	int64_t left = (job->deadline_us - clock_mono_us()) / 1000;

	return left > 0 ? left : 1;
}

static void job_start(struct job *job, struct worker *worker)
{
	struct pool *pool = job->pool;
	struct json *params = json_copy(job->params); /* kept for a second try */

	list_remove(&job->line->waiting, job);
	job->next = pool->running;
	pool->running = job;
	job->line->running++;
	job->worker = worker;
	job->run = ++pool->runs;
	worker_set_job(worker, job);
	json_set_int(params, "run", (int64_t)job->run);
	json_set_int(params, "time_ms", left_ms(job));
	job->tries++;
	if (worker_call(worker, job->method, params, on_answer, job))
		return;
	worker_kill(worker);
	job_try_again(job);
}

static void on_spare(uv_timer_t *timer)
{
	struct pool *pool = timer->data;

	workers_make_spare(pool->workers);
}

/* The line after the one that was served last, and so on around. */
static struct line *next_line(struct pool *pool)
{
	struct line *after = pool->lines;
	struct line *found = NULL;
	bool one_left = workers_busy(pool->workers) + 1 >= POOL_WORKERS_MAX;

	for (struct line *line = pool->lines; line; line = line->next)
		if (pool->last_grant && strcmp(line->grant, pool->last_grant) == 0)
			after = line->next;
	for (struct line *line = after; line && !found; line = line->next)
		if (line->waiting && (!one_left || line->running == 0))
			found = line;
	for (struct line *line = pool->lines; line && line != after && !found; line = line->next)
		if (line->waiting && (!one_left || line->running == 0))
			found = line;
	return found;
}

static void pool_step(struct pool *pool)
{
	while (!pool->closed && workers_busy(pool->workers) < POOL_WORKERS_MAX) {
		struct line *line = next_line(pool);
		struct worker *worker;
		struct err err;

		if (!line)
			return;
		mem_free(pool->last_grant);
		pool->last_grant = mem_str(line->grant);
		worker = workers_take(pool->workers, line->grant, &err);
		uv_timer_start(&pool->spare, on_spare, SPARE_MS, 0);
		if (worker)
			job_start(line->waiting, worker);
		else
			job_finish(line->waiting,
				   refuse(BY_UNAVAILABLE, "try again later", err.text));
	}
}

void pool_submit(struct pool *pool, const struct pool_call *call, pool_done *done, void *data)
{
	struct job *job = mem_alloc(sizeof(*job));
	struct job **place;

	job->pool = pool;
	job->id = mem_str(call->id);
	job->method = mem_str(call->method);
	job->params = call->params;
	job->deadline_us = clock_mono_us() + call->time_ms * 1000;
	job->done = done;
	job->data = data;
	job->line = line_get(pool, call->grant);
	for (place = &job->line->waiting; *place; place = &(*place)->next)
		;
	*place = job;
	uv_timer_init(pool->loop, &job->timer);
	job->timer.data = job;
	uv_update_time(pool->loop);
	uv_timer_start(&job->timer, on_timer, (uint64_t)call->time_ms, 0);
	pool_step(pool);
}

static struct job *find_open(struct job *list, const char *id)
{
	for (; list; list = list->next)
		if (strcmp(list->id, id) == 0 && list->fate != FATE_CANCELED)
			return list;
	return NULL;
}

void pool_cancel(struct pool *pool, const char *id)
{
	struct job *job;

	while ((job = find_open(pool->running, id))) {
		job->fate = FATE_CANCELED;
		worker_cancel(job->worker, job->run);
		uv_timer_start(&job->timer, on_timer, POOL_GRACE_MS, 0);
	}
	for (struct line *line = pool->lines; line;) {
		struct line *next = line->next; /* the line may go with its last call */

		job = find_open(line->waiting, id);
		if (job) {
			job->fate = FATE_CANCELED;
			job_finish(job, refuse_by_fate(job));
			line = pool->lines;
		} else {
			line = next;
		}
	}
	pool_step(pool);
}

static void on_sweep(uv_timer_t *timer)
{
	struct pool *pool = timer->data;

	workers_close_idle(pool->workers, clock_mono_us() - POOL_IDLE_MS * 1000LL);
}

struct pool *pool_open(uv_loop_t *loop, const struct source *source)
{
	struct pool *pool = mem_alloc(sizeof(*pool));

	pool->loop = loop;
	pool->source = source;
	pool->workers = workers_open(loop, source, on_worker_gone, pool);
	uv_timer_init(loop, &pool->sweep);
	pool->sweep.data = pool;
	uv_timer_start(&pool->sweep, on_sweep, POOL_IDLE_MS, POOL_IDLE_MS);
	uv_unref((uv_handle_t *)&pool->sweep);
	uv_timer_init(loop, &pool->spare);
	pool->spare.data = pool;
	pool->open_timers = 2;
	workers_make_spare(pool->workers);
	return pool;
}

static void on_pool_timer_closed(uv_handle_t *handle)
{
	struct pool *pool = handle->data;

	if (--pool->open_timers > 0)
		return;
	mem_free(pool->last_grant);
	mem_free(pool);
}

static struct job *any_waiting(const struct pool *pool)
{
	for (const struct line *line = pool->lines; line; line = line->next)
		if (line->waiting)
			return line->waiting;
	return NULL;
}

void pool_close(struct pool *pool)
{
	struct job *job;

	if (!pool)
		return;
	pool->closed = true;
	while ((job = any_waiting(pool)))
		job_finish(job, refuse_by_fate(job));
	workers_close(pool->workers); /* running calls end through on_answer() */
	uv_close((uv_handle_t *)&pool->sweep, on_pool_timer_closed);
	uv_close((uv_handle_t *)&pool->spare, on_pool_timer_closed);
}
