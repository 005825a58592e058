/*
 * The compile step of `writ`. All is compiled in memory first; only when nothing is wrong are the
 * files of state/ replaced, the pointer to the active policy last, so that a reader always finds a
 * policy that is whole. Blocking; runs in a short-lived process.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/crypto.h"
#include "base/file.h"
#include "policy/bundle_model.h"
#include "policy/compile.h"
#include "policy/workspace.h"

#define STATE_BYTES_MAX BUNDLE_BYTES_MAX

/* Mistakes as model_compile() writes them: each begins at the margin, its frame is indented. */
static void add_mistakes(struct problems *problems, const char *text)
{
	while (*text != '\0') {
		const char *end = text;
		struct err err = {.kind = ERR_INVALID};
		size_t len;

		do
			end += strcspn(end, "\n") + (end[strcspn(end, "\n")] == '\n');
		while (*end == ' ');
		len = (size_t)(end - text);
		while (len > 0 && text[len - 1] == '\n')
			len--;
		err_set(&err, ERR_INVALID, "%.*s", (int)len, text);
		if (len > 0)
			problems_add_err(problems, "metric", &err);
		text = end;
	}
}

static int compile_models(int workspace_fd, const struct workspace *workspace,
			  workspace_models_fn *models, struct json **ret_models,
			  struct problems *problems, struct err *err)
{
	CLEANUP(buf_clear) struct buf mistakes = BUF_INIT;

	*ret_models = NULL;
	if (models == NULL) {
		*ret_models = json_object();
		return 0;
	}
	if (models(workspace_fd, workspace->sources, workspace->source_count, ret_models, &mistakes,
		   err) == 0)
		return 0;
	if (mistakes.len == 0)
		return err_wrap(err, "metrics");
	add_mistakes(problems, buf_str(&mistakes));
	return 0;
}

static int write_if_changed(int dir_fd, const char *name, const struct buf *bytes, struct err *err)
{
	CLEANUP(buf_clear) struct buf known = BUF_INIT;
	struct stat folder;

	if (file_read_at(dir_fd, name, STATE_BYTES_MAX, &known, NULL) == 0 &&
	    known.len == bytes->len &&
	    (known.len == 0 || memcmp(known.bytes, bytes->bytes, known.len) == 0))
		return 0;
	if (fstat(dir_fd, &folder) < 0)
		return err_errno(err, "%s: its folder", name);
	/* Where root lets a group read the folder (cli/program_roles.h), also what lies in it. */
	return file_replace_at(dir_fd, name, (folder.st_mode & S_IRGRP) != 0 ? 0640 : 0600,
			       bytes->bytes, bytes->len, true, err);
}

static int write_json(int dir_fd, const char *name, const struct json *json, struct err *err)
{
	CLEANUP(buf_clear) struct buf bytes = BUF_INIT;

	json_write_canonical(json, &bytes);
	buf_add_char(&bytes, '\n');
	return write_if_changed(dir_fd, name, &bytes, err);
}

static int write_bundle(int policy_fd, const struct buf *bundle, const char *digest,
			struct err *err)
{
	CLEANUP(mem_freep) char *name = mem_format("%s.json", digest);

	return write_if_changed(policy_fd, name, bundle, err);
}

static int write_active(int policy_fd, const char *digest, struct err *err)
{
	CLEANUP(buf_clear) struct buf line = BUF_INIT;

	buf_addf(&line, "%s\n", digest);
	return write_if_changed(policy_fd, "active", &line, err);
}

