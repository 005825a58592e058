/*
 * writ query: verified queries, from proposal to approval. The files of queries/ are edited as text
 * and stay the person's own; the data is asked through the service, as one of its agents.
 */
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agents/query/planner.h"
#include "agents/query/verified/verified.h"
#include "base/file.h"
#include "cli/args.h"
#include "cli/ask_service.h"
#include "cli/commands.h"
#include "cli/query_file.h"
#include "cli/query_store.h"
#include "cli/render.h"
#include "cli/table.h"
#include "writ/limits.h"

struct query_options {
	const char *agent;
	const char *name;
	const char *when;
	const char *sql_file;
	const char *task;
	const char *source;
	const char *by;
};

static const char *state_of(const struct json *query)
{
	if (!json_get_str(query, "verified_by"))
		return "proposed";
	return json_get_str(query, "approved") ? "approved" : "not bound";
}

/* ---- list ---- */

static int list(const struct args *args, struct query_store *store)
{
	static const char *const headings[] = {"NAME", "STATE", "APPROVED BY", "ON", "QUESTION"};
	CLEANUP(json_freep) struct json *all = json_array();
	struct table *table = table_new(headings, ARRAY_LEN(headings));

	json_each(model, store->models)
	{
		json_each(query, json_get(model, "queries"))
		{
			const char *const cells[] = {json_get_str(query, "name"), state_of(query),
						     json_get_str(query, "verified_by"),
						     json_get_str(query, "verified_at"),
						     json_get_str(query, "question")};
			struct json *item = json_copy(query);

			json_set_str(item, "state", state_of(query));
			json_set_str(item, "source", json_key(model));
			json_push(all, item);
			table_add(table, cells);
		}
	}
	if (args->json)
		cli_print_json(all);
	else if (json_len(all) == 0)
		puts("no verified queries; writ query add makes one");
	else
		table_print(table, stdout);
	table_free(table);
	return EXIT_FINE;
}

/* ---- add ---- */

/* The dates of an answer give way to parameters, so that the SQL stays right. */
static char *with_parameters(const char *sql, const struct json *period)
{
	static const char *const bounds[][2] = {{"from", ":period_start"}, {"to", ":period_end"}};
	char *text = mem_str(sql);

	for (size_t i = 0; i < ARRAY_LEN(bounds); i++) {
		const char *date = json_get_str(period, bounds[i][0]);
		CLEANUP(mem_freep) char *literal = date ? mem_format("'%s'", date) : NULL;
		struct buf out = BUF_INIT;
		const char *at = text, *found;

		while (literal && (found = strstr(at, literal)) != NULL) {
			buf_add(&out, at, (size_t)(found - at));
			buf_add_str(&out, bounds[i][1]);
			at = found + strlen(literal);
		}
		buf_add_str(&out, at);
		mem_free(text);
		text = buf_take(&out);
	}
	return text;
}

static int from_task(const struct query_options *options, struct query_store *store,
		     char **ret_question, char **ret_sql)
{
	CLEANUP(json_freep) struct json *result = NULL;
	struct json *params = json_object();
	const struct json *answer;
	int code;

	json_set_str(params, "task", options->task);
	code = service_ask(store->path, SERVICE_ABSENT_OK, "task.show", params, NULL, NULL,
			   &result);
	if (code != 0)
		return code;
	answer = json_get(result, "answer");
	if (!json_get_str(answer, "sql"))
		return cli_fail(EXIT_NEGATIVE, "task %s has no SQL to propose", options->task);
	*ret_question = mem_str(json_get_str(json_get(result, "task"), "question"));
	*ret_sql = with_parameters(json_get_str(answer, "sql"), json_get(answer, "period"));
	return 0;
}

static int from_file(const struct query_options *options, char **ret_sql)
{
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	size_t len;
	struct err err;

	if (file_read_at(AT_FDCWD, options->sql_file, WRIT_SQL_BYTES_MAX + 2, &text, &err) < 0)
		return cli_fail_err(&err, options->sql_file);
	len = text.len;
	while (len > 0 && strchr(" \n\r\t;", text.bytes[len - 1]))
		len--;
	*ret_sql = mem_strn(buf_str(&text), len);
	return 0;
}

static int write_checked(const struct args *args, struct query_store *store, const char *file,
			 const struct buf *before, const struct buf *after)
{
	struct query_store again;
	struct err err = {0};
	int code;

	if (query_store_write(store, file, after, &err) < 0)
		return cli_fail(EXIT_UNAVAILABLE, "%s", err.text);
	code = query_store_open(args->workspace, NULL, &again);
	query_store_clear(&again);
	if (code == 0)
		return 0;
	if (query_store_write(store, file, before, &err) < 0)
		return cli_fail(EXIT_UNAVAILABLE, "%s", err.text);
	return cli_fail(EXIT_NEGATIVE, "%s is as it was before", file);
}

