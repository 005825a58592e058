/* Sessions, tasks, tokens and the life of the service. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "broker/task.h"
#include "broker/trail.h"
#include "broker_fixture.h"
#include "writ/exit_codes.h"
#include "writ/limits.h"
#include "writ/record.h"

#define RUN "{\"tool\":\"run_query\",\"arguments\":{\"sql\":\"SELECT 1\"}}"

static void check_error(struct fx *fx, struct channel *channel, const char *method,
			const char *params, const char *kind, const char *text)
{
	struct json *answer = fx_call(fx, channel, method, params);
	const struct json *error = json_get(answer, "error");

	if (error == NULL || strcmp(json_get_str(error, "kind"), kind) != 0 ||
	    strstr(json_get_str(error, "text"), text) == NULL)
		fail_msg("%s: %s", method,
			 error == NULL ? "no error" : json_get_str(error, "text"));
	json_free(answer);
}

static void test_a_mapped_user_gets_a_session_and_a_record(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct fx_end *session = fx_connect(fx, NULL, 0);
	struct json *record = fx_record(fx, EV_SESSION_OPEN);

	(void)state;
	assert_string_equal(session->user, "alice");
	assert_false(session->owner);
	assert_string_equal(json_get_str(record, REC_SESSION), session->name);
	assert_int_equal(strncmp(json_get_str(record, REC_SUBJECT), "user:", 5), 0);
	assert_null(strstr(json_get_str(record, REC_SUBJECT), "alice"));
	assert_int_equal(json_len(json_get(record, REC_COMMITS)), 1);
	json_free(record);
	fx_set_user(fx, "olga", "[]", true);
	assert_true(fx_connect(fx, NULL, 0)->owner);
	fx_close(fx);
}

static void test_someone_unmapped_gets_one_line_with_what_to_add(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct user_map *nobody = NULL;
	struct json *json = NULL;
	struct json *record;
	char line[1024] = "";
	char wanted[64];
	struct err err = {0};

	(void)state;
	assert_int_equal(json_parse_str("{\"owner_uid\":4294967294,\"users\":[]}", &json, &err), 0);
	assert_int_equal(user_map_read(json, &nobody, &err), 0);
	user_map_free(fx->broker.config->users);
	fx->broker.config->users = nobody;
	json_free(json);
	assert_null(fx_connect(fx, line, sizeof(line)));
	snprintf(wanted, sizeof(wanted), "users:\\n  uid-%lld: {groups: []}\\n",
		 (long long)geteuid());
	assert_non_null(strstr(line, "\"kind\":\"denied\""));
	assert_non_null(strstr(line, wanted));
	assert_int_equal(line[strlen(line) - 1], '\n');
	fx_set_user(fx, "alice", "[]", false);
	json_free(fx_ok(fx, fx_connect(fx, NULL, 0)->channel, "status", "{}"));
	record = fx_record(fx, EV_SESSION_REFUSED);
	assert_string_equal(json_get_str(record, REC_CODE), "not_mapped");
	json_free(record);
	fx_close(fx);
}

static int64_t fixed_us = 1800000000000000;

static int64_t fixed_clock(void)
{
	return fixed_us;
}

static void test_refusals_cannot_fill_the_log_and_none_is_forgotten(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct json *record;

	(void)state;
	fx->broker.now_us = fixed_clock;
	for (int i = 0; i < 9; i++)
		trail_session_refused(&fx->broker, 7, "not_mapped");
	assert_int_equal(fx_record_count(fx, EV_SESSION_REFUSED), 9);
	for (int i = 0; i < 4; i++)
		trail_session_refused(&fx->broker, 7, "not_mapped");
	assert_int_equal(fx_record_count(fx, EV_SESSION_REFUSED), 10);
	fixed_us += 1000000;
	trail_session_refused(&fx->broker, 7, "not_mapped");
	record = fx_record(fx, EV_SESSION_REFUSED);
	assert_int_equal(json_get_int(record, REC_COUNT, 0), 3);
	json_free(record);
	fx_close(fx);
}

static void test_a_user_has_at_most_so_many_running_tasks(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *first = fx_connect(fx, NULL, 0)->channel;
	struct channel *second = fx_connect(fx, NULL, 0)->channel;
	char task[48], last[48];
	CLEANUP(mem_freep) char *params = NULL;

	(void)state;
	for (int i = 0; i < WRIT_RUNNING_TASKS_PER_USER - 1; i++)
		fx_task(fx, first, "ask", task);
	fx_task(fx, second, "mcp", last); /* the sessions of a user count together */
	check_error(fx, first, "task.open", "{\"kind\":\"ask\"}", "limit", "4 tasks of this user");
	check_error(fx, second, "task.open", "{\"kind\":\"ask\"}", "limit", "4 tasks of this user");
	params = mem_format("{\"task\":\"%s\",\"status\":\"completed\"}", last);
	json_free(fx_ok(fx, second, "task.close", params));
	fx_task(fx, first, "ask", task);
	fx_set_user(fx, "bob", "[]", false);
	fx_task(fx, fx_connect(fx, NULL, 0)->channel, "ask", task);
	fx_close(fx);
}

