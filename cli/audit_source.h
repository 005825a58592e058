/*
 * Where `writ audit` reads from: a log's folder (or file), the keys that were pinned outside of it,
 * and the auditor's policy. Nothing beside the log is trusted.
 */
#ifndef CLI_AUDIT_SOURCE_H
#define CLI_AUDIT_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "broker/audit/log_dir.h"
#include "broker/audit/verify.h"

#define AUDIT_KEYS_MAX 16

struct audit_source {
	struct log_dir dir;
	struct vkey keys[AUDIT_KEYS_MAX]; /* pinned keys of the log: the present one, older ones */
	size_t key_count;
	bool has_epoch_key;
	struct vkey epoch_key; /* of epoch 0 */
	char *key_from;	       /* where they came from, for people; NULL without one */
	char *key_note;	       /* why none is counted, for people; NULL when one is */
	bool has_policy;
	struct trust_policy policy;
};

struct audit_source_options {
	const char *path; /* a folder, a file, or NULL for the workspace's log */
	const char
		*workspace; /* from -C, or NULL; its audit.pub is the key unless keys are given */
	const char *keys[AUDIT_KEYS_MAX]; /* vkeys, or files of them */
	size_t key_count;
	const char *policy; /* a file (C2SP tlog-policy), or NULL; its log lines are keys too */
};

/* A key or policy file inside the log's own folder is not counted: who wrote the log may have
 * written it. */
MUST_CHECK int audit_source_find(const struct audit_source_options *options,
				 struct audit_source *ret_source, struct err *err);
void audit_source_clear(struct audit_source *source);
/* Feeds all lines, in order, for whoever wants the records and no verdict. */
MUST_CHECK int audit_source_feed(const struct audit_source *source, struct audit_verify *verify,
				 struct err *err);

#endif
