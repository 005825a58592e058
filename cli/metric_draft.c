/*
 * writ metric draft: a first model of the tables that the agent sees, through list_tables and
 * describe_table. Written to stdout, or to a new file of the workspace; an existing one is never
 * overwritten. What can fail: the calls, no table in sight, a file that is there.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agents/query/metrics/model_draft.h"
#include "cli/commands.h"
#include "cli/metric.h"

static int describe(struct metric_session *session, const char *table, struct json *tables,
		    struct err *err)
{
	struct json *arguments = json_object(), *result = NULL;

	json_set_str(arguments, "table", table);
	if (trial_call(&session->trial, "describe_table", arguments, &result, err) < 0)
		return err_wrap(err, "%s", table);
	json_push(tables, result);
	return 0;
}

static int describe_all(struct metric_session *session, struct json *tables, struct err *err)
{
	CLEANUP(json_freep) struct json *list = NULL;

	if (trial_call(&session->trial, "list_tables", NULL, &list, err) < 0)
		return -1;
	json_each(table, json_get(list, "tables"))
	{
		if (describe(session, json_get_str(table, "name"), tables, err) < 0)
			return -1;
	}
	return 0;
}

static int write_new(const struct metric_session *session, const char *file, const struct buf *text)
{
	CLEANUP(fd_closep)
	int fd = openat(session->fd, file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
			0644);

	if (fd < 0 && errno == EEXIST)
		return cli_fail(EXIT_USAGE, "%s is there already; name another file", file);
	if (fd < 0)
		return cli_fail(EXIT_USAGE, "%s: %s", file, strerror(errno));
	if (write(fd, text->bytes, text->len) != (ssize_t)text->len)
		return cli_fail(EXIT_UNAVAILABLE, "%s: %s", file, strerror(errno));
	printf("%s is a draft: finish it, then run writ metric check\n", file);
	return EXIT_FINE;
}

/* A source has one model: a second one beside it would stop the service. */
static bool would_be_second(struct metric_session *session, const char *file)
{
	CLEANUP(json_freep) struct json *result = NULL;
	struct err ignored;

	return strncmp(file, "metrics/", 8) == 0 &&
	       trial_call(&session->trial, "list_metrics", NULL, &result, &ignored) == 0 &&
	       !json_is_null(json_get(result, "model"));
}

static int draft(const struct args *args, const struct metric_options *options,
		 struct metric_session *session)
{
	CLEANUP(json_freep) struct json *tables = json_array();
	CLEANUP(json_freep) struct json *out = NULL;
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	const char *source =
		session->workspace.source_count > 0 ? session->workspace.sources[0] : "data";
	struct err err = {0};

	if (describe_all(session, tables, &err) < 0)
		return cli_fail(EXIT_UNAVAILABLE, "metric draft: %s", err.text);
	if (json_len(tables) == 0)
		return cli_fail(EXIT_NEGATIVE, "%s sees no table; its scope must allow some first",
				session->trial.agent);
	model_draft(source, tables, &text);
	if (options->output && would_be_second(session, options->output))
		return cli_fail(EXIT_NEGATIVE,
				"metrics/ has a model of %s already, and a source has one: write "
				"the draft elsewhere and take over what is missing",
				source);
	if (options->output)
		return write_new(session, options->output, &text);
	if (!args->json) {
		fputs(buf_str(&text), stdout);
		return EXIT_FINE;
	}
	out = json_object();
	json_set_int(out, "tables", (int64_t)json_len(tables));
	json_set_str(out, "yaml", buf_str(&text));
	cli_print_json(out);
	return EXIT_FINE;
}

int metric_draft(const struct args *args, const struct metric_options *options)
{
	struct metric_session session;
	int code = metric_session_open(args, options, &session);

	if (code == 0)
		code = draft(args, options, &session);
	metric_session_close(&session);
	return code;
}
