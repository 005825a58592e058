/*
 * An orchestrator that was taken over, against the real writ-broker, writ-signer and writ-sqlite:
 * it has live sessions and agents' channels, and tries to get more out of them than policy grants.
 * After each attempt others still work, and the log verifies in the end.
 */
#include "hostile.h"
#include "source_database.h"

/* Two scopes: alice is in sales and not in hr. */
static const char scope[] =
	"writ: 1\nscope: sales\nowner: team:data\ntimezone: UTC\n"
	"agents:\n"
	"  sales-query-01:\n    id: spiffe://corp.example/agent/sales-query-01\n"
	"    role: query\n    token: 5m\n"
	"    per_task: {tool_calls: 6, tool_errors: 2, attempts: 3, time: 60s, scan: 256MiB}\n"
	"    hands_to: [sales-report-01]\n"
	"  sales-report-01:\n    id: spiffe://corp.example/agent/sales-report-01\n"
	"    role: report\n    token: 5m\n    per_task: {model_calls: 2, time: 30s}\n"
	"  hr-query-01:\n    id: spiffe://corp.example/agent/hr-query-01\n"
	"    role: query\n    token: 5m\n"
	"    per_task: {tool_calls: 6, tool_errors: 6, attempts: 6, time: 60s, scan: 256MiB}\n"
	"rules:\n"
	"  - id: read-sales\n    effect: allow\n    agents: [sales-query-01]\n"
	"    users: [group:sales]\n    tools: [list_tables, describe_table, run_query]\n"
	"    data:\n      database: sales\n      tables:\n"
	"        customers: {columns: [customer_id, region]}\n        orders: {columns: all}\n"
	"      functions: [standard]\n"
	"    per_call: {rows: 5, bytes: 1MiB, scan: 64MiB, time: 5s}\n"
	"  - id: read-payroll\n    effect: allow\n    agents: [hr-query-01]\n"
	"    users: [group:hr]\n    tools: [list_tables, describe_table, run_query]\n"
	"    data: {database: sales, tables: {payroll: {columns: all}}, functions: [standard]}\n"
	"    per_call: {rows: 5, bytes: 1MiB, scan: 64MiB, time: 5s}\n";

static struct fx *open_all(void)
{
	return fx_open_programs(scope, PROGRAM_FOLDER, database, NULL);
}

static char *with_task(const char *task, const char *rest)
{
	return mem_format("{\"task\":\"%s\"%s}", task, rest);
}

static void test_no_message_can_name_another_user(void **state)
{
	static const struct {
		const char *method;
		const char *params;
	} claims[] = {
		{"task.open", "{\"kind\":\"ask\",\"user\":\"bob\"}"},
		{"task.open", "{\"kind\":\"ask\",\"owner\":true}"},
		{"task.open", "{\"kind\":\"ask\",\"su\":\"user:0000000000000000\"}"},
		{"token.list", "{\"user\":\"bob\"}"},
		{"token.list", "{\"all\":true}"},
		{"status", "{\"session\":\"s-other\"}"},
	};
	struct fx *fx = open_all();
	struct channel *session = fx_connect(fx, NULL, 0)->channel;
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(claims); i++)
		check_error(fx, session, claims[i].method, claims[i].params, "invalid",
			    "unknown member");
	check_error(fx, agent, "token.issue", "{\"sub\":\"user:0000000000000000\"}", "invalid",
		    "unknown member");
	check_error(fx, agent, "token.issue", "{\"agent\":\"hr-query-01\"}", "invalid",
		    "unknown member");
	check_error(fx, agent, "tool.call",
		    "{\"tool\":\"list_tables\",\"arguments\":{},\"user\":\"bob\"}", "invalid",
		    "unknown member");
	check_error(fx, agent, "tool.call",
		    "{\"tool\":\"list_tables\",\"arguments\":{},\"token\":\"eyJ\"}", "invalid",
		    "unknown member");
	check_others_work(fx);
	close_and_verify(fx);
}

