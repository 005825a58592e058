/* The double of the broker and of the agents; see scripted_broker.h. */
#include "scripted_broker.h"

#include <dirent.h>
#include <signal.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "orchestrator/agent_wait.h"
#include "orchestrator/queue.h"

#define TURNS_MAX 20000

static struct sb *current; /* the doubles have no other way to it */

static const char config[] = "{\"name\":\"sales\",\"today\":\"2026-10-15\",\"timezone\":\"UTC\","
			     "\"agents\":{\"query\":\"q-1\",\"report\":\"r-1\"}}";

static struct json *parse(const char *text)
{
	struct json *json = NULL;
	struct err err = {0};

	if (json_parse_str(text, &json, &err) < 0)
		fail_msg("%s: %s", err.text, text);
	return json;
}

static int count_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;

	assert_non_null(dir);
	while (readdir(dir) != NULL)
		count++;
	closedir(dir);
	return count;
}

/* ---- the doubles ---- */

static int agent_begins(struct sb_agent *agent, const struct handoff *handoff, int fd, void *data,
			trace_fn *trace, struct err *err)
{
	assert_false(agent->running);
	if (agent->refuse != NULL) {
		close(fd);
		return err_set(err, ERR_IO, "%s", TAKE(agent->refuse));
	}
	agent->running = true;
	agent->starts++;
	json_free(agent->handoff);
	agent->handoff = handoff_to_json(handoff);
	agent->channel_fd = fd;
	agent->data = data;
	agent->trace = trace;
	return 0;
}

static void agent_ends(struct sb_agent *agent)
{
	assert_true(agent->running);
	agent->running = false;
	close(agent->channel_fd);
}

int query_agent_start(uv_loop_t *loop, const struct query_agent_options *options,
		      struct query_agent **ret_agent, struct err *err)
{
	struct sb_agent *agent = &current->query;

	assert_ptr_equal(loop, &current->loop);
	if (agent_begins(agent, options->handoff, options->channel_fd, options->data,
			 options->trace, err) < 0)
		return -1;
	agent->query_done = options->done;
	agent->fixed = options->fixed;
	snprintf(agent->first_sql, sizeof(agent->first_sql), "%s",
		 options->first_sql != NULL ? options->first_sql : "");
	*ret_agent = (struct query_agent *)agent;
	return 0;
}

void query_agent_cancel(struct query_agent *agent)
{
	assert_ptr_equal(agent, &current->query);
	current->query.cancels++;
}

int report_agent_start(uv_loop_t *loop, const struct report_agent_options *options,
		       struct report_agent **ret_agent, struct err *err)
{
	struct sb_agent *agent = &current->report;

	assert_ptr_equal(loop, &current->loop);
	if (agent_begins(agent, options->handoff, options->channel_fd, options->data,
			 options->trace, err) < 0)
		return -1;
	agent->report_done = options->done;
	*ret_agent = (struct report_agent *)agent;
	return 0;
}

void report_agent_cancel(struct report_agent *agent)
{
	assert_ptr_equal(agent, &current->report);
	current->report.cancels++;
}

void sanity_start(struct channel *channel, const struct checks_input *input,
		  const struct json *result, sanity_done *done, void *data)
{
	assert_non_null(channel);
	assert_non_null(input->sql);
	assert_true(json_get_bool(result, "ok", false));
	current->checks = (struct sb_checks){current->checks.runs + 1, done, data};
}

void sb_query_ends(struct sb *sb, const char *status)
{
	struct query_outcome outcome = {
		.status = status,
		.jti = "j-1",
		.tool_calls = 3,
		.columns = parse("[{\"name\":\"net_sales\",\"unit\":\"USD\"}]"),
		.flags = parse("[]")};

	if (strcmp(status, "completed") == 0 || strcmp(status, "limit_reached") == 0) {
		outcome.sql = "SELECT 850.0 AS net_sales";
		outcome.result = parse("{\"columns\":[\"net_sales\"],\"types\":[\"real\"],\"rows\":"
				       "[[850.0]],\"row_count\":1,\"truncated\":false,"
				       "\"bytes_scanned\":4096}");
	} else {
		outcome.reason = "because";
		outcome.hint = "do that";
	}
	if (strcmp(status, "needs_input") == 0)
		outcome.question = parse("{\"text\":\"Which?\",\"parts\":[{\"name\":\"metric\","
					 "\"choices\":[{\"value\":\"net_sales\"}]}]}");
	agent_ends(&sb->query);
	sb->query.query_done(sb->query.data, &outcome);
	json_free(outcome.columns);
	json_free(outcome.flags);
	json_free(outcome.result);
	json_free(outcome.question);
}

void sb_report_ends(struct sb *sb, const char *text, const char *why)
{
	struct err err = {0};

	if (text == NULL)
		err_set(&err, ERR_TIMEOUT, "%s", why);
	agent_ends(&sb->report);
	sb->report.report_done(sb->report.data, text, text != NULL ? why : NULL,
			       text != NULL ? NULL : &err);
}

