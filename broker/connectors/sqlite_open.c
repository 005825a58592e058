/*
 * Opening and watching. What can fail: the file (missing, empty, damaged, locked), its folder (WAL
 * without write access), the schema. Texts never hold the path: they reach agents.
 */
#include "broker/connectors/sqlite_open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "broker/connectors/sqlite_mask.h"

#define HEADER_LEN 100 /* https://www.sqlite.org/fileformat2.html, 1.3 */
#define OPEN_MS 10000  /* for reading the schema */

static const char later[] = "try again later, or ask the operator";

static ssize_t read_header(const char *path, unsigned char header[HEADER_LEN])
{
	CLEANUP(fd_closep) int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -1 : pread(fd, header, HEADER_LEN, 0);
}

bool database_is_wal(const char *path)
{
	unsigned char header[HEADER_LEN];

	return read_header(path, header) == HEADER_LEN && header[19] == 2; /* read version */
}

int database_check_file(const char *path, struct err *err)
{
	unsigned char header[HEADER_LEN];
	struct stat status;
	ssize_t len;

	if (stat(path, &status) < 0 && errno == ENOENT)
		return err_set(err, ERR_UNAVAILABLE, "the database file does not exist");
	if (stat(path, &status) < 0)
		return err_set(err, ERR_UNAVAILABLE, "the database file: %s", strerror(errno));
	if (!S_ISREG(status.st_mode))
		return err_set(err, ERR_UNAVAILABLE, "the database is not a regular file");
	if (status.st_size == 0)
		return err_set(err, ERR_UNAVAILABLE, "the database file is empty (0 bytes)");
	len = read_header(path, header);
	if (len < 0)
		return err_set(err, ERR_UNAVAILABLE, "the database file: %s", strerror(errno));
	if (len < HEADER_LEN || memcmp(header, "SQLite format 3", 16) != 0)
		return err_set(err, ERR_UNAVAILABLE, "the file is not a SQLite 3 database");
	return 0;
}

static bool beside(const char *path, const char *suffix)
{
	CLEANUP(mem_freep) char *name = mem_format("%s%s", path, suffix);
	struct stat status;

	return stat(name, &status) == 0 && status.st_size > 0;
}

/* SQLITE_CANTOPEN and SQLITE_READONLY say little: look at the files to say more. */
static int refuse_file(struct database *database, struct refusal *refusal)
{
	if (database_is_wal(database->path))
		return refusal_set(
			refusal, BY_UNAVAILABLE, later,
			"the database is in WAL mode and its -shm file can neither be read nor "
			"made: "
			"let the service's user write to the database's folder and restart the "
			"service, or set the database to journal_mode=DELETE");
	if (beside(database->path, "-journal"))
		return refusal_set(
			refusal, BY_UNAVAILABLE, later,
			"the database has a left-over journal of an interrupted write: open it "
			"once "
			"with the program that owns it, so that the write is rolled back");
	return refusal_set(refusal, BY_UNAVAILABLE, later, "the database cannot be read: %s",
			   sqlite3_errmsg(database->sqlite));
}

static const char *hint_for(const char *text)
{
	static const struct {
		const char *start;
		const char *hint;
	} hints[] = {
		{"no such table", "call list_tables"},
		{"no such column", "call search_schema"},
		{"no such function", "use another function"},
		{"ambiguous column name", "put the table's name in front of the column"},
		{"near ", "correct the statement"},
	};

	for (size_t i = 0; i < ARRAY_LEN(hints); i++)
		if (strncmp(text, hints[i].start, strlen(hints[i].start)) == 0)
			return hints[i].hint;
	return "correct the statement";
}

