/*
 * The door to SQLite for our programs' own state (never for a source): one file in WAL mode,
 * foreign keys on, deleted content overwritten. Statements are our own constant texts; every value
 * is bound. One thread uses a database at a time.
 */
#ifndef BASE_DB_H
#define BASE_DB_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct db;
struct db_stmt;

/* DB_SYNC_FULL outlives a power cut; DB_SYNC_NORMAL outlives the death of the process. */
enum db_sync { DB_SYNC_NORMAL, DB_SYNC_FULL };

/* Opens or makes the file (0600) without following a link. migrations[i] takes the schema from
 * version i to i + 1 (PRAGMA user_version), each in a transaction; a file of a newer version than
 * count is refused. */
MUST_CHECK int db_open(const char *path, enum db_sync sync, const char *const *migrations,
		       int count, struct db **ret_db, struct err *err);
/* For reading a file of ours that may be a copy, on a medium that cannot be written: changes
 * nothing, makes nothing. ERR_NOT_FOUND when there is none. */
MUST_CHECK int db_open_read(const char *path, struct db **ret_db, struct err *err);
/* Copies somebody else's database, as its last commit left it, into a new file of ours (0600) and
 * opens that for changing: foreign keys hold, triggers do not run. from is only read. ERR_LIMIT
 * when it has more than bytes_max; a file that could not be made whole is removed. */
MUST_CHECK int db_open_copy(const char *from, const char *to, int64_t bytes_max, struct db **ret_db,
			    struct err *err);
void db_close(struct db *db); /* finalizes its statements; NULL is fine */
void db_closep(struct db **db);

MUST_CHECK int db_exec(struct db *db, const char *sql, struct err *err);
MUST_CHECK int db_begin(struct db *db, struct err *err); /* takes the write lock at once */
MUST_CHECK int db_commit(struct db *db, struct err *err);
/* The whole numbers of the first row of a statement that is made for once; 0 for a missing value,
 * and all of them without a row. Names in it are quoted by whoever made it. */
MUST_CHECK int db_ask(struct db *db, const char *sql, int64_t *ret_values, size_t count,
		      struct err *err);
void db_rollback(struct db *db);	 /* fine when no transaction is open */
int64_t db_changes(const struct db *db); /* rows changed by the last statement */

/* Prepared once per text and kept by the db; handed out reset, with no value bound. A statement is
 * in use until db_done(). */
MUST_CHECK int db_query(struct db *db, const char *sql, struct db_stmt **ret_stmt, struct err *err);
void db_done(struct db_stmt *stmt); /* NULL is fine */
void db_donep(struct db_stmt **stmt);

/* Positions from 1. Text must live until db_done(). NULL text binds NULL. */
void db_bind_str(struct db_stmt *stmt, int position, const char *text);
void db_bind_int(struct db_stmt *stmt, int position, int64_t value);
void db_bind_blob(struct db_stmt *stmt, int position, const void *bytes, size_t len);

/* 1: a row; 0: done; -1: failed. */
MUST_CHECK int db_step(struct db_stmt *stmt, struct err *err);
/* Columns from 0; text lives until the next step. NULL columns: NULL, 0. */
const char *db_str(struct db_stmt *stmt, int column);
int64_t db_int(struct db_stmt *stmt, int column);
const void *db_blob(struct db_stmt *stmt, int column, size_t *ret_len);
bool db_is_null(struct db_stmt *stmt, int column);

#endif
