/*
 * Where `writ audit` reads from: a log's folder (or file), the key that was pinned outside of it,
 * and further heads. Nothing beside the log is trusted.
 */
#ifndef CLI_AUDIT_SOURCE_H
#define CLI_AUDIT_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "broker/audit/verify.h"

struct audit_source {
	char *dir;  /* the log's folder; NULL when only a file was named */
	char *file; /* the log itself: a file, or the folder of its segments */
	bool has_key;
	struct vkey key;
	char *key_from; /* where it came from, for people; NULL without one */
	char *key_note; /* why none is counted, for people; NULL when one is */
};

/*
 * path: a folder, a file, or NULL for the workspace's. workspace: from -C, or NULL; it gives the
 * log when path is NULL, and the key unless key_text does. key_text: a vkey or a file of one, or
 * NULL. A key file inside the log's own folder is not counted: who wrote the log may have written
 * it.
 */
MUST_CHECK int audit_source_find(const char *path, const char *workspace, const char *key_text,
				 struct audit_source *ret_source, struct err *err);
void audit_source_clear(struct audit_source *source);

/* Feeds the whole file; progress on stderr if that is a terminal. ERR_NOT_FOUND without a file. */
MUST_CHECK int audit_source_feed(const struct audit_source *source, struct audit_verify *verify,
				 struct err *err);

#endif
