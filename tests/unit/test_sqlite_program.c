/* The connector over a socket pair: frame, pool and workers as processes. The program itself is
 * used where it was built; otherwise, and under sanitizers too, its frame in a forked process. */
#include "tests/lib/sqlite_fixture.h"

#include <fcntl.h>
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <uv.h>

#include "base/clock.h"
#include "base/line.h"
#include "base/rpc.h"
#include "broker/connectors/frame.h"
#include "broker/connectors/sqlite_worker.h"

#define ENDLESS                                                                                    \
	"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
#define WAIT_MS 20000
#define WORKED_TICKS 20 /* of 10 ms: starting takes fewer */

struct program {
	struct fixture fixture;
	struct line_reader reader;
	int fd;
	pid_t pid;
	int64_t ids;
};

static void serve_here(int fd, const char *path)
{
	struct sqlite_source sqlite = {path, NULL};
	struct source source = {"writ-sqlite", &sqlite, sqlite_work};
	struct frame *frame;
	uv_loop_t loop;

	signal(SIGPIPE, SIG_IGN);
	uv_loop_init(&loop);
	frame = frame_open(&loop, fd, &source);
	uv_run(&loop, UV_RUN_DEFAULT);
	frame_free(frame);
	_exit(uv_loop_close(&loop) == 0 ? 0 : 99);
}

static void start(struct program *program)
{
	const char *binary = getenv("WRIT_SQLITE");
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	program->pid = fork();
	if (program->pid == 0) {
		close(ends[0]);
		if (!binary)
			serve_here(ends[1], program->fixture.path);
		if (ends[1] == 3)
			fcntl(3, F_SETFD, 0);
		else
			dup2(ends[1], 3);
		execl(binary, "writ-sqlite", "shop", program->fixture.path, "--reduced", NULL);
		_exit(127);
	}
	close(ends[1]);
	program->fd = ends[0];
	line_reader_init(&program->reader, program->fd, 8 << 20);
}

