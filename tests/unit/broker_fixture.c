/* See broker_fixture.h. */
#include "broker_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/file.h"
#include "policy/compile.h"
#include "writ/record.h"

int64_t fx_clock_us;

const char fx_scope[] =
	"writ: 1\nscope: sales\nowner: team:sales-data\ntimezone: UTC\n"
	"agents:\n"
	"  sales-query-01:\n"
	"    id: spiffe://corp.example/agent/sales-query-01\n"
	"    role: query\n    token: 5m\n"
	"    per_task: {tool_calls: 6, tool_errors: 2, model_calls: 7, attempts: 3, time: 60s,"
	" scan: 256MiB}\n"
	"    hands_to: [sales-report-01]\n"
	"  sales-report-01:\n"
	"    id: spiffe://corp.example/agent/sales-report-01\n"
	"    role: report\n    token: 5m\n"
	"    per_task: {model_calls: 2, time: 30s}\n"
	"rules:\n"
	"  - id: read-sales\n    effect: allow\n    agents: [sales-query-01]\n"
	"    users: [group:sales]\n"
	"    tools: [list_tables, describe_table, search_schema, search_values, list_metrics,"
	" explain_query, run_query]\n"
	"    data:\n      database: sales\n      tables:\n"
	"        customers: {columns: [customer_id, region]}\n"
	"        orders: {columns: all}\n"
	"      functions: [standard]\n"
	"    per_call: {rows: 5, bytes: 1MiB, scan: 64MiB, time: 5s}\n"
	"  - id: never-payroll\n    effect: deny\n    agents: all\n    users: everyone\n"
	"    tools: all\n    data: {database: sales, tables: {payroll: {columns: all}}}\n"
	"  - id: ask-refunds\n    effect: ask\n    approval: {by: [owner], for: 1h, own: true}\n   "
	" agents: [sales-query-01]\n    users: everyone\n"
	"    tools: [run_query]\n    data: {database: sales, tables: {refunds: {columns: all}}}\n";

static int64_t fx_now_us(void)
{
	return clock_now_us() + fx_clock_us;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk)
{
	(void)info;
	(void)kind;
	(void)walk;
	return remove(path);
}

static void put_at(int dir_fd, const char *name, const void *bytes, size_t len)
{
	struct err err = {0};

	if (file_replace_at(dir_fd, name, 0600, bytes, len, false, &err) < 0)
		fail_msg("%s: %s", name, err.text);
}

void fx_put(struct fx *fx, const char *name, const char *text)
{
	put_at(fx->config_fd, name, text, strlen(text));
}

