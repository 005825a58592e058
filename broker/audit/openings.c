/*
 * Openings in one table, one transaction per batch; legal holds in another. It outlives the death of the process but is not synced for
 * each batch: losing a disclosure in a power cut loses the ability to open a record, never the
 * record, and the reply that carried it has left. What can fail: the disk.
 */
#include "broker/audit/openings.h"

#include "base/db.h"
#include "base/json.h"

struct openings {
	struct db *db;
};

static const char *const migrations[] = {
	"CREATE TABLE opening (seq INTEGER NOT NULL, name TEXT NOT NULL, disclosure TEXT NOT NULL, "
	"PRIMARY KEY (seq, name)) WITHOUT ROWID",
	"CREATE TABLE hold (name TEXT PRIMARY KEY, reason TEXT NOT NULL, first INTEGER NOT NULL, "
	"past INTEGER NOT NULL) WITHOUT ROWID",
};

void opening_clear(struct opening *opening)
{
	mem_free(opening->name);
	mem_free(opening->disclosure);
}

int openings_open(const char *dir, struct openings **ret_openings, struct err *err)
{
	CLEANUP(mem_freep) char *path = mem_format("%s/openings.db", dir);
	struct db *db = NULL;

	if (db_open(path, DB_SYNC_NORMAL, migrations, ARRAY_LEN(migrations), &db, err) < 0)
		return -1;
	*ret_openings = mem_alloc(sizeof(**ret_openings));
	(*ret_openings)->db = db;
	return 0;
}

void openings_close(struct openings *openings)
{
	if (openings == NULL)
		return;
	db_close(openings->db);
	mem_free(openings);
}

/* A row of the same record can only be left from records that a torn tail took away. */
static int add(struct db *db, const struct opening *item, struct err *err)
{
	CLEANUP(db_donep) struct db_stmt *stmt = NULL;

	if (db_query(db, "INSERT OR REPLACE INTO opening (seq, name, disclosure) VALUES (?, ?, ?)",
		     &stmt, err) < 0)
		return -1;
	db_bind_int(stmt, 1, (int64_t)item->seq);
	db_bind_str(stmt, 2, item->name);
	db_bind_str(stmt, 3, item->disclosure);
	return db_step(stmt, err) < 0 ? -1 : 0;
}

static int add_all(struct db *db, const struct opening *items, size_t count, struct err *err)
{
	if (db_begin(db, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (add(db, &items[i], err) < 0)
			return -1;
	return db_commit(db, err);
}

int openings_add(struct openings *openings, const struct opening *items, size_t count,
		 struct err *err)
{
	if (count == 0)
		return 0;
	if (add_all(openings->db, items, count, err) < 0) {
		db_rollback(openings->db);
		return err_wrap(err, "openings.db");
	}
	return 0;
}

int openings_read(struct openings *openings, uint64_t seq, struct json *disclosures,
		  struct err *err)
{
	CLEANUP(db_donep) struct db_stmt *stmt = NULL;
	int row;

	if (db_query(openings->db, "SELECT disclosure FROM opening WHERE seq = ? ORDER BY name",
		     &stmt, err) < 0)
		return -1;
	db_bind_int(stmt, 1, (int64_t)seq);
	while ((row = db_step(stmt, err)) > 0)
		json_push_str(disclosures, db_str(stmt, 0));
	return row;
}

static int run(struct openings *openings, struct db_stmt *stmt, int64_t *ret_count,
	       struct err *err)
{
	if (db_step(stmt, err) < 0)
		return -1;
	*ret_count = db_changes(openings->db);
	return 0;
}

int openings_erase(struct openings *openings, uint64_t seq, const char *name, int64_t *ret_count,
		   struct err *err)
{
	CLEANUP(db_donep) struct db_stmt *stmt = NULL;

	if (db_query(openings->db, "DELETE FROM opening WHERE seq = ? AND name = ?", &stmt, err) <
	    0)
		return -1;
	db_bind_int(stmt, 1, (int64_t)seq);
	db_bind_str(stmt, 2, name);
	if (run(openings, stmt, ret_count, err) < 0)
		return -1;
	db_done(TAKE(stmt));
	return db_exec(openings->db, "PRAGMA wal_checkpoint(TRUNCATE)", err);
}

int openings_hold(struct openings *openings, const char *name, const char *reason, uint64_t first,
		  uint64_t past, struct err *err)
{
	CLEANUP(db_donep) struct db_stmt *stmt = NULL;
	int64_t count;

	if (db_query(openings->db,
		     "INSERT OR REPLACE INTO hold (name, reason, first, past) VALUES (?, ?, ?, ?)",
		     &stmt, err) < 0)
		return -1;
	db_bind_str(stmt, 1, name);
	db_bind_str(stmt, 2, reason);
	db_bind_int(stmt, 3, (int64_t)first);
	db_bind_int(stmt, 4, (int64_t)past);
	if (run(openings, stmt, &count, err) < 0)
		return -1;
	db_done(TAKE(stmt));
	return db_exec(openings->db, "PRAGMA wal_checkpoint(FULL)", err);
}

int openings_lift(struct openings *openings, const char *name, int64_t *ret_count, struct err *err)
{
	CLEANUP(db_donep) struct db_stmt *stmt = NULL;

	if (db_query(openings->db, "DELETE FROM hold WHERE name = ?", &stmt, err) < 0)
		return -1;
	db_bind_str(stmt, 1, name);
	return run(openings, stmt, ret_count, err);
}

int openings_is_held(struct openings *openings, uint64_t first, uint64_t past, bool *ret_held,
		     struct err *err)
{
	CLEANUP(db_donep) struct db_stmt *stmt = NULL;
	int row;

	if (db_query(openings->db, "SELECT 1 FROM hold WHERE first < ? AND past > ? LIMIT 1", &stmt,
		     err) < 0)
		return -1;
	db_bind_int(stmt, 1, (int64_t)past);
	db_bind_int(stmt, 2, (int64_t)first);
	row = db_step(stmt, err);
	if (row < 0)
		return -1;
	*ret_held = row > 0;
	return 0;
}
