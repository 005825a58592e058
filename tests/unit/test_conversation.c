/* A conversation: what a person types, what is asked of the service, what is shown. The service is
 * a script: each answer names the call it belongs to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/ask_service.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/conversation.h"
#include "cli/render.h"

struct turn {
	const char *method;
	const char *params; /* canonical */
	const char *answer; /* NULL: fails */
	const char *error;
	bool lost;
	const char *trace; /* an event before the answer */
};

static const struct turn *script;
static size_t next;
static int joins, leaves;

const struct command *command_find(const char *name)
{
	(void)name;
	return NULL;
}

static struct json *parse(const char *text)
{
	struct json *json = NULL;
	struct err err = {0};

	if (json_parse_str(text, &json, &err) < 0)
		fail_msg("%s", err.text);
	return json;
}

static int play(const char *method, const struct json *params, client_on_event *on_event,
		void *data, struct json **ret_result, bool *ret_lost, struct err *err)
{
	const struct turn *turn = &script[next];
	CLEANUP(buf_clear) struct buf got = BUF_INIT;

	if (turn->method == NULL)
		fail_msg("%s was not expected", method);
	next++;
	json_write_canonical(params, &got);
	assert_string_equal(method, turn->method);
	assert_string_equal(buf_str(&got), turn->params);
	if (turn->trace != NULL) {
		CLEANUP(json_freep) struct json *event = parse(turn->trace);

		on_event(data, "trace", event);
		on_event(data, "progress", event); /* of no interest */
	}
	if (ret_lost != NULL)
		*ret_lost = turn->lost;
	if (turn->answer == NULL)
		return err_set(err, ERR_UNAVAILABLE, "%s", turn->error);
	*ret_result = parse(turn->answer);
	return 0;
}

int service_first_call(const char *workspace, int flags, struct service *ret_service,
		       const char *method, const struct json *params, client_on_event *on_event,
		       void *data, struct json **ret_result, struct err *err)
{
	assert_non_null(strstr(workspace, "examples/sales"));
	assert_int_equal(flags, SERVICE_ABSENT_OK);
	ret_service->client = (struct client *)&joins;
	joins++;
	return play(method, params, on_event, data, ret_result, NULL, err);
}

int client_call(struct client *client, const char *method, struct json *params,
		client_on_event *on_event, void *data, struct json **ret_result, bool *ret_lost,
		struct err *err)
{
	CLEANUP(json_freep) struct json *owned = params;

	assert_ptr_equal(client, &joins);
	return play(method, owned, on_event, data, ret_result, ret_lost, err);
}

void service_leave(struct service *service)
{
	(void)service;
	leaves++;
}

void render_answer(const struct json *answer, FILE *out)
{
	fprintf(out, "<answer %s>\n", json_get_str(answer, "task"));
}

void render_trace(const struct json *event, FILE *out)
{
	fprintf(out, "<trace %s>\n", json_get_str(event, "text"));
}

/* The caller frees what the terminal showed. */
static char *talk(const char *typed, const struct turn *turns, bool trace)
{
	CLEANUP(mem_freep) char *dir = mem_format("%s/examples/sales", getenv("WRIT_SOURCE"));
	CLEANUP(mem_freep) char *lines = mem_str(typed);
	FILE *keyboard = stdin, *screen = stdout;
	char *shown = NULL;
	size_t len = 0;
	int code;

	script = turns;
	next = 0;
	joins = leaves = 0;
	stdin = fmemopen(lines, strlen(lines), "r");
	stdout = open_memstream(&shown, &len);
	code = converse(dir, trace);
	fclose(stdin);
	fclose(stdout);
	stdin = keyboard;
	stdout = screen;
	assert_int_equal(code, 0);
	assert_null(turns[next].method); /* everything was asked */
	return shown;
}

#define ASK(question) .method = "ask", .params = "{\"question\":\"" question "\",\"trace\":false}"
#define DONE(task)                                                                                 \
	"{\"task\":\"" task "\",\"status\":\"completed\",\"sql\":\"SELECT 1\",\"audit\":{"         \
	"\"records\":[7]}}"
#define BACK                                                                                       \
	"{\"task\":\"t-1\",\"status\":\"needs_input\",\"question\":{\"text\":\"Which of them?\","  \
	"\"parts\":[{\"name\":\"metric\",\"choices\":[{\"value\":\"net_sales\",\"label\":"         \
	"\"net sales\"},{\"value\":\"orders\"}]}]}}"
