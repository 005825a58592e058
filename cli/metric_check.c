/*
 * writ metric check: the model files alone, and then against the data.
 *
 * The data is asked through the service, as one of its agents: the check sees what the agent's
 * scope shows and not more; what it hides is named as not checked. Nothing is written.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "agents/query/metrics/model_check.h"
#include "cli/commands.h"
#include "cli/metric.h"

static int run_sql(void *self, const char *sql, struct json **ret_result, struct err *err)
{
	struct json *arguments = json_object();

	json_set_str(arguments, "sql", sql);
	json_set_int(arguments, "rows", 1);
	return trial_call(self, "run_query", arguments, ret_result, err);
}

static const struct json *named(const struct json *list, const char *name)
{
	json_each(item, list)
	{
		const char *other = json_get_str(item, "name");

		if (other && name && strcmp(other, name) == 0)
			return item;
	}
	return NULL;
}

static void note_hidden(struct json *notes, const struct json *item, const char *what,
			const char *agent)
{
	CLEANUP(mem_freep)
	char *text = mem_format("%s %s: not checked, %s does not see it (hidden by its scope, or "
				"newer than the running service)",
				what, json_get_str(item, "name"), agent);
	struct json *note = json_object();

	json_set_str(note, "severity", "note");
	json_set_str(note, "at", json_get_str(item, "at"));
	json_set_int(note, "column", json_get_int(item, "column", 0));
	json_set_str(note, "message", text);
	json_push(notes, note);
}

/* The items of list that the agent sees too. */
static struct json *seen_items(const struct json *list, const struct json *seen, const char *what,
			       const char *agent, struct json *notes)
{
	struct json *kept = json_array();

	json_each(item, list)
	{
		if (named(seen, json_get_str(item, "name")))
			json_push(kept, json_copy(item));
		else
			note_hidden(notes, item, what, agent);
	}
	return kept;
}

/* The model of the files, less what the agent does not see. */
static struct json *seen_model(const struct json *model, const struct json *seen, const char *agent,
			       struct json *notes)
{
	struct json *kept = json_copy(model);
	struct json *datasets = seen_items(json_get(model, "datasets"), json_get(seen, "datasets"),
					   "dataset", agent, notes);
	struct json *out = json_array();

	json_each(dataset, datasets)
	{
		const struct json *other =
			named(json_get(seen, "datasets"), json_get_str(dataset, "name"));
		struct json *copy = json_copy(dataset);

		json_set(copy, "fields",
			 seen_items(json_get(dataset, "fields"), json_get(other, "fields"), "field",
				    agent, notes));
		/* keys with a hidden column cannot be asked about */
		json_set(copy, "primary_key", json_copy(json_get(other, "primary_key")));
		json_set(copy, "unique_keys", json_copy(json_get(other, "unique_keys")));
		json_push(out, copy);
	}
	json_free(datasets);
	json_set(kept, "datasets", out);
	json_set(kept, "relationships",
		 seen_items(json_get(model, "relationships"), json_get(seen, "relationships"),
			    "relationship", agent, notes));
	json_set(kept, "metrics",
		 seen_items(json_get(model, "metrics"), json_get(seen, "metrics"), "metric", agent,
			    notes));
	return kept;
}

static void print_findings(const struct json *findings)
{
	json_each(finding, findings)
	{
		printf("%s:%lld: %s: %s\n", json_get_str(finding, "at"),
		       (long long)json_get_int(finding, "column", 0),
		       json_get_str(finding, "severity"), json_get_str(finding, "message"));
	}
}

static struct json *checked_json(const struct model_check *check)
{
	struct json *checked = json_object();

	json_set_int(checked, "fields", (int64_t)check->field_count);
	json_set_int(checked, "keys", (int64_t)check->key_count);
	json_set_int(checked, "relationships", (int64_t)check->relationship_count);
	json_set_int(checked, "metrics", (int64_t)check->metric_count);
	json_set_int(checked, "values", (int64_t)check->value_count);
	json_set_int(checked, "statements", (int64_t)check->statement_count);
	return checked;
}

static void report(const struct args *args, const char *source, const char *agent,
		   struct model_check *check, struct json *notes)
{
	json_each(note, notes) json_push(check->findings, json_copy(note));
	if (args->json) {
		CLEANUP(json_freep) struct json *out = json_object();

		json_set_bool(out, "ok", check->error_count == 0);
		json_set_str(out, "source", source);
		json_set_str(out, "agent", agent);
		json_set(out, "findings", json_copy(check->findings));
		json_set(out, "checked", checked_json(check));
		cli_print_json(out);
		return;
	}
	print_findings(check->findings);
	printf("%s: %zu metrics with %zu expected values, %zu fields, %zu keys, %zu relationships "
	       "checked as %s: ",
	       source, check->metric_count, check->value_count, check->field_count,
	       check->key_count, check->relationship_count, agent);
	if (check->error_count == 0)
		puts("all right");
	else
		printf("%zu wrong\n", check->error_count);
}