void fx_put_scope(struct fx *fx, const char *scope)
{
	int dir_fd = open(fx->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int scopes_fd, policy_fd;
	struct buf bundle = BUF_INIT;
	struct problems problems = PROBLEMS_INIT;
	struct err err = {0};
	char digest[SHA256_HEX_LEN + 1];
	char name[SHA256_HEX_LEN + 8];

	mkdirat(dir_fd, "scopes", 0700);
	scopes_fd = openat(dir_fd, "scopes", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	put_at(scopes_fd, "sales.yaml", scope, strlen(scope));
	close(scopes_fd);
	if (policy_compile(dir_fd, NULL, &bundle, &problems, &err) < 0)
		fail_msg("%s", err.text);
	if (problems.error_count > 0) {
		problems_print(&problems, stderr);
		fail_msg("the scope file has mistakes");
	}
	mkdirat(fx->config_fd, "policy", 0700);
	policy_fd = openat(fx->config_fd, "policy", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	sha256_hex(bundle.bytes, bundle.len, digest);
	snprintf(name, sizeof(name), "%s.json", digest);
	put_at(policy_fd, name, bundle.bytes, bundle.len);
	snprintf(name, sizeof(name), "%s\n", digest);
	put_at(policy_fd, "active", name, strlen(name));
	close(policy_fd);
	close(dir_fd);
	buf_clear(&bundle);
	problems_clear(&problems);
}

void fx_set_user(struct fx *fx, const char *name, const char *groups, bool owner)
{
	CLEANUP(mem_freep)
	char *text = mem_format("{\"owner_uid\":%lld,\"users\":[{\"uid\":%lld,\"name\":\"%s\","
				"\"groups\":%s}]}",
				(long long)(owner ? geteuid() : 4294967294LL), (long long)geteuid(),
				name, groups);
	struct json *json = NULL;
	struct user_map *map = NULL;
	struct err err = {0};

	fx_put(fx, "users.json", text);
	if (json_parse_str(text, &json, &err) < 0 || user_map_read(json, &map, &err) < 0)
		fail_msg("%s", err.text);
	json_free(json);
	if (fx->broker_open) {
		user_map_free(fx->broker.config->users);
		fx->broker.config->users = map;
	} else {
		user_map_free(map);
	}
}

static int listening_socket(struct fx *fx)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	snprintf(fx->socket_path, sizeof(fx->socket_path), "%s/s", fx->path);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", fx->socket_path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 64), 0);
	return fd;
}

static void on_control_message(struct lane *lane, void *owner, const struct json *message, int fd)
{
	(void)lane;
	(void)owner;
	(void)message;
	(void)fd;
	fail_msg("the broker sent something on the control lane");
}

static void on_control_close(struct lane *lane, void *owner, const struct err *why)
{
	struct fx *fx = owner;

	(void)lane;
	(void)why;
	fx->control = NULL;
}

static void on_broker_closed(struct broker *broker)
{
	struct fx *fx = (struct fx *)((char *)broker - offsetof(struct fx, broker));

	fx->closed = true;
}

/* A folder below state/. */
static int make_folder(struct fx *fx, const char *name)
{
	int fd;

	mkdirat(fx->state_fd, name, 0700);
	fd = openat(fx->state_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

/* The workspace and its state, and the loop. */
static struct fx *make_place(const char *scope)
{
	struct fx *fx = mem_alloc(sizeof(*fx));
	CLEANUP(mem_freep) char *state = NULL;

	signal(SIGPIPE, SIG_IGN);
	crypto_init();
	fx_clock_us = 0;
	snprintf(fx->path, sizeof(fx->path), "/tmp/writ-broker-XXXXXX");
	assert_non_null(mkdtemp(fx->path));
	assert_int_equal(uv_loop_init(&fx->loop), 0);
	state = mem_format("%s/state", fx->path);
	assert_int_equal(mkdir(state, 0700), 0);
	fx->state_fd = open(state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fx->config_fd = make_folder(fx, "config");
	fx_put_scope(fx, scope == NULL ? fx_scope : scope);
	fx_set_user(fx, "alice", "[\"sales\"]", false);
	fx_put(fx, "model.json",
	       "{\"sales\":{\"name\":\"sales\",\"metrics\":["
	       "{\"name\":\"orders\",\"reads\":[\"orders.order_id\"]},"
	       "{\"name\":\"wages\",\"reads\":[\"payroll.amount\"]}]}}");
	return fx;
}

/* Our end of the control lane; the broker's is returned. */
static int open_control(struct fx *fx)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	fx->control = lane_open(&fx->loop, ends[1], on_control_message, on_control_close, fx);
	return ends[0];
}

/* What the connector answers unless a test says otherwise. */
static void answer_by_script(struct fx *fx)
{
	fx->prepared = "{\"ok\":true,\"statement\":\"s1\",\"tables\":[\"orders\"],"
		       "\"columns\":[\"orders.order_id\"],\"functions\":[]}";
	fx->executed = "{\"ok\":true,\"columns\":[\"order_id\"],\"types\":[\"integer\"],"
		       "\"rows\":[[1],[2]],\"row_count\":2,\"truncated\":false,"
		       "\"bytes_scanned\":4096,\"latency_ms\":0.5}";
	fx->tool_result = "{\"ok\":true,\"tables\":[]}";
}

struct fx *fx_open_bare(const char *scope)
{
	struct fx *fx = make_place(scope);
	struct broker_options options = {
		.config_fd = fx->config_fd, .passwd_fd = -1, .descriptors = DESCRIPTORS_ALL};
	struct config *config = NULL;
	struct token_store *store = NULL;
	CLEANUP(mem_freep) char *db_path = mem_format("%s/state/broker/broker.db", fx->path);
	static char audit_path[160];
	struct err err = {0};

	close(make_folder(fx, "broker"));
	if (config_load(fx->config_fd, &config, &err) < 0 ||
	    token_store_open(db_path, &store, &err) < 0)
		fail_msg("%s", err.text);
	snprintf(audit_path, sizeof(audit_path), "%s/state/audit", fx->path);
	options.audit_dir = audit_path;
	broker_init(&fx->broker, &fx->loop, &options, config, store);
	fx->broker.now_us = fx_now_us;
	fx->broker.on_closed = on_broker_closed;
	fx->broker_open = true;
	if (service_open(&fx->broker, open_control(fx), listening_socket(fx), &err) < 0)
		fail_msg("%s", err.text);
	answer_by_script(fx);
	return fx;
}

/* Under load a turn may take a hundred times as long, and whom we wait for as well. */
void fx_turn(struct fx *fx, int turn, const char *what)
{
	static int64_t begun_us;

	if (turn == 1)
		begun_us = clock_mono_us();
	if (turn > 25000 && clock_mono_us() - begun_us > FX_PATIENCE_US)
		fail_msg("never: %s", what);
	if (uv_run(&fx->loop, UV_RUN_NOWAIT) == 0 && turn > 25000)
		fail_msg("the loop ended; never: %s", what);
	usleep(200);
}

static void on_flushed(void *data, const struct err *err)
{
	bool *flushed = data;

	(void)err;
	*flushed = true;
}

/* Whatever the broker has written so far is on disk. A real one shows no more than time passing. */
static void await_log(struct fx *fx)
{
	bool flushed = false;

	if (!fx->broker_open || fx->broker.audit == NULL || audit_size(fx->broker.audit) == 0)
		return;
	audit_when_durable(fx->broker.audit, audit_size(fx->broker.audit) - 1, on_flushed,
			   &flushed);
	fx_until(fx, flushed);
}

/* Without somebody who signs it would be waited for in vain. */
static bool log_is_signed(const struct fx *fx)
{
	struct err why;

	return fx->broker_open && fx->broker.audit != NULL && fx->signer_mute == NULL &&
	       fx->signer_fail == NULL && signer_client_up(fx->broker.signer) &&
	       !audit_stopped(fx->broker.audit, &why);
}

void fx_settle(struct fx *fx)
{
	if (fx->control != NULL)
		fx_until(fx, fx->control == NULL || lane_waiting(fx->control) == 0);
	if (log_is_signed(fx))
		await_log(fx);
	for (int i = 0; i < 100; i++) {
		uv_run(&fx->loop, UV_RUN_NOWAIT);
		usleep(200);
	}
}

/* The signer, in this loop. */

static void on_signer_request(struct channel *channel, void *owner, int64_t id, const char *method,
			      const struct json *params)
{
	struct fx *fx = owner;
	struct json *result = NULL;
	struct err err = {0};

	if (fx->signer_mute != NULL && strcmp(fx->signer_mute, method) == 0) {
		fx->signer_muted++;
		return;
	}
	if (fx->signer_fail != NULL && strcmp(fx->signer_fail, method) == 0) {
		err_set(&err, ERR_DENIED, "the signer refuses for the test");
		channel_fail(channel, id, &err, NULL);
	} else if (signer_handle(&fx->signer, method, params, &result, &err) < 0) {
		channel_fail(channel, id, &err, NULL);
	} else {
		if (fx->signer_change != NULL)
			fx->signer_change(fx, method, result);
		channel_reply(channel, id, result);
	}
}

static void on_signer_closed(struct channel *channel, void *owner, const struct err *why)
{
	struct fx *fx = owner;

	(void)why;
	if (fx->signer_end == channel)
		fx->signer_end = NULL;
}

static const struct channel_handlers signer_handlers = {on_signer_request, on_signer_closed};

static void make_signer(struct fx *fx)
{
	struct signer_keys keys;
	struct err err = {0};
	int fd = make_folder(fx, "signer");

	if (signer_keys_load(fd, "sales", &keys, &err) < 0 ||
	    signer_init(&fx->signer, &keys, NULL, 0, &err) < 0)
		fail_msg("%s", err.text);
	close(fd);
	fx->signer_made = true;
}

static void send_attach(struct fx *fx, const char *text, int fd)
{
	struct json *message = NULL;
	struct err err = {0};

	if (json_parse_str(text, &message, &err) < 0)
		fail_msg("%s", err.text);
	lane_send(fx->control, message, fd);
}

void fx_control(struct fx *fx, const char *message)
{
	send_attach(fx, message, -1);
}

int fx_attach_raw(struct fx *fx, const char *message)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	send_attach(fx, message, ends[1]);
	return ends[0];
}

void fx_attach_signer(struct fx *fx)
{
	int ends[2];

	if (!fx->signer_made)
		make_signer(fx);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	channel_close(fx->signer_end);
	fx->signer_end = channel_open(&fx->loop, ends[0], "signer", &signer_handlers, fx);
	send_attach(fx, "{\"attach\":\"signer\"}", ends[1]);
}

/* The connector, by script. */

static void connector_answer(struct channel *channel, int64_t id, const char *text)
{
	struct json *result = NULL;
	struct err err = {0};

	if (json_parse_str(text, &result, &err) < 0)
		fail_msg("%s", err.text);
	channel_reply(channel, id, result);
}

static void on_connector_request(struct channel *channel, void *owner, int64_t id,
				 const char *method, const struct json *params)
{
	struct fx *fx = owner;
	struct fx_asked *asked = &fx->asked[fx->asked_count];

	if (id == 0) { /* ping: the only notification */
		if (fx->connector_mute == NULL || strcmp(fx->connector_mute, method) != 0)
			channel_notify(channel, "pong", NULL);
		return;
	}
	if (fx->asked_count < FX_ASKED_MAX) {
		snprintf(asked->method, sizeof(asked->method), "%s", method);
		asked->id = id;
		asked->params = json_copy(params);
		fx->asked_count++;
	}
	if (fx->connector_by_hand ||
	    (fx->connector_mute != NULL && strcmp(fx->connector_mute, method) == 0))
		return;
	if (strcmp(method, "prepare") == 0)
		connector_answer(channel, id, fx->prepared);
	else if (strcmp(method, "execute") == 0)
		connector_answer(channel, id, fx->executed);
	else if (strcmp(method, "tool") == 0)
		connector_answer(channel, id, fx->tool_result);
	else
		connector_answer(channel, id, "{}");
}

static void on_connector_closed(struct channel *channel, void *owner, const struct err *why)
{
	struct fx *fx = owner;

	(void)why;
	if (fx->connector == channel)
		fx->connector = NULL;
}

static const struct channel_handlers connector_handlers = {on_connector_request,
							   on_connector_closed};

void fx_attach_connector(struct fx *fx, const char *name)
{
	CLEANUP(mem_freep)
	char *text =
		mem_format("{\"attach\":\"connector\",\"name\":\"%s\",\"kind\":\"sqlite\"}", name);
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	channel_close(fx->connector);
	fx->connector = channel_open(&fx->loop, ends[0], name, &connector_handlers, fx);
	send_attach(fx, text, ends[1]);
}

/* The orchestrator. */

static void on_end_closed(struct channel *channel, void *owner, const struct err *why)
{
	struct fx *fx = owner;

	(void)why;
	for (size_t i = 0; i < fx->end_count; i++) {
		if (fx->ends[i].channel == channel)
			fx->ends[i].channel = NULL;
	}
}

static const struct channel_handlers end_handlers = {NULL, on_end_closed};

static void keep(char *out, size_t size, const struct json *message, const char *key)
{
	const char *text = json_get_str(message, key);

	snprintf(out, size, "%s", text == NULL ? "" : text);
}

static void on_lane_message(struct lane *lane, void *owner, const struct json *message, int fd)
{
	struct fx *fx = owner;
	struct fx_end *end;
	const char *kind = json_get_str(message, "kind");

	(void)lane;
	if (kind != NULL && strcmp(kind, "probe") == 0) {
		assert_int_equal(write(fd, "+", 1), 1);
		close(fd);
		return;
	}
	end = &fx->ends[fx->end_count++];
	assert_true(fx->end_count < FX_ENDS_MAX);
	keep(end->kind, sizeof(end->kind), message, "kind");
	keep(end->session, sizeof(end->session), message, "session");
	keep(end->user, sizeof(end->user), message, "user");
	keep(end->name, sizeof(end->name), message,
	     strcmp(end->kind, "agent") == 0 ? "channel" : "session");
	end->owner = json_get_bool(message, "owner", false);
	end->fd = -1;
	if (fx->raw || strcmp(end->kind, "client") == 0)
		end->fd = fd;
	else
		end->channel = channel_open(&fx->loop, fd, end->name, &end_handlers, fx);
}

static void on_lane_close(struct lane *lane, void *owner, const struct err *why)
{
	struct fx *fx = owner;

	(void)why;
	if (fx->lane == lane)
		fx->lane = NULL;
}

void fx_attach_orchestrator(struct fx *fx)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	lane_close(fx->lane);
	fx->lane = lane_open(&fx->loop, ends[0], on_lane_message, on_lane_close, fx);
	send_attach(fx, "{\"attach\":\"orchestrator\"}", ends[1]);
}

struct fx *fx_open(const char *scope)
{
	struct fx *fx = fx_open_bare(scope);

	fx_attach_signer(fx);
	fx_attach_connector(fx, "sales");
	fx_attach_orchestrator(fx);
	fx_until(fx, fx->broker.phase == PHASE_OPEN && fx->broker.orchestrator != NULL);
	return fx;
}

static void close_ends(struct fx *fx)
{
	for (size_t i = 0; i < fx->end_count; i++) {
		channel_close(TAKE(fx->ends[i].channel));
		if (fx->ends[i].fd >= 0)
			close(fx->ends[i].fd);
		fx->ends[i].fd = -1;
	}
}

static void clear_asked(struct fx *fx)
{
	for (size_t i = 0; i < fx->asked_count; i++)
		json_free(fx->asked[i].params);
	fx->asked_count = 0;
}

void fx_close(struct fx *fx)
{
	service_stop(&fx->broker, "test");
	fx_until(fx, fx->closed);
	close_ends(fx);
	channel_close(TAKE(fx->connector));
	channel_close(TAKE(fx->signer_end));
	lane_close(TAKE(fx->lane));
	lane_close(TAKE(fx->control));
	uv_run(&fx->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&fx->loop), 0);
	assert_int_equal(fx->broker.peers.live, 0);
	assert_int_equal(fx->broker.tasks.live, 0);
	assert_int_equal(fx->broker.calls.live, 0);
	broker_clear(&fx->broker);
	if (fx->signer_made)
		signer_clear(&fx->signer);
	clear_asked(fx);
	close(fx->config_fd);
	close(fx->state_fd);
	nftw(fx->path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	mem_free(fx);
}

struct fx_end *fx_connect(struct fx *fx, char *ret_line, size_t ret_line_size)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	size_t before = fx->end_count;
	char line[2048];
	ssize_t got = -1;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", fx->socket_path);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	fx_until(fx, fx->end_count >= before + 2 ||
			     (got = recv(fd, line, sizeof(line) - 1, MSG_DONTWAIT)) >= 0);
	close(fd);
	if (got >= 0) {
		if (ret_line != NULL)
			snprintf(ret_line, ret_line_size, "%.*s", (int)got, line);
		return NULL;
	}
	assert_string_equal(fx->ends[before].kind, "session");
	assert_string_equal(fx->ends[before + 1].kind, "client");
	return &fx->ends[before];
}