void sb_checks_end(struct sb *sb, const char *flags)
{
	sanity_done *done = TAKE(sb->checks.done);

	assert_non_null(done);
	done(sb->checks.data, parse(flags), &(struct sanity_spent){.tool_calls = 1});
}

/* ---- channels ---- */

static void on_request(struct channel *channel, void *owner, int64_t id, const char *method,
		       const struct json *params)
{
	struct sb *sb = owner;
	struct sb_request *request = &sb->requests[sb->request_count++];

	assert_true(sb->request_count < SB_MAX);
	*request = (struct sb_request){.on = channel, .id = id};
	snprintf(request->method, sizeof(request->method), "%s", method);
	request->params = params != NULL ? json_copy(params) : json_object();
}

static void on_close(struct channel *channel, void *owner, const struct err *why)
{
	struct sb *sb = owner;

	(void)why;
	if (sb->broker == channel)
		sb->broker = NULL;
	if (sb->client == channel)
		sb->client = NULL;
	for (size_t i = 0; i < sb->agent_count; i++)
		if (sb->agents[i] == channel)
			sb->agents[i] = NULL;
	for (size_t i = 0; i < sb->request_count; i++)
		if (sb->requests[i].on == channel)
			sb->requests[i].taken = true;
}

static const struct channel_handlers handlers = {.on_request = on_request, .on_close = on_close};

static void on_lane(struct lane *lane, void *owner, const struct json *message, int fd)
{
	(void)lane;
	(void)owner;
	(void)message;
	close(fd);
	fail_msg("the orchestrator sends nothing on the lane");
}

static void on_lane_close(struct lane *lane, void *owner, const struct err *why)
{
	struct sb *sb = owner;

	(void)lane;
	(void)why;
	sb->lane = NULL;
}

void sb_settle(struct sb *sb)
{
	for (int idle = 0; idle < 12; idle++) {
		uv_run(&sb->loop, UV_RUN_NOWAIT);
		if (idle > 6)
			usleep(100);
	}
}

struct channel *sb_lane(struct sb *sb, const char *message)
{
	int ends[2];
	struct channel *channel;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	channel = channel_open(&sb->loop, ends[0], "far", &handlers, sb);
	if (strstr(message, "\"agent\"") != NULL)
		sb->agents[sb->agent_count++] = channel;
	lane_send(sb->lane, parse(message), ends[1]);
	sb_settle(sb);
	return channel;
}

struct channel *sb_session(struct sb *sb, const char *id, const char *user, bool owner,
			   struct channel **ret_client)
{
	CLEANUP(mem_freep)
	char *session = mem_format("{\"kind\":\"session\",\"session\":\"%s\",\"user\":\"%s\","
				   "\"owner\":%s}",
				   id, user, owner ? "true" : "false");
	CLEANUP(mem_freep)
	char *client = mem_format("{\"kind\":\"client\",\"session\":\"%s\"}", id);
	struct channel *broker = sb_lane(sb, session);

	*ret_client = sb_lane(sb, client);
	return broker;
}

/* ---- the script ---- */

static struct sb_request *next_request(struct sb *sb, const struct channel *on)
{
	for (size_t i = 0; i < sb->request_count; i++)
		if (!sb->requests[i].taken && sb->requests[i].on == on)
			return &sb->requests[i];
	return NULL;
}

struct sb_request *sb_expect(struct sb *sb, const struct channel *on, const char *method)
{
	struct sb_request *request = next_request(sb, on);

	for (int turns = 0; request == NULL && turns < TURNS_MAX; turns++) {
		if (uv_run(&sb->loop, UV_RUN_NOWAIT) == 0 || turns > 100)
			usleep(100);
		request = next_request(sb, on);
	}
	if (request == NULL)
		fail_msg("%s did not come", method);
	if (strcmp(request->method, method) != 0)
		fail_msg("%s came, not %s", request->method, method);
	request->taken = true;
	return request;
}

bool sb_quiet(struct sb *sb, const struct channel *on)
{
	sb_settle(sb);
	return next_request(sb, on) == NULL;
}

void sb_reply(struct sb_request *request, const char *json)
{
	channel_reply(request->on, request->id, parse(json));
}

void sb_fail(struct sb_request *request, enum err_kind kind, const char *text)
{
	struct err err = {0};

	err_set(&err, kind, "%s", text);
	channel_fail(request->on, request->id, &err, NULL);
}

static void on_answer(void *data, const struct json *result, const struct err *err)
{
	struct sb_answer *answer = data;

	answer->come = true;
	if (err != NULL)
		answer->err = *err;
	else
		answer->result = json_copy(result);
}

