/* The policy of a workspace's files, compiled in this process; nothing is written. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/catalog.h"
#include "cli/policy.h"
#include "policy/check_names.h"
#include "policy/compile.h"
#include "policy/source.h"

const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
}

void policy_files_clear(struct policy_files *files)
{
	if (files->path != NULL)
		fd_closep(&files->fd);
	workspace_clear(&files->workspace);
	problems_clear(&files->problems);
	json_free(files->notes);
	json_free(files->catalogs);
	buf_clear(&files->bytes);
	bundle_free(files->bundle);
	json_free(files->json);
	json_free(files->extended);
	mem_free(files->path);
	memset(files, 0, sizeof(*files));
}

static void read_in_force(struct policy_files *files)
{
	CLEANUP(buf_clear) struct buf active = BUF_INIT;

	/* Only the owner can look; for everyone else it stays unknown. */
	if (file_read_at(files->fd, "state/config/policy/active", 128, &active, NULL) == 0 &&
	    active.len == SHA256_HEX_LEN + 1)
		memcpy(files->in_force, active.bytes, SHA256_HEX_LEN);
}

static int read_bundle(struct policy_files *files, struct err *err)
{
	if (files->bytes.len == 0)
		return 0;
	if (bundle_read(files->bytes.bytes, files->bytes.len, &files->bundle, err) < 0 ||
	    json_parse(files->bytes.bytes, files->bytes.len, files->bytes.len, &files->json, err) <
		    0)
		return -1;
	workspace_check_agents(&files->workspace, files->bundle, &files->problems);
	return 0;
}

static int check_names(struct policy_files *files, struct err *err)
{
	struct known_names known = {.users = files->workspace.users};

	known.catalogs = files->catalogs;
	return policy_check_names(files->fd, &known, &files->problems, err);
}

/* Mistakes of the invariants are found with all others; the policy itself is compiled without. */
static int compile_extended(struct policy_files *files, const struct policy_world *world,
			    struct err *err)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;
	struct policy_world extended = *world;

	if (faccessat(files->fd, SCOPE_INVARIANTS, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	extended.invariants = true;
	if (policy_compile(files->fd, &extended, &bytes, &files->problems, err) < 0)
		return -1;
	return bytes.len == 0
		       ? 0
		       : json_parse(bytes.bytes, bytes.len, bytes.len, &files->extended, err);
}

static int compile_files(struct policy_files *files, const struct policy_world *world,
			 struct err *err)
{
	CLEANUP(problems_clear) struct problems said_already = PROBLEMS_INIT;

	if (compile_extended(files, world, err) < 0)
		return -1;
	return policy_compile(files->fd, world, &files->bytes,
			      files->extended != NULL ? &said_already : &files->problems, err);
}

static int read_files(struct policy_files *files, int flags, struct err *err)
{
	struct names databases;
	struct names environments;
	struct policy_world world = {.databases = NULL};

	files->fd = open(files->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (files->fd < 0)
		return err_errno(err, "%s", files->path);
	if (workspace_read(files->fd, files->path, WORKSPACE_NO_DATA, &files->workspace,
			   &files->problems, err) < 0)
		return -1;
	databases = (struct names){files->workspace.sources, files->workspace.source_count};
	environments =
		(struct names){files->workspace.environments, files->workspace.environment_count};
	if (flags & POLICY_WITH_DATA)
		catalogs_read(files->workspace.service, &files->catalogs, &files->notes);
	else
		files->notes = json_array();
	world.environments = &environments;
	world.catalogs = files->catalogs;
	world.databases = databases.count == 0 ? NULL : &databases;
	if (compile_files(files, &world, err) < 0 || read_bundle(files, err) < 0 ||
	    (!(flags & POLICY_AS_A_START) && check_names(files, err) < 0))
		return -1;
	problems_sort(&files->problems);
	read_in_force(files);
	return 0;
}

int policy_files_read(const struct args *args, int flags, struct policy_files *ret_files)
{
	struct policy_files files = {.fd = -1};
	struct err err = {0};

	if (cli_workspace_find(args->workspace, &files.path, &err) < 0 ||
	    read_files(&files, flags, &err) < 0) {
		policy_files_clear(&files);
		return cli_fail(EXIT_USAGE, "%s", err.text);
	}
	*ret_files = files;
	return EXIT_FINE;
}

int policy_files_want(const struct args *args, int flags, struct policy_files *ret_files)
{
	int code = policy_files_read(args, flags, ret_files);

	if (code == EXIT_FINE)
		json_each(note, ret_files->notes) fprintf(stderr, "note: %s\n", json_str(note));
	if (code != EXIT_FINE || ret_files->problems.error_count == 0)
		return code;
	problems_print(&ret_files->problems, stderr);
	policy_files_clear(ret_files);
	return cli_fail(EXIT_NEGATIVE, "the scope files have mistakes");
}
