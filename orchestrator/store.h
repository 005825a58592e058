/* The task store: state/tasks/tasks.db, so that a task is never lost: what was queued or running
 * when the service ended is shown as failed, with the reason. Tasks are kept as long as the
 * workspace says (retention in writ.yaml). */
#ifndef ORCHESTRATOR_STORE_H
#define ORCHESTRATOR_STORE_H

#include "base/err.h"
#include "base/json.h"

/* A question back to the person is open this long; then it is shown as cancelled. */
#define STORE_NEEDS_INPUT_MINUTES 60
#define STORE_LIST_DEFAULT 100 /* a few screens */
#define STORE_LIST_MAX 500
#define STORE_PRUNE_MAX 500 /* rows in one go, so that nobody waits for it */

struct store;

/* Relative to the current folder. Marks what an earlier service left unfinished as failed. */
MUST_CHECK int store_open(const char *path, int64_t now_us, struct store **ret_store,
			  struct err *err);
void store_close(struct store *store); /* NULL is fine */

/* add (queued) -> start (running) -> finish. Each fails when the task is not in the state before
 * it; finish takes both. The answer's status becomes the task's. */
MUST_CHECK int store_add(struct store *store, const char *task, const char *user,
			 const char *question, int64_t now_us, struct err *err);
MUST_CHECK int store_start(struct store *store, const char *task, struct err *err);
MUST_CHECK int store_finish(struct store *store, const char *task, const struct json *answer,
			    int64_t now_us, struct err *err);
/* The question of a needs_input task was answered by another task. */
MUST_CHECK int store_answered(struct store *store, const char *task, const char *by_task,
			      struct err *err);
/* Removes at most STORE_PRUNE_MAX tasks that ended before that time. */
MUST_CHECK int store_prune(struct store *store, int64_t before_us, int64_t *ret_pruned,
			   struct err *err);

struct store_page {
	const char *user;   /* NULL: everyone's */
	const char *before; /* a task: what is older than it; NULL: from the newest on */
	int64_t limit;	    /* 1 to STORE_LIST_MAX */
};
/* [{"task","user","question","status","created","finished","answered_by"}], newest first; the last
 * two where they apply. more: there are older ones. ERR_NOT_FOUND: no such task as before. */
MUST_CHECK int store_list(struct store *store, const struct store_page *page, int64_t now_us,
			  struct json **ret_list, bool *ret_more, struct err *err);
/* {"task":{...as in the list},"answer":{...}|null}; ERR_NOT_FOUND, also when it is not user's
 * (user NULL: whoever's). */
MUST_CHECK int store_show(struct store *store, const char *task, const char *user, int64_t now_us,
			  struct json **ret_shown, struct err *err);

#endif
