/* The YAML files of one folder of a workspace (metrics/, queries/), by name in order. */
#ifndef AGENTS_QUERY_METRICS_SOURCE_FILES_H
#define AGENTS_QUERY_METRICS_SOURCE_FILES_H

#include <stddef.h>

#include "base/err.h"

#define SOURCE_FILES_MAX 1000

struct source_files {
	char **names; /* owned: "sales.yaml" */
	size_t count;
};

/* 0 with files or, when there is no such folder, without; the folder may be no link. */
MUST_CHECK int source_files_list(int workspace_fd, const char *folder, struct source_files *files,
				 struct err *err);
void source_files_clear(struct source_files *files);

#endif