static void test_an_agent_of_another_scope_has_nothing_for_this_user(void **state)
{
	static const char *const calls[] = {
		RUN_QUERY("SELECT salary FROM payroll"),
		RUN_QUERY("SELECT order_id FROM orders"),
		"{\"tool\":\"describe_table\",\"arguments\":{\"table\":\"payroll\"}}",
		"{\"tool\":\"list_tables\",\"arguments\":{}}",
	};
	struct fx *fx = open_all();
	struct channel *session = fx_connect(fx, NULL, 0)->channel;
	struct channel *agent;
	char task[48];

	(void)state;
	fx_task(fx, session, "ask", task);
	agent = fx_agent(fx, session, task, "hr-query-01", NULL)->channel;
	json_free(fx_ok(fx, agent, "token.issue", "{}"));
	for (size_t i = 0; i < ARRAY_LEN(calls); i++) {
		struct json *reply = call_refused(fx, agent, calls[i], NULL);
		struct buf text = BUF_INIT;

		json_write(reply, &text);
		assert_null(strstr(buf_str(&text), "100"));
		buf_clear(&text);
		json_free(reply);
	}
	check_others_work(fx);
	close_and_verify(fx);
}

static struct json *issue(struct fx *fx, struct channel *agent)
{
	return fx_ok(fx, agent, "token.issue", "{}");
}

static void test_authority_is_handed_over_only_as_the_scope_says(void **state)
{
	struct fx *fx = open_all();
	struct channel *session = fx_connect(fx, NULL, 0)->channel;
	struct channel *query, *report;
	struct json *query_token, *report_token;
	char task[48], other[48];
	CLEANUP(mem_freep) char *report_to_query = NULL;
	CLEANUP(mem_freep) char *query_to_hr = NULL;
	CLEANUP(mem_freep) char *across_tasks = NULL;
	CLEANUP(mem_freep) char *made_up = NULL;
	CLEANUP(mem_freep) char *unknown = NULL;

	(void)state;
	fx_task(fx, session, "ask", task);
	fx_task(fx, session, "ask", other);
	query = fx_agent(fx, session, task, "sales-query-01", NULL)->channel;
	query_token = issue(fx, query);
	report = fx_agent(fx, session, task, "sales-report-01", json_get_str(query_token, "jti"))
			 ->channel;
	report_token = issue(fx, report);
	report_to_query = mem_format("{\"task\":\"%s\",\"agent\":\"sales-query-01\",\"parent\":"
				     "\"%s\"}",
				     task, json_get_str(report_token, "jti"));
	check_error(fx, session, "agent.start", report_to_query, "denied", "does not hand over");
	query_to_hr = mem_format("{\"task\":\"%s\",\"agent\":\"hr-query-01\",\"parent\":\"%s\"}",
				 task, json_get_str(query_token, "jti"));
	check_error(fx, session, "agent.start", query_to_hr, "denied", "does not hand over");
	across_tasks = mem_format("{\"task\":\"%s\",\"agent\":\"sales-report-01\",\"parent\":"
				  "\"%s\"}",
				  other, json_get_str(query_token, "jti"));
	check_error(fx, session, "agent.start", across_tasks, "denied", "not a token of this task");
	made_up = with_task(task, ",\"agent\":\"sales-report-01\",\"parent\":\"x\"");
	check_error(fx, session, "agent.start", made_up, "denied", "not a token of this task");
	unknown = with_task(task, ",\"agent\":\"root\"");
	check_error(fx, session, "agent.start", unknown, "not_found", "no scope file defines");
	check_error(fx, session, "task.open", "{\"kind\":\"trial\"}", "denied", "owner");
	json_free(query_token);
	json_free(report_token);
	check_others_work(fx);
	close_and_verify(fx);
}

