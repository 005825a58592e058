/* The real writ-signer, confined, over its channel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/crypto.h"
#include "base/line.h"
#include "base/rpc.h"
#include "broker/audit/tree.h"
#include "writ/exit_codes.h"

#define WAIT_MS 10000

static struct err err;

struct program {
	char workspace[64];
	pid_t pid;
	int fd;
	int log_fd; /* its stderr */
	struct line_reader reader;
	int64_t next_id;
};

/* --reduced: the machine of a test may lack Landlock; the sandbox itself has its own tests. */
static void start(struct program *program)
{
	int channel[2];
	int log[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, channel), 0);
	assert_int_equal(pipe(log), 0);
	program->pid = fork();
	if (program->pid == 0) {
		dup2(log[1], STDERR_FILENO);
		/* Above 3 first, or it could be one of the numbers that are given away. */
		channel[1] = fcntl(channel[1], F_DUPFD, 20);
		dup2(channel[1], 3);
		execl(SIGNER_PROGRAM, "writ-signer", program->workspace, "--reduced", NULL);
		_exit(127);
	}
	close(channel[1]);
	close(log[1]);
	program->fd = channel[0];
	program->log_fd = log[0];
	line_reader_init(&program->reader, program->fd, 1 << 20);
}

/* Returns its wait status. text receives its log. */
static int end(struct program *program, char *text, size_t room)
{
	size_t len = 0;
	ssize_t got;
	int status;

	close(program->fd);
	while (len + 1 < room && (got = read(program->log_fd, text + len, room - 1 - len)) > 0)
		len += (size_t)got;
	text[len] = '\0';
	close(program->log_fd);
	line_reader_clear(&program->reader);
	assert_int_equal(waitpid(program->pid, &status, 0), program->pid);
	return status;
}

static struct json *call(struct program *program, const char *method, struct json *params)
{
	struct rpc_message message;
	struct json *line = NULL;
	struct json *result = NULL;
	struct buf out = BUF_INIT;
	size_t at = 0;

	rpc_write_request(&out, ++program->next_id, method, params);
	while (at < out.len) {
		ssize_t done = send(program->fd, out.bytes + at, out.len - at, MSG_NOSIGNAL);

		if (done < 0)
			fail_msg("send: %s", strerror(errno));
		at += (size_t)done;
	}
	buf_clear(&out);
	json_free(params);
	if (line_read(&program->reader, WAIT_MS, &line, &err) != 1)
		fail_msg("no answer to %s: %s", method, err.text);
	assert_int_equal(rpc_read(line, &message, &err), 0);
	assert_int_equal(message.id, program->next_id);
	if (message.type == RPC_RESULT)
		result = json_copy(message.result);
	else
		rpc_error_read(message.error, &err);
	json_free(line);
	return result;
}

static struct json *parse(const char *text)
{
	struct json *json = NULL;

	assert_int_equal(json_parse_str(text, &json, &err), 0);
	return json;
}

static int setup(void **state)
{
	struct program *program = mem_alloc(sizeof(*program));
	char path[96];

	strcpy(program->workspace, "/tmp/writ-test-XXXXXX");
	if (mkdtemp(program->workspace) == NULL)
		return -1;
	snprintf(path, sizeof(path), "%s/state", program->workspace);
	*state = program;
	return mkdir(path, 0700);
}

static int teardown(void **state)
{
	struct program *program = *state;
	char command[128];
	int result;

	snprintf(command, sizeof(command), "rm -rf %s", program->workspace);
	result = system(command);
	mem_free(program);
	return result;
}

static struct json *leaves(size_t count)
{
	struct json *params = json_object();
	struct json *list = json_array();
	char hex[SHA256_HEX_LEN + 1];
	uint8_t leaf[SHA256_LEN];

	for (size_t i = 0; i < count; i++) {
		leaf_hash(&i, sizeof(i), leaf);
		hex_write(leaf, sizeof(leaf), hex);
		json_push_str(list, hex);
	}
	json_set(params, "leaves", list);
	return params;
}