static void on_answer(void *data, const struct json *result, const struct err *err)
{
	struct json **slot = data;
	struct json *answer = json_object();

	if (err == NULL) {
		json_set(answer, "result", json_copy(result));
	} else {
		struct json *error = json_object();

		json_set_str(error, "kind", err_kind_name(err->kind));
		json_set_str(error, "text", err->text);
		json_set(answer, "error", error);
	}
	*slot = answer;
}

int64_t fx_send(struct fx *fx, struct channel *channel, const char *method, const char *params,
		struct json **slot)
{
	struct json *json = NULL;
	struct err err = {0};
	int64_t id;

	(void)fx;
	*slot = NULL;
	if (params != NULL && json_parse_str(params, &json, &err) < 0)
		fail_msg("%s", err.text);
	id = channel_call(channel, method, json, 0, on_answer, slot);
	assert_true(id > 0);
	return id;
}

struct json *fx_call(struct fx *fx, struct channel *channel, const char *method, const char *params)
{
	struct json *slot;

	fx_send(fx, channel, method, params, &slot);
	fx_until(fx, slot != NULL);
	return slot;
}

struct json *fx_ok(struct fx *fx, struct channel *channel, const char *method, const char *params)
{
	CLEANUP(json_freep) struct json *answer = fx_call(fx, channel, method, params);