static int stop(struct program *program)
{
	int status = 0;

	shutdown(program->fd, SHUT_RDWR);
	close(program->fd);
	line_reader_clear(&program->reader);
	assert_int_equal(waitpid(program->pid, &status, 0), program->pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int setup(void **state)
{
	struct program *program = mem_alloc(sizeof(*program));

	fixture_open(&program->fixture, SHOP_SQL);
	start(program);
	*state = program;
	return 0;
}

static int teardown(void **state)
{
	struct program *program = *state;

	assert_int_equal(stop(program), 0);
	fixture_close(&program->fixture);
	mem_free(program);
	return 0;
}

static int64_t send_request(struct program *program, const char *method, struct json *params)
{
	struct buf line = BUF_INIT;
	int64_t id = ++program->ids;

	rpc_write_request(&line, id, method, params);
	assert_int_equal(write(program->fd, line.bytes, line.len), (ssize_t)line.len);
	buf_clear(&line);
	json_free(params);
	return id;
}

static struct json *next_line(struct program *program)
{
	struct json *line = NULL;
	struct err err;

	if (line_read(&program->reader, WAIT_MS, &line, &err) != 1)
		fail_msg("no answer: %s", err.text);
	return line;
}

/* The next answer, which must be to this request. */
static struct json *answer_to(struct program *program, int64_t id)
{
	CLEANUP(json_freep) struct json *line = next_line(program);

	if (json_get_int(line, "id", -1) != id) {
		CLEANUP(mem_freep) char *text = text_of(line);

		fail_msg("not the answer to %d: %s", (int)id, text);
	}
	return json_copy(json_get(line, "result"));
}

static struct json *call_params(const char *call, const char *grant)
{
	struct json *params = json_object();

	json_set_str(params, "call", call);
	json_set_str(params, "grant", grant);
	json_set(params, "view", parse(SHOP_VIEW));
	return params;
}

static struct json *prepare(struct program *program, const char *grant, const char *sql)
{
	struct json *params = call_params("p", grant);

	json_set_str(params, "sql", sql);
	json_set_int(params, "time_ms", 5000);
	return answer_to(program, send_request(program, "prepare", params));
}

/* prepared is taken. */
static int64_t send_execute(struct program *program, const char *call, struct json *prepared,
			    int64_t time_ms)
{
	struct json *params = json_object();
	struct json *allow = json_object();
	struct json *limits = parse(LIMITS);

	assert_true(json_get_bool(prepared, "ok", false));
	json_set(allow, "tables", json_copy(json_get(prepared, "tables")));
	json_set(allow, "columns", json_copy(json_get(prepared, "columns")));
	json_set(allow, "functions", json_copy(json_get(prepared, "functions")));
	json_set_int(limits, "time_ms", time_ms);
	json_set_str(params, "call", call);
	json_set_str(params, "statement", json_get_str(prepared, "statement"));
	json_set_str(params, "mode", "run");
	json_set(params, "allow", allow);
	json_set(params, "limits", limits);
	json_free(prepared);
	return send_request(program, "execute", params);
}

static struct json *run(struct program *program, const char *grant, const char *sql)
{
	return answer_to(program, send_execute(program, "r", prepare(program, grant, sql), 5000));
}

static void cancel(struct program *program, const char *call)
{
	struct json *params = json_object();

	json_set_str(params, "call", call);
	send_request(program, "cancel", params);
}

static void test_a_question_is_prepared_and_executed(void **state)
{
	struct json *result = run(*state, "g", "SELECT region FROM customers ORDER BY region");

	assert_member(result, "columns", "[\"region\"]");
	assert_member(result, "types", "[\"text\"]");
	assert_member(result, "rows", "[[null],[\"East\"],[\"West\"]]");
	assert_member(result, "truncated", "false");
	json_free(result);
}

static void test_the_catalog_is_for_the_broker(void **state)
{
	struct json *result = answer_to(*state, send_request(*state, "catalog", json_object()));

	assert_int_equal(json_len(json_get(result, "tables")), 9);
	json_free(result);
}

static void test_a_statement_runs_once(void **state)
{
	struct json *prepared = prepare(*state, "g", "SELECT 1");
	struct json *again = json_copy(prepared);

	json_free(answer_to(*state, send_execute(*state, "a", prepared, 5000)));
	assert_refused(answer_to(*state, send_execute(*state, "b", again, 5000)), "statement",
		       "no such statement: it was executed, dropped or is too old");
}

static void test_a_dropped_statement_is_gone(void **state)
{
	struct json *prepared = prepare(*state, "g", "SELECT 1");
	struct json *params = json_object();

	json_set_str(params, "statement", json_get_str(prepared, "statement"));
	json_free(answer_to(*state, send_request(*state, "drop", params)));
	assert_refused(answer_to(*state, send_execute(*state, "a", prepared, 5000)), "statement",
		       "no such statement: it was executed, dropped or is too old");
}

static void test_a_runaway_statement_moves_nobody_else(void **state)
{
	struct program *program = *state;
	int64_t slow = send_execute(program, "slow", prepare(program, "g", ENDLESS), 2000);

	/* the same grant, and another: both answer while the first still runs */
	assert_rows(run(program, "g", "SELECT 1"), "[[1]]");
	assert_rows(run(program, "h", "SELECT 2"), "[[2]]");
	assert_refused(answer_to(program, slow), "limit", "the statement ran longer than its time");
	assert_rows(run(program, "g", "SELECT 3"), "[[3]]");
}

static void test_a_flood_of_one_grant_leaves_a_place_for_others(void **state)
{
	struct program *program = *state;
	int64_t ids[6];

	for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
		char call[8];

		snprintf(call, sizeof(call), "f%zu", i);
		ids[i] = send_execute(program, call,
				      prepare(program, i < 3 ? "flood" : "g", ENDLESS),
				      i < 3 ? 60000 : 300);
		if (i == 2)
			assert_rows(run(program, "other", "SELECT 1"), "[[1]]");
		if (i >= 3) { /* one at a time: the last place is for a grant that has none */
			assert_refused(answer_to(program, ids[i]), "limit",
				       "the statement ran longer than its time");
		}
	}
	for (size_t i = 0; i < 3; i++) {
		char call[8];

		snprintf(call, sizeof(call), "f%zu", i);
		cancel(program, call);
	}
	for (size_t i = 0; i < 6; i++) /* three answers to cancel, three canceled calls */
		json_free(next_line(program));
	assert_rows(run(program, "flood", "SELECT 2"), "[[2]]");
}

static void test_waiting_counts_against_the_deadline(void **state)
{
	struct program *program = *state;
	struct json *params = call_params("late", "g");

	for (size_t i = 0; i < 3; i++)
		send_execute(program, "busy", prepare(program, "g", ENDLESS), 60000);
	send_execute(program, "w", prepare(program, "h", ENDLESS), 60000);
	/* four are busy now: the next has to wait and its time passes */
	json_set_str(params, "sql", "SELECT 1");
	json_set_int(params, "time_ms", 300);
	assert_refused(answer_to(program, send_request(program, "prepare", params)), "limit",
		       "the call's time passed while it waited for its turn");
	cancel(program, "w");
	cancel(program, "busy");
	for (size_t i = 0; i < 6; i++)
		json_free(next_line(program));
	assert_rows(run(program, "g", "SELECT 4"), "[[4]]");
}

static void test_a_canceled_call_says_so(void **state)
{
	struct program *program = *state;
	int64_t slow = send_execute(program, "slow", prepare(program, "g", ENDLESS), 60000);
	struct json *params = json_object();
	bool seen = false;

	json_set_str(params, "call", "slow");
	send_request(program, "cancel", params);
	for (int i = 0; i < 2; i++) {
		CLEANUP(json_freep) struct json *line = next_line(program);

		if (json_get_int(line, "id", 0) != slow)
			continue;
		assert_refused(json_copy(json_get(line, "result")), "canceled",
			       "the call was canceled");
		seen = true;
	}
	assert_true(seen);
}

static void test_canceling_what_is_not_there_is_fine(void **state)
{
	struct json *params = json_object();

	json_set_str(params, "call", "nobody");
	json_free(answer_to(*state, send_request(*state, "cancel", params)));
}

/* Workers are the children of the connector. */
static size_t children(pid_t parent, pid_t *pids, size_t max)
{
	char path[64];
	FILE *file;
	size_t count = 0;
	int pid;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)parent, (int)parent);
	file = fopen(path, "r");
	if (!file)
		return 0;
	while (count < max && fscanf(file, "%d", &pid) == 1)
		pids[count++] = pid;
	fclose(file);
	return count;
}

