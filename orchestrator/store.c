/* The task store; see store.h. A needs_input task that nobody answered in time is shown as
 * cancelled when it is read: there is no timer to miss. */
#include "orchestrator/store.h"

#include <string.h>

#include "base/clock.h"
#include "base/db.h"

static const char *const migrations[] = {
	"CREATE TABLE task(id TEXT PRIMARY KEY, user TEXT NOT NULL, question TEXT NOT NULL,"
	" status TEXT NOT NULL, created_us INTEGER NOT NULL, finished_us INTEGER, answer TEXT,"
	" answered_by TEXT) WITHOUT ROWID;"
	"CREATE INDEX task_by_user ON task(user, created_us DESC);"
	"CREATE INDEX task_by_time ON task(created_us DESC);"
	"CREATE INDEX task_running ON task(status) WHERE status = 'running'",
	/* Queued tasks are kept too; each task that ended has a time at which it did. */
	"DROP INDEX task_running;"
	"CREATE INDEX task_live ON task(status) WHERE status IN ('queued','running');"
	"UPDATE task SET finished_us=created_us WHERE finished_us IS NULL AND status<>'running';"
	"CREATE INDEX task_by_end ON task(finished_us)",
};

#define NEEDS_INPUT_US (STORE_NEEDS_INPUT_MINUTES * 60 * 1000000LL)
#define NEEDS_APPROVAL_US (7 * 86400 * 1000000LL) /* no approval waits longer */
#define ROW "id,user,question,status,created_us,finished_us,answered_by"

struct store {
	struct db *db;
};

static int run(struct db_stmt *stmt, struct err *err)
{
	int got = db_step(stmt, err);

	db_done(stmt);
	return got < 0 ? err_wrap(err, "task store") : 0;
}

static int fail_interrupted(struct store *store, int64_t now_us, struct err *err)
{
	struct db_stmt *stmt;

	if (db_query(store->db,
		     "UPDATE task SET finished_us=?1, status='failed', "
		     "answer=json_object('status','failed','task',id,'question_text',question,"
		     "'reason',CASE status WHEN 'queued' THEN "
		     "'the service ended before this task began' ELSE "
		     "'the service ended while this task ran' END,"
		     "'hint','ask again','flags',json('[]')) "
		     "WHERE status IN ('queued','running')",
		     &stmt, err) < 0)
		return -1;
	db_bind_int(stmt, 1, now_us);
	return run(stmt, err);
}

int store_open(const char *path, int64_t now_us, struct store **ret_store, struct err *err)
{
	struct store *store = mem_alloc(sizeof(*store));

	if (db_open(path, DB_SYNC_NORMAL, migrations, ARRAY_LEN(migrations), &store->db, err) < 0 ||
	    fail_interrupted(store, now_us, err) < 0) {
		store_close(store);
		return err_wrap(err, "task store");
	}
	*ret_store = store;
	return 0;
}

void store_close(struct store *store)
{
	if (store == NULL)
		return;
	db_close(store->db);
	mem_free(store);
}

/* Runs a change of one task; what is what it should have been otherwise. */
static int change_one(struct store *store, struct db_stmt *stmt, const char *task,
		      const char *otherwise, struct err *err)
{
	if (run(stmt, err) < 0)
		return -1;
	if (db_changes(store->db) != 1)
		return err_set(err, ERR_INVALID, "task %s %s", task, otherwise);
	return 0;
}

int store_add(struct store *store, const char *task, const char *user, const char *question,
	      int64_t now_us, struct err *err)
{
	struct db_stmt *stmt;

	if (db_query(store->db,
		     "INSERT INTO task(id,user,question,status,created_us) "
		     "VALUES(?1,?2,?3,'queued',?4)",
		     &stmt, err) < 0)
		return -1;
	db_bind_str(stmt, 1, task);
	db_bind_str(stmt, 2, user);
	db_bind_str(stmt, 3, question);
	db_bind_int(stmt, 4, now_us);
	return run(stmt, err);
}

