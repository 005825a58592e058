/*
 * writ policy: what its subcommands share. One file per subcommand, one row each in cmd_policy.c.
 * All of them work on bundles: of the workspace's files, of the service, or of a file of bytes.
 */
#ifndef CLI_POLICY_H
#define CLI_POLICY_H

#include "cli/args.h"
#include "cli/cli.h"
#include "policy/policy.h"
#include "policy/workspace.h"

struct policy_command {
	const char *name;
	const char *summary;
	const char *help;
	int (*run)(int argc, char **argv); /* argv[0] is "policy NAME" */
};

extern const struct policy_command policy_apply, policy_check, policy_compile_command, policy_diff,
	policy_explain_command, policy_fmt, policy_log, policy_prove_command, policy_replay,
	policy_rollback, policy_schema_command, policy_shadow, policy_show_command, policy_test,
	policy_who_command;

/* A workspace and the policy its files make; owned. */
struct policy_files {
	char *path;
	int fd; /* -1: not open */
	struct workspace workspace;
	struct problems problems;
	struct json *notes;    /* texts: what could not be checked; never NULL once read */
	struct json *catalogs; /* source -> its tables; NULL when not asked for */
	struct buf bytes;      /* of the bundle; empty when there are mistakes */
	struct bundle *bundle; /* NULL likewise */
	struct json *json;     /* the same, as JSON */
	struct json *extended; /* the same with the invariants; NULL also without any */
	char in_force[SHA256_HEX_LEN + 1]; /* what state/ has for the service; "" when unknown */
};

enum policy_files_flags {
	POLICY_WITH_DATA =
		1, /* ask the connectors for tables and columns, and check against them */
	POLICY_AS_A_START = 2, /* names outside of the scope files are not checked, as at a start */
};

/* Reads and checks; with mistakes it is fine too, and bundle is NULL. EXIT_FINE, or the exit code
 * after a message. */
int policy_files_read(const struct args *args, int flags, struct policy_files *ret_files);
/* For commands that need a policy without mistakes: as above, and EXIT_NEGATIVE after printing
 * the mistakes. */
int policy_files_want(const struct args *args, int flags, struct policy_files *ret_files);
void policy_files_clear(struct policy_files *files);

struct policy_source { /* one bundle, from wherever; owned */
	char *label;   /* as it was asked for */
	struct bundle *bundle;
	struct json *json;
};

/* name: "files", "live", the first figures of a hash, a workspace's folder or a file of bytes.
 * EXIT_FINE, or the exit code after a message. */
int policy_source_open(const struct args *args, const char *name, struct policy_source *ret_source);
void policy_source_clear(struct policy_source *source);
/* state/config/policy of the workspace; as above. */
int policy_folder_open(const struct args *args, int *ret_fd);
/* The one bundle there whose hash begins so; as above. */
int policy_hash_find(int folder_fd, const char *start, char ret_hash[SHA256_HEX_LEN + 1]);

const char *plural(size_t count); /* "" or "s" */

#endif