/* Ticks of processor time that it has used: a statement without end uses all it gets. */
static long worked(pid_t pid)
{
	char path[64], line[512];
	long user = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (fgets(line, sizeof(line), file))
		sscanf(strrchr(line, ')'), ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld",
		       &user);
	fclose(file);
	return user;
}

/* An answer of another worker does not tell whether this one was given the processor at all. */
static void await_work(struct program *program)
{
	int64_t give_up = clock_mono_us() + 3 * WAIT_MS * 1000LL;
	pid_t pids[8];

	while (clock_mono_us() < give_up) {
		for (size_t i = 0, n = children(program->pid, pids, 8); i < n; i++)
			if (worked(pids[i]) >= WORKED_TICKS)
				return;
		usleep(5000);
	}
	fail_msg("no worker works");
}

static void test_a_killed_worker_costs_one_call_and_leaves_no_zombie(void **state)
{
	struct program *program = *state;
	int64_t slow = send_execute(program, "slow", prepare(program, "g", ENDLESS), 60000);
	pid_t pids[8];

	assert_rows(run(program, "h", "SELECT 1"), "[[1]]");
	await_work(program);
	for (size_t i = 0, n = children(program->pid, pids, 8); i < n; i++)
		kill(pids[i], SIGKILL);
	assert_refused(answer_to(program, slow), "unavailable",
		       "the worker of this source ended before it answered");
	assert_rows(run(program, "g", "SELECT 1"), "[[1]]");
	assert_rows(run(program, "h", "SELECT 2"), "[[2]]");
	assert_in_range(children(program->pid, pids, 8), 1, 3); /* a spare one with them */
}