static void test_tasks_are_opened_at_a_bounded_rate(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *session = fx_connect(fx, NULL, 0)->channel;
	struct broker *broker = &fx->broker;
	const char *su = broker->sessions->su;
	CLEANUP(mem_freep) char *close = NULL;
	char task[48];
	size_t records;

	(void)state;
	for (int i = 0; i < TASKS_BURST_MAX - 1; i++)
		assert_true(allowance_take(&broker->allowances, su, OPENING_TASK, fixed_us));
	broker->now_us = fixed_clock;
	fx_task(fx, session, "ask", task);
	close = mem_format("{\"task\":\"%s\",\"status\":\"completed\"}", task);
	json_free(fx_ok(fx, session, "task.close", close));
	records = fx_record_count(fx, EV_TASK_OPEN);
	check_error(fx, session, "task.open", "{\"kind\":\"ask\"}", "limit", "too many tasks");
	check_error(fx, session, "task.open", "{\"kind\":\"mcp\"}", "limit", "50 a second");
	assert_int_equal(fx_record_count(fx, EV_TASK_OPEN), records);
	/* Another user is not kept waiting, and a moment later nobody is. */
	fx_set_user(fx, "bob", "[]", false);
	fx_task(fx, fx_connect(fx, NULL, 0)->channel, "ask", task);
	fixed_us += 1000000 / TASKS_PER_SECOND_MAX;
	fx_task(fx, session, "ask", task);
	fx_close(fx);
}

static void fill_task(struct task *task, size_t left)
{
	while (task->record_count < TASK_RECORDS_MAX - left)
		task_note_record(task, task->records[task->record_count - 1]);
}

