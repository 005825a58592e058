/* Opening and asking. What can fail: the files (with places), the service, each call. */
#include "cli/query_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agents/query/verified/verified.h"
#include "agents/query/verified/verified_source.h"
#include "base/file.h"
#include "cli/cli.h"

#define FILE_MAX (4 << 20)

static int read_today(struct query_store *store, struct err *err)
{
	const char *today = json_get_str(store->workspace.service, "today");

	store->timezone = json_get_str(store->workspace.service, "timezone");
	if (today)
		return date_read(today, &store->today, err);
	return date_today(store->timezone, clock_now_us(), &store->today, err);
}

static int read_files(struct query_store *store)
{
	CLEANUP(buf_clear) struct buf mistakes = BUF_INIT;
	struct problems problems = PROBLEMS_INIT;
	struct err err = {0};
	int read = workspace_read(store->fd, store->path, WORKSPACE_NO_DATA, &store->workspace,
				  &problems, &err);
	bool wrong = problems.error_count > 0;

	if (wrong)
		problems_print(&problems, stderr);
	problems_clear(&problems);
	if (read < 0)
		return cli_fail_err(&err, "query");
	if (wrong)
		return EXIT_NEGATIVE;
	if (verified_models_compile(store->fd, store->workspace.sources,
				    store->workspace.source_count, &store->models, &mistakes,
				    &err) < 0) {
		if (mistakes.len == 0)
			return cli_fail_err(&err, "query");
		fputs(buf_str(&mistakes), stderr);
		return EXIT_NEGATIVE;
	}
	return read_today(store, &err) < 0 ? cli_fail_err(&err, "query") : 0;
}

int query_store_open(const char *dir, const char *agent, struct query_store *store)
{
	struct err err = {0};
	int code;

	*store = (struct query_store){.fd = -1};
	if (cli_workspace_find(dir, &store->path, &err) < 0)
		return cli_fail_err(&err, "query");
	store->fd = open(store->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (store->fd < 0)
		return cli_fail(EXIT_USAGE, "%s cannot be opened", store->path);
	code = read_files(store);
	if (code != 0)
		return code;
	store->trial.workspace = store->path;
	store->trial.agent =
		agent ? agent : json_get_str(json_get(store->workspace.service, "agents"), "query");
	return 0;
}

void query_store_clear(struct query_store *store)
{
	trial_close(&store->trial);
	workspace_clear(&store->workspace);
	json_free(store->models);
	mem_free(store->path);
	if (store->fd >= 0)
		close(store->fd);
}

const struct json *query_store_find(const struct query_store *store, const char *name,
				    const char **ret_source)
{
	json_each(model, store->models)
	{
		json_each(query, json_get(model, "queries"))
		{
			if (strcmp(json_get_str(query, "name"), name) != 0)
				continue;
			*ret_source = json_key(model);
			return query;
		}
	}
	return NULL;
}

const char *query_store_source(const struct query_store *store, const char *said)
{
	const struct workspace *workspace = &store->workspace;

	for (size_t i = 0; said && i < workspace->source_count; i++)
		if (strcmp(workspace->sources[i], said) == 0)
			return workspace->sources[i];
	if (said)
		cli_fail(EXIT_USAGE, "there is no source %s in writ.yaml", said);
	else if (workspace->source_count == 1)
		return workspace->sources[0];
	else
		cli_fail(EXIT_USAGE, "which source? say --source NAME");
	return NULL;
}

int query_store_bind(const struct query_store *store, const struct json *query, char **ret_sql,
		     struct err *err)
{
	const char *sql = json_get_str(query, "sql");
	struct period period;
	bool wants = false, set = false;

	if (verified_wants_period(sql, &wants, err) < 0 ||
	    verified_period(json_get_str(query, "question"), store->today, &set, &period, err) < 0)
		return -1;
	*ret_sql = wants && set ? verified_bind(sql, &period) : mem_str(sql);
	return 0;
}

int query_store_call(struct query_store *store, const char *source, const char *tool,
		     const char *key, const char *value, struct json **ret_result, struct err *err)
{
	struct json *arguments = json_object();

	if (!store->trial.agent) {
		json_free(arguments);
		return err_set(err, ERR_INVALID,
			       "writ.yaml names no query agent; say --agent NAME");
	}
	if (store->workspace.source_count > 1)
		json_set_str(arguments, "database", source);
	if (key)
		json_set_str(arguments, key, value);
	return trial_call(&store->trial, tool, arguments, ret_result, err);
}

int query_store_read(const struct query_store *store, const char *file, struct buf *ret_text,
		     struct err *err)
{
	CLEANUP(fd_closep) int fd = -1;

	fd = openat(store->fd, "queries", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return err_errno(err, "queries");
	if (file_read_at(fd, file + strlen("queries/"), FILE_MAX, ret_text, err) == 0)
		return 0;
	if (err->kind != ERR_NOT_FOUND)
		return err_wrap(err, "%s", file);
	err_clear(err);
	return 0;
}

int query_store_write(const struct query_store *store, const char *file, const struct buf *text,
		      struct err *err)
{
	CLEANUP(fd_closep) int fd = -1;

	if (mkdirat(store->fd, "queries", 0755) < 0 && errno != EEXIST)
		return err_errno(err, "queries");
	fd = openat(store->fd, "queries", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_errno(err, "queries");
	if (file_replace_at(fd, file + strlen("queries/"), 0644, text->bytes, text->len, true,
			    err) < 0)
		return err_wrap(err, "%s", file);
	return 0;
}

int query_store_delete(const struct query_store *store, const char *file, struct err *err)
{
	if (unlinkat(store->fd, file, 0) < 0)
		return err_errno(err, "%s", file);
	return 0;
}

char *query_store_place(const struct json *query, int *ret_line)
{
	const char *at = json_get_str(query, "at");
	const char *colon = strrchr(at, ':');

	*ret_line = atoi(colon + 1);
	return mem_strn(at, (size_t)(colon - at));
}
