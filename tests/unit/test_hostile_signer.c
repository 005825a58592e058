/*
 * A signer that was taken over, or is broken, against the real writ-broker: without a signature
 * that fits, no reply leaves and nothing is allowed any more.
 */
#include "hostile.h"

static struct fx *open_with_double(void)
{
	struct fx *fx = fx_open_broker(NULL, PROGRAM_FOLDER, NULL);

	fx_attach_signer(fx);
	fx_attach_connector(fx, "sales");
	return fx;
}

/* No reply with data leaves; a refusal that says why does; and so does each later one. */
static void check_stopped(struct fx *fx, struct channel *agent, struct channel *session)
{
	struct json *reply = call_refused(fx, agent, RUN_QUERY("SELECT 1"), "unavailable");

	assert_non_null(strstr(json_get_str(reply, "error"), "the audit log has stopped"));
	json_free(reply);
	reply = call_refused(fx, agent, RUN_QUERY("SELECT 1"), "unavailable");
	assert_int_equal(json_len(json_get(reply, "records")), 0);
	json_free(reply);
	check_error(fx, session, "task.open", "{\"kind\":\"ask\",\"question\":\"x\"}",
		    "unavailable", "the audit log has stopped");
	check_error(fx, agent, "token.issue", "{}", "unavailable", "the audit log has stopped");
	assert_true(broker_lives(fx));
	reply = fx_ok(fx, session, "status", "{}"); /* it can still be asked what is wrong */
	assert_string_equal(json_get_str(json_get(reply, "audit"), "state"), "stopped");
	json_free(reply);
	fx_control(fx, "{\"stop\":true}");
	assert_int_not_equal(fx_wait_broker(fx), -SIGABRT);
	fx_close_programs(fx);
}

static void with_signer(struct fx *fx, struct channel **ret_agent, struct channel **ret_session)
{
	*ret_session = fx_connect(fx, NULL, 0)->channel;
	*ret_agent = fx_ready(fx, "ask", "sales-query-01");
	fx_settle(fx);
}

static const char *only_for; /* method that is changed */
static const char *member;
static char *(*change)(struct fx *fx, const char *text);

static void change_answer(struct fx *fx, const char *method, struct json *result)
{
	CLEANUP(mem_freep) char *changed = NULL;

	if (strcmp(method, only_for) != 0)
		return;
	changed = change(fx, json_get_str(result, member));
	json_set_str(result, member, changed);
}

static void change_type(struct fx *fx, const char *method, struct json *result)
{
	(void)fx;
	if (strcmp(method, "head.sign") == 0)
		json_set_int(result, "note", 7);
}

/* One character of the signature, the last before its padding. */
static char *break_signature(struct fx *fx, const char *text)
{
	char *broken = mem_str(text);
	char *at = broken + strlen(broken) - 8;

	(void)fx;
	*at = *at == 'A' ? 'B' : 'A';
	return broken;
}

/* The head of one record less, as if signed: the text no longer fits the signature. */
static char *break_text(struct fx *fx, const char *text)
{
	char *broken = mem_str(text);
	char *line = strchr(broken, '\n') + 1;

	(void)fx;
	*line = *line == '1' ? '2' : '1';
	return broken;
}

/* What a signer that was taken over can do: heads of anything, signed with the right key. */
static char *sign_another(struct fx *fx, uint64_t size, const char *origin, bool other_root)
{
	struct checkpoint checkpoint = fx->signer.last;
	CLEANUP(buf_clear) struct buf text = BUF_INIT;
	uint8_t signature[ED25519_SIGNATURE_LEN];

	checkpoint.size = size;
	snprintf(checkpoint.origin, sizeof(checkpoint.origin), "%s", origin);
	if (other_root)
		checkpoint.root[0] ^= 1;
	checkpoint_write(&checkpoint, &text);
	sign_bytes(fx->signer.keys.log, text.bytes, text.len, signature);
	buf_add_char(&text, '\n');
	note_line_write(&fx->signer.log_vkey, signature, &text);
	return buf_take(&text);
}

static char *sign_more(struct fx *fx, const char *text)
{
	(void)text;
	return sign_another(fx, fx->signer.last.size + 1, fx->signer.last.origin, false);
}

static char *sign_less(struct fx *fx, const char *text)
{
	(void)text;
	return sign_another(fx, fx->signer.last.size - 1, fx->signer.last.origin, false);
}

static char *sign_other_records(struct fx *fx, const char *text)
{
	(void)text;
	return sign_another(fx, fx->signer.last.size, fx->signer.last.origin, true);
}

static char *sign_for_another_log(struct fx *fx, const char *text)
{
	(void)text;
	return sign_another(fx, fx->signer.last.size, "writ.local/other/0000000000000000", false);
}

static char *say_nothing(struct fx *fx, const char *text)
{
	(void)fx;
	(void)text;
	return mem_str("");
}