static int check_seen(const struct args *args, struct trial *session, const struct json *models,
		      const struct json *seen)
{
	const char *source = json_get_str(seen, "source");
	const struct json *model_json = source ? json_get(models, source) : NULL;
	CLEANUP(json_freep) struct json *notes = json_array();
	CLEANUP(json_freep) struct json *kept = NULL;
	CLEANUP(model_freep) struct model *model = NULL;
	CLEANUP(model_check_clear) struct model_check check = {0};
	struct err err;

	if (!model_json)
		return cli_fail(EXIT_NEGATIVE,
				"%s sees no semantic model of metrics/; name another agent with "
				"--agent",
				session->agent);
	kept = seen_model(model_json, seen, session->agent, notes);
	if (model_from_json(kept, &model, &err) < 0)
		return cli_fail_err(&err, "metric check");
	if (model_check(model, run_sql, session, &check, &err) < 0)
		return cli_fail(EXIT_UNAVAILABLE, "metric check: %s", err.text);
	report(args, source, session->agent, &check, notes);
	return check.error_count == 0 ? EXIT_FINE : EXIT_NEGATIVE;
}

static int check_data(const struct args *args, const char *workspace, const char *agent,
		      const struct json *models)
{
	struct trial session = {.workspace = workspace, .agent = agent};
	CLEANUP(json_freep) struct json *result = NULL;
	struct err err;
	int code;

	if (trial_call(&session, "list_metrics", NULL, &result, &err) < 0)
		code = cli_fail(EXIT_UNAVAILABLE, "metric check: %s", err.text);
	else
		code = check_seen(args, &session, models, json_get(result, "model"));
	trial_close(&session);
	return code;
}

static int files_right(const struct args *args, const struct json *models)
{
	size_t metrics = 0;

	json_each(model, models) metrics += json_len(json_get(model, "metrics"));
	if (args->json) {
		CLEANUP(json_freep) struct json *out = json_object();

		json_set_bool(out, "ok", true);
		json_set_int(out, "models", (int64_t)json_len(models));
		json_set_int(out, "metrics", (int64_t)metrics);
		cli_print_json(out);
	} else {
		printf("%zu metrics in %zu models: the files are right\n", metrics,
		       json_len(models));
	}
	return EXIT_FINE;
}

static int files_wrong(const struct args *args, const struct buf *mistakes, const struct err *err)
{
	if (mistakes->len == 0)
		return cli_fail_err(err, "metric check");
	if (args->json) {
		CLEANUP(json_freep) struct json *out = json_object();

		json_set_bool(out, "ok", false);
		json_set_str(out, "mistakes", buf_str(mistakes));
		cli_print_json(out);
	} else {
		fputs(buf_str(mistakes), stdout);
	}
	return EXIT_NEGATIVE;
}

static int check_workspace(const struct args *args, const struct metric_options *options,
			   const char *path, int fd, const struct workspace *workspace)
{
	CLEANUP(json_freep) struct json *models = NULL;
	CLEANUP(buf_clear) struct buf mistakes = BUF_INIT;
	const char *agent = options->agent;
	struct err err;

	if (model_compile(fd, workspace->sources, workspace->source_count, &models, &mistakes,
			  &err) < 0)
		return files_wrong(args, &mistakes, &err);
	if (options->files_only || json_len(models) == 0)
		return files_right(args, models);
	if (!agent)
		agent = json_get_str(json_get(workspace->service, "agents"), "query");
	if (!agent)
		return cli_usage("metric check", "say --agent NAME, or --files");
	return check_data(args, path, agent, models);
}

int metric_check(const struct args *args, const struct metric_options *options)
{
	CLEANUP(mem_freep) char *path = NULL;
	CLEANUP(fd_closep) int fd = -1;
	struct problems problems = PROBLEMS_INIT;
	struct workspace workspace = {0};
	struct err err;
	int code;

	if (cli_workspace_find(args->workspace, &path, &err) < 0)
		return cli_fail_err(&err, "metric check");
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return cli_fail(EXIT_USAGE, "%s cannot be opened", path);
	if (workspace_read(fd, path, WORKSPACE_NO_DATA, &workspace, &problems, &err) < 0) {
		code = cli_fail_err(&err, "metric check");
	} else if (problems.error_count > 0) {
		problems_print(&problems, stderr);
		code = EXIT_NEGATIVE;
	} else {
		code = check_workspace(args, options, path, fd, &workspace);
	}
	workspace_clear(&workspace);
	problems_clear(&problems);
	return code;
}