static void write_checkpoint(struct program *program, const char *note)
{
	char path[96];
	FILE *file;

	snprintf(path, sizeof(path), "%s/state/audit", program->workspace);
	IGNORE(mkdir(path, 0700) < 0, "it may be there");
	snprintf(path, sizeof(path), "%s/state/audit/checkpoint", program->workspace);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(note, file);
	fclose(file);
}

static void
test_it_signs_the_largest_request_under_confinement_and_ends_with_its_channel(void **state)
{
	struct program *program = *state;
	struct json *result;
	char log[2048];
	int status;

	start(program);
	result = call(program, "keys", json_object());
	assert_non_null(json_get(json_get(result, "log"), "vkey"));
	json_free(result);
	json_free(call(program, "head.resume", parse("{\"size\":0,\"peaks\":[]}")));
	for (int i = 1; i <= 20; i++) {
		result = call(program, "head.sign", leaves(4096));
		if (result == NULL)
			fail_msg("%s", err.text);
		assert_int_equal(json_get_int(result, "size", 0), 4096 * i);
		json_free(result);
	}
	status = end(program, log, sizeof(log));
	if (!WIFEXITED(status))
		fail_msg("signal %d: %s", WTERMSIG(status), log);
	assert_int_equal(WEXITSTATUS(status), EXIT_FINE);
	assert_string_equal(log, "");
}

static void test_refusals_are_answers_and_do_not_end_it(void **state)
{
	struct program *program = *state;
	char log[2048];

	start(program);
	for (int i = 0; i < 1000; i++) {
		assert_null(call(program, "head.sign", leaves(1)));
		assert_int_equal(err.kind, ERR_DENIED);
		assert_string_equal(err.text, "head.sign: head.resume comes first");
	}
	assert_null(call(program, "nonsense", json_object()));
	assert_int_equal(err.kind, ERR_NOT_FOUND);
	json_free(call(program, "keys", json_object()));
	assert_int_equal(WEXITSTATUS(end(program, log, sizeof(log))), EXIT_FINE);
}

static void test_a_new_process_has_the_same_keys_and_refuses_another_history(void **state)
{
	struct program *program = *state;
	struct json *before;
	struct json *after;
	struct json *head;
	char log[2048];

	start(program);
	before = call(program, "keys", json_object());
	json_free(call(program, "head.resume", parse("{\"size\":0,\"peaks\":[]}")));
	head = call(program, "head.sign", leaves(2));
	write_checkpoint(program, json_get_str(head, "note"));
	assert_int_equal(WEXITSTATUS(end(program, log, sizeof(log))), EXIT_FINE);
	start(program);
	after = call(program, "keys", json_object());
	assert_int_equal(json_get_int(after, "last", 0), 2);
	assert_string_equal(json_get_str(json_get(before, "log"), "vkey"),
			    json_get_str(json_get(after, "log"), "vkey"));
	assert_true(json_equal(json_get(before, "token"), json_get(after, "token")));
	assert_null(call(program, "head.resume", parse("{\"size\":0,\"peaks\":[]}")));
	assert_int_equal(err.kind, ERR_DENIED);
	assert_int_equal(WEXITSTATUS(end(program, log, sizeof(log))), EXIT_FINE);
	json_free(before);
	json_free(after);
	json_free(head);
}

static void test_a_checkpoint_it_did_not_sign_ends_the_start(void **state)
{
	struct program *program = *state;
	char log[2048];

	write_checkpoint(program, "nothing\n");
	start(program);
	assert_int_equal(WEXITSTATUS(end(program, log, sizeof(log))), EXIT_AUDIT_DAMAGED);
	assert_non_null(strstr(log, "checkpoint: not a head that this signer made"));
}

static void test_a_state_folder_open_to_others_ends_the_start(void **state)
{
	struct program *program = *state;
	char path[96];
	char log[2048];

	snprintf(path, sizeof(path), "%s/state", program->workspace);
	assert_int_equal(chmod(path, 0755), 0);
	start(program);
	assert_int_equal(WEXITSTATUS(end(program, log, sizeof(log))), EXIT_CONFIG);
	assert_non_null(strstr(log, "state: is open to others (mode 0755)"));
}

