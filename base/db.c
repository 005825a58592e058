/* Our own state in SQLite; see db.h. Errors carry SQLite's text and the extended code's meaning. */
#include "base/db.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"

#define BUSY_MS 5000 /* another process of ours may be closing it */
#define STATEMENTS_MAX 64
#define COPY_TRIES 500 /* with the pause: 5 s, as long as BUSY_MS */
#define COPY_PAUSE_MS 10

struct db_stmt {
	const char *sql; /* borrowed: a constant */
	sqlite3_stmt *prepared;
	struct db *db;
	bool in_use;
};

struct db {
	sqlite3 *sqlite;
	struct db_stmt statements[STATEMENTS_MAX];
	size_t count;
};

static int fail(struct db *db, struct err *err, const char *doing)
{
	int code = sqlite3_errcode(db->sqlite) & 0xff;
	enum err_kind kind = code == SQLITE_BUSY			       ? ERR_UNAVAILABLE
			     : code == SQLITE_CORRUPT || code == SQLITE_NOTADB ? ERR_INVALID
									       : ERR_IO;

	return err_set(err, kind, "%s: %s", doing, sqlite3_errmsg(db->sqlite));
}

int db_exec(struct db *db, const char *sql, struct err *err)
{
	return sqlite3_exec(db->sqlite, sql, NULL, NULL, NULL) == SQLITE_OK
		       ? 0
		       : fail(db, err, "state database");
}

int db_begin(struct db *db, struct err *err)
{
	return db_exec(db, "BEGIN IMMEDIATE", err);
}

int db_commit(struct db *db, struct err *err)
{
	return db_exec(db, "COMMIT", err);
}

void db_rollback(struct db *db)
{
	if (!sqlite3_get_autocommit(db->sqlite))
		sqlite3_exec(db->sqlite, "ROLLBACK", NULL, NULL, NULL);
}

int64_t db_changes(const struct db *db)
{
	return sqlite3_changes64(db->sqlite);
}

/* SQLite would make the file with the umask's mode and follow a link: make and look first. */
static int make_file(const char *path, struct err *err)
{
	CLEANUP(fd_closep) int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	struct stat info;

	if (fd < 0 || fstat(fd, &info) < 0)
		return err_errno(err, "open");
	if (!S_ISREG(info.st_mode) || info.st_uid != geteuid())
		return err_set(err, ERR_INVALID, "it is not a regular file of our own user");
	return 0;
}

static int set_up(struct db *db, enum db_sync sync, struct err *err)
{
	int persist = 1;

	sqlite3_busy_timeout(db->sqlite, BUSY_MS);
	sqlite3_extended_result_codes(db->sqlite, 1);
	sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
	sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
	sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	/* The write-ahead log is emptied when its database is closed, and kept: to make it and its
	 * index again costs each start more than reading an empty one. */
	sqlite3_file_control(db->sqlite, "main", SQLITE_FCNTL_PERSIST_WAL, &persist);
	if (db_exec(db,
		    "PRAGMA journal_mode=WAL; PRAGMA journal_size_limit=0;"
		    "PRAGMA foreign_keys=ON; PRAGMA secure_delete=ON",
		    err) < 0)
		return -1;
	return db_exec(
		db, sync == DB_SYNC_FULL ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL",
		err);
}

static int read_version(struct db *db, int *ret_version, struct err *err)
{
	struct db_stmt *stmt;
	int got;

	if (db_query(db, "PRAGMA user_version", &stmt, err) < 0)
		return -1;
	got = db_step(stmt, err);
	*ret_version = got == 1 ? (int)db_int(stmt, 0) : 0;
	db_done(stmt);
	return got < 0 ? -1 : 0;
}

static int migrate_to(struct db *db, const char *migration, int version, struct err *err)
{
	char pragma[64];

	snprintf(pragma, sizeof(pragma), "PRAGMA user_version=%d", version);
	if (db_begin(db, err) < 0)
		return -1;
	if (db_exec(db, migration, err) < 0 || db_exec(db, pragma, err) < 0 ||
	    db_commit(db, err) < 0) {
		db_rollback(db);
		return err_wrap(err, "schema version %d", version);
	}
	return 0;
}

static int migrate(struct db *db, const char *const *migrations, int count, struct err *err)
{
	int version;

	if (read_version(db, &version, err) < 0)
		return -1;
	if (version > count)
		return err_set(err, ERR_INVALID,
			       "its schema version %d is newer than this program knows (%d)",
			       version, count);
	for (; version < count; version++)
		if (migrate_to(db, migrations[version], version + 1, err) < 0)
			return -1;
	return 0;
}

