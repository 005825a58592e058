/*
 * The query agent against a scripted broker on the other end of a socketpair. The script says which
 * tool is expected next and what comes back; every test ends with uv_loop_close() == 0. The sanity
 * checks are a double of this file.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "agents/query/agent.h"
#include "agents/query/check/sanity.h"
#include "tests/unit/planner_models.h"
#include "tests/unit/planner_values.h"

struct answer {
	const char *tool; /* what must be asked for */
	const char *json; /* what comes back; NULL for the standard answer; see act */
	enum { REPLY, VANISH, KEEP, CANCEL_AGENT } act;
};

/* Everything of one run. */
struct scene {
	uv_loop_t loop;
	struct channel *broker; /* far side */
	struct query_agent *agent;
	const char *source;
	const struct answer *script;
	size_t next;
	const char *token;  /* answer to token.issue; NULL: the standard one */
	char sql[16][2048]; /* the sql argument of each call, "" when none */
	char asked[16][32];
	size_t asked_count;
	int cancels;
	int dones;
	char trace[8192];
	/* The outcome, kept. */
	char status[32], reason[1024], hint[1024], outcome_sql[2048], jti[64];
	struct json *result, *attempts, *flags, *question, *words, *columns, *definitions, *period,
		*plan;
	struct json *query;
	bool seeded;
	int64_t tool_calls;
};

static const char *sanity_flags; /* what the double answers; NULL: no flags */
static int sanity_runs;
static char sanity_tables[8192], sanity_period_column[128];

void sanity_start(struct channel *channel, const struct checks_input *input,
		  const struct json *result, sanity_done *done, void *data)
{
	CLEANUP(buf_clear) struct buf tables = BUF_INIT;
	struct json *flags = json_array();
	struct err err = {0};

	assert_non_null(channel);
	assert_non_null(input->sql);
	assert_true(json_get_bool(result, "ok", false));
	sanity_runs++;
	json_write(input->tables, &tables);
	snprintf(sanity_tables, sizeof(sanity_tables), "%s", buf_str(&tables));
	snprintf(sanity_period_column, sizeof(sanity_period_column), "%s",
		 input->period_column != NULL ? input->period_column : "");
	if (sanity_flags != NULL) {
		json_free(flags);
		assert_int_equal(json_parse_str(sanity_flags, &flags, &err), 0);
		sanity_flags = NULL; /* once */
	}
	done(data, flags, &(struct sanity_spent){0});
}

static const char standard_token[] =
	"{\"jti\":\"t-1\",\"expires\":1,\"tools\":[\"list_metrics\","
	"\"search_values\",\"describe_table\","
	"\"explain_query\",\"run_query\"],\"limits\":{\"tool_calls_left\":6,\"tool_errors_left\":2,"
	"\"attempts_left\":3,\"time_left_ms\":60000,\"scan_left\":1000000}}";
static const char east[] = "{\"ok\":true,\"columns\":[\"region\",\"net_sales\"],\"types\":["
			   "\"text\",\"real\"],\"rows\":"
			   "[[\"East\",420.0],[\"West\",300.0]],\"row_count\":2,\"truncated\":"
			   "false,\"bytes_scanned\":4096,"
			   "\"latency_ms\":1}";
static const char no_column[] = "{\"ok\":false,\"error\":\"no such column: "
				"sale_region\",\"rejected_by\":\"database\",\"hint\":"
				"\"call search_schema\"}";

static struct json *parse(const char *text)
{
	struct json *json = NULL;
	struct err err = {0};

	if (json_parse_str(text, &json, &err) < 0)
		fail_msg("%s", err.text);
	return json;
}

static struct json *standard_answer(const struct scene *scene, const char *tool,
				    const struct json *arguments)
{
	struct json *json = json_object();

	json_set_bool(json, "ok", true);
	if (strcmp(tool, "list_metrics") == 0)
		json_set(json, "model",
			 parse(strcmp(scene->source, "sales") == 0 ? sales_model : company_model));
	else if (strcmp(tool, "search_values") == 0)
		json_set(json, "matches",
			 search_stored(scene->source, json_get_str(arguments, "text")));
	else if (strcmp(tool, "describe_table") == 0) {
		json_set_str(json, "table", "issues");
		json_set(json, "columns", parse("[{\"name\":\"id\"},{\"name\":\"priority\"}]"));
	} else if (strcmp(tool, "explain_query") == 0)
		json_set_int(json, "bytes_estimated", 4096);
	else {
		json_free(json);
		json = parse(east);
	}
	return json;
}