static int add(const struct args *args, const struct query_options *options,
	       struct query_store *store)
{
	const char *source = query_store_source(store, options->source);
	CLEANUP(mem_freep) char *question = NULL;
	CLEANUP(mem_freep) char *sql = NULL;
	CLEANUP(mem_freep) char *file = NULL;
	CLEANUP(buf_clear) struct buf before = BUF_INIT;
	CLEANUP(buf_clear) struct buf after = BUF_INIT;
	struct err err = {0};
	int code;

	if (!source)
		return EXIT_USAGE;
	if (!options->task == !options->sql_file)
		return cli_usage("query add", "say --from TASK, or a question with --sql FILE");
	code = options->task ? from_task(options, store, &question, &sql)
			     : from_file(options, &sql);
	if (code != 0)
		return code;
	if (!question && args->word_count < 2)
		return cli_usage("query add", "say the question");
	if (args->word_count == 2) {
		mem_free(question);
		question = mem_str(args->words[1]);
	}
	file = mem_format("queries/%s.yaml", source);
	if (query_store_read(store, file, &before, &err) < 0)
		return cli_fail_err(&err, "query add");
	query_file_add(buf_str(&before), options->name, question, sql, options->when, &after);
	code = write_checked(args, store, file, &before, &after);
	if (code == 0 && !args->json)
		printf("proposed in %s; writ query approve looks at it and serves it\n", file);
	return code;
}

/* ---- approve ---- */

/* The metrics of the question, as the planner reads it; none when it does not. */
static struct json *meant_metrics(const struct query_store *store, const struct json *query,
				  const struct json *model_json, const struct json *matches)
{
	CLEANUP(model_freep) struct model *model = NULL;
	struct json *meant = json_object();
	struct plan *plan = NULL;
	struct err err;
	struct plan_input input = {.question = json_get_str(query, "question"),
				   .matches = matches,
				   .today = store->today};

	if (model_from_json(model_json, &model, &err) < 0)
		return meant;
	input.model = model;
	if (plan_make(&input, &plan, &err) < 0)
		return meant;
	for (size_t i = 0; plan->kind == PLAN_QUERY && i < plan->query->metric_count; i++) {
		json_each(metric, json_get(model_json, "metrics"))
		{
			char digest[65];

			if (strcmp(json_get_str(metric, "name"), plan->query->metrics[i]) != 0)
				continue;
			verified_definition(model_json, metric, digest);
			json_set_str(meant, plan->query->metrics[i], digest);
		}
	}
	plan_free(plan);
	return meant;
}

struct approval {
	struct json *model;
	struct json *values;
	struct json *explained;
	struct json *rows;
};

static void approval_clear(struct approval *approval)
{
	json_free(approval->model);
	json_free(approval->values);
	json_free(approval->explained);
	json_free(approval->rows);
}

static int look(struct query_store *store, const char *source, const struct json *query,
		struct approval *approval, struct err *err)
{
	CLEANUP(mem_freep) char *sql = NULL;
	struct err ignored;

	if (query_store_bind(store, query, &sql, err) < 0 ||
	    query_store_call(store, source, "list_metrics", NULL, NULL, &approval->model, err) < 0)
		return -1;
	/* Without stored values a filter on one is not understood; the metric often is. */
	if (query_store_call(store, source, "search_values", "text",
			     json_get_str(query, "question"), &approval->values, &ignored) < 0)
		approval->values = json_object();
	if (query_store_call(store, source, "explain_query", "sql", sql, &approval->explained,
			     err) < 0)
		return -1;
	return query_store_call(store, source, "run_query", "sql", sql, &approval->rows, err);
}

static char *list_text(const struct json *names)
{
	struct buf text = BUF_INIT;

	buf_add_char(&text, '[');
	json_each(name, names)
	{
		CLEANUP(mem_freep) char *quoted = query_file_quoted(json_str(name));

		buf_addf(&text, "%s%s", text.len > 1 ? ", " : "", quoted);
	}
	buf_add_char(&text, ']');
	return buf_take(&text);
}

static char *map_text(const struct json *map)
{
	struct buf text = BUF_INIT;

	buf_add_char(&text, '{');
	json_each(member, map) buf_addf(&text, "%s%s: %s", text.len > 1 ? ", " : "",
					json_key(member), json_str(member));
	buf_add_char(&text, '}');
	return buf_take(&text);
}

static const char *who_approves(const struct query_options *options)
{
	const struct passwd *passwd = options->by ? NULL : getpwuid(getuid());

	return options->by ? options->by : passwd ? passwd->pw_name : NULL;
}