	if (json_get(answer, "result") == NULL)
		fail_msg("%s: %s", method, json_get_str(json_get(answer, "error"), "text"));
	return json_copy(json_get(answer, "result"));
}

void fx_task(struct fx *fx, struct channel *session, const char *kind, char out[48])
{
	CLEANUP(mem_freep)
	char *params = mem_format("{\"kind\":\"%s\",\"question\":\"How many?\"}", kind);
	CLEANUP(json_freep) struct json *result = fx_ok(fx, session, "task.open", params);

	snprintf(out, 48, "%s", json_get_str(result, "task"));
}

struct fx_end *fx_agent(struct fx *fx, struct channel *session, const char *task, const char *agent,
			const char *parent)
{
	CLEANUP(mem_freep)
	char *params = parent == NULL
			       ? mem_format("{\"task\":\"%s\",\"agent\":\"%s\"}", task, agent)
			       : mem_format("{\"task\":\"%s\",\"agent\":\"%s\",\"parent\":\"%s\"}",
					    task, agent, parent);
	size_t before = fx->end_count;
	CLEANUP(json_freep) struct json *result = fx_ok(fx, session, "agent.start", params);

	fx_until(fx, fx->end_count > before);
	assert_string_equal(fx->ends[before].name, json_get_str(result, "channel"));
	assert_int_equal(json_type(json_get(result, "tools")), JSON_ARRAY);
	assert_int_equal(json_type(json_get(result, "data")), JSON_ARRAY);
	assert_true(json_get_int(json_get(result, "limits"), "time_left_ms", 0) > 0);
	return &fx->ends[before];
}