static void on_tool_call(struct scene *scene, struct channel *channel, int64_t id,
			 const struct json *params)
{
	const char *tool = json_get_str(params, "tool");
	const struct json *arguments = json_get(params, "arguments");
	const struct answer *answer = &scene->script[scene->next];
	const char *sql = json_get_str(arguments, "sql");

	assert_true(scene->asked_count < ARRAY_LEN(scene->asked));
	snprintf(scene->asked[scene->asked_count], 32, "%s", tool);
	snprintf(scene->sql[scene->asked_count++], 2048, "%s", sql != NULL ? sql : "");
	if (answer->tool == NULL)
		fail_msg("a call too many: %s", tool);
	assert_string_equal(tool, answer->tool);
	scene->next++;
	if (answer->act == VANISH) {
		channel_close(TAKE(scene->broker));
		return;
	}
	if (answer->act == CANCEL_AGENT)
		query_agent_cancel(scene->agent);
	if (answer->act != REPLY)
		return;
	channel_reply(channel, id,
		      answer->json != NULL ? parse(answer->json)
					   : standard_answer(scene, tool, arguments));
}

static void on_request(struct channel *channel, void *owner, int64_t id, const char *method,
		       const struct json *params)
{
	struct scene *scene = owner;

	if (strcmp(method, "tool.cancel") == 0) {
		scene->cancels++;
	} else if (strcmp(method, "token.issue") == 0) {
		if (scene->token == NULL || scene->token[0] != '!') {
			channel_reply(channel, id,
				      parse(scene->token != NULL ? scene->token : standard_token));
		} else {
			struct err why = {0};

			IGNORE(err_set(&why, ERR_DENIED, "%s", scene->token + 1), "sent");
			channel_fail(channel, id, &why, NULL);
		}
	} else {
		assert_string_equal(method, "tool.call");
		on_tool_call(scene, channel, id, params);
	}
}

static void on_close(struct channel *channel, void *owner, const struct err *why)
{
	struct scene *scene = owner;

	(void)channel;
	(void)why;
	scene->broker = NULL;
}

static const struct channel_handlers far = {.on_request = on_request, .on_close = on_close};

static struct json *keep(const struct json *json)
{
	return json != NULL ? json_copy(json) : NULL;
}

static void on_done(void *data, const struct query_outcome *outcome)
{
	struct scene *scene = data;

	scene->dones++;
	snprintf(scene->status, sizeof(scene->status), "%s", outcome->status);
	snprintf(scene->reason, sizeof(scene->reason), "%s",
		 outcome->reason ? outcome->reason : "");
	snprintf(scene->hint, sizeof(scene->hint), "%s", outcome->hint ? outcome->hint : "");
	snprintf(scene->outcome_sql, sizeof(scene->outcome_sql), "%s",
		 outcome->sql ? outcome->sql : "");
	snprintf(scene->jti, sizeof(scene->jti), "%s", outcome->jti ? outcome->jti : "");
	scene->result = keep(outcome->result);
	scene->attempts = keep(outcome->attempts);
	scene->flags = keep(outcome->flags);
	scene->question = keep(outcome->question);
	scene->words = keep(outcome->words);
	scene->columns = keep(outcome->columns);
	scene->definitions = keep(outcome->definitions);
	scene->period = keep(outcome->period);
	scene->plan = keep(outcome->plan);
	scene->query = keep(outcome->query);
	scene->seeded = outcome->seeded;
	scene->tool_calls = outcome->tool_calls;
}

static void on_trace(void *data, const char *event, const char *text, const struct json *detail)
{
	struct scene *scene = data;
	size_t used = strlen(scene->trace);

	(void)detail;
	snprintf(scene->trace + used, sizeof(scene->trace) - used, "%s: %s\n", event, text);
}

struct how {
	const char *question;
	const char *first_sql;
	const char *choices;
	const char *previous; /* of the handoff's context */
	bool fixed;
};

static void play(struct scene *scene, const struct how *how)
{
	CLEANUP(json_freep) struct json *choices = how->choices ? parse(how->choices) : NULL;
	struct handoff handoff = {.task = "x-1",
				  .to = "sales-query-01",
				  .objective = how->question,
				  .expected_output = "rows",
				  .context = json_object(),
				  .constraints = json_object()};
	struct query_agent_options options = {.handoff = &handoff,
					      .today = {2026, 10, 15},
					      .fixed = how->fixed,
					      .first_sql = how->first_sql,
					      .choices = choices,
					      .trace = on_trace,
					      .data = scene,
					      .done = on_done};
	struct err err = {0};
	int fds[2];

	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	json_set_str(handoff.context, "question", how->question);
	json_set_str(handoff.context, "timezone", "Europe/Berlin");
	if (how->previous != NULL)
		json_set(handoff.context, "previous", parse(how->previous));
	uv_loop_init(&scene->loop);
	scene->broker = channel_open(&scene->loop, fds[1], "agent", &far, scene);
	options.channel_fd = fds[0];
	assert_int_equal(query_agent_start(&scene->loop, &options, &scene->agent, &err), 0);
	handoff_clear(&handoff);
	assert_int_equal(scene->dones, 0); /* later, from the loop */
	uv_run(&scene->loop, UV_RUN_DEFAULT);
	channel_close(TAKE(scene->broker));
	uv_run(&scene->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&scene->loop), 0);
	assert_int_equal(scene->dones, 1);
	assert_null(scene->script[scene->next].tool); /* every answer was asked for */
}

