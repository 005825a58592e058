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
};

#define LIST_MAX 500
#define NEEDS_INPUT_US (STORE_NEEDS_INPUT_MINUTES * 60 * 1000000LL)

struct store {
	struct db *db;
};

static int fail_interrupted(struct store *store, struct err *err)
{
	return db_exec(
		store->db,
		"UPDATE task SET status='failed', answer=json_object('status','failed','task',id,"
		"'question_text',question,'reason','the service ended while this task ran',"
		"'hint','ask again','flags',json('[]')) WHERE status='running'",
		err);
}

int store_open(const char *path, struct store **ret_store, struct err *err)
{
	struct store *store = mem_alloc(sizeof(*store));

	if (db_open(path, DB_SYNC_NORMAL, migrations, ARRAY_LEN(migrations), &store->db, err) < 0 ||
	    fail_interrupted(store, err) < 0) {
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

static int run(struct db_stmt *stmt, struct err *err)
{
	int got = db_step(stmt, err);

	db_done(stmt);
	return got < 0 ? err_wrap(err, "task store") : 0;
}

int store_add(struct store *store, const char *task, const char *user, const char *question,
	      int64_t now_us, struct err *err)
{
	struct db_stmt *stmt;

	if (db_query(store->db,
		     "INSERT INTO task(id,user,question,status,created_us) "
		     "VALUES(?1,?2,?3,'running',?4)",
		     &stmt, err) < 0)
		return -1;
	db_bind_str(stmt, 1, task);
	db_bind_str(stmt, 2, user);
	db_bind_str(stmt, 3, question);
	db_bind_int(stmt, 4, now_us);
	return run(stmt, err);
}

int store_finish(struct store *store, const char *task, const struct json *answer, int64_t now_us,
		 struct err *err)
{
	struct buf text = BUF_INIT;
	struct db_stmt *stmt;
	int result;

	if (db_query(store->db, "UPDATE task SET status=?2, answer=?3, finished_us=?4 WHERE id=?1",
		     &stmt, err) < 0)
		return -1;
	json_write(answer, &text);
	db_bind_str(stmt, 1, task);
	db_bind_str(stmt, 2, json_get_str(answer, "status"));
	db_bind_str(stmt, 3, buf_str(&text));
	db_bind_int(stmt, 4, now_us);
	result = run(stmt, err);
	buf_clear(&text);
	return result;
}

int store_answered(struct store *store, const char *task, const char *by, struct err *err)
{
	struct db_stmt *stmt;

	if (db_query(store->db,
		     "UPDATE task SET answered_by=?2 WHERE id=?1 AND status='needs_input' AND "
		     "answered_by IS NULL",
		     &stmt, err) < 0)
		return -1;
	db_bind_str(stmt, 1, task);
	db_bind_str(stmt, 2, by);
	if (run(stmt, err) < 0)
		return -1;
	if (db_changes(store->db) == 0)
		return err_set(err, ERR_INVALID, "task %s was already answered", task);
	return 0;
}

static const char *status_now(struct db_stmt *stmt, int64_t now_us)
{
	const char *status = db_str(stmt, 3);

	if (strcmp(status, "needs_input") == 0 && now_us - db_int(stmt, 4) > NEEDS_INPUT_US)
		return "cancelled";
	return status;
}

/* Columns: id, user, question, status, created_us, finished_us, answered_by. */
static struct json *task_row(struct db_stmt *stmt, int64_t now_us)
{
	struct json *task = json_object();
	char time[TIMESTAMP_LEN + 1];

	json_set_str(task, "task", db_str(stmt, 0));
	json_set_str(task, "user", db_str(stmt, 1));
	json_set_str(task, "question", db_str(stmt, 2));
	json_set_str(task, "status", status_now(stmt, now_us));
	timestamp_write(db_int(stmt, 4), time);
	json_set_str(task, "created", time);
	if (!db_is_null(stmt, 5)) {
		timestamp_write(db_int(stmt, 5), time);
		json_set_str(task, "finished", time);
	}
	if (!db_is_null(stmt, 6))
		json_set_str(task, "answered_by", db_str(stmt, 6));
	return task;
}

int store_list(struct store *store, const char *user, int64_t now_us, struct json **ret_list,
	       struct err *err)
{
	CLEANUP(json_freep) struct json *list = json_array();
	struct db_stmt *stmt;
	int got;

	if (db_query(store->db,
		     "SELECT id,user,question,status,created_us,finished_us,answered_by FROM task "
		     "WHERE ?1 IS NULL OR user=?1 ORDER BY created_us DESC LIMIT ?2",
		     &stmt, err) < 0)
		return -1;
	db_bind_str(stmt, 1, user);
	db_bind_int(stmt, 2, LIST_MAX);
	while ((got = db_step(stmt, err)) == 1)
		json_push(list, task_row(stmt, now_us));
	db_done(stmt);
	if (got < 0)
		return err_wrap(err, "task store");
	*ret_list = TAKE(list);
	return 0;
}

static int read_shown(struct db_stmt *stmt, int64_t now_us, struct json **ret_shown,
		      struct err *err)
{
	struct json *shown = json_object();
	struct json *answer = NULL;

	json_set(shown, "task", task_row(stmt, now_us));
	if (!db_is_null(stmt, 7) && json_parse_str(db_str(stmt, 7), &answer, err) < 0) {
		json_free(shown);
		return err_wrap(err, "task store: the kept answer");
	}
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
		     "SELECT id,user,question,status,created_us,finished_us,answered_by,answer "
		     "FROM task WHERE id=?1 AND (?2 IS NULL OR user=?2)",
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
