/*
 * The processes of a pool: made by fork, each with one end of a socket pair, killed at will. They
 * die with the connector (PR_SET_PDEATHSIG) and leave no zombie.
 */
#ifndef BROKER_CONNECTORS_WORKER_H
#define BROKER_CONNECTORS_WORKER_H

#include <uv.h>

#include "base/channel.h"
#include "base/err.h"
#include "broker/connectors/pool.h"

struct worker;
struct workers;

/* on_gone: a worker ended, whoever ended it; its call was answered before. */
struct workers *workers_open(uv_loop_t *loop, const struct source *source,
			     void (*on_gone)(void *data), void *data);
/* Kills all and waits for them; on_gone is not called. */
void workers_close(struct workers *workers);

/* A worker of this grant with nothing to do: an idle one, the spare one, or a new one, for which
 * the idle worker of another grant may have to go. NULL with err set when fork fails. At most
 * POOL_WORKERS_MAX - 1 may be busy. */
struct worker *workers_take(struct workers *workers, const char *grant, struct err *err);
/* One worker that served nobody is kept ready, if there is a place: opening a source takes longer
 * than most statements. */
void workers_make_spare(struct workers *workers);
size_t workers_busy(const struct workers *workers);
void workers_close_idle(struct workers *workers, int64_t since_us); /* idle since before then */

void worker_set_job(struct worker *worker, void *job); /* NULL: idle */
/* As channel_call(); false when the worker is already gone. */
bool worker_call(struct worker *worker, const char *method, struct json *params, channel_done *done,
		 void *data);
/* Has it read that run's request? */
bool worker_has_begun(const struct worker *worker, uint64_t run);
void worker_cancel(struct worker *worker, uint64_t run);
/* Its call is answered and on_gone() called once its end of stream has come. */
void worker_kill(struct worker *worker);

#endif