struct channel *fx_ready(struct fx *fx, const char *kind, const char *agent)
{
	struct channel *session = fx_connect(fx, NULL, 0)->channel;
	struct channel *channel;
	char task[48];

	fx_task(fx, session, kind, task);
	channel = fx_agent(fx, session, task, agent, NULL)->channel;
	json_free(fx_ok(fx, channel, "token.issue", "{}"));
	return channel;
}

/* The real programs. */

static int start_program(const char *folder, const char *const *args, int fd3, int fd4)
{
	CLEANUP(mem_freep) char *path = mem_format("%s/%s", folder, args[0]);
	int pid = fork();

	if (pid == 0) {
		/* Above 3 and 4 first, or it could be one of the numbers that are given away. */
		fd3 = fcntl(fd3, F_DUPFD, 20);
		fd4 = fd4 < 0 ? -1 : fcntl(fd4, F_DUPFD, 20);
		dup2(fd3, 3);
		if (fd4 >= 0)
			dup2(fd4, 4);
		execv(path, (char *const *)(uintptr_t)args);
		_exit(127);
	}
	close(fd3);
	if (fd4 >= 0)
		close(fd4);
	return pid;
}

static int start_attached(struct fx *fx, const char *folder, const char *const *args,
			  const char *message)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	send_attach(fx, message, ends[0]);
	return start_program(folder, args, ends[1], -1);
}