int store_start(struct store *store, const char *task, struct err *err)
{
	struct db_stmt *stmt;

	if (db_query(store->db, "UPDATE task SET status='running' WHERE id=?1 AND status='queued'",
		     &stmt, err) < 0)
		return -1;
	db_bind_str(stmt, 1, task);
	return change_one(store, stmt, task, "does not wait to start", err);
}

int store_finish(struct store *store, const char *task, const struct json *answer, int64_t now_us,
		 struct err *err)
{
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	struct db_stmt *stmt;

	if (db_query(store->db,
		     "UPDATE task SET status=?2, answer=?3, finished_us=?4 "
		     "WHERE id=?1 AND status IN ('queued','running')",
		     &stmt, err) < 0)
		return -1;
	json_write(answer, &text);
	db_bind_str(stmt, 1, task);
	db_bind_str(stmt, 2, json_get_str(answer, "status"));
	db_bind_str(stmt, 3, buf_str(&text));
	db_bind_int(stmt, 4, now_us);
	return change_one(store, stmt, task, "is not one that can end", err);
}

int store_answered(struct store *store, const char *task, const char *by_task, struct err *err)
{
	struct db_stmt *stmt;

	if (db_query(store->db,
		     "UPDATE task SET answered_by=?2 WHERE id=?1 AND status IN "
		     "('needs_input','needs_approval') AND "
		     "answered_by IS NULL",
		     &stmt, err) < 0)
		return -1;
	db_bind_str(stmt, 1, task);
	db_bind_str(stmt, 2, by_task);
	return change_one(store, stmt, task, "was already answered", err);
}

int store_prune(struct store *store, int64_t before_us, int64_t *ret_pruned, struct err *err)
{
	struct db_stmt *stmt;

	if (db_query(store->db,
		     "DELETE FROM task WHERE id IN (SELECT id FROM task WHERE finished_us < ?1 "
		     "ORDER BY finished_us LIMIT ?2)",
		     &stmt, err) < 0)
		return -1;
	db_bind_int(stmt, 1, before_us);
	db_bind_int(stmt, 2, STORE_PRUNE_MAX);
	if (run(stmt, err) < 0)
		return -1;
	*ret_pruned = db_changes(store->db);
	return 0;
}

/* ---- reading ---- */

/* How long the task waits for a person; 0 when it does not. */
static int64_t open_us(struct db_stmt *stmt)
{
	if (strcmp(db_str(stmt, 3), "needs_approval") == 0)
		return NEEDS_APPROVAL_US;
	return strcmp(db_str(stmt, 3), "needs_input") == 0 ? NEEDS_INPUT_US : 0;
}

/* A question back, or an approval, that nobody answered in time. */
static bool is_expired(struct db_stmt *stmt, int64_t now_us)
{
	return open_us(stmt) > 0 && db_is_null(stmt, 6) && now_us - db_int(stmt, 5) > open_us(stmt);
}

/* Columns: ROW. */
static struct json *task_row(struct db_stmt *stmt, int64_t now_us)
{
	struct json *task = json_object();
	bool expired = is_expired(stmt, now_us);
	char time[TIMESTAMP_LEN + 1];

	json_set_str(task, "task", db_str(stmt, 0));
	json_set_str(task, "user", db_str(stmt, 1));
	json_set_str(task, "question", db_str(stmt, 2));
	json_set_str(task, "status", expired ? "cancelled" : db_str(stmt, 3));
	timestamp_write(db_int(stmt, 4), time);
	json_set_str(task, "created", time);
	if (!db_is_null(stmt, 5)) {
		timestamp_write(db_int(stmt, 5) + (expired ? open_us(stmt) : 0), time);
		json_set_str(task, "finished", time);
	}
	if (!db_is_null(stmt, 6))
		json_set_str(task, "answered_by", db_str(stmt, 6));
	return task;
}