static char *say_much(struct fx *fx, const char *text)
{
	CLEANUP(buf_clear) struct buf much = BUF_INIT;

	(void)fx;
	while (much.len < 1u << 20)
		buf_add_str(&much, text);
	return mem_str(buf_str(&much));
}

static void test_a_head_that_is_not_ours_stops_the_log(void **state)
{
	static char *(*const changes[])(struct fx *, const char *) = {
		break_text,	      sign_more,   sign_less, sign_other_records,
		sign_for_another_log, say_nothing, say_much};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
		struct fx *fx = open_with_double();
		struct channel *agent, *session;

		with_signer(fx, &agent, &session);
		only_for = "head.sign";
		member = "note";
		change = changes[i];
		fx->signer_change = change_answer;
		check_stopped(fx, agent, session);
	}
}

/* The text of every head is checked at once, its signature before it is published. */
static void test_a_signature_that_does_not_fit_stops_the_log_before_it_is_published(void **state)
{
	struct fx *fx = open_with_double();
	struct channel *agent, *session;
	bool refused = false;

	(void)state;
	with_signer(fx, &agent, &session);
	only_for = "head.sign";
	member = "note";
	change = break_signature;
	fx->signer_change = change_answer;
	for (int i = 0; i < 50 && !refused; i++) {
		struct json *reply = fx_ok(fx, agent, "tool.call", RUN_QUERY("SELECT 1"));

		refused = json_get_str(reply, "error") != NULL &&
			  strstr(json_get_str(reply, "error"), "the audit log has stopped") != NULL;
		json_free(reply);
		fx_settle(fx);
	}
	assert_true(refused);
	check_stopped(fx, agent, session);
}

static void test_a_head_that_is_no_text_stops_the_log(void **state)
{
	struct fx *fx = open_with_double();
	struct channel *agent, *session;

	(void)state;
	with_signer(fx, &agent, &session);
	fx->signer_change = change_type;
	check_stopped(fx, agent, session);
}

static void test_a_refusal_to_sign_stops_the_log(void **state)
{
	struct fx *fx = open_with_double();
	struct channel *agent, *session;

	(void)state;
	with_signer(fx, &agent, &session);
	fx->signer_fail = "head.sign";
	check_stopped(fx, agent, session);
}

/* Nothing leaves meanwhile, nothing new begins, and with another signer all goes on. */
static void test_a_signer_that_never_answers_holds_the_log_until_another_comes(void **state)
{
	struct fx *fx = open_with_double();
	struct channel *agent, *session;
	struct json *slot, *reply;
	time_t before;
	bool waits = false;

	(void)state;
	with_signer(fx, &agent, &session);
	fx->signer_mute = "head.sign";
	before = time(NULL);
	fx_send(fx, agent, "tool.call", RUN_QUERY("SELECT 1"), &slot);
	fx_settle(fx);
	while (!waits && time(NULL) - before < 20) {
		reply = fx_ok(fx, session, "status", "{}"); /* nobody else waits for it */
		waits = strcmp(json_get_str(json_get(reply, "audit"), "state"), "waiting") == 0;
		if (waits)
			assert_string_equal(json_get_str(reply, "signer"), "down");
		json_free(reply);
		fx_settle(fx);
	}
	assert_true(waits);
	assert_null(slot);
	reply = call_refused(fx, agent, RUN_QUERY("SELECT 1"), "unavailable");
	assert_non_null(strstr(json_get_str(reply, "error"), "the signer does not answer"));
	json_free(reply);
	check_error(fx, session, "task.open", "{\"kind\":\"ask\",\"question\":\"x\"}",
		    "unavailable", "the signer does not answer");
	fx->signer_mute = NULL;
	fx_attach_signer(fx);
	fx_until(fx, slot != NULL);
	assert_true(json_get_bool(json_get(slot, "result"), "ok", false));
	json_free(slot);
	json_free(fx_ok(fx, agent, "tool.call", RUN_QUERY("SELECT 1")));
	reply = fx_ok(fx, session, "status", "{}");
	assert_string_equal(json_get_str(json_get(reply, "audit"), "state"), "open");
	json_free(reply);
	fx_control(fx, "{\"stop\":true}");
	assert_int_equal(fx_wait_broker(fx), 0);
	fx_close_programs(fx);
}

static char *another_token(struct fx *fx, const char *text)
{
	(void)fx;
	(void)text;
	return mem_str("eyJhbGciOiJub25lIn0.e30.");
}

static char *break_token(struct fx *fx, const char *text)
{
	char *broken = mem_str(text);
	char *at = strchr(broken, '.') + 20;

	(void)fx;
	*at = *at == 'A' ? 'B' : 'A';
	return broken;
}

static char *first_token; /* the one of another agent, rightly signed */