static void end_scene(struct scene *scene)
{
	json_free(scene->result);
	json_free(scene->attempts);
	json_free(scene->flags);
	json_free(scene->question);
	json_free(scene->words);
	json_free(scene->columns);
	json_free(scene->definitions);
	json_free(scene->period);
	json_free(scene->plan);
	json_free(scene->query);
	sanity_flags = NULL;
	sanity_runs = 0;
}

static bool flagged(const struct scene *scene, const char *code)
{
	json_each(flag,
		  scene->flags) if (strcmp(json_get_str(flag, "code"), code) == 0) return true;
	return false;
}

#define BEST "Which regions had the highest net sales last quarter?"

static void test_a_question_ends_completed_with_its_proof(void **state)
{
	static const struct answer script[] = {{.tool = "list_metrics"},
					       {.tool = "search_values"},
					       {.tool = "explain_query"},
					       {.tool = "run_query"},
					       {0}};
	struct scene scene = {.source = "sales", .script = script};

	(void)state;
	play(&scene, &(struct how){.question = BEST});
	assert_string_equal(scene.status, "completed");
	assert_string_equal(scene.reason, "");
	assert_string_equal(scene.jti, "t-1");
	assert_int_equal(scene.tool_calls, 4);
	assert_int_equal(json_get_int(scene.result, "row_count", 0), 2);
	assert_string_equal(scene.outcome_sql, scene.sql[3]);
	assert_string_equal(scene.sql[2], scene.sql[3]); /* what was explained is what ran */
	assert_non_null(strstr(scene.outcome_sql, "2026-07-01"));
	assert_string_equal(json_get_str(scene.period, "from"), "2026-07-01");
	assert_string_equal(json_get_str(scene.period, "to"), "2026-10-01");
	assert_string_equal(json_get_str(scene.period, "timezone"), "Europe/Berlin");
	assert_string_equal(json_get_str(json_first(scene.definitions), "metric"), "net_sales");
	assert_int_equal(json_len(scene.columns), 2);
	assert_non_null(json_get(scene.plan, "grain"));
	assert_null(scene.attempts);
	assert_false(scene.seeded);
	assert_int_equal(sanity_runs, 1);
	assert_string_equal(sanity_period_column, "orders.order_date");
	assert_non_null(
		strstr(sanity_tables,
		       "\"foreign_keys\":[{\"columns\":[\"customer_id\"],\"table\":\"customers\","
		       "\"to\":[\"customer_id\"]}]"));
	assert_non_null(strstr(scene.trace, "token: token t-1: 5 tools, 6 calls left\n"));
	assert_non_null(strstr(scene.trace, "plan: "));
	assert_non_null(strstr(scene.trace, "result: 2 rows, 4096 bytes scanned\n"));
	end_scene(&scene);
}

static void test_an_injected_error_is_repaired_in_the_second_attempt(void **state)
{
	static const struct answer script[] = {{.tool = "list_metrics"},
					       {.tool = "search_values"},
					       {.tool = "run_query", .json = no_column},
					       {.tool = "explain_query"},
					       {.tool = "run_query"},
					       {0}};
	struct scene scene = {.source = "sales", .script = script};
	const struct json *attempt = NULL;

	(void)state;
	play(&scene,
	     &(struct how){.question = BEST, .first_sql = "SELECT sale_region FROM orders"});
	assert_string_equal(scene.status, "completed");
	assert_true(scene.seeded);
	assert_true(flagged(&scene, "seeded"));
	assert_string_equal(scene.sql[2], "SELECT sale_region FROM orders");
	assert_int_equal(json_len(scene.attempts), 1);
	attempt = json_first(scene.attempts);
	assert_string_equal(json_get_str(attempt, "error"), "no such column: sale_region");
	assert_string_equal(json_get_str(attempt, "sql"), "SELECT sale_region FROM orders");
	assert_string_not_equal(scene.outcome_sql, "SELECT sale_region FROM orders");
	assert_non_null(
		strstr(scene.trace, "repair: attempt 1 failed: no such column: sale_region"));
	end_scene(&scene);
}

static void test_the_fixed_workflow_fails_after_one_attempt(void **state)
{
	static const struct answer script[] = {{.tool = "list_metrics"},
					       {.tool = "search_values"},
					       {.tool = "run_query", .json = no_column},
					       {0}};
	struct scene scene = {.source = "sales", .script = script};

	(void)state;
	play(&scene, &(struct how){.question = BEST,
				   .first_sql = "SELECT sale_region FROM orders",
				   .fixed = true});
	assert_string_equal(scene.status, "failed");
	assert_string_equal(scene.reason, "no such column: sale_region");
	assert_string_equal(scene.hint, "call search_schema");
	assert_int_equal(json_len(scene.attempts), 1);
	assert_null(scene.result);
	assert_true(scene.seeded);
	end_scene(&scene);
}