/* When the task that a page begins behind was made. */
static int find_before(struct store *store, const struct store_page *page, int64_t *ret_us,
		       struct err *err)
{
	struct db_stmt *stmt;
	int got;

	if (db_query(store->db,
		     "SELECT created_us FROM task WHERE id=?1 AND (?2 IS NULL OR user=?2)", &stmt,
		     err) < 0)
		return -1;
	db_bind_str(stmt, 1, page->before);
	db_bind_str(stmt, 2, page->user);
	got = db_step(stmt, err);
	if (got == 1)
		*ret_us = db_int(stmt, 0);
	else if (got == 0)
		got = err_set(err, ERR_NOT_FOUND, "no task %s", page->before);
	db_done(stmt);
	return got < 0 ? -1 : 0;
}

#define OLDER "(created_us,id) < (?1,?2) ORDER BY created_us DESC, id DESC LIMIT ?3"

int store_list(struct store *store, const struct store_page *page, int64_t now_us,
	       struct json **ret_list, bool *ret_more, struct err *err)
{
	CLEANUP(json_freep) struct json *list = json_array();
	int64_t before_us = INT64_MAX;
	struct db_stmt *stmt;
	bool more = false;
	int got;

	if (page->before != NULL && find_before(store, page, &before_us, err) < 0)
		return -1;
	if (db_query(store->db,
		     page->user != NULL ? "SELECT " ROW " FROM task WHERE user=?4 AND " OLDER
					: "SELECT " ROW " FROM task WHERE " OLDER,
		     &stmt, err) < 0)
		return -1;
	db_bind_int(stmt, 1, before_us);
	db_bind_str(stmt, 2, page->before != NULL ? page->before : "");
	db_bind_int(stmt, 3, page->limit + 1);
	if (page->user != NULL)
		db_bind_str(stmt, 4, page->user);
	while ((got = db_step(stmt, err)) == 1) {
		more = (int64_t)json_len(list) == page->limit;
		if (!more)
			json_push(list, task_row(stmt, now_us));
	}
	db_done(stmt);
	if (got < 0)
		return err_wrap(err, "task store");
	*ret_more = more;
	*ret_list = TAKE(list);
	return 0;
}

/* What the kept answer of an expired question says from then on. */
static void expire_answer(struct json *answer)
{
	CLEANUP(mem_freep)
	char *reason = mem_format("nobody answered its question within %d minutes",
				  STORE_NEEDS_INPUT_MINUTES);

	json_set_str(answer, "status", "cancelled");
	json_set_str(answer, "reason", reason);
	json_set_str(answer, "hint", "ask again");
	json_remove(answer, "question");
}

static int read_shown(struct db_stmt *stmt, int64_t now_us, struct json **ret_shown,
		      struct err *err)
{
	struct json *answer = NULL;
	struct json *shown;

	if (!db_is_null(stmt, 7) && json_parse_str(db_str(stmt, 7), &answer, err) < 0)
		return err_wrap(err, "task store: the kept answer");
	if (answer != NULL && is_expired(stmt, now_us))
		expire_answer(answer);
	shown = json_object();
	json_set(shown, "task", task_row(stmt, now_us));
	json_set(shown, "answer", answer != NULL ? answer : json_new_null());
	*ret_shown = shown;
	return 0;
}

int store_show(struct store *store, const char *task, const char *user, int64_t now_us,
	       struct json **ret_shown, struct err *err)
{
	struct db_stmt *stmt;
	int got;

	if (db_query(store->db,
		     "SELECT " ROW ",answer FROM task WHERE id=?1 AND (?2 IS NULL OR user=?2)",
		     &stmt, err) < 0)
		return -1;
	db_bind_str(stmt, 1, task);
	db_bind_str(stmt, 2, user);
	got = db_step(stmt, err);
	if (got == 1)
		got = read_shown(stmt, now_us, ret_shown, err);
	else if (got == 0)
		got = err_set(err, ERR_NOT_FOUND, "no task %s", task);
	db_done(stmt);
	return got;
}
