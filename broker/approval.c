/*
 * Constant statements over one table. A state only ever moves asked -> given -> used or asked ->
 * refused, and each move names the state it leaves, so that two hands cannot move it twice.
 */
#include "broker/approval.h"

#include <stdio.h>
#include <string.h>

#include "base/crypto.h"
#include "base/db.h"

#define KEPT_S (7 * 86400) /* after its end, so that people see what became of it */

static int run(struct db_stmt *stmt, struct err *err)
{
	int result = db_step(stmt, err);

	db_done(stmt);
	return result < 0 ? -1 : 0;
}

static void bind_wish(struct db_stmt *stmt, const struct approval_wish *wish, int64_t now)
{
	db_bind_str(stmt, 1, wish->task);
	db_bind_str(stmt, 2, wish->follows);
	db_bind_str(stmt, 3, wish->agent);
	db_bind_str(stmt, 4, wish->sub);
	db_bind_str(stmt, 5, wish->tool);
	db_bind_str(stmt, 6, wish->rule);
	db_bind_str(stmt, 7, wish->digest);
	db_bind_int(stmt, 8, now);
}

#define OF_WISH                                                                                    \
	"(task=?1 OR task=?2) AND agent=?3 AND sub=?4 AND tool=?5 AND rule=?6 AND digest=?7 AND "  \
	"expires>?8"

static int find(struct token_store *store, const char *sql, const struct approval_wish *wish,
		int64_t now, char ret_id[APPROVAL_ID_LEN + 1], struct err *err)
{
	CLEANUP(db_donep) struct db_stmt *stmt = NULL;
	int row;

	if (db_query(token_store_db(store), sql, &stmt, err) < 0)
		return -1;
	bind_wish(stmt, wish, now);
	row = db_step(stmt, err);
	if (row < 0)
		return -1;
	if (row == 0)
		return err_set(err, ERR_NOT_FOUND, "no approval");
	snprintf(ret_id, APPROVAL_ID_LEN + 1, "%s", db_str(stmt, 0));
	return 0;
}

int approval_find_given(struct token_store *store, const struct approval_wish *wish, int64_t now,
			char ret_id[APPROVAL_ID_LEN + 1], struct err *err)
{
	return find(store,
		    "SELECT id FROM approvals WHERE state='given' AND " OF_WISH
		    " ORDER BY created LIMIT 1",
		    wish, now, ret_id, err);
}

static int check_open(struct token_store *store, const char *sub, int64_t now, struct err *err)
{
	CLEANUP(db_donep) struct db_stmt *stmt = NULL;

	if (db_query(token_store_db(store),
		     "SELECT count(*) FROM approvals WHERE sub=?1 AND state='asked' AND expires>?2",
		     &stmt, err) < 0)
		return -1;
	db_bind_str(stmt, 1, sub);
	db_bind_int(stmt, 2, now);
	if (db_step(stmt, err) < 0)
		return -1;
	if (db_int(stmt, 0) >= APPROVALS_OPEN_MAX)
		return err_set(err, ERR_LIMIT,
			       "%d approvals of this user wait for a decision already",
			       APPROVALS_OPEN_MAX);
	return 0;
}

static int insert(struct token_store *store, const struct approval_wish *wish, int64_t now,
		  int64_t expires, const char *id, struct err *err)
{
	struct db_stmt *stmt;

	if (db_query(token_store_db(store),
		     "INSERT INTO approvals (id, task, agent, sub, user, tool, database, rule, "
		     "digest,"
		     " shown, created, expires, state) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,"
		     " ?10, ?11, ?12, 'asked')",
		     &stmt, err) < 0)
		return -1;
	db_bind_str(stmt, 1, id);
	db_bind_str(stmt, 2, wish->task);
	db_bind_str(stmt, 3, wish->agent);
	db_bind_str(stmt, 4, wish->sub);
	db_bind_str(stmt, 5, wish->user);
	db_bind_str(stmt, 6, wish->tool);
	db_bind_str(stmt, 7, wish->database);
	db_bind_str(stmt, 8, wish->rule);
	db_bind_str(stmt, 9, wish->digest);
	db_bind_str(stmt, 10, wish->shown);
	db_bind_int(stmt, 11, now);
	db_bind_int(stmt, 12, expires);
	return run(stmt, err);
}

