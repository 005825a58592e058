/*
 * One hardened connection to a source's database file: read only, every switch that SQLite has
 * against hostile SQL and hostile files thrown, the guard closed.
 *
 * A connection notices that the file was replaced or its schema changed at database_refresh(),
 * which each call begins with.
 */
#ifndef BROKER_CONNECTORS_SQLITE_OPEN_H
#define BROKER_CONNECTORS_SQLITE_OPEN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <sqlite3.h>

#include "broker/connectors/sqlite_catalog.h"
#include "broker/connectors/sqlite_guard.h"
#include "broker/connectors/refusal.h"

/* A value as long as this can be computed with; results are capped far below. */
#define DATABASE_VALUE_BYTES_MAX (8 << 20)
/* Of one worker: its page cache, sorts and values. */
#define DATABASE_HEAP_BYTES_MAX (128 << 20)
/* Pages kept while one statement runs, so that touching a page again is not counted again. */
#define DATABASE_CACHE_KIB 32768
#define DATABASE_PROGRESS_OPS 1000 /* between two looks at clock, scan and cancel flag */

enum watch_stop { WATCH_RUNNING, WATCH_TIME, WATCH_SCAN, WATCH_CANCELED };

/* The bounds of what runs now; checked by the progress and busy handlers. */
struct watch {
	int64_t deadline_us;	/* monotonic */
	int64_t scan_bytes_max; /* 0: none */
	int64_t misses_before;
	enum watch_stop stopped;
	/* Shared with the frame: the number of the run to cancel. NULL when nobody can. */
	const _Atomic uint64_t *cancel;
	uint64_t run;
};

struct database {
	char *path;
	sqlite3 *sqlite; /* NULL while it cannot be opened */
	struct guard guard;
	const struct reach *fronts;	  /* whose views are installed, borrowed; NULL: none */
	const struct bound_values *bound; /* of fronts */
	struct catalog *catalog;
	sqlite3_stmt *version; /* PRAGMA schema_version */
	int64_t page_size;
	dev_t device; /* of the file that is open */
	ino_t inode;
	struct watch watch;
};

void database_init(struct database *database, const char *path);
void database_clear(struct database *database);

/* Opens if need be. *ret_changed: the catalog is another one than before, so everything that was
 * made from it (views, statements) must go first: changing(data) is called before the old one is
 * freed. */
MUST_CHECK int database_refresh(struct database *database, void (*changing)(void *data), void *data,
				struct refusal *refusal);

/* Starts the clock and the byte count of a call; scan_bytes_max 0 sets no bound. */
void database_watch(struct database *database, int64_t time_ms, int64_t scan_bytes_max);
/* Gives the page cache back, so that the next statement's pages all count. */
void database_release(struct database *database);
int64_t database_scanned(const struct database *database); /* bytes since database_watch() */

/* What SQLite says, with the names of inner views put back to those of their tables. The caller
 * frees. */
char *database_public(const struct database *database, const char *text);
/* What SQLite said, as a refusal; returns -1. */
int database_refuse(struct database *database, int rc, struct refusal *refusal);

/* Settings that the shadow and the search index share. */
void database_harden(sqlite3 *sqlite);

/* Looks at the file as a person would: missing, empty, not a database, WAL without a way to read
 * it, left-over journal. 0 when nothing is wrong with it. */
MUST_CHECK int database_check_file(const char *path, struct err *err);
bool database_is_wal(const char *path); /* by its header */

#endif
