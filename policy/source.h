/* The scope files of a workspace as trees, in the order of their names. */
#ifndef POLICY_SOURCE_H
#define POLICY_SOURCE_H

#include "base/problems.h"

struct scope_file {
	char *path; /* "scopes/sales.yaml" */
	struct yaml *root;
};

struct scope_files {
	struct scope_file *items;
	size_t count;
};

#define SCOPE_FILES_MAX 1000u
#define SCOPE_INVARIANTS "scopes/invariants.yaml" /* a scope file by its form, but not by its effect */

/*
 * Reads scopes/ of the workspace: every *.yaml in it, none below. A file that cannot be read as
 * YAML is a problem and left out; so are a folder without scope files and a file that looks like
 * one but would be passed over. err is for what the operating system refused.
 */
MUST_CHECK int scope_files_load(int workspace_fd, struct scope_files *ret_files,
				struct problems *problems, struct err *err);
void scope_files_clear(struct scope_files *files);

#endif