int approval_ask(struct token_store *store, const struct approval_wish *wish, int64_t now,
		 int64_t expires, char ret_id[APPROVAL_ID_LEN + 1], struct err *err)
{
	char uuid[UUID_LEN + 1];
	char id[APPROVAL_ID_LEN + 1];

	if (find(store,
		 "SELECT id FROM approvals WHERE state='asked' AND " OF_WISH
		 " ORDER BY created LIMIT 1",
		 wish, now, ret_id, err) == 0)
		return 0;
	if (err->kind != ERR_NOT_FOUND || check_open(store, wish->sub, now, err) < 0)
		return err_wrap(err, "approvals");
	uuid7(uuid);
	snprintf(id, sizeof(id), "ap-%s", uuid);
	if (insert(store, wish, now, expires, id, err) < 0)
		return err_wrap(err, "approvals");
	memcpy(ret_id, id, sizeof(id));
	return 0;
}

static int use_one(struct token_store *store, const char *id, int64_t now, struct err *err)
{
	struct db_stmt *stmt;

	if (db_query(token_store_db(store),
		     "UPDATE approvals SET state='used', used=?2 WHERE id=?1 AND state='given'"
		     " AND expires>?2",
		     &stmt, err) < 0)
		return -1;
	db_bind_str(stmt, 1, id);
	db_bind_int(stmt, 2, now);
	if (run(stmt, err) < 0)
		return -1;
	if (db_changes(token_store_db(store)) != 1)
		return err_set(err, ERR_DENIED, "approval %s is used or over", id);
	return 0;
}

static int begin_durable(struct db *db, struct err *err)
{
	return db_exec(db, "PRAGMA synchronous = FULL", err) < 0 || db_begin(db, err) < 0 ? -1 : 0;
}

static int end_durable(struct db *db, int result, struct err *err)
{
	if (result == 0)
		result = db_commit(db, err);
	if (result < 0)
		db_rollback(db);
	IGNORE(db_exec(db, "PRAGMA synchronous = NORMAL", NULL) < 0, "more durable than needed");
	return result;
}

int approvals_use(struct token_store *store, const char *const *ids, size_t count, int64_t now,
		  struct err *err)
{
	struct db *db = token_store_db(store);
	int result;

	if (count == 0)
		return 0;
	result = begin_durable(db, err);
	for (size_t i = 0; result == 0 && i < count; i++)
		result = use_one(store, ids[i], now, err);
	return end_durable(db, result, err);
}

void approval_row_clear(struct approval_row *row)
{
	mem_free(row->task);
	mem_free(row->agent);
	mem_free(row->sub);
	mem_free(row->tool);
	mem_free(row->rule);
	mem_free(row->state);
	*row = (struct approval_row){0};
}

int approval_read(struct token_store *store, const char *id, struct approval_row *ret_row,
		  struct err *err)
{
	CLEANUP(db_donep) struct db_stmt *stmt = NULL;
	int row;

	if (db_query(token_store_db(store),
		     "SELECT task, agent, sub, tool, rule, state, expires FROM approvals WHERE "
		     "id=?1",
		     &stmt, err) < 0)
		return -1;
	db_bind_str(stmt, 1, id);
	row = db_step(stmt, err);
	if (row < 0)
		return -1;
	if (row == 0)
		return err_set(err, ERR_NOT_FOUND, "there is no approval %.64s", id);
	*ret_row = (struct approval_row){.task = mem_str(db_str(stmt, 0)),
					 .agent = mem_str(db_str(stmt, 1)),
					 .sub = mem_str(db_str(stmt, 2)),
					 .tool = mem_str(db_str(stmt, 3)),
					 .rule = mem_str(db_str(stmt, 4)),
					 .state = mem_str(db_str(stmt, 5)),
					 .expires = db_int(stmt, 6)};
	return 0;
}

static int update(struct token_store *store, const char *id, bool give, const char *by, int64_t now,
		  struct err *err)
{
	struct db_stmt *stmt;