/* A rollback holds its bundle in force until someone applies the files on purpose. */
static int activate(int policy_fd, const char *digest, bool on_purpose, struct err *err)
{
	struct stat info;

	if (on_purpose && unlinkat(policy_fd, "held", 0) < 0 && errno != ENOENT)
		return err_errno(err, "remove policy/held");
	if (!on_purpose && fstatat(policy_fd, "held", &info, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	return write_active(policy_fd, digest, err);
}

/* want: the digest that was checked, or NULL when this is no word of the owner's to apply it. */
static int write_state(int workspace_fd, const struct workspace *workspace,
		       const struct buf *bundle, const struct json *models, const char *want,
		       struct err *err)
{
	CLEANUP(fd_closep) int state_fd = -1;
	CLEANUP(fd_closep) int config_fd = -1;
	CLEANUP(fd_closep) int policy_fd = -1;
	char digest[SHA256_HEX_LEN + 1];

	sha256_hex(bundle->bytes, bundle->len, digest);
	if (want != NULL && strcmp(want, digest) != 0)
		return err_set(err, ERR_INVALID,
			       "the files were changed while they were applied; apply them again");
	if (dir_open_private_at(workspace_fd, "state", true, &state_fd, err) < 0 ||
	    dir_open_private_at(state_fd, "config", true, &config_fd, err) < 0 ||
	    dir_open_private_at(config_fd, "policy", true, &policy_fd, err) < 0)
		return -1;
	if (write_bundle(policy_fd, bundle, digest, err) < 0 ||
	    write_json(config_fd, "users.json", workspace->users, err) < 0 ||
	    write_json(config_fd, "setting.json", workspace->setting, err) < 0 ||
	    write_json(config_fd, "audit.json", workspace->audit, err) < 0 ||
	    write_json(state_fd, "service.json", workspace->service, err) < 0 ||
	    write_json(config_fd, "model.json", models, err) < 0)
		return -1;
	return activate(policy_fd, digest, want != NULL, err);
}

static int compile_policy(int workspace_fd, const struct workspace *workspace,
			  const struct json *catalogs, struct buf *bundle,
			  struct problems *problems, struct err *err)
{
	const struct names databases = {workspace->sources, workspace->source_count};
	const struct names environments = {workspace->environments, workspace->environment_count};
	const struct policy_world world = {
		.databases = databases.count == 0 ? NULL : &databases,
		.environments = &environments,
		.catalogs = catalogs,
	};
	CLEANUP(bundle_freep) struct bundle *read = NULL;

	/* Without sources to go by, no name of a database can be wrong. */
	if (policy_compile(workspace_fd, &world, bundle, problems, err) < 0)
		return -1;
	if (bundle->len == 0)
		return 0;
	if (bundle_read(bundle->bytes, bundle->len, &read, err) < 0)
		return -1;
	workspace_check_agents(workspace, read, problems);
	return 0;
}

int workspace_apply(int workspace_fd, const char *path, const char *digest,
		    workspace_models_fn *models, workspace_catalogs_fn *catalogs,
		    struct problems *problems, struct err *err)
{
	CLEANUP(json_freep) struct json *known = NULL;
	CLEANUP(json_freep) struct json *notes = NULL;
	CLEANUP(workspace_clear) struct workspace workspace = {0};
	CLEANUP(buf_clear) struct buf bundle = BUF_INIT;
	CLEANUP(json_freep) struct json *model = NULL;
	int result = 0;

	if (workspace_read(workspace_fd, path, 0, &workspace, problems, err) < 0)
		return -1;
	if (catalogs != NULL)
		catalogs(workspace.service, &known, &notes);
	/* The service goes on without a source that cannot be read: of it "all" means nothing. */
	json_each(note, notes) problems_add(problems, PROBLEM_WARNING, "unknown_tables", NULL, "%s",
					    json_str(note));
	if (compile_policy(workspace_fd, &workspace, known, &bundle, problems, err) < 0)
		return -1;
	if (compile_models(workspace_fd, &workspace, models, &model, problems, err) < 0)
		return -1;
	problems_sort(problems);
	if (problems->error_count == 0)
		result = write_state(workspace_fd, &workspace, &bundle, model, digest, err);
	return result < 0 ? err_wrap(err, "state") : 0;
}

int workspace_compile(int workspace_fd, const char *path, workspace_models_fn *models,
		      workspace_catalogs_fn *catalogs, struct problems *problems, struct err *err)
{
	return workspace_apply(workspace_fd, path, NULL, models, catalogs, problems, err);
}
