/* A growing list of mistakes. Cannot fail; beyond PROBLEMS_MAX they are counted, not kept. */
#include "base/problems.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGE_MAX 512

void problems_clear(struct problems *problems)
{
	for (size_t i = 0; i < problems->count; i++) {
		mem_free(problems->items[i].file);
		mem_free(problems->items[i].message);
		mem_free(problems->items[i].text);
	}
	mem_free(problems->items);
	memset(problems, 0, sizeof(*problems));
}

static struct problem *push(struct problems *problems, enum problem_severity severity,
			    const char *code)
{
	struct problem *problem;

	problems->error_count += severity == PROBLEM_ERROR;
	if (problems->count == PROBLEMS_MAX) {
		problems->unshown++;
		return NULL;
	}
	problems->items = mem_grow(problems->items, (problems->count + 1) * sizeof(*problem));
	problem = &problems->items[problems->count++];
	memset(problem, 0, sizeof(*problem));
	problem->severity = severity;
	problem->code = code;
	return problem;
}

void problems_add(struct problems *problems, enum problem_severity severity, const char *code,
		  const struct yaml *node, const char *format, ...)
{
	char message[MESSAGE_MAX];
	struct err err = {0};
	struct problem *problem = push(problems, severity, code);
	va_list args;

	if (problem == NULL)
		return;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	yaml_error(node, &err, "%s", message);
	problem->file = mem_str(node == NULL ? "" : yaml_file(node));
	problem->line = node == NULL ? 0 : yaml_line(node);
	problem->column = node == NULL ? 0 : yaml_column(node);
	problem->message = mem_str(message);
	problem->text = mem_str(err.text);
}

/* ":21:5: " at text; NULL unless it has exactly this form. */
static const char *read_place(const char *text, int *ret_line, int *ret_column)
{
	char *end;
	long line;
	long column;

	if (*text != ':' || text[1] < '1' || text[1] > '9')
		return NULL;
	line = strtol(text + 1, &end, 10);
	if (*end != ':' || end[1] < '1' || end[1] > '9')
		return NULL;
	column = strtol(end + 1, &end, 10);
	if (strncmp(end, ": ", 2) != 0 || line > 1000000000 || column > 1000000000)
		return NULL;
	*ret_line = (int)line;
	*ret_column = (int)column;
	return end + 2;
}

void problems_add_err(struct problems *problems, const char *code, const struct err *err)
{
	struct problem *problem = push(problems, PROBLEM_ERROR, code);
	const char *colon = strchr(err->text, ':');
	const char *message = NULL;

	if (problem == NULL)
		return;
	while (colon != NULL && message == NULL) {
		message = read_place(colon, &problem->line, &problem->column);
		if (message == NULL)
			colon = strchr(colon + 1, ':');
	}
	problem->file =
		message == NULL ? mem_str("") : mem_strn(err->text, (size_t)(colon - err->text));
	if (message == NULL)
		message = err->text;
	problem->message = mem_strn(message, strcspn(message, "\n"));
	problem->text = mem_str(err->text);
}

static int compare(const void *left, const void *right)
{
	const struct problem *a = left;
	const struct problem *b = right;
	int order = (a->line == 0) - (b->line == 0);

	if (order == 0)
		order = strcmp(a->file, b->file);
	if (order == 0)
		order = (a->line > b->line) - (a->line < b->line);
	if (order == 0)
		order = (a->column > b->column) - (a->column < b->column);
	return order != 0 ? order : strcmp(a->message, b->message);
}

void problems_sort(struct problems *problems)
{
	if (problems->count > 0)
		qsort(problems->items, problems->count, sizeof(*problems->items), compare);
}

void problems_print(const struct problems *problems, FILE *out)
{
	for (size_t i = 0; i < problems->count; i++)
		fprintf(out, "%s%s\n",
			problems->items[i].severity == PROBLEM_WARNING ? "warning: " : "",
			problems->items[i].text);
	if (problems->unshown > 0)
		fprintf(out, "and %zu more\n", problems->unshown);
}

struct json *problems_json(const struct problems *problems)
{
	struct json *list = json_array();

	for (size_t i = 0; i < problems->count; i++) {
		const struct problem *problem = &problems->items[i];
		struct json *json = json_object();

		json_set_str(json, "severity",
			     problem->severity == PROBLEM_ERROR ? "error" : "warning");
		json_set_str(json, "code", problem->code);
		json_set_str(json, "file", problem->file);
		json_set_int(json, "line", problem->line);
		json_set_int(json, "column", problem->column);
		json_set_str(json, "message", problem->message);
		json_push(list, json);
	}
	return list;
}
