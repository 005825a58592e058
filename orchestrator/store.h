/* The task store: state/tasks/tasks.db, so that a task is never lost: what was running when the
 * service ended is shown as failed, with the reason. */
#ifndef ORCHESTRATOR_STORE_H
#define ORCHESTRATOR_STORE_H

#include "base/err.h"
#include "base/json.h"

/* A question back to the person is open this long; then it is shown as cancelled. */
#define STORE_NEEDS_INPUT_MINUTES 60

struct store;

/* Relative to the current folder. Marks what an earlier service left running as failed. */
MUST_CHECK int store_open(const char *path, struct store **ret_store, struct err *err);
void store_close(struct store *store); /* NULL is fine */

MUST_CHECK int store_add(struct store *store, const char *task, const char *user,
			 const char *question, int64_t now_us, struct err *err);
MUST_CHECK int store_finish(struct store *store, const char *task, const struct json *answer,
			    int64_t now_us, struct err *err);
/* The question of a needs_input task was answered by another task. */
MUST_CHECK int store_answered(struct store *store, const char *task, const char *by,
			      struct err *err);

/* [{"task","user","question","status","created","finished"}], newest first. user NULL: everyone's.
 */
MUST_CHECK int store_list(struct store *store, const char *user, int64_t now_us,
			  struct json **ret_list, struct err *err);
/* {"task":{...as in the list},"answer":{...}|null}; ERR_NOT_FOUND, also when it is not user's
 * (user NULL: whoever's). */
MUST_CHECK int store_show(struct store *store, const char *task, const char *user, int64_t now_us,
			  struct json **ret_shown, struct err *err);

#endif