int db_open(const char *path, enum db_sync sync, const char *const *migrations, int count,
	    struct db **ret_db, struct err *err)
{
	CLEANUP(db_closep) struct db *db = mem_alloc(sizeof(*db));

	if (make_file(path, err) < 0)
		return err_wrap(err, "%s", path);
	if (sqlite3_open_v2(path, &db->sqlite,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
			    NULL) != SQLITE_OK)
		return fail(db, err, path);
	if (set_up(db, sync, err) < 0 || migrate(db, migrations, count, err) < 0)
		return err_wrap(err, "%s", path);
	*ret_db = TAKE(db);
	return 0;
}

/* A path as the URI that says that nobody changes the file meanwhile. */
static char *frozen_uri(const char *path)
{
	struct buf uri = BUF_INIT;

	buf_add_str(&uri, "file:");
	for (; *path != '\0'; path++) {
		if (*path == '?' || *path == '#' || *path == '%')
			buf_addf(&uri, "%%%02x", (unsigned char)*path);
		else
			buf_add_char(&uri, *path);
	}
	buf_add_str(&uri, "?immutable=1");
	return buf_take(&uri);
}

static bool can_read(struct db *db)
{
	return sqlite3_exec(db->sqlite, "SELECT 1 FROM sqlite_schema LIMIT 1", NULL, NULL, NULL) ==
	       SQLITE_OK;
}

/* A file in WAL mode can only be read plainly where its shared memory can be made. */
int db_open_read(const char *path, struct db **ret_db, struct err *err)
{
	CLEANUP(db_closep) struct db *db = mem_alloc(sizeof(*db));
	CLEANUP(mem_freep) char *uri = frozen_uri(path);
	int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX;

	if (access(path, F_OK) < 0)
		return err_set(err, ERR_NOT_FOUND, "%s: no such file", path);
	if (sqlite3_open_v2(path, &db->sqlite, flags, NULL) == SQLITE_OK) {
		sqlite3_busy_timeout(db->sqlite, BUSY_MS);
		if (can_read(db)) {
			*ret_db = TAKE(db);
			return 0;
		}
	}
	sqlite3_close(db->sqlite);
	db->sqlite = NULL;
	if (sqlite3_open_v2(uri, &db->sqlite, flags | SQLITE_OPEN_URI, NULL) != SQLITE_OK ||
	    !can_read(db))
		return fail(db, err, path);
	*ret_db = TAKE(db);
	return 0;
}

/* Page by page, in one go: a writer of the source waits, or makes us wait. */
static int copy_pages(struct db *db, sqlite3 *from, int64_t bytes_max, struct err *err)
{
	sqlite3_backup *backup = sqlite3_backup_init(db->sqlite, "main", from, "main");
	int64_t page_bytes = 0;
	int code;

	if (!backup)
		return fail(db, err, "copy");
	code = sqlite3_backup_step(backup, 0); /* tells the number of pages */
	if (code == SQLITE_OK || code == SQLITE_DONE) {
		struct db source = {.sqlite = from};

		if (db_ask(&source, "PRAGMA page_size", &page_bytes, 1, err) < 0) {
			sqlite3_backup_finish(backup);
			return -1;
		}
		if (sqlite3_backup_pagecount(backup) * page_bytes > bytes_max) {
			sqlite3_backup_finish(backup);
			return err_set(err, ERR_LIMIT, "it has more than %lld bytes",
				       (long long)bytes_max);
		}
	}
	for (int tries = 0; tries < COPY_TRIES; tries++) {
		code = sqlite3_backup_step(backup, -1);
		if (code != SQLITE_BUSY && code != SQLITE_LOCKED)
			break;
		sqlite3_sleep(COPY_PAUSE_MS);
	}
	if (sqlite3_backup_finish(backup) != SQLITE_OK || code != SQLITE_DONE)
		return fail(db, err, "copy");
	return 0;
}

static int fill_copy(struct db *db, const char *from, int64_t bytes_max, struct err *err)
{
	CLEANUP(db_closep) struct db *source = NULL;

	if (db_open_read(from, &source, err) < 0 ||
	    copy_pages(db, source->sqlite, bytes_max, err) < 0)
		return -1;
	sqlite3_extended_result_codes(db->sqlite, 1);
	sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
	sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db->sqlite, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	return db_exec(db, "PRAGMA journal_mode=DELETE; PRAGMA foreign_keys=ON", err);
}

