/*
 * The file of a segment: appending a batch durably, or not at all. Blocking; used by one thread at
 * a time (the writer's worker).
 */
#ifndef BROKER_AUDIT_LOG_FILE_H
#define BROKER_AUDIT_LOG_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "broker/audit/layout.h"

/* The two calls that a disk fails, so that tests can fail them. */
struct log_io {
	ssize_t (*write)(int fd, const void *bytes, size_t len);
	int (*sync)(int fd);
};

struct log_file {
	int dir_fd; /* of the segments; borrowed */
	int fd;	    /* owned; -1 when closed */
	char name[AUDIT_NAME_MAX];
	uint64_t bytes; /* what the file must hold: it is ours alone */
	struct log_io io;
	bool full; /* the last append failed for want of space, and was taken back */
};

/* An existing file. ERR_NOT_FOUND when there is none. */
MUST_CHECK int log_file_open(int dir_fd, const char *name, struct log_file *ret_file,
			     struct err *err);
/* A new file, durably there; an empty one that a crash left is taken. */
MUST_CHECK int log_file_create(int dir_fd, const char *name, struct log_file *ret_file,
			       struct err *err);
void log_file_close(struct log_file *file);

/* The path still leads to our file, it has a name, and nobody else changed its length. */
MUST_CHECK int log_file_check(const struct log_file *file, struct err *err);

/*
 * Checks, writes, syncs. A write that failed or came short is taken back, so no torn line stays. A
 * failed sync is not: what the disk holds is unknown then, and asking again would lie (the kernel
 * reports it once and forgets). After any failure
 * but want of space (full) the file must not be written again.
 */
MUST_CHECK int log_file_append(struct log_file *file, const void *bytes, size_t len,
			       struct err *err);
/* Cuts to len bytes, durably. */
MUST_CHECK int log_file_cut(struct log_file *file, uint64_t len, struct err *err);

#endif
