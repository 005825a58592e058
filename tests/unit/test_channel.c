/*
 * Channels over a socketpair on one loop. Every test ends with uv_loop_close() == 0: no handle and
 * no call is left. "near" is the side under test; "far" is another channel or a bare descriptor.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/channel.h"
#include "base/mem.h"

/* What one side saw. */
struct side {
	struct channel *channel;
	int requests;
	int notifications;
	int closed;
	struct err why;
	int64_t last_id;
	int64_t ids[CHANNEL_INFLIGHT_MAX + 8];
	char last_method[64];
	int64_t last_n;
	enum {
		ANSWER_ECHO,
		ANSWER_FAIL,
		ANSWER_KEEP,
		ANSWER_CLOSE,
		ANSWER_CLOSE_AND_REPLY,
		ANSWER_CALL_BACK
	} answer;
};

/* What a done saw. */
struct outcome {
	int count;
	bool ok;
	int64_t n;
	enum err_kind kind;
	char text[256];
	char hint[64];
	int order;
	struct channel *close_this;
};

static uv_loop_t loop;
static int done_order;

static struct json *number(int64_t n)
{
	struct json *object = json_object();

	json_set_int(object, "n", n);
	return object;
}

static void on_done(void *data, const struct json *result, const struct err *err)
{
	struct outcome *outcome = data;

	outcome->count++;
	outcome->order = ++done_order;
	outcome->ok = err == NULL;
	outcome->n = json_get_int(result, "n", -1);
	outcome->kind = err != NULL ? err->kind : ERR_NONE;
	snprintf(outcome->text, sizeof(outcome->text), "%.200s", err != NULL ? err->text : "");
	if (err != NULL && json_get_str(result, "hint") != NULL)
		snprintf(outcome->hint, sizeof(outcome->hint), "%s", json_get_str(result, "hint"));
	if (outcome->close_this != NULL)
		channel_close(outcome->close_this);
}

static void on_request(struct channel *channel, void *owner, int64_t id, const char *method,
		       const struct json *params)
{
	static struct outcome ignored;
	struct side *side = owner;
	struct json *data = NULL;
	struct err err;

	snprintf(side->last_method, sizeof(side->last_method), "%s", method);
	side->last_n = json_get_int(params, "n", -1);
	if (id == 0) {
		side->notifications++;
		if (side->answer == ANSWER_CLOSE)
			channel_close(TAKE(side->channel));
		return;
	}
	side->last_id = id;
	if ((size_t)side->requests < ARRAY_LEN(side->ids))
		side->ids[side->requests] = id;
	side->requests++;
	switch (side->answer) {
	case ANSWER_ECHO:
		channel_reply(channel, id, json_copy(params));
		break;
	case ANSWER_FAIL:
		err_set(&err, ERR_DENIED, "not for you");
		data = json_object();
		json_set_str(data, "hint", "ask the owner");
		channel_fail(channel, id, &err, data);
		break;
	case ANSWER_KEEP:
		break;
	case ANSWER_CLOSE_AND_REPLY:
		channel_reply(channel, id, json_copy(params));
		channel_close(TAKE(side->channel));
		break;
	case ANSWER_CLOSE:
		channel_close(TAKE(side->channel));
		channel_reply(channel, id, json_copy(params)); /* too late, dropped */
		break;
	case ANSWER_CALL_BACK:
		channel_call(channel, "back", NULL, 0, on_done, &ignored);
		channel_reply(channel, id, json_copy(params));
		break;
	}
}

static void on_close(struct channel *channel, void *owner, const struct err *why)
{
	struct side *side = owner;

	(void)channel;
	side->closed++;
	side->why = *why;
	side->channel = NULL;
}

static const struct channel_handlers handlers = {.on_request = on_request, .on_close = on_close};

static void open_pair(struct side *near, struct side *far)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	near->channel = channel_open(&loop, ends[0], "near", &handlers, near);
	far->channel = channel_open(&loop, ends[1], "far", &handlers, far);
}