int db_open_copy(const char *from, const char *to, int64_t bytes_max, struct db **ret_db,
		 struct err *err)
{
	CLEANUP(db_closep) struct db *db = mem_alloc(sizeof(*db));
	CLEANUP(fd_closep) int fd = open(to, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_errno(err, "%s", to);
	if (sqlite3_open_v2(to, &db->sqlite, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
	    SQLITE_OK) {
		unlink(to);
		return fail(db, err, to);
	}
	if (fill_copy(db, from, bytes_max, err) < 0) {
		unlink(to);
		return err_wrap(err, "copy of %s", from);
	}
	*ret_db = TAKE(db);
	return 0;
}

void db_close(struct db *db)
{
	if (db == NULL)
		return;
	for (size_t i = 0; i < db->count; i++)
		sqlite3_finalize(db->statements[i].prepared);
	sqlite3_close(db->sqlite);
	mem_free(db);
}

void db_closep(struct db **db)
{
	db_close(*db);
}

int db_query(struct db *db, const char *sql, struct db_stmt **ret_stmt, struct err *err)
{
	struct db_stmt *stmt;

	for (size_t i = 0; i < db->count; i++) {
		stmt = &db->statements[i];
		if (strcmp(stmt->sql, sql) == 0 && !stmt->in_use) {
			stmt->in_use = true;
			*ret_stmt = stmt;
			return 0;
		}
	}
	if (db->count == STATEMENTS_MAX)
		return err_set(err, ERR_INTERNAL, "more than %d statements", STATEMENTS_MAX);
	stmt = &db->statements[db->count];
	if (sqlite3_prepare_v3(db->sqlite, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt->prepared,
			       NULL) != SQLITE_OK)
		return fail(db, err, "prepare");
	stmt->sql = sql;
	stmt->db = db;
	stmt->in_use = true;
	db->count++;
	*ret_stmt = stmt;
	return 0;
}

void db_done(struct db_stmt *stmt)
{
	if (stmt == NULL)
		return;
	sqlite3_reset(stmt->prepared);
	sqlite3_clear_bindings(stmt->prepared);
	stmt->in_use = false;
}

void db_donep(struct db_stmt **stmt)
{
	db_done(*stmt);
}

void db_bind_str(struct db_stmt *stmt, int position, const char *text)
{
	sqlite3_bind_text(stmt->prepared, position, text, -1, SQLITE_STATIC);
}

void db_bind_int(struct db_stmt *stmt, int position, int64_t value)
{
	sqlite3_bind_int64(stmt->prepared, position, value);
}

void db_bind_blob(struct db_stmt *stmt, int position, const void *bytes, size_t len)
{
	sqlite3_bind_blob64(stmt->prepared, position, bytes, len, SQLITE_STATIC);
}

int db_step(struct db_stmt *stmt, struct err *err)
{
	switch (sqlite3_step(stmt->prepared)) {
	case SQLITE_ROW:
		return 1;
	case SQLITE_DONE:
		return 0;
	default:
		return fail(stmt->db, err, "state database");
	}
}

int db_ask(struct db *db, const char *sql, int64_t *ret_values, size_t count, struct err *err)
{
	sqlite3_stmt *stmt;
	int code;

	if (sqlite3_prepare_v2(db->sqlite, sql, -1, &stmt, NULL) != SQLITE_OK)
		return fail(db, err, "prepare");
	code = sqlite3_step(stmt);
	for (size_t i = 0; i < count && (code == SQLITE_ROW || code == SQLITE_DONE); i++)
		ret_values[i] = code == SQLITE_ROW ? sqlite3_column_int64(stmt, (int)i) : 0;
	if (code != SQLITE_ROW && code != SQLITE_DONE) {
		sqlite3_finalize(stmt);
		return fail(db, err, "ask");
	}
	sqlite3_finalize(stmt);
	return 0;
}

const char *db_str(struct db_stmt *stmt, int column)
{
	return (const char *)sqlite3_column_text(stmt->prepared, column);
}

int64_t db_int(struct db_stmt *stmt, int column)
{
	return sqlite3_column_int64(stmt->prepared, column);
}

const void *db_blob(struct db_stmt *stmt, int column, size_t *ret_len)
{
	const void *bytes = sqlite3_column_blob(stmt->prepared, column);

	*ret_len = (size_t)sqlite3_column_bytes(stmt->prepared, column);
	return bytes;
}

bool db_is_null(struct db_stmt *stmt, int column)
{
	return sqlite3_column_type(stmt->prepared, column) == SQLITE_NULL;
}