static void test_a_cross_join_ends_at_its_deadline(void **state)
{
	struct program *program = *state;
	static const char sql[] =
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) "
		"SELECT count(*) FROM n a, n b, n c";
	struct json *result =
		answer_to(program, send_execute(program, "x", prepare(program, "g", sql), 300));

	assert_member(result, "hint",
		      "\"ask for something narrower: check that every join has its condition\"");
	assert_refused(result, "limit", "the statement ran longer than its time");
}

static void test_a_statement_deaf_to_its_deadline_is_killed(void **state)
{
	struct program *program = *state;
	/* one instruction that takes minutes: no handler is asked while it lasts */
	static const char sql[] = "SELECT instr(hex(zeroblob(4000000)), hex(zeroblob(2000000)) || "
				  "'1')";
	struct json *result =
		answer_to(program, send_execute(program, "deaf", prepare(program, "g", sql), 100));

	assert_refused(result, "limit", "the statement ran longer than its time");
	assert_rows(run(program, "g", "SELECT 1"), "[[1]]");
}

static void expect_failure(struct program *program, const char *method, const char *params,
			   const char *text)
{
	int64_t id = send_request(program, method, parse(params));
	CLEANUP(json_freep) struct json *line = next_line(program);

	assert_int_equal(json_get_int(line, "id", -1), id);
	assert_string_equal(json_get_str(json_get(line, "error"), "message"), text);
}

static void test_malformed_requests_are_answered_and_nothing_is_lost(void **state)
{
	struct program *program = *state;

	expect_failure(program, "nothing", "{}", "no method nothing");
	expect_failure(program, "prepare",
		       "{\"call\":\"c\",\"grant\":\"g\",\"view\":{},\"sql\":1,"
		       "\"time_ms\":5}",
		       "prepare: member \"sql\" must be of type string, not integer");
	expect_failure(program, "execute",
		       "{\"call\":\"c\",\"statement\":\"s-1\",\"mode\":\"eat\",\"allow\":{},"
		       "\"limits\":{\"time_ms\":1}}",
		       "execute: mode: \"run\" or \"explain\"");
	expect_failure(program, "tool",
		       "{\"call\":\"c\",\"grant\":\"\",\"tool\":\"list_tables\","
		       "\"arguments\":{},\"view\":{},\"limits\":{}}",
		       "tool: grant: empty");
	assert_rows(run(program, "g", "SELECT 1"), "[[1]]");
}

static void test_tools_answer_over_the_channel(void **state)
{
	struct json *params = call_params("t", "g");
	struct json *result;

	json_set_str(params, "tool", "list_tables");
	json_set(params, "arguments", json_object());
	json_set(params, "limits", parse(LIMITS));
	result = answer_to(*state, send_request(*state, "tool", params));
	assert_member(result, "ok", "true");
	assert_int_equal(json_len(json_get(result, "tables")), 7);
	json_free(result);
}

static void test_workers_end_with_the_connector(void **state)
{
	struct program *program = *state;
	pid_t pids[8];
	size_t count;

	send_execute(program, "slow", prepare(program, "g", ENDLESS), 60000);
	assert_rows(run(program, "h", "SELECT 1"), "[[1]]");
	count = children(program->pid, pids, 8);
	assert_in_range(count, 2, 3);
	kill(program->pid, SIGKILL);
	assert_int_equal(waitpid(program->pid, NULL, 0), program->pid);
	for (size_t i = 0; i < count; i++) {
		int64_t until_us = clock_mono_us() + 10000000;
		char path[64];
		struct stat status;

		snprintf(path, sizeof(path), "/proc/%d/exe", (int)pids[i]);
		while (stat(path, &status) == 0 && clock_mono_us() < until_us)
			usleep(1000);
		assert_int_not_equal(stat(path, &status), 0);
	}
	close(program->fd);
	line_reader_clear(&program->reader);
	start(program); /* for teardown */
}