#define HAS(shown, part)                                                                           \
	do {                                                                                       \
		if (strstr(shown, part) == NULL)                                                   \
			fail_msg("no \"%s\" in: %s", part, shown);                                 \
	} while (0)

static void test_one_session_serves_the_whole_conversation(void **state)
{
	static const struct turn turns[] = {{ASK("How many?"), .answer = DONE("t-1")},
					    {ASK("And why?"), .answer = DONE("t-2")},
					    {0}};
	char *shown = talk("How many?  \n\nAnd why?\n", turns, false);

	(void)state;
	HAS(shown, "Ask a question; /help for more, /quit to leave.");
	HAS(shown, "<answer t-1>");
	HAS(shown, "<answer t-2>");
	assert_int_equal(joins, 1);
	assert_int_equal(leaves, 1);
	free(shown);
}

static void test_quitting_ends_it_and_nothing_was_started(void **state)
{
	static const struct turn none[] = {{0}};

	(void)state;
	free(talk("/quit\nHow many?\n", none, false));
	assert_int_equal(joins + leaves, 0);
	free(talk("/exit\nHow many?\n", none, false));
	free(talk("\n", none, false));
}

static void test_commands_show_the_last_answer(void **state)
{
	static const struct turn turns[] = {
		{ASK("How many?"), .answer = DONE("t-1")},
		{ASK("What?"), .answer = "{\"task\":\"t-2\",\"status\":\"refused\"}"},
		{0}};
	char *shown = talk("/sql\nHow many?\n/sql\n/audit\nWhat?\n/sql\n/what\n", turns, false);

	(void)state;
	HAS(shown, "nothing was answered yet");
	HAS(shown, "SELECT 1\n");
	HAS(shown, "\"records\"");
	HAS(shown, "no query ran");
	HAS(shown, "no command /what; there are:\n");
	HAS(shown, "/trace  show each step from now on");
	free(shown);
}

static void test_a_follow_up_names_the_question_it_follows(void **state)
{
	static const char queried[] = "{\"task\":\"t-1\",\"status\":\"completed\",\"query\":{}}";
	static const char after[] = "{\"after\":\"t-1\",\"question\":\"R\",\"trace\":false}";
	static const struct turn turns[] = {
		{ASK("Q"), .answer = queried},
		{.method = "ask",
		 .params = after,
		 .answer = "{\"task\":\"t-2\",\"status\":\"refused\"}"},
		/* What was refused brought no query: the one before still counts. */
		{.method = "ask", .params = after, .answer = BACK},
		{.method = "task.answer",
		 .params = "{\"choices\":{\"metric\":\"net_sales\"},\"task\":\"t-1\","
			   "\"trace\":false}",
		 .answer = "{\"task\":\"t-4\",\"status\":\"completed\",\"query\":{}}"},
		{.method = "ask",
		 .params = "{\"after\":\"t-4\",\"question\":\"S\",\"trace\":false}",
		 .answer = DONE("t-5")},
		{ASK("S"), .answer = DONE("t-6")},
		{ASK("Q"), .answer = queried},
		/* Rows that no metric query brought: nothing to go on from. */
		{.method = "ask",
		 .params = after,
		 .answer = "{\"task\":\"t-7\",\"status\":\"completed\",\"rows\":[]}"},
		{ASK("T"), .answer = DONE("t-8")},
		{0}};
	char *shown = talk("Q\nR\nR\n1\nS\n/new\nS\nQ\nR\nT\n", turns, false);

	(void)state;
	HAS(shown, "the next question stands alone\n");
	HAS(shown, "<answer t-6>");
	free(shown);
}

static void test_traces_are_shown_from_when_they_are_wanted(void **state)
{
	static const struct turn turns[] = {{.method = "ask",
					     .params = "{\"question\":\"Q\",\"trace\":true}",
					     .trace = "{\"text\":\"step\"}",
					     .answer = DONE("t-1")},
					    {ASK("Q"), .answer = DONE("t-2")},
					    {0}};
	char *shown = talk("/trace\nQ\n/trace\nQ\n", turns, false);

	(void)state;
	HAS(shown, "trace is on\n");
	HAS(shown, "<trace step>");
	HAS(shown, "trace is off\n");
	free(shown);
	free(talk("Q\n/trace\nQ\n", turns, true)); /* --trace: on from the start */
}