static void test_an_injected_query_that_works_is_not_declared(void **state)
{
	static const struct answer script[] = {
		{.tool = "list_metrics"}, {.tool = "search_values"}, {.tool = "run_query"}, {0}};
	struct scene scene = {.source = "sales", .script = script};

	(void)state;
	play(&scene, &(struct how){.question = BEST, .first_sql = "SELECT 1"});
	assert_string_equal(scene.status, "completed");
	assert_string_equal(scene.outcome_sql, "SELECT 1");
	assert_null(scene.columns);
	assert_null(scene.words);
	assert_null(scene.plan);
	assert_true(flagged(&scene, "seeded"));
	end_scene(&scene);
}

static void test_a_column_that_is_not_there_is_found_in_the_schema(void **state)
{
	static const struct answer script[] = {
		{.tool = "list_metrics"},
		{.tool = "search_values"},
		{.tool = "run_query",
		 .json = "{\"ok\":false,\"error\":\"no such column: "
			 "issues.severity\",\"rejected_by\":"
			 "\"database\",\"hint\":\"call search_schema\"}"},
		{.tool = "describe_table"},
		{.tool = "explain_query"},
		{.tool = "run_query"},
		{0}};
	struct scene scene = {.source = "company", .script = script};

	(void)state;
	play(&scene,
	     &(struct how){
		     .question = "Using the severity column, how many critical issues are open?"});
	assert_string_equal(scene.status, "completed");
	assert_non_null(strstr(scene.sql[2], "\"severity\""));
	assert_null(strstr(scene.sql[5], "severity"));
	assert_non_null(strstr(scene.sql[5], "\"priority\""));
	assert_non_null(strstr(scene.trace, "repair: issues has the columns id, priority\n"));
	assert_true(flagged(&scene, "column.replaced"));
	assert_false(flagged(&scene, "column.named"));
	assert_string_equal(json_get_str(json_first(scene.attempts), "error"),
			    "no such column: issues.severity");
	assert_int_equal(scene.tool_calls, 6);
	end_scene(&scene);
}

static void test_one_thing_that_could_be_several_is_asked_about(void **state)
{
	static const struct answer script[] = {
		{.tool = "list_metrics"},
		{.tool = "search_values"},
		{.tool = "run_query",
		 .json = "{\"ok\":true,\"columns\":[\"project\"],\"types\":[\"text\"],\"rows\":[["
			 "\"Atlas\"],"
			 "[\"Project "
			 "Phoenix\"]],\"row_count\":2,\"truncated\":false,\"bytes_scanned\":1}"},
		{0}};
	struct scene scene = {.source = "company", .script = script};
	const struct json *part = NULL;

	(void)state;
	play(&scene, &(struct how){.question = "How many open issues are left on the AI project?"});
	assert_string_equal(scene.status, "needs_input");
	part = json_first(json_get(scene.question, "parts"));
	assert_string_equal(json_get_str(part, "name"), "project");
	assert_int_equal(json_len(json_get(part, "choices")), 2);
	assert_string_equal(scene.outcome_sql, "");
	assert_null(scene.result);
	end_scene(&scene);
}

static void test_an_answer_to_a_question_is_used(void **state)
{
	static const struct answer script[] = {{.tool = "list_metrics"},
					       {.tool = "search_values"},
					       {.tool = "explain_query"},
					       {.tool = "run_query"},
					       {0}};
	struct scene scene = {.source = "company", .script = script};

	(void)state;
	play(&scene, &(struct how){.question = "How many open issues are left on the AI project?",
				   .choices = "{\"project\":\"Atlas\"}"});
	assert_string_equal(scene.status, "completed");
	assert_non_null(strstr(scene.outcome_sql, "'Atlas'"));
	end_scene(&scene);
}