static void test_a_missing_file_is_refused_until_it_is_there(void **state)
{
	struct program *program = *state;
	struct json *params = call_params("p", "g");

	assert_int_equal(stop(program), 0);
	unlink(program->fixture.path);
	start(program);
	json_set_str(params, "sql", "SELECT 1");
	json_set_int(params, "time_ms", 5000);
	assert_refused(answer_to(program, send_request(program, "prepare", params)), "unavailable",
		       "the database file does not exist");
	fixture_exec(program->fixture.path, SHOP_SQL);
	assert_rows(run(program, "g", "SELECT count(*) FROM orders"), "[[3]]");
}

static void test_wal_works_confined_with_and_without_a_writer(void **state)
{
	struct program *program = *state;
	sqlite3 *writer = NULL;

	assert_int_equal(stop(program), 0);
	fixture_exec(program->fixture.path, "PRAGMA journal_mode=WAL");
	start(program);
	assert_rows(run(program, "g", "SELECT count(*) FROM orders"), "[[3]]");
	assert_int_equal(sqlite3_open(program->fixture.path, &writer), SQLITE_OK);
	sqlite3_busy_timeout(writer, 10000);
	assert_int_equal(sqlite3_exec(writer, "INSERT INTO orders VALUES (13,1,NULL,NULL)", NULL,
				      NULL, NULL),
			 SQLITE_OK);
	assert_rows(run(program, "g", "SELECT count(*) FROM orders"), "[[4]]");
	assert_rows(run(program, "h", "SELECT count(*) FROM orders"), "[[4]]");
	sqlite3_close(writer);
	assert_rows(run(program, "i", "SELECT count(*) FROM orders"), "[[4]]");
}

static void test_a_change_to_wal_after_the_start_is_read_or_explained(void **state)
{
	struct program *program = *state;
	sqlite3 *writer = NULL;

	assert_rows(run(program, "g", "SELECT count(*) FROM orders"), "[[3]]");
	assert_int_equal(sqlite3_open(program->fixture.path, &writer), SQLITE_OK);
	sqlite3_busy_timeout(writer, 10000);
	assert_int_equal(sqlite3_exec(writer,
				      "PRAGMA journal_mode=WAL;"
				      "INSERT INTO orders VALUES (13,1,NULL,NULL)",
				      NULL, NULL, NULL),
			 SQLITE_OK);
	assert_rows(run(program, "g", "SELECT count(*) FROM orders"), "[[4]]");
	assert_rows(run(program, "h", "SELECT count(*) FROM orders"), "[[4]]");
	sqlite3_close(writer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(test_a_question_is_prepared_and_executed),
		T(test_the_catalog_is_for_the_broker),
		T(test_a_statement_runs_once),
		T(test_a_dropped_statement_is_gone),
		T(test_a_runaway_statement_moves_nobody_else),
		T(test_a_flood_of_one_grant_leaves_a_place_for_others),
		T(test_waiting_counts_against_the_deadline),
		T(test_a_canceled_call_says_so),
		T(test_canceling_what_is_not_there_is_fine),
		T(test_a_killed_worker_costs_one_call_and_leaves_no_zombie),
		T(test_a_cross_join_ends_at_its_deadline),
		T(test_a_statement_deaf_to_its_deadline_is_killed),
		T(test_malformed_requests_are_answered_and_nothing_is_lost),
		T(test_tools_answer_over_the_channel),
		T(test_workers_end_with_the_connector),
		T(test_a_missing_file_is_refused_until_it_is_there),
		T(test_wal_works_confined_with_and_without_a_writer),
		T(test_a_change_to_wal_after_the_start_is_read_or_explained),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