static void test_numbers_and_texts_answer_a_question_back(void **state)
{
	static const struct {
		const char *typed, *params;
	} cases[] = {
		{"Q\n1\n", "net_sales"},
		{"Q\n2\n", "orders"},
		{"Q\nmy own\n", "my own"},
		{"Q\n1x\n", "1x"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP(mem_freep)
		char *params = mem_format("{\"choices\":{\"metric\":\"%s\"},\"task\":\"t-1\","
					  "\"trace\":false}",
					  cases[i].params);
		const struct turn turns[] = {
			{ASK("Q"), .answer = BACK},
			{.method = "task.answer", .params = params, .answer = DONE("t-2")},
			{0}};
		char *shown = talk(cases[i].typed, turns, false);

		HAS(shown, "Which of them?\n");
		HAS(shown, "  1  net_sales - net sales\n");
		HAS(shown, "  2  orders\n");
		HAS(shown, "<answer t-2>");
		free(shown);
	}
}

static void test_what_is_no_choice_is_asked_again(void **state)
{
	static const char *const typed[] = {"Q\n0\n2\n", "Q\n3\n2\n", "Q\n/quit\n2\n"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(typed); i++) {
		static const struct turn turns[] = {
			{ASK("Q"), .answer = BACK},
			{.method = "task.answer",
			 .params = "{\"choices\":{\"metric\":\"orders\"},\"task\":\"t-1\","
				   "\"trace\":false}",
			 .answer = DONE("t-2")},
			{0}};
		char *shown = talk(typed[i], turns, false);

		HAS(shown, "a number from 1 to 2, or the answer in words");
		HAS(shown, "<answer t-2>");
		free(shown);
	}
}

static void test_a_question_left_open_can_be_answered_later(void **state)
{
	static const struct turn turns[] = {
		{ASK("Q"), .answer = BACK}, {ASK("R"), .answer = DONE("t-2")}, {0}};
	char *shown = talk("Q\n\n/sql\nR\n", turns, false);

	(void)state;
	HAS(shown, "left open: writ task answer t-1 PART=CHOICE\n");
	HAS(shown, "nothing was answered yet");
	HAS(shown, "<answer t-2>");
	free(shown);
	free(talk("Q", (const struct turn[]){{ASK("Q"), .answer = BACK}, {0}}, false));
}

static void test_failures_are_told_and_the_conversation_goes_on(void **state)
{
	static const struct turn turns[] = {
		{ASK("A"), .error = "it would not start"},
		{ASK("B"), .answer = DONE("t-1")},
		{ASK("C"), .error = "too long"},
		{ASK("D"), .error = "it has ended", .lost = true},
		{ASK("E"), .answer = BACK},
		{.method = "task.answer",
		 .params = "{\"choices\":{\"metric\":\"net_sales\"},\"task\":\"t-1\","
			   "\"trace\":false}",
		 .error = "already answered"},
		{ASK("F"), .answer = DONE("t-2")},
		{0}};
	char *shown = talk("A\nB\nC\nD\nE\n1\nF\n", turns, false);

	(void)state;
	HAS(shown, "writ: it would not start\n");
	HAS(shown, "writ: too long\n");
	HAS(shown, "writ: it has ended\n");
	HAS(shown, "writ: already answered\n");
	HAS(shown, "<answer t-2>");
	assert_int_equal(joins, 3); /* A, B, and E after it was lost */
	assert_int_equal(leaves, 2);
	free(shown);
}

static void test_without_a_workspace_there_is_no_conversation(void **state)
{
	(void)state;
	assert_int_equal(converse("/nowhere/at/all", false), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_session_serves_the_whole_conversation),
		cmocka_unit_test(test_quitting_ends_it_and_nothing_was_started),
		cmocka_unit_test(test_commands_show_the_last_answer),
		cmocka_unit_test(test_a_follow_up_names_the_question_it_follows),
		cmocka_unit_test(test_traces_are_shown_from_when_they_are_wanted),
		cmocka_unit_test(test_numbers_and_texts_answer_a_question_back),
		cmocka_unit_test(test_what_is_no_choice_is_asked_again),
		cmocka_unit_test(test_a_question_left_open_can_be_answered_later),
		cmocka_unit_test(test_failures_are_told_and_the_conversation_goes_on),
		cmocka_unit_test(test_without_a_workspace_there_is_no_conversation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