static void test_the_report_agent_has_no_tool_and_no_data(void **state)
{
	static const char *const tools[] = {
		RUN_QUERY("SELECT 1"),
		"{\"tool\":\"list_tables\",\"arguments\":{}}",
		"{\"tool\":\"describe_table\",\"arguments\":{\"table\":\"orders\"}}",
		"{\"tool\":\"search_values\",\"arguments\":{\"text\":\"East\"}}",
		"{\"tool\":\"list_metrics\",\"arguments\":{}}",
		"{\"tool\":\"execute\",\"arguments\":{}}",
		"{\"tool\":\"\",\"arguments\":{}}",
	};
	struct fx *fx = open_all();
	struct channel *agent = fx_ready(fx, "ask", "sales-report-01");

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(tools); i++) {
		struct json *reply = call_refused(fx, agent, tools[i], NULL);

		assert_null(json_get(reply, "tables"));
		assert_null(json_get(reply, "matches"));
		assert_null(json_get(reply, "model"));
		json_free(reply);
	}
	check_others_work(fx);
	close_and_verify(fx);
}

static void test_without_a_token_nothing_is_done(void **state)
{
	struct fx *fx = open_all();
	struct channel *session = fx_connect(fx, NULL, 0)->channel;
	struct channel *agent;
	char task[48];

	(void)state;
	fx_task(fx, session, "ask", task);
	agent = fx_agent(fx, session, task, "sales-query-01", NULL)->channel;
	json_free(call_refused(fx, agent, RUN_QUERY("SELECT 1"), "token"));
	check_others_work(fx);
	close_and_verify(fx);
}

/* Tokens may be asked for as often as one likes: what they allow together stays what it was. */
static void test_more_tokens_are_not_more_calls(void **state)
{
	struct fx *fx = open_all();
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	int fine = 0;

	(void)state;
	for (int i = 0; i < 10; i++) {
		struct json *reply;

		json_free(issue(fx, agent));
		reply = fx_ok(fx, agent, "tool.call",
			      "{\"tool\":\"list_tables\",\"arguments\":{}}");
		fine += json_get_bool(reply, "ok", false);
		json_free(reply);
	}
	assert_int_equal(fine, 6);
	check_others_work(fx);
	close_and_verify(fx);
}

static void test_two_requests_for_a_token_at_once_give_one(void **state)
{
	struct fx *fx = open_all();
	struct channel *session = fx_connect(fx, NULL, 0)->channel;
	struct json *first, *second;
	struct channel *agent;
	char task[48];

	(void)state;
	fx_task(fx, session, "ask", task);
	agent = fx_agent(fx, session, task, "sales-query-01", NULL)->channel;
	fx_send(fx, agent, "token.issue", "{}", &first);
	fx_send(fx, agent, "token.issue", "{}", &second);
	fx_until(fx, first != NULL && second != NULL);
	assert_non_null(json_get(first, "result"));
	assert_string_equal(json_get_str(json_get(second, "error"), "kind"), "limit");
	json_free(first);
	json_free(second);
	check_others_work(fx);
	close_and_verify(fx);
}

static void test_a_flood_of_calls_stays_within_the_budget(void **state)
{
	struct fx *fx = open_all();
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	struct json *slots[400];
	int fine = 0, refused = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(slots); i++)
		fx_send(fx, agent, "tool.call", "{\"tool\":\"list_tables\",\"arguments\":{}}",
			&slots[i]);
	for (size_t i = 0; i < ARRAY_LEN(slots); i++) {
		fx_until(fx, slots[i] != NULL);
		fine += json_get_bool(json_get(slots[i], "result"), "ok", false);
		refused += json_get_str(json_get(slots[i], "result"), "rejected_by") != NULL;
		json_free(slots[i]);
	}
	/* Then the channel was lost, and with it what still ran. */
	assert_true(fine <= 6);
	assert_int_equal(refused, AGENT_REFUSALS_MAX);
	assert_true(fx_record_count(fx, EV_TOOL_RESULT) <= 6);
	assert_true(fx_record_count(fx, EV_TOOL_INTENT) <= CHANNEL_INFLIGHT_MAX);
	check_others_work(fx);
	close_and_verify(fx);
}

