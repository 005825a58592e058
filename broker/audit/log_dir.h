/*
 * What lies in the folder of a log (docs/audit-format.md, "Files"), or in a copy or an export of
 * it. Blocking, reads only, follows no link in the last part of a path. Nothing here judges.
 */
#ifndef BROKER_AUDIT_LOG_DIR_H
#define BROKER_AUDIT_LOG_DIR_H

#include <stdbool.h>

#include "base/buf.h"
#include "broker/audit/layout.h"
#include "broker/audit/tiles.h"

struct log_part { /* a segment */
	uint64_t first;
	bool has_lines;
	bool has_seal;
	bool has_close;		   /* the last line of one whose lines were dropped */
	uint64_t bytes;		   /* of its lines */
	char name[AUDIT_NAME_MAX]; /* of its lines, below the folder */
};

struct log_dir {
	int fd;			/* owned; the folder, or that of the one file */
	char *path;		/* owned; as given */
	bool is_file;		/* a file was named: there is nothing beside it */
	struct log_part *parts; /* owned; by first, ascending */
	size_t count;
};

/* path: a folder, or one file of lines. ERR_NOT_FOUND when there is nothing. */
MUST_CHECK int log_dir_open(const char *path, struct log_dir *ret_dir, struct err *err);
void log_dir_close(struct log_dir *dir); /* a zeroed one is fine */

MUST_CHECK int log_dir_lines(const struct log_dir *dir, size_t part, int *ret_fd, struct err *err);
/* A small file beside the lines, by its name below the folder. ERR_NOT_FOUND when there is none. */
MUST_CHECK int log_dir_read(const struct log_dir *dir, const char *name, size_t max,
			    struct buf *out, struct err *err);
MUST_CHECK int log_dir_seal(const struct log_dir *dir, size_t part, struct buf *out,
			    struct err *err);
/* The first width hashes of a tile: from its full file, or the partial one of exactly that width.
 * ERR_NOT_FOUND when there is neither, ERR_INVALID when a file has another length. */
MUST_CHECK int log_dir_tile(const struct log_dir *dir, unsigned int level, uint64_t index,
			    unsigned int width, struct tile *ret_tile, struct err *err);

#endif