	if (db_query(token_store_db(store),
		     "UPDATE approvals SET state=?2, by=?3, decided=?4 WHERE id=?1 AND"
		     " state='asked' AND expires>?4",
		     &stmt, err) < 0)
		return -1;
	db_bind_str(stmt, 1, id);
	db_bind_str(stmt, 2, give ? "given" : "refused");
	db_bind_str(stmt, 3, by);
	db_bind_int(stmt, 4, now);
	if (run(stmt, err) < 0)
		return -1;
	if (db_changes(token_store_db(store)) != 1)
		return err_set(err, ERR_INVALID, "approval %.64s is decided already, or over", id);
	return 0;
}

int approval_decide(struct token_store *store, const char *id, bool give, const char *by,
		    int64_t now, struct err *err)
{
	struct db *db = token_store_db(store);
	int result = begin_durable(db, err);

	if (result == 0)
		result = update(store, id, give, by, now, err);
	return end_durable(db, result, err);
}

/* Columns: id, task, agent, user, sub, tool, database, rule, shown, created, expires, state, by */
static struct json *row_json(struct db_stmt *stmt, int64_t now)
{
	static const char *const texts[] = {"approval", "task",	    "agent", "user",	 "sub",
					    "tool",	"database", "rule",  "arguments"};
	struct json *json = json_object();
	const char *state = db_str(stmt, 11);
	bool over = db_int(stmt, 10) <= now &&
		    (strcmp(state, "asked") == 0 || strcmp(state, "given") == 0);

	for (int i = 0; i < (int)ARRAY_LEN(texts); i++)
		json_set_str(json, texts[i], db_str(stmt, i));
	json_set_int(json, "created", db_int(stmt, 9));
	json_set_int(json, "expires", db_int(stmt, 10));
	json_set_str(json, "state", over ? "over" : state);
	json_set_str(json, "by", db_str(stmt, 12));
	return json;
}

#define LISTED                                                                                     \
	"SELECT id, task, agent, user, sub, tool, database, rule, shown, created, expires, "       \
	"state, by FROM approvals "
#define NEWEST " ORDER BY created DESC, id DESC LIMIT ?1"

/* Two statements: each has its index, and nobody reads rows of others to pass them over. */
static int query_list(struct token_store *store, const struct approval_viewer *viewer,
		      const char *rules, struct db_stmt **ret_stmt, struct err *err)
{
	const char *sql = viewer->all ? LISTED NEWEST
				      : LISTED "WHERE sub = ?2 OR rule IN (SELECT value FROM"
					       " json_each(?3))" NEWEST;

	if (db_query(token_store_db(store), sql, ret_stmt, err) < 0)
		return -1;
	db_bind_int(*ret_stmt, 1, APPROVALS_LISTED_MAX);
	if (!viewer->all) {
		db_bind_str(*ret_stmt, 2, viewer->sub);
		db_bind_str(*ret_stmt, 3, rules);
	}
	return 0;
}

int approval_list(struct token_store *store, const struct approval_viewer *viewer, int64_t now,
		  struct json **ret_list, struct err *err)
{
	CLEANUP(buf_clear) struct buf rules = BUF_INIT;
	CLEANUP(db_donep) struct db_stmt *stmt = NULL;
	CLEANUP(json_freep) struct json *list = json_array();
	int row;

	if (!viewer->all)
		json_write(viewer->rules, &rules);
	if (query_list(store, viewer, buf_str(&rules), &stmt, err) < 0)
		return -1;
	while ((row = db_step(stmt, err)) == 1)
		json_push(list, row_json(stmt, now));
	if (row < 0)
		return -1;
	*ret_list = TAKE(list);
	return 0;
}

int approval_purge(struct token_store *store, int64_t now, struct err *err)
{
	struct db_stmt *stmt;

	if (db_query(token_store_db(store), "DELETE FROM approvals WHERE expires < ?1", &stmt,
		     err) < 0)
		return -1;
	db_bind_int(stmt, 1, now - KEPT_S);
	return run(stmt, err);
}