static void test_questions_that_cannot_be_answered_run_nothing(void **state)
{
	static const struct answer script[] = {
		{.tool = "list_metrics"}, {.tool = "search_values"}, {0}};
	static const struct {
		const char *question, *status, *word;
	} cases[] = {
		{"What was our profit last quarter?", "refused", "profit"},
		{"Delete the cancelled orders.", "refused", "only read"},
		{"Who are our best customers?", "needs_input", "measured"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct scene scene = {.source = "sales", .script = script};

		play(&scene, &(struct how){.question = cases[i].question});
		assert_string_equal(scene.status, cases[i].status);
		assert_non_null(strstr(scene.reason, cases[i].word));
		assert_null(scene.result);
		end_scene(&scene);
	}
}

static void test_a_costly_query_is_not_run(void **state)
{
	static const struct answer at_limit[] = {
		{.tool = "list_metrics"},
		{.tool = "search_values"},
		{.tool = "explain_query", .json = "{\"ok\":true,\"bytes_estimated\":1000000}"},
		{.tool = "run_query"},
		{0}};
	static const struct answer above[] = {
		{.tool = "list_metrics"},
		{.tool = "search_values"},
		{.tool = "explain_query", .json = "{\"ok\":true,\"bytes_estimated\":1000001}"},
		{0}};
	static const struct answer sought[] = {
		{.tool = "list_metrics"},
		{.tool = "search_values"},
		{.tool = "explain_query",
		 .json = "{\"ok\":true,\"bytes_estimated\":4000000,\"plan\":[\"SEARCH orders USING "
			 "INDEX by_date (order_date>? AND order_date<?)\"]}"},
		{0}};
	static const struct answer scanned[] = {
		{.tool = "list_metrics"},
		{.tool = "search_values"},
		{.tool = "explain_query",
		 .json = "{\"ok\":true,\"bytes_estimated\":4000000,\"plan\":[\"SCAN orders\",\"  "
			 "SEARCH customers USING INTEGER PRIMARY KEY (rowid=?)\"]}"},
		{0}};
	static const struct answer rejected[] = {{.tool = "list_metrics"},
						 {.tool = "search_values"},
						 {.tool = "explain_query",
						  .json = "{\"ok\":false,\"error\":\"over the scan "
							  "limit\",\"rejected_by\":\"limit\","
							  "\"hint\":\"ask for less\"}"},
						 {0}};
	struct scene fits = {.source = "sales", .script = at_limit};
	struct scene over = {.source = "sales", .script = above};
	struct scene narrow = {.source = "sales", .script = sought};
	struct scene whole = {.source = "sales", .script = scanned};
	struct scene refused = {.source = "sales", .script = rejected};

	(void)state;
	play(&fits, &(struct how){.question = "How many orders are there?"});
	assert_string_equal(fits.status, "completed");
	end_scene(&fits);
	play(&over, &(struct how){.question = "How many orders are there?"});
	assert_string_equal(over.status, "too_expensive");
	assert_string_equal(over.reason,
			    "The query would read about 1000001 bytes; 1000000 are left "
			    "for this task.");
	assert_string_equal(over.hint, "Name a period, for example \"last month\".");
	end_scene(&over);
	play(&narrow, &(struct how){.question = BEST});
	assert_string_equal(narrow.status, "too_expensive");
	/* last quarter has 92 days; 1000000 of 4000000 bytes are left */
	assert_string_equal(narrow.hint, "Name a period of at most 23 days instead of 92: that "
					 "would read about 1000000 bytes.");
	end_scene(&narrow);
	play(&whole, &(struct how){.question = BEST});
	assert_string_equal(whole.hint,
			    "orders is read whole, so a shorter period reads as much: it "
			    "takes an index on what is filtered, or a scan budget of "
			    "4000000 bytes (per_task in the scope file).");
	end_scene(&whole);
	play(&refused, &(struct how){.question = BEST});
	assert_string_equal(refused.status, "too_expensive");
	assert_string_equal(refused.reason, "over the scan limit");
	assert_non_null(strstr(refused.hint, "shorter period"));
	end_scene(&refused);
}

static void test_a_used_up_budget_ends_limit_reached(void **state)
{
	static const struct answer script[] = {
		{.tool = "list_metrics"}, {.tool = "search_values"}, {0}};
	static const struct answer told[] = {
		{.tool = "list_metrics"},
		{.tool = "search_values"},
		{.tool = "explain_query"},
		{.tool = "run_query",
		 .json = "{\"ok\":false,\"error\":\"all query attempts of this task are used up\","
			 "\"rejected_by\":\"budget\",\"hint\":\"ask again\"}"},
		{0}};
	struct scene own = {.source = "sales",
			    .script = script,
			    .token = "{\"jti\":\"t\",\"tools\":[\"list_metrics\",\"search_values\","
				     "\"run_query\"],"
				     "\"limits\":{\"tool_calls_left\":2,\"attempts_left\":3,\"time_"
				     "left_ms\":60000}}"};
	struct scene brokers = {.source = "sales", .script = told};

	(void)state;
	play(&own, &(struct how){.question = BEST});
	assert_string_equal(own.status, "limit_reached");
	assert_string_equal(own.reason, "all tool calls of this task are used up");
	end_scene(&own);
	play(&brokers, &(struct how){.question = BEST});
	assert_string_equal(brokers.status, "limit_reached");
	assert_string_equal(brokers.reason, "all query attempts of this task are used up");
	end_scene(&brokers);
}

static void test_one_call_more_is_enough_to_run_without_asking_the_cost(void **state)
{
	static const struct answer script[] = {
		{.tool = "list_metrics"}, {.tool = "search_values"}, {.tool = "run_query"}, {0}};
	struct scene scene = {
		.source = "sales",
		.script = script,
		.token = "{\"jti\":\"t\",\"tools\":[\"list_metrics\",\"search_values\",\"explain_"
			 "query\","
			 "\"run_query\"],\"limits\":{\"tool_calls_left\":3,\"attempts_left\":3,"
			 "\"time_left_ms\":60000}}"};

	(void)state;
	play(&scene, &(struct how){.question = BEST});
	assert_string_equal(scene.status, "completed");
	end_scene(&scene);
}

static void test_the_attempts_of_the_token_are_not_exceeded(void **state)
{
	static const struct answer script[] = {{.tool = "list_metrics"},
					       {.tool = "search_values"},
					       {.tool = "run_query", .json = no_column},
					       {0}};
	struct scene scene = {.source = "sales",
			      .script = script,
			      .token = "{\"jti\":\"t\",\"tools\":[\"list_metrics\",\"search_"
				       "values\",\"run_query\"],"
				       "\"limits\":{\"tool_calls_left\":9,\"attempts_left\":1,"
				       "\"time_left_ms\":60000}}"};

	(void)state;
	play(&scene, &(struct how){.question = BEST, .first_sql = "SELECT sale_region"});
	assert_string_equal(scene.status, "failed");
	assert_string_equal(scene.reason, "no such column: sale_region");
	end_scene(&scene);
}

static void test_the_time_of_the_task_is_kept(void **state)
{
	static const struct answer script[] = {{.tool = "list_metrics", .act = KEEP}, {0}};
	struct scene scene = {
		.source = "sales",
		.script = script,
		.token = "{\"jti\":\"t\",\"tools\":[\"list_metrics\",\"run_query\"],\"limits\":{"
			 "\"tool_calls_left\":6,"
			 "\"time_left_ms\":20}}"};

	(void)state;
	play(&scene, &(struct how){.question = BEST});
	assert_string_equal(scene.status, "limit_reached");
	assert_string_equal(scene.reason, "the time of this task is used up");
	assert_int_equal(scene.cancels, 1);
	end_scene(&scene);
}

static void test_a_broker_that_goes_away_mid_call_ends_it_failed(void **state)
{
	static const struct answer first[] = {{.tool = "list_metrics", .act = VANISH}, {0}};
	static const struct answer last[] = {{.tool = "list_metrics"},
					     {.tool = "search_values"},
					     {.tool = "explain_query"},
					     {.tool = "run_query", .act = VANISH},
					     {0}};
	struct scene early = {.source = "sales", .script = first};
	struct scene late = {.source = "sales", .script = last};

	(void)state;
	play(&early, &(struct how){.question = BEST});
	assert_string_equal(early.status, "failed");
	assert_string_equal(early.reason, "the broker closed the agent's channel");
	end_scene(&early);
	play(&late, &(struct how){.question = BEST});
	assert_string_equal(late.status, "failed");
	assert_null(late.result);
	end_scene(&late);
}

static void test_a_refused_token_ends_it_refused(void **state)
{
	static const struct answer script[] = {{0}};
	struct scene scene = {.source = "sales", .script = script, .token = "!no rule allows it"};

	(void)state;
	play(&scene, &(struct how){.question = BEST});
	assert_string_equal(scene.status, "refused");
	assert_string_equal(scene.reason, "no rule allows it");
	assert_int_equal(scene.tool_calls, 0);
	end_scene(&scene);
}

static void test_a_follow_up_is_planned_with_the_query_before(void **state)
{
	static const struct answer script[] = {{.tool = "list_metrics"},
					       {.tool = "search_values"},
					       {.tool = "explain_query"},
					       {.tool = "run_query"},
					       {0}};
	struct scene scene = {.source = "sales", .script = script};

	(void)state;
	play(&scene,
	     &(struct how){.question = "by region",
			   .previous = "{\"question\":\"net sales\",\"query\":{\"metrics\":["
				       "\"net_sales\"],\"period\":{\"from\":\"2026-07-01\",\"to\":"
				       "\"2026-10-01\"}}}"});
	assert_string_equal(scene.status, "completed");
	assert_string_equal(json_get_str(scene.period, "from"), "2026-07-01");
	assert_string_equal(json_str(json_at(json_get(scene.query, "metrics"), 0)), "net_sales");
	assert_string_equal(json_get_str(json_at(json_get(scene.query, "dimensions"), 0), "field"),
			    "customers.region");
	assert_true(flagged(&scene, "follow.kept"));
	end_scene(&scene);
}

static void test_a_query_before_of_a_wrong_shape_starts_nothing(void **state)
{
	struct handoff handoff = {.task = "x-1",
				  .to = "sales-query-01",
				  .context = parse("{\"question\":\"Q\",\"previous\":{\"query\":{"
						   "\"metrics\":7}}}"),
				  .constraints = json_object()};
	struct query_agent_options options = {.handoff = &handoff};
	struct query_agent *agent = NULL;
	struct err err = {0};
	uv_loop_t loop;
	int fds[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	uv_loop_init(&loop);
	options.channel_fd = fds[0];
	assert_int_equal(query_agent_start(&loop, &options, &agent, &err), -1);
	assert_non_null(strstr(err.text, "query agent: the question before: "));
	assert_int_equal(close(fds[0]), -1); /* it was taken */
	close(fds[1]);
	assert_int_equal(uv_loop_close(&loop), 0);
	handoff_clear(&handoff);
}

static void test_a_tool_that_everything_needs_is_named_when_it_is_missing(void **state)
{
	static const struct answer script[] = {{0}};
	static const struct {
		const char *token, *tool;
	} cases[] = {
		{"{\"jti\":\"t\",\"tools\":[\"run_query\",\"search_values\"],\"limits\":{}}",
		 "list_metrics"},
		{"{\"jti\":\"t\",\"tools\":[\"list_metrics\",\"describe_table\"],\"limits\":{}}",
		 "run_query"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct scene scene = {.source = "sales", .script = script, .token = cases[i].token};
		CLEANUP(mem_freep)
		char *reason = mem_format("Agent sales-query-01 may not use the tool %s for this "
					  "user, and cannot answer any question without it.",
					  cases[i].tool);
		CLEANUP(mem_freep)
		char *hint = mem_format("Let a rule of scopes/*.yaml allow %s to sales-query-01 "
					"for this user (tools, agents, users), then reload.",
					cases[i].tool);

		play(&scene, &(struct how){.question = BEST});
		assert_string_equal(scene.status, "refused");
		assert_string_equal(scene.reason, reason);
		assert_string_equal(scene.hint, hint);
		assert_int_equal(scene.tool_calls, 0);
		end_scene(&scene);
	}
}

static void test_cancelling_hastens_the_end(void **state)
{
	static const struct answer script[] = {
		{.tool = "list_metrics"}, {.tool = "search_values", .act = CANCEL_AGENT}, {0}};
	struct scene scene = {.source = "sales", .script = script};

	(void)state;
	play(&scene, &(struct how){.question = BEST});
	assert_string_equal(scene.status, "cancelled");
	assert_int_equal(scene.cancels, 1);
	end_scene(&scene);
}

static void test_a_denied_tool_ends_it_refused_with_the_reason(void **state)
{
	static const char denied[] = "{\"ok\":false,\"error\":\"no rule allows "
				     "list_metrics\",\"rejected_by\":\"policy\","
				     "\"hint\":\"ask the policy's owner\"}";
	static const struct answer script[] = {{.tool = "list_metrics", .json = denied}, {0}};
	struct scene scene = {.source = "sales", .script = script};

	(void)state;
	play(&scene, &(struct how){.question = BEST});
	assert_string_equal(scene.status, "refused");
	assert_string_equal(scene.reason, "no rule allows list_metrics");
	assert_string_equal(scene.hint, "ask the policy's owner");
	end_scene(&scene);
}

static void test_without_stored_values_unknown_words_are_refused(void **state)
{
	static const char denied[] =
		"{\"ok\":false,\"error\":\"denied\",\"rejected_by\":\"policy\"}";
	static const struct answer script[] = {
		{.tool = "list_metrics"}, {.tool = "search_values", .json = denied}, {0}};
	struct scene scene = {.source = "sales", .script = script};

	(void)state;
	play(&scene, &(struct how){.question = "net sales in East last month"});
	assert_string_equal(scene.status, "refused");
	assert_non_null(strstr(scene.reason, "\"East\""));
	end_scene(&scene);
}

static const char cut[] =
	"{\"ok\":true,\"columns\":[\"region\",\"net_sales\"],\"types\":[\"text\",\"real\"],"
	"\"rows\":"
	"[[\"East\",1.0]],\"row_count\":1,\"truncated\":true,\"bytes_scanned\":4096}";

static void test_a_cut_list_ends_limit_reached_with_the_true_count(void **state)
{
	static const struct answer script[] = {
		{.tool = "list_metrics"},
		{.tool = "search_values"},
		{.tool = "explain_query"},
		{.tool = "run_query", .json = cut},
		{.tool = "run_query",
		 .json = "{\"ok\":true,\"columns\":[\"n\"],\"rows\":[[230]],\"row_count\":1,"
			 "\"truncated\":false,\"bytes_scanned\":1}"},
		{0}};
	struct scene scene = {.source = "sales", .script = script};

	(void)state;
	play(&scene, &(struct how){.question = "net sales by region"});
	assert_string_equal(scene.status, "limit_reached");
	assert_string_equal(scene.reason, "The list is cut: 1 of 230 rows are shown.");
	assert_int_equal(json_get_int(scene.result, "row_count", 0), 1);
	assert_int_equal(strncmp(scene.sql[4], "SELECT COUNT(*) AS n FROM (", 27), 0);
	assert_string_equal(scene.outcome_sql, scene.sql[3]);
	end_scene(&scene);
}

static void test_a_number_proven_wrong_is_never_completed(void **state)
{
	static const struct answer script[] = {{.tool = "list_metrics"}, {.tool = "search_values"},
					       {.tool = "run_query"},	 {.tool = "explain_query"},
					       {.tool = "run_query"},	 {0}};
	static const struct answer once[] = {
		{.tool = "list_metrics"}, {.tool = "search_values"}, {.tool = "run_query"}, {0}};
	static const char inflated[] = "[{\"code\":\"fanout\",\"severity\":\"error\",\"message\":"
				       "\"inflated by 2.30\",\"repair\":\"sum before joining\"}]";
	struct scene agent = {.source = "sales", .script = script};
	struct scene fixed = {.source = "sales", .script = once};

	(void)state;
	sanity_flags = inflated;
	play(&agent, &(struct how){.question = BEST, .first_sql = "SELECT wrong"});
	assert_string_equal(agent.status, "completed");
	assert_string_equal(json_get_str(json_first(agent.attempts), "error"), "inflated by 2.30");
	assert_string_equal(agent.outcome_sql, agent.sql[4]);
	end_scene(&agent);
	sanity_flags = inflated;
	play(&fixed, &(struct how){.question = BEST, .first_sql = "SELECT wrong", .fixed = true});
	assert_string_equal(fixed.status, "failed");
	assert_string_equal(fixed.reason, "inflated by 2.30");
	assert_string_equal(fixed.hint, "sum before joining");
	assert_null(fixed.result);
	end_scene(&fixed);
}

static void test_warnings_of_the_checks_are_flags(void **state)
{
	static const struct answer script[] = {{.tool = "list_metrics"},
					       {.tool = "search_values"},
					       {.tool = "explain_query"},
					       {.tool = "run_query"},
					       {0}};
	struct scene scene = {.source = "sales", .script = script};

	(void)state;
	sanity_flags = "[{\"code\":\"zero.rows\",\"severity\":\"warning\",\"message\":\"m\"}]";
	play(&scene, &(struct how){.question = "How many orders are there?"});
	assert_string_equal(scene.status, "completed");
	assert_true(flagged(&scene, "zero.rows"));
	assert_true(flagged(&scene, "period.all"));
	end_scene(&scene);
}

static void test_a_broken_model_is_a_clear_failure(void **state)
{
	static const struct answer script[] = {
		{.tool = "list_metrics", .json = "{\"ok\":true,\"model\":{\"metrics\":7}}"}, {0}};
	static const struct answer none[] = {{.tool = "list_metrics", .json = "{\"ok\":true}"},
					     {0}};
	struct scene scene = {.source = "sales", .script = script};
	struct scene empty = {.source = "sales", .script = none};

	(void)state;
	play(&scene, &(struct how){.question = BEST});
	assert_string_equal(scene.status, "failed");
	assert_string_equal(scene.hint, "Run writ metric check.");
	end_scene(&scene);
	play(&empty, &(struct how){.question = BEST});
	assert_string_equal(empty.status, "refused");
	end_scene(&empty);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_question_ends_completed_with_its_proof),
		cmocka_unit_test(test_an_injected_error_is_repaired_in_the_second_attempt),
		cmocka_unit_test(test_the_fixed_workflow_fails_after_one_attempt),
		cmocka_unit_test(test_an_injected_query_that_works_is_not_declared),
		cmocka_unit_test(test_a_column_that_is_not_there_is_found_in_the_schema),
		cmocka_unit_test(test_one_thing_that_could_be_several_is_asked_about),
		cmocka_unit_test(test_an_answer_to_a_question_is_used),
		cmocka_unit_test(test_questions_that_cannot_be_answered_run_nothing),
		cmocka_unit_test(test_a_costly_query_is_not_run),
		cmocka_unit_test(test_a_used_up_budget_ends_limit_reached),
		cmocka_unit_test(test_one_call_more_is_enough_to_run_without_asking_the_cost),
		cmocka_unit_test(test_the_attempts_of_the_token_are_not_exceeded),
		cmocka_unit_test(test_the_time_of_the_task_is_kept),
		cmocka_unit_test(test_a_broker_that_goes_away_mid_call_ends_it_failed),
		cmocka_unit_test(test_a_refused_token_ends_it_refused),
		cmocka_unit_test(test_a_follow_up_is_planned_with_the_query_before),
		cmocka_unit_test(test_a_query_before_of_a_wrong_shape_starts_nothing),
		cmocka_unit_test(test_a_tool_that_everything_needs_is_named_when_it_is_missing),
		cmocka_unit_test(test_cancelling_hastens_the_end),
		cmocka_unit_test(test_a_denied_tool_ends_it_refused_with_the_reason),
		cmocka_unit_test(test_without_stored_values_unknown_words_are_refused),
		cmocka_unit_test(test_a_cut_list_ends_limit_reached_with_the_true_count),
		cmocka_unit_test(test_a_number_proven_wrong_is_never_completed),
		cmocka_unit_test(test_warnings_of_the_checks_are_flags),
		cmocka_unit_test(test_a_broken_model_is_a_clear_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