static void test_a_closed_task_cannot_be_used_again(void **state)
{
	struct fx *fx = open_all();
	struct channel *session = fx_connect(fx, NULL, 0)->channel;
	struct fx_end *agent;
	CLEANUP(mem_freep) char *again = NULL;
	CLEANUP(mem_freep) char *close_it = NULL;
	CLEANUP(mem_freep) char *event = NULL;
	char task[48];

	(void)state;
	fx_task(fx, session, "ask", task);
	agent = fx_agent(fx, session, task, "sales-query-01", NULL);
	json_free(issue(fx, agent->channel));
	close_it = with_task(task, ",\"status\":\"completed\",\"reason\":\"\"");
	json_free(fx_ok(fx, session, "task.close", close_it));
	fx_until(fx, agent->channel == NULL);
	check_error(fx, session, "task.close", close_it, "not_found", "no such task");
	again = with_task(task, ",\"agent\":\"sales-query-01\"");
	check_error(fx, session, "agent.start", again, "not_found", "no such task");
	event = with_task(task, ",\"event\":\"handoff\",\"agent\":\"sales-query-01\",\"status\":"
				"\"x\",\"contents\":{}");
	check_error(fx, session, "task.event", event, "not_found", "no such task");
	check_others_work(fx);
	close_and_verify(fx);
}

/* Every task that is opened stays in the log for ever: no user's sessions can fill the disk. */
static void test_opening_and_closing_tasks_without_end_is_stopped(void **state)
{
	struct fx *fx = open_all();
	struct channel *session = fx_connect(fx, NULL, 0)->channel;
	struct fx_end *second = fx_connect(fx, NULL, 0);
	const struct json *error = NULL;
	size_t opened = 0;

	(void)state;
	while (error == NULL && opened < 3 * TASKS_BURST_MAX) {
		struct json *answer = fx_call(fx, session, "task.open", "{\"kind\":\"ask\"}");
		CLEANUP(mem_freep) char *close_it = NULL;

		error = json_get(answer, "error");
		if (error != NULL) {
			assert_string_equal(json_get_str(error, "kind"), "limit");
			assert_non_null(strstr(json_get_str(error, "text"), "too many tasks"));
		} else {
			close_it = with_task(json_get_str(json_get(answer, "result"), "task"),
					     ",\"status\":\"completed\"");
			json_free(fx_ok(fx, session, "task.close", close_it));
			opened++;
		}
		json_free(answer);
	}
	assert_true(opened >= TASKS_BURST_MAX);
	assert_true(opened < 3 * TASKS_BURST_MAX);
	/* Another session of that user is no way round. */
	check_error(fx, second->channel, "task.open", "{\"kind\":\"mcp\"}", "limit",
		    "too many tasks");
	fx_set_user(fx, "bob", "[\"sales\"]", false);
	fx_control(fx, "{\"reload\":true}");
	fx_until(fx, second->channel == NULL); /* the next to connect is bob */
	check_others_work(fx);
	close_and_verify(fx);
}

/* ---- between sessions ---- */

static void test_a_task_of_another_session_does_not_exist(void **state)
{
	struct fx *fx = open_all();
	struct channel *mine = fx_connect(fx, NULL, 0)->channel;
	struct channel *other = fx_connect(fx, NULL, 0)->channel;
	static const char *const rests[] = {
		",\"agent\":\"sales-query-01\"",
		",\"status\":\"completed\"",
		(",\"event\":\"handoff\",\"agent\":\"sales-query-01\",\"status\":\"x\","
		 "\"contents\":{}"),
	};
	static const char *const methods[] = {"agent.start", "task.close", "task.event"};
	char task[48];

	(void)state;
	fx_task(fx, mine, "ask", task);
	for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
		CLEANUP(mem_freep) char *params = with_task(task, rests[i]);

		check_error(fx, other, methods[i], params, "not_found", "no such task");
	}
	fx_agent(fx, mine, task, "sales-query-01", NULL); /* it is still there for its own */
	check_others_work(fx);
	close_and_verify(fx);
}

