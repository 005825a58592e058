/* The workspace of a metric command, its date, and the model as the agent sees it. */
#include "cli/metric.h"

#include <fcntl.h>

#include "cli/cli.h"

static int read_workspace(struct metric_session *session)
{
	struct problems problems = PROBLEMS_INIT;
	struct err err = {0};
	int result = workspace_read(session->fd, session->path, WORKSPACE_NO_DATA,
				    &session->workspace, &problems, &err);
	int code = 0;

	if (result < 0) {
		code = cli_fail_err(&err, "metric");
	} else if (problems.error_count > 0) {
		problems_print(&problems, stderr);
		code = EXIT_NEGATIVE;
	}
	problems_clear(&problems);
	return code;
}

static int read_today(struct metric_session *session)
{
	const char *today = json_get_str(session->workspace.service, "today");
	const char *zone = json_get_str(session->workspace.service, "timezone");
	struct err err = {0};
	int result = today ? date_read(today, &session->today, &err)
			   : date_today(zone, clock_now_us(), &session->today, &err);

	return result < 0 ? cli_fail_err(&err, "metric") : 0;
}

int metric_session_open(const struct args *args, const struct metric_options *options,
			struct metric_session *session)
{
	struct err err = {0};
	int code;

	*session = (struct metric_session){.fd = -1};
	if (cli_workspace_find(args->workspace, &session->path, &err) < 0)
		return cli_fail_err(&err, "metric");
	session->fd = open(session->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (session->fd < 0)
		return cli_fail(EXIT_USAGE, "%s cannot be opened", session->path);
	code = read_workspace(session);
	if (code == 0)
		code = read_today(session);
	if (code != 0)
		return code;
	session->trial.workspace = session->path;
	session->trial.agent =
		options->agent
			? options->agent
			: json_get_str(json_get(session->workspace.service, "agents"), "query");
	if (!session->trial.agent)
		return cli_usage("metric", "say --agent NAME");
	return 0;
}

int metric_session_model(struct metric_session *session)
{
	CLEANUP(json_freep) struct json *result = NULL;
	struct err err = {0};

	if (trial_call(&session->trial, "list_metrics", NULL, &result, &err) < 0)
		return cli_fail(EXIT_UNAVAILABLE, "metric: %s", err.text);
	if (json_is_null(json_get(result, "model")))
		return cli_fail(
			EXIT_NEGATIVE,
			"%s sees no metrics; define them in metrics/*.yaml, or name another "
			"agent with --agent",
			session->trial.agent);
	session->model_json = json_copy(json_get(result, "model"));
	if (model_from_json(session->model_json, &session->model, &err) < 0)
		return cli_fail_err(&err, "metric");
	return 0;
}

void metric_session_close(struct metric_session *session)
{
	trial_close(&session->trial);
	model_free(session->model);
	json_free(session->model_json);
	workspace_clear(&session->workspace);
	fd_closep(&session->fd);
	mem_free(session->path);
}