void fx_start_connector(struct fx *fx, const char *folder, const char *database)
{
	const char *const args[] = {"writ-sqlite", "sales", database, "--reduced", NULL};

	fx->pids[2] =
		start_attached(fx, folder, args,
			       "{\"attach\":\"connector\",\"name\":\"sales\",\"kind\":\"sqlite\"}");
}

struct fx *fx_open_broker(const char *scope, const char *folder, const char *argument)
{
	struct fx *fx = make_place(scope);
	const char *const broker[] = {"writ-broker", fx->path, "--reduced", argument, NULL};

	fx->pids[0] = start_program(folder, broker, open_control(fx), listening_socket(fx));
	answer_by_script(fx);
	fx_attach_orchestrator(fx);
	return fx;
}

void fx_start_signer(struct fx *fx, const char *folder)
{
	const char *const signer[] = {"writ-signer", fx->path, "--reduced", NULL};

	mkdirat(fx->state_fd, "signer", 0700);
	fx->pids[1] = start_attached(fx, folder, signer, "{\"attach\":\"signer\"}");
}

struct fx *fx_open_programs(const char *scope, const char *folder, const char *database,
			    const char *argument)
{
	struct fx *fx = fx_open_broker(scope, folder, argument);

	fx_start_signer(fx, folder);
	fx_start_connector(fx, folder, database);
	return fx;
}

