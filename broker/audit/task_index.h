/*
 * Where the records of a task stand, so that one task of millions is found at once. A cache of the
 * reader, in a folder of the reader's own: the log's folder stays as it is, and a copy that is
 * evidence is not written to. Blocking.
 *
 * There is one index file for each segment. It is believed only as far as it fits: it names the
 * first and the last line it covers by their hashes, each page has a checksum, and each line that
 * is found is looked at. What does not fit is built anew; what came to the segment since is read.
 *
 *   header  "writ-task-index/1" LF, bytes covered, leaf hashes of the first and last line, entries
 *   pages   4096 bytes: 255 of (hash of the task: 8 bytes, offset: 8 bytes), checksum: 16 bytes
 *   Entries ascend. Numbers are little-endian.
 */
#ifndef BROKER_AUDIT_TASK_INDEX_H
#define BROKER_AUDIT_TASK_INDEX_H

#include "broker/audit/log_walk.h"

/*
 * All records whose "tx" is task, in the order of the log. cache: a folder, made if absent; NULL
 * reads the whole log. Trouble with the cache is no error: the log is read then.
 */
MUST_CHECK int task_index_find(const struct log_dir *dir, const char *cache, const char *task,
			       log_on_line *on_line, void *data, struct err *err);

/* The value of the record's "tx" in its canonical form; NULL when it has none. */
const char *task_of_line(const char *entry, size_t len, size_t *ret_len);

#endif