static char *old_token(struct fx *fx, const char *text)
{
	(void)fx;
	if (first_token == NULL)
		first_token = mem_str(text);
	return mem_str(first_token);
}

static void test_a_token_that_was_not_asked_for_is_never_used(void **state)
{
	static char *(*const changes[])(struct fx *, const char *) = {
		another_token, break_token, say_nothing, say_much, old_token};
	struct fx *fx = open_with_double();

	(void)state;
	only_for = "token.sign";
	member = "token";
	change = old_token;
	fx->signer_change = change_answer;
	fx_ready(fx, "ask", "sales-query-01"); /* fills first_token */
	for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
		struct channel *session = fx_connect(fx, NULL, 0)->channel;
		struct channel *agent;
		struct json *answer;
		char task[48];

		change = changes[i];
		fx_task(fx, session, "ask", task);
		agent = fx_agent(fx, session, task, "sales-query-01", NULL)->channel;
		answer = fx_call(fx, agent, "token.issue", "{}");
		if (json_get(answer, "result") != NULL)
			fail_msg("change %zu: the token was taken", i);
		json_free(answer);
		json_free(call_refused(fx, agent, RUN_QUERY("SELECT 1"), "token"));
		hang_up_session(fx, session);
		fx_settle(fx);
	}
	fx->signer_change = NULL;
	mem_free(TAKE(first_token));
	check_others_work(fx);
	close_and_verify(fx);
}

static void test_garbage_costs_the_signer_its_channel_and_another_is_taken(void **state)
{
	struct fx *fx = open_with_double();
	struct channel *agent, *session;

	(void)state;
	with_signer(fx, &agent, &session);
	for (size_t i = 0; i < ARRAY_LEN(garbage); i++) {
		struct buf rest = BUF_INIT;
		int fd;

		channel_close(TAKE(fx->signer_end));
		fd = fx_attach_raw(fx, "{\"attach\":\"signer\"}");
		fx_settle(fx);
		raw_write(fx, fd, garbage[i].bytes, garbage[i].len);
		raw_read_to_end(fx, fd, &rest);
		buf_clear(&rest);
		close(fd);
		if (!broker_lives(fx))
			fail_msg("%s: the broker died", garbage[i].name);
	}
	fx_attach_signer(fx);
	fx_settle(fx);
	check_others_work(fx);
	close_and_verify(fx);
}

static void check_ends_as_damaged(struct fx *fx)
{
	int status = 0;

	for (int i = 0; i < 400 && waitpid(fx->pids[0], &status, WNOHANG) == 0; i++)
		fx_settle(fx);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), EXIT_AUDIT_DAMAGED);
	fx->pids[0] = 0;
	fx_close_programs(fx);
}

static void test_keys_that_are_none_end_the_service(void **state)
{
	static const char answer[] =
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"token\":{\"kid\":\"x\",\"x\":"
		"\"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo\"},\"log\":{\"origin\":"
		"\"writ.local/sales/0000000000000000\",\"vkey\":\"x+00000000+AAAA\"}}}\n";
	struct fx *fx = open_with_double();
	struct channel *agent, *session;
	struct buf rest = BUF_INIT;
	int fd;

	(void)state;
	with_signer(fx, &agent, &session);
	channel_close(TAKE(fx->signer_end));
	fd = fx_attach_raw(fx, "{\"attach\":\"signer\"}");
	fx_settle(fx);
	raw_write(fx, fd, answer, sizeof(answer) - 1);
	raw_read_to_end(fx, fd, &rest);
	buf_clear(&rest);
	close(fd);
	check_ends_as_damaged(fx);
}

/* The double's folder is exchanged for one with other keys, as by somebody who writes state/. */
static void test_other_keys_end_the_service(void **state)
{
	struct fx *fx = open_with_double();
	struct channel *agent, *session;

	(void)state;
	with_signer(fx, &agent, &session);
	channel_close(TAKE(fx->signer_end));
	signer_clear(&fx->signer);
	fx->signer_made = false;
	assert_int_equal(unlinkat(fx->state_fd, "signer/keys", 0), 0);
	fx_attach_signer(fx);
	check_ends_as_damaged(fx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_head_that_is_not_ours_stops_the_log),
		cmocka_unit_test(
			test_a_signature_that_does_not_fit_stops_the_log_before_it_is_published),
		cmocka_unit_test(test_a_head_that_is_no_text_stops_the_log),
		cmocka_unit_test(test_a_refusal_to_sign_stops_the_log),
		cmocka_unit_test(
			test_a_signer_that_never_answers_holds_the_log_until_another_comes),
		cmocka_unit_test(test_a_token_that_was_not_asked_for_is_never_used),
		cmocka_unit_test(test_garbage_costs_the_signer_its_channel_and_another_is_taken),
		cmocka_unit_test(test_keys_that_are_none_end_the_service),
		cmocka_unit_test(test_other_keys_end_the_service),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