static int refuse_stopped(struct database *database, struct refusal *refusal)
{
	switch (database->watch.stopped) {
	case WATCH_CANCELED:
		return refusal_set(refusal, BY_CANCELED, "nothing to do", "the call was canceled");
	case WATCH_SCAN:
		return refusal_set(refusal, BY_LIMIT,
				   "ask for something narrower: fewer tables, or a filter on a key",
				   "the statement reads more than %lld bytes",
				   (long long)database->watch.scan_bytes_max);
	default:
		return refusal_set(refusal, BY_LIMIT,
				   "ask for something narrower: check that every join has its "
				   "condition",
				   "the statement ran longer than its time");
	}
}

char *database_public(const struct database *database, const char *text)
{
	const char *prefix = database->guard.prefix;
	struct buf out = BUF_INIT;
	const char *found;

	while (prefix[0] && (found = strstr(text, prefix)) != NULL) {
		const char *digits = found + GUARD_PREFIX_LEN + 1; /* behind its kind */
		char *end = NULL;
		unsigned long long table = strtoull(digits, &end, 10);

		buf_add(&out, text, (size_t)(found - text));
		if (database->fronts && table < database->fronts->catalog->table_count)
			buf_add_str(&out, reach_table_name(database->fronts, (size_t)table));
		text = end;
	}
	buf_add_str(&out, text);
	return buf_take(&out);
}

int database_refuse(struct database *database, int rc, struct refusal *refusal)
{
	if (database->watch.stopped != WATCH_RUNNING) {
		refuse_stopped(database, refusal);
	} else if ((rc & 0xff) == SQLITE_NOMEM) {
		refusal_set(refusal, BY_LIMIT, "ask for something narrower",
			    "the statement needs more memory than %d MiB",
			    DATABASE_HEAP_BYTES_MAX >> 20);
	} else if ((rc & 0xff) == SQLITE_BUSY || (rc & 0xff) == SQLITE_LOCKED) {
		refusal_set(refusal, BY_DATABASE, "try again: another program is writing", "%s",
			    sqlite3_errmsg(database->sqlite));
	} else if ((rc & 0xff) == SQLITE_CANTOPEN || (rc & 0xff) == SQLITE_READONLY) {
		refuse_file(database, refusal);
	} else if ((rc & 0xff) == SQLITE_CORRUPT || (rc & 0xff) == SQLITE_NOTADB ||
		   (rc & 0xff) == SQLITE_IOERR) {
		refusal_set(refusal, BY_UNAVAILABLE, later, "the database cannot be read: %s",
			    sqlite3_errmsg(database->sqlite));
	} else {
		CLEANUP(mem_freep)
		char *text = database_public(database, sqlite3_errmsg(database->sqlite));

		refusal_set(refusal, BY_DATABASE, hint_for(text), "%s", text);
	}
	refusal->bytes_scanned = database_scanned(database);
	return -1;
}

static int64_t cache_misses(const struct database *database)
{
	int now = 0, high = 0;

	sqlite3_db_status(database->sqlite, SQLITE_DBSTATUS_CACHE_MISS, &now, &high, 0);
	return (int64_t)(unsigned)now; /* SQLite counts in 32 bits */
}

int64_t database_scanned(const struct database *database)
{
	int64_t pages;

	if (!database->sqlite)
		return 0;
	pages = (cache_misses(database) - database->watch.misses_before) & 0xffffffffLL;
	return pages * database->page_size;
}

void database_watch(struct database *database, int64_t time_ms, int64_t scan_bytes_max)
{
	database->watch.deadline_us = clock_mono_us() + time_ms * 1000;
	database->watch.scan_bytes_max = scan_bytes_max;
	database->watch.misses_before = database->sqlite ? cache_misses(database) : 0;
	database->watch.stopped = WATCH_RUNNING;
}

void database_release(struct database *database)
{
	sqlite3_db_release_memory(database->sqlite);
}

static bool is_canceled(const struct watch *watch)
{
	return watch->cancel && atomic_load(watch->cancel) == watch->run;
}