static int write_approval(const struct args *args, struct query_store *store,
			  const struct json *query, const struct approval *approval,
			  const struct json *metrics, const char *by)
{
	CLEANUP(mem_freep) char *reads = list_text(json_get(approval->explained, "columns"));
	CLEANUP(mem_freep) char *meant = map_text(metrics);
	CLEANUP(mem_freep) char *quoted = query_file_quoted(by);
	CLEANUP(buf_clear) struct buf before = BUF_INIT;
	CLEANUP(buf_clear) struct buf after = BUF_INIT;
	char date[DATE_LEN + 1];
	char approved[65];
	const struct query_key keys[] = {
		{"verified_by", quoted},
		{"verified_at", date},
		{"reads", reads},
		{"approved", approved},
		{"shape", json_get_str(approval->explained, "shape")},
		{"timezone", store->timezone},
		{"metrics", meant},
	};
	CLEANUP(mem_freep) char *file = NULL;
	struct err err = {0};
	int line;

	date_write(store->today, date);
	verified_approval(query, approved);
	file = query_store_place(query, &line);
	if (query_store_read(store, file, &before, &err) < 0)
		return cli_fail_err(&err, "query approve");
	query_file_set(buf_str(&before), line, keys, ARRAY_LEN(keys), &after);
	return write_checked(args, store, file, &before, &after);
}

static int approve(const struct args *args, const struct query_options *options,
		   struct query_store *store)
{
	CLEANUP(approval_clear) struct approval approval = {0};
	CLEANUP(json_freep) struct json *metrics = NULL;
	const char *source = NULL, *by = who_approves(options);
	const struct json *query = query_store_find(store, args->words[1], &source);
	struct err err = {0};
	int code;

	if (!query)
		return cli_fail(EXIT_USAGE, "no verified query is called %s; see writ query list",
				args->words[1]);
	if (!by)
		return cli_usage("query approve", "say --by WHO");
	if (look(store, source, query, &approval, &err) < 0)
		return cli_fail(err.kind == ERR_UNAVAILABLE ? EXIT_UNAVAILABLE : EXIT_NEGATIVE,
				"query %s: %s", args->words[1], err.text);
	metrics = meant_metrics(store, query, json_get(approval.model, "model"),
				json_get(approval.values, "matches"));
	code = write_approval(args, store, query, &approval, metrics, by);
	if (code != 0)
		return code;
	if (args->json) {
		cli_print_json(approval.rows);
		return EXIT_FINE;
	}
	render_call("run_query", approval.rows, stdout);
	printf("%s: approved by %s; it gives the rows above today. A running service serves it "
	       "after a reload.\n",
	       args->words[1], by);
	return EXIT_FINE;
}

/* ---- test ---- */

/* Why an approved query would not be served today; NULL when it would. The caller frees. */
static char *try_query(struct query_store *store, const char *source, const struct json *query)
{
	CLEANUP(approval_clear) struct approval approval = {0};
	const char *shape;
	char *stale;
	struct err err = {0};

	if (look(store, source, query, &approval, &err) < 0)
		return mem_str(err.text);
	stale = verified_stale(query, json_get(approval.model, "model"), store->timezone);
	if (stale)
		return stale;
	shape = json_get_str(approval.explained, "shape");
	if (!shape || strcmp(shape, json_get_str(query, "shape")) != 0)
		return mem_str("its tables changed since it was approved");
	return NULL;
}

static int test(const struct args *args, struct query_store *store)
{
	CLEANUP(json_freep) struct json *results = json_array();
	size_t failed = 0;

	json_each(model, store->models)
	{
		json_each(query, json_get(model, "queries"))
		{
			const char *name = json_get_str(query, "name");
			CLEANUP(mem_freep) char *why = NULL;
			struct json *result;

			if (!json_get_str(query, "verified_by") ||
			    (args->word_count > 1 && strcmp(args->words[1], name) != 0))
				continue;
			why = try_query(store, json_key(model), query);
			failed += why != NULL;
			result = json_object();
			json_set_str(result, "name", name);
			json_set_bool(result, "served", why == NULL);
			json_set(result, "reason", json_new_str(why));
			json_set_str(result, "at", json_get_str(query, "at"));
			json_push(results, result);
			if (!args->json)
				printf("%s %s: %s%s%s\n", why ? "not ok" : "ok",
				       json_get_str(query, "at"), name, why ? ": " : "",
				       why ? why : "");
		}
	}
	if (args->json)
		cli_print_json(results);
	else
		printf("%zu verified queries, %zu not served\n", json_len(results), failed);
	return failed ? EXIT_NEGATIVE : EXIT_FINE;
}

