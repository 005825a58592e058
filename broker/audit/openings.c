/*
 * One table, one transaction per batch. It outlives the death of the process but is not synced for
 * each batch: losing a disclosure in a power cut loses the ability to open a record, never the
 * record, and the reply that carried it has left. What can fail: the disk.
 */
#include "broker/audit/openings.h"

#include "base/db.h"

struct openings {
	struct db *db;
};

static const char *const migrations[] = {
	"CREATE TABLE opening (seq INTEGER NOT NULL, name TEXT NOT NULL, disclosure TEXT NOT NULL, "
	"PRIMARY KEY (seq, name)) WITHOUT ROWID",
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