static void test_a_task_has_an_end_of_its_records_and_says_so(void **state)
{
	static const char full[] = "4096 records, its most; close it";
	struct fx *fx = fx_open(NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	struct channel *session = fx->ends[0].channel;
	struct task *task = fx->broker.sessions->tasks;
	CLEANUP(mem_freep)
	char *start = mem_format("{\"task\":\"%s\",\"agent\":\"sales-query-01\"}", task->id);
	CLEANUP(mem_freep)
	char *event = mem_format("{\"task\":\"%s\",\"event\":\"handoff\",\"agent\":"
				 "\"sales-report-01\",\"status\":\"sent\",\"contents\":{}}",
				 task->id);
	CLEANUP(mem_freep)
	char *close = mem_format("{\"task\":\"%s\",\"status\":\"limit_reached\"}", task->id);
	struct json *reply;

	(void)state;
	fill_task(task, 1);
	json_free(fx_ok(fx, agent, "tool.call", RUN)); /* two records: what was begun is noted */
	assert_int_equal(task->record_count, TASK_RECORDS_MAX + 1);
	check_error(fx, agent, "tool.call", RUN, "limit", full);
	check_error(fx, agent, "token.issue", "{}", "limit", full);
	check_error(fx, session, "agent.start", start, "limit", full);
	check_error(fx, session, "task.event", event, "limit", full);
	assert_int_equal(task->record_count, TASK_RECORDS_MAX + 1);
	reply = fx_ok(fx, session, "task.close", close);
	assert_int_equal(json_len(json_get(reply, "records")), TASK_RECORDS_MAX + 2);
	json_free(reply);
	fx_close(fx);
}

static void test_a_task_reports_a_bounded_number_of_events(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *session = fx_connect(fx, NULL, 0)->channel;
	CLEANUP(mem_freep) char *event = NULL;
	char task[48];

	(void)state;
	fx_task(fx, session, "ask", task);
	event = mem_format("{\"task\":\"%s\",\"event\":\"handoff\",\"agent\":"
			   "\"sales-report-01\",\"status\":\"sent\",\"contents\":{}}",
			   task);
	for (int i = 0; i < TASK_EVENTS_MAX; i++)
		json_free(fx_ok(fx, session, "task.event", event));
	check_error(fx, session, "task.event", event, "limit", "64 events, its most");
	assert_int_equal(fx_record_count(fx, EV_HANDOFF), TASK_EVENTS_MAX);
	fx_close(fx);
}

static void connect_refused(struct fx *fx, const char *text)
{
	char line[1024] = "";

	assert_null(fx_connect(fx, line, sizeof(line)));
	assert_non_null(strstr(line, "\"kind\":\"limit\""));
	if (strstr(line, text) == NULL)
		fail_msg("wanted \"%s\" in %s", text, line);
}

static void test_one_user_cannot_take_all_sessions(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct broker *broker = &fx->broker;
	struct json *record;

	(void)state;
	broker->capacity = (struct capacity){.sessions = 3, .sessions_per_user = 2, .agents = 9};
	fx_set_user(fx, "alice", "[]", false);
	assert_non_null(fx_connect(fx, NULL, 0));
	assert_non_null(fx_connect(fx, NULL, 0));
	connect_refused(fx, "too many sessions: this user has 2, the most for one");
	fx_set_user(fx, "bob", "[]", false);
	assert_non_null(fx_connect(fx, NULL, 0));
	connect_refused(fx, "too many sessions: all 3 of this service are taken");
	record = fx_record(fx, EV_SESSION_REFUSED);
	assert_string_equal(json_get_str(record, REC_CODE), "too_many_sessions");
	json_free(record);
	channel_close(TAKE(fx->ends[0].channel));
	fx_until(fx, broker->session_count == 2);
	assert_non_null(fx_connect(fx, NULL, 0));
	/* However few are open: connecting again and again is bounded as well. */
	for (int i = 0; i < CONNECTIONS_BURST_MAX; i++)
		IGNORE(allowance_take(&broker->allowances, broker->sessions->su, OPENING_CONNECTION,
				      broker->now_us() + 1000000),
		       "until none is left");
	broker->capacity = (struct capacity){.sessions = 9, .sessions_per_user = 9, .agents = 9};
	connect_refused(fx, "too many sessions: this user opened 4000 within a short time");
	fx_close(fx);
}

static void test_all_agents_together_are_bounded(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *session;
	CLEANUP(mem_freep) char *start = NULL;
	char task[48];

	(void)state;
	fx->broker.capacity.agents = 1;
	fx_ready(fx, "ask", "sales-query-01");
	assert_int_equal(fx->broker.agent_count, 1);
	session = fx_connect(fx, NULL, 0)->channel;
	fx_task(fx, session, "ask", task);
	start = mem_format("{\"task\":\"%s\",\"agent\":\"sales-query-01\"}", task);
	check_error(fx, session, "agent.start", start, "limit", "1 agents are at work");
	channel_close(TAKE(fx->ends[0].channel));
	fx_until(fx, fx->broker.agent_count == 0);
	json_free(fx_ok(fx, session, "agent.start", start));
	fx_close(fx);
}

static void test_an_owner_who_is_not_mapped_looks_after_the_service(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct user_map *map = NULL;
	struct json *json = NULL;
	struct fx_end *session;
	char text[128];
	struct err err;

	(void)state;
	snprintf(text, sizeof(text), "{\"owner_uid\":%lld,\"users\":[]}", (long long)geteuid());
	assert_int_equal(json_parse_str(text, &json, &err), 0);
	assert_int_equal(user_map_read(json, &map, &err), 0);
	user_map_free(fx->broker.config->users);
	fx->broker.config->users = map;
	json_free(json);
	session = fx_connect(fx, NULL, 0);
	assert_true(session->owner);
	json_free(fx_ok(fx, session->channel, "status", "{}"));
	json_free(fx_ok(fx, session->channel, "token.list", "{}"));
	json_free(fx_ok(fx, session->channel, "token.revoke", "{\"agent\":\"sales-query-01\"}"));
	snprintf(text, sizeof(text), "users:\n  uid-%lld: {groups: []}\n", (long long)geteuid());
	check_error(fx, session->channel, "task.open", "{\"kind\":\"ask\"}", "denied", text);
	check_error(fx, session->channel, "task.open", "{\"kind\":\"mcp\"}", "denied", text);
	check_error(fx, session->channel, "task.open", "{\"kind\":\"trial\"}", "denied", text);
	assert_int_equal(fx_record_count(fx, EV_TASK_OPEN), 0);
	fx_close(fx);
}

/* Opens a task under that name; the error's kind, or "" when it opened. */
static void open_named(struct fx *fx, struct channel *session, const char *name, const char *kind)
{
	CLEANUP(mem_freep)
	char *params = mem_format("{\"kind\":\"ask\",\"task\":\"%s\"}", name);
	CLEANUP(json_freep) struct json *answer = fx_call(fx, session, "task.open", params);
	const struct json *error = json_get(answer, "error");

	assert_string_equal(error != NULL ? json_get_str(error, "kind") : "", kind);
	if (error == NULL)
		assert_string_equal(json_get_str(json_get(answer, "result"), "task"), name);
}

static void reserve(struct fx *fx, struct channel *session, char out[64])
{
	CLEANUP(json_freep) struct json *answer = fx_ok(fx, session, "task.reserve", "{}");

	snprintf(out, 64, "%s", json_get_str(answer, "task"));
}

static void test_a_reserved_name_opens_one_task_of_its_own_session(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *mine = fx_connect(fx, NULL, 0)->channel;
	struct channel *other = fx_connect(fx, NULL, 0)->channel;
	char name[64], first[64], task[48];
	CLEANUP(mem_freep) char *close = NULL;
	struct json *refused;

	(void)state;
	reserve(fx, mine, name);
	assert_int_equal(strlen(name), 38);
	open_named(fx, other, name, "not_found");
	open_named(fx, mine, "t-018f0000-0000-7000-8000-000000000000", "not_found");
	open_named(fx, mine, name, "");
	open_named(fx, mine, name, "not_found");
	refused = fx_call(fx, mine, "task.reserve", "{\"task\":\"t-1\"}");
	assert_string_equal(json_get_str(json_get(refused, "error"), "kind"), "invalid");
	json_free(refused);
	/* Over the limit of running tasks the name stays reserved. */
	reserve(fx, mine, first);
	for (int i = 1; i < WRIT_RUNNING_TASKS_PER_USER; i++)
		fx_task(fx, mine, "ask", task);
	open_named(fx, mine, first, "limit");
	close = mem_format("{\"task\":\"%s\",\"status\":\"failed\"}", task);
	json_free(fx_ok(fx, mine, "task.close", close));
	open_named(fx, mine, first, "");
	fx_close(fx);
}

static void test_only_the_last_reserved_names_can_be_used(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *mine = fx_connect(fx, NULL, 0)->channel;
	char first[64], second[64], name[64];

	(void)state;
	reserve(fx, mine, first);
	reserve(fx, mine, second);
	for (int i = 1; i < TASK_NAMES_MAX; i++)
		reserve(fx, mine, name);
	open_named(fx, mine, first, "not_found");
	open_named(fx, mine, second, "");
	open_named(fx, mine, name, "");
	fx_close(fx);
}

static void test_a_task_of_another_session_does_not_exist(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *mine = fx_connect(fx, NULL, 0)->channel;
	struct channel *other = fx_connect(fx, NULL, 0)->channel;
	CLEANUP(mem_freep) char *close = NULL;
	CLEANUP(mem_freep) char *start = NULL;
	char task[48];

	(void)state;
	fx_task(fx, mine, "ask", task);
	close = mem_format("{\"task\":\"%s\",\"status\":\"completed\"}", task);
	start = mem_format("{\"task\":\"%s\",\"agent\":\"sales-query-01\"}", task);
	check_error(fx, other, "task.close", close, "not_found", "no such task");
	check_error(fx, other, "agent.start", start, "not_found", "no such task");
	json_free(fx_ok(fx, mine, "task.close", close));
	check_error(fx, mine, "task.close", close, "not_found", "no such task");
	fx_close(fx);
}

static void test_a_closed_task_has_all_its_records_and_its_proof(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	struct channel *session = fx->ends[0].channel;
	const char *task = fx->broker.sessions->tasks->id;
	CLEANUP(mem_freep)
	char *event = mem_format("{\"task\":\"%s\",\"event\":\"handoff\",\"agent\":"
				 "\"sales-report-01\",\"status\":\"sent\",\"contents\":{\"a\":1}}",
				 task);
	CLEANUP(mem_freep)
	char *close =
		mem_format("{\"task\":\"%s\",\"status\":\"completed\",\"reason\":\"A sentence "
			   "of Ada's\",\"answer\":{\"question\":\"How many?\",\"sql\":\"SELECT "
			   "1\",\"result\":{\"rows\":[[1]]},\"text\":\"One.\"}}",
			   task);
	const struct json *records;
	struct json *reply, *record;

	(void)state;
	json_free(fx_ok(fx, agent, "tool.call", RUN));
	json_free(fx_ok(fx, session, "task.event", event));
	reply = fx_ok(fx, session, "task.close", close);
	records = json_get(reply, "records");
	/* task.open, token.issue, tool.intent, tool.result, handoff, task.close */
	assert_int_equal(json_len(records), 6);
	for (size_t i = 1; i < json_len(records); i++)
		assert_true(json_int(json_at(records, i)) > json_int(json_at(records, i - 1)));
	assert_non_null(strstr(json_get_str(reply, "checkpoint"), "writ.local/"));
	assert_int_equal(json_len(json_get(reply, "disclosures")), 5);
	record = fx_record_at(fx, json_int(json_at(records, 5)));
	assert_string_equal(json_get_str(record, REC_EVENT), EV_TASK_CLOSE);
	assert_string_equal(json_get_str(record, REC_STATUS), "completed");
	assert_null(json_get(record, REC_CAUSE)); /* a sentence is not written in clear */
	assert_int_equal(json_len(json_get(record, REC_COMMITS)), 5);
	json_free(record);
	record = fx_record_at(fx, json_int(json_at(records, 4)));
	assert_string_equal(json_get_str(record, REC_SOURCE), "reported");
	assert_string_equal(json_get_str(record, REC_CLIENT), "sales-report-01");
	json_free(record);
	json_free(reply);
	reply = fx_ok(fx, session, "token.list", "{}");
	assert_true(json_get_bool(json_at(json_get(reply, "tokens"), 0), "revoked", false));
	assert_string_equal(json_get_str(json_at(json_get(reply, "tokens"), 0), "cause"),
			    "task closed");
	json_free(reply);
	fx_until(fx, fx->ends[2].channel == NULL); /* the agent's */
	fx_close(fx);
}

static void test_a_session_that_ends_takes_its_tasks_along(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct fx_end *other = fx_connect(fx, NULL, 0);
	struct fx_end *session = fx_connect(fx, NULL, 0);
	struct json *record;
	char task[48];

	(void)state;
	fx_task(fx, session->channel, "ask", task);
	channel_close(TAKE(session->channel));
	fx_until(fx, fx->broker.session_count == 1);
	json_free(fx_ok(fx, other->channel, "status", "{}"));
	record = fx_record(fx, EV_TASK_CLOSE);
	assert_string_equal(json_get_str(record, REC_TASK), task);
	assert_string_equal(json_get_str(record, REC_STATUS), "cancelled");
	assert_string_equal(json_get_str(record, REC_CAUSE), "disconnected");
	json_free(record);
	fx_close(fx);
}

static void test_a_token_lasts_no_longer_than_the_agent_has_time(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *session = fx_connect(fx, NULL, 0)->channel;
	struct channel *agent;
	struct json *reply, *record;
	int64_t now;
	char task[48];

	(void)state;
	fx_task(fx, session, "ask", task);
	agent = fx_agent(fx, session, task, "sales-query-01", NULL)->channel;
	now = broker_now_s(&fx->broker);
	reply = fx_ok(fx, agent, "token.issue", "{}");
	assert_in_range(json_get_int(reply, "expires", 0), now + 59, now + 61); /* time: 60s */
	assert_int_equal(json_len(json_get(reply, "tools")), 7);
	assert_int_equal(json_get_int(json_get(reply, "limits"), "tool_calls_left", 0), 6);
	fx_task(fx, session, "ask", task); /* anything durable, so that the record is on disk */
	record = fx_record(fx, EV_TOKEN_ISSUE);
	assert_string_equal(json_get_str(record, REC_JTI), json_get_str(reply, "jti"));
	assert_int_equal(json_get_int(record, REC_EXPIRES, 0), json_get_int(reply, "expires", 1));
	assert_int_equal(strlen(json_get_str(record, REC_TOKEN_HASH)), 64);
	json_free(record);
	json_free(reply);
	fx->broker.sessions->tasks->next->deadline_ms = (int64_t)uv_now(&fx->loop);
	check_error(fx, agent, "token.issue", "{}", "limit", "time of this task is up");
	reply = fx_ok(fx, agent, "tool.call", RUN);
	assert_string_equal(json_get_str(reply, "rejected_by"), "budget");
	json_free(reply);
	fx_close(fx);
}

static void test_a_child_is_bound_to_its_parent_and_falls_with_it(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *session = fx_connect(fx, NULL, 0)->channel;
	struct channel *agent, *child;
	CLEANUP(mem_freep) char *revoke = NULL;
	CLEANUP(mem_freep) char *wrong = NULL;
	struct json *parent, *reply;
	char task[48];
	const char *jti;

	(void)state;
	fx_task(fx, session, "ask", task);
	agent = fx_agent(fx, session, task, "sales-query-01", NULL)->channel;
	parent = fx_ok(fx, agent, "token.issue", "{}");
	jti = json_get_str(parent, "jti");
	wrong = mem_format("{\"task\":\"%s\",\"agent\":\"sales-query-01\",\"parent\":\"%s\"}", task,
			   jti);
	check_error(fx, session, "agent.start", wrong, "denied", "does not hand over");
	mem_free(wrong);
	wrong = mem_format("{\"task\":\"%s\",\"agent\":\"sales-report-01\",\"parent\":\"x\"}",
			   task);
	check_error(fx, session, "agent.start", wrong, "denied", "not a token of this task");
	mem_free(wrong);
	wrong = mem_format("{\"task\":\"%s\",\"agent\":\"nobody\"}", task);
	check_error(fx, session, "agent.start", wrong, "not_found", "no scope file defines");
	child = fx_agent(fx, session, task, "sales-report-01", jti)->channel;
	reply = fx_ok(fx, child, "token.issue", "{}");
	json_free(reply);
	revoke = mem_format("{\"token\":\"%s\",\"cause\":\"test\"}", jti);
	reply = fx_ok(fx, session, "token.revoke", revoke);
	assert_int_equal(json_get_int(reply, "revoked", 0), 2);
	json_free(reply);
	reply = fx_ok(fx, agent, "tool.call", RUN);
	assert_string_equal(json_get_str(reply, "rejected_by"), "token");
	json_free(reply);
	check_error(fx, agent, "token.issue", "{}", "denied", "revoked");
	check_error(fx, child, "token.issue", "{}", "denied", "revoked");
	json_free(parent);
	fx_close(fx);
}

/* The signer is slow, and the revocation comes first. */
static void test_a_token_revoked_while_it_is_signed_is_never_given(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *session = fx_connect(fx, NULL, 0)->channel;
	struct channel *agent;
	CLEANUP(mem_freep) char *revoke = NULL;
	CLEANUP(mem_freep) char *start = NULL;
	struct json *slot, *reply;
	char task[48];

	(void)state;
	fx_task(fx, session, "ask", task);
	agent = fx_agent(fx, session, task, "sales-query-01", NULL)->channel;
	revoke = mem_format("{\"task\":\"%s\"}", task);
	/* Both leave in the same turn: the broker reads the session first or the agent first, and
	 * in neither case may a usable token remain. */
	fx_send(fx, agent, "token.issue", "{}", &slot);
	reply = fx_ok(fx, session, "token.revoke", revoke);
	json_free(reply);
	fx_until(fx, slot != NULL);
	json_free(slot);
	reply = fx_ok(fx, agent, "tool.call", RUN);
	assert_string_equal(json_get_str(reply, "rejected_by"), "token");
	json_free(reply);
	check_error(fx, agent, "token.issue", "{}", "denied", "revoked");
	start = mem_format("{\"task\":\"%s\",\"agent\":\"sales-report-01\"}", task);
	check_error(fx, session, "agent.start", start, "denied", "was revoked");
	fx_close(fx);
}

static void test_only_the_owner_revokes_by_agent_and_user(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	struct channel *owner;
	struct json *reply, *record;

	(void)state;
	fx_set_user(fx, "olga", "[]", true);
	owner = fx_connect(fx, NULL, 0)->channel;
	reply = fx_ok(fx, owner, "token.list", "{}");
	assert_int_equal(json_len(json_get(reply, "tokens")), 1); /* alice's */
	assert_string_equal(json_get_str(json_at(json_get(reply, "tokens"), 0), "user"), "alice");
	json_free(reply);
	reply = fx_ok(fx, owner, "token.revoke", "{\"user\":\"bob\"}");
	assert_int_equal(json_get_int(reply, "revoked", -1), 0);
	json_free(reply);
	reply = fx_ok(fx, agent, "tool.call", RUN);
	assert_true(json_get_bool(reply, "ok", false));
	json_free(reply);
	reply = fx_ok(fx, owner, "token.revoke", "{\"user\":\"alice\",\"cause\":\"left\"}");
	assert_int_equal(json_get_int(reply, "revoked", -1), 1);
	record = fx_record_at(fx, json_get_int(reply, "record", -1));
	assert_string_equal(json_get_str(record, REC_EVENT), EV_TOKEN_REVOKE);
	assert_string_equal(json_get_str(record, REC_CAUSE), "left");
	assert_int_equal(json_get_int(record, REC_COUNT, -1), 1);
	json_free(record);
	json_free(reply);
	reply = fx_ok(fx, agent, "tool.call", RUN);
	assert_string_equal(json_get_str(reply, "rejected_by"), "token");
	json_free(reply);
	reply = fx_ok(fx, owner, "token.revoke", "{\"agent\":\"sales-query-01\"}");
	assert_int_equal(json_get_int(reply, "revoked", -1), 0);
	json_free(reply);
	fx_close(fx);
}

static void test_revoking_works_when_the_log_has_stopped(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	struct channel *session = fx->ends[0].channel;
	CLEANUP(mem_freep)
	char *revoke = mem_format("{\"task\":\"%s\"}", fx->broker.sessions->tasks->id);
	struct json *reply;

	(void)state;
	fx->signer_fail = "head.sign";
	json_free(fx_ok(fx, agent, "tool.call", RUN));
	check_error(fx, session, "task.open", "{\"kind\":\"ask\"}", "unavailable",
		    "the audit log has stopped");
	check_error(fx, agent, "token.issue", "{}", "unavailable", "the audit log has stopped");
	reply = fx_ok(fx, session, "token.revoke", revoke);
	assert_int_equal(json_get_int(reply, "revoked", 0), 1);
	assert_true(json_is_null(json_get(reply, "record")));
	json_free(reply);
	reply = fx_ok(fx, fx_connect(fx, NULL, 0)->channel, "status", "{}");
	assert_string_equal(json_get_str(json_get(reply, "audit"), "state"), "stopped");
	json_free(reply);
	fx_close(fx);
}

static void test_a_bad_reload_keeps_the_old_policy_and_is_recorded(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	CLEANUP(mem_freep) char *before = mem_str(bundle_digest(fx->broker.config->bundle));
	int64_t epoch = token_store_epoch(fx->broker.store);
	struct json *record, *reply;

	(void)state;
	fx_put(fx, "users.json", "{\"owner_uid\":1,");
	fx_control(fx, "{\"reload\":true}");
	fx_until(fx, fx->broker.reloads.refused == 1);
	reply = fx_ok(fx, agent, "tool.call", RUN);
	assert_true(json_get_bool(reply, "ok", false));
	json_free(reply);
	assert_string_equal(bundle_digest(fx->broker.config->bundle), before);
	assert_int_equal(token_store_epoch(fx->broker.store), epoch);
	record = fx_record(fx, EV_POLICY_LOAD);
	assert_string_equal(json_get_str(record, REC_STATUS), "error");
	json_free(record);
	fx_close(fx);
}

static void test_a_reload_takes_rights_away_at_once(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	int64_t epoch = token_store_epoch(fx->broker.store);
	struct json *reply;

	(void)state;
	fx_put(fx, "users.json",
	       "{\"owner_uid\":4294967294,\"users\":[],\"anyone\":{\"groups\":[]}}");
	fx_control(fx, "{\"reload\":true}");
	fx_until(fx, fx->broker.session_count == 0); /* "alice" no longer stands for this uid */
	fx_until(fx, fx->ends[0].channel == NULL);
	(void)agent;
	fx_set_user(fx, "alice", "[\"sales\"]", false);
	agent = fx_ready(fx, "ask", "sales-query-01");
	epoch = token_store_epoch(fx->broker.store);
	fx_set_user(fx, "alice", "[\"marketing\"]", false);
	fx_control(fx, "{\"reload\":true}");
	fx_until(fx, token_store_epoch(fx->broker.store) == epoch + 1);
	reply = fx_ok(fx, agent, "tool.call", RUN);
	assert_string_equal(json_get_str(reply, "rejected_by"), "policy");
	json_free(reply);
	fx_close(fx);
}

static void test_without_the_orchestrator_sessions_end_and_another_goes_on(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct fx_end *session = fx_connect(fx, NULL, 0);

	(void)state;
	lane_close(TAKE(fx->lane));
	fx_until(fx, fx->broker.orchestrator == NULL && fx->broker.session_count == 0);
	fx_until(fx, session->channel == NULL);
	fx_attach_orchestrator(fx);
	json_free(fx_ok(fx, fx_connect(fx, NULL, 0)->channel, "status", "{}"));
	fx_close(fx);
}

static void test_a_signer_that_comes_back_is_taken_if_it_is_the_same(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	struct json *reply;

	(void)state;
	json_free(fx_ok(fx, agent, "tool.call", RUN));
	fx_settle(fx);
	channel_close(TAKE(fx->signer_end));
	fx_until(fx, !signer_client_up(fx->broker.signer));
	fx->signer.resumed = false; /* a new process that read its last head */
	fx_attach_signer(fx);
	fx_until(fx, signer_client_up(fx->broker.signer));
	reply = fx_ok(fx, agent, "tool.call", RUN);
	assert_true(json_get_bool(reply, "ok", false));
	json_free(reply);
	fx_close(fx);
}

static void test_requests_wait_for_a_signer_that_is_being_restarted(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	struct json *slot;

	(void)state;
	json_free(fx_ok(fx, agent, "tool.call", RUN));
	fx_settle(fx);
	channel_close(TAKE(fx->signer_end));
	fx_until(fx, !signer_client_up(fx->broker.signer));
	fx_send(fx, agent, "tool.call", RUN, &slot);
	fx_settle(fx);
	assert_null(slot); /* nothing leaves unsigned */
	fx->signer.resumed = false;
	fx_attach_signer(fx);
	fx_until(fx, slot != NULL);
	assert_true(json_get_bool(json_get(slot, "result"), "ok", false));
	json_free(slot);
	fx_close(fx);
}

/* Ends the signer once it was asked for a head so many times; the next one is attached. */
static void end_while_signing(struct fx *fx, size_t times)
{
	fx_until(fx, fx->signer_muted == times);
	channel_close(TAKE(fx->signer_end));
	fx_until(fx, !signer_client_up(fx->broker.signer));
	fx->signer.resumed = false;
	fx_attach_signer(fx);
}

static void test_a_signer_that_dies_over_a_head_does_not_stop_the_log(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	struct json *slot, *reply;
	struct err why;

	(void)state;
	fx_settle(fx);
	fx->signer_mute = "head.sign";
	fx_send(fx, agent, "tool.call", RUN, &slot);
	end_while_signing(fx, 1);
	fx_until(fx, fx->signer_muted == 2); /* asked again by itself */
	assert_null(slot);
	fx->signer_mute = NULL;
	channel_close(TAKE(fx->signer_end));
	fx_until(fx, !signer_client_up(fx->broker.signer));
	fx->signer.resumed = false;
	fx_attach_signer(fx);
	fx_until(fx, slot != NULL);
	assert_true(json_get_bool(json_get(slot, "result"), "ok", false));
	json_free(slot);
	assert_false(audit_stopped(fx->broker.audit, &why));
	reply = fx_ok(fx, agent, "tool.call", RUN);
	assert_true(json_get_bool(reply, "ok", false));
	json_free(reply);
	fx_close(fx);
}

static void test_a_request_that_ends_every_signer_is_given_up(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	struct json *slot;
	struct err why;

	(void)state;
	fx_settle(fx);
	fx->signer_mute = "head.sign";
	fx_send(fx, agent, "tool.call", RUN, &slot);
	for (size_t times = 1; times <= 3; times++)
		end_while_signing(fx, times);
	fx_until(fx, slot != NULL);
	assert_string_equal(json_get_str(json_get(slot, "result"), "rejected_by"), "unavailable");
	json_free(slot);
	assert_int_equal(fx->signer_muted, 3);
	assert_true(audit_stopped(fx->broker.audit, &why));
	assert_non_null(strstr(why.text, "the signer ended"));
	fx_close(fx);
}

static void test_before_the_signer_nobody_is_let_in(void **state)
{
	struct fx *fx = fx_open_bare(NULL);

	(void)state;
	fx_attach_orchestrator(fx);
	fx_attach_connector(fx, "sales");
	fx_settle(fx);
	assert_int_equal(fx->broker.phase, PHASE_STARTING);
	fx_attach_signer(fx);
	json_free(fx_ok(fx, fx_connect(fx, NULL, 0)->channel, "status", "{}"));
	fx_close(fx);
}

static void test_a_log_that_cannot_be_opened_ends_the_service(void **state)
{
	struct fx *fx = fx_open_bare(NULL);
	CLEANUP(mem_freep) char *path = mem_format("%s/state/audit", fx->path);
	FILE *file = fopen(path, "w"); /* a file where the folder belongs */

	(void)state;
	assert_non_null(file);
	fclose(file);
	fx_attach_signer(fx);
	fx_until(fx, fx->closed);
	assert_int_not_equal(fx->broker.exit_code, EXIT_FINE);
	fx_close(fx);
}

static void test_stopping_lets_a_running_call_finish(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	struct json *prepared = NULL;
	struct json *executed = NULL;
	struct json *slot;
	struct err err = {0};

	(void)state;
	fx->connector_by_hand = true;
	fx_send(fx, agent, "tool.call", RUN, &slot);
	fx_until(fx, fx->asked_count == 1);
	fx_control(fx, "{\"stop\":true}");
	fx_until(fx, fx->broker.phase == PHASE_STOPPING);
	check_error(fx, agent, "tool.call", RUN, "unavailable", "the service is stopping");
	assert_int_equal(json_parse_str(fx->prepared, &prepared, &err), 0);
	channel_reply(fx->connector, fx->asked[0].id, prepared);
	fx_until(fx, fx->asked_count == 2);
	assert_int_equal(json_parse_str(fx->executed, &executed, &err), 0);
	channel_reply(fx->connector, fx->asked[1].id, executed);
	fx_until(fx, slot != NULL);
	assert_true(json_get_bool(json_get(slot, "result"), "ok", false));
	json_free(slot);
	fx_until(fx, fx->closed);
	assert_int_equal(fx->broker.exit_code, EXIT_FINE);
	fx_close(fx);
}

static void test_a_call_that_hangs_does_not_hold_the_stop_up(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");
	struct json *slot;

	(void)state;
	fx->broker.stop_wait_ms = 50;
	fx->connector_by_hand = true;
	fx_send(fx, agent, "tool.call", RUN, &slot);
	fx_until(fx, fx->asked_count == 1);
	fx_control(fx, "{\"stop\":true}");
	fx_until(fx, slot != NULL);
	assert_string_equal(json_get_str(json_get(slot, "result"), "rejected_by"), "unavailable");
	json_free(slot);
	fx_until(fx, fx->closed);
	assert_int_equal(fx->broker.exit_code, EXIT_FINE);
	fx_close(fx);
}

static void test_a_task_whose_time_is_up_has_its_calls_cancelled(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent;
	struct json *canceled = NULL;
	struct json *slot, *reply;
	struct err err = {0};

	(void)state;
	fx->broker.task_ms = 300;
	agent = fx_ready(fx, "ask", "sales-query-01");
	fx->connector_by_hand = true;
	fx_send(fx, agent, "tool.call", RUN, &slot);
	fx_until(fx, fx->asked_count == 2);
	assert_string_equal(fx->asked[1].method, "cancel");
	assert_int_equal(json_parse_str("{\"ok\":false,\"error\":\"canceled\",\"rejected_by\":"
					"\"canceled\",\"hint\":\"-\"}",
					&canceled, &err),
			 0);
	channel_reply(fx->connector, fx->asked[0].id, canceled);
	fx_until(fx, slot != NULL);
	assert_string_equal(json_get_str(json_get(slot, "result"), "rejected_by"), "budget");
	json_free(slot);
	reply = fx_ok(fx, agent, "tool.call", RUN);
	assert_string_equal(json_get_str(reply, "error"), "the time of this task is up");
	json_free(reply);
	check_error(fx, agent, "token.issue", "{}", "limit", "time of this task is up");
	fx_close(fx);
}

static void test_a_signer_of_another_log_ends_the_service(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent = fx_ready(fx, "ask", "sales-query-01");

	(void)state;
	json_free(fx_ok(fx, agent, "tool.call", RUN));
	fx_settle(fx);
	channel_close(TAKE(fx->signer_end));
	fx_until(fx, !signer_client_up(fx->broker.signer));
	fx->signer.resumed = false;
	fx->signer.last.size += 7; /* it signed heads we do not know */
	fx_attach_signer(fx);
	fx_until(fx, fx->closed);
	assert_int_equal(fx->broker.exit_code, EXIT_AUDIT_DAMAGED);
	fx_close(fx);
}

static void test_status_names_every_part(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct json *status = fx_ok(fx, fx_connect(fx, NULL, 0)->channel, "status", "{}");

	(void)state;
	assert_string_equal(json_get_str(json_get(status, "policy"), "digest"),
			    bundle_digest(fx->broker.config->bundle));
	assert_int_equal(json_get_int(json_get(status, "policy"), "agents", 0), 2);
	assert_int_equal(json_get_int(json_get(status, "policy"), "rules", 0), 3);
	assert_string_equal(json_get_str(status, "signer"), "up");
	assert_string_equal(json_get_str(json_at(json_get(status, "connectors"), 0), "state"),
			    "up");
	assert_int_equal(json_get_int(status, "sessions", 0), 1);
	json_free(status);
	fx_close(fx);
}

static void test_with_two_sources_the_database_must_be_named(void **state)
{
	struct fx *fx = fx_open(NULL);
	struct channel *agent;
	struct json *reply;

	(void)state;
	fx_attach_connector(fx, "company"); /* no rule grants any of it */
	agent = fx_ready(fx, "ask", "sales-query-01");
	fx_attach_connector(fx, "sales");
	fx_settle(fx);
	reply = fx_ok(fx, agent, "tool.list", "{}");
	assert_int_equal(json_len(json_get(reply, "tools")), 7);
	json_free(reply);
	reply = fx_ok(fx, agent, "tool.call", RUN); /* only one of them is in sight */
	assert_true(json_get_bool(reply, "ok", false));
	json_free(reply);
	reply = fx_ok(fx, agent, "tool.call",
		      "{\"tool\":\"run_query\",\"arguments\":{\"sql\":\"SELECT 1\",\"database\":"
		      "\"company\"}}");
	assert_string_equal(json_get_str(reply, "error"), "there is no database \"company\"");
	json_free(reply);
	reply = fx_ok(fx, agent, "tool.call",
		      "{\"tool\":\"run_query\",\"arguments\":{\"sql\":\"SELECT 1\",\"database\":"
		      "\"sales\"}}");
	assert_true(json_get_bool(reply, "ok", false));
	json_free(reply);
	fx_close(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_mapped_user_gets_a_session_and_a_record),
		cmocka_unit_test(test_someone_unmapped_gets_one_line_with_what_to_add),
		cmocka_unit_test(test_refusals_cannot_fill_the_log_and_none_is_forgotten),
		cmocka_unit_test(test_a_user_has_at_most_so_many_running_tasks),
		cmocka_unit_test(test_tasks_are_opened_at_a_bounded_rate),
		cmocka_unit_test(test_a_task_has_an_end_of_its_records_and_says_so),
		cmocka_unit_test(test_a_task_reports_a_bounded_number_of_events),
		cmocka_unit_test(test_one_user_cannot_take_all_sessions),
		cmocka_unit_test(test_all_agents_together_are_bounded),
		cmocka_unit_test(test_an_owner_who_is_not_mapped_looks_after_the_service),
		cmocka_unit_test(test_a_reserved_name_opens_one_task_of_its_own_session),
		cmocka_unit_test(test_only_the_last_reserved_names_can_be_used),
		cmocka_unit_test(test_a_task_of_another_session_does_not_exist),
		cmocka_unit_test(test_a_closed_task_has_all_its_records_and_its_proof),
		cmocka_unit_test(test_a_session_that_ends_takes_its_tasks_along),
		cmocka_unit_test(test_a_token_lasts_no_longer_than_the_agent_has_time),
		cmocka_unit_test(test_a_child_is_bound_to_its_parent_and_falls_with_it),
		cmocka_unit_test(test_a_token_revoked_while_it_is_signed_is_never_given),
		cmocka_unit_test(test_only_the_owner_revokes_by_agent_and_user),
		cmocka_unit_test(test_revoking_works_when_the_log_has_stopped),
		cmocka_unit_test(test_a_bad_reload_keeps_the_old_policy_and_is_recorded),
		cmocka_unit_test(test_a_reload_takes_rights_away_at_once),
		cmocka_unit_test(test_without_the_orchestrator_sessions_end_and_another_goes_on),
		cmocka_unit_test(test_a_signer_that_comes_back_is_taken_if_it_is_the_same),
		cmocka_unit_test(test_requests_wait_for_a_signer_that_is_being_restarted),
		cmocka_unit_test(test_a_signer_that_dies_over_a_head_does_not_stop_the_log),
		cmocka_unit_test(test_a_request_that_ends_every_signer_is_given_up),
		cmocka_unit_test(test_before_the_signer_nobody_is_let_in),
		cmocka_unit_test(test_a_log_that_cannot_be_opened_ends_the_service),
		cmocka_unit_test(test_stopping_lets_a_running_call_finish),
		cmocka_unit_test(test_a_call_that_hangs_does_not_hold_the_stop_up),
		cmocka_unit_test(test_a_task_whose_time_is_up_has_its_calls_cancelled),
		cmocka_unit_test(test_a_signer_of_another_log_ends_the_service),
		cmocka_unit_test(test_status_names_every_part),
		cmocka_unit_test(test_with_two_sources_the_database_must_be_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