/* ---- remove ---- */

static int remove_query(const struct args *args, struct query_store *store)
{
	const char *source = NULL;
	const struct json *query = query_store_find(store, args->words[1], &source);
	CLEANUP(buf_clear) struct buf before = BUF_INIT;
	CLEANUP(buf_clear) struct buf after = BUF_INIT;
	CLEANUP(mem_freep) char *file = NULL;
	struct err err = {0};
	int line, code;

	if (!query)
		return cli_fail(EXIT_USAGE, "no verified query is called %s; see writ query list",
				args->words[1]);
	file = query_store_place(query, &line);
	if (query_store_read(store, file, &before, &err) < 0)
		return cli_fail_err(&err, "query remove");
	query_file_remove(buf_str(&before), line, &after);
	if (after.len == 0)
		code = query_store_delete(store, file, &err) < 0
			       ? cli_fail(EXIT_UNAVAILABLE, "%s", err.text)
			       : 0;
	else
		code = write_checked(args, store, file, &before, &after);
	if (code == 0 && !args->json)
		printf("%s was taken out of %s; a running service serves it until a reload\n",
		       args->words[1], file);
	return code;
}

static int dispatch(const struct args *args, const struct query_options *options,
		    struct query_store *store)
{
	const char *word = args->words[0];

	if (strcmp(word, "list") == 0)
		return list(args, store);
	if (strcmp(word, "add") == 0)
		return add(args, options, store);
	if (strcmp(word, "test") == 0)
		return test(args, store);
	if (args->word_count < 2)
		return cli_usage("query", "%s wants the NAME of a query", word);
	return strcmp(word, "approve") == 0 ? approve(args, options, store)
					    : remove_query(args, store);
}

static int run(int argc, char **argv)
{
	static const char *const words[] = {"list", "add", "approve", "test", "remove"};
	struct query_options options = {0};
	const struct arg_option table[] = {
		{"--agent", NULL, &options.agent}, {"--name", NULL, &options.name},
		{"--when", NULL, &options.when},   {"--sql", NULL, &options.sql_file},
		{"--from", NULL, &options.task},   {"--source", NULL, &options.source},
		{"--by", NULL, &options.by},
	};
	struct args args;
	struct query_store store = {.fd = -1};
	bool known = false;
	int code = args_read(argc, argv, table, ARRAY_LEN(table), 2, &args);

	for (size_t i = 0; code == 0 && args.word_count > 0 && i < ARRAY_LEN(words); i++)
		known = known || strcmp(args.words[0], words[i]) == 0;
	if (code == 0 && !known)
		code = cli_usage("query", "say list, add, approve, test or remove");
	if (code == 0)
		code = query_store_open(args.workspace, options.agent, &store);
	if (code == 0)
		code = dispatch(&args, &options, &store);
	query_store_clear(&store);
	args_clear(&args);
	return code;
}

const struct command command_query = {
	.name = "query",
	.summary = "verified queries: approved SQL for questions that come again",
	.help = "usage: writ query list [-C DIR] [--json]\n"
		"       writ query add --from TASK [--name NAME] [--when TEXT]\n"
		"       writ query add QUESTION --sql FILE [--name NAME] [--when TEXT]\n"
		"       writ query approve NAME [--by WHO]\n"
		"       writ query test [NAME]\n"
		"       writ query remove NAME\n"
		"\n"
		"A verified query is a question with SQL that an analyst has approved "
		"(queries/*.yaml).\n"
		"Asked again in the same words, that SQL runs: with :period_start and :period_end "
		"bound\n"
		"to the question's period as of today, under the asking user's own rights, and "
		"through\n"
		"every check. approve runs it, shows its rows, and notes the form of its tables, "
		"its\n"
		"metrics and the time zone; when one of them changes, that query is no longer "
		"served and\n"
		"test says so.\n"
		"\n"
		"  --from TASK    take question and SQL of an answered task\n"
		"  --sql FILE     the SQL\n"
		"  --name NAME    what the query is called; default: its file and number\n"
		"  --when TEXT    when it applies, for people\n"
		"  --source NAME  which source it is about, when there are several\n"
		"  --by WHO       who approves; default: your login name\n"
		"  --agent NAME   look at the data as this agent; default: the query agent\n"
		"\n"
		"Examples:\n"
		"  writ query add --from 01a22ee6-b000-7a10-8b52-3f6c1d2e4a01 --name by_region\n"
		"  writ query approve by_region --by analyst@example.com\n"
		"  writ query test --json\n"
		"\n"
		"Exit codes: 0 all right; 1 a mistake in a file, or a query that is not served; "
		"2 wrong\n"
		"usage or unreadable files; 3 the service could not be asked.\n",
	.run = run,
};
