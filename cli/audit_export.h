/* writ audit export: audit_export.c reads options, audit_export_lines.c writes records one by one,
 * audit_export_package.c copies what can be verified. */
#ifndef CLI_AUDIT_EXPORT_H
#define CLI_AUDIT_EXPORT_H

#include <stdio.h>

#include "broker/audit/log_walk.h"
#include "cli/audit_filter.h"

/* One record in a format: its parsed form, its bytes, its leaf hash as hex. */
struct export_record {
	const struct json *json;
	const char *entry;
	size_t len;
	char leaf[SHA256_HEX_LEN + 1];
	const char *user; /* name or pseudonym; "" without */
};

struct export_format {
	const char *name;
	const char *what;
	void (*begin)(FILE *out); /* or NULL */
	void (*record)(const struct export_record *record, FILE *out);
};

const struct export_format *export_format_find(const char *name); /* NULL when there is none */

/*
 * An evidence package: the segments that hold records from to to - 1, bytes unchanged, with all
 * that is needed to verify them offline. out is a folder that must not exist yet. tiles: the layout
 * of tlog-tiles with entry bundles instead of segments.
 */
struct export_package {
	const struct log_dir *dir;
	const char *out;
	uint64_t from, to; /* 0, 0: everything */
	bool tiles;
	bool openings;
};
MUST_CHECK int export_package(const struct export_package *package, struct err *err);

#endif
