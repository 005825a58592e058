/*
 * mkdb SQLFILE DBFILE: makes a SQLite database from a file of statements, for examples and tests.
 *
 * The database is built beside its place and renamed into it, so nobody sees half of one. It fails,
 * leaving the old one, when a statement does or a foreign key points nowhere.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/file.h"

#define SQL_BYTES_MAX (64 << 20)

static int run(sqlite3 *db, const char *sql, struct err *err)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		return err_set(err, ERR_INVALID, "%s", sqlite3_errmsg(db));
	return 0;
}

static int check_keys(sqlite3 *db, struct err *err)
{
	sqlite3_stmt *statement;
	int result;

	if (sqlite3_prepare_v2(db, "PRAGMA foreign_key_check", -1, &statement, NULL) != SQLITE_OK)
		return err_set(err, ERR_INVALID, "%s", sqlite3_errmsg(db));
	result = sqlite3_step(statement);
	if (result == SQLITE_ROW)
		err_set(err, ERR_INVALID, "a row of %s points to no row of %s",
			(const char *)sqlite3_column_text(statement, 0),
			(const char *)sqlite3_column_text(statement, 2));
	else if (result != SQLITE_DONE)
		err_set(err, ERR_INVALID, "%s", sqlite3_errmsg(db));
	sqlite3_finalize(statement);
	return result == SQLITE_DONE ? 0 : -1;
}

static int fill(const char *path, const char *sql, struct err *err)
{
	sqlite3 *db = NULL;
	int result = -1;

	if (sqlite3_open(path, &db) != SQLITE_OK)
		err_set(err, ERR_IO, "%s", sqlite3_errmsg(db));
	else if (run(db, "BEGIN", err) == 0 && run(db, sql, err) == 0 && check_keys(db, err) == 0 &&
		 run(db, "COMMIT", err) == 0 && run(db, "ANALYZE; VACUUM", err) == 0)
		result = 0;
	if (sqlite3_close(db) != SQLITE_OK && result == 0)
		result = err_set(err, ERR_INTERNAL, "the database does not close");
	return result;
}

/* DIR/x.db: makes DIR, which may be there. */
static int make_folder(const char *path, struct err *err)
{
	CLEANUP(mem_freep) char *folder = mem_str(path);
	char *slash = strrchr(folder, '/');

	if (!slash)
		return 0;
	*slash = '\0';
	if (mkdir(folder, 0755) < 0 && access(folder, W_OK) < 0)
		return err_errno(err, "%s", folder);
	return 0;
}

static int make(const char *sql_path, const char *db_path, struct err *err)
{
	CLEANUP(mem_freep) char *part = mem_format("%s.part", db_path);
	CLEANUP(buf_clear) struct buf sql = BUF_INIT;

	if (file_read_at(AT_FDCWD, sql_path, SQL_BYTES_MAX, &sql, err) < 0)
		return err_wrap(err, "%s", sql_path);
	if (make_folder(db_path, err) < 0)
		return -1;
	unlink(part);
	if (fill(part, buf_str(&sql), err) < 0) {
		unlink(part);
		return err_wrap(err, "%s", sql_path);
	}
	if (rename(part, db_path) < 0)
		return err_errno(err, "%s", db_path);
	return 0;
}

int main(int argc, char **argv)
{
	struct err err;

	if (argc != 3) {
		fprintf(stderr, "usage: mkdb SQLFILE DBFILE\n");
		return 2;
	}
	if (make(argv[1], argv[2], &err) < 0) {
		fprintf(stderr, "mkdb: %s\n", err.text);
		return 1;
	}
	return 0;
}