static int on_progress(void *data)
{
	struct database *database = data;
	struct watch *watch = &database->watch;

	if (is_canceled(watch))
		watch->stopped = WATCH_CANCELED;
	else if (clock_mono_us() >= watch->deadline_us)
		watch->stopped = WATCH_TIME;
	else if (watch->scan_bytes_max && database_scanned(database) > watch->scan_bytes_max)
		watch->stopped = WATCH_SCAN;
	return watch->stopped != WATCH_RUNNING;
}

/* Another program writes: wait for it within our own deadline, a little longer each time. */
static int on_busy(void *data, int count)
{
	struct database *database = data;
	struct timespec pause = {0, (count < 10 ? count + 1 : 10) * 1000000L};

	if (is_canceled(&database->watch) ||
	    clock_mono_us() + pause.tv_nsec / 1000 >= database->watch.deadline_us)
		return 0; /* SQLite answers "database is locked" */
	nanosleep(&pause, NULL);
	return 1;
}

/* Limits with their reasons; the schema itself is parsed under them, so those that a real schema
 * may need stay at SQLite's own defaults. */
static void set_limits(sqlite3 *sqlite)
{
	static const int limits[][2] = {
		{SQLITE_LIMIT_LENGTH, DATABASE_VALUE_BYTES_MAX},
		{SQLITE_LIMIT_SQL_LENGTH, 1 << 20}, /* a long CREATE VIEW; ours is checked apart */
		{SQLITE_LIMIT_COLUMN, 2000},	    /* wide tables exist */
		{SQLITE_LIMIT_EXPR_DEPTH, 500},	    /* a list of 400 ORs; bounds the stack */
		{SQLITE_LIMIT_COMPOUND_SELECT, 100},
		{SQLITE_LIMIT_VDBE_OP, 250000}, /* about 6 MiB of program */
		{SQLITE_LIMIT_FUNCTION_ARG, 100},
		{SQLITE_LIMIT_ATTACHED, 0},
		{SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000}, /* matching is quadratic */
		{SQLITE_LIMIT_VARIABLE_NUMBER, 16},	  /* our own statements bind a few */
		{SQLITE_LIMIT_TRIGGER_DEPTH, 1},
		{SQLITE_LIMIT_WORKER_THREADS, 0},
	};

	for (size_t i = 0; i < ARRAY_LEN(limits); i++)
		sqlite3_limit(sqlite, limits[i][0], limits[i][1]);
}

