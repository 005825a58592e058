/*
 * Worker processes of a connector, and the calls that wait for them.
 *
 *   submitted -> queue of its grant -> a worker of that grant -> done
 *
 * One spare worker stands ready, its source open. A worker serves one grant only and is forked, so
 * a statement that does not stop is ended by killing its process. While workers are scarce the
 * grants take turns, and the last free place goes only to a grant that has nothing running: one
 * grant's flood holds nobody else up.
 *
 * A call's deadline counts its waiting. The worker stops by itself when it comes; if it does not
 * answer POOL_GRACE_MS later it is killed. A canceled call is told through shared memory and has
 * the same grace.
 *
 *   done is called exactly once with a result of docs/protocol.md ("ok" true or false), at the
 * latest before pool_close() returns.
 */
#ifndef BROKER_CONNECTORS_POOL_H
#define BROKER_CONNECTORS_POOL_H

#include <stdint.h>
#include <uv.h>

#include "base/json.h"
#include "broker/connectors/run_page.h"

#define POOL_WORKERS_MAX 4 /* statements at once: this many cores are busy at most */
#define POOL_GRACE_MS 500  /* from a deadline to a kill */
#define POOL_IDLE_MS 60000 /* then an idle worker gives its memory back */

/* The grant of a call that touches nothing of any grant: any idle worker may take it, and stays
 * what it was. */
#define POOL_ANY_GRANT ""

/* A kind of source. work runs in a fresh process: it answers requests on fd (base/line.h, JSON-RPC)
 * until its end. Each request has beside its params "run", its number, and "time_ms", what is left
 * of its time. */
struct source {
	const char *name; /* for messages */
	void *data;
	void (*work)(void *data, int fd, struct run_page *page);
};

struct pool;
/* result is the receiver's. */
typedef void pool_done(void *data, struct json *result);

struct pool_call {
	const char *id; /* of the broker: what cancel names; several may bear one */
	const char *grant;
	const char *method;
	struct json *params; /* taken */
	int64_t time_ms;
};

struct pool *pool_open(uv_loop_t *loop, const struct source *source);
void pool_submit(struct pool *pool, const struct pool_call *call, pool_done *done, void *data);
void pool_cancel(struct pool *pool, const char *id);
/* Kills the workers, waits for them, lets the loop end. NULL is fine. */
void pool_close(struct pool *pool);

#endif