#define OTHER_UID 65533

/* Who connects is read when they connect. */
static struct fx_end *connect_as_other(struct fx *fx)
{
	struct fx_end *end;

	assert_int_equal(chmod(fx->path, 0711), 0);
	assert_int_equal(chmod(fx->socket_path, 0666), 0);
	assert_int_equal(seteuid(OTHER_UID), 0);
	end = fx_connect(fx, NULL, 0);
	assert_int_equal(seteuid(0), 0);
	return end;
}

static void test_tokens_and_tasks_of_other_people_are_out_of_reach(void **state)
{
	struct fx *fx;
	struct channel *session, *agent;
	struct fx_end *bob;
	struct json *token, *list;
	CLEANUP(mem_freep) char *by_token = NULL;
	CLEANUP(mem_freep) char *by_task = NULL;
	char task[48];

	(void)state;
	if (geteuid() != 0)
		skip();
	fx = open_all();
	fx_put(fx, "users.json",
	       "{\"owner_uid\":4294967294,\"users\":["
	       "{\"uid\":0,\"name\":\"alice\",\"groups\":[\"sales\"]},"
	       "{\"uid\":65533,\"name\":\"bob\",\"groups\":[\"sales\"]}]}");
	fx_control(fx, "{\"reload\":true}");
	session = fx_connect(fx, NULL, 0)->channel;
	fx_task(fx, session, "ask", task);
	agent = fx_agent(fx, session, task, "sales-query-01", NULL)->channel;
	token = issue(fx, agent);
	bob = connect_as_other(fx);
	assert_string_equal(bob->user, "bob");
	assert_false(bob->owner);
	list = fx_ok(fx, bob->channel, "token.list", "{}");
	assert_int_equal(json_len(json_get(list, "tokens")), 0);
	json_free(list);
	by_token = mem_format("{\"token\":\"%s\"}", json_get_str(token, "jti"));
	check_error(fx, bob->channel, "token.revoke", by_token, "not_found", "no such token");
	by_task = mem_format("{\"task\":\"%s\"}", task);
	list = fx_ok(fx, bob->channel, "token.revoke", by_task);
	assert_int_equal(json_get_int(list, "revoked", -1), 0);
	json_free(list);
	check_error(fx, bob->channel, "token.revoke", "{\"user\":\"alice\"}", "denied", "owner");
	check_error(fx, bob->channel, "token.revoke", "{\"agent\":\"sales-query-01\"}", "denied",
		    "owner");
	json_free(token);
	token = fx_ok(fx, agent, "tool.call", RUN_QUERY("SELECT count(*) FROM orders"));
	assert_true(json_get_bool(token, "ok", false));
	json_free(token);
	check_others_work(fx);
	close_and_verify(fx);
}

/* ---- bytes ---- */

static int raw_session(struct fx *fx)
{
	struct fx_end *end;

	fx->raw = true;
	end = fx_connect(fx, NULL, 0);
	fx->raw = false;
	return dup(end->fd); /* ours to close; the fixture closes its own */
}

static void hang_up(struct fx *fx, int fd)
{
	for (size_t i = 0; i < fx->end_count; i++)
		if (fx->ends[i].fd >= 0) {
			close(fx->ends[i].fd);
			fx->ends[i].fd = -1;
		}
	close(fd);
}

static int raw_agent(struct fx *fx, struct channel **ret_session)
{
	struct fx_end *end;
	char task[48];

	*ret_session = fx_connect(fx, NULL, 0)->channel;
	fx_task(fx, *ret_session, "ask", task);
	fx->raw = true;
	end = fx_agent(fx, *ret_session, task, "sales-query-01", NULL);
	fx->raw = false;
	return dup(end->fd);
}