/* A channel whose peer is the bare descriptor that is returned. */
static int open_bare(struct side *near)
{
	int ends[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	near->channel = channel_open(&loop, ends[0], "near", &handlers, near);
	return ends[1];
}

static void turn(void)
{
	for (int i = 0; i < 8; i++)
		uv_run(&loop, UV_RUN_NOWAIT);
}

static void close_all(struct side *near, struct side *far)
{
	if (near != NULL)
		channel_close(TAKE(near->channel));
	if (far != NULL)
		channel_close(TAKE(far->channel));
	assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0);
}

static int set_up(void **state)
{
	(void)state;
	done_order = 0;
	return uv_loop_init(&loop);
}

static int tear_down(void **state)
{
	(void)state;
	return uv_loop_close(&loop);
}

static void send_text(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static const char *read_text(int fd)
{
	static char text[8192];
	ssize_t len = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT);

	text[len > 0 ? len : 0] = '\0';
	return text;
}

static void test_a_call_is_answered_once_with_the_result(void **state)
{
	struct side near = {0}, far = {0};
	struct outcome outcome = {0};

	(void)state;
	open_pair(&near, &far);
	assert_int_equal(channel_call(near.channel, "add", number(7), 0, on_done, &outcome), 1);
	assert_int_equal(outcome.count, 0); /* later, from the loop */
	turn();
	assert_int_equal(outcome.count, 1);
	assert_true(outcome.ok);
	assert_int_equal(outcome.n, 7);
	assert_string_equal(far.last_method, "add");
	close_all(&near, &far);
	assert_int_equal(near.closed, 0);
}

static void test_an_error_brings_kind_text_and_data(void **state)
{
	struct side near = {0}, far = {.answer = ANSWER_FAIL};
	struct outcome outcome = {0};

	(void)state;
	open_pair(&near, &far);
	channel_call(near.channel, "m", NULL, 0, on_done, &outcome);
	turn();
	assert_int_equal(outcome.kind, ERR_DENIED);
	assert_string_equal(outcome.text, "not for you");
	assert_string_equal(outcome.hint, "ask the owner");
	close_all(&near, &far);
}

static void test_a_notification_arrives_without_an_answer(void **state)
{
	struct side near = {0}, far = {0};

	(void)state;
	open_pair(&near, &far);
	channel_notify(near.channel, "trace", number(3));
	turn();
	assert_int_equal(far.notifications, 1);
	assert_int_equal(far.requests, 0);
	assert_int_equal(far.last_n, 3);
	close_all(&near, &far);
}