static void send_raw(struct program *program, const char *bytes, size_t len)
{
	assert_int_equal(send(program->fd, bytes, len, MSG_NOSIGNAL), len);
	shutdown(program->fd, SHUT_WR);
}

static void test_what_is_no_request_ends_it_with_a_word(void **state)
{
	static const char *const lines[] = {"not json\n",
					    "{}\n",
					    "{\"jsonrpc\":\"2.0\",\"method\":\"keys\"}\n",
					    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n",
					    "[]\n",
					    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"keys\""};
	struct program *program = *state;
	char log[2048];

	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		int status;

		start(program);
		send_raw(program, lines[i], strlen(lines[i]));
		status = end(program, log, sizeof(log));
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), EXIT_NEGATIVE);
		assert_non_null(strstr(log, "writ-signer: "));
	}
}

static void test_a_deep_or_long_line_does_not_kill_it_by_signal(void **state)
{
	struct program *program = *state;
	size_t len = 600000;
	char *line = mem_alloc(len);
	char log[2048];
	int status;

	for (int round = 0; round < 2; round++) {
		memset(line, round == 0 ? '[' : 'x', len);
		start(program);
		for (size_t at = 0; at < len;) {
			ssize_t done = send(program->fd, line + at, len - at, MSG_NOSIGNAL);

			if (done < 0)
				break; /* it left before the end */
			at += (size_t)done;
		}
		status = end(program, log, sizeof(log));
		if (!WIFEXITED(status))
			fail_msg("signal %d", WTERMSIG(status));
		assert_int_equal(WEXITSTATUS(status), EXIT_NEGATIVE);
		assert_non_null(strstr(log, "the line is longer than"));
	}
	mem_free(line);
}

/* Many small values in one line: trees of these fill the pool, which is an error, not an end. */
static void test_a_line_that_fills_the_pool_is_refused_without_a_system_call(void **state)
{
	struct program *program = *state;
	struct buf out = BUF_INIT;
	char log[2048];
	int status;

	buf_add_str(&out, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"keys\",\"params\":{\"a\":[0");
	for (int i = 0; i < 120000; i++)
		buf_add_str(&out, ",0");
	buf_add_str(&out, "]}}\n");
	start(program);
	for (size_t at = 0; at < out.len;) {
		ssize_t done = send(program->fd, out.bytes + at, out.len - at, MSG_NOSIGNAL);

		if (done < 0)
			break;
		at += (size_t)done;
	}
	shutdown(program->fd, SHUT_WR);
	status = end(program, log, sizeof(log));
	if (!WIFEXITED(status))
		fail_msg("signal %d: %s", WTERMSIG(status), log);
	assert_int_equal(WEXITSTATUS(status), EXIT_NEGATIVE);
	buf_clear(&out);
}

static void test_wrong_arguments_are_wrong_usage(void **state)
{
	int status;
	pid_t pid = fork();

	(void)state;
	if (pid == 0) {
		close(STDERR_FILENO);
		execl(SIGNER_PROGRAM, "writ-signer", NULL);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), EXIT_USAGE);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_it_signs_the_largest_request_under_confinement_and_ends_with_its_channel),
		CASE(test_refusals_are_answers_and_do_not_end_it),
		CASE(test_a_new_process_has_the_same_keys_and_refuses_another_history),
		CASE(test_a_checkpoint_it_did_not_sign_ends_the_start),
		CASE(test_a_state_folder_open_to_others_ends_the_start),
		CASE(test_what_is_no_request_ends_it_with_a_word),
		CASE(test_a_deep_or_long_line_does_not_kill_it_by_signal),
		CASE(test_a_line_that_fills_the_pool_is_refused_without_a_system_call),
		cmocka_unit_test(test_wrong_arguments_are_wrong_usage),
	};

	crypto_init();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