static void check_costs_the_channel(struct fx *fx, int fd, const char *name, const void *bytes,
				    size_t len)
{
	struct buf answer = BUF_INIT;

	if (raw_write(fx, fd, bytes, len) == len || errno == EPIPE || errno == ECONNRESET)
		raw_read_to_end(fx, fd, &answer);
	else
		fail_msg("%s: neither taken nor refused", name);
	assert_null(strstr(buf_str(&answer), "\"result\""));
	buf_clear(&answer);
	hang_up(fx, fd);
	if (!broker_lives(fx))
		fail_msg("%s: the broker died", name);
}

static void test_garbage_on_a_session_costs_that_session(void **state)
{
	struct fx *fx = open_all();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(garbage); i++)
		check_costs_the_channel(fx, raw_session(fx), garbage[i].name, garbage[i].bytes,
					garbage[i].len);
	check_others_work(fx);
	close_and_verify(fx);
}

static void test_garbage_on_an_agents_channel_costs_that_channel(void **state)
{
	struct fx *fx = open_all();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(garbage); i++) {
		struct channel *session;
		int fd = raw_agent(fx, &session);

		check_costs_the_channel(fx, fd, garbage[i].name, garbage[i].bytes, garbage[i].len);
		json_free(fx_ok(fx, session, "status", "{}"));
		hang_up_session(fx, session);
		fx_settle(fx);
	}
	check_others_work(fx);
	close_and_verify(fx);
}

static void test_too_deep_and_too_long_costs_the_channel(void **state)
{
	struct fx *fx = open_all();
	struct buf text = BUF_INIT;

	(void)state;
	put_deep(&text, JSON_DEPTH_MAX);
	check_costs_the_channel(fx, raw_session(fx), "too deep", text.bytes, text.len);
	buf_reset(&text);
	put_deep(&text, 100000);
	check_costs_the_channel(fx, raw_session(fx), "far too deep", text.bytes, text.len);
	buf_reset(&text);
	for (int i = 0; i < (10 << 20); i++)
		buf_add_char(&text, 'x');
	check_costs_the_channel(fx, raw_session(fx), "10 MiB without an end", text.bytes, text.len);
	buf_clear(&text);
	check_others_work(fx);
	close_and_verify(fx);
}

/* Much is asked and no answer is ever taken: the broker stops reading, and others go on. */
static void test_who_takes_no_answers_is_not_read_from(void **state)
{
	struct fx *fx = open_all();
	int fd = raw_session(fx);
	struct buf text = BUF_INIT;
	size_t taken = 0, len = 0;

	(void)state;
	for (int id = 1; id <= 400000; id++)
		buf_addf(&text, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"status\"}\n", id);
	len = text.len;
	taken = raw_write(fx, fd, text.bytes, text.len);
	assert_true(taken < len);
	check_others_work(fx);
	buf_clear(&text);
	hang_up(fx, fd);
	check_others_work(fx);
	close_and_verify(fx);
}

static void test_half_a_line_and_gone_leaves_nothing(void **state)
{
	struct fx *fx = open_all();
	static const char half[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"met";
	int fd = raw_session(fx);
	struct channel *session;

	(void)state;
	raw_write(fx, fd, half, sizeof(half) - 1);
	hang_up(fx, fd);
	fd = raw_agent(fx, &session);
	raw_write(fx, fd, half, sizeof(half) - 1);
	hang_up(fx, fd);
	check_others_work(fx);
	close_and_verify(fx);
}

static void test_an_agent_that_leaves_inside_a_call_leaves_its_record(void **state)
{
	static const char request[] =
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"token.issue\",\"params\":{}}\n";
	static const char runaway[] =
		"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tool.call\",\"params\":" RUN_QUERY(
			"WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM r) SELECT "
			"count(*) FROM r") "}\n";
	struct fx *fx = open_all();
	struct channel *session;
	struct json *record;
	char bytes[4096];
	int fd = raw_agent(fx, &session);

	(void)state;
	raw_write(fx, fd, request, sizeof(request) - 1);
	fx_until(fx, recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT) > 0);
	raw_write(fx, fd, runaway, sizeof(runaway) - 1);
	fx_until(fx, fx_record_count(fx, EV_TOOL_INTENT) == 1);
	hang_up(fx, fd);
	fx_until(fx, fx_record_count(fx, EV_TOOL_RESULT) == 1);
	record = fx_record(fx, EV_TOOL_RESULT);
	assert_string_equal(json_get_str(record, REC_STATUS), "error");
	json_free(record);
	check_others_work(fx);
	close_and_verify(fx);
}