void database_harden(sqlite3 *sqlite)
{
	sqlite3_db_config(sqlite, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(sqlite, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(sqlite, SQLITE_DBCONFIG_DQS_DML, 0, NULL);
	sqlite3_db_config(sqlite, SQLITE_DBCONFIG_DQS_DDL, 0, NULL);
	sqlite3_db_config(sqlite, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	sqlite3_db_config(sqlite, SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0, NULL);
	sqlite3_db_config(sqlite, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	set_limits(sqlite);
	sqlite3_extended_result_codes(sqlite, 1);
}

/* Table-valued functions must be used once before anything is refused: SQLite declares their
 * columns with CREATE TABLE at their first use. */
static const char setup_sql[] = "PRAGMA query_only = 1;"
				"PRAGMA temp_store = MEMORY;"
				"PRAGMA mmap_size = 0;"
				"PRAGMA cell_size_check = 1;"
				"SELECT 1 FROM json_each('[]');"
				"SELECT 1 FROM json_tree('[]');";

static int open_handle(struct database *database, struct refusal *refusal)
{
	CLEANUP(mem_freep) char *cache = mem_format("PRAGMA cache_size = -%d", DATABASE_CACHE_KIB);
	int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
	sqlite3_stmt *row = NULL;
	int rc;

	rc = sqlite3_open_v2(database->path, &database->sqlite, flags, NULL);
	if (rc != SQLITE_OK)
		return database_refuse(database, rc, refusal);
	database_harden(database->sqlite);
	guard_init(&database->guard);
	guard_choose_prefix(&database->guard);
	guard_internal(&database->guard);
	guard_install(&database->guard, database->sqlite);
	sqlite3_progress_handler(database->sqlite, DATABASE_PROGRESS_OPS, on_progress, database);
	sqlite3_busy_handler(database->sqlite, on_busy, database);
	database_watch(database, OPEN_MS, 0);
	if ((rc = sqlite3_exec(database->sqlite, setup_sql, NULL, NULL, NULL)) != SQLITE_OK ||
	    (rc = sqlite3_exec(database->sqlite, cache, NULL, NULL, NULL)) != SQLITE_OK ||
	    (rc = mask_functions_add(database->sqlite, &database->bound)) != SQLITE_OK ||
	    (rc = sqlite3_prepare_v2(database->sqlite, "PRAGMA main.page_size", -1, &row, NULL)) !=
		    SQLITE_OK)
		return database_refuse(database, rc, refusal);
	if (sqlite3_step(row) == SQLITE_ROW)
		database->page_size = sqlite3_column_int64(row, 0);
	sqlite3_finalize(row);
	rc = sqlite3_prepare_v3(database->sqlite, "PRAGMA main.schema_version", -1,
				SQLITE_PREPARE_PERSISTENT, &database->version, NULL);
	if (rc != SQLITE_OK)
		return database_refuse(database, rc, refusal);
	guard_close(&database->guard);
	return 0;
}

static void close_handle(struct database *database)
{
	sqlite3_finalize(database->version);
	database->version = NULL;
	sqlite3_close_v2(database->sqlite);
	database->sqlite = NULL;
	catalog_free(database->catalog);
	database->catalog = NULL;
}

static int read_version(struct database *database, int64_t *ret_version, struct refusal *refusal)
{
	int rc;

	guard_internal(&database->guard);
	rc = sqlite3_step(database->version);
	if (rc == SQLITE_ROW)
		*ret_version = sqlite3_column_int64(database->version, 0);
	else
		database_refuse(database, rc, refusal);
	sqlite3_reset(database->version);
	guard_close(&database->guard);
	return rc == SQLITE_ROW ? 0 : -1;
}

static int load_catalog(struct database *database, struct refusal *refusal)
{
	struct err err;
	int result;

	guard_internal(&database->guard);
	result = catalog_load(database->sqlite, &database->catalog, &err);
	if (result < 0) {
		int rc = sqlite3_errcode(database->sqlite);

		if (rc == SQLITE_OK || rc == SQLITE_ERROR)
			refusal_from_err(refusal, &err);
		else
			database_refuse(database, rc, refusal);
	}
	guard_close(&database->guard);
	return result;
}

int database_refresh(struct database *database, void (*changing)(void *data), void *data,
		     struct refusal *refusal)
{
	struct stat status;
	struct err err;
	int64_t version = 0;

	err_set(&err, ERR_UNAVAILABLE, "the database file went away");
	if (database_check_file(database->path, &err) < 0 || stat(database->path, &status) < 0) {
		changing(data);
		close_handle(database);
		return refusal_from_err(refusal, &err);
	}
	if (database->sqlite &&
	    (status.st_dev != database->device || status.st_ino != database->inode)) {
		changing(data);
		close_handle(database);
	}
	if (!database->sqlite) {
		if (open_handle(database, refusal) < 0 || load_catalog(database, refusal) < 0) {
			close_handle(database);
			return -1;
		}
		database->device = status.st_dev;
		database->inode = status.st_ino;
		return 0;
	}
	if (read_version(database, &version, refusal) < 0)
		return -1;
	if (version == database->catalog->version)
		return 0;
	changing(data);
	catalog_free(database->catalog);
	database->catalog = NULL;
	if (load_catalog(database, refusal) < 0) {
		close_handle(database);
		return -1;
	}
	return 0;
}

void database_init(struct database *database, const char *path)
{
	*database = (struct database){.path = mem_str(path), .page_size = 4096};
	guard_init(&database->guard);
}

void database_clear(struct database *database)
{
	close_handle(database);
	mem_free(database->path);
	database->path = NULL;
}
