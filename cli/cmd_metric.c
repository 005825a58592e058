/* writ metric: the words of a workspace, checked, listed, asked and drafted, without any language
 * model. */
#include <string.h>

#include "cli/commands.h"
#include "cli/metric.h"

static const struct {
	const char *name;
	size_t words_max;
	int (*run)(const struct args *args, const struct metric_options *options);
} subcommands[] = {
	{"check", 1, metric_check}, {"list", 1, metric_list},	{"show", 2, metric_show},
	{"query", 9, metric_query}, {"draft", 1, metric_draft},
};

static int dispatch(const struct args *args, const struct metric_options *options)
{
	for (size_t i = 0; args->word_count > 0 && i < ARRAY_LEN(subcommands); i++) {
		if (strcmp(args->words[0], subcommands[i].name) != 0)
			continue;
		if (args->word_count > subcommands[i].words_max)
			return cli_usage("metric", "%s takes no \"%s\"", subcommands[i].name,
					 args->words[subcommands[i].words_max]);
		return subcommands[i].run(args, options);
	}
	return cli_usage("metric", "say check, list, show, query or draft");
}

static int run(int argc, char **argv)
{
	struct metric_options options = {0};
	const struct arg_option table[] = {
		{"--agent", NULL, &options.agent},
		{"--files", &options.files_only, NULL},
		{"--sql", &options.sql_only, NULL},
		{"--share", &options.share, NULL},
		{"--running", &options.running, NULL},
		{"--stepwise", &options.stepwise, NULL},
		{"--several-groups", &options.several_groups, NULL},
		{"--by", NULL, &options.by},
		{"--filter", NULL, &options.filter},
		{"--where", NULL, &options.where},
		{"--having", NULL, &options.having},
		{"--measure", NULL, &options.measure},
		{"--field", NULL, &options.field},
		{"--period", NULL, &options.period},
		{"--compare", NULL, &options.compare},
		{"--order", NULL, &options.order},
		{"--limit", NULL, &options.limit},
		{"--via", NULL, &options.via},
		{"--top", NULL, &options.top},
		{"--query", NULL, &options.query},
		{"--format", NULL, &options.format},
		{"--output", NULL, &options.output},
	};
	struct args args;
	int code = args_read(argc, argv, table, ARRAY_LEN(table), 9, &args);

	if (code == 0)
		code = dispatch(&args, &options);
	args_clear(&args);
	return code;
}

const struct command command_metric = {
	.name = "metric",
	.summary = "check, list, ask and draft the metrics of a workspace",
	.help = "usage: writ metric check [--files] [--agent NAME]\n"
		"       writ metric list\n"
		"       writ metric show NAME\n"
		"       writ metric query METRIC... [--by FIELDS] [--filter F] [--period P] ...\n"
		"       writ metric draft [--output FILE]\n"
		"all with [--agent NAME] [-C DIR] [--json]\n"
		"\n"
		"check reads metrics/*.yaml strictly and shows every mistake with its place; then "
		"it "
		"asks\n"
		"the data itself: do the expressions run, are keys unique, does each relationship "
		"lead to at\n"
		"most one row, has each metric its expected values? --files: the files alone.\n"
		"list and show say what can be asked and exactly what it means. query computes "
		"metrics\n"
		"without any language model. draft writes a model of the tables the agent sees, "
		"for "
		"an\n"
		"analyst to finish. All but check --files go through the service, as the query "
		"agent of\n"
		"writ.yaml or as --agent says, and see what its scope shows and not more.\n"
		"\n"
		"Options of query:\n"
		"  --by region,month       fields, or day week month quarter year weekday of the "
		"metric's date\n"
		"  --filter region=East    also != >= <= > <; values with | between; several with "
		"&\n"
		"  --period \"last quarter\"  a phrase of time, or 2026-07-01..2026-10-01 (end not "
		"included)\n"
		"  --compare before|year   with the period before, or a year before\n"
		"  --share --running --stepwise   share of the total, running total, change to the "
		"next time\n"
		"  --order net_sales:desc  --limit N  --top N:FIELD (first within each)\n"
		"  --having \"net_sales > 300\"    groups that are shown\n"
		"  --measure \"SUM(orders.amount) AS revenue\"  --where \"orders.status = 'x'\"  "
		"--field EXPR\n"
		"  --via NAME              the relationship to take, where several lead there\n"
		"  --several-groups        a row may count in several groups, once in each\n"
		"  --query JSON            a whole metric query (docs/metrics.md)\n"
		"  --sql                   prints the SQL and runs nothing\n"
		"  --format csv|json|jsonl|md\n"
		"\n"
		"Examples:\n"
		"  writ metric check -C examples/sales\n"
		"  writ metric query net_sales order_count --by region --period \"last quarter\"\n"
		"  writ metric query net_sales --by customer,region --top 1:region\n"
		"  writ metric show net_sales --json\n"
		"  writ metric draft --output metrics/draft.yaml\n"
		"\n"
		"Exit codes: 0 all right; 1 something is wrong, or the query was refused; 2 wrong "
		"usage or\n"
		"unreadable files; 3 the service could not be asked.\n",
	.run = run,
};