static void test_garbage_on_the_lane_costs_the_lane(void **state)
{
	static const struct bytes lines[] = {
		BYTES("a NUL", "\0\0\0\n"),
		BYTES("an ACK of nothing", "\x06"),
		BYTES("no object", "[]\n"),
		BYTES("an object", "{\"kind\":\"session\",\"user\":\"root\",\"owner\":true}\n"),
		BYTES("an attach", "{\"attach\":\"signer\"}\n"),
		BYTES("a reload", "{\"reload\":true}\n"),
		BYTES("a stop", "{\"stop\":true}\n"),
		BYTES("binary", "\x7f\x45\x4c\x46\xff\n"),
	};
	struct fx *fx = open_all();

	(void)state;
	check_others_work(fx);
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		struct buf answer = BUF_INIT;
		int fd;

		lane_close(TAKE(fx->lane));
		fd = fx_attach_raw(fx, "{\"attach\":\"orchestrator\"}");
		fx_settle(fx);
		raw_write(fx, fd, lines[i].bytes, lines[i].len);
		raw_read_to_end(fx, fd, &answer);
		buf_clear(&answer);
		close(fd);
		if (!broker_lives(fx))
			fail_msg("%s: the broker died", lines[i].name);
	}
	fx_attach_orchestrator(fx);
	fx_settle(fx);
	check_others_work(fx);
	assert_int_equal(fx_record_count(fx, EV_POLICY_LOAD), 1); /* no reload */
	close_and_verify(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_message_can_name_another_user),
		cmocka_unit_test(test_an_agent_of_another_scope_has_nothing_for_this_user),
		cmocka_unit_test(test_authority_is_handed_over_only_as_the_scope_says),
		cmocka_unit_test(test_the_report_agent_has_no_tool_and_no_data),
		cmocka_unit_test(test_without_a_token_nothing_is_done),
		cmocka_unit_test(test_more_tokens_are_not_more_calls),
		cmocka_unit_test(test_two_requests_for_a_token_at_once_give_one),
		cmocka_unit_test(test_a_flood_of_calls_stays_within_the_budget),
		cmocka_unit_test(test_a_closed_task_cannot_be_used_again),
		cmocka_unit_test(test_opening_and_closing_tasks_without_end_is_stopped),
		cmocka_unit_test(test_a_task_of_another_session_does_not_exist),
		cmocka_unit_test(test_tokens_and_tasks_of_other_people_are_out_of_reach),
		cmocka_unit_test(test_garbage_on_a_session_costs_that_session),
		cmocka_unit_test(test_garbage_on_an_agents_channel_costs_that_channel),
		cmocka_unit_test(test_too_deep_and_too_long_costs_the_channel),
		cmocka_unit_test(test_who_takes_no_answers_is_not_read_from),
		cmocka_unit_test(test_half_a_line_and_gone_leaves_nothing),
		cmocka_unit_test(test_an_agent_that_leaves_inside_a_call_leaves_its_record),
		cmocka_unit_test(test_garbage_on_the_lane_costs_the_lane),
	};

	return cmocka_run_group_tests(tests, make_database, remove_database);
}