size_t sb_ask_on(struct sb *sb, struct channel *client, const char *method, const char *params)
{
	size_t number = sb->answer_count++;

	assert_true(sb->answer_count < SB_MAX);
	sb->answers[number].sb = sb;
	assert_true(channel_call(client, method, parse(params), 0, on_answer,
				 &sb->answers[number]) > 0);
	sb_settle(sb);
	return number;
}

size_t sb_ask(struct sb *sb, const char *method, const char *params)
{
	return sb_ask_on(sb, sb->client, method, params);
}

bool sb_answered(struct sb *sb, size_t answer)
{
	sb_settle(sb);
	return sb->answers[answer].come;
}

static void await(struct sb *sb, size_t answer)
{
	for (int turns = 0; !sb->answers[answer].come && turns < TURNS_MAX; turns++) {
		uv_run(&sb->loop, UV_RUN_NOWAIT);
		if (turns > 20)
			usleep(200);
	}
	if (!sb->answers[answer].come)
		fail_msg("no answer came");
}

const struct json *sb_result(struct sb *sb, size_t answer)
{
	await(sb, answer);
	if (sb->answers[answer].result == NULL)
		fail_msg("%s", sb->answers[answer].err.text);
	return sb->answers[answer].result;
}

const struct err *sb_error(struct sb *sb, size_t answer)
{
	await(sb, answer);
	assert_null(sb->answers[answer].result);
	return &sb->answers[answer].err;
}

void sb_leave(struct sb *sb)
{
	channel_close(TAKE(sb->client));
	sb_settle(sb);
}

void sb_drop(struct sb *sb)
{
	channel_close(TAKE(sb->broker));
	sb_settle(sb);
}

/* ---- the frame ---- */

struct sb *sb_open(void)
{
	struct sb *sb = mem_alloc(sizeof(*sb));
	struct err err = {0};
	int ends[2];

	signal(SIGPIPE, SIG_IGN); /* as the program does */
	current = sb;
	uv_loop_init(&sb->loop); /* the first one of a process opens what all share */
	uv_loop_close(&sb->loop);
	sb->descriptors = count_descriptors();
	uv_loop_init(&sb->loop);
	sb->config = parse(config);
	snprintf(sb->folder, sizeof(sb->folder), "/tmp/writ-lead.XXXXXX");
	assert_non_null(mkdtemp(sb->folder));
	snprintf(sb->path, sizeof(sb->path), "%s/tasks.db", sb->folder);
	if (store_open(sb->path, clock_now_us(), &sb->orchestrator.store, &err) < 0)
		fail_msg("%s", err.text);
	sb->orchestrator.loop = &sb->loop;
	sb->orchestrator.config = sb->config;
	queue_init(&sb->orchestrator);
	agent_wait_init(&sb->orchestrator);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	sb->lane = lane_open(&sb->loop, ends[0], on_lane, on_lane_close, sb);
	orchestrator_open_lane(&sb->orchestrator, ends[1]);
	sb->broker = sb_session(sb, "s-1", "alice", true, &sb->client);
	return sb;
}

static void remove_store(const struct sb *sb)
{
	static const char *const suffixes[] = {"", "-wal", "-shm"};

	for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
		char path[128];

		snprintf(path, sizeof(path), "%s%s", sb->path, suffixes[i]);
		unlink(path);
	}
	rmdir(sb->folder);
}

static void close_far_ends(struct sb *sb)
{
	channel_close(TAKE(sb->client));
	channel_close(TAKE(sb->broker));
	for (size_t i = 0; i < sb->agent_count; i++)
		channel_close(TAKE(sb->agents[i]));
	lane_close(TAKE(sb->lane));
}

void sb_close(struct sb *sb)
{
	int turns = 0;

	while (sb->orchestrator.sessions != NULL)
		session_end(sb->orchestrator.sessions, "the service stops");
	sb_settle(sb);
	if (sb->query.running)
		sb_query_ends(sb, "cancelled");
	if (sb->report.running)
		sb_report_ends(sb, NULL, "cancelled");
	sb_settle(sb);
	assert_null(sb->orchestrator.tasks);
	assert_null(sb->orchestrator.calls);
	assert_null(sb->orchestrator.agent_waits);
	close_far_ends(sb);
	lane_close(TAKE(sb->orchestrator.lane));
	queue_close(&sb->orchestrator);
	agent_wait_close(&sb->orchestrator);
	while (uv_loop_close(&sb->loop) == UV_EBUSY && turns++ < TURNS_MAX)
		uv_run(&sb->loop, UV_RUN_NOWAIT);
	assert_true(turns < TURNS_MAX);
	store_close(sb->orchestrator.store);
	assert_int_equal(count_descriptors(), sb->descriptors);
	for (size_t i = 0; i < sb->request_count; i++)
		json_free(sb->requests[i].params);
	for (size_t i = 0; i < sb->answer_count; i++)
		json_free(sb->answers[i].result);
	json_free(sb->query.handoff);
	json_free(sb->report.handoff);
	json_free(sb->config);
	remove_store(sb);
	mem_free(sb);
}
