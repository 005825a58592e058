/*
 * A loop over lines of a terminal. One session serves the whole conversation. A question back is
 * put part by part: a number or a text answers it; an empty line leaves it open (writ task answer).
 * Each question names the task before it, so that a follow-up ("only the East") can be read.
 */
#include "cli/conversation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/ask_service.h"
#include "cli/cli.h"
#include "cli/render.h"

struct conversation {
	const char *workspace;
	struct service service;
	bool connected;
	bool trace;
	struct json *answer; /* the last one, or NULL */
	char *after;	     /* the last task with a metric query, for follow-ups; or NULL */
};

static void on_event(void *data, const char *method, const struct json *params)
{
	(void)data;
	if (strcmp(method, "trace") == 0)
		render_trace(params, stdout);
}

/* A lost service is joined anew with the next question. */
static int ask_service(struct conversation *conversation, const char *method,
		       const struct json *params, struct err *err)
{
	struct json *answer = NULL;
	bool lost = false;
	int result;

	if (!conversation->connected)
		result = service_first_call(conversation->workspace, SERVICE_ABSENT_OK,
					    &conversation->service, method, params, on_event, NULL,
					    &answer, err);
	else
		result = client_call(conversation->service.client, method, json_copy(params),
				     on_event, NULL, &answer, &lost, err);
	if (conversation->connected && lost) {
		service_leave(&conversation->service);
		conversation->connected = false;
	} else if (result == 0) {
		conversation->connected = true;
	}
	if (result < 0)
		return -1;
	json_free(conversation->answer);
	conversation->answer = answer;
	return 0;
}

static void line_freep(char **line)
{
	free(*line); /* getline's, not ours */
}

/* The caller frees; NULL at end of input. */
static char *read_line(const char *prompt)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t len;

	fputs(prompt, stdout);
	fflush(stdout);
	len = getline(&line, &room, stdin);
	if (len < 0) {
		free(line);
		return NULL;
	}
	while (len > 0 && (line[len - 1] == '\n' || line[len - 1] == ' '))
		line[--len] = '\0';
	return line;
}

/* The value that a line chooses; NULL for a number that is none of the choices. A text is passed on
 * as it is: the service knows more answers than it lists. */
static const char *choice_value(const struct json *part, const char *line)
{
	char *end;
	long number = strtol(line, &end, 10);
	const struct json *choices = json_get(part, "choices");

	if (*end != '\0')
		return line;
	if (number < 1 || (size_t)number > json_len(choices))
		return NULL;
	return json_get_str(json_at(choices, (size_t)number - 1), "value");
}

/* "last month: 2026-09-01 to ..." says its value already. */
static bool starts_with(const char *label, const char *value)
{
	size_t len = strlen(value);

	return strncmp(label, value, len) == 0 && (label[len] == '\0' || label[len] == ':');
}

static void print_part(const struct json *part)
{
	int number = 1;

	printf("\n%s:\n", json_get_str(part, "name"));
	json_each(choice, json_get(part, "choices"))
	{
		const char *label = json_get_str(choice, "label");
		const char *value = json_get_str(choice, "value");

		if (label == NULL || starts_with(label, value))
			printf("  %d  %s\n", number++, label != NULL ? label : value);
		else
			printf("  %d  %s - %s\n", number++, value, label);
	}
}

/* One part's answer. False when the person left it open. */
static bool choose_part(const struct json *part, struct json *choices)
{
	print_part(part);
	for (;;) {
		CLEANUP(line_freep) char *line = read_line("choose> ");
		const char *value = NULL;

		if (line == NULL || line[0] == '\0')
			return false;
		if (line[0] != '/')
			value = choice_value(part, line);
		if (value != NULL) {
			json_set_str(choices, json_get_str(part, "name"), value);
			return true;
		}
		printf("a number from 1 to %zu, or the answer in words; an empty line leaves it "
		       "open\n",
		       json_len(json_get(part, "choices")));
	}
}

/* False when the person left a part open. */
static bool choose(const struct json *question, struct json *choices)
{
	printf("%s\n", json_get_str(question, "text"));
	json_each(part, json_get(question, "parts"))
	{
		if (!choose_part(part, choices))
			return false;
	}
	return true;
}

static bool asks_back(const struct conversation *conversation)
{
	const char *status = json_get_str(conversation->answer, "status");

	return status != NULL && strcmp(status, "needs_input") == 0;
}