int fx_wait_broker(struct fx *fx)
{
	int status = 0;

	fx_until(fx, waitpid(fx->pids[0], &status, WNOHANG) == fx->pids[0]);
	fx->pids[0] = 0;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

void fx_close_programs(struct fx *fx)
{
	close_ends(fx);
	channel_close(TAKE(fx->connector));
	channel_close(TAKE(fx->signer_end));
	lane_close(TAKE(fx->lane));
	lane_close(TAKE(fx->control));
	uv_run(&fx->loop, UV_RUN_DEFAULT);
	assert_int_equal(uv_loop_close(&fx->loop), 0);
	if (fx->signer_made)
		signer_clear(&fx->signer);
	clear_asked(fx);
	for (size_t i = 0; i < ARRAY_LEN(fx->pids); i++) {
		if (fx->pids[i] > 0)
			waitpid(fx->pids[i], NULL, 0); /* without the broker they end */
	}
	close(fx->config_fd);
	close(fx->state_fd);
	nftw(fx->path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	mem_free(fx);
}

/* The log as it lies on disk. */

static struct json *find_record(struct fx *fx, const char *event, int64_t seq, size_t *count)
{
	CLEANUP(mem_freep)
	char *path = mem_format("%s/state/audit/seg/00000000000000000000.jsonl", fx->path);
	FILE *file = fopen(path, "r");
	struct json *found = NULL;
	char *line = NULL;
	size_t size = 0;
	ssize_t len;

	while (file != NULL && (len = getline(&line, &size, file)) > 0) {
		struct json *record = NULL;
		struct err err = {0};

		if (json_parse(line, (size_t)len - 1, (size_t)len, &record, &err) < 0)
			fail_msg("log: %s", err.text);
		if (seq >= 0 ? json_get_int(record, REC_SEQ, -1) == seq
			     : strcmp(json_get_str(record, REC_EVENT), event) == 0) {
			json_free(found);
			found = record;
			(*count)++;
		} else {
			json_free(record);
		}
	}
	free(line);
	if (file != NULL)
		fclose(file);
	return found;
}

static void flush_log(struct fx *fx)
{
	fx_settle(fx);
	await_log(fx);
}

struct json *fx_record(struct fx *fx, const char *event)
{
	size_t count = 0;

	flush_log(fx);
	return find_record(fx, event, -1, &count);
}

size_t fx_record_count(struct fx *fx, const char *event)
{
	size_t count = 0;

	flush_log(fx);
	json_free(find_record(fx, event, -1, &count));
	return count;
}

struct json *fx_record_at(struct fx *fx, int64_t seq)
{
	size_t count = 0;

	return find_record(fx, "", seq, &count);
}