static void test_a_channel_without_handler_answers_not_found(void **state)
{
	static const struct channel_handlers none = {0};
	struct side near = {0};
	struct outcome outcome = {0};
	struct channel *far;
	int ends[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	near.channel = channel_open(&loop, ends[0], "near", &handlers, &near);
	far = channel_open(&loop, ends[1], "far", &none, NULL);
	channel_notify(near.channel, "ignored", NULL);
	channel_call(near.channel, "gone", NULL, 0, on_done, &outcome);
	turn();
	assert_int_equal(outcome.kind, ERR_NOT_FOUND);
	assert_string_equal(outcome.text, "no method gone here");
	channel_close(far);
	close_all(&near, NULL);
}

static void test_deadlines_pass_in_their_own_order(void **state)
{
	struct side near = {0}, far = {.answer = ANSWER_KEEP};
	struct outcome late = {0}, early = {0}, never = {0};

	(void)state;
	open_pair(&near, &far);
	channel_call(near.channel, "late", NULL, 30, on_done, &late);
	channel_call(near.channel, "never", NULL, 0, on_done, &never);
	channel_call(near.channel, "early", NULL, 5, on_done, &early);
	while (late.count == 0)
		uv_run(&loop, UV_RUN_ONCE);
	assert_int_equal(early.count, 1);
	assert_int_equal(early.order, 1);
	assert_int_equal(late.order, 2);
	assert_int_equal(early.kind, ERR_TIMEOUT);
	assert_string_equal(early.text, "channel near: no answer to call 3 in time");
	assert_int_equal(never.count, 0);
	close_all(&near, &far);
	assert_int_equal(never.kind, ERR_CANCELED);
}

static void test_a_late_answer_is_known_and_dropped(void **state)
{
	struct side near = {0}, far = {.answer = ANSWER_KEEP};
	struct outcome outcome = {0};

	(void)state;
	open_pair(&near, &far);
	channel_call(near.channel, "m", NULL, 1, on_done, &outcome);
	while (outcome.count == 0)
		uv_run(&loop, UV_RUN_ONCE);
	channel_reply(far.channel, far.last_id, number(1));
	turn();
	assert_int_equal(outcome.count, 1);
	assert_int_equal(near.closed, 0);
	close_all(&near, &far);
}

static void test_close_cancels_pending_calls_before_it_returns(void **state)
{
	struct side near = {0}, far = {.answer = ANSWER_KEEP};
	struct outcome first = {0}, second = {0};

	(void)state;
	open_pair(&near, &far);
	channel_call(near.channel, "m", NULL, 1000, on_done, &first);
	channel_call(near.channel, "m", NULL, 0, on_done, &second);
	turn();
	channel_close(TAKE(near.channel));
	assert_int_equal(first.count, 1);
	assert_int_equal(first.kind, ERR_CANCELED);
	assert_string_equal(first.text, "channel near closed: by this side");
	assert_int_equal(first.order, 1);
	assert_int_equal(second.order, 2);
	turn();
	assert_int_equal(near.closed, 0); /* nobody tells the closer */
	assert_int_equal(far.closed, 1);
	assert_int_equal(far.why.kind, ERR_NONE);
	close_all(NULL, NULL);
}

static void test_forget_cancels_one_call_only(void **state)
{
	struct side near = {0}, far = {0};
	struct outcome first = {0}, second = {0};
	int64_t id;

	(void)state;
	open_pair(&near, &far);
	id = channel_call(near.channel, "m", NULL, 1000, on_done, &first);
	channel_call(near.channel, "m", number(2), 0, on_done, &second);
	channel_forget(near.channel, id);
	assert_int_equal(first.kind, ERR_CANCELED);
	channel_forget(near.channel, id);
	channel_forget(near.channel, 99);
	turn();
	assert_int_equal(first.count, 1);
	assert_int_equal(second.n, 2);
	close_all(&near, &far);
}

static void test_lines_that_are_not_json_rpc_cost_the_channel(void **state)
{
	static const struct {
		const char *line;
		const char *text; /* part of on_close's reason */
		const char *code; /* told to the peer */
	} cases[] = {
		{"\n", "line 1 of the peer", "-32700"},
		{"{\n", "line 1 of the peer", "-32700"},
		{"nonsense\n", "line 1 of the peer", "-32700"},
		{"{\"jsonrpc\":\"2.0\",\"jsonrpc\":\"2.0\"}\n", "jsonrpc", "-32700"},
		{"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}\n", "line 1 of the peer", "-32700"},
		{"{\"jsonrpc\":\"2.0\",\"method\":\"a\"} {}\n", "line 1 of the peer", "-32700"},
		{"[]\n", "wanted a JSON-RPC object", "-32600"},
		{"{\"method\":\"m\"}\n", "jsonrpc: wanted \"2.0\"", "-32600"},
		{"{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"user\":\"root\"}\n", "user", "-32600"},
		{"{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"method\":\"m\"}\n", "id: wanted", "-32600"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\",\"params\":[1]}\n",
		 "params: wanted", "-32600"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n", "id: 1 is no open call",
		 "-32600"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct side near = {0};
		int fd = open_bare(&near);

		send_text(fd, cases[i].line);
		turn();
		assert_int_equal(near.closed, 1);
		assert_int_equal(near.requests + near.notifications, 0);
		assert_int_equal(near.why.kind, ERR_INVALID);
		assert_non_null(strstr(near.why.text, cases[i].text));
		assert_non_null(strstr(near.why.text, "channel near: line 1 of the peer: "));
		assert_non_null(strstr(read_text(fd), cases[i].code));
		close(fd);
		close_all(NULL, NULL);
	}
}

static void test_good_lines_before_a_bad_one_are_served(void **state)
{
	struct side near = {.answer = ANSWER_ECHO};
	const char *text;
	int fd = open_bare(&near);

	(void)state;
	send_text(fd, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"a\",\"params\":{\"n\":5}}\n"
		      "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"b\"}\nbad\n"
		      "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"c\"}\n");
	turn();
	assert_int_equal(near.requests, 2);
	assert_int_equal(near.closed, 1);
	assert_non_null(strstr(near.why.text, "line 3 of the peer"));
	text = read_text(fd);
	assert_non_null(strstr(text, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"n\":5}}\n"));
	assert_non_null(strstr(text, "\"id\":null,\"error\""));
	close(fd);
	close_all(NULL, NULL);
}

static void test_an_id_that_is_still_open_is_refused(void **state)
{
	struct side near = {.answer = ANSWER_KEEP};
	int fd = open_bare(&near);

	(void)state;
	send_text(fd, "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"a\"}\n"
		      "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"b\"}\n");
	turn();
	assert_int_equal(near.requests, 1);
	assert_non_null(strstr(near.why.text, "id: 4 is still open"));
	close(fd);
	close_all(NULL, NULL);
}

/* A notification line of exactly len bytes without its newline. */
static char *line_of(size_t len)
{
	static const char head[] = "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{\"x\":\"";
	static const char tail[] = "\"}}";
	char *line = mem_alloc(len + 2);

	memset(line, 'x', len);
	memcpy(line, head, sizeof(head) - 1);
	memcpy(line + len - (sizeof(tail) - 1), tail, sizeof(tail) - 1);
	line[len] = '\n';
	return line;
}

static void test_the_line_cap_holds_at_its_edge(void **state)
{
	(void)state;
	for (size_t len = 999; len <= 1001; len++) {
		struct side near = {0};
		int fd = open_bare(&near);
		char *line = line_of(len);

		channel_set_line_max(near.channel, 1000);
		send_text(fd, line);
		turn();
		assert_int_equal(near.notifications, len <= 1000 ? 1 : 0);
		assert_int_equal(near.closed, len <= 1000 ? 0 : 1);
		if (len > 1000) {
			assert_int_equal(near.why.kind, ERR_LIMIT);
			assert_string_equal(near.why.text, "channel near: line 1 of the peer: "
							   "over 1000 bytes");
		}
		mem_free(line);
		close(fd);
		close_all(&near, NULL);
	}
}

static void test_a_line_without_end_is_cut_off_at_the_cap(void **state)
{
	struct side near = {0};
	int fd = open_bare(&near);
	char *line = line_of(1001);

	(void)state;
	channel_set_line_max(near.channel, 1000);
	assert_int_equal(write(fd, line, 1000), 1000);
	turn();
	assert_int_equal(near.closed, 0);
	assert_int_equal(write(fd, line, 1), 1);
	turn();
	assert_int_equal(near.closed, 1);
	assert_int_equal(near.why.kind, ERR_LIMIT);
	mem_free(line);
	close(fd);
	close_all(NULL, NULL);
}

static void test_a_line_may_come_byte_by_byte(void **state)
{
	static const char line[] = "{\"jsonrpc\":\"2.0\",\"method\":\"m\",\"params\":{\"n\":9}}\n";
	struct side near = {0};
	int fd = open_bare(&near);

	(void)state;
	for (size_t i = 0; i < sizeof(line) - 1; i++) {
		assert_int_equal(write(fd, line + i, 1), 1);
		uv_run(&loop, UV_RUN_NOWAIT);
	}
	turn();
	assert_int_equal(near.last_n, 9);
	close(fd);
	turn();
	assert_int_equal(near.closed, 1);
	assert_int_equal(near.why.kind, ERR_NONE);
	close_all(NULL, NULL);
}

static void test_a_stream_that_ends_inside_a_line_says_so(void **state)
{
	struct side near = {0};
	struct outcome outcome = {0};
	int fd = open_bare(&near);

	(void)state;
	channel_call(near.channel, "m", NULL, 0, on_done, &outcome);
	turn();
	assert_string_equal(read_text(fd), "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}\n");
	send_text(fd, "{\"jsonrpc\"");
	close(fd);
	turn();
	assert_string_equal(near.why.text, "channel near: the stream ended inside a line");
	assert_int_equal(outcome.kind, ERR_CANCELED);
	assert_int_equal(outcome.count, 1);
	close_all(NULL, NULL);
}

static void test_an_error_without_id_ends_the_channel_with_its_reason(void **state)
{
	struct side near = {0};
	int fd = open_bare(&near);

	(void)state;
	send_text(fd, "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32001,\"message\":"
		      "\"uid 7 is not mapped\",\"data\":{\"kind\":\"denied\"}}}\n");
	close(fd);
	channel_call(near.channel, "m", NULL, 0, on_done, &(struct outcome){0});
	turn(); /* the write fails first, yet the reason is the peer's */
	assert_int_equal(near.closed, 1);
	assert_int_equal(near.why.kind, ERR_DENIED);
	assert_string_equal(near.why.text, "uid 7 is not mapped");
	close_all(NULL, NULL);
}

static void test_a_handler_may_close_the_channel(void **state)
{
	struct side near = {0}, far = {.answer = ANSWER_CLOSE};
	struct outcome outcome = {0};

	(void)state;
	open_pair(&near, &far);
	channel_call(near.channel, "m", NULL, 0, on_done, &outcome);
	channel_call(near.channel, "m", NULL, 0, on_done, &outcome);
	turn();
	assert_int_equal(far.requests, 1);
	assert_int_equal(outcome.count, 2);
	assert_int_equal(outcome.kind, ERR_CANCELED);
	assert_int_equal(near.closed, 1);
	close_all(NULL, NULL);
}

static void test_what_was_queued_before_close_still_arrives(void **state)
{
	struct side near = {0}, far = {.answer = ANSWER_CLOSE_AND_REPLY};
	struct outcome outcome = {0};

	(void)state;
	open_pair(&near, &far);
	channel_call(near.channel, "m", number(4), 0, on_done, &outcome);
	turn();
	assert_true(outcome.ok);
	assert_int_equal(outcome.n, 4);
	assert_int_equal(near.closed, 1);
	assert_int_equal(near.why.kind, ERR_NONE);
	close_all(NULL, NULL);
}

static void test_a_done_may_close_the_channel(void **state)
{
	struct side near = {0}, far = {0};
	struct outcome first = {0}, second = {0};

	(void)state;
	open_pair(&near, &far);
	first.close_this = near.channel;
	channel_call(near.channel, "m", NULL, 0, on_done, &first);
	channel_call(near.channel, "m", NULL, 0, on_done, &second);
	turn();
	assert_true(first.ok);
	assert_int_equal(second.kind, ERR_CANCELED);
	near.channel = NULL;
	close_all(NULL, &far);
	assert_int_equal(near.closed, 0);
}

static void test_a_cancelled_done_may_close_and_then_on_close_stays_silent(void **state)
{
	struct side near = {0};
	struct outcome outcome = {0};
	int fd = open_bare(&near);

	(void)state;
	outcome.close_this = near.channel;
	channel_call(near.channel, "m", NULL, 0, on_done, &outcome);
	turn();
	shutdown(fd, SHUT_WR);
	turn();
	assert_int_equal(outcome.kind, ERR_CANCELED);
	assert_int_equal(near.closed, 0);
	close(fd);
	close_all(NULL, NULL);
}

static void test_calls_go_both_ways_at_once(void **state)
{
	struct side near = {.answer = ANSWER_ECHO}, far = {.answer = ANSWER_CALL_BACK};
	struct outcome outcome = {0};

	(void)state;
	open_pair(&near, &far);
	channel_call(near.channel, "m", number(8), 0, on_done, &outcome);
	turn();
	assert_int_equal(outcome.n, 8);
	assert_string_equal(near.last_method, "back");
	close_all(&near, &far);
}

static void test_a_closed_channel_starts_nothing(void **state)
{
	struct side near = {0}, far = {0};
	struct outcome outcome = {0};
	struct channel *channel;

	(void)state;
	open_pair(&near, &far);
	channel = near.channel;
	close_all(&near, NULL);
	assert_null(near.channel);
	(void)channel;
	assert_int_equal(outcome.count, 0);
	assert_int_equal(far.closed, 1);
	channel_close(NULL);
}

static void test_ten_thousand_calls_are_each_answered_in_order(void **state)
{
	enum { COUNT = 10000 };
	struct side near = {0}, far = {0};
	struct outcome *outcomes = mem_array(COUNT, sizeof(*outcomes));

	(void)state;
	open_pair(&near, &far);
	for (int i = 0; i < COUNT; i++)
		assert_int_equal(
			channel_call(near.channel, "m", number(i), 60000, on_done, &outcomes[i]),
			i + 1);
	while (outcomes[COUNT - 1].count == 0)
		uv_run(&loop, UV_RUN_ONCE);
	for (int i = 0; i < COUNT; i++) {
		assert_int_equal(outcomes[i].count, 1);
		assert_int_equal(outcomes[i].n, i);
		assert_int_equal(outcomes[i].order, i + 1);
	}
	close_all(&near, &far);
	mem_free(outcomes);
}

static void test_calls_over_the_bound_wait_on_the_callers_side(void **state)
{
	enum { COUNT = CHANNEL_INFLIGHT_MAX + 1 };
	struct side near = {0}, far = {.answer = ANSWER_KEEP};
	struct outcome *outcomes = mem_array(COUNT, sizeof(*outcomes));

	(void)state;
	open_pair(&near, &far);
	for (unsigned i = 0; i < COUNT; i++)
		channel_call(near.channel, "m", number(i), 0, on_done, &outcomes[i]);
	channel_notify(near.channel, "cancel", NULL); /* gets through nevertheless */
	turn();
	assert_int_equal(far.requests, CHANNEL_INFLIGHT_MAX);
	assert_int_equal(far.notifications, 1);
	channel_reply(far.channel, far.ids[100], number(1));
	turn();
	assert_int_equal(outcomes[100].count, 1);
	assert_int_equal(far.requests, CHANNEL_INFLIGHT_MAX + 1);
	assert_int_equal(far.last_id, COUNT);
	close_all(&near, &far);
	for (unsigned i = 0; i < COUNT; i++)
		assert_int_equal(outcomes[i].count, 1);
	mem_free(outcomes);
}

static void test_a_peer_over_the_bound_is_held_not_served(void **state)
{
	struct side near = {.answer = ANSWER_KEEP};
	int fd = open_bare(&near);

	(void)state;
	for (int i = 1; i <= (int)CHANNEL_INFLIGHT_MAX + 2; i++) {
		char line[100];

		snprintf(line, sizeof(line), "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"m\"}\n",
			 i);
		send_text(fd, line);
	}
	turn();
	assert_int_equal(near.requests, CHANNEL_INFLIGHT_MAX);
	channel_reply(near.channel, near.ids[0], NULL);
	turn();
	assert_int_equal(near.requests, CHANNEL_INFLIGHT_MAX + 1);
	assert_int_equal(near.last_id, CHANNEL_INFLIGHT_MAX + 1);
	channel_reply(near.channel, near.ids[1], NULL);
	turn();
	assert_int_equal(near.requests, CHANNEL_INFLIGHT_MAX + 2);
	close(fd);
	turn();
	assert_int_equal(near.closed, 1);
	close_all(NULL, NULL);
}

static void test_nothing_is_delivered_while_too_much_waits_to_be_written(void **state)
{
	struct side near = {.answer = ANSWER_KEEP};
	char *big = mem_alloc(3u << 20);
	int fd = open_bare(&near);
	static char sink[1 << 20];

	(void)state;
	memset(big, 'x', (3u << 20) - 1);
	for (int i = 0; i < 3; i++) {
		struct json *params = json_object();

		json_set_str(params, "x", big);
		channel_notify(near.channel, "big", params);
	}
	assert_true(channel_queued_bytes(near.channel) > CHANNEL_QUEUE_MAX);
	send_text(fd, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}\n");
	turn();
	assert_int_equal(near.requests, 0);
	for (int i = 0; i < 200 && near.requests == 0; i++) {
		while (recv(fd, sink, sizeof(sink), MSG_DONTWAIT) > 0)
			;
		turn();
	}
	assert_int_equal(near.requests, 1);
	mem_free(big);
	close(fd);
	turn();
	assert_int_equal(near.closed, 1);
	close_all(&near, NULL);
}

static void test_two_busy_peers_with_full_queues_both_finish(void **state)
{
	enum { COUNT = 20 };
	struct side near = {0}, far = {0};
	struct outcome outcomes[2 * COUNT] = {0};
	char *big = mem_alloc(1u << 20);
	int left = 1;

	(void)state;
	memset(big, 'x', (1u << 20) - 1);
	open_pair(&near, &far);
	for (int i = 0; i < 2 * COUNT; i++) {
		struct json *params = number(i);

		json_set_str(params, "x", big);
		channel_call(i % 2 ? near.channel : far.channel, "m", params, 0, on_done,
			     &outcomes[i]);
	}
	for (int turns = 0; left > 0 && turns < 100000; turns++) {
		uv_run(&loop, UV_RUN_NOWAIT);
		left = 0;
		for (int i = 0; i < 2 * COUNT; i++)
			left += outcomes[i].count == 0;
	}
	assert_int_equal(left, 0);
	for (int i = 0; i < 2 * COUNT; i++)
		assert_int_equal(outcomes[i].n, i);
	mem_free(big);
	close_all(&near, &far);
}

static void test_a_paused_channel_reads_nothing_until_resumed(void **state)
{
	struct side near = {0};
	int fd = open_bare(&near);

	(void)state;
	channel_pause(near.channel, true);
	send_text(fd, "{\"jsonrpc\":\"2.0\",\"method\":\"m\"}\n");
	turn();
	assert_int_equal(near.notifications, 0);
	channel_pause(near.channel, false);
	turn();
	assert_int_equal(near.notifications, 1);
	close(fd);
	close_all(&near, NULL);
}

static void test_a_result_over_the_line_cap_becomes_a_limit_error(void **state)
{
	struct side near = {0}, far = {.answer = ANSWER_KEEP};
	struct outcome outcome = {0}, next = {0};
	char *big = mem_alloc(CHANNEL_LINE_MAX + 1);
	struct json *params;
	struct err why = {0};

	(void)state;
	memset(big, 'x', CHANNEL_LINE_MAX);
	open_pair(&near, &far);
	channel_call(near.channel, "m", NULL, 0, on_done, &outcome);
	turn();
	channel_reply(far.channel, far.last_id, json_new_str(big));
	turn();
	assert_int_equal(outcome.kind, ERR_LIMIT);
	params = json_object();
	json_set_str(params, "x", big);
	assert_int_equal(channel_call(near.channel, "m", params, 0, on_done, &next), 0);
	assert_int_equal(next.count, 0);
	assert_int_equal(channel_why_not(near.channel, "the far end", &why), -1);
	assert_int_equal(why.kind, ERR_LIMIT);
	assert_string_equal(why.text, "the message to the far end would be over 4194304 bytes");
	mem_free(big);
	close_all(&near, &far);
}

static void test_why_a_call_did_not_start_when_the_peer_is_gone(void **state)
{
	struct side near = {0}, far = {0};
	struct outcome outcome = {0};
	struct channel *channel;
	struct err why = {0};

	(void)state;
	open_pair(&near, &far);
	channel = near.channel;
	channel_close(channel);
	assert_int_equal(channel_call(channel, "m", NULL, 0, on_done, &outcome), 0);
	assert_int_equal(channel_why_not(channel, "the broker", &why), -1);
	assert_int_equal(why.kind, ERR_UNAVAILABLE);
	assert_string_equal(why.text, "the broker is gone");
	assert_int_equal(channel_why_not(NULL, "the signer", &why), -1);
	assert_string_equal(why.text, "the signer is gone");
	close_all(NULL, &far);
}

static void test_a_descriptor_that_is_no_stream_is_reported_from_the_loop(void **state)
{
	struct side near = {0};
	struct outcome outcome = {0};
	FILE *file = tmpfile();

	(void)state;
	near.channel = channel_open(&loop, dup(fileno(file)), "near", &handlers, &near);
	assert_non_null(near.channel);
	channel_call(near.channel, "m", NULL, 0, on_done, &outcome);
	assert_int_equal(near.closed, 0);
	close_all(NULL, NULL);
	assert_int_equal(near.closed, 1);
	assert_int_equal(near.why.kind, ERR_UNAVAILABLE);
	assert_int_equal(outcome.kind, ERR_CANCELED);
	fclose(file);
	near = (struct side){0};
	near.channel = channel_open(&loop, 1000000, "near", &handlers, &near);
	close_all(NULL, NULL);
	assert_int_equal(near.closed, 1);
}

static void test_a_peer_that_never_reads_cannot_hold_up_a_close(void **state)
{
	struct side near = {0};
	char *big = mem_alloc(2u << 20);
	struct json *params = json_object();
	uint64_t start = uv_hrtime();
	int fd = open_bare(&near);

	(void)state;
	memset(big, 'x', (2u << 20) - 1);
	json_set_str(params, "x", big);
	channel_notify(near.channel, "m", params);
	close_all(&near, NULL);
	assert_in_range((uv_hrtime() - start) / 1000000, 1900, 4000);
	mem_free(big);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
		T(test_a_call_is_answered_once_with_the_result),
		T(test_an_error_brings_kind_text_and_data),
		T(test_a_notification_arrives_without_an_answer),
		T(test_a_channel_without_handler_answers_not_found),
		T(test_deadlines_pass_in_their_own_order),
		T(test_a_late_answer_is_known_and_dropped),
		T(test_close_cancels_pending_calls_before_it_returns),
		T(test_forget_cancels_one_call_only),
		T(test_lines_that_are_not_json_rpc_cost_the_channel),
		T(test_good_lines_before_a_bad_one_are_served),
		T(test_an_id_that_is_still_open_is_refused),
		T(test_the_line_cap_holds_at_its_edge),
		T(test_a_line_without_end_is_cut_off_at_the_cap),
		T(test_a_line_may_come_byte_by_byte),
		T(test_a_stream_that_ends_inside_a_line_says_so),
		T(test_an_error_without_id_ends_the_channel_with_its_reason),
		T(test_a_handler_may_close_the_channel),
		T(test_what_was_queued_before_close_still_arrives),
		T(test_a_done_may_close_the_channel),
		T(test_a_cancelled_done_may_close_and_then_on_close_stays_silent),
		T(test_calls_go_both_ways_at_once),
		T(test_a_closed_channel_starts_nothing),
		T(test_ten_thousand_calls_are_each_answered_in_order),
		T(test_calls_over_the_bound_wait_on_the_callers_side),
		T(test_a_peer_over_the_bound_is_held_not_served),
		T(test_nothing_is_delivered_while_too_much_waits_to_be_written),
		T(test_two_busy_peers_with_full_queues_both_finish),
		T(test_a_paused_channel_reads_nothing_until_resumed),
		T(test_a_result_over_the_line_cap_becomes_a_limit_error),
		T(test_why_a_call_did_not_start_when_the_peer_is_gone),
		T(test_a_descriptor_that_is_no_stream_is_reported_from_the_loop),
		T(test_a_peer_that_never_reads_cannot_hold_up_a_close),
#undef T
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