static void answer_back(struct conversation *conversation, struct err *err)
{
	CLEANUP(json_freep) struct json *params = json_object();
	struct json *choices = json_object();

	if (!choose(json_get(conversation->answer, "question"), choices)) {
		json_free(choices);
		printf("left open: writ task answer %s PART=CHOICE\n",
		       json_get_str(conversation->answer, "task"));
		json_free(TAKE(conversation->answer));
		return;
	}
	json_set_str(params, "task", json_get_str(conversation->answer, "task"));
	json_set(params, "choices", choices);
	json_set_bool(params, "trace", conversation->trace);
	if (ask_service(conversation, "task.answer", params, err) < 0) {
		printf("writ: %s\n", err->text);
		json_free(TAKE(conversation->answer));
	}
}

/* A question that was not answered leaves the one before where it was. After an answer that comes
 * from SQL of another there is no metric query to go on from. */
static void go_on_from(struct conversation *conversation, const struct json *answer)
{
	bool queried = !json_is_null(json_get(answer, "query"));

	if (!queried && json_is_null(json_get(answer, "rows")))
		return;
	mem_free(conversation->after);
	conversation->after = queried ? mem_str(json_get_str(answer, "task")) : NULL;
}

static void ask(struct conversation *conversation, const char *question)
{
	CLEANUP(json_freep) struct json *params = json_object();
	struct err err = {0};

	json_set_str(params, "question", question);
	json_set_bool(params, "trace", conversation->trace);
	if (conversation->after != NULL)
		json_set_str(params, "after", conversation->after);
	if (ask_service(conversation, "ask", params, &err) < 0) {
		printf("writ: %s\n", err.text);
		return;
	}
	while (asks_back(conversation))
		answer_back(conversation, &err);
	if (conversation->answer != NULL)
		render_answer(conversation->answer, stdout);
	go_on_from(conversation, conversation->answer);
}

static void show(const struct conversation *conversation, const char *what)
{
	struct buf text = BUF_INIT;

	if (conversation->answer == NULL) {
		puts("nothing was answered yet");
		return;
	}
	if (strcmp(what, "/sql") == 0) {
		const char *sql = json_get_str(conversation->answer, "sql");

		puts(sql != NULL ? sql : "no query ran");
	} else {
		json_write_pretty(json_get(conversation->answer, "audit"), &text);
		puts(buf_str(&text));
	}
	buf_clear(&text);
}

/* False ends the conversation. */
static bool command(struct conversation *conversation, const char *line)
{
	if (strcmp(line, "/quit") == 0 || strcmp(line, "/exit") == 0)
		return false;
	if (strcmp(line, "/sql") == 0 || strcmp(line, "/audit") == 0) {
		show(conversation, line);
	} else if (strcmp(line, "/trace") == 0) {
		conversation->trace = !conversation->trace;
		printf("trace is %s\n", conversation->trace ? "on" : "off");
	} else if (strcmp(line, "/new") == 0) {
		mem_free(TAKE(conversation->after));
		puts("the next question stands alone");
	} else {
		if (strcmp(line, "/help") != 0)
			printf("no command %s; there are:\n", line);
		puts("/sql    the exact SQL of the last answer\n"
		     "/audit  its records, checkpoint and disclosures\n"
		     "/trace  show each step from now on, or no longer\n"
		     "/new    the next question is not read together with the last\n"
		     "/quit   leave (or end of input)");
	}
	return true;
}

int converse(const char *dir, bool trace)
{
	CLEANUP(mem_freep) char *workspace = NULL;
	struct conversation conversation = {.trace = trace, .service = {.supervisor_done = -1}};
	struct err err = {0};
	bool more = true;
	char *line;

	if (cli_workspace_find(dir, &workspace, &err) < 0)
		return cli_fail(EXIT_USAGE, "%s", err.text);
	conversation.workspace = workspace;
	puts("Ask a question; /help for more, /quit to leave.");
	while (more && (line = read_line("writ> ")) != NULL) {
		if (line[0] == '/')
			more = command(&conversation, line);
		else if (line[0] != '\0')
			ask(&conversation, line);
		free(line);
	}
	if (conversation.connected)
		service_leave(&conversation.service);
	json_free(conversation.answer);
	mem_free(conversation.after);
	return EXIT_FINE;
}
