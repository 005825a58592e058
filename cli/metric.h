/* writ metric: what its subcommands share. Each is a file of its own. */
#ifndef CLI_METRIC_H
#define CLI_METRIC_H

#include "agents/query/metrics/model.h"
#include "base/clock.h"
#include "cli/args.h"
#include "cli/trial.h"
#include "policy/workspace.h"

struct metric_options {
	const char *agent; /* NULL: the query agent of writ.yaml */
	bool files_only;
	bool sql_only;
	bool share, running, stepwise, several_groups;
	const char *by, *filter, *where, *having, *measure, *field, *period, *compare, *order,
		*limit, *via, *query, *format, *output, *top;
};

/* A workspace, looked at as one of its agents: nothing is seen that its scope hides. */
struct metric_session {
	char *path;
	int fd;
	struct workspace workspace;
	struct date today;
	struct trial trial;
	struct json *model_json; /* as list_metrics shows it */
	struct model *model;
};

/* 0, or an exit code after a message. Close in both cases. */
int metric_session_open(const struct args *args, const struct metric_options *options,
			struct metric_session *session);
int metric_session_model(struct metric_session *session); /* asks for the model as well */
void metric_session_close(struct metric_session *session);

int metric_check(const struct args *args, const struct metric_options *options);
int metric_list(const struct args *args, const struct metric_options *options);
int metric_show(const struct args *args, const struct metric_options *options);
int metric_query(const struct args *args, const struct metric_options *options);
int metric_draft(const struct args *args, const struct metric_options *options);

#endif
